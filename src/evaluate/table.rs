//! Lines of fields: columns between tabulators, or objects of JSON.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Most names that objects may have.
const MOST_NAMES: usize = 1000;

/// A file of lines, each with the same columns.
#[derive(Debug)]
pub(super) struct FieldTable {
    /// Names of the columns; none where the first line is no heading.
    pub(super) names: Option<Vec<String>>,
    /// Number of the line in the file, from 1, and its fields; `None` where an object lacks one.
    pub(super) rows: Vec<(u64, Vec<Option<String>>)>,
}

impl FieldTable {
    /// Reads lines; empty ones are passed over. `heading` says whether the fields of a first line are a heading. What is
    /// wrong is reported with its line.
    pub(super) fn parse(text: &str, heading: impl Fn(&[&str]) -> bool) -> Result<FieldTable, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1u64..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        match text.trim_start().starts_with('{') {
            true => objects(lines),
            false => columns(lines, heading),
        }
    }
}

fn columns<'a>(
    lines: impl Iterator<Item = (u64, &'a str)>,
    heading: impl Fn(&[&str]) -> bool,
) -> Result<FieldTable, String> {
    let mut lines = lines.map(|(number, line)| (number, line.split('\t').map(str::trim).collect::<Vec<_>>()));
    let mut lines = lines.by_ref().peekable();
    let names = lines.next_if(|(_, fields)| heading(fields));
    let width = names.as_ref().map(|(_, names)| names.len()).or_else(|| Some(lines.peek()?.1.len()));
    let width = width.unwrap_or(0);
    let row = |(number, mut fields): (u64, Vec<&str>)| {
        // Editors cut the empty fields at the end of a line.
        if fields.len() < width && fields.len() > 1 {
            fields.resize(width, "");
        }
        if fields.len() != width {
            return Err(format!(
                "line {number} has {} columns between tabulators, the first line has {width}",
                fields.len()
            ));
        }
        Ok((number, fields.into_iter().map(|field| Some(field.to_owned())).collect()))
    };
    let rows = lines.map(row).collect::<Result<_, _>>()?;
    Ok(FieldTable { names: names.map(|(_, names)| names.into_iter().map(str::to_owned).collect()), rows })
}

fn objects<'a>(lines: impl Iterator<Item = (u64, &'a str)>) -> Result<FieldTable, String> {
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let mut object: BTreeMap<String, Box<RawValue>> =
            serde_json::from_str(line).map_err(|error| match error.is_eof() {
                true => format!(
                    "line {number} ends within an object of JSON: whoever wrote it was cut off; remove the line, or write \
                     it to its end"
                ),
                false => format!("line {number} is no object of JSON: {error}"),
            })?;
        let mut fields: Vec<Option<String>> =
            names.iter().map(|name| object.remove(name).and_then(|value| field(&value))).collect();
        for (name, value) in object {
            if names.len() == MOST_NAMES {
                return Err(format!("line {number}: more than {MOST_NAMES} names of fields"));
            }
            // A name that stands first in a later line is a column all the same.
            names.push(name);
            fields.push(field(&value));
        }
        rows.push((number, fields));
    }
    rows.iter_mut().for_each(|(_, fields)| fields.resize(names.len(), None));
    Ok(FieldTable { names: Some(names), rows })
}

/// A value as it would stand in a column. A number is spelt as it is: it may be an id.
fn field(value: &RawValue) -> Option<String> {
    match value.get() {
        "null" => None,
        "true" => Some("1".to_owned()),
        "false" => Some("0".to_owned()),
        text if text.starts_with('"') => serde_json::from_str(text).ok(),
        other => Some(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_told_as_that() {
        let told = |text: &str| FieldTable::parse(text, |_| false).expect_err("refused");
        let whole = "{\"id\":\"a\",\"mark\":true}";
        for end in 1..whole.len() {
            let told = told(&format!("{whole}\n{}", &whole[..end]));
            assert!(told.contains("line 2 ends within") && told.contains("remove the line"), "{end}: {told}");
        }
        assert!(told(&format!("{whole}\n{whole}}}")).contains("line 2 is no object of JSON"));
    }

    #[test]
    fn objects_have_the_fields_of_all() {
        let lines = "{}\n{\"id\":\"a\"}\n{\"mark\":true,\"id\":2.50}\n";
        let table = FieldTable::parse(lines, |_| false).expect("a table");
        assert_eq!(table.names.as_deref(), Some(&["id".to_owned(), "mark".to_owned()][..]));
        let fields: Vec<Vec<Option<&str>>> =
            table.rows.iter().map(|(_, fields)| fields.iter().map(Option::as_deref).collect()).collect();
        assert_eq!(fields, [[None, None], [Some("a"), None], [Some("2.50"), Some("1")]]);
        let many: String = (0..=MOST_NAMES).map(|name| format!("{{\"{name}\":1}}\n")).collect();
        assert!(FieldTable::parse(&many, |_| false).expect_err("refused").contains("1001: more than 1000"));
    }
}
