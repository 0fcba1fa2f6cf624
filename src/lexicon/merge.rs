//! Lexicons of several collections as one.

use std::path::Path;

use super::file::{Frozen, freeze};
use super::frozen::Lexicon;
use super::sorted::{CountMerge, Sorted};
use super::terms::Header;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// Writes what lexicons of different documents come to as the new file `out`. Of lexicons without a floor, that is what
/// one of all their documents would be; a count of what others had left out is too low by [`Header::short`] at most.
/// `min_df` is the new floor; `None` is the greatest of theirs.
///
/// # Errors
/// [`Error::Config`] if there is none, if they do not have the same sort of terms, or if the floor is below one of
/// theirs; what [`Counted::freeze`](super::Counted::freeze) has.
pub fn merge(lexicons: &[Lexicon], out: &Path, min_df: Option<u64>, progress: &Progress) -> Result<Frozen> {
    let header = header(lexicons, min_df)?;
    let counts = lexicons.iter().map(|lexicon| Box::new(lexicon.counts()) as Box<dyn Sorted + Send>);
    freeze(out, header, CountMerge::new(counts.collect())?, progress)
}

/// What is to be said of all.
fn header(lexicons: &[Lexicon], min_df: Option<u64>) -> Result<Header> {
    let Some(first) = lexicons.first() else { return Err(Error::config("name a lexicon to merge")) };
    let terms = first.header().terms;
    if let Some(other) = lexicons.iter().find(|lexicon| lexicon.header().terms != terms) {
        return Err(Error::config(format!(
            "{} has terms that are {terms}, and {} such that are {}: these cannot be merged; build them alike",
            first.path().display(),
            other.path().display(),
            other.header().terms
        )));
    }
    let greatest = lexicons.iter().map(|lexicon| lexicon.header().min_df).max().unwrap_or(1);
    let min_df = min_df.unwrap_or(greatest);
    if let Some(above) = lexicons.iter().find(|lexicon| lexicon.header().min_df > min_df) {
        return Err(Error::config(format!(
            "--min-df {min_df}: {} has left out terms of fewer than {} documents; give at least that, or build it with a \
             lower one",
            above.path().display(),
            above.header().min_df
        )));
    }
    let sum = |of: fn(&Header) -> u64| lexicons.iter().map(|lexicon| of(lexicon.header())).sum::<u64>();
    // Whoever has a term has it counted; the others may each have left it out.
    let least = lexicons.iter().map(|lexicon| lexicon.header().min_df - 1).min().unwrap_or(0);
    let short = sum(|header| header.short + header.min_df - 1) - least;
    Ok(Header { terms, min_df, short, documents: sum(|header| header.documents) })
}
