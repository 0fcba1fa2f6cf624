//! Runs of tokens as 64-bit identities, and sets of them in order.

use crate::simd::Simd;
use crate::system_memory::reserve_apart;

/// Odd, so that every power of it is invertible modulo 2^64.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The factors of [`finish`].
const FINISH: [u64; 2] = [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53];

/// A bijection that spreads every bit over the whole word (the finaliser of MurmurHash3).
#[inline]
pub(crate) fn finish(mut h: u64) -> u64 {
    for factor in FINISH {
        h ^= h >> 33;
        h = h.wrapping_mul(factor);
    }
    h ^ (h >> 33)
}

/// Writes the identity of every run of `n` tokens to `out` (cleared first), in text order, repeats included.
/// A text shorter than `n` is one shingle, of its own kind; a text of no tokens has none.
///
/// An identity is the value at [`BASE`] of the polynomial whose coefficients are the token hashes: it rolls, so a
/// shingle costs two multiplications whatever its length.
pub fn shingles(tokens: &[u64], n: usize, out: &mut Vec<u64>) {
    shingles_by(Simd::Scalar, tokens, n, out);
}

/// The same with vector instructions up to `simd`, as far as this machine has them.
pub fn shingles_by(simd: Simd, tokens: &[u64], n: usize, out: &mut Vec<u64>) {
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
    let done = evaluated(simd, tokens, n, out);
    let tokens = &tokens[done..];
    let Some(first) = tokens.get(..n - 1) else { return };
    let oldest = BASE.wrapping_pow(n as u32 - 1);
    let mut h = first.iter().fold(0, |h, t| roll(h, *t));
    out.extend(tokens.windows(n).map(|window| {
        h = roll(h, window[n - 1]);
        let whole = finish(h);
        h = h.wrapping_sub(window[0].wrapping_mul(oldest));
        whole
    }));
}

/// Appends the identities of as many of the first runs as vector instructions take at a time; how many there are. None of them
/// waits for the one before: that is sooner than rolling, unless a run is long.
fn evaluated(simd: Simd, tokens: &[u64], n: usize, out: &mut Vec<u64>) -> usize {
    #[cfg(target_arch = "x86_64")]
    if simd == Simd::Avx512
        && n <= SHORT
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
    {
        #[expect(unsafe_code, reason = "the only way to call a function compiled for AVX-512")]
        // SAFETY: the machine has both features the function is compiled for, as the line above just asked.
        unsafe {
            avx512::evaluate(tokens, n, out);
        }
    }
    let _ = (simd, tokens, n);
    out.len()
}

/// Most tokens of a run that is evaluated by itself.
const SHORT: usize = 12;

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

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi64, _mm512_mullo_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
        _mm512_srli_epi64, _mm512_xor_si512,
    };

    use super::{BASE, FINISH};

    const REGISTERS: usize = 4;
    /// Runs evaluated together: so many that no multiplication waits for another one.
    const BLOCK: usize = 8 * REGISTERS;

    /// Appends the identities of the first runs of `n` tokens, whole blocks of them.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn evaluate(tokens: &[u64], n: usize, out: &mut Vec<u64>) {
        let runs = (tokens.len() + 1).saturating_sub(n);
        out.reserve(runs);
        let base = _mm512_set1_epi64(BASE as i64);
        let [first, second] = FINISH.map(|factor| _mm512_set1_epi64(factor as i64));
        for at in (0..runs / BLOCK).map(|block| block * BLOCK) {
            let mut values = [_mm512_setzero_si512(); REGISTERS];
            for tokens in tokens[at..].windows(BLOCK).take(n) {
                let (eights, _) = tokens.as_chunks::<8>();
                for (value, eight) in values.iter_mut().zip(eights) {
                    let eight: __m512i = bytemuck::cast(*eight);
                    *value = _mm512_add_epi64(_mm512_mullo_epi64(*value, base), eight);
                }
            }
            for value in &mut values {
                let mut h = *value;
                h = _mm512_xor_si512(h, _mm512_srli_epi64::<33>(h));
                h = _mm512_mullo_epi64(h, first);
                h = _mm512_xor_si512(h, _mm512_srli_epi64::<33>(h));
                h = _mm512_mullo_epi64(h, second);
                *value = _mm512_xor_si512(h, _mm512_srli_epi64::<33>(h));
            }
            let block: [u64; BLOCK] = bytemuck::cast(values);
            out.extend_from_slice(&block);
        }
    }
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
        let distinct = write_distinct(&self.sorted, hashes);
        hashes.truncate(distinct);
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

/// Puts right most of what is wrong in what is almost sorted: one pass that carries the greatest hash along, without branches.
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
}

/// Writes the distinct ones of almost sorted hashes to the beginning of a list that is as long, ascending; how many there are.
fn write_distinct(hashes: &[u64], distinct: &mut [u64]) -> usize {
    let Some((first, rest)) = hashes.split_first() else { return 0 };
    distinct[0] = *first;
    let (mut count, mut greatest) = (1, *first);
    for hash in rest {
        if *hash < greatest {
            count += usize::from(insert(&mut distinct[..=count], *hash));
        } else {
            // Written always, counted if new, so no branch is mispredicted.
            distinct[count] = *hash;
            count += usize::from(*hash != greatest);
            greatest = *hash;
        }
    }
    count
}

/// Puts a hash in its place among ascending ones, behind which is one place more; false if it is there already.
fn insert(places: &mut [u64], hash: u64) -> bool {
    let end = places.len() - 1;
    let mut at = end;
    while at > 0 && places[at - 1] > hash {
        at -= 1;
    }
    if at > 0 && places[at - 1] == hash {
        return false;
    }
    places.copy_within(at..end, at + 1);
    places[at] = hash;
    true
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
        fn every_level_gives_the_same_shingles(tokens in prop::collection::vec(any::<u64>(), 0..200), n in 1usize..16,
                                               level in prop::sample::select(vec![Simd::Avx2, Simd::Avx512])) {
            let (mut plain, mut fast) = (vec![7], vec![8]);
            shingles(&tokens, n, &mut plain);
            shingles_by(level, &tokens, n, &mut fast);
            prop_assert_eq!(plain, fast);
        }

        #[test]
        fn distinct_ones_are_written_of_any_disorder(values in prop::collection::vec(0u64..40, 0..80)) {
            let truth: Vec<u64> = values.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let mut straightened = values.clone();
            straighten(&mut straightened);
            for hashes in [values, straightened] {
                let mut distinct = vec![9; hashes.len()];
                let count = write_distinct(&hashes, &mut distinct);
                prop_assert_eq!(&distinct[..count], &truth);
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
