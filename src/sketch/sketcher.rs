//! From text to what the dataflow needs of it: a digest, posting keys, and the sketch that pairs are measured on.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::{Basis, Permutations, Spread, rule, sample, shingles};
use crate::config::{Config, Method, Verify};
use crate::simd::Simd;
use crate::similarity::Accept;
use crate::text::Tokenizer;

/// Digest of a canonical text: equal for two texts that differ only in what canonical text leaves out (methods section 1).
pub type Digest = u128;

/// The sketcher of a method, with the buffers it reuses from text to text.
pub struct Sketcher {
    config: Config,
    rule: Option<Accept>,
    basis: Arc<Basis>,
    tokenizer: Tokenizer,
    permutations: Permutations,
    spread: Spread,
    /// Whether `own` is that of the text last read.
    sketched: bool,
    /// The words that the method itself looks at.
    own: Vec<u64>,
    shingles: Vec<u64>,
    words: Vec<u64>,
    keys: Vec<u64>,
    commoner: Vec<(u8, u64)>,
}

impl Sketcher {
    /// A sketcher for a configuration, with the frozen tables that it makes sketches by.
    pub fn new(config: &Config, basis: Arc<Basis>, simd: Simd) -> Sketcher {
        let values =
            if config.method == Method::Features { config.features.k * config.features.s } else { 0 };
        Sketcher {
            config: config.clone(),
            rule: rule(config),
            tokenizer: Tokenizer::filtered(&config.text, simd, basis.lexicon.clone())
                .expect("a valid configuration and the lexicon that it needs"),
            basis,
            permutations: Permutations::new(values, simd),
            spread: Spread::default(),
            sketched: false,
            own: Vec::new(),
            shingles: Vec::new(),
            words: Vec::new(),
            keys: Vec::new(),
            commoner: Vec::new(),
        }
    }

    /// Reads a text; its digest, or `None` if it has no token at all.
    pub fn read(&mut self, text: &str) -> Option<Digest> {
        self.sketched = false;
        let tokens = self.tokenizer.tokens(text);
        (!tokens.is_empty()).then(|| xxh3_128(bytemuck::cast_slice(tokens)))
    }

    /// The posting keys of the text last read, and the size they are posted with.
    pub fn keys(&mut self) -> (&[u64], u32) {
        self.sketch();
        let size = self.rule.map_or(0, |rule| rule.own().posted(&self.own));
        (keys_of(&self.config, &self.basis, &self.own, &mut self.keys, &mut self.commoner), size)
    }

    /// The posting keys of a text whose sketch is at hand, and the size they are posted with.
    pub fn keys_of(&mut self, words: &[u64]) -> (&[u64], u32) {
        let Some(rule) = self.rule else { return (&[], 0) };
        // Copied, since the keys of many methods are part of the sketch.
        self.words.clear();
        self.words.extend_from_slice(rule.own_words(words));
        let keys = keys_of(&self.config, &self.basis, &self.words, &mut self.keys, &mut self.commoner);
        (keys, rule.posted(words))
    }

    /// The sketch of the text last read: what pairs are measured on, as [`Accept`] has it.
    pub fn words(&mut self) -> &[u64] {
        self.sketch();
        if self.config.verify == Verify::None || self.rule.is_none() {
            return &self.own;
        }
        self.words.clear();
        self.words.push(self.own.len() as u64);
        self.words.extend_from_slice(&self.own);
        if self.config.verify == Verify::Edits {
            self.words.extend_from_slice(self.tokenizer.last());
        } else {
            shingles(self.tokenizer.last(), self.config.text.ngram, &mut self.shingles);
            self.spread.sort_distinct(&mut self.shingles);
            self.words.extend_from_slice(&self.shingles);
        }
        &self.words
    }

    /// What the method itself looks at of the text last read: for `join` its distinct shingles, ascending.
    pub fn own_words(&mut self) -> &[u64] {
        self.sketch();
        &self.own
    }

    /// The distinct shingles of the text last read, ascending.
    pub fn distinct(&mut self) -> &[u64] {
        shingles(self.tokenizer.last(), self.config.text.ngram, &mut self.shingles);
        self.spread.sort_distinct(&mut self.shingles);
        &self.shingles
    }

    /// Makes the method's own words of the text last read.
    fn sketch(&mut self) {
        if std::mem::replace(&mut self.sketched, true) {
            return;
        }
        let (tokens, ngram) = (self.tokenizer.last(), self.config.text.ngram);
        match self.config.method {
            Method::Exact => self.own.clear(),
            Method::Features => {
                shingles(tokens, ngram, &mut self.shingles);
                let (k, s) = (self.config.features.k, self.config.features.s);
                self.permutations.features(&self.shingles, k, s, &mut self.own);
                self.own.sort_unstable();
            }
            Method::Join => {
                shingles(tokens, ngram, &mut self.own);
                self.spread.sort_distinct(&mut self.own);
            }
            Method::Shingles => {
                shingles(tokens, ngram, &mut self.own);
                self.spread.sort_distinct(&mut self.own);
                sample(&self.config.shingles, &mut self.own);
            }
        }
    }
}

/// The posting keys of a method's own words: these themselves, or a part of them, in `keys`.
fn keys_of<'a>(
    config: &Config,
    basis: &Basis,
    own: &'a [u64],
    keys: &'a mut Vec<u64>,
    commoner: &mut Vec<(u8, u64)>,
) -> &'a [u64] {
    match config.method {
        Method::Join => {
            basis.rarity.rarest(own, config.threshold.prefix(own.len()), keys, commoner);
            keys
        }
        Method::Exact | Method::Features | Method::Shingles => own,
    }
}
