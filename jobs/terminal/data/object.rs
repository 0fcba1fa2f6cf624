//! An object on standard output: text for people, JSON, or its names and values below each other. Lists of objects become
//! rows, with a column for each name.

use alike::error::Result;
use serde::Serialize;
use serde_json::Value;

use crate::cli::values::DataForm;
use crate::terminal::data::rows::{Cells, cell, separated};
use crate::terminal::stdout::{OutputLines, stdout_error};

/// Prints `value` in a form: as JSON in a line, as rows of `name` and `value`, or as what `people` print.
pub(crate) fn print_object(
    lines: &mut OutputLines,
    form: DataForm,
    value: &impl Serialize,
    people: impl FnOnce(&mut OutputLines) -> Result<()>,
) -> Result<()> {
    match form {
        DataForm::Table => people(lines),
        DataForm::Json | DataForm::Jsonl => lines.json(value),
        DataForm::Tsv => {
            let mut rows = Vec::new();
            flatten(&serde_json::to_value(value).map_err(|e| stdout_error(e.into()))?, "", true, &mut rows);
            lines.plain("name\tvalue")?;
            rows.into_iter().try_for_each(|(name, value)| lines.plain(&separated(&[Some(name), value])))
        }
    }
}

/// Prints an object in a form. Between tabs are its main list's objects: its name, the columns that stand at the left, and those
/// that are left out.
pub(crate) fn print_rows(
    lines: &mut OutputLines,
    form: DataForm,
    value: &impl Serialize,
    (list, first, left_out): (&str, &[&str], &[&str]),
    people: impl FnOnce(&mut OutputLines) -> Result<()>,
) -> Result<()> {
    if form != DataForm::Tsv {
        return print_object(lines, form, value, people);
    }
    let value = serde_json::to_value(value).map_err(|e| stdout_error(e.into()))?;
    let rows = value[list].as_array().map(Vec::as_slice).unwrap_or_default();
    print_separated(lines, rows, first, left_out)
}

/// Prints objects as tab-separated rows. The columns are the names in any of them but for those `left_out`, the `first` ones at
/// the left; names of nested objects have dots.
pub(crate) fn print_separated(
    lines: &mut OutputLines,
    objects: &[Value],
    first: &[&str],
    left_out: &[&str],
) -> Result<()> {
    let mut names: Vec<String> = first.iter().map(|name| (*name).to_owned()).collect();
    let mut rows = Vec::new();
    for object in objects {
        let mut row = Vec::new();
        flatten(object, "", false, &mut row);
        row.retain(|(name, _)| {
            !left_out.iter().any(|out| {
                name.strip_prefix(out).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        });
        for (name, _) in &row {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        rows.push(row);
    }
    let heading: Cells = names.iter().map(cell).collect();
    lines.plain(&separated(&heading))?;
    rows.iter().try_for_each(|row| {
        let of =
            |name: &String| row.iter().find(|(other, _)| other == name).and_then(|(_, value)| value.clone());
        lines.plain(&separated(&names.iter().map(of).collect::<Cells>()))
    })
}

/// The values in a value with their names. Of a list each has its number, if lists are to be taken apart; else it is JSON.
fn flatten(value: &Value, name: &str, apart: bool, into: &mut Vec<(String, Option<String>)>) {
    let inner = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| flatten(value, &inner(key), apart, into));
        }
        Value::Array(items) if apart => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(number, value)| flatten(value, &inner(&number.to_string()), apart, into));
        }
        Value::Null => into.push((name.to_owned(), None)),
        Value::String(text) => into.push((name.to_owned(), Some(text.clone()))),
        other => into.push((name.to_owned(), Some(other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_nested_values_have_dots() {
        let value = json!({"a": {"b": 1, "c": null}, "d": ["x", {"e": true}], "f": "g\t"});
        let of = |apart| {
            let mut rows = Vec::new();
            flatten(&value, "", apart, &mut rows);
            rows.into_iter()
                .map(|(name, value)| format!("{name}={}", value.unwrap_or_default()))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(true), ["a.b=1", "a.c=", "d.0=x", "d.1.e=true", "f=g\t"]);
        assert_eq!(of(false), ["a.b=1", "a.c=", "d=[\"x\",{\"e\":true}]", "f=g\t"]);
    }
}
