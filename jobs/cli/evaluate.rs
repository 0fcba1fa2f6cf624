//! The command line of measuring methods; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{MachineArgs, RecordArgs, TalkArgs};

pub(crate) const EVALUATE_EXAMPLES: &str = "\
Examples:
  alike evaluate crawl.jsonl --all
      Every preset against the exact join of its own threshold and shingles.
  alike evaluate crawl.jsonl --preset datatrove --preset nemo --threshold 0.8 --pairs-of links
      Which pairs they accept, against all pairs at 0.8.
  alike evaluate news.jsonl --labels clusters.tsv --config my.toml --by-size
      Against labels (columns id and cluster), by the length of documents too.
  alike evaluate articles.jsonl --labels pairs.tsv --duplicate plagiarised --unlisted distinct --all
      Columns id_a, id_b, label; the list is complete.
  alike evaluate crawl.jsonl --all --format markdown > table.md";

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Files, folders (walked), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Measure a preset; may be given several times [default: join]
    #[arg(long, value_name = "NAME", help_heading = "Methods")]
    pub(crate) preset: Vec<String>,
    /// Measure the configuration of a TOML file; may be given several times
    #[arg(long, value_name = "FILE", help_heading = "Methods")]
    pub(crate) config: Vec<PathBuf>,
    /// Lexicon of the methods that look terms up [default: that of the inputs]
    #[arg(long, value_name = "FILE", help_heading = "Methods")]
    pub(crate) lexicon: Option<PathBuf>,
    /// Measure every preset
    #[arg(long, conflicts_with = "preset", help_heading = "Methods")]
    pub(crate) all: bool,

    /// What is true, where there are no labels
    #[arg(long, value_enum, default_value_t = AgainstArg::ExactJoin, conflicts_with = "labels", help_heading = "Truth")]
    pub(crate) against: AgainstArg,
    /// Threshold of the exact join [default: that of each method]
    #[arg(long, value_name = "T", conflicts_with = "labels", help_heading = "Truth")]
    pub(crate) threshold: Option<String>,
    /// A file of labels: columns between tabulators below a heading, or lines of JSON
    ///
    /// Pairs (id_a, id_b, grade: 1 or more for duplicates, 0 for others), clusters (id, cluster), or marks (id, mark: 1 or
    /// more for a duplicate that is to be removed, 0 for a document that stays).
    #[arg(long, value_name = "FILE", help_heading = "Truth")]
    pub(crate) labels: Option<PathBuf>,
    /// What the lines of labels are [default: as the heading says]
    #[arg(long, value_enum, requires = "labels", help_heading = "Truth")]
    pub(crate) labels_form: Option<FormArg>,
    /// The column of the grade, label or mark [default: by its name]
    #[arg(long, value_name = "NAME", requires = "labels", help_heading = "Truth")]
    pub(crate) labels_column: Option<String>,
    /// A word that means a duplicate, where grades are words; may be given several times
    #[arg(long, value_name = "WORD", requires = "labels", help_heading = "Truth")]
    pub(crate) duplicate: Vec<String>,
    /// What pairs are that a list of pairs does not have
    #[arg(long, value_enum, default_value_t = UnlistedArg::Ignored, requires = "labels", help_heading = "Truth")]
    pub(crate) unlisted: UnlistedArg,

    /// Which pairs count: all of a cluster, or those that were accepted
    #[arg(long, value_enum, default_value_t = PairsOfArg::Clusters, help_heading = "Measures")]
    pub(crate) pairs_of: PairsOfArg,
    /// Show measures by the length of documents, too
    #[arg(long, help_heading = "Measures")]
    pub(crate) by_size: bool,
    /// How it is told [default: a table on a terminal, else JSON]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) format: Option<FormatArg>,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// `--against`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgainstArg {
    /// All pairs at or over the threshold, with the tokens, shingles and clustering of the method
    ExactJoin,
}

/// `--labels-form`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    /// Two ids and perhaps a grade
    Pairs,
    /// An id and a label that duplicates have in common
    Clusters,
    /// An id and whether it is to be removed
    Marks,
}

/// `--unlisted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnlistedArg {
    /// Unknown: only listed pairs count
    Ignored,
    /// No duplicates: the list is complete
    Distinct,
}

/// `--pairs-of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairsOfArg {
    /// All pairs of documents of one cluster
    Clusters,
    /// The pairs that the method has accepted; those of the exact join, too
    Links,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// For a terminal
    Table,
    /// An object
    Json,
    /// Tables for a document
    Markdown,
}
