//! What a collection remembers of where its documents came from, and the records it keeps.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::sync::Arc;

use alike::collection::{Finding, RunEntry, SectionKind, Snapshot, SourceEntry, Writer, fsck};
use alike::error::Error;
use alike::progress::Progress;
use alike::read::{Compression, Format, open_decompressed};
use alike::storage::{Local, Storage};
use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{gzip, line, words, zst};

fn storage(dir: &Dir) -> Arc<dyn Storage> {
    Arc::new(Local::open(&dir.join("c")).unwrap())
}

fn snapshot(dir: &Dir) -> Snapshot {
    Snapshot::open(&storage(dir)).unwrap()
}

fn sources(dir: &Dir) -> Vec<SourceEntry> {
    snapshot(dir).sources().unwrap()
}

fn documents(dir: &Dir) -> BTreeMap<String, Value> {
    let rows = jsonl(dir.alike("documents c", None).ok().stdout.as_bytes());
    rows.into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}

fn findings(dir: &Dir) -> Vec<Finding> {
    let mut found = Vec::new();
    fsck(&snapshot(dir), &Progress::default(), &mut |finding| found.push(finding)).unwrap();
    found
}

#[test]
fn documents_know_file_and_line_whatever_the_file_is() {
    let dir = Dir::new();
    let lines =
        |name: &str| format!("{}\n{}", line(&format!("{name}0"), "x y"), line(&format!("{name}1"), "z"));
    dir.write("in/a.jsonl", lines("a"));
    dir.write("in/b.jsonl.gz", gzip(lines("b").as_bytes(), 20));
    dir.write("in/c.jsonl.zst", zst(lines("c").as_bytes(), 20));
    dir.write("in/d.txt", "some text");
    dir.alike("load c in --workers 3", None).ok();
    dir.alike("load c - ", Some(lines("e").as_bytes())).ok();
    let known = documents(&dir);
    let shown = dir.alike("documents c", None).ok().stdout;
    for (id, file) in
        [("a1", "in/a.jsonl"), ("b1", "in/b.jsonl.gz"), ("c1", "in/c.jsonl.zst"), ("e1", "stdin")]
    {
        let offset = line("a0", "x y").len() + 1;
        let row = &known[id];
        assert_eq!(
            (&row["file"], &row["line"], &row["offset"]),
            (&json!(file), &json!(3), &json!(offset)),
            "{shown}"
        );
    }
    let text = &known["d.txt"];
    assert_eq!((&text["file"], &text["line"], &text["offset"]), (&json!("in/d.txt"), &json!(1), &json!(0)));
    let all = sources(&dir);
    let forms: Vec<_> =
        all.iter().map(|source| (source.format, source.compression, source.reopens)).collect();
    let (json, none) = (Format::JsonLines, Compression::None);
    assert_eq!(
        forms,
        [
            (json, none, true),
            (json, Compression::Gzip, true),
            (json, Compression::Zstd, true),
            (Format::Text, none, true),
            (json, none, false)
        ]
    );
    for source in &all[..4] {
        let opened = source.open().unwrap();
        assert_eq!((&opened.shown, &opened.name, opened.bytes), (&source.shown, &source.name, source.bytes));
        assert!(opened.path.is_absolute());
        let mut text = String::new();
        open_decompressed(&opened).unwrap().read_to_string(&mut text).unwrap();
        let name = source.name.split('.').next().unwrap();
        assert_eq!(text, if name == "d" { "some text".to_owned() } else { lines(name) });
    }
    let Err(Error::Input { path, .. }) = all[4].open() else { panic!("standard input is gone") };
    assert_eq!(
        (path.to_str(), all[4].path.as_str(), all[4].name.as_str()),
        (Some("stdin"), "", "stdin.jsonl")
    );
}

#[test]
fn a_path_that_is_not_utf8_is_marked() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Dir::new();
    fs::create_dir(dir.join("in")).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"a\xff.jsonl");
    fs::write(dir.join("in").join(name), line("a", "x")).unwrap();
    dir.alike("load c in", None).ok();
    let [source] = &sources(&dir)[..] else { panic!("one source") };
    assert!(source.path.ends_with("in/a\u{fffd}.jsonl") && source.digest != 0, "{source:?}");
    assert!(matches!(source.open(), Err(Error::Input { .. })));
    assert_eq!(documents(&dir)["a"]["version"], Value::Null, "numbers of records are nobody's business");
}

#[test]
fn a_file_that_is_another_one_is_not_opened() {
    let dir = Dir::new();
    let whole = line("a", "one") + &line("b", "two");
    dir.write("in.jsonl", &whole);
    dir.alike("load c in.jsonl", None).ok();
    let [source] = &sources(&dir)[..] else { panic!("one source") };
    source.open().unwrap();
    // Written again as it was, it is the same, whatever its time.
    dir.write("in.jsonl", &whole);
    source.open().unwrap();
    for other in [whole.replace("one", "eno"), whole.clone() + "\n", String::new()] {
        dir.write("in.jsonl", other);
        assert!(matches!(source.open(), Err(Error::Changed(path)) if path == dir.join("in.jsonl")));
    }
    fs::remove_file(dir.join("in.jsonl")).unwrap();
    assert!(matches!(source.open(), Err(Error::Input { path, .. }) if path == dir.join("in.jsonl")));
}

#[test]
fn compaction_keeps_the_sources_of_live_documents() {
    let dir = Dir::new();
    for (name, text) in [("a", words(0, 50)), ("b", words(0, 49)), ("d", words(900, 50))] {
        dir.write(&format!("{name}.jsonl"), line(name, &text) + &line("shared", name));
        dir.alike(&format!("load c {name}.jsonl"), None).ok();
    }
    dir.alike("delete c --ids -", Some(b"b\n")).ok();
    let names = |dir: &Dir| sources(dir).into_iter().map(|source| source.shown).collect::<Vec<_>>();
    let before = documents(&dir);
    dir.alike("compact c", None).ok();
    assert_eq!(names(&dir), ["a.jsonl", "d.jsonl"]);
    assert_eq!((documents(&dir), findings(&dir)), (before, vec![]));
    assert!(sources(&dir).iter().all(|source| source.open().is_ok()));
    dir.alike("delete c --ids - --max-delete 100%", Some(b"a\nd\nshared\n")).ok();
    dir.alike("compact c", None).ok();
    assert_eq!(names(&dir), Vec::<String>::new());
}

/// The record of each document, by id, found through the rows of documents.
fn kept(dir: &Dir) -> BTreeMap<String, Option<String>> {
    let snapshot = snapshot(dir);
    let text = |version| snapshot.record(version).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
    let mut records = BTreeMap::new();
    snapshot
        .documents(&mut |document| {
            records.insert(document.id, text(document.version));
            Ok(())
        })
        .unwrap();
    records
}

#[test]
fn records_are_kept_as_they_stood() {
    let dir = Dir::new();
    let big = json!({"id": "big", "other": [1, 2.50], "text": words(0, 20_000)}).to_string();
    let rows = [
        "\u{feff}{\"id\": \"a\",  \"text\":\"A \\u00e9\", \"x\": null}\r",
        &big,
        "{\"id\": \"none\", \"text\": \"\"}",
        "{\"text\": \"again\", \"id\": \"twice\"}",
        " {\"text\": \"once more\", \"id\": \"twice\"}\t",
        "{\"id\": \"gone\", \"text\": \"x\"}",
    ];
    dir.write("one.jsonl", rows.join("\n"));
    dir.write("two.jsonl.gz", gzip(line("z", "zipped").as_bytes(), 9));
    dir.write("text.txt", "\u{feff}a text\r\nof two lines\n");
    dir.alike("load c one.jsonl two.jsonl.gz text.txt --store-text --workers 2", None).ok();
    let mut expected: BTreeMap<String, Option<String>> = [
        ("a", rows[0].trim_start_matches('\u{feff}')),
        ("big", &big),
        ("none", rows[2]),
        ("twice", rows[4]),
        ("gone", rows[5]),
        ("z", line("z", "zipped").trim_end()),
        ("text.txt", "\u{feff}a text\r\nof two lines\n"),
    ]
    .into_iter()
    .map(|(id, row)| (id.to_owned(), Some(row.to_owned())))
    .collect();
    assert_eq!((kept(&dir), findings(&dir)), (expected.clone(), vec![]));
    // What is not named again stays as it is.
    dir.write("more.jsonl", line("a", "another") + "{\"op\":\"delete\",\"id\":\"gone\"}\n");
    dir.alike("load c more.jsonl", None).ok();
    expected.insert("a".to_owned(), Some(line("a", "another").trim_end().to_owned()));
    expected.remove("gone");
    assert_eq!((kept(&dir), findings(&dir)), (expected.clone(), vec![]));
    dir.alike("compact c", None).ok();
    assert_eq!((kept(&dir), findings(&dir)), (expected, vec![]));
    assert_eq!(rows_of(&dir, "records"), 6);
    assert_eq!(jsonl(dir.alike("info c", None).ok().stdout.as_bytes())[0]["store_text"], json!(true));
}

/// A record that is kept is another one if anything in it is.
#[test]
fn kept_records_change_with_any_field() {
    for (flag, url) in [("--store-text", "new"), ("", "old")] {
        let dir = Dir::new();
        for url in ["old", "new", "new"] {
            dir.write("in.jsonl", json!({"id": "a", "text": "x", "url": url}).to_string());
            dir.alike(&format!("load c in.jsonl {flag}"), None).ok();
        }
        let report = jsonl(dir.alike("load c in.jsonl --json", None).ok().stdout.as_bytes());
        assert_eq!(report[0]["unchanged"], json!(1));
        let kept = kept(&dir).remove("a").unwrap();
        assert_eq!(kept.is_some(), url == "new");
        assert!(kept.is_none_or(|kept| kept.contains(url)));
        assert_eq!(snapshot(&dir).manifest().load, if url == "new" { 2 } else { 1 });
    }
}

/// Rows of a table in all runs.
fn rows_of(dir: &Dir, table: &str) -> u64 {
    snapshot(dir).manifest().runs.iter().filter_map(|run| run.rows.get(table)).sum()
}

#[test]
fn whether_records_are_kept_is_fixed() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "x"));
    dir.alike("load c in.jsonl", None).ok();
    dir.alike("load c in.jsonl --store-text", None).code(2).says("store_text is false, not true");
    assert_eq!(kept(&dir), [("a".to_owned(), None)].into());
    fs::remove_dir_all(dir.join("c")).unwrap();
    for flag in ["--store-text", "", "--store-text"] {
        dir.alike(&format!("load c in.jsonl {flag}"), None).ok();
    }
    dir.alike("load c --abandon --store-text", None).code(2);
}

/// Takes the rows of a table out of a collection's only run, by writing all other sections again.
fn without(dir: &Dir, gone: u32) {
    let mut writer = Writer::open(&storage(dir)).unwrap();
    let mut next = writer.next();
    let old = Arc::clone(&writer.snapshot().runs()[0]);
    let (id, mut run) = writer.begin_run(&mut next).unwrap();
    let mut rows = next.runs[0].rows.clone();
    for kind in old.kinds() {
        match (old.rows(kind), old.heap(kind)) {
            (Some(reader), _) => {
                run.rows(kind, reader.shape()).unwrap();
                let mut scan = reader.scan(&[], None);
                while let Some(row) = scan.next_row().unwrap().filter(|_| kind != SectionKind(gone)) {
                    run.push(row).unwrap();
                }
            }
            (None, Some(heap)) => {
                let mut words = Vec::new();
                heap.read(0, heap.len() as usize, &mut words).unwrap();
                run.heap(kind).unwrap();
                run.push(&words).unwrap();
            }
            (None, None) => panic!("a section that is neither"),
        }
    }
    run.finish().unwrap();
    rows.insert(if gone == 10 { "sources" } else { "records" }.to_owned(), 0);
    next.runs = vec![RunEntry::of(&**writer.storage(), id, None, rows).unwrap()];
    writer.commit(next).unwrap();
}

#[test]
fn missing_sources_and_records_are_found() {
    for (gone, what) in [(10, "it comes from a source that is in no run"), (11, "its record is in no run")] {
        let dir = Dir::new();
        dir.write("in.jsonl", line("a", "x y") + &line("b", "z"));
        dir.alike("load c in.jsonl --store-text", None).ok();
        dir.alike("compact c", None).ok();
        without(&dir, gone);
        let found = findings(&dir);
        assert!(found.len() == 2 && found.iter().all(|finding| finding.what == what), "{found:?}");
        let said = dir.alike("fsck c", None).code(4);
        assert_eq!(said.stdout.matches(what).count(), 2, "{}", said.stdout);
    }
}
