//! The slow, obvious tokenizer that the fast one is held equal to: whole-text normalisation, then a walk over
//! characters.

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;

use super::classify::{APOSTROPHE, Class, class, is_dropped};
use super::hash::token_hash;
use super::spelling::stems::Stems;
use super::{Filter, TermFrequencies, Text, Tokens};

/// A word and whether a separator stood before it.
struct TwinWord {
    text: String,
    parted: bool,
}

/// The canonical tokens of a text, readable and slow.
///
/// [`Tokenizer::tokens`](super::Tokenizer::tokens) gives the [`token_hash`](super::token_hash) of each.
pub fn canonical_tokens(text: &str, tokens: Tokens) -> Vec<String> {
    as_tokens(words(&canonical(text)), tokens)
}

/// The tokens of a text that the filters of a configuration leave, readable and slow; `lexicon` has the frequencies that its
/// `min_idf` is of.
///
/// A tokenizer made by [`Tokenizer::filtered`](super::Tokenizer::filtered) gives the [`token_hash`] of each.
pub fn filtered_tokens<F: TermFrequencies>(text: &str, config: &Text, lexicon: Option<&F>) -> Vec<String> {
    let all = words(&canonical(text));
    let stop_words: Vec<Vec<TwinWord>> =
        config.filter.stop_words.iter().flat_map(|code| listed(code)).collect();
    let (mut left, mut parted, mut stopped) = (Vec::new(), false, 0);
    for (place, word) in all.iter().enumerate() {
        if place >= stopped {
            let here = stop_words.iter().filter(|stop| begins(&all[place..], stop));
            stopped = place + here.map(Vec::len).max().unwrap_or(0);
        }
        parted |= word.parted;
        if place >= stopped && stays(&word.text, &config.filter, lexicon) {
            left.push(TwinWord { text: stemmed(&word.text, &config.filter), parted });
            parted = false;
        }
    }
    as_tokens(if left.is_empty() { all } else { left }, config.tokens)
}

/// The stop words of a language, each as its words.
fn listed(code: &str) -> Vec<Vec<TwinWord>> {
    let list = stop_words::lookup(code).unwrap_or_default();
    list.iter().map(|word| words(&canonical(word))).filter(|words| !words.is_empty()).collect()
}

/// Whether `text` begins with the words of `stop`, parted alike.
fn begins(text: &[TwinWord], stop: &[TwinWord]) -> bool {
    let alike = |(place, (a, b)): (usize, (&TwinWord, &TwinWord))| {
        a.text == b.text && (place == 0 || a.parted == b.parted)
    };
    text.len() >= stop.len() && text.iter().zip(stop).enumerate().all(alike)
}

fn stays<F: TermFrequencies>(word: &str, filter: &Filter, lexicon: Option<&F>) -> bool {
    let marks = |c: char| class(c) == Class::Mark || c == APOSTROPHE;
    let lone = word.chars().next().is_some_and(|first| class(first) == Class::Lone);
    let idf = lexicon.and_then(|lexicon| lexicon.idf(token_hash(word.as_bytes())));
    let common = filter.min_idf.zip(idf).is_some_and(|(least, idf)| idf < least.to_f64());
    let number = word.chars().all(|c| c.is_numeric() || marks(c));
    let short = word.chars().count() < filter.min_length && !lone;
    let numeric = word.chars().any(char::is_numeric);
    !(common || short || filter.numbers && number || filter.alphabetic && numeric)
}

fn stemmed(word: &str, filter: &Filter) -> String {
    Stems::of(&filter.stem).map_or_else(|| word.to_owned(), |stems| stems.stem(word).into_owned())
}

fn as_tokens(words: Vec<TwinWord>, tokens: Tokens) -> Vec<String> {
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
fn canonical(text: &str) -> Vec<char> {
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

fn words(text: &[char]) -> Vec<TwinWord> {
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
