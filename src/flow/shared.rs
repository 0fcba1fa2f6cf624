//! What the workers of a process share: the request, the catalogue, the sets, and what they gather.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use hashbrown::HashMap;

use super::buckets::{Buckets, Keyed};
use super::budget::{Budget, Share, mapped};
use super::catalogue::{Catalogue, Doc};
use super::collide::{Collided, Posting};
use super::count::Candidate;
use super::dedup_exact::{Arrival, Copy};
use super::intake::{Intake, Refused, sample_rarity};
use super::net::Change;
use super::recall::{Sets, recall};
use super::rounds::Rounds;
use super::stored::{Keeper, Stored};
use super::{Part, Request};
use crate::config::{Config, Keep, Method};
use crate::error::{Error, Result};
use crate::limits::MAX_WORKERS;
use crate::progress::{Progress, Stage};
use crate::read::{FieldPath, Fields, Source, Unit, units};
use crate::simd::Simd;
use crate::similarity::{Accept, Measure};
use crate::sketch::{Rarity, Sketcher, least_difference, rule};

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Documents read, those without a token included.
    pub documents: u64,
    /// Documents that a collection has just so.
    pub unchanged: u64,
    /// Documents without a token: kept, never matched.
    pub empty: u64,
    /// Bytes of text in documents.
    pub text_bytes: u64,
    /// Documents whose canonical text an earlier document has.
    pub copies: u64,
    /// Postings of distinct texts that were collided or ignored as common.
    pub postings: u64,
    /// Keys ignored because more contents have them than the cap allows.
    pub common_keys: u64,
    /// Postings of those keys.
    pub common_postings: u64,
    /// Key groups handed to clustering whole.
    pub crowds: u64,
    /// Pairs that shared enough keys to be looked at.
    pub candidates: u64,
    /// Candidates measured on their sets; what clustering measures within crowds is not counted.
    pub verified: u64,
    /// Pairs found linked.
    pub links: u64,
}

/// What workers hand in.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) links: Vec<Candidate>,
    pub(super) copies: Vec<Copy>,
    pub(super) crowds: Vec<Vec<Doc>>,
    /// Members of all crowds.
    pub(super) crowded: usize,
    pub(super) refused: Vec<Refused>,
    pub(super) changes: Vec<Change>,
    pub(super) superseded: usize,
    pub(super) tally: Tally,
}

/// The state that all workers of a run see.
pub struct Shared {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// What decides the answer.
    pub config: Config,
    /// Worker threads.
    pub workers: usize,
    /// The rows of all documents.
    pub catalogue: Catalogue,
    /// Counters for whoever watches.
    pub progress: Arc<Progress>,
    pub(super) pairs: bool,
    /// What makes two contents linked; `None` where nothing does.
    pub rule: Option<Accept>,
    pub(super) fields: Arc<Fields>,
    pub(super) units: Vec<Unit>,
    part: Part,
    /// Bytes of the inputs on disk that are read.
    pub(super) input_bytes: u64,
    pub(super) next_unit: AtomicUsize,
    pub(super) unit_lines: Vec<AtomicU64>,
    /// Lines of a file before each of its units; known once all is read.
    lines_before: OnceLock<Vec<u64>>,
    pub(super) scratch: PathBuf,
    pub(super) budget: Budget,
    stored: Option<Arc<dyn Stored>>,
    keepers: Vec<Kept>,
    /// Sizes of the stored contents that share a key with a new one.
    stored_sizes: RwLock<HashMap<Doc, u32>>,
    simd: Simd,
    rarity: Arc<Rarity>,
    sets: Vec<OnceLock<Sets>>,
    gathered: Mutex<Gathered>,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
    stages: Mutex<Vec<(Stage, Instant)>>,
}

/// Bytes of an input file that one worker reads at a stretch.
const UNIT: u64 = 1 << 20;

/// Bytes of a link as it comes and in the graph: there the other end and what is shared, at both ends.
const LINK: usize = size_of::<Candidate>() + 16;
/// Bytes of a member of a crowd: there, and in the list of its crowds.
const CROWDED: usize = 8;
/// Bytes of a content in the graph and in what is found out about it.
const CONTENT: usize = 100;

/// A lock whose holder cannot leave a half-made state behind: every use is one append or one take.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Prepares a run: divides the inputs and samples the rarity table.
    pub(super) fn new(request: Request, progress: Arc<Progress>) -> Result<Shared> {
        let Request { sources, part, config, workers, memory, pairs, simd, scratch, stored, rarity } =
            request;
        if workers == 0 || workers > MAX_WORKERS {
            return Err(Error::config(format!("{workers} workers: expected 1 to {MAX_WORKERS}")));
        }
        let value = match &config.cluster.keep {
            Keep::Field { name, .. } => Some(FieldPath::parse(name)?),
            _ => None,
        };
        let fields = Arc::new(Fields {
            id: FieldPath::parse(&config.input.id_field)?,
            text: FieldPath::parse(&config.input.text_field)?,
            value,
            op: stored.as_ref().map(|_| FieldPath::parse("op")).transpose()?,
            max_record_bytes: config.input.max_record_bytes,
        });
        let stages = Mutex::new(vec![(Stage::Open, Instant::now())]);
        let rarity = match (rarity, config.method) {
            (Some(frozen), _) => frozen,
            (None, Method::Join) => Arc::new(sample_rarity(&sources, &fields, &config, simd, workers)?),
            (None, _) => Arc::default(),
        };
        let parts = (0..).zip(&sources).map(|(file, source)| part.extent.of(file, source));
        let bytes: u64 = parts.map(|bytes| bytes.end - bytes.start).sum();
        // Many more units than workers, so that none waits long for another's last one.
        let units = units(&sources, part.extent, (bytes / (workers as u64 * 8)).clamp(256 << 10, UNIT));
        let budget = Budget::new(memory, workers);
        let most_links = usize::try_from(budget.whole(Share::Links)).unwrap_or(usize::MAX) / LINK;
        Ok(Shared {
            catalogue: Catalogue::new(workers, &config.cluster.keep, base(stored.as_deref(), workers)?),
            rule: rule(&config),
            unit_lines: units.iter().map(|_| AtomicU64::new(0)).collect(),
            lines_before: OnceLock::new(),
            next_unit: AtomicUsize::new(0),
            rarity,
            keepers: keepers(stored.as_deref(), workers)?,
            stored_sizes: RwLock::default(),
            stored,
            sets: (0..workers).map(|_| OnceLock::new()).collect(),
            gathered: Mutex::new(Gathered { links: mapped(most_links), ..Gathered::default() }),
            failure: Mutex::default(),
            failed: AtomicBool::new(false),
            sources,
            part,
            input_bytes: bytes,
            config,
            workers,
            progress,
            pairs,
            fields,
            units,
            scratch,
            budget,
            simd,
            stages,
        })
    }

    /// What earlier loads left, if this is a load.
    pub(super) fn stored(&self) -> Option<&dyn Stored> {
        self.stored.as_deref()
    }

    /// The frozen table that orders shingles.
    pub fn rarity(&self) -> &Arc<Rarity> {
        &self.rarity
    }

    /// Whether a number is that of a stored content.
    pub(super) fn is_stored(&self, doc: Doc) -> bool {
        doc < self.catalogue.base()
    }

    /// Has a worker's keeper do something, if this is a load.
    pub(super) fn keep(&self, worker: usize, keep: impl FnOnce(&mut dyn Keeper) -> Result<()>) -> Result<()> {
        let Some(keeper) = self.keepers.get(worker) else { return Ok(()) };
        lock(keeper).as_mut().map_or(Ok(()), |keeper| keep(&mut **keeper))
    }

    /// Ends a worker's keeping.
    pub(super) fn finish_keeping(&self, worker: usize) -> Result<()> {
        let keeper = self.keepers.get(worker).and_then(|keeper| lock(keeper).take());
        keeper.map_or(Ok(()), Keeper::finish)
    }

    /// Remembers the sizes of stored contents that were met.
    pub(super) fn met_stored(&self, met: &[Posting]) {
        let mut sizes = self.stored_sizes.write().unwrap_or_else(PoisonError::into_inner);
        sizes.extend(met.iter().map(|posting| (posting.doc, posting.size)));
    }

    /// The size of the set of a document, or of a stored content that was met.
    pub fn size(&self, doc: Doc) -> u32 {
        if !self.is_stored(doc) {
            return self.catalogue.size(doc);
        }
        let sizes = self.stored_sizes.read().unwrap_or_else(PoisonError::into_inner);
        sizes.get(&doc).copied().unwrap_or(0)
    }

    /// The signature of a document's set; that of a stored one is not at hand.
    fn signature(&self, doc: Doc) -> &[u64] {
        if self.is_stored(doc) { &[] } else { self.catalogue.signature(doc) }
    }

    /// A sketcher of this run.
    pub(super) fn sketcher(&self) -> Sketcher {
        Sketcher::new(&self.config, Arc::clone(&self.rarity), self.simd)
    }

    /// An empty store for postings, in buckets that fit the second-level cache when they are sorted.
    pub(super) fn postings(&self) -> Buckets<Posting> {
        Buckets::new(self.bucket_bits(128 << 10), self.budget.part(Share::Postings), &self.scratch)
    }

    /// An empty store for arrivals.
    pub(super) fn arrivals(&self) -> Buckets<Arrival> {
        Buckets::new(self.bucket_bits(16 << 20), self.budget.part(Share::Arrivals), &self.scratch)
    }

    /// As many bits as leave each bucket what comes of `bytes` of input; at most as many as can be divided by at once
    /// and sorted well, but for inputs so large that such buckets would not fit in memory.
    fn bucket_bits(&self, bytes: u64) -> u32 {
        let most = if self.input_bytes >> 10 > 64 << 20 { 16 } else { 10 };
        (self.input_bytes / bytes).max(1).ilog2().clamp(4, most)
    }

    /// No key groups yet, for a worker that has read all its input.
    pub(super) fn rounds(&self, worker: usize) -> Rounds {
        let rows = self.catalogue.rows(worker);
        Rounds::new(
            rows,
            self.catalogue.base(),
            (worker, self.workers),
            self.budget.part(Share::Groups),
            &self.scratch,
        )
    }

    /// Takes a batch into a store; the run fails if it cannot.
    pub(super) fn store<T: Keyed>(&self, store: &mut Buckets<T>, batch: &mut Vec<T>) {
        if !self.failed() {
            store.extend(batch).unwrap_or_else(|error| self.fail(error));
        }
        batch.clear();
    }

    /// The next bucket of a store, until there is none or the run has failed.
    pub(super) fn next_bucket<T: Keyed>(&self, store: &mut Buckets<T>) -> Option<Vec<T>> {
        let bucket = store.take_last().unwrap_or_else(|error| {
            self.fail(error);
            None
        });
        bucket.filter(|_| !self.failed())
    }

    /// No sets yet, for one worker, which may hold that share of them.
    pub(super) fn no_sets(&self, share: Share) -> Sets {
        Sets::new(self.budget.part(share), &self.scratch)
    }

    /// Whether pairs are measured on sets, rather than by their shared keys alone.
    pub(super) fn measured_on_sets(&self) -> bool {
        match self.config.method {
            Method::Join => true,
            Method::Features => self.config.features.verify,
            Method::Exact | Method::Shingles => false,
        }
    }

    /// Whether shingles that are too common are left out of counts.
    pub(super) fn capped(&self) -> bool {
        self.config.method == Method::Shingles && self.config.shingles.common_cap > 0
    }

    /// Whether a pair shares enough keys to be measured, or to be accepted where keys are all there is.
    pub(super) fn enough(&self, candidate: Candidate) -> bool {
        let (a, b) = candidate.pair.docs();
        let (left, right) = (self.size(a), self.size(b));
        match (self.config.method, self.rule) {
            (Method::Features, _) => candidate.shared as usize >= self.config.features.r,
            (Method::Join, Some(rule)) => {
                // Of the one whose last key comes first in the order, all shared shingles that are keys of it are
                // keys of both; the rest of it can share no more than its length.
                let rest = |size: u32| u64::from(size) - self.config.threshold.prefix(size as usize) as u64;
                let most = u64::from(candidate.shared) + rest(left).max(rest(right));
                rule.needed(left, right).is_some_and(|needed| {
                    let most_apart = u64::from(left) + u64::from(right) - 2 * needed;
                    most >= needed && least_difference(self.signature(a), self.signature(b)) <= most_apart
                })
            }
            (_, Some(rule)) => rule.accepts(Measure { shared: candidate.shared, left, right }),
            (_, None) => false,
        }
    }

    /// Measures two documents whose sets were recalled or are stored: `Some` if the rule accepts them.
    pub(super) fn measure(&self, a: Doc, b: Doc) -> Result<Option<Measure>> {
        let Some(rule) = self.rule else { return Ok(None) };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        Ok(rule.measure(self.set(a, &mut x)?, self.set(b, &mut y)?))
    }

    /// The set of a document that was recalled or of a stored content, in `scratch` unless it is in memory.
    pub fn set<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        match self.stored().filter(|_| self.is_stored(doc)) {
            Some(stored) => stored.set(doc, scratch).map(|()| scratch.as_slice()),
            None => self.home(doc).map_or(Ok(&[]), |sets| sets.get(doc, scratch)),
        }
    }

    /// The store of a document's home.
    fn home(&self, doc: Doc) -> Option<&Sets> {
        self.sets[doc as usize % self.workers].get()
    }

    fn on_sets<T>(
        &self,
        (a, left): (Doc, Option<&Sets>),
        (b, right): (Doc, Option<&Sets>),
        measure: impl FnOnce(&[u64], &[u64]) -> T,
    ) -> Result<T> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let x = left.map(|sets| sets.get(a, &mut x)).transpose()?.unwrap_or_default();
        let y = right.map(|sets| sets.get(b, &mut y)).transpose()?.unwrap_or_default();
        Ok(measure(x, y))
    }

    /// Measures pairs of any documents, reading again those whose sets are not at hand.
    pub(super) fn measure_all(&self, pairs: &[(Doc, Doc)]) -> Result<Vec<Measure>> {
        let at_hand = |doc: Doc| self.home(doc).filter(|sets| sets.contains(doc));
        let mut missing: Vec<Doc> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        missing.retain(|doc| at_hand(*doc).is_none());
        missing.sort_unstable();
        missing.dedup();
        let extra = self.recall_missing(&missing)?;
        let store = |doc: Doc| (doc, at_hand(doc).or_else(|| extra.get(doc as usize % self.workers)));
        pairs.iter().map(|(a, b)| self.on_sets(store(*a), store(*b), Measure::of)).collect()
    }

    /// Derives sets on all cores, each worker's documents in a store of their own.
    fn recall_missing(&self, missing: &[Doc]) -> Result<Vec<Sets>> {
        let homes = (0..self.workers).map(|home| {
            missing.iter().copied().filter(|doc| *doc as usize % self.workers == home).collect::<Vec<Doc>>()
        });
        let homes: Vec<Vec<Doc>> = homes.collect();
        std::thread::scope(|scope| {
            let threads: Vec<_> = homes
                .iter()
                .map(|docs| {
                    scope.spawn(move || {
                        // By now there are no candidates any more.
                        let mut sets = self.no_sets(Share::Candidates);
                        recall(self, docs, &mut self.sketcher(), &mut sets).map(|()| sets)
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(Error::Worker("a thread that reads texts again panicked".into())))
            });
            joined.collect()
        })
    }

    /// Makes a worker's sets visible to all.
    pub(super) fn publish_sets(&self, worker: usize, sets: Sets) {
        let first = self.sets[worker].set(sets).is_ok();
        debug_assert!(first, "a worker recalls once");
    }

    /// The document's id, or `FILE:LINE` if its record has none.
    pub fn name(&self, doc: Doc) -> Result<String> {
        Ok(match self.catalogue.label(doc)? {
            Some(label) => label.into_owned(),
            None => format!("{}:{}", self.file(doc), self.line(doc)),
        })
    }

    /// Path of the document's file, as the user named it.
    pub fn file(&self, doc: Doc) -> String {
        self.sources[self.catalogue.position(doc).file() as usize].shown.clone()
    }

    /// The document's line in its file, counted from 1.
    pub fn line(&self, doc: Doc) -> u64 {
        self.line_at(self.catalogue.position(doc), self.catalogue.line(doc))
    }

    /// The line in the file of a record that is line `line` of its unit.
    pub fn line_at(&self, position: crate::document::Position, line: u32) -> u64 {
        let key = |unit: &Unit| (unit.file, unit.start);
        let after = self.units.partition_point(|unit| key(unit) <= (position.file(), position.offset()));
        let count = || lines_before(&self.units, &self.unit_lines, self.part);
        let before = self.lines_before.get_or_init(count);
        u64::from(line) + after.checked_sub(1).map_or(0, |unit| before[unit])
    }

    /// Lines of a file that stand before the end of what was read of it.
    pub fn lines_read(&self, file: u32) -> u64 {
        let lines = self.units.iter().zip(&self.unit_lines).filter(|(unit, _)| unit.file == file);
        let lines: u64 = lines.map(|(_, lines)| lines.load(Ordering::Relaxed)).sum();
        lines + if file == self.part.extent.from.0 { self.part.lines } else { 0 }
    }

    /// Refuses a file that was read in pieces of which one could not be read to its end: what stands behind the gap
    /// was read, so the file can neither be cut there nor be copied.
    pub(super) fn refuse_gaps(&self, refused: &[Refused]) -> Result<()> {
        let divided = |refused: &&Refused| {
            let file = refused.position.file();
            refused.refusal.ends_file() && self.units.iter().filter(|unit| unit.file == file).nth(1).is_some()
        };
        match refused.iter().find(divided) {
            Some(Refused { position, refusal, .. }) => {
                let path = std::path::Path::new(&self.sources[position.file() as usize].shown);
                Err(Error::input(
                    path,
                    format!("at byte {}: {refusal}; nothing was written", position.offset()),
                ))
            }
            None => Ok(()),
        }
    }

    /// Enters a stage and notes the time.
    pub fn enter(&self, stage: Stage, total: u64) {
        lock(&self.stages).push((stage, Instant::now()));
        self.progress.enter(stage, total);
    }

    /// Seconds spent in each stage entered so far, the present one included.
    pub fn stage_seconds(&self) -> Vec<(Stage, f64)> {
        let stages = lock(&self.stages);
        let ends = stages.iter().skip(1).map(|(_, at)| *at).chain([Instant::now()]);
        stages.iter().zip(ends).map(|((stage, start), end)| (*stage, (end - *start).as_secs_f64())).collect()
    }

    /// Ends the run with an error; the first one counts.
    pub(super) fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether the run is over without a result.
    pub(super) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.progress.stopped()
    }

    /// The error the workers ended with, if any.
    pub(super) fn verdict(&self) -> Result<()> {
        self.progress.check()?;
        lock(&self.failure).take().map_or(Ok(()), Err)
    }

    /// A guard that fails the run if its worker panics, so that no other worker waits for it.
    pub(super) fn guard(self: &Arc<Self>) -> impl Drop + use<> {
        PanicGuard(Arc::clone(self))
    }

    pub(super) fn take_gathered(&self) -> Gathered {
        let mut gathered = std::mem::take(&mut *lock(&self.gathered));
        gathered.tally.links = gathered.links.len() as u64;
        gathered.tally.copies = gathered.copies.len() as u64;
        gathered.refused.sort_unstable_by_key(|refused| refused.position);
        gathered
    }

    pub(super) fn gather_changes(&self, changes: &[Change], superseded: usize) {
        let mut gathered = lock(&self.gathered);
        gathered.changes.extend_from_slice(changes);
        gathered.superseded += superseded;
    }

    pub(super) fn gather_copies(&self, copies: &[Copy]) {
        lock(&self.gathered).copies.extend_from_slice(copies);
    }

    pub(super) fn gather_links(&self, links: &mut Vec<Candidate>) {
        let mut gathered = lock(&self.gathered);
        gathered.links.append(links);
        let known = (gathered.links.len(), gathered.crowded);
        drop(gathered);
        self.allow_graph(known.0, known.1, 0).unwrap_or_else(|error| self.fail(error));
    }

    /// Refuses a graph that does not fit in its share of the memory: so many links, members of crowds, and contents.
    pub(super) fn allow_graph(&self, links: usize, crowded: usize, contents: usize) -> Result<()> {
        let bytes = (links * LINK + crowded * CROWDED + contents * CONTENT) / self.workers;
        self.budget.allow(Share::Links, bytes as u64, 0, "the links between documents")
    }

    pub(super) fn gather_intake(&self, worker: usize, mut intake: Intake) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.documents += intake.documents();
        gathered.tally.empty += intake.empty;
        gathered.tally.unchanged += intake.unchanged;
        gathered.tally.text_bytes += intake.text_bytes;
        gathered.refused.append(&mut intake.refused);
        drop(gathered);
        self.catalogue.publish(worker, intake.segment);
    }

    pub(super) fn gather_collided(&self, collided: &Collided) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.postings += collided.postings;
        gathered.tally.common_keys += collided.common_keys;
        gathered.tally.common_postings += collided.common_postings;
    }

    pub(super) fn gather_candidates(&self, mut crowds: Vec<Vec<Doc>>, candidates: usize) {
        let mut gathered = lock(&self.gathered);
        gathered.tally.crowds += crowds.len() as u64;
        gathered.tally.candidates += candidates as u64;
        gathered.tally.verified += if self.measured_on_sets() { candidates as u64 } else { 0 };
        gathered.crowded += crowds.iter().map(Vec::len).sum::<usize>();
        gathered.crowds.append(&mut crowds);
        let known = (gathered.links.len(), gathered.crowded);
        drop(gathered);
        self.allow_graph(known.0, known.1, 0).unwrap_or_else(|error| self.fail(error));
    }
}

/// The number of a load's first document: above all that is stored, and divided evenly among the workers.
fn base(stored: Option<&dyn Stored>, workers: usize) -> Result<Doc> {
    let next = stored.map_or(0, Stored::next) as usize;
    let full = || {
        Error::Limit(
            "more than 4,294,967,295 records were ever loaded; load what is left into a new collection"
                .into(),
        )
    };
    Doc::try_from(next.next_multiple_of(workers)).map_err(|_| full())
}

/// A worker's keeper, until all is kept.
type Kept = Mutex<Option<Box<dyn Keeper>>>;

/// What keeps what each worker adds.
fn keepers(stored: Option<&dyn Stored>, workers: usize) -> Result<Vec<Kept>> {
    let keepers = stored.into_iter().flat_map(|stored| (0..workers).map(|worker| stored.keeper(worker)));
    keepers.map(|keeper| keeper.map(|keeper| Mutex::new(Some(keeper)))).collect()
}

/// For each unit the lines of its file that stand before it.
fn lines_before(units: &[Unit], lines: &[AtomicU64], part: Part) -> Vec<u64> {
    let (mut file, mut sum) = (part.extent.from.0, part.lines);
    let before = |(unit, lines): (&Unit, &AtomicU64)| {
        if unit.file != file {
            (file, sum) = (unit.file, 0);
        }
        let before = sum;
        sum += lines.load(Ordering::Relaxed);
        before
    };
    units.iter().zip(lines).map(before).collect()
}

struct PanicGuard(Arc<Shared>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Worker("a worker thread panicked".into()));
        }
    }
}
