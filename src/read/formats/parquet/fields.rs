//! The columns of a row group that are wanted, read in step.

use crate::limits::sized;
use std::ops::Range;
use std::sync::Arc;

use parquet::errors::Result;

use super::cell::Cell;
use super::column::ColumnCells;
use super::footer::ParquetFile;
use super::leaf;
use super::pages::UnitMemory;
use crate::read::field::{FieldPath, Fields, OBSERVED_FIELDS};
use crate::read::record::{Refusal, SHOWN_KEYS};

/// Bytes of texts, or of the pages they are in, after which a step ends.
const STEP: u64 = sized(1 << 20, 256);

/// One byte that nobody wants is fetched between columns for so many that are wanted before it.
const BETWEEN: u64 = 32;

/// Fields of a record beside its text.
pub(in crate::read::formats) const FIELDS: usize = 5 + OBSERVED_FIELDS;

/// The place of the date among them.
const DATE: usize = 2;

/// Which leaf each field is.
#[derive(Clone, Copy)]
pub(super) struct Leaves {
    pub(super) text: usize,
    pub(super) others: [Option<usize>; FIELDS],
}

impl Leaves {
    /// The leaves of the wanted fields.
    ///
    /// # Errors
    /// The refusal of a file without the column of the text, or that of an id where records are changes.
    pub(super) fn find(file: &ParquetFile, fields: &Fields) -> std::result::Result<Leaves, Refusal> {
        let schema = &file.layout.schema;
        let at = |path: &FieldPath| leaf::find(schema, path);
        let names = || {
            let names = leaf::names(schema);
            let more = names.len().saturating_sub(SHOWN_KEYS);
            (names.into_iter().take(SHOWN_KEYS).collect::<Vec<_>>(), more)
        };
        let text = at(&fields.text).ok_or_else(|| {
            let (names, more) = names();
            Refusal::no_column(fields.text.as_str(), &names, more)
        })?;
        let of = |path: &Option<FieldPath>| path.as_ref().and_then(at);
        let Fields { value, within, date, op, .. } = fields;
        let mut others = [None; FIELDS];
        let named = [at(&fields.id), of(value), of(date), of(op), of(within)];
        let observed = fields.observed().map(|path| path.and_then(at));
        others.iter_mut().zip(named.into_iter().chain(observed)).for_each(|(leaf, found)| *leaf = found);
        Ok(Leaves { text, others })
    }

    /// All of them, none twice.
    fn all(self) -> Vec<usize> {
        let mut all: Vec<usize> =
            std::iter::once(self.text).chain(self.others.into_iter().flatten()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The leaves of text and date alone.
    pub(super) fn date_only(self) -> Leaves {
        let mut others = [None; FIELDS];
        others[DATE] = self.others[DATE];
        Leaves { others, ..self }
    }
}

/// Ranges that are fetched as one: those with so little between them that a request for each would cost more.
fn wanted_together(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut together: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match together.last_mut() {
            Some(last) if range.start.saturating_sub(last.end) <= (last.end - last.start) / BETWEEN => {
                last.end = last.end.max(range.end);
            }
            _ => together.push(range),
        }
    }
    together
}

/// The wanted columns of a row group.
pub(super) struct FieldColumns {
    text: ColumnCells,
    others: [Option<ColumnCells>; FIELDS],
}

/// What was found of a field by its place; nothing where a column cannot be read that is only observed, so that no row is
/// refused for it.
fn unless_observed<T>(at: usize, found: Result<Option<T>>) -> Result<Option<T>> {
    if at < FIELDS - OBSERVED_FIELDS { found } else { Ok(found.unwrap_or_default()) }
}

/// What a step read.
#[derive(Default)]
pub(super) struct StepCells {
    pub(super) texts: Vec<Cell>,
    /// Ids, values, dates, operations, values to compare within, and observed ones; those that there are.
    pub(super) others: [Vec<Cell>; FIELDS],
}

impl FieldColumns {
    /// The columns of a row group from its row `first` on.
    pub(super) fn open(
        file: &ParquetFile,
        group: usize,
        first: u64,
        leaves: Leaves,
        unit: &Arc<UnitMemory>,
    ) -> Result<FieldColumns> {
        let (layout, chunks) = (&file.layout, &file.layout.groups[group].chunks);
        let wanted = wanted_together(leaves.all().into_iter().map(|leaf| chunks[leaf].range()).collect());
        let open = |leaf: usize| {
            let (chunk, column) = (chunks[leaf], layout.schema.column(leaf));
            let with_others =
                wanted.iter().find(|range| range.contains(&chunk.start) && chunk.end <= range.end);
            let with_others = with_others.cloned().unwrap_or_else(|| chunk.range());
            ColumnCells::open(&file.file, chunk, with_others, column, unit, first)
        };
        let mut others = [const { None }; FIELDS];
        for (at, (column, leaf)) in others.iter_mut().zip(leaves.others).enumerate() {
            *column = unless_observed(at, leaf.map(open).transpose())?;
        }
        Ok(FieldColumns { text: open(leaves.text)?, others })
    }

    /// Reads some rows, at most so many.
    pub(super) fn step(&mut self, most: u64, cells: &mut StepCells) -> Result<()> {
        self.text.held().step();
        let mut bytes = 0;
        while (cells.texts.len() as u64) < most {
            let before = cells.texts.len();
            self.text.some(most - before as u64, &mut cells.texts)?;
            bytes += cells.texts[before..].iter().map(Cell::bytes).sum::<u64>();
            let held = self.text.held().taken();
            if bytes >= STEP || (held >= STEP && self.text.is_at_page_end()) {
                break;
            }
        }
        for (at, (column, cells_of)) in self.others.iter_mut().zip(&mut cells.others).enumerate() {
            let Some(open) = column else { continue };
            let read = open.exactly(cells.texts.len(), cells_of).map(Some);
            if unless_observed(at, read)?.is_none() {
                (*column, *cells_of) = (None, Vec::new());
            }
        }
        Ok(())
    }

    /// Passes over so many rows.
    pub(super) fn skip(&mut self, rows: u64) -> Result<()> {
        self.text.pass(rows)?;
        for (at, column) in self.others.iter_mut().enumerate() {
            let passed = column.as_mut().map(|column| column.pass(rows)).transpose();
            if unless_observed(at, passed)?.is_none() {
                *column = None;
            }
        }
        Ok(())
    }

    /// Whether a long page is held.
    pub(super) fn is_long(&self) -> bool {
        self.text.held().is_long() || self.others.iter().flatten().any(|column| column.held().is_long())
    }
}
