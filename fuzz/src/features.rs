//! Min-wise features and shingles at every level of instructions equal the portable ones, and signatures of sets what they stand for.

use alike::simd::Simd;
use alike::sketch::{Permutations, may_differ_by, shingles_by, sign};

use crate::{LEVELS, take};

/// Most features, and most values of one: several blocks of permutations, and still quick.
const MOST: u8 = 20;

/// The first bytes are the numbers of features, of values each, and of permutations that are not needed; the rest are
/// shingles.
pub fn features(mut data: &[u8]) {
    let [k, s, more] = take(&mut data);
    let [k, s, more] = [1 + k % MOST, 1 + s % MOST, more % 100].map(usize::from);
    let mut shingles = Vec::new();
    while !data.is_empty() {
        shingles.push(u64::from_le_bytes(take(&mut data)));
    }
    let (mut expected, mut found) = (Vec::new(), vec![7; 3]);
    for simd in LEVELS.into_iter().chain([Simd::detect()]) {
        // The same words as tokens of a text.
        alike::sketch::shingles(&shingles, k, &mut expected);
        shingles_by(simd, &shingles, k, &mut found);
        assert_eq!(found, expected, "{simd:?}, runs of {k} of {shingles:x?}");
    }
    let of = |simd, count, shingles: &[u64]| {
        // Dirty on purpose: what stands there is cleared first.
        let mut features = vec![7; 3];
        Permutations::new(count, simd).features(shingles, k, s, &mut features);
        features
    };
    let expected = of(Simd::Scalar, k * s, &shingles);
    assert_eq!(expected.len(), k);
    for simd in LEVELS.into_iter().chain([Simd::detect()]) {
        assert_eq!(of(simd, k * s, &shingles), expected, "{simd:?} {k} {s} {shingles:x?}");
    }
    assert_eq!(of(Simd::detect(), k * s + more, &shingles), expected, "more permutations: {more}");
    let twice: Vec<u64> = shingles.iter().rev().chain(&shingles).copied().collect();
    assert_eq!(of(Simd::detect(), k * s, &twice), expected, "twice, and backwards");
    let mut family = Permutations::new(k * s, Simd::detect());
    let mut again = Vec::new();
    family.features(&[1], k, s, &mut again);
    family.features(&shingles, k, s, &mut again);
    assert_eq!(again, expected, "after another list");
    signatures(&shingles, k);
}

/// Two sets of some of the shingles: their signatures deny a difference exactly where more bits of them differ.
fn signatures(shingles: &[u64], k: usize) {
    let set = |from: usize| {
        let mut set = shingles[from.min(shingles.len())..].to_vec();
        set.sort_unstable();
        set.dedup();
        set
    };
    let (a, b) = (set(0), set(k));
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    sign(&a, &mut of_a);
    sign(&b, &mut of_b);
    let words = of_a.len().min(of_b.len());
    let mut folded = vec![0; words];
    for signature in [&of_a, &of_b] {
        signature.iter().zip((0..words).cycle()).for_each(|(word, at)| folded[at] ^= word);
    }
    let ones: u64 = folded.iter().map(|word: &u64| u64::from(word.count_ones())).sum();
    let apart = a.iter().filter(|shingle| b.binary_search(shingle).is_err()).count() as u64;
    assert!(ones <= apart, "{ones} bits of {apart} members");
    for simd in LEVELS.into_iter().chain([Simd::detect()]) {
        for most in [ones.saturating_sub(1), ones, apart] {
            assert_eq!(may_differ_by(simd, most, &of_a, &of_b), ones <= most, "{simd:?} {most} of {ones}");
            assert_eq!(may_differ_by(simd, most, &of_b, &of_a), ones <= most, "{simd:?} {most} of {ones}");
        }
    }
}
