//! What a character is to a tokenizer: the one set of rules that the fast path and its slow twin share.

use unicode_normalization::char::is_combining_mark;

/// The part a character of canonical text plays in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a word and belongs to none.
    Separator,
    /// A letter or number of a script that puts spaces between words, or a digit of any script.
    Word,
    /// A letter of a script without spaces: a token of its own, with the marks that follow it.
    Lone,
    /// A combining mark or dependent vowel sign: belongs to the word character before it.
    Mark,
    /// Stays in a word between two characters of [`Class::Word`], written as [`APOSTROPHE`].
    Apostrophe,
}

/// What every apostrophe becomes.
pub(super) const APOSTROPHE: char = '\'';

/// Letters in these ranges (marks, digits and punctuation are recognised first) are [`Class::Lone`]: Han, kana and
/// Bopomofo, and the South-East Asian scripts that Unicode's line breaking sends to a dictionary.
const LONE: [(char, char); 27] = [
    ('\u{0E00}', '\u{0E7F}'),   // Thai
    ('\u{0E80}', '\u{0EFF}'),   // Lao
    ('\u{1000}', '\u{109F}'),   // Myanmar
    ('\u{1780}', '\u{17FF}'),   // Khmer
    ('\u{1950}', '\u{19DF}'),   // Tai Le, New Tai Lue
    ('\u{1A20}', '\u{1AAF}'),   // Tai Tham
    ('\u{3005}', '\u{3007}'),   // Han iteration mark, closing mark, zero
    ('\u{3021}', '\u{3029}'),   // Hangzhou numerals
    ('\u{3031}', '\u{3035}'),   // kana repeat marks
    ('\u{3038}', '\u{303C}'),   // Hangzhou numerals, iteration marks
    ('\u{3041}', '\u{30FF}'),   // Hiragana, Katakana
    ('\u{3105}', '\u{312F}'),   // Bopomofo
    ('\u{31A0}', '\u{31BF}'),   // Bopomofo extended
    ('\u{31F0}', '\u{31FF}'),   // Katakana extensions
    ('\u{3400}', '\u{4DBF}'),   // Han extension A
    ('\u{4E00}', '\u{9FFF}'),   // Han
    ('\u{A000}', '\u{A48C}'),   // Yi
    ('\u{A9E0}', '\u{A9FF}'),   // Myanmar extended B
    ('\u{AA60}', '\u{AADF}'),   // Myanmar extended A, Tai Viet
    ('\u{F900}', '\u{FAFF}'),   // Han compatibility
    ('\u{FF66}', '\u{FF9F}'),   // halfwidth Katakana
    ('\u{11700}', '\u{1174F}'), // Ahom
    ('\u{16FE0}', '\u{18DFF}'), // Tangut, Khitan and their marks
    ('\u{1AFF0}', '\u{1AFFF}'), // Kana extended B
    ('\u{1B000}', '\u{1B16F}'), // Kana supplement and extensions
    ('\u{1B170}', '\u{1B2FF}'), // Nushu
    ('\u{20000}', '\u{3FFFD}'), // Han, the supplementary planes
];

/// The class of a character of canonical text.
pub(super) fn class(c: char) -> Class {
    match c {
        '\'' | '\u{2019}' | '\u{02BC}' | '\u{FF07}' => Class::Apostrophe,
        // Before the letters: Unicode counts dependent vowel signs as alphabetic.
        c if is_combining_mark(c) => Class::Mark,
        c if c.is_alphabetic() && LONE.iter().any(|&(first, last)| (first..=last).contains(&c)) => {
            Class::Lone
        }
        c if c.is_alphanumeric() => Class::Word,
        _ => Class::Separator,
    }
}

/// Whether a character of the source is always taken out before all else: Unicode's default-ignorable code points, but for
/// the zero-width space, which says where a word ends.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200C}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}
