//! The slow, obvious tokenizer that the fast one is held equal to: whole-text normalisation, then a walk over
//! characters. The tests of the program compile this file as well (`tests/support/canonical.rs`).

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;

use super::Tokens;
use super::classify::{APOSTROPHE, Class, class, is_dropped};

/// A word and whether a separator stood before it.
pub(crate) struct TwinWord {
    pub(crate) text: String,
    pub(crate) parted: bool,
}

/// The canonical tokens of a text, readable and slow.
///
/// A tokenizer gives the hash of each.
pub(crate) fn canonical_tokens(text: &str, tokens: Tokens) -> Vec<String> {
    as_tokens(words(&canonical(text)), tokens)
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

/// Unicode's canonical caseless form (definition D145), composed.
pub(crate) fn canonical(text: &str) -> Vec<char> {
    let visible = text.chars().filter(|&c| !is_dropped(c));
    let decomposed: String = visible.nfd().collect();
    UniCase::unicode(decomposed).to_folded_case().nfc().collect()
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
