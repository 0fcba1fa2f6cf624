//! How alike two lexicons rank the terms that both have.

use serde::Serialize;

use super::frozen::Lexicon;

/// Two lexicons held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Terms that both have.
    pub shared: u64,
    /// Terms that only the first has.
    pub only_a: u64,
    /// Terms that only the second has.
    pub only_b: u64,
    /// Spearman's rank correlation of idf over shared terms, with ties; `None` where there are fewer than two, or all
    /// are tied in one of the lexicons.
    pub spearman: Option<f64>,
}

/// Holds two lexicons against each other.
pub fn agreement(a: &Lexicon, b: &Lexicon) -> Agreement {
    let shared: Vec<(u64, u64)> = shared(a, b);
    Agreement {
        shared: shared.len() as u64,
        only_a: (a.len() - shared.len()) as u64,
        only_b: (b.len() - shared.len()) as u64,
        spearman: spearman(&shared),
    }
}

/// In how many documents of each the shared terms are.
fn shared(a: &Lexicon, b: &Lexicon) -> Vec<(u64, u64)> {
    let mut others = b.entries().peekable();
    let mut both = Vec::new();
    for entry in a.entries() {
        while others.next_if(|other| other.term < entry.term).is_some() {}
        both.extend(
            others.next_if(|other| other.term == entry.term).map(|other| (entry.documents, other.documents)),
        );
    }
    both
}

/// Spearman's rank correlation with ties (Conrad, Guo and Schriber 2003, section 5), of pairs of values:
/// [1 - 6/(n^3-n) (sum d^2 + sum (f^3-f)/12 + sum (g^3-g)/12)] / [sqrt(1 - sum (f^3-f)/(n^3-n)) sqrt(1 - sum
/// (g^3-g)/(n^3-n))], with d the difference of a pair's ranks, f and g the sizes of groups of equal values.
/// `None` where there are fewer than two pairs, or all are tied on one side.
pub fn spearman(pairs: &[(u64, u64)]) -> Option<f64> {
    let (a, ties_a) = doubled_ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let (b, ties_b) = doubled_ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    // Sums of integers are exact and have no order; only the last step rounds.
    let squares: u128 = a.iter().zip(&b).map(|(a, b)| u128::from(a.abs_diff(*b)).pow(2)).sum();
    let all = cubed(pairs.len() as u64);
    if ties_a == all || ties_b == all {
        return None;
    }
    // 6 (d^2 + f/12 + g/12) is (6 (2d)^2 + 2 f + 2 g) / 4.
    let numerator = (4 * all).cast_signed() - (6 * squares + 2 * ties_a + 2 * ties_b).cast_signed();
    let (of_a, of_b) = (all - ties_a, all - ties_b);
    // In this form values that are the same on both sides come to exactly 1. Rounding may lead beyond the ends otherwise.
    let correlation = numerator as f64 / (4 * of_a) as f64 * (of_a as f64 / of_b as f64).sqrt();
    Some(correlation.clamp(-1.0, 1.0))
}

/// Twice the rank of each value, which for equal ones is the mean of their places, and the sum of f^3 - f over groups of
/// equal ones.
fn doubled_ranks(values: &[u64]) -> (Vec<u64>, u128) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by_key(|at| values[*at]);
    let (mut ranks, mut ties, mut before) = (vec![0; values.len()], 0, 0);
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let size = group.len() as u64;
        group.iter().for_each(|at| ranks[*at] = 2 * before + size + 1);
        ties += cubed(size);
        before += size;
    }
    (ranks, ties)
}

/// n^3 - n.
fn cubed(n: u64) -> u128 {
    let n = u128::from(n);
    n * n * n - n
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pearson's correlation of mean ranks, which the formula with ties is meant to be, from its definition.
    fn pearson(pairs: &[(u64, u64)]) -> f64 {
        let ranks = |side: fn(&(u64, u64)) -> u64| -> Vec<f64> {
            let rank = |value: u64| {
                let below = pairs.iter().filter(|pair| side(pair) < value).count() as f64;
                let equal = pairs.iter().filter(|pair| side(pair) == value).count() as f64;
                below + (equal + 1.0) / 2.0
            };
            pairs.iter().map(|pair| rank(side(pair))).collect()
        };
        let (a, b) = (ranks(|pair| pair.0), ranks(|pair| pair.1));
        let mean = (pairs.len() as f64 + 1.0) / 2.0;
        let sum =
            |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum() };
        sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt()
    }

    #[test]
    fn known_values() {
        let of =
            |a: &[u64], b: &[u64]| spearman(&a.iter().copied().zip(b.iter().copied()).collect::<Vec<_>>());
        assert_eq!(of(&[1, 2, 3, 4, 5], &[10, 20, 30, 40, 50]), Some(1.0));
        assert_eq!(of(&[1, 2, 3, 4, 5], &[5, 4, 3, 2, 1]), Some(-1.0));
        // d = 1, -1, 1, -1, 0 without ties: 1 - 6 * 4 / 120.
        assert!((of(&[1, 2, 3, 4, 5], &[2, 1, 4, 3, 5]).expect("a value") - 0.8).abs() < 1e-12);
        // Ranks 1.5, 1.5, 3, 4 against 1, 2, 3.5, 3.5: sum d^2 = 1, both sides have one group of two. Pearson by hand:
        // covariance 4.0, variances 4.5 and 4.5.
        assert!((of(&[7, 7, 8, 9], &[1, 2, 3, 3]).expect("a value") - 4.0 / 4.5).abs() < 1e-12);
        assert_eq!(of(&[], &[]), None);
        assert_eq!(of(&[1], &[1]), None);
        assert_eq!(of(&[3, 3, 3], &[1, 2, 3]), None);
    }

    #[test]
    fn millions_do_not_overflow() {
        let pairs: Vec<(u64, u64)> = (0..3_000_000).map(|n| (n, 2_999_999 - n)).collect();
        assert!((spearman(&pairs).expect("a value") + 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn what_is_held_against_itself_is_exactly_1(values in prop::collection::vec(0u64..12, 2..200)) {
            let same: Vec<(u64, u64)> = values.iter().map(|value| (*value, *value)).collect();
            prop_assert!(spearman(&same).is_none_or(|found| found == 1.0));
        }

        #[test]
        fn it_is_pearsons_correlation_of_mean_ranks(pairs in prop::collection::vec((0u64..12, 0u64..12), 2..60)) {
            let constant = |side: fn(&(u64, u64)) -> u64| pairs.iter().all(|pair| side(pair) == side(&pairs[0]));
            match spearman(&pairs) {
                None => prop_assert!(constant(|pair| pair.0) || constant(|pair| pair.1)),
                Some(value) => prop_assert!((value - pearson(&pairs)).abs() < 1e-9, "{value} {}", pearson(&pairs)),
            }
        }
    }
}
