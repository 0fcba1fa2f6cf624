//! The bytes of records as they lie in the heap of a run: one behind the other, compressed in blocks of one length. A record goes on
//! from block to block.

use std::fmt;

use zstd::bulk::{Compressor, Decompressor};

use crate::collection::HeapReader;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::RAW;
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::document::{bytes_of, words_of};
use crate::collection::tables::rows::{RecordPlace, StoredRecord};
use crate::collection::tables::run_cursors::{RunCursor, distance};
use crate::error::{Error, Result};
use crate::limits::{MAX_RECORD_BYTES, sized};

/// Bytes of records in a block, but for the last one of a run: more compress better, and each question unpacks a block.
const BLOCK_BYTES: usize = sized(64 << 10, 24);
/// How hard the library tries to compress, from 1.
const LEVEL: i32 = 1;
/// Words fetched at once: mostly all of a block.
const FETCHED: usize = sized(2048, 3);

/// What stands before a compressed block, in one word: its bytes unpacked and packed.
#[derive(Clone, Copy, Debug)]
struct RecordBlockHead {
    unpacked: u32,
    packed: u32,
}

impl RecordBlockHead {
    fn to_word(self) -> u64 {
        u64::from(self.unpacked) << 32 | u64::from(self.packed)
    }

    fn of_word(word: u64) -> RecordBlockHead {
        RecordBlockHead { unpacked: (word >> 32) as u32, packed: word as u32 }
    }

    /// Words of the compressed bytes.
    fn packed_words(self) -> usize {
        (self.packed as usize).div_ceil(8)
    }
}

/// Writes the heap of records of a run. In memory are a block, and 8 bytes for each one that was written.
pub struct RecordBlocks {
    compressor: Compressor<'static>,
    /// What the next block has so far.
    bytes: Vec<u8>,
    /// Where the blocks before it start.
    starts: Vec<u64>,
    packed: Vec<u8>,
}

/// The compressor has no form of its own.
impl fmt::Debug for RecordBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordBlocks").field("starts", &self.starts.len()).finish_non_exhaustive()
    }
}

impl RecordBlocks {
    /// Begins the heap in `run`.
    ///
    /// # Errors
    /// [`Error::Io`] if the section before cannot be written; [`Error::Worker`] if there is no compressor.
    pub fn begin(run: &mut RunWriter) -> Result<RecordBlocks> {
        run.heap(RAW)?;
        let compressor = Compressor::new(LEVEL).map_err(|e| incompressible(&e))?;
        Ok(RecordBlocks { compressor, bytes: Vec::new(), starts: Vec::new(), packed: Vec::new() })
    }

    /// Adds the bytes of a record.
    ///
    /// # Errors
    /// [`Error::Io`] if a block cannot be written; [`Error::Worker`] if it cannot be compressed.
    pub fn push(&mut self, mut record: &[u8], run: &mut RunWriter) -> Result<()> {
        while !record.is_empty() {
            let (some, others) = record.split_at(record.len().min(BLOCK_BYTES - self.bytes.len()));
            self.bytes.extend_from_slice(some);
            record = others;
            if self.bytes.len() == BLOCK_BYTES {
                self.end_block(run)?;
            }
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of [`RecordBlocks::push`].
    pub fn finish(&mut self, run: &mut RunWriter) -> Result<()> {
        if self.bytes.is_empty() { Ok(()) } else { self.end_block(run) }
    }

    /// Where the record begins before which so many bytes were added, once all are written. An empty one begins anywhere.
    pub fn place(&self, before: u64) -> RecordPlace {
        let (block, offset) = (before / BLOCK_BYTES as u64, before % BLOCK_BYTES as u64);
        let start = self.starts.get(block as usize);
        start.map_or_else(RecordPlace::default, |start| RecordPlace { start: *start, offset })
    }

    fn end_block(&mut self, run: &mut RunWriter) -> Result<()> {
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(self.bytes.len()));
        self.compressor.compress_to_buffer(&self.bytes, &mut self.packed).map_err(|e| incompressible(&e))?;
        let head = RecordBlockHead { unpacked: self.bytes.len() as u32, packed: self.packed.len() as u32 };
        self.starts.push(run.position());
        run.push(&[head.to_word()])?;
        run.push(&words_of(&self.packed).collect::<Vec<_>>())?;
        self.bytes.clear();
        Ok(())
    }
}

/// Reads of records that come in about the order in which they lie: the block that was read last is kept.
#[derive(Default)]
pub struct RecordCursor {
    /// The heap and the start of the block that is kept, and where the next one starts.
    held: Option<(HeapReader, u64)>,
    next: u64,
    words: Vec<u64>,
    bytes: Vec<u8>,
    decompressor: Option<Decompressor<'static>>,
}

/// The decompressor has no form of its own.
impl fmt::Debug for RecordCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordCursor").field("held", &self.held).finish_non_exhaustive()
    }
}

impl RunCursor for RecordCursor {
    fn distance(&self, run: &RunReader, start: u64) -> Option<u64> {
        let (heap, at) = self.held.as_ref()?;
        let is_there = run.heap(RAW).is_some_and(|other| other.is(heap));
        is_there.then(|| distance(start, *at..self.next))
    }

    /// It has a block, however long a record is.
    fn rest(&mut self) {}
}

impl RecordCursor {
    /// The bytes of a record of `run`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub fn read(&mut self, run: &RunReader, record: &StoredRecord) -> Result<Vec<u8>> {
        // A row that lies costs no more room than the longest record.
        let room = usize::try_from(record.bytes).unwrap_or(usize::MAX).min(MAX_RECORD_BYTES);
        let mut bytes = Vec::with_capacity(room);
        self.each_part(run, record, &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Hands on the bytes of a record of `run`, part by part.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`], and what `each` gives.
    pub fn each_part(
        &mut self,
        run: &RunReader,
        record: &StoredRecord,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let heap = run.heap(RAW).ok_or_else(|| damaged(run, "records without their bytes"))?;
        let (mut start, mut offset, mut left) = (record.place.start, record.place.offset, record.bytes);
        while left > 0 {
            self.turn_to(run, heap, start)?;
            let here = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..));
            let Some(here) = here.filter(|here| !here.is_empty()) else {
                return Err(damaged(run, "a block of records ends before one that is said to be in it"));
            };
            let some = &here[..here.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            each(some)?;
            left -= some.len() as u64;
            (start, offset) = (self.next, 0);
        }
        Ok(())
    }

    /// Unpacks the block that starts at word `start`, unless it is the one that is kept.
    fn turn_to(&mut self, run: &RunReader, heap: &HeapReader, start: u64) -> Result<()> {
        if !self.held.as_ref().is_some_and(|(held, at)| *at == start && held.is(heap)) {
            self.held = None;
            self.unpack(run, heap, start)?;
            self.held = Some((heap.clone(), start));
        }
        Ok(())
    }

    fn unpack(&mut self, run: &RunReader, heap: &HeapReader, start: u64) -> Result<()> {
        self.words.clear();
        let fetched = heap.len().saturating_sub(start).min(FETCHED as u64).max(1);
        heap.read(start, fetched as usize, &mut self.words)?;
        let Some(head) = self.words.first() else { return Ok(()) };
        let head = RecordBlockHead::of_word(*head);
        let most = zstd::zstd_safe::compress_bound(BLOCK_BYTES);
        if head.unpacked as usize > BLOCK_BYTES || head.packed as usize > most {
            return Err(damaged(run, "a block of records is longer than any can be"));
        }
        let all = 1 + head.packed_words();
        if let Some(missing) = all.checked_sub(self.words.len()) {
            heap.read(start + fetched, missing, &mut self.words)?;
        }
        let packed = bytes_of(&mut self.words[1..all], head.packed as usize);
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new().map_err(|e| damaged(run, e.to_string()))?),
        };
        self.bytes.clear();
        self.bytes.reserve(head.unpacked as usize);
        let unpacked = decompressor.decompress_to_buffer(packed, &mut self.bytes);
        if unpacked.ok() != Some(head.unpacked as usize) {
            return Err(damaged(run, "a block of records cannot be decompressed"));
        }
        self.next = start + all as u64;
        Ok(())
    }
}

fn incompressible(error: &std::io::Error) -> Error {
    Error::Worker(format!("records cannot be compressed: {error}"))
}

fn damaged(run: &RunReader, what: impl Into<String>) -> Error {
    Error::damaged(run.path(), 0, what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collection::tables::run_cursors::RunCursors;
    use crate::storage::Simulated;

    /// A run with these records, and where each is.
    fn written(records: &[Vec<u8>]) -> (RunReader, Vec<StoredRecord>) {
        let storage = Simulated::default();
        let mut run = RunWriter::create(&storage, "a", 1, 2).expect("created");
        let mut blocks = RecordBlocks::begin(&mut run).expect("begun");
        records.iter().try_for_each(|record| blocks.push(record, &mut run)).expect("pushed");
        blocks.finish(&mut run).expect("finished");
        run.finish().expect("finished");
        let mut before = 0;
        let stored = records.iter().map(|record| {
            let bytes = record.len() as u64;
            before += bytes;
            StoredRecord { version: 0, place: blocks.place(before - bytes), bytes }
        });
        let stored = stored.collect();
        (RunReader::open(&storage, "a", 1, 2).expect("opened"), stored)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Records of any lengths, blocks long ones included, in any order, from two runs by turns.
        #[test]
        fn records_come_back(lengths in prop::collection::vec(prop_oneof![0..40usize, 0..3 * BLOCK_BYTES], 1..20),
                             order in prop::collection::vec(any::<prop::sample::Index>(), 0..40), seed in any::<u64>()) {
            let byte = |at: usize| (seed.wrapping_mul(at as u64 | 1) >> 60) as u8;
            let records: Vec<Vec<u8>> =
                lengths.iter().map(|length| (0..*length).map(|at| byte(at + length)).collect()).collect();
            let runs = [written(&records), written(&records[..1])];
            let mut cursors = RunCursors::<RecordCursor>::default();
            for (turn, index) in order.iter().enumerate() {
                let (run, stored) = &runs[turn % 2];
                let at = index.index(stored.len());
                prop_assert_eq!(&cursors.of(run, stored[at].place.start).read(run, &stored[at]).expect("read"), &records[at]);
            }
        }
    }

    #[test]
    fn a_row_or_a_block_that_lies_is_damage() {
        let records: Vec<Vec<u8>> = (1..4).map(|record| vec![record; 5 * BLOCK_BYTES / 2]).collect();
        let (run, stored) = written(&records);
        let (whole, last) = (stored[1], stored[2]);
        let mut cursor = RecordCursor::default();
        let at = |start: u64, offset: u64| RecordPlace { start, offset };
        for wrong in [
            StoredRecord { bytes: last.bytes + 1, ..last },
            StoredRecord { bytes: u64::MAX, ..whole },
            StoredRecord { place: at(whole.place.start, BLOCK_BYTES as u64), ..whole },
            StoredRecord { place: at(whole.place.start, u64::MAX), ..whole },
            StoredRecord { place: at(whole.place.start + 1, 0), ..whole },
            StoredRecord { place: at(u64::MAX, 0), ..whole },
        ] {
            let read = cursor.read(&run, &wrong);
            assert!(matches!(read, Err(Error::Damaged { .. })), "{wrong:?}: {read:?}");
            assert_eq!(cursor.read(&run, &whole).expect("as before"), records[1]);
        }
    }

    /// Whoever can write good checksums can write other answers, but no panic, and nothing but damage.
    #[test]
    fn heads_of_blocks_are_not_trusted() {
        let records: Vec<Vec<u8>> = (1..4).map(|record| vec![record; 5 * BLOCK_BYTES / 2]).collect();
        let (run, stored) = written(&records);
        let (mut words, heap) = (Vec::new(), run.heap(RAW).expect("records"));
        heap.read(0, heap.len() as usize, &mut words).expect("read");
        for bit in 0..64 {
            let mut changed = words.clone();
            changed[stored[1].place.start as usize] ^= 1 << bit;
            let storage = Simulated::default();
            let mut writer = RunWriter::create(&storage, "a", 1, 2).expect("created");
            writer.heap(RAW).and_then(|()| writer.push(&changed)).expect("written");
            writer.finish().expect("finished");
            let damaged = RunReader::open(&storage, "a", 1, 2).expect("opened");
            let mut cursor = RecordCursor::default();
            let read: Vec<_> = stored.iter().map(|record| cursor.read(&damaged, record)).collect();
            assert!(matches!(read[1], Err(Error::Damaged { .. })), "bit {bit}: {:?}", read[1]);
            assert!(read.iter().flatten().all(|read| records.contains(read)), "bit {bit}");
        }
    }
}
