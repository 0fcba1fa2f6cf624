//! Which fields of a record are wanted.

use serde_json::Value;

use super::bytes::RecordRoom;
use super::input::{Input, MissingText};
use crate::error::{Error, Result};

/// Where a field stands in a record: names joined by dots, outermost first.
/// A key at the top that is spelt like the whole path, dots included, is the field too and goes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    whole: String,
    parts: Vec<String>,
}

impl FieldPath {
    /// Parses `name` or `outer.inner`.
    ///
    /// # Errors
    /// [`Error::Config`] if a name is empty.
    pub fn parse(text: &str) -> Result<FieldPath> {
        let parts: Vec<String> = text.split('.').map(str::to_owned).collect();
        if parts.iter().any(String::is_empty) {
            return Err(Error::config(format!(
                "field {text:?}: expected a name, or names joined by single dots such as meta.id"
            )));
        }
        Ok(FieldPath { whole: text.to_owned(), parts })
    }

    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.whole
    }

    /// What stands there in an object.
    pub fn find_in<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let inner = || self.parts.iter().try_fold(object, |value, name| value.get(name));
        object.get(&self.whole).or_else(inner)
    }

    /// The names, outermost first.
    pub(super) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The first name, if others follow.
    pub(super) fn outer(&self) -> Option<&str> {
        self.parts.first().filter(|_| self.parts.len() > 1).map(String::as_str)
    }
}

/// Most fields of a record whose values are observed.
pub const OBSERVED_FIELDS: usize = 4;

/// What to take from each record.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The id.
    pub id: FieldPath,
    /// The text.
    pub text: FieldPath,
    /// What becomes of records without one.
    pub missing_text: MissingText,
    /// Whether the text of a page of HTML is its main text only.
    pub main_text: bool,
    /// Whether what a mail quotes of others is no text of it.
    pub strip_quotes: bool,
    /// Whether a record is refused whose id has a line break.
    pub line_ids: bool,
    /// A value to compare documents by, if one is wanted.
    pub value: Option<FieldPath>,
    /// A value that documents must share to be compared, if one is wanted.
    pub within: Option<FieldPath>,
    /// The date, if it is wanted.
    pub date: Option<FieldPath>,
    /// Fields whose values a report counts: at most [`OBSERVED_FIELDS`]; what is behind them is not looked at.
    pub observed: Vec<FieldPath>,
    /// What a record does to a collection, where records are changes: `"upsert"`, the default, or `"delete"`. Every
    /// record must then have an id, unless `without_ids` says otherwise.
    pub op: Option<FieldPath>,
    /// Whether changes may be without an id.
    pub without_ids: bool,
    /// Longest line or plain-text document accepted, in bytes.
    pub max_record_bytes: usize,
    /// How long a record may be within the memory.
    pub room: RecordRoom,
}

impl Fields {
    /// Id, text and date where `input` has them, and nothing else: of records that are no changes.
    ///
    /// # Errors
    /// [`Error::Config`] if one of them is no path.
    pub fn of(input: &Input) -> Result<Fields> {
        let within = Some(&input.within_field).filter(|path| !path.is_empty() && !input.is_within_files());
        let date = Some(&input.date_field).filter(|path| !path.is_empty());
        Ok(Fields {
            id: FieldPath::parse(&input.id_field)?,
            text: FieldPath::parse(&input.text_field)?,
            missing_text: input.missing_text,
            main_text: input.main_text,
            strip_quotes: input.strip_quotes,
            line_ids: input.line_ids,
            value: None,
            within: within.map(|path| FieldPath::parse(path)).transpose()?,
            date: date.map(|path| FieldPath::parse(path)).transpose()?,
            observed: Vec::new(),
            op: None,
            without_ids: false,
            max_record_bytes: input.max_record_bytes,
            room: RecordRoom::default(),
        })
    }

    /// The paths of observed fields; none in the places behind them.
    pub(super) fn observed(&self) -> [Option<&FieldPath>; OBSERVED_FIELDS] {
        std::array::from_fn(|at| self.observed.get(at))
    }

    /// Whether a record without an id is refused.
    pub(super) fn needs_id(&self) -> bool {
        self.op.is_some() && !self.without_ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_empty_names() {
        for wrong in ["", ".", "a.", ".a", "a..b"] {
            assert!(matches!(FieldPath::parse(wrong), Err(Error::Config(_))), "{wrong}");
        }
    }
}
