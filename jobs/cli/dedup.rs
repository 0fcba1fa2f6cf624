//! The arguments of `alike dedup`.

use std::path::PathBuf;

use clap::Args;

use super::common::{ConfigArgs, MachineArgs, TalkArgs};
use super::processes::ProcessArgs;

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
  zstdcat pages.jsonl.zst | alike dedup - --dry-run
      Read standard input and write nothing.";

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
    /// Also write removed records, to removed/ beside kept/, in the form of their files: --out clean --write-removed
    ///
    /// kept/ and removed/ together have every record of the inputs once. Refused records are in removed/, too, as they
    /// stand. An input that loses nothing has no file there.
    #[arg(long, help_heading = "Output")]
    pub(crate) write_removed: bool,
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
