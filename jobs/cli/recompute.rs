//! The arguments of commands that compare the documents of a collection again.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::common::{ChoiceArgs, CommitArgs, EitherArgs, ListArgs, MachineArgs, PrintArgs, TalkArgs};
use super::processes::ProcessArgs;
use super::values::positive;

pub(crate) const PAIRS_EXAMPLES: &str = "\
Examples:
  alike pairs archive                             a table
  alike pairs archive --threshold 0.95 --json > pairs.jsonl
      Only closer pairs, in the form of dedup --pairs.";

pub(crate) const RECLUSTER_EXAMPLES: &str = "\
Examples:
  alike recluster archive --threshold 0.9         the clusters at 0.9
  alike recluster archive --keep last --clustering guarantee --json > clusters.jsonl
      Other representatives and no chains, in the form of dedup's clusters.jsonl.";

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  alike export archive --out clean                what dedup would write of these documents
  alike export archive --out clean --threshold 0.95 --keep longest --clustering guarantee --pairs
  alike export archive --dry-run                  report duplicates, and whether all files still exist";

pub(crate) const REPORT_EXAMPLES: &str = "\
Examples:
  alike report archive --out archive.html
  alike report archive --out archive.html --threshold 0.9 --from 0.85
      As it would be at 0.9, and what would go at each threshold from 0.85 on.
  alike report clean --out clean.html             about the run of alike dedup that wrote clean/
  alike report clean --out clean.html --by language --by meta.date
      What each language and each month of it lost.";

pub(crate) const STATS_EXAMPLES: &str = "\
Examples:
  alike stats archive                             for people
  alike stats archive --json                      for programs";

#[derive(Debug, Args)]
pub(crate) struct PairsArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    /// Similarity threshold, not below that of the collection [default: the collection's]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<String>,

    /// Also read the texts and compare them word by word: kind (exact, excerpt, elaboration, insertion, focus,
    /// revision) and number of edited words
    #[arg(long, help_heading = "Output")]
    pub(crate) kinds: bool,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReclusterArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,

    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportPageArgs {
    #[command(flatten)]
    pub(crate) at: EitherArgs,
    /// The page; a report that is there already is replaced
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,
    /// Also say what would go at each threshold from T on, and show pairs just below the threshold; not below the threshold of
    /// the collection
    #[arg(long, value_name = "T", help_heading = "Output")]
    pub(crate) from: Option<String>,
    /// Of an output of dedup: also say what each value of this field loses; dates are put together by month
    #[arg(long, visible_alias = "report-by", value_name = "FIELD", value_parser = NonEmptyStringValueParser::new(), help_heading = "Output")]
    pub(crate) by: Vec<String>,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    /// Folder for the result, or its URL; nothing may be there yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,

    /// Keep up to N documents of each cluster: --keep longest --keep-per-cluster 3 [default: 1]
    ///
    /// The first N in the order of --keep are kept, the representative first; exact copies count as members.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) keep_per_cluster: Option<NonZeroUsize>,
    /// Also write pairs.jsonl: every pair of near-duplicates
    ///
    /// Of equal texts only the first is paired with others, and each of the rest with it.
    #[arg(long, help_heading = "Output")]
    pub(crate) pairs: bool,
    #[command(flatten)]
    pub(crate) lists: ListArgs,
    /// Report what would be removed, and whether all files can be written, but write nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}
