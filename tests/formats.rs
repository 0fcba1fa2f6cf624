//! The same documents in every format: the same clusters; and kept files that stay what they were.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use serde_json::Value;

use crate::support::job::done;
use crate::support::loads::whole;
use crate::support::output::{Output, jsonl, label};
use crate::support::program::Dir;
use crate::support::texts::{gzip, line, lz4, unpack, zst};

/// The sample: a JSON object a line.
fn sample() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap()
}

/// Ids and texts of the sample.
fn documents() -> Vec<(String, String)> {
    let rows = jsonl(sample().as_bytes()).into_iter();
    rows.map(|row| (label(&row["id"]), row["text"].as_str().unwrap().to_owned())).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A record of WARC.
fn warc(kind: &str, id: &str, more: &str, content: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\n{more}Content-Length: {}\r\n\r\n{content}\r\n\r\n",
        content.len()
    )
}

/// A page with its request before it and its metadata behind it.
fn crawled(id: &str, text: &str) -> [String; 3] {
    let page = format!("<!doctype html><html><body><pre>{}</pre></body></html>", escaped(text));
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}");
    let with = format!("WARC-Concurrent-To: {id}\r\n");
    // Some crawlers write with the request to which page it belongs, others with the page.
    let (of_request, of_page) = match id.len() % 2 {
        0 => (with.clone(), String::new()),
        _ => (String::new(), format!("WARC-Concurrent-To: {id}-request\r\n")),
    };
    // Metadata were written with their page, or later.
    let of_metadata = match id.bytes().last().is_some_and(|end| end % 2 == 0) {
        true => with.clone(),
        false => format!("WARC-Refers-To: {id}\r\n"),
    };
    let media = format!("Content-Type: application/http; msgtype=response\r\n{of_page}");
    [
        warc("request", &format!("{id}-request"), &of_request, "GET / HTTP/1.1\r\n\r\n"),
        warc("response", id, &media, &http),
        warc("metadata", &format!("{id}-metadata"), &of_metadata, "fetchTimeMs: 5"),
    ]
}

fn crawl() -> Vec<String> {
    let info = warc("warcinfo", "info", "", "software: a test");
    let pages = documents().into_iter().flat_map(|(id, text)| crawled(&id, &text));
    [info].into_iter().chain(pages).collect()
}

/// Gzip of a member a record.
fn packed(records: &[String]) -> Vec<u8> {
    records.iter().flat_map(|record| gzip(record.as_bytes(), record.len())).collect()
}

fn mbox() -> String {
    let message = |(id, text): (String, String)| {
        let body: String = text
            .lines()
            .map(|line| format!("{}{line}\n", if line.starts_with("From ") { ">" } else { "" }))
            .collect();
        format!(
            "From a@b Thu Jan  1 00:00:00 1970\nFrom: a@b\nDate: Thu, 1 Jan 1970 00:00:00 +0000\nMessage-ID: <{id}>\n\
             Subject: s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}\n"
        )
    };
    documents().into_iter().map(message).collect()
}

/// Which documents go, and for which.
fn decided(output: &Output) -> BTreeSet<(String, String)> {
    output.duplicates.iter().map(|row| (label(&row["id"]), label(&row["representative"]))).collect()
}

#[test]
fn the_same_documents_are_the_same_clusters_in_every_format() {
    let dir = Dir::new();
    dir.write("a.jsonl", sample());
    dir.write("a.warc", crawl().concat());
    dir.write("b.warc.gz", packed(&crawl()));
    dir.write("c.warc.zst", zst(crawl().concat().as_bytes(), 4096));
    let texts: Vec<String> = documents()
        .iter()
        .map(|(id, text)| warc("conversion", id, "Content-Type: text/plain\r\n", text))
        .collect();
    dir.write("d.warc.wet", texts.concat());
    dir.write("e.mbox", mbox());
    let expected = decided(&dir.output("a.jsonl -w 2", "jsonl"));
    assert!(expected.len() > 100);
    for (at, name) in ["a.warc", "b.warc.gz", "c.warc.zst", "d.warc.wet", "e.mbox"].into_iter().enumerate() {
        for workers in [1, 3] {
            let found = dir.output(&format!("{name} -w {workers}"), &format!("out{at}-{workers}"));
            assert!(found.rejected.is_empty(), "{name}: {:?}", found.rejected);
            assert_eq!(decided(&found), expected, "{name} on {workers} workers");
        }
    }
    // Of the same bytes through standard input there is the same.
    let ran = dir.alike("dedup - --out piped", Some(crawl().concat().as_bytes())).ok();
    assert!(ran.stderr.contains(&format!("removed {} of", expected.len())), "{}", ran.stderr);
}

#[test]
fn frames_of_lz4_are_read_and_written_back() {
    let dir = Dir::new();
    let sample = sample();
    dir.write("a.jsonl", &sample);
    let plain = dir.output("a.jsonl -w 2", "plain");
    // What it is does not hang on its name, nor on what may be skipped before it.
    let skipped = [&b"\x5a\x2a\x4d\x18\x03\0\0\0abc"[..], &lz4(sample.as_bytes(), 70_000)].concat();
    dir.write("a.jsonl.lz4", &skipped);
    dir.write("b", lz4(sample.as_bytes(), usize::MAX >> 1));
    for name in ["a.jsonl.lz4", "b"] {
        let found = dir.output(&format!("{name} -w 2"), &format!("out-{name}"));
        assert_eq!(decided(&found), decided(&plain), "{name}");
        assert!(
            found.kept[name].starts_with(b"\x04\x22\x4d\x18") && found.kept(name) == plain.kept("a.jsonl")
        );
    }
    let piped = dir.alike("dedup - --out piped", Some(&skipped)).ok();
    assert!(piped.stderr.contains(&format!("removed {} of", plain.duplicates.len())), "{}", piped.stderr);
    let exported = |name: &str, flags: &str| {
        let collection = format!("c-{name}{flags}");
        dir.alike(&format!("load {collection} {name} {flags}"), None).ok();
        dir.alike(&format!("export {collection} --out out-{collection}"), None).ok();
        let exported = Output::read(&dir.join(&format!("out-{collection}")));
        assert!(name == "a.jsonl" || exported.kept[name].starts_with(b"\x04\x22\x4d\x18"), "{flags}");
        exported.kept(name)
    };
    for flags in ["", "--store-text"] {
        assert!(exported("a.jsonl.lz4", flags) == exported("a.jsonl", flags), "{flags}");
    }
    dir.write("cut.jsonl.lz4", &skipped[..skipped.len() - 6]);
    assert_eq!(dir.output("cut.jsonl.lz4", "cut").rejected.len(), 1);
}

#[test]
fn pages_and_messages_may_be_files_of_their_own() {
    let dir = Dir::new();
    // Files of a folder are read in the order of their names.
    let mut named = Vec::new();
    for (at, (id, text)) in documents().into_iter().enumerate() {
        let name = format!("{at:05}");
        let page = format!("<!doctype html><title></title><pre>{}</pre>", escaped(&text));
        dir.write(&format!("pages/{name}.html"), page);
        let mail = format!(
            "From: a@b\nTo: b@a\nSubject: s\nMessage-ID: <{name}>\n\
             Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{text}\n"
        );
        let list = "<?xml version=\"1.0\"?><plist><dict><key>flags</key></dict></plist>\n";
        dir.write(&format!("apple/{name}.emlx"), format!("{:<11}\n{mail}{list}", mail.len()));
        dir.write(&format!("mails/cur/{name}:2,S"), mail);
        named.push(serde_json::json!({"id": name, "text": text, "was": id}).to_string());
    }
    dir.write("a.jsonl", named.join("\n"));
    let expected = decided(&dir.output("a.jsonl", "jsonl"));
    // A page has no id: it is called by its file and line.
    let number = |id: &str| id.rsplit('/').next().unwrap()[..5].to_owned();
    let of_names = |output: &Output| -> BTreeSet<(String, String)> {
        decided(output).iter().map(|(a, b)| (number(a), number(b))).collect()
    };
    for folder in ["pages", "mails", "apple"] {
        let found = dir.output(folder, &format!("out-{folder}"));
        assert_eq!(of_names(&found), expected, "{folder}");
        // A file that goes is not written; the others are as they were.
        assert_eq!(found.kept.len(), named.len() - expected.len());
        let same = |(name, bytes): (&String, &Vec<u8>)| {
            std::fs::read(dir.join(folder).join(name)).unwrap() == *bytes
        };
        assert!(found.kept.iter().all(same), "{folder}");
    }
}

#[test]
fn pages_may_be_in_utf_16() {
    let dir = Dir::new();
    let page =
        "<!doctype html><title>one</title><p>caf\u{e9} and \u{65e5}\u{672c} and some more words of a page";
    let little: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = page.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let forms =
        [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat(), little.clone(), big.clone()];
    dir.write("pages/a.html", page);
    for (at, bytes) in forms.iter().enumerate() {
        dir.write(&format!("pages/b{at}.html"), bytes);
        dir.write(&format!("named/b{at}"), bytes);
    }
    let found = dir.output("pages", "folder");
    assert!(found.duplicates.len() == 4 && found.kept.keys().eq(["a.html"]), "{:?}", found.kept.keys());
    for (at, form) in forms.iter().enumerate() {
        let found = dir.output(&format!("pages/a.html named/b{at}"), &format!("named-{at}"));
        assert_eq!(found.duplicates.len(), 1, "{at}");
        dir.alike(&format!("dedup - pages/a.html --out piped-{at}"), Some(form)).ok();
        let piped = Output::read(&dir.join(&format!("piped-{at}")));
        assert_eq!((piped.duplicates.len(), piped.kept("html") == *form), (1, true), "{at}");
    }
}

/// The crawl without some pages, and what speaks of them.
fn without(gone: &BTreeSet<String>) -> Vec<String> {
    let page = |record: &str| {
        let id = record.split("WARC-Record-ID: ").nth(1).unwrap().split("\r\n").next().unwrap();
        id.trim_end_matches("-request").trim_end_matches("-metadata").to_owned()
    };
    crawl().into_iter().filter(|record| !gone.contains(&page(record))).collect()
}

#[test]
fn kept_crawls_lose_what_speaks_of_lost_pages_and_nothing_else() {
    let dir = Dir::new();
    dir.write("a.warc", crawl().concat());
    dir.write("a.warc.gz", packed(&crawl()));
    dir.write("one.warc.gz", gzip(crawl().concat().as_bytes(), usize::MAX >> 1));
    dir.write(
        "some.warc.gz",
        crawl()
            .chunks(5)
            .flat_map(|some| gzip(some.concat().as_bytes(), usize::MAX >> 1))
            .collect::<Vec<u8>>(),
    );
    let plain = dir.output("a.warc -w 2", "plain");
    let gone: BTreeSet<String> = plain.removed_ids().into_iter().collect();
    let expected = without(&gone);
    assert_eq!(expected.len(), 1 + 3 * (documents().len() - gone.len()));
    assert!(plain.kept("a.warc") == expected.concat().into_bytes());
    // Whole members are copied as they stand.
    let members = dir.output("a.warc.gz -w 2", "members");
    assert!(members.kept["a.warc.gz"] == packed(&expected));
    for name in ["one.warc.gz", "some.warc.gz"] {
        let found = dir.output(&format!("{name} -w 2"), &format!("out-{name}"));
        assert!(found.kept(name) == expected.concat().into_bytes(), "{name}");
        let halves = dir.output(&format!("{name} -w 2 --write-removed"), &format!("halves-{name}"));
        let removed = crawl().into_iter().filter(|record| !expected.contains(record));
        assert!(halves.kept == found.kept);
        assert!(unpack(&halves.removed[name]) == removed.collect::<String>().into_bytes(), "{name}");
        if name == "one.warc.gz" {
            // A record can be read without those before it.
            let mut first = Vec::new();
            flate2::read::GzDecoder::new(&*found.kept[name]).read_to_end(&mut first).unwrap();
            assert!(first == expected[0].as_bytes());
        }
    }
    // Of several processes the same.
    let line = format!("dedup {} --out two", dir.join("a.warc.gz").display());
    done(&dir, (2, 2), &line);
    assert!(std::fs::read(dir.join("two/kept/a.warc.gz")).unwrap() == packed(&expected));
}

/// A record of ARC.
fn arc(url: &str, media: &str, content: &str) -> String {
    format!("{url} 1.2.3.4 20200102030405 {media} {}\n{content}\n", content.len())
}

#[test]
fn removed_and_exported_records_of_arc_are_read_again() {
    let dir = Dir::new();
    let pages = documents().into_iter().map(|(id, text)| {
        let page = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<pre>{}</pre>",
            escaped(&text)
        );
        arc(&format!("http://a/{id}"), "text/html", &page)
    });
    let description = arc(
        "filedesc://a.arc",
        "text/plain",
        "1 0 somebody\nURL IP-address Archive-date Content-type Archive-length\n",
    );
    let records: Vec<String> = [description].into_iter().chain(pages).collect();
    dir.write("a.arc", records.concat());
    dir.write("b.arc.gz", packed(&records));
    dir.write("one.arc.gz", gzip(records.concat().as_bytes(), usize::MAX >> 1));
    for name in ["a.arc", "b.arc.gz", "one.arc.gz"] {
        let found = dir.output(&format!("{name} -w 2 --write-removed"), &format!("out-{name}"));
        let gone = found.removed_ids().len();
        let (kept, removed) = (unpack(&found.kept[name]), unpack(&found.removed[name]));
        let all: BTreeSet<&[u8]> = records.iter().map(String::as_bytes).collect();
        let (kept, removed) = (arc_records(&kept, &all), arc_records(&removed, &all));
        assert!(kept[0] == records[0].as_bytes() && removed[0] == kept[0], "{name} says what it is");
        assert_eq!((kept.len(), removed.len()), (records.len() - gone, gone + 1));
        assert_eq!(kept[1..].iter().chain(&removed[1..]).collect::<BTreeSet<_>>().len(), records.len() - 1);
        let again = dir.output(&format!("out-{name}/removed -w 2"), &format!("again-{name}"));
        assert_eq!(again.summary["documents"], gone as u64, "{name}");
    }
    // What a collection stores is the pages alone.
    dir.alike("load c a.arc --store-text -w 2", None).ok();
    dir.alike("export c --out exported", None).ok();
    let exported = Output::read(&dir.join("exported"));
    let again = dir.output("exported/kept -w 2", "again");
    assert_eq!(again.summary["documents"], exported.summary["kept"]);
}

/// A description that cannot be read is a refused record, and in what is removed for that; and what only looks like ARC is a text.
#[test]
fn heads_of_arc_that_are_none_cost_no_more_than_themselves() {
    let dir = Dir::new();
    let page = |at: usize, same: &str| {
        let text: String = (0..40).map(|word| format!(" p{at}w{word}")).collect();
        arc(
            &format!("http://a/{at}{same}"),
            "text/html",
            &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}"),
        )
    };
    let pages: String =
        (0..30).map(|at| page(at, "") + &if at % 3 == 0 { page(at, "x") } else { String::new() }).collect();
    let malformed = "filedesc://a.arc 0.0.0.0 20200102030405 text/plain abc\nof no use\n\n";
    dir.write("a.arc", format!("{malformed}{pages}"));
    let found = dir.output("a.arc -w 2 --write-removed", "out");
    assert_eq!((found.rejected.len(), found.removed_ids().len()), (1, 10));
    let removed = String::from_utf8(found.removed["a.arc"].clone()).unwrap();
    assert_eq!(removed.matches("filedesc:").count(), 1, "{removed}");
    assert_eq!(removed.len() + found.kept["a.arc"].len(), malformed.len() + pages.len());

    let list = "http://example.com/ 1.2.3.4 20200102030405 text/html 15\nhttp://example.com/b 1.2.3.4 20200102030406 text/html 9\n";
    for name in ["list.txt", "list.log", "folder/list.txt"] {
        dir.write(name, list);
        let found = dir.output(&format!("{name} -w 1"), &format!("out-{}", name.replace('/', "-")));
        assert_eq!((found.rejected.len(), found.summary["documents"].as_u64()), (0, Some(1)), "{name}");
    }
}

/// Damage that costs the end of a file, or its beginning, costs no more where what goes is written, too.
#[test]
fn damaged_files_of_arc_are_divided_into_kept_and_removed() {
    let dir = Dir::new();
    let page = |at: usize, words: usize| {
        let text: String = (0..words).map(|word| format!(" p{at}w{word}")).collect();
        arc(
            &format!("http://a/{at}"),
            "text/html",
            &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{text}"),
        )
    };
    let about = arc(
        "filedesc://a.arc",
        "text/plain",
        "1 0 a\nURL IP-address Archive-date Content-type Archive-length\n",
    );
    let pages: String = (0..400).map(|at| page(at % 300, 60)).collect();
    let whole = gzip(format!("{about}{pages}").as_bytes(), usize::MAX);
    dir.write("b.jsonl", line("b", "a text of its own"));
    dir.write("few.arc.gz", &gzip(format!("{about}{}", page(0, 40)).as_bytes(), usize::MAX)[..60]);
    dir.write("cut.arc.gz", &whole[..whole.len() / 2]);
    for name in ["few.arc.gz", "cut.arc.gz"] {
        let line = format!("{name} b.jsonl --method exact --max-rejected 100%");
        let plain = dir.output(&line, &format!("{name}-plain"));
        let divided = dir.output(&format!("{line} --write-removed"), &format!("{name}-divided"));
        assert!(
            plain.rejected.len() == 1 && plain.rejected == divided.rejected,
            "{name}: {:?}",
            divided.rejected
        );
        assert_eq!(plain.summary["documents"], divided.summary["documents"], "{name}");
    }
}

/// The records of a file, each of which is one of `all`.
fn arc_records<'a>(mut file: &'a [u8], all: &BTreeSet<&[u8]>) -> Vec<&'a [u8]> {
    let mut found = Vec::new();
    while !file.is_empty() {
        let length = all.iter().filter(|record| file.starts_with(record)).map(|record| record.len()).max();
        let (record, rest) = file.split_at(length.expect("a record"));
        found.push(record);
        file = rest;
    }
    found
}

#[test]
fn collections_of_crawls_and_mails_are_exported_as_they_were() {
    let dir = Dir::new();
    dir.write("a.jsonl", sample());
    dir.write("a.warc.gz", packed(&crawl()));
    dir.write("b.mbox", mbox());
    let exported = |name: &str, flags: &str| {
        let collection = format!("c-{name}{}", flags.replace(' ', ""));
        dir.alike(&format!("load {collection} {name} {flags} -w 2 --clustering guarantee"), None).ok();
        whole(&dir, &collection);
        dir.alike(&format!("export {collection} --out out-{collection}"), None).ok();
        Output::read(&dir.join(&format!("out-{collection}")))
    };
    let expected = decided(&exported("a.jsonl", ""));
    let gone: BTreeSet<String> = expected.iter().map(|(id, _)| id.clone()).collect();
    for (name, mark) in [("a.warc.gz", "WARC-Type: response"), ("b.mbox", "\nMessage-ID: ")] {
        let (pointed, stored) = (exported(name, ""), exported(name, "--store-text"));
        for found in [&pointed, &stored] {
            assert_eq!(decided(found), expected, "{name}");
            let marks = String::from_utf8(found.kept(name)).unwrap().matches(mark).count();
            assert_eq!(marks, documents().len() - gone.len(), "{name}");
        }
        if name == "a.warc.gz" {
            assert!(pointed.kept[name] == packed(&without(&gone)));
            // Only documents are stored, not what speaks of them, and each is packed for itself.
            let pages: Vec<String> =
                without(&gone).into_iter().filter(|record| record.contains(mark)).collect();
            assert!(stored.kept(name) == pages.concat().into_bytes());
            let mut first = Vec::new();
            flate2::read::GzDecoder::new(&*stored.kept[name]).read_to_end(&mut first).unwrap();
            assert!(first == pages[0].as_bytes());
        }
    }
}

#[test]
fn what_is_no_document_is_told() {
    let dir = Dir::new();
    let image = warc("resource", "png", "Content-Type: image/png\r\n", "PNG");
    let page = warc("conversion", "page", "Content-Type: text/plain\r\n", "a text that is one").repeat(30);
    let cut = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 99\r\n\r\ncut";
    dir.write("a.warc", format!("{}{page}{cut}", image.repeat(20)));
    let found = dir.output("a.warc", "out");
    assert_eq!((&found.summary["documents"], found.rejected.len()), (&30.into(), 21));
    let reasons: Vec<&str> = found.rejected.iter().map(|row| row["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.iter().filter(|reason| **reason == "no text: image/png").count(), 20);
    assert!(
        reasons.iter().any(|reason| reason.starts_with("malformed: the record has 3 of the 99")),
        "{reasons:?}"
    );
    assert!(dir.dedup("a.warc --out again").ok().stderr.contains("record 1: no text: image/png"));
    assert_eq!(String::from_utf8(found.kept("a.warc")).unwrap().matches("PNG").count(), 20);
    for (name, bytes, says) in
        [("a.fea", &b"FEA1\n"[..], "Feather 1"), ("a.xml", b"<?xml version=\"1.0\"?><a/>", "XML")]
    {
        dir.write(name, bytes);
        let ran = dir.dedup(&format!("{name} --out x")).code(3).says(&format!("format {says},"));
        assert!(!dir.join("x").exists(), "{}", ran.stderr);
        let piped = dir.alike("dedup - --out x", Some(bytes)).code(3);
        assert!(piped.stderr.contains(&format!("format {says},")), "{}", piped.stderr);
        // Whoever says that it is text, has it read as text.
        if std::str::from_utf8(bytes).is_ok() {
            dir.dedup(&format!("{name} --input-format text --out text-{name}")).ok();
        }
    }
}

/// A crawl of which one member is damaged is one without its record, whatever is made of it.
#[test]
fn a_damaged_member_of_a_crawl_costs_its_record_alone() {
    let dir = Dir::new();
    let records = crawl();
    for (hit, by) in [(0, 3), (2, 2), (50, 2), (77, 2), (records.len() - 1, 2)] {
        let mut members: Vec<Vec<u8>> =
            records.iter().map(|record| gzip(record.as_bytes(), record.len())).collect();
        let at = members[hit].len() / by;
        members[hit][at] ^= 0x55;
        let mut others = records.clone();
        others.remove(hit);
        let (damaged, without) = (format!("damaged-{hit}"), format!("without-{hit}"));
        dir.write(&format!("{damaged}/a.warc.gz"), members.concat());
        dir.write(&format!("{without}/a.warc.gz"), packed(&others));
        for (way, flags) in [("", ""), ("-jsonl", "--to jsonl"), ("-halves", "--write-removed")] {
            let run =
                |input: &str| dir.output(&format!("{input} -w 2 {flags}"), &format!("out{way}-{input}"));
            let (found, want) = (run(&damaged), run(&without));
            assert_eq!(decided(&found), decided(&want), "{hit}{way}");
            // Lines name the folder.
            let plain = |files: &BTreeMap<String, Vec<u8>>, folder: &str| -> BTreeMap<String, String> {
                let text = |packed: &Vec<u8>| String::from_utf8(unpack(packed)).unwrap().replace(folder, "");
                files.iter().map(|(name, packed)| (name.clone(), text(packed))).collect()
            };
            assert_eq!(plain(&found.kept, &damaged), plain(&want.kept, &without), "{hit}{way}");
            assert_eq!(plain(&found.removed, &damaged), plain(&want.removed, &without), "{hit}{way}");
            assert_eq!(found.rejected.len() - want.rejected.len(), 1, "{hit}{way}: {:?}", found.rejected);
            let says = if hit + 1 < records.len() { "passed over" } else { "nothing from here on was read" };
            let is_told = |row: &Value| row["reason"].as_str().unwrap().contains(says);
            assert!(found.rejected.iter().any(is_told));
        }
        let exported = |input: &str| {
            let collection = format!("c-{input}");
            dir.alike(&format!("load {collection} {input} -w 2"), None).ok();
            dir.alike(&format!("export {collection} --out e-{input}"), None).ok();
            Output::read(&dir.join(&format!("e-{input}")))
        };
        let name = "a.warc.gz";
        assert!(exported(&damaged).kept(name) == exported(&without).kept(name), "{hit}");
    }
}

#[test]
fn damaged_crawls_and_deep_mails_cost_no_run() {
    let dir = Dir::new();
    let crawl = packed(&crawl());
    dir.write("a.warc.gz", &crawl[..crawl.len() - 40]);
    let found = dir.output("a.warc.gz -w 2", "cut");
    assert_eq!(found.rejected.len(), 1);
    let pages = String::from_utf8(found.kept("a.warc.gz")).unwrap().matches("WARC-Type: response").count();
    assert_eq!(pages, documents().len() - found.duplicates.len());
    // A header that is too long costs its record, and whatever looks like one within it.
    let page = |id: usize| {
        warc("conversion", &id.to_string(), "Content-Type: text/plain\r\n", &format!("page {id}"))
    };
    let long = format!("X-Long: {}\r\nContent-Type: text/plain\r\n", "x".repeat(70_000));
    let bad = warc("conversion", "long", &long, "some text\nWARC/1.0 is a format\nand more");
    let pages: String = (0..40).map(page).collect();
    dir.write("b.warc", format!("{bad}{pages}"));
    let found = dir.output("b.warc", "long");
    assert_eq!((&found.summary["documents"], found.kept("b.warc")), (&40.into(), pages.into_bytes()));
    let deep = |times: usize| {
        let within = "Content-Type: message/rfc822\n\n".repeat(times);
        format!("From: a@b\nTo: b@a\nSubject: s\n{within}text")
    };
    dir.write("deep/a.eml", deep(16_000));
    dir.write("deep/b.eml", deep(100_000));
    let found = dir.output("deep --max-rejected 50% --max-record-bytes 256M", "mails");
    assert_eq!((&found.summary["documents"], found.rejected.len()), (&1.into(), 1));
    assert!(found.rejected[0]["reason"].as_str().unwrap().contains("in one message"), "{:?}", found.rejected);
}

#[test]
fn fields_of_crawls_and_mails_have_names() {
    let dir = Dir::new();
    let page = |id: &str, date: &str| {
        let more = format!(
            "Content-Type: text/plain\r\nWARC-Target-URI: http://{id}/\r\nWARC-Date: {date}T00:00:00Z\r\n"
        );
        warc("conversion", id, &more, "the same text in all of them")
    };
    dir.write("a.warc", [page("a", "2020-01-01"), page("b", "2021-01-01"), page("c", "2019-01-01")].concat());
    let newest = dir.output("a.warc --keep field:date:max --id-field url", "newest");
    assert_eq!(newest.removed_ids(), ["http://a/", "http://c/"]);
    let longest = dir.output("a.warc --keep field:WARC-Record-ID:min", "first");
    assert_eq!(longest.removed_ids(), ["b", "c"]);
    let mail = |id: &str, subject: &str| {
        format!(
            "From x Thu Jan  1 00:00:00 1970\nFrom: a@b\nTo: b@a\nMessage-ID: <{id}>\nSubject: {subject}\n\n\
             Some text, <b>the same</b>.\n\n"
        )
    };
    dir.write("a.mbox", [mail("one", "x"), mail("two", "y")].concat());
    let last = dir.output("a.mbox --keep field:subject:max", "last");
    assert_eq!(last.removed_ids(), ["one"]);
    assert_eq!(jsonl(&std::fs::read(dir.join("last/duplicates.jsonl")).unwrap())[0]["representative"], "two");
}
