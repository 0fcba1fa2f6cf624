//! Vectors of idf weights, and their cosine (Kolcz, Chowdhury and Alspector 2003, with their rule that common terms are
//! in every document and so left out). 8 bytes a distinct term.

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::error::Result;
use crate::lexicon::{Band, Lexicon};
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::similarity::{norm, weight};
use crate::sketch::{Term, TermFinder};
use crate::threshold::Threshold;

/// Cosine over idf, without common terms (Kolcz, Chowdhury and Alspector 2003). 8 bytes a distinct term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cosine {
    /// A term in more than this percentage of the documents of the lexicon is taken to be in all, and left out, 1 to
    /// 100: 5.
    pub common_percent: u64,
}

impl Default for Cosine {
    fn default() -> Cosine {
        Cosine { common_percent: 5 }
    }
}

impl Technique for Cosine {
    fn check(&self) -> Result<()> {
        within(
            "cosine.common_percent",
            self.common_percent,
            1..=100,
            "5 is published, 100 leaves out no term",
        )
    }

    fn needs(&self) -> Needs {
        Needs { terms: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(AcceptanceRule::new(PairTest::Cosine(settings.threshold), Evidence::Proposal))
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        let rule = format!("at least {}", settings.threshold);
        Description {
            unit: "terms".to_owned(),
            sentence: rule.clone(),
            decides: "the cosine decides".to_owned(),
            rule,
        }
    }

    fn require_named(&self, lexicon: &Lexicon) -> Result<()> {
        require_uncommon(lexicon, self.common_percent)
    }

    fn sketcher(&self, settings: &Settings<'_>, tables: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        let band = |lexicon: &Lexicon| Band::uncommon(lexicon, self.common_percent);
        let finder = TermFinder::new(tables.lexicon.as_ref(), band);
        Box::new(CosineVectors { threshold: settings.threshold, finder })
    }
}

/// The sketcher of [`Cosine`].
struct CosineVectors {
    threshold: Threshold,
    finder: TermFinder,
}

impl MethodSketcher for CosineVectors {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        if let Some((terms, lexicon)) = self.finder.find(tokens) {
            cosine_vector(terms, lexicon, words);
        }
    }

    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        &words[..cosine_prefix(words, self.threshold)]
    }
}

/// Refuses a lexicon of which all terms are left out.
fn require_uncommon(lexicon: &Lexicon, percent: u64) -> Result<()> {
    if !Band::uncommon(lexicon, percent).is_empty() {
        return Ok(());
    }
    let documents = lexicon.header().documents;
    Err(lexicon.unfit(&format!(
        "has no term in {percent} % of its {documents} documents or in fewer, and all others are left out; build one \
         from more documents"
    )))
}

/// Writes to `words` (cleared first) the vector of a text with these terms ([`crate::sketch::terms_of`], without the common
/// ones: [`Band::uncommon`]), strictly ascending, so the rarest first: a term's rank in the upper 32
/// bits, its weight in the lower.
///
/// A component of the vector is the normalised idf of a term that the text has, in parts of 2^-16; the weight is its
/// square, so that what two vectors share is a sum of weights. It is of integers and the same on every machine. Ours is
/// that a term counts once however often it stands: the rule says whether a document has a term. A term of weight 0 is
/// left out.
fn cosine_vector(terms: &[Term], lexicon: &Lexicon, words: &mut Vec<u64>) {
    words.clear();
    words.extend(terms.iter().filter_map(|term| {
        let idf = lexicon.fixed_idf(term.hash).filter(|idf| *idf > 0)?;
        Some((u64::from(term.rank) << 32) | (idf * idf))
    }));
}

/// Words of a vector that are enough as keys for no pair with a cosine at or over the threshold to be lost: the least
/// number after which the rest weighs less than `t^2` of the whole; 0 for the empty vector.
///
/// Were no word shared before that, what is shared, S, would be part of the rest of this vector, and part of the other:
/// `S <= B`. From `S^2 >= t^2 A B >= t^2 A S` follows `S >= t^2 A`, and the rest weighs less. The rarest shared word is
/// so within the prefixes of both.
fn cosine_prefix(words: &[u64], threshold: Threshold) -> usize {
    let (num, den) = threshold.fraction();
    let times = |sum: u64, factor: u64| u128::from(sum) * u128::from(factor) * u128::from(factor);
    let needed = times(norm(words), num);
    let mut rest = 0;
    let suffix = words.iter().rev().take_while(|word| {
        rest += weight(**word);
        times(rest, den) < needed
    });
    words.len() - suffix.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::made::{graded, hashes, word};
    use crate::similarity::{cosine_at_least, shared_weight};
    use crate::sketch::terms_of;
    use proptest::prelude::*;

    fn t(text: &str) -> Threshold {
        text.parse().expect("a threshold")
    }

    fn vector(lexicon: &Lexicon, numbers: &[usize]) -> Vec<u64> {
        let tokens = hashes(&numbers.iter().map(|n| word(*n)).collect::<Vec<_>>().join(" "));
        let (mut terms, mut words) = (vec![], vec![5]);
        terms_of(&tokens, lexicon, &Band::uncommon(lexicon, 5), &mut terms);
        cosine_vector(&terms, lexicon, &mut words);
        words
    }

    /// Words of ranks and weights.
    fn words(of: &[(u64, u64)]) -> Vec<u64> {
        of.iter().map(|(rank, weight)| rank << 32 | weight).collect()
    }

    /// Of 1,000 documents, idf is ln(1000.5 / n) / ln 1001: 0.9999 of 1 and 0.6665 of 10 documents.
    #[test]
    fn a_weight_is_the_square_of_the_idf() {
        let lexicon = graded(100);
        let found = vector(&lexicon, &[9, 0, 50, 49, 9]);
        let ranks: Vec<u64> = found.iter().map(|word| word >> 32).collect();
        assert_eq!(ranks, [0, 9, 49]);
        let idf = |n: f64| ((1000.5 / n).ln() / 1001f64.ln() * 65536.0).floor() as u64;
        assert_eq!(found, words(&[(0, idf(1.0).pow(2)), (9, idf(10.0).pow(2)), (49, idf(50.0).pow(2))]));
    }

    #[test]
    fn the_prefix_leaves_too_little() {
        let a = words(&[(1, 40), (2, 30), (3, 20), (4, 10)]);
        // 0.8^2 of 100 is 64: 60 after one word are less, 100 after none are not.
        assert_eq!(cosine_prefix(&a, t("0.8")), 1);
        assert_eq!(cosine_prefix(&a, t("0.5")), 3);
        assert_eq!(cosine_prefix(&a, t("0.1")), 4);
        assert_eq!(cosine_prefix(&a, t("1")), 1);
        assert_eq!(cosine_prefix(&[], t("0.8")), 0);
    }

    fn weighed() -> impl Strategy<Value = Vec<u64>> {
        // The weight is a function of the rank, as it is in a lexicon.
        prop::collection::btree_set(0u64..25, 0..25)
            .prop_map(|ranks| ranks.into_iter().map(|rank| rank << 32 | (1000 - 39 * rank)).collect())
    }

    proptest! {
        #[test]
        fn the_slow_way_says_the_same(a in weighed(), b in weighed(), percent in 1u64..=100) {
            let shared: u64 = a.iter().filter(|word| b.contains(word)).map(|word| weight(*word)).sum();
            prop_assert_eq!(shared_weight(&a, &b), shared);
            let slow = shared > 0
                && u128::from(shared).pow(2) * 10_000 >= u128::from(percent).pow(2) * u128::from(norm(&a) * norm(&b));
            let threshold = t(&format!("{}.{:02}", percent / 100, percent % 100));
            prop_assert_eq!(cosine_at_least(&a, &b, threshold), slow);
            let prefix = |words: &[u64]| words[..cosine_prefix(words, threshold)].to_vec();
            prop_assert!(!slow || prefix(&a).iter().any(|word| prefix(&b).contains(word)), "a pair is lost");
        }
    }
}
