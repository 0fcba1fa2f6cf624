//! The score of an item that has a question, and perhaps an answer and a passage: the rule of decon (report of OLMo 3, appendix A.5).
//!
//! N-grams of a question that stand near each other are a run. The rarer an n-gram among all items, the more it weighs (IDF). What a
//! run has of the question's weight, and what stands of the answer and of the passage near it, is added up with a share
//! for each. Weights are whole numbers, so that their sums are the same in any order.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::answers::{AnswerPart, Nearby, distinct};
use super::rule::ContaminationRule;
use super::stretches::{GramAt, ItemStretch};
use crate::threshold::Threshold;

/// A run ends where so many n-grams in a row are not of the question.
const GAP: u32 = 11;
/// Words of n-grams of answers and of passages.
const ANSWER_NGRAM: usize = 3;
const PASSAGE_NGRAM: usize = 4;
/// Items of so many words must be there whole.
const WHOLE: usize = 20;
/// From so many words on the threshold is enough; between the two lengths what is needed falls in proportion.
const EASED: usize = 50;
/// Questions of fewer n-grams, and answers of fewer words, have a lower share of the score.
const TELLING_GRAMS: usize = 20;
const TELLING_WORDS: usize = 4;
/// Parts of a weight, which is the natural logarithm of how rare an n-gram is.
const WEIGHT: f64 = 65_536.0;
/// What rounding may take from a sum of shares.
const ROUNDING: f64 = 1e-9;
/// Parts of a score as it is handed on.
pub(super) const MILLION: f64 = 1e6;

/// What is known of an item before all are: the words of its parts.
pub(super) struct ItemParts {
    /// Words of all parts.
    pub(super) words: usize,
    pub(super) answer: Vec<u64>,
    pub(super) passage: Vec<u64>,
}

impl ItemParts {
    /// Bytes that parts of so many words take, as they are, as n-grams with weights, and while these are counted.
    pub(super) fn bytes(words: usize) -> usize {
        words * (8 + 16 + 2 * size_of::<(u64, u32)>())
    }
}

/// All items, by the numbers of their questions among the texts.
pub(super) struct ItemScores {
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

/// In how many items each n-gram is.
#[derive(Default)]
struct ItemCounts(HashMap<u64, u32>);

impl ItemCounts {
    /// Counts the n-grams of an item, each of which comes once.
    fn add(&mut self, grams: &[u64]) {
        grams.iter().for_each(|gram| *self.0.entry(*gram).or_default() += 1);
    }

    /// The weight of an n-gram among so many items. One item more is taken to be there, so that an n-gram of all items weighs
    /// something.
    fn weight(&self, gram: u64, items: usize) -> u32 {
        let count = self.0.get(&gram).copied().unwrap_or(1);
        let rarity = (items as f64 + 1.0) / f64::from(count);
        (rarity.ln() * WEIGHT).round().max(1.0) as u32
    }
}

impl ItemScores {
    /// The scores of items whose questions have the n-grams `grams`, each item its own range of them. They are put in the order in
    /// which they are looked for, and how many of them are is handed back for each item.
    pub(super) fn new(
        rule: ContaminationRule,
        ranges: &[std::ops::Range<usize>],
        grams: &mut [u64],
        parts: Vec<ItemParts>,
    ) -> (ItemScores, Vec<usize>) {
        let (mut questions, mut answers, mut passages) =
            (ItemCounts::default(), ItemCounts::default(), ItemCounts::default());
        ranges.iter().for_each(|range| questions.add(&grams[range.clone()]));
        for part in &parts {
            answers.add(&distinct(&part.answer, ANSWER_NGRAM));
            passages.add(&distinct(&part.passage, PASSAGE_NGRAM));
        }
        let (count, mut items, mut wanted) = (parts.len(), Vec::new(), Vec::new());
        for (range, part) in ranges.iter().zip(parts) {
            let own = &mut grams[range.clone()];
            own.sort_unstable_by_key(|gram| (Reverse(questions.weight(*gram, count)), *gram));
            let weights = || own.iter().map(|gram| u64::from(questions.weight(*gram, count)));
            let total: u64 = weights().sum();
            let required = required(part.words, rule);
            let shares = shares(own.len(), &part.answer, &part.passage);
            // With all of the answer and of the passage.
            let least = (required - (1.0 - shares[0])) / shares[0] - ROUNDING;
            let needed = (least * total as f64).ceil().max(1.0) as u64;
            let rest = weights().scan(total, |rest, weight| {
                let before = *rest;
                *rest -= weight;
                Some(before)
            });
            wanted.push(rest.take_while(|rest| *rest >= needed).count());
            items.push(ScoredItem {
                first: range.start,
                total,
                needed,
                required,
                shares,
                answer: AnswerPart::new(part.answer, ANSWER_NGRAM, |gram| answers.weight(gram, count)),
                passage: AnswerPart::new(part.passage, PASSAGE_NGRAM, |gram| passages.weight(gram, count)),
            });
        }
        let weights = grams.iter().map(|gram| questions.weight(*gram, count)).collect();
        (ItemScores { ngram: rule.ngram as u32, items, weights }, wanted)
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let parts = self.items.iter().flat_map(|item| [&item.answer, &item.passage]).flatten();
        let parts: usize = parts.map(AnswerPart::bytes).sum();
        parts + self.items.len() * size_of::<ScoredItem>() + self.weights.len() * 4
    }

    /// Whether n-grams of a question that stand in a document weigh enough together, each given once.
    pub(super) fn may_reach(&self, item: usize, standing: &[GramAt]) -> bool {
        let item = &self.items[item];
        self.weight(item, standing.iter().map(|gram| gram.gram)) >= item.needed
    }

    fn weight(&self, item: &ScoredItem, grams: impl Iterator<Item = u32>) -> u64 {
        grams.map(|gram| u64::from(self.weights[item.first + gram as usize])).sum()
    }

    /// Appends the runs of a question that make a score high enough, ascending. All places of its n-grams are given, ascending,
    /// and the words of the document.
    pub(super) fn find(&self, item: usize, standing: &[GramAt], words: &[u64], out: &mut Vec<ItemStretch>) {
        let item = &self.items[item];
        let mut grams: Vec<u32> = Vec::new();
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
            let at = first as usize..(last + self.ngram) as usize;
            let [answer, passage] = [&mut answer, &mut passage]
                .map(|part| part.as_mut().map_or(0.0, |nearby| nearby.overlap(words, at.clone())));
            let overlaps = [weight as f64 / item.total as f64, answer, passage];
            let score: f64 = item.shares.iter().zip(overlaps).map(|(share, overlap)| share * overlap).sum();
            if score + ROUNDING >= item.required {
                let (found, score) = (grams.len() as u32, (score * MILLION).round() as u32);
                out.push(ItemStretch { first, last, found, score });
            }
        }
    }
}

/// The least score of an item of so many words.
fn required(words: usize, rule: ContaminationRule) -> f64 {
    let threshold = rule.threshold.map_or(1.0, Threshold::to_f64);
    let eased = (words.clamp(WHOLE, EASED) - WHOLE) as f64 / (EASED - WHOLE) as f64;
    1.0 - (1.0 - threshold) * eased
}

/// Shares of question, answer and passage in the score: what a short question or a short answer loses goes to the others.
fn shares(question: usize, answer: &[u64], passage: &[u64]) -> [f64; 3] {
    let telling = |count: usize, most: usize| 0.5 + 0.5 * count.min(most) as f64 / most as f64;
    let asked = telling(question, TELLING_GRAMS);
    let different = answer.iter().collect::<std::collections::BTreeSet<_>>().len();
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
#[path = "scores_tests.rs"]
mod tests;
