//! What folding does to single characters, and to marks by what they stand on: the rules that the fast path and its slow
//! twin share. Each has its source in `docs/src/reference/text.md`.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::Fold;
use super::classify::is_ignorable;

/// Stretches a letter and is none.
const TATWEEL: char = '\u{0640}';
/// Keeps two letters of one word from joining. Writers of Persian put a blank in its place.
pub(super) const NON_JOINER: char = '\u{200C}';

/// The only mark whose case folding is a letter: with `marks` it goes before it is folded.
pub(super) const IOTA_SUBSCRIPT: char = '\u{0345}';

/// Whether a character of the source is taken out before all else. All such are starters that never compose, so that
/// taking them out commutes with canonical equivalence. A [`NON_JOINER`] may be a blank instead: see [`is_blank`].
pub(super) fn is_dropped(c: char, fold: Fold) -> bool {
    is_ignorable(c) || fold.forms() && c == TATWEEL
}

/// Whether a character stands on none before it, in all texts that are equivalent: three Tibetan vowels of class 0 decompose to marks.
pub(super) fn is_base(c: char) -> bool {
    canonical_combining_class(c) == 0 && !matches!(c, '\u{0F73}' | '\u{0F75}' | '\u{0F81}')
}

/// Whether a [`NON_JOINER`] is a blank where `before` is the last character of the source before it that is neither dropped
/// nor stands on another: marks may stand in another order in an equivalent text. It may be a non-joiner, too.
pub(super) fn is_blank(before: char, fold: Fold) -> bool {
    let arabic = matches!(
        before,
        '\u{0600}'..='\u{06FF}'
            | '\u{0750}'..='\u{077F}'
            | '\u{0870}'..='\u{08FF}'
            | '\u{FB50}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFC}'
            | '\u{10EC0}'..='\u{10EFF}'
    );
    fold.letters() && arabic
}

/// Hands what a character is a form of to `take`: its compatibility decomposition (NFKD), with three exceptions.
/// A sign of a trade mark stays a symbol, as those do that have no decomposition. A fraction is parted from a number
/// before it. What is always dropped is dropped.
pub(super) fn decompose(c: char, fold: Fold, mut take: impl FnMut(char)) {
    match c {
        '\u{2120}' | '\u{2122}' | '\u{1F16A}'..='\u{1F16C}' => return take(c),
        '\u{BC}'..='\u{BE}' | '\u{2150}'..='\u{215F}' | '\u{2189}' => take(' '),
        _ => {}
    }
    decompose_compatible(c, |d| {
        if !(is_dropped(d, Fold::FORMS) || fold.marks() && d == IOTA_SUBSCRIPT) {
            take(d);
        }
    });
}

/// What a decomposed, case-folded character is written as, whatever stands beside it; nothing, if it goes.
pub(super) fn written(c: char, fold: Fold) -> Option<char> {
    if c.is_ascii() {
        return Some(c);
    }
    if fold.marks() && is_point(c) {
        return None;
    }
    let letter = if fold.letters() { letter(c)? } else { c };
    Some(if fold.digits() { digit(letter) } else { letter })
}

/// Vowel points, and marks of recitation and cantillation, of scripts whose readers do without.
fn is_point(c: char) -> bool {
    matches!(
        c,
        // Hebrew
        '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}'..='\u{05C2}' | '\u{05C4}'..='\u{05C5}' | '\u{05C7}' | '\u{FB1E}'
        // Arabic. U+0653 to U+0655 make other letters.
        | '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{0652}' | '\u{0656}'..='\u{065F}' | '\u{0670}'
        | '\u{06D6}'..='\u{06DC}' | '\u{06DF}'..='\u{06E4}' | '\u{06E7}'..='\u{06E8}' | '\u{06EA}'..='\u{06ED}'
        | '\u{0897}'..='\u{089F}' | '\u{08CA}'..='\u{08E1}' | '\u{08E3}'..='\u{08FF}' | '\u{10EFC}'..='\u{10EFF}'
        // Syriac
        | '\u{0711}' | '\u{0730}'..='\u{074A}'
    )
}

/// The letter that stands for letters that writers put for each other; none for hamza and madda above and below.
fn letter(c: char) -> Option<char> {
    Some(match c {
        '\u{0653}'..='\u{0655}' => return None,
        // Alef wasla, and with wavy hamza
        '\u{0671}'..='\u{0673}' => '\u{0627}',
        // Alef maksura, and Persian yeh
        '\u{0649}' | '\u{06CC}' => '\u{064A}',
        // Persian keheh
        '\u{06A9}' => '\u{0643}',
        // Teh marbuta, heh goal, and ae, of which heh with yeh above is made
        '\u{0629}' | '\u{06C1}' | '\u{06D5}' => '\u{0647}',
        // Dotless i
        '\u{0131}' => 'i',
        _ => c,
    })
}

/// The ASCII digit of a decimal digit; anything else as it is.
fn digit(c: char) -> char {
    let is_digit = |c: char| c.general_category() == GeneralCategory::DecimalNumber;
    if !is_digit(c) {
        return c;
    }
    // Unicode has the digits of a set in a row from zero on, and sets may stand in a row, too.
    let below = (0..u32::from(c)).rev().map_while(char::from_u32).take_while(|&d| is_digit(d)).count();
    char::from(b'0' + (below % 10) as u8)
}

/// Whether a decomposed mark goes that stands on `starter`, the last character before it of combining class 0.
pub(super) fn goes_on(mark: char, starter: char, fold: Fold) -> bool {
    let letters = matches!((mark, starter), ('\u{0307}', 'i') | ('\u{0308}', '\u{0435}'));
    let marks = || {
        is_diacritic(mark) && is_latin_or_greek(starter)
            || matches!(mark, '\u{0300}' | '\u{0301}') && is_cyrillic_vowel(starter)
    };
    fold.letters() && letters || fold.marks() && marks()
}

/// Whether the tone mark `c` belongs before the last of the characters `before`: Thai and Lao write a tone before the ring
/// of sara am, of which it is put in parts. Rings in a row are nothing that anybody writes, and stay; so does a tone that would
/// not be in canonical order there.
pub(super) fn goes_before(c: char, before: [char; 2], fold: Fold) -> bool {
    let tone = matches!(c, '\u{0E48}'..='\u{0E4B}' | '\u{0EC8}'..='\u{0ECB}');
    let is_in_order = || canonical_combining_class(before[0]) <= canonical_combining_class(c);
    fold.forms() && tone && is_nikhahit(before[1]) && !is_nikhahit(before[0]) && is_in_order()
}

/// The ring that is the first part of sara am, in Thai and Lao.
pub(super) fn is_nikhahit(c: char) -> bool {
    matches!(c, '\u{0E4D}' | '\u{0ECD}')
}

/// Marks of no script of their own.
pub(super) fn is_diacritic(c: char) -> bool {
    let block = matches!(
        c,
        '\u{0300}'..='\u{036F}'
            | '\u{1AB0}'..='\u{1AFF}'
            | '\u{1DC0}'..='\u{1DFF}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{FE20}'..='\u{FE2F}'
    );
    block && canonical_combining_class(c) > 0
}

fn is_latin_or_greek(c: char) -> bool {
    let block = matches!(
        c,
        'a'..='z'
            | '\u{00C0}'..='\u{02AF}'
            | '\u{0370}'..='\u{03FF}'
            | '\u{1D00}'..='\u{1DBF}'
            | '\u{1E00}'..='\u{1FFF}'
            | '\u{2C60}'..='\u{2C7F}'
            | '\u{A720}'..='\u{A7FF}'
            | '\u{AB30}'..='\u{AB6F}'
    );
    block && c.is_alphabetic()
}

/// Vowels of Russian, Ukrainian and Belarusian. Elsewhere an acute makes other letters: Macedonian gje and kje.
fn is_cyrillic_vowel(c: char) -> bool {
    matches!(
        c,
        '\u{0430}' | '\u{0435}' | '\u{0438}' | '\u{043E}' | '\u{0443}' | '\u{044B}' | '\u{044D}'
            ..='\u{044F}' | '\u{0454}' | '\u{0456}'
    )
}
