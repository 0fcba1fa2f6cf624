//! All columns of rows, by their names.

use std::collections::{HashMap, HashSet};

use super::row_parser::RowParser;
use super::row_splitter::header;
use crate::error::Result;
use crate::limits::MAX_VALUE_BYTES;
use crate::read::codec::Describer;
use crate::read::field::Fields;
use crate::read::format::Delimiter;
use crate::read::input::Input;
use crate::read::record::Record;
use crate::read::source::Source;

/// Names the columns of rows.
pub(super) struct RowDescriber {
    delimiter: Delimiter,
    fields: Fields,
    /// What reads rows under the present header, that header, and its names, of which no two are the same.
    rows: Option<(RowParser, String, Vec<String>)>,
}

impl RowDescriber {
    pub(super) fn new(delimiter: Delimiter, fields: &Fields) -> RowDescriber {
        RowDescriber { delimiter, fields: fields.clone(), rows: None }
    }
}

impl Describer for RowDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        let (parser, _, names) = match &mut self.rows {
            Some(rows) if rows.1 == record.header => rows,
            rows => {
                let parser = RowParser::new(self.delimiter, record.header, &self.fields);
                let names = apart(parser.columns());
                rows.insert((parser, record.header.to_owned(), names))
            }
        };
        // It was a row of that many fields when it was read.
        let Ok(row) = std::str::from_utf8(record.raw) else { return };
        let fields = parser.decode(row);
        for (at, name) in names.iter().take(fields).enumerate() {
            each(name, parser.field(at));
        }
    }
}

/// Names of which no two are the same: of equal ones the last stays, as it is the one that counts, and a number is put behind
/// the others.
fn apart(columns: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = columns.iter().cloned().collect();
    // Where each stands last, and the number that the next other one may get.
    let mut last: HashMap<&str, (usize, usize)> =
        columns.iter().enumerate().map(|(at, name)| (name.as_str(), (at, 1))).collect();
    let mut name = |(at, name): (usize, &String)| {
        let Some((_, next)) = last.get_mut(name.as_str()).filter(|(last, _)| *last != at) else {
            return name.clone();
        };
        loop {
            let numbered = format!("{name}.{next}");
            *next += 1;
            if taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    columns.iter().enumerate().map(&mut name).collect()
}

/// The names of the columns of a source; none if it has no header.
pub(in crate::read::formats) fn column_names(source: &Source, delimiter: Delimiter) -> Vec<String> {
    let names = |header: String| -> Result<Vec<String>> {
        let fields = Fields::of(&Input::default())?;
        Ok(RowParser::new(delimiter, &header, &fields).columns().to_vec())
    };
    // A file without a header that can be read is refused when it is read.
    let header = header(source, delimiter, MAX_VALUE_BYTES).ok().flatten();
    header.and_then(|header| names(header).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_names_the_last_stays() {
        let names = |columns: &[&str]| apart(&columns.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names(&["id", "text", "b"]), ["id", "text", "b"]);
        assert_eq!(names(&["a", "a", "a.1", "", "a", ""]), ["a.2", "a.3", "a.1", ".1", "a", ""]);
    }
}
