//! Archives in object stores that hold files of many records: read as those of a folder, fetched once, and a fault in between costs no
//! record.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::outputs::{assert_same, written};
use crate::support::program::{Dir, Ran};
use crate::support::server::{Fault, Server};
use crate::support::tar::{Dialect, archive, member};
use crate::support::texts::{gzip, zst};
use crate::support::zips::{Zipped, zipped};

/// Words that are nowhere else, but for those of equal numbers.
fn words(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|n| format!("{:x} ", (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)).collect()
}

/// Lines of which no text is like another one, but for those of equal numbers.
fn lines(ids: &str, numbers: std::ops::Range<usize>) -> Vec<u8> {
    let text = |n: usize| words(n * 61..n * 61 + 60);
    numbers
        .flat_map(|n| format!("{}\n", json!({"id": format!("{ids}{n}"), "text": text(n)})).into_bytes())
        .collect()
}

/// A text, and files of records, of which `b` has the texts of `a` from `shared` on.
fn files(records: usize, shared: usize) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("README.md", b"what is in this archive".to_vec()),
        ("data/a.jsonl", lines("a", 0..records)),
        ("data/b.jsonl.gz", gzip(&lines("b", shared..2 * records), 100_000)),
        ("notes/c.txt", b"some other text that nobody else has".to_vec()),
    ]
}

fn tar(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    archive(&files.iter().map(|(name, content)| member(Dialect::Pax, name, content)).collect::<Vec<_>>())
}

fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    zipped(&files.iter().map(|(name, content)| Zipped::new(*name, content)).collect::<Vec<_>>())
}

/// The files as every kind of archive.
fn archives(files: &[(&str, Vec<u8>)]) -> [(&'static str, Vec<u8>); 3] {
    let tar = tar(files);
    [("a.zip", zip(files)), ("c.tar.zst", zst(&tar, 1 << 20)), ("b.tar", tar)]
}

/// A folder and a server with the same archives.
fn both(archives: &[(&'static str, Vec<u8>)]) -> (Dir, Server) {
    let dir = Dir::new();
    archives.iter().for_each(|(name, bytes)| dir.write(name, bytes));
    let objects: Vec<(String, Vec<u8>)> =
        archives.iter().map(|(name, bytes)| (format!("bucket/{name}"), bytes.clone())).collect();
    let objects: Vec<(&str, Vec<u8>)> =
        objects.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
    (dir, Server::new(&objects))
}

fn run(dir: &Dir, server: &Server, line: &str) -> Ran {
    dir.alike_with(line, None, &server.variables())
}

/// What was written, as if the inputs had been files.
fn as_of_files(dir: &Dir, out: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = written(&dir.join(out));
    for (name, bytes) in all.iter_mut().filter(|(name, _)| !name.contains('/')) {
        let mut text = String::from_utf8(bytes.clone()).unwrap().replace("s3://bucket/", "");
        if name == "summary.json" {
            let mut summary: Value = serde_json::from_str(&text).unwrap();
            let figures = summary.as_object_mut().unwrap();
            // Where units begin decides which texts are the sample that says which shingles are rare.
            ["fetched", "candidates", "verified"].iter().for_each(|key| drop(figures.remove(*key)));
            text = serde_json::to_string_pretty(&summary).unwrap();
        }
        *bytes = text.into_bytes();
    }
    all
}

#[test]
fn files_of_records_in_an_archive_of_a_store_are_read_and_written_as_those_of_a_file() {
    let (dir, server) = both(&archives(&files(40, 30)));
    for (name, _) in archives(&files(40, 30)) {
        dir.alike(&format!("dedup {name} --out files-{name}"), None).ok().says("removed 10 of 92 documents");
        let want = as_of_files(&dir, &format!("files-{name}"));
        for launched in ["", "launch -n 2 -- "] {
            let out = format!("out-{name}-{}", launched.len());
            run(&dir, &server, &format!("{launched}dedup s3://bucket/{name} --out {out} -w 2")).ok();
            assert_same(&want, &as_of_files(&dir, &out), &format!("{launched}{name}"));
        }
        // Another form of each file, from where it stands in the archive.
        run(&dir, &server, &format!("dedup s3://bucket/{name} --out lines-{name} --to jsonl")).ok();
        let kept = fs::read(dir.join(&format!("lines-{name}/kept/{name}/data/b.jsonl"))).unwrap();
        assert_eq!(jsonl(&kept).len(), 40);
    }
}

#[test]
fn archives_are_fetched_once_though_their_files_are_copied() {
    let archives = archives(&files(6000, 5000));
    let (dir, server) = both(&archives);
    for (name, bytes) in &archives {
        server.forget();
        run(&dir, &server, &format!("dedup s3://bucket/{name} --out out-{name} -w 2"))
            .ok()
            .says("removed 1,000 of 13,002 documents");
        let fetched: usize = server.asked().iter().map(|asked| asked.bytes).sum();
        assert!(fetched * 100 <= bytes.len() * 105, "{name}: {fetched} of {}", bytes.len());
    }
}

/// Each document is larger than what is fetched where nobody knows what is wanted next.
#[test]
fn archives_of_long_documents_take_few_requests() {
    let text = |n: usize| words(n * 33_000..(n + 1) * 33_000).into_bytes();
    let texts: Vec<(String, Vec<u8>)> = (0..60).map(|n| (format!("{n}.txt"), text(n))).collect();
    let files: Vec<(&str, Vec<u8>)> = texts.iter().map(|(name, text)| (&**name, text.clone())).collect();
    let packed = zip(&files);
    let (dir, server) = both(&[("long.zip", packed.clone())]);
    run(&dir, &server, "dedup s3://bucket/long.zip --out out -w 2").ok().says("of 60 documents");
    let asked = server.asked();
    let fetched: usize = asked.iter().map(|asked| asked.bytes).sum();
    assert!(packed.len() > 60 << 18, "{} bytes", packed.len());
    assert!(fetched * 100 <= packed.len() * 105, "{fetched} of {}", packed.len());
    assert!(asked.len() <= 20, "{} requests for {fetched} bytes", asked.len());
}

#[test]
fn a_fault_while_files_are_copied_is_survived_or_ends_the_run() {
    let archives = archives(&files(2000, 1000));
    let (dir, server) = both(&archives);
    for (name, _) in &archives {
        server.forget();
        run(&dir, &server, &format!("dedup s3://bucket/{name} --out whole-{name}")).ok();
        let requests = server.asked().len();
        assert!(requests > 2, "{name}: {requests} requests");
        for fault in [Fault::Cut(3), Fault::Status(503, 3)] {
            server.forget();
            server.fault(fault);
            run(&dir, &server, &format!("dedup s3://bucket/{name} --dry-run"))
                .ok()
                .says("would remove 1,000 of 5,002 documents");
        }
        // Whichever request it is that finds another object: nothing is taken for damage of the archive.
        for answered in 1..requests {
            server.forget();
            server.fault(Fault::ChangedAfter(answered));
            let ran = run(&dir, &server, &format!("dedup s3://bucket/{name} --out changed")).code(1);
            let says = format!("error: s3://bucket/{name}: ");
            assert!(ran.stderr.contains(&says), "{answered}: {}", ran.stderr);
            assert!(ran.stderr.contains("changed since it was read"), "{answered}: {}", ran.stderr);
            assert!(!dir.join("changed").exists(), "{answered}");
        }
    }
}
