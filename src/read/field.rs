//! Which fields of a record are wanted, and finding them.

use std::borrow::Cow;

use super::json::{Kind, Scanner, Syntax, Token};
use super::unescape::unescape;
use crate::error::{Error, Result};

/// Where a field stands in a record: names joined by dots, outermost first.
/// A key at the top that is spelt like the whole path, dots included, is the field too and goes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    whole: String,
    parts: Vec<String>,
}

impl FieldPath {
    /// Parses `name` or `outer.inner`. An empty name is [`Error::Config`].
    pub fn parse(text: &str) -> Result<FieldPath> {
        let parts: Vec<String> = text.split('.').map(str::to_owned).collect();
        if parts.iter().any(String::is_empty) {
            return Err(Error::config(format!(
                "field {text:?}: expected a name, or names joined by single dots such as meta.id"
            )));
        }
        Ok(FieldPath { whole: text.to_owned(), parts })
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.whole
    }
}

/// What to take from each record.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The id.
    pub id: FieldPath,
    /// The text.
    pub text: FieldPath,
    /// A value to compare documents by, if one is wanted.
    pub value: Option<FieldPath>,
    /// Longest line or plain-text document accepted, in bytes.
    pub max_record_bytes: usize,
}

/// How many fields can be wanted, and which is which.
const WANTED: usize = 3;
pub(super) const ID: usize = 0;
pub(super) const TEXT: usize = 1;
pub(super) const VALUE: usize = 2;

/// The wanted values of one record, those found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Under the whole path as one key.
    whole: [Option<Token>; WANTED],
    /// Along the path.
    nested: [Option<Token>; WANTED],
}

impl Found {
    /// The token of a wanted field.
    pub(super) fn get(&self, wanted: usize) -> Option<Token> {
        self.whole[wanted].or(self.nested[wanted])
    }
}

/// Scans the object that `json` is, to its very end, and returns where the wanted fields stand.
/// Of a key that occurs twice the last one counts, and takes the place of all that was inside the first.
pub(super) fn find(fields: &Fields, json: &str) -> std::result::Result<Found, Syntax> {
    let paths = [Some(&fields.id), Some(&fields.text), fields.value.as_ref()];
    let mut walk = Walk { json, scanner: Scanner::new(json), paths, found: Found::default() };
    walk.object(0, [true; WANTED])?;
    walk.scanner.finish()?;
    Ok(walk.found)
}

/// The keys at the top of an object, in order; as far as it can be read.
pub(super) fn keys(json: &str) -> Vec<Cow<'_, str>> {
    let (mut scanner, mut keys) = (Scanner::new(json), Vec::new());
    let mut next = scanner.enter(0);
    while let Ok(true) = next {
        next = scanner.key().and_then(|token| {
            keys.push(name(json, token));
            scanner.value(1)?;
            scanner.more()
        });
    }
    keys
}

/// The text of a key. One that is no text (half a surrogate pair) equals no wanted name and is shown as it is.
fn name(json: &str, key: Token) -> Cow<'_, str> {
    let raw = &json[key.start..key.end];
    if key.kind == (Kind::Text { escaped: true }) {
        let mut name = String::new();
        if unescape(raw, &mut name).is_ok() {
            return Cow::Owned(name);
        }
    }
    Cow::Borrowed(raw)
}

struct Walk<'a> {
    json: &'a str,
    scanner: Scanner<'a>,
    paths: [Option<&'a FieldPath>; WANTED],
    found: Found,
}

impl Walk<'_> {
    /// Walks the object at the cursor, `level` names deep along the paths that are `active`.
    fn object(&mut self, level: usize, active: [bool; WANTED]) -> std::result::Result<(), Syntax> {
        let mut more = self.scanner.enter(level)?;
        while more {
            let key = self.scanner.key()?;
            self.member(key, level, active)?;
            more = self.scanner.more()?;
        }
        Ok(())
    }

    /// Takes or passes over the value of one key.
    fn member(
        &mut self,
        key: Token,
        level: usize,
        active: [bool; WANTED],
    ) -> std::result::Result<(), Syntax> {
        let name = name(self.json, key);
        let (mut whole, mut here, mut below) = ([false; WANTED], [false; WANTED], [false; WANTED]);
        for (wanted, path) in self.paths.iter().enumerate() {
            let Some(path) = path.filter(|_| active[wanted]) else { continue };
            whole[wanted] = level == 0 && path.whole == *name;
            if path.parts.get(level).is_some_and(|part| *part == *name) {
                here[wanted] = level + 1 == path.parts.len();
                below[wanted] = !here[wanted];
                // What an earlier key of this name held is void.
                self.found.nested[wanted] = None;
            }
        }
        let token = if below.contains(&true) && self.scanner.peek() == Some(b'{') {
            let start = self.scanner.at();
            self.object(level + 1, below)?;
            Token { kind: Kind::Object, start, end: self.scanner.at() }
        } else {
            self.scanner.value(level + 1)?
        };
        for wanted in 0..WANTED {
            if whole[wanted] {
                self.found.whole[wanted] = Some(token);
            }
            if here[wanted] {
                self.found.nested[wanted] = Some(token);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of<'a>(path: &str, json: &'a str) -> Option<&'a str> {
        let path = FieldPath::parse(path).expect("a path");
        let fields = Fields { id: path.clone(), text: path, value: None, max_record_bytes: 1000 };
        let found = find(&fields, json).expect("JSON");
        assert_eq!(found.get(ID), found.get(TEXT));
        found.get(TEXT).map(|token| &json[token.start..token.end])
    }

    #[test]
    fn follows_paths() {
        assert_eq!(text_of("a", r#"{"b": 1, "a": "x"}"#), Some("x"));
        assert_eq!(text_of("a.b", r#"{"a": {"c": 1, "b": "x"}, "b": "y"}"#), Some("x"));
        assert_eq!(text_of("a.b", r#"{"a": {"b": "x"}, "a.b": "y"}"#), Some("y"));
        assert_eq!(text_of("a.b", r#"{"a.b": "y", "a": {"b": "x"}}"#), Some("y"));
        assert_eq!(text_of("a.b.c", r#"{"a": {"b.c": "y", "b": {"c": {"c": 1}}}}"#), Some(r#"{"c": 1}"#));
        assert_eq!(text_of("a.b", r#"{"a": [{"b": "x"}]}"#), None);
        assert_eq!(text_of("a", "{}"), None);
        assert_eq!(text_of("text", r#"{"te\u0078t": "x"}"#), Some("x"));
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
        let path = |text| FieldPath::parse(text).expect("a path");
        let fields =
            Fields { id: path("m.id"), text: path("m.t.x"), value: Some(path("m")), max_record_bytes: 1000 };
        let json = r#"{"m": {"t": {"x": "T"}, "id": 7}, "z": []}"#;
        let found = find(&fields, json).expect("JSON");
        let of = |wanted| found.get(wanted).map(|token| &json[token.start..token.end]);
        assert_eq!((of(ID), of(TEXT)), (Some("7"), Some("T")));
        assert_eq!(of(VALUE), Some(r#"{"t": {"x": "T"}, "id": 7}"#));
    }

    #[test]
    fn depth_is_bounded_along_a_path_too() {
        let deep = vec!["a"; 400].join(".");
        let json = "{\"a\":".repeat(400) + "1" + &"}".repeat(400);
        let path = FieldPath::parse(&deep).expect("a path");
        let fields = Fields { id: path.clone(), text: path, value: None, max_record_bytes: 1000 };
        assert!(find(&fields, &json).is_err());
    }

    #[test]
    fn refuses_empty_names() {
        for wrong in ["", ".", "a.", ".a", "a..b"] {
            assert!(matches!(FieldPath::parse(wrong), Err(Error::Config(_))), "{wrong}");
        }
    }

    #[test]
    fn lists_keys() {
        assert_eq!(keys(r#"{"a": {"b": 1}, "c\u0064": 2, "\ud800": 3}"#), ["a", "cd", "\\ud800"]);
        assert!(keys("[]").is_empty());
    }
}
