//! Records as JSON objects, whatever their format.

use std::io::Write;

use crate::read::{Describer, Fields, Format, Record, describer};

/// Writes records of a format as JSON objects: lines of JSON as they stand, rows of CSV with a member a column, and all
/// other records with id, file, what is known of them, and text.
pub(super) struct RecordObjects {
    format: Format,
    describer: Option<Box<dyn Describer>>,
}

impl RecordObjects {
    /// For records of a format, of which no other fields are asked for.
    pub(super) fn new(format: Format, fields: &Fields) -> RecordObjects {
        RecordObjects { format, describer: describer(format, fields) }
    }

    /// Appends the object of a record. `name` is its id, or what it is called if it has none; `file` is where it is from.
    pub(super) fn write(&mut self, record: &Record<'_>, name: &str, file: &str, out: &mut Vec<u8>) {
        if self.format == Format::JsonLines {
            out.extend_from_slice(record.raw.trim_ascii());
            return;
        }
        let (begin, is_row) = (out.len(), matches!(self.format, Format::Csv { .. }));
        let mut member = |name: &str, value: &str| {
            out.push(if out.len() == begin { b'{' } else { b',' });
            write_string(name, out);
            out.push(b':');
            write_string(value, out);
        };
        if !is_row {
            member("id", name);
            member("file", file);
        }
        self.describer.iter_mut().for_each(|describer| describer.describe(record, &mut member));
        if !is_row {
            member("text", record.text);
        }
        if out.len() == begin {
            out.push(b'{');
        }
        out.push(b'}');
    }
}

/// Writing to memory never fails.
fn write_string(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out.by_ref(), text);
}
