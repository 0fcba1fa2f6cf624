//! `--against COLLECTION`: the answer is that of `--against FILE` where the file has the documents of the collection's newest
//! commit in document order, whatever loads, updates and deletions brought them there.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::job::Shape;
use crate::support::methods::{METHODS, collection, collection_with};
use crate::support::oracle::Doc;
use crate::support::output::{Output, label, sorted};
use crate::support::outputs::{alike_in_all, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, line, pages, words};

/// Documents of which some are protected, each with the file and the line that it is known by.
struct Old {
    docs: Vec<(u32, Doc, String, u64)>,
}

impl Old {
    /// Makes the collection `c` of documents in two loads, of which the second one replaces some, and deletes others.
    fn load(dir: &Dir, docs: &[Doc], flags: &str) -> Old {
        let mut random = Random(5);
        let (first, second) = docs.split_at(docs.len() * 3 / 5);
        let mut before: Vec<Doc> = first.to_vec();
        let mut after: Vec<Doc> = second.to_vec();
        // Some stand there with another text at first; others are gone in the end.
        for doc in before.iter_mut().step_by(7) {
            let new = doc.clone();
            doc.text = docs[random.below(docs.len())].text.clone() + " that was before";
            after.push(new);
        }
        let gone = (0..docs.len() / 9).map(|at| Doc { id: format!("gone{at}"), ..docs[at * 3].clone() });
        let gone: Vec<Doc> = gone.collect();
        before.extend(gone.iter().cloned());
        random.shuffle(&mut after);
        dir.write("load1.jsonl", Doc::jsonl(&before));
        dir.write("load2.jsonl", Doc::jsonl(&after));
        dir.alike(&format!("load c load1.jsonl {flags} -w 2"), None).ok();
        dir.alike("load c load2.jsonl", None).ok();
        let ids: String = gone.iter().map(|doc| format!("{}\n", doc.id)).collect();
        dir.alike("delete c --ids -", Some(ids.as_bytes())).ok();
        let place = |doc: &Doc| match after.iter().position(|new| new.id == doc.id) {
            Some(at) => ("load2.jsonl".to_owned(), at as u64 + 1),
            None => {
                let at = before.iter().position(|old| old.id == doc.id).unwrap();
                ("load1.jsonl".to_owned(), at as u64 + 1)
            }
        };
        let row = |(at, doc): (usize, &Doc)| {
            let (file, line) = place(doc);
            (u32::from(at >= first.len()), doc.clone(), file, line)
        };
        let mut docs: Vec<_> = docs.iter().enumerate().map(row).collect();
        docs.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        let live: Vec<Doc> = docs.iter().map(|(_, doc, ..)| doc.clone()).collect();
        dir.write("live.jsonl", Doc::jsonl(&live));
        Old { docs }
    }

    /// Holds a run against the collection against one on the file of the same documents.
    #[track_caller]
    fn check(&self, dir: &Dir, flags: &str, with_files: &str) -> usize {
        let files = dir.output(&format!("new.jsonl --against old=live.jsonl {flags} {with_files}"), "files");
        let stored = dir.output(&format!("new.jsonl --against old=c {flags}"), "stored");
        let places: BTreeMap<&str, (&str, u64)> =
            self.docs.iter().map(|(_, doc, file, line)| (&*doc.id, (&**file, *line))).collect();
        assert_eq!(files.duplicates.len(), stored.duplicates.len(), "{flags}");
        let placed = |row: &Value| {
            let mut row = row.clone();
            if row["against"].is_object() {
                let (file, line) = places[&*label(&row["representative"])];
                (row["against"]["file"], row["against"]["line"]) = (file.into(), line.into());
                (row["representative_file"], row["representative_line"]) = (file.into(), line.into());
            }
            row
        };
        let want = sorted(files.duplicates.iter().map(placed).collect());
        for (want, got) in want.iter().zip(&stored.duplicates) {
            assert_eq!(want, got, "{flags}");
        }
        assert!(files.clusters == stored.clusters, "{flags}: other clusters");
        assert!(*files.pairs == *stored.pairs, "{flags}: other pairs");
        assert!(files.kept == stored.kept, "{flags}: others are kept");
        let of = |output: &Output, name: &str| output.summary["against"][0][name].clone();
        for name in ["set", "documents", "removed", "rejected"] {
            assert_eq!(of(&files, name), of(&stored, name), "{flags}: {name}");
        }
        assert_eq!((of(&stored, "files"), of(&stored, "collections")), (0.into(), 1.into()));
        for name in [
            "documents",
            "empty",
            "removed",
            "kept",
            "exact_duplicates",
            "near_duplicates",
            "linked",
            "copies",
        ] {
            assert_eq!(files.summary[name], stored.summary[name], "{flags}: {name}");
        }
        fs::remove_dir_all(dir.join("files")).unwrap();
        fs::remove_dir_all(dir.join("stored")).unwrap();
        stored.duplicates.iter().filter(|row| row["against"].is_object()).count()
    }
}

/// Two fifths of some documents are loaded, and the others written to `new.jsonl`; all have scores.
fn split(dir: &Dir, mut docs: Vec<Doc>, flags: &str) -> Old {
    for (at, doc) in docs.iter_mut().enumerate() {
        doc.score = (at % 5 > 0).then_some((at * 37 % 101) as i64);
    }
    let (old, new) = docs.split_at(docs.len() * 2 / 5);
    dir.write("new.jsonl", Doc::jsonl(new));
    Old::load(dir, old, flags)
}

#[test]
fn like_files_of_the_same_documents() {
    let dir = Dir::new();
    let old = split(&dir, collection(), "--keep field:score:max");
    for flags in [
        "--pairs",
        "--threshold 0.55 -w 3",
        "--threshold 0.95 --clustering transitive",
        "--keep field:score:min,last -w 2",
        "--clustering transitive --keep longest,last",
        "--measure containment --pairs",
        "--measure containment-of-protected --pairs -w 2",
        "--measure containment-of-protected --threshold 0.55 --clustering transitive",
    ] {
        assert!(old.check(&dir, flags, "") > 300, "{flags}: nothing to tell apart");
    }
}

#[test]
fn hot_groups_of_both_sides() {
    let dir = Dir::new();
    let mut texts = pages(8);
    Random(3).shuffle(&mut texts);
    let old = split(&dir, Doc::all(&texts), "");
    assert!(old.check(&dir, "--pairs -w 2", "") > 100);
    old.check(&dir, "--clustering transitive", "");
}

#[test]
fn every_method() {
    for (name, config) in METHODS {
        let dir = Dir::new();
        dir.write("m.toml", config);
        let old = split(&dir, collection(), "--config m.toml");
        // What is not said is what the collection has.
        assert!(old.check(&dir, "--pairs --config m.toml -w 2", "") > 50, "{name}");
    }
}

#[test]
fn what_is_not_said_is_that_of_the_collection() {
    let dir = Dir::new();
    let old = split(&dir, collection(), "--ngram 3 --threshold 0.6 --fold marks");
    assert!(old.check(&dir, "", "--ngram 3 --threshold 0.6 --fold marks") > 300);
    assert!(old.check(&dir, "--threshold 0.9", "--ngram 3 --fold marks") > 100);
}

#[test]
fn any_workers_and_processes() {
    let dir = Dir::new();
    split(&dir, collection_with(pages(2)), "");
    let before = written(&dir.join("c"));
    let shapes: [Shape; 4] = [(1, 3), (2, 1), (2, 2), (3, 1)];
    for flags in ["--pairs", "--clustering transitive --write-removed", "--annotate --to jsonl --assignments"]
    {
        alike_in_all(&dir, &format!("new.jsonl --against month=c {flags}"), &shapes);
    }
    assert!(written(&dir.join("c")) == before, "the collection was written to");
    let bounded = dir.output("new.jsonl --against c --memory 64MiB --pairs", "bounded");
    let free = dir.output("new.jsonl --against c --pairs", "free");
    assert!(*bounded.pairs == *free.pairs && bounded.clusters == free.clusters);
}

/// Collections and files are sets side by side, of one name or of several.
#[test]
fn beside_files_and_other_collections() {
    let dir = Dir::new();
    let text = |at: usize| words(at * 100, 60);
    dir.write("a.jsonl", line("a", &text(0)) + &line("gone", &text(4)));
    dir.write("b.jsonl", line("b", &text(1)));
    dir.write("c.jsonl", line("x", &text(2)) + &line("b", &text(3)));
    dir.alike("load one a.jsonl", None).ok();
    dir.alike("delete one --ids -", Some(b"gone")).ok();
    dir.alike("load two c.jsonl", None).ok();
    let new: String =
        [0, 1, 2, 3, 4, 0].iter().enumerate().map(|(at, of)| line(&format!("n{at}"), &text(*of))).collect();
    dir.write("new.jsonl", new);
    let flags = "new.jsonl --against old=b.jsonl --against two --against old=one";
    let ran = dir.dedup(&format!("{flags} --out out")).ok();
    let ran = ran.says("old: 2 documents, 1 collection, 1 file").says("two: 2 documents, 1 collection");
    ran.says("removed 5 of 6 documents");
    let output = Output::read(&dir.join("out"));
    let row = |row: &Value| (label(&row["id"]), label(&row["representative"]), row["against"].clone());
    let of = |set: &str, file: &str, line: u64| serde_json::json!({"set": set, "file": file, "line": line});
    let want = [
        ("n0", "a", of("old", "a.jsonl", 1)),
        ("n1", "b", of("old", "b.jsonl", 1)),
        ("n2", "x", of("two", "c.jsonl", 1)),
        ("n3", "b", of("two", "c.jsonl", 2)),
        ("n5", "a", of("old", "a.jsonl", 1)),
    ];
    let want = want.map(|(id, leader, against)| (id.to_owned(), leader.to_owned(), against));
    let mut told: Vec<_> = output.duplicates.iter().map(row).collect();
    told.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(told, want);
}

#[test]
fn collections_that_cannot_be_meant_are_refused_before_work() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("1", &words(0, 30)));
    dir.write("new.jsonl", line("2", &words(0, 30)));
    for collection in ["c", "empty", "damaged", "lost"] {
        dir.alike(&format!("load {collection} in.jsonl --ngram 3"), None).ok();
    }
    dir.alike("load chars in.jsonl --tokens chars --ngram 3", None).ok();
    dir.alike("delete empty --ids - --max-delete 100%", Some(b"1")).ok();
    fs::write(dir.join("damaged/manifest-00000001"), "{").unwrap();
    fs::remove_file(dir.join("lost/run-00000001")).unwrap();
    for (flags, parts) in [
        ("--against c --ngram 5", &["--against c", "text.ngram is 3, not 5", "name the files"][..]),
        ("--against c --method minhash", &["method is join, not minhash"]),
        ("--against c --against chars", &["--against chars", "text.tokens is chars, not words"]),
        ("--against c --keep field:date:max", &["keep policy field:date:max", "stores only"]),
        ("--against c --kinds", &["--against c", "--kinds"]),
        ("--against c --within site", &["--against c", "--within"]),
        ("--against old=empty", &["--against old", "no documents in the collection"]),
        ("--against a=c --against b=c", &["c: is named twice"]),
        ("--against damaged", &["damaged/manifest-00000001"]),
        ("--against lost", &["lost/run-00000001"]),
    ] {
        let mut ran = dir.dedup(&format!("new.jsonl {flags} --out out"));
        assert!(ran.code != Some(0), "{flags}");
        for part in parts {
            ran = ran.says(part);
        }
        assert!(!dir.join("out").exists(), "{flags}");
    }
    dir.dedup("new.jsonl --against c --out out").ok().says("removed 1 of 1 document");
    // A load refuses it like that, too.
    dir.alike("load c new.jsonl --against empty", None).code(2).says("--against");
}
