//! Rows that cannot be written again, be it for a column that nobody reads.

use std::io;

use super::rewritten::ArrowSource;
use super::rows::{no_damage_but_room, said};
use crate::error::Result;
use crate::progress::Progress;
use crate::read::bytes::RecordRoom;
use crate::read::source::{Source, UndecodableRows};

/// The stretches of rows that cannot be decoded within some room, as reading refuses them.
///
/// # Errors
/// Those of [`ArrowSource::open`], and what is no fault of the file.
pub fn undecodable_rows(source: &Source, within: (&RecordRoom, &Progress)) -> Result<Vec<UndecodableRows>> {
    let (_, progress) = within;
    let file = ArrowSource::open(source)?;
    let mut found = Vec::new();
    for (batch, rows) in file.batches().enumerate() {
        for stretch in source.stretches(&rows) {
            progress.check()?;
            let some = stretch.start - rows.start..stretch.end - rows.start;
            let Err(error) = file.write_batch(batch, &[some], io::empty(), within) else { continue };
            progress.check()?;
            let why = said(&no_damage_but_room(source, error)?);
            found.push(UndecodableRows { rows: stretch, why });
        }
    }
    Ok(found)
}
