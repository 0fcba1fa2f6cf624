//! Jobs of several processes that come to nothing: all of them end, soon, with the same code, and nothing is written.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::job::{Process, all, clashed, command, together};
use crate::support::meeting::free;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{line, words};

/// A folder with good inputs, bad ones, a configuration that makes no sense, and a collection.
fn bench() -> Dir {
    let dir = Dir::new();
    let good: String = (0..40).map(|at| line(&format!("d{at}"), &words(at / 2 * 100, 60))).collect();
    dir.write("good.jsonl", &good);
    dir.write("one.jsonl", good.clone() + "bad\n");
    dir.write("bad/1.jsonl", good.clone() + &"bad\n".repeat(30));
    dir.write("bad/2.jsonl", "worse\n".repeat(30));
    dir.write("wrong.toml", "threshold = 0.8\nno_such_key = 1\n");
    dir.write("ids.txt", "d1\nnobody\n");
    dir.alike("load c good.jsonl -w 1 -q", None).ok();
    dir
}

/// All names in a folder, at any depth.
fn tree(dir: &Dir) -> Vec<String> {
    let entries = walkdir::WalkDir::new(dir.path()).sort_by_file_name().into_iter();
    entries.map(|entry| entry.unwrap().path().display().to_string()).collect()
}

#[test]
fn what_one_process_refuses_all_refuse() {
    let dir = bench();
    let before = tree(&dir);
    for (command, code, part) in [
        ("dedup bad --out out", 3, "10 %"),
        ("dedup one.jsonl --strict --out out", 3, "line 41"),
        ("dedup missing.jsonl --out out", 3, "missing.jsonl"),
        ("load c bad", 3, "10 %"),
        ("load c one.jsonl --strict", 3, "line 41"),
        ("load c missing.jsonl", 3, "missing.jsonl"),
        ("load new bad", 3, "10 %"),
        ("load c bad --epoch 2K", 3, "10 %"),
        ("delete c --ids ids.txt --strict", 3, "nobody"),
        ("delete c --ids missing.txt", 3, "missing.txt"),
        ("dedup good.jsonl --threshold 2 --out out", 2, "threshold"),
        ("dedup good.jsonl --config wrong.toml --out out", 2, "no_such_key"),
        ("dedup good.jsonl --out c", 2, "exists"),
        ("load c good.jsonl --threshold 0.5", 2, "threshold"),
        ("load c good.jsonl --epoch 1", 2, "--epoch"),
        ("load c good.jsonl --dry-run", 2, "--dry-run"),
        ("recluster c --threshold 0.1", 2, "threshold"),
        ("delete nowhere --ids ids.txt", 4, "nowhere"),
        ("dedup good.jsonl --out out --memory 1M", 2, "memory"),
    ] {
        let begun = Instant::now();
        let ended = together(&dir, (3, 1), command);
        assert!(begun.elapsed() < Duration::from_secs(15), "{command}: {:?}", begun.elapsed());
        for ran in ended {
            ran.code(code).says(part).says("error");
        }
        if command.starts_with("load new") {
            // The folder is there and no collection, as after the same with one worker.
            dir.alike("info new", None).code(4);
            assert_eq!(fs::read_dir(dir.join("new")).unwrap().count(), 0, "not even the lock");
            fs::remove_dir_all(dir.join("new")).unwrap();
        }
        assert_eq!(tree(&dir), before, "{command}");
    }
    dir.alike("fsck c", None).ok();
    let ran = dir.alike("clusters c --json", None).ok();
    assert_eq!(ran.stdout.lines().count(), 20);
}

/// Two processes that do not belong together: how they ended.
fn pair(dir: &Dir, begin: impl Fn(&[String]) -> [Process; 2]) -> [Ran; 2] {
    for _ in 0..4 {
        let ended = all(&mut begin(&free(3)));
        if !clashed(&ended) {
            assert!(!dir.join("out").exists());
            return ended.try_into().unwrap();
        }
    }
    panic!("the ports were taken four times");
}

/// Process 0 waits until its time to meet is over, so all pairs are there at once.
#[test]
fn who_does_not_belong_is_refused_on_both_sides() {
    let dir = &bench();
    let line = "dedup good.jsonl --out out -w 1 --join-timeout 3";
    let first = |hosts: &[String]| Process::start(command(dir, &hosts[..2], 0, line), line);
    let other = |hosts: &[String], line: &str| Process::start(command(dir, &hosts[..2], 1, line), line);
    let cases: [(&str, [&str; 2]); 4] = [
        ("dedup good.jsonl --out out -w 1 --threshold 0.7", ["another command", "another command"]),
        ("dedup one.jsonl --out out -w 1", ["another command", "another command"]),
        ("load c good.jsonl -w 1", ["another command", "another command"]),
        ("dedup good.jsonl --out out -w 2", ["2 processes x 2 workers", "2 processes x 1 workers"]),
    ];
    thread::scope(|scope| {
        for (its, [first_says, other_says]) in cases {
            scope.spawn(move || {
                let [zero, one] = pair(dir, |hosts| [first(hosts), other(hosts, its)]);
                one.code(2).says(other_says).says("refuse");
                zero.code(5).says(first_says).says("refused");
            });
        }
        scope.spawn(|| {
            let [zero, one] = pair(dir, |hosts| {
                let mut wrong = command(dir, &hosts[..2], 1, line);
                wrong.env("ALIKE_SECRET", "another secret of some length");
                [first(hosts), Process::start(wrong, line)]
            });
            one.code(2).says("secret");
            zero.code(5).says("secret");
        });
        let [zero, one] =
            pair(dir, |hosts| [first(hosts), Process::start(command(dir, hosts, 1, line), line)]);
        one.code(2).says("2 processes x 1 workers").says("3 x 1");
        zero.code(5).says("3 processes x 1 workers");
    });
}

#[test]
fn what_does_not_make_a_job_is_refused_at_once() {
    let dir = bench();
    let line = "dedup good.jsonl --out out -w 1";
    let hosts = free(2);
    let alone = |change: &dyn Fn(&mut Command) -> &mut Command| {
        let mut command = command(&dir, &hosts, 0, line);
        change(&mut command);
        let begun = Instant::now();
        let ran = Process::start(command, line).ended();
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        ran.code(2)
    };
    alone(&|command| command.env_remove("ALIKE_SECRET")).says("--insecure");
    alone(&|command| command.env("ALIKE_SECRET", "short")).says("16");
    alone(&|command| command.env("ALIKE_PROCESS", "2")).says("0 to 1");
    alone(&|command| command.env_remove("ALIKE_PROCESS")).says("which of the 2 processes");
    alone(&|command| command.env("ALIKE_ADDRESSES", "nohost")).says("host:port");
    assert!(!dir.join("out").exists());
}

/// Processes of which one never comes name it.
#[test]
fn who_does_not_come_is_named() {
    let dir = bench();
    let hosts = free(3);
    let line = "dedup good.jsonl --out out -w 1 --join-timeout 1";
    let begun = Instant::now();
    let mut two: Vec<_> = [0, 2].map(|index| Process::start(command(&dir, &hosts, index, line), line)).into();
    for ran in all(&mut two) {
        ran.code(5).says(&format!("process 1 ({})", hosts[1]));
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(!dir.join("out").exists());
    let names = dir.names();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
}

/// Many short records, and two processes of which one has hardly any memory.
fn uneven(dir: &Dir, line: &str) -> Vec<Process> {
    let hosts = free(2);
    let memory = |index| if index == 1 { "37M" } else { "2G" };
    let start = |index| {
        let mut command = command(dir, &hosts, index, line);
        command.args(["--memory", memory(index)]);
        Process::start(command, line)
    };
    (0..2).map(start).collect()
}

#[test]
fn what_does_not_fit_in_one_process_fits_in_none() {
    let dir = Dir::new();
    let records = |many: usize| -> String {
        (0..many).map(|at| line(&format!("d{at}"), &format!("w{at} x{at}"))).collect()
    };
    dir.write("many.jsonl", records(1_200_000));
    dir.write("short.jsonl", records(200_000));
    for ran in all(&mut uneven(&dir, "dedup many.jsonl --out out -w 1")) {
        ran.code(3).says("--memory");
    }
    assert!(!dir.join("out").exists());
    // A load is divided into epochs that fit.
    for ran in all(&mut uneven(&dir, "load many short.jsonl -w 1")) {
        ran.ok();
    }
    dir.alike("load one short.jsonl -w 1", None).ok();
    let stats = |name: &str| dir.alike(&format!("documents {name}"), None).ok().stdout;
    assert_eq!(stats("many"), stats("one"));
}
