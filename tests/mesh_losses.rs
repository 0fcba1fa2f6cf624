//! Processes that vanish, give up, fall silent, are stopped or killed: the others notice it in time, and agree.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::Error;
use alike::mesh::{Membership, Mesh};

use crate::support::meeting::{child, free, level, member, show, started, timed, together};

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

/// Those that hear of it end as well, and each may see another's end before it hears why.
#[test]
fn mesh_all_agree_on_who_gave_up() {
    let agree = |round: usize| {
        let heard = together(4, |mesh| {
            level(&mesh);
            if mesh.process() == round % 4 {
                mesh.give_up(3, "no such file");
                return (round % 4, 3);
            }
            let error = mesh.receive(round % 4, 1).unwrap_err();
            mesh.give_up(9, "because of that");
            let Error::GaveUp { process, code, .. } = error else { panic!("round {round}: {error}") };
            (process, code)
        });
        assert_eq!(heard, [(round % 4, 3); 4]);
    };
    // Most of a round is spent on waiting until all are level.
    thread::scope(|scope| {
        for first in 0..5 {
            scope.spawn(move || (first..30).step_by(5).for_each(agree));
        }
    });
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
        |process| (0.0, Membership { peer_timeout: Duration::from_secs(1), ..member(&hosts, process) });
    let gave_up = AtomicBool::new(false);
    let ended = started(vec![short(0), short(1)], |mesh, _| {
        let mesh = mesh.unwrap();
        if mesh.process() == 1 {
            // At work until process 0 has given up.
            let deadline = Instant::now() + Duration::from_secs(30);
            while !gave_up.load(Ordering::Relaxed) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(10));
            }
            return String::new();
        }
        let (seconds, left) = timed(|| mesh.leave());
        gave_up.store(true, Ordering::Relaxed);
        assert!((0.9..2.5).contains(&seconds), "{seconds}");
        left.unwrap_err().to_string()
    });
    assert!(ended[0].contains("it is still at work"), "{}", ended[0]);
}

/// Stands between one process and another, and stops what crosses on demand.
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
            for near in listener.incoming().map_while(Result::ok) {
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
    let silence = |ways: [bool; 2]| {
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
        show(&format!("silence {ways:?}: {ended:?}"));
        for (process, (seconds, error)) in ended.iter().enumerate() {
            assert!(*seconds < TIMEOUT + 2.5, "{ways:?}: process {process} after {seconds} s");
            let Error::Lost { process: lost, .. } = error else { panic!("{error}") };
            assert!(*lost != process && (process < 2 || *lost < 2), "{error}");
        }
    };
    // Both ways, and each alone.
    thread::scope(|scope| {
        for ways in [[true, true], [true, false], [false, true]] {
            scope.spawn(move || silence(ways));
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn mesh_stopped_and_killed_processes_are_lost() {
    use rustix::process::{Pid, Signal, kill_process};

    const TIMEOUT: f64 = 2.0;
    for (signal, within) in [(Signal::STOP, TIMEOUT + 3.0), (Signal::KILL, 3.0)] {
        let hosts = free(3);
        let mut other = child(&hosts, 2, "takes this process for lost: no word from it");
        let pid = Pid::from_child(&other.0);
        let peer_timeout = Duration::from_secs_f64(TIMEOUT);
        let near = |process| (0.0, Membership { peer_timeout, ..member(&hosts, process) });
        let ended = started(vec![near(0), near(1)], |mesh, _| {
            let mesh = mesh.unwrap();
            level(&mesh);
            if mesh.process() == 0 {
                kill_process(pid, signal).unwrap();
            }
            timed(|| mesh.receive(2, 1).unwrap_err())
        });
        // One that goes on after a stop hears what has become of it, and takes nobody else for lost.
        kill_process(pid, Signal::CONT).unwrap();
        assert_eq!(other.0.wait().unwrap().success(), signal == Signal::STOP);
        show(&format!("{signal:?}: {ended:?}"));
        for (seconds, error) in ended {
            assert!(seconds < within, "{signal:?}: after {seconds} s");
            assert!(matches!(error, Error::Lost { process: 2, .. }), "{error}");
        }
    }
}
