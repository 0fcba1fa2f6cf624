//! One line of JSON to one record.

use std::borrow::Cow;

use super::field::{Fields, ID, TEXT, VALUE, find, keys};
use super::json::{Kind, Scanner, Token};
use super::record::{Record, Refusal, Value};
use super::unescape::unescape;
use crate::document::Position;

/// Scratch space kept from record to record; what one huge record needed beyond it is given back.
const KEPT: usize = 8 << 20;

/// Makes records of lines. It owns what an escaped text is unescaped into, so that no record allocates.
#[derive(Default)]
pub(super) struct Extractor {
    text: String,
    id: String,
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
        if Scanner::new(json).peek() != Some(b'{') {
            return Err(no_object(json));
        }
        let found = find(fields, json).map_err(|error| Refusal::NotJson(error.to_string()))?;
        let Some(token) = found.get(TEXT) else {
            return Err(Refusal::no_text(fields.text.as_str(), &keys(json)));
        };
        if !matches!(token.kind, Kind::Text { .. }) {
            let field = fields.text.as_str().to_owned();
            return Err(Refusal::TextNotString { field, found: token.kind.name() });
        }
        if self.text.capacity() > KEPT {
            self.text = String::new();
        }
        let text = string(json, token, &mut self.text)?;
        let id = match found.get(ID) {
            Some(token) if token.kind == Kind::Number => Some(&json[token.start..token.end]),
            Some(token @ Token { kind: Kind::Text { .. }, .. }) => Some(string(json, token, &mut self.id)?),
            _ => None,
        };
        let value = found.get(VALUE).map(|token| value(json, token)).transpose()?.flatten();
        Ok(Record { position, line, id: id.map(Cow::Borrowed), text, value })
    }
}

/// The text of a string token: borrowed from the line, or unescaped into `scratch`.
fn string<'a>(json: &'a str, token: Token, scratch: &'a mut String) -> Result<&'a str, Refusal> {
    let raw = &json[token.start..token.end];
    if token.kind == (Kind::Text { escaped: false }) {
        return Ok(raw);
    }
    unescape(raw, scratch)
        .map_err(|what| Refusal::NotJson(format!("{what} in the string at byte {}", token.start + 1)))?;
    Ok(scratch)
}

/// The value to compare by; a number too large for a double is none.
fn value(json: &str, token: Token) -> Result<Option<Value>, Refusal> {
    Ok(match token.kind {
        Kind::Number => {
            let number = json[token.start..token.end].parse::<f64>();
            number.ok().filter(|number| number.is_finite()).map(Value::Number)
        }
        Kind::Text { .. } => {
            let mut scratch = String::new();
            Some(Value::Text(string(json, token, &mut scratch)?.to_owned()))
        }
        _ => None,
    })
}

/// Why a line that does not begin like an object is none.
fn no_object(json: &str) -> Refusal {
    let mut scanner = Scanner::new(json);
    match scanner.value(0).and_then(|_| scanner.finish()) {
        Ok(()) => Refusal::NotAnObject,
        Err(error) => Refusal::NotJson(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::FieldPath;
    use super::*;

    fn fields() -> Fields {
        let path = |text| FieldPath::parse(text).expect("a path");
        Fields { id: path("id"), text: path("text"), value: Some(path("v")), max_record_bytes: 1000 }
    }

    type Read = (Option<String>, String, Option<Value>);

    fn read(json: &str) -> Result<Read, Refusal> {
        let mut extractor = Extractor::default();
        let record = extractor.record(&fields(), Position::new(0, 0), 1, json)?;
        Ok((record.id.map(Cow::into_owned), record.text.to_owned(), record.value))
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
        assert_eq!(value("-1.5e3"), Some(Value::Number(-1500.0)));
        assert_eq!(value("1e999"), None);
        assert_eq!(value("null"), None);
        assert_eq!(value("\"2024\""), Some(Value::Text("2024".into())));
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
        let deep = format!(r#"{{"text": "a", "x": {}{}}}"#, "[".repeat(9999), "]".repeat(9999));
        assert!(matches!(read(&deep), Err(Refusal::NotJson(_))));
    }

    #[test]
    fn half_a_surrogate_pair_elsewhere_does_no_harm() {
        assert_eq!(read(r#"{"text": "a", "other": "\ud800", "\udc00": 1}"#), Ok((None, "a".into(), None)));
    }
}
