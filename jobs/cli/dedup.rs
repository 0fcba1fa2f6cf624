//! The arguments of `alike dedup`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use alike::output::RecordForm;
use clap::Args;

use super::common::{ConfigArgs, ListArgs, MachineArgs, TalkArgs};
use super::processes::ProcessArgs;
use super::values::form_parser;

pub(super) const DEDUP_EXAMPLES: &str = "\
Examples:
  alike dedup crawl/ --out clean
      Read all files below crawl/ whose format is known (alike help dedup, --input-format). Write kept records to
      clean/kept/, and each removed one with its representative and their similarity to clean/duplicates.jsonl.
  alike dedup 'dump-*.jsonl.gz' --out clean --threshold 0.9 --keep longest --pairs
      Read the files of a glob, remove only closer copies, keep the longest of each cluster, and list all pairs.
  alike dedup news.jsonl --preset news --text-field body --id-field meta.id --out clean
      Start from a preset, and name the fields of id and text.
  alike dedup pages.jsonl --preset datatrove --verify --threshold 0.8 --out clean
      Use the MinHash bands of another tool, and check each pair by its exact Jaccard similarity.
  alike dedup dumps/ --annotate --to jsonl.zst --shard-size 512MB --out noted
      Remove nothing: write all records as compressed JSON Lines, each with its cluster and whether it would be kept.
  zstdcat pages.jsonl.zst | alike dedup - --dry-run
      Read standard input and write nothing.";

/// The form in which records are written.
#[derive(Debug, Default, Args)]
pub(crate) struct OutputFormArgs {
    /// Write records in this form: --to jsonl.zst [default: that of each input]
    #[arg(long, value_name = "FORM", value_parser = form_parser(), help_heading = "Output")]
    pub(crate) to: Option<RecordForm>,
    /// Remove nothing, and say with each record what was found: --annotate --to jsonl
    ///
    /// That is its cluster, the size of that, whether it would be kept, why not, and its representative. Records go to
    /// annotated/, not kept/. Lines of JSON get a field "alike" (one that they have is replaced), rows of CSV
    /// and Parquet columns whose names begin with "alike_". Other forms need --to jsonl or --to parquet.
    #[arg(long, help_heading = "Output")]
    pub(crate) annotate: bool,
    /// Divide files of records into parts of about this size on disk: --to jsonl.zst --shard-size 512MB
    ///
    /// A part ends behind the record that fills it, and NAME-00001.jsonl.zst is the first. Rows of CSV have the header in
    /// each part. Crawls and Parquet can only be divided in another form.
    #[arg(long, value_name = "SIZE", hide_short_help = true, help_heading = "Output")]
    pub(crate) shard_size: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the result; must not exist yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) choices: ConfigArgs,

    /// Keep up to N documents of each cluster: --keep longest --keep-per-cluster 3 [default: 1]
    ///
    /// The first N in the order of --keep are kept, the representative first; exact copies count as members.
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Clusters")]
    pub(crate) keep_per_cluster: Option<NonZeroUsize>,
    /// Fail (exit code 3) on the first refused record, not only if more than 10 % are refused
    #[arg(long, hide_short_help = true, help_heading = "Records")]
    pub(crate) strict: bool,

    /// Also write pairs.jsonl: every pair of near-duplicates
    #[arg(long, help_heading = "Output")]
    pub(crate) pairs: bool,
    /// Also compare duplicates word by word: kind (exact, excerpt, elaboration, insertion, focus, revision) and number
    /// of edited words
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub(crate) kinds: bool,
    #[command(flatten)]
    pub(crate) form: OutputFormArgs,
    /// Also write removed records, to removed/: --out clean --write-removed
    ///
    /// They have the form of kept ones. kept/ and removed/ together have every record of the inputs once. Refused records are in removed/, too, as they
    /// stand. An input that loses nothing has no file there.
    #[arg(long, conflicts_with = "annotate", help_heading = "Output")]
    pub(crate) write_removed: bool,
    #[command(flatten)]
    pub(crate) lists: ListArgs,
    /// Report duplicates, but write nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}
