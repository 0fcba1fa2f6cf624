//! Collections through the program: loads, deletions, what is shown, and what is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use alike::collection::Writer;
use alike::config::Config;
use alike::storage::{Local, Storage};
use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{line, words};

/// A folder with a collection `c` of a and b, which resemble each other, and d, which is unlike them.
fn made() -> Dir {
    let dir = Dir::new();
    let lines = [line("a", &words(0, 100)), line("b", &words(2, 100)), line("d", &words(1000, 100))];
    dir.write("first.jsonl", lines.concat());
    let report = report(dir.alike("load c first.jsonl", None).ok());
    assert_eq!((&report["commit"], &report["added"]), (&json!(1), &json!(3)), "{report}");
    dir
}

/// The one JSON object on standard output.
#[expect(clippy::needless_pass_by_value, reason = "what ran is looked at once")]
fn report(ran: Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

/// The rows that a command shows.
fn rows(dir: &Dir, line: &str) -> Vec<Value> {
    jsonl(dir.alike(line, None).ok().stdout.as_bytes())
}

fn commit(dir: &Dir) -> Value {
    rows(dir, "info c")[0]["commit"].clone()
}

fn ids(dir: &Dir) -> BTreeSet<String> {
    rows(dir, "documents c").iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// Members and representatives of all clusters, as they are shown.
fn clusters(dir: &Dir) -> BTreeMap<String, (BTreeSet<String>, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |row: &Value| {
        let members: BTreeSet<String> = row["members"].as_array().unwrap().iter().map(text).collect();
        assert_eq!(row["size"], json!(members.len()), "{row}");
        (text(&row["cluster"]), (members, text(&row["representative"])))
    };
    rows(dir, "clusters c").iter().map(of).collect()
}

#[test]
fn create_add_change_and_delete() {
    let dir = made();
    assert_eq!(dir.names(), ["c", "first.jsonl"], "nothing is left beside the collection");
    let pair = (set(&["a", "b"]), "a".to_owned());
    assert_eq!(clusters(&dir), [("1.1".to_owned(), pair)].into());
    dir.write("more.jsonl", line("e", &words(1001, 100)) + &line("b", &words(5000, 100)));
    let said = dir.alike("load c more.jsonl", None).ok().says("1 added, 1 replaced").says("commit 2");
    assert_eq!(report(said)["clusters"], json!(1));
    assert_eq!(clusters(&dir), [("2.1".to_owned(), (set(&["d", "e"]), "d".to_owned()))].into());
    assert_eq!(ids(&dir), set(&["a", "b", "d", "e"]));
    dir.write("gone.txt", "d\r\n\n  \nnobody\n");
    let ran = dir.alike("delete c --ids gone.txt", None).ok().says("1 id to delete does not exist: nobody");
    let told = report(ran.says("3 documents, 0 clusters, 3 lines in the log"));
    assert_eq!((&told["removed"], &told["unknown"]), (&json!(1), &json!(["nobody"])));
    let strangers: String = (0..1200).map(|i| format!("nobody {i}\n")).collect();
    let told = report(dir.alike("delete c --ids -", Some(strangers.as_bytes())).ok());
    let listed = told["unknown"].as_array().map(Vec::len);
    assert_eq!((listed, &told["unknown_ids"]), (Some(1000), &json!(1200)));
    assert_eq!((ids(&dir), clusters(&dir).len()), (set(&["a", "b", "e"]), 0));
    assert_eq!(report(dir.alike("delete c --ids -", Some(b"e")).ok())["removed"], json!(1));
    let info = &rows(&dir, "info c")[0];
    assert_eq!((&info["documents"], &info["format"], &info["load"]), (&json!(2), &json!(3), &json!(4)));
    assert_eq!(info["configuration"]["cluster"]["clustering"], json!("transitive"));
    let bytes: u64 =
        fs::read_dir(dir.join("c")).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    let named =
        jsonl(dir.alike("fsck c --json", None).ok().stdout.as_bytes()).pop().unwrap()["bytes"].clone();
    assert_eq!((&info["disk_bytes"], &info["commit_bytes"]), (&json!(bytes), &named));
    assert_eq!(info["bytes_a_document"], json!(named.as_f64().unwrap() / 2.0));
    assert!(
        info["runs"].as_array().is_some_and(|runs| !runs.is_empty() && runs[0]["bytes"].is_u64()),
        "{info}"
    );
}

#[test]
fn the_same_again_makes_no_commit() {
    let dir = made();
    let again = report(dir.alike("load c first.jsonl", None).ok().says("nothing changed"));
    assert_eq!((&again["commit"], &again["unchanged"]), (&Value::Null, &json!(3)));
    assert_eq!(commit(&dir), json!(1));
    let ran = dir.alike("load c first.jsonl --quiet", None).ok();
    assert_eq!((ran.stdout, ran.stderr), (String::new(), String::new()));
    assert!(dir.alike("load c first.jsonl --quiet --json", None).ok().stdout.contains("\"unchanged\":3"));
    let ran = dir.alike("load c first.jsonl --json-progress", None).ok();
    assert!(jsonl(ran.stderr.as_bytes()).iter().any(|row| row["stage"].is_string()), "{}", ran.stderr);
}

/// Programs that read progress are told what people are: each line is JSON, and the summary is the last one.
#[test]
fn warnings_are_lines_of_json_among_those_of_progress() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "one two three") + &line("b", "...") + "no record\n");
    let warnings = |stderr: &str| -> Vec<String> {
        let rows = jsonl(stderr.as_bytes());
        let warnings = rows.iter().filter(|row| row["event"] == "warning");
        warnings.map(|row| row["message"].as_str().unwrap().to_owned()).collect()
    };
    let flags = "--max-rejected 50% --keep field:nosuch:max --id-field nosuch";
    let line = format!("dedup in.jsonl --dry-run {flags}");
    let people = dir.alike(&line, None).ok().stderr;
    let told: Vec<&str> =
        people.lines().filter_map(|line| line.split_once("warning: ")).map(|it| it.1).collect();
    let programs = dir.alike(&format!("{line} --json-progress"), None).ok().stderr;
    assert_eq!(warnings(&programs), told, "{programs}");
    assert!(told.len() > 3 && people.contains("first record has: id, text"), "{people}");
    assert!(jsonl(programs.as_bytes()).last().unwrap()["summary"].is_object(), "{programs}");
    dir.write("empty.jsonl", "");
    dir.alike("load c in.jsonl --max-rejected 50%", None).ok();
    let ran = dir.alike("load c empty.jsonl --json-progress", None).ok();
    let empty = ["1 input is empty: empty.jsonl", "the inputs hold no records; check the files"];
    assert_eq!(warnings(&ran.stderr), empty);
    assert_eq!(dir.alike("dedup in.jsonl --dry-run -q --max-rejected 50%", None).ok().stderr, "");
}

#[test]
fn a_load_may_be_the_whole_state() {
    let dir = made();
    dir.write("now.jsonl", line("d", &words(1000, 100)) + &line("f", "new"));
    let told = report(dir.alike("load c now.jsonl --delete-missing --max-delete 70%", None).ok());
    assert_eq!((&told["removed"], &told["added"], &told["unchanged"]), (&json!(2), &json!(1), &json!(1)));
    assert_eq!(ids(&dir), set(&["d", "f"]));
    // A record that cannot be read may be one of them.
    let good: String = (0..30).map(|i| line(&format!("g{i}"), "x")).collect();
    dir.write("now.jsonl", good + "bad\n");
    dir.alike("load c now.jsonl --delete-missing", None)
        .code(3)
        .says("--delete-missing")
        .says("now.jsonl, line 31");
    // The load that failed has left no commit.
    assert_eq!((ids(&dir), commit(&dir)), (set(&["d", "f"]), json!(2)));
}

#[test]
fn nobody_deletes_most_of_a_collection_by_mistake() {
    let dir = Dir::new();
    let all: String = (0..10).map(|i| line(&format!("d{i}"), &words(i * 100, 20))).collect();
    dir.write("all.jsonl", &all);
    dir.alike("load c all.jsonl", None).ok();
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    dir.write("four.jsonl", lines[..4].concat());
    dir.write("six.txt", (4..10).map(|i| format!("d{i}\n")).collect::<String>());
    dir.write("blank.jsonl", "\n\n");
    let ops: String = (4..10).map(|i| format!("{{\"op\":\"delete\",\"id\":\"d{i}\"}}\n")).collect();
    dir.write("ops.jsonl", ops);
    // A producer that died in a pipe, and files without a record.
    for (inputs, bytes) in [("-", Some(&b""[..])), ("blank.jsonl", None)] {
        for more in ["", "--max-delete 100%", "--dry-run"] {
            let ran = dir.alike(&format!("load c {inputs} --delete-missing {more}"), bytes);
            ran.code(3).says("no records").says("10 documents").says("--allow-empty");
        }
    }
    for verb in ["load c four.jsonl --delete-missing", "delete c --ids six.txt", "load c ops.jsonl"] {
        for more in ["", "--max-delete 59%", "--dry-run"] {
            let ran = dir.alike(&format!("{verb} {more}"), None).code(3);
            ran.says("6 of its 10 documents").says("--max-delete 60%");
        }
    }
    assert_eq!((ids(&dir).len(), commit(&dir)), (10, json!(1)), "nothing was written");
    dir.alike("load c four.jsonl --delete-missing --max-delete 60%", None).ok();
    assert_eq!(ids(&dir), set(&["d0", "d1", "d2", "d3"]));
    dir.alike("load c blank.jsonl --allow-empty", None).code(2).says("--delete-missing");
    dir.alike("load c blank.jsonl --delete-missing --allow-empty", None).ok();
    assert_eq!(ids(&dir), set(&[]));
    // What is empty already loses nothing.
    dir.alike("load c blank.jsonl --delete-missing", None).ok().says("hold no records");
    dir.alike("load c four.jsonl --max-delete 101%", None).code(2).says("up to 100");
}

/// Whatever is no file under the name of one is damage, and nobody waits for it.
#[test]
fn pipes_folders_and_links_among_the_files_are_told() {
    let dir = made();
    dir.write("more.jsonl", line("z", "another text"));
    dir.alike("load c more.jsonl", None).ok();
    let told = rows(&dir, "info c").remove(0);
    let manifest = |after: u64| format!("manifest-{:08}", told["commit"].as_u64().unwrap() + after);
    let runs = told["runs"].as_array().unwrap().iter();
    let mut names: Vec<String> = runs.map(|run| format!("run-{:08}", run["run"].as_u64().unwrap())).collect();
    names.push(manifest(0));
    assert!(names.len() >= 2, "{names:?}");
    let aside = dir.join("aside");
    for name in &names {
        let path = dir.join("c").join(name);
        fs::rename(&path, &aside).unwrap();
        for kind in ["pipe", "folder", "link to itself"] {
            match kind {
                "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                "folder" => fs::create_dir(&path).unwrap(),
                _ => std::os::unix::fs::symlink(name, &path).unwrap(),
            }
            for verb in ["clusters c", "load c first.jsonl", "fsck c"] {
                let ran = dir.alike(verb, None).code(4);
                assert!(ran.stderr.contains(name) || ran.stdout.contains(name), "{verb}, {name}: {ran:?}");
            }
            if kind == "folder" { fs::remove_dir(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
        }
        fs::rename(&aside, &path).unwrap();
    }
    dir.write("more.jsonl", line("y", "a third text"));
    for kind in ["pipe", "folder"] {
        let taken = Taken::new(&dir, &manifest(1), kind);
        for verb in ["clusters c", "load c more.jsonl", "load c --abandon", "fsck c"] {
            taken.is_told(&dir, verb);
        }
        taken.goes();
    }
    dir.alike("fsck c", None).ok();
    dir.alike("load c more.jsonl", None).ok();
}

/// What stands under a name of a collection's file and is none.
struct Taken {
    name: String,
    path: PathBuf,
    kind: &'static str,
}

impl Taken {
    fn new(dir: &Dir, name: &str, kind: &'static str) -> Taken {
        let path = dir.join("c").join(name);
        match kind {
            "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
            _ => fs::create_dir(&path).unwrap(),
        }
        Taken { name: name.to_owned(), path, kind }
    }

    fn is_told(&self, dir: &Dir, verb: &str) {
        let ran = dir.alike(verb, None).code(4);
        let told = ran.stdout.clone() + &ran.stderr;
        let says = told.contains(&self.name) && told.contains("no regular file");
        assert!(says, "{verb}, {} of {}: {ran:?}", self.kind, self.name);
    }

    fn goes(self) {
        if self.kind == "folder" {
            fs::remove_dir(self.path).unwrap();
        } else {
            fs::remove_file(self.path).unwrap();
        }
    }
}

/// A load would meet it only when its work is done. Readers do not need the name.
#[test]
fn what_is_in_the_way_of_the_next_commit_is_told_before_work() {
    let dir = made();
    dir.write("more.jsonl", line("z", "another text"));
    let files = || -> BTreeSet<String> {
        let entries = fs::read_dir(dir.join("c")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let before = files();
    let next =
        before.iter().filter_map(|name| name.strip_prefix("run-")?.parse::<u64>().ok()).max().unwrap() + 1;
    let names = [
        "checkpoint-00000002-0001",
        "refused-00000002-0001.jsonl",
        "changes-00000002.jsonl",
        &format!("run-{next:08}"),
        "lock",
    ];
    for (name, kind) in names.into_iter().flat_map(|name| [(name, "pipe"), (name, "folder")]) {
        if name == "lock" {
            fs::remove_file(dir.join("c/lock")).unwrap();
        }
        let taken = Taken::new(&dir, name, kind);
        for verb in ["load c more.jsonl", "load c --abandon", "fsck c"] {
            taken.is_told(&dir, verb);
        }
        dir.alike("clusters c", None).ok();
        taken.goes();
        dir.alike("fsck c", None).ok();
        // Takes the lock, whose file is made again.
        dir.alike("load c --abandon", None).ok().says("nothing was left behind");
        assert_eq!(files(), before, "{name}");
    }
    for name in ["new-manifest-00000002", "tidied-00000001-00000000000000ab"] {
        fs::create_dir(dir.join("c").join(name)).unwrap();
    }
    dir.alike("load c more.jsonl", None).ok();
    dir.alike("fsck c", None).ok();
}

/// Also where the records are alike, and in different epochs.
#[test]
fn the_last_record_of_an_id_is_where_the_document_stands() {
    let dir = Dir::new();
    let others =
        |from: usize| (from..from + 40).map(|at| line(&format!("{at}"), &format!("text number {at}")));
    let again = [line("a", "the same text"); 1];
    let lines: Vec<String> =
        again.iter().cloned().chain(others(0)).chain(again.clone()).chain(others(40)).collect();
    dir.write("in.jsonl", lines.concat());
    dir.alike("load one in.jsonl", None).ok();
    let told = report(dir.alike("load many in.jsonl --epoch 1K", None).ok());
    assert!(told["epochs"].as_u64() > Some(2), "{told}");
    assert_eq!((told["superseded"].as_u64(), told["unchanged"].as_u64()), (Some(1), Some(0)), "{told}");
    let documents = |name: &str| dir.alike(&format!("documents {name} --json"), None).ok().stdout;
    assert_eq!(documents("one"), documents("many"));
}

#[test]
fn the_last_record_of_an_id_counts_and_ops_are_done() {
    let dir = made();
    let lines = [
        line("a", "one"),
        line("a", "two"),
        format!("{}\n", json!({"op": "delete", "id": "d"})),
        format!("{}\n", json!({"op": "delete", "id": "x"})),
        format!("{}\n", json!({"op": "upsert", "id": "y", "text": "three"})),
    ];
    dir.write("ops.jsonl", lines.concat());
    let told = report(dir.alike("load c ops.jsonl", None).ok());
    let counts = ["superseded", "replaced", "removed", "added"].map(|key| told[key].as_u64());
    assert_eq!(counts, [Some(1); 4], "{told}");
    assert_eq!(told["unknown"], json!(["x"]));
    assert_eq!(ids(&dir), set(&["a", "b", "y"]));
}

#[test]
fn text_files_have_their_names() {
    let dir = Dir::new();
    dir.write("in/x/one.txt", words(0, 50));
    dir.write("in/two.md", words(0, 50));
    dir.alike("load c in", None).ok();
    let all = ids(&dir);
    assert!(all.len() == 2 && all.iter().any(|id| id.ends_with("two.md")), "{all:?}");
    assert_eq!(clusters(&dir).len(), 1);
}

#[test]
fn deletions_find_nested_ids() {
    let dir = Dir::new();
    dir.write("in.jsonl", format!("{}\n", json!({"meta": {"id": 7}, "text": "a"})));
    dir.alike("load c in.jsonl --id-field meta.id", None).ok();
    dir.alike("delete c --ids - --strict", Some(b"8\n")).code(3).says("8").says("nothing was deleted");
    assert_eq!(
        report(dir.alike("delete c --ids - --strict --max-delete 100%", Some(b"7\n")).ok())["removed"],
        json!(1)
    );
    assert_eq!(report(dir.alike("delete c --ids -", Some(b"\n \n")).ok())["commit"], Value::Null);
    dir.alike("delete c --ids -", Some(b"\xff\n")).code(3).says("line 1");
    // No id is longer than a record may be. That is said without a word of --strict, which has no part in it.
    dir.write("short.toml", "[input]\nmax_record_bytes = 1000\n");
    dir.write("a.jsonl", "{\"id\": 1, \"text\": \"a\"}\n");
    dir.alike("load short a.jsonl --config short.toml", None).ok();
    let ids = format!("{}\n1\n", "x".repeat(2000));
    let ran = dir.alike("delete short --ids - --max-delete 100%", Some(ids.as_bytes())).code(3);
    let ran = ran.says("no document has an id of that length; take the line out; nothing was deleted");
    assert!(!ran.stderr.contains("--strict"), "{}", ran.stderr);
    dir.alike("delete c --ids missing.txt", None).code(3).says("missing.txt");
}

#[test]
fn refused_records_are_listed_and_limited() {
    let dir = made();
    let good: String = (0..99).map(|i| line(&format!("g{i}"), &format!("text {i}"))).collect();
    dir.write("some.jsonl", good.clone() + &json!({"text": "no id"}).to_string());
    dir.alike("load c some.jsonl --strict", None).code(3).says("--strict").says("line 100");
    assert_eq!(commit(&dir), json!(1));
    let ran =
        dir.alike("load c some.jsonl --rejected r.jsonl", None).ok().says("refused: some.jsonl, line 100");
    assert_eq!(report(ran)["added"], json!(99));
    let listed = jsonl(&fs::read(dir.join("r.jsonl")).unwrap());
    assert_eq!((listed.len(), &listed[0]["line"]), (1, &json!(100)), "{listed:?}");
    dir.alike("load c some.jsonl --rejected r.jsonl", None).code(2).says("exists");
    // Each reason is told once, with how many records have it; ten reasons at most.
    let other: String = (0..12).map(|i| format!("{{\"id\":\"{i}\",\"k{i}\":1}}\n")).collect();
    dir.write("bad.jsonl", line("z", "z") + &"bad\n".repeat(12) + &other);
    let ran = dir.alike("load c bad.jsonl --rejected bad.rows", None).code(3).says("10 %");
    let ran = ran
        .says("(11 more records like it)")
        .says("the record has: id, k8")
        .says("3 more records for other reasons");
    assert_eq!(ran.stderr.matches("refused: bad.jsonl").count(), 10, "{}", ran.stderr);
    assert_eq!(jsonl(&fs::read(dir.join("bad.rows")).unwrap()).len(), 24);
    // That of the load: there are too few runs to merge.
    assert_eq!(commit(&dir), json!(2));
    // A first load of which nothing comes fixes no configuration.
    dir.alike("load new bad.jsonl --text-field body", None).code(3);
    dir.alike("info new", None).code(4).says("nothing has been loaded into it");
    dir.alike("load new some.jsonl --ngram 3", None).ok();
    dir.alike("load other missing.jsonl", None).code(3);
    assert!(!dir.join("other").exists());
}

#[test]
fn another_configuration_is_refused() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "x"));
    dir.write("my.toml", "threshold = 0.9\n[text]\nngram = 3\n[count]\ncommon_cap = 0\n");
    dir.alike("load c in.jsonl --config my.toml", None).ok();
    for flags in ["", "--threshold 0.90", "--ngram 3 --clustering transitive", "--config my.toml"] {
        dir.alike(&format!("load c in.jsonl {flags}"), None).ok();
    }
    let other = "cluster.clustering is transitive, not guarantee";
    dir.alike("load c in.jsonl --clustering guarantee", None).code(2).says(other);
    dir.alike("load c in.jsonl --ngram 4", None).code(2).says("text.ngram is 3, not 4");
    dir.alike("load c in.jsonl --keep longest", None).code(2).says("cluster.keep");
    dir.alike("load c in.jsonl --preset web", None).code(2).says("threshold").says("0.8").says("0.9");
}

/// Whether its first load was killed before anything was read, or found no document: what was said of the collection holds.
#[test]
fn a_first_load_without_documents_fixes_the_configuration() {
    let dir = Dir::new();
    dir.write("none.jsonl", "");
    dir.write("gone.jsonl", r#"{"op": "delete", "id": "a"}"#);
    dir.write("in.jsonl", line("a", "x"));
    let info = |name: &str| {
        let info = dir.alike(&format!("info {name} --json"), None).ok().stdout;
        let info: Value = serde_json::from_str(&info).unwrap();
        [info["configuration"]["threshold"].clone(), info["store_text"].clone()]
    };
    for name in ["none", "gone"] {
        dir.alike(&format!("load {name} {name}.jsonl --threshold 0.5 --store-text"), None).ok();
        assert_eq!(info(name), [json!(0.5), json!(true)]);
        dir.alike(&format!("load {name} in.jsonl --threshold 0.7"), None)
            .code(2)
            .says("threshold is 0.5, not 0.7");
        dir.alike(&format!("load {name} {name}.jsonl"), None).ok();
        dir.alike(&format!("load {name} in.jsonl"), None).ok().says("1 added");
        assert_eq!(info(name), [json!(0.5), json!(true)]);
        dir.alike(&format!("fsck {name}"), None).ok();
    }
    let created = |name: &str| {
        let storage = Arc::new(Local::create(&dir.join(name)).unwrap()) as Arc<dyn Storage>;
        let config = Config { threshold: "0.5".parse().unwrap(), ..Config::default() };
        drop(Writer::create(&storage, config, true).unwrap());
    };
    created("killed");
    dir.alike("load killed in.jsonl", None).ok();
    assert_eq!(info("killed"), [json!(0.5), json!(true)]);
    // Another one may still be said.
    created("other");
    dir.alike("load other in.jsonl --threshold 0.7", None).ok();
    assert_eq!(info("other"), [json!(0.7), json!(false)]);
}

#[test]
fn whoever_waits_loads_into_what_another_process_makes() {
    let dir = Dir::new();
    for at in 0..6 {
        dir.write(&format!("{at}.jsonl"), line(&at.to_string(), &words(at * 1000, 100)));
    }
    std::thread::scope(|scope| {
        let load = |at: usize| dir.alike(&format!("load c {at}.jsonl -w 1 --wait 60"), None);
        let loads: Vec<_> = (0..6).map(|at| scope.spawn(move || load(at))).collect();
        loads.into_iter().for_each(|load| drop(load.join().unwrap().ok()));
    });
    // Of merges there is no line.
    assert_eq!((ids(&dir).len(), rows(&dir, "log c").len()), (6, 6));
}

/// A dry run has no lock: it sees the last commit, whatever is committed meanwhile.
#[test]
fn dry_runs_beside_loads_see_a_commit() {
    let dir = made();
    dir.write("new.jsonl", line("new", &words(5000, 100)));
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0..30 {
                dir.write(&format!("{at}.jsonl"), line(&at.to_string(), &words(at * 1000, 100)));
                dir.alike(&format!("load c {at}.jsonl -w 1"), None).ok();
            }
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        while !over.load(std::sync::atomic::Ordering::Relaxed) {
            dir.alike("load c new.jsonl --dry-run -w 1", None).ok().says("1 would be added");
        }
    });
    dir.alike("copy c copy", None).ok();
    let last = commit(&dir);
    for line in ["load copy new.jsonl", "delete copy --ids -", &format!("rollback copy --to {last}")] {
        dir.alike(&format!("{line} --dry-run"), Some(b"a\n")).ok();
    }
    dir.alike("copy c c/within", None).code(2).says("within the collection");
    dir.alike("clusters c --at 99", None).code(2).says("there is no commit 99 yet");
    std::os::unix::fs::symlink("nowhere", dir.join("link")).unwrap();
    dir.alike("load link new.jsonl", None).code(4).says("it is a link that leads nowhere");
}

#[test]
fn a_second_load_at_the_same_time_is_refused() {
    let dir = made();
    let writer = Writer::open(&(Arc::new(Local::open(&dir.join("c")).unwrap()) as Arc<dyn Storage>)).unwrap();
    for line in ["load c first.jsonl", "load c --abandon", "delete c --ids first.jsonl"] {
        dir.alike(line, None).code(4).says("another process");
    }
    assert_eq!(ids(&dir).len(), 3, "readers are not locked out");
    drop(writer);
    dir.alike("load c first.jsonl", None).ok();
}

#[test]
fn what_is_no_collection_stays_as_it_is() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "x"));
    dir.write("files/mine.txt", "mine");
    dir.write("folders/deep/mine.txt", "mine");
    fs::create_dir(dir.join("empty")).unwrap();
    for name in ["files", "folders", "in.jsonl"] {
        dir.alike(&format!("load {name} in.jsonl"), None).code(4).says(name).says("no collection");
    }
    for verb in ["clusters", "documents", "changes", "info", "load --abandon", "delete --ids in.jsonl"] {
        for name in ["files", "empty", "missing"] {
            dir.alike(&format!("{verb} {name}"), None).code(4).says(name);
        }
    }
    assert_eq!(fs::read_dir(dir.join("files")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(dir.join("folders")).unwrap().count(), 1);
    assert_eq!(dir.names(), ["empty", "files", "folders", "in.jsonl"]);
    dir.alike("load empty in.jsonl", None).ok();
    dir.alike("load empty empty", None).code(3);
    dir.alike("load empty .", None).code(3).says("collection itself");
}

#[test]
fn damage_is_told_and_nothing_is_loaded() {
    let dir = made();
    let path = dir.join("c/manifest-00000001");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let lines = [
        "load c first.jsonl",
        "delete c --ids first.jsonl",
        "clusters c",
        "documents c",
        "changes c",
        "info c",
    ];
    for line in lines {
        dir.alike(line, None).code(4).says("manifest-00000001").says("damaged");
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    // That of the commit before is in nobody's way, but a warning names it.
    let before = dir.join("c/manifest-00000000");
    fs::write(&before, "no manifest").unwrap();
    dir.alike("fsck c", None).code(4);
    dir.alike("load c first.jsonl", None).ok().says("warning").says("manifest-00000000");
    dir.write("one.jsonl", line("z", "z"));
    dir.alike("load c one.jsonl", None).ok().says("warning");
    dir.alike("fsck c", None).ok();
    assert!(!before.exists());
    let log = dir.join("c/changes-00000001.jsonl");
    let mut text = fs::read(&log).unwrap();
    text[3] ^= 1;
    fs::write(&log, text).unwrap();
    let ran = dir.alike("changes c", None).code(4).says("changes-00000001.jsonl");
    assert_eq!(ran.stdout, "", "what is damaged is not shown");
}

#[test]
fn what_an_interrupted_load_left_can_be_removed() {
    let dir = made();
    dir.write("c/run-00000077", "half a run");
    let ran = dir.alike("load c --abandon", None).ok().says("removed run-00000077");
    assert_eq!(report(ran), json!({"removed": ["run-00000077"]}));
    assert!(!dir.join("c/run-00000077").exists());
    dir.alike("load c --abandon", None).ok().says("nothing was left behind");
    assert_eq!((commit(&dir), ids(&dir).len()), (json!(1), 3));
}

type State = BTreeMap<String, (BTreeSet<String>, String)>;

fn of<'s>(state: &'s mut State, row: &Value, key: &str) -> &'s mut (BTreeSet<String>, String) {
    state.get_mut(row[key].as_str().unwrap()).unwrap()
}

/// Follows `lines` from `state` on.
fn replay(state: &mut State, lines: &[Value]) {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    for row in lines {
        match row["change"].as_str().unwrap() {
            "created" => {
                state.insert(text(row, "cluster"), (BTreeSet::new(), text(row, "representative")));
            }
            "joined" => assert!(of(state, row, "cluster").0.insert(text(row, "id"))),
            "left" => assert!(of(state, row, "cluster").0.remove(&text(row, "id"))),
            "moved" => {
                assert!(of(state, row, "from").0.remove(&text(row, "id")));
                assert!(of(state, row, "to").0.insert(text(row, "id")));
            }
            "representative" => of(state, row, "cluster").1 = text(row, "to"),
            _ => {}
        }
    }
    state.retain(|_, (members, _)| !members.is_empty());
}

#[test]
fn changes_turn_one_state_into_the_next() {
    let dir = made();
    let mut state = BTreeMap::new();
    replay(&mut state, &rows(&dir, "changes c"));
    assert_eq!(state, clusters(&dir));
    dir.write("two.jsonl", line("e", &words(1001, 100)) + &line("f", &words(1, 100)));
    dir.alike("load c two.jsonl", None).ok();
    dir.write("gone.txt", "a\nb\n");
    dir.alike("delete c --ids gone.txt", None).ok();
    let later = rows(&dir, "changes c --since 1");
    let commits: BTreeSet<u64> = later.iter().map(|row| row["commit"].as_u64().unwrap()).collect();
    // Runs may be merged after a load, in a commit of its own, of which there is nothing to tell.
    let last = *commits.last().unwrap();
    assert!(commits.len() == 2 && commits.iter().all(|commit| *commit > 1), "{commits:?}");
    replay(&mut state, &later);
    assert_eq!((state.len(), &state), (1, &clusters(&dir)));
    assert_eq!(rows(&dir, &format!("changes c --since {last}")), Vec::<Value>::new());
    assert_eq!(rows(&dir, "changes c").first().unwrap()["commit"], json!(1));
    dir.alike("changes c --since 99", None).code(2).says("last commit is");
}

#[test]
fn clusters_come_by_size() {
    let dir = Dir::new();
    let copies = |family: usize, count: usize| {
        (0..count).map(move |i| line(&format!("{family}-{i}"), &words(family * 1000, 30)))
    };
    dir.write("in.jsonl", copies(0, 2).chain(copies(1, 5)).chain(copies(2, 3)).collect::<String>());
    dir.alike("load c in.jsonl", None).ok();
    let sizes = |flags: &str| -> Vec<u64> {
        rows(&dir, &format!("clusters c {flags}")).iter().map(|row| row["size"].as_u64().unwrap()).collect()
    };
    assert_eq!(sizes(""), [5, 3, 2]);
    assert_eq!((sizes("--top 2"), sizes("--top 9 --min-size 3")), (vec![5, 3], vec![5, 3]));
    assert_eq!(sizes("--min-size 6"), Vec::<u64>::new());
    for row in rows(&dir, "clusters c") {
        assert_eq!(rows(&dir, &format!("clusters c --cluster {}", row["cluster"].as_str().unwrap())), [row]);
    }
    dir.alike("clusters c --cluster 9.9", None).code(2).says("9.9");
    dir.alike("clusters c --cluster 2.1 --top 1", None).code(2);
}

/// A reader that has seen enough is no failure.
#[test]
fn a_closed_pipe_is_no_error() {
    let dir = Dir::new();
    // More than any pipe holds, so that the program is still writing when the other end closes.
    dir.write(
        "in.jsonl",
        (0..30_000).map(|i| line(&format!("{i:0>40}"), &words(i / 2 * 10, 6))).collect::<String>(),
    );
    dir.alike("load c in.jsonl", None).ok();
    for verb in ["documents", "clusters", "changes"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_alike"))
            .args([verb, "c"])
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut [0; 100]).unwrap();
        drop(pipe);
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stderr.is_empty(), "{verb}: {ended:?}");
    }
}

/// An id where a file is expected, and a file where an id is: the message says how to do it right.
#[test]
fn ids_and_files_are_not_mixed_up() {
    let dir = made();
    dir.alike("delete c a", None)
        .code(2)
        .says("--ids FILE")
        .says("echo ID | alike delete COLLECTION --ids -");
    dir.alike("delete c --ids a", None).code(3).says("one id a line").says("alike delete COLLECTION --ids -");
    dir.alike("group c a", None).code(3).says("one id a line").says("echo ID | alike group COLLECTION -");
    dir.alike("check c a", None).code(3).says("alike explain COLLECTION ID");
    dir.alike("explain c first.jsonl", None).code(2).says("alike check COLLECTION FILE");
}

#[test]
fn a_load_of_nothing_warns() {
    let dir = made();
    dir.write("empty.jsonl", "");
    dir.alike("load c empty.jsonl", None)
        .ok()
        .says("warning: the inputs hold no records")
        .says("nothing changed");
    dir.write("one.jsonl", line("z", &words(9000, 100)));
    let ran = dir.alike("load c one.jsonl", None).ok().says("1 record: 1 added").says("1 cluster, 0 lines");
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}
