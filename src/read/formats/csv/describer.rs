//! All columns of rows, by their names.

use std::collections::{HashMap, HashSet};

use super::row_parser::{ColumnNames, RowParser};
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
    /// What reads rows under the present header, that header, and the names that columns have in place of their own.
    rows: Option<(RowParser, String, HashMap<usize, String>)>,
}

impl RowDescriber {
    pub(super) fn new(delimiter: Delimiter, fields: &Fields) -> RowDescriber {
        RowDescriber { delimiter, fields: fields.clone(), rows: None }
    }
}

impl Describer for RowDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        let (parser, _, renamed) = match &mut self.rows {
            Some(rows) if rows.1 == record.header => rows,
            rows => {
                let parser = RowParser::new(self.delimiter, record.header, &self.fields);
                let renamed = apart(parser.columns());
                rows.insert((parser, record.header.to_owned(), renamed))
            }
        };
        // It was a row of that many fields when it was read.
        let Ok(row) = std::str::from_utf8(record.raw) else { return };
        let fields = parser.decode(row);
        for (at, name) in parser.columns().iter().take(fields).enumerate() {
            each(renamed.get(&at).map_or(name, String::as_str), parser.field(at));
        }
    }
}

/// Other names for columns of which another one has the name: of equal ones the last stays, as it is the one that counts, and a number
/// is put behind the others.
fn apart(columns: &ColumnNames) -> HashMap<usize, String> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_unstable_by_key(|at| (columns.get(*at), *at));
    let of_one_name = order.chunk_by(|a, b| columns.get(*a) == columns.get(*b));
    let mut others: Vec<usize> = of_one_name.flat_map(|same| &same[..same.len() - 1]).copied().collect();
    others.sort_unstable();
    let is_taken = |name: &str| order.binary_search_by_key(&name, |at| columns.get(*at)).is_ok();
    let (mut given, mut next) = (HashSet::new(), HashMap::new());
    let mut numbered = |name: &str| {
        let next: &mut usize = next.entry(name.to_owned()).or_insert(1);
        loop {
            let numbered = format!("{name}.{next}");
            *next += 1;
            if !is_taken(&numbered) && given.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    others.into_iter().map(|at| (at, numbered(columns.get(at)))).collect()
}

/// The names of the columns of a source; none if it has no header.
pub(in crate::read::formats) fn column_names(source: &Source, delimiter: Delimiter) -> Vec<String> {
    let names = |header: String| -> Result<Vec<String>> {
        let fields = Fields::of(&Input::default())?;
        Ok(RowParser::new(delimiter, &header, &fields).columns().iter().map(str::to_owned).collect())
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
        let names = |columns: &[&str]| -> Vec<String> {
            let fields = Fields::of(&Input::default()).expect("fields");
            let parser = RowParser::new(Delimiter::COMMA, &columns.join(","), &fields);
            let mut renamed = apart(parser.columns());
            let named = |(at, name): (usize, &str)| renamed.remove(&at).unwrap_or_else(|| name.to_owned());
            parser.columns().iter().enumerate().map(named).collect()
        };
        assert_eq!(names(&["id", "text", "b"]), ["id", "text", "b"]);
        assert_eq!(names(&["a", "a", "a.1", "", "a", ""]), ["a.2", "a.3", "a.1", ".1", "a", ""]);
    }
}
