//! Answers and passages, and how much of one stands near a question.

use std::collections::VecDeque;
use std::ops::Range;

use crate::sketch::shingles;

/// Answers and passages of so many words, or fewer, are looked for as they are.
const SHORT: usize = 3;
/// Within how many words of a question these are looked for.
const SHORT_REACH: usize = 50;
/// Within how many words of a question longer ones are looked for, or twice their length if that is more.
const REACH: usize = 100;

/// An answer or a passage.
pub(in crate::decontaminate) enum AnswerPart {
    /// A short one: its words.
    Words(Vec<u64>),
    /// A longer one.
    Grams(WeighedGrams),
}

/// The n-grams of an answer or a passage.
pub(in crate::decontaminate) struct WeighedGrams {
    ngram: usize,
    /// Within how many words of a question they are looked for.
    reach: usize,
    /// The n-grams, ascending, with their weights.
    grams: Vec<(u64, u32)>,
    /// What they weigh together.
    total: u64,
}

impl AnswerPart {
    /// `None` of no words.
    pub(in crate::decontaminate) fn new(
        words: Vec<u64>,
        ngram: usize,
        weight: impl Fn(u64) -> u32,
    ) -> Option<AnswerPart> {
        if words.len() <= SHORT {
            return (!words.is_empty()).then_some(AnswerPart::Words(words));
        }
        let reach = REACH.max(2 * words.len());
        let grams: Vec<(u64, u32)> =
            distinct(&words, ngram).into_iter().map(|gram| (gram, weight(gram))).collect();
        let total = grams.iter().map(|(_, weight)| u64::from(*weight)).sum();
        Some(AnswerPart::Grams(WeighedGrams { ngram, reach, grams, total }))
    }

    /// Within how many words of a question it is looked for.
    fn reach(&self) -> usize {
        match self {
            AnswerPart::Words(_) => SHORT_REACH,
            AnswerPart::Grams(of) => of.reach,
        }
    }

    /// Bytes that it takes beside itself.
    pub(in crate::decontaminate) fn bytes(&self) -> usize {
        match self {
            AnswerPart::Words(words) => words.len() * 8,
            AnswerPart::Grams(of) => of.grams.len() * size_of::<(u64, u32)>(),
        }
    }
}

/// How much of an answer or a passage stands near one place of a document after the other. No word is looked at twice, however
/// many places are near it.
pub(in crate::decontaminate) struct Nearby<'a> {
    part: &'a AnswerPart,
    /// N-grams of the part that begin in the present window: where, and which.
    within: VecDeque<(usize, u32)>,
    /// How often each n-gram of the part does.
    counts: Vec<u32>,
    /// What those weigh together that do.
    weight: u64,
    /// Where the first n-gram begins that no window had yet.
    next: usize,
    cut: Vec<u64>,
}

impl<'a> Nearby<'a> {
    /// Before the first place.
    pub(in crate::decontaminate) fn new(part: &'a AnswerPart) -> Nearby<'a> {
        let (within, cut) = (VecDeque::new(), Vec::new());
        Nearby { part, within, counts: Vec::new(), weight: 0, next: 0, cut }
    }

    /// The share of the part, by weight, that stands behind a place of a document, near enough. The place is behind that of the
    /// call before.
    pub(in crate::decontaminate) fn behind(&mut self, words: &[u64], place: usize) -> f64 {
        self.overlap(words, place..(place + self.part.reach()).min(words.len()))
    }

    /// The same before a place.
    pub(in crate::decontaminate) fn before(&mut self, words: &[u64], place: usize) -> f64 {
        self.overlap(words, place.saturating_sub(self.part.reach())..place)
    }

    fn overlap(&mut self, words: &[u64], window: Range<usize>) -> f64 {
        match self.part {
            AnswerPart::Words(own) => {
                let is_there = words[window].windows(own.len()).any(|words| words == own);
                f64::from(u8::from(is_there))
            }
            AnswerPart::Grams(of) => {
                self.slide(of, words, window);
                self.weight as f64 / of.total as f64
            }
        }
    }

    /// Makes some words of the document the present window.
    fn slide(&mut self, of: &WeighedGrams, words: &[u64], window: Range<usize>) {
        self.counts.resize(of.grams.len(), 0);
        while let Some((_, gram)) = self.within.front().copied().filter(|(at, _)| *at < window.start) {
            self.within.pop_front();
            let count = &mut self.counts[gram as usize];
            *count -= 1;
            self.weight -= if *count == 0 { u64::from(of.grams[gram as usize].1) } else { 0 };
        }
        let from = self.next.max(window.start);
        let end = (window.end + 1).saturating_sub(of.ngram);
        if from >= end {
            return;
        }
        shingles(&words[from..window.end], of.ngram, &mut self.cut);
        for (at, gram) in (from..).zip(&self.cut) {
            let Ok(gram) = of.grams.binary_search_by_key(gram, |(gram, _)| *gram) else { continue };
            let count = &mut self.counts[gram];
            self.weight += if *count == 0 { u64::from(of.grams[gram].1) } else { 0 };
            *count += 1;
            self.within.push_back((at, gram as u32));
        }
        self.next = end;
    }
}

/// Different n-grams of some words, ascending; none if these are fewer.
pub(in crate::decontaminate) fn distinct(words: &[u64], ngram: usize) -> Vec<u64> {
    let mut grams = Vec::new();
    if words.len() >= ngram {
        shingles(words, ngram, &mut grams);
        grams.sort_unstable();
        grams.dedup();
    }
    grams
}

/// How many of the words are different, or `most` if there are more.
pub(in crate::decontaminate) fn different<'a>(words: impl Iterator<Item = &'a u64>, most: usize) -> usize {
    let mut seen: Vec<u64> = Vec::with_capacity(most);
    for word in words {
        if seen.len() == most {
            break;
        }
        if !seen.contains(word) {
            seen.push(*word);
        }
    }
    seen.len()
}
