//! The command line, and nothing else: what may be typed, as clap reads it. It uses no other part of alike, so that
//! help, completions and manual page all come from this one definition. What was typed means something only after
//! `options.rs` laid it over a configuration; every option that decides the answer is therefore an [`Option`] here,
//! and the defaults told in its help are those of the configuration.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::cli_again::{
    CLUSTER_EXAMPLES, ClusterArgs, EXPORT_EXAMPLES, ExportArgs, PAIRS_EXAMPLES, PairsArgs, STATS_EXAMPLES,
};
use crate::cli_collections::{
    CHANGES_EXAMPLES, CHECK_EXAMPLES, CLUSTERS_EXAMPLES, ChangesArgs, CompactArgs, DELETE_EXAMPLES,
    DOCUMENTS_EXAMPLES, DeleteArgs, EXPLAIN_EXAMPLES, ExplainArgs, FileArgs, GROUP_EXAMPLES, INFO_EXAMPLES,
    LOAD_EXAMPLES, LoadArgs, PlaceArgs, ShowArgs,
};
use crate::cli_evaluate::{EVALUATE_EXAMPLES, EvaluateArgs};
use crate::cli_filters::FilterArgs;
use crate::cli_lexicon::{LEXICON_EXAMPLES, LexiconCommand};
use crate::cli_processes::{LAUNCH_EXAMPLES, LaunchArgs, ProcessArgs};
use crate::cli_tune::TuneCommand;
use crate::cli_values::{ClusteringArg, MethodArg, SimdArg, TokensArg, VerifyArg};

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

const DEDUP_EXAMPLES: &str = "\
Examples:
  alike dedup crawl/ --out clean
      Every JSONL and text file below crawl/, plain, gzip or zstd. Kept records go to clean/kept/, the removed ones
      are named in clean/duplicates.jsonl, each with its representative and their resemblance.
  alike dedup 'dump-*.jsonl.gz' --out clean --threshold 0.9 --keep longest --pairs
      A glob; only closer copies; the longest of each cluster is kept; all pairs are written down too.
  alike dedup news.jsonl --preset news --text-field body --id-field meta.id --out clean
      A preset for the kind of text, and where id and text stand in a record.
  alike dedup pages.jsonl --preset datatrove --verify --threshold 0.8 --out clean
      The bands of another tool, each pair then measured on full shingle sets.
  zstdcat pages.jsonl.zst | alike dedup - --dry-run
      Standard input; nothing is written.";

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

#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// Files, folders (walked), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the result; must not exist yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) choices: ConfigArgs,

    /// End with code 3 if a single record is refused, not only above 10 %
    #[arg(long, help_heading = "Records")]
    pub(crate) strict: bool,

    /// Write pairs.jsonl as well: every pair of near-duplicates
    #[arg(long, help_heading = "Output")]
    pub(crate) pairs: bool,
    /// Read duplicates again and say of what kind they are (exact, excerpt, elaboration, insertion, focus, revision)
    /// and how many words were edited, in the lists and in the report
    #[arg(long, help_heading = "Output")]
    pub(crate) kinds: bool,
    /// Find duplicates and report them, but write nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

/// What decides the answer, wherever one is asked for.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Start from a preset; flags are laid over it
    #[arg(long, value_name = "NAME", conflicts_with = "config", help_heading = "Method")]
    pub(crate) preset: Option<String>,
    /// Start from a TOML file; flags are laid over it
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub(crate) config: Option<PathBuf>,
    /// How near-duplicates are found [default: join]
    #[arg(long, value_enum, help_heading = "Method")]
    pub(crate) method: Option<MethodArg>,
    /// Least resemblance of near-duplicates, a decimal above 0 and at most 1 [default: 0.8]
    #[arg(long, value_name = "T", help_heading = "Method")]
    pub(crate) threshold: Option<String>,
    /// Tokens a shingle [default: 5]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) ngram: Option<usize>,
    /// What a token is [default: words]
    #[arg(long, value_enum, help_heading = "Method")]
    pub(crate) tokens: Option<TokensArg>,
    /// What accepted pairs must also pass at the threshold [default: none; alone: resemblance]
    #[arg(
        long,
        value_enum,
        value_name = "BY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "resemblance",
        help_heading = "Method"
    )]
    pub(crate) verify: Option<VerifyArg>,
    /// Contents that a key may be in before it is ignored, 0 for any number; of methods that count
    /// [default: 1000, of a collection 0, unless a preset or file says otherwise]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) common_cap: Option<usize>,
    /// The lexicon that sketches are made by, as `alike lexicon build` writes one
    /// [default: that of the inputs; of a collection its own]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub(crate) lexicon: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// How pairs become clusters [default: guarantee; of a collection transitive]
    #[arg(long, value_enum, help_heading = "Clusters")]
    pub(crate) clustering: Option<ClusteringArg>,
    /// Which of a cluster is kept: first, last, longest, shortest, field:NAME:max or :min [default: first]
    ///
    /// NAME is the path of a field of the
    /// record, as in field:meta.date:max. Ties go to the earlier document.
    #[arg(long, value_name = "POLICY", help_heading = "Clusters")]
    pub(crate) keep: Option<String>,

    /// Where the id of a record stands; dots between nested names [default: id]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) id_field: Option<String>,
    /// Where the text of a record stands [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    /// Where the date of a record stands, if it is to be read
    ///
    /// ISO 8601, RFC 3339, RFC 2822, the forms of HTTP, 2024/03/10, Mar 10, 2024, a year or a month, or a Unix time in seconds or
    /// milliseconds.
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) date_field: Option<String>,
}

/// What is told on standard error.
#[derive(Debug, Default, Args)]
pub(crate) struct TalkArgs {
    /// Show errors only
    #[arg(short, long, conflicts_with = "json_progress", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Report progress as JSON lines on standard error
    #[arg(long, help_heading = "Output")]
    pub(crate) json_progress: bool,
}

/// What a run may use of the machine.
#[derive(Debug, Default, Args)]
pub(crate) struct MachineArgs {
    /// Worker threads [default: all cores]
    #[arg(short, long, value_name = "N", help_heading = "Machine")]
    pub(crate) workers: Option<usize>,
    /// Memory to stay within, like 2G or 512MiB
    /// [default: half of the machine]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) memory: Option<String>,
    /// Vector instructions to use; the answer is the same with all of them
    #[arg(long, value_enum, default_value_t = SimdArg::Auto, hide_short_help = true, help_heading = "Machine")]
    pub(crate) simd: SimdArg,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn out_may_be_missing_only_in_a_dry_run() {
        assert!(Cli::try_parse_from(["alike", "dedup", "a"]).is_err());
        assert!(Cli::try_parse_from(["alike", "dedup", "--out", "o"]).is_err());
        for line in [&["a", "--dry-run"][..], &["a", "--out", "o"], &["-", "--out", "o", "--dry-run"]] {
            Cli::try_parse_from([&["alike", "dedup"], line].concat()).expect("a good line");
        }
    }

    #[test]
    fn conflicts_are_refused() {
        for pair in [["--quiet", "--json-progress"].as_slice(), &["--preset", "web", "--config", "c"]] {
            let line = [&["alike", "dedup", "a", "--dry-run"], pair].concat();
            let error = Cli::try_parse_from(line).expect_err("a conflict");
            assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict);
        }
    }
}
