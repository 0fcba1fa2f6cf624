//! `kill -9` at every step of a commit, of loads, deletions and compactions, in a real folder.
//!
//! The product knows nothing of it: this program runs itself as a child that works through a storage which ends its own
//! process just before or just after an operation that the parent has chosen. ALIKE_FULL=1 takes every occurrence of
//! every step three times; otherwise it is the first and the last of each, once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, io};

use alike::collection::{Compaction, Snapshot, Writer, compact};
use alike::config::Method;
use alike::progress::Progress;
use alike::storage::{FileWriter, Local, Lock, Reader, Storage};

use crate::support::corpora::full;
use crate::support::history::{Bench, Op, config};
use crate::support::seen::{Seen, expected, try_seen};
use crate::support::upkeep::{findings, first, load, put, squeeze};

/// Tells a child what to do: the folder, the job, the number of the operation (or none), and `before` or `after`.
const ORDERS: &str = "ALIKE_TEST_STEPS";

/// What a process that is killed ends with.
const SIGKILL: i32 = 9;

/// Steps of a commit that are named, each of which must occur in some job.
const STEPS: [&str; 18] = [
    "run created",
    "run written",
    "run synced",
    "changes created",
    "changes written",
    "changes synced",
    "new-manifest created",
    "new-manifest written",
    "new-manifest synced",
    "names synced before publishing",
    "manifest linked",
    "names synced after publishing",
    "new-manifest removed",
    "manifest removed",
    "run removed",
    "names synced after tidying",
    "names synced when opened",
    "run removed when opened",
];

/// A folder that counts what changes it, and ends the process at one such operation.
#[derive(Clone, Debug)]
struct Deadly {
    inner: Arc<dyn Storage>,
    orders: Arc<Orders>,
}

#[derive(Debug)]
struct Orders {
    /// The operation, if any, and whether it is done before the process ends.
    fatal: Option<(usize, bool)>,
    count: AtomicUsize,
    /// How far the commit has come, and what was done so far.
    stage: Mutex<(&'static str, Vec<String>)>,
}

impl Orders {
    fn new(fatal: Option<(usize, bool)>) -> Arc<Orders> {
        Arc::new(Orders {
            fatal,
            count: AtomicUsize::new(0),
            stage: Mutex::new((" when opened", Vec::new())),
        })
    }

    /// Does a step, unless it is the last thing that happens.
    fn step<T>(&self, name: &str, what: &str, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        // Whatever the writer of an unfinished manifest has drawn.
        let name = if name.starts_with("new-manifest-") { "new-manifest-0" } else { name };
        let kind = name.trim_end_matches(|c: char| c.is_ascii_digit()).split('-').collect::<Vec<_>>();
        let kind = kind[..kind.len() - 1].join("-");
        let mut stage = self.stage.lock().unwrap();
        if what == "created" && [" when opened", " after tidying"].contains(&stage.0) {
            stage.0 = " before publishing";
        }
        let named = match (name, what) {
            ("", _) => format!("names synced{}", stage.0),
            (_, "removed") if stage.0 == " when opened" => format!("{kind} removed when opened"),
            _ => format!("{kind} {what}"),
        };
        stage.1.push(named);
        match (name, what, stage.0) {
            (_, "linked", _) => stage.0 = " after publishing",
            ("", _, " after publishing") => stage.0 = " after tidying",
            _ => {}
        }
        drop(stage);
        match self.fatal {
            Some((fatal, false)) if fatal == number => die(),
            Some((fatal, true)) if fatal == number => {
                work().unwrap();
                die()
            }
            _ => work(),
        }
    }
}

/// `kill -9` of this process.
fn die() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    unreachable!("a process cannot refuse to be killed");
}

#[derive(Debug)]
struct DeadlyFile {
    inner: Box<dyn FileWriter>,
    name: String,
    orders: Arc<Orders>,
}

impl FileWriter for DeadlyFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.orders.step(&self.name, "written", || self.inner.append(bytes))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.orders.step(&self.name, "synced", || self.inner.sync())
    }
}

impl Storage for Deadly {
    fn names(&self) -> io::Result<Vec<String>> {
        self.inner.names()
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
        let inner = self.orders.step(name, "created", || self.inner.create(name))?;
        Ok(Box::new(DeadlyFile { inner, name: name.to_owned(), orders: Arc::clone(&self.orders) }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
        self.inner.open(name)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.orders.step(to, "linked", || self.inner.link(from, to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.orders.step(name, "removed", || self.inner.remove(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.orders.step("", "synced", || self.inner.sync_names())
    }

    fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
        self.inner.lock()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.inner.path(name)
    }
}

/// What a child does. Each can be done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Job {
    Load,
    Delete,
    Compact,
}

impl Job {
    fn load(self) -> Option<crate::support::history::Load> {
        match self {
            Job::Load => Some(load(vec![put(1, "p q r s t"), put(6, "c d e f g h"), Op::Delete(5)])),
            Job::Delete => Some(load(vec![Op::Delete(1), Op::Delete(4)])),
            Job::Compact => None,
        }
    }

    fn run(self, bench: &mut Bench, names: &[String]) {
        match self.load() {
            Some(load) => {
                let mut writer = Writer::open(&bench.storage).expect("opened");
                bench.load_by(&mut writer, names, load.workers, load.epoch_bytes).expect("loaded");
            }
            None => {
                let mut writer = Writer::open(&bench.storage).expect("opened");
                compact(&mut writer, Compaction::Full, &Progress::default()).expect("compacted");
            }
        }
    }
}

/// The process that is killed. In any other there is nothing to do.
#[test]
fn child() {
    let Some(orders) = std::env::var_os(ORDERS) else { return };
    let orders = orders.into_string().expect("UTF-8");
    let [folder, job, number, place, log] =
        orders.split('|').collect::<Vec<_>>().try_into().expect("five orders");
    let job = match job {
        "Load" => Job::Load,
        "Delete" => Job::Delete,
        _ => Job::Compact,
    };
    let orders = Orders::new(number.parse().ok().map(|number| (number, place == "after")));
    let inner: Arc<dyn Storage> = Arc::new(Local::open(Path::new(folder)).expect("opened"));
    let mut bench = Bench::new(config(Method::Shingles));
    bench.storage = Arc::new(Deadly { inner, orders: Arc::clone(&orders) });
    let names = job.load().map_or_else(Vec::new, |load| bench.write(&load));
    job.run(&mut bench, &names);
    fs::write(log, orders.stage.lock().expect("whole").1.join("\n")).expect("written");
}

/// A collection in a real folder before a job, and what is there after it.
struct Scene {
    bench: Bench,
    names: Vec<String>,
    job: Job,
    before: Seen,
    after: Seen,
}

impl Scene {
    /// A folder whose last commit superseded runs, which go with the next one, and where a killed load left something.
    fn new(job: Job) -> Scene {
        let mut bench = Bench::new(config(Method::Shingles));
        let base = bench.dir.join("base");
        let storage: Arc<dyn Storage> = Arc::new(Local::create(&base).expect("made"));
        drop(Writer::create(&storage, bench.config.clone(), false).expect("created"));
        bench.storage = storage;
        for load in [first(), load(vec![put(7, "x y z")]), load(vec![put(7, "x y w"), put(8, "x y")])] {
            bench.try_load(&load).expect("loaded");
        }
        squeeze(&bench.storage, Compaction::Full).expect("compacted");
        let before = expected(&bench);
        assert_eq!(try_seen(&bench.storage).expect("read"), before);
        let names = job.load().map_or_else(Vec::new, |load| bench.write(&load));
        let after = expected(&bench);
        // As a killed load leaves them.
        for name in ["run-00000900", "new-manifest-00000900", "changes-00000900.jsonl"] {
            fs::write(base.join(name), "half").expect("written");
        }
        Scene { bench, names, job, before, after }
    }

    /// A fresh copy of the folder.
    fn copy(&self) -> PathBuf {
        let (from, to) = (self.bench.dir.join("base"), self.bench.dir.join("copy"));
        let _ = fs::remove_dir_all(&to);
        fs::create_dir(&to).expect("made");
        for name in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("a file")) {
            fs::copy(name.path(), to.join(name.file_name())).expect("copied");
        }
        to
    }

    /// Runs the job in another process, on a fresh copy. The steps that it took, if it was not killed.
    fn child(&self, number: Option<usize>, after: bool) -> Option<Vec<String>> {
        let (folder, log) = (self.copy(), self.bench.dir.join("log"));
        let number = number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let place = if after { "after" } else { "before" };
        let orders = format!("{}|{:?}|{number}|{place}|{}", folder.display(), self.job, log.display());
        let ended = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "steps::child", "--nocapture", "--test-threads=1"])
            .env(ORDERS, OsString::from(orders))
            .output()
            .expect("a process");
        if ended.status.signal() == Some(SIGKILL) {
            return None;
        }
        assert!(ended.status.success(), "{ended:?}");
        Some(fs::read_to_string(log).expect("a log").lines().map(str::to_owned).collect())
    }

    /// What must hold after a kill: `published` if the commit had its name.
    fn check(&mut self, published: bool, what: &str) {
        let folder = self.bench.dir.join("copy");
        self.bench.storage = Arc::new(Local::open(&folder).expect("opened"));
        let seen = try_seen(&self.bench.storage).unwrap_or_else(|error| panic!("{what}: {error}"));
        let right = if published { &self.after } else { &self.before };
        assert_eq!(&seen, right, "{what}");
        assert_eq!(findings(&self.bench.storage).expect("read"), [], "{what}");
        self.job.run(&mut self.bench, &self.names);
        assert_eq!(try_seen(&self.bench.storage).expect("read"), self.after, "{what}, again");
        assert_eq!(findings(&self.bench.storage).expect("read"), [], "{what}, again");
        let snapshot = Snapshot::open(&self.bench.storage).expect("opened");
        let last = snapshot.manifest().commit;
        let names = self.bench.storage.names().expect("names");
        assert!(!names.iter().any(|name| name.starts_with("new-") || name.contains("900")), "{names:?}");
        let manifests = names.iter().filter(|name| name.starts_with("manifest-")).count();
        assert!(manifests == 2, "{what}: {names:?} after commit {last}");
    }
}

#[test]
fn killed_at_every_step() {
    let full = full();
    let mut kills: BTreeMap<String, usize> = BTreeMap::new();
    for job in [Job::Load, Job::Delete, Job::Compact] {
        let mut scene = Scene::new(job);
        let steps = scene.child(None, false).expect("not killed");
        let linked = steps.iter().position(|step| step == "manifest linked").expect("a commit");
        let mut places: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            places.entry(step).or_default().push(number);
        }
        for (step, all) in places {
            let ends: BTreeSet<usize> = [all[0], all[all.len() - 1]].into();
            let chosen: Vec<usize> = if full { all.repeat(3) } else { ends.into_iter().collect() };
            for (number, after) in chosen.into_iter().flat_map(|number| [(number, false), (number, true)]) {
                let what = format!(
                    "{job:?}, operation {number}, {step}, {}",
                    if after { "after" } else { "before" }
                );
                assert!(scene.child(Some(number), after).is_none(), "{what}: it lived on");
                scene.check(number > linked || after && number == linked, &what);
                *kills.entry(step.clone()).or_default() += 1;
            }
        }
    }
    let missing: Vec<&str> = STEPS.into_iter().filter(|step| !kills.contains_key(*step)).collect();
    assert!(missing.is_empty(), "{missing:?} of {kills:?}");
    let few: Vec<_> = kills.iter().filter(|(_, kills)| **kills < 3).collect();
    assert!(few.is_empty(), "killed too seldom: {few:?}");
}
