//! Lists of words by document: in memory as far as they may be, the rest on disk.

use std::path::Path;

use hashbrown::HashMap;

use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::memory::budget::mapped;
use crate::flow::memory::spill::SpillFile;

/// The sets of one worker's documents: in memory as far as it may, the rest in a file without a name.
#[derive(Debug)]
pub struct Sets {
    places: HashMap<Doc, (u64, u32)>,
    held: Vec<u64>,
    most: usize,
    spill: SpillFile,
}

impl Sets {
    /// An empty store that holds at most `bytes` in memory; the rest goes to a file in `scratch`.
    pub fn new(bytes: u64, scratch: &Path) -> Sets {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / 8;
        Sets { places: HashMap::new(), held: mapped(most), most, spill: SpillFile::new(scratch) }
    }

    /// Stores the set of a document.
    pub fn insert(&mut self, doc: Doc, set: &[u64]) -> Result<()> {
        if self.held.len() + set.len() > self.most && !self.held.is_empty() {
            self.spill.append(&self.held)?;
            self.held.clear();
        }
        self.places.insert(doc, (self.spill.bytes() / 8 + self.held.len() as u64, set.len() as u32));
        if set.len() > self.most {
            // There is nothing held by now. A set that is larger than all that may be is not copied first.
            self.spill.append(set)?;
        } else {
            self.held.extend_from_slice(set);
        }
        Ok(())
    }

    /// Whether the document's set is here.
    pub fn contains(&self, doc: Doc) -> bool {
        self.places.contains_key(&doc)
    }

    /// The set of a document, in `scratch` if it was spilled.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Worker`] for a document that was never stored: without its set it must not be measured.
    pub fn get<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        let (start, len) = self.places.get(&doc).copied().ok_or_else(|| not_recalled(doc))?;
        let Some(start_held) = start.checked_sub(self.spill.bytes() / 8) else {
            scratch.clear();
            scratch.resize(len as usize, 0);
            self.spill.read(start * 8, scratch)?;
            return Ok(scratch);
        };
        Ok(&self.held[start_held as usize..][..len as usize])
    }
}

/// A set that is needed and that nobody has derived.
pub fn not_recalled(doc: Doc) -> Error {
    Error::Worker(format!("the set of document {doc} is needed and is nowhere"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_back_from_memory_and_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        for bytes in [0, 100, 1 << 20] {
            let mut sets = Sets::new(bytes, folder.path());
            let set =
                |doc: Doc| (0..u64::from(doc % 9)).map(|i| i * 1000 + u64::from(doc)).collect::<Vec<_>>();
            for doc in 0..200 {
                sets.insert(doc, &set(doc)).expect("stored");
            }
            assert_eq!(sets.spill.bytes() > 0, bytes < 1 << 20);
            let mut scratch = Vec::new();
            for doc in (0..200).rev() {
                assert_eq!(sets.get(doc, &mut scratch).expect("read"), set(doc));
            }
            assert!(sets.contains(3) && !sets.contains(999));
            assert!(matches!(sets.get(999, &mut scratch), Err(Error::Worker(_))));
        }
    }
}
