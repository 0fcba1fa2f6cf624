//! Under which keys members of hot groups collide again: the rarest of each, but those under which it can meet nobody.

use std::sync::Arc;

use crate::flow::memory::document_bits::DocumentBits;
use crate::limits::MAX_EXPANDED_GROUP;
use crate::sketch::{Frequencies, spread};
use crate::threshold::Threshold;

/// The slots that one look at memory brings.
const WORD: u32 = u64::BITS;

/// The two slots of a shingle among so many, a power of two (Bloom 1970): their word, and a bit for each. With one, a few shingles
/// of a template, which all members have, would be taken for others; with two hardly any is. Both are in one word, so that memory
/// is waited for once (Putze, Sanders and Singler 2007, blocked filters).
#[inline]
fn slots(shingle: u64, among: u32) -> (usize, u64) {
    let hash = spread(shingle);
    let word = (hash >> 32) as u32 & (among / WORD - 1);
    (word as usize, 1 << (hash >> 26 & 63) | 1 << (hash >> 20 & 63))
}

/// Shingles that are looked up before the answer is looked at: so many words are on their way at once, and few are in vain.
const TOGETHER: usize = 32;

/// Some shingles, as one worker knows them.
pub struct OwnShingles {
    /// A bit for each slot.
    pub bits: Vec<u64>,
    slots: u32,
}

impl OwnShingles {
    /// None yet, in so many slots.
    pub fn new(slots: u32) -> OwnShingles {
        OwnShingles { bits: Vec::new(), slots }
    }

    /// How many slots there are.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Adds a shingle.
    pub fn insert(&mut self, shingle: u64) {
        let (word, bits) = slots(shingle, self.slots);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bits;
    }
}

/// Such shingles of all workers.
pub struct KnownShingles {
    all: Arc<DocumentBits>,
    slots: u32,
}

impl KnownShingles {
    /// Those whose bits are set, in so many slots.
    pub fn new(all: Arc<DocumentBits>, slots: u32) -> KnownShingles {
        KnownShingles { all, slots }
    }

    /// Whether a shingle may be one of them; false is certain.
    #[inline]
    pub fn may_have(&self, shingle: u64) -> bool {
        let (word, bits) = slots(shingle, self.slots);
        self.all.contains_all(word, bits)
    }

    /// Writes to `known` those of a set that it may have. Without a branch for each, so that many words are waited for at once.
    fn of_set(&self, set: &[u64], known: &mut Vec<u64>) {
        known.resize(set.len(), 0);
        let mut count = 0;
        for shingle in set {
            known[count] = *shingle;
            count += usize::from(self.may_have(*shingle));
        }
        known.truncate(count);
    }

    /// Whether it may have one of some shingles.
    fn may_have_any(&self, shingles: &[u64]) -> bool {
        let one_of = |some: &[u64]| some.iter().fold(false, |found, shingle| found | self.may_have(*shingle));
        shingles.chunks(TOGETHER).any(one_of)
    }
}

/// Shingles of the new members of a load.
pub struct OfNew {
    /// All of them.
    pub all: KnownShingles,
    /// Those by which one is indexed.
    pub indexing: KnownShingles,
}

/// Which keys a set shows, and how many of them index it.
#[derive(Clone, Copy, Debug)]
pub enum Shown {
    /// As many as sets with this resemblance need, the smaller one of which is indexed by its indexing prefix.
    Resembling(Threshold),
    /// All of them, if the set is the larger one; the smaller one of two with this containment is indexed by its prefix.
    Containing(Threshold),
}

/// An order of shingles, and how many of its first ones a set shows.
pub struct KeyChoice<'a> {
    shown: Shown,
    frequencies: &'a Frequencies,
    /// Many members have a shingle that is counted more often.
    many: u32,
    /// More sets than a shingle may have that indexes one beyond the fewest that must.
    family: u32,
    /// Slots of shingles, a bit each.
    slots: u32,
    /// Whether there are stored members, of whose shingles not all are counted.
    beside_stored: bool,
}

/// Sets that have a shingle. Where more have one, that it is shared says little of them, and all that have it make a hot group. No
/// set is indexed by it beyond the fewest that must be, or the pages of a family would meet under a template that comes just
/// behind these.
const FAMILY: u32 = MAX_EXPANDED_GROUP as u32;

/// Slots for members of hot groups, and most slots.
const SLOTS: (u32, u32) = (1 << 24, 1 << 29);

/// What tables of shingles are for, where all documents are members.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scale {
    /// The shingles of all documents, each as often as there are documents that have it.
    pub shingles: u64,
    /// Bytes that a bit for each slot may take; the same in all processes.
    pub bytes: u64,
}

impl KeyChoice<'_> {
    /// The order of these counts.
    pub fn new(shown: Shown, frequencies: &Frequencies, scale: Scale, beside_stored: bool) -> KeyChoice<'_> {
        let (many, slots) = match shown {
            Shown::Resembling(_) => (frequencies.many(), SLOTS.0),
            // What indexes nobody is no key, however few have it.
            Shown::Containing(_) => {
                let slots = scale.shingles.saturating_mul(2).min(scale.bytes.saturating_mul(8));
                let slots = slots.clamp(SLOTS.0.into(), SLOTS.1.into()) as u32;
                // The power of two at or below.
                (0, 1 << slots.ilog2())
            }
        };
        KeyChoice { shown, frequencies, many, family: FAMILY, slots, beside_stored }
    }

    /// Whether many members have a shingle that is counted so often.
    pub fn is_often(&self, count: u32) -> bool {
        count > self.many
    }

    /// No shingles yet.
    pub fn none(&self) -> OwnShingles {
        OwnShingles::new(self.slots)
    }

    /// Writes the keys of a set to `keys`, with their counts; how many of them index it.
    pub fn of(&self, set: &[u64], keys: &mut Vec<(u32, u64)>) -> Indexing {
        match self.shown {
            Shown::Resembling(threshold) => {
                self.frequencies.rarest(set, threshold.prefix(set.len()), keys);
                Indexing::by(threshold.indexing_prefix(set.len()))
            }
            Shown::Containing(threshold) => {
                self.frequencies.rarest(set, set.len(), keys);
                // What this set alone has comes first, and no other meets it there, unless a stored one does that was not counted.
                let own = match self.beside_stored {
                    true => 0,
                    false => keys.partition_point(|(count, _)| *count < 2),
                };
                keys.drain(..own);
                self.of_contained(threshold, (set.len(), own), keys)
            }
        }
    }

    /// Writes the keys of a stored set under which it may meet a new one to `keys`; how many of them index it. Shingles that no
    /// new member has come before all others in the order, and there is no need to sort them; `known` is room for the others.
    pub fn of_stored(
        &self,
        set: &[u64],
        new: &OfNew,
        known: &mut Vec<u64>,
        keys: &mut Vec<(u32, u64)>,
    ) -> Indexing {
        new.all.of_set(set, known);
        let others = set.len() - known.len();
        let (shown, may_index) = match self.shown {
            Shown::Resembling(threshold) => {
                (threshold.prefix(set.len()), threshold.indexing_prefix(set.len()) > others)
            }
            Shown::Containing(threshold) => (set.len(), threshold.prefix(set.len()) > others),
        };
        let shown = shown.saturating_sub(others);
        keys.clear();
        if shown == 0 || !may_index && !new.indexing.may_have_any(known) {
            return Indexing::default();
        }
        self.frequencies.rarest(known, shown, keys);
        let indexing = match self.shown {
            Shown::Resembling(threshold) => {
                let keys = threshold.indexing_prefix(set.len()).saturating_sub(others);
                Indexing { before: others, ..Indexing::by(keys) }
            }
            Shown::Containing(threshold) => self.of_contained(threshold, (set.len(), others), keys),
        };
        let mut at = 0;
        keys.retain(|(_, key)| {
            at += 1;
            at <= indexing.keys || new.indexing.may_have(*key)
        });
        indexing
    }

    /// That of a set of `n` which larger ones may contain; of its first shingles `own` are left out, which no other has, and `keys`
    /// are the next ones.
    fn of_contained(&self, threshold: Threshold, (n, own): (usize, usize), keys: &[(u32, u64)]) -> Indexing {
        let [fewest, prefix] = [threshold.prefix(n), threshold.containment_prefix(n)];
        // What is left of such a set is less than others must have of it.
        if own >= fewest {
            return Indexing::default();
        }
        let is_of_family = |at: usize| keys.get(at).is_some_and(|(count, _)| *count > self.family);
        match !is_of_family(fewest - own - 1) && is_of_family(prefix - own - 1) {
            true => Indexing { by_fewest: true, ..Indexing::by(fewest - own) },
            false => Indexing::by(prefix - own),
        }
    }
}

/// By how many of its keys a set is indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexing {
    /// The first ones, so many.
    pub keys: usize,
    /// Whether these are the fewest that larger sets which contain it are found by, and not some more.
    pub by_fewest: bool,
    /// Shingles of the set that come before the first key in the order, as far as that is looked at.
    pub before: usize,
}

impl Indexing {
    fn by(keys: usize) -> Indexing {
        Indexing { keys, ..Indexing::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::memory::document_bits::ones;
    use crate::similarity::{AcceptanceRule, Evidence, PairTest};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sets() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let member = (0u64..120).prop_map(|number| number * 0x1_0000_0001);
        let set = prop::collection::btree_set(member, 1..90).prop_map(|set| set.into_iter().collect());
        prop::collection::vec(set, 1..9)
    }

    fn gathered(shingles: impl Iterator<Item = u64>) -> KnownShingles {
        let (mut own, all) = (OwnShingles::new(SLOTS.0), DocumentBits::new(SLOTS.0 as usize));
        shingles.for_each(|shingle| own.insert(shingle));
        ones(own.bits.into_iter()).for_each(|slot| all.insert(slot));
        KnownShingles::new(Arc::new(all), SLOTS.0)
    }

    proptest! {
        /// Two sets that are alike enough still meet, under a key that indexes the smaller one.
        #[test]
        fn stored_sets_meet_the_new_ones_that_they_met_under_all_keys(
            new in sets(), stored in sets(), threshold in prop::sample::select(vec!["0.3", "0.5", "0.8"]), containing in any::<bool>(),
        ) {
            let threshold: Threshold = threshold.parse().expect("a threshold");
            let frequencies = Frequencies::new(1000);
            new.iter().for_each(|set| frequencies.counting().count(set));
            let shown_by = if containing { Shown::Containing(threshold) } else { Shown::Resembling(threshold) };
            let choice = KeyChoice { family: 2, ..KeyChoice::new(shown_by, &frequencies, Scale::default(), true) };
            let (mut known, mut keys) = (Vec::new(), Vec::new());
            let shown: Vec<(Vec<u64>, usize)> = new.iter().map(|set| {
                let indexing = choice.of(set, &mut keys);
                (keys.iter().map(|(_, key)| *key).collect(), indexing.keys)
            }).collect();
            let indexing = shown.iter().flat_map(|(keys, indexing)| keys[..(*indexing).min(keys.len())].iter().copied());
            let of_new = OfNew { all: gathered(new.iter().flatten().copied()), indexing: gathered(indexing) };
            let of_any: BTreeSet<u64> = new.iter().flatten().copied().collect();
            for set in &stored {
                let indexing = choice.of_stored(set, &of_new, &mut known, &mut keys);
                // The slow twin: the whole set in order, and of its prefix what a new one may have.
                let mut whole = Vec::new();
                frequencies.rarest(set, set.len(), &mut whole);
                whole.sort_by_key(|(count, key)| (of_any.contains(key), *count, *key));
                let (indexes, prefix) = match containing {
                    true => {
                        let [fewest, more] = [threshold.prefix(set.len()), threshold.containment_prefix(set.len())];
                        let others = whole.iter().take_while(|(_, key)| !of_any.contains(key)).count();
                        let by_fewest = others < fewest && whole[fewest - 1].0 <= 2 && whole[more - 1].0 > 2;
                        prop_assert_eq!(indexing.by_fewest, by_fewest && !keys.is_empty());
                        (if others >= fewest { 0 } else if by_fewest { fewest } else { more }, set.len())
                    }
                    false => (threshold.indexing_prefix(set.len()), threshold.prefix(set.len())),
                };
                let first = whole.iter().take(prefix).enumerate();
                let all: Vec<(u64, bool)> = first.map(|(at, (_, key))| (*key, at < indexes)).filter(|(key, _)| of_any.contains(key)).collect();
                let sent: Vec<(u64, bool)> = keys.iter().enumerate().map(|(at, (_, key))| (*key, at < indexing.keys)).collect();
                prop_assert!(sent.iter().all(|key| all.contains(key)));
                for (theirs, their_indexing) in &shown {
                    let meets = |keys: &[(u64, bool)]| theirs.iter().enumerate()
                        .filter(|(at, key)| keys.iter().any(|(own, indexes)| own == *key && (*indexes || at < their_indexing)))
                        .map(|(_, key)| *key).collect::<Vec<_>>();
                    prop_assert_eq!(meets(&sent), meets(&all));
                }
            }
        }

        /// Two sets, the smaller of which is in the other as far as it must be, share as many keys as are found enough.
        #[test]
        fn contained_sets_are_met_and_found_enough(
            mut all in sets(), parts in prop::collection::vec((any::<prop::sample::Index>(), 1usize..90, 0u64..9), 0..9),
            threshold in prop::sample::select(vec!["0.3", "0.5", "0.8", "1"]), beside_stored in any::<bool>(), family in 0u32..5,
        ) {
            let threshold: Threshold = threshold.parse().expect("a threshold");
            // Parts of others, each with a few of its own.
            for (of, size, own) in parts {
                let part = of.get(&all).iter().copied().take(size).chain((0..own).map(|number| 1 << 50 | number << 8 | size as u64));
                all.push(part.collect::<BTreeSet<u64>>().into_iter().collect());
            }
            let frequencies = Frequencies::new(1000);
            all.iter().for_each(|set| frequencies.counting().count(set));
            let choice = KeyChoice { family, ..KeyChoice::new(Shown::Containing(threshold), &frequencies, Scale::default(), beside_stored) };
            let rule = AcceptanceRule::new(PairTest::Containment(threshold), Evidence::AllOfLarger(threshold));
            let shown: Vec<(Vec<(u32, u64)>, Indexing)> = all.iter().map(|set| {
                let mut keys = Vec::new();
                let indexing = choice.of(set, &mut keys);
                (keys, indexing)
            }).collect();
            for (small, (keys, indexing)) in all.iter().zip(&shown) {
                let indexed = &keys[..indexing.keys.min(keys.len())];
                for (large, (theirs, _)) in all.iter().zip(&shown).filter(|(large, _)| large.len() >= small.len()) {
                    let both = small.iter().filter(|member| large.contains(member)).count();
                    let shared = indexed.iter().filter(|key| theirs.contains(key)).count() as u32;
                    let sizes = (small.len() as u32, large.len() as u32);
                    if small != large && threshold.is_met(both as u64, small.len() as u64) {
                        prop_assert!(shared > 0 && rule.is_enough_indexed(shared, sizes.0, sizes.1, indexing.by_fewest));
                    }
                }
            }
        }
    }
}
