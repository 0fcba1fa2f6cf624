//! From what was typed to what will be done: the preset or configuration file, flags laid over it, and every
//! contradiction refused here, before a byte of input is read.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use alike::config::{
    Clustering, Config, Filter, Fold, Input, JoinMeasure, Method, Rule, Tokens, Verify, parse_size,
};
use alike::error::{Error, Result};
use alike::flow::Components;
use alike::limits::{BASE_MEMORY, LEAST_EPOCH, LEAST_MEMORY, LEAST_SHARD, MAX_WORKERS, WORKER_MEMORY};
use alike::observed::Observation;
use alike::output::{FinishedRun, FormChoice, ListChoice, RecordForm, Side};
use alike::peers::Peers;
use alike::read::{FormatHint, MissingText};
use alike::resources::Resources;
use alike::simd::Simd;
use alike::system_memory::total_memory;
use alike::threshold::Threshold;

use crate::cli::common::{
    ConfigArgs, ContentArgs, FilterArgs, FoldArgs, MachineArgs, RecordArgs, RefusalArgs,
};
use crate::cli::dedup::{DedupArgs, OutputFormArgs, ProtectedPath};
use crate::cli::values::{
    ClusteringArg, ComponentsArg, MeasureArg, MissingTextArg, SimdArg, TokensArg, VerifyArg,
};
use crate::environment::typed_command;

/// All that one run of `dedup` needs to know.
#[derive(Debug)]
pub(crate) struct DedupOptions {
    /// Files, folders, globs and `-`, as given.
    pub(crate) inputs: Vec<PathBuf>,
    /// Paths of protected documents.
    pub(crate) against: Vec<ProtectedPath>,
    /// What was typed of inputs whose documents are kept rather than those of others.
    pub(crate) prefer: Vec<String>,
    /// What is known of them beside their names and contents.
    pub(crate) hint: FormatHint,
    /// The folder to create; `None` only in a dry run.
    pub(crate) out: Option<PathBuf>,
    /// What decides the answer; valid.
    pub(crate) config: Config,
    /// The lexicon that was named.
    pub(crate) lexicon: Option<PathBuf>,
    /// What it may use of the machine.
    pub(crate) machine: Machine,
    /// Whether every pair is written down.
    pub(crate) pairs: bool,
    /// Whether duplicates are related word by word.
    pub(crate) kinds: bool,
    /// How many documents of each cluster are kept.
    pub(crate) keep_per_cluster: usize,
    /// Which lists are written, and how.
    pub(crate) lists: ListChoice,
    /// The form in which records are written.
    pub(crate) form: FormChoice,
    /// Whether what is removed is written, too.
    pub(crate) write_removed: bool,
    /// Whether nothing is written.
    pub(crate) dry_run: bool,
    /// The page that is to be written.
    pub(crate) report: Option<PathBuf>,
    /// The lowest threshold that it is to say something about, if that is another one.
    pub(crate) report_from: Option<Threshold>,
    /// Fields by whose values it tells what is lost.
    pub(crate) report_by: Vec<String>,
    /// How many records may be refused.
    pub(crate) refusals: RefusalArgs,
    /// Whether only errors are shown.
    pub(crate) quiet: bool,
    /// Whether progress is shown as JSON lines.
    pub(crate) json_progress: bool,
    /// The command that does it again.
    pub(crate) command: Option<String>,
    /// The run that is done again, if one is: its inputs must be as they were.
    pub(crate) again: Option<FinishedRun>,
}

impl DedupOptions {
    /// Makes sense of the arguments of `dedup`, with the configuration that they ask for, or says why they make none.
    pub(crate) fn new(args: DedupArgs, mut config: Config) -> Result<DedupOptions> {
        if let Some(field) = args.within {
            config.input.within_field = field;
            config.validate()?;
        }
        if config.input.is_within_files() && !args.against.is_empty() {
            return Err(Error::config(
                "--within :file compares no two files, so nothing could be held against --against; leave one of them out",
            ));
        }
        let machine = Machine::new(&args.machine)?;
        written(&mut config.input, args.form.to);
        let hint = args.choices.form.hint(&config.input);
        let report_from =
            args.page.report_from.map(|text| report_from("--report-from", &text, &config)).transpose()?;
        Observation::new("--report-by", &args.page.report_by, &config.input)?;
        Ok(DedupOptions {
            report: args.page.report,
            report_from,
            report_by: args.page.report_by,
            config,
            lexicon: args.choices.lexicon,
            machine,
            inputs: args.inputs,
            against: args.against,
            prefer: args.prefer,
            hint,
            out: args.out,
            pairs: args.pairs,
            kinds: args.kinds,
            keep_per_cluster: args.keep_per_cluster.map_or(1, NonZeroUsize::get),
            lists: args.lists.choice(),
            form: form(&args.form)?,
            write_removed: args.write_removed,
            dry_run: args.dry_run,
            refusals: args.refusals,
            quiet: args.talk.quiet,
            json_progress: args.talk.json_progress,
            command: typed_command(),
            again: None,
        })
    }

    /// What is observed of the records for a report; nothing without one.
    ///
    /// # Errors
    /// [`Error::Config`] of fields that cannot be observed.
    pub(crate) fn observation(&self) -> Result<Option<Observation>> {
        let observation = || Observation::new("--report-by", &self.report_by, &self.config.input);
        self.report.is_some().then(observation).transpose()
    }

    /// Which halves of the records are written.
    pub(crate) fn sides(&self) -> &'static [Side] {
        match (self.form.annotate, self.write_removed) {
            (true, _) => &[Side::Annotated],
            (false, true) => &[Side::Kept, Side::Removed],
            (false, false) => &[Side::Kept],
        }
    }
}

/// The lowest threshold that a report is to say something about.
///
/// # Errors
/// [`Error::Config`] names `flag` if it is no threshold, above that of `config`, or if its method does not find all pairs.
pub(crate) fn report_from(flag: &str, text: &str, config: &Config) -> Result<Threshold> {
    let from: Threshold = text.parse().map_err(Error::Config)?;
    let measure = match config.join.measure {
        _ if config.method != Method::Join => {
            return Err(Error::config(format!(
                "{flag} is for the join by resemblance: other methods do not find all pairs from a threshold on"
            )));
        }
        JoinMeasure::Resemblance => None,
        JoinMeasure::Containment => Some("containment"),
        JoinMeasure::ContainmentOfProtected => Some("containment-of-protected"),
    };
    if let Some(measure) = measure {
        return Err(Error::config(format!(
            "{flag} is for the join by resemblance, and this one measures {measure}; leave {flag} out"
        )));
    }
    if config.threshold.is_below(from) {
        return Err(Error::config(format!(
            "{flag} {from} is above the threshold, {}: give it a lower one",
            config.threshold
        )));
    }
    Ok(from)
}

/// The form in which records are to be written.
fn form(args: &OutputFormArgs) -> Result<FormChoice> {
    let size = |text: &str| parse_size(text).map_err(|error| Error::config(format!("--shard-size: {error}")));
    let shard_bytes = args.shard_size.as_deref().map(size).transpose()?;
    if let Some(bytes) = shard_bytes.filter(|bytes| *bytes < LEAST_SHARD) {
        return Err(Error::config(format!(
            "--shard-size: {bytes} bytes are less than {LEAST_SHARD}; give a size with its unit, like 512MB"
        )));
    }
    Ok(FormChoice { form: args.to, annotate: args.annotate, shard_bytes, ..FormChoice::default() })
}

/// What a run may use of the machine, made sense of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// Worker threads, 1 to [`MAX_WORKERS`].
    pub(crate) workers: usize,
    /// Memory to stay within, in bytes; `None` where none was given and the system does not tell its own.
    pub(crate) memory: Option<u64>,
    /// Vector instructions to use, all of which this machine has.
    pub(crate) simd: Simd,
}

impl Machine {
    /// Makes sense of the arguments, or says why they make none.
    pub(crate) fn new(args: &MachineArgs) -> Result<Machine> {
        let workers = workers(args.workers)?;
        let memory = args.memory.as_deref().map(|text| memory(text, workers)).transpose()?;
        let memory = memory.or_else(|| half_the_machine(workers));
        Ok(Machine { workers, memory, simd: simd(args.simd)? })
    }

    /// What a run may use: this, a folder for what does not fit in memory, and the other processes of its job.
    pub(crate) fn resources(self, scratch: &Path, peers: Option<Arc<Peers>>) -> Resources {
        let Machine { workers, memory, simd } = self;
        Resources { workers, memory, simd, scratch: scratch.to_path_buf(), peers }
    }
}

/// The configuration that was asked for: the preset, or the file over `base`, or else `base`, and the flags over it.
pub(crate) fn configuration(args: &ConfigArgs, base: Config) -> Result<Config> {
    let mut config = match (&args.preset, &args.config) {
        (Some(name), _) => Config::preset(name)?,
        (None, Some(path)) => Config::load_over(path, &base)?,
        (None, None) => base,
    };
    lay_over(&mut config, args)?;
    refuse_idle_flags(&config, args)?;
    config.validate()?;
    Ok(config)
}

/// Overwrites what flags say, and only that: a flag that was not given has no default here.
fn lay_over(config: &mut Config, args: &ConfigArgs) -> Result<()> {
    if let Some(method) = args.method {
        config.method = method;
    }
    if let Some(threshold) = &args.threshold {
        config.threshold = threshold.parse().map_err(Error::Config)?;
    }
    if let Some(asked) = args.measure {
        measure(config, asked);
    }
    if let Some(ngram) = args.ngram {
        config.text.ngram = ngram;
    }
    if let Some(tokens) = args.tokens {
        config.text.tokens = match tokens {
            TokensArg::Words => Tokens::Words,
            TokensArg::Chars => Tokens::Chars,
        };
    }
    if let Some(cap) = args.common_cap {
        config.count.common_cap = cap;
    }
    if let Some(asked) = asked_fold(&args.filters.fold)? {
        config.text.fold = asked;
    }
    filters(&mut config.text.filter, &args.filters);
    if let Some(verify) = args.verify {
        config.verify = match verify {
            VerifyArg::None => Verify::None,
            VerifyArg::Resemblance => Verify::Resemblance,
            VerifyArg::Containment => Verify::Containment,
            VerifyArg::Edits => Verify::Edits,
        };
    }
    if let Some(clustering) = args.clustering {
        config.cluster.clustering = self::clustering(clustering);
    }
    if let Some(keep) = &args.keep {
        config.cluster.keep = keep.parse().map_err(Error::Config)?;
    }
    if let Some(path) = &args.id_field {
        config.input.id_field.clone_from(path);
    }
    if let Some(path) = &args.text_field {
        config.input.text_field.clone_from(path);
    }
    content(&mut config.input, args.content);
    longest_record(&mut config.input, args.max_record_bytes);
    if let Some(path) = &args.date_field {
        config.input.date_field.clone_from(path);
    }
    Ok(())
}

/// Lays `--measure` over the methods that measure one or the other.
fn measure(config: &mut Config, asked: MeasureArg) {
    (config.join.measure, config.count.rule) = match asked {
        MeasureArg::Resemblance => (JoinMeasure::Resemblance, Rule::Resemblance),
        MeasureArg::Containment => (JoinMeasure::Containment, Rule::Containment),
        // Refused with methods that count.
        MeasureArg::ContainmentOfProtected => (JoinMeasure::ContainmentOfProtected, config.count.rule),
    };
}

/// What flags say of where documents stand in records.
pub(crate) fn records(input: &mut Input, args: &RecordArgs) {
    args.id_field.iter().for_each(|path| input.id_field.clone_from(path));
    args.text_field.iter().for_each(|path| input.text_field.clone_from(path));
    content(input, args.content);
    longest_record(input, args.max_record_bytes);
}

/// What the form of what is written asks of records.
pub(crate) fn written(input: &mut Input, form: Option<RecordForm>) {
    input.line_ids |= form == Some(RecordForm::Ids);
}

/// What flags say of what is the text of a record.
pub(crate) fn content(input: &mut Input, asked: ContentArgs) {
    if let Some(missing) = asked.missing_text {
        input.missing_text = match missing {
            MissingTextArg::Reject => MissingText::Reject,
            MissingTextArg::Keep => MissingText::Keep,
        };
    }
    input.main_text = asked.main_text.unwrap_or(input.main_text);
    input.strip_quotes = asked.strip_quotes.unwrap_or(input.strip_quotes);
}

/// What flags say of how long records may be.
pub(crate) fn longest_record(input: &mut Input, asked: Option<usize>) {
    asked.iter().for_each(|bytes| input.max_record_bytes = *bytes);
}

/// Which spellings flags ask to take for one, if they say anything of it.
pub(crate) fn asked_fold(args: &FoldArgs) -> Result<Option<Fold>> {
    if args.fold.is_empty() { Ok(None) } else { fold(&args.fold).map(Some) }
}

/// What a list says of which spellings are one.
pub(crate) fn fold(words: &[String]) -> Result<Fold> {
    Fold::of(words).map_err(|wrong| Error::config(format!("--fold: {wrong}")))
}

/// What flags say of what is left out of texts.
fn filters(filter: &mut Filter, args: &FilterArgs) {
    if let Some(numbers) = args.drop_numbers {
        filter.numbers = numbers;
    }
    if let Some(alphabetic) = args.alphabetic {
        filter.alphabetic = alphabetic;
    }
    if !args.stop_words.is_empty() {
        filter.stop_words.clone_from(&args.stop_words);
    }
    if let Some(length) = args.min_token_length {
        filter.min_length = length;
    }
    if let Some(language) = &args.stem {
        filter.stem.clone_from(language);
    }
}

/// What was typed as a way to keep components.
pub(crate) fn components(asked: ComponentsArg) -> Components {
    match asked {
        ComponentsArg::Forest => Components::Forest,
        ComponentsArg::Differential => Components::Differential,
    }
}

/// What was typed as a clustering.
pub(crate) fn clustering(asked: ClusteringArg) -> Clustering {
    match asked {
        ClusteringArg::Guarantee => Clustering::Guarantee,
        ClusteringArg::Transitive => Clustering::Transitive,
    }
}

/// Refuses a flag that would change nothing: who types a threshold must not get an answer that ignores it.
/// Only flags are held to this; files and presets spell out every key, whatever the method.
fn refuse_idle_flags(config: &Config, args: &ConfigArgs) -> Result<()> {
    let (method, exact) = (config.method, !config.finds_pairs());
    let whole = "which compares whole texts; leave it out, or use --method join";
    // Each with whether it was typed and is idle, and what is to be said of the method.
    let flags: [(&str, bool, String); 10] = [
        (
            "--measure",
            args.measure.is_some_and(|measure| {
                method != Method::Join
                    && (!method.is_counted() || measure == MeasureArg::ContainmentOfProtected)
            }),
            match method.is_counted() {
                true => "which tells no protected documents from others; take --measure=containment, or use --method join",
                false => "whose test is its own; leave it out, or use --method join",
            }
            .into(),
        ),
        ("--threshold", args.threshold.is_some() && exact, whole.into()),
        (
            "--threshold",
            args.threshold.is_some() && !config.has_threshold(),
            format!(
                "where {}; add --verify to measure accepted pairs against the threshold, use --method join, or leave \
                 it out",
                config.description().decides
            ),
        ),
        ("--ngram", args.ngram.is_some() && exact, whole.into()),
        (
            "--ngram",
            args.ngram.is_some() && !config.has_shingles(),
            "which looks at no shingles; leave it out, or add --verify=resemblance".into(),
        ),
        ("--tokens", args.tokens.is_some() && exact, whole.into()),
        (
            "--verify",
            method == Method::Join && args.verify.is_some_and(|by| is_own(config.join.measure, by)),
            "which measures that itself; leave it out".into(),
        ),
        (
            "--common-cap",
            args.common_cap.is_some_and(|cap| cap > 0) && !method.is_counted(),
            "which counts no keys; leave it out".into(),
        ),
        (
            "--date-field",
            args.date_field.is_some() && !config.needs().dates,
            "which compares no dates; leave it out".into(),
        ),
        (
            "--lexicon",
            args.lexicon.is_some() && !config.needs_lexicon(),
            "which looks no term up; leave it out".into(),
        ),
    ];
    match flags.into_iter().find(|(_, idle, _)| *idle) {
        Some((flag, _, why)) => {
            Err(Error::Config(format!("{flag} has no effect with method {method}, {why}")))
        }
        None => Ok(()),
    }
}

/// Whether pairs of the join are measured so anyway.
fn is_own(measure: JoinMeasure, by: VerifyArg) -> bool {
    match measure {
        JoinMeasure::Resemblance => by == VerifyArg::Resemblance,
        JoinMeasure::Containment | JoinMeasure::ContainmentOfProtected => by == VerifyArg::Containment,
    }
}

/// The number of workers asked for, or one a core.
fn workers(asked: Option<usize>) -> Result<usize> {
    match asked {
        Some(count) if (1..=MAX_WORKERS).contains(&count) => Ok(count),
        Some(count) => Err(Error::config(format!(
            "--workers {count}: expected 1 to {MAX_WORKERS}; leave it out for one a core"
        ))),
        // A machine that does not tell its cores still has one.
        None => Ok(thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS)),
    }
}

fn memory(text: &str, workers: usize) -> Result<u64> {
    let bytes = parse_size(text).map_err(|error| Error::config(format!("--memory: {error}")))?;
    let least = least_memory(workers);
    if bytes < least {
        let least = least >> 20;
        return Err(Error::config(format!(
            "--memory {text} is {bytes} bytes, less than the {least} MiB needed by {workers} worker(s); give a unit, \
             like 2G, or take fewer workers"
        )));
    }
    Ok(bytes)
}

/// The bytes of an epoch that were asked for.
pub(crate) fn epoch(asked: Option<&str>) -> Result<Option<u64>> {
    let size = |text| parse_size(text).map_err(|error| Error::config(format!("--epoch: {error}")));
    let bytes = asked.map(size).transpose()?;
    match bytes.filter(|bytes| *bytes < LEAST_EPOCH) {
        Some(bytes) => Err(Error::config(format!(
            "--epoch: {bytes} bytes are less than {LEAST_EPOCH}; give a size with its unit, like 64M"
        ))),
        None => Ok(bytes),
    }
}

/// The least memory that so many workers can do anything in.
fn least_memory(workers: usize) -> u64 {
    BASE_MEMORY + WORKER_MEMORY * workers as u64 + LEAST_MEMORY
}

/// Half of the machine's memory, where the system says how much that is.
fn half_the_machine(workers: usize) -> Option<u64> {
    Some((total_memory()? / 2).max(least_memory(workers)))
}

/// The instructions asked for. More than the machine has is an error, not a slower run under a wrong name.
fn simd(asked: SimdArg) -> Result<Simd> {
    let best = Simd::detect();
    match asked {
        SimdArg::Auto => Ok(best),
        SimdArg::Scalar => Ok(Simd::Scalar),
        SimdArg::Avx2 if best >= Simd::Avx2 => Ok(Simd::Avx2),
        SimdArg::Avx2 => Err(Error::config("--simd avx2: this machine has no AVX2; use --simd auto")),
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
