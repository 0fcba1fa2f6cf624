//! Inputs from object stores and web servers: the same answer as from files, few and large requests, and every fault either
//! survived or told.

use std::collections::BTreeMap;
use std::fs;

use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use rustix::process::Signal;

use crate::support::columns::{Columns, Made};
use crate::support::job::{Process, all, command};
use crate::support::meeting::free;
use crate::support::output::{jsonl, label};
use crate::support::outputs::{assert_same, written};
use crate::support::program::{Dir, Ran};
use crate::support::server::{COMMIT, Fault, Server};
use crate::support::texts::{gzip, line, pages, zst};

/// Least bytes of a request that is neither about the beginning nor about the end of an object.
const LEAST: usize = 256 << 10;

/// The sample: a JSON object a line.
fn sample() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap()
}

/// The sample again and again, with ids and words of each time, until there are so many bytes.
fn much(bytes: usize) -> String {
    let rows = jsonl(sample().as_bytes());
    let (mut lines, mut times) = (String::new(), 0);
    while lines.len() < bytes {
        for row in &rows {
            let text = row["text"].as_str().unwrap().replace(' ', &format!(" w{times} "));
            lines += &line(&format!("{times}-{}", label(&row["id"])), &text);
        }
        times += 1;
    }
    lines
}

/// The sample as rows of Parquet, in several row groups.
fn columns(compression: Compression) -> Vec<u8> {
    let rows = jsonl(sample().as_bytes()).into_iter();
    let row = |row: serde_json::Value| Columns {
        id: label(&row["id"]),
        text: Some(row["text"].as_str().unwrap().to_owned()),
        // A column that is not wanted, and large.
        tags: Some(vec![Some(row["text"].as_str().unwrap().chars().rev().collect())]),
        ..Columns::default()
    };
    Made::plain(&[100, 50]).packed(compression).file(&rows.map(row).collect::<Vec<_>>())
}

/// The sample as a crawl, a member of gzip to each record.
fn crawl() -> Vec<u8> {
    let record = |row: &serde_json::Value| {
        let text = row["text"].as_str().unwrap();
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n\
             {text}\r\n\r\n",
            label(&row["id"]),
            text.len()
        )
    };
    jsonl(sample().as_bytes()).iter().flat_map(|row| gzip(record(row).as_bytes(), usize::MAX >> 1)).collect()
}

/// The sample in every way that bytes are read in.
fn every_format() -> Vec<(&'static str, Vec<u8>)> {
    let level = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
    vec![
        ("data/a.jsonl", sample().into_bytes()),
        ("data/b.jsonl.gz", gzip(sample().as_bytes(), 10_000)),
        ("data/c/c.jsonl.zst", zst(sample().as_bytes(), 1 << 20)),
        ("data/d.parquet", columns(level)),
        ("data/e.warc.gz", crawl()),
        ("data/f.parquet", columns(Compression::UNCOMPRESSED)),
        ("data/g.txt", pages(3).concat().into_bytes()),
    ]
}

/// A server of these, in a bucket, and a folder with the same files.
fn both(files: &[(&'static str, Vec<u8>)]) -> (Dir, Server) {
    let dir = Dir::new();
    files.iter().for_each(|(name, bytes)| dir.write(name, bytes));
    let names: Vec<String> = files.iter().map(|(name, _)| format!("bucket/{name}")).collect();
    let objects: Vec<(&str, Vec<u8>)> =
        names.iter().zip(files).map(|(name, (_, bytes))| (name.as_str(), bytes.clone())).collect();
    (dir, Server::new(&objects))
}

/// Runs the program as somebody whom the server knows.
fn run(dir: &Dir, server: &Server, line: &str) -> Ran {
    dir.alike_with(line, None, &server.variables())
}

/// What a run wrote, as if its inputs had been files.
fn as_of_files(dir: &Dir, out: &str, url: &str, files: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all = written(&dir.join(out));
    for (name, bytes) in &mut all {
        if !name.contains('/') {
            let mut text = String::from_utf8(bytes.clone()).unwrap().replace(url, files);
            if name == "summary.json" {
                let mut summary: serde_json::Value = serde_json::from_str(&text).unwrap();
                let figures = summary.as_object_mut().unwrap();
                let fetched = figures.remove("fetched");
                assert!(fetched.is_none() == (url == files), "{fetched:?}");
                // Where units begin decides which texts are the sample that says which shingles are rare.
                ["candidates", "verified"].iter().for_each(|key| drop(figures.remove(*key)));
                text = serde_json::to_string_pretty(&summary).unwrap();
            }
            *bytes = text.into_bytes();
        }
    }
    all
}

#[test]
fn objects_are_read_as_files_are() {
    let (dir, server) = both(&every_format());
    dir.dedup("data --out files --pairs -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    for workers in [1, 2] {
        let out = format!("out{workers}");
        run(&dir, &server, &format!("dedup s3://bucket/data --out {out} --pairs -w {workers}")).ok();
        assert_same(&want, &as_of_files(&dir, &out, "s3://bucket/data/", "data/"), &out);
    }
}

#[test]
fn each_format_alone_is_what_it_is_as_a_file() {
    let (dir, server) = both(&every_format());
    for (at, (name, _)) in every_format().into_iter().enumerate() {
        dir.dedup(&format!("{name} --out files{at} -w 2")).ok();
        run(&dir, &server, &format!("dedup s3://bucket/{name} --out out{at} -w 2")).ok();
        let want = as_of_files(&dir, &format!("files{at}"), "data/", "data/");
        assert_same(&want, &as_of_files(&dir, &format!("out{at}"), "s3://bucket/data/", "data/"), name);
    }
}

#[test]
fn processes_share_objects_as_they_share_files() {
    let (dir, server) = both(&every_format());
    dir.dedup("data --out files -w 2").ok();
    let (hosts, line) = (free(2), "dedup s3://bucket/data --out out -w 2");
    let mut processes: Vec<Process> = (0..2)
        .map(|index| {
            let mut command = command(&dir, &hosts, index, line);
            command.envs(server.variables());
            Process::start(command, line)
        })
        .collect();
    all(&mut processes).into_iter().for_each(|ran| drop(ran.ok()));
    let want = as_of_files(&dir, "files", "data/", "data/");
    assert_same(&want, &as_of_files(&dir, "out", "s3://bucket/data/", "data/"), "two processes");
    // What all of them fetched is told.
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.join("out/summary.json")).unwrap()).unwrap();
    let asked = server.asked();
    assert_eq!(summary["fetched"]["requests"], asked.len());
    assert_eq!(summary["fetched"]["bytes"], asked.iter().map(|asked| asked.bytes).sum::<usize>());
}

/// Bytes asked for; all requests but those of beginnings and ends must be large.
fn asked_in_large_pieces(server: &Server, sizes: &BTreeMap<String, usize>) -> usize {
    let asked = server.asked();
    for one in &asked {
        let edge = one.start == 0 || one.start + one.bytes == sizes[&one.name];
        // A unit begins with the byte before it.
        assert!(one.bytes + 1 >= LEAST || edge, "{one:?} among {asked:?}");
    }
    asked.iter().map(|asked| asked.bytes).sum()
}

#[test]
fn bytes_are_fetched_once_in_large_requests() {
    let plain = much(40 << 20);
    let small: Vec<(String, Vec<u8>)> =
        (0..40).map(|at| (format!("data/small/{at}.jsonl"), much(1 << 10).into_bytes())).collect();
    let mut files = vec![
        ("data/a.jsonl", plain.clone().into_bytes()),
        ("data/b.jsonl.gz", gzip(plain.as_bytes(), 1 << 20)),
        ("data/c.jsonl.zst", zst(plain.as_bytes(), plain.len())),
    ];
    let small: Vec<(&'static str, Vec<u8>)> =
        small.into_iter().map(|(name, bytes)| (&*name.leak(), bytes)).collect();
    files.extend(small);
    let (dir, server) = both(&files);
    let sizes = files.iter().map(|(name, bytes)| (format!("bucket/{name}"), bytes.len())).collect();
    let needed = server.bytes();
    let ran = run(&dir, &server, "dedup s3://bucket/data --method exact --dry-run -w 2").ok();
    let fetched = asked_in_large_pieces(&server, &sizes);
    assert!(fetched >= needed && fetched * 100 <= needed * 105, "{fetched} of {needed}");
    assert!(ran.stderr.contains("fetched "), "{}", ran.stderr);
    // Texts are read again to be measured, and files to be written: from the disk of this machine.
    server.forget();
    run(&dir, &server, "dedup s3://bucket/data --out out -w 2").ok();
    let fetched = asked_in_large_pieces(&server, &sizes);
    assert!(fetched * 100 <= needed * 105, "{fetched} of {needed}");
}

#[test]
fn of_columns_only_those_that_are_wanted_are_fetched() {
    let file = columns(Compression::UNCOMPRESSED);
    let (dir, server) = both(&[("data/a.parquet", file.clone())]);
    run(&dir, &server, "dedup s3://bucket/data/a.parquet --method exact --dry-run -w 2").ok();
    // The column that is not wanted is as large as that of the texts.
    let fetched: usize = server.asked().iter().map(|asked| asked.bytes).sum();
    assert!(fetched * 10 < file.len() * 9, "{fetched} of {}", file.len());
}

#[test]
fn columns_that_stand_together_are_fetched_together() {
    // Ids stand right before the texts, and behind these what is not wanted and is larger.
    let row = |row: serde_json::Value| {
        let text = row["text"].as_str().unwrap().to_owned();
        let tags = Some(vec![Some(text.chars().rev().collect())]);
        Columns { id: label(&row["id"]), text: Some(text), tags, ..Columns::default() }
    };
    let rows: Vec<Columns> = jsonl(much(8 << 20).as_bytes()).into_iter().map(row).collect();
    let file = Made::plain(&[rows.len().div_ceil(6)]).packed(Compression::UNCOMPRESSED).file(&rows);
    let sizes = BTreeMap::from([("bucket/data/a.parquet".to_owned(), file.len())]);
    let (dir, server) = both(&[("data/a.parquet", file)]);
    let footer = SerializedFileReader::new(fs::File::open(dir.join("data/a.parquet")).unwrap()).unwrap();
    let is_wanted = |chunk: &&ColumnChunkMetaData| ["id", "text"].contains(&&*chunk.column_path().string());
    let chunks = footer.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    let wanted = chunks.filter(is_wanted).map(|chunk| chunk.compressed_size() as usize).sum::<usize>();
    assert!(wanted > 4 << 20, "{wanted} bytes are a few row groups of a MiB");
    for workers in [1, 2] {
        server.forget();
        let line = format!("dedup s3://bucket/data/a.parquet --method exact --dry-run -w {workers}");
        run(&dir, &server, &line).ok();
        let fetched = asked_in_large_pieces(&server, &sizes);
        // Beginning and end are looked at beside it.
        let most = wanted * 105 / 100 + 2 * LEAST;
        assert!(fetched >= wanted && fetched <= most, "{fetched} of {wanted} with {workers} workers");
    }
}

#[test]
fn faults_that_pass_are_survived() {
    let (dir, server) = both(&every_format());
    dir.dedup("data --out files -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    for (at, fault) in
        [Fault::Status(503, 3), Fault::Cut(3), Fault::Status(500, 2), Fault::Slow(30)].iter().enumerate()
    {
        server.forget();
        server.fault(*fault);
        run(&dir, &server, &format!("dedup s3://bucket/data --out out{at} -w 2")).ok();
        let got = as_of_files(&dir, &format!("out{at}"), "s3://bucket/data/", "data/");
        assert_same(&want, &got, &format!("{fault:?}"));
        // Of a web server as well, whose requests are tried again here.
        server.forget();
        server.fault(*fault);
        let url = format!("http://{}/bucket/data/b.jsonl.gz", server.address);
        let ran = run(&dir, &server, &format!("dedup {url} --out web{at} -w 2")).ok();
        assert!(ran.stderr.contains("removed 198 of 327"), "{fault:?}: {}", ran.stderr);
    }
}

#[test]
fn faults_that_last_are_told_and_nothing_is_written() {
    let (dir, server) = both(&[("data/a.jsonl", much(3 << 20).into_bytes())]);
    let web = format!("http://{}/bucket/data/a.jsonl", server.address);
    for (fault, code, s3_says, web_says) in [
        (Fault::Status(503, 1000), 1, "503", "503"),
        (Fault::Cut(1000), 1, "", "check the name, the network and the server"),
        (Fault::Short(1000), 1, "bytes, not", "before it had sent all"),
        (Fault::ChangedAfter(1), 1, "changed since it was read", "changed since it was read"),
        (Fault::NoParts, 1, "", "does not send parts"),
    ] {
        for (url, says) in [("s3://bucket/data/a.jsonl", s3_says), (web.as_str(), web_says)] {
            server.forget();
            server.fault(fault);
            let ran = run(&dir, &server, &format!("dedup {url} --out out"));
            let code = if matches!(fault, Fault::NoParts) && url == web { 3 } else { code };
            let ran = ran.code(code).says(says);
            assert!(ran.stderr.contains(&format!("error: {url}: ")), "{fault:?}: {}", ran.stderr);
            assert_eq!(dir.names(), ["data"], "{fault:?}");
            if url == web && matches!(fault, Fault::Status(..) | Fault::Cut(_)) {
                // Two requests, each as often as AWS_MAX_ATTEMPTS says: a beginning that could not be had is asked for again by whoever
                // reads it. A body that ends early goes on where it ended.
                let asked = server.asked().len();
                let is_cut = matches!(fault, Fault::Cut(_));
                assert!(asked == 8 || is_cut && (4..8).contains(&asked), "{fault:?}: {asked} requests");
            }
        }
    }
}

#[test]
fn what_was_read_is_what_is_written_whatever_becomes_of_the_object() {
    let (dir, server) = both(&[("data/a.jsonl", much(3 << 20).into_bytes())]);
    dir.dedup("data --out files -w 1").ok();
    run(&dir, &server, "dedup s3://bucket/data --dry-run -w 1").ok();
    let reads = server.asked().len();
    server.forget();
    server.fault(Fault::ChangedAfter(reads));
    run(&dir, &server, "dedup s3://bucket/data --out out -w 1").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    assert_same(&want, &as_of_files(&dir, "out", "s3://bucket/data/", "data/"), "changed");
}

#[test]
fn who_may_not_read_is_told_what_to_do() {
    let (dir, server) = both(&[("data/a.jsonl", sample().into_bytes())]);
    let says = |line: &str, variables: &[(&str, String)], parts: &[&str]| {
        let ran = dir.alike_with(line, None, variables).code(3);
        for part in parts {
            assert!(ran.stderr.contains(part), "{line}: expected {part:?} in\n{}", ran.stderr);
        }
    };
    let known = server.variables();
    says("dedup s3://bucket/none.jsonl --dry-run", &known, &["s3://bucket/none.jsonl: no such object"]);
    says("dedup s3://bucket/data/*.gz --dry-run", &known, &["the pattern matches nothing"]);
    says("dedup hf://datasets/o/n@v7/x --dry-run", &known, &["no such object"]);
    let web = format!("dedup http://{}/bucket/none --dry-run", server.address);
    says(&web, &known, &["/bucket/none: no such object"]);
    server.require("Credential=somebody-else/");
    let denied = "s3://bucket/data/a.jsonl: access is denied (";
    says("dedup s3://bucket/data/a.jsonl --dry-run", &known, &[denied, "403", "AWS_ACCESS_KEY_ID"]);
    let mut stranger: Vec<(&str, String)> = vec![("AWS_SKIP_SIGNATURE", "true".to_owned())];
    stranger.extend(known.iter().filter(|(name, _)| !name.contains("KEY")).cloned());
    says("dedup s3://bucket/data/a.jsonl --dry-run", &stranger, &[denied, "401"]);
    stranger[0] = ("AWS_EC2_METADATA_DISABLED", "true".to_owned());
    says(
        "dedup s3://bucket/data/a.jsonl --dry-run",
        &stranger,
        &["there are no credentials", "AWS_SKIP_SIGNATURE"],
    );
    stranger[0] = ("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1".to_owned());
    says("dedup s3://bucket/data/a.jsonl --dry-run", &stranger, &["there are no credentials"]);
    says("dedup http://me:secret@h/a --dry-run", &known, &["http://h/a: a URL with a user"]);
    let once = [("AWS_MAX_ATTEMPTS", "1".to_owned())];
    let ran = dir.alike_with("dedup http://nowhere.invalid/a.jsonl --dry-run", None, &once).code(1);
    assert!(ran.stderr.contains("http://nowhere.invalid/a.jsonl: cannot read: "), "{}", ran.stderr);
    let ran = dir.alike_with("dedup s3://bucket/data --out s3://bucket/out", None, &known).code(1);
    assert!(ran.stderr.contains("s3://bucket/out: cannot write: access is denied"), "{}", ran.stderr);
    dir.alike_with("load s3://bucket/archive data", None, &known).code(2).says("only inputs may be URLs");
}

#[test]
fn a_request_without_an_answer_is_given_up_on_ctrl_c() {
    // At the first look, and in the middle of reading.
    for answered in [0, 1] {
        let (dir, server) = both(&[("data/a.jsonl.zst", zst(much(8 << 20).as_bytes(), usize::MAX >> 1))]);
        server.fault(Fault::SilentAfter(answered));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_alike"));
        let line = "dedup s3://bucket/data --out out -w 2";
        command.args(line.split(' ')).envs(server.variables()).current_dir(dir.path());
        let mut process = Process::start(command, line);
        while server.asked().len() <= answered && process.at_work() {
            std::thread::yield_now();
        }
        process.signal(Signal::INT);
        let ran = process.ended();
        assert_eq!(ran.code, Some(130), "{answered}: {}", ran.stderr);
        assert_eq!(dir.names(), ["data"]);
    }
}

#[test]
fn folders_and_patterns_are_those_of_files() {
    let text = |word: &str| line(word, &format!("{word} one two three four five six seven")).into_bytes();
    let files: Vec<(&'static str, Vec<u8>)> = vec![
        ("d/b.jsonl", text("b")),
        ("d/a/z.jsonl", text("z")),
        ("d/a.jsonl", text("a")),
        ("d/a-b/x.jsonl", text("x")),
        ("d/.git/h.jsonl", text("h")),
        ("d/.i.jsonl", text("i")),
        ("d/n.bin", b"\0\xff".to_vec()),
        ("d/out/kept/k.jsonl", text("k")),
        ("d/out/summary.json", b"{}".to_vec()),
        ("d/out/duplicates.jsonl", b"".to_vec()),
        ("d/with space+%/[q].jsonl", text("q")),
    ];
    let (dir, server) = both(&files);
    for (at, input) in
        ["d", "d/*.jsonl", "d/a*", "d/**/*.jsonl", "d/[a-b].jsonl", "d/a/z.jsonl", "d/?*", "d/o*"]
            .into_iter()
            .enumerate()
    {
        let of_files = dir.dedup(&format!("{input} --out files{at}"));
        let of_objects = run(&dir, &server, &format!("dedup s3://bucket/{input} --out out{at}"));
        assert_eq!(of_objects.code, of_files.code, "{input}: {}{}", of_files.stderr, of_objects.stderr);
        if of_files.code == Some(0) {
            let want = as_of_files(&dir, &format!("files{at}"), "d/", "d/");
            assert_same(&want, &as_of_files(&dir, &format!("out{at}"), "s3://bucket/d/", "d/"), input);
        }
    }
    // Twice the same counts once, and the same names are told apart.
    let ran = run(&dir, &server, "dedup s3://bucket/d/a s3://bucket/d/a/z.jsonl d/a --dry-run").ok();
    assert!(ran.stderr.contains("of 2 documents"), "{}", ran.stderr);
}

#[test]
fn data_sets_of_the_hub_are_read_in_one_commit() {
    let dir = Dir::new();
    let files = every_format();
    files.iter().for_each(|(name, bytes)| dir.write(name, bytes));
    let names: Vec<String> = files.iter().map(|(name, _)| format!("owner/set/{name}")).collect();
    let objects: Vec<(&str, Vec<u8>)> =
        names.iter().zip(&files).map(|(name, (_, bytes))| (name.as_str(), bytes.clone())).collect();
    let server = Server::new(&objects);
    server.require("Bearer the-token-of-tests");
    let mut variables = server.variables();
    let denied = dir.alike_with("dedup hf://datasets/owner/set/data --dry-run", None, &variables).code(3);
    assert!(denied.stderr.contains("HF_TOKEN"), "{}", denied.stderr);
    variables.push(("HF_TOKEN", "the-token-of-tests".to_owned()));
    dir.dedup("data --out files -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    for (out, set) in [("main", "owner/set"), ("v1", "owner/set@v1")] {
        let url = format!("hf://datasets/{set}/data");
        let ran = dir.alike_with(&format!("dedup {url} --out {out} -w 2"), None, &variables).ok();
        assert_same(&want, &as_of_files(&dir, out, &format!("{url}/"), "data/"), &url);
        assert!(!ran.stderr.contains("the-token-of-tests") && !ran.stderr.contains(COMMIT));
    }
}

#[test]
fn web_servers_need_no_tags_and_nobody_sees_what_lets_in() {
    let (dir, server) =
        both(&[("data/a.jsonl", sample().into_bytes()), ("data/d.parquet", columns(Compression::SNAPPY))]);
    server.without_tags();
    let at = format!("http://{}/bucket/data", server.address);
    let line = format!("dedup {at}/a.jsonl?signature=let-me-in {at}/d.parquet --out out -w 2");
    let ran = run(&dir, &server, &line).ok();
    dir.dedup("data/a.jsonl data/d.parquet --out files -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    assert_same(&want, &as_of_files(&dir, "out", &format!("{at}/"), "data/"), "of the web");
    let secrets = ["let-me-in", "open-sesame"];
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!secrets.iter().any(|secret| said.contains(secret)), "{said}");
    for (name, bytes) in written(&dir.join("out")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{name}");
    }
    let summary = String::from_utf8(fs::read(dir.join("out/summary.json")).unwrap()).unwrap();
    assert!(
        !secrets.iter().any(|secret| summary.contains(secret)) && summary.contains("a.jsonl?..."),
        "{summary}"
    );
    run(&dir, &server, "report out --out page.html").code(3).says("question mark");
    server.fault(Fault::Status(503, 1000));
    let line = format!("dedup {at}/a.jsonl?signature=let-me-in --out again");
    let ran = run(&dir, &server, &line).code(1);
    assert!(!ran.stderr.contains("let-me-in"), "{}", ran.stderr);
}

#[test]
fn web_servers_need_no_heads() {
    let (dir, server) = both(&[("data/a.jsonl", sample().into_bytes()), ("data/empty.jsonl", Vec::new())]);
    server.without_heads();
    let at = format!("http://{}/bucket/data", server.address);
    run(&dir, &server, &format!("dedup {at}/a.jsonl {at}/empty.jsonl --out out -w 2")).ok();
    dir.dedup("data/a.jsonl data/empty.jsonl --out files -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    assert_same(&want, &as_of_files(&dir, "out", &format!("{at}/"), "data/"), "of the web");
}

#[test]
fn stores_that_speak_as_s3_does_are_read_under_their_own_names() {
    let (dir, server) = both(&every_format());
    let here = format!("http://{}", server.address);
    let variables = [
        ("GOOGLE_BASE_URL", here),
        ("GOOGLE_SKIP_SIGNATURE", "true".to_owned()),
        ("GOOGLE_ALLOW_HTTP", "true".to_owned()),
    ];
    dir.dedup("data --out files -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    dir.alike_with("dedup gs://bucket/data --out out -w 2", None, &variables).ok();
    assert_same(&want, &as_of_files(&dir, "out", "gs://bucket/data/", "data/"), "gs");
}

/// It lists entity tags without the quotes that they are sent with: to hold one against the other took every object for changed.
#[test]
fn containers_of_azure_are_read_under_their_own_names() {
    let (dir, server) = both(&every_format());
    let variables = [
        ("AZURE_STORAGE_ENDPOINT", format!("http://{}", server.address)),
        ("AZURE_STORAGE_ACCOUNT_NAME", "somebody".to_owned()),
        ("AZURE_SKIP_SIGNATURE", "true".to_owned()),
        ("AZURE_ALLOW_HTTP", "true".to_owned()),
    ];
    dir.dedup("data --out files -w 2").ok();
    let want = as_of_files(&dir, "files", "data/", "data/");
    dir.alike_with("dedup az://bucket/data --out out -w 2", None, &variables).ok();
    assert_same(&want, &as_of_files(&dir, "out", "az://bucket/data/", "data/"), "az");
}

#[test]
#[cfg_attr(alike_tiny, ignore = "which records are sampled hangs on how much is read at once")]
fn collections_know_their_objects_again() {
    let (dir, server) = both(&[
        ("data/a.jsonl", sample().into_bytes()),
        ("data/b.jsonl.gz", gzip(sample().as_bytes(), 9000)),
    ]);
    run(&dir, &server, "load archive s3://bucket/data/a.jsonl -w 2").ok();
    dir.alike("load files data/a.jsonl -w 2", None).ok();
    let pair = "common/GFDL-1.3 common/GFDL-1.2";
    let of =
        |collection: &str| run(&dir, &server, &format!("explain {collection} {pair} --json")).ok().stdout;
    assert_eq!(of("archive").replace("s3://bucket/data/", "data/"), of("files"));
    // Nothing is fetched to find out that the object is what it was.
    server.forget();
    run(&dir, &server, "load archive s3://bucket/data/b.jsonl.gz -w 2").ok().says("0 added");
    let exported = |collection: &str| {
        run(&dir, &server, &format!("export {collection} --out out-{collection}")).ok();
        let mut all = written(&dir.join(&format!("out-{collection}")));
        for (_, bytes) in all.iter_mut().filter(|(name, _)| !name.contains('/')) {
            *bytes = String::from_utf8(bytes.clone()).unwrap().replace("s3://bucket/data/", "data/").into();
        }
        all
    };
    assert_same(&exported("files"), &exported("archive"), "exported");
    server.fault(Fault::ChangedAfter(0));
    let ran = run(&dir, &server, "export archive --out gone");
    assert!(
        ran.code != Some(0) && !dir.join("gone").exists() && ran.stderr.contains("s3://bucket/data/a.jsonl"),
        "{}",
        ran.stderr
    );
}
