//! The arguments of `alike tune`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::{FoldArgs, MachineArgs, PrintArgs, RecordArgs, TalkArgs};
use super::evaluate::LabelArgs;

pub(super) const TUNE_EXAMPLES: &str = "\
Examples:
  alike tune sample crawl/                        documents removed at several thresholds, with example pairs
  alike tune threshold in.jsonl --labels l.tsv    n-gram size and threshold that agree best with labels
  alike tune filter --threshold 0.8               MinHash bands for a threshold, with their curve
  alike tune sampling crawl/                      how sparsely shingles can be sampled";

const FILTER_EXAMPLES: &str = "\
Examples:
  alike tune filter --threshold 0.9
      The best k, s and r for 0.9 within 48 bytes a document, and their curve.
  alike tune filter --threshold 0.8 --missed 5 --bytes 160 --svg curve.svg
      A missed pair costs five times as much as a wrongly accepted one.
  alike tune filter --threshold 0.9 --compare 6,14,2
      Also show the filter of Broder 2000.
  alike tune filter --threshold 0.9 --toml > filter.toml && alike dedup crawl/ --config filter.toml --out out";

const SAMPLING_EXAMPLES: &str = "\
Examples:
  alike tune sampling crawl/ --threshold 0.85 --ngram 10
      The sparsest sampling for each length of text that keeps a precision of 85 %.
  alike tune sampling crawl/ --precision 0.95 --recall 0.8 --documents 100000 --svg precision.svg
      With a least recall, on more documents, and with curves.
  alike tune sampling crawl/ --toml > sampled.toml && alike dedup crawl/ --config sampled.toml --out out";

const SAMPLE_EXAMPLES: &str = "\
Examples:
  alike tune sample crawl/
      Documents removed at 0.5, 0.6, 0.7, 0.8 and 0.9, with three pairs just above and below each.
  alike tune sample crawl/ --threshold 0.75 --threshold 0.8 --ngram 3 --sample 1G
      Two thresholds, shingles of three words, the first gigabyte of the inputs.";

const THRESHOLD_EXAMPLES: &str = "\
Examples:
  alike tune threshold bills.jsonl --labels pairs.tsv
      The n-gram size and threshold with the greatest F1 on labelled pairs (columns id_a, id_b and grade).
  alike tune threshold news.jsonl --labels clusters.tsv --words 1,2,3 --chars 0
      Columns id and cluster; shingles of one to three words only.
  alike tune threshold crawl/
      Without labels: the gap in the distribution of similarities, if there is one.
  alike tune threshold bills.jsonl --labels pairs.tsv --toml > my.toml && alike dedup bills.jsonl --config my.toml --out out";

#[derive(Debug, Subcommand)]
pub(crate) enum TuneCommand {
    /// Choose MinHash bands for a threshold: k features of s values, r of which must agree
    ///
    /// A pair of a given Jaccard similarity is accepted with the probability P(k,s,r): the S-curve of LSH. The error of a
    /// filter is the area below the curve under the threshold (wrong pairs) plus the area above it over the threshold
    /// (missed pairs), if similarities are spread evenly (Broder 2000, section 4). The command prints the filter of
    /// least cost for each number of features that fits into the bytes of a document.
    #[command(after_long_help = FILTER_EXAMPLES)]
    Filter(TuneFilterArgs),
    /// Choose how sparsely shingles are sampled, by the length of documents
    ///
    /// Measures precision and recall of sampled shingles against the exact join on these documents: one shingle in 2, 4,
    /// 8, 16, 32 and 64, with up to 16 disjoint samples of each. For each group of lengths the plan takes the sparsest
    /// ratio that keeps the required precision and recall (Ye, Wen and Ma 2008). A run with the plan measures the
    /// result. Groups without a near-duplicate pair are not sampled. Two documents sampled at different ratios look
    /// less similar than they are, which lowers the measured recall.
    #[command(after_long_help = SAMPLING_EXAMPLES)]
    Sampling(SamplingArgs),
    /// Show how many documents several thresholds would remove, with example pairs
    ///
    /// Runs the exact join on the inputs, or on their beginning if they are larger than --sample. A pair is only found
    /// if both documents are in that beginning, so the estimates for all of the input are lower bounds.
    #[command(after_long_help = SAMPLE_EXAMPLES)]
    Sample(SampleArgs),
    /// Choose n-gram size and threshold, from labels or from the gap in the distribution of similarities
    ///
    /// With labels: for each n-gram size the threshold with the greatest F1 of all thresholds. Pairs that were judged
    /// are measured one by one. Of clusters, and of pairs with --unlisted distinct, all pairs of labelled documents
    /// count; those below --floor count as not found. If the greatest F1 is below 0.5, or the threshold makes more than
    /// three quarters of the mistakes of taking every pair for duplicates, the command says so and suggests nothing.
    ///
    /// Without labels: how similar each distinct text is to its nearest other text, at --floor or above. A gap is a
    /// range of similarities with at most a quarter of the texts of its fullest neighbourhoods on both sides, and at most
    /// one text for 50 on either side. If there is no gap, the command says so and suggests nothing.
    #[command(after_long_help = THRESHOLD_EXAMPLES)]
    Threshold(TuneThresholdArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TuneThresholdArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) truth: LabelArgs,

    /// Words per shingle to measure; 0 for none
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        num_args = 1,
        default_value = "1,2,3,4,5",
        help_heading = "Measured"
    )]
    pub(crate) words: Vec<usize>,
    /// Characters per shingle to measure; 0 for none
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        num_args = 1,
        default_value = "3,4,5,6,7,8",
        help_heading = "Measured"
    )]
    pub(crate) chars: Vec<usize>,
    /// Least similarity (Jaccard) that is looked for where not every pair is measured
    #[arg(long, value_name = "T", default_value = "0.3", help_heading = "Measured")]
    pub(crate) floor: String,
    /// Documents to measure, at most; larger inputs are sampled, judged pairs are all measured [default: 20000, and fewer where many are
    /// alike]
    #[arg(long, value_name = "N", help_heading = "Measured")]
    pub(crate) documents: Option<usize>,

    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Print a configuration file with the suggestion
    #[arg(long, conflicts_with_all = ["json", "format"], help_heading = "Output")]
    pub(crate) toml: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    #[command(flatten)]
    pub(crate) fold: FoldArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SamplingArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Required precision, 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.85, help_heading = "Plan")]
    pub(crate) precision: f64,
    /// Required recall, 0 to 1
    #[arg(long, value_name = "R", default_value_t = 0.0, help_heading = "Plan")]
    pub(crate) recall: f64,
    /// Similarity threshold (Jaccard) [default: 0.8]
    #[arg(long, value_name = "T", help_heading = "Plan")]
    pub(crate) threshold: Option<String>,
    /// Words per shingle (n-gram size) [default: 5]
    #[arg(long, value_name = "N", help_heading = "Plan")]
    pub(crate) ngram: Option<usize>,
    /// Documents to measure, at most; a larger input is sampled
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Plan")]
    pub(crate) documents: usize,

    /// Draw precision by ratio into a new SVG file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Print a configuration file with the plan
    #[arg(long, conflicts_with_all = ["json", "format"], help_heading = "Output")]
    pub(crate) toml: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    #[command(flatten)]
    pub(crate) fold: FoldArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Similarity threshold to measure; can be repeated [default: 0.5, 0.6, 0.7, 0.8, 0.9]
    #[arg(long, value_name = "T", help_heading = "Measured")]
    pub(crate) threshold: Vec<String>,
    /// Words per shingle (n-gram size) [default: 5]
    #[arg(long, value_name = "N", help_heading = "Measured")]
    pub(crate) ngram: Option<usize>,
    /// Bytes of the inputs to measure; of larger inputs the beginning
    #[arg(long, value_name = "SIZE", default_value = "256MiB", help_heading = "Measured")]
    pub(crate) sample: String,

    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
    #[command(flatten)]
    pub(crate) fold: FoldArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TuneFilterArgs {
    /// Similarity threshold (Jaccard), above 0 and below 1
    #[arg(long, value_name = "T")]
    pub(crate) threshold: f64,
    /// Cost of a missed pair at or above the threshold
    #[arg(long, value_name = "COST", default_value_t = 1.0, help_heading = "Costs")]
    pub(crate) missed: f64,
    /// Cost of an accepted pair below the threshold
    #[arg(long, value_name = "COST", default_value_t = 1.0, help_heading = "Costs")]
    pub(crate) wrong: f64,
    /// Bytes of features per document, at most; a feature takes eight
    #[arg(long, value_name = "N", default_value_t = 48, help_heading = "Costs")]
    pub(crate) bytes: usize,
    /// Min-wise values per document (k times s), at most; they cost time
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = "Costs")]
    pub(crate) values: usize,

    /// Also show this filter, as in 6,14,2
    #[arg(long, value_name = "K,S,R", value_delimiter = ',', num_args = 1, help_heading = "Output")]
    pub(crate) compare: Vec<usize>,
    /// Draw the curves into a new SVG file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    /// Print a configuration file with the filter
    #[arg(long, conflicts_with_all = ["json", "format"], help_heading = "Output")]
    pub(crate) toml: bool,
}
