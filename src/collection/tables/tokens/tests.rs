//! Tokens beside those that were written.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::codes::{decode, encode, put_length, take_length};
use super::vocabulary::{MOST_TOKENS, Vocabulary};
use super::*;
use crate::collection::run::reader::RunReader;
use crate::collection::run::schema::{TOKENS, VOCABULARIES};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::rows::StoredText;
use crate::collection::tables::run_cursors::{MOST_CURSORS, MOST_PLACES, RunCursor, RunCursors};
use crate::error::Error;
use crate::limits::sized;
use crate::sketch::{Spread, shingles};
use crate::storage::Simulated;

/// A number that looks like a hash.
pub(super) fn hashed(i: u64) -> u64 {
    let i = (i ^ i >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (i ^ i >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// A run with these texts, and where each is.
pub(super) fn written(texts: &[Vec<u64>], ngram: usize) -> (RunReader, Vec<StoredText>) {
    let storage = Simulated::default();
    let mut run = RunWriter::create(&storage, "a", 1, 2).expect("created");
    let mut writer = TokenWriter::begin(ngram, &mut run).expect("begun");
    texts.iter().try_for_each(|text| writer.push(text, &mut run)).expect("pushed");
    writer.finish(&mut run).expect("finished");
    run.finish().expect("finished");
    let stored = writer.places().zip(texts).map(|(place, text)| {
        let size = set_of(text, ngram).len() as u32;
        StoredText { content: 0, start: place.start, ordinal: place.ordinal, size, digest: 0 }
    });
    let stored: Vec<StoredText> = stored.collect();
    assert_eq!(stored.len(), texts.len());
    (RunReader::open(&storage, "a", 1, 2).expect("opened"), stored)
}

fn set_of(tokens: &[u64], ngram: usize) -> Vec<u64> {
    let mut set = Vec::new();
    shingles(tokens, ngram, &mut set);
    Spread::default().sort_distinct(&mut set);
    set
}

/// Texts whose tokens are few or many, and come seldom or often.
pub(super) fn texts() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let token = prop_oneof![0..3u64, (0..200u64).prop_map(hashed), any::<u64>()];
    prop::collection::vec(prop::collection::vec(token, 0..400), 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tokens_and_sets_come_back(texts in texts(), ngram in 1..6usize, seed in any::<u64>()) {
        let (run, stored) = written(&texts, ngram);
        let mut order: Vec<usize> = (0..texts.len()).collect();
        let (mut cursor, mut set) = (TokenCursor::default(), vec![9]);
        for shuffled in [false, true] {
            if shuffled {
                order.sort_by_key(|at| hashed(seed ^ *at as u64));
            }
            for at in &order {
                prop_assert_eq!(cursor.tokens(&run, &stored[*at]).expect("read"), &texts[*at][..]);
                cursor.set(&run, &stored[*at], &mut set).expect("read");
                prop_assert_eq!(&set, &set_of(&texts[*at], ngram));
            }
        }
    }

    /// One cursor after the other reads the same; of as many runs as there are cursors each keeps its block.
    #[test]
    fn runs_are_read_by_turns(runs in 1..40usize, turns in prop::collection::vec(0..40usize, 0..60)) {
        let text = |run: usize| vec![vec![hashed(run as u64)]];
        let runs: Vec<_> = (0..runs).map(|run| written(&text(run), 2)).collect();
        let (mut cursors, mut read) = (RunCursors::<TokenCursor>::default(), BTreeSet::new());
        for run in turns {
            let at = run % runs.len();
            let (run, stored) = &runs[at];
            let tokens = cursors.of(run, stored[0].start).tokens(run, &stored[0]).expect("read");
            prop_assert_eq!(tokens, &text(at)[0][..]);
            read.insert(at);
            let is_kept = |(run, stored): &&(RunReader, Vec<StoredText>)| {
                cursors.all().iter().any(|cursor| cursor.distance(run, stored[0].start) == Some(0))
            };
            prop_assert_eq!(runs.iter().filter(is_kept).count(), read.len().min(MOST_CURSORS));
        }
    }

    /// Texts that lie in several places of one run, as where such were merged, are read by turns, each place by a cursor of its own.
    #[test]
    fn places_of_a_run_are_read_by_turns(texts in texts(), places in 1..=MOST_PLACES) {
        prop_assume!(!texts.is_empty());
        let (run, stored) = written(&texts, 2);
        let mut cursors = RunCursors::<TokenCursor>::default();
        let (part, mut misses) = (texts.len().div_ceil(places), 0);
        for at in (0..part).flat_map(|at| (at..texts.len()).step_by(part)) {
            let start = stored[at].start;
            if at % part > 0 {
                // Whoever reads this part alone.
                let mut alone = TokenCursor::default();
                alone.tokens(&run, &stored[at - 1]).expect("read");
                let near = alone.distance(&run, start);
                misses += usize::from(!cursors.all().iter().any(|cursor| {
                    cursor.distance(&run, start).is_some_and(|distance| Some(distance) <= near)
                }));
            }
            let tokens = cursors.of(&run, start).tokens(&run, &stored[at]).expect("read");
            prop_assert_eq!(tokens, &texts[at][..]);
        }
        // Parts that begin in one block, or near each other, have one cursor until one of them goes on with it.
        prop_assert!(misses <= texts.len() / 8 + 3 * places, "{} misses in {} places", misses, places);
    }

    #[test]
    fn codes_are_not_trusted(codes in prop::collection::vec(prop_oneof![0..3u8, any::<u8>()], 0..60), known in 0..200usize) {
        let (mut tokens, mut rest) = (Vec::new(), &codes[..]);
        // Either is fine, and nothing panics.
        let _ = decode(&codes, &vec![7; known], &mut tokens);
        prop_assert!(tokens.len() <= codes.len());
        while take_length(&mut rest).is_some() {}
    }

    #[test]
    fn lengths_come_back(numbers in prop::collection::vec(prop_oneof![0..300usize, any::<u32>().prop_map(|n| n as usize)], 0..20)) {
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| put_length(*number, &mut bytes));
        let mut rest = &bytes[..];
        let found: Vec<usize> = std::iter::from_fn(|| take_length(&mut rest)).collect();
        prop_assert_eq!(found, numbers);
    }
}

/// A text may be longer than a block, and than a vocabulary serves.
#[test]
fn a_long_text_goes_on_from_block_to_block() {
    let count = |tokens: u64| tokens / sized(1, 50);
    let texts: Vec<Vec<u64>> = [3, 40_000, 5, 0, 200_000, 1, 30_000]
        .into_iter()
        .map(|tokens| {
            (0..count(tokens)).map(|i| hashed(if i % 3 == 0 { i % 7 } else { i * tokens })).collect()
        })
        .collect();
    let (run, stored) = written(&texts, 5);
    let (mut cursor, mut set) = (TokenCursor::default(), Vec::new());
    for at in (0..texts.len()).chain((0..texts.len()).rev()) {
        assert_eq!(cursor.tokens(&run, &stored[at]).expect("read"), &texts[at][..]);
        cursor.set(&run, &stored[at], &mut set).expect("read");
        assert_eq!(set, set_of(&texts[at], 5));
    }
}

/// A merge of many runs reads a long text of each: one of them is held at a time.
#[test]
fn of_several_runs_one_long_text_is_held() {
    let long: Vec<u64> = (0..sized(100_000, 60)).map(hashed).collect();
    let runs: Vec<_> = (0..4).map(|_| written(&[vec![1, 2], long.clone()], 3)).collect();
    let mut cursors = RunCursors::<TokenCursor>::default();
    for turn in 0..8 {
        let (run, stored) = &runs[turn % runs.len()];
        let read = cursors.of(run, stored[1].start).tokens(run, &stored[1]).expect("read");
        assert_eq!(read, long);
        let holding = cursors.all().iter().filter(|cursor| cursor.held_tokens() > 0);
        assert_eq!(holding.count(), 1);
        assert!(cursors.all().iter().any(|cursor| cursor.held_tokens() >= long.len()));
    }
    cursors.rest();
    assert!(cursors.all().iter().all(|cursor| cursor.held_tokens() == 0));
}

/// One site after another, each with words of its own: no vocabulary may be stuck with those of the first.
#[test]
fn a_vocabulary_gives_way_to_one_that_serves() {
    let words = MOST_TOKENS as u64 * 2;
    let site = |site: u64| (0..5 * words).map(move |i| hashed((site << 32) | (hashed(i) % words)));
    let texts: Vec<Vec<u64>> = (0..3)
        .flat_map(|number| {
            site(number)
                .collect::<Vec<_>>()
                .chunks(words as usize / 2)
                .map(<[u64]>::to_vec)
                .collect::<Vec<_>>()
        })
        .collect();
    let (run, stored) = written(&texts, 5);
    let vocabularies = run.rows(VOCABULARIES.kind).expect("vocabularies").len();
    assert!((4..40).contains(&vocabularies), "{vocabularies} vocabularies");
    let mut cursor = TokenCursor::default();
    for (text, stored) in texts.iter().zip(&stored) {
        assert_eq!(cursor.tokens(&run, stored).expect("read"), text);
    }
}

#[test]
fn a_token_that_comes_once_is_written_out_and_one_that_comes_again_is_not() {
    let (mut vocabulary, mut codes) = (Vocabulary::new(), Vec::new());
    let tokens = [5, 6, 5, 5, 6, 6, 5].map(hashed);
    encode(&tokens, &mut vocabulary, &mut codes);
    // Each twice as a hash of nine bytes, and then as one byte.
    assert_eq!(codes.len(), 4 * 9 + 3);
    assert_eq!([codes[3 * 9], codes[4 * 9 + 1], codes[4 * 9 + 2]], [1, 2, 1]);
    let known = vocabulary.take();
    assert_eq!(known, [5, 6].map(hashed));
    let mut decoded = Vec::new();
    decode(&codes, &known, &mut decoded).expect("codes");
    assert_eq!(decoded, tokens);
    assert_eq!(vocabulary.number(hashed(5)), None, "what was taken is forgotten");
}

#[test]
fn rows_that_name_what_is_not_there_are_damage() {
    let texts: Vec<Vec<u64>> =
        (0..40).map(|text| (0..sized(2000, 20)).map(|i| hashed(text * 7 + i % 90)).collect()).collect();
    let (run, stored) = written(&texts, 3);
    let (mut cursor, mut set) = (TokenCursor::default(), Vec::new());
    let last = run.heap(TOKENS).expect("tokens").len();
    let whole = stored[1];
    for wrong in [
        StoredText { ordinal: u32::MAX, ..whole },
        StoredText { ordinal: 1 << 20, ..whole },
        StoredText { size: whole.size + 1, ..whole },
        StoredText { start: whole.start + 1, ..whole },
        StoredText { start: last - 1, ..whole },
        StoredText { start: last, ..whole },
        StoredText { start: u64::MAX, ..whole },
    ] {
        let read = cursor.set(&run, &wrong, &mut set);
        assert!(matches!(read, Err(Error::Damaged { .. })), "{wrong:?}: {read:?}");
        cursor.set(&run, &whole, &mut set).expect("as before");
        assert_eq!(set, set_of(&texts[1], 3));
    }
}

/// Whoever can write good checksums can write other answers, but no panic, and nothing but damage.
#[test]
fn heads_of_blocks_are_not_trusted() {
    let texts: Vec<Vec<u64>> =
        (0..4).map(|text| (0..sized(30_000, 30)).map(|i| hashed(text + i % 90)).collect()).collect();
    let (run, stored) = written(&texts, 3);
    let mut words = Vec::new();
    let heap = run.heap(TOKENS).expect("tokens");
    heap.read(0, heap.len() as usize, &mut words).expect("read");
    let vocabulary: Vec<[u64; 3]> = {
        let (mut scan, mut rows) = (run.rows(VOCABULARIES.kind).expect("rows").scan(&[], None), Vec::new());
        while let Some(row) = scan.next_row().expect("read") {
            rows.push(*row.first_chunk().expect("three words"));
        }
        rows
    };
    for (at, bit) in (0..2).flat_map(|at| (0..64).map(move |bit| (at, bit))) {
        let mut changed = words.clone();
        changed[stored[1].start as usize + at] ^= 1 << bit;
        let storage = Simulated::default();
        let mut writer = RunWriter::create(&storage, "a", 1, 2).expect("created");
        writer.heap(TOKENS).and_then(|()| writer.push(&changed)).expect("written");
        writer.rows(VOCABULARIES.kind, VOCABULARIES.shape).expect("begun");
        vocabulary.iter().try_for_each(|row| writer.push(row)).expect("written");
        writer.finish().expect("finished");
        let damaged = RunReader::open(&storage, "a", 1, 2).expect("opened");
        let (mut cursor, mut set) = (TokenCursor::default(), Vec::new());
        for text in &stored {
            match cursor.set(&damaged, text, &mut set) {
                Ok(()) => assert_eq!(set.len(), text.size as usize),
                Err(error) => assert!(matches!(error, Error::Damaged { .. }), "{error}"),
            }
        }
    }
}
