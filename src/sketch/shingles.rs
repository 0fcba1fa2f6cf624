//! Runs of tokens as 64-bit identities, and sets of them in order.

use crate::system_memory::reserve_apart;

/// Odd, so that every power of it is invertible modulo 2^64.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection that spreads every bit over the whole word (the finaliser of MurmurHash3).
#[inline]
pub(crate) fn finish(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

/// Writes the identity of every run of `n` tokens to `out` (cleared first), in text order, repeats included.
/// A text shorter than `n` is one shingle, of its own kind; a text of no tokens has none.
///
/// An identity is the value at [`BASE`] of the polynomial whose coefficients are the token hashes: it rolls, so a
/// shingle costs two multiplications whatever its length.
pub fn shingles(tokens: &[u64], n: usize, out: &mut Vec<u64>) {
    out.clear();
    if tokens.is_empty() {
        return;
    }
    if tokens.len() < n {
        out.push(whole(tokens));
        return;
    }
    if tokens.len() > MANY {
        reserve_apart(out, tokens.len());
    }
    let oldest = BASE.wrapping_pow(n as u32 - 1);
    let mut h = tokens[..n - 1].iter().fold(0, |h, t| roll(h, *t));
    out.extend(tokens.windows(n).map(|window| {
        h = roll(h, window[n - 1]);
        let whole = finish(h);
        h = h.wrapping_sub(window[0].wrapping_mul(oldest));
        whole
    }));
}

/// The next value of the polynomial.
#[inline]
fn roll(h: u64, token: u64) -> u64 {
    h.wrapping_mul(BASE).wrapping_add(token)
}

/// The identity of a text that is one shingle because it is shorter than one.
pub(crate) fn whole(tokens: &[u64]) -> u64 {
    let value = tokens.iter().fold(0, |h, t| roll(h, *t));
    // The length sets a short text apart from a shingle whose first coefficients happen to be small.
    finish(value ^ (tokens.len() as u64).wrapping_mul(0xd6e8_feb8_6659_fd93))
}

/// Below this many hashes a plain sort is faster.
const FEW: usize = 24;
/// A bucket of more hashes than this means that they are not random: a plain sort then.
const CROWDED: u32 = 32;
/// More hashes than this are sorted in place: what the other way takes beside them would count.
const MANY: usize = 1 << 18;

/// Sorts hashes and removes repeats, in time linear in their number: they are random, so the high bits of each
/// say almost exactly where it belongs. One counting pass over as many buckets as hashes, then what little
/// disorder is left within buckets.
#[derive(Debug, Default)]
pub struct Spread {
    starts: Vec<u32>,
    sorted: Vec<u64>,
}

impl Spread {
    /// Leaves in `hashes` its distinct members, ascending.
    pub fn sort_distinct(&mut self, hashes: &mut Vec<u64>) {
        if hashes.len() < FEW || hashes.len() > MANY || !self.scatter(hashes) {
            hashes.sort_unstable();
            hashes.dedup();
            return;
        }
        straighten(&mut self.sorted);
        drop_repeats(&mut self.sorted);
        std::mem::swap(hashes, &mut self.sorted);
    }

    /// Writes the hashes to `sorted`, in order of their high bits; false if one bucket is crowded.
    fn scatter(&mut self, hashes: &[u64]) -> bool {
        let bits = hashes.len().next_power_of_two().trailing_zeros();
        let bucket = |hash: u64| (hash >> (64 - bits)) as usize;
        self.starts.clear();
        self.starts.resize(1 << bits, 0);
        for hash in hashes {
            self.starts[bucket(*hash)] += 1;
        }
        let (mut sum, mut most) = (0, 0);
        for start in &mut self.starts {
            let count = *start;
            *start = sum;
            sum += count;
            most = most.max(count);
        }
        if most > CROWDED {
            return false;
        }
        self.sorted.resize(hashes.len(), 0);
        for hash in hashes {
            let start = &mut self.starts[bucket(*hash)];
            self.sorted[*start as usize] = *hash;
            *start += 1;
        }
        true
    }
}

/// Sorts what is almost sorted: one pass that carries the greatest hash along, without branches, puts right most of
/// what is wrong; insertion does the rest.
fn straighten(hashes: &mut [u64]) {
    let Some(first) = hashes.first().copied() else { return };
    let mut greatest = first;
    for i in 1..hashes.len() {
        let hash = hashes[i];
        hashes[i - 1] = greatest.min(hash);
        greatest = greatest.max(hash);
    }
    if let Some(last) = hashes.last_mut() {
        *last = greatest;
    }
    for i in 1..hashes.len() {
        let hash = hashes[i];
        let mut at = i;
        while at > 0 && hashes[at - 1] > hash {
            hashes[at] = hashes[at - 1];
            at -= 1;
        }
        hashes[at] = hash;
    }
}

/// Removes repeats from an ascending list: written always, counted if new, so no branch is mispredicted.
fn drop_repeats(hashes: &mut Vec<u64>) {
    let Some(first) = hashes.first().copied() else { return };
    let (mut distinct, mut last) = (1, first);
    for i in 1..hashes.len() {
        let hash = hashes[i];
        // One place past the last distinct one: where the next one goes, if it is one.
        hashes[distinct] = hash;
        distinct += usize::from(hash != last);
        last = hash;
    }
    hashes.truncate(distinct);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The obvious twin: the polynomial of each window evaluated from scratch.
    fn from_scratch(tokens: &[u64], n: usize) -> Vec<u64> {
        tokens
            .windows(n)
            .map(|w| finish(w.iter().fold(0u64, |h, t| h.wrapping_mul(BASE).wrapping_add(*t))))
            .collect()
    }

    fn mixed(values: &[u64]) -> Vec<u64> {
        values.iter().map(|v| finish(v.wrapping_add(1))).collect()
    }

    proptest! {
        #[test]
        fn rolling_equals_from_scratch(tokens in prop::collection::vec(any::<u64>(), 1..80), n in 1usize..12) {
            let mut out = vec![7];
            shingles(&tokens, n, &mut out);
            if tokens.len() >= n {
                prop_assert_eq!(out, from_scratch(&tokens, n));
            } else {
                prop_assert_eq!(out.len(), 1);
            }
        }

        #[test]
        fn spread_equals_a_plain_sort(values in prop::collection::vec(0u64..400, 0..600), raw in any::<bool>(),
                                      extreme in any::<bool>()) {
            // Raw small values all share one bucket: slow, but right.
            let mut hashes = if raw { values } else { mixed(&values) };
            if extreme {
                hashes.extend([u64::MAX, u64::MAX - 1, 0, u64::MAX - 1]);
            }
            let truth: Vec<u64> = hashes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let mut spread = Spread::default();
            for _ in 0..2 {
                let mut sorted = hashes.clone();
                spread.sort_distinct(&mut sorted);
                prop_assert_eq!(&sorted, &truth);
            }
        }
    }

    #[test]
    fn a_short_text_is_one_shingle_of_its_own() {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        shingles(&[1, 2], 5, &mut short);
        shingles(&[0, 0, 0, 1, 2], 5, &mut long);
        assert_eq!((short.len(), long.len()), (1, 1));
        assert_ne!(short, long);
        shingles(&[], 5, &mut short);
        assert!(short.is_empty());
    }
}
