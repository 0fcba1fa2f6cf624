//! The texts of passages, read again where they stand first.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::repeats::RankedPassage;
use crate::document::{DocumentName, Position};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::read::{Record, Refusal, RunInputs, Sink, UnitReader};
use crate::simd::Simd;
use crate::text::{Fold, Tokenizer, Tokens};
use crate::threads::hand_out;

/// Characters of a passage that are shown.
const SHOWN: usize = 240;

/// A passage that is repeated.
#[derive(Clone, Debug, Serialize)]
pub struct Passage {
    /// How often it occurs.
    pub count: u64,
    /// In how many documents.
    pub documents: u64,
    /// Its words.
    pub words: u64,
    /// Its bytes where it stands first.
    pub bytes: usize,
    /// The file of the document that has it first.
    pub file: String,
    /// The line of that document.
    pub line: u64,
    /// The id of that document, if it has one.
    pub id: Option<DocumentName<'static>>,
    /// Where it begins in the text of that document, in bytes.
    pub start: usize,
    /// How it begins, on one line.
    pub text: String,
}

/// Reads passages again, and says where they stand.
pub(super) fn describe(
    inputs: &RunInputs,
    passages: &[RankedPassage],
    (fold, workers, simd): (Fold, usize, Simd),
    progress: &Progress,
) -> Result<Vec<Passage>> {
    let mut units: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, passage) in passages.iter().enumerate() {
        let Reverse(document) = passage.document;
        let place = (document.file(), document.offset());
        let behind = inputs.units.partition_point(|unit| (unit.file, unit.start) <= place);
        units.entry(behind.saturating_sub(1)).or_default().push(at);
    }
    let units: Vec<(usize, Vec<usize>)> = units.into_iter().collect();
    let read = |(): &mut (), at: usize| {
        let (unit, wanted) = &units[at];
        let unit = inputs.units[*unit];
        let source = &inputs.sources[unit.file as usize];
        let mut documents: HashMap<Position, Vec<usize>> = HashMap::new();
        wanted.iter().for_each(|at| documents.entry(passages[*at].document.0).or_default().push(*at));
        let mut taker = PassageTaker {
            inputs,
            passages,
            documents,
            found: Vec::new(),
            tokenizer: Tokenizer::new(Tokens::Words, fold, simd),
        };
        let mut reader = UnitReader::open(unit.file, source, &unit, Arc::clone(&inputs.fields));
        while reader.advance(&mut taker)? && !taker.documents.is_empty() {
            progress.check()?;
        }
        if !taker.documents.is_empty() {
            return Err(Error::Changed(source.path.clone()));
        }
        Ok(taker.found)
    };
    let mut all: Vec<(usize, Passage)> =
        hand_out(units.len(), workers, || (), read)?.into_iter().flatten().collect();
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, passage)| passage).collect())
}

/// Takes the passages of the documents of a unit.
struct PassageTaker<'a> {
    inputs: &'a RunInputs,
    passages: &'a [RankedPassage],
    /// The documents that are wanted, and their passages.
    documents: HashMap<Position, Vec<usize>>,
    found: Vec<(usize, Passage)>,
    tokenizer: Tokenizer,
}

impl Sink for PassageTaker<'_> {
    fn document(&mut self, record: &Record<'_>) {
        let Some(wanted) = self.documents.get(&record.position) else { return };
        for at in wanted {
            let RankedPassage { count, bytes, start, documents, .. } = self.passages[*at];
            // If it is not there, the document stays wanted: the input has changed.
            let Some(text) = record.text.get(start.0..start.0 + bytes) else { return };
            let passage = Passage {
                count,
                documents,
                words: self.tokenizer.tokens(text).len() as u64,
                bytes,
                file: self.inputs.sources[record.position.file() as usize].shown.clone(),
                line: self.inputs.line_at(record.position, record.line),
                id: record.id.clone().map(DocumentName::into_owned),
                start: start.0,
                text: excerpt(text),
            };
            self.found.push((*at, passage));
        }
        self.documents.remove(&record.position);
    }

    fn refuse(&mut self, _: Position, _: u32, _: Refusal) {}
}

/// How a text begins, with single blanks.
fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        let end = word.char_indices().nth(SHOWN + 1).map_or(word.len(), |(end, _)| end);
        shown.push_str(&word[..end]);
        if shown.len() > 8 * SHOWN {
            break;
        }
    }
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_on_one_line() {
        assert_eq!(excerpt(" a\n\n b\tc "), "a b c");
        let long = "\u{e9}".repeat(10_000);
        assert_eq!(excerpt(&long).chars().count(), SHOWN + 3);
        assert_eq!(excerpt(&"ab ".repeat(10_000)).chars().count(), SHOWN + 3);
    }
}
