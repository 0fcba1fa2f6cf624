//! Objects of JSON with a member more, or less, or another.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The name of the member.
const MEMBER: &str = "alike";

/// Appends an object with the member `alike` behind all others. One that it has goes; all else stays as it is written.
pub(super) fn annotated(object: &[u8], note: &[u8], out: &mut Vec<u8>) {
    let object = without_member(object);
    let end = object.iter().rposition(|byte| *byte == b'}').unwrap_or(object.len());
    let members = object[..end].trim_ascii_end();
    out.extend_from_slice(members);
    if !members.ends_with(b"{") {
        out.push(b',');
    }
    out.extend_from_slice(format!("\"{MEMBER}\":").as_bytes());
    out.extend_from_slice(note);
    out.push(b'}');
}

/// An object without the member `alike`; all else stays as it is written.
pub(super) fn without_member(object: &[u8]) -> Cow<'_, [u8]> {
    // Each letter of the name may be spelt as a number that begins so.
    let seen = memmem::find(object, MEMBER.as_bytes()).or_else(|| memmem::find(object, b"\\u006"));
    let members = seen.and_then(|_| serde_json::from_slice::<ObjectMembers<'_>>(object).ok());
    match members {
        Some(ObjectMembers(members)) if members.iter().any(|(name, _)| name == MEMBER) => {
            Cow::Owned(others(object, &members))
        }
        _ => Cow::Borrowed(object),
    }
}

/// The members that rows begin with which `--to parquet` wrote, the last one being the record that a row is of.
const ROW: [&str; 5] = ["id", "text", "file", "line", "record"];

/// Of a row that `--to parquet` wrote, whose text was `before` and of which `left` is left: the row with the record in it cut
/// likewise. Where that text is no member of the record, what the record still holds of it is not known, and null stands in
/// its place. `None` of any other object.
pub(super) fn with_record_cut(object: &[u8], before: &str, left: &str) -> Option<Vec<u8>> {
    memmem::find(object, b"\"record\"")?;
    let ObjectMembers(members) = serde_json::from_slice(object).ok()?;
    if !members.iter().take(ROW.len()).map(|(name, _)| name.as_str()).eq(ROW) {
        return None;
    }
    let value = members[ROW.len() - 1].1.get();
    let record: String = serde_json::from_str(value).ok()?;
    let ObjectMembers(fields) = serde_json::from_str(&record).ok()?;
    let is_text = |value: &RawValue| serde_json::from_str::<String>(value.get()).is_ok_and(|is| is == before);
    let texts = || fields.iter().filter(|(_, value)| is_text(value));
    let text = texts().find(|(name, _)| name == "text").or_else(|| texts().next());
    let cut = match text {
        Some((_, text)) => {
            let cut = spliced(record.as_bytes(), text.get(), &serde_json::to_vec(left).ok()?);
            serde_json::to_vec(str::from_utf8(&cut).ok()?).ok()?
        }
        None => b"null".to_vec(),
    };
    Some(spliced(object, value, &cut))
}

/// `whole` with something else in the place of `part`, which is a part of it.
fn spliced(whole: &[u8], part: &str, other: &[u8]) -> Vec<u8> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    [&whole[..start], other, &whole[start + part.len()..]].concat()
}

/// What is left of an object with these members.
fn others(object: &[u8], members: &[(String, &RawValue)]) -> Vec<u8> {
    let begin = object.iter().position(|byte| *byte == b'{').map_or(0, |at| at + 1);
    let (mut left, mut from, mut is_first) = (object[..begin].to_vec(), begin, true);
    for (at, (name, value)) in members.iter().enumerate() {
        let end = value.get().as_ptr().addr() + value.get().len() - object.as_ptr().addr();
        // With the comma before it, if it is not the first one.
        let member = &object[from..end];
        from = end;
        if name == MEMBER {
            continue;
        }
        let comma = member.iter().position(|byte| *byte == b',').filter(|_| is_first && at > 0);
        left.extend_from_slice(comma.map_or(member, |comma| member[comma + 1..].trim_ascii_start()));
        is_first = false;
    }
    left.extend_from_slice(&object[from..]);
    left
}

/// The members of an object in their order, values as they are written.
struct ObjectMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for ObjectMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;
        impl<'de> Visitor<'de> for MemberVisitor {
            type Value = ObjectMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectMembers<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(ObjectMembers(members))
            }
        }
        deserializer.deserialize_map(MemberVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_added_and_all_else_stays_as_it_is() {
        for (object, expected) in [
            ("{}", "{\"alike\":1}"),
            (" { } ", " {\"alike\":1}"),
            ("{\"a\": 1.50 , \"b\":{}  }\r", "{\"a\": 1.50 , \"b\":{},\"alike\":1}"),
            ("{\"a\":\"alike }\"}", "{\"a\":\"alike }\",\"alike\":1}"),
            ("{\"a\":{\"alike\":2}}", "{\"a\":{\"alike\":2},\"alike\":1}"),
            ("{\"alike\": {\"x\": [1, 2]}, \"b\" : 1e3}", "{\"b\" : 1e3,\"alike\":1}"),
            (
                "{ \"a\" : 1 ,\"alike\": 2 , \"b\" : \"\\u0041\" }",
                "{ \"a\" : 1 , \"b\" : \"\\u0041\",\"alike\":1}",
            ),
            ("{\"a\\n\":0, \"\\u0061lik\\u0065\":0,\"alike\":1}", "{\"a\\n\":0,\"alike\":1}"),
        ] {
            let mut out = Vec::new();
            annotated(object.as_bytes(), b"1", &mut out);
            assert_eq!(String::from_utf8(out).expect("text"), expected, "{object}");
        }
    }

    #[test]
    fn a_record_within_a_row_is_cut_as_its_text_is() {
        let row = |record: &str| {
            let record = serde_json::to_string(record).expect("a string");
            format!(
                "{{\"id\":\"1\",\"text\":\"b\",\"file\":\"f\",\"line\":1,\"record\":{record},\"more\":0}}"
            )
        };
        let cut = |object: &str| {
            let cut = with_record_cut(object.as_bytes(), "a\u{e9} b", "b");
            cut.map(|cut| String::from_utf8(cut).expect("text"))
        };
        for (record, expected) in [
            (r#"{"n": 1.50,"text" : "a\u00e9 b" }"#, r#"{"n": 1.50,"text" : "b" }"#),
            ("{\"raw\":\"a\u{e9} b\",\"text\":\"a\u{e9} b\"}", "{\"raw\":\"a\u{e9} b\",\"text\":\"b\"}"),
            ("{\"body\":\"a\u{e9} b\",\"text\":0}", "{\"body\":\"b\",\"text\":0}"),
        ] {
            assert_eq!(cut(&row(record)), Some(row(expected)));
        }
        let nested = row("{\"m\":{\"text\":\"a\u{e9} b\"}}");
        let other: String = cut(&nested).expect("a row");
        assert!(other.ends_with("\"record\":null,\"more\":0}"), "{other}");
        for other in [
            "{\"record\":\"{}\"}".to_owned(),
            row("").replace("\"id\"", "\"name\""),
            row("no object"),
            "{\"text\":\"a\"}".to_owned(),
        ] {
            assert_eq!(cut(&other), None, "{other}");
        }
    }

    #[test]
    fn a_member_goes_and_all_else_stays_as_it_is() {
        for (object, expected) in [
            ("{\"a\": 1,  \"alike\" : {} }\r", "{\"a\": 1 }\r"),
            (" {\"alike\":1 , \"b\":  2}", " {\"b\":  2}"),
            ("{\"alike\":1}", "{}"),
            ("{\"alike\":1,\"alike\":2, \"c\":[\"alike\"]}", "{\"c\":[\"alike\"]}"),
            ("{ \"a\":\"alike\" }", "{ \"a\":\"alike\" }"),
        ] {
            assert_eq!(
                String::from_utf8(without_member(object.as_bytes()).into_owned()).expect("text"),
                expected
            );
        }
    }
}
