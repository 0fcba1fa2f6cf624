//! Parquet: a record is a row. Columns are read as they are stored, without Arrow: a leaf of the schema says by its levels
//! what is in which row, so structs, lists and strings of all kinds are one thing.

mod cell;
mod column;
mod fields;
mod footer;
mod guard;
mod leaf;
mod objects;
mod pages;
mod reread;
mod rewritten;
mod rows;
mod texts_as_bytes;
mod thrift;
mod undecodable;

use crate::limits::sized;
use std::io;
use std::ops::Range;
use std::sync::Arc;

pub(super) use self::cell::Cell;
pub(super) use self::fields::FIELDS;
use self::footer::{Layout, ParquetFile, footer_length};
pub(in crate::read::formats) use self::guard::caught;
pub use self::guard::refuses_panics;
use self::guard::{as_io, between};
pub use self::objects::{row_objects, unfit_objects};
pub use self::pages::StoredDictionary;
pub use self::rewritten::{ColumnBatch, ColumnMemory, ColumnRows, FileRange, ParquetSource};
use self::rows::RowRecords;
pub(super) use self::rows::row_record;
pub use self::undecodable::undecodable_rows;

use crate::read::codec::{Boundaries, Certainty, Codec, Parser, Records, Rereader};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, RowCount, Source, Unit};

/// Bytes of decompressed columns to a place at which units may begin.
const BLOCK: u64 = sized(1 << 20, 1 << 10);
/// Least bytes on disk to such a place, so that what a file says of itself does not make many of them.
const PACKED: u64 = sized(1 << 10, 64);

/// How much larger than those of lines units are.
const UNIT: u64 = 4;

/// Bytes of memory that a byte of a footer takes where it is read: 14 with 100,000 columns, and with 1,000 of 100 row groups.
const OF_FOOTER: u64 = 14;

/// What a file is called that says where the rows of a data set are.
const SUMMARY: &str = "_metadata";

/// The number of the format on disk.
pub(super) const CODE: u8 = 3;

/// Whether a file is Parquet, whatever its name.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    head.is_parquet().then_some((Certainty::Certain, Format::Parquet))
}

/// Parquet.
pub(super) struct Parquet;

impl Codec for Parquet {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "parquet"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Rows
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        let after = source.cuts.places.partition_point(|cut| *cut < at);
        source.cuts.places.get(after).copied().unwrap_or(source.length())
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        let file = ParquetFile::open(source).map_err(as_io)?;
        let unpacked = file.layout.groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.unpacked));
        // What it says it unfolds to only decides how much is read at a stretch.
        let unpacked = unpacked.clamp(source.bytes, source.bytes.saturating_mul(100));
        let rows = RowCount { rows: file.layout.rows(), bytes: unpacked };
        let places = match source.is_remote() {
            // What is before a unit in its row group would be fetched for each.
            true => {
                file.layout.groups.iter().filter(|group| group.rows > 0).map(|group| group.first).collect()
            }
            false => places(&file.layout, source.bytes),
        };
        Ok(Cuts { places, rows: Some(rows), ..Cuts::default() })
    }

    fn memory_of_layout(&self, source: &Source) -> io::Result<u64> {
        let length = footer_length(&source.open()?, source.bytes).map_err(as_io)?;
        Ok(length.saturating_mul(OF_FOOTER))
    }

    fn is_summary(&self, source: &Source) -> io::Result<bool> {
        // By its content it would be known, too, and the footer of every file read twice.
        if source.path.file_name().is_none_or(|name| name != SUMMARY) {
            return Ok(false);
        }
        let file = ParquetFile::open(source).map_err(as_io)?;
        let mut chunks = file.layout.groups.iter().flat_map(|group| &group.chunks).peekable();
        Ok(chunks.peek().is_some() && chunks.all(|chunk| chunk.elsewhere))
    }

    fn unit_factor(&self) -> u64 {
        // A unit decodes dictionaries, and the page that it begins in, for itself.
        UNIT
    }

    fn bytes_of(&self, source: &Source, places: Range<u64>) -> Range<u64> {
        // What cannot be told any more is a file that changed: all of it then.
        let Ok(ParquetFile { layout, .. }) = ParquetFile::open(source) else { return 0..source.bytes };
        let groups = layout.groups.iter();
        let read = groups.filter(|group| group.first < places.end && places.start < group.first + group.rows);
        let chunks: Vec<_> = read.flat_map(|group| &group.chunks).collect();
        let start = chunks.iter().map(|chunk| chunk.start).min().filter(|_| places.start > 0).unwrap_or(0);
        let end = chunks.iter().map(|chunk| chunk.end).max().filter(|_| places.end < layout.rows());
        start..end.unwrap_or(source.bytes).min(source.bytes)
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        Box::new(RowRecords::new(file, source, unit, fields))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn parser<'a>(&self, _: &str, _: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Err(Refusal::Unreadable("a row of Parquet is nothing without its file".to_owned()))
    }

    fn rereader(&self) -> Option<Rereader> {
        Some(Box::new(reread::reread))
    }
}

/// The names of the columns of a source, those within others left aside.
///
/// # Errors
/// [`Error::Input`](crate::error::Error::Input) if it is not what it was when it was found.
pub(super) fn column_names(source: &Source) -> crate::error::Result<Vec<String>> {
    let file = ParquetFile::open(source).map_err(|error| {
        let cannot = |error| {
            crate::error::Error::input(&source.path, format!("cannot be read: {}", rows::said(&error)))
        };
        between(&source.path, error).unwrap_or_else(cannot)
    })?;
    Ok(file.layout.schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect())
}

/// The rows at which units may begin: row groups, and stretches of them of about a mebibyte.
fn places(layout: &Layout, bytes: u64) -> Vec<u64> {
    // Columns that stand in the same bytes do not make more of them.
    let (mut places, mut left) = (Vec::new(), bytes / PACKED);
    for group in layout.groups.iter().filter(|group| group.rows > 0) {
        let stretches = (group.unpacked / BLOCK).min(group.packed / PACKED).min(left).clamp(1, group.rows);
        left -= stretches.min(left);
        let rows = group.rows.div_ceil(stretches);
        places.extend((0..group.rows.div_ceil(rows)).map(|at| group.first + at * rows));
    }
    places
}
