//! Processes that meet on this machine: addresses, members, and threads in place of machines.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::Result;
use alike::mesh::{Membership, Mesh, Secret};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::dataflow::operators::vec::ToStream;
use timely::dataflow::operators::{Exchange, Inspect};

/// Lines that a process said.
pub(crate) type Lines = Arc<Mutex<Vec<String>>>;

/// Addresses that nobody listens on now, and that no other test was given.
pub(crate) fn free(count: usize) -> Vec<String> {
    static GIVEN: Mutex<BTreeSet<SocketAddr>> = Mutex::new(BTreeSet::new());
    // Held until all are found: the system gives nobody else one of them meanwhile.
    let held = std::iter::repeat_with(|| TcpListener::bind("127.0.0.1:0").unwrap());
    let held = held.map(|listener| (listener.local_addr().unwrap(), listener));
    let new = held.filter(|(address, _)| GIVEN.lock().unwrap().insert(*address));
    let held: Vec<_> = new.take(count).collect();
    held.into_iter().map(|(address, _)| address.to_string()).collect()
}

pub(crate) fn member(hosts: &[String], process: usize) -> Membership {
    Membership {
        hosts: hosts.to_vec(),
        process,
        listen: None,
        workers: 2,
        secret: Some(Secret::new(b"a secret of some length").unwrap()),
        encrypted: true,
        job: 7,
        join_timeout: Duration::from_secs(20),
        peer_timeout: Duration::from_secs(5),
    }
}

/// Joins, and keeps what is said.
pub(crate) fn join(membership: Membership) -> (Result<Arc<Mesh>>, Lines) {
    let lines = Lines::default();
    let kept = Arc::clone(&lines);
    let mesh = Mesh::join(membership, Box::new(move |line| kept.lock().unwrap().push(line.to_string())));
    (mesh, lines)
}

/// What `work` makes of each of `count` processes that have met.
pub(crate) fn together<T: Send>(count: usize, work: impl Fn(Arc<Mesh>) -> T + Sync) -> Vec<T> {
    let hosts = free(count);
    thread::scope(|scope| {
        let start = |process| {
            let (member, work) = (member(&hosts, process), &work);
            scope.spawn(move || work(join(member).0.unwrap()))
        };
        let threads: Vec<_> = (0..count).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Waits until all have come here.
pub(crate) fn level(mesh: &Mesh) {
    mesh.gather(vec![]).unwrap();
    mesh.broadcast(vec![]).unwrap();
    // The last ones get the last word a little later.
    thread::sleep(Duration::from_millis(200));
}

/// Sends `0..count` from each worker of all processes to where each belongs, and returns what came to this one's.
pub(crate) fn exchange(mesh: &Mesh, round: u64, count: u64) -> Vec<u64> {
    let sockets = mesh.sockets(round).unwrap();
    let workers = mesh.workers();
    let hooks = timely::communication::Hooks::default();
    let process = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), hooks.spill.clone());
    let (builders, guard) =
        initialize_networking_from_sockets(process, sockets, mesh.process(), workers, hooks).unwrap();
    let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
    let got = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&got);
    let guards =
        timely::execute::execute_from(builders, Box::new(guard), WorkerConfig::default(), move |worker| {
            let (into, index, peers) = (Arc::clone(&into), worker.index() as u64, worker.peers() as u64);
            worker.dataflow::<u64, _, _>(|scope| {
                (0..count).to_stream(scope).exchange(|&number| number).inspect(move |&number| {
                    assert_eq!(number % peers, index);
                    into.lock().unwrap().push(number);
                });
            });
        });
    for result in guards.unwrap().join() {
        result.unwrap();
    }
    let mut got = std::mem::take(&mut *got.lock().unwrap());
    got.sort_unstable();
    got
}

/// Starts processes in the order of `starts`: number, seconds after the start, and what it joins with.
pub(crate) fn started<T: Send>(
    starts: Vec<(f64, Membership)>,
    work: impl Fn(Result<Arc<Mesh>>, Vec<String>) -> T + Sync,
) -> Vec<T> {
    thread::scope(|scope| {
        let start = |(after, member): (f64, Membership)| {
            let work = &work;
            scope.spawn(move || {
                thread::sleep(Duration::from_secs_f64(after));
                let (mesh, lines) = join(member);
                let lines = lines.lock().unwrap().clone();
                work(mesh, lines)
            })
        };
        let threads: Vec<_> = starts.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Shows a figure, with `--nocapture`.
#[expect(clippy::print_stdout, reason = "whoever wants to know the figure asks for it")]
pub(crate) fn show(figure: &str) {
    println!("{figure}");
}

/// How long it takes until `find` is done, and what it finds.
pub(crate) fn timed<T>(find: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let found = find();
    (begun.elapsed().as_secs_f64(), found)
}

/// The arguments of another process of the tests: its number, the addresses, and to leave or which loss to wait for.
pub(crate) const ORDERS: &str = "ALIKE_MESH_CHILD";

/// Another process of the tests, which ends with this value.
pub(crate) struct Other(pub(crate) Child);

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Another process of the tests as a process of a job.
pub(crate) fn child(hosts: &[String], process: usize, work: &str) -> Other {
    let orders = format!("{process}|{}|{work}", hosts.join(","));
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "mesh::mesh_child", "--nocapture", "--test-threads=1"])
        .env(ORDERS, orders)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    Other(child)
}
