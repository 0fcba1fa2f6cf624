//! The arguments of `alike decontaminate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{FoldArgs, RecordArgs};
use super::dedup::ProtectedPath;
use super::passages::WorkArgs;

pub(super) const DECONTAMINATE_EXAMPLES: &str = "\
Examples:
  alike decontaminate crawl/ --benchmarks 'mmlu=mmlu/*.jsonl' --benchmark-fields question --out clean
      Write the records of crawl/ without those that have a question of the benchmark in them to clean/kept/. Quote
      globs, or the shell makes inputs of what stands behind the first file.
  alike decontaminate crawl/ --benchmarks 'tests/*.jsonl' --benchmark-fields question,answer,prompt --dry-run
      Each file is a benchmark. Report how many of its items stand in the corpus, and write nothing.
  alike decontaminate crawl/ --benchmarks qa.jsonl --benchmark-fields question,choices --join-fields --threshold 0.9 --out c
      Look for the question and the choices as one text, and remove only what has 90 % of its n-grams.
  alike decontaminate crawl/ --benchmarks qa.jsonl --any-ngram --ngram 13 --write-removed --out clean
      Remove every record with 13 words in a row of an item, and write the removed ones, too.
  alike decontaminate crawl/ --benchmarks 'tests/*.jsonl' --benchmark-fields question,answer --preset gpt-3 --out clean
      Cut such words out with what stands around them, as for GPT-3, and keep the rest of the texts.
  alike decontaminate crawl/ --benchmarks 'tests/*.jsonl' --benchmark-fields question,answer --preset llama-3 --out shares
      Write no records, but which share of each item stands in the corpus, to shares/items.jsonl.";

#[derive(Debug, Args)]
pub(crate) struct DecontaminateArgs {
    /// Corpus: files, folders (with all below them), globs, or - for standard input
    #[arg(value_name = "CORPUS", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Benchmark whose items are looked for: a file, a folder or a glob; may be given several times
    ///
    /// With NAME= all files are one benchmark of that name. Without it each file is one. Quote globs: the shell makes inputs of
    /// what stands behind the first file.
    #[arg(long, value_name = "[NAME=]PATH", required = true, value_parser = ProtectedPath::parse)]
    pub(crate) benchmarks: Vec<ProtectedPath>,
    /// Folder for the result, or its URL; nothing may be there yet
    #[arg(long, value_name = "DIR", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,

    /// Fields of items that are texts: question,answer [default: text]
    ///
    /// Each is looked for by itself; a list of strings is one text. An item need not have all of them. For --preset decon they are
    /// question, answer and passage.
    #[arg(long, value_name = "PATHS", value_delimiter = ',', help_heading = "Benchmarks")]
    pub(crate) benchmark_fields: Vec<String>,
    /// Field of the id of an item [default: id]
    #[arg(long, value_name = "PATH", hide_short_help = true, help_heading = "Benchmarks")]
    pub(crate) benchmark_id_field: Option<String>,
    /// Look for all fields of an item as one text, in the order of --benchmark-fields
    #[arg(long, help_heading = "Benchmarks")]
    pub(crate) join_fields: bool,

    /// Also write items.jsonl: of each item the share of its words that stand in n-grams of any documents; with --any-ngram
    #[arg(long, help_heading = "Output")]
    pub(crate) items: bool,
    /// Take the rule of a published pipeline
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Rule")]
    pub(crate) preset: Option<DecontaminationPreset>,
    /// Share of the n-grams of a text that must stand close together, above 0 and at most 1 [default: 0.7]
    #[arg(long, value_name = "T", conflicts_with_all = ["any_ngram", "preset"], help_heading = "Rule")]
    pub(crate) threshold: Option<String>,
    /// One n-gram of a text is enough
    #[arg(long, conflicts_with = "preset", help_heading = "Rule")]
    pub(crate) any_ngram: bool,
    /// Words of the longest n-grams [default: 3; with --any-ngram 13]
    ///
    /// Shorter texts have shorter ones, so that enough of them are left when a word is another; not with --any-ngram.
    #[arg(long, value_name = "N", conflicts_with = "preset", help_heading = "Rule")]
    pub(crate) ngram: Option<usize>,
    /// Do not look for texts of fewer words [default: 8; with --preset decon items of fewer than 20]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "Rule")]
    pub(crate) min_words: Option<usize>,

    /// Leave out n-grams that stand in more than N documents of the corpus, which is read twice then; with --any-ngram
    ///
    /// They are sayings, laws and boilerplate rather than a benchmark.
    #[arg(long, value_name = "N", conflicts_with = "preset", hide_short_help = true, help_heading = "Rule")]
    pub(crate) max_documents: Option<u32>,

    #[command(flatten)]
    pub(crate) fold: FoldArgs,
    #[command(flatten)]
    pub(crate) records: RecordArgs,

    /// What becomes of records with an item in them [default: drop; with --preset gpt-3 cut, with llama-3 list]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(crate) action: Option<ContaminationAction>,
    /// Cut, or mark, N characters on each side of n-grams, too; with --any-ngram
    ///
    /// Each run of n-grams that share words is cut by itself then. A word at the end of a margin goes whole.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "preset",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub(crate) margin: Option<usize>,
    /// Also cut pieces between cuts that have fewer than N characters; with --any-ngram
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "preset",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub(crate) min_piece: Option<usize>,
    /// Cut a text whole that would fall into more than N pieces; with --any-ngram
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "preset",
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub(crate) max_pieces: Option<usize>,
    /// Also write removed records, to removed/
    #[arg(long, help_heading = "Output")]
    pub(crate) write_removed: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// `--preset` of `decontaminate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecontaminationPreset {
    /// 8 words in a row of any field: scripts/decontaminate.py of open-r1, after s1 (Muennighoff et al. 2025)
    OpenR1,
    /// 13 words in a row of any field that at most 10 documents have, cut with 200 characters on each side; pieces of fewer than 200
    /// characters and texts in more than 10 pieces go: GPT-3 (Brown et al. 2020, appendix C)
    #[value(name = "gpt-3")]
    Gpt3,
    /// The share of the words of the joined fields that stand in 8 words in a row anywhere: Llama 3 (Dubey et al. 2024, section 5.1.4)
    #[value(name = "llama-3")]
    Llama3,
    /// A score of question, answer and passage, the first three fields, in which rare 5 words in a row weigh more: decon (OLMo 3,
    /// appendix A.5), but of words, and of all of them
    Decon,
    /// 12 words in a row of the joined fields: NGramsDecontFilter of datatrove with find_query_ngrams
    Datatrove,
}

/// `--action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContaminationAction {
    /// Remove them
    Drop,
    /// Cut the passages out of their texts; lines of JSON and plain texts, others with --to jsonl
    Cut,
    /// Write all records to annotated/, those with passages with a field "alike" that has their bytes, the others without one; lines of JSON, others with --to jsonl
    Mark,
    /// Write the lists of what was found, and no records
    List,
}
