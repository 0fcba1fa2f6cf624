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
mod twin;

use twin::folded_tokens;

const MODES: [Tokens; 2] = [Tokens::Words, Tokens::Chars];

thread_local! {
    /// Warm, as in a run: what one text leaves behind must not show in the next.
    static ALL: RefCell<Vec<(Tokens, Simd, Tokenizer)>> = RefCell::new(
        MODES.into_iter().flat_map(|mode| LEVELS.map(|simd| (mode, simd, Tokenizer::new(mode, simd)))).collect(),
    );
}

/// Reads `data` as UTF-8, faults replaced, and compares the tokens of every level with the twin's, in both modes.
pub fn tokens(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    ALL.with_borrow_mut(|all| {
        for mode in MODES {
            let tokens = canonical_tokens(&text, mode);
            let expected: Vec<u64> = tokens.iter().map(|token| token_hash(token.as_bytes())).collect();
            for (_, simd, tokenizer) in all.iter_mut().filter(|(other, ..)| *other == mode) {
                assert_eq!(tokenizer.tokens(&text), expected, "{simd:?} {mode:?} {text:?}: {tokens:?}");
            }
        }
    });
}
