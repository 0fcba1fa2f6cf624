//! The durable state of a collection, as far as it stands: runs of sorted rows, written once and never changed, and
//! reading several of them as one.
//!
//! A run is a file of pages ([`page`]). A [`RunWriter`] streams sections into it: rows in ascending order, or heaps of
//! words. A [`RunReader`] looks rows up by the first page keys, the *fences* ([`RowsReader::probe`]), streams them
//! ([`Scan`]), and reads from heaps. A [`Merge`] streams the rows of several runs, of which newer ones shadow older
//! ones. `docs/format.md` describes every byte of a run.
//!
//! Every page that is read is verified before anything in it is believed, and every count before anything is
//! allocated by it: what is not as it was written is [`crate::error::Error::Damaged`], never another answer.

mod directory;
mod fences;
mod file;
mod filter;
mod heap;
mod merge;
pub mod page;
mod probe;
mod rows;
mod run;
mod scan;
#[cfg(test)]
mod tests;
mod writer;

pub use directory::{SectionKind, Shape};
pub use heap::HeapReader;
pub use merge::{Merge, merge};
pub use rows::RowsReader;
pub use run::RunReader;
pub use scan::Scan;
pub use writer::{RunSummary, RunWriter};

/// Version of the form of run files, written in their last page.
pub const RUN_VERSION: u64 = 1;
