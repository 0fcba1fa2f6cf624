//! Processes that keep their runs in folders of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::job::{Process, Shape, at_free_ports, command};
use crate::support::loads::Seen;
use crate::support::program::{Dir, Ran};

/// The folder for the local runs of a process, on its machine.
pub(crate) const STATE: &str = "state";

/// More processes than any job here has.
pub(crate) const MANY: usize = 8;

/// Where a process runs: process 0 where the collection `c` is, each other one in a folder where there is none.
pub(crate) fn machine(dir: &Dir, index: usize) -> PathBuf {
    if index == 0 { dir.path().to_path_buf() } else { dir.join(&format!("machine{index}")) }
}

/// Where the processes of a job keep what they write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum States {
    /// Each on its own machine.
    Apart,
    /// All in one folder.
    OneFolder,
}

impl States {
    /// Process `index` of those at `hosts`.
    pub(crate) fn command(self, dir: &Dir, hosts: &[String], index: usize, line: &str) -> Command {
        let (mut command, machine) = (command(dir, hosts, index, line), machine(dir, index));
        fs::create_dir_all(&machine).unwrap();
        command.arg("--local-state").current_dir(machine);
        match self {
            States::Apart => command.arg(STATE),
            States::OneFolder => command.arg(dir.join(STATE)),
        };
        command
    }

    /// Runs a job: how all of its processes ended, process 0 first.
    #[track_caller]
    pub(crate) fn job(self, dir: &Dir, (processes, workers): Shape, line: &str) -> Vec<Ran> {
        let line = match line.starts_with("compact") {
            true => line.to_owned(),
            false => format!("{line} -w {workers}"),
        };
        at_free_ports(processes, |hosts, index| Process::start(self.command(dir, hosts, index, &line), &line))
    }

    /// Runs a job that must succeed in all of its processes: what process 0 wrote.
    #[track_caller]
    pub(crate) fn done(self, dir: &Dir, shape: Shape, line: &str) -> Ran {
        let mut all = self.job(dir, shape, line).into_iter().map(Ran::ok).collect::<Vec<_>>();
        all.swap_remove(0)
    }
}

/// Names of runs in a folder, if it is there.
pub(crate) fn runs(folder: PathBuf) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("run-")).collect()
}

/// The folder with what a process keeps of the collection `c`, and the name of that folder.
pub(crate) fn kept(dir: &Dir, index: usize) -> (PathBuf, String) {
    let (_, manifest) = manifests(dir).pop_last().unwrap();
    let name = format!("collection-{}", manifest["collection"].as_str().unwrap());
    (machine(dir, index).join(STATE).join(&name), name)
}

/// The manifests of the collection `c`, by commit.
pub(crate) fn manifests(dir: &Dir) -> BTreeMap<u64, Value> {
    let entries = fs::read_dir(dir.join("c")).unwrap().map(Result::unwrap);
    let manifest = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        let commit = name.strip_prefix("manifest-")?.parse().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        Some((commit, serde_json::from_str(text.split_once('\n').unwrap().1).unwrap()))
    };
    entries.filter_map(manifest).collect()
}

/// The runs that the last commit and the one before it name, by the process that keeps them.
pub(crate) fn named(dir: &Dir) -> BTreeMap<usize, BTreeSet<String>> {
    let mut named: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for run in manifests(dir).values().flat_map(|manifest| manifest["runs"].as_array().unwrap()) {
        let (id, keeper) = (run["id"].as_u64().unwrap(), &run["keeper"]);
        let process = keeper["process"].as_u64().unwrap_or(0) as usize;
        let of = keeper["job"].as_str().map(|job| format!("-of-{process}-{job}")).unwrap_or_default();
        named.entry(process).or_default().insert(format!("run-{id:08}{of}"));
    }
    named
}

/// Every machine has the runs that are named with its process, and no others.
#[track_caller]
pub(crate) fn in_place(dir: &Dir, what: &str) {
    let named = named(dir);
    let nothing = BTreeSet::new();
    assert_eq!(runs(dir.join("c")), *named.get(&0).unwrap_or(&nothing), "{what}: folder of the collection");
    for index in 0..MANY {
        let want = named.get(&index).filter(|_| index > 0).unwrap_or(&nothing);
        assert_eq!(runs(kept(dir, index).0), *want, "{what}: process {index}");
        assert!(index == 0 || !machine(dir, index).join("c").exists(), "{what}: process {index}");
    }
}

/// The collection `c` with what all processes keep of it, once that is in one folder.
pub(crate) const POOLED: &str = "c --local-state pool";

/// What a reader sees of the collection `c`, who has what all processes keep.
#[track_caller]
pub(crate) fn seen(dir: &Dir) -> Seen {
    pool(dir);
    Seen::of(dir, POOLED)
}

/// A folder with what all processes keep, for whoever looks at the collection from one place.
#[track_caller]
pub(crate) fn pool(dir: &Dir) {
    let name = kept(dir, 0).1;
    let _ = fs::remove_dir_all(dir.join("pool"));
    fs::create_dir_all(dir.join("pool").join(&name)).unwrap();
    for index in 0..MANY {
        let folder = kept(dir, index).0;
        for run in runs(folder.clone()) {
            fs::hard_link(folder.join(&run), dir.join("pool").join(&name).join(&run)).unwrap();
        }
    }
}
