//! Files whose records are rows, Parquet or Arrow: their rows as objects, and those that cannot be written again.

use super::{arrow, parquet};
use crate::error::Result;
use crate::progress::Progress;
use crate::read::bytes::RecordRoom;
use crate::read::format::Format;
use crate::read::source::{Source, UndecodableRows};

/// Hands each row of a source whose records are rows to `each`, with its number from 0, as a JSON object of all its columns.
///
/// # Errors
/// [`Error::Input`](crate::error::Error::Input) of what cannot be decoded or has no form in JSON, and what `each` gives.
pub fn row_objects(
    source: &Source,
    room: &RecordRoom,
    each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    match source.format {
        Format::Arrow => arrow::row_objects(source, room, each),
        _ => parquet::row_objects(source, room, each),
    }
}

/// The rows of a source that have no room to be written as such objects, if its records are rows.
///
/// # Errors
/// Those of [`row_objects`].
pub fn unfit_objects(
    source: &Source,
    room: &RecordRoom,
    progress: &Progress,
) -> Result<Vec<UndecodableRows>> {
    match source.format {
        Format::Parquet => parquet::unfit_objects(source, room, progress),
        Format::Arrow => arrow::unfit_objects(source, room, progress),
        _ => Ok(Vec::new()),
    }
}

/// The rows of a source that have no room to become rows of Parquet, or cannot, if they are rows of Arrow.
///
/// # Errors
/// Those of [`undecodable_rows`].
pub fn unfit_rows(source: &Source, room: &RecordRoom, progress: &Progress) -> Result<Vec<UndecodableRows>> {
    match source.format {
        Format::Arrow => arrow::unfit_rows(source, (room, progress)),
        _ => Ok(Vec::new()),
    }
}

/// The rows of a source that cannot be written again, if its records are rows: as reading divides them, or by whole row groups.
///
/// # Errors
/// [`Error::Undecodable`](crate::error::Error::Undecodable) of a file that makes no sense as a whole, and what is no fault of it.
pub fn undecodable_rows(
    source: &Source,
    whole_groups: bool,
    (room, progress): (&RecordRoom, &Progress),
) -> Result<Vec<UndecodableRows>> {
    match source.format {
        Format::Parquet => parquet::undecodable_rows(source, whole_groups, (room, progress)),
        Format::Arrow => arrow::undecodable_rows(source, (room, progress)),
        _ => Ok(Vec::new()),
    }
}
