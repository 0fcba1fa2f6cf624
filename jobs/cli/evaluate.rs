//! The arguments of `alike evaluate`, and labels, which `alike tune threshold` has, too.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{MachineArgs, RecordArgs, TalkArgs};
use super::values::presets;

pub(crate) const EVALUATE_EXAMPLES: &str = "\
Examples:
  alike evaluate crawl.jsonl --all
      Compare every preset with the exact join at its own threshold and shingle size.
  alike evaluate crawl.jsonl --preset datatrove --preset nemo --threshold 0.8 --pairs-of links
      Compare the pairs that each accepts with all pairs at 0.8.
  alike evaluate news.jsonl --labels clusters.tsv --config my.toml --by-size
      Compare with labels (columns id and cluster), also by the length of documents.
  alike evaluate articles.jsonl --labels pairs.tsv --duplicate plagiarised --unlisted distinct --all
      Columns id_a, id_b and label; pairs that the list does not contain are distinct.
  alike evaluate crawl.jsonl --all --format markdown > table.md";

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Measure a preset; can be repeated [default: the exact join at 0.8]
    #[arg(long, value_name = "NAME", value_parser = presets(), hide_possible_values = true, help_heading = "Methods")]
    pub(crate) preset: Vec<String>,
    /// Measure a TOML configuration file; can be repeated
    #[arg(long, value_name = "FILE", help_heading = "Methods")]
    pub(crate) config: Vec<PathBuf>,
    /// Lexicon file of the methods that need one [default: counted from the inputs]
    #[arg(long, hide_short_help = true, value_name = "FILE", help_heading = "Methods")]
    pub(crate) lexicon: Option<PathBuf>,
    /// Measure every preset
    #[arg(long, conflicts_with = "preset", help_heading = "Methods")]
    pub(crate) all: bool,

    /// What counts as true where there are no labels
    #[arg(long, hide_short_help = true, value_enum, default_value_t = AgainstArg::ExactJoin, conflicts_with = "labels", help_heading = "Truth")]
    pub(crate) against: AgainstArg,
    /// Threshold of the exact join [default: the threshold of each method]
    #[arg(long, value_name = "T", conflicts_with = "labels", help_heading = "Truth")]
    pub(crate) threshold: Option<String>,
    #[command(flatten)]
    pub(crate) truth: LabelArgs,

    /// Which pairs count: all pairs of a cluster, or accepted pairs only
    #[arg(long, value_enum, default_value_t = PairsOfArg::Clusters, help_heading = "Measures")]
    pub(crate) pairs_of: PairsOfArg,
    /// Also show measures by the length of documents
    #[arg(long, help_heading = "Measures")]
    pub(crate) by_size: bool,
    /// Form of the output [default: a table on a terminal, otherwise json]
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    pub(crate) format: Option<EvaluationForm>,
    /// Print JSON, also on a terminal: short for --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
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
    /// All pairs at or above the threshold, with the tokens, shingles and clustering of the method
    ExactJoin,
}

/// `--pairs-of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairsOfArg {
    /// All pairs of documents of one cluster
    Clusters,
    /// Pairs that the method, or the exact join, accepted directly
    Links,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvaluationForm {
    /// For a terminal
    Table,
    /// An object
    Json,
    /// An object for each method
    Jsonl,
    /// A row for each method: tab-separated columns below a heading
    Tsv,
    /// Tables for a document
    Markdown,
}

/// Labels of documents or of pairs of them.
#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// File of labels: tab-separated with a heading, or JSON Lines
    ///
    /// Pairs (id_a, id_b, grade: 1 or more for duplicates, 0 for others, unsure for neither), clusters (id, cluster), or marks
    /// (id, mark: 1 or more for a duplicate to remove, 0 for a document to keep). Of pairs with a column judged_at, as
    /// `alike serve --verdicts` writes them, the last line of a pair counts.
    #[arg(long, value_name = "FILE", help_heading = "Truth")]
    pub(crate) labels: Option<PathBuf>,
    /// What a line of the labels is [default: by the heading]
    #[arg(long, hide_short_help = true, value_enum, requires = "labels", help_heading = "Truth")]
    pub(crate) labels_form: Option<FormArg>,
    /// Column of the grade, label or mark [default: by its name]
    #[arg(long, hide_short_help = true, value_name = "NAME", requires = "labels", help_heading = "Truth")]
    pub(crate) labels_column: Option<String>,
    /// Word that means a duplicate, if grades are words; can be repeated
    #[arg(long, hide_short_help = true, value_name = "WORD", requires = "labels", help_heading = "Truth")]
    pub(crate) duplicate: Vec<String>,
    /// What pairs count as that the labels do not list
    #[arg(long, hide_short_help = true, value_enum, default_value_t = UnlistedArg::Ignored, requires = "labels", help_heading = "Truth")]
    pub(crate) unlisted: UnlistedArg,
}

/// `--labels-form`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    /// Two ids, with or without a grade
    Pairs,
    /// An id and the name of its cluster
    Clusters,
    /// An id and whether to remove it
    Marks,
}

/// `--unlisted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnlistedArg {
    /// Nothing: only listed pairs count
    Ignored,
    /// Distinct: the list is complete
    Distinct,
}
