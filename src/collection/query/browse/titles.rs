//! The titles of stored documents, where their records can still be had.

use crate::collection::HeapCursor;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::schema::DOCUMENTS;
use crate::collection::tables::document::Document;
use crate::error::Result;
use crate::limits::sized;
use crate::progress::{Progress, Stage};
use crate::read::{FieldPath, text_member};

/// Documents whose records are read together: a file that is not kept is gone through once for so many.
const TOGETHER: usize = sized(1 << 19, 7);

/// A title of a stored document.
#[derive(Clone, Copy, Debug)]
pub struct StoredTitle<'a> {
    /// Where the document stands, by which documents are in the order in which they were read.
    pub position: u64,
    /// Its id.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
}

impl Snapshot {
    /// Hands the titles of all documents to `each`, in no particular order; `path` says where they are in a record. What cannot be
    /// read any more is passed over; why is given back.
    ///
    /// # Errors
    /// Those of [`Snapshot::record_objects`].
    pub fn titles(
        &self,
        path: &FieldPath,
        progress: &Progress,
        each: &mut dyn FnMut(StoredTitle<'_>) -> Result<()>,
    ) -> Result<Vec<String>> {
        progress.enter(Stage::Read, self.manifest().counts.documents);
        let tables = self.tables();
        let runs: Vec<_> = tables.having(DOCUMENTS).collect();
        let mut rows = tables.scan(DOCUMENTS);
        let (mut ids, mut positions, mut cursor) = (Vec::new(), Vec::new(), HeapCursor::default());
        let mut failures = Vec::new();
        loop {
            let row = rows.next_row()?.map(Document::of_row);
            let ended = row.is_none();
            if let Some(document) = row.filter(|document| document.live) {
                ids.push(document.names(runs[rows.source()], &mut cursor)?.0);
                positions.push(document.position);
            }
            if ended || ids.len() == TOGETHER {
                failures.extend(self.titles_of((&ids, &positions), path, progress, each)?);
                progress.advance(ids.len() as u64);
                ids.clear();
                positions.clear();
            }
            if ended {
                failures.sort_unstable();
                failures.dedup();
                return Ok(failures);
            }
        }
    }

    fn titles_of(
        &self,
        (ids, positions): (&[String], &[u64]),
        path: &FieldPath,
        progress: &Progress,
        each: &mut dyn FnMut(StoredTitle<'_>) -> Result<()>,
    ) -> Result<Vec<String>> {
        self.record_objects(ids, progress, &mut |number, object| {
            let found = std::str::from_utf8(object).ok().and_then(|object| text_member(object, path));
            let mut title =
                |title: &str| each(StoredTitle { position: positions[number], id: &ids[number], title });
            found.map_or(Ok(()), |(_, found)| title(&found))
        })
    }
}
