//! Archives that hold files of many records: these are read as in a folder, and stand in the kept archive without what was removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;

use flate2::read::DeflateDecoder;
use serde_json::json;

use crate::support::output::{Output, label};
use crate::support::program::Dir;
use crate::support::tar::{DIALECTS, Dialect, archive, member};
use crate::support::texts::{gzip, unpack, zst};
use crate::support::zips::{Zipped, checksum, zipped};

/// Files in the order of their names, by name and content. Each text of `b` is one of `a`.
type Files = Vec<(String, Vec<u8>)>;

fn text(number: usize) -> String {
    format!("a text of several words with the number {number} and {} too", number * 7919)
}

fn lines(ids: &str, numbers: impl Iterator<Item = usize>) -> String {
    numbers.map(|n| format!("{}\n", json!({"id": format!("{ids}{n}"), "text": text(n)}))).collect()
}

fn files() -> Files {
    let table = |numbers: std::ops::Range<usize>| {
        let row = |n: usize| format!("t{n},{}\n", text(n));
        format!("id,text\n{}", numbers.map(row).collect::<String>())
    };
    let mail = |n: usize| format!("From a@b Thu Jan  1 00:00:00 1970\nMessage-ID: <m{n}>\n\n{}\n\n", text(n));
    let file = |name: &str, content: &[u8]| (name.to_owned(), content.to_vec());
    vec![
        file("README.md", b"what is in this archive"),
        file("data/a.jsonl", lines("a", 0..40).as_bytes()),
        file("data/b.jsonl.gz", &gzip(lines("b", 30..60).as_bytes(), 1000)),
        file("data/c.csv", table(55..70).as_bytes()),
        file("data/d.jsonl.zst", &zst(lines("d", 100..110).as_bytes(), 1000)),
        file("data/e.jsonl", lines("e", 100..110).as_bytes()),
        file("mail/f.mbox", (65..75).map(mail).collect::<String>().as_bytes()),
        file("notes/g.txt.gz", &gzip(b"what is in this archive", 1000)),
        file("notes/h.txt", b"some other text that nobody else has"),
    ]
}

fn tar(dialect: Dialect, files: &Files) -> Vec<u8> {
    archive(&files.iter().map(|(name, content)| member(dialect, name, content)).collect::<Vec<_>>())
}

fn zip(files: &Files, member: fn(&str, &[u8]) -> Zipped) -> Vec<u8> {
    zipped(&files.iter().map(|(name, content)| member(name, content)).collect::<Vec<_>>())
}

fn deflated(files: &Files) -> Vec<u8> {
    zip(files, |name, content| Zipped::new(name, content))
}

fn stored(files: &Files) -> Vec<u8> {
    zip(files, |name, content| Zipped::stored(name, content))
}

/// The files of a zip archive by its directory: the checksums have to be right.
fn zip_content(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let number = |at: usize, length: usize| {
        bytes[at..at + length].iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    // A comment may stand behind the end.
    let end = bytes.windows(4).rposition(|four| four == b"PK\x05\x06").unwrap();
    let (mut found, mut at) = (BTreeMap::new(), number(end + 16, 4));
    while bytes[at..].starts_with(b"PK\x01\x02") {
        let (header, name_end) = (number(at + 42, 4), at + 46 + number(at + 28, 2));
        let start = header + 30 + number(header + 26, 2) + number(header + 28, 2);
        let packed = &bytes[start..start + number(at + 20, 4)];
        let mut content = Vec::new();
        match number(at + 10, 2) {
            0 => content.extend_from_slice(packed),
            _ => _ = DeflateDecoder::new(packed).read_to_end(&mut content).unwrap(),
        }
        assert_eq!((checksum(&content) as usize, content.len()), (number(at + 16, 4), number(at + 24, 4)));
        found.insert(String::from_utf8(bytes[at + 46..name_end].to_vec()).unwrap(), unpack(&content));
        at = name_end + number(at + 30, 2) + number(at + 32, 2);
    }
    found
}

/// The same as the crate finds them.
#[cfg(feature = "office")]
fn is_found_by_others(bytes: &[u8], files: &BTreeMap<String, Vec<u8>>) {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), files.len());
    for (name, content) in files {
        let mut found = Vec::new();
        archive.by_name(name).unwrap().read_to_end(&mut found).unwrap();
        assert!(unpack(&found) == *content, "{name}");
    }
}

#[cfg(not(feature = "office"))]
fn is_found_by_others(_: &[u8], _: &BTreeMap<String, Vec<u8>>) {}

/// The files of an archive as other programs find them, unpacked.
fn content(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    if bytes.starts_with(b"PK") {
        let files = zip_content(bytes);
        is_found_by_others(bytes, &files);
        return files;
    }
    let (bytes, mut found, mut at) = (unpack(bytes), BTreeMap::new(), 0);
    while bytes[at] != 0 {
        let name = String::from_utf8(bytes[at..at + 100].to_vec()).unwrap();
        let size =
            usize::from_str_radix(std::str::from_utf8(&bytes[at + 124..at + 135]).unwrap(), 8).unwrap();
        let content = unpack(&bytes[at + 512..at + 512 + size]);
        found.insert(name.trim_end_matches('\0').to_owned(), content);
        at += 512 + size.next_multiple_of(512);
    }
    found
}

/// Which documents go, and for which.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    let last =
        |id: &serde_json::Value| label(id).rsplit('/').next().unwrap().trim_end_matches(":1").to_owned();
    output.duplicates.iter().map(|row| (last(&row["id"]), last(&row["representative"]))).collect()
}

/// What a folder of the files becomes: an output whose files are those of the archive.
fn unpacked(output: &Output) -> BTreeMap<String, Vec<u8>> {
    output.kept.iter().map(|(name, content)| (name.clone(), unpack(content))).collect()
}

#[test]
fn files_of_records_in_an_archive_are_read_and_written_as_in_a_folder() {
    let (dir, files) = (Dir::new(), files());
    for (name, content) in &files {
        dir.write(&format!("tree/{name}"), content);
    }
    // A text is compared with the one before it, wherever that is: the folder has them in the order of names.
    let expected = dir.output("tree", "folder");
    assert_eq!(expected.duplicates.len(), 10 + 5 + 5 + 10 + 1);
    let whole = tar(Dialect::Pax, &files);
    let archives = [
        ("a.tar", whole.clone()),
        ("b.tar.gz", gzip(&whole, 100_000)),
        ("c.tzst", zst(&whole, 50_000)),
        ("d.zip", deflated(&files)),
        ("e.zip", stored(&files)),
    ];
    for (name, bytes) in &archives {
        dir.write(name, bytes);
        for workers in [1, 2, 3] {
            let found = dir.output(&format!("{name} -w {workers}"), &format!("{name}-{workers}"));
            assert_eq!(decided(&found), decided(&expected), "{name}, {workers} workers");
            assert!(found.rejected.is_empty(), "{name}: {:?}", found.rejected);
            assert_eq!(found.kept.keys().collect::<Vec<_>>(), [name], "{name}");
            assert!(content(&found.kept[*name]) == unpacked(&expected), "{name}, {workers} workers");
            assert_eq!(found.kept[*name].starts_with(b"PK"), bytes.starts_with(b"PK"));
        }
        let halves = dir.output(&format!("{name} --write-removed"), &format!("{name}-halves"));
        let removed = content(&halves.removed[*name]);
        let names: Vec<&str> = removed.keys().map(String::as_str).collect();
        assert_eq!(names, ["data/b.jsonl.gz", "data/c.csv", "data/e.jsonl", "mail/f.mbox", "notes/g.txt.gz"]);
        assert!(removed["data/e.jsonl"] == lines("e", 100..110).as_bytes(), "{name}");
        // What is kept says the same once more, and loses nothing.
        dir.write(&format!("again-{name}"), &halves.kept[*name]);
        let again = dir.output(&format!("again-{name}"), &format!("{name}-again"));
        assert!(again.duplicates.is_empty() && again.kept[&format!("again-{name}")] == halves.kept[*name]);
    }
}

#[test]
fn files_of_archives_have_other_forms_and_names_of_their_own() {
    let (dir, files) = (Dir::new(), files());
    dir.write("a.tar", tar(Dialect::Gnu, &files));
    let found = dir.output("a.tar --to jsonl", "out");
    let names: Vec<&str> = found.kept.keys().map(String::as_str).collect();
    let expected = [
        "a.tar/data/a.jsonl",
        "a.tar/data/b.jsonl",
        "a.tar/data/c.jsonl",
        "a.tar/data/d.jsonl",
        "a.tar/data/e.jsonl",
    ];
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
    assert!(found.kept["a.tar/data/a.jsonl"] == lines("a", 0..40).as_bytes());
    let file = |at: usize| found.duplicates[at]["file"].as_str().unwrap().to_owned();
    assert!((0..found.duplicates.len()).any(|at| file(at).ends_with("a.tar/data/b.jsonl.gz")));
    // Names that lead elsewhere are only names, and two of one name are two files.
    let odd = ["../../x.jsonl", "/x.jsonl", "x.jsonl", "x.jsonl/y.jsonl", "..jsonl", "\u{1b}[31m.jsonl"];
    let row = |at: usize, name: &&str| (name.to_string(), lines("n", at * 10..at * 10 + 5).into_bytes());
    let odd: Files = odd.iter().enumerate().map(|(at, name)| row(at, name)).collect();
    dir.write("odd.tar", tar(Dialect::Ustar, &odd));
    let found = dir.output("odd.tar --to jsonl.zst", "odd");
    assert_eq!(found.summary["documents"], 25, "hidden ones are passed over");
    assert!(!dir.join("x.jsonl").exists() && fs::read_dir(dir.join("odd")).unwrap().count() > 0);
}

#[test]
fn other_commands_know_files_of_archives() {
    let (dir, files) = (Dir::new(), files());
    let whole = tar(Dialect::Pax, &files);
    dir.write("a.tar", &whole);
    dir.write("bench.jsonl", lines("q", 103..104));
    dir.alike("decontaminate a.tar --benchmarks q=bench.jsonl --benchmark-fields text --out clean", None)
        .ok();
    let kept = content(&fs::read(dir.join("clean/kept/a.tar")).unwrap());
    let gone = |name: &str, id: &str| !String::from_utf8(kept[name].clone()).unwrap().contains(id);
    assert!(gone("data/e.jsonl", "e103") && gone("data/d.jsonl.zst", "d103") && kept.len() == files.len());
    // A collection takes them as it takes standard input: with the records, if they are to be read again.
    dir.alike("load copied a.tar --max-rejected 50%", None).ok();
    dir.alike("export copied --out none", None)
        .code(3)
        .says("data/a.jsonl: cannot be read again: it stood in an archive, and its copy went with the load")
        .says("make the collection with --store-text");
    dir.alike("load piped -", Some(lines("a", 0..4).as_bytes())).ok();
    dir.alike("export piped --out none", None)
        .code(3)
        .says("stdin: cannot be read again: it was standard input");
    dir.alike("load c a.tar --store-text --max-rejected 50%", None).ok();
    let documents = dir.alike("documents c --json", None).ok().stdout;
    assert!(documents.contains("\"b59\"") && documents.contains("a.tar/data/b.jsonl.gz"), "{documents}");
    // What is shown of an output is read from the archive once more.
    dir.alike("dedup a.tar --out out", None).ok();
    let shown = dir.alike("show out 2", None).ok().stdout;
    assert!(shown.contains("a.tar/data/") && !shown.contains("not at hand"), "{shown}");
}

/// What says of itself that it is a table, and is none.
#[test]
fn a_damaged_file_of_an_archive_costs_itself() {
    let (dir, mut files) = (Dir::new(), files());
    let want = dir_of(&dir, "whole.tar", &files);
    files.push(("z/cut.parquet".to_owned(), b"PAR1 and then nothing that ends it".to_vec()));
    files.push(("z/cut.arrow".to_owned(), b"ARROW1\0\0 and then nothing that ends it".to_vec()));
    for (name, archive) in [("a.tar", tar(Dialect::Pax, &files)), ("a.zip", deflated(&files))] {
        dir.write(name, &archive);
        let found = dir.output(&format!("{name} --max-rejected 50%"), &format!("out-{name}"));
        assert_eq!(found.summary["documents"], want.summary["documents"], "{name}");
        assert!(text_of_rejected(&dir, name).contains("unpack the archive"), "{name}");
        let kept = fs::read(dir.join(&format!("out-{name}/kept/{name}"))).unwrap();
        let whole = |needle: &[u8]| kept.windows(needle.len()).any(|at| at == needle);
        assert!(name == "a.zip" || whole(b"PAR1 and then nothing that ends it"), "{name}");
    }
}

fn dir_of(dir: &Dir, name: &str, files: &Files) -> Output {
    dir.write(name, tar(Dialect::Pax, files));
    dir.output(&format!("{name} --max-rejected 50%"), "whole")
}

fn text_of_rejected(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.join(&format!("out-{name}/rejected.jsonl"))).unwrap()
}

#[test]
fn several_processes_share_the_files_of_an_archive() {
    let (dir, files) = (Dir::new(), files());
    dir.write("a.tar", tar(Dialect::Pax, &files));
    let one = dir.output("a.tar --max-rejected 50%", "one").kept;
    for processes in [2, 3] {
        let out = format!("many-{processes}");
        dir.alike(&format!("launch -n {processes} -- dedup a.tar --max-rejected 50% --out {out}"), None).ok();
        assert!(Output::read(&dir.join(&out)).kept == one, "{processes} processes");
    }
    // Without a folder that all of them see there is no place for copies.
    dir.alike("launch -n 2 -- dedup a.tar --dry-run", None).code(3).says("unpack the archive");
}

#[test]
fn every_form_of_headers_says_the_new_length() {
    for dialect in DIALECTS {
        let (dir, name) = (Dir::new(), format!("{}/a.jsonl", "n".repeat(60)));
        let content = format!("{}{}", lines("a", 0..300), lines("b", 0..300));
        let files = vec![
            ("before.txt".to_owned(), b"before".to_vec()),
            (name, content.into_bytes()),
            ("behind.txt".to_owned(), b"behind".to_vec()),
        ];
        let kept: Files = files
            .iter()
            .map(|(name, content)| {
                (
                    name.clone(),
                    if name.ends_with('l') { lines("a", 0..300).into_bytes() } else { content.clone() },
                )
            })
            .collect();
        dir.write("a.tar", tar(dialect, &files));
        let found = dir.output("a.tar", "out");
        assert!(found.kept["a.tar"] == tar(dialect, &kept), "{dialect:?}");
    }
}

#[test]
fn names_in_an_archive_may_be_longer_than_those_of_files() {
    let long = "n".repeat(300);
    let files: Files = vec![
        (format!("{long}.jsonl"), lines("a", 0..40).into_bytes()),
        (format!("{long}x.jsonl"), lines("b", 30..60).into_bytes()),
        (format!("{}c.jsonl", "folder/".repeat(700)), lines("c", 50..70).into_bytes()),
    ];
    let mut left = files.clone();
    left[1].1 = lines("b", 40..60).into_bytes();
    left[2].1 = lines("c", 60..70).into_bytes();
    let dir = Dir::new();
    for (name, archive, expected) in [
        ("a.zip", deflated(&files), deflated(&left)),
        ("a.tar", tar(Dialect::Pax, &files), tar(Dialect::Pax, &left)),
        ("b.tar", tar(Dialect::Gnu, &files), tar(Dialect::Gnu, &left)),
    ] {
        dir.write(name, archive);
        let found = dir.output(name, &format!("out-{name}"));
        assert!(found.rejected.is_empty(), "{name}: {:?}", found.rejected);
        match name {
            "a.zip" => assert!(content(&found.kept[name]) == content(&expected)),
            _ => assert!(found.kept[name] == expected, "{name}"),
        }
        let written = dir.output(&format!("{name} --to jsonl --write-removed"), &format!("{name}-jsonl"));
        for (kept, records) in [(&written.kept, [40, 20, 10]), (&written.removed, [0, 10, 10])] {
            let mut counts: Vec<usize> = kept
                .values()
                .map(|bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
                .filter(|count| *count > 0)
                .collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(counts, records.into_iter().filter(|count| *count > 0).collect::<Vec<_>>(), "{name}");
            assert!(kept.keys().all(|name| name.ends_with(".jsonl") && name.len() < 1024), "{name}");
        }
    }
}

#[test]
fn a_member_that_is_announced_is_missed_wherever_its_archive_ends() {
    let dir = Dir::new();
    let first = member(Dialect::Pax, "a.txt", b"some words of a text");
    // A header of what is said, that, a header of the member, and its content.
    let content = [b'x'; 600];
    let second = member(Dialect::Pax, &format!("{}/{}.txt", "n".repeat(160), "m".repeat(160)), &content);
    let end = second.len() - (1024 - content.len());
    assert!(end > 2100, "{end}");
    let borders = [511, 512, 513, 1023, 1024, 1025, 1535, 1536, end - 1];
    for at in (1..end).step_by(97).chain(borders).collect::<BTreeSet<_>>() {
        dir.write("cut.tar", [&first, &second[..at]].concat());
        let found = dir.output("cut.tar --max-rejected 100%", &format!("out{at}"));
        assert_eq!(found.summary["documents"], 1, "{at}");
        assert_eq!(found.rejected.len(), 1, "{at}: {:?}", found.rejected);
    }
}

#[test]
fn what_is_damaged_or_packed_once_more_is_refused_as_before() {
    let (dir, files) = (Dir::new(), files());
    let inner = tar(Dialect::Pax, &files);
    let nested: Files = vec![
        ("a.jsonl".to_owned(), lines("a", 0..5).into_bytes()),
        ("b.tar".to_owned(), inner.clone()),
        ("c.tar.gz".to_owned(), gzip(&inner, 1000)),
    ];
    for (name, bytes) in [("a.tar", tar(Dialect::Pax, &nested)), ("a.zip", deflated(&nested))] {
        dir.write(name, &bytes);
        let found = dir.output(&format!("{name} --max-rejected 90%"), &format!("out-{name}"));
        let reasons: Vec<&str> = found.rejected.iter().map(|row| row["reason"].as_str().unwrap()).collect();
        assert_eq!(reasons.len(), 2, "{reasons:?}");
        assert!(reasons.iter().all(|reason| reason.contains("unpack the archive")), "{reasons:?}");
        assert!(found.kept[name] == bytes);
    }
    let whole = tar(Dialect::Pax, &files);
    // Cut anywhere, what is whole before it is read, and nothing panics.
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let (cut, packed) = (&whole[..at], gzip(&whole[..at], 1 << 20));
        for (name, bytes) in
            [("cut.tar", cut.to_vec()), ("cut.tar.gz", packed[..packed.len().saturating_sub(9)].to_vec())]
        {
            dir.write(name, bytes);
            let ran =
                dir.alike(&format!("dedup {name} --input-format tar --dry-run --max-rejected 100%"), None);
            assert!(matches!(ran.code, Some(0 | 3)), "{at}: {}", ran.stderr);
        }
    }
}

/// In another form an archive has a file for what stands in it beside files of many records, if anything does.
#[test]
fn an_archive_of_tables_alone_leaves_no_empty_file() {
    let dir = Dir::new();
    let tables: Files = files().into_iter().filter(|(name, _)| name.starts_with("data/")).collect();
    for (name, files) in [("tables", &tables), ("all", &files())] {
        dir.write(&format!("{name}.zip"), deflated(files));
        let found = dir.output(&format!("{name}.zip --to jsonl"), name);
        let beside: Vec<&String> = found.kept.keys().filter(|kept| !kept.contains("/data/")).collect();
        assert_eq!(beside.is_empty(), name == "tables", "{beside:?}");
    }
}
