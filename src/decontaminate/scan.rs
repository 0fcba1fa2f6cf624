//! One document after the other held against the index.

use super::index::BenchmarkIndex;
use super::passages::{GramAt, ItemStretch, StretchFinder, StretchRule};
use crate::sketch::shingles;

/// Holds documents against an index; its buffers are reused from document to document.
pub(super) struct DocumentScan<'a> {
    index: &'a BenchmarkIndex,
    /// N-grams of the document, for each table.
    grams: Vec<Vec<u64>>,
    /// Texts whose rare n-grams were seen, and where.
    seen: Vec<(u32, u32)>,
    standing: Vec<GramAt>,
    finder: StretchFinder,
    stretches: Vec<ItemStretch>,
}

impl<'a> DocumentScan<'a> {
    /// For documents that are held against `index`.
    pub(super) fn new(index: &'a BenchmarkIndex) -> DocumentScan<'a> {
        DocumentScan {
            index,
            grams: vec![Vec::new(); index.tables.len()],
            seen: Vec::new(),
            standing: Vec::new(),
            finder: StretchFinder::default(),
            stretches: Vec::new(),
        }
    }

    /// Hands every text that stands in a document to `take`, with the stretches that it stands in: by the numbers of the texts.
    pub(super) fn scan(&mut self, tokens: &[u64], mut take: impl FnMut(u32, &[ItemStretch])) {
        self.seen.clear();
        for ((ngram, table), grams) in self.index.tables.iter().zip(&mut self.grams) {
            grams.clear();
            if tokens.len() < *ngram {
                continue;
            }
            shingles(tokens, *ngram, grams);
            for (at, gram) in grams.iter().enumerate() {
                for text in table.texts(*gram) {
                    self.seen.push((*text, at as u32));
                }
            }
        }
        if self.seen.is_empty() {
            return;
        }
        self.seen.sort_unstable();
        let seen = std::mem::take(&mut self.seen);
        for of_text in seen.chunk_by(|a, b| a.0 == b.0) {
            self.measure(of_text);
            if !self.stretches.is_empty() {
                take(of_text[0].0, &self.stretches);
            }
        }
        self.seen = seen;
    }

    /// Finds the stretches that a text stands in: each shows one of its rare n-grams, so it is near these.
    fn measure(&mut self, seen: &[(u32, u32)]) {
        let number = seen[0].0 as usize;
        let text = &self.index.texts[number];
        let table = self.index.tables.iter().position(|(ngram, _)| *ngram == text.ngram).unwrap_or(0);
        let (grams, own) = (&self.grams[table], self.index.grams(number));
        let reach = text.window - 1;
        self.standing.clear();
        let mut next = 0;
        for (_, at) in seen {
            let at = *at as usize;
            let (begin, end) = (at.saturating_sub(reach).max(next), (at + reach + 1).min(grams.len()));
            for (place, gram) in grams.iter().enumerate().take(end).skip(begin) {
                if let Ok(gram) = own.binary_search(gram) {
                    self.standing.push(GramAt { at: place as u32, gram: gram as u32 });
                }
            }
            next = next.max(end);
        }
        let rule =
            StretchRule { ngram: text.ngram as u32, needed: text.needed as u32, window: text.window as u32 };
        self.stretches.clear();
        self.finder.find(&self.standing, own.len(), rule, &mut self.stretches);
    }
}
