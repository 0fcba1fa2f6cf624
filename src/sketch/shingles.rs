//! Runs of tokens as 64-bit identities, and sets of them in order.

/// Odd, so that every power of it is invertible modulo 2^64.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection that spreads every bit over the whole word (the finaliser of MurmurHash3).
fn finish(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(0xff51_afd7_ed55_8ccd);
    h ^= h >> 33;
    h = h.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

/// Writes the identity of every run of `n` tokens to `out` (cleared first), in text order, repeats included.
/// A text shorter than `n` is one shingle, of its own kind; a text of no tokens has none (methods section 0).
///
/// An identity is the value at [`BASE`] of the polynomial whose coefficients are the token hashes: it rolls, so a
/// shingle costs two multiplications whatever its length.
pub fn shingles(tokens: &[u64], n: usize, out: &mut Vec<u64>) {
    out.clear();
    if tokens.is_empty() {
        return;
    }
    let roll = |h: u64, token: u64| h.wrapping_mul(BASE).wrapping_add(token);
    if tokens.len() < n {
        let whole = tokens.iter().fold(0, |h, t| roll(h, *t));
        // The length sets a short text apart from a shingle whose first coefficients happen to be small.
        out.push(finish(whole ^ (tokens.len() as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)));
        return;
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

/// Marks a free slot; a hash of this value takes the plain way.
const FREE: u64 = u64::MAX;
/// Below this many hashes a plain sort is faster.
const FEW: usize = 24;

/// Sorts hashes and removes repeats, in time linear in their number: they are random, so the high bits of each
/// say almost exactly where it belongs.
#[derive(Debug, Default)]
pub struct Spread {
    slots: Vec<u64>,
}

impl Spread {
    /// Leaves in `hashes` its distinct members, ascending.
    pub fn sort_distinct(&mut self, hashes: &mut Vec<u64>) {
        if hashes.len() < FEW || hashes.contains(&FREE) {
            hashes.sort_unstable();
            hashes.dedup();
            return;
        }
        let bits = (hashes.len() * 2).next_power_of_two().trailing_zeros();
        // Every hash may be pushed past the last home, so there is room for all of them behind it.
        let wanted = (1usize << bits) + hashes.len();
        if self.slots.len() < wanted {
            self.slots.resize(wanted, FREE);
        }
        for hash in hashes.iter() {
            insert(&mut self.slots, (hash >> (64 - bits)) as usize, *hash);
        }
        // Written always, counted if taken: no branch to mispredict. One place more holds what is written last.
        hashes.push(FREE);
        let mut distinct = 0;
        for slot in &mut self.slots[..wanted] {
            hashes[distinct] = std::mem::replace(slot, FREE);
            distinct += usize::from(hashes[distinct] != FREE);
        }
        hashes.truncate(distinct);
    }
}

/// Puts a hash among its equals-or-greater from its home on; what it displaces moves one on. Slots stay ascending.
fn insert(slots: &mut [u64], home: usize, hash: u64) {
    let mut at = home;
    while slots[at] < hash {
        at += 1;
    }
    let mut carried = hash;
    if slots[at] == hash {
        return;
    }
    while carried != FREE {
        std::mem::swap(&mut carried, &mut slots[at]);
        at += 1;
    }
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
            // Raw small values all share one home: slow, but right.
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
