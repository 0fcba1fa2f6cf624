//! The exact joins: all pairs with a resemblance, or a containment, at or over the threshold, and no others.
//!
//! For any one order of shingles, two sets of resemblance t or more share a member among the first `n - ceil(t n) + 1` of
//! each of n: the prefix filter of set-similarity joins (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). The
//! order is that of a frozen table of how common shingles are, so the keys are rare ones.
//!
//! For containment one of the first `n - ceil(t n) + 1` of the smaller set is anywhere in the larger one. The keys of a document
//! are all of its shingles, and each tells whether it is one of those first. A run posts none of them: which meet anybody is known
//! once all documents have been read ([`Evidence::AllOfLarger`]). A collection stores them, for the loads to come.

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique};
use crate::error::Result;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::sketch::{Rarity, Spread, indexing_key, shingles_by};
use crate::threshold::Threshold;
use std::sync::Arc;

/// The method of all pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Join {
    /// What is held against the threshold.
    pub measure: JoinMeasure,
}

/// What [`Join`] holds against the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinMeasure {
    /// Shared shingles over those of either text (Jaccard).
    #[default]
    Resemblance,
    /// Shared shingles over those of the text that has fewer.
    Containment,
    /// Shared shingles over those of the protected text; of two texts neither of which is protected, over those of the one that
    /// has fewer.
    ContainmentOfProtected,
}

impl Technique for Join {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, rarity: true, signatures: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        let t = settings.threshold;
        Some(match self.measure {
            JoinMeasure::Resemblance => AcceptanceRule::new(PairTest::Resemblance(t), Evidence::Prefix(t)),
            JoinMeasure::Containment => {
                AcceptanceRule::new(PairTest::Containment(t), Evidence::AllOfLarger(t))
            }
            JoinMeasure::ContainmentOfProtected => {
                AcceptanceRule::new(PairTest::Containment(t), Evidence::AllOfLarger(t))
                    .containing_protected(t)
            }
        })
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        let t = settings.threshold;
        let (rule, measure) = match self.measure {
            JoinMeasure::Resemblance => (format!("at least {t}"), "resemblance"),
            JoinMeasure::Containment => (format!("{t} contained"), "containment"),
            JoinMeasure::ContainmentOfProtected => {
                (format!("{t} of the protected contained"), "containment of the protected text")
            }
        };
        Description {
            unit: settings.shingle(),
            sentence: format!("{measure} at least {t}"),
            decides: format!("{measure} decides"),
            rule,
        }
    }

    fn sketcher(
        &self,
        settings: &Settings<'_>,
        tables: &FrozenTables,
        simd: Simd,
    ) -> Box<dyn MethodSketcher> {
        Box::new(Joined {
            ngram: settings.text.ngram,
            simd,
            measure: self.measure,
            threshold: settings.threshold,
            rarity: Arc::clone(&tables.rarity),
            spread: Spread::default(),
            keys: Vec::new(),
            first: Vec::new(),
            commoner: Vec::new(),
        })
    }
}

/// The sketcher of [`Join`]: all shingles, the rarest of which are keys.
struct Joined {
    ngram: usize,
    simd: Simd,
    measure: JoinMeasure,
    threshold: Threshold,
    rarity: Arc<Rarity>,
    spread: Spread,
    keys: Vec<u64>,
    /// Those that index a set, where there are others.
    first: Vec<u64>,
    commoner: Vec<(u8, u64)>,
}

impl MethodSketcher for Joined {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles_by(self.simd, tokens, self.ngram, words);
        self.spread.sort_distinct(words);
    }

    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        let Joined { rarity, threshold, keys, first, commoner, .. } = self;
        match self.measure {
            JoinMeasure::Resemblance => rarity.rarest(words, threshold.prefix(words.len()), keys, commoner),
            JoinMeasure::Containment | JoinMeasure::ContainmentOfProtected => {
                rarity.rarest(words, threshold.containment_prefix(words.len()), first, commoner);
                first.sort_unstable();
                let mut first = first.iter().peekable();
                let key = |word: &u64| indexing_key(*word, first.next_if_eq(&word).is_some());
                keys.clear();
                keys.extend(words.iter().map(key));
            }
        }
        &self.keys
    }
}
