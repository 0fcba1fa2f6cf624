//! The front door: near-duplicates of texts and files, and collections, in a few lines. Everything else in this library
//! is what these are made of, with more to choose and more to say.

mod collection;
mod dedup;
mod run_lexicon;
mod spool;

#[cfg(test)]
mod tests;

pub use collection::Collection;
pub use dedup::{Dedup, Deduplicated, DeduplicatedFiles, Duplicate};
pub use run_lexicon::run_lexicon;
