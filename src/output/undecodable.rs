//! What was read, and cannot be written again: the columns that nobody reads are decoded there for the first time.

use std::path::Path;

use crate::error::{Error, Result};
use crate::output::forms::{FormChoice, RecordForm};
use crate::progress::Progress;
use crate::read::{RecordRoom, Source, UndecodableRows};
use crate::threads::hand_out;

/// After an error of writing, looks through all columns of all sources, and has the rows refused that cannot be decoded within some
/// room; whether there are any that were not refused before, so that a run without them is another one.
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
    (room, workers): (&RecordRoom, usize),
    progress: &Progress,
) -> Result<bool> {
    let Error::Undecodable { path, reason } = error else { return Ok(false) };
    let found = hand_out(
        sources.len(),
        workers,
        || (),
        |(), at| undecodable(&sources[at], form.form, (room, progress)),
    )?;
    let mut is_other = false;
    for (source, rows) in sources.iter_mut().zip(found) {
        // All of them are refused, whichever is new.
        let are_new: Vec<bool> = rows.into_iter().map(|rows| source.refuse_rows(rows)).collect();
        let is_new = are_new.contains(&true);
        let is_it = Path::new(&source.shown) == path;
        is_other |= is_new || (is_it && form.form.is_none() && source.refuse_all_rows(reason));
    }
    Ok(is_other)
}

#[cfg(feature = "parquet")]
fn undecodable(
    source: &Source,
    form: Option<RecordForm>,
    within: (&RecordRoom, &Progress),
) -> Result<Vec<Vec<UndecodableRows>>> {
    // It was refused as a whole when it was read.
    let unless_refused = |found: Result<Vec<UndecodableRows>>| match found {
        Err(Error::Undecodable { .. }) => Ok(Vec::new()),
        found => found,
    };
    // In another form rows are decoded one behind the other, so that nothing can be passed over within a row group.
    let found = unless_refused(crate::read::undecodable_rows(source, form.is_some(), within))?;
    let mut left = source.clone();
    left.refuse_rows(found.clone());
    let unfit = match form {
        Some(RecordForm::JsonLines(_)) => {
            unless_refused(crate::read::unfit_objects(&left, within.0, within.1))?
        }
        Some(RecordForm::Parquet) => unless_refused(crate::read::unfit_rows(&left, within.0, within.1))?,
        _ => Vec::new(),
    };
    Ok(vec![found, unfit])
}

#[cfg(not(feature = "parquet"))]
fn undecodable(
    _: &Source,
    _: Option<RecordForm>,
    (_, progress): (&RecordRoom, &Progress),
) -> Result<Vec<Vec<UndecodableRows>>> {
    progress.check().map(|()| Vec::new())
}
