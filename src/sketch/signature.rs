//! Parity signatures: a few words a set that bound from below how much two sets differ, so that most candidates
//! that are no pairs are seen for it before any text is read again.
//!
//! Every member flips one bit. In the exclusive or of two signatures shared members cancel, so it has at most as
//! many ones as the sets have members that are not shared.

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

/// A lower bound for the number of members that two sets with these signatures do not share.
pub fn least_difference(a: &[u64], b: &[u64]) -> u64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // A longer signature folds onto a shorter one: word numbers are the same bits of the member, fewer of them.
    let ones = |at: usize, word: &u64| {
        let folded = long.iter().skip(at).step_by(short.len()).fold(*word, |sum, w| sum ^ w);
        u64::from(folded.count_ones())
    };
    short.iter().enumerate().map(|(at, word)| ones(at, word)).sum()
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
            prop_assert!(least_difference(&x, &y) <= truth);
            prop_assert_eq!(least_difference(&x, &y), least_difference(&y, &x));
        }
    }

    #[test]
    fn tells_sets_apart_that_share_little() {
        let set =
            |from: u64| (from..from + 300).map(|v| v.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect::<Vec<_>>();
        let (mut x, mut y, mut z) = (Vec::new(), Vec::new(), Vec::new());
        sign(&set(0), &mut x);
        sign(&set(100), &mut y);
        sign(&set(0), &mut z);
        assert!(least_difference(&x, &y) > 90);
        assert_eq!(least_difference(&x, &z), 0);
    }
}
