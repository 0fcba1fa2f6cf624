//! The arguments of commands that change or show a collection.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use alike::collection::CommitAt;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::common::{
    ChangeArgs, CommitArgs, ConfigArgs, EitherArgs, FormArgs, MachineArgs, PlaceArgs, PrintArgs, RefusalArgs,
    ReportArgs, RetainArgs, WaitArgs, WhenArgs,
};
use super::dedup::ProtectedPath;
use super::processes::ProcessArgs;
use super::values::{folder_parser, positive};

pub(crate) const LOAD_EXAMPLES: &str = "\
Examples:
  alike load archive crawl/ --threshold 0.9 --keep longest
      Create the collection archive if needed, and load all files below crawl/.
  alike load archive crawl/ --clustering guarantee
      Create one whose clusters contain only documents similar to the representative.
  alike load archive today.jsonl.gz
      Add and replace the documents of the file; others stay.
  alike load archive dump.jsonl --delete-missing
      Full sync: also delete the documents that the file does not contain.
  zcat dump.jsonl.gz | alike load archive - --store-text
      Create a collection that also stores the records: standard input cannot be read again.
  alike load archive today.jsonl --rejected refused.jsonl --json
      List refused records in a file, and report as a JSON object.
  alike load archive today.jsonl --against eval=benchmarks/ --left-out out.jsonl
      Leave out records that resemble a document below benchmarks/, and list each with what it resembles.
  alike load archive today.jsonl --retain 30d
      Keep the commits of the last 30 days, from now on, so that they can be looked at again.
  alike load archive today.jsonl --dry-run
      Report what would be added, replaced and removed, and how clusters would change.
  alike load archive --abandon
      Discard an interrupted load with its checkpoints. The same load command would continue it instead.

In a new collection clustering is transitive, with containment guarantee, and no common key is ignored,
unless you configure it.";

pub(crate) const DELETE_EXAMPLES: &str = "\
Examples:
  alike delete archive --ids gone.txt             a file with one id a line
  grep spam ids.txt | alike delete archive --ids - --strict";

pub(crate) const CLUSTERS_EXAMPLES: &str = "\
Examples:
  alike clusters archive                          a table
  alike clusters archive --top 20 --min-size 10   at most 20 of the clusters with ten documents or more
  alike clusters archive --cluster 3.12           one, by its number
  alike clusters archive --at 2026-11-20          as they were at the end of that day
  alike clusters archive --json | head -1         the largest one, with all members";

pub(crate) const DOCUMENTS_EXAMPLES: &str = "\
Examples:
  alike documents archive                         a table
  alike documents archive --json > documents.jsonl";

pub(crate) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  alike explain archive doc17                     its cluster and its links
  alike explain archive doc17 doc99               the links between two documents, or what they lack
  alike explain clean doc17                       why `alike dedup --out clean` removed or kept it
  alike explain clean crawl/b.jsonl:8 doc17       a document by file and line, as duplicates.jsonl has them";

pub(crate) const SHOW_EXAMPLES: &str = "\
Examples:
  alike show archive 3.12                         a cluster of a collection, as alike clusters numbers it
  alike show clean 7                              one of an output of dedup, as clusters.jsonl numbers it
  alike show clean 7 --member doc99               one member beside what is kept
  alike show clean 7 --format json                for programs";

pub(crate) const CHECK_EXAMPLES: &str = "\
Examples:
  alike check archive draft.txt                   the documents that a text resembles
  alike check archive today.jsonl --json          one line of JSON for each record
  alike check archive < draft.txt";

pub(crate) const GROUP_EXAMPLES: &str = "\
Examples:
  search shoes | alike group archive              near-duplicates indented below the best of them
  alike group archive ranked.txt --json           one line of JSON for each group";

pub(crate) const CHANGES_EXAMPLES: &str = "\
Examples:
  alike changes archive                           all commits
  alike changes archive --since 7                 commits 8 and later";

pub(crate) const INFO_EXAMPLES: &str = "\
Examples:
  alike info archive                              for people
  alike info archive --json                       for programs";

pub(crate) const LOG_EXAMPLES: &str = "\
Examples:
  alike log archive                               a table
  alike log archive --json | head -1              the last commit";

pub(crate) const COMPACT_EXAMPLES: &str = "\
Examples:
  alike compact archive                           after many small loads
  alike compact archive --local-state /ssd/state --gather
      Move the data of all processes into the folder of the collection; run it as all of them.";

pub(crate) const ROLLBACK_EXAMPLES: &str = "\
Examples:
  alike rollback archive --to 41                  as it was after commit 41
  alike rollback archive --to 2026-11-20 --dry-run
      Report what that would change, as of the end of that day.";

pub(crate) const COPY_EXAMPLES: &str = "\
Examples:
  alike copy archive archive-today                the last commit, while others load
  alike copy archive archive-then --at 41         an older one, to be loaded into on its own";

pub(crate) const FSCK_EXAMPLES: &str = "\
Examples:
  alike fsck archive                              exit code 0: no damage; 4: damage found
  alike fsck archive --json";

pub(crate) const SERVE_EXAMPLES: &str = "\
Examples:
  alike serve archive                             http://127.0.0.1:8080/, for this machine, read-only
      Browsers are shown pages, programs are given JSON: curl http://127.0.0.1:8080/clusters
  alike serve clean                               look at what dedup --out clean removed, before it is deleted
  alike serve archive --listen 9000 --token-file token
      Also take POST /load and POST /delete, with the header Authorization: Bearer and the token.
  alike serve clean --verdicts verdicts.jsonl
      Say of pairs whether they are the same; then: alike evaluate INPUT --labels verdicts.jsonl
  alike serve archive --listen 0.0.0.0:8080 --public-read
      Anybody who reaches this machine may read.
  openssl rand -hex 32 > token && chmod 600 token
      Make a token.

ALIKE_TOKEN in the environment is the token where --token-file is not given. There is no encryption: for other machines
put a server with TLS in front, and name it with --host.";

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required_unless_present = "abandon")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Also delete every document that this load does not contain (full sync); fails if a record is refused
    #[arg(long)]
    pub(crate) delete_missing: bool,
    /// Let --delete-missing delete all documents because the inputs hold no records
    #[arg(long, requires = "delete_missing", hide_short_help = true)]
    pub(crate) allow_empty: bool,
    /// Discard an interrupted load; loads nothing
    #[arg(long, conflicts_with_all = ["inputs", "delete_missing", "store_text", "dry_run", "against", "retain"])]
    pub(crate) abandon: bool,

    /// Leave out records of INPUT that resemble a document of PATH
    ///
    /// PATH is a file, a folder, a glob, -, or a collection. Its documents are protected: they are held against the records as
    /// the collection compares documents, and never loaded. May be given several times. NAME= says what the set is called in the
    /// report and in lists. Quote globs: the shell makes inputs of what stands behind the first file.
    #[arg(long, value_name = "[NAME=]PATH", value_parser = ProtectedPath::parse)]
    pub(crate) against: Vec<ProtectedPath>,

    /// Also store the records, so that texts can be shown and exported without the inputs; fixed when the collection
    /// is created
    #[arg(long, hide_short_help = true)]
    pub(crate) store_text: bool,

    /// Compare only documents that have the same value of this field, like meta.language; fixed when the collection is created
    #[arg(long, value_name = "FIELD", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true, help_heading = "Records")]
    pub(crate) within: Option<String>,

    #[command(flatten)]
    pub(crate) choices: ConfigArgs,

    #[command(flatten)]
    pub(crate) refusals: RefusalArgs,
    /// Write all refused records to a new file as JSON Lines [default: show the first 10]
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Records")]
    pub(crate) rejected: Option<PathBuf>,
    /// Write all records that --against leaves out to a new file as JSON Lines, each with the document that it resembles
    #[arg(long, value_name = "FILE", requires = "against", hide_short_help = true, help_heading = "Records")]
    pub(crate) left_out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// Merge all runs into the folder of the collection, including those in --local-state of processes; commits before
    /// cannot be looked at again
    #[arg(long)]
    pub(crate) gather: bool,
    #[command(flatten)]
    pub(crate) retain: RetainArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// The commit to restore: its number, or the last one at a time like 2026-11-20T08:00:00Z or on a day (UTC)
    #[arg(long, value_name = "COMMIT|TIME")]
    pub(crate) to: CommitAt,
    /// Report what would change, and change nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// Folder of the collection
    #[arg(value_parser = folder_parser())]
    pub(crate) collection: PathBuf,
    /// Folder to be made; nothing may be there yet
    #[arg(value_name = "COPY")]
    pub(crate) copy: PathBuf,
    #[command(flatten)]
    pub(crate) when: WhenArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
    /// File with one id a line, or - for standard input; blank lines are ignored
    #[arg(long, value_name = "FILE")]
    pub(crate) ids: PathBuf,
    /// Fail (exit code 3) and delete nothing if an id does not exist
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// What is only shown.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ClustersArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    /// Only the N largest
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Only clusters with N documents or more
    #[arg(long, value_name = "N")]
    pub(crate) min_size: Option<u64>,
    /// Only this one; exit code 2 if there is none of that number
    #[arg(long, value_name = "CLUSTER", conflicts_with_all = ["top", "min_size"])]
    pub(crate) cluster: Option<String>,
    /// Also show these fields of each member's record: --fields title,date,url
    ///
    /// They are read from the records that the collection keeps, or from the files that were loaded. A table has a row for each
    /// member then. Dots go into nested objects.
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) at: EitherArgs,
    /// Id of a document; of an output also FILE:LINE
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    /// Another document
    #[arg(value_name = "DOC")]
    pub(crate) other: Option<String>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowClusterArgs {
    #[command(flatten)]
    pub(crate) at: EitherArgs,
    /// Number of the cluster
    pub(crate) cluster: String,
    /// Only this member, by its id or FILE:LINE
    #[arg(long, value_name = "ID")]
    pub(crate) member: Option<String>,
    /// Most members that are shown beside the kept one
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "member")]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    /// File with the texts, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    /// File with one id a line, the best first, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    pub(crate) at: CommitArgs,
    /// Only commits after this one [default: 0]
    #[arg(long, value_name = "COMMIT")]
    pub(crate) since: Option<u64>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) at: EitherArgs,
    /// Address and port to listen at, or a port of this machine; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// File with the token that changes take, 16 bytes or more; at an address of others reading takes it too
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let anybody read who reaches the address
    #[arg(long)]
    pub(crate) public_read: bool,
    /// Take verdicts on pairs of documents, and append them to this file of labels, which evaluate --labels reads
    ///
    /// Each is a line of JSON: id_a, id_b, grade (1, 0 or unsure) and judged_at. Of a pair the last line counts. If there is a
    /// token, verdicts take it.
    #[arg(long, value_name = "FILE")]
    pub(crate) verdicts: Option<PathBuf>,
    /// Another name that the server is asked under, such as that of a proxy; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Where titles are in records, by whose words documents are found; dots lead into objects
    #[arg(long, value_name = "FIELD", default_value = "title")]
    pub(crate) title_field: String,

    /// Most bytes of a body
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "16MiB",
        hide_short_help = true,
        help_heading = "Limits"
    )]
    pub(crate) max_body: String,
    /// Most bytes of records in a POST /load
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "256MiB",
        hide_short_help = true,
        help_heading = "Limits"
    )]
    pub(crate) max_load: String,
    /// Seconds that an answer may take; changes take as long as they do
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "30",
        value_parser = positive,
        hide_short_help = true,
        help_heading = "Limits"
    )]
    pub(crate) timeout: NonZeroUsize,
    /// Connections at a time; of more, the one goes that has been silent for longest
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        value_parser = positive,
        hide_short_help = true,
        help_heading = "Limits"
    )]
    pub(crate) connections: NonZeroUsize,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}
