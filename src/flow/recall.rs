//! Sets of the documents that need measuring, derived again from their text: the input is its own spill. Those of
//! stored documents are stored.

use std::path::Path;

use hashbrown::HashMap;

use super::Shared;
use super::budget::mapped;
use super::catalogue::Doc;
use super::replay::recall_stored;
use super::spill::Spill;
use crate::error::{Error, Result};
use crate::read::{Compression, Day, reread};
use crate::sketch::Sketcher;

/// Documents read again between two looks at whether to stop.
const SLICE: usize = 1024;

/// The sets of one worker's documents: in memory as far as it may, the rest in a file without a name.
#[derive(Debug)]
pub struct Sets {
    places: HashMap<Doc, (u64, u32)>,
    held: Vec<u64>,
    most: usize,
    spill: Spill,
}

impl Sets {
    /// An empty store that holds at most `bytes` in memory, give or take one set; the rest goes to a file in `scratch`.
    pub fn new(bytes: u64, scratch: &Path) -> Sets {
        let most = usize::try_from(bytes).unwrap_or(usize::MAX) / 8;
        Sets { places: HashMap::new(), held: mapped(most), most, spill: Spill::new(scratch) }
    }

    /// Stores the set of a document.
    pub fn insert(&mut self, doc: Doc, set: &[u64]) -> Result<()> {
        if self.held.len() + set.len() > self.most && !self.held.is_empty() {
            self.spill.append(&self.held)?;
            self.held.clear();
        }
        self.places.insert(doc, (self.spill.bytes() / 8 + self.held.len() as u64, set.len() as u32));
        self.held.extend_from_slice(set);
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
pub(super) fn not_recalled(doc: Doc) -> Error {
    Error::Worker(format!("the set of document {doc} is needed and is nowhere"))
}

/// Derives the sets of `docs` (ascending, all of one home, none twice) and stores them.
pub fn recall(shared: &Shared, docs: &[Doc], sketcher: &mut Sketcher, sets: &mut Sets) -> Result<()> {
    if let Some(replay) = shared.replay() {
        return recall_stored(shared, replay, docs, sets);
    }
    each_text(shared, docs, &mut |doc, text, day| {
        sketcher.read(text, day);
        sets.insert(doc, sketcher.words())
    })
}

/// Reads the texts of `docs` (ascending by position, none twice) again.
pub fn each_text(
    shared: &Shared,
    docs: &[Doc],
    each: &mut dyn FnMut(Doc, &str, Day) -> Result<()>,
) -> Result<()> {
    let file = |doc: &Doc| shared.catalogue.position(*doc).file();
    for same_file in docs.chunk_by(|a, b| file(a) == file(b)) {
        let number = file(&same_file[0]);
        let source = &shared.sources[number as usize];
        // A compressed file can only be read from its start: once, then.
        let slice = if source.compression == Compression::None { SLICE } else { same_file.len() };
        for some in same_file.chunks(slice) {
            let offsets: Vec<u64> = some.iter().map(|doc| shared.catalogue.position(*doc).offset()).collect();
            reread(source, number, &offsets, &shared.fields, &mut |index, text, day| {
                if index % SLICE == 0 {
                    shared.progress.check()?;
                }
                each(some[index], text, day)
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
