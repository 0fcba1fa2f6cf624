//! The file of a list: lines of JSON, or a table.

use std::path::Path;
use std::str::FromStr;

#[cfg(feature = "parquet")]
use super::columns::{TableFile, group_bytes};
use super::rows::{ListRow, Rows};
use crate::error::Result;

/// The form of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListForm {
    /// A JSON object a line.
    #[default]
    JsonLines,
    /// Rows of Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl ListForm {
    /// What forms are called, and what each is in a line.
    pub const ALL: &[(&str, ListForm, &str)] = &[
        ("jsonl", ListForm::JsonLines, "A JSON object a line"),
        #[cfg(feature = "parquet")]
        ("parquet", ListForm::Parquet, "Rows with typed columns"),
    ];
}

impl FromStr for ListForm {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<ListForm, String> {
        let known = ListForm::ALL.iter().find(|(name, _, _)| *name == text);
        known.map(|(_, form, _)| *form).ok_or_else(|| format!("there is no form {text:?}"))
    }
}

/// A list on its way to a file.
pub(super) enum ListFile {
    /// Lines of JSON.
    Lines(Rows),
    /// A table.
    #[cfg(feature = "parquet")]
    Table(Box<TableFile>),
}

impl ListFile {
    /// Creates the file of the list `name` in a folder, which must not be there, for rows like `R`.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn create<R: ListRow>(folder: &Path, name: &str, form: ListForm) -> Result<ListFile> {
        match form {
            ListForm::JsonLines => Rows::create(folder, &format!("{name}.jsonl")).map(ListFile::Lines),
            #[cfg(feature = "parquet")]
            ListForm::Parquet => {
                let table =
                    TableFile::create(folder.join(format!("{name}.parquet")), R::COLUMNS, group_bytes(None))?;
                Ok(ListFile::Table(Box::new(table)))
            }
        }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn write<R: ListRow>(&mut self, row: &R) -> Result<()> {
        match self {
            ListFile::Lines(rows) => rows.write(row),
            #[cfg(feature = "parquet")]
            ListFile::Table(table) => row.cells(&mut |cells| table.row(cells)),
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn finish(self) -> Result<()> {
        match self {
            ListFile::Lines(rows) => rows.finish().map(drop),
            #[cfg(feature = "parquet")]
            ListFile::Table(table) => table.finish().map(drop),
        }
    }
}
