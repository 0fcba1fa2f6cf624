//! Counts in the order of their terms: in memory, on disk, and merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::limits::sized;

/// Counts in the order of their terms' bytes, each term once.
pub(super) trait Sorted {
    /// The count of the next term, which takes the place of what `term` held; `None` at the end.
    fn next(&mut self, term: &mut String) -> Result<Option<u64>>;
}

/// Counts in memory.
pub(super) struct Held(std::vec::IntoIter<(Box<str>, u64)>);

impl Held {
    /// Puts counts of different terms in order.
    pub(super) fn new(mut counts: Vec<(Box<str>, u64)>) -> Held {
        counts.sort_unstable();
        Held(counts.into_iter())
    }
}

impl Sorted for Held {
    fn next(&mut self, term: &mut String) -> Result<Option<u64>> {
        let Some((next, count)) = self.0.next() else { return Ok(None) };
        term.clear();
        term.push_str(&next);
        Ok(Some(count))
    }
}

/// Bytes of a count and a length before the bytes of a term.
const HEAD: usize = 12;

/// Adds a count to bytes as they lie on disk and cross a connection: count, length and bytes of the term.
pub(super) fn encode(term: &str, count: u64, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&(term.len() as u32).to_le_bytes());
    bytes.extend_from_slice(term.as_bytes());
}

/// The count at the start of `bytes`, and how many of them it takes; `None` if they are not all there.
pub(super) fn decode(bytes: &[u8], term: &mut String) -> Result<Option<(u64, usize)>> {
    let Some((count, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    let Some(word) = rest.get(..length) else { return Ok(None) };
    let word = std::str::from_utf8(word)
        .map_err(|error| Error::Worker(format!("a term did not come back as it was: {error}")))?;
    term.clear();
    term.push_str(word);
    Ok(Some((u64::from_le_bytes(*count), HEAD + length)))
}

/// Bytes that are written at once.
const BLOCK: usize = sized(64 << 10, 64);

/// A file of runs. It has no name, and is gone when the process is, however that ends.
pub(super) struct Spill {
    folder: PathBuf,
    file: Arc<File>,
    bytes: u64,
}

impl Spill {
    /// An empty file in `folder`, which exists.
    pub(super) fn new(folder: &Path) -> Result<Spill> {
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|e| Error::io(folder, "create a spill file in", e))?;
        Ok(Spill { folder: folder.to_path_buf(), file: Arc::new(file), bytes: 0 })
    }

    /// Writes all that is left of `counts` behind what is there.
    pub(super) fn write(&mut self, counts: &mut dyn Sorted) -> Result<CountRun> {
        let (from, mut block, mut term) = (self.bytes, Vec::with_capacity(2 * BLOCK), String::new());
        while let Some(count) = counts.next(&mut term)? {
            encode(&term, count, &mut block);
            if block.len() >= BLOCK {
                self.append(&mut block)?;
            }
        }
        self.append(&mut block)?;
        let (file, folder) = (Arc::clone(&self.file), self.folder.clone());
        Ok(CountRun { file, folder, at: from, end: self.bytes, block: Vec::new(), used: 0 })
    }

    fn append(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let written = self.file.write_all_at(block, self.bytes);
        written.map_err(|e| Error::io(&self.folder, "write a spill file in", e))?;
        self.bytes += block.len() as u64;
        block.clear();
        Ok(())
    }
}

/// Counts on disk.
pub(super) struct CountRun {
    file: Arc<File>,
    folder: PathBuf,
    /// Where what was not read yet begins and ends.
    at: u64,
    end: u64,
    /// What was read, and how much of it was handed on.
    block: Vec<u8>,
    used: usize,
}

impl CountRun {
    /// Reads more behind what was not handed on yet.
    fn more(&mut self) -> Result<()> {
        self.block.drain(..self.used);
        self.used = 0;
        let (held, more) = (self.block.len(), (self.end - self.at).min(BLOCK as u64) as usize);
        self.block.resize(held + more, 0);
        let read = self.file.read_exact_at(&mut self.block[held..], self.at);
        read.map_err(|e| Error::io(&self.folder, "read a spill file in", e))?;
        self.at += more as u64;
        Ok(())
    }
}

impl Sorted for CountRun {
    fn next(&mut self, term: &mut String) -> Result<Option<u64>> {
        loop {
            if let Some((count, bytes)) = decode(&self.block[self.used..], term)? {
                self.used += bytes;
                return Ok(Some(count));
            }
            if self.at == self.end {
                return Ok(None);
            }
            self.more()?;
        }
    }
}

/// Counts of several, added up.
pub(super) struct CountMerge<'a> {
    sources: Vec<Box<dyn Sorted + Send + 'a>>,
    /// The next term of each source that has one.
    heads: BinaryHeap<Reverse<(String, usize, u64)>>,
}

impl<'a> CountMerge<'a> {
    pub(super) fn new(sources: Vec<Box<dyn Sorted + Send + 'a>>) -> Result<CountMerge<'a>> {
        let mut merge = CountMerge { sources, heads: BinaryHeap::new() };
        (0..merge.sources.len()).try_for_each(|source| merge.advance(source, String::new()))?;
        Ok(merge)
    }

    /// Looks at what a source has next; `term` is a buffer.
    fn advance(&mut self, source: usize, mut term: String) -> Result<()> {
        if let Some(count) = self.sources[source].next(&mut term)? {
            self.heads.push(Reverse((term, source, count)));
        }
        Ok(())
    }
}

impl Sorted for CountMerge<'_> {
    fn next(&mut self, term: &mut String) -> Result<Option<u64>> {
        let Some(Reverse((next, source, mut sum))) = self.heads.pop() else { return Ok(None) };
        term.clear();
        term.push_str(&next);
        self.advance(source, next)?;
        while self.heads.peek().is_some_and(|Reverse((other, ..))| other == term) {
            let Some(Reverse((other, source, count))) = self.heads.pop() else { break };
            sum += count;
            self.advance(source, other)?;
        }
        Ok(Some(sum))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn all(counts: &mut dyn Sorted) -> Vec<(String, u64)> {
        let mut term = String::new();
        std::iter::from_fn(|| counts.next(&mut term).expect("counts").map(|count| (term.clone(), count)))
            .collect()
    }

    fn held(counts: &BTreeMap<String, u64>) -> Held {
        Held::new(counts.iter().rev().map(|(term, count)| (term.as_str().into(), *count)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_merged_is_what_was_counted(parts: Vec<BTreeMap<String, u32>>, disk: u8) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut spill = Spill::new(folder.path()).expect("a file");
            let (mut whole, mut sources) = (BTreeMap::new(), Vec::<Box<dyn Sorted + Send>>::new());
            for (number, part) in parts.into_iter().enumerate() {
                let part: BTreeMap<String, u64> =
                    part.into_iter().map(|(term, count)| (term, u64::from(count))).collect();
                part.iter().for_each(|(term, count)| *whole.entry(term.clone()).or_default() += count);
                sources.push(match disk >> (number % 8) & 1 {
                    0 => Box::new(held(&part)),
                    _ => Box::new(spill.write(&mut held(&part)).expect("written")),
                });
            }
            let merged = all(&mut CountMerge::new(sources).expect("merged"));
            prop_assert_eq!(merged, whole.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn terms_may_be_longer_than_a_block() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spill = Spill::new(folder.path()).expect("a file");
        let long = |letter: &str| letter.repeat(3 * BLOCK + 7);
        let counts = BTreeMap::from([(long("a"), 1), (long("b"), 2), ("c".to_owned(), 3)]);
        let mut run = spill.write(&mut held(&counts)).expect("written");
        assert_eq!(all(&mut run), counts.into_iter().collect::<Vec<_>>());
    }
}
