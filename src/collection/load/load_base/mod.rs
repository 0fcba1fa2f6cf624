//! What the dataflow of a load sees of a collection, and where it leaves what it adds.

pub(in crate::collection) mod earlier;
pub(in crate::collection) mod kept_sketches;
mod lookups;
mod unchanged_ids;
mod worker_run;
mod written;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use earlier::EarlierEpochs;
use kept_sketches::KeptSketches;
use unchanged_ids::{BYTES, ID_CACHES, KnownIds, PAYS, UnchangedIds};
use worker_run::WorkerRun;
use written::WorkersWritten;

use crate::collection::load::settle::LoadNumbers;
use crate::collection::load::settle::newcomers::Newcomers;
use crate::collection::run::schema::{DIGESTS, DOCUMENTS};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::document::Document;
use crate::collection::tables::postings::live_postings;
use crate::collection::tables::rows::StoredDigest;
use crate::collection::tables::sets::signatures::each_signature;
use crate::collection::tables::sets::{SetCursors, each_set, salts};
use crate::document::{Doc, NO_DOC};
use crate::error::{Error, Result};
use crate::flow::{LoadKeeper, Posting, RunParts, Stored};
use crate::threads::in_threads;

/// A commit, and the runs that its workers write.
#[derive(Debug)]
pub struct LoadBase {
    tables: Tables,
    next: Doc,
    sketches: KeptSketches,
    /// Whether records are kept.
    keeps_records: bool,
    /// The number of the load.
    load: u32,
    /// Documents there are, and how many bytes may be ids of them and of dead contents each.
    documents: u64,
    most: u64,
    /// By the first bits of ids.
    ids: Arc<UnchangedIds>,
    /// Dead contents, known when they are first asked for.
    dead: OnceLock<Arc<Dead>>,
    cursors: SetCursors,
    /// The runs that workers have not begun to write, and those for records, if these are kept.
    runs: Mutex<Vec<Option<RunWriter>>>,
    records: Mutex<Vec<Option<RunWriter>>>,
    written: Arc<Mutex<WorkersWritten>>,
    /// Whether it is noted which ids the load mentions.
    notes_mentioned: bool,
    epochs: EarlierEpochs,
}

impl LoadBase {
    /// The tables of a commit, or of the epochs before in this `load`, with so many documents, whose contents are all below `next`; of
    /// new texts `sketches` are kept, and `most` bytes of memory may be taken. Each worker will write one of the runs, and one of those
    /// for records, if there are any.
    pub fn new(
        tables: Tables,
        next: Doc,
        sketches: KeptSketches,
        (load, documents): (u32, u64),
        most: u64,
        (runs, records): (Vec<RunWriter>, Vec<RunWriter>),
    ) -> LoadBase {
        let keeps_records = !records.is_empty();
        let [runs, records] = [runs, records].map(|runs| Mutex::new(runs.into_iter().map(Some).collect()));
        let (ids, dead, written) = (Arc::default(), OnceLock::new(), Arc::default());
        LoadBase {
            tables,
            next,
            sketches,
            keeps_records,
            load,
            documents,
            most,
            ids,
            dead,
            cursors: SetCursors::default(),
            runs,
            records,
            written,
            notes_mentioned: false,
            epochs: EarlierEpochs::default(),
        }
    }

    /// The same, where it is noted which ids the load mentions.
    pub fn noting_mentioned(self, notes_mentioned: bool) -> LoadBase {
        LoadBase { notes_mentioned, ..self }
    }

    /// The same, in an epoch behind others of the same load.
    pub fn after_epochs(self, epochs: EarlierEpochs) -> LoadBase {
        let documents = self.tables.runs.iter().filter(|run| run.rows(DOCUMENTS.kind).is_some());
        let ids = epochs.known_of(documents.map(|run| run.path().to_path_buf()).collect());
        LoadBase { epochs: epochs.before_now(), ids, ..self }
    }

    /// The same for other tables, whose contents are all below `next`, and which nothing is added to.
    pub fn for_tables(&self, tables: Tables, next: Doc) -> LoadBase {
        LoadBase::new(
            tables,
            next,
            self.sketches,
            (self.load, self.documents),
            self.most,
            (Vec::new(), Vec::new()),
        )
    }

    /// Reads what is needed to know unchanged documents whose ids begin with the same bits as `id`, unless another worker
    /// has.
    fn fill(&self, id: u64) -> Result<()> {
        let part = self.ids.part(id);
        let _one = lock(&part.filling);
        if part.documents.get().is_some() {
            return Ok(());
        }
        let mut ids = Vec::with_capacity(self.documents as usize / ID_CACHES);
        let first = id & !(u64::MAX >> ID_CACHES.ilog2());
        let end = first.checked_add(1 << (64 - ID_CACHES.ilog2()));
        let mut rows = self.tables.scan_between(DOCUMENTS, &[first], end.as_ref().map(std::slice::from_ref));
        while let Some(row) = rows.next_row()? {
            let document = Document::of_row(row);
            if self.stands(&document) {
                ids.push(((document.id >> 64) as u64, (document.fingerprint >> 64) as u64));
            }
        }
        let _ = part.documents.set(KnownIds::new(ids));
        Ok(())
    }

    /// Whether a record that is like this document changes nothing. Of several records of one load the last one counts, also
    /// where they are in different epochs and alike.
    fn stands(&self, document: &Document) -> bool {
        document.live && document.loads.1 != self.load
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The newcomers that the workers of this process have read, by worker.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn newcomers<'a>(&self, run: &'a RunParts) -> Result<Vec<Newcomers<'a>>> {
        let workers = run.context.topology.local_workers();
        in_threads(workers, |worker| Newcomers::of(run, worker))
    }

    /// Adds newcomers to the runs of their workers, and ends these. The components of those that are alone have labels from a number
    /// on, which is given by worker. What the runs hold, in the order of workers; then those for records.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(
        &self,
        newcomers: Vec<Newcomers<'_>>,
        numbers: LoadNumbers,
        labels: &[u32],
    ) -> Result<Vec<RunSummary>> {
        let WorkersWritten { mut runs, mut records } = std::mem::take(&mut *lock(&self.written));
        runs.sort_unstable_by_key(|(worker, _)| *worker);
        records.sort_unstable_by_key(|(worker, _)| *worker);
        let work = runs.into_iter().zip(newcomers).zip(labels);
        let summaries = in_threads(work, |(((_, mut run), newcomers), label)| {
            newcomers.write(&mut run, (numbers, *label, self.notes_mentioned))?;
            // Nothing is made durable that is removed at once.
            if run.is_empty() {
                return Ok(RunSummary { sections: Vec::new() });
            }
            run.finish()
        });
        Ok(summaries?.into_iter().chain(records.into_iter().map(|(_, summary)| summary)).collect())
    }
}

/// A lock of which every use is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LoadBase {
    /// The contents that are dead.
    ///
    /// # Errors
    /// [`Error::Damaged`] and [`Error::Io`].
    pub fn dead(&self) -> Result<&Arc<Dead>> {
        if let Some(dead) = self.dead.get() {
            return Ok(dead);
        }
        let dead = Arc::new(Dead::of(&self.tables, self.next, self.most)?);
        Ok(self.dead.get_or_init(|| dead))
    }

    /// A stored content, whose number is below those of the load's own.
    fn below_next(&self, content: u64, path: &Path) -> Result<Doc> {
        let below = Doc::try_from(content).ok().filter(|content| *content < self.next);
        below.ok_or_else(|| {
            Error::damaged(path, 0, format!("it names content {content}, which is yet to come"))
        })
    }
}

impl Stored for LoadBase {
    fn next(&self) -> Doc {
        self.next
    }

    fn keeps_records(&self) -> bool {
        self.keeps_records
    }

    fn is_unchanged(&self, id: u128, fingerprint: u128) -> Result<bool> {
        // What the load itself has brought stands for nothing.
        let before = self.epochs.runs_before.min(self.tables.runs.len());
        if self.tables.runs[..before].iter().all(|run| run.rows(DOCUMENTS.kind).is_none()) {
            return Ok(false);
        }
        // Reading them all costs as much as looking up a small part of them one by one.
        let halves = ((id >> 64) as u64, (fingerprint >> 64) as u64);
        let part = self.ids.part(halves.0);
        if part.documents.get().is_none() {
            let asked = part.asked.fetch_add(1, Ordering::Relaxed);
            if asked > self.documents / PAYS / ID_CACHES as u64 && self.documents * BYTES <= self.most {
                self.fill(halves.0)?;
            }
        }
        if let Some(ids) = part.documents.get() {
            return Ok(ids.have(halves));
        }
        let mut unchanged = false;
        self.tables.newest(DOCUMENTS, &[(id >> 64) as u64, id as u64], &mut |_, _, row| {
            let document = Document::of_row(row);
            unchanged = self.stands(&document) && document.fingerprint == fingerprint;
            Ok(())
        })?;
        Ok(unchanged)
    }

    fn perhaps_ids(&self, halves: &[u64], open: &[bool], each: &mut dyn FnMut(usize)) -> Result<()> {
        self.perhaps(DOCUMENTS, (&self.epochs.ids, self.epochs.lists.0), (halves, open), each)
    }

    fn perhaps_digests(&self, halves: &[u64], open: &[bool], each: &mut dyn FnMut(usize)) -> Result<()> {
        self.perhaps(DIGESTS, (&self.epochs.digests, self.epochs.lists.1), (halves, open), each)
    }

    fn contents(&self, digests: &[u64], each: &mut dyn FnMut(usize, Doc)) -> Result<()> {
        self.newest_of(DIGESTS, (&self.epochs.digests, self.epochs.lists.1), digests, &mut |at, run, row| {
            let found = StoredDigest::of_row(row);
            let content = match found.is_live() {
                true => self.below_next(found.content, run.path())?,
                false => NO_DOC,
            };
            each(at, content);
            Ok(())
        })
    }

    fn known_ids(&self, ids: &[u64], each: &mut dyn FnMut(usize)) -> Result<()> {
        self.newest_of(DOCUMENTS, (&self.epochs.ids, self.epochs.lists.0), ids, &mut |at, _, _| {
            each(at);
            Ok(())
        })
    }

    fn notes_mentioned(&self) -> bool {
        self.notes_mentioned
    }

    fn postings(&self, keys: &[u64], found: &mut Vec<Posting>) -> Result<()> {
        live_postings(&self.tables, self.sketches.postings, keys, self.dead()?, found)?;
        match (found.iter().map(|posting| posting.doc).max(), self.tables.runs.last()) {
            (Some(most), Some(run)) => self.below_next(u64::from(most), run.path()).map(drop),
            _ => Ok(()),
        }
    }

    fn set(&self, content: Doc, set: &mut Vec<u64>) -> Result<()> {
        self.cursors.read_of(&self.tables, content, set)
    }

    fn sets(&self, contents: &[Doc], each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()> {
        let keys: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
        each_set(&self.tables, &keys, &mut |at, set| each(contents[at], set))
    }

    fn salts(&self, contents: &[Doc]) -> Result<Vec<u64>> {
        let contents: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
        salts(&self.tables, &contents)
    }

    fn signatures(&self, contents: &[Doc], each: &mut dyn FnMut(Doc, &[u64])) -> Result<()> {
        let keys: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
        each_signature(&self.tables, &keys, &mut |at, words| each(contents[at], words))
    }

    fn keeper(&self, worker: usize) -> Result<Box<dyn LoadKeeper>> {
        let run = lock(&self.runs).get_mut(worker).and_then(Option::take);
        let writer = run.ok_or_else(|| Error::Worker(format!("worker {worker} has no run to write")))?;
        let records = lock(&self.records).get_mut(worker).and_then(Option::take);
        let written = Arc::clone(&self.written);
        Ok(Box::new(WorkerRun::begin(worker, (writer, records), self.sketches, written)?))
    }
}
