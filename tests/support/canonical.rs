//! What a token is: the slow form of the tokenizer, compiled from the files of the library that have it. The program takes
//! another way.

#[path = "../../src/text/classify.rs"]
mod classify;
#[path = "../../src/text/spellings.rs"]
mod spellings;
#[path = "../../src/text/tests/twin.rs"]
mod twin;

use alike::config::{Fold, Tokens};

pub(crate) use twin::canonical_tokens;
