//! What the method itself looks at of the texts, one after the other.

use crate::config::Config;
use crate::method::{FrozenTables, MethodSketcher};
use crate::simd::Simd;

/// The method's own words of the text last read, made when they are first asked for.
pub(super) struct MethodSketch {
    sketcher: Box<dyn MethodSketcher>,
    /// Whether `words` are those of the text last read.
    made: bool,
    words: Vec<u64>,
}

impl MethodSketch {
    pub(super) fn new(config: &Config, tables: &FrozenTables, simd: Simd) -> MethodSketch {
        MethodSketch { sketcher: config.method_sketcher(tables, simd), made: false, words: Vec::new() }
    }

    /// Takes a new text. Methods that cut it their own way do so now.
    pub(super) fn read(&mut self, text: &str) {
        self.words.clear();
        self.made = self.sketcher.cut(text, &mut self.words);
    }

    /// The words of the text last read, where its tokens do not say them.
    pub(super) fn apart(&self) -> Option<&[u64]> {
        self.sketcher.cuts_tokens_apart().then_some(&*self.words)
    }

    /// The words of the text last read, which has these tokens and this day.
    pub(super) fn words(&mut self, tokens: &[u64], day: Option<i32>) -> &[u64] {
        if !std::mem::replace(&mut self.made, true) {
            self.sketcher.sketch(tokens, day, &mut self.words);
        }
        &self.words
    }

    /// The words, and the posting keys that go with them.
    pub(super) fn keys(&mut self, tokens: &[u64], day: Option<i32>) -> (&[u64], &[u64]) {
        self.words(tokens, day);
        (&self.words, self.sketcher.keys(&self.words))
    }

    /// The posting keys of other words of the method.
    pub(super) fn keys_of<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        self.sketcher.keys(words)
    }
}
