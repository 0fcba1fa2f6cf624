//! The wanted fields of a line of JSON.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::depth::check_depth;
use super::object::{JsonKind, JsonText, members, not_json};
use super::usual_object::{TakenMembers, usual_members};
use crate::read::field::{FieldPath, Fields, OBSERVED_FIELDS};
use crate::read::record::Refusal;

/// Fields that may be wanted of a record beside those that are observed.
const NAMED: usize = 6;
/// Names that are looked for of all of them, of each the whole path and its first part: first of these, then of observed ones.
const NAMES: usize = 2 * (NAMED + OBSERVED_FIELDS);

/// The values of the wanted fields of one record, those found.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundFields<'a> {
    pub(super) text: Option<JsonText<'a>>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) value: Option<&'a RawValue>,
    pub(super) within: Option<&'a RawValue>,
    pub(super) date: Option<&'a RawValue>,
    pub(super) op: Option<&'a RawValue>,
    pub(super) observed: [Option<&'a RawValue>; OBSERVED_FIELDS],
}

/// Finds the wanted fields in the object that all of `line` is; a text with escapes may be copied to `copy`, if there is one.
/// Of a key that occurs twice the last one counts, and takes the place of all that was inside the first.
pub(super) fn find<'a>(
    fields: &Fields,
    line: &'a str,
    copy: Option<&mut String>,
) -> std::result::Result<FoundFields<'a>, Refusal> {
    // Most often nothing is observed, and fewer names are faster.
    if fields.observed.is_empty() {
        named(line, fields, copy)
    } else {
        named_and_observed(line, fields, copy)
    }
}

/// The fields that a run may want.
fn paths(fields: &Fields) -> [Option<&FieldPath>; NAMED] {
    let Fields { id, text, value, within, date, op, .. } = fields;
    [Some(text), Some(id), value.as_ref(), within.as_ref(), date.as_ref(), op.as_ref()]
}

fn named<'a>(
    line: &'a str,
    fields: &Fields,
    copy: Option<&mut String>,
) -> std::result::Result<FoundFields<'a>, Refusal> {
    let paths = paths(fields);
    let [text, id, value, within, date, op] = paths.map(|path| path.map(FieldPath::as_str));
    let [in_text, in_id, in_value, in_within, in_date, in_op] =
        paths.map(|path| path.and_then(FieldPath::outer));
    let names = [text, id, value, within, date, op, in_text, in_id, in_value, in_within, in_date, in_op];
    let taken = take(line, names, copy)?;
    let [text, id, value, within, date, op, in_text, in_id, in_value, in_within, in_date, in_op] =
        taken.values;
    let text = text.or(inside(line, in_text, paths[0])?);
    Ok(FoundFields {
        text: taken.text.or(text.map(JsonText::Raw)),
        id: id.or(inside(line, in_id, paths[1])?),
        value: value.or(inside(line, in_value, paths[2])?),
        within: within.or(inside(line, in_within, paths[3])?),
        date: date.or(inside(line, in_date, paths[4])?),
        op: op.or(inside(line, in_op, paths[5])?),
        observed: [None; OBSERVED_FIELDS],
    })
}

fn named_and_observed<'a>(
    line: &'a str,
    fields: &Fields,
    copy: Option<&mut String>,
) -> std::result::Result<FoundFields<'a>, Refusal> {
    let (paths, observed) = (paths(fields), fields.observed());
    let mut names = [None; NAMES];
    for (at, path) in paths.into_iter().chain(observed).enumerate() {
        let (whole, outer) = places(at);
        (names[whole], names[outer]) = (path.map(FieldPath::as_str), path.and_then(FieldPath::outer));
    }
    let taken = take(line, names, copy)?;
    let found = |at: usize, path| {
        let (whole, outer) = places(at);
        match taken.values[whole] {
            None => inside(line, taken.values[outer], path),
            whole => Ok(whole),
        }
    };
    let [text, id, value, within, date, op] = std::array::from_fn(|at| found(at, paths[at]));
    Ok(FoundFields {
        text: taken.text.or(text?.map(JsonText::Raw)),
        id: id?,
        value: value?,
        within: within?,
        date: date?,
        op: op?,
        // No record is refused for what is only observed.
        observed: std::array::from_fn(|at| found(paths.len() + at, observed[at]).unwrap_or_default()),
    })
}

/// Where the names of a path are among all: the whole one, and its first part.
fn places(at: usize) -> (usize, usize) {
    match at.checked_sub(NAMED) {
        None => (at, NAMED + at),
        Some(at) => (2 * NAMED + at, 2 * NAMED + OBSERVED_FIELDS + at),
    }
}

/// Takes the members of these names of the object that all of `line` is.
fn take<'a, const N: usize>(
    line: &'a str,
    names: [Option<&str>; N],
    copy: Option<&mut String>,
) -> std::result::Result<TakenMembers<'a, N>, Refusal> {
    if let Some(taken) = copy.and_then(|copy| usual_members(line, &names, copy)) {
        return Ok(taken);
    }
    let values = members(line, names).map_err(|error| not_json(line, line, &error))?;
    check_depth(line)?;
    Ok(TakenMembers { values, text: None })
}

/// Where in a JSON object the string of its text stands, quotes included, and what it means; `None` if there is no string.
/// `path` is where the text is.
pub fn text_member<'a>(object: &'a str, path: &FieldPath) -> Option<(Range<usize>, Cow<'a, str>)> {
    let names = [Some(path.as_str()), path.outer()];
    let [whole, outer] = members(object, names).ok()?;
    let text = whole.or(inside(object, outer, Some(path)).ok()?)?;
    let start = text.get().as_ptr().addr() - object.as_ptr().addr();
    let BorrowedText(meant) = serde_json::from_str(text.get()).ok()?;
    Some((start..start + text.get().len(), meant))
}

/// A string, copied only if it has escapes.
#[derive(serde::Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// The value at the end of `path`, whose first name stands for `outer`.
fn inside<'a>(
    line: &str,
    outer: Option<&'a RawValue>,
    path: Option<&FieldPath>,
) -> std::result::Result<Option<&'a RawValue>, Refusal> {
    let mut value = outer;
    for name in path.into_iter().flat_map(|path| &path.parts()[1..]) {
        let Some(object) = value.filter(|value| JsonKind::of(value) == JsonKind::Object) else {
            return Ok(None);
        };
        let taken = members(object.get(), [Some(name)]);
        [value] = taken.map_err(|error| not_json(line, object.get(), &error))?;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::bytes::RecordRoom;
    use crate::read::input::MissingText;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).expect("a path")
    }

    /// What stands at a path, asked for as id, text and value at once.
    fn text_of<'a>(text: &str, json: &'a str) -> Option<&'a str> {
        let fields = Fields {
            id: path(text),
            text: path(text),
            missing_text: MissingText::Reject,
            main_text: false,
            strip_quotes: false,
            line_ids: false,
            value: Some(path(text)),
            within: Some(path(text)),
            date: Some(path(text)),
            observed: vec![path(text)],
            op: None,
            without_ids: false,
            max_record_bytes: 1000,
            room: RecordRoom::default(),
        };
        let found = find(&fields, json, Some(&mut String::new())).expect("JSON");
        let text = match found.text {
            Some(JsonText::Raw(text)) => Some(text.get()),
            None => None,
            other => panic!("one value as text and as id: {other:?}"),
        };
        let others = [found.id, found.value, found.within, found.date, found.observed[0]];
        assert_eq!(others.map(|found| found.map(RawValue::get)), [text; 5]);
        text
    }

    #[test]
    fn follows_paths() {
        assert_eq!(text_of("a", r#"{"b": 1, "a": "x"}"#), Some(r#""x""#));
        assert_eq!(text_of("a.b", r#"{"a": {"c": 1, "b": "x"}, "b": "y"}"#), Some(r#""x""#));
        assert_eq!(text_of("a.b", r#"{"a": {"b": "x"}, "a.b": "y"}"#), Some(r#""y""#));
        assert_eq!(text_of("a.b", r#"{"a.b": "y", "a": {"b": "x"}}"#), Some(r#""y""#));
        assert_eq!(text_of("a.b.c", r#"{"a": {"b.c": "y", "b": {"c": {"c": 1}}}}"#), Some(r#"{"c": 1}"#));
        assert_eq!(text_of("a.b", r#"{"a": [{"b": "x"}]}"#), None);
        assert_eq!(text_of("a", "{}"), None);
        assert_eq!(text_of("text", r#"{"te\u0078t": "x"}"#), Some(r#""x""#));
    }

    #[test]
    fn a_text_is_found_where_it_stands() {
        let found = |json, at| {
            let found = text_member(json, &path(at));
            found.map(|(range, text)| (json[range].to_owned(), text.into_owned()))
        };
        let some = |raw: &str, text: &str| Some((raw.to_owned(), text.to_owned()));
        assert_eq!(found(r#"{"t": "a\n\u00e9" }"#, "t"), some(r#""a\n\u00e9""#, "a\n\u{e9}"));
        assert_eq!(found(r#"{"t":"x","t":"y"}"#, "t"), some("\"y\"", "y"));
        assert_eq!(found(r#"{"m":{"t":"x"},"t":"y"}"#, "m.t"), some("\"x\"", "x"));
        assert_eq!(found(r#"{"m":{"t":"x"},"m.t":"y"}"#, "m.t"), some("\"y\"", "y"));
        for none in [r#"{"t":1}"#, "{}", "[]", r#"{"t":"x""#, ""] {
            assert_eq!(found(none, "t"), None, "{none}");
        }
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(text_of("a", r#"{"a": 1, "a": 2}"#), Some("2"));
        assert_eq!(text_of("a.b", r#"{"a": {"b": 1}, "a": {"b": 2}}"#), Some("2"));
        assert_eq!(text_of("a.b", r#"{"a": {"b": 1}, "a": {"c": 2}}"#), None);
        assert_eq!(text_of("a.b", r#"{"a": {"b": 1}, "a": 3}"#), None);
        assert_eq!(text_of("a.b.c", r#"{"a": {"b": {"c": 1}, "b": 2}}"#), None);
    }

    #[test]
    fn takes_an_object_and_what_is_inside_it() {
        let fields = Fields {
            id: path("m.id"),
            text: path("m.t.x"),
            missing_text: MissingText::Reject,
            main_text: false,
            strip_quotes: false,
            line_ids: false,
            within: None,
            value: Some(path("m")),
            date: None,
            observed: Vec::new(),
            op: None,
            without_ids: false,
            max_record_bytes: 1000,
            room: RecordRoom::default(),
        };
        let json = r#"{"m": {"t": {"x": "T"}, "id": 7}, "z": []}"#;
        let found = find(&fields, json, Some(&mut String::new())).expect("JSON");
        assert!(matches!(found.text, Some(JsonText::Raw(text)) if text.get() == r#""T""#));
        assert_eq!(found.id.map(RawValue::get), Some("7"));
        assert_eq!(found.value.map(RawValue::get), Some(r#"{"t": {"x": "T"}, "id": 7}"#));
    }

    #[test]
    fn depth_costs_no_stack() {
        let depth = 2000;
        let json = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert_eq!(text_of(&vec!["a"; depth].join("."), &json), Some("1"));
    }
}
