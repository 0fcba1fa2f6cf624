//! Lexicons: in how many documents each term occurs (Conrad, Guo and Schriber 2003, sections 5 and 6). A lexicon is
//! counted once and frozen: a file whose name for configurations is the digest of its content. What is made with one
//! depends on it, since tables of collections that differ a little rank rare terms differently.
//!
//! A *term* is a canonical word ([`Terms`]). A document counts a term once; one without a word counts for nothing. What
//! a lexicon holds depends on the texts only: not on their order, on workers, processes or memory.
//!
//! | file | subject |
//! |---|---|
//! | `terms` | which words are terms; idf |
//! | `survey` | all texts of the inputs, read by all workers |
//! | `count`, `sorted` | counts of a worker, and counts in the order of terms: held, on disk, merged |
//! | `build`, `exchange` | counting, and the counts of other processes |
//! | `file` | the form of a file |
//! | `frozen` | a lexicon in use |
//! | `logarithm`, `band` | idf without rounding that differs between machines, and terms between two bounds of it |
//! | `merge`, `spearman`, `stability` | lexicons of several collections, and how alike they are |

mod band;
mod build;
mod count;
mod exchange;
mod file;
mod frozen;
mod logarithm;
#[cfg(test)]
#[path = "made_tests.rs"]
pub(crate) mod made;
mod merge;
mod sorted;
mod spearman;
mod stability;
mod survey;
mod terms;
#[cfg(test)]
mod tests;

pub use band::Band;
pub use build::{Counted, LexiconRequest, TextTally, assist, count};
pub use file::{FORMAT, Frozen, refuse_existing};
pub use frozen::{Lexicon, LexiconEntry};
pub use merge::merge;
pub use spearman::{Agreement, agreement, spearman};
pub use stability::{Point, Stability, StabilityRequest, stability};
pub(crate) use survey::TextReader;
pub use survey::{ONLY_SURVEY, Survey};
pub use terms::{Header, TermKind, Terms};
