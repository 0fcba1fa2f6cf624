//! The rules case by case, and the fast path held equal to its twin.

mod equality;
mod filtered_twin;
mod filters;
mod folds;
mod hashes;
mod rules;
mod twin;

pub(crate) use twin::{canonical_tokens, folded_tokens};

use std::cell::RefCell;

use super::{Fold, Speller, Tokenizer, Tokens, classify, spellings, token_hash};
use crate::simd::Simd;

const LEVELS: [Simd; 3] = [Simd::Scalar, Simd::Avx2, Simd::Avx512];
const MODES: [Tokens; 2] = [Tokens::Words, Tokens::Chars];

/// A tokenizer of each level in each mode, and a speller, that take the same spellings for one.
struct Alike {
    fold: Fold,
    tokenizers: Vec<(Tokens, Simd, Tokenizer)>,
    speller: Speller,
}

impl Alike {
    fn new(fold: Fold) -> Alike {
        let each = |mode| LEVELS.map(|simd| (mode, simd, Tokenizer::new(mode, fold, simd)));
        Alike { fold, tokenizers: MODES.into_iter().flat_map(each).collect(), speller: Speller::new(fold) }
    }

    /// Panics unless every level gives the tokens of the twin in both modes, and the speller its words.
    fn check(&mut self, text: &str) {
        let Alike { fold, tokenizers, speller } = self;
        let mut spelt = Vec::new();
        speller.each_word(text, |word| spelt.push(word.to_owned()));
        assert_eq!(spelt, folded_tokens(text, Tokens::Words, *fold), "spelt: {fold} {text:?}");
        for mode in MODES {
            let tokens = folded_tokens(text, mode, *fold);
            let expected: Vec<u64> = tokens.iter().map(|token| token_hash(token.as_bytes())).collect();
            for (_, simd, tokenizer) in tokenizers.iter_mut().filter(|(other, ..)| *other == mode) {
                assert_eq!(tokenizer.tokens(text), expected, "{simd:?} {mode:?} {fold} {text:?}: {tokens:?}");
            }
        }
    }
}

/// Every fold there is.
fn folds() -> Vec<Fold> {
    let words = ["forms", "marks", "digits", "letters"];
    let some = (0..8).map(|bits: u32| {
        let said: Vec<&str> =
            (0..4).filter(|at| *at == 0 || bits >> (at - 1) & 1 != 0).map(|at| words[at]).collect();
        Fold::of(&said).expect("words that are known")
    });
    std::iter::once(Fold::NONE).chain(some).collect()
}

thread_local! {
    /// Reused from case to case: most of the time of a case would go into filling tables.
    static ALL: RefCell<Vec<Alike>> = RefCell::new(folds().into_iter().map(Alike::new).collect());
}

/// Panics unless every level gives the tokens of the twin in both modes, with each of some folds.
fn check_folds(text: &str, folds: &[Fold]) {
    ALL.with_borrow_mut(|all| {
        all.iter_mut().filter(|alike| folds.contains(&alike.fold)).for_each(|alike| alike.check(text));
    });
}

/// The same where nothing is folded, by default, and where all is.
fn check(text: &str) {
    check_folds(text, &[Fold::NONE, Fold::FORMS, Fold::ALL]);
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
