//! Sets of the documents that need measuring, derived again from their text: the input is its own spill.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hashbrown::HashMap;

use super::Shared;
use super::catalogue::Doc;
use crate::error::{Error, Result};
use crate::read::{Compression, reread};
use crate::sketch::Sketcher;

/// Documents read again between two looks at whether to stop.
const SLICE: usize = 1024;

/// The sets of one worker's documents: in memory as far as it may, the rest in a file without a name.
#[derive(Debug)]
pub struct Sets {
    places: HashMap<Doc, (u64, u32)>,
    held: Vec<u64>,
    most: usize,
    spill: Option<File>,
    spilled: u64,
}

impl Sets {
    /// An empty store that holds at most `bytes` in memory, give or take one set.
    pub fn new(bytes: u64) -> Sets {
        Sets { places: HashMap::new(), held: Vec::new(), most: bytes as usize / 8, spill: None, spilled: 0 }
    }

    /// Stores the set of a document.
    pub fn insert(&mut self, doc: Doc, set: &[u64], scratch: &Path) -> Result<()> {
        if self.held.len() + set.len() > self.most && !self.held.is_empty() {
            self.spill(scratch)?;
        }
        self.places.insert(doc, (self.spilled + self.held.len() as u64, set.len() as u32));
        self.held.extend_from_slice(set);
        Ok(())
    }

    fn spill(&mut self, scratch: &Path) -> Result<()> {
        let file = match self.spill.take() {
            Some(file) => file,
            None => {
                tempfile::tempfile_in(scratch).map_err(|e| Error::io(scratch, "create a spill file in", e))?
            }
        };
        file.write_all_at(bytemuck::cast_slice(&self.held), self.spilled * 8)
            .map_err(|e| Error::io(scratch, "write a spill file in", e))?;
        self.spill = Some(file);
        self.spilled += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// Whether the document's set is here.
    pub fn contains(&self, doc: Doc) -> bool {
        self.places.contains_key(&doc)
    }

    /// The set of a document, in `scratch` if it was spilled; empty for a document that was never stored.
    pub fn get<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> std::io::Result<&'a [u64]> {
        let Some((start, len)) = self.places.get(&doc).copied() else { return Ok(&[]) };
        match (&self.spill, start.checked_sub(self.spilled)) {
            (Some(file), None) => {
                scratch.clear();
                scratch.resize(len as usize, 0);
                file.read_exact_at(bytemuck::cast_slice_mut(scratch), start * 8)?;
                Ok(scratch)
            }
            (_, start) => {
                let start = start.unwrap_or(0) as usize;
                Ok(&self.held[start..start + len as usize])
            }
        }
    }
}

/// Derives the sets of `docs` (ascending, all of one home, none twice) and stores them.
pub fn recall(shared: &Shared, docs: &[Doc], sketcher: &mut Sketcher, sets: &mut Sets) -> Result<()> {
    let file = |doc: &Doc| shared.catalogue.position(*doc).file();
    for same_file in docs.chunk_by(|a, b| file(a) == file(b)) {
        let number = file(&same_file[0]);
        let source = &shared.sources[number as usize];
        // A compressed file can only be read from its start: once, then.
        let slice = if source.compression == Compression::None { SLICE } else { same_file.len() };
        for some in same_file.chunks(slice) {
            let offsets: Vec<u64> = some.iter().map(|doc| shared.catalogue.position(*doc).offset()).collect();
            reread(source, number, &offsets, &shared.fields, &mut |index, text| {
                if index % SLICE == 0 {
                    shared.progress.check()?;
                }
                sketcher.read(text);
                sets.insert(some[index], sketcher.set(), &shared.scratch)
            })?;
            shared.progress.advance(some.len() as u64);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_from_memory_and_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        for bytes in [0, 100, 1 << 20] {
            let mut sets = Sets::new(bytes);
            let set =
                |doc: Doc| (0..u64::from(doc % 9)).map(|i| i * 1000 + u64::from(doc)).collect::<Vec<_>>();
            for doc in 0..200 {
                sets.insert(doc, &set(doc), folder.path()).expect("stored");
            }
            assert_eq!(sets.spill.is_some(), bytes < 1 << 20);
            let mut scratch = Vec::new();
            for doc in (0..200).rev() {
                assert_eq!(sets.get(doc, &mut scratch).expect("read"), set(doc));
            }
            assert!(sets.contains(3) && !sets.contains(999));
            assert!(sets.get(999, &mut scratch).expect("read").is_empty());
        }
    }
}
