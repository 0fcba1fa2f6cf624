//! Sources and records, and what documents refer to of them.

use super::check::{Check, Origins};
use crate::collection::run::schema::{DOCUMENTS, RAW, RECORDS, SOURCES};
use crate::collection::tables::bits::Bits;
use crate::collection::tables::document::Document;
use crate::collection::tables::records::blocks::RecordCursor;
use crate::collection::tables::rows::StoredRecord;
use crate::collection::tables::run_cursors::RunCursors;
use crate::collection::tables::sources::SourceEntry;
use crate::document::Position;
use crate::error::Result;

impl Check<'_> {
    /// Sources and records are such that can be, and lie where their rows say.
    pub(super) fn origins(&mut self) -> Result<()> {
        let (files, versions) = (u64::from(self.manifest.next_file), u64::from(self.manifest.next_content));
        self.origins = Origins {
            files: Bits::below(files),
            records: Bits::below(versions),
            versions: Bits::below(versions),
        };
        self.each_row(SOURCES, &mut |check, row, run| {
            let file = SourceEntry::file_of(row);
            if file >= files {
                check.wrong(SOURCES, row, "a file that is yet to come");
            }
            check.origins.files.add(file);
            SourceEntry::of_row(row, run).map(drop)
        })?;
        let mut cursors = RunCursors::<RecordCursor>::default();
        self.each_row(RECORDS, &mut |check, row, run| {
            let record = StoredRecord::of_row(row);
            if record.version >= versions {
                check.wrong(RECORDS, row, "a version that is yet to come");
            }
            if !check.manifest.store_text {
                check.wrong(RECORDS, row, "a record in a collection that keeps none");
            }
            if run.heap(RAW).is_none_or(|heap| record.place.start > heap.len()) {
                check.wrong(RECORDS, row, "its bytes are beyond the end of the heap");
            } else if record.bytes > 0 {
                cursors.of(run, record.place.start).each_part(run, &record, &mut |_| Ok(()))?;
            }
            check.origins.records.add(record.version);
            Ok(())
        })
    }

    /// A live document comes from a source that is known, and its record is there if records are kept.
    pub(super) fn origin(&mut self, document: &Document, row: &[u64]) {
        let (file, version) = (Position::from_bits(document.position).file(), u64::from(document.version));
        if file >= self.manifest.next_file {
            self.wrong(DOCUMENTS, row, "it comes from a file that is yet to come");
        } else if !self.origins.files.has(u64::from(file)) {
            self.wrong(DOCUMENTS, row, "it comes from a source that is in no run");
        }
        if !self.origins.versions.add(version) {
            self.wrong(DOCUMENTS, row, "its version is yet to come, or another document's too");
        }
        if self.manifest.store_text && !self.origins.records.has(version) {
            self.wrong(DOCUMENTS, row, "its record is in no run");
        }
        if document.line == 0 {
            self.wrong(DOCUMENTS, row, "it stands in a line that cannot be");
        }
    }
}
