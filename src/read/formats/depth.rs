//! How deep JSON is: the parser here passes over any depth, but hardly any other program reads such a record.

use crate::limits::MAX_JSON_DEPTH;
use crate::read::record::Refusal;

/// Refuses JSON whose objects and arrays are deeper within each other than allowed. `json` is JSON, as the parser has found.
pub(super) fn check_depth(json: &str) -> Result<(), Refusal> {
    match deeper_than(json, MAX_JSON_DEPTH) {
        None => Ok(()),
        Some(at) => Err(Refusal::NotJson(format!(
            "more than {MAX_JSON_DEPTH} objects and arrays within each other at byte {}",
            at + 1
        ))),
    }
}

/// Whether a value of an object is deeper than a value within one may be.
pub(super) fn is_deep(value: &str) -> bool {
    deeper_than(value, MAX_JSON_DEPTH - 1).is_some()
}

/// Where the first object or array begins that has so many around it.
fn deeper_than(json: &str, most: usize) -> Option<usize> {
    // Each of them begins and ends somewhere, and most lines are shorter than that, or have fewer.
    if json.len() <= 2 * most || openings(json) <= most {
        return None;
    }
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > most {
                    return Some(at);
                }
            }
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Brackets and braces that open, those in strings too. All bytes are looked at: that is faster than to stop at each.
fn openings(json: &str) -> usize {
    json.bytes().filter(|byte| byte | 0x20 == b'{').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// How deep a value is, by its parts.
    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or_default(),
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
            _ => 0,
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof!["[\\[\\]{}\"\\\\a]{0,6}".prop_map(Value::String), Just(Value::Null)];
        leaf.prop_recursive(8, 40, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::vec(("[{\"\\[]{0,2}", inner), 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn depth_is_that_of_the_parts(value in values(), most in 0usize..10) {
            let deep = depth(&value) > most;
            prop_assert_eq!(deeper_than(&value.to_string(), most).is_some(), deep, "{}", value);
        }
    }

    #[test]
    fn the_message_says_where() {
        let deep = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert_eq!(check_depth(&deep(MAX_JSON_DEPTH)), Ok(()));
        let Err(Refusal::NotJson(why)) = check_depth(&deep(MAX_JSON_DEPTH + 1)) else { panic!("no refusal") };
        assert!(why.ends_with(&format!("at byte {}", MAX_JSON_DEPTH + 5)), "{why}");
    }
}
