//! Fields of the records of documents, shown beside their ids.

use std::collections::{BTreeMap, BTreeSet};

use alike::collection::Snapshot;
use alike::error::{Error, Result};
use alike::progress::Progress;
use alike::read::FieldPath;
use serde_json::{Map, Value};

use crate::terminal::data::rows::cell;
use crate::terminal::stderr::warn;

/// Names of fields that are shown.
const SHOWN: usize = 20;
/// Most characters of a value in a table.
const LONGEST: usize = 60;

/// Fields, and their values by the ids of documents.
#[derive(Default)]
pub(super) struct MemberFields {
    names: Vec<String>,
    values: BTreeMap<String, Vec<Value>>,
}

impl MemberFields {
    /// Reads the fields of these documents. Warns of fields that none has, and of what cannot be read any more.
    pub(super) fn read(
        names: &[String],
        snapshot: &Snapshot,
        ids: &[String],
        progress: &Progress,
    ) -> Result<MemberFields> {
        let parsed = names.iter().map(|name| FieldPath::parse(name)).collect::<Result<Vec<_>>>();
        let paths = parsed.map_err(|error| Error::config(format!("--fields: {error}")))?;
        let (mut values, mut there) = (BTreeMap::new(), BTreeSet::new());
        let failures = snapshot.record_objects(ids, progress, &mut |number, object| {
            let object: Value = serde_json::from_slice(object).unwrap_or_default();
            let of = |path: &FieldPath| path.find_in(&object).cloned().unwrap_or_default();
            values.insert(ids[number].clone(), paths.iter().map(of).collect::<Vec<Value>>());
            for name in object.as_object().into_iter().flat_map(Map::keys) {
                if there.len() <= SHOWN && !there.contains(name) {
                    there.insert(name.clone());
                }
            }
            Ok(())
        })?;
        failures.iter().for_each(|why| warn(&format!("--fields: {why}")));
        for (at, name) in names.iter().enumerate() {
            if !values.is_empty() && values.values().all(|values: &Vec<Value>| values[at].is_null()) {
                warn(&format!("--fields {name}: no record has it; there are: {}", listed(&there)));
            }
        }
        Ok(MemberFields { names: names.to_vec(), values })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The cells of a document; those of a table are short.
    pub(super) fn cells(&self, id: &str, people: bool) -> Vec<Option<String>> {
        let Some(values) = self.values.get(id) else { return vec![None; self.names.len()] };
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) if people => cell(short(text)),
            Value::String(text) => cell(text),
            other if people => cell(short(&other.to_string())),
            other => cell(other),
        };
        values.iter().map(text).collect()
    }

    /// A document with its fields.
    pub(super) fn object(&self, id: &str) -> Value {
        let values = self.values.get(id);
        let value = |at: usize| values.map_or(Value::Null, |values| values[at].clone());
        let fields = self.names.iter().enumerate().map(|(at, name)| (name.clone(), value(at)));
        Value::Object([("id".to_owned(), Value::from(id))].into_iter().chain(fields).collect())
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    if names.len() > SHOWN {
        shown.push("and more");
    }
    shown.join(", ")
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_there_is_nothing() {
        let values = [("a".to_owned(), vec![json!("x".repeat(70)), json!(["y"])])].into();
        let fields = MemberFields { names: vec!["t".to_owned(), "u".to_owned()], values };
        assert_eq!(fields.cells("b", true), [None, None]);
        assert_eq!(fields.cells("a", true), [Some(format!("{}...", "x".repeat(60))), cell("[\"y\"]")]);
        assert_eq!(fields.cells("a", false)[0], cell("x".repeat(70)));
        assert_eq!(fields.object("b"), json!({"id": "b", "t": null, "u": null}));
    }
}
