//! A run that several processes share: its workers over ready sockets, its failures agreed by all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, WorkerGuards};
use timely::execute::execute_from;

use super::crew::Crew;
use super::{Shared, work};
use crate::error::{Error, Result};
use crate::mesh::Mesh;

/// Topic of the word that a run has failed: the number of the run.
const FAILED: u32 = 1;
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
    /// Bytes that all have sent; in process 0, after a run.
    sent: AtomicU64,
}

impl Peers {
    /// Those who have met.
    pub fn new(mesh: Arc<Mesh>) -> Peers {
        Peers { mesh, runs: AtomicU64::new(0), sent: AtomicU64::new(0) }
    }

    /// How they meet.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
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

    /// The number of the next run: every process counts them alike.
    pub(super) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs the workers of this process among those of the others. The result is the same in all of them, but that only the
    /// process that failed knows how.
    pub(super) fn execute(&self, run: u64, shared: &Arc<Shared>) -> Result<()> {
        execute(&self.mesh, run, shared, &self.sent)
    }
}

fn execute(mesh: &Mesh, round: u64, shared: &Arc<Shared>, sent: &AtomicU64) -> Result<()> {
    let (process, workers) = (shared.crew.process(), shared.crew.workers());
    let sockets = mesh.sockets(round)?;
    let locals = ProcessBuilder::new_typed_vector(workers, Hooks::default().refill, None);
    let network = initialize_networking_from_sockets(locals, sockets, process, workers, Hooks::default());
    let (builders, threads) = network.map_err(|e| Error::Worker(format!("cannot start the network: {e}")))?;
    let over = AtomicBool::new(false);
    let own = thread::scope(|scope| {
        scope.spawn(|| watch(mesh, shared, round, &over));
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        let for_workers = Arc::clone(shared);
        let work = move |worker: &mut timely::worker::Worker| work(worker, &for_workers);
        let guards = execute_from(builders, Box::new(()), WorkerConfig::default(), work);
        let ends = guards
            .map(WorkerGuards::join)
            .and_then(|ends| ends.into_iter().collect::<std::result::Result<Vec<()>, String>>());
        if ends.is_err() {
            shared.give_way();
        }
        over.store(true, Ordering::Release);
        shared.verdict().and(ends.map(drop).map_err(Error::Worker))
    });
    let agreed = agree(mesh, process, &own, sent);
    if matches!(agreed, Ok(Verdict::Done)) {
        await_end(mesh, round, threads);
    } else {
        mesh.cut(round);
        // With their sockets they end, in panics of which everything is known already; to wait for them would be one more.
        std::mem::forget(threads);
    }
    match agreed? {
        Verdict::Done => Ok(()),
        Verdict::Limit(what) => Err(Error::Limit(what)),
        Verdict::Interrupted => Err(Error::Interrupted),
        Verdict::Failed(failed) if failed == process => own,
        Verdict::Failed(failed) => mesh.receive(failed, NOTHING).and(Err(Error::Interrupted)),
    }
}

/// Waits for the threads of a run that is done. A process that is lost just now was done with it, too.
fn await_end(mesh: &Mesh, round: u64, threads: CommsGuard) {
    mesh.end(round);
    thread::scope(|scope| {
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
            for peer in shared.crew.others() {
                // Who is not there any more need not be told.
                let _ = mesh.send(peer, FAILED, round.to_le_bytes().to_vec());
            }
        }
        if last {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// What became of a run, given how it went here: the first failure, in the order of processes, counts. Beside it process 0
/// learns how many bytes all have `sent`.
fn agree(mesh: &Mesh, process: usize, own: &Result<()>, sent: &AtomicU64) -> Result<Verdict> {
    let own = match own {
        Ok(()) => Verdict::Done,
        Err(Error::Limit(what)) => Verdict::Limit(what.clone()),
        Err(Error::Interrupted) => Verdict::Interrupted,
        Err(_) => Verdict::Failed(process),
    };
    let traffic = mesh.traffic();
    let all = mesh.gather(encode(&(own, traffic.data_sent + traffic.control_sent)))?;
    let all = all.iter().map(|bytes| decode(bytes)).collect::<Result<Vec<(Verdict, u64)>>>()?;
    sent.store(all.iter().map(|(_, sent)| sent).sum(), Ordering::Relaxed);
    let first = all.into_iter().map(|(verdict, _)| verdict).find(|verdict| *verdict != Verdict::Done);
    decode(&mesh.broadcast(encode(&first.unwrap_or(Verdict::Done)))?)
}

fn encode(said: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(said).expect("a verdict is JSON")
}

fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|e| Error::Worker(format!("a process says what is no verdict: {e}")))
}
