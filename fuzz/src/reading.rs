//! Reading files in every way there is: found, divided into units, read again, taken out and put together. What comes out is
//! held against itself.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use alike::document::Position;
use alike::error::Error;
use alike::limits::TIMES_WITH_PICTURES;
use alike::read::{
    Compression, Describer, Extent, FieldPath, Fields, Format, FormatHint, MissingText, Record, RecordCost,
    RecordRoom, Refusal, Refused, Sink, Source, UnitReader, Value, admit_windows, boundaries, describer,
    discover_as, record_text, reread, stands_alone, units,
};
use serde_json::{Value as Json, json};

/// Bytes of memory where it is bounded: about the least that the program takes.
const MEMORY: u64 = 64 << 20;

/// What a sink was given, with the line counted from the start of the file.
#[derive(Debug, PartialEq)]
pub(crate) enum Seen {
    Document { line: u64, offset: u64, id: Option<String>, text: String, value: Option<Value> },
    Refused { line: u64, offset: u64, kind: &'static str },
}

impl Seen {
    /// Its line, and where it stands.
    pub(crate) fn place(&self) -> (u64, u64) {
        match *self {
            Seen::Document { line, offset, .. } | Seen::Refused { line, offset, .. } => (line, offset),
        }
    }
}

/// Takes what a reader hands on.
struct Collect<'a> {
    source: &'a Source,
    fields: &'a Fields,
    describer: Option<Box<dyn Describer>>,
    /// Lines of the units before.
    before: u64,
    seen: Vec<Seen>,
}

impl Sink for Collect<'_> {
    fn document(&mut self, record: &Record<'_>) {
        let longest = longest(self.source.format, self.fields).saturating_add(BOM);
        assert!(record.raw.len() <= longest, "{record:?}");
        if let Some(describer) = &mut self.describer {
            describer.describe(record, &mut |_, _| {});
        }
        // Whether a record was a change, and of what, is settled when it is stored.
        if self.fields.op.is_none() && stands_alone(self.source.format) {
            let again = record_text(self.source.format, &record.stored(), self.fields);
            assert_eq!(again, Ok((record.text.to_owned(), record.day)), "as it is stored");
        }
        self.seen.push(Seen::Document {
            line: self.before + u64::from(record.line),
            offset: record.position.offset(),
            id: record.id.as_deref().map(str::to_owned),
            text: record.text.to_owned(),
            value: record.value.clone(),
        });
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        let (kind, offset) = (refusal.kind(), position.offset());
        let line_in_file = self.before + u64::from(line);
        let shown = Refused { position, line, refusal }.rejected(self.source, line_in_file).to_string();
        assert!(shown.starts_with(&self.source.shown), "{shown} does not name the file");
        self.seen.push(Seen::Refused { line: line_in_file, offset, kind });
    }
}

/// The longest record of a format: what holds pictures may be longer than its text.
fn longest(format: Format, fields: &Fields) -> usize {
    let times = match format {
        Format::Pdf | Format::Docx | Format::Odt | Format::Epub => TIMES_WITH_PICTURES,
        _ => 1,
    };
    fields.max_record_bytes.saturating_mul(times)
}

/// Bytes of a byte order mark, which a record may have before it.
const BOM: usize = 3;

/// The fields that the bits of `wanted` ask for, and the longest record that `max` allows.
pub(crate) fn fields(wanted: u8, max: u8) -> Arc<Fields> {
    let path = |text| FieldPath::parse(text).expect("a path");
    let cost = RecordCost { token: 20, bytes_of_token: 6 };
    let room = match wanted & 32 {
        0 => RecordRoom::default(),
        _ => RecordRoom::new(Some(MEMORY), 0, 2, cost, &Arc::default()),
    };
    Arc::new(Fields {
        within: (wanted & 1 != 0).then(|| path("w")),
        observed: Vec::new(),
        id: path("id"),
        text: path(if wanted & 2 == 0 { "text" } else { "meta.text" }),
        missing_text: if wanted & 64 == 0 { MissingText::Reject } else { MissingText::Keep },
        main_text: wanted & 1 == 0,
        strip_quotes: wanted & 2 == 0,
        line_ids: wanted & 2 != 0,
        date: (wanted & 4 != 0).then(|| path("date")),
        value: (wanted & 8 != 0).then(|| path("v")),
        op: (wanted & 16 != 0).then(|| path("op")),
        without_ids: wanted & 17 == 17,
        max_record_bytes: if max == 0 { 1 << 20 } else { usize::from(max) },
        room,
    })
}

/// A file with a content, as it is found; `None` if it is refused by its name.
pub(crate) fn put(folder: &Path, name: &str, content: &[u8], hint: FormatHint) -> Option<Source> {
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    let input = path.to_str().expect("UTF-8").to_owned();
    let refused = |error: Error| {
        let typed = matches!(error, Error::Input { .. });
        assert!(typed && error.to_string().contains(&input), "{error} of {input}");
    };
    let mut sources = discover_as(std::slice::from_ref(&input), folder, hint).map_err(refused).ok()?.sources;
    // A run refuses windows that are too wide before it reads anything.
    admit_windows(&mut sources, Some(8 * MEMORY), 1).map_err(refused).ok()?;
    Some(sources.remove(0))
}

/// Everything in a source cut into units of about `target` bytes; every document of it is there when it is read again. `None` if
/// the memory has no room for a part of it, where it is bounded.
pub(crate) fn check(source: &Source, target: u64, fields: &Arc<Fields>) -> Option<Vec<Seen>> {
    let describer = describer(source.format, fields);
    let mut sink = Collect { source, fields, describer, before: 0, seen: Vec::new() };
    let (mut bytes, mut text_bytes, mut any) = (0, 0, false);
    let (sources, mut parts, mut from) = (std::slice::from_ref(source), Vec::new(), (0, 0));
    while from.0 == 0 {
        // A load reads part after part.
        let part = Extent::next(sources, from, target.saturating_mul(2));
        assert!(part.from == from && part.to > from, "{part:?}");
        from = part.to;
        parts.push(part);
    }
    for unit in parts.into_iter().flat_map(|part| units(sources, part, target)) {
        let mut reader = UnitReader::open(0, source, &unit, Arc::clone(fields));
        loop {
            match reader.advance(&mut sink) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return stopped(source, fields, &error),
            }
        }
        assert!(!reader.advance(&mut sink).expect("an error is a bug"), "it ended");
        sink.before += reader.lines();
        bytes += reader.bytes();
        text_bytes += reader.text_bytes();
        any = true;
    }
    if any {
        assert_eq!(bytes, source.bytes);
    }
    if source.compression == Compression::None && source.format == Format::JsonLines {
        assert_eq!(text_bytes, source.bytes);
    }
    assert!(
        sink.seen.is_sorted_by(|a, b| a.place().0 < b.place().0 && a.place().1 < b.place().1),
        "{:?}",
        sink.seen
    );
    again(source, &sink.seen, fields);
    Some(sink.seen)
}

/// A run ends where the memory has no room, and is told which file it is.
fn stopped(source: &Source, fields: &Fields, error: &Error) -> Option<Vec<Seen>> {
    // Windows are bounded in any case, long records where the memory is.
    let bounded = fields.room.is_long(usize::MAX) || source.compression != Compression::None;
    let said = error.to_string();
    let typed = matches!(error, Error::Input { .. });
    assert!(bounded && typed && said.contains("memory") && said.contains(&source.shown), "{said}");
    None
}

/// The documents of `seen`, all of them and every second, are the same when they are read again.
fn again(source: &Source, seen: &[Seen], fields: &Fields) {
    let documents: Vec<(u64, &str)> = seen
        .iter()
        .filter_map(|seen| match seen {
            Seen::Document { offset, text, .. } => Some((*offset, &**text)),
            Seen::Refused { .. } => None,
        })
        .collect();
    for step in 1..=documents.len().min(2) {
        let (offsets, texts): (Vec<u64>, Vec<&str>) = documents.iter().step_by(step).copied().unzip();
        let mut count = 0;
        let outcome = reread(source, 0, &offsets, fields, &mut |index, text, _| {
            assert_eq!((index, text), (count, texts[count]), "read again");
            count += 1;
            Ok(())
        });
        assert!(outcome.is_ok() && count == texts.len(), "{outcome:?} after {count} of {}", texts.len());
    }
}

/// Where the records of a file end that is read `step` bytes at a time; `None` if it is one record.
pub(crate) fn ends(format: Format, content: &[u8], step: usize) -> Option<Vec<u64>> {
    let mut found = boundaries(format)?;
    let (mut ends, mut searched, mut read) = (Vec::new(), 0, 0);
    while read < content.len() {
        read = content.len().min(read + step);
        while let Some(end) = found.end(&content[searched..read]) {
            searched += end;
            ends.push(searched as u64);
            assert!(ends.len() <= 2 * content.len() + 2, "records without an end");
        }
        searched = read - found.undecided();
    }
    Some(ends)
}

/// The same source, of which units may begin at these places: what is found of a large file.
pub(crate) fn with_places(source: &Source, places: &[u64]) -> Source {
    let mut parts: Json = serde_json::to_value(source).expect("JSON");
    parts["cuts"]["places"] = json!(places);
    serde_json::from_value(parts).expect("a source")
}
