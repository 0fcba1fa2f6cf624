//! What fuzzing found of records that lie one behind the other.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use super::*;
use crate::document::Position;

/// Offsets and texts of documents, and kinds of refusals.
#[derive(Debug, Default, PartialEq)]
struct Collect(Vec<(u64, String)>);

impl Sink for Collect {
    fn document(&mut self, record: &Record<'_>) {
        self.0.push((record.position.offset(), record.text.to_owned()));
    }

    fn refuse(&mut self, position: Position, _: u32, refusal: Refusal) {
        self.0.push((position.offset(), refusal.kind().to_owned()));
    }
}

/// What a file of a format holds, read in units of about `target` bytes.
pub(super) fn read(name: &str, content: &[u8], target: u64, max_record_bytes: usize) -> Vec<(u64, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    fs::write(&path, content).expect("written");
    let input = path.to_str().expect("UTF-8").to_owned();
    let hint = FormatHint { format: Some(name.parse().expect("a format")), ..FormatHint::default() };
    let source = discover_as(&[input], folder.path(), hint).expect("found").sources.remove(0);
    let fields = Fields { max_record_bytes, ..Fields::of(&Input::default()).expect("paths") };
    let (fields, mut sink) = (Arc::new(fields), Collect::default());
    for unit in units(std::slice::from_ref(&source), Extent::ALL, target) {
        let mut reader = UnitReader::open(0, &source, &unit, Arc::clone(&fields));
        while reader.advance(&mut sink).expect("no bug") {}
    }
    let documents = sink.0.iter().filter(|(_, text)| text.starts_with("a ")).take(3);
    for (offset, text) in documents {
        let mut same = false;
        let each = &mut |_, again: &str, _| {
            same = again == text;
            Ok(())
        };
        reread(&source, 0, &[*offset], &fields, each).expect("as it was");
        assert!(same, "{name} at {offset}");
    }
    sink.0
}

#[test]
fn no_unit_begins_before_a_header() {
    let blank = "\n".repeat(300 << 10);
    let rows = "a b\n".repeat(100 << 10);
    let content = format!("{blank}text\n{rows}");
    let whole = read("csv", content.as_bytes(), u64::MAX, 1 << 20);
    assert_eq!(whole.len(), 100 << 10);
    assert_eq!(read("csv", content.as_bytes(), 1, 1 << 20), whole);
}

/// A record of which all bytes are there is none that is cut off.
#[test]
fn what_is_complete_before_compressed_data_ends_too_early_is_read() {
    let warc = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\na b\r\n\r\n";
    let arc = "http://x/ 1.2.3.4 19970101000000 text/plain 3\na b\n";
    let trec = "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>a b</TEXT>\n</DOC>\n";
    let wiki = "<page><title>t</title><revision><text>a b</text></revision></page>\n";
    for (name, record) in [("warc", warc), ("arc", arc), ("trec", trec), ("mediawiki", wiki)] {
        for more in [0, 9] {
            let content = [record, record, &record[..more]].concat();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(content.as_bytes()).expect("compressed");
            encoder.flush().expect("all of it");
            let cut = encoder.get_ref().clone();
            let seen: Vec<u64> = read(name, &cut, u64::MAX, 1 << 20).iter().map(|(at, _)| *at).collect();
            assert_eq!(seen, [0, record.len() as u64, 2 * record.len() as u64], "{record}");
        }
    }
}

/// Whatever the lengths of the records around damage are.
#[test]
fn crawls_are_read_on_behind_damaged_members() {
    let gzip = |record: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(record.as_bytes()).expect("compressed");
        encoder.finish().expect("compressed")
    };
    let words = |count: usize| format!("a {}", "word ".repeat(count));
    let warc = |words: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{words}\r\n\r\n",
            words.len()
        )
    };
    let arc = |words: &str| {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{words}");
        format!("http://x/ 1.2.3.4 19970101000000 text/plain {}\n{http}\n", http.len())
    };
    // In the tests' own sizes members of more than 300 bytes are long.
    let counts = [30, 3, 1, 20, 2, 2, 34, 1];
    for (name, record) in [("warc", &warc as &dyn Fn(&str) -> String), ("arc", &arc)] {
        let records = counts.map(|count| record(&words(count)));
        for damaged in 0u32..1 << counts.len() {
            let is_hit = |at: usize| damaged >> at & 1 == 1;
            let (mut file, mut expected, mut offset, mut is_between) = (Vec::new(), Vec::new(), 0, false);
            for (at, text) in records.iter().enumerate() {
                let mut member = gzip(text);
                let check = member.len() - 8;
                member[check] ^= u8::from(is_hit(at));
                file.extend(member);
                let last = (at..counts.len()).all(is_hit);
                if is_hit(at) && !is_between {
                    let kind = if last { "truncated or damaged" } else { "damaged" };
                    expected.push((offset, kind.to_owned()));
                } else if !is_hit(at) {
                    expected.push((offset, words(counts[at])));
                    offset += text.len() as u64;
                }
                is_between = is_hit(at);
            }
            // Behind the last member that is whole all that could be decompressed is there, but for what shows its end.
            let seen = read(name, &file, u64::MAX, 1 << 20);
            let tail = (0..counts.len()).rev().take_while(|at| is_hit(*at)).count();
            if tail == 0 {
                assert_eq!(seen, expected, "{damaged:b}");
            } else {
                let whole = expected.len() - 1;
                assert_eq!(seen[..whole], expected[..whole], "{damaged:b}");
                assert_eq!(seen.last().map(|(_, kind)| &**kind), Some("truncated or damaged"), "{damaged:b}");
            }
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_record() {
    let message = "From x\nSubject: s\n\na b\n";
    let record = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\na b\r\n\r\n";
    for (name, content) in [("mbox", message), ("warc", record)] {
        let [plain, marked] = [content.to_owned(), format!("\u{feff}{content}")];
        let text = |content: &str| {
            let seen = read(name, content.as_bytes(), u64::MAX, 1 << 20);
            seen.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(text(&marked), text(&plain), "{name}");
        assert!(text(&plain)[0].starts_with("a b"), "{name}");
    }
}

#[test]
fn a_byte_order_mark_in_a_table_is_a_part_of_its_row() {
    let fields = Fields::of(&Input::default()).expect("paths");
    let text = |stored: &str| {
        let format = Format::Csv { delimiter: Delimiter::COMMA };
        record_text(format, stored.as_bytes(), &fields).expect("a record").0
    };
    assert_eq!(text("text\n\u{feff}a b\n"), "\u{feff}a b");
    assert_eq!(read("csv", "text\n\u{feff}a b\n".as_bytes(), 1, 100), [(5, "\u{feff}a b".to_owned())]);
}

#[test]
fn a_byte_order_mark_says_the_characters_of_a_page_that_is_stored() {
    let fields = Fields::of(&Input::default()).expect("paths");
    let page = b"\xef\xbb\xbf<p>na\xefve caf\xe9";
    let (text, _) = record_text(Format::Html, page, &fields).expect("a record");
    assert_eq!(text, "na\u{fffd}ve caf\u{fffd}");
    assert_eq!(read("html", page, u64::MAX, 100), [(0, text)]);
    // It is read again where it stands, too, which is tried of what begins so.
    let page = b"\xef\xbb\xbf<meta charset=latin1><p>a \xc3\xa9t\xc3\xa9";
    assert_eq!(read("html", page, u64::MAX, 100), [(0, "a \u{e9}t\u{e9}".to_owned())]);
}

#[test]
fn a_row_is_as_long_wherever_blocks_end() {
    let spaces = " ".repeat(300);
    for before in [0, super::BLOCK - 200] {
        let filler = "a\n".repeat(before / 2);
        let content = format!("text\n{filler}a b{spaces}\r\na c\n");
        let seen = read("csv", content.as_bytes(), u64::MAX, 100);
        let last: Vec<&str> = seen[before / 2..].iter().map(|(_, text)| &**text).collect();
        assert_eq!(last, ["too long", "a c"], "after {before} bytes");
    }
}

#[test]
fn a_long_record_without_text_is_refused_nowhere_in_a_crawl() {
    let record = |kind: &str, content: &str| {
        let length = content.len();
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{content}\r\n\r\n"
        )
    };
    let (long, text) = (record("metadata", &"x: y\r\n".repeat(1000)), record("conversion", "a b"));
    let texts = |content: String| {
        let seen = read("warc", content.as_bytes(), u64::MAX, 500);
        seen.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(texts(format!("{long}{text}")), ["a b"]);
    assert_eq!(texts(format!("{text}{long}")), ["a b"]);
}
