//! In how many of some documents a shingle is, counted in slots, so that the rarest of a document's shingles come first
//! among these documents. Like [`super::Rarity`] it only decides what a join costs, never what it finds.
//!
//! A shingle is counted in two slots, and the lesser count holds (the count-min sketch: Cormode and Muthukrishnan 2005). With
//! one slot, a few documents of a large family have a shingle of their own where one of the template is counted; then they are
//! indexed by the template, and meet the whole family.

use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::zeroed_vec;

/// Slots for each document, and most slots: what many documents have in common stands out even where the shingles that are
/// theirs alone share slots.
const SLOTS: (usize, usize) = (128, 1 << 22);
/// Most slots where the shingles of all documents are counted.
const MOST_SLOTS: u64 = 1 << 26;
/// Documents that are always few.
const MANY: u64 = 64;

/// Counts of shingles, which several threads add up.
#[derive(Debug)]
pub struct Frequencies {
    slots: Vec<AtomicU32>,
}

impl Frequencies {
    /// No counts yet, for so many documents.
    pub fn new(documents: usize) -> Frequencies {
        let slots = documents.saturating_mul(SLOTS.0).clamp(2, SLOTS.1).next_power_of_two();
        Frequencies { slots: zeroed_vec(slots) }
    }

    /// No counts yet, for documents with so many shingles in all, in at most so many bytes: few enough share a slot that a count
    /// of 1 is that of a shingle that one document has.
    pub fn of_all(shingles: u64, bytes: u64) -> Frequencies {
        let slots = shingles.saturating_mul(2).min(bytes / 4).clamp(SLOTS.1 as u64, MOST_SLOTS);
        // The power of two at or below.
        Frequencies { slots: zeroed_vec(1 << slots.ilog2()) }
    }

    /// How many counts there are.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Counts of one thread, which are added to these.
    pub fn counting(&self) -> Counting<'_> {
        Counting { all: self, recent: vec![(0, 0); RECENT] }
    }

    /// Adds a count that was made elsewhere.
    pub fn add(&self, slot: u32, count: u32) {
        self.slots[slot as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// All counts that are not 0, by slot.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u32)> {
        let counts = self.slots.iter().map(|slot| slot.load(Ordering::Relaxed));
        (0..).zip(counts).filter(|(_, count)| *count > 0)
    }

    /// Writes to `first` the `wanted` first members of a set in the order (count, shingle), with their counts.
    pub fn rarest(&self, set: &[u64], wanted: usize, first: &mut Vec<(u32, u64)>) {
        first.clear();
        // The counts lie anywhere in memory, and most shingles are rare: the loads of the first slots overlap, and few need the second.
        first.extend(set.iter().map(|shingle| (self.at(self.places(*shingle)[0]), *shingle)));
        for (count, shingle) in first.iter_mut().filter(|(count, _)| *count > 1) {
            *count = (*count).min(self.at(self.places(*shingle)[1]));
        }
        if wanted < first.len() {
            first.select_nth_unstable(wanted);
            first.truncate(wanted);
        }
        first.sort_unstable();
    }

    /// What only shingles that many of the documents have are counted above: twice the average of all slots, which shingles of
    /// few hardly ever reach, though they share slots.
    pub fn many(&self) -> u32 {
        let sum: u64 = self.counts().map(|(_, count)| u64::from(count)).sum();
        let average = sum / self.slots.len() as u64;
        u32::try_from(MANY + 2 * average).unwrap_or(u32::MAX)
    }

    fn at(&self, slot: usize) -> u32 {
        self.slots[slot].load(Ordering::Relaxed)
    }

    /// The slots of a shingle: one in either half, by different bits of it.
    fn places(&self, shingle: u64) -> [usize; 2] {
        let half = self.slots.len() / 2;
        let slot = |bits: u64| bits as usize & (half - 1);
        [slot(shingle), half + slot(shingle >> 32)]
    }
}

/// Counts that one thread has made and that are on their way: several threads that add to the same slots, such as those of a
/// template, wait for each other.
pub struct Counting<'a> {
    all: &'a Frequencies,
    /// Slots counted last, and how often since they were added; each in a place by its number.
    recent: Vec<(u32, u32)>,
}

/// Slots that a thread holds back: more than those of a template, and few enough for the nearest cache.
const RECENT: usize = 1 << 11;

impl Counting<'_> {
    /// Counts the distinct shingles of a document.
    pub fn count(&mut self, set: &[u64]) {
        for shingle in set {
            for slot in self.all.places(*shingle) {
                let recent = &mut self.recent[slot % RECENT];
                if recent.0 != slot as u32 {
                    self.all.add(recent.0, recent.1);
                    *recent = (slot as u32, 0);
                }
                recent.1 += 1;
            }
        }
    }
}

impl Drop for Counting<'_> {
    /// Adds what is left.
    fn drop(&mut self) {
        self.recent.iter().for_each(|(slot, count)| self.all.add(*slot, *count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rarest_equals_a_sort_by_count(sets in prop::collection::vec(prop::collection::btree_set((0u64..80).prop_map(|number| number * 0x1_0000_0001), 0..40), 1..20),
                                         wanted in 0usize..50) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            let (here, there) = (Frequencies::new(1000), Frequencies::new(1000));
            let (left, right) = sets.split_at(sets.len() / 2);
            left.iter().for_each(|set| here.counting().count(set));
            let mut counting = there.counting();
            right.iter().for_each(|set| counting.count(set));
            drop(counting);
            there.counts().for_each(|(slot, count)| here.add(slot, count));
            let documents = |shingle: &u64| sets.iter().filter(|set| set.contains(shingle)).count() as u32;
            for set in &sets {
                let mut truth: Vec<(u32, u64)> = set.iter().map(|shingle| (documents(shingle), *shingle)).collect();
                truth.sort_unstable();
                truth.truncate(wanted);
                let mut first = vec![(9, 9)];
                here.rarest(set, wanted, &mut first);
                prop_assert_eq!(first, truth);
            }
        }
    }
}
