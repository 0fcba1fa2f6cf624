//! The durable state of a collection, as far as it stands: runs of sorted rows, written once and never changed, and
//! reading several of them as one.
//!
//! A run is a file of pages ([`page`]). A [`RunWriter`] streams sections into it: rows in ascending order, or heaps of
//! words. A [`RunReader`] looks rows up by the first page keys, the *fences* ([`RowsReader::probe`]), streams them
//! ([`Scan`]), and reads from heaps. A [`Merge`] streams the rows of several runs, of which newer ones shadow older
//! ones. `docs/src/reference/format.md` describes every byte of a run.
//!
//! A [`Manifest`] names the runs that a commit is made of, and a collection is what its newest manifest says.
//! [`Snapshot`] opens it for reading. [`Writer`], of which there is one at a time, publishes the next one: whatever
//! fails, and wherever a crash cuts it off, what is found afterwards is one commit, whole. What is durable in which order
//! stands in `docs/src/reference/format.md`.
//!
//! Every page that is read is verified before anything in it is believed, and every count before anything is
//! allocated by it: what is not as it was written is [`crate::error::Error::Damaged`], never another answer.

mod again;
mod assist;
mod bits;
mod changes;
mod check;
mod checkpoint;
mod choice;
mod clusters;
mod combine;
mod commit;
#[cfg(test)]
mod commit_tests;
mod compact;
mod dead;
mod delta;
mod diff;
mod directory;
mod divide;
mod explain;
mod fences;
mod file;
mod filter;
#[cfg(test)]
mod folder_tests;
mod fsck;
mod group;
mod guard;
mod heap;
mod held;
mod known;
mod load;
mod log;
mod lookup;
mod manifest;
#[cfg(test)]
mod manifest_tests;
mod measure;
mod measures;
mod merge;
mod names;
pub mod page;
mod parts;
mod postings;
mod probe;
mod publish;
mod questions;
mod records;
mod refused;
mod related;
mod replay;
mod report;
mod resembling;
mod row;
mod rows;
mod run;
mod run_entry;
mod scan;
mod scattered;
mod sealed;
mod settle;
mod snapshot;
#[cfg(test)]
mod snapshot_tests;
mod sources;
mod stats;
mod tables;
#[cfg(test)]
mod tests;
mod texts;
mod verify;
mod view;
mod writer;

pub use assist::{Means, assist, dismiss};
pub use changes::{ChangesEntry, ChangesWriter};
pub use check::{Checker, Resembled};
pub use checkpoint::{Checkpoint, Consumed, Input, Inputs};
pub use choice::{Choice, again};
pub use clusters::{ClusterId, Line};
pub use commit::Writer;
pub use compact::{CompactReport, Compaction, assist_compaction, compact, compact_with};
pub use diff::{Piece, Whose, WordDiff, word_diff};
pub use directory::{SectionKind, Shape};
pub use explain::{Alone, Apart, Comparison, Explanation, Place, Step, Together};
pub use fsck::{Finding, FsckReport, broken_files, fsck};
pub use group::Group;
pub use heap::{HeapCursor, HeapReader};
pub use held::gather;
pub use load::{Batch, Prepared, prepare};
pub use manifest::{Counts, FORMAT, Manifest};
pub use measures::Measures;
pub use merge::{Merge, merge};
pub use names::Keeper;
pub use questions::answer_about_runs;
pub use refused::RefusedEntry;
pub use replay::{Again, Origin, Replay};
pub use report::{Ignored, Report, Tally};
pub use rows::RowsReader;
pub use run::RunReader;
pub use run_entry::RunEntry;
pub use scan::Scan;
pub use scattered::Scattered;
pub use snapshot::Snapshot;
pub use sources::SourceEntry;
pub use stats::{Large, Sizes, Stats, TableStats};
pub use view::{ClusterView, DocumentView};
pub use writer::{RunSummary, RunWriter};

/// Version of the form of run files, written in their last page.
pub const RUN_VERSION: u64 = 1;
