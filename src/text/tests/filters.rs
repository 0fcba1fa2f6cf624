//! Filters and stems, one by one, together, and held equal to the twin.

use std::sync::Arc;

use proptest::prelude::*;

use super::filtered_twin::filtered_tokens;
use super::{LEVELS, MODES, canonical_tokens, equality};
use crate::lexicon::{Lexicon, LexiconRequest, TermKind, Terms, count};
use crate::read::{Input, discover};
use crate::resources::Resources;
use crate::simd::Simd;
use crate::text::{Filter, Fold, NoFrequencies, Text, Tokenizer, Tokens, token_hash};

fn codes(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

/// The tokens that are left of `text` by default, having checked that the tokenizer agrees with nothing folded, by default,
/// and with all folded.
fn left(text: &str, tokens: Tokens, filter: &Filter, lexicon: Option<&Arc<Lexicon>>) -> Vec<String> {
    let [_, left, _] = [Fold::NONE, Fold::default(), Fold::ALL].map(|fold| {
        left_of(text, &Text { tokens, fold, filter: filter.clone(), ..Text::default() }, lexicon)
    });
    left
}

fn left_of(text: &str, config: &Text, lexicon: Option<&Arc<Lexicon>>) -> Vec<String> {
    let found = filtered_tokens(text, config, lexicon.map(Arc::as_ref));
    let hashes: Vec<u64> = found.iter().map(|token| token_hash(token.as_bytes())).collect();
    for simd in LEVELS {
        let mut tokenizer = Tokenizer::filtered(config, simd, lexicon.cloned()).expect("a valid filter");
        for _ in 0..2 {
            assert_eq!(tokenizer.tokens(text), hashes, "{simd:?} {config:?} {text:?}: {found:?}");
        }
        assert_eq!(tokenizer.last(), hashes);
    }
    found
}

/// The words that are left of `text`, joined by blanks.
fn words(text: &str, filter: &Filter) -> String {
    left(text, Tokens::Words, filter, None).join(" ")
}

#[test]
fn numbers_go() {
    let filter = Filter { numbers: true, ..Filter::default() };
    assert_eq!(
        words("In 1994 the 3rd x86 cost 1'000.50, not \u{661}\u{662} or \u{bd}", &filter),
        "in the 3rd x86 cost not or"
    );
}

#[test]
fn words_with_numbers_go() {
    let filter = Filter { alphabetic: true, ..Filter::default() };
    assert_eq!(words("In 1994 the 3rd x86 don't cost 1'000", &filter), "in the don't cost");
}

#[test]
fn short_words_go_but_for_letters_that_are_words() {
    let filter = Filter { min_length: 3, ..Filter::default() };
    assert_eq!(
        words("An ox in \u{c9}t\u{e9}: \u{4e2d}\u{6587} it's 42", &filter),
        "\u{e9}t\u{e9} \u{4e2d} \u{6587} it's"
    );
    let filter = Filter { min_length: 1, ..Filter::default() };
    assert_eq!(words("a b", &filter), "a b");
}

#[test]
fn stop_words_of_many_languages_go() {
    for (code, text, expected) in [
        ("en", "The quick brown fox DOESN'T jump over it", "quick brown fox jump"),
        ("fr", "Le chat et la souris sont dans la maison", "chat souris maison"),
        (
            "ru",
            "\u{421}\u{43e}\u{431}\u{430}\u{43a}\u{430} \u{438} \u{43d}\u{430} \u{43a}\u{440}\u{44b}\u{448}\u{435}",
            "\u{441}\u{43e}\u{431}\u{430}\u{43a}\u{430} \u{43a}\u{440}\u{44b}\u{448}\u{435}",
        ),
        (
            "ar",
            "\u{643}\u{62a}\u{627}\u{628} \u{641}\u{64a} \u{628}\u{64a}\u{62a}",
            "\u{643}\u{62a}\u{627}\u{628} \u{628}\u{64a}\u{62a}",
        ),
        // wo-men de shu: our book.
        ("zh", "\u{6211}\u{4eec}\u{7684}\u{4e66}", "\u{4e66}"),
    ] {
        assert_eq!(
            words(text, &Filter { stop_words: codes(&[code]), ..Filter::default() }),
            expected,
            "{code}"
        );
    }
    let both = Filter { stop_words: codes(&["en", "fr"]), ..Filter::default() };
    assert_eq!(words("The cat and le chat dans the house", &both), "cat chat house");
}

#[test]
fn words_become_stems() {
    let english = Filter { stem: "en".into(), ..Filter::default() };
    assert_eq!(
        words("Running runs: the runner ran 2 connections", &english),
        "run run the runner ran 2 connect"
    );
    assert_eq!(words("The connection", &english), words("the connections", &english));
    let french = Filter { stem: "french".into(), ..Filter::default() };
    assert_eq!(words("continuellement", &french), "continuel");
}

#[test]
fn filters_look_at_words_and_stems_are_taken_last() {
    let filter = Filter {
        numbers: true,
        alphabetic: true,
        min_length: 4,
        stop_words: codes(&["en"]),
        stem: "en".into(),
        ..Filter::default()
    };
    // "runs" is long enough though its stem is not; "during" is a stop word though its stem is none.
    assert_eq!(words("He runs during 1994 x86days an odd of meetings", &filter), "run meet");
    assert_eq!(left("He runs, of meetings", Tokens::Chars, &filter, None).concat(), "run meet");
}

#[test]
fn what_goes_is_cut_out_of_characters() {
    let filter = Filter { stop_words: codes(&["en", "zh"]), min_length: 2, ..Filter::default() };
    assert_eq!(left("The cat, and the dog. It", Tokens::Chars, &filter, None).concat(), "cat dog");
    assert_eq!(left("\u{4e66}\u{7684}\u{8272}", Tokens::Chars, &filter, None).concat(), "\u{4e66}\u{8272}");
}

#[test]
fn a_text_of_which_nothing_is_left_is_taken_as_it_is() {
    let filter = Filter { stop_words: codes(&["en"]), numbers: true, stem: "en".into(), ..Filter::default() };
    for text in ["The 1994", "To be or not to be", "42"] {
        for mode in MODES {
            assert_eq!(left(text, mode, &filter, None), canonical_tokens(text, mode));
        }
    }
    assert!(words("... !", &filter).is_empty());
}

#[test]
fn a_least_idf_needs_a_lexicon() {
    let filter = Filter { min_idf: "0.3".parse().ok(), ..Filter::default() };
    let refused =
        Tokenizer::<NoFrequencies>::filtered(&Text { filter, ..Text::default() }, Simd::Scalar, None);
    assert!(refused.err().expect("no lexicon").to_string().contains("min_idf = 0.3 needs a lexicon"));
    let filter = Filter { stem: "tlh".into(), ..Filter::default() };
    assert!(
        Tokenizer::<NoFrequencies>::filtered(&Text { filter, ..Text::default() }, Simd::Scalar, None)
            .is_err()
    );
}

/// A lexicon of ten texts: "common" is in all of them, "half" in five, each "rareN" in one.
fn lexicon() -> Arc<Lexicon> {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |n| format!("{{\"text\": \"common {} rare{n}\"}}\n", if n < 5 { "half" } else { "other" });
    let (input, out) = (folder.path().join("in.jsonl"), folder.path().join("lexicon"));
    std::fs::write(&input, (0..10).map(line).collect::<String>()).expect("written");
    let input = input.to_str().expect("UTF-8").to_owned();
    let request = LexiconRequest {
        sources: discover(&[input], folder.path()).expect("found").sources,
        input: Input::default(),
        terms: Terms { kind: TermKind::Alphanumeric, min_length: 3, fold: Fold::default() },
        resources: Resources {
            workers: 1,
            memory: None,
            scratch: folder.path().to_path_buf(),
            simd: Simd::Scalar,
            peers: None,
        },
    };
    let progress = Arc::default();
    count(&request, &progress).expect("counted").freeze(&out, 1, &progress).expect("written");
    Arc::new(Lexicon::open(&out).expect("a lexicon"))
}

#[test]
fn common_terms_go() {
    let lexicon = lexicon();
    let words = |least: &str, text: &str| {
        let filter = Filter { min_idf: Some(least.parse().expect("a decimal")), ..Filter::default() };
        left(text, Tokens::Words, &filter, Some(&lexicon)).join(" ")
    };
    // The normalised idf of a term of all ten is 0.020, of one of five 0.309, of one of one 0.981.
    let text = "Common half, rare3 and unheard 42 of";
    assert_eq!(words("0.02", text), "common half rare3 and unheard 42 of");
    assert_eq!(words("0.03", text), "half rare3 and unheard 42 of");
    assert_eq!(words("0.31", text), "rare3 and unheard 42 of");
    assert_eq!(words("1", text), "and unheard 42 of");
    assert_eq!(words("1", "common half"), "common half");
}

/// Languages whose lists and stems differ in kind: several tokens a word, phrases, apostrophes, marks.
const LANGUAGES: [&str; 8] = ["en", "fr", "ru", "ar", "zh", "th", "vi", "hi"];

fn filters() -> impl Strategy<Value = Filter> {
    let languages = prop::collection::vec(prop::sample::select(&LANGUAGES[..]), 0..3);
    let stem = prop::sample::select(vec!["", "en", "fr", "ru", "ar", "hi", "porter"]);
    (any::<bool>(), languages, 0..5usize, any::<bool>(), stem).prop_map(
        |(numbers, languages, min_length, alphabetic, stem)| Filter {
            numbers,
            stop_words: codes(&languages),
            min_length,
            alphabetic,
            min_idf: None,
            stem: stem.into(),
        },
    )
}

/// Texts in which stop words of all languages are frequent, whole and in pieces.
fn talk() -> impl Strategy<Value = String> {
    let stops = LANGUAGES.map(|code| stop_words::lookup(code).expect("a language")).concat();
    let word = prop_oneof![
        6 => prop::sample::select(stops).prop_map(str::to_owned),
        2 => "[A-Za-z0-9']{1,9}",
        1 => "[\u{e00}-\u{e4e}\u{4e00}-\u{4e20}]{1,3}",
        1 => equality::nasty(),
    ];
    prop::collection::vec((word, "[ .,'\n-]{0,2}|\u{3002}"), 0..30)
        .prop_map(|words| words.into_iter().map(|(word, gap)| word + &gap).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_tokenizer_equals_the_twin(text in talk(), nasty in equality::nasty(), filter in filters()) {
        for mode in MODES {
            left(&text, mode, &filter, None);
            left(&nasty, mode, &filter, None);
        }
    }

    #[test]
    fn no_filter_is_the_plain_tokenizer(text in talk()) {
        for mode in MODES {
            prop_assert_eq!(left(&text, mode, &Filter::default(), None), canonical_tokens(&text, mode));
        }
    }
}
