//! Loads that are cut off between their epochs: they go on, and come to what they would have come to at once.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::support::storage::{Fault, Simulated};
use alike::collection::{Batch, Prepared, Report, Writer, prepare};
use alike::config::Method;
use alike::error::Error;
use alike::flow::Components;
use alike::limits::{BASE_MEMORY, WORKER_MEMORY};
use alike::progress::Progress;
use alike::read::{Rejected, discover};
use alike::resources::Resources;
use alike::simd::Simd;
use alike::storage::{Local, Storage};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

#[cfg(feature = "parquet")]
use crate::support::columns::{Columns, Made};
use crate::support::cut_off::{start, until_epoch};
use crate::support::history::config;
use crate::support::output::jsonl;
use crate::support::program::{Dir, Ran};
use crate::support::seen::try_seen;
use crate::support::texts::{Random, gzip, line, words, zst};
use crate::support::upkeep::findings;

/// What a load came to, and what it refused.
type Done = (Report, Vec<Rejected>);

/// A load of the folder `in` in small epochs.
fn load(dir: &Dir, storage: &Arc<dyn Storage>) -> Result<Done, Error> {
    finish(storage, batch_of(dir, "in", None, 2000)?)
}

fn batch(dir: &Dir, memory: Option<u64>, epoch_bytes: u64) -> Result<Batch, Error> {
    batch_of(dir, "in.jsonl", memory, epoch_bytes)
}

/// A load of an input within a memory, in epochs of at most so many bytes.
fn batch_of(dir: &Dir, name: &str, memory: Option<u64>, epoch_bytes: u64) -> Result<Batch, Error> {
    Ok(Batch {
        sources: discover(&[dir.join(name).to_string_lossy().into_owned()], &dir.join("."))?.sources,
        epoch_bytes: Some(epoch_bytes),
        left_out: Default::default(),
        delete_missing: false,
        lexicon: None,
        components: Components::Forest,
        command: None,
        resources: Resources {
            workers: 1,
            memory,
            simd: Simd::detect(),
            scratch: dir.join("."),
            peers: None,
        },
    })
}

/// A load of `in.jsonl`.
fn load_within(
    dir: &Dir,
    storage: &Arc<dyn Storage>,
    memory: Option<u64>,
    epoch_bytes: u64,
) -> Result<Done, Error> {
    finish(storage, batch(dir, memory, epoch_bytes)?)
}

fn finish(storage: &Arc<dyn Storage>, batch: Batch) -> Result<Done, Error> {
    let mut writer = Writer::open(storage)?;
    let prepared = prepare(&mut writer, batch, Arc::new(Progress::default()))?;
    let rejected = prepared.rejected().cloned().collect();
    Ok((prepared.commit()?, rejected))
}

/// Refused records are listed in full when a load goes on, and checkpoints do not grow with them.
#[test]
fn refused_records_outlive_an_interruption() {
    let dir = Dir::new();
    let mut lines = String::new();
    for number in 0..60 {
        lines += &line(&format!("d{number}"), &format!("some text {} and more", number % 7));
        lines += &"no record at all\n".repeat(number % 4);
    }
    dir.write("in/a.jsonl", lines);
    outlives_interruptions(&dir);
}

/// Rows of 60 documents, which go over several lines, and of 90 that are refused, each text longer by a filler.
fn rows(filler: usize) -> Vec<String> {
    let row = |number: usize| {
        let text = format!("some text\n{} and \"\"more\"\"\r\n{}", number % 7, "x".repeat(filler));
        format!("d{number},\"{text}\"\n") + &"no,row,at all\r\n".repeat(number % 4)
    };
    (0..60).map(row).collect()
}

/// The same of files of rows, plain and packed.
#[test]
fn files_of_rows_outlive_an_interruption() {
    let dir = Dir::new();
    for (at, rows) in rows(0).chunks(6).enumerate() {
        let content = format!("id,text\n{}", rows.concat()).into_bytes();
        match at % 3 {
            0 => dir.write(&format!("in/{at}.csv"), content),
            1 => dir.write(&format!("in/{at}.csv.gz"), gzip(&content, 100)),
            _ => dir.write(&format!("in/{at}.csv.zst"), zst(&content, 100)),
        }
    }
    outlives_interruptions(&dir);
}

/// The same of a file whose records are no stretches of bytes: epochs end between row groups.
#[cfg(feature = "parquet")]
#[test]
fn rows_of_columns_outlive_an_interruption() {
    let dir = Dir::new();
    let mut rows = Vec::new();
    for number in 0..60 {
        let row = |id: String, text| Columns { id, text, ..Columns::default() };
        rows.push(row(format!("d{number}"), Some(format!("some text {} and more", number % 7))));
        rows.extend((0..number % 4).map(|at| row(format!("none{number}.{at}"), None)));
    }
    dir.write("in/a.parquet", Made::plain(&[10]).file(&rows));
    outlives_interruptions(&dir);
}

/// The same within a file of rows: whatever comes after the first epoch begins behind its header.
#[test]
fn rows_of_a_large_file_outlive_an_interruption() {
    let dir = Dir::new();
    dir.write("in/a.csv", format!("id,text\n{}", rows(20_000).concat()));
    outlives_interruptions(&dir);
}

/// A load of the folder `in`, of 60 documents and 90 refused records, cut off at many places.
fn outlives_interruptions(dir: &Dir) {
    let empty = Simulated::new();
    drop(
        Writer::create(&(Arc::new(empty.clone()) as Arc<dyn Storage>), config(Method::Join), false).unwrap(),
    );
    let whole: Arc<dyn Storage> = Arc::new(empty.after_power_cut(0));
    let expected = load(dir, &whole).unwrap();
    assert!(expected.0.epochs > 2 && expected.1.len() == 90, "{expected:?}");
    let mut resumed = 0;
    for step in 0.. {
        let machine = empty.after_power_cut(0);
        let storage: Arc<dyn Storage> = Arc::new(machine.clone());
        machine.fail_from(machine.operations() + 7 * step, Fault::Eio);
        let first = load(dir, &storage);
        // What is not durable is lost as well.
        let storage: Arc<dyn Storage> = Arc::new(machine.after_power_cut(step));
        let writer = Writer::open(&storage).unwrap();
        let pending = writer.pending().cloned();
        drop(writer);
        let Err(error) = first else { break };
        assert!(matches!(error, Error::Io { .. }), "{error}");
        let Some(pending) = pending else { continue };
        resumed += 1;
        let names = storage.names().unwrap();
        assert_eq!(
            names.iter().filter(|name| name.starts_with("refused-")).count(),
            pending.refused.len(),
            "{names:?}"
        );
        let done = load(dir, &storage).unwrap();
        assert_eq!(done, expected, "cut off at {step}");
        assert_eq!(try_seen(&storage).unwrap(), try_seen(&whole).unwrap());
        assert_eq!(findings(&storage).unwrap(), []);
        let left = storage.names().unwrap();
        assert!(
            !left.iter().any(|name| name.starts_with("refused-") || name.starts_with("check")),
            "{left:?}"
        );
    }
    assert!(resumed > 5, "{resumed}");
}

/// What is as it was when all is read is no change, whatever epochs made of it.
#[test]
fn there_and_back_is_no_change() {
    let dir = Dir::new();
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    drop(Writer::create(&storage, config(Method::Join), false).unwrap());
    dir.write("in.jsonl", line("a", "x y") + &line("b", "x y z"));
    load_within(&dir, &storage, None, 2000).unwrap();
    let filler = "q ".repeat(2000);
    dir.write(
        "in.jsonl",
        line("a", "another") + &line("b", &filler) + &line("a", "x y") + &line("b", "x y z"),
    );
    let before = try_seen(&storage).unwrap();
    for epoch_bytes in [1000, 1 << 20] {
        let (report, _) = load_within(&dir, &storage, None, epoch_bytes).unwrap();
        assert_eq!((report.commit, report.replaced, report.unchanged), (None, 0, 2), "{report:?}");
        assert_eq!(report.epochs > 1, epoch_bytes == 1000);
        assert_eq!(try_seen(&storage).unwrap(), before);
    }
}

/// Only a refusal takes away what is durable of a load: who is interrupted at the end goes on there.
#[test]
fn epochs_stay_unless_they_are_refused() {
    let dir = Dir::new();
    dir.write("in.jsonl", (0..100).map(|number| line(&format!("d{number}"), "x y")).collect::<String>());
    let refused = |_: &Report| {
        let (reason, first) = (String::new(), String::new());
        Err(Error::Refused { rejected: 1, records: 100, reason, first })
    };
    type Accept<'a> = &'a dyn Fn(&Report) -> Result<(), Error>;
    let ends: [(Accept<'_>, bool); 2] = [(&|_| Err(Error::Interrupted), true), (&refused, false)];
    for (accept, stays) in ends {
        let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
        let mut writer = Writer::create(&storage, config(Method::Join), false).unwrap();
        let batch = batch(&dir, None, 1000).unwrap();
        let prepared = prepare(&mut writer, batch, Arc::new(Progress::default())).unwrap();
        prepared.commit_if(accept).unwrap_err();
        drop(writer);
        assert_eq!(Writer::open(&storage).unwrap().pending().is_some(), stays);
        assert_eq!(storage.names().unwrap().len() > 2, stays, "the manifest and what vouches for it");
    }
}

/// A collection of which nothing came is taken back, and nothing else that lies in its folder.
#[test]
fn files_of_others_stay() {
    let dir = Dir::new();
    let storage: Arc<dyn Storage> = Arc::new(Local::create(&dir.join("c")).unwrap());
    drop(Writer::create(&storage, config(Method::Join), false).unwrap());
    dir.write("c/notes.txt", "mine");
    dir.alike("load c --abandon", None).ok();
    let mut left: Vec<String> = storage.names().unwrap();
    left.sort();
    assert_eq!(left, ["notes.txt"]);
}

/// What does not fit in the memory is refused in words; what was read by then is not lost.
#[test]
fn clusters_that_do_not_fit_are_refused_and_cost_nothing() {
    let dir = Dir::new();
    let text = |number: usize| words(number / 2 * 100, 10 + number % 2);
    dir.write(
        "in.jsonl",
        (0..1200).map(|number| line(&format!("d{number}"), &text(number))).collect::<String>(),
    );
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    drop(Writer::create(&storage, config(Method::Join), false).unwrap());
    let least = BASE_MEMORY + WORKER_MEMORY + (400 << 10);
    let error = load_within(&dir, &storage, Some(least), 10_000).unwrap_err();
    let Error::Limit(what) = &error else { panic!("{error}") };
    assert!(what.contains("clusters") && what.contains("MiB with --memory"), "{what}");
    let writer = Writer::open(&storage).unwrap();
    let manifest = writer.snapshot().manifest();
    assert_eq!((manifest.commit, manifest.counts.documents), (0, 0));
    assert!(writer.pending().is_some_and(|pending| pending.epoch > 5));
    drop(writer);
    let report = load_within(&dir, &storage, None, 10_000).unwrap().0;
    assert_eq!((report.added, report.clusters), (1200, 600));
    assert_eq!(findings(&storage).unwrap(), []);
}

/// An epoch whose changes do not fit is read again in smaller ones.
#[test]
fn an_epoch_that_does_not_fit_is_made_smaller() {
    let dir = Dir::new();
    let lines: String =
        (0..30_000).map(|number| line(&format!("d{number}"), &format!("x{number}"))).collect();
    dir.write("in.jsonl", lines);
    let [whole, parts]: [Arc<dyn Storage>; 2] = [Arc::new(Simulated::new()), Arc::new(Simulated::new())];
    for storage in [&whole, &parts] {
        drop(Writer::create(storage, config(Method::Join), false).unwrap());
    }
    let expected = load_within(&dir, &whole, None, u64::MAX).unwrap().0;
    let least = BASE_MEMORY + WORKER_MEMORY + (10 << 20);
    let report = load_within(&dir, &parts, Some(least), u64::MAX).unwrap().0;
    assert!(expected.epochs == 1 && report.epochs > 1, "{report:?}");
    assert_eq!(Report { epochs: 1, ..report }, expected);
    assert_eq!(try_seen(&parts).unwrap(), try_seen(&whole).unwrap());
    assert_eq!(findings(&parts).unwrap(), []);
    let names = parts.names().unwrap();
    assert!(!names.iter().any(|name| name.starts_with("checkpoint")), "{names:?}");
}

/// Documents that a load does not mention go in parts, where they do not fit at once.
#[test]
fn many_documents_go_in_parts() {
    let dir = Dir::new();
    let lines: Vec<String> =
        (0..3000).map(|number| line(&format!("d{number}"), &words(number / 3, 6))).collect();
    dir.write("in.jsonl", lines.concat());
    let storage: Arc<dyn Storage> = Arc::new(Simulated::new());
    drop(Writer::create(&storage, config(Method::Join), false).unwrap());
    load_within(&dir, &storage, None, u64::MAX).unwrap();
    dir.write("in.jsonl", lines[..7].concat());
    let mut writer = Writer::open(&storage).unwrap();
    let before = writer.snapshot().manifest().next_run;
    let batch = Batch {
        sources: discover(&[dir.join("in.jsonl").to_string_lossy().into_owned()], &dir.join("."))
            .unwrap()
            .sources,
        epoch_bytes: None,
        left_out: Default::default(),
        delete_missing: true,
        lexicon: None,
        components: Components::Forest,
        command: None,
        resources: Resources {
            workers: 1,
            memory: Some(BASE_MEMORY + WORKER_MEMORY + (6 << 20)),
            simd: Simd::detect(),
            scratch: dir.join("."),
            peers: None,
        },
    };
    let report = prepare(&mut writer, batch, Arc::default()).and_then(Prepared::commit).unwrap();
    assert_eq!((report.removed, report.unchanged, report.documents), (2993, 7, 7));
    assert_eq!(report.contents, (0, 997));
    assert!(writer.snapshot().manifest().next_run > before + 5, "it went at once");
    drop(writer);
    assert_eq!(findings(&storage).unwrap(), []);
    assert_eq!(try_seen(&storage).unwrap().0.len(), 1);
}

/// The load that is interrupted; it has some dozens of epochs.
const LOAD: &str = "load c in.jsonl --ngram 2 --threshold 0.5 -w 1 --epoch 1K --json";

/// A folder with a collection of one document, and what is to be loaded next: many that resemble each other, deletions, and
/// records that are refused.
fn scene() -> Dir {
    let dir = Dir::new();
    dir.write("first.jsonl", line("d0", &words(0, 10)));
    dir.alike("load c first.jsonl --ngram 2 --threshold 0.5", None).ok();
    let mut random = Random(7);
    let mut lines = String::new();
    for number in 0..600 {
        lines += &line(&format!("d{number}"), &words(random.below(40) * 3, 8 + random.below(4)));
        if number % 20 == 0 {
            lines += "no record\n";
            lines += &format!("{}\n", json!({"op": "delete", "id": format!("d{}", random.below(600))}));
        }
    }
    dir.write("in.jsonl", lines);
    dir
}

/// All that a reader sees, in order.
fn shown(dir: &Dir) -> BTreeMap<&'static str, Vec<Value>> {
    let show = |command: &'static str| {
        let mut rows = jsonl(dir.alike(&format!("{command} c"), None).ok().stdout.as_bytes());
        rows.sort_by_key(Value::to_string);
        (command, rows)
    };
    ["documents", "clusters", "changes", "pairs"].map(show).into()
}

/// The files of the collection with their bytes.
fn files(dir: &Dir) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir.join("c")).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn told(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Starts the load, and sends `signal` when it has made `epochs` checkpoints: its exit code and what it said.
fn interrupt(dir: &Dir, epochs: usize, signal: Signal) -> (Option<i32>, String) {
    let mut child = start(dir, LOAD);
    until_epoch(dir, &mut child, epochs);
    kill_process(Pid::from_child(&child), signal).unwrap();
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn an_interrupted_load_goes_on_and_nothing_else_does() {
    let (whole, dir) = (scene(), scene());
    let before = shown(&whole);
    let one = whole.alike(LOAD, None).ok();
    let expected = shown(&whole);
    assert_ne!(before, expected);
    for (epochs, signal) in [(1, Signal::INT), (4, Signal::KILL), (9, Signal::TERM)] {
        let (code, said) = interrupt(&dir, epochs, signal);
        if signal == Signal::KILL {
            assert_eq!(code, None, "{said}");
        } else {
            assert_eq!(code, Some(130), "{said}");
            assert!(
                said.contains("the checkpoint has ") && said.contains("the same command goes on"),
                "{said}"
            );
        }
        assert_eq!(shown(&dir), before, "readers see the last commit");
        dir.alike("fsck c", None).ok();
        dir.write("gone.txt", "d0\n");
        // The first writer after a kill tidies up.
        dir.alike("compact c", None).code(4);
        let left = files(&dir);
        for other in [
            "load c first.jsonl",
            "load c in.jsonl --delete-missing",
            "load c in.jsonl first.jsonl",
            "delete c --ids gone.txt",
            "compact c",
        ] {
            let ran = dir.alike(other, None).code(4).says("a load was interrupted after").says("--abandon");
            assert!(ran.stderr.contains("run the same command again to finish it"), "{}", ran.stderr);
        }
        assert!(left == files(&dir), "what was refused has changed nothing");
    }
    let ran = dir.alike(LOAD, None).ok();
    assert_eq!(shown(&dir), expected);
    assert_eq!(told(&one), told(&ran), "the report is that of the whole load");
    assert_eq!(told(&one)["commit"], json!(2));
    dir.alike("fsck c", None).ok();
    let names = dir.names();
    assert!(!names.iter().any(|name| name.starts_with(".alike")), "{names:?}");
}

#[test]
fn an_interrupted_load_is_discarded_on_request_and_refused_if_its_input_changes() {
    let dir = scene();
    let before = shown(&dir);
    interrupt(&dir, 3, Signal::KILL);
    let lines = fs::read_to_string(dir.join("in.jsonl")).unwrap();
    dir.write("in.jsonl", lines.replacen(" w", " z", 1));
    dir.alike(LOAD, None).code(4).says("in.jsonl or a file after it has changed since");
    dir.alike("load c --abandon", None).ok().says("removed checkpoint-00000002-").says("removed run-");
    assert_eq!(shown(&dir), before);
    dir.alike("load c --abandon", None).ok().says("nothing was left behind");
    dir.alike("compact c", None).ok();
    dir.alike("load c first.jsonl", None).ok().says("nothing changed");
}

/// Damage to what an interrupted load has left costs that load, and nothing else.
#[test]
fn damage_to_an_interrupted_load_is_told_apart() {
    for missing in [false, true] {
        let dir = scene();
        let (before, committed) = (shown(&dir), files(&dir));
        interrupt(&dir, 3, Signal::KILL);
        // The first writer after a kill tidies up: then all that is left is named.
        dir.alike("compact c", None).code(4);
        let (name, mut bytes) = files(&dir)
            .into_iter()
            .find(|(name, _)| name.starts_with("run-") && !committed.contains_key(name))
            .unwrap();
        let path = dir.join("c").join(&name);
        if missing {
            fs::remove_file(&path).unwrap();
        } else {
            // In a page that opening the run does not read.
            bytes[1000] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
        assert_eq!(shown(&dir), before, "readers see the last commit");
        let told = dir.alike("fsck c", None).code(4);
        assert!(told.stdout.contains(&name) && told.stdout.contains("--abandon"), "{told:?}");
        dir.alike(LOAD, None).code(4).says(&name).says("`alike load c --abandon` discards that load");
        dir.alike("load c --abandon", None).ok();
        dir.alike("fsck c", None).ok();
        dir.alike(LOAD, None).ok();
    }
}

#[test]
fn an_interrupted_deletion_goes_on() {
    let dir = scene();
    dir.alike(&LOAD.replace("1K", "1M"), None).ok();
    dir.write("gone.txt", (0..600).map(|number| format!("d{number}\n")).collect::<String>());
    let mut killed = 0;
    for step in 0..40 {
        let mut child = start(&dir, "delete c --ids gone.txt -w 1 --epoch 1K --max-delete 100%");
        std::thread::sleep(Duration::from_millis(3 * step));
        child.kill().unwrap();
        child.wait().unwrap();
        killed += usize::from(files(&dir).keys().any(|name| name.starts_with("checkpoint-")));
    }
    assert!(killed > 0, "never killed between two epochs");
    dir.alike("delete c --ids gone.txt -w 1 --epoch 1K --max-delete 100%", None).ok();
    assert!(shown(&dir)["documents"].is_empty());
    dir.alike("fsck c", None).ok();
}

#[test]
fn a_dry_run_says_what_a_load_would_do_and_does_nothing() {
    let dir = scene();
    let dry = |line: &str| dir.alike(&format!("{line} --dry-run"), None);
    let left = (files(&dir), dir.names());
    let foreseen = dry(LOAD).ok().says("would be added").says("nothing was written");
    assert!((files(&dir), dir.names()) == left);
    let mut done = told(&dir.alike(LOAD, None).ok());
    assert_eq!((&told(&foreseen)["dry_run"], &done["dry_run"]), (&json!(true), &json!(false)));
    done["dry_run"] = json!(true);
    assert_eq!(told(&foreseen), done);
    dir.write("gone.txt", "d1\nd2\nnobody\n");
    let left = (files(&dir), dir.names());
    let foreseen = dry("delete c --ids gone.txt").ok();
    dry("delete c --ids gone.txt --strict").code(3).says("nobody");
    dry("load c in.jsonl --ngram 3").code(2).says("text.ngram is 2, not 3");
    dry(LOAD).ok();
    assert!((files(&dir), dir.names()) == left);
    let mut done = told(&dir.alike("delete c --ids gone.txt", None).ok());
    done["dry_run"] = json!(true);
    assert_eq!(told(&foreseen), done);
    // A collection that is not there is not made, whatever becomes of the load.
    dry("load new/deep in.jsonl").ok().says("there would be commit 1");
    dry("load new in.jsonl --strict").code(3);
    fs::create_dir(dir.join("empty")).unwrap();
    dry("load empty in.jsonl").ok();
    assert!(!dir.join("new").exists() && fs::read_dir(dir.join("empty")).unwrap().count() == 0);
}

#[test]
fn a_dry_run_goes_on_where_an_interrupted_load_ended() {
    let (whole, dir) = (scene(), scene());
    interrupt(&dir, 5, Signal::KILL);
    // The first writer after the kill tidies up.
    dir.alike("compact c", None).code(4);
    let left = files(&dir);
    let line = format!("{LOAD} --dry-run");
    assert_eq!(told(&dir.alike(&line, None).ok()), told(&whole.alike(&line, None).ok()));
    dir.alike("load c first.jsonl --dry-run", None).code(4).says("a load was interrupted");
    assert!(files(&dir) == left);
}

/// What a load changes and changes back never changed, in however many epochs that happens.
#[test]
fn what_becomes_what_it_was_stands_where_it_stood() {
    let dir = Dir::new();
    let was = "one two three four five six seven eight nine ten";
    let gone = json!({"op": "delete", "id": "b"}).to_string() + "\n";
    let filler: String =
        (0..200).map(|n| line(&format!("f{n}"), &format!("filler {n} of n{n} m{n}"))).collect();
    dir.write("first.jsonl", line("c", "alpha beta gamma delta") + &line("a", was) + &line("b", was));
    let other = line("a", "something else for a while") + &gone + &filler;
    dir.write("second.jsonl", other + &line("b", was) + &line("a", was) + &line("z", was));
    for (collection, epoch) in [("whole", ""), ("parts", "--epoch 1K")] {
        dir.alike(&format!("load {collection} first.jsonl"), None).ok();
        dir.alike(&format!("load {collection} second.jsonl {epoch}"), None).ok();
        dir.alike(&format!("fsck {collection}"), None).ok();
        dir.alike(&format!("export {collection} --out {collection}-out"), None).ok();
    }
    for list in ["documents", "clusters", "changes"] {
        let told = |collection: &str| dir.alike(&format!("{list} {collection} --json"), None).ok().stdout;
        assert_eq!(told("parts"), told("whole"), "{list}");
        if list == "documents" {
            let rows = jsonl(told("parts").as_bytes());
            let a = rows.iter().find(|row| row["id"] == "a").expect("a");
            assert_eq!((&a["load"], &a["file"], &a["line"]), (&json!(1), &json!("first.jsonl"), &json!(2)));
        }
    }
    let kept = |name: &str| fs::read(dir.join(name).join("duplicates.jsonl")).unwrap();
    assert_eq!(kept("parts-out"), kept("whole-out"));
}

#[test]
fn an_epoch_has_a_least_size() {
    let dir = scene();
    dir.alike("load c in.jsonl --epoch 7", None).code(2).says("--epoch").says("1024");
    dir.alike("load c in.jsonl --epoch much", None).code(2);
}

#[test]
fn compact_reports_like_the_others() {
    let dir = scene();
    dir.alike(LOAD, None).ok();
    let ran = dir.alike("compact c", None).ok().says("became 1 of");
    assert!(told(&ran)["commit"].is_u64() && told(&ran)["runs"][1] == json!(1), "{ran:?}");
    let ran = dir.alike("compact c --quiet", None).ok();
    assert_eq!((ran.stdout, ran.stderr), (String::new(), String::new()));
    assert!(dir.alike("compact c --quiet --json", None).ok().stdout.contains("\"runs\""));
    let ran = dir.alike("compact c --json-progress", None).ok();
    assert!(jsonl(ran.stderr.as_bytes()).iter().any(|row| row["stage"] == json!("write")), "{}", ran.stderr);
}

/// Where a collection cannot even be opened, fsck names each file that is to blame.
#[test]
fn files_that_cannot_be_opened_are_all_named() {
    let dir = Dir::new();
    dir.write("in.jsonl", (0..40).map(|number| line(&format!("d{number}"), "x y")).collect::<String>());
    dir.alike("load c in.jsonl --workers 2", None).ok();
    let mut runs: Vec<String> = fs::read_dir(dir.join("c"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("run-"))
        .collect();
    runs.sort();
    let (cut, gone) = (dir.join("c").join(&runs[0]), dir.join("c").join(&runs[1]));
    fs::File::options().write(true).open(&cut).unwrap().set_len(1000).unwrap();
    fs::remove_file(&gone).unwrap();
    let found = jsonl(dir.alike("fsck c --json", None).code(4).stdout.as_bytes());
    let places: Vec<&str> = found.iter().filter_map(|row| row["place"].as_str()).collect();
    assert!(places.len() == 2 && places[0].ends_with(&runs[0]) && places[1].ends_with(&runs[1]), "{found:?}");
    assert_eq!((&found[2]["findings"], &found[2]["complete"]), (&json!(2), &json!(false)));
    dir.alike("info c", None).code(4);
}

/// An interrupted load says so to whoever comes with another configuration.
#[test]
fn another_configuration_is_told_of_the_load_in_the_way() {
    let dir = Dir::new();
    dir.write("in.jsonl", (0..100).map(|number| line(&format!("d{number}"), "x y")).collect::<String>());
    let storage: Arc<dyn Storage> = Arc::new(Local::create(&dir.join("c")).unwrap());
    let mut writer = Writer::create(&storage, config(Method::Join), false).unwrap();
    let prepared = prepare(&mut writer, batch(&dir, None, 1000).unwrap(), Arc::new(Progress::default()));
    drop(prepared.unwrap().commit_if(|_| Err(Error::Interrupted)));
    drop(writer);
    dir.alike("load c in.jsonl --threshold 0.77", None)
        .code(4)
        .says("another configuration")
        .says("c --abandon");
    dir.alike("load c --abandon", None).ok();
    dir.alike("load c in.jsonl --threshold 0.77", None).ok();
}

/// A file that would be read as something else is another input: what is stored of it would be of two kinds.
#[test]
fn an_interrupted_load_goes_on_in_the_same_format() {
    let dir = Dir::new();
    // Rows of a file are divided every 256 KiB.
    let rows: String = (0..30_000).map(|at| format!("d{at},\"{}\"\n", words(at * 50, 20))).collect();
    dir.write("in.csv", format!("id,text\n{rows}"));
    let load = "load c in.csv -w 1 --epoch 64K --rejected notes.jsonl -q";
    let mut child = start(&dir, load);
    until_epoch(&dir, &mut child, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    // The first writer after a kill tidies up.
    dir.alike("compact c", None).code(4);
    let stopped = files(&dir);
    for format in ["text", "tsv"] {
        let ran = dir.alike(&format!("{load} --input-format {format}"), None).code(4);
        ran.says("in another format").says("run the same command again");
        assert_eq!(files(&dir), stopped, "{format}");
    }
    // A list is never written over, either.
    dir.write("notes.jsonl", "mine");
    dir.alike(load, None).code(2).says("--rejected notes.jsonl: exists already");
    assert_eq!(fs::read_to_string(dir.join("notes.jsonl")).unwrap(), "mine");
    fs::remove_file(dir.join("notes.jsonl")).unwrap();
    dir.alike(load, None).ok();
    let stats = dir.alike("stats c --json", None).ok();
    assert_eq!(told(&stats)["documents"], 30_000);
}
