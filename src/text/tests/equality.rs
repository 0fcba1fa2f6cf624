//! The fast path and the twin agree on all text, at every level, wherever blocks end.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::{LEVELS, MODES, check};
use crate::limits::stride;
use crate::text::Tokenizer;
use crate::text::tests::canonical_tokens;
use crate::text::{Fold, Tokens};

/// Where each route, rule and exception lives.
const NASTY: &[&str] = &[
    "a",
    "B",
    "zZ9",
    "'",
    "\u{2019}",
    "\u{2BC}",
    "\u{FF07}",
    "''",
    " ",
    "\n",
    "-",
    "_",
    "=",
    "<",
    "@",
    "`",
    "{",
    "\0",
    "\u{301}",
    "\u{323}",
    "\u{338}",
    "\u{345}",
    "\u{307}",
    "\u{333}",
    "\u{308}",
    "\u{34F}",
    "\u{20E3}",
    "\u{E9}",
    "\u{C9}",
    "\u{DF}",
    "\u{1E9E}",
    "\u{130}",
    "\u{131}",
    "\u{149}",
    "\u{1F0}",
    "\u{390}",
    "\u{1FB3}",
    "\u{1FBC}",
    "\u{1FB4}",
    "\u{3A3}",
    "\u{3C2}",
    "\u{FB01}",
    "\u{212A}",
    "\u{2126}",
    "\u{17F}",
    "\u{FF21}",
    "\u{FF10}",
    "\u{2014}",
    "\u{201C}",
    "\u{A0}",
    "\u{B5}",
    "\u{BD}",
    "\u{4E2D}",
    "\u{3007}",
    "\u{304B}",
    "\u{3099}",
    "\u{30FC}",
    "\u{FF76}",
    "\u{FF9E}",
    "\u{F900}",
    "\u{20000}",
    "\u{2F800}",
    "\u{E17}",
    "\u{E35}",
    "\u{E48}",
    "\u{E33}",
    "\u{E51}",
    "\u{EB2}",
    "\u{1781}",
    "\u{17D2}",
    "\u{17C2}",
    "\u{1019}",
    "\u{103C}",
    "\u{1025}",
    "\u{102E}",
    "\u{AC00}",
    "\u{1100}",
    "\u{1161}",
    "\u{11A8}",
    "\u{1160}",
    "\u{915}",
    "\u{93C}",
    "\u{958}",
    "\u{94D}",
    "\u{93F}",
    "\u{B95}",
    "\u{BC6}",
    "\u{BBE}",
    "\u{645}",
    "\u{64E}",
    "\u{651}",
    "\u{655}",
    "\u{622}",
    "\u{5E9}",
    "\u{5C1}",
    "\u{5BC}",
    "\u{FB2C}",
    "\u{F71}",
    "\u{F72}",
    "\u{F73}",
    "\u{F40}",
    "\u{F0B}",
    "\u{200B}",
    "\u{200C}",
    "\u{200D}",
    "\u{AD}",
    "\u{2060}",
    "\u{FEFF}",
    "\u{FE0F}",
    "\u{E0100}",
    "\u{1F600}",
    "\u{1F1E6}",
    "\u{13A0}",
    "\u{AB70}",
    "\u{10400}",
    "\u{1D15E}",
    "\u{1D165}",
    "\u{11099}",
    "\u{110BA}",
    "\u{FFFD}",
    "\u{E000}",
    "\u{10FFFF}",
    "\u{640}",
    "\u{FE7D}",
    "\u{FE71}",
    "\u{FEFC}",
    "\u{FDFA}",
    "\u{627}",
    "\u{653}",
    "\u{654}",
    "\u{6CC}",
    "\u{6D5}",
    "\u{649}",
    "\u{6A9}",
    "\u{629}",
    "\u{670}",
    "\u{FF71}",
    "\u{FF9F}",
    "\u{FF70}",
    "\u{2122}",
    "\u{2026}",
    "\u{3000}",
    "\u{2460}",
    "\u{3314}",
    "\u{BC}",
    "\u{FB31}",
    "\u{5D0}",
    "\u{5B8}",
    "\u{E49}",
    "\u{E4D}",
    "\u{ECD}",
    "\u{EC9}",
    "\u{EB3}",
    "\u{435}",
    "\u{401}",
    "\u{433}",
    "\u{456}",
    "\u{661}",
    "\u{967}",
    "\u{116DA}",
    "\u{1D7CF}",
    "\u{E5}",
    "\u{1EBF}",
    "\u{3AC}",
    "\u{37A}",
    "\u{A8}",
    "\u{1E9B}",
    "\u{2F08}",
    "\u{3131}",
    "\u{314F}",
    "\u{711}",
    "\u{730}",
    "\u{1D400}",
    "\u{2044}",
    "abcdefghijklmnopqrstuvw",
];

pub(super) fn nasty() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(NASTY), 0..40).prop_map(|parts| parts.concat())
}

/// Mostly words of ASCII, so that blocks without a foreign byte and blocks with one alternate.
fn prose() -> impl Strategy<Value = String> {
    let word = prop_oneof![12 => "[A-Za-z0-9']{0,9}", 1 => "[A-Za-z]{14,80}", 1 => nasty()];
    prop::collection::vec((word, "[ .'\n-]{0,2}"), 0..60)
        .prop_map(|words| words.into_iter().map(|(word, gap)| word + &gap).collect())
}

/// Without the characters whose upper and lower case forms Unicode does not fold together: the dotless i is a letter of
/// its own, and marks that follow an iota subscript move when it becomes a letter.
fn nasty_with_cases() -> impl Strategy<Value = String> {
    nasty().prop_map(|text| text.replace(['\u{131}', '\u{345}', '\u{1FB3}', '\u{1FB4}', '\u{1FBC}'], ""))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_level_equals_the_twin_on_nasty_text(text in nasty(), offset in 0..200usize, filler in "[a' ]") {
        check(&text);
        check(&(filler.repeat(offset) + &text));
        check(&(filler.repeat(offset) + &text + "a'b c"));
    }

    #[test]
    fn every_level_equals_the_twin_on_prose(text in prose()) {
        check(&text);
    }

    #[test]
    fn every_level_equals_the_twin_on_any_text(text in any::<String>(), letters in "\\PC{0,60}") {
        check(&text);
        check(&letters);
    }

    #[test]
    fn canonically_equivalent_texts_have_the_same_tokens(text in nasty()) {
        for mode in MODES {
            let tokens = canonical_tokens(&text, mode);
            prop_assert_eq!(&canonical_tokens(&text.nfc().collect::<String>(), mode), &tokens);
            prop_assert_eq!(&canonical_tokens(&text.nfd().collect::<String>(), mode), &tokens);
        }
    }

    #[test]
    fn case_variants_have_the_same_tokens(text in nasty_with_cases()) {
        for mode in MODES {
            let tokens = canonical_tokens(&text, mode);
            prop_assert_eq!(&canonical_tokens(&text.to_uppercase(), mode), &tokens);
            prop_assert_eq!(&canonical_tokens(&text.to_lowercase(), mode), &tokens);
        }
    }

    #[test]
    fn canonical_text_is_its_own_canonical_text(text in nasty()) {
        let words = canonical_tokens(&text, Tokens::Words);
        prop_assert_eq!(&canonical_tokens(&words.join(" "), Tokens::Words), &words);
        let chars = canonical_tokens(&text, Tokens::Chars);
        prop_assert_eq!(&canonical_tokens(&chars.concat(), Tokens::Chars), &chars);
    }
}

#[test]
fn every_character_alone_and_between_letters() {
    let mut text = String::new();
    // Hardly any but these are assigned.
    let assigned = |c: char| matches!(u32::from(c), 0..0x3_4000 | 0xE_0000..0xE_1000);
    let all = ('\0'..=char::MAX).filter(|&c| assigned(c) || u32::from(c).is_multiple_of(stride(61) as u32));
    for c in all {
        text.extend(['a', c, 'b', ' ', c, ' ', '\u{4E2D}', c, '\u{333}', '\u{301}', ' ']);
        if text.len() > 8192 {
            check(&text);
            text.clear();
        }
    }
    check(&text);
}

#[test]
fn a_word_at_every_offset_and_of_every_length() {
    for offset in 0..130 {
        for length in [1, 2, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 130] {
            for end in ["", " ", "'", "'s", "\u{E9}", "'\u{E9}", "\u{2019}s x"] {
                check(&(" ".repeat(offset) + &"W".repeat(length) + end));
            }
        }
    }
}

#[test]
fn huge_tokens_and_segments() {
    check(&"Abc1".repeat(50_000));
    check(&"\u{4E2D}\u{304B}\u{3099}".repeat(5_000));
    check(&"\u{E9}'".repeat(10_000));
    check(&("a".to_string() + &"\u{301}\u{323}".repeat(10_000)));
}

#[test]
fn a_warm_tokenizer_remembers_nothing() {
    for mode in MODES {
        for simd in LEVELS {
            let mut warm = Tokenizer::new(mode, Fold::default(), simd);
            for text in ["\u{E9}'", "word \u{2014} and", "", "a", "trailing\u{2019}", "b'"] {
                let tokens = warm.tokens(text).to_vec();
                assert_eq!(Tokenizer::new(mode, Fold::default(), simd).tokens(text), tokens);
            }
        }
    }
}
