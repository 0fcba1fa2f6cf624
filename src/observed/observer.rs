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
        for (column, value) in self.0.columns.iter_mut().zip(&record.observed) {
            column.note(*row, value.as_deref());
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
        let mut rest = Some(Observed {
            columns: std::mem::take(&mut self.columns),
            worker: self.worker,
            ..Observed::default()
        });
        std::iter::from_fn(move || {
            if let Some(mut piece) = rest.take() {
                let columns: Vec<ValueColumn> =
                    piece.columns.iter_mut().map(|column| column.split_off(PIECE)).collect();
                if columns.iter().any(|column| column.bytes() > 0) {
                    rest = Some(Observed { columns, worker: piece.worker, ..Observed::default() });
                }
                return Some(piece);
            }
            let lines = self.lines.split_off(PIECE);
            (!lines.is_empty()).then(|| Observed { worker: self.worker, lines, ..Observed::default() })
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
