//! The score of an item that has a question, and perhaps an answer and a passage: the rule of decon (report of OLMo 3, appendix A.5).
//!
//! N-grams of a question that stand near each other are a run. The rarer an n-gram among all items, the more it weighs (IDF). What a
//! run has of the question's weight, and what stands of the answer and of the passage near it, is added up with a share
//! for each. Weights are whole numbers, so that their sums are the same in any order.

pub(in crate::decontaminate) mod answers;

use std::cmp::Reverse;
use std::ops::Range;

use hashbrown::HashMap;

use self::answers::{AnswerPart, Nearby, different, distinct};
use crate::decontaminate::grams::stretches::{GramAt, ItemStretch};
use crate::decontaminate::grams::table::any_order;
use crate::decontaminate::rule::ContaminationRule;
use crate::threshold::Threshold;

/// A run ends where so many n-grams in a row are not of the question.
const GAP: u32 = 11;
/// Words of n-grams of answers and of passages.
const ANSWER_NGRAM: usize = 3;
const PASSAGE_NGRAM: usize = 4;
/// Items, and questions, of so many words must be there whole.
const WHOLE: usize = 20;
/// From so many words on the threshold is enough; between the two lengths what is needed falls in proportion.
const EASED: usize = 50;
/// What answer and passage are at most of a score: no question with less than the threshold without them is enough.
const OTHERS: f64 = 0.3;
/// Questions of fewer n-grams, and answers of fewer words, have a lower share of the score.
const TELLING_GRAMS: usize = 20;
const TELLING_WORDS: usize = 4;
/// Bits of a weight behind the point.
const WEIGHT_BITS: u32 = 16;
/// Bits behind the point of what a weight is the logarithm of.
const RARITY_BITS: u32 = 31;
/// What rounding may take from a sum of shares.
const ROUNDING: f64 = 1e-9;
/// Parts of a score as it is handed on.
pub(in crate::decontaminate) const MILLION: f64 = 1e6;

/// What is known of an item before all are: the words of its parts.
pub(in crate::decontaminate) struct ItemParts {
    /// Words of all parts.
    pub(in crate::decontaminate) words: usize,
    pub(in crate::decontaminate) answer: Vec<u64>,
    pub(in crate::decontaminate) passage: Vec<u64>,
}

impl ItemParts {
    /// Bytes that items with so many words take at most, whose questions have so many n-grams: the words, n-grams with weights, and how
    /// often each is, while that is counted.
    pub(in crate::decontaminate) fn bytes(items: usize, words: usize, questions: usize) -> usize {
        let of_items = items * (size_of::<ItemParts>() + size_of::<ScoredItem>());
        of_items + questions * (4 + ItemCounts::BYTES) + words * (8 + 8 + 16 + ItemCounts::BYTES)
    }
}

/// All items, by the numbers of their questions among the texts.
pub(in crate::decontaminate) struct ItemScores {
    ngram: u32,
    items: Vec<ScoredItem>,
    /// The weight of each n-gram of all questions.
    weights: Vec<u32>,
}

struct ScoredItem {
    /// Its first n-gram among those of all questions.
    first: usize,
    /// What its question weighs, and the least weight of a run with which the item can be found.
    total: u64,
    needed: u64,
    /// The least score.
    required: f64,
    /// Shares of question, answer and passage.
    shares: [f64; 3],
    answer: Option<AnswerPart>,
    passage: Option<AnswerPart>,
}

/// In how many of all items each n-gram is.
struct ItemCounts {
    counts: HashMap<u64, u32>,
    items: u64,
}

impl ItemCounts {
    /// Bytes that an n-gram takes at most: a table has up to 16 slots for 7 of them.
    const BYTES: usize = size_of::<(u64, u32)>() * 16 / 7 + 3;

    /// Counts the n-grams of all items, of which there are `most` at most; those of an item come once each.
    fn of<G: AsRef<[u64]>>(items: impl ExactSizeIterator<Item = G>, most: usize) -> ItemCounts {
        let (mut counts, of_items) = (HashMap::with_capacity(most), items.len() as u64);
        for grams in items {
            grams.as_ref().iter().for_each(|gram| *counts.entry(*gram).or_default() += 1);
        }
        ItemCounts { counts, items: of_items }
    }

    /// The weight of an n-gram that was counted. One item more is taken to be there, so that an n-gram of all items weighs something.
    fn weight(&self, gram: u64) -> u32 {
        let rarity = ((self.items + 1) << RARITY_BITS) / u64::from(self.counts[&gram]);
        logarithm(rarity).max(1)
    }
}

/// The logarithm of a number from 1 on, to the base of 2, rounded down: the number has [`RARITY_BITS`] behind the point, its
/// logarithm [`WEIGHT_BITS`]. That of floating point may differ from machine to machine.
fn logarithm(number: u64) -> u32 {
    let whole = number.ilog2();
    let mut rest = if whole > RARITY_BITS { number >> (whole - RARITY_BITS) } else { number };
    let mut log = whole - RARITY_BITS;
    for _ in 0..WEIGHT_BITS {
        rest = (rest * rest) >> RARITY_BITS;
        let bit = rest >> (RARITY_BITS + 1);
        rest >>= bit;
        log = log << 1 | bit as u32;
    }
    log
}

impl ItemScores {
    /// The scores of items whose questions have the n-grams `grams`, each item its own range of them. They are put in the order in
    /// which they are looked for, and how many of them are is handed back for each item.
    pub(in crate::decontaminate) fn new(
        rule: ContaminationRule,
        ranges: &[Range<usize>],
        grams: &mut [u64],
        parts: Vec<ItemParts>,
    ) -> (ItemScores, Vec<usize>) {
        let questions = ItemCounts::of(ranges.iter().map(|range| &grams[range.clone()]), grams.len());
        let of_answers = parts.iter().map(|parts| distinct(&parts.answer, ANSWER_NGRAM));
        let answers = ItemCounts::of(of_answers, parts.iter().map(|parts| parts.answer.len()).sum());
        let of_passages = parts.iter().map(|parts| distinct(&parts.passage, PASSAGE_NGRAM));
        let passages = ItemCounts::of(of_passages, parts.iter().map(|parts| parts.passage.len()).sum());
        let mut scores = ItemScores {
            ngram: rule.ngram as u32,
            items: Vec::with_capacity(parts.len()),
            weights: grams.iter().map(|gram| questions.weight(*gram)).collect(),
        };
        let mut wanted = Vec::with_capacity(parts.len());
        for (range, parts) in ranges.iter().zip(parts) {
            let weights = &mut scores.weights[range.clone()];
            rarest_first(&mut grams[range.clone()], weights);
            let mut item = ScoredItem::new(rule, weights, &parts);
            item.first = range.start;
            item.answer = AnswerPart::new(parts.answer, ANSWER_NGRAM, |gram| answers.weight(gram));
            item.passage = AnswerPart::new(parts.passage, PASSAGE_NGRAM, |gram| passages.weight(gram));
            wanted.push(item.wanted(weights));
            scores.items.push(item);
        }
        (scores, wanted)
    }

    /// Bytes that they take.
    pub(in crate::decontaminate) fn bytes(&self) -> usize {
        let parts = self.items.iter().flat_map(|item| [&item.answer, &item.passage]).flatten();
        let parts: usize = parts.map(AnswerPart::bytes).sum();
        parts + self.items.len() * size_of::<ScoredItem>() + self.weights.len() * 4
    }

    /// Whether n-grams of a question that stand in a document weigh enough together, each given once.
    pub(in crate::decontaminate) fn may_reach(&self, item: usize, standing: &[GramAt]) -> bool {
        let item = &self.items[item];
        self.weight(item, standing.iter().map(|gram| gram.gram)) >= item.needed
    }

    fn weight(&self, item: &ScoredItem, grams: impl Iterator<Item = u32>) -> u64 {
        grams.map(|gram| u64::from(self.weights[item.first + gram as usize])).sum()
    }

    /// Appends the runs of a question that make a score high enough, ascending. All places of its n-grams are given, ascending,
    /// and the words of the document.
    pub(in crate::decontaminate) fn find(
        &self,
        item: usize,
        standing: &[GramAt],
        words: &[u64],
        out: &mut Vec<ItemStretch>,
    ) {
        let item = &self.items[item];
        let mut grams: Vec<u32> = Vec::with_capacity(standing.len());
        let [mut answer, mut passage] =
            [&item.answer, &item.passage].map(|part| part.as_ref().map(Nearby::new));
        for run in standing.chunk_by(|a, b| b.at - a.at <= GAP) {
            grams.clear();
            grams.extend(run.iter().map(|gram| gram.gram));
            grams.sort_unstable();
            grams.dedup();
            let weight = self.weight(item, grams.iter().copied());
            if weight < item.needed {
                continue;
            }
            let (first, last) = (run[0].at, run[run.len() - 1].at);
            let (from, to) = (first as usize, (last + self.ngram) as usize);
            let overlaps = [
                weight as f64 / item.total as f64,
                answer.as_mut().map_or(0.0, |answer| answer.behind(words, to)),
                passage.as_mut().map_or(0.0, |passage| passage.before(words, from)),
            ];
            let score: f64 = item.shares.iter().zip(overlaps).map(|(share, overlap)| share * overlap).sum();
            if score + ROUNDING >= item.required {
                let (found, score) = (grams.len() as u32, (score * MILLION).round() as u32);
                out.push(ItemStretch { first, last, found, score });
            }
        }
    }
}

impl ScoredItem {
    /// An item whose question has n-grams of these weights. Its other parts, and where these n-grams stand, are put in later.
    fn new(rule: ContaminationRule, weights: &[u32], parts: &ItemParts) -> ScoredItem {
        let threshold = rule.threshold.map_or(1.0, Threshold::to_f64);
        let total = weights.iter().map(|weight| u64::from(*weight)).sum();
        let shares = shares(weights.len(), &parts.answer, &parts.passage);
        let required = required(parts.words, threshold);
        // With all of the answer and of the passage; and whatever these are, what a question needs by itself.
        let with_others = (required - (1.0 - shares[0])) / shares[0];
        let question = parts.words - parts.answer.len() - parts.passage.len();
        let by_itself = self::required(question, (threshold - OTHERS) / (1.0 - OTHERS));
        let least = with_others.max(by_itself) - ROUNDING;
        let needed = (least * total as f64).ceil().max(1.0) as u64;
        ScoredItem { first: 0, total, needed, required, shares, answer: None, passage: None }
    }

    /// By how many of its n-grams, the rarest ones, a question is looked for: those left weigh too little.
    fn wanted(&self, weights: &[u32]) -> usize {
        let rest = weights.iter().scan(self.total, |rest, weight| {
            let before = *rest;
            *rest -= u64::from(*weight);
            Some(before)
        });
        rest.take_while(|rest| *rest >= self.needed).count()
    }
}

/// Sorts n-grams, and their weights with them.
fn rarest_first(grams: &mut [u64], weights: &mut [u32]) {
    let weighed = weights.iter().zip(grams.iter());
    let mut both: Vec<(Reverse<u32>, u64, u64)> =
        weighed.map(|(weight, gram)| (Reverse(*weight), any_order(*gram), *gram)).collect();
    both.sort_unstable();
    for ((own, weight), (Reverse(of_gram), _, gram)) in grams.iter_mut().zip(weights).zip(both) {
        (*own, *weight) = (gram, of_gram);
    }
}

/// What is needed of so many words, where `threshold` is of many.
fn required(words: usize, threshold: f64) -> f64 {
    let eased = (words.clamp(WHOLE, EASED) - WHOLE) as f64 / (EASED - WHOLE) as f64;
    1.0 - (1.0 - threshold) * eased
}

/// Shares of question, answer and passage in the score: what a short question or a short answer loses goes to the others.
fn shares(question: usize, answer: &[u64], passage: &[u64]) -> [f64; 3] {
    let telling = |count: usize, most: usize| 0.5 + 0.5 * count.min(most) as f64 / most as f64;
    let asked = telling(question, TELLING_GRAMS);
    let different = different(answer.iter(), TELLING_WORDS);
    match (answer.is_empty(), passage.is_empty()) {
        (true, true) => [1.0, 0.0, 0.0],
        (false, true) => [0.75 * asked, 0.25 + 0.75 * (1.0 - asked), 0.0],
        (true, false) => [0.85 * asked, 0.0, 0.15 + 0.85 * (1.0 - asked)],
        (false, false) => {
            let lost = 0.7 * (1.0 - asked);
            let whole = 0.2 + lost / 2.0;
            let answer = whole * telling(different, TELLING_WORDS);
            [0.7 * asked, answer, 0.1 + lost / 2.0 + (whole - answer)]
        }
    }
}

#[cfg(test)]
mod tests;
