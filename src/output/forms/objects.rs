//! Records as JSON objects, whatever their format.

use std::io::Write;

use super::lines::{with_record_cut, without_member};
use crate::error::{Error, Result};
use crate::read::{Describer, FieldPath, Fields, Format, Record, describer, text_member};

/// Writes records of a format as JSON objects: lines of JSON as they stand, rows of CSV with a member a column, and all
/// other records with id, file, what is known of them, and text.
pub struct RecordObjects {
    format: Format,
    describer: Option<Box<dyn Describer>>,
}

impl RecordObjects {
    /// For records of a format, of which no other fields are asked for.
    pub fn new(format: Format, fields: &Fields) -> RecordObjects {
        RecordObjects { format, describer: describer(format, fields) }
    }

    /// Appends the object of a record. `name` is its id, or what it is called if it has none; `file` is where it is from.
    pub fn write(&mut self, record: &Record<'_>, name: &str, file: &str, out: &mut Vec<u8>) {
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

/// Appends an object with another text; all else stays as it is written, but for the record in a row that `--to parquet` wrote,
/// which has the text, too, and the member `alike` of an earlier run, which spoke of the text that was. `file` is where the
/// object is from.
pub(super) fn with_text(
    object: &[u8],
    path: &FieldPath,
    text: &str,
    file: &str,
    out: &mut Vec<u8>,
) -> Result<()> {
    let found = std::str::from_utf8(object).ok().and_then(|object| text_member(object, path));
    // It was found when the record was read.
    let Some((place, before)) = found else { return Err(Error::Changed(file.into())) };
    let mut cut = Vec::with_capacity(object.len());
    cut.extend_from_slice(&object[..place.start]);
    write_string(text, &mut cut);
    cut.extend_from_slice(&object[place.end..]);
    let cut = with_record_cut(&cut, &before, text).unwrap_or(cut);
    // The text may stand in that member.
    let bare = without_member(&cut);
    let has_text = str::from_utf8(&bare).is_ok_and(|bare| text_member(bare, path).is_some());
    out.extend_from_slice(if has_text { &bare } else { &cut });
    Ok(())
}

/// Where the text of a record stands in the object that is written of it.
pub(super) fn text_path(format: Format, fields: &Fields) -> Result<FieldPath> {
    let is_own = match format {
        Format::JsonLines | Format::Csv { .. } => true,
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => true,
        _ => false,
    };
    if is_own { Ok(fields.text.clone()) } else { FieldPath::parse("text") }
}

/// Writing to memory never fails.
fn write_string(text: &str, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out.by_ref(), text);
}
