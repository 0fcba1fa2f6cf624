//! One line of JSON to one record.

use crate::limits::sized;
use std::borrow::Cow;

use serde_json::value::RawValue;

use super::find::find;
use super::object::{JsonKind, JsonText, keys, long_string, no_object, string};
use crate::document::{DocumentName, Position};
use crate::read::date::{Day, day};
use crate::read::field::{Fields, OBSERVED_FIELDS};
use crate::read::input::MissingText;
use crate::read::record::{Record, Refusal, SHOWN_KEYS, Value, observe};
use crate::system_memory::MAPPED;

/// Scratch space kept from record to record; what one huge record needed beyond it is given back.
const KEPT: usize = sized(2 << 20, 64);

/// Makes records of lines. It owns what an escaped text is unescaped into, so that no record allocates.
#[derive(Default)]
pub(super) struct Extractor {
    text: String,
    id: String,
    within: String,
    observed: [String; OBSERVED_FIELDS],
}

impl Extractor {
    /// The record that the JSON text of a line is. The whole line must be one object.
    pub(super) fn record<'a>(
        &'a mut self,
        fields: &Fields,
        position: Position,
        line: u32,
        json: &'a str,
    ) -> Result<Record<'a>, Refusal> {
        if !json.trim_ascii_start().starts_with('{') {
            return Err(no_object(json));
        }
        if self.text.capacity() > KEPT {
            self.text = String::new();
        }
        let long = json.len() > KEPT;
        if long {
            // The text is at most as long. What is not used of it takes no memory.
            self.text = String::with_capacity(json.len().max(MAPPED));
        }
        let found = find(fields, json, (!long).then_some(&mut self.text))?;
        let deleted = found.op.map_or(Ok(false), |op| deletes(json, op))?;
        let keep = fields.missing_text == MissingText::Keep;
        let text = match found.text {
            _ if deleted => "",
            Some(JsonText::Borrowed(text)) => text,
            Some(JsonText::Copied) => &self.text,
            Some(JsonText::Raw(text)) if JsonKind::of(text) == JsonKind::Text => match long {
                true => long_string(json, text, &mut self.text)?,
                false => string(json, text, &mut self.text)?,
            },
            Some(JsonText::Raw(other)) if JsonKind::of(other) == JsonKind::Null && keep => "",
            Some(JsonText::Raw(other)) => {
                let field = fields.text.as_str().to_owned();
                return Err(Refusal::TextNotString { field, found: JsonKind::of(other).name().into() });
            }
            None if keep => "",
            None => {
                let (keys, more) = keys(json, SHOWN_KEYS);
                return Err(Refusal::no_text(fields.text.as_str(), &keys, more));
            }
        };
        let id = match found.id.map(|id| (JsonKind::of(id), id)) {
            Some((JsonKind::Number, id)) => Some(DocumentName::number(id.get())),
            Some((JsonKind::Text, id)) => Some(string(json, id, &mut self.id)?.into()),
            _ => None,
        };
        if fields.needs_id() && id.is_none() {
            let (keys, more) = keys(json, SHOWN_KEYS);
            return Err(Refusal::no_id(fields.id.as_str(), &keys, more));
        }
        let within = match found.within.map(|within| (JsonKind::of(within), within)) {
            Some((JsonKind::Number, within)) => Some(within.get()),
            Some((JsonKind::Text, within)) => Some(string(json, within, &mut self.within)?),
            _ => None,
        };
        let value = found.value.map(|raw| value(json, raw)).transpose()?.flatten();
        let day = found.date.map(|raw| dated(json, raw)).transpose()?.unwrap_or_default();
        let mut copies = self.observed.iter_mut();
        let observed = observe(!fields.observed.is_empty(), |at| {
            Some(Cow::Borrowed(observed(json, found.observed[at]?, copies.next()?)?))
        });
        Ok(Record {
            position,
            line,
            id,
            text,
            header: "",
            raw: json.as_bytes(),
            value,
            within: within.map(Cow::Borrowed),
            day,
            observed,
            deleted,
        })
    }
}

/// Whether a change is a deletion.
fn deletes(json: &str, op: &RawValue) -> Result<bool, Refusal> {
    let mut copy = String::new();
    match JsonKind::of(op) {
        JsonKind::Null => Ok(false),
        JsonKind::Text => match string(json, op, &mut copy)? {
            "upsert" => Ok(false),
            "delete" => Ok(true),
            other => Err(Refusal::unknown_op(other)),
        },
        _ => Err(Refusal::unknown_op(op.get())),
    }
}

/// The value to compare by; a number too large for a double is none.
fn value(json: &str, raw: &RawValue) -> Result<Option<Value>, Refusal> {
    Ok(match JsonKind::of(raw) {
        JsonKind::Number => Value::number(raw.get()),
        JsonKind::Text => Some(Value::Text(string(json, raw, &mut String::new())?.to_owned())),
        _ => None,
    })
}

/// The value of a field that is observed. One that is no JSON after all is none: nothing is refused for it.
fn observed<'a>(json: &str, raw: &'a RawValue, copy: &'a mut String) -> Option<&'a str> {
    match JsonKind::of(raw) {
        JsonKind::Number => Some(raw.get()),
        JsonKind::Text => string(json, raw, copy).ok(),
        _ => None,
    }
}

/// The day of a date.
fn dated(json: &str, raw: &RawValue) -> Result<Day, Refusal> {
    let known = match JsonKind::of(raw) {
        JsonKind::Null => return Ok(Day::None),
        JsonKind::Number => day(raw.get()),
        JsonKind::Text => day(string(json, raw, &mut String::new())?),
        _ => None,
    };
    Ok(known.map_or(Day::Unclear, Day::Known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_JSON_DEPTH;
    use crate::read::bytes::RecordRoom;
    use crate::read::field::FieldPath;

    fn fields() -> Fields {
        let path = |text| FieldPath::parse(text).expect("a path");
        Fields {
            id: path("id"),
            text: path("text"),
            missing_text: MissingText::Reject,
            main_text: false,
            strip_quotes: false,
            line_ids: false,
            value: Some(path("v")),
            within: None,
            date: Some(path("d")),
            observed: Vec::new(),
            op: None,
            without_ids: false,
            max_record_bytes: 1000,
            room: RecordRoom::default(),
        }
    }

    type Read = (Option<String>, String, Option<Value>);

    fn read(json: &str) -> Result<Read, Refusal> {
        let mut extractor = Extractor::default();
        let record = extractor.record(&fields(), Position::new(0, 0), 1, json)?;
        Ok((record.id.map(String::from), record.text.to_owned(), record.value))
    }

    fn id(json: &str) -> Option<String> {
        read(json).expect("a record").0
    }

    #[test]
    fn takes_id_text_and_value() {
        let read = read(" {\"id\": \"a\\n\", \"text\": \"\\u00e9 \\ud83d\\ude00\", \"v\": \"x\\t\"}\r")
            .expect("a record");
        let value = Some(Value::Text("x\t".into()));
        assert_eq!(read, (Some("a\n".into()), "\u{e9} \u{1f600}".into(), value));
    }

    #[test]
    fn ids_keep_their_digits() {
        assert_eq!(
            id(r#"{"text": "", "id": 12345678901234567890123}"#).as_deref(),
            Some("12345678901234567890123")
        );
        assert_eq!(id(r#"{"text": "", "id": 1.50}"#).as_deref(), Some("1.50"));
        for none in ["null", "true", "[1]", "{}"] {
            assert_eq!(id(&format!(r#"{{"text": "", "id": {none}}}"#)), None);
        }
        assert_eq!(id(r#"{"text": ""}"#), None);
    }

    #[test]
    fn values_are_numbers_or_strings() {
        let value = |json: &str| read(&format!(r#"{{"text": "", "v": {json}}}"#)).expect("a record").2;
        assert_eq!(value("-1.5e3"), Value::real(-1500.0));
        for number in [0, -1, (1 << 53) + 1, -(1 << 53) - 1, 1_700_000_000_000_000_001, i64::MIN, i64::MAX] {
            assert_eq!(value(&number.to_string()), Some(Value::integer(number.into())));
        }
        assert_eq!(value("1e999"), None);
        assert_eq!(value("null"), None);
        assert_eq!(value("\"2024\""), Some(Value::Text("2024".into())));
    }

    #[test]
    fn days_are_known_unclear_or_none() {
        let dated = |json: &str| {
            let mut extractor = Extractor::default();
            let day = extractor.record(&fields(), Position::new(0, 0), 1, json).map(|record| record.day);
            day.expect("a record")
        };
        for (json, day) in [
            ("\"1970-01-03\"", Day::Known(2)),
            ("\"1970\\u002d01-03\"", Day::Known(2)),
            ("1710070200", Day::Known(19_792)),
            ("2024", Day::Known(19_723)),
            ("null", Day::None),
            ("\"soon\"", Day::Unclear),
            ("\"\"", Day::Unclear),
            ("true", Day::Unclear),
            ("[\"1970-01-03\"]", Day::Unclear),
        ] {
            assert_eq!(dated(&format!(r#"{{"text": "", "d": {json}}}"#)), day, "{json}");
        }
        assert_eq!(dated(r#"{"text": ""}"#), Day::None);
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(read("[1]"), Err(Refusal::NotAnObject));
        assert_eq!(read("\"text\""), Err(Refusal::NotAnObject));
        assert!(matches!(read("[1"), Err(Refusal::NotJson(_))));
        assert!(matches!(read("hello"), Err(Refusal::NotJson(_))));
        assert!(matches!(read(r#"{"text": "a"} x"#), Err(Refusal::NotJson(_))));
        assert!(matches!(read(r#"{"text": "a"}{"text": "b"}"#), Err(Refusal::NotJson(_))));
        assert!(matches!(read(r#"{"text": "\ud800"}"#), Err(Refusal::NotJson(_))));
        assert!(matches!(read(r#"{"body": "a"}"#), Err(Refusal::NoText { .. })));
        for other in ["null", "1", "false", "[]", "{}"] {
            let json = format!(r#"{{"text": {other}}}"#);
            assert!(matches!(read(&json), Err(Refusal::TextNotString { .. })), "{json}");
        }
    }

    #[test]
    fn a_missing_text_may_be_an_empty_one() {
        let fields = Fields { missing_text: MissingText::Keep, ..fields() };
        let text = |json: &str| {
            let mut extractor = Extractor::default();
            extractor.record(&fields, Position::new(0, 0), 1, json).map(|record| record.text.to_owned())
        };
        for (json, expected) in [
            (r#"{"body": "a"}"#, ""),
            (r#"{"text": null}"#, ""),
            ("{}", ""),
            (r#"{"text": null, "text": "b"}"#, "b"),
            (r#"{"text": "a"}"#, "a"),
        ] {
            assert_eq!(text(json), Ok(expected.to_owned()), "{json}");
        }
        assert!(matches!(text(r#"{"text": 1}"#), Err(Refusal::TextNotString { .. })));
        assert_eq!(text("[]"), Err(Refusal::NotAnObject));
    }

    #[test]
    fn the_last_text_counts_whatever_came_before() {
        for (json, text) in [
            (r#"{"text": "a", "text": "b"}"#, "b"),
            (r#"{"text": "\n", "text": "b"}"#, "b"),
            (r#"{"text": "a", "text": "\n"}"#, "\n"),
            (r#"{"text": 1e999, "text": "b"}"#, "b"),
            (r#"{"text": "\ud800", "text": "b"}"#, "b"),
        ] {
            assert_eq!(read(json), Ok((None, text.into(), None)), "{json}");
        }
        assert!(matches!(read(r#"{"text": "a", "text": 1e999}"#), Err(Refusal::TextNotString { .. })));
        assert!(matches!(read(r#"{"text": 1, "text": "b"} x"#), Err(Refusal::NotJson(_))));
    }

    #[test]
    fn changes_have_an_id_and_may_delete() {
        let fields = Fields { op: FieldPath::parse("op").ok(), ..fields() };
        let change = |json: &str| {
            let mut extractor = Extractor::default();
            let record = extractor.record(&fields, Position::new(0, 0), 1, json)?;
            Ok((record.id.map(String::from).unwrap_or_default(), record.text.to_owned(), record.deleted))
        };
        let known = |id: &str, text: &str, deleted| Ok((id.to_owned(), text.to_owned(), deleted));
        assert_eq!(change(r#"{"id": "a", "text": "t"}"#), known("a", "t", false));
        assert_eq!(change(r#"{"id": "a", "text": "t", "op": null}"#), known("a", "t", false));
        assert_eq!(change(r#"{"id": 7, "text": "t", "op": "upsert"}"#), known("7", "t", false));
        assert_eq!(change(r#"{"id": "a", "op": "delete"}"#), known("a", "", true));
        assert_eq!(change(r#"{"id": "a", "text": "t", "op": "\u0064elete"}"#), known("a", "", true));
        assert_eq!(change(r#"{"text": "t"}"#), Err(Refusal::no_id("id", &["text"], 0)));
        let deleted = change(r#"{"id": null, "op": "delete"}"#);
        assert_eq!(deleted, Err(Refusal::no_id("id", &["id", "op"], 0)));
        for (op, shown) in [(r#""remove""#, "remove"), ("1", "1"), ("[]", "[]")] {
            let json = format!(r#"{{"id": "a", "text": "t", "op": {op}}}"#);
            assert_eq!(change(&json), Err(Refusal::UnknownOp(shown.into())));
        }
        assert!(matches!(change(r#"{"id": "a", "op": "upsert"}"#), Err(Refusal::NoText { .. })));
    }

    #[test]
    fn depth_has_a_limit() {
        let deep = |depth: usize, key: &str| {
            format!(r#"{{"{key}": {}{}, "text": "a"}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1))
        };
        // A key with an escape takes the other way.
        for key in ["x", "\\u0078"] {
            assert_eq!(read(&deep(MAX_JSON_DEPTH, key)), Ok((None, "a".into(), None)));
            for depth in [MAX_JSON_DEPTH + 1, 1 << 20] {
                let refusal = read(&deep(depth, key)).expect_err("deep");
                assert!(refusal.to_string().contains("within each other"), "{refusal}");
            }
        }
    }

    #[test]
    fn half_a_surrogate_pair_elsewhere_does_no_harm() {
        assert_eq!(read(r#"{"text": "a", "other": "\ud800"}"#), Ok((None, "a".into(), None)));
        assert!(matches!(read(r#"{"text": "a", "\udc00": 1}"#), Err(Refusal::NotJson(_))));
    }
}
