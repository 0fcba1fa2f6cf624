//! The documents of newcomers in the order of their ids. They come in the order they were read, and are divided by the high bits of
//! their ids as they come: a range of ids is then sorted within the processor's caches, where all of them at once would wait for
//! memory at every step. Ids and values that are more than may be held are brought some ranges at a time.

use std::ops::Range;

use crate::collection::run::schema::{DOCUMENTS, SEEN};
use crate::collection::run::writer::RunWriter;
use crate::collection::tables::document::{Document, words_of};
use crate::collection::tables::rows::SeenId;
use crate::error::Result;
use crate::limits::sized;

/// Documents of a range, about.
const OF_RANGE: usize = sized(1 << 13, 2);
/// Most ranges: there are as many streams of writes.
const MOST_RANGES: usize = 1 << 10;

/// Documents, each in the range of its id.
pub(super) struct DocumentsById {
    /// By the so many high bits of ids.
    bits: u32,
    ranges: Vec<IdRange>,
    /// How many ranges are brought at a time, and those that are.
    at_once: usize,
    now: Range<usize>,
    /// Documents of a range, about, and bytes of their labels.
    each: (usize, usize),
    /// Words of labels that are written.
    written: u64,
}

/// The documents of a range of ids. Until these are written their labels are places in the bytes beside them.
#[derive(Clone, Default)]
struct IdRange {
    documents: Vec<Document>,
    labels: Vec<u8>,
}

impl DocumentsById {
    /// None yet; so many will come, with so many bytes of ids and values, of which `most` may be held, about.
    pub(super) fn new(count: usize, bytes: u64, most: u64) -> DocumentsById {
        let times = bytes.div_ceil(most.max(1)).min(MOST_RANGES as u64) as usize;
        let ranges = (count / OF_RANGE).max(times).clamp(1, MOST_RANGES).next_power_of_two();
        let each = (count / ranges, bytes as usize / ranges);
        DocumentsById {
            bits: ranges.trailing_zeros(),
            ranges: vec![IdRange::default(); ranges],
            at_once: (ranges / times.max(1)).max(1),
            now: 0..0,
            each,
            written: 0,
        }
    }

    /// Begins with the next ranges; whether there are any.
    pub(super) fn begin(&mut self) -> bool {
        let from = self.now.end;
        self.now = from..self.ranges.len().min(from + self.at_once);
        let with_room = |(documents, bytes): (usize, usize)| IdRange {
            documents: Vec::with_capacity(documents + documents / 16),
            labels: Vec::with_capacity(bytes + bytes / 16),
        };
        self.ranges[self.now.clone()].fill_with(|| with_room(self.each));
        !self.now.is_empty()
    }

    /// The range of an id, if it is one of those that are brought.
    fn range(&self, id: u128) -> Option<usize> {
        let range = id.checked_shr(u128::BITS - self.bits).unwrap_or_default() as usize;
        self.now.contains(&range).then_some(range)
    }

    /// Whether the document of an id is wanted now.
    pub(super) fn wants(&self, id: u128) -> bool {
        self.range(id).is_some()
    }

    /// Takes in a document that is wanted, with its id and the value that the keep policy compares.
    pub(super) fn push(&mut self, mut document: Document, name: &str, value: &str) {
        let Some(range) = self.range(document.id) else { return };
        let IdRange { documents, labels } = &mut self.ranges[range];
        document.label = labels.len() as u64;
        documents.push(document);
        labels.extend_from_slice(name.as_bytes());
        labels.extend_from_slice(value.as_bytes());
    }

    /// Writes the labels of the ranges that were brought to their heap.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn write_labels(&mut self, run: &mut RunWriter) -> Result<()> {
        let mut words = Vec::new();
        for IdRange { documents, labels } in &mut self.ranges[self.now.clone()] {
            documents.sort_unstable_by_key(|document| document.id);
            for document in documents {
                let bytes = document.lengths.0 as usize + document.lengths.1 as usize;
                words.clear();
                words.extend(words_of(&labels[document.label as usize..][..bytes]));
                run.push(&words)?;
                document.label = self.written;
                self.written += words.len() as u64;
            }
            *labels = Vec::new();
        }
        Ok(())
    }

    /// Writes the documents, and that the load of a number mentions their ids if that is to be noted.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn write(self, run: &mut RunWriter, mentioned: Option<u32>) -> Result<()> {
        if let Some(load) = mentioned {
            let documents = self.ranges.iter().flat_map(|range| &range.documents);
            run.table(
                SEEN,
                documents.map(|document| SeenId { id: document.id, load: load.into() }.to_row()),
            )?;
        }
        let documents = self.ranges.into_iter().flat_map(|range| range.documents);
        run.table(DOCUMENTS, documents.map(|document| document.to_row()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever may be held at a time, each document is brought once, in the order of ids.
        #[test]
        fn each_document_is_brought_once_in_order(
            ids in prop::collection::btree_set(any::<u128>(), 0..60), most in prop::sample::select(vec![0, 1, 7, 100, u64::MAX]),
        ) {
            let documents: Vec<Document> = ids.iter().rev().map(|id| Document::gone(*id)).collect();
            let mut by_id = DocumentsById::new(documents.len(), 10 * documents.len() as u64, most);
            let mut brought = 0;
            while by_id.begin() {
                let mut held = 0;
                for document in documents.iter().filter(|document| by_id.wants(document.id)).cloned().collect::<Vec<_>>() {
                    by_id.push(document, "0123456789", "");
                    (brought, held) = (brought + 1, held + 1);
                }
                prop_assert!(most < 600 || held == documents.len());
            }
            prop_assert_eq!(brought, documents.len());
            let ranges = by_id.ranges.iter_mut().map(|range| {
                range.documents.sort_unstable_by_key(|document| document.id);
                range.documents.iter().map(|document| document.id)
            });
            prop_assert_eq!(ranges.flatten().collect::<Vec<_>>(), ids.into_iter().collect::<Vec<_>>());
        }
    }
}
