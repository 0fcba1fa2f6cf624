//! MinHash: features of min-wise values, some of which two documents must share (Broder 2000, section 3). Banded MinHash LSH
//! is the case of one.

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique};
use crate::error::{Error, Result};
use crate::limits::MAX_MINWISE_VALUES;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::sketch::{Permutations, shingles_by};

/// Parameters of `method = "minhash"`: k features of s min-wise values each, r of which must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Minhash {
    /// Features a document.
    pub k: usize,
    /// Min-wise values a feature.
    pub s: usize,
    /// Features that two documents must share.
    pub r: usize,
}

impl Default for Minhash {
    fn default() -> Minhash {
        Minhash { k: 6, s: 14, r: 2 }
    }
}

impl Technique for Minhash {
    fn check(&self) -> Result<()> {
        let Minhash { k, s, r } = *self;
        if k == 0 || s == 0 {
            return Err(Error::config(format!(
                "minhash.k = {k}, minhash.s = {s}: both must be at least 1, as in k = 6, s = 14, r = 2"
            )));
        }
        if k.checked_mul(s).is_none_or(|values| values > MAX_MINWISE_VALUES) {
            return Err(Error::config(format!(
                "minhash.k = {k} times minhash.s = {s} is over {MAX_MINWISE_VALUES} min-wise values a document; \
                 choose fewer, as in k = 14, s = 8"
            )));
        }
        if !(1..=k).contains(&r) {
            return Err(Error::config(format!(
                "minhash.r = {r}: documents share 1 to k = {k} features; r = 1 is banded MinHash"
            )));
        }
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, ..Needs::NOTHING }
    }

    fn rule(&self, _: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(AcceptanceRule::new(PairTest::Shared(self.r as u32), Evidence::Decisive))
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        let Minhash { k, s, r } = *self;
        Description {
            unit: settings.shingle(),
            rule: if r == 1 { format!("1 of {k} bands of {s}") } else { format!("{r} of {k} features") },
            sentence: format!("{r} of {k} features of {s} values agree"),
            decides: format!("sharing {r} of {k} features decides"),
        }
    }

    fn sketcher(&self, settings: &Settings<'_>, _: &FrozenTables, simd: Simd) -> Box<dyn MethodSketcher> {
        Box::new(MinwiseFeatures {
            ngram: settings.text.ngram,
            simd,
            minhash: self.clone(),
            permutations: Permutations::new(self.k * self.s, simd),
            shingles: Vec::new(),
        })
    }
}

/// The sketcher of [`Minhash`].
struct MinwiseFeatures {
    ngram: usize,
    simd: Simd,
    minhash: Minhash,
    permutations: Permutations,
    shingles: Vec<u64>,
}

impl MethodSketcher for MinwiseFeatures {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles_by(self.simd, tokens, self.ngram, &mut self.shingles);
        self.permutations.features(&self.shingles, self.minhash.k, self.minhash.s, words);
        words.sort_unstable();
    }
}
