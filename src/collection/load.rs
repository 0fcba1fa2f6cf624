//! A load: its epochs, each a dataflow on a part of the changes and what comes of it, then what they make of the clusters,
//! then the commit.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::again::Again;
use super::checkpoint::{Checkpoint, Consumed, Input};
use super::commit::Writer;
use super::compact::{after_load, between_epochs};
use super::delta::{by_name, missing, seen, write_clusters, write_delta, write_lines, write_seen};
use super::divide::Guarantee;
use super::known::Known;
use super::manifest::Manifest;
use super::names::{Name, folder};
use super::publish::{Divide, Outcome, publish};
use super::run_entry::RunEntry;
use super::settle::{Delta, Terms, settle, settle_removals};
use super::snapshot::Snapshot;
use super::sources::sources_of;
use super::tables::{RARITY, Tables};
use super::writer::{RunSummary, RunWriter};
use crate::config::{Clustering, Config, Method};
use crate::error::{Error, Result};
use crate::flow::{Loaded, Part, Refused, Request, Stored, load as run};
use crate::output::{Rejected, refusals};
use crate::progress::Progress;
use crate::read::{Extent, Refusal, Source};
use crate::simd::Simd;
use crate::sketch::Rarity;

/// What to load, and with what.
pub struct Batch {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Bytes the process may use.
    pub memory: Option<u64>,
    /// Most bytes of input of an epoch, decompressed; `None`: what suits the memory.
    pub epoch_bytes: Option<u64>,
    /// Vector instructions to use.
    pub simd: Simd,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
    /// Whether documents that the load does not mention go.
    pub delete_missing: bool,
}

/// What a load did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The commit that has it; `None` if nothing changed.
    pub commit: Option<u64>,
    /// The load's number.
    pub load: u64,
    /// Parts in which the inputs were read.
    pub epochs: u32,
    /// Records of the inputs, refused ones not included.
    pub records: u64,
    /// Documents that are new.
    pub added: u64,
    /// Documents that were there and are another text or have other fields now.
    pub replaced: u64,
    /// Documents that were there just so.
    pub unchanged: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Ids that were to be deleted and are not there.
    pub unknown: Vec<String>,
    /// Texts that came and went.
    pub contents: (u64, u64),
    /// Lines about clusters.
    pub changes: u64,
    /// Documents there are.
    pub documents: u64,
    /// Clusters there are.
    pub clusters: u64,
    /// Why runs could not be merged after the load, which stands all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncompacted: Option<String>,
}

/// What is counted over the epochs of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Records, refused ones not included.
    pub records: u64,
    /// Documents that were there just so.
    pub unchanged: u64,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Texts that came and went.
    pub contents: (u64, u64),
    /// Records refused, in document order.
    pub rejected: Vec<Rejected>,
    /// Indices of inputs that could not be read to their end.
    pub unread: Vec<u32>,
}

/// A load that is worked out, and not committed yet: its refusals can still be looked at.
pub struct Prepared<'a> {
    writer: &'a mut Writer,
    batch: Batch,
    progress: Arc<Progress>,
    /// What the commit will be, as far as it has come.
    next: Manifest,
    /// The last commit, and the runs of the epochs.
    ahead: Snapshot,
    tally: Tally,
    epochs: u32,
    consumed: Vec<Consumed>,
    /// What the last epoch left.
    last: Option<(Arc<Known>, Loaded)>,
    rarity: Option<Arc<Rarity>>,
}

/// Refuses what collections cannot do: shingles under a cap, whose counts would depend on the order of loads.
///
/// # Errors
/// [`Error::Config`].
pub fn refuse_method(config: &Config) -> Result<()> {
    if config.method == Method::Shingles && config.shingles.common_cap > 0 {
        return Err(Error::config(
            "a collection cannot have a cap on common shingles; set shingles.common_cap to 0",
        ));
    }
    Ok(())
}

/// Runs the epochs of a load, or those that an interrupted one has left.
///
/// # Errors
/// [`Error::Unfinished`] if another load was interrupted; those of reading, of the dataflow and of writing.
pub fn prepare<'a>(writer: &'a mut Writer, batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
    let mut prepared = Prepared::begin(writer, batch, progress)?;
    let (mut at, mut lines) = prepared.resume()?;
    let bytes = prepared.epoch_bytes();
    loop {
        let extent = Extent::next(&prepared.batch.sources, at, bytes);
        let part = Part { extent, lines };
        let loaded = prepared.epoch(part)?;
        lines = if extent.to.1 == 0 { 0 } else { loaded.shared.lines_read(extent.to.0) };
        at = extent.to;
        if at.0 as usize >= prepared.batch.sources.len() {
            return Ok(prepared);
        }
        prepared.checkpoint(extent, lines)?;
    }
}

/// Part of the memory that the input of an epoch may be: short documents take several times their text.
const PART: u64 = 8;
/// Least bytes of an epoch.
const LEAST: u64 = 1 << 20;

impl<'a> Prepared<'a> {
    fn begin(writer: &'a mut Writer, batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
        let mut next = writer.next();
        next.load += 1;
        let ahead = writer.snapshot().clone();
        let (tally, epochs, consumed, last) = (Tally::default(), 0, Vec::new(), None);
        let rarity = frozen(&ahead.tables())?;
        Ok(Prepared { writer, batch, progress, next, ahead, tally, epochs, consumed, last, rarity })
    }

    /// Goes on where an interrupted load ended: at a byte of a source, after so many lines of it.
    fn resume(&mut self) -> Result<((u32, u64), u64)> {
        let Some(pending) = self.writer.pending().cloned() else { return Ok(((0, 0), 0)) };
        let Batch { sources, delete_missing, .. } = &self.batch;
        if let Some(differs) = pending.differs(sources, *delete_missing, &self.progress)? {
            let folder = folder(&**self.writer.storage());
            return Err(Error::unfinished(&folder, pending.tally.records, &differs));
        }
        let at = (pending.at(), pending.lines);
        let Checkpoint { next, epoch, consumed, tally, .. } = pending;
        self.ahead = self.writer.ahead(&next)?;
        self.rarity = frozen(&self.ahead.tables())?;
        (self.next, self.epochs, self.consumed, self.tally) = (next, epoch, consumed, tally);
        Ok(at)
    }

    fn epoch_bytes(&self) -> u64 {
        let suits = self.batch.memory.map_or(u64::MAX, |memory| (memory / PART).max(LEAST));
        self.batch.epoch_bytes.unwrap_or(suits)
    }

    /// Reads a part of the inputs and writes what comes of it.
    fn epoch(&mut self, part: Part) -> Result<&Loaded> {
        let tables = self.ahead.tables();
        let before = self.next.clone();
        let (mut ids, of_workers) = self.begin_runs(self.batch.workers)?;
        let with_records = if self.next.store_text { self.batch.workers } else { 0 };
        let (mut of_records, records) = self.begin_runs(with_records)?;
        ids.append(&mut of_records);
        let bytes = self.batch.memory.unwrap_or(u64::MAX) / 10;
        let documents = self.next.counts.documents;
        let runs = (of_workers, records);
        let known = Known::new(tables, self.next.next_content, documents, bytes, runs);
        let known = Arc::new(known);
        let loaded = run(self.request(part, &known), Arc::clone(&self.progress))?;
        let terms = self.terms();
        let mut delta = settle(known.tables(), &loaded, terms, &mut Again::new(&known, &loaded)?)?;
        self.count(&loaded, &delta);
        self.epochs += 1;
        let seen = self.batch.delete_missing.then(|| seen(&loaded));
        if delta.documents.is_empty() && seen.is_none() {
            // Nothing is there of it but what was counted.
            self.remove_runs(&ids)?;
            self.next = Manifest { next_run: self.next.next_run, ..before };
        } else {
            let written = ids.into_iter().zip(known.finished()).collect();
            self.write(written, &mut delta, seen, &loaded)?;
        }
        Ok(&self.last.insert((known, loaded)).1)
    }

    /// Begins runs: their ids, and what writes them.
    fn begin_runs(&mut self, count: usize) -> Result<(Vec<u64>, Vec<RunWriter>)> {
        let begun = (0..count).map(|_| self.writer.begin_run(&mut self.next));
        Ok(begun.collect::<Result<Vec<_>>>()?.into_iter().unzip())
    }

    fn request(&self, part: Part, known: &Arc<Known>) -> Request {
        Request {
            sources: self.batch.sources.clone(),
            part,
            config: self.next.config.clone(),
            workers: self.batch.workers,
            memory: self.batch.memory,
            pairs: false,
            simd: self.batch.simd,
            scratch: self.batch.scratch.clone(),
            stored: Some(Arc::clone(known) as Arc<dyn Stored>),
            replay: None,
            rarity: self.rarity.clone(),
        }
    }

    fn terms(&self) -> Terms {
        let load = self.next.load as u32;
        Terms { load, first_file: self.next.next_file, next_label: self.next.next_label }
    }

    fn count(&mut self, loaded: &Loaded, delta: &Delta) {
        let tally = &mut self.tally;
        tally.records += loaded.tally.documents;
        tally.unchanged += loaded.tally.unchanged;
        tally.superseded += loaded.superseded + delta.superseded;
        tally.contents.0 += delta.contents_changed.0;
        tally.contents.1 += delta.contents_changed.1;
        let unread = |refused: &&Refused| matches!(refused.refusal, Refusal::Unreadable(_));
        let unread = loaded.refused.iter().filter(unread).map(|refused| refused.position.file());
        tally.unread.extend(unread);
        tally.rejected.append(&mut refusals(&[], &loaded.refused, &loaded.shared));
    }

    /// Writes what an epoch changes, beside what its workers have written.
    fn write(
        &mut self,
        mut written: Vec<(u64, RunSummary)>,
        delta: &mut Delta,
        seen: Option<Vec<u128>>,
        loaded: &Loaded,
    ) -> Result<()> {
        let (id, mut run) = self.writer.begin_run(&mut self.next)?;
        if let Some(seen) = seen {
            write_seen(&mut run, &seen, self.next.load as u32)?;
        }
        let new = self.rarity.is_none().then(|| Arc::clone(loaded.shared.rarity()));
        written.push((id, write_delta(run, delta, new.as_deref())?));
        self.rarity.get_or_insert_with(|| Arc::clone(loaded.shared.rarity()));
        self.next.next_content = loaded.shared.catalogue.doc_limit() as u32;
        self.next.next_label = delta.next_label;
        self.name(&written)
    }

    /// Names runs in the next commit, those that hold anything.
    fn name(&mut self, written: &[(u64, RunSummary)]) -> Result<()> {
        let holds = |(_, summary): &&(u64, RunSummary)| summary.sections.iter().any(|(_, rows)| *rows > 0);
        let (full, empty): (Vec<_>, Vec<_>) = written.iter().partition(holds);
        self.remove_runs(&empty.iter().map(|(id, _)| *id).collect::<Vec<_>>())?;
        for (id, summary) in full {
            self.next.runs.push(RunEntry::of(&**self.writer.storage(), *id, by_name(summary))?);
        }
        self.ahead = self.ahead.advance(self.next.clone())?;
        Ok(())
    }

    fn remove_runs(&self, ids: &[u64]) -> Result<()> {
        let storage = self.writer.storage();
        for id in ids {
            let name = Name::Run(*id).to_string();
            storage.remove(&name).map_err(|e| Error::io(&storage.path(&name), "remove", e))?;
        }
        Ok(())
    }

    /// Makes the epochs so far durable, and sees to it that their runs are not too many.
    fn checkpoint(&mut self, extent: Extent, lines: u64) -> Result<()> {
        let first = self.writer.snapshot().runs().len();
        if between_epochs(self.writer, &mut self.next, &self.ahead, first, &self.progress)? {
            self.ahead = self.ahead.advance(self.next.clone())?;
        }
        self.consumed.push(Consumed::of(&self.batch.sources, extent, &self.progress)?);
        let checkpoint = Checkpoint {
            next: self.next.clone(),
            epoch: self.epochs,
            delete_missing: self.batch.delete_missing,
            inputs: self.batch.sources.iter().map(Input::of).collect(),
            consumed: self.consumed.clone(),
            lines,
            tally: self.tally.clone(),
        };
        self.writer.checkpoint(checkpoint)
    }

    /// Records refused, in document order.
    pub fn rejected(&self) -> &[Rejected] {
        &self.tally.rejected
    }

    /// Records that were not.
    pub fn records(&self) -> u64 {
        self.tally.records
    }

    /// Works out what becomes of clusters, writes it and commits it; then merges runs, so that they stay few.
    ///
    /// # Errors
    /// Those of [`Prepared::commit_if`].
    pub fn commit(self) -> Result<Report> {
        self.commit_if(|_| Ok(()))
    }

    /// Works out what becomes of clusters, and writes and commits it if `accept` is content with the report; its
    /// `commit` is not filled in yet. An error of `accept` takes away what was begun.
    ///
    /// # Errors
    /// Those of reading and writing the collection, and of `accept`.
    pub fn commit_if(mut self, accept: impl FnOnce(&Report) -> Result<()>) -> Result<Report> {
        self.remove_missing()?;
        let before = self.writer.snapshot().tables();
        let after = self.ahead.tables();
        let new = Tables { runs: after.runs[before.runs.len()..].to_vec() };
        let (load, keep) = (self.next.load as u32, self.next.config.cluster.keep.clone());
        let mut guarantee = self.guarantee();
        let divide = guarantee.as_mut().map(|guarantee| guarantee as &mut dyn Divide);
        let outcome = publish((&before, &after, &new), load, &keep, divide, &self.progress)?;
        let mut report = self.report(&outcome);
        if let Err(error) = accept(&report) {
            self.abandon()?;
            return Err(error);
        }
        if report.added + report.replaced + report.removed == 0 {
            self.abandon()?;
            return Ok(report);
        }
        self.publish(&outcome)?;
        report.commit = Some(self.next.commit);
        let written = self.next.runs[before.runs.len()..].iter().map(|run| run.bytes).sum();
        self.writer.commit(self.next)?;
        report.uncompacted = after_load(self.writer, written);
        Ok(report)
    }

    /// What divides components, if clusters are parts of them.
    fn guarantee(&self) -> Option<Guarantee> {
        let config = &self.next.config;
        let divided = config.cluster.clustering == Clustering::Guarantee;
        divided.then(|| Guarantee::new(config, self.rarity.as_ref(), &self.batch, &self.progress))
    }

    /// Has the documents go that the load has not mentioned, if it is to be all there is.
    fn remove_missing(&mut self) -> Result<()> {
        let Some((known, loaded)) = self.last.take().filter(|_| self.batch.delete_missing) else {
            return Ok(());
        };
        let tables = self.ahead.tables();
        let missing = missing(&tables, self.next.load as u32)?;
        if missing.is_empty() {
            return Ok(());
        }
        let known = known.again(tables, self.next.next_content);
        let loaded = loaded.settled();
        let mut again = Again::new(&known, &loaded)?;
        let mut delta = settle_removals(known.tables(), &loaded, self.terms(), &missing, &mut again)?;
        self.tally.contents.1 += delta.contents_changed.1;
        self.write(Vec::new(), &mut delta, None, &loaded)
    }

    fn report(&mut self, outcome: &Outcome) -> Report {
        let (tally, counts) = (&self.tally, &mut self.next.counts);
        counts.documents = counts.documents + outcome.added - outcome.removed;
        counts.contents = counts.contents + tally.contents.0 - tally.contents.1;
        counts.clusters = counts.clusters + outcome.clusters_changed.0 - outcome.clusters_changed.1;
        Report {
            commit: None,
            load: self.next.load,
            epochs: self.epochs,
            records: tally.records,
            added: outcome.added,
            replaced: outcome.replaced,
            unchanged: tally.unchanged,
            removed: outcome.removed,
            superseded: tally.superseded,
            unknown: outcome.unknown.clone(),
            contents: tally.contents,
            changes: outcome.lines.len() as u64,
            documents: counts.documents,
            clusters: counts.clusters,
            uncompacted: None,
        }
    }

    /// Writes what becomes of clusters, and names it in the next commit.
    fn publish(&mut self, outcome: &Outcome) -> Result<()> {
        let Batch { sources, workers, .. } = &self.batch;
        let unread = &self.tally.unread;
        let sources = sources_of(sources, unread, self.next.next_file, *workers, &self.progress)?;
        let (id, run) = self.writer.begin_run(&mut self.next)?;
        let written = [(id, write_clusters(run, outcome, &sources)?)];
        self.name(&written)?;
        let mut log = self.writer.begin_changes(&self.next)?;
        write_lines(&mut log, &outcome.lines)?;
        self.next.changes.push(log.finish()?);
        self.next.next_file += self.batch.sources.len() as u32;
        Ok(())
    }

    /// Takes away what was begun: nothing is committed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn abandon(self) -> Result<()> {
        self.writer.abandon()
    }
}

/// The rarity table that the collection was created with.
pub(super) fn frozen(tables: &Tables) -> Result<Option<Arc<Rarity>>> {
    let Some(heap) = tables.runs.iter().find_map(|run| run.heap(RARITY)) else { return Ok(None) };
    let mut words = Vec::new();
    heap.read(0, heap.len() as usize, &mut words)?;
    Ok(Some(Arc::new(Rarity::of_words(&words))))
}
