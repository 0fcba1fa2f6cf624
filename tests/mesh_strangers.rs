//! Whoever connects to a process and is none of its job: silent, garbage, recorded, a byte at a time, thousands.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use alike::mesh::Membership;

use crate::support::corpora::full;
use crate::support::meeting::{child, exchange, free, join, member, show, started, timed};

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
    let count = if full() { 10_000 } else { 2_000 };
    let hello = recorded();
    let hosts = free(2);
    let mut first = child(&hosts, 0, "leave");
    while TcpStream::connect(&hosts[0]).is_err() {
        thread::sleep(Duration::from_millis(10));
    }
    annoy(&hosts[0], 500, &hello, || false);
    let before = resident(&first.0);
    let (seconds, _) = timed(|| annoy(&hosts[0], count, &hello, || false));
    let after = resident(&first.0);
    show(&format!("{count} strangers in {seconds:.2} s: {before} kB before, {after} kB after"));
    assert!(after < before + 2_000, "{before} kB, then {after} kB");
    // The true one comes while they go on.
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| annoy(&hosts[0], usize::MAX, &hello, || done.load(Ordering::Relaxed)));
        }
        thread::sleep(Duration::from_millis(200));
        let (seconds, mesh) = timed(|| join(member(&hosts, 1)).0.unwrap());
        show(&format!("met among them in {seconds:.3} s"));
        assert!(seconds < 10.0, "{seconds}");
        mesh.leave().unwrap();
        done.store(true, Ordering::Relaxed);
    });
    assert!(first.0.wait().unwrap().success());
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
    show(&format!("{came:?} strangers during ten runs"));
    assert!(came.into_inner() > 10);
}
