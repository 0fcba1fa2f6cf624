//! What a worker notes of the documents that it reads.

use serde::{Deserialize, Serialize};

use super::sample::{LineSample, SampleShare};
use super::values::ValueColumn;
use crate::document::Doc;
use crate::limits::sized;
use crate::read::Record;

/// Rows and lines of a piece on its way to another process.
const PIECE: usize = sized(1 << 16, 100);

/// What a worker has noted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// The worker's number.
    pub worker: u32,
    /// The values of each field that is observed, by row.
    pub columns: Vec<ValueColumn>,
    /// Lines of its documents that are not protected.
    pub lines: LineSample,
}

/// A document that was read.
pub struct ObservedRecord<'a> {
    /// The record.
    pub record: &'a Record<'a>,
    /// Its number.
    pub doc: Doc,
    /// Its row with the worker.
    pub row: usize,
    /// The digest of its text.
    pub digest: u128,
}

/// A worker's notes while it reads.
#[derive(Default)]
pub struct Observer(Observed);

impl Observer {
    /// The notes of a worker, of so many fields, before its first record.
    pub fn new(worker: usize, fields: usize) -> Observer {
        let columns = vec![ValueColumn::default(); fields];
        Observer(Observed { worker: worker as u32, columns, lines: LineSample::default() })
    }

    /// Notes a document that is not protected; rows ascend.
    pub fn note(&mut self, read: &ObservedRecord<'_>, share: &SampleShare) {
        let ObservedRecord { record, doc, row, digest } = read;
        let values = record.observed.as_deref();
        for (at, column) in self.0.columns.iter_mut().enumerate() {
            column.note(*row, values.and_then(|values| values.get(at)?.as_deref()));
        }
        self.0.lines.note(*doc, *digest, record.text, share);
    }

    /// Bytes that the notes take.
    pub fn bytes(&self) -> u64 {
        self.0.columns.iter().map(ValueColumn::bytes).sum::<u64>() + self.0.lines.held()
    }

    /// What was noted.
    pub fn finish(self) -> Observed {
        self.0
    }
}

impl Observed {
    /// The notes in pieces, the first rows first.
    pub fn pieces(mut self) -> impl Iterator<Item = Observed> {
        let worker = self.worker;
        let of = move |columns| Observed { columns, worker, ..Observed::default() };
        let mut columns = std::mem::take(&mut self.columns);
        let rows = columns.iter().map(ValueColumn::rows).max().unwrap_or_default();
        // Divided from the end, so that no row is moved twice.
        let mut pieces: Vec<Observed> = (PIECE..rows)
            .step_by(PIECE)
            .rev()
            .map(|first| of(columns.iter_mut().map(|column| column.split_off(first)).collect()))
            .collect();
        pieces.push(of(columns));
        std::iter::from_fn(move || {
            pieces.pop().or_else(|| {
                let lines = self.lines.split_off(PIECE);
                (!lines.is_empty()).then(|| Observed { worker, lines, ..Observed::default() })
            })
        })
    }

    /// Adds a piece of another process to notes of the same worker.
    pub fn take_in(&mut self, piece: Observed, share: &SampleShare) {
        match self.columns.is_empty() {
            true => self.columns = piece.columns,
            false => self.columns.iter_mut().zip(piece.columns).for_each(|(own, rest)| own.append(rest)),
        }
        self.lines.take_in(piece.lines, share);
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::document::Position;
    use crate::observed::FieldValue;
    use crate::read::Day;

    /// What a worker notes of so many documents.
    fn noted(documents: usize, share: &SampleShare) -> Observed {
        let mut observer = Observer::new(3, 2);
        for row in 0..documents {
            let text = format!("The line that all documents have\nand a line of number {row} alone");
            let value = |text: String| Some(Cow::Owned(text));
            let record = Record {
                position: Position::new(0, row as u64),
                line: 1,
                id: None,
                text: &text,
                header: "",
                raw: text.as_bytes(),
                value: None,
                within: None,
                day: Day::None,
                observed: Some(Box::new([
                    value((row % 7).to_string()),
                    (row % 3 == 0).then(|| "x".into()),
                    None,
                    None,
                ])),
                deleted: false,
            };
            observer
                .note(&ObservedRecord { record: &record, doc: row as Doc, row, digest: row as u128 }, share);
        }
        assert_eq!(observer.bytes() > 0, documents > 0);
        observer.finish()
    }

    #[test]
    fn pieces_come_together_as_they_were() {
        for documents in [0, 1, PIECE, 2 * PIECE + 1] {
            let (share, other) = (SampleShare::default(), SampleShare::default());
            let whole = noted(documents, &other);
            let mut found = Observed { worker: 3, ..Observed::default() };
            let pieces: Vec<Observed> = whole.clone().pieces().collect();
            assert!(pieces.len() > 2 * documents / PIECE, "{} pieces", pieces.len());
            for piece in pieces {
                assert_eq!(piece.worker, 3);
                found.take_in(piece, &share);
            }
            for row in 0..documents + 5 {
                for (column, same) in found.columns.iter().zip(&whole.columns) {
                    assert_eq!(column.value(row), same.value(row), "{row} of {documents}");
                }
            }
            assert_eq!((found.columns.len(), found.lines.size()), (2, whole.lines.size()));
            assert_eq!(found.lines.most_shared(5), whole.lines.most_shared(5));
            let seven = found.columns[0].value(6);
            assert!(documents < 7 || *seven == FieldValue::Text("6".into()));
        }
    }
}
