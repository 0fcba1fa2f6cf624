//! From text to what the dataflow needs of it: a digest, posting keys, and the set that pairs are measured on.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::{Permutations, Rarity, Spread, sample, shingles};
use crate::config::{Config, Method, Rule};
use crate::simd::Simd;
use crate::similarity::Accept;
use crate::text::Tokenizer;

/// Digest of a canonical text: equal for two texts that differ only in what canonical text leaves out (methods section 1).
pub type Digest = u128;

/// The sketcher of a method, with the buffers it reuses from text to text.
pub struct Sketcher {
    config: Config,
    rarity: Arc<Rarity>,
    tokenizer: Tokenizer,
    permutations: Permutations,
    spread: Spread,
    shingles: Vec<u64>,
    keys: Vec<u64>,
    commoner: Vec<(u8, u64)>,
}

/// The acceptance rule that goes with a configuration's sketches; `None` for `exact`, which has no pairs.
pub fn rule(config: &Config) -> Option<Accept> {
    match (config.method, config.shingles.rule) {
        (Method::Exact, _) => None,
        (Method::Features, _) if !config.features.verify => Some(Accept::Shared(config.features.r as u32)),
        (Method::Shingles, Rule::Containment) => Some(Accept::Containment(config.threshold)),
        _ => Some(Accept::Resemblance(config.threshold)),
    }
}

impl Sketcher {
    /// A sketcher for a configuration, with the frozen order of shingles that `join` takes its keys by.
    pub fn new(config: &Config, rarity: Arc<Rarity>, simd: Simd) -> Sketcher {
        let values =
            if config.method == Method::Features { config.features.k * config.features.s } else { 0 };
        Sketcher {
            config: config.clone(),
            rarity,
            tokenizer: Tokenizer::filtered(&config.text, simd, None).expect("a valid configuration"),
            permutations: Permutations::new(values, simd),
            spread: Spread::default(),
            shingles: Vec::new(),
            keys: Vec::new(),
            commoner: Vec::new(),
        }
    }

    /// Reads a text; its digest, or `None` if it has no token at all.
    pub fn read(&mut self, text: &str) -> Option<Digest> {
        let tokens = self.tokenizer.tokens(text);
        (!tokens.is_empty()).then(|| xxh3_128(bytemuck::cast_slice(tokens)))
    }

    /// The posting keys of the text last read, and the size of the set that a pair is measured on.
    pub fn keys(&mut self) -> (&[u64], u32) {
        match self.config.method {
            Method::Exact => (&[], 0),
            Method::Features => {
                let (k, s) = (self.config.features.k, self.config.features.s);
                shingles(self.tokenizer.last(), self.config.text.ngram, &mut self.shingles);
                self.permutations.features(&self.shingles, k, s, &mut self.keys);
                (&self.keys, k as u32)
            }
            Method::Join => {
                self.distinct();
                let wanted = self.config.threshold.prefix(self.shingles.len());
                self.rarity.rarest(&self.shingles, wanted, &mut self.keys, &mut self.commoner);
                (&self.keys, self.shingles.len() as u32)
            }
            Method::Shingles => {
                self.distinct();
                sample(&self.config.shingles, &mut self.shingles);
                (&self.shingles, self.shingles.len() as u32)
            }
        }
    }

    /// The posting keys of a text whose set is at hand, in `keys` (cleared first).
    pub fn keys_of(&mut self, set: &[u64], keys: &mut Vec<u64>) {
        keys.clear();
        match self.config.method {
            Method::Exact => {}
            Method::Features if self.config.features.verify => {
                let (k, s) = (self.config.features.k, self.config.features.s);
                self.permutations.features(set, k, s, keys);
            }
            Method::Join => {
                let wanted = self.config.threshold.prefix(set.len());
                self.rarity.rarest(set, wanted, keys, &mut self.commoner);
            }
            Method::Features | Method::Shingles => keys.extend_from_slice(set),
        }
    }

    /// The strictly ascending set that pairs of the text last read are measured on: its shingles, its sampled
    /// shingles, or its features.
    pub fn set(&mut self) -> &[u64] {
        if self.config.method == Method::Features && !self.config.features.verify {
            self.keys();
            self.keys.sort_unstable();
            return &self.keys;
        }
        self.distinct();
        if self.config.method == Method::Shingles {
            sample(&self.config.shingles, &mut self.shingles);
        }
        &self.shingles
    }

    /// The shingles that [`Sketcher::keys`] last made keys of, for `join` all distinct ones, ascending.
    pub fn last_distinct(&self) -> &[u64] {
        &self.shingles
    }

    /// The distinct shingles of the text last read, ascending.
    pub fn distinct(&mut self) -> &[u64] {
        shingles(self.tokenizer.last(), self.config.text.ngram, &mut self.shingles);
        self.spread.sort_distinct(&mut self.shingles);
        &self.shingles
    }
}
