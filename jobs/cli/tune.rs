//! The command line of choosing parameters; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{MachineArgs, RecordArgs, TalkArgs};

const FILTER_EXAMPLES: &str = "\
Examples:
  alike tune filter --threshold 0.9
      Which k, s and r suit 0.9, for 48 bytes a document, and the curve.
  alike tune filter --threshold 0.8 --missed 5 --bytes 160 --svg curve.svg
      A missed pair is five times as bad as one that is accepted and is below 0.8.
  alike tune filter --threshold 0.9 --compare 6,14,2
      The filter of Broder 2000 beside it.
  alike tune filter --threshold 0.9 --toml > filter.toml && alike dedup crawl/ --config filter.toml --out out";

const SAMPLING_EXAMPLES: &str = "\
Examples:
  alike tune sampling crawl/ --threshold 0.85 --ngram 10
      How thinly texts of each length may be sampled, if 85 % of what is found is to be true.
  alike tune sampling crawl/ --precision 0.95 --recall 0.8 --documents 100000 --svg precision.svg
      Both floors, on more documents, and the curves.
  alike tune sampling crawl/ --toml > sampled.toml && alike dedup crawl/ --config sampled.toml --out out";

const SAMPLE_EXAMPLES: &str = "\
Examples:
  alike tune sample crawl/
      What would go at 0.5, 0.6, 0.7, 0.8 and 0.9, and three pairs on either side of each.
  alike tune sample crawl/ --threshold 0.75 --threshold 0.8 --ngram 3 --sample 1G
      Two thresholds, shingles of three words, on the first gigabyte.";

#[derive(Debug, Subcommand)]
pub(crate) enum TuneCommand {
    /// Choose k features of s min-wise values, r of which must agree, for a threshold
    ///
    /// A filter accepts pairs of a resemblance with the probability P(k,s,r) of it. If resemblances were spread evenly, it
    /// would err in proportion to the area under that curve below the threshold and over it above (Broder 2000, section 4);
    /// the filter whose error costs least is shown for every number of features up to the bytes a document may take.
    #[command(after_long_help = FILTER_EXAMPLES)]
    Filter(FilterArgs),
    /// Choose how thinly shingles are sampled, by the length of documents
    ///
    /// Measures sampled resemblance on these documents: for one shingle in 2, 4, 8, 16, 32 and 64, and up to 16 of the
    /// disjoint samples of each, how much of what is found is true and how much of what is true is found (pairs of distinct
    /// texts; truth is the exact join). For each group of lengths the ratio that keeps fewest shingles and still the floors
    /// goes into the plan (Ye, Wen and Ma 2008), and a run with the plan says what it comes to. Groups without a pair are
    /// not sampled: nothing tells what that would do. A pair whose documents are sampled at different ratios is seen as less
    /// alike than it is; that is in the recall of the run with the plan.
    #[command(after_long_help = SAMPLING_EXAMPLES)]
    Sampling(SamplingArgs),
    /// Tell how many documents would go at several thresholds, and show pairs near each
    ///
    /// Runs the exact join on the inputs, or on their beginning if they are larger than --sample. In a beginning only pairs
    /// are seen that stand in it with both documents, so shares, and what follows from them for all of the input, are lower
    /// bounds, if the rest is like the beginning.
    #[command(after_long_help = SAMPLE_EXAMPLES)]
    Sample(SampleArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SamplingArgs {
    /// Files, folders (walked), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Least share of found pairs that are true, 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.85, help_heading = "Plan")]
    pub(crate) precision: f64,
    /// Least share of true pairs that are found, 0 to 1
    #[arg(long, value_name = "R", default_value_t = 0.0, help_heading = "Plan")]
    pub(crate) recall: f64,
    /// Resemblance from which on pairs are near-duplicates [default: 0.8]
    #[arg(long, value_name = "T", help_heading = "Plan")]
    pub(crate) threshold: Option<String>,
    /// Words a shingle [default: 5]
    #[arg(long, value_name = "N", help_heading = "Plan")]
    pub(crate) ngram: Option<usize>,
    /// Most documents that are measured; of more, those with the smallest hashes of where they stand
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Plan")]
    pub(crate) documents: usize,

    /// Draw precision by ratio into a new file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    /// Print a JSON object, on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print a configuration file with the plan
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) toml: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Files, folders (walked), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// A resemblance from which on documents would go; may be given several times [default: 0.5, 0.6, 0.7, 0.8, 0.9]
    #[arg(long, value_name = "T", help_heading = "Measured")]
    pub(crate) threshold: Vec<String>,
    /// Words a shingle [default: 5]
    #[arg(long, value_name = "N", help_heading = "Measured")]
    pub(crate) ngram: Option<usize>,
    /// Bytes of the inputs that are measured; of more, their beginning
    #[arg(long, value_name = "SIZE", default_value = "256MiB", help_heading = "Measured")]
    pub(crate) sample: String,

    /// Print a JSON object, on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Resemblance from which on pairs are near-duplicates, above 0 and below 1
    #[arg(long, value_name = "T")]
    pub(crate) threshold: f64,
    /// What it costs to miss a pair at or over the threshold
    #[arg(long, value_name = "COST", default_value_t = 1.0, help_heading = "Costs")]
    pub(crate) missed: f64,
    /// What it costs to accept a pair below it
    #[arg(long, value_name = "COST", default_value_t = 1.0, help_heading = "Costs")]
    pub(crate) wrong: f64,
    /// Most bytes of features a document, eight each
    #[arg(long, value_name = "N", default_value_t = 48, help_heading = "Costs")]
    pub(crate) bytes: usize,
    /// Most min-wise values a document (k times s): time grows with them
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = "Costs")]
    pub(crate) values: usize,

    /// A filter to show beside it, as in 6,14,2
    #[arg(long, value_name = "K,S,R", value_delimiter = ',', num_args = 1, help_heading = "Output")]
    pub(crate) compare: Vec<usize>,
    /// Draw the curves into a new file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    /// Print a JSON object, on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print a configuration file with the filter
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) toml: bool,
}
