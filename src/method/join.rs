//! The exact join: all pairs with a resemblance at or over the threshold, and no others.
//!
//! For any one order of shingles, two sets of resemblance t or more share a member among the first `n - ceil(t n) + 1` of
//! each of n: the prefix filter of set-similarity joins (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007). The
//! order is that of a frozen table of how common shingles are, so the keys are rare ones.

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique};
use crate::error::Result;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::sketch::{Rarity, Spread, shingles};
use crate::threshold::Threshold;
use std::sync::Arc;

/// The method of all pairs. It has no parameters beside the threshold.
#[derive(Clone, Copy, Debug)]
pub struct Join;

impl Technique for Join {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, rarity: true, signatures: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        let threshold = settings.threshold;
        Some(AcceptanceRule::new(PairTest::Resemblance(threshold), Evidence::Prefix(threshold)))
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        let rule = format!("at least {}", settings.threshold);
        Description {
            unit: settings.shingle(),
            sentence: format!("resemblance {rule}"),
            decides: "resemblance decides".to_owned(),
            rule,
        }
    }

    fn sketcher(&self, settings: &Settings<'_>, tables: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        Box::new(Joined {
            ngram: settings.text.ngram,
            threshold: settings.threshold,
            rarity: Arc::clone(&tables.rarity),
            spread: Spread::default(),
            keys: Vec::new(),
            commoner: Vec::new(),
        })
    }
}

/// The sketcher of [`Join`]: all shingles, the rarest of which are keys.
struct Joined {
    ngram: usize,
    threshold: Threshold,
    rarity: Arc<Rarity>,
    spread: Spread,
    keys: Vec<u64>,
    commoner: Vec<(u8, u64)>,
}

impl MethodSketcher for Joined {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles(tokens, self.ngram, words);
        self.spread.sort_distinct(words);
    }

    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        let wanted = self.threshold.prefix(words.len());
        self.rarity.rarest(words, wanted, &mut self.keys, &mut self.commoner);
        &self.keys
    }
}
