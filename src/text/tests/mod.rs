//! The rules case by case, and the fast path held equal to its twin.

mod equality;
mod filtered_twin;
mod filters;
mod hashes;
mod rules;
mod twin;

pub(crate) use twin::canonical_tokens;

use std::cell::RefCell;

use super::{Speller, Tokenizer, Tokens, classify, token_hash};
use crate::simd::Simd;

const LEVELS: [Simd; 3] = [Simd::Scalar, Simd::Avx2, Simd::Avx512];
const MODES: [Tokens; 2] = [Tokens::Words, Tokens::Chars];

/// A tokenizer of each level in each mode, and a speller.
struct All(Vec<(Tokens, Simd, Tokenizer)>, Speller);

impl All {
    fn new() -> All {
        let each = |mode| LEVELS.map(|simd| (mode, simd, Tokenizer::new(mode, simd)));
        All(MODES.into_iter().flat_map(each).collect(), Speller::new())
    }

    /// Panics unless every level gives the tokens of the twin in both modes, and the speller its words.
    fn check(&mut self, text: &str) {
        let mut spelt = Vec::new();
        self.1.each_word(text, |word| spelt.push(word.to_owned()));
        assert_eq!(spelt, canonical_tokens(text, Tokens::Words), "spelt: {text:?}");
        for mode in MODES {
            let tokens = canonical_tokens(text, mode);
            let expected: Vec<u64> = tokens.iter().map(|token| token_hash(token.as_bytes())).collect();
            for (_, simd, tokenizer) in self.0.iter_mut().filter(|(other, ..)| *other == mode) {
                assert_eq!(tokenizer.tokens(text), expected, "{simd:?} {mode:?} {text:?}: {tokens:?}");
            }
        }
    }
}

thread_local! {
    /// Reused from case to case: most of the time of a case would go into filling tables.
    static ALL: RefCell<All> = RefCell::new(All::new());
}

/// Panics unless every level gives the tokens of the twin in both modes.
fn check(text: &str) {
    ALL.with_borrow_mut(|all| all.check(text));
}

/// The words of `text`, having checked that every level agrees.
fn words(text: &str) -> Vec<String> {
    check(text);
    canonical_tokens(text, Tokens::Words)
}

/// The characters of `text` as one string, having checked that every level agrees.
fn chars(text: &str) -> String {
    check(text);
    canonical_tokens(text, Tokens::Chars).concat()
}
