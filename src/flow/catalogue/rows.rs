//! Rows on their way to another process.

use crate::document::{Doc, DocumentName};
use crate::flow::packed::columns::as_column;
use crate::flow::records::Brought;
use crate::read::Value;

/// Rows of a worker on their way to another process. What was not asked for is empty.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SegmentRows {
    /// Positions, as bits.
    #[serde(with = "as_column")]
    pub positions: Vec<u64>,
    /// Lines within their units.
    #[serde(with = "as_column")]
    pub lines: Vec<u32>,
    /// Sizes of sets.
    #[serde(with = "as_column")]
    pub sizes: Vec<u32>,
    /// Ids, and whether they are numbers.
    pub labels: Vec<Option<(bool, String)>>,
    /// Lengths of texts.
    #[serde(with = "as_column")]
    pub lengths: Vec<u32>,
    /// Values that the keep policy compares.
    pub values: Vec<Option<Value>>,
}

/// What process 0 has to know of a document that another process has read, to settle it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct FarRow {
    /// The document.
    pub doc: Doc,
    /// Its position, as bits.
    pub position: u64,
    /// Its line within its unit.
    pub line: u32,
    /// Its id, and whether that is a number.
    pub label: Option<(bool, String)>,
    /// Bytes of its text.
    pub length: u32,
    /// What the keep policy compares, as a collection stores it.
    pub keep_key: (u64, String),
    /// What its record brings.
    pub brought: Brought,
}

impl FarRow {
    /// Line and id.
    pub fn name(&self) -> (u32, Option<DocumentName<'_>>) {
        let name = self.label.as_ref();
        (self.line, name.map(|(is_number, text)| DocumentName::of_kind(text.as_str(), *is_number)))
    }
}
