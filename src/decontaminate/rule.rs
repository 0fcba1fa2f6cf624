//! When a text of a benchmark stands in a document.

use serde::{Deserialize, Serialize};

use super::around::CutRule;
use crate::error::{Error, Result};
use crate::limits::MAX_NGRAM;
use crate::sketch::shingles;
use crate::text::Fold;
use crate::threshold::Threshold;

/// Lengths of n-grams that texts are cut into, up to the longest one that is asked for.
const SIZES: [usize; 4] = [2, 3, 5, 8];

/// When a text of a benchmark stands in a document: enough of its distinct n-grams stand close together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContaminationRule {
    /// The share of n-grams that is enough; `None` if one n-gram is.
    pub threshold: Option<Threshold>,
    /// Words of the longest n-grams.
    pub ngram: usize,
    /// Texts of fewer words are not looked for.
    pub min_words: usize,
    /// Which spellings are one.
    pub fold: Fold,
    /// N-grams that stand in more documents of the corpus than this are not looked for, where one n-gram is enough; `None` if all
    /// are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_documents: Option<u32>,
    /// Whether the share of each item that stands anywhere in the corpus is told, where one n-gram is enough.
    #[serde(default, skip_serializing_if = "is_not")]
    pub shares: bool,
    /// Whether an item is a question, an answer and a passage, of which the score must reach the threshold: the rule of decon.
    #[serde(default, skip_serializing_if = "is_not")]
    pub scored: bool,
    /// What is cut, and marked, around n-grams, where one is enough; `None` if passages are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutRule>,
}

/// Leaves out of JSON what a rule does not ask for.
fn is_not(asked: &bool) -> bool {
    !asked
}

/// How a text is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextTest {
    /// Words of its n-grams.
    pub(super) ngram: usize,
    /// Its distinct n-grams, ascending.
    pub(super) grams: Vec<u64>,
    /// How many of them are enough.
    pub(super) needed: usize,
    /// Within how many n-grams of a document, one beginning at each word.
    pub(super) window: usize,
}

impl ContaminationRule {
    /// Refuses n-grams that no text has.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        let least = if self.threshold.is_none() { 1 } else { SIZES[0] };
        if !(least..=MAX_NGRAM).contains(&self.ngram) {
            return Err(Error::config(format!(
                "--ngram {}: expected {least} to {MAX_NGRAM} words; leave it out for what suits most benchmarks",
                self.ngram
            )));
        }
        if self.threshold.is_some() && (self.max_documents.is_some() || self.cut.is_some()) {
            return Err(Error::config(
                "--max-documents, --margin, --min-piece and --max-pieces: only where one n-gram is enough; add --any-ngram",
            ));
        }
        if self.shares && self.threshold.is_some() {
            return Err(Error::config(
                "--items: only where one n-gram is enough: with --any-ngram, or a preset with such a rule",
            ));
        }
        if self.min_words == 0 {
            return Err(Error::config("--min-words 0: a text has a word at least; 8 suits most benchmarks"));
        }
        Ok(())
    }

    /// The shortest text that is looked for, for people.
    pub fn least(&self) -> String {
        if self.scored {
            return format!(
                "{} words or more, 4 of them different, and a question of {}",
                self.min_words, self.ngram
            );
        }
        format!("a text of {} words or more", self.shortest().max(self.min_words))
    }

    /// What to do where all texts are shorter, for people.
    pub fn remedy(&self) -> &'static str {
        match (self.scored, self.shortest() > self.min_words) {
            (true, _) => "the question first, or lower --min-words",
            (false, true) => "join them with --join-fields, or lower --ngram",
            (false, false) => "join them with --join-fields, or lower --min-words",
        }
    }

    /// Words of the shortest n-grams.
    fn shortest(&self) -> usize {
        if self.threshold.is_none() { self.ngram } else { SIZES[0] }
    }

    /// How a text of these tokens is looked for; `None` if it is too short.
    ///
    /// The longest n-grams are taken of which enough are left when one word is another; the shortest if none are so short.
    pub(super) fn test(&self, tokens: &[u64]) -> Option<TextTest> {
        if tokens.len() < self.min_words && !self.scored {
            return None;
        }
        let Some(threshold) = self.threshold.filter(|_| !self.scored) else {
            let fits = tokens.len() >= self.ngram;
            return fits.then(|| TextTest { needed: 1, ..cut(tokens, self.ngram) });
        };
        let with_share = |ngram: usize| {
            let test = cut(tokens, ngram);
            let needed = threshold.ceil(test.grams.len() as u64) as usize;
            TextTest { needed, ..test }
        };
        let allows_a_change = |test: &TextTest| test.grams.len() >= test.needed + test.ngram;
        let longest =
            [self.ngram].into_iter().chain(SIZES.into_iter().rev().filter(|size| *size < self.ngram));
        let fitting = || longest.clone().filter(|size| *size <= tokens.len());
        let shortest = fitting().next_back()?;
        Some(fitting().map(with_share).find(allows_a_change).unwrap_or_else(|| with_share(shortest)))
    }
}

/// The n-grams of a text that has as many words, or more; all of them are needed.
fn cut(tokens: &[u64], ngram: usize) -> TextTest {
    let mut grams = Vec::new();
    shingles(tokens, ngram, &mut grams);
    let places = grams.len();
    grams.sort_unstable();
    grams.dedup();
    TextTest { ngram, needed: grams.len(), grams, window: places + places.div_ceil(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(threshold: &str) -> ContaminationRule {
        let threshold = Some(threshold.parse().expect("a threshold"));
        ContaminationRule { threshold, ngram: 8, min_words: 8, ..ContaminationRule::default() }
    }

    fn tokens(count: u64) -> Vec<u64> {
        (1..=count).map(|token| token.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    }

    #[test]
    fn short_texts_have_short_ngrams() {
        let ngram = |words: u64| rule("0.7").test(&tokens(words)).map(|test| (test.ngram, test.needed));
        assert_eq!(ngram(7), None);
        assert_eq!(ngram(8), Some((2, 5)));
        assert_eq!(ngram(13), Some((3, 8)));
        assert_eq!(ngram(21), Some((5, 12)));
        assert_eq!(ngram(34), Some((8, 19)));
        assert_eq!(ngram(1000), Some((8, 696)));
        // At 0.9 no two of seven n-grams may be missing.
        assert_eq!(rule("0.9").test(&tokens(8)).map(|test| (test.ngram, test.needed)), Some((2, 7)));
    }

    /// Whichever word is another one: what is left is enough.
    #[test]
    fn one_word_may_be_another() {
        for words in 8..120 {
            let original = tokens(words);
            let test = rule("0.7").test(&original).expect("long enough");
            for changed in 0..original.len() {
                let mut tokens = original.clone();
                tokens[changed] = 1;
                let mut left = Vec::new();
                shingles(&tokens, test.ngram, &mut left);
                left.retain(|gram| test.grams.binary_search(gram).is_ok());
                assert!(left.len() >= test.needed, "{words} words, {changed}");
            }
        }
    }

    #[test]
    fn one_ngram_may_be_enough() {
        let rule = ContaminationRule { threshold: None, ngram: 13, ..rule("0.7") };
        assert!(rule.test(&tokens(12)).is_none());
        let test = rule.test(&tokens(14)).expect("long enough");
        assert_eq!((test.grams.len(), test.needed, test.window), (2, 1, 3));
    }

    #[test]
    fn repeats_count_once() {
        let test = rule("0.7").test(&[7; 20]).expect("long enough");
        assert_eq!((test.ngram, test.grams.len(), test.needed), (2, 1, 1));
        // a b a b a b a b c d: four pairs of words, of which two are left with another word before the last.
        let repeating = [1, 2, 1, 2, 1, 2, 1, 2, 3, 4];
        let test = rule("0.7").test(&repeating).expect("long enough");
        assert_eq!((test.ngram, test.grams.len(), test.needed), (2, 4, 3));
    }

    #[test]
    fn refuses_what_no_text_has() {
        for (ngram, min_words) in [(1, 8), (0, 8), (MAX_NGRAM + 1, 8), (8, 0)] {
            let wrong = ContaminationRule { ngram, min_words, ..rule("0.5") };
            assert!(matches!(wrong.check(), Err(Error::Config(_))), "{ngram} {min_words}");
        }
        rule("0.5").check().expect("a rule");
        ContaminationRule { threshold: None, ngram: 1, min_words: 1, ..rule("0.7") }.check().expect("a rule");
    }
}
