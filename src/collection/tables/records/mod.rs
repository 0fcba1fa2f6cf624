//! Records as they stood in their files, of collections that keep them.

pub(in crate::collection) mod blocks;

use std::ops::Range;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::schema::RECORDS;
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::records::blocks::{RecordBlocks, RecordCursor};
use crate::collection::tables::rows::StoredRecord;
use crate::document::Doc;
use crate::error::Result;
use crate::limits::sized;

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
        let (blocks, mut before) = (&mut self.blocks, 0);
        let records = self.records.into_iter().map(|(version, bytes)| {
            let place = blocks.place(before);
            before += bytes;
            StoredRecord { version: version.into(), place, bytes }.to_row()
        });
        self.run.table(RECORDS, records)?;
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

/// The records of distinct versions in the order of these, which need not ascend: `each` gets the number of a version and its record;
/// of what is not kept nothing. So many are held at a time as [`TOGETHER`] says, whatever else than a text they have.
///
/// # Errors
/// [`crate::error::Error::Damaged`] and [`crate::error::Error::Io`], and what `each` gives.
pub fn records_in_order(
    tables: &Tables,
    versions: &mut dyn Iterator<Item = u64>,
    each: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut first = 0;
    loop {
        let some: Vec<u64> = versions.take(TOGETHER.0).collect();
        if some.is_empty() {
            return Ok(());
        }
        for batch in batches(&record_bytes(tables, &some)?) {
            let before = first + batch.start;
            let held = held(tables, &some[batch])?;
            let held = (before..).zip(held).filter_map(|(at, record)| record.map(|record| (at, record)));
            held.into_iter().try_for_each(|(at, record)| each(at, record))?;
        }
        first += some.len();
    }
}

/// Records that are looked up together; and bytes of those that are held together, if there are several. Each is as long as
/// it was in its file, most of which may be beside its text.
const TOGETHER: (usize, u64) = sized((1024, 4 << 20), (3, 1 << 10));

/// Which of records that have so many bytes each are held together.
fn batches(bytes: &[u64]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut held = 0_u64;
    for (at, bytes) in bytes.iter().enumerate() {
        held = held.saturating_add(*bytes);
        match batches.last_mut() {
            Some(batch) if held <= TOGETHER.1 => batch.end = at + 1,
            _ => {
                batches.push(at..at + 1);
                held = *bytes;
            }
        }
    }
    batches
}

/// How long the records of distinct versions are; 0 of those that are not kept.
fn record_bytes(tables: &Tables, versions: &[u64]) -> Result<Vec<u64>> {
    let (places, ascending) = ascending(versions);
    let mut bytes = vec![0; versions.len()];
    tables.newest(RECORDS, &ascending, &mut |at, _, row| {
        bytes[places[at]] = StoredRecord::of_row(row).bytes;
        Ok(())
    })?;
    Ok(bytes)
}

/// The records of distinct versions, all of them held.
fn held(tables: &Tables, versions: &[u64]) -> Result<Vec<Option<Vec<u8>>>> {
    let (places, ascending) = ascending(versions);
    let mut held = vec![None; versions.len()];
    records(tables, &ascending, &mut |at, record| {
        held[places[at]] = Some(record);
        Ok(())
    })?;
    Ok(held)
}

/// Distinct versions, ascending, and before them the place that each had.
fn ascending(versions: &[u64]) -> (Vec<usize>, Vec<u64>) {
    let mut places: Vec<usize> = (0..versions.len()).collect();
    places.sort_unstable_by_key(|place| versions[*place]);
    let ascending = places.iter().map(|place| versions[*place]).collect();
    (places, ascending)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::collection::run::reader::RunReader;
    use crate::storage::Simulated;

    /// Tables whose runs have the records of these versions, each as long as is said.
    fn tables(runs: &[Vec<(u32, usize)>]) -> Tables {
        let storage = Simulated::default();
        let run = |(number, records): (u64, &Vec<(u32, usize)>)| {
            let name = format!("run-{number}");
            let run = RunWriter::create(&storage, &name, 1, number).expect("created");
            let mut writer = RecordWriter::new(run).expect("begun");
            for (version, bytes) in records {
                writer.push(*version, &record(u64::from(*version), *bytes)).expect("written");
            }
            writer.finish().expect("finished");
            Arc::new(RunReader::open(&storage, &name, 1, number).expect("opened"))
        };
        Tables { runs: (1..).zip(runs).map(run).collect() }
    }

    fn record(version: u64, bytes: usize) -> Vec<u8> {
        vec![version as u8; bytes]
    }

    proptest! {
        #[test]
        fn several_records_are_held_only_where_they_are_short(
            bytes in prop::collection::vec(prop_oneof![0..=TOGETHER.1 / 3, 0..=2 * TOGETHER.1, Just(u64::MAX)], 0..50),
        ) {
            let batches = batches(&bytes);
            prop_assert!(batches.iter().cloned().flatten().eq(0..bytes.len()));
            let sum = |batch: &Range<usize>| bytes[batch.clone()].iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
            prop_assert!(batches.iter().all(|batch| batch.len() == 1 || sum(batch) <= TOGETHER.1));
            // No more of them than need be: any two neighbours would be too much.
            prop_assert!(batches.windows(2).all(|two| sum(&(two[0].start..two[1].start + 1)) > TOGETHER.1));
        }
    }

    #[test]
    fn records_come_in_the_order_that_is_asked_for() {
        let third = TOGETHER.1 as usize / 3 + 1;
        let lengths = [0, 5, third, third, 2 * third, 4 * third, 1, third];
        let even: Vec<(u32, usize)> =
            (0..).zip(lengths).step_by(2).map(|(at, bytes)| (3 * at, bytes)).collect();
        let odd: Vec<(u32, usize)> =
            (0..).zip(lengths).skip(1).step_by(2).map(|(at, bytes)| (3 * at, bytes)).collect();
        let tables = tables(&[even, odd]);
        // None has a version that three does not divide.
        let asked = [21, 4, 3, 18, 0, 15, 6, 100, 9, 12];
        let mut found = Vec::new();
        records_in_order(&tables, &mut asked.into_iter(), &mut |at, record| {
            found.push((at, record));
            Ok(())
        })
        .expect("read");
        let expected = asked.into_iter().enumerate().filter(|(_, version)| version % 3 == 0);
        let expected = expected.map(|(at, version)| (at, record(version, lengths[version as usize / 3])));
        assert!(found.into_iter().eq(expected));
    }
}
