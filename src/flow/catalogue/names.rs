//! Lines and ids of documents, which only lists and collections ask for: behind one another, on disk beyond their share
//! of the memory. Where they begin is noted for every sixteenth row alone.

use std::ops::Range;

use crate::document::DocumentName;
use crate::error::Result;
use crate::flow::memory::budget::mapped;
use crate::flow::memory::spill::SpillFile;
use crate::flow::memory::store::RunMemory;
use crate::flow::packed::columns::{push_number, take_number};
use crate::limits::sized;

/// Rows of a block. To reach a row those before it in its block are passed over.
const BLOCK: usize = 16;
/// Bytes of blocks on disk that are read at once, where all are.
const AT_ONCE: u64 = sized(64 << 10, 100);

/// Lines and ids of rows.
#[derive(Debug)]
pub struct Names {
    rows: usize,
    /// Where each block begins: in the spill, or behind all that is in it in memory.
    starts: Vec<u64>,
    held: Vec<u8>,
    most: usize,
    spill: SpillFile,
}

/// What is known of a row: its line, and its id if it has one.
pub type Name<'a> = (u32, Option<DocumentName<'a>>);

impl Names {
    /// None yet; at most `most` bytes of them will be held, give or take one block.
    pub fn new(most: usize, memory: &RunMemory) -> Names {
        Names {
            rows: 0,
            starts: Vec::new(),
            held: mapped(most),
            most,
            spill: SpillFile::new(&memory.scratch),
        }
    }

    /// Bytes of memory that they take whatever the bound.
    pub fn bytes(&self) -> u64 {
        (self.starts.len() * size_of::<u64>()) as u64
    }

    /// Adds the next row.
    pub fn push(&mut self, line: u32, id: Option<&DocumentName<'_>>) -> Result<()> {
        if self.rows.is_multiple_of(BLOCK) {
            // A block is never divided.
            if self.held.len() >= self.most && !self.held.is_empty() {
                self.spill.append(&self.held)?;
                self.held.clear();
            }
            self.starts.push(self.spill.bytes() + self.held.len() as u64);
        }
        self.rows += 1;
        push_number(line.into(), &mut self.held);
        // The lowest bit says whether the id is a number.
        push_number(
            id.map_or(0, |id| (id.len() as u64 + 1) << 1 | u64::from(id.is_number())),
            &mut self.held,
        );
        self.held.extend_from_slice(id.map_or(b"", |id| id.as_bytes()));
        Ok(())
    }

    /// Line and id of a row.
    pub fn get(&self, row: usize) -> Result<Name<'_>> {
        let (block, at) = (row / BLOCK, row % BLOCK);
        if let Some(block) = self.in_memory(block) {
            return Ok(named(nth(block, at)));
        }
        let mut bytes = Vec::new();
        self.read(block..block + 1, &mut bytes)?;
        let (line, id) = named(nth(&bytes, at));
        Ok((line, id.map(DocumentName::into_owned)))
    }

    /// Line and id of each row, in their order.
    pub fn each(&self, mut take: impl FnMut(Name<'_>) -> Result<()>) -> Result<()> {
        let (mut bytes, mut from) = (Vec::new(), 0);
        while from < self.starts.len() {
            let (mut left, to) = match self.in_memory(from) {
                Some(rest) => (rest, self.starts.len()),
                None => {
                    let end = self.spill.bytes().min(self.starts[from] + AT_ONCE);
                    let to = self.starts.partition_point(|start| *start < end).max(from + 1);
                    self.read(from..to, &mut bytes)?;
                    (&bytes[..], to)
                }
            };
            for _ in from * BLOCK..self.rows.min(to * BLOCK) {
                take(named(take_row(&mut left)))?;
            }
            from = to;
        }
        Ok(())
    }

    /// What is in memory from a block on, unless that is on disk.
    fn in_memory(&self, block: usize) -> Option<&[u8]> {
        let start = self.starts[block].checked_sub(self.spill.bytes())?;
        Some(&self.held[start as usize..])
    }

    /// Reads blocks that are on disk.
    fn read(&self, blocks: Range<usize>, bytes: &mut Vec<u8>) -> Result<()> {
        let (start, spilled) = (self.starts[blocks.start], self.spill.bytes());
        let end = self.starts.get(blocks.end).map_or(spilled, |end| spilled.min(*end));
        bytes.resize((end - start) as usize, 0);
        self.spill.read(start, bytes)
    }
}

/// Line and id of a row as they are kept, and whether the id is a number.
type Kept<'a> = (u32, Option<(&'a [u8], bool)>);

/// Takes the next row off a block.
fn take_row<'a>(block: &mut &'a [u8]) -> Kept<'a> {
    let line = take_number(block).unwrap_or_default() as u32;
    let kept = take_number(block).unwrap_or_default();
    let id = (kept >> 1).checked_sub(1).and_then(|length| block.split_off(..length as usize));
    (line, id.map(|id| (id, kept & 1 == 1)))
}

/// One row of a block.
fn nth(mut block: &[u8], row: usize) -> Kept<'_> {
    for _ in 0..row {
        take_row(&mut block);
    }
    take_row(&mut block)
}

fn named((line, id): Kept<'_>) -> Name<'_> {
    (line, id.map(|(id, is_number)| DocumentName::of_kind(as_text(id), is_number)))
}

/// What was a string when it was pushed.
fn as_text(id: &[u8]) -> &str {
    std::str::from_utf8(id).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::memory::budget::Budget;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn come_back_from_memory_and_disk(all in prop::collection::vec((any::<u32>(), prop::option::of((".{0,200}", any::<bool>()))), 0..80),
                                          most in prop::sample::select(vec![0usize, 700, 1 << 20])) {
            let folder = tempfile::tempdir().expect("a folder");
            let memory = RunMemory { budget: Budget::new(None, 1), scratch: folder.path().to_path_buf() };
            let mut names = Names::new(most, &memory);
            let name = |id: &Option<(String, bool)>| id.clone().map(|(id, number)| DocumentName::of_kind(id, number));
            for (line, id) in &all {
                names.push(*line, name(id).as_ref()).expect("pushed");
            }
            for (row, (line, id)) in all.iter().enumerate().rev() {
                let back = names.get(row).expect("read");
                prop_assert_eq!(back, (*line, name(id)));
            }
            let mut truth = all.iter().map(|(line, id)| (*line, name(id)));
            let same = |row: Name<'_>| {
                assert_eq!(Some(row), truth.next());
                Ok(())
            };
            names.each(same).expect("read");
            prop_assert!(truth.next().is_none());
        }
    }
}
