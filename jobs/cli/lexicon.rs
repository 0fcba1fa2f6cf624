//! The command line of lexicons; part of the one definition in `cli.rs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::common::{MachineArgs, ReportArgs};
use super::processes::ProcessArgs;

pub(crate) const LEXICON_EXAMPLES: &str = "\
Examples:
  alike lexicon build crawl/ --out may.lexicon
      Terms of three letters or more that are in five documents or more.
  alike lexicon compare april.lexicon may.lexicon --documents crawl/ --svg stability.svg
      How alike they rank terms, and how many signatures of documents stay the same.
  alike lexicon show may.lexicon --term copyright --common 20";

const BUILD_EXAMPLES: &str = "\
Examples:
  alike lexicon build crawl/ --out may.lexicon
  alike lexicon build 'dump-*.jsonl.gz' --text-field body --terms alphanumeric --min-df 1 --out part1.lexicon
      A part of something larger: without a floor, so that parts can be merged exactly.
  alike launch --hosts hosts --ssh -- lexicon build crawl/ --out may.lexicon -w 16
      On many machines; the file is the same.";

const MERGE_EXAMPLES: &str = "\
Examples:
  alike lexicon merge part1.lexicon part2.lexicon --min-df 5 --out whole.lexicon
  alike lexicon merge part1.lexicon --min-df 20 --out smaller.lexicon";

const COMPARE_EXAMPLES: &str = "\
Examples:
  alike lexicon compare april.lexicon may.lexicon
  alike lexicon compare april.lexicon may.lexicon --documents crawl/ --sample 10000 --tsv curve.tsv --svg curve.svg
  alike lexicon compare april.lexicon may.lexicon --documents crawl/ --max-idf 0.8 --json";

const SHOW_EXAMPLES: &str = "\
Examples:
  alike lexicon show may.lexicon                  how it was made, and its name
  alike lexicon show may.lexicon --term don\\'t --term licence
  alike lexicon show may.lexicon --top 100 --json | jq .terms";

#[derive(Debug, Subcommand)]
pub(crate) enum LexiconCommand {
    /// Count in how many documents each term occurs, and write that down
    ///
    /// Documents are read as `dedup` reads them; text, not records, decides what comes out: neither order nor workers
    /// change a byte of the file. A term is a word in canonical form. Each character of a script without spaces is one.
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(Box<BuildArgs>),
    /// Make one lexicon of several, of documents that they do not share
    ///
    /// Of lexicons built with --min-df 1 that is exactly what a build over all their documents would write. Others have
    /// left out terms, so counts may be too low; the file says by how much at most.
    #[command(after_long_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Say how alike two lexicons are
    ///
    /// Spearman's rank correlation (with ties) of the terms that both have; with --documents also how many documents keep
    /// the same signature, which is their terms of highest idf, by its length.
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Show how a lexicon was made, and terms of it
    ///
    /// A table on a terminal; elsewhere a JSON object.
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show(ShowLexiconArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Files, folders (walked), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// File for the lexicon; must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Which words are terms
    #[arg(long, value_enum, default_value_t = TermsArg::Alphabetic, help_heading = "Terms")]
    pub(crate) terms: TermsArg,
    /// Least characters of a term; a character of a script without spaces needs no more
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Terms")]
    pub(crate) min_length: usize,
    /// Leave out terms of fewer documents
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Terms")]
    pub(crate) min_df: u64,

    /// Where the text of a record stands [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    /// End with code 3 if a single record is refused, not only above 10 %
    #[arg(long, help_heading = "Records")]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Lexicons of the same sort of terms
    #[arg(value_name = "LEXICON", required = true)]
    pub(crate) lexicons: Vec<PathBuf>,
    /// File for the lexicon; must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Leave out terms of fewer documents [default: the greatest of theirs]
    #[arg(long, value_name = "N")]
    pub(crate) min_df: Option<u64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A lexicon
    pub(crate) a: PathBuf,
    /// Another one
    pub(crate) b: PathBuf,

    /// Files, folders or globs of documents whose signatures are compared
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Signatures")]
    pub(crate) documents: Vec<PathBuf>,
    /// Documents drawn [default: 1000]
    #[arg(long, value_name = "N", requires = "documents", help_heading = "Signatures")]
    pub(crate) sample: Option<usize>,
    /// Draws others: the same seed draws the same texts [default: 0]
    #[arg(long, value_name = "N", requires = "documents", help_heading = "Signatures")]
    pub(crate) seed: Option<u64>,
    /// Terms of the longest signature, at most 64 [default: 30]
    #[arg(long, value_name = "N", requires = "documents", help_heading = "Signatures")]
    pub(crate) longest: Option<usize>,
    /// Pass over terms of a greater normalised idf, above 0 and at most 1 [default: 1]
    #[arg(long, value_name = "X", requires = "documents", help_heading = "Signatures")]
    pub(crate) max_idf: Option<f64>,
    /// Where the text of a record stands [default: text]
    #[arg(long, value_name = "PATH", requires = "documents", help_heading = "Signatures")]
    pub(crate) text_field: Option<String>,

    /// Write the curve to a new file, as columns between tabulators
    #[arg(long, value_name = "FILE", requires = "documents", help_heading = "Output")]
    pub(crate) tsv: Option<PathBuf>,
    /// Write the curve to a new file, as a picture
    #[arg(long, value_name = "FILE", requires = "documents", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    /// Worker threads [default: all cores]
    #[arg(short, long, value_name = "N", help_heading = "Machine")]
    pub(crate) workers: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowLexiconArgs {
    /// The lexicon
    pub(crate) lexicon: PathBuf,
    /// Show a term; may be given several times
    #[arg(long, value_name = "TERM")]
    pub(crate) term: Vec<String>,
    /// Show the N terms of highest idf, the rarest
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Show the N terms of lowest idf, the most common
    #[arg(long, value_name = "N")]
    pub(crate) common: Option<usize>,
    /// JSON on a terminal too
    #[arg(long)]
    pub(crate) json: bool,
}

/// `--terms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TermsArg {
    /// Words of letters
    Alphabetic,
    /// Words with numbers in them, and numbers, too
    Alphanumeric,
}
