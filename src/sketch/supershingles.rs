//! Super shingles: shingles of the sorted sketch (Broder, Glassman, Manasse and Zweig 1997).

use super::shingles;
use crate::config::Supershingles;

/// Writes to `supers` (cleared first) the identity of each run of `config.group` neighbours in a strictly ascending
/// sketch, in its order: 8 bytes each, at most one a member of the sketch. One super shingle that two documents share
/// means that they share a whole run of their sketches.
///
/// A sketch of fewer members is one super shingle: then only equal sketches share one. The paper notes that super
/// shingles do not work well for short documents; what to do with them is ours.
pub fn supershingles(sketch: &[u64], config: &Supershingles, supers: &mut Vec<u64>) {
    shingles(sketch, config.group, supers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn supers(sketch: &[u64], group: usize) -> Vec<u64> {
        let mut supers = vec![7];
        supershingles(sketch, &Supershingles { group }, &mut supers);
        supers
    }

    #[test]
    fn neighbours_make_a_super_shingle() {
        let all = supers(&[1, 4, 6, 9], 2);
        assert_eq!(all, [supers(&[1, 4], 2)[0], supers(&[4, 6], 2)[0], supers(&[6, 9], 2)[0]]);
        // One member more in the middle costs one run of two.
        let other = supers(&[1, 4, 5, 6, 9], 2);
        assert_eq!(all.iter().filter(|run| other.contains(run)).count(), 2);
        assert_eq!(supers(&[1, 4], 3).len(), 1);
        assert!(supers(&[], 3).is_empty());
    }

    proptest! {
        /// Two sketches share a super shingle exactly if they share a run of their members.
        #[test]
        fn a_shared_run_is_a_shared_super_shingle(a in prop::collection::btree_set(0u64..30, 0..20),
                                                  b in prop::collection::btree_set(0u64..30, 0..20),
                                                  group in 1usize..5) {
            let lists = [a, b].map(|set| set.into_iter().collect::<Vec<u64>>());
            let runs = |list: &[u64]| -> Vec<Vec<u64>> {
                let short = list.len() < group && !list.is_empty();
                if short { vec![list.to_vec()] } else { list.windows(group).map(<[u64]>::to_vec).collect() }
            };
            let slow = runs(&lists[0]).iter().any(|run| runs(&lists[1]).contains(run));
            let (x, y) = (supers(&lists[0], group), supers(&lists[1], group));
            prop_assert_eq!(x.iter().any(|run| y.contains(run)), slow);
        }
    }
}
