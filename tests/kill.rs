//! `kill -9` of the program at random moments of loads, deletions and compactions, with the record of what was
//! acknowledged kept outside.
//!
//! ALIKE_FULL=1 kills 320 times, otherwise it is 20. ALIKE_SEED=N repeats one history of kills.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use alike::collection::{Snapshot, Writer};
use alike::config::Method;
use alike::error::Error;
use alike::storage::{Local, Storage};
use serde_json::Value;

use crate::support::corpora::full;
use crate::support::history::{Bench, Load, Op, config};
use crate::support::program::Dir;
use crate::support::seen::{Seen, expected, try_seen};
use crate::support::texts::{Random, line};
use crate::support::upkeep::findings;

/// As `histories::config` has it.
const FLAGS: &str = "--method join --ngram 2 --threshold 0.5";

/// Ids that there may be.
const IDS: usize = 400;

/// Kills in a collection before the next one is begun.
const KILLS: usize = 10;

/// One command of the program.
#[derive(Clone, Debug)]
enum Task {
    Load(Vec<Op>),
    Delete(Vec<usize>),
    Compact,
}

impl Task {
    /// A task; the first one of a collection is a load.
    fn draw(random: &mut Random, first: bool) -> Task {
        match if first { 0 } else { random.below(6) } {
            0..=2 => Task::Load((0..20 + random.below(150)).map(|_| op(random)).collect()),
            3 | 4 => Task::Delete((0..1 + random.below(40)).map(|_| random.below(IDS)).collect()),
            _ => Task::Compact,
        }
    }

    fn load(&self) -> Load {
        let ops = match self {
            Task::Load(ops) => ops.clone(),
            Task::Delete(ids) => ids.iter().copied().map(Op::Delete).collect(),
            Task::Compact => Vec::new(),
        };
        Load { ops, workers: 1, files: 1, epoch_bytes: None }
    }
}

/// Texts of a few words out of some sequences, so that clusters grow, are bridged and fall apart.
fn op(random: &mut Random) -> Op {
    let id = random.below(IDS);
    if random.below(8) == 0 {
        return Op::Delete(id);
    }
    let (family, from, count) = (random.below(20), random.below(30), 6 + random.below(4));
    let words: Vec<String> = (from..from + count).map(|word| format!("f{family}w{word}")).collect();
    Op::Upsert(id, words.join(" "))
}

/// The record that is kept outside: what the collection should hold, and the last commit that was acknowledged.
struct Record {
    bench: Bench,
    acknowledged: Option<(u64, Seen)>,
    /// How long the last task took that was not killed.
    usual: Duration,
}

impl Record {
    fn new() -> Record {
        let bench = Bench::new(config(Method::Join));
        Record { bench, acknowledged: None, usual: Duration::from_millis(120) }
    }

    /// Starts the program on a task whose files are written.
    fn start(&self, task: &Task, workers: usize) -> Child {
        let line = match task {
            // Most loads have several epochs, and the larger deletions.
            Task::Load(_) => format!("load c load0.jsonl {FLAGS} --json --quiet -w {workers} --epoch 4K"),
            Task::Delete(_) => format!("delete c --ids gone.txt --json --quiet -w {workers} --epoch 1K"),
            Task::Compact => "compact c".to_owned(),
        };
        Command::new(env!("CARGO_BIN_EXE_alike"))
            .args(line.split_whitespace())
            .current_dir(self.bench.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process")
    }

    /// Writes the files of a task. What is live is as after it then.
    fn write(&mut self, task: &Task) {
        match task {
            Task::Load(_) => drop(self.bench.write(&task.load())),
            Task::Delete(ids) => {
                self.bench.dir.write("gone.txt", ids.iter().map(|id| format!("d{id}\n")).collect::<String>());
                task.load().apply(&mut self.bench.live);
            }
            Task::Compact => {}
        }
    }

    /// Does a task to its end, and notes what it acknowledges.
    fn finish(&mut self, task: &Task, after: &Seen, what: &str) {
        let began = Instant::now();
        let ended = self.start(task, 1).wait_with_output().expect("an end");
        assert!(ended.status.success(), "{what}, again: {ended:?}");
        self.usual = (self.usual + began.elapsed()) / 2;
        let seen = self.look(what).expect("a collection");
        assert_eq!(&seen.1, after, "{what}, again");
        let told = String::from_utf8(ended.stdout).expect("UTF-8");
        if let Ok(report) = serde_json::from_str::<Value>(&told)
            && let Some(commit) = report["commit"].as_u64()
        {
            assert!(seen.0 >= commit, "{what}: commit {} where {commit} was told", seen.0);
        }
        self.acknowledged = Some(seen);
    }

    /// The commit that a reader finds, proven whole.
    fn look(&self, what: &str) -> Option<(u64, Seen)> {
        let storage: Arc<dyn Storage> = match Local::open(&self.bench.dir.join("c")) {
            Ok(folder) => Arc::new(folder),
            Err(Error::NotACollection(..)) => return None,
            Err(error) => panic!("{what}: {error}"),
        };
        let snapshot = match Snapshot::open(&storage) {
            Ok(snapshot) => snapshot,
            Err(Error::NotACollection(..)) => return None,
            Err(error) => panic!("{what}: {error}"),
        };
        assert_eq!(findings(&storage).expect("read"), [], "{what}");
        let seen = try_seen(&storage).unwrap_or_else(|error| panic!("{what}: {error}"));
        Some((snapshot.manifest().commit, seen))
    }

    /// Kills a task after `delay`; whether it was still at work.
    fn kill(&mut self, task: &Task, workers: usize, delay: Duration, what: &str) -> bool {
        let empty = (Default::default(), Default::default());
        let before = self.acknowledged.clone();
        self.write(task);
        let after = expected(&self.bench);
        let mut child = self.start(task, workers);
        std::thread::sleep(delay);
        child.kill().expect("killed or over");
        let status = child.wait().expect("dead");
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("read");
        let killed = status.signal() == Some(9);
        assert!(killed || status.success(), "{what}: {status}: {said}");
        match (self.look(what), &before) {
            (None, None) => {}
            (None, Some(_)) => panic!("{what}: the collection is gone"),
            (Some((commit, seen)), before) => {
                let (last, old) = before.clone().unwrap_or((0, empty));
                assert!(commit >= last, "{what}: commit {commit} after {last} was acknowledged");
                assert!(seen == after || killed && seen == old, "{what}: neither as before nor as after");
            }
        }
        self.finish(task, &after, what);
        killed
    }
}

/// Kills until so many hit a program at work.
fn history(seed: u64, kills: usize) {
    let (mut random, mut record, mut hits) = (Random(seed), Record::new(), 0);
    for number in 0.. {
        if hits == kills {
            break;
        }
        assert!(number < 4 * kills, "only {hits} of {number} hit a program at work");
        if number % KILLS == 0 {
            record = Record { usual: record.usual, ..Record::new() };
        }
        let task = Task::draw(&mut random, number % KILLS == 0);
        let usual = u64::try_from(record.usual.as_micros()).expect("a short time");
        let delay = Duration::from_micros(usual * random.below(1000) as u64 / 1000);
        let workers = 1 + random.below(2);
        let name = match task {
            Task::Load(_) => "load",
            Task::Delete(_) => "delete",
            Task::Compact => "compact",
        };
        let what = format!("ALIKE_SEED={seed}, kill {number}, {name} after {delay:?}");
        hits += usize::from(record.kill(&task, workers, delay, &what));
        // What spilled to disk lies beside the collection. A killed program cannot remove it; the next one does that has
        // such a folder itself.
        let left = record.bench.dir.names().into_iter().filter(|name| name.starts_with(".alike-load-"));
        assert!(left.count() == 0 || matches!(task, Task::Compact), "{what}: left behind");
    }
}

/// A first load that is killed leaves an empty collection at most: the next one is free to ask for another
/// configuration, and when it has come to something that is fixed.
#[test]
fn a_first_load_that_was_killed_fixes_nothing() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "x"));
    let left = || {
        let storage: Arc<dyn Storage> = Arc::new(Local::create(&dir.join("c")).unwrap());
        drop(Writer::create(&storage, config(Method::Exact), false).unwrap());
        fs::write(dir.join("c/run-00000001"), "half a run").unwrap();
        Snapshot::open(&storage).unwrap().manifest().clone()
    };
    let before = left();
    dir.alike("load c in.jsonl --ngram 4 --threshold 2", None).code(2);
    dir.alike("load c missing.jsonl --ngram 4", None).code(3);
    dir.alike("load c in.jsonl --ngram 4", None).ok();
    let storage = storage_of(&dir);
    let after = Snapshot::open(&storage).unwrap().manifest().clone();
    assert_eq!((after.commit, after.load, after.counts.documents), (1, 1, 1));
    assert!(after.collection != before.collection && after.config.text.ngram == 4);
    assert_eq!(findings(&storage).unwrap(), []);
    dir.alike("load c in.jsonl --ngram 3", None).code(2).says("text.ngram is 4, not 3");
    // Without flags it stays that of the load that was killed, as it does when a load goes on that was interrupted later.
    fs::remove_dir_all(dir.join("c")).unwrap();
    let before = left();
    dir.alike("load c in.jsonl", None).ok();
    let after = Snapshot::open(&storage_of(&dir)).unwrap().manifest().clone();
    assert_eq!((after.commit, after.collection, after.config), (1, before.collection, before.config));
}

fn storage_of(dir: &Dir) -> Arc<dyn Storage> {
    Arc::new(Local::open(&dir.join("c")).unwrap())
}

#[test]
fn killed_at_random_moments() {
    let seed = std::env::var("ALIKE_SEED").ok().and_then(|seed| seed.parse().ok());
    let full = full();
    history(seed.unwrap_or(20), if full { 320 } else { 20 });
}
