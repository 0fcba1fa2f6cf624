//! What filters leave of a text, slow and obvious.

use super::twin::{TwinWord, as_tokens, canonical, words};
use crate::text::classify::{APOSTROPHE, Class, class};
use crate::text::spelling::stems::Stems;
use crate::text::{Filter, Fold, TermFrequencies, Text, token_hash};

/// The tokens of a text that the filters of a configuration leave, readable and slow; `lexicon` has the frequencies that its
/// `min_idf` is of.
///
/// A tokenizer made by [`Tokenizer::filtered`](crate::text::Tokenizer::filtered) gives the [`token_hash`] of each.
pub(super) fn filtered_tokens<F: TermFrequencies>(
    text: &str,
    config: &Text,
    lexicon: Option<&F>,
) -> Vec<String> {
    let all = words(&canonical(text, config.fold));
    let stop_words: Vec<Vec<TwinWord>> =
        config.filter.stop_words.iter().flat_map(|code| listed(code, config.fold)).collect();
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
fn listed(code: &str, fold: Fold) -> Vec<Vec<TwinWord>> {
    let list = stop_words::lookup(code).unwrap_or_default();
    list.iter().map(|word| words(&canonical(word, fold))).filter(|words| !words.is_empty()).collect()
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
