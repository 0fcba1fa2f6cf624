//! In how many contents members are, at most: counted in slots, each of which many members share.

use hashbrown::HashMap;

use crate::config::Config;
use crate::flow::memory::budget::{Budget, Share};
use crate::limits::sized;

/// Fewest and most slots.
const SLOTS: (u64, u64) = (sized(1 << 16, 1 << 4), 1 << 26);
/// With fewer slots than this part of those that are wanted, most of them would be suspected.
const LEAST_PART: u64 = 4;
/// Under a lower cap so many slots would be needed that counting in them is slow.
const LEAST_CAP: usize = sized(256, 1);

/// How members are counted that may be too common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberCounting {
    /// A member in more contents is too common.
    pub cap: u32,
    /// Slots of each worker, a power of two.
    slots: usize,
}

impl MemberCounting {
    /// How the members of so many bytes of input are counted; `None` where that would take too much memory or time.
    pub fn of(config: &Config, input_bytes: u64, budget: &Budget) -> Option<MemberCounting> {
        let cap = u32::try_from(config.cap()).ok().filter(|_| config.cap() >= LEAST_CAP)?;
        // As few as leave no slot above the cap because of many members that are not: of words, a twelfth of it is in each.
        let wanted =
            (input_bytes.saturating_mul(2) / u64::from(cap)).clamp(SLOTS.0, SLOTS.1).next_power_of_two();
        let fit = budget.part(Share::Members);
        let slots = if fit < wanted { (fit / 2 + 1).next_power_of_two() } else { wanted };
        (slots * LEAST_PART >= wanted && slots <= fit)
            .then_some(MemberCounting { cap, slots: slots as usize })
    }
}

/// What one worker has counted. A byte a slot stays in the nearer caches; what it cannot hold is counted beside.
pub struct SlotCounts {
    low: Vec<u8>,
    beyond: HashMap<usize, u32>,
}

impl SlotCounts {
    /// Nothing yet.
    pub fn new(counting: MemberCounting) -> SlotCounts {
        SlotCounts { low: vec![0; counting.slots], beyond: HashMap::new() }
    }

    /// Counts the members of a content.
    pub fn add(&mut self, members: &[u64]) {
        let SlotCounts { low, beyond } = self;
        let last = low.len() - 1;
        for member in members {
            let slot = slot(*member, last);
            let count = &mut low[slot];
            *count = count.wrapping_add(1);
            if *count == 0 {
                *beyond.entry(slot).or_default() += 1 << u8::BITS;
            }
        }
    }

    fn of(&self, slot: usize) -> u32 {
        self.beyond.get(&slot).copied().unwrap_or(0) + u32::from(self.low[slot])
    }
}

/// The slot of a member, of those numbered up to `last`. By the middle bits: the high ones order sets.
fn slot(member: u64, last: usize) -> usize {
    (member >> 16) as usize & last
}

/// The slots that may have a member that is too common, a bit each.
#[derive(Debug)]
pub struct Suspects {
    bits: Vec<u64>,
    last: usize,
    any: bool,
}

impl Suspects {
    /// Those of the counts of all workers: what is in more contents than `cap` is in one of them.
    pub fn of(counts: &[SlotCounts], cap: u32) -> Suspects {
        let slots = counts.iter().map(|counts| counts.low.len()).min().unwrap_or(1);
        let mut bits = vec![0; slots.div_ceil(64)];
        let mut any = false;
        for slot in (0..slots).filter(|slot| counts.iter().map(|counts| counts.of(*slot)).sum::<u32>() > cap)
        {
            bits[slot / 64] |= 1 << (slot % 64);
            any = true;
        }
        Suspects { bits, last: slots - 1, any }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// Adds to `found` those of some members that are in such a slot.
    pub fn among(&self, members: &[u64], found: &mut Vec<u64>) {
        let is_in = |member: &&u64| {
            let slot = slot(**member, self.last);
            self.bits[slot / 64] >> (slot % 64) & 1 == 1
        };
        found.extend(members.iter().filter(is_in));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn slots_grow_with_the_input_and_fit_the_memory() {
        let with = |cap: usize, input: u64, memory: Option<u64>| {
            let mut config = Config::default();
            (config.method, config.count.common_cap) = (crate::config::Method::Shingles, cap);
            MemberCounting::of(&config, input, &Budget::new(memory, 2)).map(|counting| counting.slots as u64)
        };
        assert_eq!(with(1000, 1 << 30, None), Some(1 << 22));
        assert_eq!(with(1000, 1, None), Some(SLOTS.0));
        assert_eq!(with(0, 1 << 30, None), None);
        assert_eq!(with(LEAST_CAP - 1, 1 << 30, None), None);
        for memory in (16..600).map(|mib| mib << 20) {
            let fit = Budget::new(Some(memory), 2).part(Share::Members);
            let slots = with(1000, 1 << 30, Some(memory));
            assert!(slots.is_none_or(|slots| slots <= fit && slots.is_power_of_two() && slots >= 1 << 20));
            assert!(slots.is_some() || fit < 1 << 21);
        }
    }

    proptest! {
        /// Whatever is in more contents than the cap is suspected, whoever has read them.
        #[test]
        fn what_is_too_common_is_suspected(sets in prop::collection::vec(prop::collection::btree_set(0u64..200, 0..40), 0..40),
                                           workers in 1usize..4, cap in 1u32..12, slots in 0u32..6) {
            let counting = MemberCounting { cap, slots: 1 << slots };
            let mut counts: Vec<SlotCounts> = (0..workers).map(|_| SlotCounts::new(counting)).collect();
            let mut truth: BTreeMap<u64, u32> = BTreeMap::new();
            for (at, set) in sets.iter().enumerate() {
                let members: Vec<u64> = set.iter().map(|member| member << 14).collect();
                members.iter().for_each(|member| *truth.entry(*member).or_default() += 1);
                counts[at % workers].add(&members);
            }
            let suspects = Suspects::of(&counts, cap);
            let all: Vec<u64> = truth.keys().copied().collect();
            let mut found = Vec::new();
            suspects.among(&all, &mut found);
            prop_assert_eq!(suspects.is_empty(), found.is_empty());
            for (member, count) in &truth {
                prop_assert!(*count <= cap || found.contains(member));
                let of_slot = truth.iter().filter(|(other, _)| slot(**other, counting.slots - 1) == slot(*member, counting.slots - 1));
                prop_assert_eq!(found.contains(member), of_slot.map(|(_, count)| count).sum::<u32>() > cap);
            }
        }
    }

    #[test]
    fn what_a_byte_cannot_hold_is_counted_beside() {
        let mut counts = SlotCounts::new(MemberCounting { cap: 1, slots: 2 });
        (0..1000).for_each(|_| counts.add(&[1 << 16]));
        counts.add(&[0]);
        assert_eq!((counts.of(0), counts.of(1)), (1, 1000));
        assert!(Suspects::of(&[counts], 1000).is_empty());
    }
}
