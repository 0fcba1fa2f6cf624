//! Min-wise features and shingles at every level of instructions equal the portable ones.

use alike::simd::Simd;
use alike::sketch::{Permutations, shingles_by};

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
}
