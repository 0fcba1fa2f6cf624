//! Sketching one document: shingles, sets in order, rarest keys, features, signatures.

use std::hint::black_box;

use alike::simd::Simd;
use alike::sketch::{Permutations, Rarity, Spread, may_differ_by, shingles, sign};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Token hashes of a text of `count` tokens from a vocabulary in which a few words are most of the text.
fn tokens(count: u64) -> Vec<u64> {
    let mix = |x: u64| (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..count).map(|i| mix(mix(i) % (1 + mix(i + 7) % 5000))).map(mix).collect()
}

fn sketch(c: &mut Criterion) {
    for count in [100u64, 1000, 20_000] {
        let mut group = c.benchmark_group(format!("{count} tokens"));
        group.throughput(Throughput::Elements(count));
        let tokens = tokens(count);
        let mut list = Vec::new();
        shingles(&tokens, 5, &mut list);
        group.bench_function("shingles", |b| b.iter(|| shingles(black_box(&tokens), 5, &mut list)));
        let raw = list.clone();
        let mut spread = Spread::default();
        group.bench_function("sort_distinct", |b| {
            b.iter(|| {
                list.clone_from(&raw);
                spread.sort_distinct(&mut list);
            });
        });
        group.bench_function("sort_unstable and dedup", |b| {
            b.iter(|| {
                list.clone_from(&raw);
                list.sort_unstable();
                list.dedup();
            });
        });
        let rarity = Rarity::of_sample(&[&raw[..raw.len() / 2]; 2]);
        let (mut keys, mut commoner) = (Vec::new(), Vec::new());
        group.bench_function("rarest fifth", |b| {
            b.iter(|| rarity.rarest(black_box(&list), list.len() / 5, &mut keys, &mut commoner));
        });
        let mut signature = Vec::new();
        group.bench_function("sign", |b| {
            b.iter(|| {
                signature.clear();
                sign(black_box(&list), &mut signature);
            });
        });
        group.bench_function("may_differ_by", |b| {
            b.iter(|| may_differ_by(Simd::detect(), 0, black_box(&signature), &signature));
        });
        for simd in [Simd::Scalar, Simd::detect()] {
            let mut family = Permutations::new(84, simd);
            group.bench_function(format!("features 6 x 14, {simd:?}"), |b| {
                b.iter(|| family.features(black_box(&raw), 6, 14, &mut keys));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, sketch);
criterion_main!(benches);
