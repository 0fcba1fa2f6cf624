//! The command line of what looks at the documents of a collection again; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::Args;

use super::common::{ChoiceArgs, MachineArgs, PlaceArgs, TalkArgs};
use super::processes::ProcessArgs;

pub(crate) const PAIRS_EXAMPLES: &str = "\
Examples:
  alike pairs archive                             a table
  alike pairs archive --threshold 0.95 --json > pairs.jsonl
      Only the closer ones, as dedup --pairs writes them.";

pub(crate) const CLUSTER_EXAMPLES: &str = "\
Examples:
  alike cluster archive --threshold 0.9           what would be together at 0.9
  alike cluster archive --keep last --clustering guarantee --json > clusters.jsonl
      Other representatives, and no chains; in the form of dedup's clusters.jsonl.";

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  alike export archive --out clean                what dedup would write of the documents that are there
  alike export archive --out clean --threshold 0.95 --keep longest --clustering guarantee --pairs
  alike export archive --dry-run                  only say what would go, and whether all files are still there";

pub(crate) const STATS_EXAMPLES: &str = "\
Examples:
  alike stats archive                             for people
  alike stats archive --json                      for programs";

#[derive(Debug, Args)]
pub(crate) struct PairsArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Least resemblance (or containment), not below the collection's [default: the collection's]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<String>,

    /// Read the texts again and say of each pair of what kind it is (exact, excerpt, elaboration, insertion, focus,
    /// revision) and how many words were edited
    #[arg(long, help_heading = "Output")]
    pub(crate) kinds: bool,
    /// JSON on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,

    /// JSON on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Folder for the result; must not exist yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,

    /// Write pairs.jsonl as well: every pair of near-duplicates
    #[arg(long, help_heading = "Output")]
    pub(crate) pairs: bool,
    /// Report what would be removed, and whether all can be written, but write nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}
