//! What was typed of `decontaminate`, made sense of before a byte of input is read.

pub(crate) mod benchmarks;

use std::path::{Path, PathBuf};

use alike::config::{Config, Input};
use alike::decontaminate::{ContaminationRule, CorpusAction, CutRule, ItemFields};
use alike::error::{Error, Result};
use alike::output::{FormChoice, Side, TextChange};
use alike::read::FormatHint;

use crate::cli::common::RefusalArgs;
use crate::cli::decontaminate::{ContaminationAction, DecontaminateArgs, DecontaminationPreset};
use crate::cli::dedup::ProtectedPath;
use crate::session::options::{Machine, asked_fold, records, written};

/// All that one run of `decontaminate` needs to know.
pub(crate) struct DecontaminateOptions {
    pub(crate) corpus: Vec<PathBuf>,
    pub(crate) benchmarks: Vec<ProtectedPath>,
    /// The folder to create; `None` in a dry run.
    pub(crate) out: Option<PathBuf>,
    pub(crate) fields: ItemFields,
    pub(crate) rule: ContaminationRule,
    /// Where id and text stand in records of the corpus.
    pub(crate) input: Input,
    pub(crate) hint: FormatHint,
    pub(crate) refusals: RefusalArgs,
    pub(crate) form: FormChoice,
    pub(crate) write_removed: bool,
    pub(crate) action: CorpusAction,
    pub(crate) machine: Machine,
}

/// Share of n-grams that is enough, if nothing else is asked for.
const THRESHOLD: &str = "0.7";
/// Words of the longest n-grams where a share of them is asked for, and where one is enough.
const NGRAM: usize = 3;
const LONE_NGRAM: usize = 13;
/// Words of the shortest texts.
const LEAST_WORDS: usize = 8;
/// The rule of GPT-3 (Brown et al. 2020, appendix C).
const GPT_3_DOCUMENTS: u32 = 10;
const GPT_3_CUT: CutRule = CutRule { margin: 200, min_piece: 200, max_pieces: Some(10) };
/// The rule of decon: n-grams, threshold, and words of the shortest items.
const DECON_NGRAM: usize = 5;
const DECON: (&str, usize) = ("0.8", 20);

impl DecontaminateOptions {
    pub(crate) fn new(args: &DecontaminateArgs) -> Result<DecontaminateOptions> {
        let mut config = Config::default();
        records(&mut config.input, &args.records);
        written(&mut config.input, args.work.to);
        config.validate()?;
        let fields = match &*args.benchmark_fields {
            [] => vec![config_text()],
            fields => fields.to_vec(),
        };
        let joins = [DecontaminationPreset::Datatrove, DecontaminationPreset::Llama3];
        let join = args.join_fields || args.preset.is_some_and(|preset| joins.contains(&preset));
        let id = args.benchmark_id_field.clone().unwrap_or_else(|| Config::default().input.id_field);
        let fields = ItemFields { id, texts: fields, join };
        fields.check()?;
        if args.preset == Some(DecontaminationPreset::Decon) && (fields.join || fields.texts.len() > 3) {
            return Err(Error::config(
                "--preset decon: --benchmark-fields are question, answer and passage, each by itself; name up to three, \
                 without --join-fields",
            ));
        }
        let hint = args.records.form.hint(&config.input);
        let action = action(args)?;
        let texts = match action {
            CorpusAction::Drop | CorpusAction::List => TextChange::None,
            CorpusAction::Cut => TextChange::Cut,
            CorpusAction::Mark => TextChange::Mark,
        };
        Ok(DecontaminateOptions {
            corpus: args.inputs.clone(),
            benchmarks: args.benchmarks.clone(),
            out: args.work.writes(&args.out).map(Path::to_path_buf),
            fields,
            rule: rule(args)?,
            input: config.input,
            hint,
            refusals: args.records.refusals,
            form: FormChoice { form: args.work.to, texts, ..FormChoice::default() },
            write_removed: args.write_removed,
            action,
            machine: Machine::new(&args.work.machine)?,
        })
    }

    /// Which halves of the records are written.
    pub(crate) fn sides(&self) -> &'static [Side] {
        match (&self.out, self.write_removed) {
            (None, _) => &[],
            _ if self.action == CorpusAction::List => &[],
            _ if self.form.texts == TextChange::Mark => &[Side::Annotated],
            (_, true) => &[Side::Kept, Side::Removed],
            (_, false) => &[Side::Kept],
        }
    }
}

/// The field of texts, where none is named.
fn config_text() -> String {
    Config::default().input.text_field
}

/// What becomes of documents with an item.
fn action(args: &DecontaminateArgs) -> Result<CorpusAction> {
    let action = match (args.action, args.preset) {
        (Some(ContaminationAction::Drop), _) => CorpusAction::Drop,
        (Some(ContaminationAction::Cut), _) | (None, Some(DecontaminationPreset::Gpt3)) => CorpusAction::Cut,
        (Some(ContaminationAction::Mark), _) => CorpusAction::Mark,
        (Some(ContaminationAction::List), _) | (None, Some(DecontaminationPreset::Llama3)) => {
            CorpusAction::List
        }
        (None, _) => CorpusAction::Drop,
    };
    if args.write_removed && action != CorpusAction::Drop {
        let what = match action {
            CorpusAction::Cut => "of what --action cut takes away no record is left to write",
            _ => "no record is removed with this --action",
        };
        return Err(Error::Config(format!("--write-removed: {what}; leave it out")));
    }
    // Without --any-ngram that is what is said.
    let is_whole = args.any_ngram && matches!(action, CorpusAction::Drop | CorpusAction::List);
    let around =
        [("--margin", args.margin), ("--min-piece", args.min_piece), ("--max-pieces", args.max_pieces)];
    if let Some((flag, _)) = around.iter().find(|(_, value)| is_whole && value.is_some()) {
        let what = "nothing is cut or marked with this --action; leave it out, or add --action cut";
        return Err(Error::Config(format!("{flag}: {what}")));
    }
    if args.work.to.is_some() && action == CorpusAction::List {
        return Err(Error::config("--to: no record is written with --action list; leave one of the two out"));
    }
    Ok(action)
}

/// When an item is found, and what goes with it.
fn rule(args: &DecontaminateArgs) -> Result<ContaminationRule> {
    let (any, ngram) = match args.preset {
        Some(DecontaminationPreset::OpenR1) => (true, 8),
        Some(DecontaminationPreset::Datatrove) => (true, 12),
        Some(DecontaminationPreset::Llama3) => (true, 8),
        Some(DecontaminationPreset::Decon) => (false, DECON_NGRAM),
        Some(DecontaminationPreset::Gpt3) => (true, LONE_NGRAM),
        None => (args.any_ngram, if args.any_ngram { LONE_NGRAM } else { NGRAM }),
    };
    let (max_documents, cut) = match args.preset {
        Some(DecontaminationPreset::Gpt3) => (Some(GPT_3_DOCUMENTS), Some(GPT_3_CUT)),
        _ => (args.max_documents, asked_cut(args)),
    };
    let is_decon = args.preset == Some(DecontaminationPreset::Decon);
    let (usual_threshold, usual_words) = if is_decon { DECON } else { (THRESHOLD, LEAST_WORDS) };
    let threshold = args.threshold.as_deref().unwrap_or(usual_threshold);
    let threshold = threshold.parse().map_err(|error| Error::config(format!("--threshold: {error}")))?;
    let rule = ContaminationRule {
        threshold: Some(threshold).filter(|_| !any),
        ngram: args.ngram.unwrap_or(ngram),
        min_words: args.min_words.unwrap_or(usual_words),
        fold: asked_fold(&args.fold)?.unwrap_or_default(),
        max_documents,
        shares: args.items || args.preset == Some(DecontaminationPreset::Llama3),
        scored: is_decon,
        cut,
    };
    rule.check()?;
    Ok(rule)
}

/// What goes around n-grams, if anything was asked for.
fn asked_cut(args: &DecontaminateArgs) -> Option<CutRule> {
    let is_asked = args.margin.or(args.min_piece).or(args.max_pieces).is_some();
    is_asked.then(|| CutRule {
        margin: args.margin.unwrap_or_default(),
        min_piece: args.min_piece.unwrap_or_default(),
        max_pieces: args.max_pieces,
    })
}
