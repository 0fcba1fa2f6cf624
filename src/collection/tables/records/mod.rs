//! Records as they stood in their files, of collections that keep them.

pub(in crate::collection) mod blocks;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::schema::RECORDS;
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::records::blocks::{RecordBlocks, RecordCursor};
use crate::collection::tables::rows::StoredRecord;
use crate::document::Doc;
use crate::error::Result;

/// Writes a run of records, one after the other. Holds 16 bytes for each.
#[derive(Debug)]
pub struct RecordWriter {
    run: RunWriter,
    blocks: RecordBlocks,
    /// Version and bytes of each record; where one begins follows from those before it.
    records: Vec<(Doc, u64)>,
}

impl RecordWriter {
    /// Begins with an empty run.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Worker`].
    pub fn new(mut run: RunWriter) -> Result<RecordWriter> {
        let blocks = RecordBlocks::begin(&mut run)?;
        Ok(RecordWriter { run, blocks, records: Vec::new() })
    }

    /// Adds a record. Versions ascend.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Worker`].
    pub fn push(&mut self, version: Doc, raw: &[u8]) -> Result<()> {
        self.blocks.push(raw, &mut self.run)?;
        self.records.push((version, raw.len() as u64));
        Ok(())
    }

    /// Writes where each record is, and ends the run.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Worker`].
    pub fn finish(mut self) -> Result<RunSummary> {
        self.blocks.finish(&mut self.run)?;
        self.run.rows(RECORDS.kind, RECORDS.shape)?;
        let mut before = 0;
        for (version, bytes) in self.records {
            let record =
                StoredRecord { version: u64::from(version), place: self.blocks.place(before), bytes };
            self.run.push(&record.to_row())?;
            before += bytes;
        }
        self.run.finish()
    }
}

/// The records of ascending, distinct versions: `each` gets the number of a version and its record; of what is not kept
/// nothing.
///
/// # Errors
/// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`], and what `each` gives.
pub fn records(
    tables: &Tables,
    versions: &[u64],
    each: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut cursor = RecordCursor::default();
    tables.newest(RECORDS, versions, &mut |at, run, row| {
        each(at, cursor.read(run, &StoredRecord::of_row(row))?)
    })
}

impl Snapshot {
    /// The record that brought a version of a document, if the collection keeps records: a line of JSON as it stood in
    /// its file, without its line feed and a byte order mark before it, or the whole of a text file.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`].
    pub fn record(&self, version: u32) -> Result<Option<Vec<u8>>> {
        let mut record = None;
        self.records(&[u64::from(version)], &mut |_, bytes| {
            record = Some(bytes);
            Ok(())
        })?;
        Ok(record)
    }

    /// The records of ascending, distinct versions, in no order: `each` gets the number of a version and its record; of
    /// one that is not kept nothing.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`], and what `each` gives.
    pub fn records(
        &self,
        versions: &[u64],
        each: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        records(&self.tables(), versions, each)
    }
}
