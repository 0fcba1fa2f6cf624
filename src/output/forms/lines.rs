//! Objects of JSON, with a member more.

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
