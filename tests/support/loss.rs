//! Jobs that lose a process at a chosen moment, and go on after it.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::job::{Process, all, command, done, together};
use crate::support::loads::{Seen, whole};
use crate::support::meeting::{free, show};
use crate::support::program::{Dir, Ran};
use crate::support::texts::{Random, line};

pub(crate) const PROCESSES: usize = 4;

/// Documents that are read.
pub(crate) const DOCUMENTS: usize = 8_000;

/// In which all others end that hear of a loss at once.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// A load in several epochs, told of as it goes.
pub(crate) const LOAD: &str = "load c second.jsonl --epoch 1400K --json-progress --join-timeout 4 -w 1";

/// When something happens to a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// Before one of the others has come.
    Alone,
    /// While all meet: so many milliseconds after the start.
    Meeting(u64),
    /// When process 0 has begun a stage so many times.
    Stage(&'static str, usize),
    /// When there is a file in the collection whose name begins so.
    File(&'static str),
    /// So many milliseconds after the start of the first stage.
    After(u64),
}

impl Moment {
    /// Whether it has come.
    fn is_now(self, dir: &Dir, first: &Process, begun: Instant, started: Option<Instant>) -> bool {
        let passed = |since: Instant, millis| since.elapsed() >= Duration::from_millis(millis);
        match self {
            Moment::Alone => passed(begun, 200),
            Moment::Meeting(millis) => passed(begun, millis),
            Moment::Stage(stage, times) => times_begun(first, stage) >= times,
            Moment::File(start) => {
                dir.join("c").is_dir() && names(dir).iter().any(|name| name.starts_with(start))
            }
            Moment::After(millis) => started.is_some_and(|started| passed(started, millis)),
        }
    }
}

/// How many times a process has said that it begins a stage.
pub(crate) fn times_begun(process: &Process, stage: &str) -> usize {
    let rows = process.said();
    let rows = rows.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter(|row| row["event"] == "start" && row["stage"] == stage).count()
}

/// Names in the collection.
pub(crate) fn names(dir: &Dir) -> BTreeSet<String> {
    let entries = fs::read_dir(dir.join("c")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The names that the manifests in a collection name, and their own.
fn named(dir: &Dir) -> BTreeSet<String> {
    let mut named = BTreeSet::from(["lock".to_owned()]);
    for name in names(dir).into_iter().filter(|name| name.starts_with("manifest-")) {
        let text = fs::read_to_string(dir.join("c").join(&name)).unwrap();
        let manifest: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
        let numbers = |list: &str, key: &str| -> Vec<u64> {
            manifest[list].as_array().unwrap().iter().map(|entry| entry[key].as_u64().unwrap()).collect()
        };
        named.extend(numbers("runs", "id").iter().map(|id| format!("run-{id:08}")));
        named.extend(numbers("changes", "commit").iter().map(|commit| format!("changes-{commit:08}.jsonl")));
        named.insert(name);
    }
    named
}

/// Texts in families of near copies.
pub(crate) fn texts(random: &mut Random, from: usize, count: usize) -> String {
    let mut lines = String::new();
    let mut words: Vec<String> = Vec::new();
    for at in from..from + count {
        if at % 4 == 0 {
            words = (0..100).map(|_| format!("w{}", random.below(1 << 20))).collect();
        }
        words[random.below(100)] = format!("x{at}");
        lines += &line(&format!("d{at}"), &words.join(" "));
    }
    lines
}

/// How the processes of a bench are run.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// The command of process `index` of those at some addresses.
    pub(crate) command: fn(&Dir, &[String], usize, &str) -> Command,
    /// Makes the collection what it was before a strike.
    pub(crate) reset: fn(&Dir),
}

/// With the collection in one folder.
pub(crate) const IN_ONE_FOLDER: Way = Way { command, reset: |dir| copy(dir, "base") };

/// A collection to be loaded into, and what it is before and after that.
pub(crate) struct Bench {
    pub(crate) dir: Dir,
    pub(crate) way: Way,
    pub(crate) before: Seen,
    pub(crate) after: Seen,
}

/// Strikes at a moment before nobody is hit. A short stage is seen one time in six on a busy machine: twenty were too few.
const MOST_STRIKES: usize = 150;

impl Bench {
    pub(crate) fn new() -> Bench {
        let (dir, mut random) = (Dir::new(), Random(11));
        fs::create_dir(dir.join("tmp")).unwrap();
        dir.write("first.jsonl", texts(&mut random, 0, 600));
        // Half of what is there changes, the rest is new.
        dir.write("second.jsonl", texts(&mut random, 300, DOCUMENTS));
        dir.write("third.jsonl", texts(&mut random, 100, 40));
        dir.alike("load base first.jsonl -w 1 -q --clustering guarantee", None).ok();
        copy(&dir, "base");
        let before = Seen::of(&dir, "c");
        dir.alike("load c second.jsonl -w 2 -q", None).ok();
        let after = Seen::of(&dir, "c");
        Bench { dir, way: IN_ONE_FOLDER, before, after }
    }

    /// Starts the load, has `act` done to a process at a moment, and returns the processes and whether that one was still
    /// there.
    pub(crate) fn strike(
        &self,
        victim: usize,
        moment: Moment,
        line: &str,
        act: Signal,
    ) -> (Vec<Process>, Vec<String>, bool) {
        let hosts = free(PROCESSES);
        let start = |index| Process::start((self.way.command)(&self.dir, &hosts, index, line), line);
        let last = (victim + 1) % PROCESSES;
        let late = matches!(moment, Moment::Alone);
        let begun = Instant::now();
        let mut processes: Vec<Option<Process>> =
            (0..PROCESSES).map(|index| (!late || index != last).then(|| start(index))).collect();
        let first = if late && last == 0 { 1 } else { 0 };
        let mut started = None;
        loop {
            let first = processes[first].as_mut().unwrap();
            if started.is_none() && times_begun(first, "read") > 0 {
                started = Some(Instant::now());
            }
            if moment.is_now(&self.dir, first, begun, started) || !first.at_work() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let hit = processes[victim].as_mut().unwrap().at_work();
        processes[victim].as_ref().unwrap().signal(act);
        let processes = (0..).zip(processes).map(|(index, process)| process.unwrap_or_else(|| start(index)));
        (processes.collect(), hosts, hit)
    }

    /// Strikes until it hits a process at work: a stage that is short may pass unseen, and a time be longer than the job
    /// takes on this machine. Whatever there was before is made again each time.
    #[track_caller]
    pub(crate) fn hit(
        &self,
        victim: usize,
        mut moment: Moment,
        line: &str,
        act: Signal,
    ) -> (Vec<Process>, Vec<String>) {
        for _ in 0..MOST_STRIKES {
            if !line.starts_with("dedup") {
                (self.way.reset)(&self.dir);
            }
            let (mut processes, hosts, hit) = self.strike(victim, moment, line, act);
            if hit {
                return (processes, hosts);
            }
            all(&mut processes).into_iter().for_each(|ran| drop(ran.ok()));
            let _ = fs::remove_dir_all(self.dir.join("out"));
            if let Moment::After(millis) = &mut moment {
                *millis = *millis * 3 / 4;
            }
        }
        panic!("{moment:?} was never seen");
    }

    /// The collection is as before or as after, whole; whether it is as after.
    #[track_caller]
    pub(crate) fn committed(&self, what: &str) -> bool {
        whole(&self.dir, "c");
        let seen = Seen::of(&self.dir, "c");
        let committed = seen == self.after;
        if !committed {
            self.before.assert_eq(&seen, what);
        }
        committed
    }

    /// The same command again finishes the job, from the last epoch that is durable; after the next commit there is nothing
    /// that nobody names.
    #[track_caller]
    pub(crate) fn finish(&self, committed: bool, what: &str) {
        let resumed = names(&self.dir).iter().any(|name| name.starts_with("checkpoint-"));
        let ended = together(&self.dir, (PROCESSES, 1), LOAD.strip_suffix(" -w 1").unwrap());
        let read: u64 = ended.into_iter().map(|ran| documents(&ran.ok())).sum();
        assert_eq!(
            read < DOCUMENTS as u64,
            resumed && !committed,
            "{what}: {read} documents were read, resumed: {resumed}"
        );
        self.after.assert_eq(&Seen::of(&self.dir, "c"), what);
        done(&self.dir, (2, 1), "load c third.jsonl -q");
        whole(&self.dir, "c");
        assert_eq!(names(&self.dir), named(&self.dir), "{what}");
        let beside: Vec<String> = self.dir.names().into_iter().filter(|name| name.starts_with('.')).collect();
        assert!(beside.is_empty() && nothing_in_tmp(&self.dir), "{what}: left behind: {beside:?}");
    }
}

/// What a killed process spilled is gone once another one has worked there.
pub(crate) fn nothing_in_tmp(dir: &Dir) -> bool {
    fs::read_dir(dir.join("tmp")).unwrap().next().is_none()
}

/// Makes the collection `c` a copy of another one.
pub(crate) fn copy(dir: &Dir, from: &str) {
    let _ = fs::remove_dir_all(dir.join("c"));
    fs::create_dir(dir.join("c")).unwrap();
    for entry in fs::read_dir(dir.join(from)).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), dir.join("c").join(entry.file_name())).unwrap();
    }
}

/// Documents that a process has read, as its last line of progress says.
fn documents(ran: &Ran) -> u64 {
    let rows = ran.stderr.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter_map(|row| row["documents"].as_u64()).next().unwrap_or(0)
}

/// How all but one ended, within a time; the exit codes and the longest wait.
#[track_caller]
pub(crate) fn others(
    processes: &mut [Process],
    victim: usize,
    within: Duration,
) -> (Vec<Option<Ran>>, Duration) {
    let begun = Instant::now();
    let end = |(index, process): (usize, &mut Process)| {
        (index != victim).then(|| process.ended_within(within.saturating_sub(begun.elapsed())))
    };
    (processes.iter_mut().enumerate().map(end).collect(), begun.elapsed())
}

/// Kills a process at work: the others end soon and name it. `look` looks at the collection and tells whether the job was
/// committed; so does this, and how the first of those that are left ended.
#[track_caller]
pub(crate) fn killed(
    bench: &Bench,
    (victim, moment): (usize, Moment),
    line: &str,
    look: impl Fn(&str) -> bool,
) -> (bool, Option<i32>) {
    let (mut processes, hosts) = bench.hit(victim, moment, line, Signal::KILL);
    let what = format!("process {victim} killed at {moment:?}");
    let (ended, took) = others(&mut processes, victim, SOON);
    let ended: Vec<Ran> = ended.into_iter().flatten().collect();
    let killed = processes[victim].ended();
    // It may have ended while the signal was on its way.
    assert!(matches!(killed.code, None | Some(0)), "{what}: {killed:?}");
    let committed = look(&what);
    let codes: Vec<Option<i32>> = ended.iter().map(|ran| ran.code).collect();
    for ran in ended {
        match ran.code {
            Some(0) => assert!(committed, "{what}: done without a commit"),
            _ => drop(ran.code(5).says(&format!("process {victim} ({})", hosts[victim]))),
        }
    }
    show(&format!("{what}: committed {committed}, others {codes:?} after {took:.2?}"));
    (committed, codes[0])
}
