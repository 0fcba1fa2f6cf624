//! Vectors of idf weights, and their cosine (Kolcz, Chowdhury and Alspector 2003, with their rule that common terms are
//! in every document and so left out). 8 bytes a distinct term.

use super::Term;
use crate::lexicon::Lexicon;
use crate::similarity::Threshold;

/// Bits of a weight.
const WEIGHT: u64 = u32::MAX as u64;

/// Writes to `words` (cleared first) the vector of a text with these terms ([`super::terms_of`], without the common
/// ones: [`crate::lexicon::Band::uncommon`]), strictly ascending, so the rarest first: a term's rank in the upper 32
/// bits, its weight in the lower.
///
/// A component of the vector is the normalised idf of a term that the text has, in parts of 2^-16; the weight is its
/// square, so that what two vectors share is a sum of weights. It is of integers and the same on every machine. Ours is
/// that a term counts once however often it stands: the rule says whether a document has a term. A term of weight 0 is
/// left out.
pub fn cosine_vector(terms: &[Term], lexicon: &Lexicon, words: &mut Vec<u64>) {
    words.clear();
    words.extend(terms.iter().filter_map(|term| {
        let idf = lexicon.fixed_idf(term.hash).filter(|idf| *idf > 0)?;
        Some((u64::from(term.rank) << 32) | (idf * idf))
    }));
}

fn weight(word: u64) -> u64 {
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
pub fn weights_agree(shared: u64, (a, b): (u64, u64), threshold: Threshold) -> bool {
    let (num, den) = threshold.fraction();
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

/// Words of a vector that are enough as keys for no pair with a cosine at or over the threshold to be lost: the least
/// number after which the rest weighs less than `t^2` of the whole; 0 for the empty vector.
///
/// Were no word shared before that, what is shared, S, would be part of the rest of this vector, and part of the other:
/// `S <= B`. From `S^2 >= t^2 A B >= t^2 A S` follows `S >= t^2 A`, and the rest weighs less. The rarest shared word is
/// so within the prefixes of both.
pub fn cosine_prefix(words: &[u64], threshold: Threshold) -> usize {
    let (num, den) = threshold.fraction();
    let times = |sum: u64, factor: u64| u128::from(sum) * u128::from(factor) * u128::from(factor);
    let needed = times(norm(words), num);
    let mut rest = 0;
    let suffix = words.iter().rev().take_while(|word| {
        rest += weight(**word);
        times(rest, den) < needed
    });
    words.len() - suffix.count()
}

#[cfg(test)]
mod tests {
    use super::super::salient::tests::{graded, hashes, word};
    use super::super::terms_of;
    use super::*;
    use crate::lexicon::Band;
    use proptest::prelude::*;

    fn t(text: &str) -> Threshold {
        text.parse().expect("a threshold")
    }

    fn vector(lexicon: &Lexicon, numbers: &[usize]) -> Vec<u64> {
        let tokens = hashes(&numbers.iter().map(|n| word(*n)).collect::<Vec<_>>().join(" "));
        let (mut terms, mut words) = (vec![], vec![5]);
        terms_of(&tokens, lexicon, &Band::uncommon(lexicon, 5), &mut terms);
        cosine_vector(&terms, lexicon, &mut words);
        words
    }

    /// Words of ranks and weights.
    fn words(of: &[(u64, u64)]) -> Vec<u64> {
        of.iter().map(|(rank, weight)| rank << 32 | weight).collect()
    }

    /// Of 1,000 documents, idf is ln(1000.5 / n) / ln 1001: 0.9999 of 1 and 0.6665 of 10 documents.
    #[test]
    fn a_weight_is_the_square_of_the_idf() {
        let lexicon = graded(100);
        let found = vector(&lexicon, &[9, 0, 50, 49, 9]);
        let ranks: Vec<u64> = found.iter().map(|word| word >> 32).collect();
        assert_eq!(ranks, [0, 9, 49]);
        let idf = |n: f64| ((1000.5 / n).ln() / 1001f64.ln() * 65536.0).floor() as u64;
        assert_eq!(found, words(&[(0, idf(1.0).pow(2)), (9, idf(10.0).pow(2)), (49, idf(50.0).pow(2))]));
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

    #[test]
    fn the_prefix_leaves_too_little() {
        let a = words(&[(1, 40), (2, 30), (3, 20), (4, 10)]);
        // 0.8^2 of 100 is 64: 60 after one word are less, 100 after none are not.
        assert_eq!(cosine_prefix(&a, t("0.8")), 1);
        assert_eq!(cosine_prefix(&a, t("0.5")), 3);
        assert_eq!(cosine_prefix(&a, t("0.1")), 4);
        assert_eq!(cosine_prefix(&a, t("1")), 1);
        assert_eq!(cosine_prefix(&[], t("0.8")), 0);
    }

    fn weighed() -> impl Strategy<Value = Vec<u64>> {
        // The weight is a function of the rank, as it is in a lexicon.
        prop::collection::btree_set(0u64..25, 0..25)
            .prop_map(|ranks| ranks.into_iter().map(|rank| rank << 32 | (1000 - 39 * rank)).collect())
    }

    proptest! {
        #[test]
        fn the_slow_way_says_the_same(a in weighed(), b in weighed(), percent in 1u64..=100) {
            let shared: u64 = a.iter().filter(|word| b.contains(word)).map(|word| weight(*word)).sum();
            prop_assert_eq!(shared_weight(&a, &b), shared);
            let slow = shared > 0
                && u128::from(shared).pow(2) * 10_000 >= u128::from(percent).pow(2) * u128::from(norm(&a) * norm(&b));
            let threshold = t(&format!("{}.{:02}", percent / 100, percent % 100));
            prop_assert_eq!(cosine_at_least(&a, &b, threshold), slow);
            let prefix = |words: &[u64]| words[..cosine_prefix(words, threshold)].to_vec();
            prop_assert!(!slow || prefix(&a).iter().any(|word| prefix(&b).contains(word)), "a pair is lost");
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
