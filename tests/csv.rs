//! CSV and TSV: rows held against csv-core reading the file at once, kept rows byte for byte, and what is refused.

use std::sync::Arc;

use alike::document::Position;
use alike::read::{
    Extent, FieldPath, Fields, MissingText, Record, RecordRoom, Refusal, Sink, Source, UnitReader,
    boundaries, discover, reread, units,
};
use csv_core::ReadRecordResult;
use proptest::prelude::*;

use crate::support::job::done;
use crate::support::loads::{Seen as LoadSeen, whole};
use crate::support::output::Output;
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, text, unpack, words, zst};

/// What a row is: a document with its offset, or the kind of refusal.
#[derive(Debug, PartialEq)]
enum Seen {
    Document { row: u64, offset: u64, id: Option<String>, text: String },
    Refused { row: u64, kind: &'static str },
}

#[derive(Default)]
struct Collect {
    before: u64,
    seen: Vec<Seen>,
}

impl Sink for Collect {
    fn document(&mut self, record: &Record<'_>) {
        let (row, offset) = (self.before + u64::from(record.line), record.position.offset());
        let id = record.id.as_deref().map(str::to_owned);
        self.seen.push(Seen::Document { row, offset, id, text: record.text.to_owned() });
    }

    fn refuse(&mut self, _: Position, line: u32, refusal: Refusal) {
        self.seen.push(Seen::Refused { row: self.before + u64::from(line), kind: refusal.kind() });
    }
}

fn fields() -> Arc<Fields> {
    fields_within(1 << 20)
}

/// Fields of rows of at most so many bytes.
fn fields_within(max_record_bytes: usize) -> Arc<Fields> {
    let path = |name| FieldPath::parse(name).unwrap();
    let (value, date, op) = (None, None, None);
    Arc::new(Fields {
        within: None,
        id: path("id"),
        text: path("text"),
        missing_text: MissingText::Reject,
        main_text: false,
        strip_quotes: false,
        line_ids: false,
        value,
        date,
        observed: Vec::new(),
        op,
        without_ids: false,
        max_record_bytes,
        room: RecordRoom::default(),
    })
}

fn source(dir: &Dir, name: &str, content: &[u8]) -> Source {
    dir.write(name, content);
    let name = dir.join(name).to_str().unwrap().to_owned();
    discover(&[name], dir.path()).unwrap().sources.remove(0)
}

/// All rows of a file, read in units of about `target` bytes, and how many units there were.
fn read(source: &Source, target: u64) -> (Vec<Seen>, usize) {
    read_within(source, target, &fields())
}

fn read_within(source: &Source, target: u64, fields: &Arc<Fields>) -> (Vec<Seen>, usize) {
    let mut sink = Collect::default();
    let units = units(std::slice::from_ref(source), Extent::ALL, target);
    for unit in &units {
        let mut reader = UnitReader::open(0, source, unit, Arc::clone(fields));
        while reader.advance(&mut sink).unwrap() {}
        sink.before += reader.lines();
    }
    (sink.seen, units.len())
}

/// A row by csv-core: where it begins, and its fields.
struct CoreRow {
    start: usize,
    fields: Vec<String>,
}

/// All rows of a file by csv-core, which sees the file at once.
fn core_rows(content: &[u8]) -> Vec<CoreRow> {
    let mut reader = csv_core::Reader::new();
    // One byte more for a row, since a full buffer is an answer of its own.
    let (mut text, mut ends) = (vec![0; content.len() + 1], vec![0; content.len() + 2]);
    let (mut rows, mut start) = (Vec::new(), 0);
    loop {
        let (mut result, read, written, mut fields) =
            reader.read_record(&content[start..], &mut text, &mut ends);
        if result == ReadRecordResult::InputEmpty {
            // No bytes follow: what was begun is a row.
            let (ended, _, _, more) = reader.read_record(&[], &mut text[written..], &mut ends[fields..]);
            (result, fields) = (ended, fields + more);
        }
        match result {
            ReadRecordResult::Record => {}
            ReadRecordResult::End => return rows,
            other => panic!("{other:?}: the buffers hold all of the file"),
        }
        let begins = [0].into_iter().chain(ends.iter().copied());
        let fields = begins.zip(&ends).take(fields).map(|(from, to)| &text[from..*to]);
        let fields = fields.map(|field| String::from_utf8(field.to_vec()).unwrap()).collect();
        rows.push(CoreRow { start, fields });
        start += read;
    }
}

/// The same rows by csv-core, without rows and offsets. An open quote at the end is nobody's mistake to it.
fn twin(content: &[u8]) -> Vec<(Option<String>, String)> {
    let mut rows = core_rows(content).into_iter().map(|row| row.fields);
    let Some(header) = rows.next() else { return Vec::new() };
    let column = |name: &str| (0..header.len()).rev().find(|at| header[*at] == name);
    let document = |row: Vec<String>| match column("text") {
        _ if row.len() != header.len() => (None, "ragged row".to_owned()),
        None => (None, "no column".to_owned()),
        Some(at) => {
            let id = column("id").map(|at| row[at].clone()).filter(|id| !id.is_empty());
            (id, format!("document {}", row[at]))
        }
    };
    rows.map(document).collect()
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let bit = prop_oneof![
        4 => "[a-z \u{e9}\u{4e00}]{0,6}",
        3 => Just("\"".to_owned()),
        3 => Just(",".to_owned()),
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\"\"".to_owned()),
        1 => Just("\u{feff}".to_owned()),
        2 => "\"[a-z,\n]{0,9}\",",
    ];
    let header = prop_oneof![
        8 => Just("id,text\n"),
        1 => Just("\u{feff}\"text\",\"a\nb\",id\r\n"),
        1 => Just("\n\r\n\"te\"xt,text\n"),
        1 => Just("other\n"),
    ];
    (header, prop::collection::vec(bit, 0..40))
        .prop_map(|(header, bits)| [header, &bits.concat()].concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_csv_core(content in content()) {
        let dir = Dir::new();
        let plain = source(&dir, "a.csv", &content);
        let (seen, _) = read(&plain, u64::MAX);
        let mut expected = twin(&content);
        if seen.last().is_some_and(|last| matches!(last, Seen::Refused { kind: "open quote", .. })) {
            expected.pop();
        }
        let found: Vec<_> = seen.iter().filter_map(|seen| match seen {
            Seen::Document { id, text, .. } => Some((id.clone(), format!("document {text}"))),
            Seen::Refused { kind: "open quote", .. } => None,
            Seen::Refused { kind, .. } => Some((None, (*kind).to_owned())),
        }).collect();
        prop_assert_eq!(&found, &expected);
        let (same, _) = read(&source(&dir, "a.csv.gz", &gzip(&content, 10)), u64::MAX);
        prop_assert_eq!(&same, &seen);
        // Every document is there when it is read again, and a row that is taken out ends where it should.
        let mut places = Vec::new();
        for seen in &seen {
            if let Seen::Document { offset, text, .. } = seen {
                places.push((*offset, text));
            }
        }
        let offsets: Vec<u64> = places.iter().map(|(offset, _)| *offset).collect();
        let mut texts = Vec::new();
        reread(&plain, 0, &offsets, &fields(), &mut |_, text, _| { texts.push(text.to_owned()); Ok(()) }).unwrap();
        prop_assert!(texts.iter().eq(places.iter().map(|(_, text)| *text)), "{:?} {:?}", texts, places);
        for (offset, _) in places {
            let rest = &content[usize::try_from(offset).unwrap()..];
            let end = boundaries(plain.format).unwrap().end(rest).unwrap_or(rest.len());
            let without = [&content[..content.len() - rest.len()], &rest[end..]].concat();
            prop_assert_eq!(twin(&without).len() + 1, twin(&content).len());
        }
    }
}

/// A body of a row that takes about so many bytes, or a few more; a quoted one has every byte that ends something.
fn body(bytes: usize, quoted: bool) -> String {
    // Words of five bytes: shorter ones would be too many.
    let piece = if quoted { "these \"\"words\"\", which\r\nare short " } else { "these words are short " };
    let long = piece.repeat(bytes / piece.len()) + &"x".repeat(bytes % piece.len());
    if quoted { format!("\"{long}\"") } else { long }
}

/// Sizes about the cap, about what is read at once, and beyond.
fn sizes(cap: usize) -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..30,
        4 => (cap - 30).min(2 << 20)..cap.min(2 << 20) + 10,
        2 => (1usize << 20) - 60..(1 << 20) + 20,
        1 => 1usize..3 << 20,
    ]
}

/// A file of rows of which some are over a cap, the cap, and whether its last quote is never closed.
fn over_long() -> impl Strategy<Value = (Vec<u8>, usize, bool)> {
    let cap = prop::sample::select(vec![60, 5000, (1 << 20) - 8, 1 << 20]);
    cap.prop_flat_map(|cap| {
        let row = (sizes(cap), any::<bool>(), any::<bool>());
        (prop::collection::vec(row, 1..9), Just(cap), any::<bool>()).prop_map(|(rows, cap, open)| {
            let mut content = "id,text\n".to_owned();
            for (at, (bytes, quoted, wide)) in rows.into_iter().enumerate() {
                content += &format!("d{at},{}{}", body(bytes, quoted), if wide { "\r\n" } else { "\n" });
            }
            content += if open { "last,\"no end\nof it,at all\n" } else { "" };
            (content.into_bytes(), cap, open)
        })
    })
}

/// The rows of a file by csv-core: where each begins, and the bytes up to the next. Those above the cap are refused.
fn capped(content: &[u8], cap: usize, open: bool) -> Vec<Seen> {
    let rows = core_rows(content);
    let starts: Vec<usize> = rows.iter().map(|row| row.start).chain([content.len()]).collect();
    let seen = rows.iter().enumerate().skip(1).map(|(at, row)| {
        let number = at as u64 + 1;
        // The line feed of the row before may stand before the place.
        let raw = content[starts[at]..starts[at + 1]].trim_ascii();
        if open && at + 1 == rows.len() {
            Seen::Refused { row: number, kind: "open quote" }
        } else if raw.len() > cap {
            Seen::Refused { row: number, kind: "too long" }
        } else {
            let offset = (content.len() - content[starts[at]..].trim_ascii_start().len()) as u64;
            Seen::Document {
                row: number,
                offset,
                id: Some(row.fields[0].clone()),
                text: row.fields[1].clone(),
            }
        }
    });
    seen.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn rows_over_the_cap_are_refused_and_no_others((content, cap, open) in over_long()) {
        let dir = Dir::new();
        let expected = capped(&content, cap, open);
        let plain = source(&dir, "a.csv", &content);
        for target in [u64::MAX, 1 << 20, 300_000, 1] {
            let (seen, _) = read_within(&plain, target, &fields_within(cap));
            prop_assert!(seen == expected, "units of {}: {:?}", target, first_apart(&seen, &expected));
        }
        let packed = source(&dir, "a.csv.gz", &gzip(&content, 100_000));
        let (seen, _) = read_within(&packed, u64::MAX, &fields_within(cap));
        prop_assert!(seen == expected, "gzip: {:?}", first_apart(&seen, &expected));
    }
}

/// The number of the first row that is another, and how many rows there are of each.
fn first_apart(seen: &[Seen], expected: &[Seen]) -> (Option<usize>, usize, usize) {
    (seen.iter().zip(expected).position(|(seen, expected)| seen != expected), seen.len(), expected.len())
}

/// Rows with near and exact copies, and all that quoting allows.
fn rows(count: usize) -> Vec<String> {
    rows_of(count, 9)
}

/// The same, near copies of so many texts.
fn rows_of(count: usize, families: usize) -> Vec<String> {
    let mut random = Random(11);
    let row = |at: usize| {
        let family = random.below(families) * 1000;
        let (start, count) = (family + random.below(2), 60 + random.below(3));
        let body = match at % 4 {
            0 => words(start, count),
            1 => format!("\"{}, \"\"said\"\"\r\n{}\"", words(start, 30), words(start + 30, count - 30)),
            2 => format!("\"{}\n\n{}\"", words(at * 100, 20), words(start, count)),
            _ => format!("{} 5\" disk", words(start, count)),
        };
        let end = if at.is_multiple_of(3) { "\r\n" } else { "\n" };
        format!("d{at:05},{body},\"a,b\"{end}")
    };
    (0..count).map(row).collect()
}

const HEADER: &str = "\u{feff}\"id\",text,other\r\n";

/// The rows that are left when those of `removed` go.
fn left(rows: &[String], removed: &[String]) -> String {
    let stays = |row: &&String| !removed.contains(&row[..6].to_owned());
    rows.iter().filter(stays).map(String::as_str).collect()
}

#[test]
fn kept_rows_are_byte_for_byte_whoever_reads_them() {
    let dir = Dir::new();
    let rows = rows(400);
    let content = format!("{HEADER}\n{}", rows.concat());
    dir.write("in/a.csv", &content);
    dir.write("gz/a.csv.gz", gzip(content.as_bytes(), 5000));
    dir.write("zst/a.csv.zst", zst(content.as_bytes(), 5000));
    let one = dir.output("in -w 1 --threshold 0.7", "one");
    let removed = one.removed_ids();
    assert!(removed.len() > 100 && removed.len() < 390, "{}", removed.len());
    assert_eq!(text(one.kept("a.csv")), format!("{HEADER}\n{}", left(&rows, &removed)));
    assert_eq!(one.summary["documents"], 400);
    assert!(one.duplicates.iter().all(|row| row["line"].as_u64().unwrap() >= 3), "the header is row 1");
    for (name, line) in [("w3", "in -w 3"), ("g", "gz -w 2"), ("z", "zst -w 2"), ("n", "in/a.csv -w 2")] {
        let found = dir.output(&format!("{line} --threshold 0.7"), name);
        assert_eq!(found.removed_ids(), removed, "{line}");
        assert!(found.kept.values().next().map(|file| unpack(file)) == Some(one.kept("a.csv")), "{line}");
    }
    let first = dir.output("in --method exact", "exact");
    assert!(text(first.kept("a.csv")).starts_with(HEADER));
    dir.write("empty.csv", HEADER);
    let none = dir.output("empty.csv in", "none");
    assert_eq!(text(none.kept("empty.csv")), HEADER, "a file without records keeps its header");
}

#[test]
fn large_files_are_read_in_units_that_begin_with_rows() {
    let dir = Dir::new();
    let body = rows(4000).concat();
    let large = source(&dir, "large.csv", format!("{HEADER}{body}").as_bytes());
    let (whole, one) = read(&large, u64::MAX);
    assert_eq!((whole.len(), one), (4000, 1));
    for target in [1, 100_000, 700_000] {
        let (found, units) = read(&large, target);
        assert!(units > 1 && found == whole, "{units} units of about {target}");
    }
}

#[test]
fn delimiters_are_told_by_names_headers_and_flags() {
    let dir = Dir::new();
    let table = |delimiter: &str| {
        let rows = [["id", "text"], ["a", "one, two; three | four"], ["b", "one, two; three | four"]];
        let row = |row: &[&str; 2]| format!("{}{delimiter}\"{}\"\n", row[0], row[1]);
        rows.iter().map(row).collect::<String>()
    };
    dir.write("colon.toml", "[input]\ndelimiter = ':'\n");
    for (name, delimiter, flags) in [
        ("a.csv", ",", ""),
        ("b.csv", ";", ""),
        ("c.csv", "|", ""),
        ("d.csv", "\t", ""),
        ("e.tsv", "\t", ""),
        ("f.csv", ":", "--delimiter :"),
        ("g.data", "\t", "--input-format csv --delimiter tab"),
        ("i.data", "\t", "--input-format tsv"),
        ("j.data", ";", "--input-format tsv --delimiter ;"),
        ("k.csv", ":", "--config colon.toml"),
        ("l.csv", ";", "--config colon.toml --delimiter ;"),
        ("h.data", ";", "--input-format csv"),
    ] {
        dir.write(name, table(delimiter));
        let found = dir.output(&format!("{name} {flags}"), &format!("out-{name}"));
        assert_eq!(found.removed_ids(), ["b"], "{name}");
        let rows = table(delimiter);
        assert_eq!(text(found.kept(name)), rows[..rows.trim_end().rfind('\n').unwrap() + 1], "{name}");
    }
    let piped = table(",");
    dir.alike("dedup - --input-format csv --out piped", Some(piped.as_bytes())).ok();
    // Without a word about it the same, and under a name that says nothing.
    dir.alike("dedup - --out told", Some(piped.as_bytes())).ok();
    dir.write("nameless/table", &piped);
    dir.alike("dedup nameless --out found", None).ok();
    let rows = |out: &str| Output::read(&dir.join(out)).summary["documents"].clone();
    assert_eq!((rows("told"), rows("found")), (rows("piped"), rows("piped")));
    assert_eq!(Output::read(&dir.join("piped")).removed_ids(), ["b"]);
    dir.alike("dedup a.csv --delimiter ab --out x", None).code(2).says("delimiter");
    dir.alike("dedup a.csv --input-format xml --out x", None).code(2).says("tsv");
    dir.write("wrong.toml", "[input]\ndelimiter = 'ab'\n");
    dir.alike("dedup a.csv --config wrong.toml --out x", None).code(2).says("delimiter \"ab\"");
    // What a collection is made with goes for what is loaded later, and for what is asked.
    dir.alike("load c f.csv --config colon.toml", None).ok();
    dir.alike("load c k.csv", None).ok();
    assert_eq!(dir.alike("documents c", None).ok().stdout.lines().count(), 2);
    let asked = dir.alike("check c f.csv --json", None).ok().stdout;
    assert!(asked.contains("\"resembles\":[{"), "{asked}");
    dir.alike("lexicon build f.csv --delimiter : --min-df 1 --out colon.lexicon", None).ok();
    dir.alike("lexicon build g.data --input-format tsv --min-df 1 --out tabs.lexicon", None).ok();
    let lexicon = |name: &str| std::fs::read(dir.join(name)).unwrap();
    assert!(lexicon("colon.lexicon") == lexicon("tabs.lexicon"));
}

#[test]
fn a_format_is_of_named_files_and_others_are_told() {
    let dir = Dir::new();
    let rows = "id,text\na,one two three four\nb,one two three four\n";
    // A column with a blank in its name: it is called a text, and may be one.
    dir.write("in/a.txt", "id,text,a note\na,one two three four,x\nb,one two three four,y\n");
    dir.write("in/b.csv", rows);
    let walked = dir.alike("dedup in --input-format csv --out walked", None).ok();
    let walked = walked.says("1 file in folders, such as in/a.txt, went by name and content");
    walked.says("'FOLDER/*' names them");
    // One document, and two rows of which one goes.
    assert_eq!(Output::read(&dir.join("walked")).removed_ids(), ["b"]);
    // The files that a pattern matches are named.
    let named = dir.alike("dedup in/* --input-format csv --out named", None).ok();
    assert!(!named.stderr.contains("--input-format"), "{}", named.stderr);
    assert_eq!(Output::read(&dir.join("named")).removed_ids(), ["a", "b", "b"]);
    let silent = dir.alike("dedup in --out silent", None).ok();
    assert!(!silent.stderr.contains("--input-format"), "{}", silent.stderr);
}

#[test]
fn what_is_wrong_is_refused_row_by_row() {
    let dir = Dir::new();
    let many = (0..100).map(|at| format!("i{at},{}\n", words(at * 100, 20))).collect::<String>();
    dir.write("a.csv", format!("id,text\n{many}short\nlong,x,y\n"));
    let found = dir.output("a.csv", "out");
    let reasons: Vec<_> =
        found.rejected.iter().map(|row| (row["line"].clone(), row["reason"].clone())).collect();
    assert_eq!(reasons.len(), 2);
    let told = format!("{reasons:?}");
    assert!(told.contains("102") && told.contains("103") && told.contains("under a header of 2"), "{told}");
    assert_eq!(text(found.kept("a.csv")), format!("id,text\n{many}"));
    dir.dedup("a.csv --strict --out no").code(3).says("a.csv, row 102");

    let ran = dir.dedup("a.csv --text-field body --out no").code(3);
    assert!(ran.stderr.contains("no column body") && ran.stderr.contains("id, text"), "{}", ran.stderr);

    dir.write("open.csv", format!("id,text\n{many}x,\"never closed\ny,z\n"));
    let found = dir.output("open.csv", "cut");
    assert_eq!(found.rejected.len(), 1);
    assert_eq!(text(found.kept("open.csv")), format!("id,text\n{many}"), "as far as it can be read");
}

#[test]
fn what_an_open_quote_swallows_is_told_however_it_is_read() {
    let dir = Dir::new();
    let row = |at: usize| format!("i{at},{}\n", words(at * 100, 20));
    let (before, behind) =
        ((0..1000).map(row).collect::<String>(), (1000..30_000).map(row).collect::<String>());
    let content = format!("id,text\n{before}x,\"never closed\n{behind}");
    dir.write("open.csv", &content);
    dir.write("open.csv.gz", gzip(content.as_bytes(), 1 << 16));
    dir.write("small.toml", "[input]\nmax_record_bytes = 100000\n");
    for (number, line) in
        ["-w 1", "-w 3", "-w 1 --config small.toml", "-w 2 --config small.toml"].iter().enumerate()
    {
        for name in ["open.csv", "open.csv.gz"] {
            let found = dir.output(&format!("{name} {line}"), &format!("{name}{number}"));
            let told = format!("{line} {name}: {:?}", found.rejected);
            assert!(found.rejected.len() == 1 && told.contains("quote") && told.contains("1002"), "{told}");
            assert_eq!(text(found.kept(name)), format!("id,text\n{before}"), "{told}");
        }
    }
}

#[test]
fn a_header_that_cannot_be_read_refuses_the_file() {
    let dir = Dir::new();
    let rows = (0..100).map(|at| format!("i{at},{}\n", words(at * 100, 20))).collect::<String>();
    dir.write("latin.csv", [b"id,text,\xe9\n", rows.as_bytes()].concat());
    dir.dedup("latin.csv --out no").code(3).says("the header is not utf-8");
}

/// Rows of each file of the folder `in`.
const PART: usize = 1500;

/// A folder `in` of plain and packed files, each with a row that is refused; all other rows, without their headers. Ids are in
/// the order of documents, as a collection has those of one load.
fn folder(dir: &Dir) -> Vec<String> {
    let rows = rows_of(4 * PART, 900);
    let parts: Vec<&[String]> = rows.chunks(PART).collect();
    for (part, (name, ragged)) in
        parts.into_iter().zip([("a.csv", 700), ("b.csv.gz", 3), ("c.csv.zst", 1400), ("d.csv", 9)])
    {
        let mut lines = part.to_vec();
        lines.insert(ragged, "too,many,fields,here\n".to_owned());
        let content = format!("{HEADER}{}", lines.concat()).into_bytes();
        let bytes = match name.rsplit_once('.') {
            Some((_, "gz")) => gzip(&content, 50_000),
            Some((_, "zst")) => zst(&content, 50_000),
            _ => content,
        };
        dir.write(&format!("in/{name}"), bytes);
    }
    rows
}

#[test]
fn several_processes_write_what_one_does() {
    let dir = Dir::new();
    folder(&dir);
    let flags = "in --threshold 0.7 --pairs --clustering transitive";
    let output = alike_in_all(&dir, flags, &[(1, 3), (2, 1), (3, 2)]);
    let count = |name: &str| output[name].split(|byte| *byte == b'\n').count() - 1;
    assert!(count("duplicates.jsonl") > 1000 && count("rejected.jsonl") == 4);
    for (name, shape, flags) in
        [("one", (1, 1), ""), ("three", (3, 1), "--epoch 500K"), ("two", (2, 2), "--epoch 2M")]
    {
        done(&dir, shape, &format!("load {name} in --threshold 0.7 -q {flags}"));
        whole(&dir, name);
    }
    let want = LoadSeen::of(&dir, "one");
    assert_eq!(want.documents(), 6000);
    want.assert_eq(&LoadSeen::of(&dir, "three"), "3 x 1");
    want.assert_eq(&LoadSeen::of(&dir, "two"), "2 x 2");
}

/// Loaded, changed, deleted from and written out, packed files are what they would be had the rows never been there.
#[test]
fn collections_of_packed_files_change() {
    let dir = Dir::new();
    let rows = folder(&dir);
    let (deleted, changed) = (|at: usize| at % 7 == 3, |at: usize| at % 50 == 1);
    let chosen = |which: &dyn Fn(usize) -> bool| (0..rows.len()).filter(|at| which(*at)).collect::<Vec<_>>();
    let ids = |chosen: &[usize]| chosen.iter().map(|at| format!("d{at:05}")).collect::<Vec<String>>();
    let gone = ids(&chosen(&deleted));
    dir.write("gone.txt", gone.join("\n"));
    let changes: String = ids(&chosen(&changed)).iter().map(|id| format!("{id},,delete\n")).collect();
    dir.write("changes.csv.zst", zst(format!("id,text,op\n{changes}").as_bytes(), 1000));
    for (part, name) in ["a.csv", "b.csv", "c.csv", "d.csv"].into_iter().enumerate() {
        let here = (part * PART..(part + 1) * PART).filter(|at| !deleted(*at) && !changed(*at));
        let left: String = here.map(|at| rows[at].as_str()).collect();
        dir.write(&format!("left/{name}"), format!("{HEADER}{left}"));
    }
    let expected = dir.output("left --threshold 0.7 --clustering transitive", "expected");
    for (name, flags) in [("c", ""), ("s", "--store-text --epoch 500K")] {
        dir.alike(&format!("load {name} in --threshold 0.7 -w 2 {flags}"), None).ok();
        dir.alike(&format!("delete {name} --ids gone.txt"), None).ok();
        dir.alike(&format!("load {name} changes.csv.zst"), None).ok();
        whole(&dir, name);
        dir.alike(&format!("export {name} --out e{name}"), None).ok();
        let found = Output::read(&dir.join(&format!("e{name}")));
        assert_eq!(found.removed_ids(), expected.removed_ids(), "{name}");
        for part in ["a.csv", "b.csv", "c.csv", "d.csv"] {
            let of = |output: &Output| {
                let packed = output.kept.iter().find(|(path, _)| path.contains(part));
                text(unpack(packed.unwrap().1)).trim_start_matches('\u{feff}').to_owned()
            };
            assert!(of(&found) == of(&expected), "{name}: {part}");
        }
    }
}

#[test]
fn collections_read_rows_again_and_write_them_out() {
    let dir = Dir::new();
    let rows = rows(300);
    dir.write("in/a.csv", format!("{HEADER}{}", rows.concat()));
    let expected = dir.output("in --clustering transitive", "expected");
    for (name, flags) in [("c", ""), ("s", "--store-text")] {
        dir.alike(&format!("load {name} in -w 2 {flags}"), None).ok();
        dir.alike(&format!("export {name} --clustering transitive --out e{name}"), None).ok();
        let found = Output::read(&dir.join(&format!("e{name}")));
        assert_eq!(found.removed_ids(), expected.removed_ids(), "{name}");
        let (kept, whole) = (text(found.kept("a.csv")), text(expected.kept("a.csv")));
        // A collection keeps records, and a byte order mark is of none.
        let bare = |file: &str| file.trim_start_matches('\u{feff}').to_owned();
        assert_eq!(bare(&kept), bare(&whole), "{name}");
        let told = dir.alike(&format!("explain {name} d00000 d00001"), None).ok().stdout;
        assert!(!told.is_empty());
        let query = format!("text\n{}\n", words(0, 60));
        let checked =
            dir.alike(&format!("check {name} - --input-format csv --json"), Some(query.as_bytes())).ok();
        assert!(checked.stdout.contains("\"resembles\":[{"), "{}", checked.stdout);
        dir.alike(&format!("fsck {name}"), None).ok();
    }
}
