//! Running something on the workers of a process, alone or among those of other processes, whose failures all agree on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::{
    CommsGuard, initialize_networking_from_sockets,
};
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::execute::execute_from;
use timely::worker::Worker;

use crate::error::{Error, Result};
use crate::flow::status::RunStatus;
use crate::mesh::Mesh;
use crate::peers::Peers;

/// Topic of the word that a run has failed: the number of the run.
const FAILED: u32 = 1;
/// How often somebody looks for that word.
const LOOK: Duration = Duration::from_millis(10);

/// How often somebody looks whether the threads of a run have ended.
const END: Duration = Duration::from_millis(1);

/// How a run went in one process, or in all of them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum RunVerdict {
    /// It is done.
    Done,
    /// Something did not fit: the run can be tried again with less of it.
    Limit(String),
    /// A user asked to stop.
    Interrupted,
    /// It failed in this process, which will say why and give up.
    Failed(usize),
}

/// Runs something on so many workers of a process that works alone.
///
/// # Errors
/// That which the run failed with.
pub fn run_alone(
    workers: usize,
    status: &RunStatus,
    work: impl Fn(&mut Worker) + Send + Sync + 'static,
) -> Result<()> {
    let config = match workers {
        1 => timely::Config::thread(),
        workers => timely::Config::process(workers),
    };
    let guards = timely::execute(config, work).map_err(Error::Worker)?;
    for end in guards.join() {
        end.map_err(Error::Worker)?;
    }
    status.verdict()
}

/// Runs something on the workers of this process among those of the others, as run number `round`. The result is the same
/// in all of them, but that only the process that failed knows how.
///
/// # Errors
/// That which the run failed with, or [`Error::Interrupted`] where it failed in another process.
pub fn run_together(
    peers: &Peers,
    round: u64,
    workers: usize,
    status: &RunStatus,
    work: impl Fn(&mut Worker) + Send + Sync + 'static,
) -> Result<()> {
    let (mesh, process) = (peers.mesh(), peers.mesh().process());
    let over = AtomicBool::new(false);
    let (builders, threads) = connect(mesh, round, workers)?;
    let own = thread::scope(|scope| {
        scope.spawn(|| watch(mesh, status, round, &over));
        let ends = on_workers(builders, work);
        if ends.is_err() {
            status.give_way();
        }
        over.store(true, Ordering::Release);
        status.verdict().and(ends.map(drop))
    });
    if own.is_err() {
        // It may have failed where nobody looks.
        tell_failed(mesh, round);
    }
    let agreed = agree(peers, process, &own);
    close(mesh, round, threads, matches!(agreed, Ok(RunVerdict::Done)));
    match agreed? {
        RunVerdict::Done => Ok(()),
        RunVerdict::Limit(what) => Err(Error::Limit(what)),
        RunVerdict::Interrupted => Err(Error::Interrupted),
        RunVerdict::Failed(failed) if failed == process => own,
        RunVerdict::Failed(failed) => mesh.receive(failed, NOTHING).and(Err(Error::Interrupted)),
    }
}

/// Runs something on the workers of this process among those of the others, which run the same; what each here has
/// given. Where it fails in one process, that one must give up, and so do the others.
///
/// # Errors
/// Those of `work`; [`Error::Worker`]; [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
pub fn on_all<T: Send + 'static>(
    peers: &Peers,
    workers: usize,
    work: impl Fn(&mut Worker) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let round = peers.next_run();
    let (builders, threads) = connect(peers.mesh(), round, workers)?;
    let ends = on_workers(builders, move |worker| {
        work(worker).inspect_err(|_| {
            // What others will not finish is not waited for.
            worker.installed_dataflows().into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
        })
    });
    let done = ends.and_then(|ends| ends.into_iter().collect());
    close(peers.mesh(), round, threads, done.is_ok());
    done
}

/// Connects the workers of this process with those of the others.
fn connect(mesh: &Mesh, round: u64, workers: usize) -> Result<(Builders, CommsGuard)> {
    let sockets = mesh.sockets(round)?;
    let (own, process) = (ProcessBuilder::new_typed_vector, mesh.process());
    let own = own(workers, Hooks::default().refill, None);
    let network = initialize_networking_from_sockets(own, sockets, process, workers, Hooks::default());
    // Memory would not help, and smaller parts of the input would not either.
    let failed = |e| {
        Error::Config(format!(
            "the system has no more threads or files for this process ({e}), and of {} processes each needs two of both for each \
             other one: start fewer processes with more workers (-w), or allow more",
            mesh.processes()
        ))
    };
    let (builders, threads) = network.map_err(failed)?;
    Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), threads))
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
fn watch(mesh: &Mesh, status: &RunStatus, round: u64, over: &AtomicBool) {
    let mut told = false;
    loop {
        // A worker that fails may be gone before it is seen: the last look comes after the end.
        let last = over.load(Ordering::Acquire);
        if let Err(error) = mesh.check() {
            return status.fail(error);
        }
        for peer in others(mesh) {
            while let Ok(Some(word)) = mesh.try_receive(peer, FAILED) {
                if word == round.to_le_bytes() {
                    status.give_way();
                }
            }
        }
        if status.failed() && !told {
            told = true;
            tell_failed(mesh, round);
        }
        if last {
            return;
        }
        thread::sleep(LOOK);
    }
}

/// The processes that are not this one.
fn others(mesh: &Mesh) -> impl Iterator<Item = usize> {
    (0..mesh.processes()).filter(|process| *process != mesh.process())
}

/// Tells the others that a run has failed here.
fn tell_failed(mesh: &Mesh, round: u64) {
    for peer in others(mesh) {
        // Who is not there any more need not be told.
        let _ = mesh.send(peer, FAILED, round.to_le_bytes().to_vec());
    }
}

/// What became of a run, given how it went here: the first failure, in the order of processes, counts. Beside it process 0
/// learns how many bytes all have sent.
fn agree(peers: &Peers, process: usize, own: &Result<()>) -> Result<RunVerdict> {
    let own = match own {
        Ok(()) => RunVerdict::Done,
        Err(Error::Limit(what)) => RunVerdict::Limit(what.clone()),
        Err(Error::Interrupted) => RunVerdict::Interrupted,
        Err(_) => RunVerdict::Failed(process),
    };
    let traffic = peers.mesh().traffic();
    let all = peers.gather(&(own, traffic.data_sent + traffic.control_sent))?;
    peers.note_sent(all.iter().map(|(_, sent)| sent).sum());
    let mut verdicts = all.into_iter().map(|(verdict, _)| verdict);
    let first = verdicts.find(|verdict| *verdict != RunVerdict::Done).unwrap_or(RunVerdict::Done);
    match process {
        0 => peers.broadcast(&first).map(|()| first),
        _ => peers.receive(),
    }
}
