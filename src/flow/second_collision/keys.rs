//! Under which keys members of hot groups collide again: the rarest of each, but those under which it can meet nobody.

use std::sync::Arc;

use crate::flow::memory::document_bits::{DocumentBits, set};
use crate::flow::records::spread;
use crate::sketch::Frequencies;
use crate::threshold::Threshold;

/// Slots of shingles, a bit each.
pub const SLOTS: u32 = 1 << 24;

/// The two slots of a shingle (Bloom 1970). With one, a few shingles of a template, which all members have, would be taken for
/// others; with two hardly any is.
fn slots(shingle: u64) -> [u32; 2] {
    let hash = spread(shingle);
    [(hash >> 40) as u32 % SLOTS, (hash >> 16) as u32 % SLOTS]
}

/// Some shingles, as one worker knows them.
#[derive(Default)]
pub struct OwnShingles(pub Vec<u64>);

impl OwnShingles {
    /// Adds a shingle.
    pub fn insert(&mut self, shingle: u64) {
        slots(shingle).into_iter().for_each(|slot| set(&mut self.0, slot));
    }
}

/// Such shingles of all workers.
pub struct KnownShingles(pub Arc<DocumentBits>);

impl KnownShingles {
    /// Whether a shingle may be one of them; false is certain.
    pub fn may_have(&self, shingle: u64) -> bool {
        slots(shingle).into_iter().all(|slot| self.0.contains(slot))
    }
}

/// Shingles of the new members of a load.
pub struct OfNew {
    /// All of them.
    pub all: KnownShingles,
    /// Those by which one is indexed.
    pub indexing: KnownShingles,
}

/// An order of shingles, and how many of its first ones a set shows.
pub struct KeyChoice<'a> {
    threshold: Threshold,
    frequencies: &'a Frequencies,
    /// Many members have a shingle that is counted more often.
    many: u32,
}

impl KeyChoice<'_> {
    /// The order of these counts.
    pub fn new(threshold: Threshold, frequencies: &Frequencies) -> KeyChoice<'_> {
        KeyChoice { threshold, frequencies, many: frequencies.many() }
    }

    /// Whether many members have a shingle that is counted so often.
    pub fn is_often(&self, count: u32) -> bool {
        count > self.many
    }

    /// Writes the keys of a set to `keys`, with their counts; how many of them index it.
    pub fn of(&self, set: &[u64], keys: &mut Vec<(u32, u64)>) -> usize {
        self.frequencies.rarest(set, self.threshold.prefix(set.len()), keys);
        self.threshold.indexing_prefix(set.len())
    }

    /// Writes the keys of a stored set under which it may meet a new one to `keys`; how many of them index it. Shingles that no
    /// new member has come before all others in the order, and there is no need to sort them.
    pub fn of_stored(&self, set: &[u64], new: &OfNew, keys: &mut Vec<(u32, u64)>) -> usize {
        let known: Vec<u64> = set.iter().copied().filter(|shingle| new.all.may_have(*shingle)).collect();
        let others = set.len() - known.len();
        let shown = self.threshold.prefix(set.len()).saturating_sub(others);
        let indexing = self.threshold.indexing_prefix(set.len()).saturating_sub(others);
        keys.clear();
        if shown > 0 && (indexing > 0 || known.iter().any(|shingle| new.indexing.may_have(*shingle))) {
            self.frequencies.rarest(&known, shown, keys);
            let mut at = 0;
            keys.retain(|(_, key)| {
                at += 1;
                at <= indexing || new.indexing.may_have(*key)
            });
        }
        indexing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let member = (0u64..60).prop_map(|number| number * 0x1_0000_0001);
        let set = prop::collection::btree_set(member, 1..40).prop_map(|set| set.into_iter().collect());
        prop::collection::vec(set, 1..9)
    }

    fn gathered(shingles: impl Iterator<Item = u64>) -> KnownShingles {
        let all = DocumentBits::new(SLOTS as usize);
        shingles.for_each(|shingle| slots(shingle).into_iter().for_each(|slot| all.insert(slot)));
        KnownShingles(Arc::new(all))
    }

    proptest! {
        /// Two sets that are alike enough still meet, under a key that indexes the smaller one.
        #[test]
        fn stored_sets_meet_the_new_ones_that_they_met_under_all_keys(
            new in sets(), stored in sets(), threshold in prop::sample::select(vec!["0.3", "0.5", "0.8"]),
        ) {
            let threshold: Threshold = threshold.parse().expect("a threshold");
            let frequencies = Frequencies::new(1000);
            new.iter().for_each(|set| frequencies.counting().count(set));
            let choice = KeyChoice::new(threshold, &frequencies);
            let mut keys = Vec::new();
            let shown: Vec<(Vec<u64>, usize)> = new.iter().map(|set| {
                let indexing = choice.of(set, &mut keys);
                (keys.iter().map(|(_, key)| *key).collect(), indexing)
            }).collect();
            let indexing = shown.iter().flat_map(|(keys, indexing)| keys[..(*indexing).min(keys.len())].iter().copied());
            let of_new = OfNew { all: gathered(new.iter().flatten().copied()), indexing: gathered(indexing) };
            let known: BTreeSet<u64> = new.iter().flatten().copied().collect();
            for set in &stored {
                let indexing = choice.of_stored(set, &of_new, &mut keys);
                // The slow twin: the whole set in order, and of its prefix what a new one may have.
                let mut whole = Vec::new();
                frequencies.rarest(set, set.len(), &mut whole);
                whole.sort_by_key(|(count, key)| (known.contains(key), *count, *key));
                let indexes = threshold.indexing_prefix(set.len());
                let first = whole.iter().take(threshold.prefix(set.len())).enumerate();
                let all: Vec<(u64, bool)> = first.map(|(at, (_, key))| (*key, at < indexes)).filter(|(key, _)| known.contains(key)).collect();
                let sent: Vec<(u64, bool)> = keys.iter().enumerate().map(|(at, (_, key))| (*key, at < indexing)).collect();
                prop_assert!(sent.iter().all(|key| all.contains(key)));
                for (theirs, their_indexing) in &shown {
                    let meets = |keys: &[(u64, bool)]| theirs.iter().enumerate()
                        .filter(|(at, key)| keys.iter().any(|(own, indexes)| own == *key && (*indexes || at < their_indexing)))
                        .map(|(_, key)| *key).collect::<Vec<_>>();
                    prop_assert_eq!(meets(&sent), meets(&all));
                }
            }
        }
    }
}
