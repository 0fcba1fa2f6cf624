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

mod commit;
mod distributed;
mod export;
mod load;
mod maintain;
mod query;
mod recompute;
mod run;
mod tables;
#[cfg(test)]
mod tests;

pub use commit::changes::{ChangesEntry, ChangesWriter, CommitCommand, CommitNote, CommitRow};
pub use commit::checkpoint::{Checkpoint, Consumed, LeftOutRecords, LoadInput, LoadInputs};
pub use commit::manifest::{Counts, Manifest};
pub use commit::names::{Keeper, is_collection};
pub use commit::refused::RefusedEntry;
pub use commit::retained::at::{CommitAt, RetainedCommits};
pub use commit::retained::policy::Retain;
pub use commit::run_entry::RunEntry;
pub use commit::sealed::FORMAT;
pub use commit::snapshot::{Snapshot, newest};
pub use commit::tally::{Ignored, LoadTally};
pub use commit::writer::Writer;
pub use distributed::protocol::release_followers;
pub use distributed::questions::answer_about_runs;
pub use distributed::scattered::Scattered;
pub use export::Export;
pub use load::follow::follow;
pub use load::prepare::{Batch, Prepared, prepare};
pub use load::report::Report;
pub use maintain::compact::{CompactReport, compact, compact_with, follow_compaction, gather};
pub use maintain::copy::{CopyReport, copy_commit};
pub use maintain::fsck::{Finding, FsckReport, broken_files, fsck};
pub use maintain::rollback::{RollbackReport, rollback};
pub use maintain::tiers::Compaction;
pub use query::browse::{
    ClusterBrief, ClusterIndex, ClusterOrder, ClusterPart, DividedCluster, IdIndex, IndexedCluster,
    LooseMark, LoosenessIndex, MemberView, PageMark, StoredTitle, WholeCluster, falls_apart,
};
pub use query::check::{AskedText, Checker, Resembled};
pub use query::diff::{Piece, Whose, WordDiff, word_diff, word_relation};
pub use query::explain::{
    Alone, Apart, ClusterNumber, Compared, Comparison, Explanation, KeptApart, PROTECTED_CRITERION, Place,
    Preference, Step, Together,
};
pub use query::group::Group;
pub use query::measures::{Measures, ProtectedSide};
pub use query::stats::{Large, Sizes, Stats, TableStats};
pub use query::view::{ClusterView, DocumentView};
pub use recompute::leave_out::{LeaveOutRequest, find_left_out};
pub use recompute::overrides::{QueryOverrides, overridden};
pub use recompute::protected::{StoredDocuments, StoredSource};
pub use recompute::replay::{Origin, Replay};
pub use recompute::request::RecomputeRequest;
pub use run::directory::{RUN_VERSION, SectionKind, Shape};
pub use run::heap::{HeapCursor, HeapReader};
pub use run::merge::{Merge, merge};
pub use run::page;
pub use run::reader::RunReader;
pub use run::rows::RowsReader;
pub use run::rows::scan::Scan;
pub use run::writer::{RunSummary, RunWriter};
pub use tables::cluster_changes::{ChangeLine, ClusterId};
pub use tables::sources::SourceEntry;
