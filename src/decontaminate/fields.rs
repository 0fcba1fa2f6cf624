//! Texts of items in objects of JSON.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::read::FieldPath;

/// Which fields of items are texts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ItemFields {
    /// Path of the id.
    pub id: String,
    /// Paths of the texts.
    pub texts: Vec<String>,
    /// Whether all texts of an item are one, in the order of the paths.
    pub join: bool,
}

impl ItemFields {
    /// Refuses fields that are none, or named twice.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        let named = |error: Error| Error::config(format!("--benchmark-fields: {error}"));
        self.paths().map_err(named)?;
        FieldPath::parse(&self.id)
            .map_err(|error| Error::config(format!("--benchmark-id-field: {error}")))?;
        let twice = |(at, path): &(usize, &String)| self.texts[..*at].contains(path);
        match self.texts.iter().enumerate().find(twice) {
            Some((_, path)) => {
                Err(Error::config(format!("--benchmark-fields: {path} is named twice; name it once")))
            }
            None => Ok(()),
        }
    }

    /// What a text of an item is called: its field, or all of them where they are one.
    pub(super) fn name(&self, field: usize) -> String {
        if self.join { self.texts.join("+") } else { self.texts[field].clone() }
    }

    pub(super) fn paths(&self) -> Result<Vec<FieldPath>> {
        self.texts.iter().map(|path| FieldPath::parse(path)).collect()
    }
}

/// The text of a field: a string, a number, or all strings and numbers of a list, each in a line.
pub(super) fn text_of(object: &Value, path: &FieldPath) -> Option<String> {
    let mut lines = Vec::new();
    gather(path.find_in(object)?, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The id of an item: a string or a number.
pub(super) fn id_of(object: &Value, path: &FieldPath) -> Option<String> {
    match path.find_in(object)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The names of an object's fields.
pub(super) fn names(object: &Value) -> Vec<String> {
    object.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
}

/// The paths of an object's fields; of a field that is an object itself those of its fields.
pub(super) fn field_paths(object: &Value) -> Vec<String> {
    let paths = |name: String| match names(&object[&*name]) {
        inner if inner.is_empty() => vec![name],
        inner => inner.iter().map(|of| format!("{name}.{of}")).collect(),
    };
    names(object).into_iter().flat_map(paths).collect()
}

fn gather(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::String(text) => lines.push(text.clone()),
        Value::Number(number) => lines.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| gather(value, lines)),
        Value::Null | Value::Bool(_) | Value::Object(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_texts() {
        let item = json!({"q": "who?", "n": 3, "choices": {"text": ["a", ["b"], 4, null]}, "x.y": "whole", "x": {"y": 1},
                          "label": true, "none": []});
        let text = |path: &str| text_of(&item, &FieldPath::parse(path).expect("a path"));
        assert_eq!(text("q").as_deref(), Some("who?"));
        assert_eq!(text("n").as_deref(), Some("3"));
        assert_eq!(text("choices.text").as_deref(), Some("a\nb\n4"));
        assert_eq!(text("x.y").as_deref(), Some("whole"));
        for nothing in ["choices", "label", "none", "absent", "q.inner"] {
            assert_eq!(text(nothing), None, "{nothing}");
        }
        assert_eq!(id_of(&item, &FieldPath::parse("n").expect("a path")).as_deref(), Some("3"));
        assert_eq!(id_of(&item, &FieldPath::parse("label").expect("a path")), None);
    }

    #[test]
    fn fields_of_objects_are_named_by_their_paths() {
        let item = json!({"q": "who?", "choices": {"text": ["a"], "label": ["A"]}, "none": {}});
        let mut paths = field_paths(&item);
        paths.sort_unstable();
        assert_eq!(paths, ["choices.label", "choices.text", "none", "q"]);
    }

    #[test]
    fn refuses_what_is_no_field() {
        let fields = |id: &str, texts: &[&str]| ItemFields {
            id: id.into(),
            texts: texts.iter().map(ToString::to_string).collect(),
            join: false,
        };
        fields("id", &["question", "meta.answer"]).check().expect("fields");
        for wrong in
            [fields("id", &["a", "a"]), fields("id", &["a."]), fields("", &["a"]), fields("id", &[""])]
        {
            assert!(matches!(wrong.check(), Err(Error::Config(_))), "{wrong:?}");
        }
    }
}
