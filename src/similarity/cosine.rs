//! The cosine of two vectors of weighted terms, in integers.
//!
//! A word of a vector has the rank of a term in its upper 32 bits and the square of the term's weight in the lower ones; the
//! words ascend strictly.

use crate::threshold::Threshold;

/// Bits of a weight.
const WEIGHT: u64 = u32::MAX as u64;

/// The weight of a word.
pub fn weight(word: u64) -> u64 {
    word & WEIGHT
}

/// The square of the length of a vector: the sum of its weights.
pub fn norm(words: &[u64]) -> u64 {
    words.iter().map(|word| weight(*word)).sum()
}

/// The sum of the weights that two vectors share. The weight of a term is the same in both.
pub fn shared_weight(a: &[u64], b: &[u64]) -> u64 {
    let (mut at_a, mut at_b, mut sum) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        sum += if x == y { weight(*x) } else { 0 };
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    sum
}

/// Whether the cosine of two vectors is at or over a threshold; false for an empty one. Exact: with S shared and norms
/// A and B, whether `S^2 >= t^2 A B`, in integers of as many bits as it takes.
pub fn cosine_at_least(a: &[u64], b: &[u64], threshold: Threshold) -> bool {
    weights_agree(shared_weight(a, b), (norm(a), norm(b)), threshold)
}

/// The same of sums that are at hand: the weight that two vectors share, and the norm of each.
pub fn weights_agree(shared: u64, norms: (u64, u64), threshold: Threshold) -> bool {
    is_at_least(shared, norms, threshold.fraction())
}

/// As many of them are a cosine of 1. So thresholds of up to nine digits are whole numbers of them.
pub const COSINE_PARTS: u32 = 4_000_000_000;

/// How many parts the cosine of two vectors has, rounded down, so that it has as many as a threshold if it is at or over it.
pub fn cosine_parts(shared: u64, (a, b): (u64, u64)) -> u32 {
    let cosine = shared as f64 / ((a.max(1) as f64).sqrt() * (b.max(1) as f64).sqrt());
    let has = |parts: u32| is_at_least(shared, (a, b), (parts.into(), COSINE_PARTS.into()));
    // What was rounded is a few parts at most.
    let mut parts = (cosine * f64::from(COSINE_PARTS)).min(f64::from(COSINE_PARTS)) as u32;
    while parts > 0 && !has(parts) {
        parts -= 1;
    }
    while parts < COSINE_PARTS && has(parts + 1) {
        parts += 1;
    }
    parts
}

fn is_at_least(shared: u64, (a, b): (u64, u64), (num, den): (u64, u64)) -> bool {
    let times = |sum: u64, factor: u64| u128::from(sum) * u128::from(factor);
    let part = times(shared, den);
    shared > 0 && product(part, part) >= product(times(a, num), times(b, num))
}

/// A product of two numbers as its upper and lower 128 bits.
fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let ((a1, a0), (b1, b0)) = ((a >> 64, a & LOW), (b >> 64, b & LOW));
    let (low, middle, other) = (a0 * b0, a1 * b0, a0 * b1);
    let carry = (low >> 64) + (middle & LOW) + (other & LOW);
    (a1 * b1 + (middle >> 64) + (other >> 64) + (carry >> 64), low & LOW | carry << 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn t(text: &str) -> Threshold {
        text.parse().expect("a threshold")
    }

    /// Words of ranks and weights.
    fn words(of: &[(u64, u64)]) -> Vec<u64> {
        of.iter().map(|(rank, weight)| rank << 32 | weight).collect()
    }

    #[test]
    fn the_cosine_is_exact() {
        // 9 of 9 + 16 and of 9: 9 / sqrt(25 * 9) = 0.6.
        let (a, b) = (words(&[(1, 9), (2, 16)]), words(&[(1, 9)]));
        assert!(cosine_at_least(&a, &b, t("0.6")) && !cosine_at_least(&a, &b, t("0.600001")));
        assert!(
            cosine_at_least(&a, &a, t("1"))
                && !cosine_at_least(&a, &words(&[(1, 9), (2, 16), (3, 1)]), t("1"))
        );
        assert!(
            !cosine_at_least(&[], &[], t("0.1")) && !cosine_at_least(&a, &words(&[(3, 5)]), t("0.000001"))
        );
        // Sums of billions of terms do not overflow.
        assert!(weights_agree(u64::MAX, (u64::MAX, u64::MAX), t("1")));
        assert!(!weights_agree(u64::MAX - 1, (u64::MAX, u64::MAX), t("1")));
    }

    proptest! {
        #[test]
        fn parts_are_those_of_the_cosine(sums in [any::<u64>(), any::<u64>(), any::<u64>()], bits in [0u32..64, 0u32..64, 0u32..64],
                                         num in 1u64..=1_000_000) {
            let [a, b, share] = [0, 1, 2].map(|at| sums[at] >> bits[at]);
            // No more than either norm.
            let shared = share.min(a).min(b);
            let parts = cosine_parts(shared, (a, b));
            let threshold: Threshold = format!("{}", num as f64 / 1e6).parse().expect("a threshold");
            let reaches = u64::from(parts) * 1_000_000 >= num * u64::from(COSINE_PARTS);
            prop_assert_eq!(reaches, weights_agree(shared, (a, b), threshold));
            let cosine = shared as f64 / (a.max(1) as f64).sqrt() / (b.max(1) as f64).sqrt();
            prop_assert!((f64::from(parts) / f64::from(COSINE_PARTS) - cosine).abs() < 1e-9);
        }

        #[test]
        fn products_are_whole(a in any::<u128>(), b in any::<u128>()) {
            // Digit by digit, to the base of 2^32.
            let digits = |n: u128| (0..4).map(move |at| n >> (32 * at) & 0xffff_ffff);
            let mut sums = [0u128; 9];
            for (i, x) in digits(a).enumerate() {
                for (j, y) in digits(b).enumerate() {
                    sums[i + j] += (x * y) & 0xffff_ffff;
                    sums[i + j + 1] += (x * y) >> 32;
                }
            }
            for at in 0..8 {
                sums[at + 1] += sums[at] >> 32;
                sums[at] &= 0xffff_ffff;
            }
            let whole = |from: usize| (0..4).fold(0u128, |n, at| n | sums[from + at] << (32 * at));
            prop_assert_eq!(product(a, b), (whole(4), whole(0)));
        }
    }
}
