//! Texts in memory as an input file: a run reads some of its records twice.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};

/// A record of such a file.
#[derive(Serialize)]
pub(super) struct TextRecord<'a> {
    /// The id, where the run needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    /// The text; without one the record is a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    /// `delete` for a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) op: Option<&'a str>,
}

/// A file of records that grows.
pub(super) struct TextRecords {
    path: std::path::PathBuf,
    out: BufWriter<File>,
}

impl TextRecords {
    /// Makes a new file in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn create(folder: &Path) -> Result<TextRecords> {
        let path = folder.join("texts.jsonl");
        let file = File::create_new(&path).map_err(|error| Error::io(&path, "create", error))?;
        Ok(TextRecords { path, out: BufWriter::with_capacity(1 << 20, file) })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn add(&mut self, line: &TextRecord<'_>) -> Result<()> {
        let failed = |error| Error::io(&self.path, "write", error);
        serde_json::to_writer(&mut self.out, line).map_err(|error| failed(error.into()))?;
        self.out.write_all(b"\n").map_err(failed)
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
