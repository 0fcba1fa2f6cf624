//! The command line, and nothing else: what may be typed, as clap reads it. Help, completions and manual pages all come
//! from this one definition. What was typed means something only after `session/options.rs` laid it over a
//! configuration; every option that decides the answer is therefore an [`Option`] here, and the defaults named in its
//! help are those of the configuration.

pub(crate) mod collections;
pub(crate) mod common;
pub(crate) mod decontaminate;
pub(crate) mod dedup;
mod distributed;
pub(crate) mod evaluate;
mod helping;
pub(crate) mod launch;
pub(crate) mod lexicon;
pub(crate) mod line;
pub(crate) mod passages;
pub(crate) mod processes;
pub(crate) mod recompute;
#[cfg(test)]
mod tests;
pub(crate) mod tune;
pub(crate) mod values;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use self::collections::{
    CHANGES_EXAMPLES, CHECK_EXAMPLES, CLUSTERS_EXAMPLES, COMPACT_EXAMPLES, COPY_EXAMPLES, ChangesArgs,
    CheckArgs, ClustersArgs, CompactArgs, CopyArgs, DELETE_EXAMPLES, DOCUMENTS_EXAMPLES, DeleteArgs,
    EXPLAIN_EXAMPLES, ExplainArgs, FSCK_EXAMPLES, GROUP_EXAMPLES, GroupArgs, INFO_EXAMPLES, LOAD_EXAMPLES,
    LOG_EXAMPLES, LoadArgs, ROLLBACK_EXAMPLES, RollbackArgs, SERVE_EXAMPLES, SHOW_EXAMPLES, ServeArgs,
    ShowArgs, ShowClusterArgs,
};
use self::common::{CommitArgs, PrintArgs};
use self::decontaminate::{DECONTAMINATE_EXAMPLES, DecontaminateArgs};
use self::dedup::{DEDUP_EXAMPLES, DedupArgs};
use self::evaluate::{EVALUATE_EXAMPLES, EvaluateArgs};
use self::helping::help;
use self::launch::{LAUNCH_EXAMPLES, LaunchArgs};
use self::lexicon::{LEXICON_EXAMPLES, LexiconCommand};
use self::passages::{PASSAGES_EXAMPLES, PassagesArgs, REPETITION_EXAMPLES, RepetitionArgs};
use self::recompute::{
    EXPORT_EXAMPLES, ExportArgs, PAIRS_EXAMPLES, PairsArgs, RECLUSTER_EXAMPLES, REPORT_EXAMPLES,
    ReclusterArgs, ReportPageArgs, STATS_EXAMPLES,
};
use self::tune::{TUNE_EXAMPLES, TuneCommand};
use self::values::{ColorArg, presets};

const EXAMPLES: &str = "\
Examples:
  alike dedup crawl/ --out clean              deduplicate a folder into clean/kept/
  alike dedup a.jsonl.gz b.jsonl --dry-run    report the duplicates, write nothing
  alike load archive crawl/                   create a collection, or update it with what changed
  alike clusters archive                      list its clusters of near-duplicates
  alike check archive draft.txt               find the documents that a new text resembles
  alike presets web > my.toml                 write a configuration file to edit

Exit codes: 0 done; 1 failed; 2 wrong use or configuration; 3 input refused;
4 no usable collection, lexicon or output; 5 another process was lost; 130 interrupted.";

const SHORT: &str = "More: alike help COMMAND, or alike COMMAND -h for its most used options.";

const PRESETS_EXAMPLES: &str = "\
Examples:
  alike presets                                   a table of all presets
  alike presets news > my.toml                    a configuration file to edit
  alike dedup crawl/ --config my.toml --out clean";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  alike completions bash > ~/.local/share/bash-completion/completions/alike
  alike completions zsh > ~/.zfunc/_alike         with fpath+=~/.zfunc before compinit in ~/.zshrc
  alike completions fish > ~/.config/fish/completions/alike.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  alike man | man -l -                            read the page of the program
  alike man lexicon build | man -l -              read the page of a command
  alike man --out ~/.local/share/man/man1         write the pages of all commands";

/// Find near-duplicate documents: exact Jaccard join, MinHash LSH and others
///
/// alike deduplicates text corpora, keeps collections deduplicated as they change, and explains each decision. Inputs
/// are JSON Lines, CSV, TSV, WARC, WET, ARC, HTML, mbox, mails, TREC, dumps of Wikipedia, RTF, plain text, tar and zip, also compressed
/// with gzip, zstd, bzip2, xz or LZ4; with all features also Parquet, Arrow, DOCX, ODT, EPUB and PDF.
///
/// The default method is an exact set-similarity join: it finds all pairs of documents whose shingle sets have a Jaccard similarity at or above the threshold.
#[derive(Debug, Parser)]
#[command(name = "alike", version, arg_required_else_help = true)]
#[command(after_help = SHORT, after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Colours, also those of help and errors
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t = ColorArg::Auto,
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub(crate) color: ColorArg,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The whole definition, with the commands in groups.
pub(crate) fn definition() -> clap::Command {
    // The processes are what a launch is about; elsewhere they are options for few.
    let all = |argument: clap::Arg| argument.hide_short_help(false);
    help::grouped(Cli::command().mut_subcommand("launch", |launch| launch.mut_args(all)))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Remove near-duplicates from files
    ///
    /// Reads documents, finds near-duplicates, keeps one document of each cluster, and writes the input files again
    /// without the others. DIR gets kept/ (the files), duplicates.jsonl (each removed document with its
    /// representative and their similarity), clusters.jsonl, rejected.jsonl and summary.json. DIR appears only when it
    /// is complete.
    #[command(after_help = help::more("dedup"), after_long_help = DEDUP_EXAMPLES)]
    Dedup(Box<DedupArgs>),
    /// Find items of benchmarks in a corpus, and remove the documents that have them
    ///
    /// Looks for each text of each item in every document: enough of its n-grams, close together. Case and punctuation do
    /// not matter, and a word may be another. DIR gets kept/ (the files), contaminated.jsonl (each passage with its item,
    /// and the share of the item that it has), rejected.jsonl and benchmarks.json (what was found of each benchmark). DIR
    /// appears only when it is complete.
    #[command(after_help = help::more("decontaminate"), after_long_help = DECONTAMINATE_EXAMPLES)]
    Decontaminate(Box<DecontaminateArgs>),
    /// Add or update documents of a collection on disk; create it if needed
    ///
    /// Each record is stored under its id. A new id is added, a known id is replaced, and an unchanged record is only
    /// read. If an id occurs several times in a load, its last record counts. A record {"op":"delete","id":...}
    /// deletes a document. A text has its path below the named folder as id, and the name of that too where two folders
    /// have such a file; so name inputs alike each time. A load is atomic: it is committed as a whole or not at all. The configuration is fixed when the collection is created. Large loads leave checkpoints: after an
    /// interruption, run the same command again to continue. Until then no other change is possible.
    #[command(after_help = help::more("load"), after_long_help = LOAD_EXAMPLES)]
    Load(Box<LoadArgs>),
    /// Delete documents of a collection by id
    #[command(after_help = help::more("delete"), after_long_help = DELETE_EXAMPLES)]
    Delete(DeleteArgs),
    /// List the clusters of a collection, the largest first
    ///
    /// Prints a table on a terminal. Otherwise prints JSON Lines, each cluster with all its members.
    #[command(after_long_help = CLUSTERS_EXAMPLES)]
    Clusters(ClustersArgs),
    /// List all pairs of near-duplicates of a collection
    ///
    /// A collection stores only the links that connect clusters, so this command computes the pairs again from stored
    /// signatures. It reads no texts. Of equal texts only the first is paired with others, and each of the rest with it.
    /// Prints a table on a terminal, otherwise JSON Lines like `dedup --pairs`.
    #[command(after_help = help::more("pairs"), after_long_help = PAIRS_EXAMPLES)]
    Pairs(PairsArgs),
    /// Show the clusters at another threshold, keep policy or clustering
    ///
    /// Stores nothing and reads no texts. Prints a table on a terminal, otherwise JSON Lines like clusters.jsonl of
    /// `dedup`. Clusters are numbered in document order: by the load that first added an id, then by the id.
    #[command(after_help = help::more("recluster"), after_long_help = RECLUSTER_EXAMPLES)]
    Recluster(ReclusterArgs),
    /// Write the deduplicated files of a collection
    ///
    /// DIR gets what `dedup` would write for the documents of the collection: kept/, duplicates.jsonl,
    /// clusters.jsonl, rejected.jsonl (empty) and summary.json. The input files must still exist unchanged, which is
    /// checked. A collection created with `load --store-text` needs no input files: it writes its own records.
    #[command(after_help = help::more("export"), after_long_help = EXPORT_EXAMPLES)]
    Export(Box<ExportArgs>),
    /// Write a page (HTML) about the duplicates of a collection, or of an output of `dedup`
    ///
    /// It shows how many there are and why, how alike they are, the largest and the loosest clusters, pairs near the threshold
    /// word by word, and what each source would lose. It needs no network. Of an output of `dedup` it is the page that --report would
    /// have written: the same run is done again, without an output, so the inputs must be as they were.
    #[command(after_help = help::more("report"), after_long_help = REPORT_EXAMPLES)]
    Report(Box<ReportPageArgs>),
    /// Summarise a collection: duplicates, cluster sizes, disk use
    #[command(after_long_help = STATS_EXAMPLES)]
    Stats(ShowArgs),
    /// List the documents of a collection
    ///
    /// Prints a table on a terminal, otherwise JSON Lines, in the order of ids, which are held in memory: id, cluster, the loads that
    /// first added and last changed the document, and its source (file, line, and offset in the decompressed file).
    #[command(after_long_help = DOCUMENTS_EXAMPLES)]
    Documents(ShowArgs),
    /// Explain why documents are in one cluster, or are not
    ///
    /// For one document: its cluster, the links to the representative, and its own links. For two documents of a
    /// cluster: the shortest chain of links between them. For other pairs: how much they share, and the closest pair
    /// between their clusters. With guarantee clustering, links are those to the representative. Each pair comes with
    /// all its measures, its distance from the threshold, and the words that differ, if the texts can still be read.
    /// In an output of `dedup` the documents are looked for in its inputs, which are read once and must still be there.
    #[command(after_long_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Show a cluster: its members beside the document that is kept
    ///
    /// A table of the members (id, file, line, size, and what they have in common with the kept one), then the places where the
    /// texts differ, side by side, as wide as the terminal. Of a collection, or of an output of `dedup` whose inputs are still
    /// there.
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show(ShowClusterArgs),
    /// Find the documents of a collection that new texts resemble
    ///
    /// FILE is a plain text, or records as `load` reads them. Stores nothing. Equal texts come first, then the most
    /// similar ones. The exit code is 0 whether or not anything was found.
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Serve a collection, or an output of dedup, over HTTP, as pages and as JSON
    ///
    /// Clusters, documents, check, changes, load and delete; of an output clusters and documents. Prints its address, and answers
    /// until it is told to end. Every answer about a collection is of one commit; GET /openapi.json describes all paths. A new
    /// commit is served within a second. Without a token the server only reads. With one it takes POST /load and POST /delete,
    /// and answers them when they are durable. Only this machine can reach it, unless --listen says otherwise.
    #[command(after_help = help::more("serve"), after_long_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Group a ranked list of ids by near-duplicates, such as search results
    ///
    /// Reads one id a line, the best first. Prints each id with its near-duplicates of the list below it, indented by
    /// two spaces. Ids that the collection does not have stay alone.
    #[command(after_long_help = GROUP_EXAMPLES)]
    Group(GroupArgs),
    /// List how clusters changed, commit by commit
    ///
    /// Prints a table on a terminal, otherwise JSON Lines, each with its commit. The lines of a commit turn the clusters before it into those after it.
    #[command(after_long_help = CHANGES_EXAMPLES)]
    Changes(ChangesArgs),
    /// List the commits of a collection, the newest first
    ///
    /// Each with its time, the command, the files it read, and how many documents it added, replaced and removed. Commits
    /// that only merge runs are left out. It says of each whether it can still be looked at, with --at.
    #[command(after_long_help = LOG_EXAMPLES)]
    Log(ShowArgs),
    /// Show the configuration, counts and files of a collection
    #[command(after_long_help = INFO_EXAMPLES)]
    Info(ShowArgs),
    /// List the presets, or print one as a configuration file
    ///
    /// With NAME, prints a TOML file with every key and the source of each value: a good start for your own.
    #[command(after_long_help = PRESETS_EXAMPLES)]
    Presets {
        /// Preset to print
        #[arg(value_parser = presets(), hide_possible_values = true)]
        name: Option<String>,
        #[command(flatten)]
        print: PrintArgs,
    },
    /// Merge the runs of a collection into one, and drop deleted data
    ///
    /// Where many texts have common keys, as pages of a site that came after the first load, it makes the keys of all texts anew:
    /// small loads are then faster. What the collection finds stays the same.
    #[command(after_long_help = COMPACT_EXAMPLES)]
    Compact(CompactArgs),
    /// Copy a commit of a collection to a new folder, by links where possible
    ///
    /// The copy has the last commit, or that of --at, and nothing of those before. Others may load meanwhile. It appears when all of
    /// it is on disk. Where both folders are of one file system, they share the files, which are never changed.
    #[command(after_long_help = COPY_EXAMPLES)]
    Copy(CopyArgs),
    /// Make a collection what it was at an earlier commit
    ///
    /// A new commit restores all of it: documents, clusters and their numbers. What came between stays in the log, and can be
    /// looked at as long as it is kept, so a rollback can be rolled back. `alike log` lists the commits that can be restored.
    #[command(after_help = help::more("rollback"), after_long_help = ROLLBACK_EXAMPLES)]
    Rollback(RollbackArgs),
    /// Check all files of a collection for damage; repairs nothing
    #[command(after_long_help = FSCK_EXAMPLES)]
    Fsck {
        #[command(flatten)]
        at: CommitArgs,
        #[command(flatten)]
        print: PrintArgs,
    },
    /// Find and cut passages that are repeated within and between documents
    ///
    /// Finds lines, paragraphs, spans of sentences or runs of words that occur more than once in all documents together.
    /// DIR gets passages.jsonl (those repeated most), rejected.jsonl and summary.json, and with --action cut the records in
    /// kept/, each passage only where it stands first. First is by file and line. DIR appears only when it is complete.
    #[command(after_long_help = PASSAGES_EXAMPLES)]
    Passages(Box<PassagesArgs>),
    /// Remove documents that repeat themselves (Gopher's repetition measures)
    ///
    /// Measures how far each document repeats itself: its lines, its paragraphs, its most frequent n-gram, and all n-grams that
    /// occur more than once. A document goes if one of the 13 measures is over its limit. Documents are not compared with each
    /// other. DIR gets kept/ (the files), repetition.jsonl (each removed document with its measures), rejected.jsonl and
    /// summary.json. DIR appears only when it is complete.
    #[command(after_help = help::more("repetition"), after_long_help = REPETITION_EXAMPLES)]
    Repetition(Box<RepetitionArgs>),
    /// Build, merge, compare and show lexicons (document frequencies of terms)
    ///
    /// A lexicon stores in how many documents each term occurs. Methods that weigh terms by rarity (idf) need one. A
    /// lexicon never changes after it was built; its name is the digest of its content.
    #[command(after_long_help = LEXICON_EXAMPLES, subcommand, arg_required_else_help = true)]
    Lexicon(LexiconCommand),
    /// Choose parameters: thresholds, MinHash bands, sampling
    #[command(after_long_help = TUNE_EXAMPLES, subcommand, arg_required_else_help = true)]
    Tune(TuneCommand),
    /// Measure precision, recall and speed of methods on your data
    ///
    /// Runs each method on the same documents and compares it with labels or with the exact join. Prints precision,
    /// recall and F1 of pairs, the adjusted Rand index, exact sets, B-cubed, the number of removed documents, and the
    /// cost. Writes no files. A method that cannot run gets a row that says why.
    #[command(after_help = help::more("evaluate"), after_long_help = EVALUATE_EXAMPLES)]
    Evaluate(Box<EvaluateArgs>),
    /// Run a command as several processes, on one or many machines
    ///
    /// Starts one process for each line of the hosts file. Works with dedup, passages, repetition, decontaminate, load,
    /// delete, compact, rollback, recluster and lexicon build. Puts the number of the process in front of each line that it prints, and shows one progress for
    /// all. Standard output of process 0 is passed on unchanged. Ctrl-C stops all processes. If one fails, the others
    /// get 10 s to end by themselves, or 2 if it refused how it was called. On one machine give each process its share
    /// with -w and --memory.
    #[command(after_help = help::more("launch"), after_long_help = LAUNCH_EXAMPLES)]
    Launch(Box<LaunchArgs>),
    /// Print a completion script for a shell
    #[command(after_long_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Shell to complete for
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print a manual page, or write all of them to a folder
    #[command(after_long_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Command whose page is printed [default: the program itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write one page for each command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
