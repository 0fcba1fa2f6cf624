//! Processes that meet, talk, and notice losses: here each is a mesh on a thread of its own, on ports of 127.0.0.1.

use std::collections::{BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::{Error, Result};
use alike::mesh::{Membership, Mesh, Secret};
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::dataflow::operators::vec::ToStream;
use timely::dataflow::operators::{Exchange, Inspect};

/// Lines that a process said.
type Lines = Arc<Mutex<Vec<String>>>;

/// Addresses that nobody listens on now.
fn free(count: usize) -> Vec<String> {
    let held: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    held.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect()
}

fn member(hosts: &[String], process: usize) -> Membership {
    Membership {
        hosts: hosts.to_vec(),
        process,
        workers: 2,
        secret: Some(Secret::new(b"a secret of some length").unwrap()),
        job: 7,
        join_timeout: Duration::from_secs(20),
        peer_timeout: Duration::from_secs(5),
    }
}

/// Joins, and keeps what is said.
fn join(membership: Membership) -> (Result<Arc<Mesh>>, Lines) {
    let lines = Lines::default();
    let kept = Arc::clone(&lines);
    let mesh = Mesh::join(membership, Box::new(move |line| kept.lock().unwrap().push(line.to_string())));
    (mesh, lines)
}

/// What `work` makes of each of `count` processes that have met.
fn together<T: Send>(count: usize, work: impl Fn(Arc<Mesh>) -> T + Sync) -> Vec<T> {
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
fn level(mesh: &Mesh) {
    mesh.gather(vec![]).unwrap();
    mesh.broadcast(vec![]).unwrap();
    // The last ones get the last word a little later.
    thread::sleep(Duration::from_millis(200));
}

#[test]
fn mesh_processes_meet_and_take_each_number_once() {
    let taken = together(4, |mesh| {
        let numbers = thread::scope(|scope| {
            let take = || (0..50).map(|_| mesh.take(9).unwrap()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        mesh.leave().unwrap();
        numbers
    });
    let all: Vec<u64> = taken.into_iter().flatten().collect();
    let distinct: BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!((all.len(), distinct.len(), distinct.last()), (800, 800, Some(&799)));
}

#[test]
fn mesh_gathers_broadcasts_and_sends_in_order() {
    let heard = together(3, |mesh| {
        let own = mesh.process();
        let gathered = mesh.gather(vec![own as u8; own]).unwrap();
        let told = mesh.broadcast(vec![10 + own as u8]).unwrap();
        let next = (own + 1) % 3;
        for number in 0..100_u8 {
            mesh.send(next, u32::from(number % 2), vec![number]).unwrap();
        }
        let before = (own + 2) % 3;
        let received =
            [1, 0].map(|topic| (0..50).map(|_| mesh.receive(before, topic).unwrap()[0]).collect::<Vec<_>>());
        assert_eq!(mesh.try_receive(before, 0).unwrap(), None);
        mesh.leave().unwrap();
        (gathered, told, received)
    });
    for (process, (gathered, told, received)) in heard.into_iter().enumerate() {
        let all = vec![vec![], vec![1], vec![2, 2]];
        assert_eq!(gathered, if process == 0 { all } else { vec![] });
        assert_eq!(told, [10]);
        let halves = [1, 0].map(|first| (first..100).step_by(2).collect::<Vec<u8>>());
        assert_eq!(received, halves);
    }
}

#[test]
fn mesh_one_process_alone_can_do_everything() {
    let (mesh, lines) = join(member(&["nowhere.invalid:1".to_string()], 0));
    let mesh = mesh.unwrap();
    assert_eq!((mesh.take(1).unwrap(), mesh.take(1).unwrap(), mesh.take(2).unwrap()), (0, 1, 0));
    assert_eq!(mesh.gather(vec![1]).unwrap(), [[1]]);
    assert_eq!(mesh.broadcast(vec![1]).unwrap(), [1]);
    mesh.send(0, 3, vec![4]).unwrap();
    assert_eq!(mesh.receive(0, 3).unwrap(), [4]);
    assert!(mesh.sockets(0).unwrap()[0].is_none());
    mesh.leave().unwrap();
    assert!(lines.lock().unwrap().is_empty());
}

/// Sends `0..count` from each worker of all processes to where each belongs, and returns what came to this one's.
fn exchange(mesh: &Mesh, round: u64, count: u64) -> Vec<u64> {
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

#[test]
fn mesh_sockets_carry_runs_of_the_dataflow() {
    let rounds = together(3, |mesh| {
        let rounds: Vec<_> = (0..4).map(|round| exchange(&mesh, round, 1000 * (round + 1))).collect();
        let traffic = mesh.traffic();
        assert!(traffic.data_sent > 0 && traffic.data_received > 0 && traffic.control_sent > 0);
        mesh.cut(3);
        mesh.leave().unwrap();
        (rounds, traffic)
    });
    let sent: u64 = rounds.iter().map(|(_, traffic)| traffic.data_sent).sum();
    let received: u64 = rounds.iter().map(|(_, traffic)| traffic.data_received).sum();
    assert_eq!(sent, received);
    for round in 0..4 {
        let mut all: Vec<u64> = rounds.iter().flat_map(|(rounds, _)| rounds[round].clone()).collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..1000 * (round as u64 + 1)).flat_map(|number| [number; 6]).collect();
        assert_eq!(all, expected);
    }
}

#[test]
fn mesh_wrong_shape_is_refused_on_both_sides() {
    let hosts = free(2);
    thread::scope(|scope| {
        let first = Membership { join_timeout: Duration::from_secs(2), ..member(&hosts, 0) };
        let first = scope.spawn(move || join(first));
        let wrong = Membership { workers: 3, ..member(&hosts, 1) };
        let (refused, _) = join(wrong);
        let Err(Error::Join { refused: true, what }) = refused else { panic!("it was let in") };
        let expected = format!(
            "process 0 ({}) refuses this process: it runs as 2 processes x 2 workers, this one as 2 x 3",
            hosts[0]
        );
        assert_eq!(what, expected);
        let (alone, lines) = first.join().unwrap();
        let Err(Error::Join { refused: false, what }) = alone else { panic!("nobody came") };
        let line =
            "a process 1 at 127.0.0.1 was refused: it runs as 2 processes x 3 workers, this one as 2 x 2";
        assert!(what.contains(line), "{what}");
        assert!(lines.lock().unwrap().iter().any(|said| said == line));
    });
}

/// Starts processes in the order of `starts`: number, seconds after the start, and what it joins with.
fn started<T: Send>(
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

#[test]
fn mesh_processes_meet_in_any_order() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
        let hosts = free(3);
        let starts = (0..3).map(|at| (at as f64 * 0.15, member(&hosts, order[at]))).collect();
        let said = started(starts, |mesh, lines| {
            mesh.unwrap().leave().unwrap();
            lines
        });
        assert_eq!(said.concat(), Vec::<String>::new(), "nobody waited long");
    }
}

#[test]
fn mesh_a_late_process_is_awaited_and_named() {
    let hosts = free(3);
    let starts = [0.0, 2.6, 0.0].into_iter().enumerate().map(|(p, at)| (at, member(&hosts, p))).collect();
    let said = started(starts, |mesh, lines| {
        mesh.unwrap().leave().unwrap();
        lines
    });
    let late = format!("process 1 ({})", hosts[1]);
    assert_eq!(said[0], [format!("waiting for {late}")]);
    assert!(said[2].len() == 1 && said[2][0].starts_with(&format!("waiting for {late}: ")), "{:?}", said[2]);
}

#[test]
fn mesh_says_who_did_not_come() {
    let hosts = free(4);
    let short = |process| Membership { join_timeout: Duration::from_secs(1), ..member(&hosts, process) };
    let begun = Instant::now();
    let ended = started(vec![(0.0, short(0)), (0.0, short(2))], |mesh, _| mesh.err().unwrap());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    for error in ended {
        let Error::Join { refused: false, what } = error else { panic!("{error}") };
        for missing in [1, 3] {
            assert!(what.contains(&format!("process {missing} ({})", hosts[missing])), "{what}");
        }
    }
}

#[test]
fn mesh_a_process_may_start_again_while_others_are_awaited() {
    let hosts = free(3);
    let first = Membership { join_timeout: Duration::from_millis(600), ..member(&hosts, 1) };
    let starts =
        vec![(0.0, member(&hosts, 0)), (0.0, first), (1.0, member(&hosts, 1)), (1.5, member(&hosts, 2))];
    let met = started(starts, |mesh, _| mesh.map(|mesh| mesh.leave().unwrap()).is_ok());
    assert_eq!(met, [true, false, true, true]);
}

#[test]
fn mesh_a_taken_address_is_an_error_of_this_process() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = vec![held.local_addr().unwrap().to_string(), free(1).remove(0)];
    let short = Membership { join_timeout: Duration::from_millis(300), ..member(&hosts, 0) };
    let Err(Error::Join { refused: true, what }) = join(short).0 else { panic!("it listens") };
    assert!(what.starts_with(&format!("cannot listen on {}: ", hosts[0])), "{what}");
}

/// How long it takes until `find` is done, and what it finds.
fn timed<T>(find: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let found = find();
    (begun.elapsed().as_secs_f64(), found)
}

#[test]
fn mesh_one_that_vanishes_is_lost_to_all() {
    let lost = together(4, |mesh| {
        if mesh.process() == 1 {
            thread::sleep(Duration::from_millis(300));
            return None;
        }
        let (told, heard) = mpsc::channel();
        let second = told.clone();
        mesh.on_loss(Box::new(move |lost| told.send(lost.clone()).unwrap()));
        // Whatever waits fails, each in its way.
        let error = match mesh.process() {
            0 => mesh.receive(3, 5).map(drop),
            2 => mesh.sockets(0).map(drop),
            _ => mesh.receive(1, 5).map(drop),
        };
        assert!(matches!(error, Err(Error::Lost { process: 1, .. })), "{error:?}");
        for outcome in [mesh.check(), mesh.send(0, 1, vec![]), mesh.take(1).map(drop), mesh.leave()] {
            assert!(matches!(outcome, Err(Error::Lost { process: 1, .. })), "{outcome:?}");
        }
        mesh.on_loss(Box::new(move |lost| second.send(lost.clone()).unwrap()));
        let both = [(); 2].map(|()| heard.recv_timeout(Duration::from_secs(5)).unwrap());
        assert_eq!(both[0], both[1]);
        assert!(heard.recv_timeout(Duration::from_millis(100)).is_err(), "told once");
        Some((both[0].process, both[0].code))
    });
    assert_eq!(lost, [Some((1, None)), None, Some((1, None)), Some((1, None))]);
}

#[test]
fn mesh_one_that_gives_up_says_why() {
    let (seconds, errors) = timed(|| {
        together(3, |mesh| {
            level(&mesh);
            if mesh.process() == 2 {
                mesh.give_up(3, "a.jsonl: no such\nfile");
                return mesh.check().unwrap_err();
            }
            mesh.receive(0, 1).unwrap_err()
        })
    });
    assert!(seconds < 3.0, "{seconds}");
    for error in errors {
        let Error::GaveUp { process: 2, code: 3, why, .. } = &error else { panic!("{error}") };
        assert!(why.starts_with("a.jsonl: no such"), "{why}");
    }
}

#[test]
fn mesh_leaving_waits_for_all_and_not_for_ever() {
    let left = together(2, |mesh| {
        if mesh.process() == 0 {
            // Its messages come before its goodbye.
            mesh.send(1, 1, vec![1; 3 << 20]).unwrap();
        } else {
            thread::sleep(Duration::from_millis(700));
            assert_eq!(mesh.receive(0, 1).unwrap().len(), 3 << 20);
            // Nothing more comes from one that is done.
            assert!(matches!(mesh.receive(0, 1), Err(Error::Lost { process: 0, .. })));
        }
        timed(|| mesh.leave().unwrap()).0
    });
    assert!(left[0] > 0.3, "{left:?}");
    let hosts = free(2);
    let short =
        |process| (0.0, Membership { peer_timeout: Duration::from_millis(500), ..member(&hosts, process) });
    let ended = started(vec![short(0), short(1)], |mesh, _| {
        let mesh = mesh.unwrap();
        if mesh.process() == 0 {
            let (seconds, error) = timed(|| mesh.leave().unwrap_err());
            assert!((0.4..2.0).contains(&seconds), "{seconds}");
            return error.to_string();
        }
        thread::sleep(Duration::from_millis(1500));
        String::new()
    });
    assert!(ended[0].contains("is still at work") || ended[0].contains("still at work"), "{}", ended[0]);
}

#[test]
fn mesh_long_messages_cross_while_others_are_counted() {
    const LENGTH: usize = 50 << 20;
    let hosts = free(2);
    let short =
        |process| (0.0, Membership { peer_timeout: Duration::from_secs(2), ..member(&hosts, process) });
    let ended = started(vec![short(0), short(1)], |mesh, _| {
        let mesh = mesh.unwrap();
        let (own, other) = (mesh.process(), 1 - mesh.process());
        let bytes = |seed: usize| (0..LENGTH).map(|at| (at / 7 + seed) as u8).collect::<Vec<_>>();
        for round in 0..3 {
            mesh.send(other, 1, bytes(own + round)).unwrap();
            mesh.send(other, 2, vec![round as u8]).unwrap();
        }
        // Urgent words pass between the pieces.
        let (seconds, _) = timed(|| mesh.take(1).unwrap());
        for round in 0..3 {
            assert!(mesh.receive(other, 1).unwrap() == bytes(other + round));
            assert_eq!(mesh.receive(other, 2).unwrap(), [round as u8]);
        }
        mesh.leave().unwrap();
        assert!(mesh.traffic().control_sent > 3 * LENGTH as u64);
        seconds
    });
    println!("a number beside 150 MB: {ended:?} s");
    assert!(ended[1] < 2.0, "{ended:?}");
}

/// Stands between one process and another, and stops what crosses when it is told to.
struct Between {
    host: String,
    /// Whether what the connector sends is stopped, and what it is sent.
    stopped: [AtomicBool; 2],
}

impl Between {
    fn start(target: String) -> Arc<Between> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let between = Arc::new(Between { host, stopped: [AtomicBool::new(false), AtomicBool::new(false)] });
        let shared = Arc::clone(&between);
        // Both threads end with the process of the tests, or when there is nobody on the other side.
        thread::spawn(move || {
            for near in listener.incoming().map_while(|near| near.ok()) {
                let Ok(far) = TcpStream::connect(&target) else { continue };
                for (way, (from, to)) in [(&near, &far), (&far, &near)].into_iter().enumerate() {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || shared.carry(way, from, to));
                }
            }
        });
        between
    }

    fn carry(&self, way: usize, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 1 << 16];
        loop {
            let count = from.read(&mut bytes).unwrap_or(0);
            while self.stopped[way].load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            if count == 0 || to.write_all(&bytes[..count]).is_err() {
                let _ = to.shutdown(std::net::Shutdown::Both);
                return;
            }
        }
    }
}

#[test]
fn mesh_silence_is_a_loss_and_holds_nobody_up() {
    const TIMEOUT: f64 = 1.0;
    // Both ways, and each alone.
    for ways in [[true, true], [true, false], [false, true]] {
        let hosts = free(3);
        let between = Between::start(hosts[0].clone());
        let starts = (0..3).map(|process| {
            let mut hosts = hosts.clone();
            if process == 1 {
                hosts[0] = between.host.clone();
            }
            let peer_timeout = Duration::from_secs_f64(TIMEOUT);
            (0.0, Membership { peer_timeout, ..member(&hosts, process) })
        });
        let stop = |mesh: &Mesh| {
            level(mesh);
            if mesh.process() == 2 {
                for (stopped, stop) in between.stopped.iter().zip(ways) {
                    stopped.store(stop, Ordering::Relaxed);
                }
            }
        };
        let ended = started(starts.collect(), |mesh, _| {
            let mesh = mesh.unwrap();
            stop(&mesh);
            timed(|| match mesh.process() {
                // More than any buffer takes.
                process @ (0 | 1) => loop {
                    if let Err(error) = mesh.send(1 - process, 1, vec![0; 8 << 20]) {
                        break error;
                    }
                },
                _ => mesh.receive(0, 1).unwrap_err(),
            })
        });
        println!("silence {ways:?}: {ended:?}");
        for (process, (seconds, error)) in ended.iter().enumerate() {
            assert!(*seconds < TIMEOUT + 2.5, "{ways:?}: process {process} after {seconds} s");
            let Error::Lost { process: lost, .. } = error else { panic!("{error}") };
            assert!([0, 1].contains(lost) && *lost != process, "{error}");
        }
    }
}

/// What another process of the tests is told: its number, the addresses, what to do.
const ORDERS: &str = "ALIKE_MESH_CHILD";

/// Another process of the tests as a process of a job.
fn child(hosts: &[String], process: usize, work: &str) -> Child {
    let orders = format!("{process}|{}|{work}", hosts.join(","));
    let name = thread::current().name().unwrap_or_default().to_string();
    let module = name.rsplit_once("::").map_or("mesh", |(module, _)| module).to_string();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::mesh_child"), "--nocapture", "--test-threads=1"])
        .env(ORDERS, orders)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// No test: what a child does.
#[test]
fn mesh_child() {
    let Some(orders) = std::env::var_os(ORDERS) else { return };
    let orders = orders.into_string().unwrap();
    let [process, hosts, work] = orders.split('|').collect::<Vec<_>>()[..] else { panic!("{orders}") };
    let hosts: Vec<String> = hosts.split(',').map(str::to_string).collect();
    let mesh = join(member(&hosts, process.parse().unwrap())).0.unwrap();
    match work {
        "leave" => mesh.leave().unwrap(),
        _ => drop(mesh.receive(0, 1)),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn mesh_stopped_and_killed_processes_are_lost() {
    use rustix::process::{Pid, Signal, kill_process};

    for (signal, within) in [(Signal::STOP, 5.0 + 3.0), (Signal::KILL, 3.0)] {
        let hosts = free(3);
        let mut other = child(&hosts, 2, "wait");
        let pid = Pid::from_child(&other);
        let starts = vec![(0.0, member(&hosts, 0)), (0.0, member(&hosts, 1))];
        let ended = started(starts, |mesh, _| {
            let mesh = mesh.unwrap();
            if mesh.process() == 0 {
                kill_process(pid, signal).unwrap();
            }
            timed(|| mesh.receive(2, 1).unwrap_err())
        });
        kill_process(pid, Signal::KILL).unwrap();
        other.wait().unwrap();
        println!("{signal:?}: {ended:?}");
        for (seconds, error) in ended {
            assert!(seconds < within, "{signal:?}: after {seconds} s");
            assert!(matches!(error, Error::Lost { process: 2, .. }), "{error}");
        }
    }
}

/// The first bytes of a true process 1, which did not get an answer.
fn recorded() -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = vec![listener.local_addr().unwrap().to_string(), free(1).remove(0)];
    let short = Membership { join_timeout: Duration::from_millis(200), ..member(&hosts, 1) };
    thread::scope(|scope| {
        scope.spawn(|| join(short).0.err().unwrap());
        let mut bytes = vec![0; 4096];
        let count = listener.accept().unwrap().0.read(&mut bytes).unwrap();
        bytes.truncate(count);
        bytes
    })
}

/// Connects as strangers do, until `count` have or `stop` says so; at most 200 at a time.
fn annoy(host: &str, count: usize, hello: &[u8], stop: impl Fn() -> bool) -> usize {
    let mut held = VecDeque::new();
    for number in 0..count {
        if stop() {
            return number;
        }
        let Ok(mut stream) = TcpStream::connect(host) else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        let mut wrong = hello.to_vec();
        wrong[number % hello.len()] ^= 1;
        let said = match number % 7 {
            0 => b"".as_slice(),
            1 => b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            2 => &[0; 5000],
            3 => hello,
            4 => &wrong,
            5 => &hello[..50],
            _ => &[hello, hello].concat(),
        };
        // One that was let go already cannot take it.
        let _ = stream.write_all(said);
        held.push_back(stream);
        if held.len() > 200 {
            held.pop_front();
        }
        // A byte at a time.
        for (stream, byte) in held.iter_mut().step_by(11).zip(hello) {
            let _ = stream.write(&[*byte]);
        }
    }
    count
}

/// Memory of a process now, in kB.
#[cfg(target_os = "linux")]
fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn mesh_strangers_neither_stop_nor_grow_a_start() {
    let count = if std::env::var_os("ALIKE_FULL").is_some() { 10_000 } else { 2_000 };
    let hello = recorded();
    let hosts = free(2);
    let mut first = child(&hosts, 0, "leave");
    while TcpStream::connect(&hosts[0]).is_err() {
        thread::sleep(Duration::from_millis(10));
    }
    annoy(&hosts[0], 500, &hello, || false);
    let before = resident(&first);
    let (seconds, _) = timed(|| annoy(&hosts[0], count, &hello, || false));
    let after = resident(&first);
    println!("{count} strangers in {seconds:.2} s: {before} kB before, {after} kB after");
    assert!(after < before + 2_000, "{before} kB, then {after} kB");
    // The true one comes while they go on.
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| annoy(&hosts[0], usize::MAX, &hello, || done.load(Ordering::Relaxed)));
        }
        thread::sleep(Duration::from_millis(200));
        let (seconds, mesh) = timed(|| join(member(&hosts, 1)).0.unwrap());
        println!("met among them in {seconds:.3} s");
        assert!(seconds < 10.0, "{seconds}");
        mesh.leave().unwrap();
        done.store(true, Ordering::Relaxed);
    });
    assert!(first.wait().unwrap().success());
}

#[test]
fn mesh_strangers_do_not_disturb_a_job() {
    let hello = recorded();
    let hosts = free(3);
    let (done, came) = (AtomicBool::new(false), AtomicUsize::new(0));
    let starts = (0..3).map(|process| (0.0, member(&hosts, process))).collect();
    thread::scope(|scope| {
        for host in &hosts {
            scope.spawn(|| {
                let count = annoy(host, usize::MAX, &hello, || done.load(Ordering::Relaxed));
                came.fetch_add(count, Ordering::Relaxed)
            });
        }
        let said = started(starts, |mesh, lines| {
            let mesh = mesh.unwrap();
            for round in 0..10 {
                assert_eq!(exchange(&mesh, round, 60).len(), 120);
                assert!(mesh.take(round).unwrap() < 3);
            }
            mesh.leave().unwrap();
            lines
        });
        done.store(true, Ordering::Relaxed);
        assert!(said.iter().all(|lines| lines.len() < 48), "{said:?}");
    });
    println!("{came:?} strangers during ten runs");
    assert!(came.into_inner() > 10);
}
