//! The arguments of `alike passages` and `alike repetition`, and those that `alike decontaminate` has in common with them.

use std::path::{Path, PathBuf};

use alike::output::RecordForm;
use alike::passages::PassageUnit;
use alike::repetition::RepetitionMeasure;
use alike::threshold::Threshold;
use clap::{Args, ValueEnum};

use super::common::{FoldArgs, MachineArgs, RecordArgs, ReportArgs};
use super::processes::ProcessArgs;
use super::values::form_parser;

pub(crate) const PASSAGES_EXAMPLES: &str = "\
Examples:
  alike passages crawl/ --dry-run
      Which lines are repeated most, and what share of the text repeats.
  alike passages crawl/ --action cut --out clean
      Cut each repeated line but the first, over all documents.
  alike passages crawl/ --unit sentences:3 --action cut --out clean
      Spans of three sentences, as C4 has them.
  alike passages 'dump-*.parquet' --unit tokens:50 --action cut --to jsonl.zst --out clean
      Any 50 words that stand in a text before, also within one document.
  alike launch --hosts hosts --ssh -- passages crawl/ --action cut --out clean -w 16
      On many machines; the result is the same.";

#[derive(Debug, Args)]
pub(crate) struct PassagesArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the result, or its URL; nothing may be there yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,

    /// What counts as a passage: line, paragraph, sentence or token; with a colon how many: tokens:50
    ///
    /// A paragraph ends at an empty line. Without a number it is three sentences, fifty tokens, one line or paragraph.
    /// Passages are the same if their words are: case, punctuation and blanks do not count, numbers do.
    #[arg(long, value_name = "UNIT[:N]", default_value_t, help_heading = "Passages")]
    pub(crate) unit: PassageUnit,
    /// Ignore passages of fewer words
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Passages")]
    pub(crate) min_words: u64,
    /// What is done with a passage that stands somewhere before
    ///
    /// cut takes it out of its text, with its line end, and writes the records to kept/. A record of whose text only blanks
    /// are left goes. mark leaves texts as they are, and gives records a field "alike" that says where the passages are, in
    /// bytes of the text; these records are in annotated/.
    #[arg(long, value_enum, default_value_t = ActionArg::List, help_heading = "Passages")]
    pub(crate) action: ActionArg,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// List the N passages that are repeated most
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Output")]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// How records are written, what is reported, and what works on it: of the commands that write records and compare no documents.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// Write records in this form: --to jsonl.zst [default: that of each input]
    ///
    /// Texts that are cut are written as JSON Lines, or as plain text if they were. Other inputs need --to jsonl.
    #[arg(long, value_name = "FORM", value_parser = form_parser(), help_heading = "Output")]
    pub(crate) to: Option<RecordForm>,
    /// Report what is found, but write nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

impl WorkArgs {
    /// The folder to make of the one that is named.
    pub(crate) fn writes<'a>(&self, out: &'a Option<PathBuf>) -> Option<&'a Path> {
        out.as_deref().filter(|_| !self.dry_run)
    }
}

/// `--action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ActionArg {
    /// Only list what is repeated
    List,
    /// Cut what stands before
    Cut,
    /// Say where it is
    Mark,
}

pub(crate) const REPETITION_EXAMPLES: &str = "\
Examples:
  alike repetition crawl/ --dry-run
      How many documents the limits of Gopher would remove, measure by measure.
  alike repetition crawl/ --write-removed --out clean
      Write the others to clean/kept/, and these to clean/removed/ to look at.
  alike repetition crawl/ --limit top-2-gram=0.25 --limit duplicate-paragraphs=1 --out clean
      A wider limit for one measure, and none for another.";

#[derive(Debug, Args)]
pub(crate) struct RepetitionArgs {
    /// Files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder for the result, or its URL; nothing may be there yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,

    /// Remove documents of which a measure is over SHARE, above 0 and at most 1; may be given several times
    ///
    /// Measures and their limits, if no other is given: duplicate-lines 0.3, duplicate-paragraphs 0.3,
    /// duplicate-line-characters 0.2, duplicate-paragraph-characters 0.2, top-2-gram 0.2, top-3-gram 0.18, top-4-gram 0.16,
    /// duplicate-5-grams 0.15, duplicate-6-grams 0.14, duplicate-7-grams 0.13, duplicate-8-grams 0.12, duplicate-9-grams 0.11,
    /// duplicate-10-grams 0.1. With 1 a measure removes nothing.
    #[arg(long, value_name = "MEASURE=SHARE", value_parser = RepetitionLimit::parse, help_heading = "Measures")]
    pub(crate) limit: Vec<RepetitionLimit>,

    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// Also write removed records, to removed/
    #[arg(long, help_heading = "Output")]
    pub(crate) write_removed: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// What `--limit` names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepetitionLimit {
    pub(crate) measure: RepetitionMeasure,
    pub(crate) most: Threshold,
}

impl RepetitionLimit {
    fn parse(text: &str) -> Result<RepetitionLimit, String> {
        let Some((measure, most)) = text.split_once('=') else {
            return Err("expected a measure and a share, like top-2-gram=0.25".to_owned());
        };
        let most = most.parse().map_err(|_| {
            format!("{most:?} is no share: expected a decimal above 0 and at most 1, like {measure}=0.25")
        })?;
        Ok(RepetitionLimit { measure: measure.parse()?, most })
    }
}
