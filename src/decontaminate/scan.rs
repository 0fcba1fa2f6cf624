//! One document after the other held against the index.

use super::index::BenchmarkIndex;
use super::stretches::{GramAt, ItemStretch, StretchFinder, StretchRule};
use crate::error::Result;
use crate::progress::Progress;
use crate::sketch::shingles;

/// Holds documents against an index; its buffers are reused from document to document. What it holds grows with the
/// document or with the index, never with both.
pub(super) struct DocumentScan<'a> {
    index: &'a BenchmarkIndex,
    /// N-grams of the document that are as long as those of the present table.
    grams: Vec<u64>,
    /// Those among them that texts are looked for by, and where.
    seen: Vec<(u64, u32)>,
    /// The same n-grams, each once, and where its places begin and end in `seen`.
    places: Vec<(u64, u32, u32)>,
    /// Texts that are looked for by one of them.
    texts: Vec<u32>,
    /// A bit for each text that is in `texts`.
    is_in: Vec<u64>,
    /// Where n-grams of a text were seen.
    near: Vec<GramAt>,
    standing: Vec<GramAt>,
    finder: StretchFinder,
    stretches: Vec<ItemStretch>,
}

impl<'a> DocumentScan<'a> {
    /// For documents that are held against `index`.
    pub(super) fn new(index: &'a BenchmarkIndex) -> DocumentScan<'a> {
        DocumentScan {
            index,
            grams: Vec::new(),
            seen: Vec::new(),
            places: Vec::new(),
            texts: Vec::new(),
            is_in: vec![0; index.texts.len().div_ceil(64)],
            near: Vec::new(),
            standing: Vec::new(),
            finder: StretchFinder::default(),
            stretches: Vec::new(),
        }
    }

    /// Hands every text that stands in a document to `take`, with the stretches that it stands in: by the lengths of their
    /// n-grams, and by the numbers of the texts.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`].
    pub(super) fn scan(
        &mut self,
        tokens: &[u64],
        progress: &Progress,
        mut take: impl FnMut(u32, &[ItemStretch]),
    ) -> Result<()> {
        for table in 0..self.index.tables.len() {
            self.look(tokens, table);
            let texts = std::mem::take(&mut self.texts);
            for text in &texts {
                progress.check()?;
                self.measure(*text as usize);
                if !self.stretches.is_empty() {
                    take(*text, &self.stretches);
                }
            }
            self.texts = texts;
        }
        Ok(())
    }

    /// Finds the texts of a table of which a document shows an n-gram that they are looked for by.
    fn look(&mut self, tokens: &[u64], table: usize) {
        let (ngram, table) = &self.index.tables[table];
        self.grams.clear();
        self.seen.clear();
        self.places.clear();
        self.texts.clear();
        if tokens.len() < *ngram {
            return;
        }
        shingles(tokens, *ngram, &mut self.grams);
        let seen = self.grams.iter().enumerate().filter(|(_, gram)| !table.texts(**gram).is_empty());
        self.seen.extend(seen.map(|(at, gram)| (*gram, at as u32)));
        self.seen.sort_unstable();
        let mut begin = 0;
        for same in self.seen.chunk_by(|a, b| a.0 == b.0) {
            let end = begin + same.len() as u32;
            self.places.push((same[0].0, begin, end));
            begin = end;
            for text in table.texts(same[0].0) {
                let (word, bit) = (*text as usize / 64, 1 << (text % 64));
                if self.is_in[word] & bit == 0 {
                    self.is_in[word] |= bit;
                    self.texts.push(*text);
                }
            }
        }
        self.texts.iter().for_each(|text| self.is_in[*text as usize / 64] = 0);
        self.texts.sort_unstable();
    }

    /// Finds where n-grams of a text were seen.
    fn near(&mut self, own: &[u64]) {
        self.near.clear();
        let DocumentScan { seen, places, near, .. } = self;
        let mut add = |gram: usize, (_, begin, end): (u64, u32, u32)| {
            let places = &seen[begin as usize..end as usize];
            near.extend(places.iter().map(|(_, at)| GramAt { at: *at, gram: gram as u32 }));
        };
        if places.len() < own.len() {
            for place in places.iter() {
                own.binary_search(&place.0).into_iter().for_each(|gram| add(gram, *place));
            }
        } else {
            for (gram, hash) in own.iter().enumerate() {
                let place = places.binary_search_by_key(hash, |(hash, _, _)| *hash);
                place.into_iter().for_each(|at| add(gram, places[at]));
            }
        }
        near.sort_unstable_by_key(|gram| gram.at);
    }

    /// Finds the stretches that a text stands in: each shows one of its rare n-grams, so it is near these.
    fn measure(&mut self, number: usize) {
        let text = &self.index.texts[number];
        let own = self.index.grams(number);
        let rule =
            StretchRule { ngram: text.ngram as u32, needed: text.needed as u32, window: text.window as u32 };
        self.near(own);
        self.stretches.clear();
        // It is looked for by all its n-grams.
        if text.needed == 1 {
            return self.finder.find(&self.near, own.len(), rule, &mut self.stretches);
        }
        let reach = text.window - 1;
        self.standing.clear();
        let mut next = 0;
        for GramAt { at, .. } in &self.near {
            let at = *at as usize;
            let (begin, end) = (at.saturating_sub(reach).max(next), (at + reach + 1).min(self.grams.len()));
            for (place, gram) in self.grams.iter().enumerate().take(end).skip(begin) {
                if let Ok(gram) = own.binary_search(gram) {
                    self.standing.push(GramAt { at: place as u32, gram: gram as u32 });
                }
            }
            next = next.max(end);
        }
        self.finder.find(&self.standing, own.len(), rule, &mut self.stretches);
    }
}
