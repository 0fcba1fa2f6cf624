//! The tokens of contents, from which the sets of `join` are derived when they are asked for: a set of shingles takes eight
//! bytes a token, and the tokens themselves one or two before they are compressed.
//!
//! Tokens are known by their 64-bit hashes. A [`Vocabulary`] gives the hashes that come again a number each; it follows the
//! texts, and is replaced once as many tokens came that a full one does not have, so no order of texts makes it useless. Texts are compressed
//! together in blocks.

mod block;
mod codes;
mod copied;
mod cursor;
mod kept_blocks;
mod vocabulary;
mod writer;

pub(in crate::collection) use copied::{MovedBlocks, VocabularyBlocks};
pub(in crate::collection) use cursor::TokenCursor;
pub(in crate::collection) use kept_blocks::{BlockPlace, KeptBlocks};
pub(in crate::collection) use writer::TokenWriter;

#[cfg(test)]
mod tests;
