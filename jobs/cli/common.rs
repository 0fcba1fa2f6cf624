//! Groups of arguments that several commands have.

use std::path::PathBuf;

use clap::Args;

use super::processes::ProcessArgs;
use super::values::{ClusteringArg, ComponentsArg, MethodArg, SimdArg, TokensArg, VerifyArg};

/// Where a collection lies.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Folder of the collection; a load makes it if it does not exist or is empty
    pub(crate) collection: PathBuf,
    /// Each of many processes keeps what its workers write in DIR, on its own machine; the folder of the collection is
    /// that of process 0 alone
    ///
    /// All processes of a job say it, each may name another DIR. Whoever looks at the collection where DIR is at hand names
    /// it, too. `alike compact --gather` brings everything to the folder of the collection.
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = "Many processes")]
    pub(crate) local_state: Option<PathBuf>,
}

/// What decides the answer, wherever one is asked for.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Start from a preset; flags are laid over it
    #[arg(long, value_name = "NAME", conflicts_with = "config", help_heading = "Method")]
    pub(crate) preset: Option<String>,
    /// Start from a TOML file; flags are laid over it
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub(crate) config: Option<PathBuf>,
    /// How near-duplicates are found [default: join]
    #[arg(long, value_enum, help_heading = "Method")]
    pub(crate) method: Option<MethodArg>,
    /// Least resemblance of near-duplicates, a decimal above 0 and at most 1 [default: 0.8]
    #[arg(long, value_name = "T", help_heading = "Method")]
    pub(crate) threshold: Option<String>,
    /// Tokens a shingle [default: 5]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) ngram: Option<usize>,
    /// What a token is [default: words]
    #[arg(long, value_enum, help_heading = "Method")]
    pub(crate) tokens: Option<TokensArg>,
    /// What accepted pairs must also pass at the threshold [default: none; alone: resemblance]
    #[arg(
        long,
        value_enum,
        value_name = "BY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "resemblance",
        help_heading = "Method"
    )]
    pub(crate) verify: Option<VerifyArg>,
    /// Contents that a key may be in before it is ignored, 0 for any number; of methods that count
    /// [default: 1000, of a collection 0, unless a preset or file says otherwise]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) common_cap: Option<usize>,
    /// The lexicon that sketches are made by, as `alike lexicon build` writes one
    /// [default: that of the inputs; of a collection its own]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub(crate) lexicon: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    /// How pairs become clusters [default: guarantee; of a collection transitive]
    #[arg(long, value_enum, help_heading = "Clusters")]
    pub(crate) clustering: Option<ClusteringArg>,
    /// Which of a cluster is kept: first, last, longest, shortest, field:NAME:max or :min [default: first]
    ///
    /// NAME is the path of a field of the
    /// record, as in field:meta.date:max. Ties go to the earlier document.
    #[arg(long, value_name = "POLICY", help_heading = "Clusters")]
    pub(crate) keep: Option<String>,

    /// Where the id of a record stands; dots between nested names [default: id]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) id_field: Option<String>,
    /// Where the text of a record stands [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    /// Where the date of a record stands, if it is to be read
    ///
    /// ISO 8601, RFC 3339, RFC 2822, the forms of HTTP, 2024/03/10, Mar 10, 2024, a year or a month, or a Unix time in seconds or
    /// milliseconds.
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) date_field: Option<String>,
}

/// What is left out of texts, and what words become.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Leave out numbers: words of digits alone
    #[arg(long, help_heading = "Text", hide_short_help = true)]
    pub(crate) drop_numbers: bool,
    /// Leave out words that have a digit in them
    #[arg(long, help_heading = "Text", hide_short_help = true)]
    pub(crate) alphabetic: bool,
    /// Leave out the stop words of these languages, given by their codes: en,fr,zh
    #[arg(long, value_name = "LANG", value_delimiter = ',', help_heading = "Text", hide_short_help = true)]
    pub(crate) stop_words: Vec<String>,
    /// Leave out words of fewer characters; one of a script without spaces is enough
    #[arg(long, value_name = "N", help_heading = "Text", hide_short_help = true)]
    pub(crate) min_token_length: Option<usize>,
    /// Take stems for words, by Snowball; LANG is a code or a name: en, english, porter
    ///
    /// Stems are taken of what the filters leave. A text of which they leave nothing is taken whole, without them.
    #[arg(long, value_name = "LANG", help_heading = "Text", hide_short_help = true)]
    pub(crate) stem: Option<String>,
}

/// Where documents stand in records, and what becomes of records that are none.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Where the id of a record stands; dots between nested names [default: id]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) id_field: Option<String>,
    /// Where the text of a record stands [default: text]
    #[arg(long, value_name = "PATH", help_heading = "Records")]
    pub(crate) text_field: Option<String>,
    /// End with code 3 if a single record is refused, not only above 10 %
    #[arg(long, help_heading = "Records")]
    pub(crate) strict: bool,
}

/// What may differ from the configuration of the collection.
#[derive(Debug, Args)]
pub(crate) struct ChoiceArgs {
    /// Least resemblance (or containment), not below the collection's [default: the collection's]
    #[arg(long, value_name = "T")]
    pub(crate) threshold: Option<String>,
    /// Which of a cluster stands for it: first, last, longest, shortest, field:NAME:max or :min; only what the
    /// collection stores can be compared [default: the collection's]
    #[arg(long, value_name = "POLICY")]
    pub(crate) keep: Option<String>,
    /// How pairs become clusters [default: the collection's]
    #[arg(long, value_enum)]
    pub(crate) clustering: Option<ClusteringArg>,
}

/// How a collection is changed, and what is told of it.
#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    /// Say what would change, and change nothing
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,

    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    /// Most text between two checkpoints, like 64M: from the last one an interrupted load goes on. A compressed file is
    /// not divided [default: an eighth of the memory]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) epoch: Option<String>,
    /// How components are kept while links come and go; the answer is the same
    ///
    /// forest: by process 0 alone, fastest while what a load touches fits there. differential: by all workers of all
    /// processes.
    #[arg(long, value_enum, default_value_t = ComponentsArg::Forest, hide_short_help = true, help_heading = "Machine")]
    pub(crate) components: ComponentsArg,
    #[command(flatten)]
    pub(crate) processes: ProcessArgs,
}

/// What is told of a change, and how.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Report as a JSON object on standard output, on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// What is told on standard error.
#[derive(Debug, Default, Args)]
pub(crate) struct TalkArgs {
    /// Show errors only
    #[arg(short, long, conflicts_with = "json_progress", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Report progress as JSON lines on standard error
    #[arg(long, help_heading = "Output")]
    pub(crate) json_progress: bool,
}

/// What a run may use of the machine.
#[derive(Debug, Default, Args)]
pub(crate) struct MachineArgs {
    /// Worker threads [default: all cores]
    #[arg(short, long, value_name = "N", help_heading = "Machine")]
    pub(crate) workers: Option<usize>,
    /// Memory to stay within, like 2G or 512MiB
    /// [default: half of the machine]
    #[arg(long, value_name = "SIZE", help_heading = "Machine")]
    pub(crate) memory: Option<String>,
    /// Vector instructions to use; the answer is the same with all of them
    #[arg(long, value_enum, default_value_t = SimdArg::Auto, hide_short_help = true, help_heading = "Machine")]
    pub(crate) simd: SimdArg,
}
