//! Copied blocks beside the texts that were written.

use proptest::prelude::*;

use super::super::TokenCursor;
use super::super::tests::{hashed, texts, written};
use super::*;
use crate::collection::tables::rows::StoredText;
use crate::storage::Simulated;

fn place(text: &StoredText) -> TokenPlace {
    TokenPlace { start: text.start, ordinal: text.ordinal }
}

/// What becomes of a run without the texts that are gone, between a text that is written before and one behind; where each of
/// all is now.
fn copied(
    (from, stored): &(RunReader, Vec<StoredText>),
    gone: &[TokenPlace],
    added: &[Vec<u64>; 2],
) -> Result<(RunReader, Vec<TokenPlace>)> {
    let (storage, progress) = (Simulated::default(), Progress::default());
    let mut run = RunWriter::create(&storage, "b", 1, 3)?;
    let mut writer = TokenWriter::begin(2, &mut run)?;
    writer.push(&added[0], &mut run)?;
    let mut moved = Vec::new();
    for blocks in VocabularyBlocks::of(from)? {
        let of_these = |text: &&TokenPlace| (blocks.start..blocks.end).contains(&text.start);
        let gone: Vec<TokenPlace> = gone.iter().filter(of_these).copied().collect();
        moved.push((blocks, writer.copy((from, &blocks), &gone, (&mut run, &progress))?));
    }
    writer.push(&added[1], &mut run)?;
    writer.finish(&mut run)?;
    run.finish()?;
    let mut places: Vec<TokenPlace> = writer.places().collect();
    places.extend(stored.iter().map(|text| {
        let of = moved.iter().find(|(blocks, _)| (blocks.start..blocks.end).contains(&text.start));
        TokenPlace { start: of.expect("blocks").1.start(text.start), ordinal: text.ordinal }
    }));
    Ok((RunReader::open(&storage, "b", 1, 3)?, places))
}

fn tokens_at(run: &RunReader, place: TokenPlace) -> Vec<u64> {
    let text = StoredText { content: 0, start: place.start, ordinal: place.ordinal, size: 0, digest: 0 };
    TokenCursor::default().tokens(run, &text).expect("read").to_vec()
}

fn check(texts: &[Vec<u64>], is_gone: impl Fn(usize) -> bool) {
    let added = [vec![1, 2, 3], vec![hashed(7); 9]];
    let before = written(texts, 2);
    let mut gone: Vec<TokenPlace> =
        before.1.iter().enumerate().filter(|(at, _)| is_gone(*at)).map(|(_, text)| place(text)).collect();
    gone.sort_unstable();
    let (run, places) = copied(&before, &gone, &added).expect("copied");
    let expected = added.iter().cloned().chain(
        texts.iter().enumerate().map(|(at, text)| if is_gone(at) { Vec::new() } else { text.clone() }),
    );
    for (place, expected) in places.iter().zip(expected) {
        assert_eq!(tokens_at(&run, *place), expected);
    }
    assert_eq!(places.len(), texts.len() + 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn texts_stay_or_are_gone(texts in texts(), one_of in 1..5u64, seed in any::<u64>()) {
        check(&texts, |_| false);
        check(&texts, |at| hashed(seed ^ at as u64) % 5 < one_of);
    }
}

/// Texts that go on from block to block, and more words than are copied at a time.
#[test]
fn long_texts_stay_or_are_gone() {
    let lengths: [u64; 8] =
        [3, 40_000, 5, 200_000, 0, 1, 300_000, 30_000].map(|tokens| tokens / sized(1, 50));
    let text = |tokens: u64| (0..tokens).map(|i| hashed(i * tokens)).collect();
    let texts: Vec<Vec<u64>> = lengths.into_iter().map(text).collect();
    let gone_sets: [&[usize]; 6] = [&[], &[1], &[3, 6], &[2, 3], &[0, 7], &[0, 1, 2, 3, 4, 5, 6, 7]];
    for gone in gone_sets {
        check(&texts, |at| gone.contains(&at));
    }
}

/// What is said to be gone and is nowhere is damage: another text could go in its place.
#[test]
fn texts_that_are_nowhere_are_damage() {
    let texts: Vec<Vec<u64>> =
        (0..40).map(|text| (0..50).map(|i| hashed(text * 7 + i % 9)).collect()).collect();
    let before = written(&texts, 2);
    let (whole, last) = (place(&before.1[1]), place(&before.1[39]));
    for wrong in [
        TokenPlace { ordinal: u32::MAX, ..whole },
        TokenPlace { ordinal: last.ordinal + 1, ..last },
        TokenPlace { start: whole.start + 1, ..whole },
        TokenPlace { start: last.start + 1, ..last },
    ] {
        let copied = copied(&before, &[wrong], &[vec![], vec![]]);
        assert!(matches!(copied, Err(Error::Damaged { .. })), "{wrong:?}");
    }
    assert!(copied(&before, &[whole], &[vec![], vec![]]).is_ok());
}

/// Whoever can write good checksums can write other answers, but no panic, and nothing but damage.
#[test]
fn heads_and_vocabularies_are_not_trusted() {
    // Few enough for one vocabulary.
    let text = |seed: u64| (0..sized(9000, 30)).map(move |i| hashed(seed + i % sized(90, 4))).collect();
    let texts: Vec<Vec<u64>> = (0..4).map(text).collect();
    let (run, stored) = written(&texts, 2);
    let heap = run.heap(TOKENS).expect("tokens");
    let mut words = Vec::new();
    heap.read(0, heap.len() as usize, &mut words).expect("read");
    let [blocks, ..] = VocabularyBlocks::of(&run).expect("read")[..] else { panic!("a vocabulary") };
    let row = [0, blocks.end, blocks.words];
    let copy = |words: &[u64], row: [u64; 3]| {
        let storage = Simulated::default();
        let mut writer = RunWriter::create(&storage, "a", 1, 2).expect("created");
        writer.heap(TOKENS).and_then(|()| writer.push(words)).expect("written");
        writer.rows(VOCABULARIES.kind, VOCABULARIES.shape).and_then(|()| writer.push(&row)).expect("written");
        writer.finish().expect("finished");
        let run = RunReader::open(&storage, "a", 1, 2).expect("opened");
        copied(&(run, Vec::new()), &[place(&stored[0])], &[vec![], vec![]]).map(drop)
    };
    assert!(copy(&words, row).is_ok());
    for (at, bit) in (0..HEAD_WORDS).flat_map(|at| (0..64).map(move |bit| (at, bit))) {
        let mut changed = words.clone();
        changed[stored[1].start as usize + at] ^= 1 << bit;
        let outcome = copy(&changed, row);
        assert!(matches!(outcome, Ok(()) | Err(Error::Damaged { .. })), "{outcome:?}");
        // Where its bytes end and which vocabulary it has is known.
        assert!(outcome.is_err() || at == 0 || bit < 32, "bit {bit} of word {at}");
    }
    for (at, bit) in (0..3).flat_map(|at| (0..64).map(move |bit| (at, bit))) {
        let mut changed = row;
        changed[at] ^= 1 << bit;
        let outcome = copy(&words, changed);
        assert!(matches!(outcome, Err(Error::Damaged { .. })), "bit {bit} of column {at}: {outcome:?}");
    }
    for row in [[0, u64::MAX, 1], [0, u64::MAX, 0], [0, 0, heap.len()]] {
        let outcome = copy(&words, row);
        assert!(matches!(outcome, Err(Error::Damaged { .. })), "{row:?}: {outcome:?}");
    }
}

/// A block of few bytes that unpack to many.
#[test]
fn a_block_that_unpacks_to_more_than_any_is_damage() {
    let packed = zstd::bulk::compress(&vec![0; 4 << 20], 1).expect("compressed");
    let bytes = (4 << 20, packed.len() as u32);
    let head = BlockHead { bytes, vocabulary: 0, ngram: 2, goes_on: false };
    let mut words = head.to_words().to_vec();
    words.extend(crate::collection::tables::document::words_of(&packed));
    let storage = Simulated::default();
    let mut writer = RunWriter::create(&storage, "a", 1, 2).expect("created");
    writer.heap(TOKENS).and_then(|()| writer.push(&words)).expect("written");
    let row = [0, words.len() as u64, 0];
    writer.rows(VOCABULARIES.kind, VOCABULARIES.shape).and_then(|()| writer.push(&row)).expect("written");
    writer.finish().expect("finished");
    let run = RunReader::open(&storage, "a", 1, 2).expect("opened");
    let gone = TokenPlace { start: 0, ordinal: 0 };
    let outcome = copied(&(run, Vec::new()), &[gone], &[vec![], vec![]]).map(drop);
    assert!(matches!(outcome, Err(Error::Damaged { .. })), "{outcome:?}");
}
