//! The fast path of JSON: an object of the usual form, whose text is searched for escapes with vector instructions.
//!
//! Whatever it does not know, and whatever is wrong, it leaves to the parser: that one accepts or refuses, and says why.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::depth::is_deep;
use super::object::JsonText;
use super::plain::plain_length;

/// The members taken of an object: of equal keys the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenMembers<'a, const N: usize> {
    /// The values of the names, as they stand in the line.
    pub(super) values: [Option<&'a RawValue>; N],
    /// The first name's value, if it was read at once.
    pub(super) text: Option<JsonText<'a>>,
}

/// Takes the members `names` of the object that all of `json` is, as [`super::object::members`] does, but the first value is read at
/// once: a text with escapes is copied to `copy`. `None` where a key has escapes or that value is no string.
pub(super) fn usual_members<'a, const N: usize>(
    json: &'a str,
    names: &[Option<&str>; N],
    copy: &mut String,
) -> Option<TakenMembers<'a, N>> {
    let mut taken = TakenMembers { values: [None; N], text: None };
    let mut rest = behind_blank(after(behind_blank(json), b'{')?);
    loop {
        let (key, behind) = key(rest)?;
        rest = behind_blank(after(behind_blank(behind), b':')?);
        let wanted = |name: &Option<&str>| *name == Some(key);
        match names.iter().filter(|name| wanted(name)).count() {
            0 => rest = value::<IgnoredAny>(rest)?.1,
            1 if wanted(&names[0]) => {
                let (text, behind) = text(after(rest, b'"')?, copy)?;
                (taken.text, rest) = (Some(text), behind);
            }
            _ => {
                let (found, behind) = value::<&RawValue>(rest)?;
                for (place, _) in taken.values.iter_mut().zip(names).filter(|(_, name)| wanted(name)) {
                    *place = Some(found);
                }
                rest = behind;
            }
        }
        rest = behind_blank(rest);
        match after(rest, b',') {
            Some(next) => rest = behind_blank(next),
            None => return behind_blank(after(rest, b'}')?).is_empty().then_some(taken),
        }
    }
}

/// Behind what JSON takes for blanks.
fn behind_blank(json: &str) -> &str {
    let blanks = json.bytes().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')).count();
    &json[blanks..]
}

/// Behind a byte of ASCII, if `json` begins with it; `str::strip_prefix` calls a function to compare it.
fn after(json: &str, ascii: u8) -> Option<&str> {
    (json.as_bytes().first() == Some(&ascii)).then(|| &json[1..])
}

/// The key with which `json` begins, and what follows it.
fn key(json: &str) -> Option<(&str, &str)> {
    let quoted = after(json, b'"')?;
    let (key, behind) = quoted.split_at(plain_length(quoted.as_bytes()));
    Some((key, after(behind, b'"')?))
}

/// The value with which `json` begins, as the parser reads it, and what follows it. The parser passes over any depth.
fn value<'a, T: Deserialize<'a>>(json: &'a str) -> Option<(T, &'a str)> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<T>();
    let value = values.next()?.ok()?;
    let (spelt, behind) = json.split_at(values.byte_offset());
    (!is_deep(spelt)).then_some((value, behind))
}

/// The string that `json` begins with, behind its first quote, and what follows it. If it has escapes, it is copied without them.
fn text<'a>(json: &'a str, copy: &mut String) -> Option<(JsonText<'a>, &'a str)> {
    let bytes = json.as_bytes();
    let mut at = plain_length(bytes);
    if bytes.get(at) == Some(&b'"') {
        return Some((JsonText::Borrowed(&json[..at]), &json[at + 1..]));
    }
    copy.clear();
    let mut start = 0;
    loop {
        copy.push_str(&json[start..at]);
        match bytes.get(at)? {
            b'"' => return Some((JsonText::Copied, &json[at + 1..])),
            b'\\' => start = at + unescape(&bytes[at..], copy)?,
            // A control character, which JSON wants escaped.
            _ => return None,
        }
        at = start + plain_length(&bytes[start..]);
    }
}

/// Appends what the escape means with which `bytes` begin, and gives its length.
fn unescape(bytes: &[u8], copy: &mut String) -> Option<usize> {
    let meant = match bytes.get(1)? {
        same @ (b'"' | b'\\' | b'/') => char::from(*same),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unescape_unicode(bytes, copy),
        _ => return None,
    };
    copy.push(meant);
    Some(2)
}

/// The same for four hexadecimal digits, or twice four that are one character (RFC 8259, section 7).
fn unescape_unicode(bytes: &[u8], copy: &mut String) -> Option<usize> {
    let unit = code_unit(bytes)?;
    let (code, length) = match unit {
        0xd800..=0xdbff => {
            let second = code_unit(bytes.get(6..)?).filter(|second| (0xdc00..=0xdfff).contains(second))?;
            (0x1_0000 + ((unit - 0xd800) << 10 | (second - 0xdc00)), 12)
        }
        _ => (unit, 6),
    };
    copy.push(char::from_u32(code)?);
    Some(length)
}

/// The UTF-16 code unit that `bytes` begin with, as an escape.
fn code_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::formats::object::{JsonKind, members, string};

    /// The text and the id of an object, as it is said to be, by the way that the parser reads it.
    type Read = Option<(Option<String>, Option<String>)>;

    const NAMES: [Option<&str>; 2] = [Some("text"), Some("id")];

    /// By the fast path; `None` if it does not take the object.
    fn read_fast(json: &str) -> Read {
        let mut copy = "of the record before".to_owned();
        let TakenMembers { values: [none, id], text } = usual_members(json, &NAMES, &mut copy)?;
        assert!(none.is_none(), "{json:?}");
        let text = text.map(|text| match text {
            JsonText::Borrowed(text) => text.to_owned(),
            JsonText::Copied => copy,
            JsonText::Raw(raw) => panic!("a text that nobody read: {raw}"),
        });
        Some((text, id.map(|id| id.get().to_owned())))
    }

    /// By the parser; `None` if it is no object, or its text no string.
    fn read_slowly(json: &str) -> Read {
        let [text, id] = members(json, NAMES).ok()?;
        let text = match text {
            Some(raw) if JsonKind::of(raw) != JsonKind::Text => return None,
            Some(raw) => Some(string(json, raw, &mut String::new()).ok()?.to_owned()),
            None => None,
        };
        Some((text, id.map(|id| id.get().to_owned())))
    }

    /// Whether the fast path takes nothing that the parser refuses, and finds the same in what it takes.
    fn agrees(json: &str) {
        let fast = read_fast(json);
        assert!(fast.is_none() || fast == read_slowly(json), "{json:?}: {fast:?} {:?}", read_slowly(json));
    }

    #[test]
    fn objects_of_the_usual_form_are_taken() {
        for json in [
            r#"{"text": "a", "id": 1}"#,
            r#" { "id" : "\u00e9" , "text" : "\n\t\r\b\f\/\\\"\u00e9\ud83d\ude00" } "#,
            r#"{"x": {"text": [{}]}, "y": [1, null, true, -1.5e3], "text": "", "id": null}"#,
            r#"{"text": "a", "text": "\n", "id": 1, "id": {"a": 2}}"#,
            "{\"x\":1}\r",
        ] {
            assert_eq!(read_fast(json), read_slowly(json), "{json:?}");
            assert!(read_fast(json).is_some(), "{json:?}");
        }
        // Not taken, and not refused for that.
        for json in ["{}", r#"{"te\u0078t": "a"}"#, r#"{"text": null}"#, r#"{"text": 1, "text": "a"}"#] {
            assert_eq!(read_fast(json), None, "{json:?}");
            assert!(members(json, NAMES).is_ok(), "{json:?}");
        }
    }

    #[test]
    fn what_is_no_json_is_not_taken() {
        for json in [
            "",
            "{",
            r#"{"text": "a""#,
            r#"{"text": "a"} x"#,
            r#"{"text": "a",}"#,
            r#"{"text" "a"}"#,
            r#"{"text": "\x"}"#,
            r#"{"text": "\u00g0"}"#,
            r#"{"text": "\u+0e9"}"#,
            r#"{"text": "\ud800"}"#,
            r#"{"text": "\udc00"}"#,
            r#"{"text": "\ud800\ud800"}"#,
            r#"{"text": "\ud800x"}"#,
            r#"{"text": "\"#,
            r#"{"text": "a", "id": 01}"#,
            "{\"text\": \"a\nb\"}",
            "{\"text\": \"a\u{1f}\\n\"}",
            "{\"te\u{1}xt\": \"a\"}",
            "\u{b}{\"text\": \"a\"}",
        ] {
            assert_eq!(read_fast(json), None, "{json:?}");
            assert_eq!(read_slowly(json), None, "{json:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_mean_what_the_parser_says(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-z \u{e9}\u{4e2d}\u{1f600}]{0,40}".boxed(),
                    prop::sample::select(vec![
                        "\\n", "\\\\", "\\\"", "\\/", "\\b", "\\f", "\\u00e9", "\\u4E2d", "\\ud83d\\ude00", "\\ud83d",
                        "\\uDE00", "\\u0000", "\\u12", "\\x", "\"", "\u{1}",
                    ]).prop_map(str::to_owned).boxed(),
                ], 0..8),
        ) {
            agrees(&format!("{{\"text\": \"{}\", \"id\": 1}}", parts.concat()));
        }

        #[test]
        fn any_text_is_read_back(text in any::<String>(), id in any::<String>()) {
            let json = serde_json::json!({"id": id, "text": text}).to_string();
            let read = read_fast(&json).expect("taken");
            prop_assert_eq!(read.0, Some(text));
            prop_assert_eq!(read_slowly(&json).expect("an object").1, read.1);
        }

        #[test]
        fn damage_is_never_taken_for_something_else(
            place in 0usize..200, with in "[\\[\\]{}\",:\\\\0-9eE.u \tntf\u{1}-]{0,3}", insert in any::<bool>(),
        ) {
            for json in [
                r#"{"id": "a", "text": "x \"y\" \\ \u00e9 \ud83d\ude00", "n": [1, -0.5e+10, {"a": {}}], "t": true}"#,
                r#" {"id": 7, "m": {"text": [[], {}, null]} , "text": "once", "text": "twice"} "#,
            ] {
                let place = place % json.len();
                agrees(&format!("{}{with}{}", &json[..place], &json[place + usize::from(!insert)..]));
                agrees(&json[..place]);
            }
        }
    }
}
