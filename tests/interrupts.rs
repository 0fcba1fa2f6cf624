//! SIGINT, as Ctrl-C sends it: a run ends soon, with exit code 130, and leaves nothing; or it was done, and leaves all.
#![cfg(unix)]

use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::cut_off::{interrupt, start};
use crate::support::output::Output;
use crate::support::program::Dir;
use crate::support::texts::{Random, line, words};

/// SIGINT while standard input is held open: the run ends, with 130, and leaves nothing, not even a folder in the making.
#[test]
fn an_interrupted_run_leaves_nothing() {
    let dir = Dir::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(["dedup", "-", "--out", "out"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than any pipe holds: when it is written, the program is reading, and waits for more.
    let mut pipe = child.stdin.take().unwrap();
    for i in 0..20_000 {
        pipe.write_all(line(&i.to_string(), &words(i * 100, 20)).as_bytes()).unwrap();
    }
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (to, ended) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let lines: Vec<String> = stderr.lines().map(Result::unwrap).collect();
        to.send(()).unwrap();
        lines
    });
    interrupt(&child);
    // The pipe is still open: a run that hangs is ended here, and has failed.
    let in_time = ended.recv_timeout(Duration::from_secs(60));
    if in_time.is_err() {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let said = reader.join().unwrap().join("\n");
    drop(pipe);
    assert!(in_time.is_ok(), "still running a minute after SIGINT\n{said}");
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert_eq!(dir.names(), Vec::<String>::new(), "left behind");
}

/// A run that waits for whoever reads its messages looks at nothing any more: it ends all the same, and leaves nothing. A second signal at
/// once is the first again, as `timeout` sends it to a program and then to its group: it does not end the run before it has tidied up.
#[test]
fn an_interrupt_ends_a_run_that_is_stuck() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(0, 20)));
    let (_reader, writer) = std::io::pipe().unwrap();
    fill(&writer);
    let mut child = Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(["dedup", "in.jsonl", "--out", "out", "--id-field", "nosuch"])
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(writer)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let has_begun = || dir.names().iter().any(|name| name.starts_with(".out.partial-"));
    while !has_begun() || begun.elapsed() < Duration::from_millis(500) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it makes no folder");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(child.try_wait().unwrap().is_none(), "it said what nobody has read");
    interrupt(&child);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begun.elapsed() > Duration::from_secs(60) => {
                child.kill().unwrap();
                panic!("still running a minute after SIGINT");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(status.code(), Some(130));
    assert_eq!(dir.names(), ["in.jsonl"], "left behind");
}

/// Leaves no room in a pipe.
fn fill(pipe: &PipeWriter) {
    let mut pipe = pipe;
    rustix::io::ioctl_fionbio(pipe, true).unwrap();
    for piece in [4096, 1] {
        while pipe.write(&vec![b'x'; piece]).is_ok() {}
    }
    rustix::io::ioctl_fionbio(pipe, false).unwrap();
}

/// SIGINT at any moment of a run over files: either nothing is there, or all of it.
#[test]
fn an_interrupt_at_any_moment_leaves_all_or_nothing() {
    let dir = Dir::new();
    // Near-copies in mass, so that every stage takes its time.
    let near = |i: usize| format!("{} x{i} {} y{i}", words(0, 60 + i % 20), words(100, 60));
    let lines: String = (0..30_000).map(|i| line(&i.to_string(), &near(i))).collect();
    dir.write("in.jsonl", &lines);
    let mut interrupted = 0;
    for wait in [5, 20, 45, 70, 100, 140, 200, 280, 400, 560] {
        let mut child = start(&dir, "dedup in.jsonl --out out --clustering transitive -w 2");
        std::thread::sleep(Duration::from_millis(wait));
        interrupt(&child);
        let status = child.wait().unwrap();
        if status.success() {
            let output = Output::read(&dir.join("out"));
            assert_eq!(output.kept_lines().len() + output.duplicates.len(), 30_000);
            std::fs::remove_dir_all(dir.join("out")).unwrap();
        } else {
            // Before the handler is there the signal itself ends the process.
            assert!(matches!(status.code(), Some(130) | None), "{status} after {wait} ms");
            interrupted += usize::from(status.code() == Some(130));
        }
        assert_eq!(dir.names(), ["in.jsonl"], "left behind after {wait} ms");
    }
    assert!(interrupted > 1, "no run was slow enough to show anything");
}

/// The same within one document that is nearly as long as a record may be.
#[test]
fn an_interrupt_within_one_huge_document_leaves_all_or_nothing() {
    let dir = Dir::new();
    let mut random = Random(7);
    let text: String = (0..2_500_000).map(|_| format!("w{} ", random.below(1 << 20))).collect();
    dir.write("in.jsonl", line("huge", &text));
    dir.write("items.jsonl", line("q", &words(0, 40)));
    for command in [
        "passages in.jsonl --unit tokens:5 --action cut",
        "repetition in.jsonl --limit top-2-gram=1",
        "decontaminate in.jsonl --benchmarks items.jsonl --any-ngram --ngram 3",
    ] {
        let mut interrupted = 0;
        for wait in [10, 40, 80, 160, 320] {
            let mut child = start(&dir, &format!("{command} --max-record-bytes 64M --out out -w 2"));
            std::thread::sleep(Duration::from_millis(wait));
            interrupt(&child);
            let begun = Instant::now();
            let status = child.wait().unwrap();
            assert!(begun.elapsed() < Duration::from_secs(10), "{command}: {:?}", begun.elapsed());
            if status.success() {
                std::fs::remove_dir_all(dir.join("out")).unwrap();
            } else {
                assert!(matches!(status.code(), Some(130) | None), "{command}: {status} after {wait} ms");
                interrupted += usize::from(status.code() == Some(130));
            }
            assert_eq!(dir.names(), ["in.jsonl", "items.jsonl"], "{command}: left behind after {wait} ms");
        }
        assert!(interrupted > 0, "{command}: it was never slow enough to show anything");
    }
}
