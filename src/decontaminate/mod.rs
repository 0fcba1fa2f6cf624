//! Items of benchmarks that stand in documents of a corpus: which ones, where, and how much of each.
//!
//! A benchmark is a set of items, and an item has texts: a question, perhaps an answer. Each text is a set of n-grams. A text
//! stands in a document if a stretch of the document, half as long again as the text, has enough of them ([`ContaminationRule`]).
//! [`BenchmarkIndex`] holds the n-grams of all texts in memory; the corpus streams by ([`search`]), and what is found goes
//! to files in document order.
//!
//! Nothing is missed, although few n-grams are looked up: a text of `g` n-grams of which `k` are needed has two of its
//! `g - k + 2` rarest in every stretch that has `k`. So only these are in the table, and a document that shows two of them
//! is measured against all n-grams of the text. Where one n-gram is enough all are in the table, and one must be shown.
//! Where items have a score, so many of the heaviest n-grams of a question are in the table that the others weigh too little.

mod around;
mod common;
mod fields;
mod found;
mod grams;
mod hits;
mod index;
mod items;
mod report;
mod rule;
mod scan;
mod score;
mod search;
mod shares;

pub use around::CutRule;
pub use fields::ItemFields;
pub use hits::{ContaminatedDocument, ItemPassage};
pub use index::{BenchmarkCounts, BenchmarkIndex, BenchmarkText, Item, TextOwner};
pub use items::{BenchmarkSet, read_benchmarks};
pub use report::{BenchmarkRow, ContaminatedRow, CorpusAction, DecontaminationReport, RowNames};
pub use rule::ContaminationRule;
pub use search::{CorpusFindings, CorpusSearch, CorpusTally, assist_search, search};
pub use shares::{ItemShareRow, ShareClasses};
