//! Records as they stood in their files, of collections that keep them.

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{RAW, RECORDS};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::document::words_of;
use crate::collection::tables::rows::StoredRecord;
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::limits::sized;

/// Writes a run of records, one after the other. Holds 16 bytes for each.
#[derive(Debug)]
pub struct RecordWriter {
    run: RunWriter,
    /// Version and bytes of each record; where one starts follows from those before it.
    records: Vec<(Doc, u64)>,
}

impl RecordWriter {
    /// Begins with an empty run.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn new(mut run: RunWriter) -> Result<RecordWriter> {
        run.heap(RAW)?;
        Ok(RecordWriter { run, records: Vec::new() })
    }

    /// Adds a record. Versions ascend.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn push(&mut self, version: Doc, raw: &[u8]) -> Result<()> {
        let mut words = [0; BLOCK];
        for block in raw.chunks(8 * BLOCK) {
            let count = block.len().div_ceil(8);
            words.iter_mut().zip(words_of(block)).for_each(|(word, new)| *word = new);
            self.run.push(&words[..count])?;
        }
        self.records.push((version, raw.len() as u64));
        Ok(())
    }

    /// Writes where each record is, and ends the run.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn finish(mut self) -> Result<RunSummary> {
        self.run.rows(RECORDS.kind, RECORDS.shape)?;
        let mut start = 0;
        for (version, bytes) in self.records {
            let record = StoredRecord { version: u64::from(version), start, bytes };
            self.run.push(&record.to_row())?;
            start += record.words();
        }
        self.run.finish()
    }
}

/// Words written at once.
const BLOCK: usize = sized(512, 5);

/// The record of a row.
fn read(row: &[u64], run: &RunReader) -> Result<Vec<u8>> {
    let heap = run.heap(RAW).ok_or_else(|| Error::damaged(run.path(), 0, "records without their bytes"))?;
    let mut words = Vec::new();
    let record = StoredRecord::of_row(row);
    heap.read(record.start, record.words() as usize, &mut words)?;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(record.bytes as usize);
    Ok(bytes)
}

/// The records of ascending, distinct versions: `each` gets the number of a version and its record; of what is not kept
/// nothing.
///
/// # Errors
/// [`Error::Damaged`] and [`Error::Io`], and what `each` gives.
pub fn records(
    tables: &Tables,
    versions: &[u64],
    each: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
) -> Result<()> {
    tables.newest(RECORDS, versions, &mut |at, run, row| each(at, read(row, run)?))
}

impl Snapshot {
    /// The record that brought a version of a document, if the collection keeps records: a line of JSON as it stood in
    /// its file, without its line feed and a byte order mark before it, or the whole of a text file.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::Io`].
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
    /// [`Error::Damaged`] and [`Error::Io`], and what `each` gives.
    pub fn records(
        &self,
        versions: &[u64],
        each: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        records(&self.tables(), versions, each)
    }
}
