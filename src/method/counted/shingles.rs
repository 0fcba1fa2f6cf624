//! Counting shared, perhaps sampled, shingles (Broder 2000, section 2).

use crate::error::Result;
use crate::method::tables::FrozenTables;
use crate::method::technique::{Description, MethodSketcher, Needs, Settings, Technique};
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Shingles, Spread, sample, shingles_by};

impl Technique for Shingles {
    fn check(&self) -> Result<()> {
        Shingles::check(self)
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, ..Needs::NOTHING }
    }

    fn rule(&self, settings: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(settings.counted())
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        Description::counted(settings, settings.shingle(), "")
    }

    fn sketcher(&self, settings: &Settings<'_>, _: &FrozenTables, simd: Simd) -> Box<dyn MethodSketcher> {
        let (ngram, sampling) = (settings.text.ngram, self.clone());
        Box::new(Sampled { ngram, simd, sampling, spread: Spread::default() })
    }
}

/// The sketcher of [`Shingles`].
struct Sampled {
    ngram: usize,
    simd: Simd,
    sampling: Shingles,
    spread: Spread,
}

impl MethodSketcher for Sampled {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles_by(self.simd, tokens, self.ngram, words);
        self.spread.sort_distinct(words);
        sample(&self.sampling, tokens.len(), words);
    }
}
