//! Rows of files of columns: made, read in units of any size, and found again in what a run wrote.

use std::collections::BTreeSet;
use std::sync::Arc;

use alike::document::Position;
use alike::error::Error;
use alike::output::{Chosen, FormChoice, Hands, Side, refuse_undecodable, write_kept};
use alike::progress::Progress;
use alike::read::{
    Extent, FieldPath, Fields, MissingText, Record, RecordRoom, Refusal, Sink, Source, UnitReader, discover,
    rows as rows_of, units,
};
use serde_json::Value;

use super::columns::Columns;
use super::output::Output;
use super::program::Dir;
use super::texts::{Random, words};

/// What a row is: a document with its row, or the reason it is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
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

pub(crate) fn fields(text: &str, id: &str) -> Arc<Fields> {
    let path = |name: &str| FieldPath::parse(name).unwrap();
    Arc::new(Fields {
        within: None,
        id: path(id),
        text: path(text),
        missing_text: MissingText::Reject,
        main_text: false,
        strip_quotes: false,
        line_ids: false,
        value: Some(path("n")),
        date: None,
        observed: Vec::new(),
        op: None,
        without_ids: false,
        max_record_bytes: 1 << 20,
        room: RecordRoom::default(),
    })
}

pub(crate) fn source(dir: &Dir, name: &str, content: &[u8]) -> Source {
    dir.write(name, content);
    let name = dir.join(name).to_str().unwrap().to_owned();
    discover(&[name], dir.path()).unwrap().sources.remove(0)
}

/// All rows of a file, read in units of about `target` bytes, and how many units there were.
pub(crate) fn read(source: &Source, target: u64, fields: &Arc<Fields>) -> (Vec<Seen>, usize) {
    let mut sink = Collect::default();
    let units = units(std::slice::from_ref(source), Extent::ALL, target);
    for unit in &units {
        let mut reader = UnitReader::open(0, source, unit, Arc::clone(fields));
        while reader.advance(&mut sink).unwrap() {}
        sink.before += reader.lines();
    }
    (sink.seen, units.len())
}

/// The same by workers that take the units in turn, each going on with what it has at hand.
pub(crate) fn read_in_turn(source: &Source, target: u64, fields: &Arc<Fields>, workers: usize) -> Vec<Seen> {
    let (mut sink, mut at_hand) = (Collect::default(), Vec::new());
    at_hand.resize_with(workers, || None);
    for (at, unit) in units(std::slice::from_ref(source), Extent::ALL, target).iter().enumerate() {
        let earlier = &mut at_hand[at % workers];
        let mut reader = UnitReader::open_after(earlier, source, unit, Arc::clone(fields));
        while reader.advance(&mut sink).unwrap() {}
        sink.before += reader.lines();
        *earlier = reader.at_hand();
    }
    sink.seen
}

/// After an error of writing: a file without the rows that cannot be decoded is written, whatever is wrong with them.
pub(crate) fn written_in_another_run(source: &Source, fields: &Arc<Fields>, error: Error, what: &str) {
    let (mut sources, mut error, room) = ([source.clone()], error, RecordRoom::default());
    for _ in 0..3 {
        assert!(matches!(error, Error::Undecodable { .. }), "{what}: {error}");
        let refused =
            refuse_undecodable(&error, &mut sources, FormChoice::default(), (&room, 2), &Progress::default())
                .unwrap();
        assert!(refused, "{what}: {error}");
        let (seen, _) = read(&sources[0], 1, fields);
        assert_eq!(seen, read(&sources[0], u64::MAX, fields).0, "{what}: other rows in other units");
        let mut gone: BTreeSet<u64> = (0..rows_of(source).unwrap().unwrap()).collect();
        for seen in &seen {
            if let Seen::Document { offset, .. } = seen
                && offset % 3 > 0
            {
                gone.remove(offset);
            }
        }
        let gone = vec![gone.into_iter().collect()];
        let folder = tempfile::tempdir().unwrap();
        let hands = Hands { workers: 2, peers: None };
        let chosen = Chosen { side: Side::Kept, removed: &gone, ends: &[None] };
        match write_kept(folder.path(), &sources, chosen, (hands, &room), &Progress::default()) {
            Ok(written) => return assert!(written.files <= 1),
            Err(other) => error = other,
        }
    }
    panic!("{what}: {error}");
}

/// Rows with near copies, nulls, lists of every kind, and some that have no text.
pub(crate) fn rows(count: usize) -> Vec<Columns> {
    let mut random = Random(5);
    let row = |at: usize| {
        let family = random.below(9) * 1000;
        let body = words(family + random.below(2), 60 + random.below(3));
        let tags = match at % 5 {
            0 => None,
            1 => Some(Vec::new()),
            2 => Some(vec![Some(body.clone())]),
            3 => Some(vec![Some(words(family, 30)), None, Some(words(family + 30, 31))]),
            _ => Some(vec![None, Some(format!("once {at}")), Some(String::new())]),
        };
        Columns {
            id: format!("d{at:05}"),
            text: (at % 17 != 3).then_some(body),
            n: (at % 3 != 1).then_some(at as i64 * 31 % 97),
            tags,
            score: (at % 4 != 2).then_some(at as f64 / 8.0),
        }
    };
    (0..count).map(row).collect()
}

pub(crate) fn lines(rows: &[Columns]) -> String {
    rows.iter().map(Columns::line).collect()
}

/// The rows of a list of what was found, without what tells of the form of the file.
pub(crate) fn formless(rows: &[Value]) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        if let Some(row) = row.as_object_mut() {
            row.retain(|key, _| !key.ends_with("offset") && !key.ends_with("file"));
        }
    }
    rows
}

/// The rows of a file that a run removed or refused.
pub(crate) fn gone(output: &Output) -> BTreeSet<u64> {
    let rows = output.duplicates.iter().chain(&output.rejected);
    rows.map(|row| row["line"].as_u64().unwrap() - 1).collect()
}

/// The object of a row.
pub(crate) fn object(row: &Columns) -> Value {
    let meta = serde_json::json!({"score": row.score, "text": row.text});
    serde_json::json!({"id": row.id, "text": row.text, "n": row.n, "tags": row.tags, "meta": meta})
}
