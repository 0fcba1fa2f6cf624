//! Where the fields of a record stand, and how long a record may be.

use serde::{Deserialize, Serialize};

use super::format::Delimiter;
use crate::error::{Error, Result};
use crate::limits::MAX_RECORD_BYTES;

/// What becomes of a record whose text is missing, or null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissingText {
    /// It is refused.
    #[default]
    Reject,
    /// It is a document without a word: kept, and compared with nothing.
    Keep,
}

impl MissingText {
    fn is_rejected(&self) -> bool {
        *self == MissingText::Reject
    }
}

/// As serde asks it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Where id and text stand in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Input {
    /// Path of the id, dots between nested names (`meta.id`).
    pub id_field: String,
    /// Path of the text.
    pub text_field: String,
    /// What becomes of records without one.
    #[serde(skip_serializing_if = "MissingText::is_rejected")]
    pub missing_text: MissingText,
    /// Whether the text of a page of HTML is its main text only: without menus, lists of links and notices.
    #[serde(skip_serializing_if = "is_false")]
    pub main_text: bool,
    /// Whether what a mail quotes of others is no text of it.
    #[serde(skip_serializing_if = "is_false")]
    pub strip_quotes: bool,
    /// Whether a record is refused whose id has a line break: no list of ids, one a line, can hold it.
    #[serde(skip_serializing_if = "is_false")]
    pub line_ids: bool,
    /// Path of the date; empty if none is read.
    pub date_field: String,
    /// Path of the field whose value two documents must share to be compared at all, `:file` for the file they are in, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub within_field: String,
    /// The delimiter of CSV and TSV. Without it the name of a file or its header tells which it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Delimiter>,
    /// Longest line or plain-text document accepted, in bytes.
    pub max_record_bytes: usize,
}

impl Default for Input {
    fn default() -> Input {
        Input {
            id_field: "id".into(),
            text_field: "text".into(),
            missing_text: MissingText::default(),
            main_text: false,
            strip_quotes: false,
            line_ids: false,
            date_field: String::new(),
            within_field: String::new(),
            delimiter: None,
            max_record_bytes: MAX_RECORD_BYTES,
        }
    }
}

/// What stands for the input file in [`Input::within_field`].
const WITHIN_FILES: &str = ":file";

impl Input {
    /// Whether only documents of one file are compared.
    pub fn is_within_files(&self) -> bool {
        self.within_field == WITHIN_FILES
    }

    /// Refuses names that no field can have.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        for (key, field) in [("id_field", &self.id_field), ("text_field", &self.text_field)] {
            if field.is_empty() {
                return Err(Error::config(format!(
                    "input.{key} is empty; name a field, like \"text\" or \"meta.id\""
                )));
            }
        }
        let date = &self.date_field;
        if !date.is_empty() && date.split('.').any(str::is_empty) {
            return Err(Error::config(format!(
                "input.date_field = {date:?}: expected a name, or names joined by single dots such as meta.date; leave \
                 it empty to read no dates"
            )));
        }
        let within = &self.within_field;
        if !within.is_empty()
            && !self.is_within_files()
            && (within.starts_with(':') || within.split('.').any(str::is_empty))
        {
            return Err(Error::config(format!(
                "input.within_field = {within:?}: expected a name, names joined by single dots such as meta.language, or \
                 {WITHIN_FILES} to compare documents of one file only"
            )));
        }
        if self.max_record_bytes == 0 {
            return Err(Error::config(
                "input.max_record_bytes = 0 would refuse every record; leave it out for the default",
            ));
        }
        Ok(())
    }
}
