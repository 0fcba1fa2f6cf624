//! Rows with the columns that they have, in another format that has a place for them: those of Arrow as Parquet.

use super::notes::{Note, NoteColumns};
use super::selection::Selection;
use super::shards::{ShardNames, Written};
use super::tables::{cells, columns};
use crate::error::Result;
use crate::limits::sized;
use crate::output::columns::{HeldCells, LeafFile, TableColumn, group_bytes};
use crate::progress::Progress;
use crate::read::{ArrowTable, Fields, Source};

/// Most rows that are chosen at once.
const ROWS: u64 = sized(1 << 10, 5);

/// Writes the rows of a source.
pub(super) struct LeafWriter<'a> {
    table: ArrowTable,
    names: ShardNames<'a>,
    columns: Option<NoteColumns>,
    added: Vec<TableColumn>,
    notes: Vec<HeldCells>,
    /// Bytes that the cells of notes take.
    noted: usize,
    open: Option<LeafFile>,
    written: Written,
}

impl<'a> LeafWriter<'a> {
    /// Opens a source, whose rows get columns of notes if there are such.
    pub(super) fn open(
        source: &Source,
        fields: &Fields,
        names: ShardNames<'a>,
        columns_of: Option<NoteColumns>,
    ) -> Result<LeafWriter<'a>> {
        let added = columns_of.map(columns).unwrap_or_default();
        Ok(LeafWriter {
            table: ArrowTable::open(source, &fields.room)?,
            names,
            columns: columns_of,
            notes: added.iter().map(|(_, kind)| HeldCells::new(*kind)).collect(),
            added,
            noted: 0,
            open: None,
            written: Written::default(),
        })
    }

    /// Writes the rows that are chosen. Others are passed over as they are: they may be damaged.
    pub(super) fn rows(&mut self, selection: &mut Selection<'_>, progress: &Progress) -> Result<()> {
        for batch in self.table.batches() {
            let mut row = batch.start;
            while row < batch.end {
                progress.check()?;
                if !selection.takes(row) {
                    row += 1;
                    continue;
                }
                let mut end = row + 1;
                while end < batch.end.min(row + ROWS) && selection.takes(end) {
                    end += 1;
                }
                while row < end {
                    let next = row + self.table.take(&(row..end))?;
                    (row..next).try_for_each(|row| self.note(selection.note(row)?))?;
                    row = next;
                    self.flush_if_full()?;
                }
            }
        }
        Ok(())
    }

    /// Takes the note of a row.
    fn note(&mut self, note: Option<&Note>) -> Result<()> {
        let (Some(note), Some(columns)) = (note, self.columns) else { return Ok(()) };
        let said = note.cells()?;
        for (column, cell) in
            self.notes.iter_mut().zip(cells(&said, columns, (note.resemblance, note.deciding)))
        {
            self.noted += column.push(cell);
        }
        Ok(())
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.table.held().saturating_add(self.noted as u64) < group_bytes(self.names.limit()) as u64 {
            return Ok(());
        }
        self.flush()?;
        let is_full = self.open.as_ref().is_some_and(|file| self.names.is_full(file.written()));
        if is_full { self.close() } else { Ok(()) }
    }

    /// Writes the rows that are held.
    fn flush(&mut self) -> Result<()> {
        if self.table.held() == 0 {
            return Ok(());
        }
        self.opened()?;
        if let Some(file) = &mut self.open {
            file.write(self.table.leaves(), &mut self.notes)?;
        }
        self.table.clear();
        self.noted = 0;
        Ok(())
    }

    fn opened(&mut self) -> Result<()> {
        if self.open.is_none() {
            self.open = Some(LeafFile::create(self.names.next(), &self.table, &self.added)?);
            self.written.files += 1;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if let Some(file) = self.open.take() {
            self.written.bytes += file.finish()?;
        }
        Ok(())
    }

    /// Ends the last file. If there is none yet, there will be one without rows if it is `wanted`.
    pub(super) fn finish(mut self, wanted: bool) -> Result<Written> {
        self.flush()?;
        if wanted && self.written.files == 0 {
            self.opened()?;
        }
        self.close()?;
        Ok(self.written)
    }
}
