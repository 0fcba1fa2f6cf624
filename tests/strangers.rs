//! Strangers at the ports of a real job, from before its first process starts until after its last.
//!
//! ALIKE_FULL=1 sends 10,000 before the job can begin, otherwise it is 1,000.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::corpora::full;
use crate::support::job::{Process, clashed, command};
use crate::support::loss::texts;
use crate::support::meeting::{free, show};
use crate::support::outputs::{assert_same, written};
use crate::support::program::{Dir, Ran};
use crate::support::texts::Random;

const PROCESSES: usize = 3;

const LINE: &str = "dedup in.jsonl --out out --pairs -w 1";

/// Strangers that are held at a time, at each port.
const HELD: usize = 150;

/// The first bytes of a true process of the job, to a listener that does not answer.
fn recorded(dir: &Dir) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut hosts = free(PROCESSES);
    hosts[0] = listener.local_addr().unwrap().to_string();
    let _caller = Process::start(command(dir, &hosts, 1, LINE), LINE);
    let mut bytes = vec![0; 4096];
    let count = listener.accept().unwrap().0.read(&mut bytes).unwrap();
    bytes.truncate(count);
    bytes
}

/// What the stranger of this number says: nothing, HTTP, garbage, what was recorded, that and no proof, and less of it.
fn words(number: usize, hello: &[u8]) -> Vec<u8> {
    let mut wrong = hello.to_vec();
    wrong[number % hello.len()] ^= 1;
    match number % 8 {
        0 => Vec::new(),
        1 => b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        2 => (0..4000).map(|at| (at * number) as u8).collect(),
        3 => hello.to_vec(),
        4 => [hello, &[0; 36]].concat(),
        5 => wrong,
        6 => hello[..hello.len() / 2].to_vec(),
        _ => [hello, hello].concat(),
    }
}

/// Comes to a port, again and again, until it is over.
fn hammer(host: &str, hello: &[u8], came: &AtomicUsize, over: &AtomicBool) {
    let mut held = VecDeque::new();
    while !over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(host) else {
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let number = came.fetch_add(1, Ordering::Relaxed);
        // One that was let go already cannot take it.
        let _ = stream.write_all(&words(number, hello));
        held.push_back(stream);
        if held.len() > HELD {
            held.pop_front();
        }
    }
}

/// Tells the strangers that it is over, however a test ends.
struct Until<'a>(&'a AtomicBool);

impl Drop for Until<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The most memory that a process has held so far, in kB; `None` once it is gone.
fn peak(process: &Process) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    status.lines().find(|line| line.starts_with("VmHWM:"))?.split_whitespace().nth(1)?.parse().ok()
}

/// Runs the job, whose last process comes when `ready`: the peaks of all.
fn run(dir: &Dir, hosts: &[String], ready: impl Fn() -> bool) -> (Vec<u64>, Vec<Ran>) {
    let start = |index| Process::start(command(dir, hosts, index, LINE), LINE);
    let mut processes: Vec<Process> = (0..PROCESSES - 1).map(start).collect();
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < Duration::from_secs(50), "the strangers do not come through");
        thread::sleep(Duration::from_millis(5));
    }
    processes.push(start(PROCESSES - 1));
    let mut peaks = vec![0; PROCESSES];
    while processes.iter_mut().any(Process::at_work) {
        for (most, process) in peaks.iter_mut().zip(&processes) {
            *most = peak(process).unwrap_or(0).max(*most);
        }
        thread::sleep(Duration::from_millis(2));
    }
    (peaks, processes.iter_mut().map(Process::ended).collect())
}

#[cfg(target_os = "linux")]
#[test]
fn strangers_neither_stop_nor_grow_a_job() {
    let count = if full() { 10_000 } else { 1_000 };
    let dir = Dir::new();
    dir.write("in.jsonl", texts(&mut Random(23), 0, 400));
    let hello = recorded(&dir);
    // Process 0 takes 24 or 30 MB by chance, so one run says too little.
    let mut quiet = vec![0; PROCESSES];
    for _ in 0..4 {
        drop(std::fs::remove_dir_all(dir.join("out")));
        let (peaks, ended) = run(&dir, &free(PROCESSES), || true);
        ended.into_iter().for_each(|ran| drop(ran.ok()));
        quiet.iter_mut().zip(peaks).for_each(|(most, peak)| *most = peak.max(*most));
    }
    let want = written(&dir.join("out"));
    for _ in 0..4 {
        std::fs::remove_dir_all(dir.join("out")).unwrap();
        let hosts = free(PROCESSES);
        let (came, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (peaks, ended) = thread::scope(|scope| {
            for host in &hosts {
                scope.spawn(|| hammer(host, &hello, &came, &over));
            }
            let _over = Until(&over);
            run(&dir, &hosts, || came.load(Ordering::Relaxed) >= count)
        });
        if clashed(&ended) {
            std::fs::create_dir_all(dir.join("out")).unwrap();
            continue;
        }
        show(&format!("{came:?} strangers: {peaks:?} kB at most, {quiet:?} without them"));
        for ran in ended {
            assert!(ran.stderr.lines().count() < 60, "{}", ran.stderr);
            ran.ok();
        }
        assert_same(&want, &written(&dir.join("out")), "among strangers");
        for (most, quiet) in peaks.iter().zip(&quiet) {
            assert!(*most < quiet + 5_000, "{peaks:?} kB, without strangers {quiet} kB");
        }
        return;
    }
    panic!("the ports were taken four times");
}
