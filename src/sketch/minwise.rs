//! Min-wise values, and features of them: hashes of groups of min-wise values (Broder 2000 sections 2 and 3; there also "super-shingles").

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::simd::Simd;

/// Values computed together: six registers of eight.
const BLOCK: usize = 48;

/// A family of permutations `x -> a x + b` modulo 2^64 with odd `a`, applied to shingle identities that are random
/// already: random linear transformations are min-wise enough in practice (Broder 2000 section 2, tested below).
#[derive(Clone, Debug)]
pub struct Permutations {
    factors: Vec<[u64; BLOCK]>,
    offsets: Vec<[u64; BLOCK]>,
    minima: Vec<[u64; BLOCK]>,
    simd: Simd,
}

/// The next number of Steele's SplitMix generator: the constants of the format, never drawn at run time.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Permutations {
    /// The first `count` permutations of the family.
    pub fn new(count: usize, simd: Simd) -> Permutations {
        let blocks = count.div_ceil(BLOCK);
        let mut state = 0x616c_696b_6531;
        let (mut factors, mut offsets) = (vec![[1; BLOCK]; blocks], vec![[0; BLOCK]; blocks]);
        for i in 0..count {
            factors[i / BLOCK][i % BLOCK] = split_mix(&mut state) | 1;
            offsets[i / BLOCK][i % BLOCK] = split_mix(&mut state);
        }
        Permutations { factors, offsets, minima: vec![[0; BLOCK]; blocks], simd }
    }

    /// Writes to `features` (cleared first) the `k` features of `s` values each of a non-empty list of shingles;
    /// repeats do not matter. The number of a feature goes into its hash, so features of different numbers differ.
    pub fn features(&mut self, shingles: &[u64], k: usize, s: usize, features: &mut Vec<u64>) {
        features.clear();
        for ((a, b), minima) in self.factors.iter().zip(&self.offsets).zip(&mut self.minima) {
            minimise(self.simd, a, b, shingles, minima);
        }
        let minima = self.minima.as_flattened();
        features.extend(minima.chunks_exact(s).take(k).enumerate().map(|(i, group)| {
            let bytes: &[u8] = bytemuck::cast_slice(group);
            xxh3_64_with_seed(bytes, i as u64)
        }));
    }
}

/// For each permutation of a block the least image of any shingle.
fn minimise(simd: Simd, a: &[u64; BLOCK], b: &[u64; BLOCK], shingles: &[u64], minima: &mut [u64; BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    if simd == Simd::Avx512 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        #[expect(unsafe_code, reason = "the only way to call a function compiled for AVX-512")]
        // SAFETY: the machine has both features the function is compiled for, as the line above just asked.
        unsafe {
            avx512::minimise(a, b, shingles, minima);
        }
        return;
    }
    let _ = simd;
    minimise_plain(a, b, shingles, minima);
}

/// The portable twin of the vector code.
fn minimise_plain(a: &[u64; BLOCK], b: &[u64; BLOCK], shingles: &[u64], minima: &mut [u64; BLOCK]) {
    *minima = [u64::MAX; BLOCK];
    for x in shingles {
        for i in 0..BLOCK {
            minima[i] = minima[i].min(x.wrapping_mul(a[i]).wrapping_add(b[i]));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi64, _mm512_min_epu64, _mm512_mullo_epi64, _mm512_set1_epi64,
    };

    use super::BLOCK;

    const REGISTERS: usize = BLOCK / 8;

    /// Six registers of minima, factors and offsets each stay in the register file for the whole text.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn minimise(a: &[u64; BLOCK], b: &[u64; BLOCK], shingles: &[u64], minima: &mut [u64; BLOCK]) {
        let a: [__m512i; REGISTERS] = bytemuck::cast(*a);
        let b: [__m512i; REGISTERS] = bytemuck::cast(*b);
        let mut least = [_mm512_set1_epi64(-1); REGISTERS];
        for x in shingles {
            let x = _mm512_set1_epi64(*x as i64);
            for i in 0..REGISTERS {
                let image = _mm512_add_epi64(_mm512_mullo_epi64(x, a[i]), b[i]);
                least[i] = _mm512_min_epu64(least[i], image);
            }
        }
        *minima = bytemuck::cast(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::acceptance;

    fn random(count: usize, seed: u64) -> Vec<u64> {
        let mut state = seed;
        (0..count).map(|_| split_mix(&mut state)).collect()
    }

    #[test]
    fn every_level_gives_the_same_features() {
        for (n, k, s) in [(1, 6, 14), (7, 14, 8), (300, 20, 13), (1000, 1, 1), (50, 50, 4)] {
            let shingles = random(n, n as u64);
            let (mut plain, mut fast) = (Vec::new(), Vec::new());
            Permutations::new(k * s, Simd::Scalar).features(&shingles, k, s, &mut plain);
            Permutations::new(k * s, Simd::detect()).features(&shingles, k, s, &mut fast);
            assert_eq!(plain, fast);
            assert_eq!(plain.len(), k);
        }
    }

    /// Two sets of random members that share `shared` of `shared + 2 * apart`.
    fn pair(shared: usize, apart: usize, seed: u64) -> (Vec<u64>, Vec<u64>) {
        let members = random(shared + 2 * apart, seed);
        let (common, rest) = members.split_at(shared);
        ([common, &rest[..apart]].concat(), [common, &rest[apart..]].concat())
    }

    /// Chi-square over the number of agreeing values: 84 permutations, 2,000 pairs at one resemblance, against the
    /// binomial law of independent permutations, in ten bins of about equal weight.
    #[test]
    fn agreement_follows_the_binomial_law() {
        let (count, rho, pairs) = (84usize, 0.9f64, 2000usize);
        let mut family = Permutations::new(count, Simd::detect());
        let mut seen = vec![0f64; count + 1];
        for seed in 0..pairs {
            let (a, b) = pair(180, 10, 1000 + seed as u64);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            family.features(&a, count, 1, &mut x);
            family.features(&b, count, 1, &mut y);
            seen[x.iter().zip(&y).filter(|(x, y)| x == y).count()] += 1.0;
        }
        let mut law = vec![0f64; count + 1];
        for (i, p) in law.iter_mut().enumerate() {
            *p = acceptance(count, 1, i, rho) - acceptance(count, 1, i + 1, rho);
        }
        let (mut square, mut freedom, mut expected, mut found) = (0.0, 0u32, 0.0, 0.0);
        for (p, n) in law.iter().zip(&seen) {
            expected += p * pairs as f64;
            found += n;
            if expected >= pairs as f64 / 10.0 {
                square += (found - expected) * (found - expected) / expected;
                freedom += 1;
                (expected, found) = (0.0, 0.0);
            }
        }
        // The 99.9 % point of chi-square with at most nine degrees of freedom is 27.9.
        assert!((5..=9).contains(&freedom) && square < 27.9, "chi-square {square} with {freedom} bins");
    }

    #[test]
    fn each_permutation_picks_every_member_equally_often() {
        let mut family = Permutations::new(1, Simd::detect());
        let (members, rounds) = (16usize, 8000u64);
        let mut picked = vec![0f64; members];
        for seed in 0..rounds {
            let set = random(members, 77_000 + seed * 31);
            let mut whole = Vec::new();
            family.features(&set, 1, 1, &mut whole);
            let mut alone = Vec::new();
            for (member, count) in set.iter().zip(&mut picked) {
                family.features(&[*member], 1, 1, &mut alone);
                *count += f64::from(u8::from(alone == whole));
            }
        }
        let expected = rounds as f64 / members as f64;
        let square: f64 = picked.iter().map(|n| (n - expected) * (n - expected) / expected).sum();
        // The 99.9 % point of chi-square with 15 degrees of freedom.
        assert!(square < 37.7, "chi-square {square}");
    }
}
