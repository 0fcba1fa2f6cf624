//! Rows that cannot be written again, be it for a column that nobody reads.

use std::io;

use super::objects::undecodable_batches;
use super::rewritten::ArrowSource;
use super::rows::{no_damage, said};
use crate::error::Result;
use crate::progress::Progress;
use crate::read::source::{Source, UndecodableRows};

/// The stretches of rows that cannot be decoded, as reading refuses them; all rows of their batches if these are written in another
/// form.
///
/// # Errors
/// Those of [`ArrowSource::open`], and what is no fault of the file.
pub fn undecodable_rows(
    source: &Source,
    whole_batches: bool,
    progress: &Progress,
) -> Result<Vec<UndecodableRows>> {
    let file = ArrowSource::open(source)?;
    let mut found = if whole_batches { undecodable_batches(source, progress)? } else { Vec::new() };
    for (batch, rows) in file.batches().enumerate() {
        for stretch in source.stretches(&rows) {
            progress.check()?;
            let within = stretch.start - rows.start..stretch.end - rows.start;
            let Err(error) = file.write_batch(batch, &[within], io::empty(), progress) else { continue };
            progress.check()?;
            let why = said(&no_damage(source, error)?);
            found.push(UndecodableRows { rows: stretch, why });
        }
    }
    Ok(found)
}
