//! Jobs of four processes of which one is killed, in every phase: the others end soon and name it, nothing is half-written,
//! and the same command finishes the job.
//!
//! ALIKE_FULL=1 kills 48 times, otherwise it is 8.

use std::fs;

use rustix::process::Signal;

use crate::support::corpora::full;
use crate::support::job::done;
use crate::support::loads::Seen;
use crate::support::loss::{
    Bench, DOCUMENTS, IN_ONE_FOLDER, LOAD, Moment, PROCESSES, SOON, killed, nothing_in_tmp, others, texts,
};
use crate::support::meeting::show;
use crate::support::outputs::written;
use crate::support::program::Dir;
use crate::support::texts::Random;

/// One kill of a process at work.
fn kill(bench: &Bench, victim: usize, moment: Moment) {
    let what = format!("process {victim} killed at {moment:?}");
    let (committed, first) = killed(bench, (victim, moment), LOAD, |what| bench.committed(what));
    if victim != 0 {
        assert_eq!(first == Some(0), committed, "{what}: {first:?}");
    }
    bench.finish(committed, &what);
}

/// Every phase; the file of changes is written for the commit, a checkpoint between two epochs.
const MOMENTS: [Moment; 8] = [
    Moment::Stage("read", 1),
    Moment::File("changes-00000002"),
    Moment::Stage("collide", 1),
    Moment::Meeting(15),
    Moment::Stage("verify", 1),
    Moment::File("checkpoint-00000002-0002"),
    Moment::Stage("cluster", 1),
    Moment::Alone,
];

#[test]
fn losses_by_kill() {
    let bench = Bench::new();
    let full = full();
    let mut strikes: Vec<(usize, Moment)> =
        MOMENTS.into_iter().enumerate().map(|(at, moment)| (at % 4, moment)).collect();
    if full {
        let mut random = Random(3);
        strikes = MOMENTS.iter().flat_map(|moment| (0..PROCESSES).map(|victim| (victim, *moment))).collect();
        strikes.extend((0..16).map(|at| (at % PROCESSES, Moment::After(random.below(1500) as u64))));
    }
    for (victim, moment) in strikes {
        kill(&bench, victim, moment);
    }
}

#[test]
fn losses_of_dedup_leave_no_output() {
    let dir = Dir::new();
    fs::create_dir(dir.join("tmp")).unwrap();
    dir.write("in.jsonl", texts(&mut Random(5), 0, DOCUMENTS));
    let line = "dedup in.jsonl --out out --pairs --json-progress --join-timeout 4 -w 1";
    dir.output("in.jsonl --pairs", "want");
    let want = written(&dir.join("want"));
    let bench = Bench { dir, way: IN_ONE_FOLDER, before: Seen::none(), after: Seen::none() };
    let full = full();
    let moments = ["read", "collide", "verify", "write"].map(|stage| Moment::Stage(stage, 1));
    for (at, moment) in moments.into_iter().enumerate() {
        for victim in 0..PROCESSES {
            if !full && victim != (at + 3) % PROCESSES {
                continue;
            }
            let (mut processes, hosts) = bench.hit(victim, moment, line, Signal::KILL);
            let what = format!("process {victim} killed at {moment:?}");
            let (ended, took) = others(&mut processes, victim, SOON);
            drop(processes);
            show(&format!("{what}: after {took:.2?}"));
            let over = ended.iter().flatten().any(|ran| ran.code == Some(0))
                || (victim == 0 && bench.dir.join("out").exists());
            for ran in ended.into_iter().flatten().filter(|ran| ran.code != Some(0)) {
                ran.code(5).says(&format!("process {victim} ({})", hosts[victim]));
            }
            let left: Vec<String> = bench.dir.names();
            let left = left.iter().filter(|name| !["in.jsonl", "want", "tmp"].contains(&name.as_str()));
            for name in left {
                let partial = victim == 0 && name.starts_with(".out.partial-");
                assert!(partial || (over && name == "out"), "{what}: {name} is left behind");
                fs::remove_dir_all(bench.dir.join(name)).unwrap();
            }
            done(&bench.dir, (PROCESSES, 1), "dedup in.jsonl --out out --pairs");
            crate::support::outputs::assert_same(&want, &written(&bench.dir.join("out")), &what);
            fs::remove_dir_all(bench.dir.join("out")).unwrap();
            assert!(nothing_in_tmp(&bench.dir), "{what}: left behind");
        }
    }
}
