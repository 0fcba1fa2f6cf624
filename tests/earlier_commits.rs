//! Commits that are looked at again, restored, and copied.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use alike::collection::{
    AskedText, Checker, CommitAt, Compaction, Retain, Snapshot, Writer, copy_commit, rollback,
};
use alike::config::{Clustering, Config, Method};
use alike::error::Error;
use alike::progress::Progress;
use alike::storage::{Local, Storage};
use serde_json::{Value, json};

use crate::support::history::{Bench, Load, Op, config};
use crate::support::program::Dir;
use crate::support::upkeep::{findings, squeeze};

/// Ids of documents.
const IDS: u64 = 40;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// One of some families of texts, of which most members resemble each other.
    fn text(&mut self) -> String {
        let (family, start) = (self.below(6), self.below(4));
        let word = |at: u64| format!("w{family}x{at}");
        (start..start + 7).map(word).collect::<Vec<_>>().join(" ")
    }

    fn load(&mut self) -> Load {
        let ops = (0..1 + self.below(5)).map(|_| {
            let id = self.below(IDS) as usize;
            match self.below(4) {
                0 => Op::Delete(id),
                _ => Op::Upsert(id, self.text()),
            }
        });
        Load { ops: ops.collect(), workers: 1, files: 1, epoch_bytes: None }
    }
}

/// Everything that is asked of a commit.
fn answers(snapshot: &Snapshot) -> Value {
    let (mut clusters, mut documents) = (Vec::new(), Vec::new());
    let mut add = |cluster| {
        clusters.push(json!(cluster));
        Ok(())
    };
    snapshot.clusters(&mut |cluster| add(cluster)).expect("clusters");
    let mut add = |document| {
        documents.push(json!(document));
        Ok(())
    };
    snapshot.documents(&mut |document| add(document)).expect("documents");
    clusters.sort_by_key(Value::to_string);
    documents.sort_by_key(|document| document["id"].to_string());
    let texts: Vec<String> = (0..6).map(|seed| Dice(seed).text()).collect();
    let asked: Vec<AskedText<'_>> =
        texts.iter().map(|text| AskedText { text, ..AskedText::default() }).collect();
    let mut checker = Checker::new(snapshot).expect("a checker");
    let checked = checker.check(&asked, &Progress::default()).expect("checked");
    let ids: Vec<&str> = documents.iter().filter_map(|document| document["id"].as_str()).collect();
    let pairs = ids.iter().zip(ids.iter().skip(1)).step_by(3);
    let explained: Vec<String> = pairs
        .map(|(a, b)| format!("{:?}", snapshot.explain(a, Some(b), &Progress::default()).expect("explained")))
        .collect();
    json!({ "clusters": clusters, "documents": documents, "checked": checked, "explained": explained })
}

/// The same without what differs where loads have other numbers.
fn without_numbers(mut answers: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for name in ["cluster", "first_load", "load", "file", "line", "offset"] {
                    members.remove(name);
                }
                members.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    // Clusters are named in them.
    answers["explained"] = Value::Null;
    strip(&mut answers);
    let clusters = answers["clusters"].as_array_mut().expect("clusters");
    clusters.sort_by_key(Value::to_string);
    answers
}

fn with(method: Method, clustering: Clustering) -> Config {
    let mut config = config(method);
    config.cluster.clustering = clustering;
    config
}

/// A collection of which so many commits stay.
fn kept(config: Config, retain: Retain) -> Bench {
    let bench = Bench::new(config);
    let mut writer = Writer::open(&bench.storage).expect("opened");
    writer.set_retain(retain);
    assert_eq!(writer.commit_retain().expect("committed"), Some(1));
    drop(writer);
    bench
}

fn open(bench: &Bench) -> Snapshot {
    Snapshot::open(&bench.storage).expect("opened")
}

#[test]
fn fifty_commits_answer_as_they_did() {
    for clustering in [Clustering::Transitive, Clustering::Guarantee] {
        let mut bench = kept(with(Method::Join, clustering), Retain::Commits(50));
        let (mut dice, mut then) = (Dice(7), Vec::new());
        while then.len() < 64 {
            if let Some(commit) = bench.load(&dice.load()).commit {
                let made = Snapshot::open_at(&bench.storage, &CommitAt::Number(commit)).expect("just made");
                then.push((commit, answers(&made)));
            }
        }
        let last = open(&bench);
        let merged = last.manifest().commit as usize - 1 - then.len();
        assert!(merged > 3, "runs are merged between them: {merged}");
        let (gone, stay) = then.split_at(then.len() - 50);
        let mut different = BTreeSet::new();
        for (commit, answers_then) in stay {
            let again = Snapshot::open_at(&bench.storage, &CommitAt::Number(*commit)).expect("it stays");
            assert_eq!(answers(&again), *answers_then, "commit {commit}");
            different.insert(answers_then.to_string());
        }
        assert!(different.len() > 45, "they differ from each other: {}", different.len());
        for (commit, _) in gone {
            let refused =
                Snapshot::open_at(&bench.storage, &CommitAt::Number(*commit)).expect_err("it is gone");
            let Error::NotRetained { retained, .. } = &refused else { panic!("{refused}") };
            assert_eq!(*retained, format!("{} to {}", stay[0].0, last.manifest().commit));
        }
        assert_eq!(findings(&bench.storage).expect("read"), []);
    }
}

/// Restores a commit of a bench; what was live then is live again.
fn restore(bench: &mut Bench, commit: u64, live: &std::collections::BTreeMap<usize, String>) {
    let mut writer = Writer::open(&bench.storage).expect("opened");
    let (to, progress) = (CommitAt::Number(commit), Progress::default());
    let foreseen = rollback(&mut writer, &to, (true, None), (&progress, None)).expect("foreseen");
    assert_eq!(writer.snapshot().manifest().commit + 1, foreseen.commit.expect("something changed"));
    let report = rollback(&mut writer, &to, (false, None), (&progress, None)).expect("restored");
    assert_eq!(report, foreseen);
    let (now, then) = (&bench.live, live);
    let count = |of: &dyn Fn(&usize) -> bool, all: &std::collections::BTreeMap<usize, String>| {
        all.keys().filter(|id| of(id)).count() as u64
    };
    assert_eq!(report.added, count(&|id| !now.contains_key(id), then));
    assert_eq!(report.removed, count(&|id| !then.contains_key(id), now));
    bench.live.clone_from(live);
    bench.replay(report.commit);
}

/// Both answer the same, but for the numbers of loads, and the change log of the one tells its clusters.
fn compare(bench: &Bench, twin: &Bench, what: &str) {
    // That the log tells all clusters is looked at by this, too.
    assert_eq!(bench.clusters(), twin.clusters(), "{what}");
    let (own, others) = (without_numbers(answers(&open(bench))), without_numbers(answers(&open(twin))));
    assert_eq!(own, others, "{what}");
    assert_eq!(open(bench).manifest().counts, open(twin).manifest().counts, "{what}");
    assert_eq!(findings(&bench.storage).expect("read"), [], "{what}");
}

#[test]
fn a_rollback_is_a_collection_without_the_later_loads() {
    let configs = [
        with(Method::Join, Clustering::Transitive),
        with(Method::Join, Clustering::Guarantee),
        with(Method::Minhash, Clustering::Transitive),
        with(Method::Shingles, Clustering::Guarantee),
    ];
    for (seed, config) in (0..24).zip(configs.iter().cycle()) {
        let mut dice = Dice(seed * 1000);
        let (mut bench, mut twin) =
            (kept(config.clone(), Retain::Commits(100)), kept(config.clone(), Retain::Commits(100)));
        let both = |bench: &mut Bench, twin: &mut Bench, dice: &mut Dice| {
            let load = dice.load();
            bench.load(&load);
            twin.load(&load);
        };
        (0..seed % 7).for_each(|_| both(&mut bench, &mut twin, &mut dice));
        let (commit, live, replayed) =
            (open(&bench).manifest().commit, bench.live.clone(), bench.replayed.clone());
        let numbers_then = answers(&open(&bench));
        let more = |bench: &mut Bench, dice: &mut Dice| {
            (0..1 + seed % 9).for_each(|_| drop(bench.load(&dice.load())));
        };
        more(&mut bench, &mut dice);
        if seed % 3 == 0 {
            squeeze(&bench.storage, Compaction::Full).expect("merged");
        }
        bench.load(&Load {
            ops: vec![Op::Upsert(99, "a b c d e f g h".into())],
            workers: 1,
            files: 1,
            epoch_bytes: None,
        });
        let middle = (open(&bench).manifest().commit, bench.live.clone(), answers(&open(&bench)));
        let what = format!("seed {seed}");
        restore(&mut bench, commit, &live);
        assert_eq!((&bench.replayed, answers(&open(&bench))), (&replayed, numbers_then), "{what}");
        compare(&bench, &twin, &what);
        for load in 0..4 {
            both(&mut bench, &mut twin, &mut dice);
            compare(&bench, &twin, &format!("{what}, load {load} afterwards"));
        }
        squeeze(&bench.storage, Compaction::Full).expect("merged");
        compare(&bench, &twin, &format!("{what}, merged"));
        // What came between can be looked at, and be restored as well.
        let between = Snapshot::open_at(&bench.storage, &CommitAt::Number(middle.0)).expect("it stays");
        assert_eq!(answers(&between), middle.2, "{what}");
        restore(&mut bench, middle.0, &middle.1);
        assert_eq!(answers(&open(&bench)), middle.2, "{what}");
    }
}

#[test]
fn no_name_is_used_twice() {
    let mut bench = kept(with(Method::Join, Clustering::Transitive), Retain::Commits(100));
    let (mut dice, mut runs, mut before) = (Dice(3), BTreeSet::new(), open(&bench).manifest().clone());
    for turn in 0..12 {
        for _ in 0..3 {
            bench.load(&dice.load());
        }
        let now = open(&bench).manifest().clone();
        // Of all runs there ever were only those of the commit that is restored come back.
        let new = now.runs.iter().filter(|run| run.id >= before.next_run);
        assert!(new.into_iter().all(|run| runs.insert(run.id)), "turn {turn}");
        let counters = |of: &alike::collection::Manifest| {
            [
                of.next_run,
                of.load,
                of.commit,
                of.next_content.into(),
                of.next_label.into(),
                of.next_file.into(),
            ]
        };
        assert!(counters(&now).iter().zip(counters(&before)).all(|(now, before)| *now >= before));
        before = now;
        let target = open(&bench).older().expect("listed")[dice.below(4) as usize];
        let mut writer = Writer::open(&bench.storage).expect("opened");
        let to = CommitAt::Number(target);
        let report =
            rollback(&mut writer, &to, (false, None), (&Progress::default(), None)).expect("restored");
        drop(writer);
        bench.replay(report.commit);
        let after = open(&bench).manifest().clone();
        let then = Snapshot::open_at(&bench.storage, &to).expect("it stays").manifest().clone();
        assert_eq!((after.runs, after.counts, after.next_run), (then.runs, then.counts, before.next_run));
        assert_eq!(findings(&bench.storage).expect("read"), []);
    }
}

#[test]
fn nothing_to_roll_back_is_no_commit() {
    let mut bench = kept(with(Method::Join, Clustering::Transitive), Retain::Commits(9));
    bench.load(&Dice(1).load());
    let commit = open(&bench).manifest().commit;
    squeeze(&bench.storage, Compaction::Full).expect("merged");
    let mut writer = Writer::open(&bench.storage).expect("opened");
    let to = CommitAt::Number(commit);
    let report = rollback(&mut writer, &to, (false, None), (&Progress::default(), None)).expect("looked");
    assert_eq!((report.commit, report.changes), (None, 0));
    assert_eq!(open(&bench).manifest().commit, commit + 1);
    let error = rollback(&mut writer, &CommitAt::Number(99), (false, None), (&Progress::default(), None));
    assert!(matches!(error, Err(Error::NotRetained { .. })));
}

/// Lines of documents that resemble each other in families of three.
fn lines(ids: std::ops::Range<u32>) -> String {
    let words =
        |family: u32| (0..9).map(|at| format!("word{}", family * 9 + at)).collect::<Vec<_>>().join(" ");
    ids.map(|id| format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", words(id / 3))).collect()
}

#[test]
fn older_commits_are_asked_for_by_number_and_time() {
    let dir = Dir::new();
    for (file, ids) in [("1", 0..6), ("2", 3..9), ("3", 6..15)] {
        dir.write(&format!("{file}.jsonl"), lines(ids));
    }
    dir.alike("load c 1.jsonl --retain 3", None).ok();
    let first = dir.alike("clusters c --json", None).ok().stdout;
    dir.alike("load c 2.jsonl", None).ok();
    dir.alike("load c 3.jsonl", None).ok();
    let last = dir.alike("clusters c --json", None).ok().stdout;
    assert!(first != last);
    assert_eq!(dir.alike("clusters c --json --at 1", None).ok().stdout, first);
    assert_eq!(dir.alike("clusters c --json --at 9999-01-01", None).ok().stdout, last);
    let log = dir.alike("log c --json", None).ok().stdout;
    let rows: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().all(|row| row["retained"] == true) && rows.len() == 3, "{log}");
    let time = rows[2]["time"].as_str().unwrap();
    // All three may be of one second: the last of them is meant.
    let then = dir.alike(&format!("clusters c --json --at {time}"), None).ok().stdout;
    assert!([&first, &last].contains(&&then) || rows[1]["time"] == rows[2]["time"]);
    for line in [
        "documents c",
        "stats c",
        "info c",
        "pairs c",
        "recluster c",
        "log c",
        "changes c",
        "fsck c",
        "show c 1.1",
    ] {
        dir.alike(&format!("{line} --at 1"), None).ok();
    }
    assert_eq!(dir.alike("documents c --at 1 --json", None).ok().stdout.lines().count(), 6);
    dir.alike("explain c 8 --at 1", None).code(2);
    dir.alike("explain c 8", None).ok();
    dir.write("draft.txt", (0..9).map(|at| format!("word{} ", 4 * 9 + at)).collect::<String>());
    let found = |at: &str| dir.alike(&format!("check c draft.txt --json {at}"), None).ok().stdout;
    assert!(found("").contains("\"12\"") && !found("--at 1").contains("\"12\""));
    dir.alike("export c --out clean --at 1", None).ok();
    dir.alike("report c --out page.html --at 1 -q", None).ok();
    for (at, said) in [
        ("1999-01-01", "the commit of 1999-01-01 cannot be looked at again; those that can: 1 to "),
        ("99", "there is no commit 99 yet; it cannot be looked at again"),
        ("yesterday", "a day like 2026-11-20"),
    ] {
        dir.alike(&format!("clusters c --at {at}"), None).code(2).says(said);
    }
    dir.alike("dedup 1.jsonl --out out", None).ok();
    dir.alike("explain out 1 --at 1", None).code(2).says("which has no commits");
    dir.alike("load c 1.jsonl --retain 0", None).code(2).says("like 30d");
}

#[test]
fn change_logs_go_with_the_window() {
    let dir = Dir::new();
    for turn in 0..6 {
        dir.write("in.jsonl", lines(turn..turn + 4));
        let retain = if turn == 0 { "--retain 2" } else { "" };
        dir.alike(&format!("load c in.jsonl -w 1 {retain}"), None).ok();
    }
    let info = || serde_json::from_str::<Value>(&dir.alike("info c --json", None).ok().stdout).unwrap();
    let number = |name: &str| info()[name].as_u64().unwrap();
    let logged = || {
        let lines = dir.alike("log c --json", None).ok().stdout;
        let row = |line| serde_json::from_str::<Value>(line).unwrap()["commit"].as_u64().unwrap();
        lines.lines().map(row).collect::<Vec<u64>>()
    };
    assert_eq!(info()["retain"], "2");
    let (gone, logs) = (number("changes_after"), logged());
    assert_eq!((logs.len(), number("retained_from")), (2, logs[1].min(number("commit") - 1)));
    assert!(gone > 1 && gone < logs[1], "{gone}, {logs:?}");
    let before = gone - 1;
    let refused = dir.alike(&format!("changes c --since {before}"), None).code(2);
    refused.says(&format!("up to commit {gone} are gone")).says(&format!("--since {gone}"));
    dir.alike(&format!("changes c --since {gone}"), None).ok();
    dir.alike("changes c", None).ok().says(&format!("up to commit {gone} are gone"));
    dir.alike("log c", None).ok().says(&format!("commits up to {gone} are known no more"));
    // A commit that stays has the logs that it had.
    dir.alike(&format!("changes c --since {before} --at {}", logs[1]), None).ok();
    let commit = number("commit");
    dir.alike("load c in.jsonl --retain 30d", None).ok().says(&format!("commit {}", commit + 1));
    assert_eq!((info()["retain"].as_str(), number("commit")), (Some("30d"), commit + 1));
    dir.alike("compact c --retain 1", None).ok();
    // Compactions do not count: the last commit that changed anything is the first that stays.
    let newest = logs[0];
    assert_eq!((number("commit"), number("retained_from"), logged()), (commit + 2, newest, vec![newest]));
    dir.alike("delete c --ids - --retain 3", Some(b"")).ok();
    assert_eq!((info()["retain"].as_str(), number("retained_from")), (Some("3"), newest));
    dir.alike("fsck c", None).ok();
}

#[test]
fn a_collection_is_rolled_back() {
    let dir = Dir::new();
    dir.write("1.jsonl", lines(0..6));
    dir.write("2.jsonl", lines(3..12));
    dir.alike("load c 1.jsonl --retain 9", None).ok();
    let first = dir.alike("clusters c --json", None).ok().stdout;
    dir.alike("load c 2.jsonl", None).ok();
    let info = || serde_json::from_str::<Value>(&dir.alike("info c --json", None).ok().stdout).unwrap();
    let last = info()["commit"].as_u64().unwrap();
    let (disk, next) = (info()["disk_bytes"].clone(), last + 1);
    let ran = dir.alike("rollback c --to 1 --dry-run", None).ok();
    ran.says(&format!("there would be commit {next}, as commit 1 was")).says("6 would be removed");
    assert_eq!((&info()["disk_bytes"], info()["commit"].as_u64()), (&disk, Some(last)));
    dir.alike("rollback c --to 1", None).ok().says(&format!("commit {next} is as commit 1 was"));
    assert_eq!(dir.alike("clusters c --json", None).ok().stdout, first);
    dir.alike(&format!("rollback c --to {next}"), None).ok().says("nothing was changed since");
    let log = dir.alike("log c --json", None).ok().stdout;
    let row: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!((row["command"].as_str(), row["restored"].as_u64()), (Some("rollback"), Some(1)));
    assert_eq!(row["removed"].as_u64(), Some(6));
    dir.alike(&format!("rollback c --to {last}"), None).ok().says(&format!("as commit {last} was"));
    dir.alike("rollback c --to 77", None).code(2).says("cannot be looked at again");
    // Back to nothing at all, and on from there.
    dir.alike("rollback c --to 0", None).ok().says("0 documents");
    dir.alike("load c 1.jsonl", None).ok();
    dir.alike("fsck c", None).ok();
    let members = |text: &str| {
        let rows =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["members"].to_string());
        rows.collect::<BTreeSet<String>>()
    };
    assert_eq!(members(&dir.alike("clusters c --json", None).ok().stdout), members(&first));
    // Whoever gives the command again, not knowing that it was done: commit 1 is no longer kept then.
    dir.alike("load d 1.jsonl", None).ok();
    dir.alike("load d 2.jsonl", None).ok();
    dir.alike("rollback d --to 1", None).ok().says("is as commit 1 was");
    dir.alike("clusters d --at 1", None).code(2).says("cannot be looked at again");
    dir.alike("rollback d --to 1", None).ok().says("nothing was changed since");
    dir.alike("rollback d --to 0", None).code(2).says("cannot be looked at again");
}

#[test]
fn a_copy_is_a_collection_of_its_own() {
    let dir = Dir::new();
    dir.write("1.jsonl", lines(0..6));
    dir.write("2.jsonl", lines(3..12));
    dir.alike("load c 1.jsonl --retain 9", None).ok();
    let first = dir.alike("clusters c --json", None).ok().stdout;
    dir.alike("load c 2.jsonl", None).ok();
    let last = dir.alike("clusters c --json", None).ok().stdout;
    dir.alike("copy c now", None).ok().says(" linked and not copied");
    dir.alike("copy c then --at 1", None).ok().says("commit 1");
    assert_eq!(dir.alike("clusters now --json", None).ok().stdout, last);
    assert_eq!(dir.alike("clusters then --json", None).ok().stdout, first);
    dir.alike("copy c now", None).code(2).says("exists already");
    dir.alike("copy c no/where", None).code(2).says("no folder to make the copy in");
    dir.alike("copy c s3://bucket/x", None).code(2);
    dir.alike("copy none x", None).code(4);
    // Each goes its own way.
    dir.alike("load then 2.jsonl", None).ok();
    assert_eq!(dir.alike("clusters then --json", None).ok().stdout, last);
    dir.alike("delete now --ids - --max-delete 100%", Some(b"0\n1\n2\n3\n")).ok();
    dir.alike("compact now", None).ok();
    dir.alike("compact c", None).ok();
    for collection in ["c", "now", "then"] {
        dir.alike(&format!("fsck {collection}"), None).ok();
    }
    assert_eq!(dir.alike("clusters c --json", None).ok().stdout, last);
    assert!(dir.names().iter().all(|name| !name.contains("partial")), "{:?}", dir.names());
}

/// Whatever loads meanwhile: each copy is one commit, whole.
#[test]
fn a_copy_beside_loads_is_one_commit() {
    let dir = Dir::new();
    let collection = alike::Collection::at(dir.join("c")).workers(1);
    let text = |at: usize| (at..at + 12).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    collection.load([("0", text(0))]).expect("loaded");
    let over = AtomicBool::new(false);
    let copies = thread::scope(|scope| {
        let loads = scope.spawn(|| {
            for load in 1..60 {
                collection.load([(load.to_string(), text(load * 5))]).expect("loaded");
            }
            over.store(true, Ordering::Relaxed);
        });
        let (mut commits, mut number) = (BTreeSet::new(), 0);
        while !over.load(Ordering::Relaxed) {
            let place = dir.join(&format!("copy{number}"));
            number += 1;
            copy_commit(&dir.join("c"), None, &place, &Arc::new(Progress::default())).expect("copied");
            let storage: Arc<dyn Storage> = Arc::new(Local::open(&place).expect("a folder"));
            let manifest = Snapshot::open(&storage).expect("opened").manifest().clone();
            assert_eq!(manifest.counts.documents, manifest.load, "a load each");
            assert_eq!(findings(&storage).expect("read"), []);
            commits.insert(manifest.commit);
        }
        loads.join().expect("no panic");
        commits
    });
    assert!(copies.len() > 3, "{copies:?}");
}

/// Bytes of a folder in memory, and of the change logs in it.
fn bytes(bench: &Bench) -> (u64, u64) {
    let (mut all, mut logs) = (0, 0);
    for name in bench.storage.names().expect("names") {
        let bytes = bench.storage.open(&name).and_then(|file| file.len()).expect("a file");
        all += bytes;
        logs += if name.starts_with("changes-") { bytes } else { 0 };
    }
    (all, logs)
}

#[expect(clippy::print_stdout, reason = "whoever wants to know the figures asks for them")]
fn show(figures: &str) {
    println!("{figures}");
}

/// Change logs and manifests of many small loads do not fill the disk where a window ends them.
#[test]
fn three_hundred_small_loads_are_bounded_by_the_window() {
    let config = || with(Method::Join, Clustering::Transitive);
    let figures = [None, Some(2), Some(20)].map(|retain| {
        let mut bench = match retain {
            Some(count) => kept(config(), Retain::Commits(count)),
            None => Bench::new(config()),
        };
        let mut dice = Dice(11);
        for _ in 0..300 {
            bench.load(&dice.load());
        }
        let names = bench.storage.names().expect("names");
        let logs = names.iter().filter(|name| name.starts_with("changes-")).count();
        let figures = (retain, names.len(), logs, bytes(&bench));
        show(&format!("retain, files, change logs, (bytes, of change logs): {figures:?}"));
        figures
    });
    let logs = figures.map(|(_, _, logs, _)| logs);
    assert!(logs[0] > 250, "{logs:?}");
    // Those that the window has, and those that the oldest commit in it has.
    assert!(logs[1] <= 2 * 2 + 2 && logs[2] <= 2 * 20 + 2, "{logs:?}");
    assert!(figures[1].3.0 < figures[0].3.0, "{figures:?}");
}
