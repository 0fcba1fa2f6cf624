//! Ids and digests that earlier epochs of a load have brought, so that the rows of these epochs, which other processes may keep, are
//! asked only of what they may hold.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::unchanged_ids::UnchangedIds;

/// The epochs of a load before the one that is run.
#[derive(Clone, Debug, Default)]
pub struct EarlierEpochs {
    /// Runs that were there before the load; those behind them are of its earlier epochs.
    pub runs_before: usize,
    /// Ids that they have brought.
    pub ids: Arc<EarlierKeys>,
    /// Digests that they have brought.
    pub digests: Arc<EarlierKeys>,
    /// How many lists of these there were when this epoch began: of ids, and of digests.
    pub lists: (usize, usize),
    /// What is known of the documents of runs, for epochs that find the same runs: most loads bring little that is new.
    known: Arc<Mutex<Arc<UnchangedIds>>>,
}

impl EarlierEpochs {
    /// Those of a load of which this process runs all, which began with so many runs. What they have brought takes at most `memory`
    /// bytes.
    pub fn none(runs_before: usize, memory: u64) -> EarlierEpochs {
        let keys = || Arc::new(EarlierKeys::within(memory / 2));
        EarlierEpochs { runs_before, ids: keys(), digests: keys(), ..EarlierEpochs::default() }
    }

    /// Those of a load that others have begun: anything may have been brought.
    pub fn unknown(runs_before: usize) -> EarlierEpochs {
        EarlierEpochs { runs_before, ..EarlierEpochs::default() }
    }

    /// What is known of the documents of these runs, and will be.
    pub(super) fn known_of(&self, runs: Vec<PathBuf>) -> Arc<UnchangedIds> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.runs != runs {
            *known = Arc::new(UnchangedIds::of(runs));
        }
        Arc::clone(&known)
    }

    /// The same, of which all that there is by now was brought before the epoch that begins.
    pub fn before_now(self) -> EarlierEpochs {
        let lists = (self.ids.lists(), self.digests.lists());
        EarlierEpochs { lists, ..self }
    }
}

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
    lists: Vec<Arc<[u64]>>,
    bytes: u64,
    /// Whether one did not fit: then any key may be among them.
    overflown: bool,
}

impl EarlierKeys {
    /// None yet, before the first epoch of a load. They take `most` bytes of memory.
    pub fn within(most: u64) -> EarlierKeys {
        EarlierKeys { most, kept: Mutex::default() }
    }

    /// How many lists of them there are.
    pub fn lists(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).lists.len()
    }

    /// Which of these first halves, ascending, are in one of the first `lists` lists: their places, ascending. None if any may be.
    pub fn brought(&self, halves: &[u64], lists: usize) -> Option<Vec<usize>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.most == 0 || kept.overflown {
            return None;
        }
        let (Some(first), Some(last)) = (halves.first(), halves.last()) else { return Some(Vec::new()) };
        // Most lists are of another range of keys. Others look theirs up meanwhile.
        let meets = |list: &&Arc<[u64]>| list.first() <= Some(last) && list.last() >= Some(first);
        let lists: Vec<Arc<[u64]>> = kept.lists.iter().take(lists).filter(meets).cloned().collect();
        drop(kept);
        let mut places = Vec::new();
        lists.iter().for_each(|list| add_places(halves, list, &mut places));
        places.sort_unstable();
        places.dedup();
        Some(places)
    }

    /// Takes first halves, ascending, for brought from now on.
    pub fn add(&self, halves: &[u64]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += size_of_val(halves) as u64;
        if kept.bytes > self.most {
            (kept.lists, kept.overflown) = (Vec::new(), true);
        } else {
            kept.lists.push(halves.into());
        }
    }
}

/// Adds the places of those of ascending words that are in an ascending list.
fn add_places(words: &[u64], list: &[u64], places: &mut Vec<usize>) {
    let Some(first) = words.first() else { return };
    let mut rest = &list[list.partition_point(|other| other < first)..];
    for (at, word) in words.iter().enumerate() {
        // Lists of one range are about as long, so that the next one is near.
        let passed = rest.iter().take_while(|other| *other < word).count();
        rest = &rest[passed..];
        places.extend((rest.first() == Some(word)).then_some(at));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The obvious twin keeps those of earlier epochs in a set. An epoch has two lists.
        #[test]
        fn what_was_brought_is_found(
            epochs in prop::collection::vec(prop::collection::vec(prop::collection::btree_set(0u64..40, 0..20), 2), 0..6),
            most in prop::sample::select(vec![0u64, 100, 1 << 20]),
        ) {
            let earlier = EarlierKeys::within(most);
            let mut all: BTreeSet<u64> = BTreeSet::new();
            for epoch in epochs {
                let lists = earlier.lists();
                for halves in &epoch {
                    let halves: Vec<u64> = halves.iter().copied().collect();
                    let sure: Vec<usize> = (0..halves.len()).filter(|at| all.contains(&halves[*at])).collect();
                    let brought = earlier.brought(&halves, lists);
                    prop_assert!(brought.is_some() || most < 1 << 20);
                    prop_assert!(brought.is_none_or(|brought| brought == sure));
                    earlier.add(&halves);
                }
                all.extend(epoch.iter().flatten());
            }
        }
    }
}
