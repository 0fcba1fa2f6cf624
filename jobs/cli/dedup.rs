//! The arguments of `alike dedup`.

use std::path::PathBuf;

use clap::Args;

use super::common::{ConfigArgs, MachineArgs, TalkArgs};
use super::processes::ProcessArgs;

pub(super) const DEDUP_EXAMPLES: &str = "\
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
