//! The keys that members of sets are posted under.
//!
//! Where the smaller of two sets is indexed by some of its members, and the larger one shows all, the lowest bit of a posted key
//! tells whether it indexes its set. The two keys of a member are neighbours, so postings of both stand side by side.

/// The key that a shingle or feature is posted under. They are the smallest hashes of a set, or those of one residue:
/// multiplied, they spread over all workers and buckets again, and no two become one.
pub fn spread(key: u64) -> u64 {
    key.wrapping_mul(SPREAD)
}

/// Odd, so that multiplying by it loses nothing.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// What takes it back.
const GATHER: u64 = 0xf1de_83e1_9937_733d;

/// The key that, once it is [`spread`], tells whether a member indexes its set. What it gives up is a bit: two members of which
/// one would be taken for the other differ in it alone, by a chance in 2^63.
pub fn indexing_key(member: u64, indexes: bool) -> u64 {
    let [all, first] = both_keys(spread(member));
    (if indexes { first } else { all }).wrapping_mul(GATHER)
}

/// Of a posted key of a member, that of sets which it does not index, and that of sets which it indexes.
pub fn both_keys(posted: u64) -> [u64; 2] {
    [posted & !1, posted | 1]
}

/// Whether a posted key is that of a member that indexes its set.
pub fn indexes(posted: u64) -> bool {
    posted & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_tells_its_member_and_whether_it_indexes(member in any::<u64>(), indexing in any::<bool>()) {
            let posted = spread(indexing_key(member, indexing));
            prop_assert_eq!(posted >> 1, spread(member) >> 1);
            prop_assert_eq!(indexes(posted), indexing);
            prop_assert_eq!(both_keys(posted)[usize::from(indexing)], posted);
        }
    }
}
