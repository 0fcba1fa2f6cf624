//! Lexicons made of counts, for tests.

use super::file::freeze;
use super::sorted::Held;
use super::{Header, Lexicon, Terms};
use crate::progress::Progress;
use crate::text::token_hash;

/// The lexicon of so many documents in which each term is in as many as it says.
pub(crate) fn lexicon(documents: u64, terms: &[(&str, u64)]) -> Lexicon {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lexicon");
    let header = Header { terms: Terms::default(), min_df: 1, short: 0, documents };
    let counts = Held::new(terms.iter().map(|(term, count)| ((*term).into(), *count)).collect());
    freeze(&path, header, counts, &Progress::default()).expect("written");
    Lexicon::open(&path).expect("read")
}

/// A term that stands for a number below 26^3; they are in the order of the numbers.
pub(crate) fn word(number: usize) -> String {
    let letter = |place: u32| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8);
    (0..3).rev().map(letter).collect()
}

/// The hashes of the words of a text.
pub(crate) fn hashes(text: &str) -> Vec<u64> {
    text.split_whitespace().map(|word| token_hash(word.as_bytes())).collect()
}

/// A lexicon of 1,000 documents whose words, by number, are in 1, 2, 3 ... documents.
pub(crate) fn graded(words: usize) -> Lexicon {
    let words: Vec<String> = (0..words).map(word).collect();
    let terms: Vec<(&str, u64)> = words.iter().map(String::as_str).zip(1..).collect();
    lexicon(1000, &terms)
}
