//! The arguments of `alike dedup`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use alike::output::RecordForm;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::common::{ConfigArgs, ListArgs, MachineArgs, RefusalArgs, TalkArgs};
use super::processes::ProcessArgs;
use super::values::{form_parser, positive};

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
  alike dedup monday.jsonl --against archive=archive/ --against eval=benchmarks.jsonl --out clean
      Remove from monday.jsonl what resembles a document of the archive or of the benchmarks, or an earlier one of its own.
      duplicates.jsonl names the set, the file and the line of what each removed document met.
  alike dedup wiki/ news/ crawl/ --prefer wiki/,news/ --keep longest --out clean
      Of documents that are alike keep one of wiki/, else one of news/, else one of crawl/; the longest if there are several.
  alike dedup crawl/ --within language --out clean
      Compare documents of one language only.
  alike dedup crawl/ --dry-run --report look.html --report-from 0.6
      Write nothing but a page to look at in a browser, with what would go at 0.6, 0.65 and so on.
  alike dedup news/ --dry-run --report look.html --report-by section --report-by published
      Say on the page what each section and each month lose.
  zstdcat pages.jsonl.zst | alike dedup - --dry-run
      Read standard input and write nothing.";

/// The form in which records are written.
#[derive(Debug, Default, Args)]
pub(crate) struct OutputFormArgs {
    /// Write records in this form: --to jsonl.zst [default: that of each input]
    #[arg(long, value_name = "FORM", value_parser = form_parser(), help_heading = "Output")]
    pub(crate) to: Option<RecordForm>,
    /// Remove nothing; say with each record what was found
    ///
    /// That is its cluster, the size of that, whether it would be kept, why not, and its representative. Records go to
    /// annotated/, not kept/. Lines of JSON get a field "alike" (one that they have is replaced), rows of CSV
    /// and Parquet columns whose names begin with "alike_". Other forms need --to jsonl or --to parquet.
    #[arg(long, help_heading = "Output")]
    pub(crate) annotate: bool,
    /// Divide files of records into parts of about this size on disk: --to jsonl.zst --shard-size 512MB
    ///
    /// A part ends behind the record that fills it, and NAME-00001.jsonl.zst is the first. Rows of CSV have the header in
    /// each part, and Parquet its schema. Crawls, archives, dumps of wikis and Arrow can only be divided in another form.
    #[arg(long, value_name = "SIZE", hide_short_help = true, help_heading = "Output")]
    pub(crate) shard_size: Option<String>,
}

/// What is told of a run on a page.
#[derive(Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Also write a page (HTML) to look at first: --dry-run --report look.html
    ///
    /// It shows what goes and why, how alike it is, the largest and the loosest clusters, pairs near the threshold word by word,
    /// what each source loses, and what was refused. It needs no network. A report that is there already is replaced.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// With --report: also say what would go at each threshold from T on, and show pairs just below the threshold
    ///
    /// It takes a run more, with all pairs from T on. Only for --method join.
    #[arg(long, value_name = "T", requires = "report", hide_short_help = true, help_heading = "Output")]
    pub(crate) report_from: Option<String>,
    /// With --report: also say what each value of this field loses: --report-by language --report-by meta.date
    ///
    /// Dates are put together by month. May be given four times. Without it the fields "language" and "lang" are told, and those
    /// of --within and --date-field.
    #[arg(long, value_name = "FIELD", requires = "report", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true, help_heading = "Output")]
    pub(crate) report_by: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the result, or its URL; nothing may be there yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,

    /// Remove from INPUT what resembles a document of PATH, too
    ///
    /// PATH is a file, a folder, a glob, -, or a collection. Its documents are protected: they stay as they are. May be given several times. NAME= says what the set is called in lists and in the summary. Protected documents are
    /// never compared with each other, and none of them is written to the output. Quote globs: the shell makes inputs of what
    /// stands behind the first file.
    #[arg(long, value_name = "[NAME=]PATH", value_parser = ProtectedPath::parse)]
    pub(crate) against: Vec<ProtectedPath>,

    /// Compare only documents that have the same value of this field, like meta.language; :file compares each file by itself
    #[arg(long, value_name = "FIELD", value_parser = NonEmptyStringValueParser::new(), hide_short_help = true, help_heading = "Records")]
    pub(crate) within: Option<String>,

    #[command(flatten)]
    pub(crate) choices: ConfigArgs,

    /// Keep documents of these inputs rather than others, the first ones most: --prefer wiki/,news/
    ///
    /// SOURCE is an INPUT as it was named; inputs that are left out come last, all alike. This decides before --keep, which decides
    /// between documents of one input. May be given several times. A name that holds a comma is given by itself.
    #[arg(long, value_name = "SOURCE,...", hide_short_help = true, help_heading = "Clusters")]
    pub(crate) prefer: Vec<String>,

    /// Keep up to N documents of each cluster: --keep longest --keep-per-cluster 3 [default: 1]
    ///
    /// The first N in the order of --prefer and --keep are kept, the representative first; exact copies count as members.
    #[arg(long, value_name = "N", value_parser = positive, hide_short_help = true, help_heading = "Clusters")]
    pub(crate) keep_per_cluster: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) refusals: RefusalArgs,

    /// Also write pairs.jsonl: every pair of near-duplicates
    ///
    /// Of equal texts only the first is paired with others, and each of the rest with it.
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
    /// Report duplicates, but write nothing but --report
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

/// A path of a set of protected documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProtectedPath {
    /// The name of the set.
    pub(crate) name: String,
    /// A file, a folder, a glob, a collection, or - for standard input.
    pub(crate) path: PathBuf,
}

impl ProtectedPath {
    /// Reads `NAME=PATH` or `PATH`, which is its own name. What stands before = is a name if it could be one.
    pub(super) fn parse(text: &str) -> Result<ProtectedPath, String> {
        let could_be = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        let (name, path) = text.split_once('=').filter(|(name, _)| could_be(name)).unwrap_or((text, text));
        if path.is_empty() {
            return Err("no path: expected a file, a folder or a glob, or NAME= before it".to_owned());
        }
        Ok(ProtectedPath { name: name.to_owned(), path: path.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_path_may_have_a_name() {
        let parsed = |text| ProtectedPath::parse(text).map(|set| (set.name, set.path.display().to_string()));
        let two = |name: &str, path: &str| Ok((name.to_owned(), path.to_owned()));
        assert_eq!(parsed("old.jsonl"), two("old.jsonl", "old.jsonl"));
        assert_eq!(parsed("last-month=a/b=c/*.gz"), two("last-month", "a/b=c/*.gz"));
        // Hive's partitions.
        assert_eq!(parsed("crawl/lang=en/"), two("crawl/lang=en/", "crawl/lang=en/"));
        assert!(parsed("").is_err() && parsed("old=").is_err());
    }
}
