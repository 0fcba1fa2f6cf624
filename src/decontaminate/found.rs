//! What is found in a document: some of the texts that stand in it, the number of the others, and all stretches.

use std::ops::Range;

use super::grams::stretches::ItemStretch;
use super::hits::ItemPassage;
use super::index::BenchmarkIndex;
use crate::limits::LISTED_ITEMS;
use crate::text::{Fold, PlacedWords};

/// Most bytes of an excerpt.
const EXCERPT: usize = 400;

/// A text that stands in a document, by the numbers of tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundText {
    text: u32,
    passages: u32,
    found: u32,
    score: u32,
    /// The first token of the best stretch.
    pub(super) first: u32,
    /// The token behind its last.
    pub(super) end: u32,
}

/// All that is found in a document. It takes room for each token, and for so many texts as are listed.
#[derive(Default)]
pub(super) struct DocumentFindings {
    /// For each token that stretches begin with, the token behind the last of the longest one.
    ends: Vec<u32>,
    listed: Vec<FoundText>,
    texts: u64,
    passages: u64,
}

impl DocumentFindings {
    /// For the next document.
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.listed.clear();
        (self.texts, self.passages) = (0, 0);
    }

    /// How many texts stand in the document.
    pub(super) fn texts(&self) -> u64 {
        self.texts
    }

    /// How many stretches they stand in, counted for each text.
    pub(super) fn passages(&self) -> u64 {
        self.passages
    }

    /// Takes the stretches of a text in, of which there is one at least, in a document of so many tokens.
    pub(super) fn add(
        &mut self,
        text: u32,
        stretches: &[ItemStretch],
        ngram: u32,
        tokens: usize,
        index: &BenchmarkIndex,
    ) {
        self.ends.resize(tokens, 0);
        self.texts += 1;
        self.passages += stretches.len() as u64;
        let mut best = stretches[0];
        for stretch in stretches {
            let end = &mut self.ends[stretch.first as usize];
            *end = (stretch.last + ngram).max(*end);
            if (stretch.score, stretch.found) > (best.score, best.found) {
                best = *stretch;
            }
        }
        let (passages, end) = (stretches.len() as u32, best.last + ngram);
        let ItemStretch { first, found, score, .. } = best;
        self.listed.push(FoundText { text, passages, found, score, first, end });
        if self.listed.len() == 2 * LISTED_ITEMS {
            self.choose(index);
        }
    }

    /// Keeps the texts that are listed: those with the highest score, or of which the largest share was found; the first ones of
    /// the document.
    fn choose(&mut self, index: &BenchmarkIndex) {
        let size = |text: u32| index.texts[text as usize].size() as u64;
        self.listed.sort_unstable_by(|a, b| {
            let (of_a, of_b) = (u64::from(a.found) * size(b.text), u64::from(b.found) * size(a.text));
            (b.score, of_b).cmp(&(a.score, of_a)).then((a.first, a.text).cmp(&(b.first, b.text)))
        });
        self.listed.truncate(LISTED_ITEMS);
    }

    /// The texts that are listed, by the numbers of their first tokens.
    pub(super) fn listed(&mut self, index: &BenchmarkIndex) -> Vec<FoundText> {
        self.choose(index);
        self.listed.sort_unstable_by_key(|found| (found.first, found.text));
        self.listed.clone()
    }

    /// All stretches, ascending, first token and the one behind the last; those that have tokens in common are one.
    pub(super) fn stretches(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = Vec::new();
        for (first, end) in (0u32..).zip(&self.ends).filter(|(_, end)| **end > 0) {
            match all.last_mut() {
                Some(last) if first < last.1 => last.1 = last.1.max(*end),
                _ => all.push((first, *end)),
            }
        }
        all
    }
}

/// Where some tokens of a text stand.
pub(super) struct TextPlaces {
    words: PlacedWords,
    tokens: Vec<u32>,
    places: Vec<Range<usize>>,
}

impl TextPlaces {
    pub(super) fn new(fold: Fold) -> TextPlaces {
        TextPlaces { words: PlacedWords::new(fold), tokens: Vec::new(), places: Vec::new() }
    }

    /// Finds where stretches of a text begin and end, each given by its first token and the one behind its last.
    pub(super) fn find(&mut self, text: &str, stretches: impl Iterator<Item = (u32, u32)>) {
        let TextPlaces { words, tokens, places } = self;
        tokens.clear();
        tokens.extend(stretches.flat_map(|(first, end)| [first, end - 1]));
        tokens.sort_unstable();
        tokens.dedup();
        places.clear();
        let mut token = 0;
        words.each(text, |_, place| {
            if tokens.get(places.len()) == Some(&token) {
                places.push(place);
            }
            token += 1;
        });
    }

    /// The bytes of a stretch whose ends were found.
    fn bytes(&self, (first, end): (u32, u32)) -> Range<usize> {
        let place = |token: u32| &self.places[self.tokens.partition_point(|at| *at < token)];
        place(first).start..place(end - 1).end
    }

    /// The bytes of stretches; those that have none between them are one.
    pub(super) fn merged(&self, stretches: &[(u32, u32)]) -> Vec<[u64; 2]> {
        let mut all: Vec<[u64; 2]> = Vec::new();
        for stretch in stretches {
            let bytes = self.bytes(*stretch);
            match all.last_mut() {
                Some(last) if bytes.start as u64 <= last[1] => last[1] = last[1].max(bytes.end as u64),
                _ => all.push([bytes.start as u64, bytes.end as u64]),
            }
        }
        all
    }

    /// What is told of a text that was found.
    pub(super) fn passage(&self, text: &str, item: &FoundText) -> ItemPassage {
        let bytes = self.bytes((item.first, item.end));
        let (start, end) = (bytes.start as u64, bytes.end as u64);
        let excerpt = excerpt(&text[bytes]).to_owned();
        let FoundText { text, passages, found, score, .. } = *item;
        ItemPassage { text, passages, found, score, start, end, excerpt }
    }
}

/// How a passage begins.
fn excerpt(passage: &str) -> &str {
    let end = (0..=EXCERPT.min(passage.len())).rev().find(|end| passage.is_char_boundary(*end));
    &passage[..end.unwrap_or(0)]
}
