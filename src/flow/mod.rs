//! The dataflow of a run: two timely dataflows on every worker, then the clusters.
//!
//! ```text
//! intake -> arrivals --(by digest)--> dedup_exact --(to all)--+
//!        -> postings --(by key)-----------------------------> collide -> groups --(to the homes)--> count -> candidates
//!
//! candidates -> wanted --(to the home)--> recall --(all sets there)--> verify -> links --(to worker 0)--> settle
//! ```
//!
//! Where stored documents are taken in again ([`Replay`]), only the intake and the recalling of sets are others.
//!
//! Records of the first dataflow carry numbers only; text is read again where a pair has to be measured.

mod abroad;
mod buckets;
mod budget;
mod catalogue;
mod collide;
mod components;
mod conservative;
pub mod contract;
mod count;
mod crew;
mod dedup_exact;
mod gathered;
mod graph;
mod hand_over;
mod intake;
mod measures;
mod net;
mod peers;
mod places;
mod profiled;
mod recall;
mod replay;
mod rounds;
mod rows;
mod settle;
mod shared;
mod spill;
mod stored;
mod trade;
mod transitive;
mod verify;

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Broadcast;
use timely::dataflow::operators::{Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

pub use budget::{Budget, Share};
pub use catalogue::{Catalogue, Doc, Segment};
pub use collide::Posting;
pub use components::Forest;
pub use count::{Candidate, Pair};
pub use crew::Crew;
pub use dedup_exact::{Copy, NO_DOC};
pub use gathered::Tally;
pub use intake::{Refused, id_digest, spread};
pub use net::{Change, Kind};
pub use peers::Peers;
pub use replay::{Replay, Replayed};
pub use settle::{Cluster, Findings, Reason, Removed};
pub use shared::Shared;
pub use stored::{Keeper, Stored};

use crate::config::{Config, Method};
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::read::{Extent, Source};
use crate::simd::Simd;
use crate::sketch::Rarity;
use abroad::{Wanted, bring_home};
use collide::{Collided, collide};
use count::count;
use dedup_exact::{Arrival, dedup_exact};
use gathered::Gathered;
use hand_over::hand_over;
use intake::Intake;
use net::net;
use profiled::Timed;
use rows::{RowsSent, know};
use spill::Pile;
use verify::{drop_unlike, recall_wanted, take_in, verify};

/// Which part of the inputs a run reads.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// The part.
    pub extent: Extent,
    /// Lines of its first file that stand before it.
    pub lines: u64,
}

impl Part {
    /// All of the inputs.
    pub const ALL: Part = Part { extent: Extent::ALL, lines: 0 };
}

/// What to run on, and with what.
pub struct Request {
    /// The inputs, in document order; none if documents are replayed.
    pub sources: Vec<Source>,
    /// Which part of them is read.
    pub part: Part,
    /// What decides the answer.
    pub config: Config,
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Bytes the process may use; postings and sets beyond their share of it go to disk. `None`: no bound.
    pub memory: Option<u64>,
    /// Whether every accepted pair is wanted.
    pub pairs: bool,
    /// Vector instructions to use.
    pub simd: Simd,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
    /// What earlier loads left, if this is a load of a collection.
    pub stored: Option<Arc<dyn Stored>>,
    /// Stored documents to take in in place of inputs.
    pub replay: Option<Arc<dyn Replay>>,
    /// The frozen table that orders shingles; `None`: sampled from the inputs.
    pub rarity: Option<Arc<Rarity>>,
    /// The other processes of the job, if there are any: they have the same request, but for what is their machine's.
    pub peers: Option<Arc<Peers>>,
}

/// What a run leaves: the findings, and the catalogue that turns document numbers into names.
pub struct Outcome {
    /// The findings.
    pub findings: Findings,
    /// Counts of the run.
    pub tally: Tally,
    /// Refused records, in document order.
    pub refused: Vec<Refused>,
    /// What the run knows of inputs and documents.
    pub shared: Arc<Shared>,
}

/// What the dataflow of a load leaves: changes, and how the new contents relate to each other and to the stored ones.
pub struct Loaded {
    /// The change that counts of every id.
    pub changes: Vec<Change>,
    /// Records that a later one of the same id replaced.
    pub superseded: u64,
    /// Documents that are not the first of their text, or do not count.
    pub copies: Vec<Copy>,
    /// Links of new contents, with new and with stored ones, and what their sets share.
    pub links: Vec<Candidate>,
    /// Contents under one key, too many to be expanded: which of them are linked is to be found out.
    pub crowds: Vec<Vec<Doc>>,
    /// Counts of the run.
    pub tally: Tally,
    /// Refused records, in document order.
    pub refused: Vec<Refused>,
    /// What the run knows of inputs and documents.
    pub shared: Arc<Shared>,
}

impl Loaded {
    /// What is left when all that was found is settled.
    pub fn settled(self) -> Loaded {
        let (changes, copies, links, crowds) = Default::default();
        Loaded { changes, copies, links, crowds, ..self }
    }
}

/// Finds the near-duplicates of the inputs. Results depend on the inputs and the configuration only. Of several processes
/// this is for process 0; the others [`assist`].
pub fn run(request: Request, progress: Arc<Progress>) -> Result<Outcome> {
    let (shared, gathered) = gather(request, progress)?;
    let findings = settle::settle(&shared, &gathered.links, &gathered.copies, gathered.crowds)?;
    Ok(Outcome { findings, tally: gathered.tally, refused: gathered.refused, shared })
}

/// Runs the dataflow on the changes of a load of a collection. Of several processes this is for process 0; the others
/// [`assist`].
pub fn load(request: Request, progress: Arc<Progress>) -> Result<Loaded> {
    let (shared, gathered) = gather(request, progress)?;
    let Gathered { links, copies, crowds, refused, changes, superseded, tally, .. } = gathered;
    Ok(Loaded { changes, superseded: superseded as u64, copies, links, crowds, tally, refused, shared })
}

/// Takes part in what process 0 [`run`]s or [`load`]s; what comes of it is there.
pub fn assist(request: Request, progress: Arc<Progress>) -> Result<()> {
    dataflows(request, progress).map(drop)
}

/// Runs both dataflows, and takes what came of them.
fn gather(request: Request, progress: Arc<Progress>) -> Result<(Arc<Shared>, Gathered)> {
    let shared = dataflows(request, progress)?;
    assert!(shared.crew.process() == 0, "what is found is gathered in process 0");
    let gathered = shared.take_gathered();
    shared.refuse_gaps(&gathered.refused)?;
    Ok((shared, gathered))
}

/// Runs both dataflows.
fn dataflows(request: Request, progress: Arc<Progress>) -> Result<Arc<Shared>> {
    let shared = Arc::new(Shared::new(request, progress)?);
    // All processes read about as much.
    shared.enter(Stage::Read, shared.input_bytes() / shared.crew.processes() as u64);
    match shared.peers() {
        None => execute(&shared)?,
        Some((peers, run)) => peers.execute(run, &shared)?,
    }
    shared.enter(Stage::Cluster, 0);
    Ok(shared)
}

/// Runs the workers of a process that works alone.
fn execute(shared: &Arc<Shared>) -> Result<()> {
    let config = match shared.crew.workers() {
        1 => timely::Config::thread(),
        workers => timely::Config::process(workers),
    };
    let for_workers = Arc::clone(shared);
    let guards = timely::execute(config, move |worker| work(worker, &for_workers)).map_err(Error::Worker)?;
    for end in guards.join() {
        end.map_err(Error::Worker)?;
    }
    shared.verdict()
}

/// One worker's part.
fn work(worker: &mut Worker, shared: &Arc<Shared>) {
    let guard = shared.guard();
    let timed = Timed::new(worker, shared);
    let candidates = Pile::new(shared.budget.part(Share::Candidates), &shared.scratch);
    let candidates = Rc::new(RefCell::new(candidates));
    let collided = Rc::new(RefCell::new(Collided::default()));
    meet(worker, shared, &candidates, &collided);
    let mut collided = collided.take();
    if !shared.failed() {
        let crowds = std::mem::take(&mut collided.crowds);
        shared.gather_collided(&collided);
        measure(worker, shared, candidates, crowds);
    }
    if !shared.failed() && shared.crew.processes() > 1 {
        hand_over(worker, shared);
    }
    if shared.failed() {
        // Peers that are gone will never close their inputs: nothing is left to wait for.
        worker.installed_dataflows().into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
    }
    if let Some(timed) = timed {
        timed.finish(worker, shared);
    }
    drop(guard);
}

/// An input of a dataflow.
type Input<T> = InputHandle<u64, CapacityContainerBuilder<Vec<T>>>;

/// The first dataflow: reading, exact duplicates, collisions and counts. Leaves this worker's candidates.
fn meet(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    collided: &Rc<RefCell<Collided>>,
) {
    let index = worker.index();
    let mut arrivals = Input::<Arrival>::new_with_builder();
    let mut changes = Input::<Change>::new_with_builder();
    let mut postings = Input::<Posting>::new_with_builder();
    let mut rows = Input::<RowsSent>::new_with_builder();
    let probe = ProbeHandle::new();
    worker.dataflow(|scope| {
        let gather = Arc::clone(shared);
        let arrived = match shared.stored() {
            Some(_) => net(changes.to_stream(scope), Arc::clone(shared)),
            None => arrivals.to_stream(scope),
        };
        let copies = dedup_exact(arrived, Arc::clone(shared), index)
            .inspect_batch(move |_, copies| gather.gather_copies(copies));
        let known = know(rows.to_stream(scope), Arc::clone(shared), index);
        if shared.config.method == Method::Exact {
            copies.probe_with(&probe);
            known.probe_with(&probe);
            return;
        }
        let (kept, gather) = (Rc::clone(candidates), Arc::clone(shared));
        let posted = postings.to_stream(scope);
        let groups = collide(posted, copies.broadcast(), Arc::clone(shared), index, Rc::clone(collided));
        count(groups, known, Arc::clone(shared), index)
            .inspect_batch(move |_, batch| {
                kept.borrow_mut().extend(batch).unwrap_or_else(|error| gather.fail(error));
            })
            .probe_with(&probe);
    });
    let mut intake = Intake::new(shared, index);
    let send = |intake: &mut Intake| {
        shared.hand_on(intake);
        arrivals.send_batch(&mut intake.arrivals);
        changes.send_batch(&mut intake.changes);
        postings.send_batch(&mut intake.postings);
        worker.step();
        while shared.is_ahead() && !shared.failed() {
            worker.step_or_park(Some(BREATH));
        }
    };
    let read = match shared.replay() {
        Some(replay) => intake.replay(shared, replay, send),
        None => intake.run(shared, send),
    };
    if let Err(error) = read {
        shared.fail(error);
    }
    shared.gather_intake(index, intake);
    for some in shared.rows_for_others(index).take_while(|_| !shared.failed()) {
        match some {
            Ok(some) => rows.send(some),
            Err(error) => shared.fail(error),
        }
        worker.step();
    }
    arrivals.close();
    changes.close();
    postings.close();
    rows.close();
    if index == shared.crew.own().start {
        shared.enter(Stage::Collide, 0);
    }
    wait(worker, shared, &probe);
    if !shared.failed() {
        shared.finish_keeping(index).unwrap_or_else(|error| shared.fail(error));
    }
}

/// The second dataflow: sets of the documents in question, and the candidates measured on them.
fn measure(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: Rc<RefCell<Pile<Candidate>>>,
    crowds: Vec<Vec<Doc>>,
) {
    let index = worker.index();
    if index == shared.crew.own().start {
        shared.enter(Stage::Verify, 0);
    }
    let mut wanted = Input::<Wanted>::new_with_builder();
    if let Some(stored) = shared.stored().filter(|_| shared.config.method == Method::Join) {
        let alike = drop_unlike(shared, stored, &candidates.borrow());
        alike.map_or_else(|error| shared.fail(error), |alike| drop(candidates.replace(alike)));
    }
    if shared.crew.processes() > 1 && shared.measured_on_sets() {
        bring_home(worker, shared, &candidates).unwrap_or_else(|error| shared.fail(error));
    }
    let mut docs = in_question(shared, &candidates.borrow(), &crowds).unwrap_or_else(|error| {
        shared.fail(error);
        Vec::new()
    });
    shared.gather_candidates(crowds, candidates.borrow().len());
    worker.dataflow(|scope| {
        let recalled = recall_wanted(wanted.to_stream(scope), Arc::clone(shared), index);
        let ready = take_in(recalled, Arc::clone(shared), index);
        let gather = Arc::clone(shared);
        let to_settle = timely::dataflow::channels::pact::Exchange::new(|_: &Candidate| 0);
        verify(ready, candidates, Arc::clone(shared)).sink(to_settle, "Gather", move |(input, _)| {
            input.for_each_time(|_, data| data.for_each(|links| gather.gather_links(links)));
        });
    });
    wanted.send_batch(&mut docs);
    wanted.close();
    while worker.has_dataflows() && !shared.failed() {
        worker.step_or_park(Some(PATIENCE));
    }
}

/// The documents that are measured, and where: those of candidates here, those of crowds where clusters are formed.
fn in_question(shared: &Shared, candidates: &Pile<Candidate>, crowds: &[Vec<Doc>]) -> Result<Vec<Wanted>> {
    let base = shared.catalogue.base();
    let none = || vec![false; shared.catalogue.doc_limit() - base as usize];
    let (mut here, mut at_first) = (none(), none());
    // The sets of stored contents are stored.
    crowds
        .iter()
        .flatten()
        .filter(|doc| **doc >= base)
        .for_each(|doc| at_first[(doc - base) as usize] = true);
    let (mut from, mut buffer) = (0, Vec::new());
    while from < candidates.len() && shared.measured_on_sets() {
        let some = candidates.some(from, SLICE, &mut buffer)?;
        from += some.len();
        for doc in some.iter().flat_map(|candidate| <[Doc; 2]>::from(candidate.pair.docs())) {
            if let Some(row) = doc.checked_sub(base) {
                here[row as usize] = true;
            }
        }
    }
    let wanted = |asked: Vec<bool>, process: usize| {
        let asked = (base..).zip(asked).filter(|(_, asked)| *asked);
        asked.map(move |(doc, _)| (doc, process as u32))
    };
    Ok(wanted(here, shared.crew.process()).chain(wanted(at_first, 0)).collect())
}

/// Candidates looked at between two others of the run's affairs.
const SLICE: usize = 16 << 10;

/// How long a worker waits for the network before it looks again.
const BREATH: std::time::Duration = std::time::Duration::from_millis(1);

/// How long an idle worker sleeps before it looks whether another one failed.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(20);

/// Works until the dataflow of `probe` is complete, or the run has failed.
fn wait(worker: &mut Worker, shared: &Shared, probe: &ProbeHandle<u64>) {
    while !probe.done() && !shared.failed() {
        worker.step_or_park(Some(PATIENCE));
    }
}
