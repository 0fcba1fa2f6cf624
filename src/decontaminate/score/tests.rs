//! The score of an item, against sets of words and plain logarithms.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::decontaminate::index::{BenchmarkIndex, IndexBuilder, Item, TextOwner};
use crate::decontaminate::scan::DocumentScan;
use crate::progress::Progress;
use crate::text::{Fold, Tokenizer, Tokens};

type Words = Vec<u8>;

fn rule() -> ContaminationRule {
    let threshold = Some("0.8".parse().expect("a threshold"));
    ContaminationRule { threshold, ngram: 5, min_words: 10, scored: true, ..ContaminationRule::default() }
}

fn spelt(words: &[u8]) -> String {
    words.iter().map(|word| format!("w{word} ")).collect()
}

fn index(items: &[[Words; 3]]) -> Option<BenchmarkIndex> {
    let mut builder = IndexBuilder::new(rule(), u64::MAX);
    builder.begin("b");
    for (line, parts) in (1..).zip(items) {
        let item = Item { id: line.to_string(), benchmark: 0, file: 0, line };
        let item = builder.item(item).expect("an item");
        let parts = [0, 1, 2].map(|part| spelt(&parts[part]));
        let [question, answer, passage] = parts.each_ref().map(|part| &**part);
        builder.parts([question, answer, passage], TextOwner { item, field: 0 }).expect("parts");
    }
    builder.finish().ok()
}

/// Where a question is found, with how many of its n-grams, and the score.
type Found = Vec<(usize, usize, usize, f64)>;

/// What is found of each item.
fn found(index: &BenchmarkIndex, document: &[u8]) -> BTreeMap<u32, Found> {
    let mut tokenizer = Tokenizer::new(Tokens::Words, Fold::default(), crate::simd::Simd::detect());
    let tokens = tokenizer.tokens(&spelt(document)).to_vec();
    let mut all = BTreeMap::new();
    let take = |text: u32, stretches: &[ItemStretch], _: &[GramAt]| {
        let of = |stretch: &ItemStretch| {
            let ItemStretch { first, last, found, score } = *stretch;
            (first as usize, last as usize, found as usize, f64::from(score) / MILLION)
        };
        for owner in index.owners(text as usize) {
            all.insert(owner.item, stretches.iter().map(of).collect::<Found>());
        }
    };
    DocumentScan::new(index).scan(&tokens, &Progress::default(), take).expect("not interrupted");
    all
}

fn grams(words: &[u8], ngram: usize) -> BTreeSet<&[u8]> {
    words.windows(ngram).collect()
}

/// The slow form: sets of words, and plain logarithms. With each score goes how far it is from what is needed.
fn obvious(items: &[[Words; 3]], document: &[u8]) -> BTreeMap<u32, (Found, Vec<f64>)> {
    let is_looked_for = |parts: &&[Words; 3]| {
        let all = parts.concat();
        parts[0].len() >= 5 && all.len() >= 10 && all.iter().collect::<BTreeSet<_>>().len() >= 4
    };
    let different: BTreeSet<&[Words; 3]> = items.iter().filter(is_looked_for).collect();
    let weight = |part: usize, ngram: usize, gram: &[u8]| {
        let has = |parts: &&&[Words; 3]| grams(&parts[part], ngram).contains(gram);
        ((different.len() as f64 + 1.0) / different.iter().filter(has).count() as f64).ln()
    };
    let overlap = |part: usize, ngram: usize, words: &[u8], near: &[u8]| {
        if words.len() < 4 {
            return f64::from(u8::from(near.windows(words.len().max(1)).any(|other| other == words)));
        }
        let there = grams(near, ngram);
        let sum = |is_counted: &dyn Fn(&[u8]) -> bool| -> f64 {
            let counted = grams(words, ngram).into_iter().filter(|gram| is_counted(gram));
            counted.map(|gram| weight(part, ngram, gram)).sum()
        };
        sum(&|gram| there.contains(gram)) / sum(&|_| true)
    };
    let mut all = BTreeMap::new();
    for (number, parts) in (0u32..).zip(items).filter(|(_, parts)| is_looked_for(parts)) {
        let [question, answer, passage] = parts;
        let own = grams(question, 5);
        let places: Vec<usize> = document
            .windows(5)
            .enumerate()
            .filter(|(_, gram)| own.contains(gram))
            .map(|(at, _)| at)
            .collect();
        let eased = |words: usize, threshold: f64| match words {
            0..=20 => 1.0,
            21..50 => 1.0 - (1.0 - threshold) * (words - 20) as f64 / 30.0,
            _ => threshold,
        };
        let required = eased(question.len() + answer.len() + passage.len(), 0.8);
        let by_itself = eased(question.len(), 0.5 / 0.7);
        let (mut stretches, mut margins) = (Vec::new(), Vec::new());
        for run in places.chunk_by(|a, b| b - a - 1 < 11) {
            let (first, last) = (run[0], run[run.len() - 1]);
            let reach = |words: &[u8]| if words.len() < 4 { 50 } else { (2 * words.len()).max(100) };
            let behind = &document[last + 5..(last + 5 + reach(answer)).min(document.len())];
            let before = &document[first.saturating_sub(reach(passage))..first];
            let there: BTreeSet<&[u8]> = run.iter().map(|at| &document[*at..at + 5]).collect();
            let sum = |grams: &BTreeSet<&[u8]>| -> f64 { grams.iter().map(|gram| weight(0, 5, gram)).sum() };
            let overlaps =
                [sum(&there) / sum(&own), overlap(1, 3, answer, behind), overlap(2, 4, passage, before)];
            let shares = shares_of(own.len(), answer, passage);
            let score: f64 = (0..3).map(|part| shares[part] * overlaps[part]).sum();
            let is_whole = (0..3).all(|part| shares[part] == 0.0 || overlaps[part] == 1.0);
            if !is_whole {
                margins.push(score - required);
            }
            if overlaps[0] < 1.0 {
                margins.push(overlaps[0] - by_itself);
            }
            if is_whole || score >= required && (overlaps[0] == 1.0 || overlaps[0] >= by_itself) {
                stretches.push((first, last, there.len(), score));
            }
        }
        all.insert(number, (stretches, margins));
    }
    all
}

fn shares_of(question: usize, answer: &[u8], passage: &[u8]) -> [f64; 3] {
    let telling = |count: usize, most: f64| (0.5 + 0.5 * count as f64 / most).min(1.0);
    let mut shares = match (answer.is_empty(), passage.is_empty()) {
        (true, true) => return [1.0, 0.0, 0.0],
        (false, true) => [0.75, 0.25, 0.0],
        (true, false) => [0.85, 0.0, 0.15],
        (false, false) => [0.7, 0.2, 0.1],
    };
    let lost = shares[0] * (1.0 - telling(question, 20.0));
    let others = (1..3).filter(|part| shares[*part] > 0.0).count() as f64;
    let different = answer.iter().collect::<BTreeSet<_>>().len();
    shares[0] -= lost;
    (1..3)
        .filter(|part| shares[*part] > 0.0)
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|part| shares[part] += lost / others);
    if others == 2.0 {
        let lost = shares[1] * (1.0 - telling(different, 4.0));
        shares[1] -= lost;
        shares[2] += lost;
    }
    shares
}

fn part(words: std::ops::Range<usize>) -> impl Strategy<Value = Words> {
    prop::collection::vec(0u8..60, words)
}

/// What a piece of a document is made of: the item, changes of its question (where, and how many other words come in), words
/// between question and answer, whether these come first, and which parts are there.
type Piece = (usize, Vec<(usize, usize)>, usize, bool, [bool; 3]);

fn piece() -> impl Strategy<Value = Piece> {
    let changes = prop::collection::vec((0usize..45, 0usize..9), 0..4);
    (0usize..7, changes, 0usize..130, any::<bool>(), prop::array::uniform3(prop::bool::weighted(0.7)))
}

fn other(count: usize) -> Words {
    (0..count).map(|at| 100 + (at % 100) as u8).collect()
}

/// Appends a piece of a document.
fn append(document: &mut Words, items: &[[Words; 3]], (item, changes, far, is_before, parts): Piece) {
    let item = &items[item % items.len()];
    let mut question = item[0].clone();
    for (at, more) in changes {
        let at = at % question.len();
        question.splice(at..(at + usize::from(more == 0)), other(more.max(1)));
    }
    let beside = [1, 2].into_iter().filter(|part| parts[*part]).flat_map(|part| item[part].clone());
    let beside: Words = beside.collect();
    let question = if parts[0] { question } else { Words::new() };
    let both = if is_before { [beside, other(far), question] } else { [question, other(far), beside] };
    document.extend(both.concat());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn finds_what_the_slow_form_finds(
        items in prop::collection::vec((part(4..40), part(0..9), part(0..60)), 1..7),
        shared in 0usize..30,
        pieces in prop::collection::vec(piece(), 1..6),
    ) {
        let mut items: Vec<[Words; 3]> = items.into_iter().map(|(q, a, p)| [q, a, p]).collect();
        // Questions that begin alike, and an item twice.
        let begin: Words = items[0][0].iter().copied().take(shared).collect();
        items.iter_mut().skip(2).for_each(|item| item[0].splice(0..0, begin.clone()).for_each(drop));
        items.push(items[0].clone());
        let mut document: Words = Vec::new();
        pieces.into_iter().for_each(|piece| append(&mut document, &items, piece));
        let want = obvious(&items, &document);
        prop_assume!(want.values().flat_map(|(_, margins)| margins).all(|margin| margin.abs() > 1e-4));
        let Some(index) = index(&items) else {
            prop_assert!(want.is_empty());
            return Ok(());
        };
        let mut got = found(&index, &document);
        for (number, (want, _)) in want {
            let got = got.remove(&number).unwrap_or_default();
            prop_assert_eq!(got.len(), want.len());
            for (got, want) in got.iter().zip(want) {
                prop_assert_eq!((got.0, got.1, got.2), (want.0, want.1, want.2));
                prop_assert!((got.3 - want.3).abs() < 1e-4);
            }
        }
        prop_assert!(got.is_empty());
    }
}

/// A short question must be there whole, whatever its answer is.
#[test]
fn short_questions_need_all() {
    let (question, answer) = (words(0, 12), words(60, 40));
    let items = [[question.clone(), answer.clone(), vec![]], [words(150, 30), vec![], vec![]]];
    let index = index(&items).expect("an index");
    let is_found = |question: &[u8]| !found(&index, &[question, &answer].concat()).is_empty();
    assert!(is_found(&question) && !is_found(&question[1..]));
}

#[test]
fn logarithms_are_those_of_floating_point() {
    for number in (0..32).flat_map(|bit| [1u64 << bit, (1 << bit) + (1 << bit) / 3]).chain([1_000_003]) {
        let want = (number as f64).log2();
        let got = f64::from(logarithm(number << RARITY_BITS)) / f64::from(1 << WEIGHT_BITS);
        assert!((got - want).abs() < 1e-4, "{number}: {got} {want}");
    }
    let near_one = (1 << RARITY_BITS) + (1 << RARITY_BITS) / 1000;
    assert_eq!(logarithm(near_one), (1.001f64.log2() * 65_536.0) as u32);
}

/// Ten n-grams in a row may be others, eleven may not.
#[test]
fn runs_end_where_too_much_is_missing() {
    let question = words(0, 60);
    let index =
        index(&[[question.clone(), vec![], vec![]], [words(150, 30), vec![], vec![]]]).expect("an index");
    let with = |more: usize| [&question[..30], &other(more), &question[30..]].concat();
    assert_eq!(found(&index, &with(6))[&0].len(), 1);
    assert!(found(&index, &with(7)).is_empty());
}

fn words(begin: u8, count: u8) -> Words {
    (begin..begin + count).collect()
}

/// A question of 30 words, answers of one word and of eight, a passage of 40; each by itself and with the others.
#[test]
fn parts_add_up_as_published() {
    let (question, short, long, passage) = (words(0, 30), words(200, 1), words(60, 8), words(100, 40));
    let score = |parts: [&[u8]; 3], document: &[&[u8]]| {
        let items = [parts.map(<[u8]>::to_vec), [words(150, 30), vec![], vec![]]];
        let found = found(&index(&items).expect("an index"), &document.concat());
        found.get(&0).and_then(|found| found.first()).map(|found| found.3)
    };
    assert_eq!(score([&question, &[], &[]], &[&question]), Some(1.0));
    assert_eq!(score([&question, &long, &[]], &[&question, &long]), Some(1.0));
    // 0.75 of 38 words do, 0.85 of 70, 0.7 of none.
    assert_eq!(score([&question, &long, &[]], &[&question]), None);
    assert_eq!(score([&question, &[], &passage], &[&question]), Some(0.85));
    assert_eq!(score([&question, &long, &passage], &[&question]), None);
    assert_eq!(score([&question, &long, &passage], &[&question, &long]), Some(0.9));
    // A short answer within 50 words, a long one within 100.
    let far = |count: u8| -> Words { (0..count).map(|_| 255).collect() };
    assert_eq!(score([&question, &short, &passage], &[&question, &far(49), &short]), Some(0.825));
    assert_eq!(score([&question, &short, &passage], &[&question, &far(50), &short]), None);
    assert_eq!(score([&question, &long, &passage], &[&question, &far(92), &long]), Some(0.9));
    assert_eq!(score([&question, &long, &passage], &[&question, &far(101), &long]), None);
    // Answers stand behind the question, and passages before it.
    assert_eq!(score([&question, &short, &passage], &[&short, &far(49), &question]), None);
    assert_eq!(score([&question, &long, &passage], &[&passage, &far(60), &question]), Some(0.8));
    assert_eq!(score([&question, &long, &passage], &[&question, &passage]), None);
    // What stands in the question is no answer.
    assert_eq!(score([&question, &question[..8], &[]], &[&question]), None);
}

/// Whoever is short must be there whole.
#[test]
fn short_items_need_all() {
    let (short, long) = (words(0, 20), words(30, 50));
    let items = [[short.clone(), vec![], vec![]], [long.clone(), vec![], vec![]]];
    let index = index(&items).expect("an index");
    let is_found = |document: &[u8]| !found(&index, document).is_empty();
    assert!(is_found(&short) && !is_found(&short[1..]) && !is_found(&short[..19]));
    // 46 n-grams, of which nine may be missing.
    assert!(is_found(&long[9..]) && !is_found(&long[10..]));
}
