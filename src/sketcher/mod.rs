//! The methods of configurations put to work: from text to what the dataflow needs of it: a digest, posting keys, and the sketch that pairs are measured on.

mod method_sketch;

use xxhash_rust::xxh3::xxh3_128;

use crate::config::{Config, Verify};
use crate::lexicon::Lexicon;
use crate::method::FrozenTables;
use crate::read::Day;
use crate::simd::Simd;
use crate::similarity::AcceptanceRule;
use crate::sketch::{Spread, shingles_by};
use crate::text::Tokenizer;
use method_sketch::MethodSketch;

/// Digest of a canonical text: equal for two texts that differ only in what canonical text leaves out.
pub type Digest = u128;

/// The sketcher of a method, with the buffers it reuses from text to text.
pub struct Sketcher {
    config: Config,
    rule: Option<AcceptanceRule>,
    tokenizer: Tokenizer<Lexicon>,
    own: MethodSketch,
    day: Option<i32>,
    spread: Spread,
    shingles: Vec<u64>,
    words: Vec<u64>,
    /// What it was made of, to be made again.
    tables: FrozenTables,
    simd: Simd,
}

impl Sketcher {
    /// A sketcher for a configuration, with the frozen tables that it makes sketches by.
    pub fn new(config: &Config, tables: &FrozenTables, simd: Simd) -> Sketcher {
        Sketcher {
            config: config.clone(),
            rule: config.rule(),
            own: MethodSketch::new(config, tables, simd),
            tokenizer: tables.tokenizer(config.text.clone(), simd),
            day: None,
            spread: Spread::default(),
            shingles: Vec::new(),
            words: Vec::new(),
            tables: tables.clone(),
            simd,
        }
    }

    /// Gives back all that long texts took.
    pub fn rest(&mut self) {
        *self = Sketcher::new(&self.config, &self.tables, self.simd);
    }

    /// The tokens of the text last read, in their order.
    pub fn tokens(&self) -> &[u64] {
        self.tokenizer.last()
    }

    /// Reads a text of a day; its digest, or `None` if it has no token at all. Texts of one digest have one sketch: where it does not
    /// follow from the tokens, as that of sentences, it counts beside them. The day is of no account but where documents
    /// are compared by it ([`Config::is_dated`]): there equal texts of different days are distinct, unless they have too
    /// few terms to be compared by anything else than their text.
    pub fn read(&mut self, text: &str, day: Day) -> Option<Digest> {
        self.day = match day {
            Day::Known(day) if self.config.is_dated() => Some(day),
            _ => None,
        };
        self.own.read(text);
        let tokens = self.tokenizer.tokens(text);
        if tokens.is_empty() {
            return None;
        }
        let digest = xxh3_128(bytemuck::cast_slice(tokens));
        let digest = match self.own.apart() {
            Some(words) => xxh3_128(bytemuck::cast_slice(&[digest, xxh3_128(bytemuck::cast_slice(words))])),
            None => digest,
        };
        let day = self.day;
        match day {
            Some(day) if !self.has_too_few_terms() => {
                Some(xxh3_128(bytemuck::cast_slice(&[digest, u128::from(day.cast_unsigned())])))
            }
            _ => Some(digest),
        }
    }

    /// The posting keys of the text last read, and the size they are posted with.
    pub fn keys(&mut self) -> (&[u64], u32) {
        let (own, keys) = self.own.keys(self.tokenizer.last(), self.day);
        (keys, self.rule.map_or(0, |rule| rule.own().posted(own)))
    }

    /// The size that keys of the text last read are posted with.
    pub fn posted(&mut self) -> u32 {
        let own = self.own.words(self.tokenizer.last(), self.day);
        self.rule.map_or(0, |rule| rule.own().posted(own))
    }

    /// The size that keys of a text whose sketch is at hand are posted with.
    pub fn posted_of(&self, words: &[u64]) -> u32 {
        self.rule.map_or(0, |rule| rule.posted(words))
    }

    /// The posting keys of a text whose sketch is at hand, and the size they are posted with.
    pub fn keys_of(&mut self, words: &[u64]) -> (&[u64], u32) {
        let Some(rule) = self.rule else { return (&[], 0) };
        // Copied, since the keys of many methods are part of the sketch.
        self.words.clear();
        self.words.extend_from_slice(rule.own_words(words));
        (self.own.keys_of(&self.words), rule.posted(words))
    }

    /// The sketch of the text last read: what pairs are measured on, as [`AcceptanceRule`] has it.
    pub fn words(&mut self) -> &[u64] {
        self.words_and_tokens().0
    }

    /// The sketch of the text last read, and its tokens.
    pub fn words_and_tokens(&mut self) -> (&[u64], &[u64]) {
        let tokens = self.tokenizer.last();
        let own = self.own.words(tokens, self.day);
        if self.config.verify == Verify::None || self.rule.is_none() {
            return (own, tokens);
        }
        self.words.clear();
        self.words.push(own.len() as u64);
        self.words.extend_from_slice(own);
        if self.config.verify == Verify::Edits {
            self.words.extend_from_slice(tokens);
        } else {
            shingles_by(self.simd, tokens, self.config.text.ngram, &mut self.shingles);
            self.spread.sort_distinct(&mut self.shingles);
            self.words.extend_from_slice(&self.shingles);
        }
        (&self.words, tokens)
    }

    /// What the method itself looks at of the text last read: for `join` its distinct shingles, ascending.
    pub fn own_words(&mut self) -> &[u64] {
        self.own.words(self.tokenizer.last(), self.day)
    }

    /// What the method itself looks at of a text whose sketch is at hand.
    pub fn own_words_of<'a>(&self, words: &'a [u64]) -> &'a [u64] {
        self.rule.map_or(words, |rule| rule.own_words(words))
    }

    /// Whether the text last read has too few terms for the method, so that only an equal text is its duplicate.
    pub fn has_too_few_terms(&mut self) -> bool {
        self.config.needs_terms() && self.own_words().is_empty()
    }

    /// The shingles of the text last read, in the order of the text, repeats included.
    pub fn shingles(&mut self) -> &[u64] {
        shingles_by(self.simd, self.tokenizer.last(), self.config.text.ngram, &mut self.shingles);
        &self.shingles
    }

    /// The distinct shingles of the text last read, ascending.
    pub fn distinct(&mut self) -> &[u64] {
        shingles_by(self.simd, self.tokenizer.last(), self.config.text.ngram, &mut self.shingles);
        self.spread.sort_distinct(&mut self.shingles);
        &self.shingles
    }
}
