//! Near-duplicates of texts in memory, and of files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::run_lexicon::run_lexicon;
use super::spool::{TextRecord, TextRecords, refuse_longer};
use crate::config::{Config, Input};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::{self, Outcome, Reason, Request};
use crate::limits::{MAX_WORKERS, REFUSED_PERCENT};
use crate::output::{
    Hands, KeptTally, Lists, RunRecord, Side, Staging, Summary, left_out, summarise, write_inputs, write_kept,
};
use crate::progress::Progress;
use crate::read::{Discovery, RefusedCount, Rejected, discover, unread};
use crate::resources::Resources;
use crate::scratch::{Scratch, private_folder};
use crate::simd::Simd;

/// Finds near-duplicates, as configured. By default: all pairs of texts whose Jaccard resemblance over shingles of 5 words is
/// at least 0.8, in clusters of which every member is that close to the one that is kept.
///
/// ```
/// let found = alike::Dedup::new().threshold("0.8")?.texts([
///     "the quick brown fox jumps over the lazy dog by the river",
///     "The quick brown fox jumps over the lazy dog, by the river!",
///     "something else altogether",
/// ])?;
/// assert_eq!(found.kept, [0, 2]);
/// assert_eq!((found.duplicates[0].text, found.duplicates[0].kept), (1, 0));
/// # Ok::<(), alike::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dedup {
    config: Config,
    workers: usize,
    memory: Option<u64>,
    lexicon: Option<PathBuf>,
}

/// What was found among texts. Texts are numbered from 0, in the order in which they were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Deduplicated {
    /// The texts that stay, ascending.
    pub kept: Vec<usize>,
    /// The others, ascending.
    pub duplicates: Vec<Duplicate>,
    /// The members of each cluster of two texts or more, ascending.
    pub clusters: Vec<Vec<usize>>,
}

/// A text that goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicate {
    /// Its number.
    pub text: usize,
    /// The number of the text that is kept in its place.
    pub kept: usize,
    /// The Jaccard resemblance of the two, in [0, 1]; `None` where the method measures something else.
    pub resemblance: Option<f64>,
    /// Why it goes.
    pub reason: Reason,
}

/// What was found among the documents of files; nothing is written yet.
pub struct DeduplicatedFiles {
    discovery: Discovery,
    outcome: Outcome,
    rejected: Vec<Rejected>,
    /// How the program would be asked for the same.
    record: RunRecord,
    begun: Instant,
    workers: usize,
    progress: Arc<Progress>,
    /// Spilled names and copied inputs lie here until this is dropped.
    _scratch: Scratch,
}

impl Default for Dedup {
    fn default() -> Dedup {
        Dedup::new()
    }
}

impl Dedup {
    /// The defaults: `join` at 0.8 over shingles of 5 words, all cores, and no bound of the memory.
    pub fn new() -> Dedup {
        Dedup::with_config(Config::default())
    }

    /// The configuration of a preset, like `web` or `datatrove`.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no preset of that name.
    pub fn preset(name: &str) -> Result<Dedup> {
        Config::preset(name).map(Dedup::with_config)
    }

    /// A configuration of one's own. It is checked when it is used.
    pub fn with_config(config: Config) -> Dedup {
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
        Dedup { config, workers, memory: None, lexicon: None }
    }

    /// The least resemblance of near-duplicates: a decimal above 0 and at most 1, like `0.8`. It is a text because it is
    /// exact.
    ///
    /// # Errors
    /// [`Error::Config`] if it is none.
    pub fn threshold(mut self, threshold: &str) -> Result<Dedup> {
        self.config.threshold = threshold.parse().map_err(Error::config)?;
        Ok(self)
    }

    /// The number of words in a shingle, at least 1.
    pub fn ngram(mut self, words: usize) -> Dedup {
        self.config.text.ngram = words;
        self
    }

    /// The number of worker threads, 1 to [`MAX_WORKERS`].
    pub fn workers(mut self, workers: usize) -> Dedup {
        self.workers = workers;
        self
    }

    /// The most memory to use, in bytes; what does not fit goes to temporary files.
    pub fn memory(mut self, bytes: u64) -> Dedup {
        self.memory = Some(bytes);
        self
    }

    /// The file of the lexicon of a method that weighs terms. Without one it is counted from the texts, which are then read
    /// twice.
    pub fn lexicon(mut self, file: impl Into<PathBuf>) -> Dedup {
        self.lexicon = Some(file.into());
        self
    }

    /// Finds the near-duplicates of texts. They are written to a temporary file for the time of the run, which frees their
    /// memory as they come.
    ///
    /// # Errors
    /// [`Error::Config`] if the configuration cannot be, [`Error::Refused`] if a text is longer than
    /// [`Input::max_record_bytes`], and [`Error::Io`].
    pub fn texts<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> Result<Deduplicated> {
        let folder = temporary()?;
        let mut own = self.clone();
        let most = self.config.input.max_record_bytes;
        own.config.input = Input { max_record_bytes: most, ..Input::default() };
        let (mut lines, mut count) = (TextRecords::create(folder.path(), own.config.input.clone())?, 0);
        for text in texts {
            let text = text.as_ref();
            refuse_longer(text.len(), most, || (format!("text {count}"), count as u64 + 1))?;
            let bytes = lines.add(&TextRecord { id: None, text: Some(text) })?;
            own.config.input.max_record_bytes = own.config.input.max_record_bytes.max(bytes);
            count += 1;
        }
        let run = own.run(&[lines.finish()?], folder)?;
        refuse(&run.rejected, run.outcome.tally.documents, 0)?;
        run.found(count)
    }

    /// Finds the near-duplicates of the documents of files, folders and patterns, as the program's `dedup` does, and writes
    /// nothing yet.
    ///
    /// # Errors
    /// [`Error::Config`] if the configuration cannot be, [`Error::Input`] if there is nothing to read, [`Error::Refused`] if
    /// more than [`REFUSED_PERCENT`] per cent of the records cannot be used, and [`Error::Io`].
    pub fn files<T: AsRef<str>>(&self, inputs: impl IntoIterator<Item = T>) -> Result<DeduplicatedFiles> {
        let inputs: Vec<String> = inputs.into_iter().map(|input| input.as_ref().to_owned()).collect();
        let run = self.run(&inputs, temporary()?)?;
        refuse(&run.rejected, run.outcome.tally.documents, REFUSED_PERCENT)?;
        Ok(run)
    }

    /// Runs the dataflow on inputs.
    fn run(&self, inputs: &[String], scratch: Scratch) -> Result<DeduplicatedFiles> {
        let begun = Instant::now();
        self.config.validate()?;
        let progress = Arc::new(Progress::default());
        let discovery = discover(inputs, &scratch.path().join("spool"))?;
        let resources = Resources {
            workers: self.workers,
            memory: self.memory,
            simd: Simd::detect(),
            scratch: scratch.path().to_path_buf(),
            peers: None,
        };
        let mut config = self.config.clone();
        let named = self.lexicon.as_deref();
        let lexicon = run_lexicon(&mut config, named, &discovery.sources, &resources, &progress)?;
        let request = Request { lexicon, ..Request::new(discovery.sources.clone(), config, resources) };
        let outcome = flow::run(request, Arc::clone(&progress))?;
        let mut rejected = unread(&discovery.unreadable);
        rejected.extend(outcome.run.documents.inputs.rejected(&outcome.refused));
        Ok(DeduplicatedFiles {
            discovery,
            outcome,
            rejected,
            record: self.record(inputs),
            begun,
            workers: self.workers,
            progress,
            _scratch: scratch,
        })
    }

    /// How the program would be asked for a run on `inputs`.
    fn record(&self, inputs: &[String]) -> RunRecord {
        let folder = std::env::current_dir().ok();
        RunRecord {
            folder: folder.and_then(|folder| folder.into_os_string().into_string().ok()),
            inputs: inputs.iter().map(|name| RunRecord::kept_name(name)).collect(),
            lexicon: self.lexicon.as_ref().map(|file| file.display().to_string()),
            max_rejected: REFUSED_PERCENT as u8,
            ..RunRecord::new()
        }
    }
}

impl DeduplicatedFiles {
    /// The figures of the run.
    ///
    /// # Errors
    /// [`Error::Io`] of a temporary file.
    pub fn summary(&self) -> Result<Summary> {
        summarise(&self.discovery, &self.outcome, &self.rejected)
    }

    /// Records that could not be used, and why, in document order.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// Writes what the program's `dedup` writes to a folder that must not exist: the inputs without the removed documents in
    /// `kept/`, the lists of duplicates, clusters and refused records, and the figures. The folder appears when all of it is
    /// there, or not at all.
    ///
    /// # Errors
    /// [`Error::OutputExists`], [`Error::Changed`] if an input is not what it was, and [`Error::Io`].
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<KeptTally> {
        let staging = Staging::new(folder.as_ref())?;
        Lists::new(&self.outcome).write(staging.path(), &self.rejected)?;
        let left_out = left_out(&self.outcome, Side::Kept, |_| false);
        let inputs = &self.outcome.run.documents.inputs;
        let hands = (Hands { workers: self.workers, peers: None }, &inputs.fields.room);
        let chosen = left_out.chosen(Side::Kept);
        let kept = write_kept(staging.path(), &inputs.sources, chosen, hands, &self.progress)?;
        let mut summary = self.summary()?;
        summary.kept_bytes = Some(kept.bytes_out);
        summary.run = Some(self.record.clone());
        summary.set_seconds(self.begun.elapsed().as_secs_f64());
        write_inputs(staging.path(), &self.outcome.run.documents)?;
        summary.write(staging.path())?;
        staging.commit(&self.progress)?;
        Ok(kept)
    }

    /// What was found, of texts that are the lines of one file.
    fn found(&self, texts: usize) -> Result<Deduplicated> {
        let Outcome { findings, run, .. } = &self.outcome;
        let number = |doc: Doc| Ok(run.documents.line(doc)? as usize - 1);
        let duplicate = |removed: &flow::Removed| {
            let scores =
                run.context.rule.map(|rule| rule.last().reported(removed.measure)).unwrap_or_default();
            let scores = if removed.reason == Reason::Exact { scores.equal() } else { scores };
            Ok(Duplicate {
                text: number(removed.doc)?,
                kept: number(removed.representative)?,
                resemblance: scores.resemblance,
                reason: removed.reason,
            })
        };
        let duplicates: Vec<Duplicate> = findings.removed.iter().map(duplicate).collect::<Result<_>>()?;
        let mut stays = vec![true; texts];
        duplicates.iter().for_each(|duplicate| stays[duplicate.text] = false);
        let members =
            |cluster: &flow::DocumentCluster| cluster.members.iter().map(|doc| number(*doc)).collect();
        Ok(Deduplicated {
            kept: (0..texts).filter(|text| stays[*text]).collect(),
            duplicates,
            clusters: findings.clusters.iter().map(members).collect::<Result<_>>()?,
        })
    }
}

/// A folder in the system's place for temporary files.
pub(super) fn temporary() -> Result<Scratch> {
    private_folder(&std::env::temp_dir())
}

/// Refuses an input of which more than so many per cent could not be used.
pub(super) fn refuse(rejected: &[Rejected], documents: u64, percent: u64) -> Result<()> {
    RefusedCount::of(Rejected::wrong(rejected)).allow(percent, documents, || {
        format!("more than {percent} % is a sign of a wrong input or a wrong field; nothing was written")
    })
}
