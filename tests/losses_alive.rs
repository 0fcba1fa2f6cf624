//! Jobs of four processes of which one is stopped or interrupted: the others miss a stopped one within the timeout, and end
//! with an interrupted one; what is done of a job is gone on with.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::corpora::full;
use crate::support::job::{Process, all};
use crate::support::loss::{Bench, LOAD, Moment, PROCESSES, SOON, copy, others};
use crate::support::meeting::{free, show};

/// A process that is stopped and stays: it is missed within the timeout and two seconds; when it goes on it ends as well.
#[test]
fn losses_by_silence() {
    let bench = Bench::new();
    let line = &format!("{LOAD} --peer-timeout 2");
    let full = full();
    let moments = [
        Moment::Stage("read", 1),
        Moment::File("checkpoint-"),
        Moment::File("checkpoint-00000002-0002"),
        Moment::File("checkpoint-00000002-0003"),
    ];
    for (at, moment) in moments.into_iter().enumerate() {
        for victim in 0..PROCESSES {
            if !full && victim != at {
                continue;
            }
            let (mut processes, hosts) = bench.hit(victim, moment, line, Signal::STOP);
            let what = format!("process {victim} stopped at {moment:?}");
            let (ended, took) = others(&mut processes, victim, Duration::from_secs(4));
            show(&format!("{what}: after {took:.2?}"));
            for ran in ended.into_iter().flatten() {
                ran.code(5).says(&format!("process {victim} ({})", hosts[victim]));
            }
            processes[victim].signal(Signal::CONT);
            processes[victim].ended_within(SOON).code(5);
            let committed = bench.committed(&what);
            assert!(!committed, "{what}");
            bench.finish(committed, &what);
        }
    }
}

/// One that is stopped before it has met the others is awaited as long as one that does not come.
#[test]
fn losses_while_meeting() {
    let bench = Bench::new();
    copy(&bench.dir, "base");
    let (mut processes, hosts, _) = bench.strike(2, Moment::Alone, LOAD, Signal::STOP);
    let (ended, took) = others(&mut processes, 2, SOON);
    show(&format!("process 2 stopped before it met the others: after {took:.2?}"));
    for ran in ended.into_iter().flatten() {
        ran.code(5).says(&format!("process 2 ({})", hosts[2]));
    }
    assert!(!bench.committed("stopped while meeting"));
    drop(processes);
    bench.finish(false, "stopped while meeting");
}

/// Ctrl-C at one process ends all, as if each had got it.
#[test]
fn losses_by_interrupt() {
    let bench = Bench::new();
    for (victim, moment) in [
        (0, Moment::Stage("read", 1)),
        (2, Moment::File("checkpoint-00000002-0003")),
        (3, Moment::File("checkpoint-")),
    ] {
        let (mut processes, _) = bench.hit(victim, moment, LOAD, Signal::INT);
        let what = format!("process {victim} interrupted at {moment:?}");
        for (process, ran) in all(&mut processes).into_iter().enumerate() {
            let ran = ran.code(130);
            // Another one may hear why that one goes before it stops by itself.
            let told = ran.stderr.contains("interrupted") || ran.stderr.contains("it was asked to stop");
            assert!(told, "{what}: process {process} says {}", ran.stderr);
        }
        assert!(!bench.committed(&what), "{what}");
        bench.finish(false, &what);
    }
}

/// A process that is asked to stop while it waits for a frozen one ends, and has told the others why.
#[test]
fn losses_by_interrupt_beside_a_frozen_process() {
    let bench = Bench::new();
    let (mut processes, hosts) = bench.hit(0, Moment::Stage("read", 1), LOAD, Signal::STOP);
    processes[2].signal(Signal::INT);
    processes[2].ended_within(SOON).code(130).says("interrupted");
    processes[0].signal(Signal::CONT);
    let (ended, _) = others(&mut processes, 2, SOON);
    for ran in ended.into_iter().flatten() {
        ran.code(130).says(&format!("process 2 ({})", hosts[2]));
    }
    assert!(!bench.committed("frozen"));
    bench.finish(false, "frozen");
}

/// Ctrl-C at the launcher ends all of its processes.
#[test]
fn losses_by_interrupt_of_the_launcher() {
    let bench = Bench::new();
    let line = format!("launch --hosts hosts -- {}", LOAD.replace(" --json-progress", ""));
    let checkpoint = |dir: &Path| {
        let mut entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
        entries.any(|entry| entry.file_name().to_string_lossy().starts_with("checkpoint-"))
    };
    let interrupted = (0..20).any(|_| {
        copy(&bench.dir, "base");
        bench.dir.write("hosts", free(PROCESSES).join("\n"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_alike"));
        command.args(line.split(' ')).current_dir(bench.dir.path());
        let mut launcher = Process::start(command, &line);
        while launcher.at_work() && !checkpoint(&bench.dir.join("c")) {
            std::thread::sleep(Duration::from_millis(1));
        }
        launcher.signal(Signal::INT);
        let ran = launcher.ended_within(SOON);
        // The signal may come when all is done, or when the commit can no longer be kept from happening.
        let early = ran.code != Some(0);
        if early {
            ran.code(130).says("interrupted");
        }
        early
    });
    assert!(interrupted, "the launcher was always done before");
    assert!(!bench.committed("launched"));
    bench.finish(false, "launched");
}
