//! Parity signatures: a few words a set that bound from below how much two sets differ, so that most candidates
//! that are no pairs are seen for it before any text is read again.
//!
//! Every member flips one bit. In the exclusive or of two signatures shared members cancel, so it has at most as
//! many ones as the sets have members that are not shared.

use crate::simd::Simd;

/// Most words of a signature.
const MOST: usize = 128;

/// Words of the signature of a set of `size` members: about a bit a member.
pub fn signature_words(size: usize) -> usize {
    match size {
        0 => 0,
        size => size.div_ceil(64).next_power_of_two().min(MOST),
    }
}

/// Appends the signature of a set without repeats.
pub fn sign(set: &[u64], out: &mut Vec<u64>) {
    let start = out.len();
    let words = signature_words(set.len());
    out.resize(start + words, 0);
    let signature = &mut out[start..];
    for member in set {
        // The middle bits: the high ones order sets, the low ones choose workers.
        let bit = member >> 20;
        signature[(bit >> 6) as usize & (words - 1)] ^= 1 << (bit & 63);
    }
}

/// Words that are counted between two looks at whether the sets may still be alike: a line of the processor's cache.
const LINE: usize = 8;

/// Whether two sets with these signatures, which [`sign`] made, may differ by at most so many members: false only if they differ by more.
/// The signature of an empty set says nothing.
pub fn may_differ_by(simd: Simd, most: u64, a: &[u64], b: &[u64]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    #[cfg(target_arch = "x86_64")]
    {
        if simd == Simd::Avx512
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vpopcntdq")
        {
            #[expect(unsafe_code, reason = "the only way to call a function compiled for AVX-512")]
            // SAFETY: the machine has both features the function is compiled for, as the line above just asked.
            return unsafe { within_avx512(most, short, long) };
        }
        if simd >= Simd::Avx2 && is_x86_feature_detected!("popcnt") {
            #[expect(unsafe_code, reason = "the only way to call a function compiled for POPCNT")]
            // SAFETY: the machine has the feature the function is compiled for, as the line above just asked.
            return unsafe { within_popcnt(most, short, long) };
        }
    }
    let _ = simd;
    within(most, short, long)
}

/// [`within`] where eight words are counted by one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn within_avx512(most: u64, short: &[u64], long: &[u64]) -> bool {
    within(most, short, long)
}

/// [`within`] where a word is counted by one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn within_popcnt(most: u64, short: &[u64], long: &[u64]) -> bool {
    within(most, short, long)
}

/// Whether no more than so many bits of two signatures differ. Their lengths are powers of two: a longer one folds onto a shorter one: word numbers are the same bits of the
/// member, fewer of them.
#[inline(always)]
fn within(most: u64, short: &[u64], long: &[u64]) -> bool {
    let mut ones = 0;
    let (lines, rest) = short.as_chunks::<LINE>();
    for (at, line) in lines.iter().enumerate() {
        let mut folded = *line;
        let same = long.chunks_exact(short.len()).map(|part| &part.as_chunks::<LINE>().0[at]);
        same.for_each(|words| folded.iter_mut().zip(words).for_each(|(sum, word)| *sum ^= word));
        ones += folded.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        if ones > most {
            return false;
        }
    }
    let rest_at = short.len() - rest.len();
    for (at, word) in (rest_at..).zip(rest) {
        let folded = long.iter().skip(at).step_by(short.len()).fold(*word, |sum, word| sum ^ word);
        ones += u64::from(folded.count_ones());
    }
    ones <= most
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_claims_more_than_the_true_difference(a in prop::collection::btree_set(0u64..900, 0..700),
                                                      b in prop::collection::btree_set(0u64..900, 0..300)) {
            let truth = a.symmetric_difference(&b).count() as u64;
            let spread = |v: &u64| v.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            sign(&a.iter().map(spread).collect::<Vec<_>>(), &mut x);
            sign(&b.iter().map(spread).collect::<Vec<_>>(), &mut y);
            prop_assert_eq!(x.len(), signature_words(a.len()));
            prop_assert!(may_differ_by(Simd::detect(), truth, &x, &y));
            prop_assert!(least_difference(&x, &y) <= truth);
        }

        #[test]
        fn every_level_gives_the_same_answer(bits in prop::collection::vec(any::<u64>(), 128), of_a in 0usize..9, of_b in 0usize..9,
                                             more in -1i64..2, same in 0usize..128) {
            let words = |log: usize| (1 << log) >> 1;
            let mut other = bits.iter().rev().copied().collect::<Vec<u64>>();
            other[..same].copy_from_slice(&bits[..same]);
            let (a, b) = (&bits[..words(of_a)], &other[..words(of_b)]);
            let least = least_difference(a, b);
            let most = least.saturating_add_signed(more);
            for simd in [Simd::Scalar, Simd::Avx2, Simd::Avx512] {
                prop_assert_eq!(may_differ_by(simd, most, a, b), least <= most, "{:?}", simd);
                prop_assert_eq!(may_differ_by(simd, most, b, a), least <= most, "{:?}", simd);
            }
        }
    }

    /// The obvious twin: bits of the exclusive or of all that fold onto a word, word by word.
    fn least_difference(a: &[u64], b: &[u64]) -> u64 {
        let words = a.len().min(b.len());
        let mut folded = vec![0; words];
        for signature in [a, b] {
            signature.iter().zip((0..words).cycle()).for_each(|(word, at)| folded[at] ^= word);
        }
        folded.iter().map(|word: &u64| u64::from(word.count_ones())).sum()
    }

    #[test]
    fn tells_sets_apart_that_share_little() {
        let set =
            |from: u64| (from..from + 300).map(|v| v.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect::<Vec<_>>();
        let (mut x, mut y, mut z) = (Vec::new(), Vec::new(), Vec::new());
        sign(&set(0), &mut x);
        sign(&set(100), &mut y);
        sign(&set(0), &mut z);
        assert!(!may_differ_by(Simd::detect(), 90, &x, &y));
        assert!(may_differ_by(Simd::detect(), 0, &x, &z));
    }
}
