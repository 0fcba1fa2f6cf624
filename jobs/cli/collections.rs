//! The command line of collections; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::Args;

use super::common::{ChangeArgs, ConfigArgs, PlaceArgs, ReportArgs};
use super::processes::ProcessArgs;

pub(crate) const LOAD_EXAMPLES: &str = "\
Examples:
  alike load archive crawl/ --threshold 0.9 --keep longest
      Makes the collection archive, if there is none, and loads every file below crawl/.
  alike load archive crawl/ --clustering guarantee
      Makes one in which nothing is in a cluster unless it resembles the representative.
  alike load archive today.jsonl.gz
      Adds and replaces what is in the file; what is not in it stays.
  alike load archive dump.jsonl --delete-missing
      The file is all there is now: documents that are not in it go.
  zcat dump.jsonl.gz | alike load archive - --store-text
      Makes a collection that keeps the records too: standard input cannot be read again.
  alike load archive today.jsonl --rejected refused.jsonl --json
      Lists refused records in a file, and reports as a JSON object.
  alike load archive today.jsonl --dry-run
      Says what would be added, replaced and removed, and what would become of clusters.
  alike load archive --abandon
      Removes what an interrupted load left, checkpoints included; the same load would go on from these.

A configuration made for a collection is transitive and has no cap on common shingles unless it says so.";

pub(crate) const DELETE_EXAMPLES: &str = "\
Examples:
  alike delete archive --ids gone.txt             one id a line
  grep spam ids.txt | alike delete archive --ids - --strict";

pub(crate) const CLUSTERS_EXAMPLES: &str = "\
Examples:
  alike clusters archive                          a table
  alike clusters archive --json | head -1         the largest one, with all members";

pub(crate) const DOCUMENTS_EXAMPLES: &str = "\
Examples:
  alike documents archive                         a table
  alike documents archive --json > documents.jsonl";

pub(crate) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  alike explain archive doc17                     its cluster, what links it to the representative, and its links
  alike explain archive doc17 doc99               the chain between two documents, or what they lack";

pub(crate) const CHECK_EXAMPLES: &str = "\
Examples:
  alike check archive draft.txt                   which documents a text resembles
  alike check archive today.jsonl --json          one line for each record
  alike check archive < draft.txt";

pub(crate) const GROUP_EXAMPLES: &str = "\
Examples:
  search shoes | alike group archive              the first of each kind, its near-duplicates indented under it
  alike group archive ranked.txt --json           one line a group";

pub(crate) const CHANGES_EXAMPLES: &str = "\
Examples:
  alike changes archive                           all there ever was
  alike changes archive --since 7                 commits 8 and later";

pub(crate) const INFO_EXAMPLES: &str = "\
Examples:
  alike info archive                              for people
  alike info archive --json                       for programs";

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Files, folders (walked), globs, or - for standard input
    #[arg(value_name = "INPUT", required_unless_present = "abandon")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The load is all there is: delete documents that it does not mention. Refused if any record is
    #[arg(long)]
    pub(crate) delete_missing: bool,
    /// Only remove what an interrupted load left, and say what
    #[arg(long, conflicts_with_all = ["inputs", "delete_missing", "store_text", "dry_run"])]
    pub(crate) abandon: bool,

    /// Keep every record as it stands, so that texts can be shown and written out when the input is gone; fixed when
    /// the collection is made
    #[arg(long)]
    pub(crate) store_text: bool,

    #[command(flatten)]
    pub(crate) choices: ConfigArgs,

    /// End with code 3 and load nothing if a single record is refused, not only above 10 %
    #[arg(long, help_heading = "Records")]
    pub(crate) strict: bool,
    /// Write all refused records to a new file, as JSON lines; without it the first 10 are shown
    #[arg(long, value_name = "FILE", help_heading = "Records")]
    pub(crate) rejected: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// All runs become one in the folder of the collection, those too that processes keep in their --local-state
    #[arg(long)]
    pub(crate) gather: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// File with one id a line, or - for standard input; blank lines are passed over
    #[arg(long, value_name = "FILE")]
    pub(crate) ids: PathBuf,
    /// End with code 3 and delete nothing if an id is not there
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// What is only shown.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// JSON on a terminal too
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Id of a document
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    /// Id of another one
    #[arg(value_name = "DOC")]
    pub(crate) other: Option<String>,
    /// JSON on a terminal too
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is held against a collection.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// File to read, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// Lines of JSON, one for each text or group
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Only commits after this one [default: 0]
    #[arg(long, value_name = "COMMIT")]
    pub(crate) since: Option<u64>,
}
