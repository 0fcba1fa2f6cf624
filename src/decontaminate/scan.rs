//! One document after the other held against the index.

use super::grams::places::GramPlaces;
use super::grams::stretches::{GramAt, ItemStretch, StretchFinder, StretchRule, runs};
use super::index::BenchmarkIndex;
use crate::error::Result;
use crate::progress::Progress;

/// In a document of more n-grams than this, frequent ones stand in more places than a processor has near it: n-grams of a text
/// are looked for beside its rarest ones only.
const LARGE: usize = 1 << 14;

/// Holds documents against an index; its buffers are reused from document to document. What it holds grows with the
/// document or with the index, never with both.
pub(super) struct DocumentScan<'a> {
    index: &'a BenchmarkIndex,
    /// N-grams of the document that are as long as those of the present table.
    grams: GramPlaces,
    /// Texts that are looked for by some of them.
    seen: Vec<u32>,
    /// Those among them of which enough was seen to measure them.
    texts: Vec<u32>,
    /// Two bits for each text: one that is in `seen`, and one that is in `texts`.
    is_in: Vec<[u64; 2]>,
    /// A bit for each text of which one n-gram is enough.
    by_one: Vec<u64>,
    /// Documents of more n-grams are large.
    large: usize,
    /// In a large one, the n-grams of a text, and where the rarest of them stand.
    own: GramPlaces,
    near: Vec<u32>,
    /// Where n-grams of a text stand.
    standing: Vec<GramAt>,
    finder: StretchFinder,
    stretches: Vec<ItemStretch>,
}

impl<'a> DocumentScan<'a> {
    /// For documents that are held against `index`.
    pub(super) fn new(index: &'a BenchmarkIndex) -> DocumentScan<'a> {
        let mut by_one = vec![0; index.texts.len().div_ceil(64)];
        for (number, _) in index.texts.iter().enumerate().filter(|(_, text)| text.needed == 1) {
            by_one[number / 64] |= 1 << (number % 64);
        }
        DocumentScan {
            index,
            grams: GramPlaces::default(),
            seen: Vec::new(),
            texts: Vec::new(),
            is_in: vec![[0; 2]; by_one.len()],
            by_one,
            large: LARGE,
            own: GramPlaces::default(),
            near: Vec::new(),
            standing: Vec::new(),
            finder: StretchFinder::default(),
            stretches: Vec::new(),
        }
    }

    /// Hands every text that stands in a document to `take`, with the stretches that it stands in and where its n-grams stand: by
    /// the lengths of their n-grams, and by the numbers of the texts.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`].
    pub(super) fn scan(
        &mut self,
        tokens: &[u64],
        progress: &Progress,
        mut take: impl FnMut(u32, &[ItemStretch], &[GramAt]),
    ) -> Result<()> {
        self.each_text(tokens, progress, |scan, text| {
            scan.measure(text as usize, tokens);
            if !scan.stretches.is_empty() {
                take(text, &scan.stretches, &scan.standing);
            }
        })
    }

    /// Hands each n-gram of texts that is in a document to `take`, once, by its number among those of all texts: where one
    /// n-gram is enough.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`].
    pub(super) fn present(
        &mut self,
        tokens: &[u64],
        progress: &Progress,
        mut take: impl FnMut(usize),
    ) -> Result<()> {
        self.each_text(tokens, progress, |scan, text| {
            let own = scan.index.grams(text as usize);
            let here = (scan.index.first_gram(text as usize)..).zip(own);
            here.filter(|(_, gram)| scan.grams.first(**gram).is_some()).for_each(|(number, _)| take(number));
        })
    }

    /// Hands each text to `take` that may stand in a document, while the n-grams of its length are those of the document.
    fn each_text(
        &mut self,
        tokens: &[u64],
        progress: &Progress,
        mut take: impl FnMut(&mut DocumentScan<'a>, u32),
    ) -> Result<()> {
        for table in 0..self.index.tables.len() {
            self.look(tokens, table);
            if self.texts.is_empty() {
                continue;
            }
            self.grams.chain();
            let texts = std::mem::take(&mut self.texts);
            for text in &texts {
                progress.check()?;
                take(self, *text);
            }
            self.texts = texts;
        }
        Ok(())
    }

    /// Finds the texts of a table of which a document shows two n-grams that they are looked for by, or one twice; or one where
    /// that is enough.
    fn look(&mut self, tokens: &[u64], table: usize) {
        let (ngram, table) = &self.index.tables[table];
        let DocumentScan { grams, seen, texts, is_in, by_one, .. } = self;
        seen.clear();
        texts.clear();
        table.texts(grams.cut(tokens, *ngram), |found| {
            for text in found {
                let (word, bit) = (*text as usize / 64, 1 << (text % 64));
                let [once, enough] = &mut is_in[word];
                if *once & bit == 0 {
                    *once |= bit;
                    seen.push(*text);
                    if by_one[word] & bit == 0 {
                        continue;
                    }
                }
                if *enough & bit == 0 {
                    *enough |= bit;
                    texts.push(*text);
                }
            }
        });
        seen.iter().for_each(|text| is_in[*text as usize / 64] = [0; 2]);
        texts.sort_unstable();
    }

    /// Finds the stretches that a text stands in.
    fn measure(&mut self, number: usize, tokens: &[u64]) {
        let text = &self.index.texts[number];
        let own = self.index.grams(number);
        self.standing.clear();
        self.stretches.clear();
        if let Some(scores) = &self.index.scores {
            let here = (0u32..).zip(own).filter_map(|(gram, hash)| {
                let at = self.grams.first(*hash)?;
                Some(GramAt { at, gram })
            });
            self.standing.extend(here);
            if scores.may_reach(number, &self.standing) {
                self.gather();
                scores.find(number, &self.standing, tokens, &mut self.stretches);
            }
            return;
        }
        // Most texts are given up here: so many n-grams of them are nowhere in the document that too few are left.
        let mut spare = own.len() - text.needed;
        let first = self.index.first_gram(number);
        for (gram, hash) in (0..).zip(own) {
            let is_common = self.index.is_common(first + gram as usize);
            match self.grams.first(*hash).filter(|_| !is_common) {
                Some(at) => self.standing.push(GramAt { at, gram }),
                None if spare == 0 => return,
                None => spare -= 1,
            }
        }
        if self.grams.all().len() <= self.large || text.needed == 1 {
            self.gather();
        } else {
            self.gather_near(own, spare + 1, text.window - 1);
        }
        if self.index.rule.cut.is_some() {
            return runs(&self.standing, text.ngram as u32, &mut self.stretches);
        }
        let rule =
            StretchRule { ngram: text.ngram as u32, needed: text.needed as u32, window: text.window as u32 };
        self.finder.find(&self.standing, own.len(), rule, &mut self.stretches);
    }

    /// Finds all places of the n-grams of a text whose first places are known.
    fn gather(&mut self) {
        for first in 0..self.standing.len() {
            let GramAt { mut at, gram } = self.standing[first];
            while let Some(next) = self.grams.next(at) {
                self.standing.push(GramAt { at: next, gram });
                at = next;
            }
        }
        self.grams.sort(&mut self.standing);
    }

    /// Finds the places that may be in a stretch with enough: this has one of the `rare` first n-grams at least, and nothing is
    /// further away from it than `reach`.
    fn gather_near(&mut self, own: &[u64], rare: usize, reach: usize) {
        let DocumentScan { grams, standing, near, .. } = self;
        near.clear();
        for GramAt { at, .. } in &standing[..rare] {
            near.extend(std::iter::successors(Some(*at), |at| grams.next(*at)));
        }
        near.sort_unstable();
        standing.clear();
        self.own.hold(own);
        let (grams, mut next) = (grams.all(), 0);
        for at in near {
            let at = *at as usize;
            let (begin, end) = (at.saturating_sub(reach).max(next), (at + reach + 1).min(grams.len()));
            let part = grams.get(begin..end).unwrap_or_default();
            for (place, gram) in (begin as u32..).zip(part) {
                let gram = self.own.first(*gram);
                standing.extend(gram.map(|gram| GramAt { at: place, gram }));
            }
            next = next.max(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{IndexBuilder, Item, TextOwner};
    use super::super::rule::ContaminationRule;
    use super::*;
    use crate::text::{Fold, Tokenizer, Tokens};
    use proptest::prelude::*;

    fn index(texts: &[Vec<u8>], rule: ContaminationRule) -> BenchmarkIndex {
        let mut builder = IndexBuilder::new(rule, u64::MAX);
        builder.begin("b");
        for (line, text) in (1..).zip(texts) {
            let item = Item { id: line.to_string(), benchmark: 0, file: 0, line };
            let item = builder.item(item).expect("an item");
            builder.text(&spelt(text), TextOwner { item, field: 0 }).expect("a text");
        }
        builder.finish().expect("an index")
    }

    fn spelt(words: &[u8]) -> String {
        words.iter().map(|word| format!("w{word} ")).collect()
    }

    fn found(index: &BenchmarkIndex, tokens: &[u64], large: usize) -> Vec<(u32, Vec<ItemStretch>)> {
        let mut scan = DocumentScan { large, ..DocumentScan::new(index) };
        let mut all = Vec::new();
        let take = |text: u32, stretches: &[ItemStretch], _: &[GramAt]| all.push((text, stretches.to_vec()));
        scan.scan(tokens, &Progress::default(), take).expect("not interrupted");
        all
    }

    /// The slow form: all n-grams of a document held against all of each text.
    fn obvious(index: &BenchmarkIndex, tokens: &[u64]) -> Vec<(u32, Vec<ItemStretch>)> {
        let mut all = Vec::new();
        for (number, text) in index.texts.iter().enumerate() {
            let (mut places, mut stretches) = (GramPlaces::default(), Vec::new());
            let own = index.grams(number);
            let gram = |gram: &u64| own.iter().position(|own| own == gram);
            let at = |(at, hash)| Some(GramAt { at, gram: gram(hash)? as u32 });
            let standing: Vec<GramAt> = (0u32..).zip(places.cut(tokens, text.ngram)).filter_map(at).collect();
            let (needed, window) = (text.needed as u32, text.window as u32);
            let rule = StretchRule { ngram: text.ngram as u32, needed, window };
            StretchFinder::default().find(&standing, own.len(), rule, &mut stretches);
            if !stretches.is_empty() {
                all.push((text.ngram, number as u32, stretches));
            }
        }
        all.sort_by_key(|(ngram, number, _)| (*ngram, *number));
        all.into_iter().map(|(_, number, stretches)| (number, stretches)).collect()
    }

    proptest! {
        #[test]
        fn finds_what_the_slow_form_finds(mut texts in prop::collection::vec(prop::collection::vec(0u8..6, 4..30), 1..8),
                                          parts in prop::collection::vec((0usize..8, 0usize..9, 4usize..30, 0u8..9), 0..9),
                                          tenths in 3usize..10, any in any::<bool>()) {
            texts.push((0..9).collect());
            let threshold = (!any).then(|| format!("0.{tenths}").parse().expect("a threshold"));
            let index = index(&texts, ContaminationRule { threshold, ngram: 3, min_words: 4, ..ContaminationRule::default() });
            let words: Vec<u8> = parts.iter().flat_map(|(text, from, to, other)| {
                let text = &texts[text % texts.len()];
                let to = (*to).min(text.len());
                text[(*from).min(to)..to].iter().copied().chain([*other])
            }).collect();
            let mut tokenizer = Tokenizer::new(Tokens::Words, Fold::default(), crate::simd::Simd::detect());
            let tokens = tokenizer.tokens(&spelt(&words)).to_vec();
            let want = obvious(&index, &tokens);
            prop_assert_eq!(found(&index, &tokens, usize::MAX), want.clone());
            prop_assert_eq!(found(&index, &tokens, 0), want);
        }
    }
}
