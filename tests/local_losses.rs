//! Jobs of four processes that keep what they write to themselves, of which one is killed: the others end soon and name it,
//! the same command finishes the job, and after the next commit no process keeps what nobody names.
//!
//! ALIKE_FULL=1 kills 36 times, otherwise it is 9.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::corpora::full;
use crate::support::loads::Seen;
use crate::support::local::{STATE, States, in_place, machine, manifests, pool, seen};
use crate::support::loss::{Bench, DOCUMENTS, LOAD, Moment, PROCESSES, Way, copy, killed, texts};
use crate::support::program::Dir;
use crate::support::texts::Random;

/// A merge of all that each process has, told of as it goes.
const COMPACT: &str = "compact c --json-progress --join-timeout 4";

const GATHER: &str = "compact c --gather --json-progress --join-timeout 4";

/// Each process on its own machine.
const APART: Way =
    Way { command: |dir, hosts, index, line| States::Apart.command(dir, hosts, index, line), reset };

/// Makes the collection and what each process keeps of it what they were when they were put aside.
fn reset(dir: &Dir) {
    copy(dir, "base");
    for index in 0..PROCESSES {
        let state = machine(dir, index).join(STATE);
        let _ = fs::remove_dir_all(&state);
        copy_tree(&machine(dir, index).join("base-state"), &state);
    }
}

/// Puts the collection and what each process keeps of it aside.
fn put_aside(dir: &Dir) {
    copy_tree(&dir.join("c"), &dir.join("base"));
    for index in 0..PROCESSES {
        copy_tree(&machine(dir, index).join(STATE), &machine(dir, index).join("base-state"));
    }
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().filter_map(Result::ok) {
        let to = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(to).unwrap();
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A collection that the four have loaded `first` into, on machines of their own, and `second` to come.
fn bench(first: (usize, usize), second: (usize, usize)) -> Bench {
    let (dir, mut random) = (Dir::new(), Random(13));
    fs::create_dir(dir.join("tmp")).unwrap();
    dir.write("first.jsonl", texts(&mut random, first.0, first.1));
    dir.write("second.jsonl", texts(&mut random, second.0, second.1));
    dir.write("third.jsonl", texts(&mut random, 100, 40));
    dir.alike("load one first.jsonl -w 1 -q --clustering guarantee", None).ok();
    let before = Seen::of(&dir, "one");
    States::Apart.done(&dir, (PROCESSES, 1), "load c first.jsonl -q --clustering guarantee");
    before.assert_eq(&seen(&dir), "before");
    put_aside(&dir);
    dir.alike("load one second.jsonl -w 2 -q", None).ok();
    let after = Seen::of(&dir, "one");
    Bench { dir, way: APART, before, after }
}

/// The collection is as before or as after, and whole; whether it is as after.
#[track_caller]
fn committed(bench: &Bench, what: &str) -> bool {
    let found = seen(&bench.dir);
    let committed = found == bench.after;
    if !committed {
        bench.before.assert_eq(&found, what);
    }
    bench.dir.alike("fsck c --local-state pool", None).ok();
    committed
}

/// The same again finishes the job; after the next commit every process has what is named, and nothing else.
#[track_caller]
fn finish(bench: &Bench, line: &str, after: &Seen, what: &str) {
    let dir = &bench.dir;
    States::Apart.done(
        dir,
        (PROCESSES, 1),
        &line.replace("--json-progress --join-timeout 4", "-q").replace(" -w 1", ""),
    );
    after.assert_eq(&seen(dir), what);
    States::Apart.done(dir, (PROCESSES, 1), "load c third.jsonl -q");
    in_place(dir, what);
    pool(dir);
    dir.alike("fsck c --local-state pool", None).ok();
    let beside: Vec<String> = dir.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(beside.is_empty(), "{what}: left behind: {beside:?}");
}

/// The last commit of a collection.
fn commits(dir: &Dir, collection: &str) -> u64 {
    let ran = dir.alike(&format!("info {collection} --json"), None).ok();
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["commit"].as_u64().unwrap()
}

/// The victims of a moment: all of them, or the one whose turn it is.
fn victims(turn: usize) -> Vec<usize> {
    if full() { (0..PROCESSES).collect() } else { vec![turn % PROCESSES] }
}

#[test]
fn local_losses_of_a_load() {
    let bench = bench((0, 600), (300, DOCUMENTS));
    let moments = [
        Moment::Alone,
        Moment::Stage("read", 1),
        Moment::Stage("verify", 1),
        Moment::File("checkpoint-00000002-0002"),
        Moment::File("changes-00000002"),
        Moment::Stage("cluster", 1),
    ];
    for (at, moment) in moments.into_iter().enumerate() {
        for victim in victims(at + 1) {
            let what = format!("load: process {victim} killed at {moment:?}");
            killed(&bench, (victim, moment), LOAD, |what| committed(&bench, what));
            finish(&bench, LOAD, &bench.after, &what);
        }
    }
}

/// A merge that is cut off changes nothing that anybody sees.
#[test]
fn local_losses_of_a_compaction() {
    let bench = bench((0, 12_000), (11_000, 2000));
    let (_, manifest) = manifests(&bench.dir).pop_last().unwrap();
    let next = format!("run-{:08}", manifest["next_run"].as_u64().unwrap());
    for (at, line) in [COMPACT, GATHER, COMPACT].into_iter().enumerate() {
        for victim in victims(at) {
            let what = format!("{line}: process {victim} killed");
            // When process 0 has begun to merge.
            let moment = Moment::File(next.clone().leak());
            let as_before = |what: &str| {
                bench.before.assert_eq(&seen(&bench.dir), what);
                commits(&bench.dir, "c") > commits(&bench.dir, "base")
            };
            killed(&bench, (victim, moment), line, as_before);
            finish(&bench, line, &bench.before, &what);
        }
    }
}
