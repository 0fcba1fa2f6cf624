//! WARC, ARC and mbox read against plain readers of the whole file: in units of any size, packed, damaged, and again.

use std::sync::Arc;

use alike::document::Position;
use alike::read::{
    Extent, FieldPath, Fields, Format, MissingText, Record, RecordRoom, Refusal, Sink, Source, UnitReader,
    boundaries, discover, reread, units,
};
use proptest::prelude::*;

use crate::support::program::Dir;
use crate::support::texts::{gzip, zst};

/// A document, or the kind of refusal, with its offset.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Document { offset: u64, id: Option<String>, text: String },
    Refused { offset: u64, kind: &'static str },
}

#[derive(Default)]
struct Collect(Vec<Seen>);

impl Sink for Collect {
    fn document(&mut self, record: &Record<'_>) {
        let (offset, id) = (record.position.offset(), record.id.as_deref().map(str::to_owned));
        self.0.push(Seen::Document { offset, id, text: record.text.trim().to_owned() });
    }

    fn refuse(&mut self, position: Position, _: u32, refusal: Refusal) {
        self.0.push(Seen::Refused { offset: position.offset(), kind: refusal.kind() });
    }
}

fn fields(max_record_bytes: usize) -> Arc<Fields> {
    let path = |name| FieldPath::parse(name).unwrap();
    let (id, text, value, date, op) = (path("id"), path("text"), None, None, None);
    Arc::new(Fields {
        id,
        text,
        missing_text: MissingText::Reject,
        main_text: false,
        strip_quotes: false,
        line_ids: false,
        value,
        within: None,
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

fn read(source: &Source, target: u64, most: usize) -> Vec<Seen> {
    let mut sink = Collect::default();
    for unit in units(std::slice::from_ref(source), Extent::ALL, target) {
        let mut reader = UnitReader::open(0, source, &unit, fields(most));
        while reader.advance(&mut sink).unwrap() {}
    }
    sink.0
}

/// Where the records of a file end, looked at in blocks of a size.
fn ends(format: Format, content: &[u8], size: usize) -> Vec<usize> {
    let (mut found, mut at, mut until, mut boundaries) = (Vec::new(), 0, size, boundaries(format).unwrap());
    while at < content.len() {
        until = until.min(content.len());
        match boundaries.end(&content[at..until]) {
            Some(end) => {
                at += end;
                found.push(at);
            }
            None if until == content.len() => break,
            None => {
                at = until - boundaries.undecided();
                until += size;
            }
        }
    }
    found
}

/// A record of a crawl: its kind, what it holds, and whether its header lies about its length, and by how much.
#[derive(Clone, Debug)]
struct Stretch {
    kind: &'static str,
    text: String,
    garbage: &'static str,
}

fn stretch() -> impl Strategy<Value = Stretch> {
    let kind =
        prop::sample::select(vec!["conversion", "conversion", "response", "request", "warcinfo", "metadata"]);
    let text = prop_oneof![
        6 => "[a-z \r\n\u{e9}]{0,40}",
        1 => Just("WARC/1.0\r\nFrom \n\nFrom here\n\n\nWAR".to_owned()),
        1 => (0usize..4000).prop_map(|n| "x ".repeat(n)),
    ];
    let garbage = prop_oneof![9 => Just(""), 1 => Just("no record\r\nWARC is\nnone\n"), 1 => Just("x\n")];
    (kind, text, garbage).prop_map(|(kind, text, garbage)| Stretch { kind, text, garbage })
}

fn content_of(stretch: &Stretch) -> String {
    match stretch.kind {
        "response" => format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", stretch.text),
        _ => stretch.text.clone(),
    }
}

/// The file, and what is to be seen of it.
fn warc(stretches: &[Stretch]) -> (Vec<u8>, Vec<Seen>, Vec<usize>) {
    let (mut file, mut seen, mut starts) = (String::new(), Vec::new(), Vec::new());
    for (at, stretch) in stretches.iter().enumerate() {
        let (content, offset) = (content_of(stretch), file.len() as u64);
        starts.push(file.len());
        let media =
            if stretch.kind == "response" { "application/http; msgtype=response" } else { "text/plain" };
        file += &format!(
            "WARC/1.0\r\nWARC-Type: {}\r\nWARC-Record-ID: <urn:{at}>\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n\
             {content}\r\n\r\n",
            stretch.kind,
            content.len()
        );
        if matches!(stretch.kind, "conversion" | "response") {
            let id = Some(format!("<urn:{at}>"));
            seen.push(Seen::Document { offset, id, text: stretch.text.trim().to_owned() });
        }
        if !stretch.garbage.is_empty() {
            starts.push(file.len());
            seen.push(Seen::Refused { offset: file.len() as u64, kind: "malformed" });
            file += stretch.garbage;
        }
    }
    (file.into_bytes(), seen, starts)
}

/// The same as mbox: texts are bodies, in which lines that begin with `From ` are quoted.
fn mbox(stretches: &[Stretch]) -> (Vec<u8>, Vec<Seen>, Vec<usize>) {
    let (mut file, mut seen, mut starts) = (String::new(), Vec::new(), Vec::new());
    for (at, stretch) in stretches.iter().enumerate() {
        let body = stretch.text.replace("\r\n", "\n").replace('\r', "").replace("\nFrom ", "\n>From ");
        let body = body.strip_prefix("From ").map_or(body.clone(), |rest| format!(">From {rest}"));
        starts.push(file.len());
        let id = Some(format!("{at}@a"));
        seen.push(Seen::Document { offset: file.len() as u64, id, text: body.trim().to_owned() });
        file += &format!(
            "From a@b Thu Jan  1 00:00:00 1970\nFrom: a@b\nMessage-ID: <{at}@a>\n\
             Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{body}\n\n"
        );
    }
    (file.into_bytes(), seen, starts)
}

/// All that must hold of a file of these records.
fn holds(
    name: &str,
    (content, expected, starts): &(Vec<u8>, Vec<Seen>, Vec<usize>),
) -> Result<(), TestCaseError> {
    let dir = Dir::new();
    if content.is_empty() {
        return Ok(());
    }
    let plain = source(&dir, name, content);
    for size in [1, 2, 3, 7, 64, 1000, usize::MAX >> 1] {
        let found = ends(plain.format, content, size);
        prop_assert!(found.iter().eq(&starts[1..]), "blocks of {}: {:?} {:?}", size, found, starts);
    }
    for target in [u64::MAX, 700, 1] {
        prop_assert_eq!(&read(&plain, target, 1 << 20), expected);
    }
    for packed in [gzip(content, 300), zst(content, 300)] {
        prop_assert_eq!(&read(&source(&dir, "packed", &packed), u64::MAX, 1 << 20), expected);
    }
    let (mut offsets, mut texts) = (Vec::new(), Vec::new());
    for seen in expected {
        if let Seen::Document { offset, text, .. } = seen {
            offsets.push(*offset);
            texts.push(text.clone());
        }
    }
    let mut again = Vec::new();
    let each = &mut |_: usize, text: &str, _| {
        again.push(text.trim().to_owned());
        Ok(())
    };
    reread(&plain, 0, &offsets, &fields(1 << 20), each).unwrap();
    prop_assert_eq!(again, texts);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn records_of_a_crawl_are_found(stretches in prop::collection::vec(stretch(), 0..9)) {
        holds("a.warc", &warc(&stretches))?;
    }

    #[test]
    fn messages_of_an_mbox_are_found(stretches in prop::collection::vec(stretch(), 0..9)) {
        holds("a.mbox", &mbox(&stretches))?;
    }

    #[test]
    fn damage_costs_records_and_nothing_else(
        stretches in prop::collection::vec(stretch(), 1..9), place in 0usize..9999, byte: u8, cut in 0usize..9999,
    ) {
        let dir = Dir::new();
        for (name, (content, ..)) in [("a.warc", warc(&stretches)), ("a.mbox", mbox(&stretches))] {
            let mut damaged = content.clone();
            damaged[place % content.len()] = byte;
            damaged.truncate(content.len() - cut % content.len());
            dir.write(name, &damaged);
            let found = discover(&[dir.join(name).to_str().unwrap().to_owned()], dir.path());
            let Some(source) = found.ok().map(|mut found| found.sources.remove(0)) else { continue };
            let whole = read(&source, u64::MAX, 1 << 20);
            prop_assert_eq!(&read(&source, 1, 1 << 20), &whole);
            prop_assert!(whole.len() <= 2 * content.len());
        }
    }
}

/// Records that are larger than what is read at once, and than what is allowed.
#[test]
fn long_records_are_read_or_refused() {
    let dir = Dir::new();
    let long = |n: usize| Stretch { kind: "conversion", text: "word ".repeat(n), garbage: "" };
    let stretches: Vec<Stretch> = [3, 700_000, 5, 300_000, 900_000, 1].map(long).into();
    for (name, (content, expected, _)) in [("a.warc", warc(&stretches)), ("a.mbox", mbox(&stretches))] {
        let plain = source(&dir, name, &content);
        assert!(read(&plain, u64::MAX, 8 << 20) == expected, "{name}");
        assert!(read(&plain, 1 << 20, 8 << 20) == expected, "{name} in units");
        let capped = read(&plain, u64::MAX, 2 << 20);
        assert_eq!(capped.len(), expected.len());
        for (seen, whole) in capped.iter().zip(&expected) {
            match whole {
                Seen::Document { offset, text, .. } if text.len() > 2 << 20 => {
                    assert_eq!(seen, &Seen::Refused { offset: *offset, kind: "too long" }, "{name}");
                }
                whole => assert!(seen == whole, "{name}"),
            }
        }
    }
}

/// ARC has no type of record: what is not fetched by HTTP is no document, and the address is the id.
#[test]
fn records_of_arc_are_found() {
    let dir = Dir::new();
    let body = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>one <b>two</b></p>";
    let file = format!(
        "filedesc://a.arc 0.0.0.0 20200101000000 text/plain 20\nversion block of it\n\n\
         http://a/with space 1.2.3.4 20200102030405 text/html {}\n{body}\n\
         dns:a 1.2.3.4 20200102030405 text/dns 4\nno d\n\
         http://b/ 1.2.3.4 20200102030405 text/html {}\n{body}\n",
        body.len(),
        body.len() + 5
    );
    let plain = source(&dir, "a.arc", file.as_bytes());
    let seen = read(&plain, u64::MAX, 1000);
    let at = |part: &str| file.find(part).unwrap() as u64;
    let (id, text) = (Some("http://a/with space".to_owned()), "one two".to_owned());
    let first = Seen::Document { offset: at("http://a"), id, text };
    assert_eq!(seen, [first, Seen::Refused { offset: at("http://b"), kind: "malformed" }]);
    assert_eq!(read(&plain, 1, 1000), seen);
}

/// A page as servers send it: in chunks, compressed, in another character set; a refused one is not there.
#[test]
fn pages_are_unwrapped() {
    let dir = Dir::new();
    let response = |id: &str, headers: &str, body: &[u8]| {
        let http = [format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n").as_bytes(), body].concat();
        let head = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: {id}\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n",
            http.len()
        );
        [head.as_bytes(), &http, b"\r\n\r\n"].concat()
    };
    let page = b"<html><title>T</title><script>no()</script><p>one<p>caf\xe9";
    let html = "Content-Type: text/html; charset=latin1";
    let chunked = [b"5\r\n<html\r\n".as_slice(), b"2\r\n><\r\n0\r\n\r\n"].concat();
    let file = [
        response("a", html, page),
        response("b", &format!("{html}\r\nContent-Encoding: gzip"), &gzip(page, page.len())),
        response("c", "Content-Type: text/html\r\nTransfer-Encoding: chunked", &chunked),
        response("d", "Content-Type: image/png", b"\x89PNG"),
        response("e", "Content-Type: text/plain\r\nContent-Encoding: zstd", &zst(b"plain", 9)),
    ]
    .concat();
    let seen = read(&source(&dir, "a.warc", &file), u64::MAX, 1000);
    let texts: Vec<(String, String)> = seen
        .iter()
        .map(|seen| match seen {
            Seen::Document { id, text, .. } => (id.clone().unwrap(), text.clone()),
            Seen::Refused { kind, .. } => ("refused".to_owned(), (*kind).to_owned()),
        })
        .collect();
    let expected = [
        ("a", "T\none\ncaf\u{e9}"),
        ("b", "T\none\ncaf\u{e9}"),
        ("c", "<"),
        ("refused", "not a text"),
        ("e", "plain"),
    ];
    assert_eq!(texts, expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
}
