//! The arguments of `alike lexicon`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::common::{ContentArgs, FormArgs, MachineArgs, PrintArgs, RefusalArgs, ReportArgs, TalkArgs};
use super::processes::ProcessArgs;
use super::values::{fold_parser, record_bytes};

pub(crate) const LEXICON_EXAMPLES: &str = "\
Examples:
  alike lexicon build crawl/ --out may.lexicon
      Terms of at least three letters that occur in at least five documents.
  alike lexicon compare april.lexicon may.lexicon --documents crawl/ --svg stability.svg
      Rank correlation of the terms, and how many document signatures stay the same.
  alike lexicon show may.lexicon --term copyright --common 20";

const BUILD_EXAMPLES: &str = "\
Examples:
  alike lexicon build crawl/ --out may.lexicon
  alike lexicon build 'dump-*.jsonl.gz' --text-field body --terms alphanumeric --min-df 1 --out part1.lexicon
      Part of a larger corpus: with all terms, so that parts can be merged exactly.
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
  alike lexicon show may.lexicon                  its settings and its name
  alike lexicon show may.lexicon --term don\\'t --term licence
  alike lexicon show may.lexicon --top 100 --json | jq .terms";

#[derive(Debug, Subcommand)]
pub(crate) enum LexiconCommand {
    /// Count document frequencies of terms, and write a lexicon
    ///
    /// Reads documents as `dedup` does. A term is a word in canonical form; in scripts without spaces each character is
    /// a term. The same texts give the same file, byte for byte, in any order and with any number of workers.
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(Box<BuildArgs>),
    /// Merge lexicons of different documents into one
    ///
    /// Merging lexicons built with --min-df 1 gives exactly the lexicon of all their documents. Others lack rare terms,
    /// so counts can be too low; the new lexicon records by how much at most.
    #[command(after_long_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Compare two lexicons
    ///
    /// Prints Spearman's rank correlation (with ties) of their common terms. With --documents also prints how many
    /// documents keep the same signature (their terms of highest idf), by the length of the signature.
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArgs>),
    /// Show the settings of a lexicon, and terms of it
    ///
    /// Prints a table on a terminal, otherwise a JSON object.
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show(ShowLexiconArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// File for the lexicon; must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Which words are terms
    #[arg(long, value_enum, default_value_t = TermsArg::Alphabetic, help_heading = "Terms")]
    pub(crate) terms: TermsArg,
    /// Shortest term, in characters; in scripts without spaces one is always enough
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Terms")]
    pub(crate) min_length: usize,
    /// Which spellings are one, beside case: forms, marks, digits, letters, or none
    ///
    /// As the runs say that use the lexicon. A list, like marks,letters. Every word but none includes forms.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "forms",
        value_parser = fold_parser(),
        help_heading = "Terms"
    )]
    pub(crate) fold: Vec<String>,
    /// Ignore terms that fewer documents contain
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Terms")]
    pub(crate) min_df: u64,

    /// Field of the text [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
    /// Refuse, and count, longer records, like 64M [default: 16M]
    #[arg(long, value_name = "SIZE", value_parser = record_bytes, hide_short_help = true, help_heading = "Records")]
    pub(crate) max_record_bytes: Option<usize>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) refusals: RefusalArgs,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Lexicons with the same settings of terms
    #[arg(value_name = "LEXICON", required = true)]
    pub(crate) lexicons: Vec<PathBuf>,
    /// File for the lexicon; must not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Ignore terms that fewer documents contain [default: the greatest value of the inputs]
    #[arg(long, value_name = "N")]
    pub(crate) min_df: Option<u64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// First lexicon
    pub(crate) a: PathBuf,
    /// Second lexicon
    pub(crate) b: PathBuf,

    /// Documents (files, folders or globs) whose signatures are compared
    #[arg(long, value_name = "INPUT", num_args = 1.., help_heading = "Signatures")]
    pub(crate) documents: Vec<PathBuf>,
    /// Number of documents to draw [default: 1000]
    #[arg(long, value_name = "N", requires = "documents", help_heading = "Signatures")]
    pub(crate) sample: Option<usize>,
    /// Seed of the draw: the same seed draws the same texts [default: 0]
    #[arg(long, value_name = "N", requires = "documents", help_heading = "Signatures")]
    pub(crate) seed: Option<u64>,
    /// Terms in the longest signature, at most 64 [default: 30]
    #[arg(long, value_name = "N", requires = "documents", help_heading = "Signatures")]
    pub(crate) longest: Option<usize>,
    /// Ignore terms of a greater normalised idf, above 0 and at most 1 [default: 1]
    #[arg(long, value_name = "X", requires = "documents", help_heading = "Signatures")]
    pub(crate) max_idf: Option<f64>,
    /// Field of the text [default: text]
    #[arg(long, value_name = "PATH", requires = "documents", help_heading = "Signatures")]
    pub(crate) text_field: Option<String>,
    #[command(flatten)]
    pub(crate) form: FormArgs,

    /// Write the curve to a new file, as tab-separated columns
    #[arg(long, value_name = "FILE", requires = "documents", help_heading = "Output")]
    pub(crate) tsv: Option<PathBuf>,
    /// Draw the curve into a new SVG file
    #[arg(long, value_name = "FILE", requires = "documents", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    /// Worker threads [default: all cores]
    #[arg(short, long, value_name = "N", help_heading = "Machine")]
    pub(crate) workers: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowLexiconArgs {
    /// Lexicon to show
    pub(crate) lexicon: PathBuf,
    /// Show a term; can be repeated
    #[arg(long, value_name = "TERM")]
    pub(crate) term: Vec<String>,
    /// Show the N terms of highest idf, the rarest
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Show the N terms of lowest idf, the most common
    #[arg(long, value_name = "N")]
    pub(crate) common: Option<usize>,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

/// `--terms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TermsArg {
    /// Words of letters
    Alphabetic,
    /// Words of letters and digits
    Alphanumeric,
}
