//! The state that the workers of a process share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use bytemuck::zeroed_vec;

use super::buckets::{Buckets, Keyed};
use super::budget::{Budget, Share};
use super::catalogue::{Catalogue, Doc};
use super::collide::Posting;
use super::crew::Crew;
use super::dedup_exact::Arrival;
use super::gathered::Gathered;
use super::intake::{Intake, sample_rarity};
use super::peers::Peers;
use super::recall::Sets;
use super::replay::Replay;
use super::rounds::Rounds;
use super::stored::{Keeper, Stored};
use super::{Part, Request};
use crate::config::{Config, Keep, Method};
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::limits::{MAX_UNSENT, MAX_WORKERS};
use crate::progress::{Progress, Stage};
use crate::read::{FieldPath, Fields, Source, Unit, units};
use crate::simd::Simd;
use crate::similarity::Accept;
use crate::sketch::{Basis, Rarity, Sketcher, rule};

/// The state that all workers of a run see.
pub struct Shared {
    /// The inputs, in document order.
    pub sources: Vec<Source>,
    /// What decides the answer.
    pub config: Config,
    /// The workers.
    pub crew: Crew,
    /// The rows of all documents.
    pub catalogue: Catalogue,
    /// Counters for whoever watches.
    pub progress: Arc<Progress>,
    pub(super) pairs: bool,
    /// What makes two contents linked; `None` where nothing does.
    pub rule: Option<Accept>,
    pub(super) fields: Arc<Fields>,
    pub(super) units: Vec<Unit>,
    pub(super) part: Part,
    /// Bytes on disk of the inputs that are read.
    read_bytes: u64,
    next_unit: AtomicUsize,
    /// The other processes, and the number of this run.
    peers: Option<(Arc<Peers>, u64)>,
    /// Bytes that the workers have handed on, and what the connections had sent before.
    handed_on: AtomicU64,
    sent_before: u64,
    pub(super) unit_lines: Vec<AtomicU64>,
    /// Lines of a file before each of its units; known once all is read.
    pub(super) lines_before: OnceLock<Vec<u64>>,
    pub(super) scratch: PathBuf,
    pub(super) budget: Budget,
    stored: Option<Arc<dyn Stored>>,
    replay: Option<Arc<dyn Replay>>,
    keepers: Vec<Kept>,
    /// Sizes of the stored contents that share a key with a new one, a place each; of the others no page is touched.
    pub(super) stored_sizes: Vec<AtomicU32>,
    pub(super) simd: Simd,
    basis: Arc<Basis>,
    /// Sets that the workers of this process have recalled, by worker.
    pub(super) sets: Vec<OnceLock<Sets>>,
    /// Sets that each worker of this process has taken in from others.
    pub(super) fetched: Vec<OnceLock<Sets>>,
    pub(super) gathered: Mutex<Gathered>,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
    stages: Mutex<Vec<(Stage, Instant)>>,
}

/// Bytes that timely gathers for a worker before it sends them, at most.
const CONTAINER: usize = 16 << 10;
/// Bytes of an input file that one worker reads at a stretch.
const UNIT: u64 = 1 << 20;

/// A lock whose holder cannot leave a half-made state behind: every use is one append or one take.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Prepares a run: divides the inputs and samples the rarity table.
    pub(super) fn new(request: Request, progress: Arc<Progress>) -> Result<Shared> {
        let Request {
            sources,
            part,
            config,
            workers,
            memory,
            pairs,
            simd,
            scratch,
            stored,
            replay,
            basis,
            lexicon,
            peers,
        } = request;
        let crew = peers.as_ref().map_or(Crew::alone(workers), |peers| peers.crew(workers));
        if workers == 0 || workers > MAX_WORKERS {
            return Err(Error::config(format!("{workers} workers: expected 1 to {MAX_WORKERS}")));
        }
        let value = match &config.cluster.keep {
            Keep::Field { name, .. } => Some(FieldPath::parse(name)?),
            _ => None,
        };
        let op = stored.as_ref().map(|_| FieldPath::parse("op")).transpose()?;
        let fields = Arc::new(Fields { value, op, ..Fields::of(&config.input)? });
        let stages = Mutex::new(vec![(Stage::Open, Instant::now())]);
        let basis = match basis {
            Some(frozen) => frozen,
            None => Arc::new(made(peers.as_deref(), &config, lexicon, &|lexicon| {
                sample_rarity(&sources, &fields, &config, lexicon, simd, workers)
            })?),
        };
        // A collection that nothing was ever loaded into has no tables yet.
        if replay.as_ref().is_none_or(|replay| replay.documents() > 0) {
            basis.check(&config)?;
        }
        let parts = (0..).zip(&sources).map(|(file, source)| part.extent.of(file, source));
        let bytes: u64 = parts.map(|bytes| bytes.end - bytes.start).sum();
        // Many more units than workers, so that none waits long for another's last one.
        let units = units(&sources, part.extent, (bytes / (crew.all() as u64 * 8)).clamp(256 << 10, UNIT));
        let budget = Budget::new(memory, workers);
        Ok(Shared {
            catalogue: Catalogue::new(crew, &config.cluster.keep, base(stored.as_deref(), crew)?),
            rule: rule(&config),
            unit_lines: units.iter().map(|_| AtomicU64::new(0)).collect(),
            lines_before: OnceLock::new(),
            next_unit: AtomicUsize::new(0),
            handed_on: AtomicU64::new(0),
            sent_before: peers.as_ref().map_or(0, |peers| peers.mesh().traffic().data_sent),
            peers: peers.map(|peers| {
                let run = peers.next_run();
                (peers, run)
            }),
            basis,
            keepers: keepers(stored.as_deref(), workers)?,
            stored_sizes: zeroed_vec(stored.as_deref().map_or(0, Stored::next) as usize),
            stored,
            replay,
            sets: (0..crew.all()).map(|_| OnceLock::new()).collect(),
            fetched: (0..workers).map(|_| OnceLock::new()).collect(),
            gathered: Mutex::new(Gathered::new(&budget)),
            failure: Mutex::default(),
            failed: AtomicBool::new(false),
            sources,
            part,
            read_bytes: bytes,
            config,
            crew,
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

    /// The other processes, and the number of this run among those of the job.
    pub(super) fn peers(&self) -> Option<(&Peers, u64)> {
        self.peers.as_ref().map(|(peers, run)| (&**peers, *run))
    }

    /// What earlier loads left, if this is a load.
    pub(super) fn stored(&self) -> Option<&dyn Stored> {
        self.stored.as_deref()
    }

    /// The stored documents that are taken in in place of inputs, if it is they.
    pub(super) fn replay(&self) -> Option<&dyn Replay> {
        self.replay.as_deref()
    }

    /// Bytes of the inputs on disk, or of the sets of stored documents.
    pub(super) fn input_bytes(&self) -> u64 {
        match &self.replay {
            Some(replay) => replay.bytes(),
            None => self.read_bytes,
        }
    }

    /// The frozen tables that sketches are made by.
    pub fn basis(&self) -> &Arc<Basis> {
        &self.basis
    }

    /// Whether a number is that of a stored content.
    pub(super) fn is_stored(&self, doc: Doc) -> bool {
        doc < self.catalogue.base()
    }

    /// Has a worker's keeper do something, if this is a load.
    pub(super) fn keep(&self, worker: usize, keep: impl FnOnce(&mut dyn Keeper) -> Result<()>) -> Result<()> {
        let Some(keeper) = self.keepers.get(worker - self.crew.own().start) else { return Ok(()) };
        lock(keeper).as_mut().map_or(Ok(()), |keeper| keep(&mut **keeper))
    }

    /// Ends a worker's keeping.
    pub(super) fn finish_keeping(&self, worker: usize) -> Result<()> {
        let keeper = self.keepers.get(worker - self.crew.own().start);
        let keeper = keeper.and_then(|keeper| lock(keeper).take());
        keeper.map_or(Ok(()), Keeper::finish)
    }

    /// A sketcher of this run.
    pub(super) fn sketcher(&self) -> Sketcher {
        Sketcher::new(&self.config, Arc::clone(&self.basis), self.simd)
    }

    /// An empty store for postings, in buckets that fit the second-level cache when they are sorted.
    pub(super) fn postings(&self, worker: usize) -> Buckets<Posting> {
        let most = self.budget.part(Share::Postings);
        Buckets::new(self.bucket_bits(128 << 10), self.crew.keys(worker), most, &self.scratch)
    }

    /// An empty store for arrivals.
    pub(super) fn arrivals(&self, worker: usize) -> Buckets<Arrival> {
        let most = self.budget.part(Share::Arrivals);
        Buckets::new(self.bucket_bits(16 << 20), self.crew.keys(worker), most, &self.scratch)
    }

    /// As many bits as leave each bucket what comes of `bytes` of input; at most as many as can be divided by at once
    /// and sorted well, but for inputs so large that such buckets would not fit in memory.
    fn bucket_bits(&self, bytes: u64) -> u32 {
        let input = self.input_bytes();
        let most = if input >> 10 > 64 << 20 { 16 } else { 10 };
        (input / bytes).max(1).ilog2().clamp(4, most)
    }

    /// No key groups yet, for a worker that has read all its input.
    pub(super) fn rounds(&self, worker: usize) -> Rounds {
        let rows = self.catalogue.rows(worker);
        Rounds::new(
            rows,
            self.catalogue.base(),
            (worker, self.crew.all()),
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

    /// Notes what a worker hands on to other processes.
    pub(super) fn hand_on(&self, intake: &Intake) {
        if self.peers.is_some() {
            self.handed_on.fetch_add(intake.bytes_for_others(self.crew), Ordering::Relaxed);
        }
    }

    /// Whether more of it waits for the network than may be held. Timely would take any amount.
    pub(super) fn is_ahead(&self) -> bool {
        let Some((peers, _)) = &self.peers else { return false };
        // On the wire a posting or a digest takes no less than in memory, so what was handed on is all sent in the end.
        let sent = peers.mesh().traffic().data_sent - self.sent_before;
        // What is gathered for a worker before it is sent: up to a container of digests and one of postings.
        let gathering = self.crew.workers() * (self.crew.all() - self.crew.workers()) * 2 * CONTAINER;
        self.handed_on.load(Ordering::Relaxed) > sent + MAX_UNSENT + gathering as u64
    }

    /// When each stage was entered, in order.
    pub(super) fn stages_entered(&self) -> Vec<(Stage, Instant)> {
        lock(&self.stages).clone()
    }

    /// Ends the run here because it has ended elsewhere.
    pub(super) fn give_way(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The next unit that is to be read: of those of a process that works alone, or of all processes.
    pub(super) fn take_unit(&self) -> Result<usize> {
        match &self.peers {
            None => Ok(self.next_unit.fetch_add(1, Ordering::Relaxed)),
            // A file made for this run only is where process 0 is, and perhaps nowhere else.
            Some(_) if self.crew.process() > 0 && self.sources.iter().any(|source| !source.lasting) => {
                Ok(self.units.len())
            }
            Some((peers, run)) => Ok(peers.mesh().take(*run)? as usize),
        }
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
}

/// The tables that process 0 makes, for all.
fn made(
    peers: Option<&Peers>,
    config: &Config,
    lexicon: Option<Arc<Lexicon>>,
    sample: &dyn Fn(Option<&Arc<Lexicon>>) -> Result<Rarity>,
) -> Result<Basis> {
    let own = || {
        let mut basis = Basis { lexicon, ..Basis::default() };
        // Without the lexicon that it needs, a run of any document is refused.
        let ready = basis.lexicon.is_some() || !config.needs_lexicon();
        if config.method == Method::Join && ready {
            basis.rarity = sample(basis.lexicon.as_ref())?;
        }
        Ok(basis)
    };
    let Some(mesh) = peers.map(Peers::mesh) else { return own() };
    let (rarity, lexicon) =
        if mesh.process() == 0 { own()?.to_bytes(config.method) } else { Default::default() };
    let of_all = |wanted: bool, own: Vec<u8>| if wanted { mesh.broadcast(own) } else { Ok(own) };
    let rarity = of_all(config.method == Method::Join, rarity)?;
    Basis::of_bytes(&rarity, of_all(config.needs_lexicon(), lexicon)?)
}

/// The number of a load's first document: above all that is stored, and divided evenly among the workers.
fn base(stored: Option<&dyn Stored>, crew: Crew) -> Result<Doc> {
    let next = stored.map_or(0, Stored::next) as usize;
    let full = || {
        Error::Limit(
            "more than 4,294,967,295 records were ever loaded; load what is left into a new collection"
                .into(),
        )
    };
    Doc::try_from(next.next_multiple_of(crew.all())).map_err(|_| full())
}

/// A worker's keeper, until all is kept.
type Kept = Mutex<Option<Box<dyn Keeper>>>;

/// What keeps what each worker adds.
fn keepers(stored: Option<&dyn Stored>, workers: usize) -> Result<Vec<Kept>> {
    let keepers = stored.into_iter().flat_map(|stored| (0..workers).map(|worker| stored.keeper(worker)));
    keepers.map(|keeper| keeper.map(|keeper| Mutex::new(Some(keeper)))).collect()
}

struct PanicGuard(Arc<Shared>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Error::Worker("a worker thread panicked".into()));
        }
    }
}
