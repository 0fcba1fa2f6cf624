//! A run that several processes share: its workers over ready sockets, its failures agreed by all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::execute::execute_from;
use timely::worker::Worker;

use super::Shared;
use super::crew::Crew;
use super::work::work;
use crate::error::{Error, Result};
use crate::mesh::Mesh;

/// Topic of the word that a run has failed: the number of the run.
const FAILED: u32 = 1;
/// Counters of lists of jobs begin here; below are those of runs.
const LISTS: u64 = 1 << 32;
/// How often somebody looks for that word.
const LOOK: Duration = Duration::from_millis(10);

/// How often somebody looks whether the threads of a run have ended.
const END: Duration = Duration::from_millis(1);

/// How a run went in one process, or in all of them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Verdict {
    /// It is done.
    Done,
    /// Something did not fit: the run can be tried again with less of it.
    Limit(String),
    /// A user asked to stop.
    Interrupted,
    /// It failed in this process, which will say why and give up.
    Failed(usize),
}

/// The processes of a job, this one among them, that share one run of the dataflow after the other.
pub struct Peers {
    mesh: Arc<Mesh>,
    runs: AtomicU64,
    lists: AtomicU64,
    /// Bytes that all have sent; in process 0, after a run.
    sent: AtomicU64,
}

impl Peers {
    /// Those who have met.
    pub fn new(mesh: Arc<Mesh>) -> Peers {
        Peers { mesh, runs: AtomicU64::new(0), lists: AtomicU64::new(0), sent: AtomicU64::new(0) }
    }

    /// How they meet.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The same, for threads of its own.
    pub fn share(&self) -> Arc<Mesh> {
        Arc::clone(&self.mesh)
    }

    /// Says something to all others, in process 0, where they [`Peers::hear`].
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn say(&self, what: &impl Serialize) -> Result<()> {
        self.mesh.broadcast(to_bytes(what)?).map(drop)
    }

    /// What process 0 says.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn hear<T: DeserializeOwned>(&self) -> Result<T> {
        of_bytes(&self.mesh.broadcast(Vec::new())?)
    }

    /// What all processes have, in their order, in process 0; elsewhere nothing.
    ///
    /// # Errors
    /// [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
    pub fn collect<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Vec<T>> {
        self.mesh.gather(to_bytes(own)?)?.iter().map(|bytes| of_bytes(bytes)).collect()
    }

    /// All of their workers, so many of each.
    pub fn crew(&self, workers: usize) -> Crew {
        Crew::new(self.mesh.process(), self.mesh.processes(), workers)
    }

    /// Bytes that the processes have sent each other from their meeting to the end of their last run, whatever came of it.
    /// Process 0 knows it; elsewhere it is 0.
    pub fn wire_bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The number of the counter of the next list of jobs that is shared out: every process counts them alike.
    pub fn next_list(&self) -> u64 {
        LISTS + self.lists.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next run: every process counts them alike.
    pub(super) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    /// Connects the workers of this process with those of the others.
    fn connect(&self, round: u64, workers: usize) -> Result<(Builders, CommsGuard)> {
        let sockets = self.mesh.sockets(round)?;
        let (own, process) = (ProcessBuilder::new_typed_vector, self.mesh.process());
        let own = own(workers, Hooks::default().refill, None);
        let network = initialize_networking_from_sockets(own, sockets, process, workers, Hooks::default());
        let (builders, threads) =
            network.map_err(|e| Error::Worker(format!("cannot start the network: {e}")))?;
        Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), threads))
    }

    /// Runs something on the workers of this process among those of the others, which run the same; what each here has
    /// given. Where it fails in one process, that one must give up, and so do the others.
    pub(super) fn on_all<T: Send + 'static>(
        &self,
        workers: usize,
        work: impl Fn(&mut Worker) -> Result<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let round = self.next_run();
        let (builders, threads) = self.connect(round, workers)?;
        let ends = on_workers(builders, move |worker| {
            work(worker).inspect_err(|_| {
                // What others will not finish is not waited for.
                worker.installed_dataflows().into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
            })
        });
        let done = ends.and_then(|ends| ends.into_iter().collect());
        close(&self.mesh, round, threads, done.is_ok());
        done
    }

    /// Runs the workers of this process among those of the others. The result is the same in all of them, but that only the
    /// process that failed knows how.
    pub(super) fn execute(&self, run: u64, shared: &Arc<Shared>) -> Result<()> {
        execute(self, run, shared)
    }
}

fn execute(peers: &Peers, round: u64, shared: &Arc<Shared>) -> Result<()> {
    let (mesh, process) = (peers.mesh(), shared.crew.process());
    let over = AtomicBool::new(false);
    let (builders, threads) = peers.connect(round, shared.crew.workers())?;
    let own = thread::scope(|scope| {
        scope.spawn(|| watch(mesh, shared, round, &over));
        let for_workers = Arc::clone(shared);
        let ends = on_workers(builders, move |worker| work(worker, &for_workers));
        if ends.is_err() {
            shared.give_way();
        }
        over.store(true, Ordering::Release);
        shared.verdict().and(ends.map(drop))
    });
    if own.is_err() {
        // It may have failed where nobody looks.
        tell_failed(mesh, shared, round);
    }
    let agreed = agree(peers, process, &own);
    close(mesh, round, threads, matches!(agreed, Ok(Verdict::Done)));
    match agreed? {
        Verdict::Done => Ok(()),
        Verdict::Limit(what) => Err(Error::Limit(what)),
        Verdict::Interrupted => Err(Error::Interrupted),
        Verdict::Failed(failed) if failed == process => own,
        Verdict::Failed(failed) => mesh.receive(failed, NOTHING).and(Err(Error::Interrupted)),
    }
}

/// What workers are built from.
type Builders = Vec<AllocatorBuilder>;

/// Runs something on the workers of this process; what each has given, in their order.
fn on_workers<T: Send + 'static>(
    builders: Builders,
    work: impl Fn(&mut Worker) -> T + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let guards = execute_from(builders, Box::new(()), WorkerConfig::default(), work);
    guards.map_err(Error::Worker)?.join().into_iter().map(|end| end.map_err(Error::Worker)).collect()
}

/// Ends the threads of a run's connections: those of a run that is done when all has been sent and received.
fn close(mesh: &Mesh, round: u64, threads: CommsGuard, done: bool) {
    if !done {
        mesh.cut(round);
        // With their sockets they end, in panics of which everything is known already; to wait for them would be one more.
        return std::mem::forget(threads);
    }
    mesh.end(round);
    thread::scope(|scope| {
        // A process that is lost just now was done with this run.
        let ending = scope.spawn(|| catch_unwind(AssertUnwindSafe(|| drop(threads))));
        while !ending.is_finished() {
            if mesh.check().is_err() {
                mesh.cut(round);
            }
            thread::sleep(END);
        }
    });
}

/// Topic of what is never sent: who waits for it waits for the other's end.
const NOTHING: u32 = 0;

/// Ends the run where another process has failed, and tells the others where this one has.
fn watch(mesh: &Mesh, shared: &Shared, round: u64, over: &AtomicBool) {
    let mut told = false;
    loop {
        // A worker that fails may be gone before it is seen: the last look comes after the end.
        let last = over.load(Ordering::Acquire);
        if let Err(error) = mesh.check() {
            return shared.fail(error);
        }
        for peer in shared.crew.others() {
            while let Ok(Some(word)) = mesh.try_receive(peer, FAILED) {
                if word == round.to_le_bytes() {
                    shared.give_way();
                }
            }
        }
        if shared.failed() && !told {
            told = true;
            tell_failed(mesh, shared, round);
        }
        if last {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// Tells the others that a run has failed here.
fn tell_failed(mesh: &Mesh, shared: &Shared, round: u64) {
    for peer in shared.crew.others() {
        // Who is not there any more need not be told.
        let _ = mesh.send(peer, FAILED, round.to_le_bytes().to_vec());
    }
}

/// What became of a run, given how it went here: the first failure, in the order of processes, counts. Beside it process 0
/// learns how many bytes all have sent.
fn agree(peers: &Peers, process: usize, own: &Result<()>) -> Result<Verdict> {
    let own = match own {
        Ok(()) => Verdict::Done,
        Err(Error::Limit(what)) => Verdict::Limit(what.clone()),
        Err(Error::Interrupted) => Verdict::Interrupted,
        Err(_) => Verdict::Failed(process),
    };
    let traffic = peers.mesh.traffic();
    let all = peers.collect(&(own, traffic.data_sent + traffic.control_sent))?;
    peers.sent.store(all.iter().map(|(_, sent)| sent).sum(), Ordering::Relaxed);
    let mut verdicts = all.into_iter().map(|(verdict, _)| verdict);
    let first = verdicts.find(|verdict| *verdict != Verdict::Done).unwrap_or(Verdict::Done);
    match process {
        0 => peers.say(&first).map(|()| first),
        _ => peers.hear(),
    }
}

fn to_bytes(what: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(what)
        .map_err(|e| Error::Worker(format!("what cannot be told to another process: {e}")))
}

fn of_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let read = serde_json::from_slice(bytes);
    read.map_err(|e| Error::Worker(format!("what another process says makes no sense: {e}")))
}
