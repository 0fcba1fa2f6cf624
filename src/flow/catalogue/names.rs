//! Lines and ids of documents, which only lists and collections ask for: behind one another, on disk beyond their share
//! of the memory. Where they begin is noted for every sixteenth row alone.

use crate::document::DocumentName;
use crate::error::Result;
use crate::flow::memory::budget::mapped;
use crate::flow::memory::spill::SpillFile;
use crate::flow::memory::store::RunMemory;
use crate::flow::packed::columns::{push_number, take_number};

/// Rows of a block. To reach a row those before it in its block are passed over.
const BLOCK: usize = 16;

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
        let (block, spilled) = (row / BLOCK, self.spill.bytes());
        let start = self.starts[block];
        if let Some(start) = start.checked_sub(spilled) {
            let (line, id) = nth(&self.held[start as usize..], row % BLOCK);
            return Ok((line, id.map(|(id, is_number)| DocumentName::of_kind(as_text(id), is_number))));
        }
        let end = self.starts.get(block + 1).map_or(spilled, |end| spilled.min(*end));
        let mut bytes = vec![0; (end - start) as usize];
        self.spill.read(start, &mut bytes)?;
        let (line, id) = nth(&bytes, row % BLOCK);
        let owned = |(id, is_number)| DocumentName::of_kind(as_text(id).to_owned(), is_number);
        Ok((line, id.map(owned)))
    }
}

/// Line and id of one row of a block, and whether the id is a number.
fn nth(mut block: &[u8], row: usize) -> (u32, Option<(&[u8], bool)>) {
    let mut next = || {
        let line = take_number(&mut block).unwrap_or_default() as u32;
        let kept = take_number(&mut block).unwrap_or_default();
        let id = (kept >> 1).checked_sub(1).and_then(|length| block.split_off(..length as usize));
        (line, id.map(|id| (id, kept & 1 == 1)))
    };
    for _ in 0..row {
        next();
    }
    next()
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
        }
    }
}
