//! Reading as a whole: the same records however a file is cut, compressed, or read again.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use super::inputs::line_stream;
use super::*;
use crate::document::Position;
use crate::limits::stride;

/// What a sink was given: offset, line, and the record or the kind of refusal.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Document { offset: u64, id: Option<String>, text: String },
    Refused { offset: u64, kind: &'static str },
}

#[derive(Default)]
struct Collect {
    seen: Vec<(u32, Seen)>,
}

impl Sink for Collect {
    fn document(&mut self, record: &Record<'_>) {
        let (offset, id) = (record.position.offset(), record.id.clone().map(String::from));
        self.seen.push((record.line, Seen::Document { offset, id, text: record.text.to_owned() }));
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        self.seen.push((line, Seen::Refused { offset: position.offset(), kind: refusal.kind() }));
    }
}

fn fields(max_record_bytes: usize) -> Fields {
    let path = |text| FieldPath::parse(text).expect("a path");
    Fields {
        within: None,
        id: path("id"),
        text: path("text"),
        missing_text: MissingText::Reject,
        main_text: false,
        strip_quotes: false,
        line_ids: false,
        value: None,
        date: path("date").into(),
        observed: Vec::new(),
        op: None,
        without_ids: false,
        max_record_bytes,
        room: RecordRoom::default(),
    }
}

fn source(folder: &TempDir, name: &str, content: &[u8]) -> Source {
    let path = folder.path().join(name);
    fs::write(&path, content).expect("written");
    let input = path.to_str().expect("UTF-8").to_owned();
    discover(&[input], folder.path()).expect("found").sources.remove(0)
}

/// Everything in a source cut into units, with lines counted from the start of the file, and the number of lines.
fn read(source: &Source, target: u64, max: usize) -> (Vec<(u32, Seen)>, u64) {
    let (mut all, mut before, mut bytes, mut text) = (Vec::new(), 0, 0, 0);
    for unit in units(std::slice::from_ref(source), Extent::ALL, target) {
        let mut reader = UnitReader::open(0, source, &unit, Arc::new(fields(max)));
        let mut sink = Collect::default();
        while reader.advance(&mut sink).expect("no bug") {}
        assert!(!reader.advance(&mut sink).expect("no bug"));
        let start = u32::try_from(before).expect("few lines");
        all.extend(sink.seen.into_iter().map(|(line, seen)| (start + line, seen)));
        before += reader.lines();
        bytes += reader.bytes();
        text += reader.text_bytes();
    }
    assert_eq!(bytes, source.bytes);
    if source.compression == Compression::None {
        assert_eq!(text, source.bytes);
    }
    if let Some(shared) = read_in_turn(source, max, 2) {
        assert!(shared == (all.clone(), before), "by two workers: {shared:?}, alone {all:?}");
    }
    (all, before)
}

/// The same of a compressed file of lines, by so many workers in turn.
fn read_in_turn(source: &Source, max: usize, workers: usize) -> Option<(Vec<(u32, Seen)>, u64)> {
    let fields = Arc::new(fields(max));
    let lines = line_stream(source, &fields)?;
    lines.0.begin();
    let mut readers: Vec<UnitReader> =
        (0..workers).map(|_| UnitReader::of_lines((0, source), &lines, Arc::clone(&fields))).collect();
    let (mut sink, mut open) = (Collect::default(), true);
    while open {
        assert!(lines.0.is_open());
        // All take their turns, also behind the last lines.
        let advanced: Vec<bool> =
            readers.iter_mut().map(|reader| reader.advance(&mut sink).expect("no bug")).collect();
        open = advanced.iter().all(|more| *more);
    }
    assert!(!lines.0.is_open());
    assert_eq!(readers.iter().map(UnitReader::bytes).sum::<u64>(), source.bytes);
    assert!(readers.iter().all(|reader| reader.lines() == readers[0].lines()));
    Some((sink.seen, readers[0].lines()))
}

/// The same by the simplest means.
fn expected(content: &[u8], max: usize) -> (Vec<(u32, Seen)>, u64) {
    let (mut all, mut offset, mut count) = (Vec::new(), 0, 0);
    for line in content.split_inclusive(|&byte| byte == b'\n') {
        count += 1;
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let marked = offset > 0 && body.starts_with(BOM);
        let body = body.strip_prefix(BOM).unwrap_or(body);
        let refused = |kind| Some(Seen::Refused { offset, kind });
        let seen = match std::str::from_utf8(body) {
            _ if body.len() > max => refused("too long"),
            Err(_) => refused("not UTF-8"),
            Ok(text) if text.trim().is_empty() && !marked => None,
            Ok(text) => match serde_json::from_str::<serde_json::Value>(text) {
                Err(_) => refused("not JSON"),
                Ok(value) if !value.is_object() => refused("not an object"),
                Ok(value) => match &value["text"] {
                    serde_json::Value::String(text) => {
                        let id = value["id"].as_str().map(str::to_owned);
                        Some(Seen::Document { offset, id, text: text.clone() })
                    }
                    _ if value.get("text").is_none() => refused("no text"),
                    _ => refused("text not a string"),
                },
            },
        };
        all.extend(seen.map(|seen| (count, seen)));
        offset += line.len() as u64;
    }
    (all, u64::from(count))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("compressed")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("an encoder");
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

/// One LZ4 frame of blocks of 20 bytes, with a checksum.
fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut frame = b"\x04\x22\x4d\x18\x64\x40\xa7".to_vec();
    for part in bytes.chunks(20) {
        let block = lz4_flex::block::compress(part);
        frame.extend(u32::try_from(block.len()).expect("short").to_le_bytes());
        frame.extend(block);
    }
    frame.extend([0; 4]);
    frame.extend(xxhash_rust::xxh32::xxh32(bytes, 0).to_le_bytes());
    frame
}

type Pack = fn(&[u8]) -> Vec<u8>;

/// How names of compressed files end, and what makes them.
const PACKERS: [(&str, Pack); 5] = [("gz", gzip), ("zst", zstd), ("bz2", bzip2), ("xz", xz), ("lz4", lz4)];

fn lines() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[a-z \u{e9}\u{4e00}]{0,20}".prop_map(|text| format!("{{\"id\": \"i\", \"text\": \"{text}\"}}").into_bytes()),
        2 => Just(br#"{"text": "a\nb \u00e9\ud83d\ude00", "x": [1, {"y": null}]}"#.to_vec()),
        1 => (0usize..300).prop_map(|n| format!("{{\"text\": \"{}\"}}", "x".repeat(n)).into_bytes()),
        2 => prop_oneof![Just(""), Just(" \t"), Just("[1]"), Just("{\"text\": 1}"), Just("{\"a\": 1}"), Just("{oops"),
            Just("{\"text\": \"a\", \"text\": \"b\"}")].prop_map(|text| text.as_bytes().to_vec()),
        1 => Just(b"{\"text\": \"\xff\"}".to_vec()),
    ];
    let begin = prop_oneof![5 => Just(&b""[..]), 1 => Just(BOM)];
    let line = (begin, line, prop_oneof![3 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..])]);
    (prop::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, ended)| {
        let mut content = Vec::new();
        lines.iter().for_each(|(begin, line, end)| content.extend([*begin, &line[..], *end].concat()));
        content.truncate(content.len() - usize::from(!ended && content.ends_with(b"\n")));
        content
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_cut_gives_the_same_records(content in lines()) {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = source(&folder, "a.jsonl", &content);
        let expected = expected(&content, 200);
        let size = content.len() as u64;
        for target in (1..40).chain([size / 2, size.saturating_sub(1), size, u64::MAX]) {
            prop_assert_eq!(&read(&plain, target, 200), &expected, "units of {}", target);
        }
        for (end, pack) in PACKERS {
            let packed = source(&folder, &format!("a.jsonl.{end}"), &pack(&content));
            prop_assert!(packed.compression != Compression::None);
            prop_assert_eq!(&read(&packed, 1, 200), &expected, "{}", end);
            for workers in [1, 3] {
                prop_assert_eq!(&read_in_turn(&packed, 200, workers).expect("lines"), &expected, "{}", end);
            }
        }
    }
}

#[test]
fn long_lines_around_block_boundaries() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |bytes: usize| format!("{{\"text\": \"{}\"}}\n", "x".repeat(bytes - 12)).into_bytes();
    for near in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5] {
        let content =
            [line(20), line(near), line(near - 20), line(30), line(near), b"{\"text\": \"end\"}".to_vec()]
                .concat();
        let compressed = source(&folder, "a.jsonl.zst", &zstd(&content));
        let plain = source(&folder, "a.jsonl", &content);
        for max in [15, near - 22, near - 21, near - 2, near - 1, near, 1 << 30] {
            let expected = expected(&content, max);
            for target in [1000, BLOCK as u64 / 2 + 1, u64::MAX] {
                assert!(read(&plain, target.max(300_000), max) == expected, "{near} {max} {target}");
            }
            assert!(read(&compressed, 1, max) == expected, "{near} {max} compressed");
        }
    }
}

#[test]
fn members_and_frames_follow_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let content = b"{\"text\": \"one\"}\n{\"text\": \"two\"}\n{\"text\": \"three\"}";
    let (front, back) = content.split_at(20);
    let skippable =
        [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &zstd(front), b"\x5f\x2a\x4d\x18\0\0\0\0", &zstd(back)]
            .concat();
    for (name, bytes) in [
        ("a.jsonl.gz", [gzip(front), gzip(b""), gzip(back), vec![0; 100]].concat()),
        ("a.jsonl.zst", [zstd(front), zstd(b""), zstd(back)].concat()),
        ("b.jsonl.zst", skippable),
        ("a.jsonl.bz2", [bzip2(front), bzip2(b""), bzip2(back)].concat()),
        ("a.jsonl.xz", [xz(front), xz(b""), xz(back)].concat()),
        ("a.jsonl.lz4", [lz4(front), lz4(b""), lz4(back)].concat()),
        (
            "b.jsonl.lz4",
            [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &lz4(front), b"\x5f\x2a\x4d\x18\0\0\0\0", &lz4(back)]
                .concat(),
        ),
    ] {
        assert_eq!(read(&source(&folder, name, &bytes), 1, 1000), expected(content, 1000), "{name}");
    }
    let garbage = [&gzip(content)[..], b"garbage"].concat();
    let (seen, _) = read(&source(&folder, "b.jsonl.gz", &garbage), 1, 1000);
    assert_eq!(seen[..2], expected(content, 1000).0[..2]);
    assert_eq!(seen[2..], [(3, Seen::Refused { offset: 32, kind: "truncated or damaged" })]);
}

#[test]
fn every_truncation_and_every_damage_is_survived() {
    let folder = tempfile::tempdir().expect("a folder");
    let content: String =
        (0..40).map(|n| format!("{{\"id\": \"{n}\", \"text\": \"text {}\"}}\n", n * 7919 % 1009)).collect();
    let (all, _) = expected(content.as_bytes(), 1000);
    let middle = content.len() / 2;
    let (front, back) = content.as_bytes().split_at(middle);
    for (end, pack) in PACKERS {
        let (bytes, seam) = ([pack(front), pack(back)].concat(), pack(front).len());
        let name = &format!("a.jsonl.{end}");
        // With fewer bytes it is not known to be compressed.
        let some = stride(3);
        for cut in (8..bytes.len()).filter(|cut| cut % some == 0 || *cut == seam) {
            let (seen, _) = read(&source(&folder, name, &bytes[..cut]), 1, 1000);
            if cut == seam {
                // A file that ends between members is whole, but for the line that was cut in two.
                assert!(
                    matches!(seen.last(), Some((_, Seen::Refused { kind: "not JSON", .. }))),
                    "{name} {cut}"
                );
            } else {
                let refused =
                    matches!(seen.last(), Some((_, Seen::Refused { kind: "truncated or damaged", .. })));
                assert!(refused, "{name} {cut}: {:?}", seen.last());
            }
            let documents = seen.len() - 1;
            assert_eq!(seen[..documents], all[..documents], "{name} {cut}");
            let mut damaged = bytes.clone();
            damaged[cut] ^= 0x55;
            read(&source(&folder, name, &damaged), 1, 1000);
        }
        assert_eq!(read(&source(&folder, name, &bytes), 1, 1000).0, all);
    }
}

#[test]
fn text_files_are_one_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = |text: &str| vec![(1, Seen::Document { offset: 0, id: None, text: text.to_owned() })];
    let refused = |kind| vec![(1, Seen::Refused { offset: 0, kind })];
    for (name, wrap) in
        [("a.txt", <[u8]>::to_vec as fn(&[u8]) -> Vec<u8>), ("a.txt.gz", gzip), ("a.txt.zst", zstd)]
    {
        let read = |content: &[u8]| read(&source(&folder, name, &wrap(content)), 1, 20).0;
        assert_eq!(read(b"one\r\ntwo\n"), document("one\r\ntwo\n"), "{name}");
        assert_eq!(read(b"\xef\xbb\xbf01234567890123456789"), document("01234567890123456789"), "{name}");
        assert_eq!(read(b"012345678901234567890"), refused("too long"), "{name}");
        assert_eq!(read(b"a\xffb"), refused("not UTF-8"), "{name}");
        assert_eq!(read(b""), [], "{name}");
    }
    let cut = gzip(b"some words");
    assert_eq!(
        read(&source(&folder, "c.txt.gz", &cut[..cut.len() - 3]), 1, 20).0,
        refused("truncated or damaged")
    );
}

/// The texts at some offsets, read again.
fn again(source: &Source, offsets: &[u64]) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    reread(source, 0, offsets, &fields(1 << 20), &mut |index, text, day| {
        assert_eq!(day, if text.starts_with("299") { Day::Known(299) } else { Day::None });
        texts.push((index, text.to_owned()));
        Ok(())
    })
    .expect("unchanged");
    texts
}

#[test]
fn reading_again_gives_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let filler = "word ".repeat(2000);
    let mut content = Vec::new();
    for n in 0..300 {
        let bad = if n % 7 == 0 { "{bad\n\n" } else { "" };
        let size = n * 37 % 10_000;
        let date = if n == 299 { ", \"date\": \"1970-10-27\"" } else { "" };
        let mark = if n % 5 == 0 { "\u{feff}" } else { "" };
        content.extend(format!("{mark}{{\"text\": \"{n}\\n{}\"{date}}}\r\n{bad}", &filler[..size]).bytes());
    }
    content.extend(b"{\"text\": \"last\"}");
    for (name, bytes) in
        [("a.jsonl", content.clone()), ("a.jsonl.gz", gzip(&content)), ("a.jsonl.zst", zstd(&content))]
    {
        let source = source(&folder, name, &bytes);
        let documents: Vec<(u64, String)> = read(&source, u64::MAX, 1 << 20)
            .0
            .into_iter()
            .filter_map(|(_, seen)| match seen {
                Seen::Document { offset, text, .. } => Some((offset, text)),
                Seen::Refused { .. } => None,
            })
            .collect();
        assert_eq!(documents.len(), 301);
        for step in [1, 2, 50, 299, 300] {
            let chosen: Vec<_> = documents.iter().step_by(step).cloned().collect();
            let offsets: Vec<u64> = chosen.iter().map(|(offset, _)| *offset).collect();
            let texts: Vec<_> = chosen.into_iter().map(|(_, text)| text).enumerate().collect();
            assert!(again(&source, &offsets) == texts, "{name} {step}");
        }
        assert!(again(&source, &[]).is_empty());
        assert_eq!(again(&source, &[0, 0]).len(), 2);
        for wrong in [1, content.len() as u64, 1 << 30] {
            let outcome = reread(&source, 0, &[wrong], &fields(1 << 20), &mut |_, _, _| Ok(()));
            assert!(matches!(outcome, Err(crate::error::Error::Changed(_))), "{name} {wrong}: {outcome:?}");
        }
    }
    let text = source(&folder, "a.txt", b"\xef\xbb\xbfall of it\n");
    assert_eq!(again(&text, &[0]), [(0, "all of it\n".to_owned())]);
}

#[test]
fn the_last_record_before_damage_can_be_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = b"{\"text\": \"good\"}\n";
    let bytes = [&gzip(line)[..], b"garbage"].concat();
    assert_eq!(again(&source(&folder, "a.jsonl.gz", &bytes), &[0]), [(0, "good".to_owned())]);
}

#[test]
fn what_is_no_record_any_more_has_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = |source: &Source, offset: u64, max: usize| {
        reread(source, 0, &[offset], &fields(max), &mut |_, text, _| panic!("{offset}: {text:?}"))
    };
    let changed = |outcome| matches!(outcome, Err(crate::error::Error::Changed(_)));
    // A text file is one record, at its beginning.
    assert!(changed(outcome(&source(&folder, "a.txt", b"some words"), 5, 1000)));
    let content = b"{\"text\": \"a\"}\n{\"text\": 1}\n{\"text\": \"\xff\"}\n{\"text\": \"long\"}";
    let (front, back) = content.split_at(15);
    for (name, bytes) in [
        ("a.jsonl", content.to_vec()),
        ("a.jsonl.gz", [gzip(front), gzip(back)].concat()),
        ("a.jsonl.zst", [zstd(front), zstd(back)].concat()),
    ] {
        let source = source(&folder, name, &bytes);
        // No string, no UTF-8, longer than it could have been.
        for (offset, max) in [(14, 1000), (26, 1000), (40, 5)] {
            assert!(changed(outcome(&source, offset, max)), "{name} {offset}");
        }
    }
    let cut = gzip(&content.repeat(50));
    let damaged = source(&folder, "b.jsonl.gz", &cut[..cut.len() - 5]);
    let beyond = content.len() as u64 * 60;
    assert!(matches!(outcome(&damaged, beyond, 1000), Err(crate::error::Error::Io { action: "read", .. })));
}

#[test]
fn a_missing_or_shrunken_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let content = b"{\"text\": \"a\"}\n{\"text\": \"b\"}\n";
    for name in ["a.jsonl", "a.txt"] {
        let mut longer = source(&folder, name, content);
        longer.bytes += 5;
        longer.format = if name == "a.txt" { Format::Text } else { Format::JsonLines };
        let mut sink = Collect::default();
        let unit = units(std::slice::from_ref(&longer), Extent::ALL, u64::MAX)[0];
        let mut reader = UnitReader::open(0, &longer, &unit, Arc::new(fields(1000)));
        while reader.advance(&mut sink).expect("no bug") {}
        assert!(
            matches!(sink.seen.last(), Some((_, Seen::Refused { kind: "unreadable", .. }))),
            "{:?}",
            sink.seen
        );
        fs::remove_file(&longer.path).expect("removed");
        let unit = Unit { file: 0, start: 0, end: 10 };
        let mut sink = Collect::default();
        let mut reader = UnitReader::open(0, &longer, &unit, Arc::new(fields(100)));
        assert!(!reader.advance(&mut sink).expect("no bug"));
        assert_eq!(sink.seen, [(1, Seen::Refused { offset: 0, kind: "unreadable" })]);
    }
}
