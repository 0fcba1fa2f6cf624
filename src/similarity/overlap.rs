//! How many members two sorted sets share.

/// Members that two strictly ascending slices share.
pub fn overlap(a: &[u64], b: &[u64]) -> u64 {
    overlap_at_least(a, b, 0).unwrap_or(0)
}

/// Steps between two looks at whether the count needed is still within reach.
const STRIDE: usize = 32;

/// Members that two strictly ascending slices share, or `None` as soon as fewer than `needed` are certain.
pub fn overlap_at_least(a: &[u64], b: &[u64], needed: u64) -> Option<u64> {
    let (mut i, mut j, mut shared) = (0, 0, 0u64);
    loop {
        let reach = shared + (a.len() - i).min(b.len() - j) as u64;
        if reach < needed {
            return None;
        }
        // Each step moves each side by at most one, so none of these needs a look at the ends.
        let steps = STRIDE.min(a.len() - i).min(b.len() - j);
        if steps == 0 {
            return Some(shared);
        }
        for _ in 0..steps {
            let (x, y) = (a[i], b[j]);
            shared += u64::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_set_intersection(a in prop::collection::btree_set(0u64..200, 0..150),
                                   b in prop::collection::btree_set(0u64..200, 0..150), needed in 0u64..100) {
            let truth = a.intersection(&b).count() as u64;
            let list = |s: &BTreeSet<u64>| s.iter().copied().collect::<Vec<_>>();
            prop_assert_eq!(overlap(&list(&a), &list(&b)), truth);
            match overlap_at_least(&list(&a), &list(&b), needed) {
                Some(count) => prop_assert_eq!(count, truth),
                None => prop_assert!(truth < needed),
            }
        }
    }
}
