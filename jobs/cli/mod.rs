//! The command line, and nothing else: what may be typed, as clap reads it. It uses no other part of alike, so that
//! help, completions and manual page all come from this one definition. What was typed means something only after
//! `options.rs` laid it over a configuration; every option that decides the answer is therefore an [`Option`] here,
//! and the defaults told in its help are those of the configuration.

pub(crate) mod collections;
pub(crate) mod common;
pub(crate) mod dedup;
mod distributed;
pub(crate) mod evaluate;
pub(crate) mod launch;
pub(crate) mod lexicon;
pub(crate) mod processes;
pub(crate) mod recompute;
#[cfg(test)]
mod tests;
pub(crate) mod tune;
pub(crate) mod values;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use self::collections::{
    CHANGES_EXAMPLES, CHECK_EXAMPLES, CLUSTERS_EXAMPLES, ChangesArgs, CompactArgs, DELETE_EXAMPLES,
    DOCUMENTS_EXAMPLES, DeleteArgs, EXPLAIN_EXAMPLES, ExplainArgs, FileArgs, GROUP_EXAMPLES, INFO_EXAMPLES,
    LOAD_EXAMPLES, LoadArgs, ShowArgs,
};
use self::common::PlaceArgs;
use self::dedup::{DEDUP_EXAMPLES, DedupArgs};
use self::evaluate::{EVALUATE_EXAMPLES, EvaluateArgs};
use self::launch::{LAUNCH_EXAMPLES, LaunchArgs};
use self::lexicon::{LEXICON_EXAMPLES, LexiconCommand};
use self::recompute::{
    CLUSTER_EXAMPLES, ClusterArgs, EXPORT_EXAMPLES, ExportArgs, PAIRS_EXAMPLES, PairsArgs, STATS_EXAMPLES,
};
use self::tune::TuneCommand;

const EXAMPLES: &str = "\
Examples:
  alike dedup crawl/ --out clean              deduplicate a folder; clean/kept/ mirrors it
  alike dedup a.jsonl.gz b.jsonl --dry-run    only say what would be removed
  alike load archive crawl/                   keep a collection on disk, and load what changed into it
  alike clusters archive                      its clusters
  alike presets                               list ready-made configurations
  alike presets news > my.toml                write one down, to edit and give to dedup --config

Exit codes: 0 done; 1 failed; 2 wrong use or configuration; 3 input refused; 4 no usable collection or lexicon;
5 another process was lost; 130 interrupted.";

/// Find near-duplicate documents: exact, parallel, explained
#[derive(Debug, Parser)]
#[command(name = "alike", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Remove near-duplicates from files and say why each one went
    ///
    /// Reads documents from JSONL and plain-text files (gzip and zstd are recognised by content), finds which
    /// resemble each other, keeps one of each cluster, and writes the input files back without the others. DIR gets
    /// kept/, duplicates.jsonl, clusters.jsonl, rejected.jsonl and summary.json; it appears under its name only when
    /// it is complete.
    #[command(after_long_help = DEDUP_EXAMPLES)]
    Dedup(Box<DedupArgs>),
    /// Load records into a collection on disk; make it if there is none
    ///
    /// A record is put under its id: a new one is added, one that is there is replaced, and one that is there just so
    /// costs no more than reading it. Of several records of one id in a load the last one counts. A record
    /// {"op":"delete","id":...} deletes; {"op":"upsert",...} is the default. A plain-text file has its name for an
    /// id. The load is committed as a whole or not at all. The configuration is fixed when the collection is made. A large
    /// load leaves checkpoints; when it is interrupted, the same command goes on from the last one, and until then nothing
    /// else can be loaded, deleted or compacted.
    #[command(after_long_help = LOAD_EXAMPLES)]
    Load(Box<LoadArgs>),
    /// Delete documents of a collection by their ids
    #[command(after_long_help = DELETE_EXAMPLES)]
    Delete(DeleteArgs),
    /// Show the clusters of a collection, the largest first
    ///
    /// A table on a terminal; elsewhere JSON lines, with all members.
    #[command(after_long_help = CLUSTERS_EXAMPLES)]
    Clusters(ShowArgs),
    /// Show every pair of near-duplicates of a collection, found again from what is stored
    ///
    /// A table on a terminal; elsewhere JSON lines as `dedup --pairs` writes them. No text is read; the stored sets
    /// are compared anew, since a collection keeps only the links that hold clusters together.
    #[command(after_long_help = PAIRS_EXAMPLES)]
    Pairs(PairsArgs),
    /// Show what the clusters of a collection are at another threshold, keep policy or clustering
    ///
    /// A table on a terminal; elsewhere JSON lines as in dedup's clusters.jsonl, clusters numbered in document order:
    /// by the load that first brought a document's id, then the id. No text is read, and nothing is stored.
    #[command(after_long_help = CLUSTER_EXAMPLES)]
    Cluster(ClusterArgs),
    /// Write what `dedup` would write of the documents of a collection
    ///
    /// DIR gets kept/, duplicates.jsonl, clusters.jsonl, rejected.jsonl (empty) and summary.json. For each file with
    /// documents that are still there kept/ has those of its records that are live and stay. The files must be as they
    /// were when they were loaded, which is checked, unless the collection keeps records (load --store-text): then
    /// these are written, one a line.
    #[command(after_long_help = EXPORT_EXAMPLES)]
    Export(Box<ExportArgs>),
    /// Show the figures of a collection: copies, cluster sizes, the largest clusters, what takes the room
    #[command(after_long_help = STATS_EXAMPLES)]
    Stats(ShowArgs),
    /// Show the documents of a collection
    ///
    /// A table on a terminal; elsewhere JSON lines: id, cluster, the loads that first brought and last changed it, and
    /// where that record stood: its file as it was named, the line, and the offset in the decompressed file.
    #[command(after_long_help = DOCUMENTS_EXAMPLES)]
    Documents(ShowArgs),
    /// Explain why documents of a collection are together, or are not
    ///
    /// One document: its cluster, the links that lead to the representative, and its own links. Two documents of a cluster:
    /// the shortest chain of links between them. Others: how much they share, and the closest pair between their
    /// clusters. Where clusters are made with a guarantee, the links are those with the representative, and others are
    /// compared with the representative they are not with. Pairs come with all measures, how far they are from a link, and, where the texts can still be had, the
    /// words that differ.
    #[command(after_long_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Say which documents of a collection new texts resemble; store nothing
    ///
    /// FILE is a text, or records as `load` reads them. Equal texts come first, then the closest. Ends with 0
    /// whether anything was found or not.
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(FileArgs),
    /// Group a ranked list of ids: near-duplicates go under the first of their kind
    ///
    /// One id a line, in any order that means something; nothing is lost, and ids that the collection does not have stay
    /// alone. Fellows are indented by two blanks.
    #[command(after_long_help = GROUP_EXAMPLES)]
    Group(FileArgs),
    /// Show what happened to the clusters of a collection, commit by commit
    ///
    /// JSON lines, each with its commit. All lines of a commit turn the clusters before it into those after it.
    #[command(after_long_help = CHANGES_EXAMPLES)]
    Changes(ChangesArgs),
    /// Show what a collection is made of
    #[command(after_long_help = INFO_EXAMPLES)]
    Info(ShowArgs),
    /// List the presets, or print one as TOML
    ///
    /// Without NAME a table of all presets. With NAME the configuration file itself: every key, each with the
    /// source of its value; a good start for one of your own.
    Presets {
        /// Preset to print
        name: Option<String>,
    },
    /// Merge the files of a collection, and leave out what is gone
    Compact(CompactArgs),
    /// Read all of a collection and say what is damaged; repairs nothing
    Fsck {
        #[command(flatten)]
        at: PlaceArgs,
        /// Print findings and figures as lines of JSON
        #[arg(long)]
        json: bool,
    },
    /// Count terms and how rare they are: build, merge, compare and show lexicons
    ///
    /// A lexicon says in how many documents of a collection each term occurs. It is counted once and does not change;
    /// methods that use one know it by its name, the digest of its content.
    #[command(after_long_help = LEXICON_EXAMPLES, subcommand, arg_required_else_help = true)]
    Lexicon(LexiconCommand),
    /// Choose parameters for what is wanted
    #[command(subcommand, arg_required_else_help = true)]
    Tune(TuneCommand),
    /// Measure how right and how fast methods are, against labels or the exact join
    ///
    /// Runs each method on the same documents, writes nothing, and tells precision, recall and F1 of pairs, the adjusted Rand
    /// index, exact sets, B-cubed, what is removed, and what it costs. A method that cannot be run has a row that says why.
    #[command(after_long_help = EVALUATE_EXAMPLES)]
    Evaluate(Box<EvaluateArgs>),
    /// Run a subcommand as many processes, here or on many machines
    ///
    /// Starts process i of dedup, load, delete, compact, cluster or lexicon build for each line of the file of hosts,
    /// watches all, puts the index in front of what they say, and shows one progress for all. What process 0 writes to standard
    /// output is written unchanged. Ctrl-C stops all; when one fails, the others get 10 s to notice and end by
    /// themselves. On one machine give -w and --memory, or each process takes all of it.
    #[command(after_long_help = LAUNCH_EXAMPLES)]
    Launch(Box<LaunchArgs>),
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete for
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page (view it with: alike man | man -l -)
    Man,
}
