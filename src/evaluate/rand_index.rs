//! The adjusted Rand index of two partitions.

/// The adjusted Rand index (Hubert and Arabie 1985): how much oftener two partitions agree on a pair than partitions with
/// groups of the same sizes would by chance. `both`, `left` and `right` are the pairs within groups of both, of the first and
/// of the second; `documents` is how many there are:
/// (both - e) / ((left + right) / 2 - e) with e = left * right / (documents choose 2). 1 for equal partitions, 0 for chance,
/// below 0 for less. Two partitions without a pair, or with all pairs, are equal, and the index is 1; `None` of fewer than two
/// documents.
pub fn rand_index(both: f64, left: f64, right: f64, documents: f64) -> Option<f64> {
    let all = documents * (documents - 1.0) / 2.0;
    if all <= 0.0 {
        return None;
    }
    let expected = left * right / all;
    let most = f64::midpoint(left, right);
    Some(if most == expected { 1.0 } else { (both - expected) / (most - expected) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn index(left: &[u32], right: &[u32]) -> Option<f64> {
        let pairs = |keys: Vec<(u32, u32)>| {
            let mut sizes: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            keys.into_iter().for_each(|key| *sizes.entry(key).or_default() += 1.0);
            sizes.values().map(|n| n * (n - 1.0) / 2.0).sum()
        };
        let zip = |a: &[u32], b: &[u32]| a.iter().copied().zip(b.iter().copied()).collect();
        rand_index(
            pairs(zip(left, right)),
            pairs(zip(left, left)),
            pairs(zip(right, right)),
            left.len() as f64,
        )
    }

    #[test]
    fn values_worked_out_by_hand() {
        // 4 documents, {ab}{cd} against {abc}{d}: both 1, left 2, right 3, of 6 pairs; (1 - 1) / (2.5 - 1).
        assert_eq!(index(&[0, 0, 1, 1], &[0, 0, 0, 1]), Some(0.0));
        // The example of the index in scikit-learn: [0, 0, 1, 2] and [0, 0, 1, 1] have 0.571428...
        assert!((index(&[0, 0, 1, 2], &[0, 0, 1, 1]).expect("a value") - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(index(&[0, 0, 1, 2], &[7, 7, 3, 1]), Some(1.0));
        assert_eq!(index(&[0, 1, 2], &[2, 1, 0]), Some(1.0));
        assert_eq!((index(&[], &[]), index(&[0], &[0])), (None, None));
    }

    proptest! {
        /// The obvious twin looks at every pair; its form is that of Steinley 2004: of n11 pairs together in both, n00 in
        /// neither, n10 and n01 in one only.
        #[test]
        fn equals_counting_pairs(both in prop::collection::vec((0u32..5, 0u32..5), 2..40)) {
            let (left, right): (Vec<u32>, Vec<u32>) = both.iter().copied().unzip();
            let mut n = [[0.0f64; 2]; 2];
            for (i, (a, b)) in both.iter().enumerate() {
                both[..i].iter().for_each(|(x, y)| n[usize::from(a == x)][usize::from(b == y)] += 1.0);
            }
            let [[n00, n01], [n10, n11]] = n;
            let below = (n00 + n01) * (n01 + n11) + (n00 + n10) * (n10 + n11);
            let slow = if below == 0.0 { 1.0 } else { 2.0 * (n00 * n11 - n01 * n10) / below };
            prop_assert!((index(&left, &right).expect("a value") - slow).abs() < 1e-9);
        }
    }
}
