//! JSON by `serde_json`: the members wanted of an object, and what strings mean.

use std::fmt;

use memchr::memchr;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::read::record::Refusal;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKind {
    Text,
    Number,
    Bool,
    Null,
    Array,
    Object,
}

impl JsonKind {
    /// The kind of a value, which its first byte tells.
    pub(super) fn of(value: &RawValue) -> JsonKind {
        match value.get().as_bytes().first() {
            Some(b'"') => JsonKind::Text,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'n') => JsonKind::Null,
            Some(b'[') => JsonKind::Array,
            Some(b'{') => JsonKind::Object,
            _ => JsonKind::Number,
        }
    }

    /// The kind as people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            JsonKind::Text => "a string",
            JsonKind::Number => "a number",
            JsonKind::Bool => "true or false",
            JsonKind::Null => "null",
            JsonKind::Array => "an array",
            JsonKind::Object => "an object",
        }
    }
}

/// A text that was found.
#[derive(Clone, Copy, Debug)]
pub(super) enum JsonText<'a> {
    /// It stands in the line as it is.
    Borrowed(&'a str),
    /// It had escapes, and was copied to where the caller wanted it.
    Copied,
    /// Any value, not looked at yet.
    Raw(&'a RawValue),
}

/// Takes the members `names` of the object that all of `json` is, as they stand there: of equal keys the last one. Nothing is
/// copied, and the rest is passed over.
pub(super) fn members<'a, const N: usize>(
    json: &'a str,
    names: [Option<&str>; N],
) -> serde_json::Result<[Option<&'a RawValue>; N]> {
    let mut parser = serde_json::Deserializer::from_str(json);
    let taken = parser.deserialize_map(MembersSeed(&names))?;
    parser.end().map(|()| taken)
}

/// The first `most` keys of the object `json`, and how many more it has.
pub(super) fn keys(json: &str, most: usize) -> (Vec<String>, usize) {
    // Who asks has parsed the object before, so there is no error.
    serde_json::Deserializer::from_str(json).deserialize_map(MemberKeys(most)).unwrap_or_default()
}

/// What the string `raw`, a part of `line`, means: borrowed, or copied without its escapes.
pub(super) fn string<'a>(line: &str, raw: &'a RawValue, copy: &'a mut String) -> Result<&'a str, Refusal> {
    match Characters(copy).deserialize(&mut serde_json::Deserializer::from_str(raw.get())) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Ok(copy),
        Err(error) => Err(not_json(line, raw.get(), &error)),
    }
}

/// The same for a long string, which the parser would hold twice: it is copied piece by piece.
pub(super) fn long_string<'a>(
    line: &str,
    raw: &'a RawValue,
    copy: &'a mut String,
) -> Result<&'a str, Refusal> {
    let quoted = raw.get();
    let Some(mut rest) = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return string(line, raw, copy);
    };
    copy.clear();
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        let (plain, behind) = rest.split_at(at);
        let (escapes, behind) = behind.split_at(escapes(behind.as_bytes()));
        let Ok(meant) = serde_json::from_str::<String>(&format!("\"{escapes}\"")) else {
            // The parser says what is wrong with it, and where.
            return string(line, raw, copy);
        };
        copy.push_str(plain);
        copy.push_str(&meant);
        rest = behind;
    }
    copy.push_str(rest);
    Ok(copy)
}

/// Escapes that are looked at together, give or take one.
const TOGETHER: usize = 512;

/// Bytes of the escapes with which some of a string begins; a pair of surrogates is not divided.
fn escapes(bytes: &[u8]) -> usize {
    let (mut length, mut count) = (0, 0);
    while let [b'\\', kind, behind @ ..] = &bytes[length..] {
        let first_of_two = matches!(behind, [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..]);
        length = (length + if *kind == b'u' { 6 } else { 2 }).min(bytes.len());
        count += 1;
        if count >= TOGETHER && !(*kind == b'u' && first_of_two) {
            break;
        }
    }
    length
}

/// The refusal for an error in `part` of `line`.
pub(super) fn not_json(line: &str, part: &str, error: &serde_json::Error) -> Refusal {
    let shown = error.to_string();
    let what = shown.rsplit_once(" at line ").map_or(&*shown, |(what, _)| what);
    let before = part.as_ptr().addr() - line.as_ptr().addr();
    let rest = part.as_bytes().get(error.column().saturating_sub(1)..).unwrap_or_default();
    let what = match NO_NUMBERS.into_iter().find(|word| rest.starts_with(word.as_bytes())) {
        Some(word) => format!("{word}, which is no number there (write null)"),
        None if what == BROKEN_ESCAPE => format!("{what}, or half of a surrogate pair alone"),
        None => what.to_owned(),
    };
    Refusal::NotJson(format!("{what} at byte {}", before + error.column()))
}

/// What the parser says of an escape that no other half follows, as of one without all digits.
const BROKEN_ESCAPE: &str = "unexpected end of hex escape";

/// What Python writes for numbers that JSON does not have.
const NO_NUMBERS: [&str; 2] = ["NaN", "Infinity"];

/// Why a line that does not begin like an object is none.
pub(super) fn no_object(line: &str) -> Refusal {
    match serde_json::from_str::<IgnoredAny>(line) {
        Ok(_) => Refusal::NotAnObject,
        Err(_) if line.trim_ascii_start().starts_with('<') => Refusal::NotJson(
            "a line begins with <, as those of HTML do; --input-format html reads it so".to_owned(),
        ),
        Err(error) if error.column() == 1 => {
            let other = "a table or a text is read with --input-format csv, tsv or text";
            Refusal::NotJson(format!("no object begins here; {other}"))
        }
        Err(error) => not_json(line, line, &error),
    }
}

struct MembersSeed<'n, const N: usize>(&'n [Option<&'n str>; N]);

impl<'de, const N: usize> Visitor<'de> for MembersSeed<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut taken = [None; N];
        while let Some(wanted) = map.next_key_seed(MemberKey(self.0))? {
            if wanted.contains(&true) {
                let value = map.next_value()?;
                for (place, _) in taken.iter_mut().zip(wanted).filter(|(_, wanted)| *wanted) {
                    *place = Some(value);
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(taken)
    }
}

/// Compares a key with names.
struct MemberKey<'n, const N: usize>(&'n [Option<&'n str>; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for MemberKey<'_, N> {
    type Value = [bool; N];

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<const N: usize> Visitor<'_> for MemberKey<'_, N> {
    type Value = [bool; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.map(|name| name == Some(key)))
    }
}

/// Reads a string: borrows it, or copies it without its escapes to where there is room already.
struct Characters<'s>(&'s mut String);

impl<'de> DeserializeSeed<'de> for Characters<'_> {
    type Value = Option<&'de str>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Characters<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(text))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.0.clear();
        self.0.push_str(text);
        Ok(None)
    }
}

/// Takes so many keys and counts the others.
struct MemberKeys(usize);

impl<'de> Visitor<'de> for MemberKeys {
    type Value = (Vec<String>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut keys, mut more) = (Vec::new(), 0);
        while keys.len() < self.0
            && let Some((key, _)) = map.next_entry::<_, IgnoredAny>()?
        {
            keys.push(key);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            more += 1;
        }
        Ok((keys, more))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Whether `members` takes the same objects as the parser alone, and finds the same in them.
    fn agrees(json: &str) {
        let name = Some("text");
        let taken = members(json, [name, None, name]);
        let theirs = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(json);
        assert_eq!(taken.is_ok(), theirs.is_ok(), "{json:?}: {taken:?} {theirs:?}");
        let Ok(theirs) = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(json) else { return };
        let meant = |raw: &RawValue| serde_json::from_str(raw.get()).expect("a value");
        let [one, none, same] = taken.expect("an object").map(|value| value.map(meant));
        let text = theirs.get("text");
        assert_eq!((one.as_ref(), none, same.as_ref()), (text, None, text), "{json:?}");
    }

    const SAMPLES: [&str; 5] = [
        r#"{"id": "a", "text": "x \"y\" \\ \u00e9 \ud83d\ude00", "n": [1, -0.5e+10, {"a": {}}], "t": true}"#,
        r#" {"text": [ [], {}, [[]], null, false, 0, -1, 1E5, "" ], "text": "twice"} "#,
        r#"{"a":{"text":[{"c":null}]},"te\u0078t":12345678901234567890123}"#,
        "{\"text\": \"012345678901234567890123456789 0123456789\"}\r",
        "{\"a\":1,}",
    ];

    #[test]
    fn every_truncation_is_refused_like_by_the_parser_alone() {
        for json in SAMPLES {
            for cut in (0..=json.len()).filter(|&cut| json.is_char_boundary(cut)) {
                agrees(&json[..cut]);
            }
        }
    }

    proptest! {
        #[test]
        fn damage_is_refused_like_by_the_parser_alone(
            sample in 0..SAMPLES.len(), place in 0usize..200, with in "[\\[\\]{}\",:\\\\0-9eE.u \tntf\u{1}-]{0,3}",
        ) {
            let json = SAMPLES[sample];
            let place = place % json.len();
            agrees(&format!("{}{with}{}", &json[..place], &json[place + 1..]));
            agrees(&format!("{}{with}{}", &json[..place], &json[place..]));
        }
    }

    proptest! {
        #[test]
        fn long_strings_mean_what_short_ones_do(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-z \u{e9}\u{4e2d}]{0,9}".boxed(),
                    prop::sample::select(vec![
                        "\\n", "\\\\", "\\\"", "\\/", "\\u00e9", "\\u4e2d", "\\ud83d\\ude00", "\\ud83d", "\\uDE00",
                    ]).prop_map(str::to_owned).boxed(),
                ], 0..40),
            times in 1usize..60,
        ) {
            let json = format!("\"{}\"", parts.concat().repeat(times));
            let raw: &RawValue = serde_json::from_str(&json).expect("a string");
            let (mut one, mut other) = (String::new(), "before".to_owned());
            prop_assert_eq!(long_string(&json, raw, &mut other), string(&json, raw, &mut one));
        }
    }

    #[test]
    fn lists_keys() {
        let json = r#"{"a": {"b": 1}, "c\u0064": 2, "a": 3, "e": 4}"#;
        assert_eq!(keys(json, 3), (["a", "cd", "a"].map(str::to_owned).to_vec(), 1));
        assert_eq!(keys(json, 4).1, 0);
        assert_eq!(keys("{}", 4), (Vec::new(), 0));
    }

    #[test]
    fn errors_tell_the_byte_in_the_line() {
        let line = r#"{"a": {"\ud800": 1}}"#;
        let error = members(&line[6..19], [Some("b")]).expect_err("half a pair");
        let Refusal::NotJson(why) = not_json(line, &line[6..19], &error) else { panic!("another refusal") };
        assert_eq!(why, "unexpected end of hex escape, or half of a surrogate pair alone at byte 15");
        assert_eq!(no_object("[1] x"), Refusal::NotJson("trailing characters at byte 5".into()));
        for (line, says) in [(" <p>text", "--input-format html"), ("id,text", "--input-format csv")] {
            let Refusal::NotJson(why) = no_object(line) else { panic!("another refusal") };
            assert!(why.contains(says), "{line}: {why}");
        }
        for (list, byte) in [("[NaN]", 2), ("[Infinity]", 2), ("[-Infinity]", 3)] {
            let Refusal::NotJson(why) = no_object(list) else { panic!("another refusal") };
            let word = list.trim_matches(['[', ']', '-']);
            assert_eq!(why, format!("{word}, which is no number there (write null) at byte {byte}"));
        }
    }
}
