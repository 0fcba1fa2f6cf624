//! What the dataflow of a load sees of a collection, and where it leaves what it adds.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::collection::run::schema::{
    DIGESTS, DOCUMENTS, PARITIES, POSTINGS, SCOPES, SETS, SIGNATURES, TEXTS,
};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::collection::tables::Tables;
use crate::collection::tables::dead::Dead;
use crate::collection::tables::document::Document;
use crate::collection::tables::postings::{PostingForm, PostingRows, live_postings};
use crate::collection::tables::records::RecordWriter;
use crate::collection::tables::rows::{StoredDigest, StoredScope, StoredSignature, StoredText};
use crate::collection::tables::sets::signatures::each_signature;
use crate::collection::tables::sets::{SetCursors, each_set, salts};
use crate::collection::tables::tokens::TokenWriter;
use crate::config::Config;
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::{KeptText, LoadKeeper, Posting, Stored};
use crate::limits::MAX_WORKERS;
use crate::similarity::AcceptanceRule;
use crate::sketch::sign;

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
    ids: [IdCache; ID_CACHES],
    /// Dead contents, known when they are first asked for.
    dead: OnceLock<Dead>,
    cursors: SetCursors,
    /// The runs that workers have not begun to write, and those for records, if these are kept.
    runs: Mutex<Vec<Option<RunWriter>>>,
    records: Mutex<Vec<Option<RunWriter>>>,
    finished: Arc<Mutex<Vec<Finished>>>,
}

/// What is kept of sketches.
#[derive(Clone, Copy, Debug)]
pub struct KeptSketches {
    /// Of sketches of which rule the own words are signed, if they are.
    signed: Option<AcceptanceRule>,
    /// Tokens of a shingle, where tokens are kept in place of sketches.
    ngram: Option<usize>,
    postings: PostingForm,
}

impl KeptSketches {
    /// What a collection of this configuration keeps.
    pub fn of(config: &Config) -> KeptSketches {
        KeptSketches {
            signed: config.signed(),
            ngram: config.sketched_by_tokens(),
            postings: PostingForm::of(config),
        }
    }
}

/// What a run has: by worker, those for records after all others.
type Finished = (usize, RunSummary);

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
        let (ids, dead, finished) = (Default::default(), OnceLock::new(), Arc::default());
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
            finished,
        }
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
        let part = &self.ids[of(id)];
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
        let _ = part.documents.set(ids);
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

    /// What the runs have, in the order of workers; then those for records.
    pub fn finished(&self) -> Vec<RunSummary> {
        let mut finished = std::mem::take(&mut *lock(&self.finished));
        finished.sort_unstable_by_key(|(worker, _)| *worker);
        finished.into_iter().map(|(_, summary)| summary).collect()
    }
}

/// One in so many documents looked up one by one costs as much as reading all of them.
const PAYS: u64 = 256;

/// Bytes of a document that is ids.
const BYTES: u64 = 16;

/// Parts that documents are ids in, a power of two: workers read different ones at a time.
const ID_CACHES: usize = 16;

/// The part of an id.
fn of(id: u64) -> usize {
    (id >> (64 - ID_CACHES.ilog2())) as usize
}

/// What is known of some stored documents.
#[derive(Debug, Default)]
struct IdCache {
    asked: AtomicU64,
    /// The first halves of the digests of ids and of fingerprints, ascending: made once that pays, by one worker.
    documents: OnceLock<Vec<(u64, u64)>>,
    filling: Mutex<()>,
}

/// A lock of which every use is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LoadBase {
    /// The contents that are dead.
    fn dead(&self) -> Result<&Dead> {
        if let Some(dead) = self.dead.get() {
            return Ok(dead);
        }
        let dead = Dead::of(&self.tables, self.next, self.most)?;
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
        // Reading them all costs as much as looking up a small part of them one by one.
        let halves = ((id >> 64) as u64, (fingerprint >> 64) as u64);
        let part = &self.ids[of(halves.0)];
        let pays = part.asked.fetch_add(1, Ordering::Relaxed) > self.documents / PAYS / ID_CACHES as u64;
        if pays && self.documents * BYTES <= self.most && part.documents.get().is_none() {
            self.fill(halves.0)?;
        }
        if let Some(ids) = part.documents.get() {
            return Ok(ids.binary_search(&halves).is_ok());
        }
        let mut unchanged = false;
        self.tables.newest(DOCUMENTS, &[(id >> 64) as u64, id as u64], &mut |_, _, row| {
            let document = Document::of_row(row);
            unchanged = self.stands(&document) && document.fingerprint == fingerprint;
            Ok(())
        })?;
        Ok(unchanged)
    }

    fn contents(&self, digests: &[u64], each: &mut dyn FnMut(usize, Doc)) -> Result<()> {
        self.tables.newest(DIGESTS, digests, &mut |at, run, row| {
            let found = StoredDigest::of_row(row);
            if found.is_live() {
                each(at, self.below_next(found.content, run.path())?);
            }
            Ok(())
        })
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
        let mut writer = run.ok_or_else(|| Error::Worker(format!("worker {worker} has no run to write")))?;
        let tokens = match self.sketches.ngram {
            Some(ngram) => Some(TokenWriter::begin(ngram, &mut writer)?),
            None => writer.heap(SETS).map(|()| None)?,
        };
        let records = lock(&self.records).get_mut(worker).and_then(Option::take);
        let records = records.map(RecordWriter::new).transpose()?;
        let finished = Arc::clone(&self.finished);
        let (texts, scopes, signatures, signed) =
            (Vec::new(), Vec::new(), StoredSignatures::default(), self.sketches.signed);
        Ok(Box::new(WorkerRun {
            worker,
            writer,
            records,
            tokens,
            texts,
            scopes,
            signed,
            signatures,
            rows: PostingRows::new(self.sketches.postings),
            posting: false,
            finished,
        }))
    }
}

/// The run of one worker: sets or tokens, then texts, their scopes where not all documents are compared, their signatures where these are kept, then postings. Beside it that of its records, if these are kept.
#[derive(Debug)]
struct WorkerRun {
    worker: usize,
    finished: Arc<Mutex<Vec<Finished>>>,
    writer: RunWriter,
    records: Option<RecordWriter>,
    /// The tokens of texts, if these are kept in place of sets.
    tokens: Option<TokenWriter>,
    texts: Vec<StoredText>,
    /// The scopes of texts, where not all documents are compared.
    scopes: Vec<StoredScope>,
    signed: Option<AcceptanceRule>,
    signatures: StoredSignatures,
    rows: PostingRows,
    posting: bool,
}

/// The signatures of texts, in the order of these.
#[derive(Debug, Default)]
struct StoredSignatures {
    /// Their words, one after the other.
    words: Vec<u64>,
    /// Where each ends.
    ends: Vec<u64>,
}

impl WorkerRun {
    /// Writes the texts with their signatures and begins the postings.
    fn all_read(&mut self) -> Result<()> {
        if self.posting {
            return Ok(());
        }
        self.posting = true;
        let mut texts = std::mem::take(&mut self.texts);
        if let Some(tokens) = &mut self.tokens {
            tokens.finish(&mut self.writer)?;
            let mut places = tokens.places();
            texts.iter_mut().for_each(|text| text.put(places.next().expect("each text has been written")));
        }
        self.writer.rows(TEXTS.kind, TEXTS.shape)?;
        texts.iter().try_for_each(|text| self.writer.push(&text.to_row()))?;
        let scopes = std::mem::take(&mut self.scopes);
        if !scopes.is_empty() {
            self.writer.rows(SCOPES.kind, SCOPES.shape)?;
            scopes.iter().try_for_each(|scope| self.writer.push(&scope.to_row()))?;
        }
        if self.signed.is_some() {
            let StoredSignatures { words, ends } = std::mem::take(&mut self.signatures);
            self.writer.heap(PARITIES)?;
            self.writer.push(&words)?;
            self.writer.rows(SIGNATURES.kind, SIGNATURES.shape)?;
            let mut start = 0;
            for (text, end) in texts.iter().zip(ends) {
                let row = StoredSignature { content: text.content, start, words: end - start };
                self.writer.push(&row.to_row())?;
                start = end;
            }
        }
        self.writer.rows(POSTINGS.kind, POSTINGS.shape)
    }
}

impl LoadKeeper for WorkerRun {
    fn record(&mut self, doc: Doc, raw: &[u8]) -> Result<()> {
        self.records.as_mut().map_or(Ok(()), |records| records.push(doc, raw))
    }

    fn text(&mut self, doc: Doc, text: &KeptText<'_>) -> Result<()> {
        let KeptText { digest, salt, set, tokens } = *text;
        let start = match &mut self.tokens {
            // Where tokens are is known once all are written.
            Some(writer) => writer.push(tokens, &mut self.writer).map(|()| 0)?,
            None => {
                let start = self.writer.position();
                self.writer.push(set)?;
                start
            }
        };
        if let Some(rule) = self.signed {
            sign(rule.own_words(set), &mut self.signatures.words);
            self.signatures.ends.push(self.signatures.words.len() as u64);
        }
        let (content, size) = (u64::from(doc), set.len() as u32);
        self.texts.push(StoredText { content, start, ordinal: 0, size, digest });
        self.scopes.extend(salt.map(|salt| StoredScope { content, salt }));
        Ok(())
    }

    fn postings(&mut self, bucket: &[Posting]) -> Result<()> {
        self.all_read()?;
        self.rows.push(bucket.iter().rev(), &mut |row| self.writer.push(row))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.all_read()?;
        self.rows.flush(&mut |row| self.writer.push(row))?;
        // Nothing is made durable that is removed at once.
        let summary = match self.writer.is_empty() {
            true => RunSummary { bytes: 0, sections: Vec::new() },
            false => self.writer.finish()?,
        };
        let records = self.records.map(RecordWriter::finish).transpose()?;
        let mut finished = lock(&self.finished);
        finished.push((self.worker, summary));
        finished.extend(records.map(|summary| (MAX_WORKERS + self.worker, summary)));
        Ok(())
    }
}
