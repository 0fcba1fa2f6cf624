//! A bit for each document: of one worker, or of all workers of a process, which set them together.

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::zeroed_vec;

use crate::document::Doc;
use crate::flow::records::Candidate;

/// A set of documents.
#[derive(Debug)]
pub struct DocumentBits {
    words: Vec<AtomicU64>,
}

impl DocumentBits {
    /// No documents yet, of those below a number.
    pub fn new(limit: usize) -> DocumentBits {
        DocumentBits { words: zeroed_vec(limit.div_ceil(64)) }
    }

    /// Adds a document.
    pub fn insert(&self, doc: Doc) {
        self.words[doc as usize / 64].fetch_or(1 << (doc % 64), Ordering::Relaxed);
    }

    /// Whether a document is in it.
    pub fn contains(&self, doc: Doc) -> bool {
        self.words[doc as usize / 64].load(Ordering::Relaxed) >> (doc % 64) & 1 == 1
    }

    /// Whether all documents are in it that are `bits` of a word.
    #[inline]
    pub fn contains_all(&self, word: usize, bits: u64) -> bool {
        self.words[word].load(Ordering::Relaxed) & bits == bits
    }

    /// How many documents are in it.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    /// Whether no document is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// The documents in it, ascending.
    pub fn docs(&self) -> impl Iterator<Item = Doc> {
        ones(self.words.iter().map(|word| word.load(Ordering::Relaxed)))
    }

    /// Its bits.
    pub fn words(&self) -> Vec<u64> {
        self.words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }
}

/// Whether the bit of a document is set.
pub fn is_set(bits: &[u64], doc: Doc) -> bool {
    bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
}

/// Sets the bit of a document.
pub fn set(bits: &mut Vec<u64>, doc: Doc) {
    let word = doc as usize / 64;
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (doc % 64);
}

/// Sets the bits of the documents of candidates.
pub fn mark(bits: &mut Vec<u64>, candidates: &[Candidate]) {
    let ends = candidates.iter().flat_map(|candidate| <[Doc; 2]>::from(candidate.pair.docs()));
    ends.for_each(|doc| set(bits, doc));
}

/// Some of the documents, numbered from 0 on in ascending order: a bit and a half for each
/// document there is.
pub struct Ranks {
    bits: Vec<u64>,
    /// Bits set before each word.
    before: Vec<u32>,
}

impl Ranks {
    /// The documents whose bits are set.
    pub fn new(bits: Vec<u64>) -> Ranks {
        let mut sum = 0;
        let before = |word: &u64| {
            sum += word.count_ones();
            sum - word.count_ones()
        };
        Ranks { before: bits.iter().map(before).collect(), bits }
    }

    /// The documents, ascending.
    pub fn docs(&self) -> impl Iterator<Item = Doc> {
        ones(self.bits.iter().copied())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let of_last = self.bits.last().map_or(0, |word| word.count_ones());
        (self.before.last().copied().unwrap_or(0) + of_last) as usize
    }

    /// The number of one of them.
    pub fn of(&self, doc: Doc) -> usize {
        let (word, below) = (doc as usize / 64, (1u64 << (doc % 64)) - 1);
        (self.before[word] + (self.bits[word] & below).count_ones()) as usize
    }
}

/// The places of the bits that are set, ascending.
pub fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = Doc> {
    let of_word = |(at, word): (Doc, u64)| {
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
    };
    (0..).zip(words).filter(|(_, word)| *word != 0).flat_map(of_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holds_what_was_inserted(docs in prop::collection::btree_set(0u32..300, 0..80)) {
            let bits = DocumentBits::new(300);
            docs.iter().for_each(|doc| bits.insert(*doc));
            prop_assert_eq!(bits.docs().collect::<Vec<_>>(), docs.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!((bits.len(), bits.is_empty()), (docs.len(), docs.is_empty()));
            prop_assert!((0..300).all(|doc| bits.contains(doc) == docs.contains(&doc)));
            let mut own = Vec::new();
            docs.iter().for_each(|doc| set(&mut own, *doc));
            prop_assert!((0..400).all(|doc| is_set(&own, doc) == docs.contains(&doc)));
            let ranks = Ranks::new(own);
            prop_assert_eq!((ranks.len(), Ranks::new(bits.words()).len()), (docs.len(), docs.len()));
            prop_assert_eq!(ranks.docs().collect::<Vec<_>>(), docs.iter().copied().collect::<Vec<_>>());
            prop_assert!(docs.iter().enumerate().all(|(at, doc)| ranks.of(*doc) == at));
        }
    }
}
