//! The rows of several runs that are merged. Where there are many a thread reads them while the caller writes: unpacking what is merged
//! and packing what it becomes cost about as much.

use std::sync::mpsc::{SyncSender, sync_channel};

use crate::collection::commit::manifest::Manifest;
use crate::collection::maintain::live::Live;
use crate::collection::run::merge::Merge;
use crate::collection::run::reader::RunReader;
use crate::collection::run::rows::RowsReader;
use crate::collection::run::schema::{
    CLUSTERS, COMPONENTS, DIGESTS, DOCUMENTS, POSTINGS, SEEN, SOURCES, Table,
};
use crate::collection::tables::Tables;
use crate::collection::tables::postings::PostingForm;
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;

/// Of every table the rows of one range of its keys: all ranges of a share are alike in size.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Which of them.
    part: u64,
    /// How many there are.
    parts: u64,
    /// What keys that are no hashes are below: contents and records, labels, and files.
    below: [u64; 3],
    /// What keys of postings are below.
    postings: u128,
}

impl Range {
    /// All rows.
    pub const ALL: Range = Range { part: 0, parts: 1, below: [0; 3], postings: 0 };

    /// Range number `part` of so many, of the tables of a commit.
    pub fn of(manifest: &Manifest, part: usize, parts: usize) -> Range {
        let below = [manifest.next_content, manifest.next_label, manifest.next_file];
        Range {
            part: part as u64,
            parts: parts as u64,
            below: below.map(u64::from),
            postings: PostingForm::of(&manifest.config).keys(),
        }
    }

    /// Where range number `part` of a table begins; none for the end of the last.
    fn start(&self, table: Table, part: u64) -> Option<u64> {
        let [contents, labels, files] = self.below.map(u128::from);
        let space = match table.kind {
            kind if [DOCUMENTS.kind, DIGESTS.kind, SEEN.kind].contains(&kind) => 1 << 64,
            kind if [COMPONENTS.kind, CLUSTERS.kind].contains(&kind) => labels,
            kind if kind == POSTINGS.kind => self.postings,
            kind if kind == SOURCES.kind => files,
            _ => contents,
        };
        (part < self.parts).then(|| (space * u128::from(part) / u128::from(self.parts)) as u64)
    }

    /// Whether it is the first one.
    pub fn is_first(&self) -> bool {
        self.part == 0
    }

    /// Where its rows of postings begin, and where those of the next range do, if there is one.
    pub fn of_postings(&self) -> (u64, Option<u64>) {
        let start = |part| self.start(POSTINGS, part);
        (start(self.part).unwrap_or_default(), start(self.part + 1))
    }

    fn scan(&self, tables: &Tables, table: Table) -> Merge {
        let (from, to) = (self.start(table, self.part), self.start(table, self.part + 1));
        tables.scan_between(table, from.as_slice(), to.as_ref().map(std::slice::from_ref))
    }
}

/// Whether a row still says anything, if there is no older row that it has to shadow.
pub type Stays = fn(&[u64], &Live) -> bool;

/// What is asked of a row and the number of its run, from the newest on, among those that have its table.
pub type Only<'a> = dyn Fn(usize, &[u64]) -> bool + Sync + 'a;

/// Reads what is written of a row, and appends it to a list; false if that is longer than a number of words, and nothing is appended.
pub type ReadValue = Box<dyn FnMut(&[u64], &RunReader, usize, &mut Vec<u64>) -> Result<bool>>;

/// A row on its way to who writes it.
#[derive(Clone, Copy, Debug)]
pub enum MergedRow<'a> {
    /// What is written of it.
    Read(&'a [u64]),
    /// The row, and the run it comes from: nothing of it has been read beside it.
    Found(&'a [u64], &'a RunReader),
}

/// Rows of several runs.
#[derive(Clone, Copy)]
pub struct MergedRows<'a> {
    /// The runs, neighbours.
    pub tables: &'a Tables,
    /// The keys of the rows.
    pub range: Range,
    /// What is live, if all else is left out.
    pub live: Option<&'a Live>,
    /// Of the rows that stay those are handed on of which this is true, given the number of the run, if it is given.
    pub only: Option<&'a Only<'a>>,
    /// Asked whether to stop.
    pub progress: &'a Progress,
}

/// Rows between two looks at whether to stop.
const STEP: usize = sized(1 << 14, 7);
/// So many rows are worth a thread.
const MANY: u64 = sized(1 << 13, 4);
/// Words, or rows, that are handed over at a time.
const BATCH: usize = sized(1 << 14, 16);
/// Batches between the one that is read and the one that is written, so that neither thread waits for each batch of the other.
const WAITING: usize = 1;
/// A value of more words is read by who writes it: it is never held twice.
const LONG: usize = sized(1 << 16, 12);

/// Rows that were read.
#[derive(Default)]
struct ReadRows {
    words: Vec<u64>,
    /// Where each ends, and the run of one of which nothing has been read.
    ends: Vec<(usize, Option<usize>)>,
}

impl MergedRows<'_> {
    /// Hands on the rows of a table that stay, read by what `reader` makes, as far as that is worth it.
    ///
    /// # Errors
    /// Those of reading runs and of `each`, and [`Error::Interrupted`].
    pub fn each_read(
        self,
        of: (Table, Stays),
        reader: &(dyn Fn() -> ReadValue + Sync),
        each: &mut dyn FnMut(MergedRow<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.are_many(of.0) {
            return self.each(of, &mut |row, from| each(MergedRow::Found(row, from)));
        }
        let runs: Vec<&RunReader> = self.tables.having(of.0).collect();
        let read = |sender: &SyncSender<ReadRows>| self.read(of, &mut reader(), sender);
        beside(&read, &mut |batch| batch.write(&runs, each))
    }

    /// Hands on the rows of a table that stay.
    ///
    /// # Errors
    /// Those of [`MergedRows::each_read`].
    pub fn each_row(self, of: (Table, Stays), each: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<()> {
        if !self.are_many(of.0) {
            return self.each(of, &mut |row, _| each(row));
        }
        let read = |sender: &SyncSender<Vec<u64>>| {
            let mut batch = Vec::new();
            self.each_of_source(of, &mut |row, _| {
                if batch.len() + row.len() > BATCH {
                    let next = Vec::with_capacity(BATCH);
                    sender.send(std::mem::replace(&mut batch, next)).map_err(|_| Error::Interrupted)?;
                }
                batch.extend_from_slice(row);
                Ok(())
            })?;
            sender.send(batch).map_err(|_| Error::Interrupted)
        };
        beside(&read, &mut |rows| rows.chunks_exact(of.0.shape.width).try_for_each(&mut *each))
    }

    /// Whether a thread for the rows of a table is worth it.
    fn are_many(&self, table: Table) -> bool {
        let rows = self.tables.having(table).filter_map(|run| run.rows(table.kind));
        rows.map(RowsReader::len).sum::<u64>() >= MANY
    }

    /// Hands on the rows that stay, with the runs they come from.
    ///
    /// # Errors
    /// Those of [`MergedRows::each_read`].
    pub fn each(
        self,
        of: (Table, Stays),
        each: &mut dyn FnMut(&[u64], &RunReader) -> Result<()>,
    ) -> Result<()> {
        let runs: Vec<&RunReader> = self.tables.having(of.0).collect();
        self.each_of_source(of, &mut |row, source| each(row, runs[source]))
    }

    /// Hands on the rows that stay, with the numbers of the runs they come from, from the newest on, among those that have the table.
    ///
    /// # Errors
    /// Those of [`MergedRows::each_read`].
    pub fn each_of_source(
        self,
        (table, stays): (Table, Stays),
        each: &mut dyn FnMut(&[u64], usize) -> Result<()>,
    ) -> Result<()> {
        let mut rows = self.range.scan(self.tables, table);
        let mut seen = 0;
        loop {
            if seen % STEP == 0 {
                self.progress.check()?;
            }
            let Some((source, row)) = rows.next_of_source()? else { break };
            seen += 1;
            if self.live.is_none_or(|live| stays(row, live)) && self.only.is_none_or(|only| only(source, row))
            {
                each(row, source)?;
            }
        }
        Ok(())
    }

    /// Reads rows, and sends them on in batches until nobody takes any.
    fn read(self, of: (Table, Stays), value: &mut ReadValue, sender: &SyncSender<ReadRows>) -> Result<()> {
        let runs: Vec<&RunReader> = self.tables.having(of.0).collect();
        let mut batch = ReadRows::default();
        let gone = |_| Error::Interrupted;
        self.each_of_source(of, &mut |row, source| {
            let is_read = value(row, runs[source], LONG, &mut batch.words)?;
            if !is_read {
                batch.words.extend_from_slice(row);
            }
            batch.ends.push((batch.words.len(), (!is_read).then_some(source)));
            if !is_read || batch.words.len().max(batch.ends.len()) >= BATCH {
                sender.send(std::mem::take(&mut batch)).map_err(gone)?;
            }
            if !is_read {
                // The last of them finds room when the long one is written.
                (0..=WAITING).try_for_each(|_| sender.send(ReadRows::default())).map_err(gone)?;
            }
            Ok(())
        })?;
        sender.send(batch).map_err(gone)
    }
}

impl ReadRows {
    /// Hands on what was read.
    fn write(self, runs: &[&RunReader], each: &mut dyn FnMut(MergedRow<'_>) -> Result<()>) -> Result<()> {
        let mut start = 0;
        for (end, source) in self.ends {
            let row = &self.words[start..end];
            each(source.map_or(MergedRow::Read(row), |source| MergedRow::Found(row, runs[source])))?;
            start = end;
        }
        Ok(())
    }
}

/// Writes here what a thread reads.
fn beside<B: Send>(
    read: &(dyn Fn(&SyncSender<B>) -> Result<()> + Sync),
    write: &mut dyn FnMut(B) -> Result<()>,
) -> Result<()> {
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || read(&sender));
        let written = receiver.into_iter().try_for_each(write);
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Nobody takes what is read once something could not be written.
        written.and(read)
    })
}

#[cfg(test)]
#[path = "merged_rows_tests.rs"]
mod tests;
