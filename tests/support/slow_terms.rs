//! The obvious lexicon: how many texts have a word, counted word by word. Logarithms are floats.

use std::collections::{BTreeMap, BTreeSet};

/// Texts that a term is in at least.
const MIN_DF: u64 = 5;
/// Characters that a term has at least, in scripts with spaces.
const MIN_LENGTH: usize = 3;

/// Scripts without spaces that the texts of the tests have: of these a letter is a word.
const LONE: [(char, char); 3] = [('\u{e00}', '\u{e7f}'), ('\u{3041}', '\u{30ff}'), ('\u{3400}', '\u{9fff}')];

/// In how many texts each term is.
pub(crate) struct SlowLexicon {
    /// Texts that have a word.
    documents: u64,
    /// Texts of each term, and its rank.
    terms: BTreeMap<String, (u64, u64)>,
}

/// A term of a text.
#[derive(Clone, Debug)]
pub(crate) struct SlowTerm {
    pub(crate) word: String,
    /// Its place among all terms, those of fewest texts first, and of these in the order of letters.
    pub(crate) rank: u64,
    /// The word of the text at which it stands first.
    pub(crate) position: u64,
    /// Texts that have it.
    pub(crate) documents: u64,
}

fn is_term(word: &str) -> bool {
    let lone = |c: char| LONE.iter().any(|(first, last)| (*first..=*last).contains(&c));
    let long = word.chars().count() >= MIN_LENGTH || word.chars().next().is_some_and(lone);
    long && !word.chars().any(char::is_numeric)
}

impl SlowLexicon {
    /// The lexicon of texts, given as their words.
    pub(crate) fn of(texts: &[&[String]]) -> SlowLexicon {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for text in texts {
            for word in text.iter().filter(|word| is_term(word)).collect::<BTreeSet<_>>() {
                *counts.entry(word.clone()).or_default() += 1;
            }
        }
        let mut order: Vec<(u64, String)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
        order.retain(|(count, _)| *count >= MIN_DF);
        order.sort();
        let ranked = (0..).zip(order).map(|(rank, (count, word))| (word, (count, rank)));
        let documents = texts.iter().filter(|text| !text.is_empty()).count() as u64;
        SlowLexicon { documents, terms: ranked.collect() }
    }

    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// How many terms there are.
    pub(crate) fn len(&self) -> u64 {
        self.terms.len() as u64
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.terms.contains_key(word)
    }

    /// log((N + 0.5) / n) / log(N + 1) of a term in n of N texts.
    pub(crate) fn normalised_idf(&self, documents: u64) -> f64 {
        ((self.documents as f64 + 0.5) / documents as f64).ln() / (self.documents as f64 + 1.0).ln()
    }

    /// The distinct terms of a text that are wanted, by the number of texts that have them; the rarest first.
    pub(crate) fn terms(&self, words: &[String], wanted: impl Fn(u64) -> bool) -> Vec<SlowTerm> {
        let mut found: BTreeMap<u64, SlowTerm> = BTreeMap::new();
        for (position, word) in (0..).zip(words) {
            if let Some((documents, rank)) = self.terms.get(word)
                && wanted(*documents)
            {
                let term = SlowTerm { word: word.clone(), rank: *rank, position, documents: *documents };
                found.entry(*rank).or_insert(term);
            }
        }
        found.into_values().collect()
    }
}
