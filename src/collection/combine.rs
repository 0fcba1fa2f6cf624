//! Several neighbouring runs written as one, row by row.
//!
//! A run can have one section open at a time, so the values of a heap cannot be written beside the rows that say where
//! they begin, and to remember where each begins would be memory for each row. Instead the table is read twice: once
//! to copy the values in the order of the rows, once to write the rows, whose starts then follow from the lengths.

use super::row::Document;
use super::run::RunReader;
use super::tables::{
    CLUSTERS, COMPONENTS, CONTENTS, DEAD, DIGESTS, DOCUMENTS, LABELS, LINKS, MEMBERS, POSTINGS, RARITY, SEEN,
    SETS, TEXTS, Table, Tables,
};
use super::writer::{RunSummary, RunWriter};
use super::{HeapReader, SectionKind};
use crate::error::{Error, Result};
use crate::flow::{Doc, NO_DOC};
use crate::progress::Progress;

/// Which contents are live: one bit a content.
#[derive(Debug)]
pub struct Live(Vec<u64>);

impl Live {
    /// The live contents, which are below `next`.
    pub fn of(tables: &Tables, next: Doc) -> Result<Live> {
        let mut live = Live(vec![0; (next as usize).div_ceil(64)]);
        let mut rows = tables.scan(CONTENTS);
        while let Some(row) = rows.next_row()? {
            if row[1] > 0 {
                live.add(row[0]);
            }
        }
        Ok(live)
    }

    fn add(&mut self, content: u64) {
        if let Some(word) = self.0.get_mut((content / 64) as usize) {
            *word |= 1 << (content % 64);
        }
    }

    /// Whether a content is live.
    pub fn has(&self, content: u64) -> bool {
        self.0.get((content / 64) as usize).is_some_and(|word| word >> (content % 64) & 1 == 1)
    }
}

/// Whether a row still says anything, if there is no older row that it has to shadow.
type Stays = fn(&[u64], &Live) -> bool;

/// The tables without heaps.
const PLAIN: [(Table, Stays); 9] = [
    (CONTENTS, |row, _| row[1] > 0),
    (DIGESTS, |row, _| row[2] != u64::from(NO_DOC)),
    (POSTINGS, |row, live| live.has(u64::from(!row[1] as Doc))),
    (MEMBERS, |row, _| row[3] == 1),
    (LINKS, |row, live| live.has(row[0]) && live.has(row[1])),
    (COMPONENTS, |row, _| row[2] == 1),
    (CLUSTERS, |row, _| row[3] > 0),
    // Nothing is left of those who are dead, and nobody asks any more what a load has mentioned.
    (DEAD, |_, _| false),
    (SEEN, |_, _| false),
];

/// A table whose rows say where a value begins in a heap.
struct Heaped {
    table: Table,
    heap: SectionKind,
    stays: Stays,
    /// The word of a row that says where the value begins.
    start: usize,
    /// The words of the value of a row.
    words: fn(&[u64]) -> usize,
}

const HEAPED: [Heaped; 2] = [
    Heaped {
        table: DOCUMENTS,
        heap: LABELS,
        stays: |row, _| Document::of_row(row).live,
        start: 7,
        words: |row| {
            let (id, value) = Document::of_row(row).lengths;
            (id as usize + value as usize).div_ceil(8)
        },
    },
    Heaped {
        table: TEXTS,
        heap: SETS,
        stays: |row, live| live.has(row[0]),
        start: 1,
        words: |row| row[2] as usize,
    },
];

/// Writes the runs of `tables`, neighbours, into `run`: of each key the newest row. `live` is given if no older run is
/// left: then nothing has to be shadowed any more, and all that is gone is left out.
pub fn combine(
    run: RunWriter,
    tables: &Tables,
    live: Option<&Live>,
    progress: &Progress,
) -> Result<RunSummary> {
    let mut combining = Combining { run, tables, live, progress };
    if let Some(rarity) = tables.runs.iter().find_map(|run| run.heap(RARITY)) {
        combining.run.heap(RARITY)?;
        combining.copy_whole(rarity)?;
    }
    for heaped in &HEAPED {
        combining.heaped(heaped)?;
    }
    for (table, stays) in PLAIN {
        combining.run.rows(table.kind, table.shape)?;
        combining.each(table, stays, &mut |run, row, _| run.push(row))?;
    }
    combining.run.finish()
}

/// Words copied, or rows, between two looks at whether to stop.
const STEP: usize = 1 << 14;

/// What takes rows, with the runs they come from.
type EachRow<'a> = dyn FnMut(&mut RunWriter, &[u64], &RunReader) -> Result<()> + 'a;

struct Combining<'a> {
    run: RunWriter,
    tables: &'a Tables,
    live: Option<&'a Live>,
    progress: &'a Progress,
}

impl Combining<'_> {
    fn copy_whole(&mut self, heap: &HeapReader) -> Result<()> {
        let mut words = Vec::new();
        for start in (0..heap.len()).step_by(STEP) {
            self.progress.check()?;
            words.clear();
            heap.read(start, (heap.len() - start).min(STEP as u64) as usize, &mut words)?;
            self.run.push(&words)?;
        }
        self.progress.advance(heap.len() * 8);
        Ok(())
    }

    fn heaped(&mut self, of: &Heaped) -> Result<()> {
        let mut words = Vec::new();
        self.run.heap(of.heap)?;
        self.each(of.table, of.stays, &mut |run, row, from| {
            let heap = from.heap(of.heap);
            let heap = heap.ok_or_else(|| Error::damaged(from.path(), 0, "rows without their heap"))?;
            words.clear();
            heap.read(row[of.start], (of.words)(row), &mut words)?;
            run.push(&words)
        })?;
        self.run.rows(of.table.kind, of.table.shape)?;
        let (mut start, mut new) = (0, Vec::new());
        self.each(of.table, of.stays, &mut |run, row, _| {
            new.clear();
            new.extend_from_slice(row);
            new[of.start] = start;
            start += (of.words)(row) as u64;
            run.push(&new)
        })
    }

    /// Hands on the rows that stay, with the runs they come from.
    fn each(&mut self, table: Table, stays: Stays, each: &mut EachRow<'_>) -> Result<()> {
        let runs: Vec<_> = self.tables.having(table).collect();
        let mut rows = self.tables.scan(table);
        let mut seen = 0;
        loop {
            if seen % STEP == 0 {
                self.progress.check()?;
            }
            let Some(row) = rows.next_row()?.map(<[u64]>::to_vec) else { break };
            seen += 1;
            if self.live.is_none_or(|live| stays(&row, live)) {
                each(&mut self.run, &row, runs[rows.source()])?;
            }
        }
        self.progress.advance((seen * table.shape.width * 8) as u64);
        Ok(())
    }
}
