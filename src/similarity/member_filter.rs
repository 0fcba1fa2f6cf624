//! A table of bits that tells what is not in a set, where the set is compared with many others.

/// Bits for each member: of those that are not in the set one in so many seems to be.
const BITS: usize = 32;
/// Most bits of a table: it stays in the cache of a core.
const MOST_BITS: usize = 1 << 22;
/// Members between two looks at whether enough can still be shared.
const STRIDE: usize = 64;

/// The members of a set, by some of their bits.
pub struct MemberFilter {
    bits: Vec<u64>,
}

impl MemberFilter {
    /// The filter of a set of hashes.
    pub fn of(set: &[u64]) -> MemberFilter {
        let count = (set.len() * BITS).next_power_of_two().clamp(64, MOST_BITS);
        let mut filter = MemberFilter { bits: vec![0; count / 64] };
        for member in set {
            let (word, bit) = filter.place(*member);
            filter.bits[word] |= 1 << bit;
        }
        filter
    }

    /// Whether another set may share `needed` members with the one of the filter: false only if it does not.
    pub fn may_share(&self, set: &[u64], needed: u64) -> bool {
        let (mut found, mut left) = (0, set.len() as u64);
        for members in set.chunks(STRIDE) {
            if found + left < needed {
                return false;
            }
            for member in members {
                let (word, bit) = self.place(*member);
                found += self.bits[word] >> bit & 1;
            }
            left -= members.len() as u64;
        }
        found >= needed
    }

    /// The word and the bit of a member: of its middle bits, as the high ones order sets and the low ones choose workers.
    fn place(&self, member: u64) -> (usize, u32) {
        let bit = member >> 20;
        ((bit >> 6) as usize & (self.bits.len() - 1), (bit & 63) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::overlap;
    use proptest::prelude::*;

    fn spread(values: &std::collections::BTreeSet<u64>) -> Vec<u64> {
        let mut set: Vec<u64> =
            values.iter().map(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        set.sort_unstable();
        set
    }

    proptest! {
        #[test]
        fn what_is_shared_is_never_denied(a in prop::collection::btree_set(0u64..900, 0..700),
                                          b in prop::collection::btree_set(0u64..900, 0..700)) {
            let (a, b) = (spread(&a), spread(&b));
            prop_assert!(MemberFilter::of(&a).may_share(&b, overlap(&a, &b)));
            prop_assert!(!MemberFilter::of(&a).may_share(&b, b.len() as u64 + 1));
        }
    }

    #[test]
    fn sets_that_share_little_are_told_apart() {
        let set = |from: u64| spread(&(from..from + 1000).collect());
        let filter = MemberFilter::of(&set(0));
        assert!(filter.may_share(&set(500), 500));
        assert!(!filter.may_share(&set(500), 560));
    }
}
