//! What a document is: a record at a position of the input, and what it is called.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::limits::{MAX_FILE_BYTES, MAX_FILES};

/// A document's number within a run: `base + row * workers + worker`, over the workers of all processes. It names the
/// worker that read the document (its *owner*) and the row there. Numbers depend on the run; positions do not.
pub type Doc = u32;

/// The number of no document.
pub const NO_DOC: Doc = Doc::MAX;

/// Where a document stands in the input: the file's index in input order and the offset of its record in the
/// decompressed bytes of that file. Positions order documents: this is *document order*. Ids are labels only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Position(u64);

impl Position {
    /// The position of the record at byte `offset` of file number `file`. Both are bounded where files are
    /// opened ([`MAX_FILES`], [`MAX_FILE_BYTES`]).
    pub fn new(file: u32, offset: u64) -> Position {
        debug_assert!((file as usize) < MAX_FILES && offset < MAX_FILE_BYTES);
        Position(u64::from(file) << 40 | offset)
    }

    /// Index of the file in input order.
    pub fn file(self) -> u32 {
        (self.0 >> 40) as u32
    }

    /// Offset of the record's first byte in the decompressed file.
    pub fn offset(self) -> u64 {
        self.0 & (MAX_FILE_BYTES - 1)
    }

    /// The position that [`Position::to_bits`] made `bits` of.
    pub fn from_bits(bits: u64) -> Position {
        Position(bits)
    }

    /// The position as one integer with the same order.
    pub fn to_bits(self) -> u64 {
        self.0
    }
}

/// What a document is called: its id, or its file and line. As JSON it is what the id was in the input, a string or a number;
/// so the id 7 and the id "7" are two names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentName<'a> {
    text: Cow<'a, str>,
    is_number: bool,
}

impl<'a> DocumentName<'a> {
    /// The id that is a number, spelt as JSON spells it.
    pub fn number(spelt: impl Into<Cow<'a, str>>) -> DocumentName<'a> {
        DocumentName { text: spelt.into(), is_number: true }
    }

    /// The id that was a number, or was none.
    pub fn of_kind(text: impl Into<Cow<'a, str>>, is_number: bool) -> DocumentName<'a> {
        DocumentName { text: text.into(), is_number }
    }

    /// Whether it is an id that is a number.
    pub fn is_number(&self) -> bool {
        self.is_number
    }

    /// Its letters, or the digits of the number.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same, which borrows nothing.
    pub fn into_owned(self) -> DocumentName<'static> {
        DocumentName { text: Cow::Owned(self.text.into_owned()), is_number: self.is_number }
    }
}

impl Deref for DocumentName<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for DocumentName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl<'a> From<Cow<'a, str>> for DocumentName<'a> {
    fn from(text: Cow<'a, str>) -> DocumentName<'a> {
        DocumentName { text, is_number: false }
    }
}

impl<'a> From<&'a str> for DocumentName<'a> {
    fn from(text: &'a str) -> DocumentName<'a> {
        Cow::Borrowed(text).into()
    }
}

impl From<String> for DocumentName<'_> {
    fn from(text: String) -> Self {
        Cow::<str>::Owned(text).into()
    }
}

impl From<DocumentName<'_>> for String {
    fn from(name: DocumentName<'_>) -> String {
        name.text.into_owned()
    }
}

impl Serialize for DocumentName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Whatever spells a number that JSON does not know is still a text.
        match self.is_number.then(|| serde_json::from_str::<&RawValue>(&self.text)) {
            Some(Ok(number)) => number.serialize(serializer),
            _ => serializer.serialize_str(&self.text),
        }
    }
}

impl<'de> Deserialize<'de> for DocumentName<'static> {
    /// From a string or a number of JSON, and from nothing but JSON: a number is kept as it is spelt.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        let text = String::from(Box::<str>::from(value));
        match text.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Ok(DocumentName::number(text)),
            _ => serde_json::from_str::<String>(&text).map(Into::into).map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_json_what_they_were() {
        for json in
            ["7", "-1", "1.50", "1e400", "123456789012345678901234567890", "\"7\"", "\"a\\nb\"", "\"\""]
        {
            let name: DocumentName<'_> = serde_json::from_str(json).expect("a name");
            assert_eq!(serde_json::to_string(&name).expect("JSON"), json);
            assert_eq!(name.is_number(), !json.starts_with('"'), "{json}");
        }
        assert_ne!(DocumentName::number("7"), DocumentName::from("7"));
        for json in ["null", "true", "[]", "{}"] {
            assert!(serde_json::from_str::<DocumentName<'_>>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_name_is_a_value_of_json_too() {
        let value = |name: DocumentName<'_>| serde_json::to_value(name).expect("a value");
        assert_eq!(value(DocumentName::number("7")), serde_json::json!(7));
        assert_eq!(value("7".into()), serde_json::json!("7"));
        assert_eq!(value(DocumentName::number("7 8")), serde_json::json!("7 8"));
    }

    #[test]
    fn positions_order_by_file_then_offset() {
        let last = (MAX_FILES as u32 - 1, MAX_FILE_BYTES - 1);
        let places = [(0, 0), (0, 1), (0, last.1), (1, 0), (1, 7), (last.0, 0), last];
        let positions = places.map(|(file, offset)| Position::new(file, offset));
        assert!(positions.is_sorted_by(|a, b| a < b && a.to_bits() < b.to_bits()));
        assert_eq!(positions.map(|position| (position.file(), position.offset())), places);
    }
}
