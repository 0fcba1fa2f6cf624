//! Sets that are held only as long as somebody may ask for them.

use std::path::Path;

use hashbrown::HashMap;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::memory::sets::Sets;

/// The sets that later documents may need: as many as may be held in memory, the others on disk.
pub struct LiveSets {
    held: HashMap<Doc, Box<[u64]>>,
    words: usize,
    most: usize,
    /// Those for which there was no room. They stay there, needed or not.
    beyond: Sets,
}

impl LiveSets {
    /// None yet; at most `bytes` of them will be held.
    pub fn new(bytes: u64, scratch: &Path) -> LiveSets {
        let most = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        LiveSets { held: HashMap::new(), words: 0, most, beyond: Sets::new(0, scratch) }
    }

    /// Holds the set of a document.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn hold(&mut self, doc: Doc, set: &[u64]) -> Result<()> {
        if self.words + set.len() > self.most {
            return self.beyond.insert(doc, set);
        }
        self.words += set.len();
        self.held.insert(doc, set.into());
        Ok(())
    }

    /// The set of a document, in `scratch` if it was spilled; `None` if it is not held.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn get<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> Result<Option<&'a [u64]>> {
        match self.held.get(&doc) {
            Some(set) => Ok(Some(set)),
            None if self.beyond.contains(doc) => self.beyond.get(doc, scratch).map(Some),
            None => Ok(None),
        }
    }

    /// Forgets the set of a document, if it is in memory.
    pub fn forget(&mut self, doc: Doc) {
        if let Some(set) = self.held.remove(&doc) {
            self.words -= set.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_there_until_they_are_forgotten(sizes in prop::collection::vec(0usize..9, 1..30), most in 0usize..60) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut sets = LiveSets { most, ..LiveSets::new(u64::MAX, folder.path()) };
            let set = |doc: usize| (0..sizes[doc] as u64).map(|word| word << 8 | doc as u64).collect::<Vec<_>>();
            let mut scratch = Vec::new();
            for doc in 0..sizes.len() {
                sets.hold(doc as Doc, &set(doc)).expect("held");
                prop_assert!(sets.words <= most);
                if doc % 3 == 2 {
                    sets.forget(doc as Doc - 2);
                }
            }
            for doc in (0..sizes.len()).filter(|doc| doc % 3 != 0 || doc + 2 >= sizes.len()) {
                prop_assert_eq!(sets.get(doc as Doc, &mut scratch).expect("read"), Some(&set(doc)[..]));
            }
            prop_assert_eq!(sets.get(99, &mut scratch).expect("read"), None);
        }
    }
}
