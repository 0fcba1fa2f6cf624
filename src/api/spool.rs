//! Texts in memory as an input file: a run reads some of its records twice.

use crate::limits::sized;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value};

use crate::config::Input;
use crate::error::{Error, Result};

/// A record of such a file.
pub(super) struct TextRecord<'a> {
    /// The id, where the run needs one.
    pub(super) id: Option<&'a str>,
    /// The text; without one the record is a deletion.
    pub(super) text: Option<&'a str>,
}

impl TextRecord<'_> {
    /// The record as an object in which id and text stand where `input` says.
    fn object(&self, input: &Input) -> Value {
        let mut object = Map::new();
        for (path, value) in [(&input.id_field, self.id), (&input.text_field, self.text)] {
            if let Some(value) = value {
                set(&mut object, path, value);
            }
        }
        if self.text.is_none() {
            object.insert("op".to_owned(), "delete".into());
        }
        Value::Object(object)
    }
}

/// Sets the string at a path, whose names are parted by dots.
fn set(object: &mut Map<String, Value>, path: &str, value: &str) {
    match path.split_once('.') {
        None => drop(object.insert(path.to_owned(), value.into())),
        Some((name, rest)) => {
            let inner = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}

/// Refuses the text `first` of those that were given, which takes so many bytes, if that is more than `most`.
///
/// # Errors
/// [`Error::Refused`].
pub(super) fn refuse_longer(bytes: usize, most: usize, first: impl FnOnce() -> (String, u64)) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    let (first, records) = first();
    let reason = format!("longer than max_record_bytes, {most}; nothing was written");
    Err(Error::Refused { rejected: 1, records, reason, first: format!("{first}: {bytes} bytes") })
}

/// A file of records that grows.
pub(super) struct TextRecords {
    path: std::path::PathBuf,
    out: BufWriter<File>,
    input: Input,
}

impl TextRecords {
    /// Makes a new file in `folder`, of records with id and text where `input` says.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn create(folder: &Path, input: Input) -> Result<TextRecords> {
        let path = folder.join("texts.jsonl");
        let file = File::create_new(&path).map_err(|error| Error::io(&path, "create", error))?;
        Ok(TextRecords { path, out: BufWriter::with_capacity(sized(1 << 20, 64), file), input })
    }

    /// Appends a record; the bytes of its line, of which those that JSON escapes are more than those of the text.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn add(&mut self, record: &TextRecord<'_>) -> Result<usize> {
        let failed = |error| Error::io(&self.path, "write", error);
        let line = serde_json::to_vec(&record.object(&self.input)).map_err(|error| failed(error.into()))?;
        self.out.write_all(&line).and_then(|()| self.out.write_all(b"\n")).map_err(failed)?;
        Ok(line.len())
    }

    /// Writes what is buffered, and gives the path as an input is named.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Input`] if the path is not UTF-8.
    pub(super) fn finish(mut self) -> Result<String> {
        self.out.flush().map_err(|error| Error::io(&self.path, "write", error))?;
        let name = self.path.to_str().map(str::to_owned);
        name.ok_or_else(|| Error::input(&self.path, "the name is not UTF-8; set another temporary folder"))
    }
}
