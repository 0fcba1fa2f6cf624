//! The documents of newcomers in the order of their ids. They come in the order they were read, and are divided by the high bits of
//! their ids as they come: a range of ids is then sorted within the processor's caches, where all of them at once would wait for
//! memory at every step.

use crate::collection::run::schema::{DOCUMENTS, LABELS, SEEN};
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
}

/// The documents of a range of ids. Their labels are places in the bytes beside them.
struct IdRange {
    documents: Vec<Document>,
    labels: Vec<u8>,
}

impl DocumentsById {
    /// None yet; so many will come.
    pub(super) fn new(count: usize) -> DocumentsById {
        let ranges = (count / OF_RANGE).clamp(1, MOST_RANGES).next_power_of_two();
        let each = count / ranges;
        let empty = || IdRange { documents: Vec::with_capacity(each + each / 16), labels: Vec::new() };
        DocumentsById {
            bits: ranges.trailing_zeros(),
            ranges: std::iter::repeat_with(empty).take(ranges).collect(),
        }
    }

    /// Takes in a document, with its id and the value that the keep policy compares.
    pub(super) fn push(&mut self, mut document: Document, name: &str, value: &str) {
        let range = document.id.checked_shr(u128::BITS - self.bits).unwrap_or_default();
        let IdRange { documents, labels } = &mut self.ranges[range as usize];
        document.label = labels.len() as u64;
        documents.push(document);
        labels.extend_from_slice(name.as_bytes());
        labels.extend_from_slice(value.as_bytes());
    }

    /// Writes them and their labels, and that the load of a number mentions their ids if that is to be noted.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`].
    pub(super) fn write(mut self, run: &mut RunWriter, mentioned: Option<u32>) -> Result<()> {
        run.heap(LABELS)?;
        let (mut words, mut written) = (Vec::new(), 0);
        for IdRange { documents, labels } in &mut self.ranges {
            documents.sort_unstable_by_key(|document| document.id);
            for document in documents {
                let bytes = document.lengths.0 as usize + document.lengths.1 as usize;
                words.clear();
                words.extend(words_of(&labels[document.label as usize..][..bytes]));
                run.push(&words)?;
                document.label = written;
                written += words.len() as u64;
            }
            *labels = Vec::new();
        }
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
