//! What was read, and cannot be written again: the columns that nobody reads are decoded there for the first time.

use std::path::Path;

use crate::error::{Error, Result};
use crate::output::forms::FormChoice;
use crate::output::hand_out::hand_out;
use crate::progress::Progress;
use crate::read::{Source, UndecodableRows};

/// After an error of writing, looks through all columns of all sources, and has the rows refused that cannot be decoded; whether
/// there are any that were not refused before, so that a run without them is another one.
///
/// Of a file that could not be written in its own form, and shows no such rows, all are refused. What has no form in another one is
/// not damaged: then the error stands.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`], and [`Error::Worker`] if a worker panics.
pub fn refuse_undecodable(
    error: &Error,
    sources: &mut [Source],
    form: FormChoice,
    workers: usize,
    progress: &Progress,
) -> Result<bool> {
    let Error::Undecodable { path, reason } = error else { return Ok(false) };
    // In another form rows are decoded one behind the other, so that nothing can be passed over within a row group.
    let whole_groups = form.form.is_some();
    let found =
        hand_out(sources.len(), workers, || (), |(), at| undecodable(&sources[at], whole_groups, progress))?;
    let mut is_other = false;
    for (source, rows) in sources.iter_mut().zip(found) {
        let is_new = source.refuse_rows(rows);
        let is_it = Path::new(&source.shown) == path;
        is_other |= is_new || (is_it && form.form.is_none() && source.refuse_all_rows(reason));
    }
    Ok(is_other)
}

#[cfg(feature = "parquet")]
fn undecodable(source: &Source, whole_groups: bool, progress: &Progress) -> Result<Vec<UndecodableRows>> {
    match crate::read::undecodable_rows(source, whole_groups, progress) {
        // It was refused as a whole when it was read.
        Err(Error::Undecodable { .. }) => Ok(Vec::new()),
        found => found,
    }
}

#[cfg(not(feature = "parquet"))]
fn undecodable(_: &Source, _: bool, progress: &Progress) -> Result<Vec<UndecodableRows>> {
    progress.check().map(|()| Vec::new())
}
