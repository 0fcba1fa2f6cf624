//! The slow, obvious tokenizer that the fast one is held equal to: whole-text normalisation, then a walk over
//! characters. The tests of the program compile this file as well (`tests/support/canonical.rs`).

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use super::classify::{APOSTROPHE, Class, class};
use super::spellings::{NON_JOINER, decompose, goes_before, goes_on, is_base, is_blank, is_dropped, written};
use super::{Fold, Tokens};

/// A word and whether a separator stood before it.
pub(crate) struct TwinWord {
    pub(crate) text: String,
    pub(crate) parted: bool,
}

/// The canonical tokens of a text by default, readable and slow.
///
/// A tokenizer gives the hash of each.
pub(crate) fn canonical_tokens(text: &str, tokens: Tokens) -> Vec<String> {
    folded_tokens(text, tokens, Fold::default())
}

/// The same, with other spellings taken for one.
pub(crate) fn folded_tokens(text: &str, tokens: Tokens, fold: Fold) -> Vec<String> {
    as_tokens(words(&canonical(text, fold)), tokens)
}

pub(crate) fn as_tokens(words: Vec<TwinWord>, tokens: Tokens) -> Vec<String> {
    match tokens {
        Tokens::Words => words.into_iter().map(|word| word.text).collect(),
        Tokens::Chars => {
            let mut joined = String::new();
            for word in words {
                if word.parted && !joined.is_empty() {
                    joined.push(' ');
                }
                joined.push_str(&word.text);
            }
            joined.chars().map(String::from).collect()
        }
    }
}

/// Unicode's canonical caseless form (definition D145), composed; or the compatibility caseless form (D146), composed,
/// with what else is folded.
pub(crate) fn canonical(text: &str, fold: Fold) -> Vec<char> {
    let visible = visible(text, fold);
    if !fold.forms() {
        let decomposed: String = visible.nfd().collect();
        return UniCase::unicode(decomposed).to_folded_case().nfc().collect();
    }
    let folded = UniCase::unicode(decomposed(&visible, fold)).to_folded_case();
    let spelt: String = decomposed(&folded, fold).chars().filter_map(|c| written(c, fold)).collect();
    let (mut settled, mut starter): (Vec<char>, char) = (Vec::new(), ' ');
    for c in spelt.nfd() {
        if canonical_combining_class(c) == 0 {
            starter = c;
        } else if goes_on(c, starter, fold) {
            continue;
        }
        settled.push(c);
    }
    // Each tone goes before the ring before it, one after the other.
    for at in 1..settled.len() {
        let before = [if at > 1 { settled[at - 2] } else { ' ' }, settled[at - 1]];
        if goes_before(settled[at], before, fold) {
            settled.swap(at - 1, at);
        }
    }
    settled.into_iter().nfc().collect()
}

/// A text without what is dropped, and with blanks for the non-joiners that are some.
fn visible(text: &str, fold: Fold) -> String {
    let (mut visible, mut before) = (String::new(), ' ');
    for c in text.chars() {
        if c == NON_JOINER {
            visible.extend(is_blank(before, fold).then_some(' '));
        } else if is_dropped(c, fold) {
            continue;
        } else {
            visible.push(c);
        }
        if is_base(c) {
            before = c;
        }
    }
    visible
}

/// The compatibility decomposition of a text, its marks in order.
fn decomposed(text: &str, fold: Fold) -> String {
    let mut decomposed = String::new();
    text.chars().for_each(|c| decompose(c, fold, |d| decomposed.push(d)));
    decomposed.nfd().collect()
}

/// What each character belongs to: a spaced word, a lone letter, or nothing.
fn owners(text: &[char]) -> Vec<Option<Class>> {
    let mut owners: Vec<Option<Class>> = Vec::with_capacity(text.len());
    for (i, &c) in text.iter().enumerate() {
        let before = owners.last().copied().flatten();
        owners.push(match class(c) {
            Class::Separator => None,
            Class::Word => Some(Class::Word),
            Class::Lone => Some(Class::Lone),
            Class::Mark => before,
            Class::Apostrophe => {
                let after = text.get(i + 1).map(|&next| class(next));
                (before == Some(Class::Word) && after == Some(Class::Word)).then_some(Class::Word)
            }
        });
    }
    owners
}

pub(crate) fn words(text: &[char]) -> Vec<TwinWord> {
    let mut words: Vec<TwinWord> = Vec::new();
    let mut before = None;
    for (&c, owner) in text.iter().zip(owners(text)) {
        let class = class(c);
        if let Some(owner) = owner {
            let written = if class == Class::Apostrophe { APOSTROPHE } else { c };
            let continues = before == Some(owner) && class != Class::Lone;
            match words.last_mut() {
                Some(word) if continues => word.text.push(written),
                _ => words.push(TwinWord { text: written.to_string(), parted: before.is_none() }),
            }
        }
        before = owner;
    }
    words
}
