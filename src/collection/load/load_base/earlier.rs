//! Ids and digests that earlier epochs of a load have brought, so that the rows of these epochs, which other processes may keep, are
//! asked only of what they may hold.

use std::sync::{Mutex, PoisonError};

/// The first halves of keys of two words that this process has looked up in the epochs of a load.
#[derive(Debug, Default)]
pub struct EarlierKeys {
    /// Bytes of memory that they may take; 0 where earlier epochs are not known.
    most: u64,
    kept: Mutex<BroughtLists>,
}

/// The lists of epochs and workers, each ascending.
#[derive(Debug, Default)]
struct BroughtLists {
    lists: Vec<Vec<u64>>,
    bytes: u64,
    /// Whether one did not fit: then any key may be among them.
    overflown: bool,
}

impl EarlierKeys {
    /// None yet, before the first epoch of a load. They take `most` bytes of memory.
    pub fn within(most: u64) -> EarlierKeys {
        EarlierKeys { most, kept: Mutex::default() }
    }

    /// Which of these keys, ascending pairs of words, may have been brought before: their places. All are taken for brought
    /// from now on.
    pub fn perhaps_brought(&self, keys: &[u64]) -> Vec<usize> {
        let first: Vec<u64> = keys.as_chunks::<2>().0.iter().map(|[first, _]| *first).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let any = self.most == 0 || kept.overflown;
        let mut perhaps: Vec<usize> = if any { (0..first.len()).collect() } else { kept.places(&first) };
        perhaps.sort_unstable();
        perhaps.dedup();
        kept.bytes += size_of_val(&first[..]) as u64;
        if kept.bytes > self.most {
            (kept.lists, kept.overflown) = (Vec::new(), true);
        } else {
            kept.lists.push(first);
        }
        perhaps
    }
}

impl BroughtLists {
    /// The places of those of ascending words that are in a list.
    fn places(&self, first: &[u64]) -> Vec<usize> {
        let mut places = Vec::new();
        for list in &self.lists {
            let mut rest = &list[..];
            for (at, word) in first.iter().enumerate() {
                // Lists of one range are about as long, so that the next one is near.
                let passed = rest.iter().take_while(|other| *other < word).count();
                rest = &rest[passed..];
                places.extend((rest.first() == Some(word)).then_some(at));
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The obvious twin keeps all of them in a set.
        #[test]
        fn what_was_brought_is_found(
            epochs in prop::collection::vec(prop::collection::btree_set((0u64..40, 0u64..3), 0..20), 0..6),
            most in prop::sample::select(vec![0u64, 100, 1 << 20]),
        ) {
            let earlier = EarlierKeys::within(most);
            let mut all: BTreeSet<u64> = BTreeSet::new();
            for epoch in epochs {
                let keys: Vec<u64> = epoch.iter().flat_map(|(first, second)| [*first, *second]).collect();
                let perhaps = earlier.perhaps_brought(&keys);
                let sure: Vec<usize> = epoch.iter().enumerate().filter(|(_, (first, _))| all.contains(first)).map(|(at, _)| at).collect();
                let whole = most == 1 << 20;
                prop_assert!(sure.iter().all(|at| perhaps.contains(at)) && perhaps.is_sorted());
                prop_assert!(!whole || perhaps == sure);
                all.extend(epoch.iter().map(|(first, _)| *first));
            }
        }
    }
}
