//! What each fold takes for one, and what none of them does. The spellings stand in the order of the table in
//! `docs/src/reference/text.md`.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::equality::nasty;
use super::{Fold, Tokens, check, check_folds, folded_tokens, folds};

/// Two spellings of one text, and what they are.
type Row = (&'static str, &'static str, &'static str);

/// Whether two spellings have the same tokens.
fn one(a: &str, b: &str, fold: Fold) -> bool {
    folded_tokens(a, Tokens::Words, fold) == folded_tokens(b, Tokens::Words, fold)
}

/// Panics unless the spellings of each row are one with `word`, and with that alone beside `forms`.
#[track_caller]
fn only_with(word: &str, rows: &[Row]) {
    for (what, a, b) in rows {
        [a, b].iter().for_each(|text| check_folds(text, &folds()));
        for fold in folds() {
            let said = Vec::<String>::from(fold).iter().any(|said| said == word);
            assert_eq!(one(a, b, fold), said, "{what}: {a} {b} with {fold}");
        }
    }
}

#[test]
fn spellings_that_are_one_with_forms() {
    only_with(
        "forms",
        &[
            (
                "full-width and ASCII Latin",
                "\u{FF26}\u{FF55}\u{FF4C}\u{FF4C}\u{3000}\u{FF57}\u{FF49}\u{FF44}\u{FF54}\u{FF48}\u{FF0C}\u{FF11}\u{FF12}\u{FF13}\u{FF01}",
                "Full width, 123!",
            ),
            (
                "half-width katakana",
                "\u{FF76}\u{FF9E}\u{FF77}\u{FF9E}\u{FF78}\u{FF9E} \u{FF8A}\u{FF9F}\u{FF7F}\u{FF7A}\u{FF9D}\u{FF7E}\u{FF70}\u{FF8C}\u{FF9E}",
                "\u{30AC}\u{30AE}\u{30B0} \u{30D1}\u{30BD}\u{30B3}\u{30F3}\u{30BB}\u{30FC}\u{30D6}",
            ),
            (
                "Arabic presentation forms",
                "\u{FEE3}\u{FEAE}\u{FEA3}\u{FE92}\u{FE8E} \u{FEFB}",
                "\u{645}\u{631}\u{62D}\u{628}\u{627} \u{644}\u{627}",
            ),
            ("an Arabic word ligature", "\u{FDF2}", "\u{627}\u{644}\u{644}\u{647}"),
            (
                "tatweel",
                "\u{645}\u{631}\u{62D}\u{640}\u{640}\u{640}\u{640}\u{628}\u{627}",
                "\u{645}\u{631}\u{62D}\u{628}\u{627}",
            ),
            ("vocalised tatweel form", "\u{628}\u{FE7D}", "\u{628}\u{651}"),
            ("ligatures", "e\u{FB03}cient \u{FB02}ow \u{1C4}", "efficient flow d\u{17E}"),
            ("circled and squared", "\u{2460} \u{3314} \u{338F}", "1 \u{30AD}\u{30ED} kg"),
            ("mathematical letters", "\u{1D400}\u{1D41B}\u{1D7CF}", "Ab1"),
            ("Kangxi radical", "\u{2F08}", "\u{4EBA}"),
            ("fraction", "3\u{BD} cups", "3 1/2 cups"),
            (
                "Thai sara am in parts",
                "\u{E19}\u{E49}\u{E4D}\u{E32} \u{E17}\u{E4D}\u{E32}",
                "\u{E19}\u{E49}\u{E33} \u{E17}\u{E33}",
            ),
            (
                "Thai sara am in parts, the ring first",
                "\u{E19}\u{E4D}\u{E49}\u{E32}",
                "\u{E19}\u{E49}\u{E33}",
            ),
            ("Lao sara am in parts", "\u{E99}\u{ECD}\u{EC9}\u{EB2}", "\u{E99}\u{EC9}\u{EB3}"),
            ("Hangul compatibility jamo", "\u{3131}\u{314F}", "\u{AC00}"),
            ("Hebrew presentation form", "\u{FB21}\u{5E9}\u{5C1}", "\u{5D0}\u{5E9}\u{5C1}"),
        ],
    );
}

#[test]
fn spellings_that_are_one_with_marks() {
    only_with(
        "marks",
        &[
            (
                "vocalised and plain Arabic",
                "\u{645}\u{64F}\u{62D}\u{64E}\u{645}\u{64E}\u{651}\u{62F}\u{64C} \u{631}\u{64E}\u{633}\u{64F}\u{648}\u{644}\u{64F}",
                "\u{645}\u{62D}\u{645}\u{62F} \u{631}\u{633}\u{648}\u{644}",
            ),
            ("superscript alef", "\u{647}\u{670}\u{630}\u{627}", "\u{647}\u{630}\u{627}"),
            (
                "Hebrew with and without niqqud",
                "\u{5D1}\u{5B0}\u{5BC}\u{5E8}\u{5B5}\u{5D0}\u{5E9}\u{5B4}\u{5C1}\u{5D9}\u{5EA}",
                "\u{5D1}\u{5E8}\u{5D0}\u{5E9}\u{5D9}\u{5EA}",
            ),
            ("Hebrew points in one character", "\u{5E9}\u{5BC}\u{5C1}", "\u{5E9}"),
            ("accents", "Cr\u{E8}me Br\u{FB}l\u{E9}e \u{C5}NGSTR\u{D6}M", "creme brulee angstrom"),
            ("decomposed accents", "Cre\u{300}me, e\u{333}\u{301}", "Creme, e"),
            ("Vietnamese", "Ti\u{1EBF}ng Vi\u{1EC7}t", "Tieng Viet"),
            (
                "Greek accents",
                "\u{395}\u{3BB}\u{3BB}\u{3AC}\u{3B4}\u{3B1} \u{1F00}\u{3C1}\u{3C7}\u{3AE}",
                "\u{395}\u{3BB}\u{3BB}\u{3B1}\u{3B4}\u{3B1} \u{3B1}\u{3C1}\u{3C7}\u{3B7}",
            ),
            (
                "Greek iota subscripts",
                "\u{3C4}\u{1FF7} \u{3BB}\u{3CC}\u{3B3}\u{1FF3} \u{1FBC}\u{3B4}\u{3C9} a\u{345}",
                "\u{3C4}\u{3C9} \u{3BB}\u{3BF}\u{3B3}\u{3C9} \u{3B1}\u{3B4}\u{3C9} a",
            ),
            (
                "Russian stress",
                "\u{437}\u{430}\u{301}\u{43C}\u{43E}\u{43A}",
                "\u{437}\u{430}\u{43C}\u{43E}\u{43A}",
            ),
            (
                "Syriac points",
                "\u{721}\u{730}\u{720}\u{71F}\u{741}\u{733}\u{710}",
                "\u{721}\u{720}\u{71F}\u{710}",
            ),
        ],
    );
}

#[test]
fn spellings_that_are_one_with_digits() {
    only_with(
        "digits",
        &[
            ("Arabic-Indic digits", "\u{661}\u{662}\u{663}", "123"),
            ("Persian digits", "\u{6F1}\u{6F4}\u{6F0}\u{6F2}", "1402"),
            ("Devanagari digits", "\u{968}\u{966}\u{968}\u{96C}", "2026"),
            ("Thai digits", "\u{E52}\u{E55}\u{E56}\u{E59}", "2569"),
            ("Bengali and Khmer digits", "\u{9E7}\u{9EF} \u{17E4}\u{17E2}", "19 42"),
            ("digits in a row with others", "\u{116DA}\u{116E3}", "09"),
        ],
    );
}

#[test]
fn spellings_that_are_one_with_letters() {
    only_with(
        "letters",
        &[
            (
                "hamza and alef forms",
                "\u{623}\u{62D}\u{645}\u{62F} \u{625}\u{644}\u{649} \u{622}\u{645}\u{646} \u{671}\u{644}\u{644}\u{647}",
                "\u{627}\u{62D}\u{645}\u{62F} \u{627}\u{644}\u{649} \u{627}\u{645}\u{646} \u{627}\u{644}\u{644}\u{647}",
            ),
            (
                "hamza on waw and yeh",
                "\u{645}\u{624}\u{645}\u{646} \u{645}\u{633}\u{626}\u{648}\u{644}",
                "\u{645}\u{648}\u{645}\u{646} \u{645}\u{633}\u{64A}\u{648}\u{644}",
            ),
            (
                "Persian and Arabic yeh and kaf",
                "\u{6A9}\u{62A}\u{627}\u{628}\u{6CC}",
                "\u{643}\u{62A}\u{627}\u{628}\u{64A}",
            ),
            ("alef maksura", "\u{639}\u{644}\u{649}", "\u{639}\u{644}\u{64A}"),
            ("teh marbuta", "\u{645}\u{62F}\u{64A}\u{646}\u{629}", "\u{645}\u{62F}\u{64A}\u{646}\u{647}"),
            (
                "heh goal and heh with yeh above",
                "\u{6C1}\u{6D2} \u{62E}\u{627}\u{646}\u{6C0}",
                "\u{647}\u{6D2} \u{62E}\u{627}\u{646}\u{647}",
            ),
            (
                "ZWNJ and a blank",
                "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645} \u{6A9}\u{62A}\u{627}\u{628}\u{200C}\u{647}\u{627}",
                "\u{645}\u{6CC} \u{62E}\u{648}\u{627}\u{647}\u{645} \u{6A9}\u{62A}\u{627}\u{628} \u{647}\u{627}",
            ),
            ("Turkish dotted and dotless I", "\u{130}STANBUL DI\u{15E}", "istanbul d\u{131}\u{15F}"),
            ("dotted I in parts", "I\u{307}STANBUL DI", "istanbul d\u{131}"),
            (
                "Cyrillic io",
                "\u{401}\u{43B}\u{43A}\u{430} \u{435}\u{451}",
                "\u{435}\u{43B}\u{43A}\u{430} \u{435}\u{435}",
            ),
        ],
    );
}

#[test]
fn letters_that_are_never_one() {
    let rows: [Row; 22] = [
        ("Macedonian gje", "\u{453}", "\u{433}"),
        ("Russian short i", "\u{439}", "\u{438}"),
        ("Ukrainian yi", "\u{457}", "\u{456}"),
        ("Devanagari nukta", "\u{915}\u{93C}", "\u{915}"),
        ("Devanagari vowel sign", "\u{915}\u{93F}", "\u{915}"),
        ("virama", "\u{915}\u{94D}", "\u{915}"),
        ("Tamil vowel sign", "\u{B95}\u{BBF}", "\u{B95}"),
        ("Thai tone", "\u{E19}\u{E49}\u{E33}", "\u{E19}\u{E33}"),
        ("Thai vowel", "\u{E01}\u{E35}", "\u{E01}"),
        ("voiced kana", "\u{304C}", "\u{304B}"),
        ("Hangul", "\u{AC01}", "\u{AC00}"),
        ("Thaana vowel", "\u{780}\u{7A6}", "\u{780}"),
        ("Bengali nukta", "\u{9A1}\u{9BC}", "\u{9A1}"),
        ("Urdu yeh barree", "\u{6D2}", "\u{6CC}"),
        ("do-chashmi heh", "\u{6BE}", "\u{647}"),
        ("hamza alone", "\u{621}", "\u{627}"),
        ("Danish o", "\u{F8}", "o"),
        ("Polish l", "\u{142}", "l"),
        ("Han numerals", "\u{4E09}", "3"),
        ("a registered sign", "a\u{AE}", "ar"),
        ("a trade mark", "Java\u{2122}", "Javatm"),
        ("traditional and simplified Han", "\u{570B}", "\u{56FD}"),
    ];
    for (what, a, b) in rows {
        [a, b].iter().for_each(|text| check_folds(text, &folds()));
        for fold in folds() {
            assert!(!one(a, b, fold), "{what}: {a} {b} with {fold}");
        }
    }
}

#[test]
fn spellings_that_are_always_one() {
    let rows: [Row; 6] = [
        ("final sigma", "\u{39F}\u{394}\u{39F}\u{3A3}", "\u{3BF}\u{3B4}\u{3BF}\u{3C2}"),
        ("sharp s", "STRASSE", "stra\u{DF}e"),
        ("composed and decomposed", "\u{E9}", "e\u{301}"),
        ("ZWNJ outside of Arabic script", "Auf\u{200C}lage", "Auflage"),
        ("ZWJ", "\u{915}\u{94D}\u{200D}\u{937}", "\u{915}\u{94D}\u{937}"),
        ("a sign of a trade mark", "Java\u{2122} x", "Java x"),
    ];
    for (what, a, b) in rows {
        [a, b].iter().for_each(|text| check_folds(text, &folds()));
        for fold in folds() {
            assert!(one(a, b, fold), "{what}: {a} {b} with {fold}");
        }
    }
}

#[test]
fn a_non_joiner_is_a_blank_by_what_stands_before_it() {
    let letters = Fold::of(&["letters"]).expect("a word");
    for (text, words) in [
        ("\u{6CC}\u{200C}\u{6CC}", 2),
        // After a mark, tatweel, a soft hyphen or another one.
        ("\u{6CC}\u{64E}\u{200C}\u{6CC}", 2),
        ("\u{6CC}\u{640}\u{AD}\u{200C}\u{200C}\u{6CC}", 2),
        ("\u{FEFC}\u{200C}\u{6CC}", 2),
        // A vowel of class 0 that decomposes to two marks, and these.
        ("\u{FEFC}\u{F73}\u{200C}\u{6CC}", 2),
        ("\u{FEFC}\u{F71}\u{F72}\u{200C}\u{6CC}", 2),
        // A mark after it has nothing to stand on.
        ("\u{6CC}\u{200C}\u{654}\u{301}\u{6CC}", 2),
        ("a\u{64E}\u{200C}\u{6CC}", 1),
        ("a\u{200C}\u{6CC}", 1),
        ("\u{200C}\u{6CC}", 1),
        ("\u{915}\u{94D}\u{200C}\u{937}", 1),
    ] {
        check(text);
        assert_eq!(folded_tokens(text, Tokens::Words, letters).len(), words, "{text:?}");
        assert_eq!(folded_tokens(text, Tokens::Words, Fold::default()).len(), 1, "{text:?}");
    }
}

#[test]
fn many_non_joiners_take_no_longer_than_their_number() {
    check(&"\u{6CC}\u{200C}\u{AD}".repeat(3_000));
    check(&("\u{6CC}".to_owned() + &"\u{200C}\u{AD}".repeat(10_000) + "\u{622}\u{655}"));
    check(&"\u{E4D}".repeat(5_000));
    check(&("\u{E19}".to_owned() + &"\u{E4D}\u{E49}".repeat(5_000)));
}

proptest! {
    // Each case is nine folds.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_fold_equals_the_twin(text in nasty()) {
        check_folds(&text, &folds());
    }

    #[test]
    fn what_is_folded_is_folded(text in nasty()) {
        for fold in folds() {
            for mode in [Tokens::Words, Tokens::Chars] {
                let once = folded_tokens(&text, mode, fold);
                let glue = if mode == Tokens::Words { " " } else { "" };
                prop_assert_eq!(&folded_tokens(&once.join(glue), mode, fold), &once, "{} {:?}", fold, text);
            }
        }
    }

    #[test]
    fn equivalent_texts_are_one_whatever_is_folded(text in nasty()) {
        for fold in folds() {
            let tokens = folded_tokens(&text, Tokens::Chars, fold);
            prop_assert_eq!(&folded_tokens(&text.nfc().collect::<String>(), Tokens::Chars, fold), &tokens, "{}", fold);
            prop_assert_eq!(&folded_tokens(&text.nfd().collect::<String>(), Tokens::Chars, fold), &tokens, "{}", fold);
        }
    }

    /// But for fractions, which are parted from a number before them, and signs of trade marks, which stay symbols.
    #[test]
    fn compatible_texts_are_one(text in nasty()) {
        let text = text.replace(['\u{BC}', '\u{BD}', '\u{2122}'], "");
        let tokens = folded_tokens(&text, Tokens::Chars, Fold::FORMS);
        prop_assert_eq!(&folded_tokens(&text.nfkc().collect::<String>(), Tokens::Chars, Fold::FORMS), &tokens);
        prop_assert_eq!(&folded_tokens(&text.nfkd().collect::<String>(), Tokens::Chars, Fold::FORMS), &tokens);
    }
}
