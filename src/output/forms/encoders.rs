//! The seam of forms: what takes records one after the other and writes them.

use super::lines::{annotated, without_member};
use super::notes::{Note, NoteColumns};
use super::objects::{RecordObjects, text_path, with_text};
use super::shards::{Shards, Written};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::read::{Delimiter, FieldPath, Fields, Format, Record, Source, file_header};

/// A record on its way out.
pub(super) struct Outgoing<'a> {
    pub(super) record: &'a Record<'a>,
    /// Its id, or what it is called if it has none.
    pub(super) name: &'a str,
    /// The file that it is from.
    pub(super) file: &'a str,
    /// What is to be said of it, if anything is.
    pub(super) note: Option<&'a Note>,
    /// What is left of its text, if not all is.
    pub(super) left: Option<&'a str>,
}

/// Writes records in a form.
pub(super) trait Encoder {
    /// What comes is from another source.
    fn begin(&mut self, source: &Source) -> Result<()>;

    /// Writes a record.
    fn record(&mut self, record: &Outgoing<'_>) -> Result<()>;

    /// Writes a record that is an object already, as rows of Parquet are.
    fn object(&mut self, object: &[u8], note: Option<&Note>) -> Result<()>;

    /// Ends the files. If there were no records there is one without any, if it is `wanted`.
    fn finish(self: Box<Self>, wanted: bool) -> Result<Written>;
}

/// Writes objects, one a line.
pub(super) struct LineEncoder<'a> {
    shards: Shards<'a>,
    fields: &'a Fields,
    /// Whether line ends stay as they are.
    is_own: bool,
    objects: Option<(RecordObjects, FieldPath)>,
    object: Vec<u8>,
    line: Vec<u8>,
}

/// Bytes of buffers that are kept from record to record.
const KEPT: usize = sized(1 << 20, 64);

impl<'a> LineEncoder<'a> {
    /// For lines that stay in the form of their inputs, where `is_own` says so.
    pub(super) fn new(shards: Shards<'a>, fields: &'a Fields, is_own: bool) -> LineEncoder<'a> {
        LineEncoder { shards, fields, is_own, objects: None, object: Vec::new(), line: Vec::new() }
    }

    fn line(&mut self, object: &[u8], note: Option<&Note>, end: &[u8]) -> Result<()> {
        match note {
            Some(note) if note.json.is_empty() => self.line.extend_from_slice(&without_member(object)),
            Some(note) => annotated(object, &note.json, &mut self.line),
            // It is not held twice.
            None if object.len() > KEPT => return self.shards.write_parts(&[object, end]),
            None => self.line.extend_from_slice(object),
        }
        self.line.extend_from_slice(end);
        let written = self.shards.write(&self.line);
        self.line.clear();
        self.line.shrink_to(KEPT);
        written
    }
}

impl Encoder for LineEncoder<'_> {
    fn begin(&mut self, source: &Source) -> Result<()> {
        let path = text_path(source.format, self.fields)?;
        self.objects = Some((RecordObjects::new(source.format, self.fields), path));
        Ok(())
    }

    fn record(&mut self, record: &Outgoing<'_>) -> Result<()> {
        let mut object = std::mem::take(&mut self.object);
        if let Some((objects, path)) = &mut self.objects {
            objects.write(record.record, record.name, record.file, &mut object);
            if let Some(left) = record.left {
                let mut cut = Vec::with_capacity(object.len());
                with_text(&object, path, left, record.file, &mut cut)?;
                object = cut;
            }
        }
        let raw = record.record.raw;
        let has_return = self.is_own && raw.strip_suffix(b"\n").unwrap_or(raw).ends_with(b"\r");
        let written = match has_return {
            true => self.line(&object, record.note, b"\r\n"),
            false => self.object(&object, record.note),
        };
        object.clear();
        object.shrink_to(KEPT);
        self.object = object;
        written
    }

    fn object(&mut self, object: &[u8], note: Option<&Note>) -> Result<()> {
        self.line(object, note, b"\n")
    }

    fn finish(self: Box<Self>, wanted: bool) -> Result<Written> {
        self.shards.finish(wanted)
    }
}

/// Writes ids, one a line.
pub(super) struct IdEncoder<'a> {
    pub(super) shards: Shards<'a>,
}

impl Encoder for IdEncoder<'_> {
    fn begin(&mut self, _: &Source) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, record: &Outgoing<'_>) -> Result<()> {
        if record.name.contains(['\n', '\r']) {
            let why = "it has a line break, so it cannot be a line of a list; use --to jsonl";
            return Err(Error::input(record.file.as_ref(), format!("the id {:?}: {why}", record.name)));
        }
        self.shards.write(format!("{}\n", record.name).as_bytes())
    }

    fn object(&mut self, _: &[u8], _: Option<&Note>) -> Result<()> {
        unreachable!("ids are taken of records")
    }

    fn finish(self: Box<Self>, wanted: bool) -> Result<Written> {
        self.shards.finish(wanted)
    }
}

/// Writes a text as it is, or what is left of it.
pub(super) struct TextEncoder<'a> {
    pub(super) shards: Shards<'a>,
}

impl Encoder for TextEncoder<'_> {
    fn begin(&mut self, _: &Source) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, record: &Outgoing<'_>) -> Result<()> {
        self.shards.write(record.left.map_or(record.record.raw, str::as_bytes))
    }

    fn object(&mut self, _: &[u8], _: Option<&Note>) -> Result<()> {
        unreachable!("a text is no row")
    }

    fn finish(self: Box<Self>, wanted: bool) -> Result<Written> {
        self.shards.finish(wanted)
    }
}

/// Writes records as they stood, one behind the other; rows with more fields, if something is to be said of them.
pub(super) struct StretchEncoder<'a> {
    shards: Shards<'a>,
    delimiter: Delimiter,
    /// Whether a carriage return ends a record, too, as it ends a row of a table.
    returns: bool,
    /// The fields more that rows have, if they do.
    columns: Option<NoteColumns>,
    row: Vec<u8>,
}

impl<'a> StretchEncoder<'a> {
    pub(super) fn new(shards: Shards<'a>, columns: Option<NoteColumns>) -> StretchEncoder<'a> {
        StretchEncoder { shards, delimiter: Delimiter::COMMA, returns: false, columns, row: Vec::new() }
    }

    /// Writes a row with more fields behind its own, before its line end.
    fn row(&mut self, raw: &[u8], fields: &[String]) {
        let end = raw.len() - raw.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.row.clear();
        self.row.extend_from_slice(&raw[..end]);
        for field in fields {
            self.row.push(self.delimiter.byte());
            self.row.extend_from_slice(quoted(field, self.delimiter).as_bytes());
        }
        self.row.extend_from_slice(if end < raw.len() { &raw[end..] } else { b"\n" });
    }
}

/// A field as a row has it.
fn quoted(field: &str, delimiter: Delimiter) -> String {
    let plain = !field.contains(['"', '\r', '\n', char::from(delimiter.byte())]);
    if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}

impl Encoder for StretchEncoder<'_> {
    fn begin(&mut self, source: &Source) -> Result<()> {
        if let Format::Csv { delimiter } = source.format {
            (self.delimiter, self.returns) = (delimiter, true);
        }
        let header = file_header(source).map_err(|e| Error::io(&source.path, "read", e))?;
        self.shards.header = header;
        if let Some(columns) = self.columns.filter(|_| !self.shards.header.is_empty()) {
            let header = std::mem::take(&mut self.shards.header);
            self.row(&header, &columns.names().map(str::to_owned).collect::<Vec<_>>());
            self.shards.header = std::mem::take(&mut self.row);
        }
        Ok(())
    }

    fn record(&mut self, record: &Outgoing<'_>) -> Result<()> {
        let raw = record.record.raw;
        match record.note {
            Some(note) => self.row(raw, &note.fields(self.columns.unwrap_or_default())?),
            None => {
                self.row.clear();
                self.row.extend_from_slice(raw);
                // The last record of a file may be without its line end, and others follow it here.
                if !(raw.ends_with(b"\n") || self.returns && raw.ends_with(b"\r")) {
                    self.row.push(b'\n');
                }
            }
        }
        let written = self.shards.write(&self.row);
        self.row.clear();
        self.row.shrink_to(KEPT);
        written
    }

    fn object(&mut self, _: &[u8], _: Option<&Note>) -> Result<()> {
        unreachable!("rows of Parquet are no stretches of bytes")
    }

    fn finish(self: Box<Self>, wanted: bool) -> Result<Written> {
        self.shards.finish(wanted)
    }
}
