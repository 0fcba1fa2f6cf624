//! In how many contents members are, one by one. Where they do not fit they are counted in turns, each of some of them.

use hashbrown::HashMap;

use crate::sketch::spread;

/// Counts of members, of those whose hashes are in the range of this turn.
pub struct MemberTally {
    /// The first and the last hash of this turn.
    range: (u64, u64),
    counts: HashMap<u64, u32>,
    done: bool,
    /// Those that are too common, with the contents that have them.
    found: Vec<(u64, u32)>,
}

impl Default for MemberTally {
    fn default() -> MemberTally {
        MemberTally { range: (0, u64::MAX), counts: HashMap::new(), done: false, found: Vec::new() }
    }
}

impl MemberTally {
    /// Bytes that a member takes at most, in a table that may just have doubled.
    pub const MEMBER: usize = 40;

    /// Counts the members of contents, each once for each content, and empties the list. If there are more than `most`, those
    /// behind the middle of the range are left to later turns.
    pub fn add(&mut self, members: &mut Vec<u64>, most: usize) {
        for member in members.drain(..) {
            let hash = spread(member);
            if hash < self.range.0 || hash > self.range.1 {
                continue;
            }
            *self.counts.entry(member).or_default() += 1;
            while self.counts.len() > most.max(1) {
                let (first, last) = self.range;
                self.range.1 = first + (last - first) / 2;
                let end = self.range.1;
                self.counts.retain(|member, _| spread(*member) <= end);
            }
        }
    }

    /// Ends a turn in which all contents were counted: what more than `cap` of them have is found.
    pub fn turn(&mut self, cap: u32) {
        let counts = std::mem::take(&mut self.counts);
        self.found.extend(counts.into_iter().filter(|(_, count)| *count > cap));
        match self.range.1.checked_add(1) {
            Some(next) => self.range = (next, u64::MAX),
            None => self.done = true,
        }
    }

    /// Whether all members had their turn.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// What was found, ascending.
    pub fn take(&mut self) -> Vec<(u64, u32)> {
        let mut found = std::mem::take(&mut self.found);
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn turns_find_what_one_map_would(sets in prop::collection::vec(prop::collection::btree_set(0u64..50, 0..20), 0..30),
                                         most in 1usize..60, cap in 0u32..12) {
            let mut truth: BTreeMap<u64, u32> = BTreeMap::new();
            sets.iter().flatten().for_each(|member| *truth.entry(*member).or_default() += 1);
            truth.retain(|_, count| *count > cap);
            let mut tally = MemberTally::default();
            while !tally.is_done() {
                for set in &sets {
                    tally.add(&mut set.iter().copied().collect(), most);
                    prop_assert!(tally.counts.len() <= most);
                }
                tally.turn(cap);
            }
            prop_assert_eq!(tally.take(), truth.into_iter().collect::<Vec<_>>());
        }
    }
}
