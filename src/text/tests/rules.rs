//! The rules of canonical text, case by case.

use super::{chars, words};

#[track_caller]
fn gives(text: &str, expected: &[&str]) {
    assert_eq!(words(text), expected, "{text:?}");
}

fn distinct_shingles(text: &str, n: usize) -> usize {
    words(text).windows(n).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn the_counts_of_the_papers() {
    assert_eq!(words("a rose is a rose is a rose").len(), 8);
    assert_eq!(distinct_shingles("a rose is a rose is a rose", 4), 3);
    assert_eq!(words("The ones we don't know we don't know").len(), 8);
    assert_eq!(distinct_shingles("The ones we don't know we don't know", 3), 5);
}

#[test]
fn texts_without_tokens() {
    for text in [
        "",
        " ",
        "'",
        "''",
        "...",
        "\u{2014}",
        "\u{301}",
        "=\u{338}",
        "\u{AD}",
        "\u{200B}",
        "\u{1F600}\u{FE0F}",
    ] {
        gives(text, &[]);
        assert_eq!(chars(text), "");
    }
}

#[test]
fn case_is_folded_in_full() {
    gives("STRASSE stra\u{DF}e STRA\u{1E9E}E", &["strasse", "strasse", "strasse"]);
    gives("\u{39F}\u{394}\u{39F}\u{3A3} \u{3BF}\u{3B4}\u{3BF}\u{3C2}", &["\u{3BF}\u{3B4}\u{3BF}\u{3C3}"; 2]);
    gives("\u{130}STANBUL I\u{307}stanbul", &["i\u{307}stanbul"; 2]);
    gives("\u{FB01}n \u{FB03}", &["fin", "ffi"]);
    gives("\u{212A}elvin \u{17F}o", &["kelvin", "so"]);
    gives("\u{FF21}\u{FF22}", &["ab"]);
}

#[test]
fn folding_works_on_equivalence_classes() {
    // Iota subscript folds to a letter, so marks must be put in order first.
    gives("\u{1FB3}\u{333} \u{3B1}\u{333}\u{345} \u{3B1}\u{345}\u{333}", &["\u{3B1}\u{333}\u{3B9}"; 3]);
    gives("\u{1FB4} \u{3B1}\u{345}\u{301} \u{3AC}\u{345}", &["\u{3AC}\u{3B9}"; 3]);
    gives("e\u{301}t\u{E9} \u{C9}TE\u{301}", &["\u{E9}t\u{E9}"; 2]);
    gives("\u{1EC7} e\u{302}\u{323} e\u{323}\u{302} \u{EA}\u{323}", &["\u{1EC7}"; 4]);
    gives("\u{1100}\u{1161}\u{11A8} \u{AC00}\u{11A8} \u{AC01}", &["\u{AC01}"; 3]);
    gives("\u{915}\u{93C} \u{958}", &["\u{915}\u{93C}"; 2]);
}

#[test]
fn an_apostrophe_stays_between_word_characters_only() {
    gives("don't l'homme rock'n'roll", &["don't", "l'homme", "rock'n'roll"]);
    gives("don\u{2019}t don\u{2BC}t don\u{FF07}t DON'T", &["don't"; 4]);
    gives("'tis the dogs' 'word' a''b a'\u{2019}b", &["tis", "the", "dogs", "word", "a", "b", "a", "b"]);
    gives("l'\u{E9}t\u{E9} \u{E9}'a", &["l'\u{E9}t\u{E9}", "\u{E9}'a"]);
    gives("a'\u{301}b a\u{333}'b", &["a", "b", "a\u{333}'b"]);
    gives("don'\u{AD}t \u{149}a", &["don't", "na"]);
    gives("\u{4F60}'\u{597D} a'\u{4F60}'a", &["\u{4F60}", "\u{597D}", "a", "\u{4F60}", "a"]);
}

#[test]
fn punctuation_separates() {
    gives("snake_case kebab-case a.b,c;d", &["snake", "case", "kebab", "case", "a", "b", "c", "d"]);
    gives("one\u{2014}two\u{2013}three\u{A0}\u{201C}four\u{201D}\u{2026}", &["one", "two", "three", "four"]);
    gives("x\u{B2} 3\u{BD} \u{661}\u{662}", &["x2", "3", "1", "2", "\u{661}\u{662}"]);
}

#[test]
fn marks_need_something_to_stand_on() {
    gives("\u{301}a", &["a"]);
    gives("=\u{338}a a-\u{301}b \u{2014}\u{301}c", &["a", "a", "b", "c"]);
    gives("\u{915}\u{94D}\u{937}\u{93F} \u{93F}", &["\u{915}\u{94D}\u{937}\u{93F}"]);
    gives("\u{645}\u{64F}\u{62D}\u{64E}", &["\u{645}\u{64F}\u{62D}\u{64E}"]);
}

#[test]
fn invisible_characters_are_taken_out() {
    gives(
        "co\u{AD}op a\u{200D}b a\u{200C}b a\u{FE0F}b a\u{2060}b \u{FEFF}ab",
        &["coop", "ab", "ab", "ab", "ab", "ab"],
    );
    gives("e\u{200D}\u{301}", &["\u{E9}"]);
    gives("a\u{200B}b", &["a", "b"]);
}

#[test]
fn scripts_without_spaces_give_a_token_a_letter() {
    gives("\u{4E2D}\u{6587}2024\u{5E74}ok", &["\u{4E2D}", "\u{6587}", "2024", "\u{5E74}", "ok"]);
    gives("\u{304B}\u{3099}\u{304C}\u{3007}\u{30FC}", &["\u{304C}", "\u{304C}", "\u{3007}", "\u{30FC}"]);
    // Thai: vowel and tone marks stay on their letter; digits are one word.
    gives(
        "\u{E17}\u{E35}\u{E48}\u{E02}\u{E51}\u{E52}",
        &["\u{E17}\u{E35}\u{E48}", "\u{E02}", "\u{E51}\u{E52}"],
    );
    gives("\u{1781}\u{17D2}\u{1798}\u{17C2}\u{179A}", &["\u{1781}\u{17D2}", "\u{1798}\u{17C2}", "\u{179A}"]);
    gives("\u{1019}\u{103C}\u{1014}\u{103A}", &["\u{1019}\u{103C}", "\u{1014}\u{103A}"]);
    gives("\u{D55C}\u{AD6D}\u{C5B4} \u{AE00}", &["\u{D55C}\u{AD6D}\u{C5B4}", "\u{AE00}"]);
}

#[test]
fn characters_are_joined_by_single_spaces() {
    assert_eq!(chars("A  b--c!"), "a b c");
    assert_eq!(chars("  Don\u{2019}t, \u{2014} STOP. "), "don't stop");
    assert_eq!(
        chars("\u{4E2D}\u{6587}2024 \u{5E74}\u{3002}\u{5E74}ok"),
        "\u{4E2D}\u{6587}2024 \u{5E74} \u{5E74}ok"
    );
    assert_eq!(chars("\u{4F60}'\u{597D} a'\u{4F60}"), "\u{4F60} \u{597D} a \u{4F60}");
}

#[test]
fn different_separators_give_the_same_tokens() {
    let expected = ["it", "isn't", "so"];
    for separator in [" ", "\n\t", " - ", "\u{2014}", "_", "\u{3000}", "'' ", "\u{200B}", "\u{A0}\u{301}"] {
        let text = ["It", "isn't", "so"].join(separator);
        gives(&text, &expected);
        assert_eq!(chars(&text), "it isn't so");
    }
}
