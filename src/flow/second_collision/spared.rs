//! Members of hot groups that need not collide again.
//!
//! Documents that are accepted share more than one key, the more the less their sizes differ. Of two of equal size at 0.8 it is 9 %
//! of their shingles, where each shows 20 %. A document that stands under fewer hot keys shares a key that is not hot with whoever
//! it is accepted with: they have met there. So pages of a family whose own part is most of a prefix meet nobody, although the
//! rest of it is of the template.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::zeroed_vec;

use crate::document::Doc;
use crate::flow::memory::document_bits::DocumentBits;

/// What is known of a document: its hot keys, and the sizes of those that stand under them, too. The least is held as its
/// complement, so that 0 is that of none.
type Place = [AtomicU32; 3];

/// Under how many hot keys the documents of a process stand, and beside whom.
#[derive(Debug, Default)]
pub struct HotKeys {
    noted: OnceLock<NotedKeys>,
    /// Those that need not collide again, if there are any, once all groups are formed.
    spared: OnceLock<Option<DocumentBits>>,
}

#[derive(Debug)]
struct NotedKeys {
    members: DocumentBits,
    places: Vec<Place>,
}

impl HotKeys {
    /// Bytes for so many documents.
    pub fn bytes(documents: usize) -> u64 {
        documents as u64 * size_of::<Place>() as u64 + documents as u64 / 4
    }

    /// From now on is noted what stands under hot keys, of documents below `limit`. Of the others no page of memory is touched.
    pub fn begin(&self, limit: usize) {
        self.noted.get_or_init(|| NotedKeys { members: DocumentBits::new(limit), places: zeroed_vec(limit) });
    }

    /// Notes that documents stand under one more hot key, beside others of sizes from the least to the greatest.
    pub fn note(&self, docs: impl Iterator<Item = Doc>, (least, greatest): (u32, u32)) {
        let Some(NotedKeys { members, places }) = self.noted.get() else { return };
        for doc in docs {
            let [keys, least_not, most] = &places[doc as usize];
            if keys.fetch_add(1, Ordering::Relaxed) == 0 {
                members.insert(doc);
            }
            // Mostly it is known.
            if least_not.load(Ordering::Relaxed) < !least {
                least_not.fetch_max(!least, Ordering::Relaxed);
            }
            if most.load(Ordering::Relaxed) < greatest {
                most.fetch_max(greatest, Ordering::Relaxed);
            }
        }
    }

    /// Finds the members that need not collide again, once all groups are formed: those of which `are_never_enough` says so, given
    /// how many hot keys they have, and the sizes of those beside them.
    pub fn find_spared(&self, are_never_enough: impl Fn(Doc, u32, (u32, u32)) -> bool) {
        let Some(NotedKeys { members, places }) = self.noted.get() else { return };
        self.spared.get_or_init(|| {
            let (spared, mut any) = (DocumentBits::new(places.len()), false);
            for doc in members.docs() {
                let [keys, least_not, most] =
                    places[doc as usize].each_ref().map(|word| word.load(Ordering::Relaxed));
                if are_never_enough(doc, keys, (!least_not, most)) {
                    spared.insert(doc);
                    any = true;
                }
            }
            any.then_some(spared)
        });
    }

    /// Those that need not collide again, if there are any.
    pub fn spared(&self) -> Option<&DocumentBits> {
        self.spared.get().and_then(Option::as_ref)
    }

    /// Hot keys that two documents share, at most, where that makes a difference: if neither is spared, they collide again or stand
    /// in one group that is kept whole.
    pub fn shared(&self, a: Doc, b: Doc) -> u32 {
        let (Some(spared), Some(noted)) = (self.spared(), self.noted.get()) else { return 0 };
        if !spared.contains(a) && !spared.contains(b) {
            return 0;
        }
        let keys = |doc: Doc| noted.places[doc as usize][0].load(Ordering::Relaxed);
        keys(a).min(keys(b))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::similarity::{AcceptanceRule, Evidence, PairTest};
    use crate::threshold::Threshold;

    proptest! {
        /// Whoever is accepted with a spared document shares a key with it that is not hot, and is found to share enough of them.
        #[test]
        fn who_is_spared_has_met_whoever_it_is_accepted_with(
            pages in prop::collection::vec((0u64..12, 20u64..60, prop::collection::btree_set(0u64..200, 0..14)), 2..24),
            threshold in prop::sample::select(vec!["0.5", "0.7", "0.8", "0.9"]), most in 1usize..6,
        ) {
            let threshold: Threshold = threshold.parse().expect("a threshold");
            let rule = AcceptanceRule::new(PairTest::Resemblance(threshold), Evidence::Prefix(threshold));
            // What is a page's own comes first in the order, then a stretch of the template.
            let sets: Vec<Vec<u64>> =
                pages.iter().map(|(from, to, own)| own.iter().copied().chain(1000 + from..1000 + to).collect()).collect();
            let keys = |set: &Vec<u64>| set[..threshold.prefix(set.len())].to_vec();
            let mut groups: BTreeMap<u64, Vec<Doc>> = BTreeMap::new();
            for (doc, set) in (0..).zip(&sets) {
                keys(set).into_iter().for_each(|key| groups.entry(key).or_default().push(doc));
            }
            groups.retain(|_, docs| docs.len() > most);
            let size = |doc: Doc| sets[doc as usize].len() as u32;
            let hot_keys = HotKeys::default();
            hot_keys.begin(sets.len());
            for docs in groups.values() {
                let sizes = || docs.iter().map(|doc| size(*doc));
                let ends = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
                hot_keys.note(docs.iter().copied(), ends);
            }
            hot_keys.find_spared(|doc, keys, sizes| rule.are_never_enough(keys, size(doc), sizes));
            for (a, of_a) in (0..).zip(&sets) {
                for (b, of_b) in (0..a).zip(&sets) {
                    let [of_both, hot]: [Vec<u64>; 2] = {
                        let both = keys(of_a).into_iter().filter(|key| keys(of_b).contains(key));
                        let (hot, others) = both.partition(|key| groups.contains_key(key));
                        [others, hot]
                    };
                    let is_spared = |doc| hot_keys.spared().is_some_and(|spared| spared.contains(doc));
                    let either = is_spared(a) || is_spared(b);
                    prop_assert!(!either || hot_keys.shared(a, b) as usize >= hot.len());
                    if either && rule.measure(of_a, of_b).is_some() {
                        prop_assert!(!of_both.is_empty());
                        let shared = of_both.len() as u32 + hot_keys.shared(a, b);
                        prop_assert!(rule.is_enough(shared, size(a), size(b)));
                    }
                }
            }
        }
    }

    #[test]
    fn pages_with_enough_of_their_own_are_spared() {
        let threshold: Threshold = "0.8".parse().expect("a threshold");
        let rule = AcceptanceRule::new(PairTest::Resemblance(threshold), Evidence::Prefix(threshold));
        // Of 100 shingles 21 are keys, of which two such pages share 10 or more if they are alike.
        for (hot, greatest, spared) in [
            (9, 100, true),
            (10, 100, false),
            (7, 103, true),
            (8, 103, false),
            (1, 118, true),
            (2, 118, false),
        ] {
            let hot_keys = HotKeys::default();
            hot_keys.note([1].into_iter(), (100, 100));
            hot_keys.find_spared(|_, _, _| true);
            assert!(hot_keys.spared().is_none(), "nothing is noted before it begins");
            hot_keys.begin(3);
            (0..hot).for_each(|_| hot_keys.note([1].into_iter(), (100, greatest)));
            hot_keys.find_spared(|_, keys, sizes| rule.are_never_enough(keys, 100, sizes));
            let found: Vec<Doc> = hot_keys.spared().map(|some| some.docs().collect()).unwrap_or_default();
            assert_eq!(found == [1], spared, "{hot} {greatest}");
        }
    }
}
