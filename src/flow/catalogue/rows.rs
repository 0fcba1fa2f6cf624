//! Rows on their way to another process.

use crate::read::Value;

/// Rows of a worker on their way to another process. What was not asked for is empty.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SegmentRows {
    /// Positions, as bits.
    pub positions: Vec<u64>,
    /// Lines within their units.
    pub lines: Vec<u32>,
    /// Sizes of sets.
    pub sizes: Vec<u32>,
    /// Ids, and whether they are numbers.
    pub labels: Vec<Option<(bool, String)>>,
    /// Lengths of texts.
    pub lengths: Vec<u32>,
    /// Values that the keep policy compares.
    pub values: Vec<Option<Value>>,
}
