//! What was found, as rows and figures.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::find::{FoundRepetition, RepeatingDocument};
use super::measures::RepetitionLimits;
use crate::document::DocumentName;
use crate::error::{Error, Result};
use crate::output::Rows;
use crate::read::Rejected;
use crate::threshold::Threshold;

/// A document that repeats itself: a line of `repetition.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct RepetitionRow<'a> {
    /// Its id, or its file and line.
    id: DocumentName<'a>,
    /// The file that it is in.
    file: &'a str,
    /// Its line, from 1.
    line: u64,
    /// Its words.
    words: u64,
    /// The measures that are over their limits.
    above: Vec<String>,
    /// All measures, by name.
    measures: BTreeMap<String, f64>,
}

/// What came of a measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitRow {
    /// The measure.
    pub measure: String,
    /// Its limit.
    pub limit: Threshold,
    /// Documents of which it is over that.
    pub documents: u64,
}

/// What came of all: `summary.json`, with what the job adds. It is the same however it was found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepetitionReport {
    /// Version of alike.
    pub version: &'static str,
    /// Files of the inputs.
    pub files: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Documents.
    pub documents: u64,
    /// Those without any word.
    pub empty: u64,
    /// Records refused.
    pub rejected: u64,
    /// Bytes of the texts of all documents.
    pub text_bytes: u64,
    /// Documents of which a measure is over its limit.
    pub above: u64,
    /// Bytes of their texts.
    pub above_bytes: u64,
    /// The same as a share of all.
    pub above_share: f64,
    /// What came of each measure.
    pub measures: Vec<LimitRow>,
}

impl RepetitionReport {
    /// The figures of what was found.
    pub fn new(limits: &RepetitionLimits, found: &FoundRepetition) -> RepetitionReport {
        let FoundRepetition { tally, inputs, refused, .. } = found;
        let measures = limits.each().zip(tally.above_each).map(|((measure, limit), documents)| LimitRow {
            measure: measure.to_string(),
            limit,
            documents,
        });
        RepetitionReport {
            version: env!("CARGO_PKG_VERSION"),
            files: inputs.sources.len() as u64,
            bytes: inputs.sources.iter().map(|source| source.bytes).sum(),
            documents: tally.documents,
            empty: tally.empty,
            rejected: Rejected::records(refused),
            text_bytes: tally.text_bytes,
            above: tally.above,
            above_bytes: tally.above_bytes,
            above_share: share(tally.above_bytes, tally.text_bytes),
            measures: measures.collect(),
        }
    }

    /// The same for programs.
    ///
    /// # Errors
    /// [`Error::Worker`], which is a bug.
    pub fn to_json(&self) -> Result<serde_json::Value> {
        serde_json::to_value(self).map_err(|error| Error::Worker(error.to_string()))
    }
}

/// A share with six digits.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e6).round() / 1e6 }
}

/// Writes `repetition.jsonl`: a row for each document that repeats itself, in document order.
///
/// # Errors
/// [`Error::Io`].
pub fn write_rows(found: &FoundRepetition, limits: &RepetitionLimits, folder: &Path) -> Result<()> {
    let mut rows = Rows::create(folder, "repetition.jsonl")?;
    if let Some(documents) = &found.documents {
        documents.each(&mut |document| {
            let RepeatingDocument { position, line, id, words, shares } = &document;
            let file = &*found.inputs.sources[position.file() as usize].shown;
            let line = found.inputs.line_at(*position, *line);
            let measures =
                shares.each().map(|(measure, (part, whole))| (measure.to_string(), share(part, whole)));
            rows.write(&RepetitionRow {
                id: id.clone().unwrap_or_else(|| format!("{file}:{line}").into()),
                file,
                line,
                words: *words,
                above: shares.above(limits).map(|measure| measure.to_string()).collect(),
                measures: measures.collect(),
            })
        })?;
    }
    rows.finish().map(drop)
}
