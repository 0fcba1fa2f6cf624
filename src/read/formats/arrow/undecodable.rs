//! Rows that cannot be written again, be it for a column that nobody reads.

use std::io;

use super::rewritten::ArrowSource;
use super::rows::{no_damage, said};
use super::tables::ArrowTable;
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
            let why = said(&no_damage(source, error)?);
            found.push(UndecodableRows { rows: stretch, why });
        }
    }
    Ok(found)
}

/// The rows of a source that cannot become rows of Parquet, or have no room: single ones that are too long, or the rest of a stretch.
///
/// # Errors
/// Those of [`ArrowTable::open`], and what is no fault of the file.
pub fn unfit_rows(
    source: &Source,
    (room, progress): (&RecordRoom, &Progress),
) -> Result<Vec<UndecodableRows>> {
    let mut table = ArrowTable::open(source, room)?;
    let mut found = Vec::new();
    for batch in table.batches() {
        let (mut row, mut alone) = (batch.start, false);
        while row < batch.end {
            progress.check()?;
            let end = source.stretch_end(row, batch.end);
            if source.refuses(&(row..row + 1)) {
                row = end;
                continue;
            }
            let tried = if alone { row..row + 1 } else { row..end };
            let taken = table.take_some(&tried);
            table.clear();
            let error = match taken {
                Ok(count) => {
                    (row, alone) = (row + count, false);
                    continue;
                }
                Err(error) => error,
            };
            let is_one = error.kind() == io::ErrorKind::OutOfMemory && table.is_open();
            if is_one && tried.end > row + 1 {
                alone = true;
                continue;
            }
            let rows = if is_one { tried } else { row..end };
            row = rows.end;
            found.push(UndecodableRows { rows, why: said(&no_damage(source, error)?) });
            // What was decoded of a dictionary may be wrong.
            table = ArrowTable::open(source, room)?;
            alone = false;
        }
    }
    Ok(found)
}
