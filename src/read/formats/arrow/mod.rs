//! Arrow: a record is a row of a batch. Files with a footer and streams are read as they are laid out, without a crate for it:
//! so batches that lose nothing, dictionaries and whatever a schema says stay as they are encoded.

mod columns;
mod fields;
mod metadata;
mod objects;
mod reread;
mod rewritten;
mod rows;
mod tables;
mod undecodable;

use std::io;
use std::ops::Range;
use std::sync::Arc;

pub use self::metadata::carried::{CARRIED_SCHEMA, CarriedField, carried_fields};
use self::metadata::layout::{ArrowFile, ArrowLayout};
pub use self::objects::{row_objects, unfit_objects};
pub use self::rewritten::{ArrowSource, BatchFate, PutBatch};
use self::rows::{BatchRows, no_damage, said};
pub use self::tables::{ArrowTable, LeafCells, LeafValues, carried_with};
pub use self::undecodable::{undecodable_rows, unfit_rows};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::read::codec::{Boundaries, Certainty, Codec, Parser, Records, Rereader};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, RowCount, Source, Unit};

/// Bytes of a batch to a place at which units may begin.
const BLOCK: u64 = sized(1 << 20, 1 << 10);
/// Rows to such a place are a multiple of this: what says which rows are null has eight to a byte.
const ROWS: u64 = 8;
/// How much larger compressed batches are taken to be when they are decompressed.
const EXPANDS: u64 = 3;
/// How much larger than those of lines units are.
const UNIT: u64 = 2;

/// Bytes of memory that a byte of metadata takes where it is read: 6.5 with 100,000 columns.
const OF_METADATA: u64 = 7;

/// The number of the format on disk.
pub(super) const CODE: u8 = 9;

/// Whether a file is Arrow, whatever its name.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let is_arrow = head.is_arrow_file() || head.is_arrow_stream();
    (is_arrow && !head.is_compressed()).then_some((Certainty::Certain, Format::Arrow))
}

/// Arrow.
pub(super) struct Arrow;

impl Codec for Arrow {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "arrow"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Rows
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        let after = source.cuts.places.partition_point(|cut| *cut < at);
        source.cuts.places.get(after).copied().unwrap_or(source.length())
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        let file = ArrowFile::open(source)?;
        let batches = file.layout.batches.iter();
        let unpacked = batches.fold(0u64, |sum, batch| {
            sum.saturating_add(batch.block.body.saturating_mul(if batch.is_packed { EXPANDS } else { 1 }))
        });
        let rows = RowCount { rows: file.layout.rows(), bytes: unpacked.clamp(1, source.bytes * EXPANDS) };
        let places = places(&file.layout, source.is_remote());
        Ok(Cuts { places, rows: Some(rows), ..Cuts::default() })
    }

    fn memory_of_layout(&self, source: &Source) -> io::Result<u64> {
        Ok(ArrowLayout::said(&source.open()?, source.bytes)?.saturating_mul(OF_METADATA))
    }

    fn unit_factor(&self) -> u64 {
        // A unit reads dictionaries, and the heads of its batches, for itself.
        UNIT
    }

    fn bytes_of(&self, source: &Source, places: Range<u64>) -> Range<u64> {
        // What cannot be told any more is a file that changed: all of it then.
        let Ok(ArrowFile { layout, .. }) = ArrowFile::open(source) else { return 0..source.bytes };
        let batches = layout.batches.iter();
        let read: Vec<_> =
            batches.filter(|batch| batch.first < places.end && places.start < batch.rows().end).collect();
        let start = read.iter().map(|batch| batch.block.at).min().filter(|_| places.start > 0).unwrap_or(0);
        let end = read.iter().map(|batch| batch.block.end()).max().filter(|_| places.end < layout.rows());
        start..end.unwrap_or(source.bytes).min(source.bytes)
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        Box::new(BatchRows::new(file, source, unit, fields))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn parser<'a>(&self, _: &str, _: &'a Fields) -> std::result::Result<Box<dyn Parser + 'a>, Refusal> {
        Err(Refusal::Unreadable("a row of Arrow is nothing without its file".to_owned()))
    }

    fn rereader(&self) -> Option<Rereader> {
        Some(Box::new(reread::reread))
    }
}

/// The names of the columns of a source, those within others left aside.
///
/// # Errors
/// [`Error::Input`] if it is not what it was when it was found.
pub(super) fn column_names(source: &Source) -> Result<Vec<String>> {
    let file = ArrowFile::open(source).map_err(|error| match no_damage(source, error) {
        Ok(error) => Error::input(&source.path, format!("cannot be read: {}", said(&error))),
        Err(error) => error,
    })?;
    Ok(file.layout.schema.fields.iter().map(|field| field.name.clone()).collect())
}

/// The rows at which units may begin: batches, and stretches of about a mebibyte of those that are not compressed. What is
/// before a unit in its batch would be decompressed for each, or fetched.
fn places(layout: &ArrowLayout, is_remote: bool) -> Vec<u64> {
    let mut places = Vec::new();
    for batch in layout.batches.iter().filter(|batch| batch.rows > 0) {
        let stretches = match batch.is_packed || is_remote {
            true => 1,
            // Of a batch that is cut off, what is there.
            false => ((batch.block.end().min(layout.end) - batch.block.at) / BLOCK).clamp(1, batch.rows),
        };
        let rows = batch.rows.div_ceil(stretches).next_multiple_of(ROWS);
        places.extend((0..batch.rows.div_ceil(rows)).map(|at| batch.first + at * rows));
    }
    places
}
