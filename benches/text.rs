//! Canonical tokens of English-like text at each level of instructions, in MB/s; and of scripts on the careful route.

use std::hint::black_box;

use alike::config::{Fold, Tokens};
use alike::simd::Simd;
use alike::text::Tokenizer;
use alike_benches::Numbers;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// How many words in a thousand of running English have 1, 2, 3 ... letters.
const LENGTHS: [usize; 16] = [30, 170, 210, 160, 110, 85, 78, 57, 42, 28, 14, 8, 4, 2, 1, 1];

fn word(numbers: &mut Numbers) -> String {
    let mut at = numbers.below(1000);
    let length =
        LENGTHS.iter().position(|&share| at.checked_sub(share).map(|rest| at = rest).is_none()).unwrap_or(16);
    (0..=length).map(|_| char::from(b"etaoinshrdlcumwfgypbvk"[numbers.below(22)])).collect()
}

/// Sentences of about `bytes` in all; `foreign` words in a thousand come with punctuation or letters beyond ASCII.
fn english(bytes: usize, foreign: usize) -> String {
    let mut numbers = Numbers::new(1);
    let vocabulary: Vec<String> = (0..5000).map(|_| word(&mut numbers)).collect();
    let mut text = String::new();
    let mut sentence = 0;
    while text.len() < bytes {
        // The rank of a word grows with the exponential of a uniform number: Zipf's law.
        let rank = 5000f64.powf(numbers.below(1 << 20) as f64 / f64::from(1 << 20)) as usize;
        let mut word = vocabulary[rank % vocabulary.len()].clone();
        if sentence == 0 {
            word[..1].make_ascii_uppercase();
            sentence = 8 + numbers.below(18);
        }
        sentence -= 1;
        match numbers.below(1000) {
            n if n < foreign => match n % 4 {
                0 => word.push_str("\u{2019}s"),
                1 => word = format!("\u{201C}{word}\u{201D}"),
                2 => word.push_str("\u{2014}and"),
                _ => word.push('\u{E9}'),
            },
            n if n > 990 => word.push_str("'s"),
            _ => {}
        }
        text.push_str(&word);
        text.push_str(match numbers.below(100) {
            _ if sentence == 0 => ". ",
            0..6 => ", ",
            6 => "\n\n",
            _ => " ",
        });
    }
    text
}

fn bench(c: &mut Criterion) {
    let texts = [
        ("ascii", english(100_000, 0)),
        ("1 % beyond ascii", english(100_000, 10)),
        ("russian", "\u{412}\u{441}\u{435} \u{43B}\u{44E}\u{434}\u{438} \u{440}\u{43E}\u{436}\u{434}\u{430}\u{44E}\u{442}\u{441}\u{44F}, ".repeat(2000)),
        ("chinese", "\u{4EBA}\u{4EBA}\u{751F}\u{800C}\u{81EA}\u{7531}\u{FF0C}\u{5728}\u{5C0A}\u{4E25}\u{3002}".repeat(3000)),
        ("decomposed", "e\u{301}te\u{301} a\u{300} la\u{300}-bas, pe\u{302}cher. ".repeat(2500)),
    ];
    for (name, text) in &texts {
        let mut group = c.benchmark_group(*name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        for simd in
            [Simd::Scalar, Simd::Avx2, Simd::Avx512].into_iter().filter(|&simd| simd <= Simd::detect())
        {
            for tokens in [Tokens::Words, Tokens::Chars] {
                let mut tokenizer = Tokenizer::new(tokens, Fold::default(), simd);
                let count = tokenizer.tokens(text).len();
                group.bench_function(format!("{simd:?}/{tokens:?} ({count} tokens)"), |b| {
                    b.iter(|| black_box(tokenizer.tokens(black_box(text)).len()));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
