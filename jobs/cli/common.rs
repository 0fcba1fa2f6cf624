//! Groups of arguments that several commands have.

use std::path::PathBuf;

use alike::collection::{CommitAt, Retain};
use alike::config::{Input, Method};
use alike::limits::REFUSED_PERCENT;
use alike::output::{ListChoice, ListForm};
use alike::read::{Delimiter, FormatHint, FormatName};
use clap::Args;

use super::processes::ProcessArgs;
use super::values::{
    ClusteringArg, ComponentsArg, DataForm, MeasureArg, MissingTextArg, Percent, SimdArg, TokensArg,
    VerifyArg, fold_parser, folder_parser, format_parser, list_parser, method_parser, policies, presets,
    record_bytes,
};

/// Where a collection lies.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Folder of the collection
    #[arg(value_parser = folder_parser())]
    pub(crate) collection: PathBuf,
    /// Keep the data of this process in DIR, on its own machine, instead of the folder of the collection
    ///
    /// For collections without a shared file system: all processes of a job must use this option, each with its own
    /// DIR, and commands that read the collection must name DIR again. The folder of the collection then belongs to
    /// process 0 alone. `alike compact --gather` moves everything into it.
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) local_state: Option<PathBuf>,
}

/// A commit of a collection, to be looked at.
#[derive(Clone, Debug, Args)]
pub(crate) struct CommitArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) when: WhenArgs,
}

/// Which commit it is.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WhenArgs {
    /// Look at an older commit: its number, or the last one at a time like 2026-11-20T08:00:00Z or on a day (UTC)
    ///
    /// `alike log` lists those that can be looked at; `load --retain` keeps more.
    #[arg(long, value_name = "COMMIT|TIME", hide_short_help = true, help_heading = "Commits")]
    pub(crate) at: Option<CommitAt>,
}

/// Where a collection lies, or an output of `dedup`.
#[derive(Clone, Debug, Args)]
pub(crate) struct EitherArgs {
    /// Folder of a collection, or an output of dedup
    #[arg(value_name = "OUT|COLLECTION", value_parser = folder_parser())]
    pub(crate) folder: PathBuf,
    /// Keep the data of this process in DIR, as with `load`: of collections
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) local_state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) when: WhenArgs,
}

impl EitherArgs {
    /// The same, of a collection.
    pub(crate) fn collection(&self) -> CommitArgs {
        let place = PlaceArgs { collection: self.folder.clone(), local_state: self.local_state.clone() };
        CommitArgs { place, when: self.when.clone() }
    }
}

/// What decides the answer, wherever one is asked for.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Start from a preset; other options override it (list: alike presets)
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "config",
        value_parser = presets(),
        hide_possible_values = true,
        help_heading = "Method"
    )]
    pub(crate) preset: Option<String>,
    /// Start from a TOML configuration file; other options override it
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub(crate) config: Option<PathBuf>,
    /// How near-duplicate pairs are found [default: join]
    #[arg(long, value_name = "METHOD", value_parser = method_parser(), help_heading = "Method")]
    pub(crate) method: Option<Method>,
    /// What is held against the threshold [default: resemblance]
    ///
    /// With containment a short text belongs to each longer one that has its words: an excerpt to the article, a page to
    /// the book. The first of them is kept, even if it is the excerpt; --keep longest keeps the whole. For `join` and the
    /// methods that count shared keys. With containment-of-protected, for `--against`, a new text goes if a protected
    /// one stands in it; one that is itself an excerpt of a protected text stays. New texts are compared with each other as
    /// with containment.
    #[arg(long, value_enum, value_name = "MEASURE", hide_short_help = true, help_heading = "Method")]
    pub(crate) measure: Option<MeasureArg>,
    /// Similarity threshold (Jaccard), above 0 and at most 1 [default: 0.8]
    ///
    /// With --measure containment it is the share of the smaller text, with containment-of-protected that of the protected one.
    #[arg(long, value_name = "T", help_heading = "Method")]
    pub(crate) threshold: Option<String>,
    /// Tokens per shingle (n-gram size) [default: 5]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) ngram: Option<usize>,
    /// Unit of text that shingles consist of [default: words]
    #[arg(long, value_enum, hide_short_help = true, help_heading = "Method")]
    pub(crate) tokens: Option<TokensArg>,
    /// Also check each pair of the method against the threshold [default: none; alone: resemblance]
    #[arg(
        long,
        value_enum,
        value_name = "BY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "resemblance",
        hide_short_help = true,
        help_heading = "Method"
    )]
    pub(crate) verify: Option<VerifyArg>,
    /// Ignore a key that more than N texts share; 0 ignores none
    /// [default: 1000, in a collection 0, unless a preset or file sets it]
    ///
    /// For methods that count shared keys. It bounds the cost of very common keys.
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Method")]
    pub(crate) common_cap: Option<usize>,
    /// Lexicon file, as `alike lexicon build` writes one
    /// [default: counted from the inputs; a collection has its own]
    ///
    /// For methods that weigh terms by their document frequency.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Method")]
    pub(crate) lexicon: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// How pairs become clusters [default: guarantee; in a collection transitive]
    ///
    /// A collection that measures containment has guarantee, too, unless transitive is asked for.
    #[arg(long, value_enum, help_heading = "Clusters")]
    pub(crate) clustering: Option<ClusteringArg>,
    /// Which document of a cluster is kept: first, last, longest, shortest, field:NAME:max or :min [default: first]
    ///
    /// NAME is the path of a field of the record, as in field:meta.date:max. A list like field:meta.date:max,longest goes on to the
    /// next where documents are equal. Among equals the earlier document wins.
    #[arg(
        long,
        value_name = "POLICY,...",
        value_parser = policies(),
        hide_possible_values = true,
        help_heading = "Clusters"
    )]
    pub(crate) keep: Option<String>,

    /// Field of the id; dots go into nested objects [default: id]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) id_field: Option<String>,
    /// Field of the text [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
    /// Refuse, and count, longer records, like 64M [default: 16M]
    ///
    /// A record has at most one word for each 6 bytes of SIZE, or 262,144. So 16M are about 8 MB of Chinese. One for which --memory has no room is
    /// refused and counted, too.
    #[arg(long, value_name = "SIZE", value_parser = record_bytes, hide_short_help = true, help_heading = "Records")]
    pub(crate) max_record_bytes: Option<usize>,
    /// Field of the date, for methods that compare dates
    ///
    /// Understood are ISO 8601, RFC 3339, RFC 2822, the forms of HTTP, 2024/03/10, Mar 10, 2024, a year or a month,
    /// and a Unix time in seconds or milliseconds.
    #[arg(long, value_name = "PATH", hide_short_help = true, help_heading = "Records")]
    pub(crate) date_field: Option<String>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

/// What of a record is its text.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ContentArgs {
    /// What becomes of records whose text is missing or null [default: reject]
    #[arg(long, value_enum, value_name = "WHAT", hide_short_help = true, help_heading = "Records")]
    pub(crate) missing_text: Option<MissingTextArg>,
    /// Compare only the main text of pages of HTML: without menus, lists of links and notices
    ///
    /// Files of HTML, and pages of WARC, ARC and TREC. A page of less than 100 words of main text is compared whole. Kept files
    /// hold whole pages.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_short_help = true,
        help_heading = "Records"
    )]
    pub(crate) main_text: Option<bool>,
    /// Compare mails without the replies that they quote
    ///
    /// Lines that begin with > go, with the line above them that says who wrote them; quotations in pages; and all that stands
    /// under the headers of the mail that is replied to. A mail that says less than 100 letters itself is compared whole. Kept
    /// files hold whole mails.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_short_help = true,
        help_heading = "Records"
    )]
    pub(crate) strip_quotes: Option<bool>,
}

/// What names and contents of inputs do not tell.
#[derive(Debug, Default, Args)]
pub(crate) struct FormArgs {
    /// Format of named files and standard input [default: by content]
    ///
    /// Where content does not tell, names do. A file that a pattern matches is named. Files in folders go by their contents and names in any case; a warning tells
    /// of those that are of another format.
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), help_heading = "Records")]
    pub(crate) input_format: Option<FormatName>,
    /// The delimiter of CSV: one ASCII character, or tab [default: a comma; tab for .tsv]
    ///
    /// Without it, a header that has no comma, but semicolons, tabs or bars, and only one kind of them, has that delimiter.
    #[arg(long, value_name = "CHAR", hide_short_help = true, help_heading = "Records")]
    pub(crate) delimiter: Option<Delimiter>,
}

impl FormArgs {
    /// What the flags say of inputs, over what is configured.
    pub(crate) fn hint(&self, configured: &Input) -> FormatHint {
        let delimiter = self.delimiter.or(configured.delimiter);
        FormatHint { format: self.input_format, delimiter, shared: false, memory: None }
    }
}

/// Which spellings are one.
#[derive(Debug, Default, Args)]
pub(crate) struct FoldArgs {
    /// Which spellings are one, beside case: forms, marks, digits, letters, or none [default: forms]
    ///
    /// A list, like marks,letters. Every word but none includes forms.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = fold_parser(),
        help_heading = "Text",
        hide_short_help = true
    )]
    pub(crate) fold: Vec<String>,
}

/// Which spellings are one, what is left out of texts, and what words become.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) fold: FoldArgs,
    /// Ignore words that consist of digits
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true", help_heading = "Text", hide_short_help = true)]
    pub(crate) drop_numbers: Option<bool>,
    /// Ignore words that contain a digit
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true", help_heading = "Text", hide_short_help = true)]
    pub(crate) alphabetic: Option<bool>,
    /// Ignore the stop words of these languages, by code: en,fr,zh
    #[arg(long, value_name = "LANG", value_delimiter = ',', help_heading = "Text", hide_short_help = true)]
    pub(crate) stop_words: Vec<String>,
    /// Ignore words of fewer characters; in scripts without spaces one is always enough
    #[arg(long, value_name = "N", help_heading = "Text", hide_short_help = true)]
    pub(crate) min_token_length: Option<usize>,
    /// Replace words by their stems (Snowball); LANG is a code or a name: en, english, porter
    ///
    /// Words are filtered before they are stemmed. A text without any word left is taken whole, without filters.
    #[arg(long, value_name = "LANG", help_heading = "Text", hide_short_help = true)]
    pub(crate) stem: Option<String>,
}

/// How many records may be refused.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RefusalArgs {
    /// Fail (exit code 3) on the first refused record
    #[arg(long, conflicts_with = "max_rejected", hide_short_help = true, help_heading = "Records")]
    pub(crate) strict: bool,
    /// Fail (exit code 3) if more records than PERCENT are refused
    #[arg(long, value_name = "PERCENT", default_value_t = Percent(REFUSED_PERCENT as u8), hide_short_help = true, help_heading = "Records")]
    pub(crate) max_rejected: Percent,
}

impl RefusalArgs {
    /// How many of a hundred records may be refused.
    pub(crate) fn percent(self) -> u64 {
        if self.strict { 0 } else { u64::from(self.max_rejected.0) }
    }
}

/// The fields of a record, where nothing else is configured, and how strictly records are read.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Field of the id; dots go into nested objects [default: id]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) id_field: Option<String>,
    /// Field of the text [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
    /// Refuse, and count, longer records, like 64M [default: 16M]
    ///
    /// A record has at most one word for each 6 bytes of SIZE, or 262,144. So 16M are about 8 MB of Chinese. One for which --memory has no room is
    /// refused and counted, too.
    #[arg(long, value_name = "SIZE", value_parser = record_bytes, hide_short_help = true, help_heading = "Records")]
    pub(crate) max_record_bytes: Option<usize>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) refusals: RefusalArgs,
}

/// What may differ from the configuration of the collection.
#[derive(Debug, Args)]
pub(crate) struct ChoiceArgs {
    /// Similarity threshold, not below that of the collection [default: the collection's]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<String>,
    /// Which document represents a cluster: first, last, longest, shortest, field:NAME:max or :min
    /// [default: the collection's]
    ///
    /// A list like longest,first goes on to the next where documents are equal. Only fields that the collection stores can be
    /// compared.
    #[arg(long, value_name = "POLICY,...", value_parser = policies(), hide_possible_values = true)]
    pub(crate) keep: Option<String>,
    /// How pairs become clusters [default: the collection's]
    #[arg(long, value_enum)]
    pub(crate) clustering: Option<ClusteringArg>,
}

/// What is done where another process writes to the collection.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct WaitArgs {
    /// Wait up to SECONDS while another process writes to the collection [default: fail at once, exit code 4]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, help_heading = "Machine")]
    pub(crate) wait: Option<u64>,
}

/// How long commits can be looked at again.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RetainArgs {
    /// From now on keep the last N commits that changed documents, or those of DAYS like 30d, to be looked at again; longer
    /// change logs are cut [default: the last commit and the one before it, and all change logs]
    ///
    /// The collection remembers it. At most 500 commits or 36500 days, and 1000 commits with compactions in any case.
    #[arg(long, value_name = "N|DAYS", hide_short_help = true, help_heading = "Commits")]
    pub(crate) retain: Option<Retain>,
}

/// How a collection is changed, and what is reported of it.
#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// Report what would change, and change nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    /// Most documents that may be deleted, as a share of those in the collection; more are refused (exit code 3) [default: 50%]
    #[arg(long, value_name = "PERCENT", help_heading = "Records")]
    pub(crate) max_delete: Option<Percent>,
    #[command(flatten)]
    pub(crate) retain: RetainArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Bytes of input between two checkpoints, like 64M [default: a quarter of the memory]
    ///
    /// An interrupted load continues from its last checkpoint. A compressed file is never divided.
    #[arg(long, value_name = "SIZE", hide_short_help = true, help_heading = "Machine")]
    pub(crate) epoch: Option<String>,
    /// How connected components are maintained; the answer is the same
    #[arg(
        long,
        value_enum,
        default_value_t = ComponentsArg::Forest,
        hide_short_help = true,
        help_heading = "Machine"
    )]
    pub(crate) components: ComponentsArg,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

/// In which form data is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct PrintArgs {
    /// Form of the output [default: a table on a terminal, otherwise jsonl]
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    pub(crate) format: Option<DataForm>,
    /// Print JSON, also on a terminal: short for --format jsonl
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
}

impl PrintArgs {
    /// The form, where it is `usual` if none is asked for.
    pub(crate) fn form(self, usual: DataForm) -> DataForm {
        self.format.unwrap_or(if self.json { DataForm::Jsonl } else { usual })
    }
}

/// What is reported, and how.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Print the report as a JSON object, also on a terminal
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// The lists of what was found.
#[derive(Debug, Default, Args)]
pub(crate) struct ListArgs {
    /// Write the lists of duplicates, clusters, pairs and refused records in this form: --lists parquet [default: jsonl]
    #[arg(long, value_name = "FORM", value_parser = list_parser(), hide_short_help = true, help_heading = "Output")]
    pub(crate) lists: Option<ListForm>,
    /// Also write assignments.jsonl: a row for every document with a word, its cluster, whether it is kept, and why not:
    /// --assignments --lists parquet
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub(crate) assignments: bool,
}

impl ListArgs {
    /// What was typed.
    pub(crate) fn choice(&self) -> ListChoice {
        ListChoice { form: self.lists.unwrap_or_default(), assignments: self.assignments }
    }
}

/// What is printed on standard error.
#[derive(Debug, Default, Args)]
pub(crate) struct TalkArgs {
    /// Print errors only
    #[arg(short, long, conflicts_with = "json_progress", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print progress as JSON Lines on standard error
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub(crate) json_progress: bool,
}

/// What a run may use of the machine.
#[derive(Debug, Default, Args)]
pub(crate) struct MachineArgs {
    /// Worker threads [default: all cores]
    #[arg(short, long, value_name = "N", help_heading = "Machine")]
    pub(crate) workers: Option<usize>,
    /// Memory limit, like 2G or 512MiB [default: half of the machine]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) memory: Option<String>,
    /// Vector instructions; the answer is the same with all of them
    #[arg(long, value_enum, default_value_t = SimdArg::Auto, hide_short_help = true, help_heading = "Machine")]
    pub(crate) simd: SimdArg,
}
