//! The tokenizer at every level of instructions equals its twin.

use std::cell::RefCell;

use alike::config::{Fold, Tokens};
use alike::simd::Simd;
use alike::text::{Tokenizer, token_hash};

use crate::LEVELS;

#[path = "../../src/text/classify.rs"]
mod classify;
#[path = "../../src/text/spellings.rs"]
mod spellings;
#[path = "../../src/text/tests/twin.rs"]
#[expect(dead_code, reason = "tests of the library use the rest of it")]
mod twin;

use twin::folded_tokens;

const MODES: [Tokens; 2] = [Tokens::Words, Tokens::Chars];
const FOLDS: [Fold; 3] = [Fold::NONE, Fold::FORMS, Fold::ALL];

/// A tokenizer, and what it was made for.
type Made = (Fold, Tokens, Simd, Tokenizer);

thread_local! {
    /// Warm, as in a run: what one text leaves behind must not show in the next.
    static ALL: RefCell<Vec<Made>> = RefCell::new(all());
}

fn all() -> Vec<Made> {
    let mut all = Vec::new();
    for fold in FOLDS {
        for mode in MODES {
            all.extend(LEVELS.map(|simd| (fold, mode, simd, Tokenizer::new(mode, fold, simd))));
        }
    }
    all
}

/// Reads `data` as UTF-8, faults replaced, and compares the tokens of every level with the twin's, in both modes, with
/// nothing folded, by default, and with all folded.
pub fn tokens(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    ALL.with_borrow_mut(|all| {
        for (fold, mode, simd, tokenizer) in all.iter_mut() {
            let tokens = folded_tokens(&text, *mode, *fold);
            let expected: Vec<u64> = tokens.iter().map(|token| token_hash(token.as_bytes())).collect();
            assert_eq!(tokenizer.tokens(&text), expected, "{simd:?} {mode:?} {fold} {text:?}: {tokens:?}");
        }
    });
}
