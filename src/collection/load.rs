//! A load: its epochs, each a dataflow on a part of the changes and what comes of it, then what they make of the clusters,
//! then the commit.

mod epoch;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::again::Again;
use super::assist::{Order, dismiss};
use super::checkpoint::{Checkpoint, Consumed, Inputs};
use super::commit::Writer;
use super::compact::{after_load, between_epochs};
use super::delta::{missing, write_clusters, write_lines};
use super::divide::Guarantee;
use super::held::{Keep, keep};
use super::known::Known;
use super::manifest::Manifest;
use super::names::folder;
use super::publish::{Divide, Outcome, publish};
use super::refused::{self, RefusedEntry, Row};
use super::report::{Report, Tally};
use super::settle::{CHANGE, settle_removals};
use super::snapshot::Snapshot;
use super::sources::sources_of;
use super::tables::{RARITY, Tables};
use crate::config::{Clustering, Config, Method};
use crate::error::{Error, Result};
use crate::flow::contract::{Components, Contractor};
use crate::flow::{Budget, Loaded, Part, Peers, Share};
use crate::limits::MAX_FILES;
use crate::metrics::Metric;
use crate::output::Rejected;
use crate::progress::{Progress, Stage};
use crate::read::{Extent, Source};
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
    /// The other processes that take part with [`super::assist`], if there are any.
    pub peers: Option<Arc<Peers>>,
    /// How components are kept.
    pub components: Components,
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
    /// The numbers of the runs that the workers of all processes write in an epoch.
    workers_runs: Range<u64>,
    consumed: Vec<Consumed>,
    /// Records refused, in document order, and of which epochs they are durable.
    refused: Vec<Row>,
    kept: Vec<RefusedEntry>,
    /// Refused records that were there at the last checkpoint.
    noted: usize,
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
/// [`Error::Unfinished`] if another load was interrupted; [`Error::Elsewhere`] if a process that is not there keeps a run to
/// itself; those of reading, of the dataflow and of writing.
pub fn prepare<'a>(writer: &'a mut Writer, batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
    let mut prepared = Prepared::begin(writer, batch, progress)?;
    let (mut at, mut lines) = prepared.resume()?;
    prepared.ahead.check_within_reach()?;
    if let Some(peers) = prepared.batch.peers.clone() {
        keep(Keep::of(prepared.writer), &peers)?;
        peers.say(&Order::inputs(&prepared.batch.sources)?)?;
    }
    let mut bytes = prepared.epoch_bytes();
    loop {
        let extent = Extent::next(&prepared.batch.sources, at, bytes);
        let mark = prepared.mark();
        match prepared.epoch(Part { extent, lines }) {
            Ok(read) => (at, lines) = (extent.to, read),
            // How much memory an epoch takes shows only when it is read.
            Err(Error::Limit(what)) => {
                bytes = smaller(&prepared.batch.sources, at, bytes).ok_or(Error::Limit(what))?;
                continue;
            }
            Err(error) => return Err(error),
        }
        if at.0 as usize >= prepared.batch.sources.len() {
            prepared.tell(&mark, true);
            return Ok(prepared);
        }
        prepared.checkpoint(extent, lines)?;
        prepared.tell(&mark, false);
    }
}

/// Part of the memory that the input of an epoch may be: short documents take several times their text.
const PART: u64 = 8;
/// Least bytes of an epoch, if nobody asks for fewer.
const LEAST: u64 = 1 << 20;
/// Least bytes of an epoch that is read again because it did not fit as it was.
const SMALLEST: u64 = 64 << 10;
/// Least documents that go at once.
const FEW: usize = 1 << 10;

/// Bytes of an epoch that begins at the same place and ends earlier than one of `bytes`, if there is one.
fn smaller(sources: &[Source], from: (u32, u64), bytes: u64) -> Option<u64> {
    let to = Extent::next(sources, from, bytes).to;
    let sizes = (0..SMALLEST.leading_zeros()).rev().map(|doublings| SMALLEST << doublings);
    let mut smaller = sizes.filter(|size| *size < bytes);
    smaller.find(|size| Extent::next(sources, from, *size).to != to)
}

impl<'a> Prepared<'a> {
    fn begin(writer: &'a mut Writer, batch: Batch, progress: Arc<Progress>) -> Result<Prepared<'a>> {
        let mut next = writer.next();
        next.load += 1;
        if next.next_file as usize + batch.sources.len() > MAX_FILES {
            return Err(Error::Limit(format!(
                "more than {MAX_FILES} files were ever loaded; load larger ones, or what is there into a new collection"
            )));
        }
        let ahead = writer.snapshot().clone();
        let rarity = frozen(&ahead.tables())?;
        Ok(Prepared {
            writer,
            batch,
            progress,
            next,
            ahead,
            tally: Tally::default(),
            epochs: 0,
            workers_runs: 0..0,
            consumed: Vec::new(),
            refused: Vec::new(),
            kept: Vec::new(),
            noted: 0,
            last: None,
            rarity,
        })
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
        let Checkpoint { next, epoch, consumed, refused, tally, .. } = pending;
        self.ahead = self.writer.ahead(&next)?;
        self.rarity = frozen(&self.ahead.tables())?;
        for entry in &refused {
            entry.read(&**self.writer.storage(), next.commit, &mut self.refused)?;
        }
        (self.kept, self.noted) = (refused, self.refused.len());
        (self.next, self.epochs, self.consumed, self.tally) = (next, epoch, consumed, tally);
        Ok(at)
    }

    fn epoch_bytes(&self) -> u64 {
        let suits = self.batch.memory.map_or(u64::MAX, |memory| (memory / PART).max(LEAST));
        self.batch.epoch_bytes.unwrap_or(suits)
    }

    /// Makes the epochs so far durable, and sees to it that their runs are not too many.
    fn checkpoint(&mut self, extent: Extent, lines: u64) -> Result<()> {
        let first = self.writer.snapshot().runs().len();
        let others = (self.batch.peers.as_deref(), &*self.progress);
        if between_epochs(self.writer, &mut self.next, &self.ahead, first, others)? {
            self.ahead = self.ahead.advance(self.next.clone())?;
        }
        self.consumed.push(Consumed::of(&self.batch.sources, extent, &self.progress)?);
        if self.refused.len() > self.noted {
            let (storage, new) = (self.writer.storage(), &self.refused[self.noted..]);
            self.kept.push(refused::write(&**storage, self.next.commit, self.epochs, new)?);
            self.noted = self.refused.len();
        }
        let checkpoint = Checkpoint {
            next: self.next.clone(),
            epoch: self.epochs,
            delete_missing: self.batch.delete_missing,
            inputs: Inputs::of(&self.batch.sources),
            consumed: self.consumed.clone(),
            lines,
            refused: self.kept.clone(),
            tally: self.tally,
        };
        self.writer.checkpoint(checkpoint)
    }

    /// Records refused, in document order.
    pub fn rejected(&self) -> impl ExactSizeIterator<Item = &Rejected> {
        self.refused.iter().map(|row| &row.rejected)
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
    /// `commit` is not filled in yet. If `accept` refuses it, all that was begun goes; after any other error the epochs
    /// that are durable stay.
    ///
    /// # Errors
    /// Those of reading and writing the collection, and of `accept`.
    pub fn commit_if(self, accept: impl FnOnce(&Report) -> Result<()>) -> Result<Report> {
        let peers = self.batch.peers.clone().filter(|peers| peers.state().is_some());
        let report = self.conclude(accept)?;
        peers.map_or(Ok(()), |peers| dismiss(&peers))?;
        Ok(report)
    }

    fn conclude(mut self, accept: impl FnOnce(&Report) -> Result<()>) -> Result<Report> {
        let (outcome, mut report) = self.work_out()?;
        if let Err(error) = accept(&report) {
            self.give_up(&error)?;
            return Err(error);
        }
        if !report.changes_documents() {
            self.abandon()?;
            return Ok(report);
        }
        self.progress.enter(Stage::Write, 0);
        self.publish(&outcome)?;
        report.commit = Some(self.next.commit);
        let first = self.writer.snapshot().runs().len();
        let written = self.next.runs[first..].iter().map(|run| run.bytes).sum();
        self.writer.commit(self.next)?;
        self.progress.metrics().add(Metric::Commits, 1);
        let peers = self.batch.peers.as_deref();
        report.uncompacted = after_load(self.writer, written, peers);
        if let Some(peers) = peers {
            keep(Keep::of(self.writer), peers)?;
        }
        Ok(report)
    }

    /// Works out what [`Prepared::commit`] would come to, and leaves it at that: the commit of the report is the one that there
    /// would be. What was written on the way goes when the collection is opened for writing again, or the writer abandons
    /// it.
    ///
    /// # Errors
    /// Those of reading and writing the collection.
    pub fn foresee(mut self) -> Result<Report> {
        let (_, report) = self.work_out()?;
        let commit = report.changes_documents().then_some(self.next.commit);
        Ok(Report { commit, ..report })
    }

    /// Works out what becomes of clusters.
    fn work_out(&mut self) -> Result<(Outcome, Report)> {
        self.progress.enter(Stage::Cluster, 0);
        self.remove_missing()?;
        // Where each keeps its runs to itself, the others are needed to the end.
        if let Some(peers) = self.batch.peers.as_ref().filter(|peers| peers.state().is_none()) {
            dismiss(peers)?;
        }
        let before = self.writer.snapshot().tables();
        let after = self.ahead.tables();
        let new = Tables { runs: after.runs[before.runs.len()..].to_vec() };
        let (load, keep) = (self.next.load as u32, self.next.config.cluster.keep.clone());
        let budget = self.budget();
        let mut guarantee = self.guarantee();
        let divide = guarantee.as_mut().map(|guarantee| guarantee as &mut dyn Divide);
        let outcome = publish((&before, &after, &new), load, &keep, divide, (&self.progress, &budget))?;
        let report = self.report(&outcome);
        Ok((outcome, report))
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
        let loaded = loaded.settled();
        let room = self.budget().whole(Share::Settling) / (2 * CHANGE as u64);
        for some in missing.chunks(usize::try_from(room).unwrap_or(usize::MAX).max(FEW)) {
            let known = known.again(self.ahead.tables(), self.next.next_content);
            let mut again = Again::new(&known, &loaded)?;
            let contractor = self.contractor();
            let terms = (self.terms(), contractor.as_ref());
            let mut delta = settle_removals(known.tables(), &loaded, terms, some, &mut again)?;
            self.tally.contents.1 += delta.contents_changed.1;
            self.write(Vec::new(), &mut delta, None, &loaded)?;
        }
        Ok(())
    }

    /// All workers, if components are theirs.
    fn contractor(&self) -> Option<Contractor> {
        let (workers, peers) = (self.batch.workers, self.batch.peers.clone());
        let progress = Arc::clone(&self.progress);
        (self.batch.components == Components::Differential).then_some(Contractor { workers, peers, progress })
    }

    fn budget(&self) -> Budget {
        Budget::new(self.batch.memory, self.batch.workers)
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
            unchanged: tally.unchanged + outcome.unchanged,
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
        let unread: Vec<u32> = self.refused.iter().filter_map(|row| row.unread).collect();
        let sources = sources_of(sources, &unread, self.next.next_file, *workers, &self.progress)?;
        let (id, run) = self.writer.begin_run(&mut self.next)?;
        let written = [(id, write_clusters(run, outcome, &sources)?)];
        self.name(&written)?;
        let mut log = self.writer.begin_changes(&self.next)?;
        write_lines(&mut log, &outcome.lines)?;
        self.next.changes.push(log.finish()?);
        self.next.next_file += self.batch.sources.len() as u32;
        Ok(())
    }

    /// Takes away what was begun, because of an error; but only a refusal takes away epochs that are durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn give_up(self, error: &Error) -> Result<()> {
        match error {
            Error::Refused { .. } => self.abandon(),
            _ if self.writer.pending().is_none() => self.abandon(),
            _ => Ok(()),
        }
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
