//! The columns of a batch that are wanted, read in step.

use std::io;
use std::sync::Arc;

use super::columns::batch::{BatchWalk, WantedField};
use super::columns::column::{ArrowColumn, Fit};
use super::columns::dictionary::{Dictionaries, HeldDictionaries};
use super::metadata::flat::damaged;
use super::metadata::layout::ArrowFile;
use super::metadata::message::{BatchHead, Brings, MessageHead};
use super::metadata::schema::ArrowSchema;
use crate::limits::sized;
use crate::read::field::{FieldPath, Fields, OBSERVED_FIELDS};
use crate::read::formats::parquet::{Cell, FIELDS};
use crate::read::record::{Refusal, SHOWN_KEYS};

/// Most rows that are read at once.
const ROWS: u64 = sized(1 << 10, 3);
/// The same where steps are long.
const LONG_ROWS: u64 = 32 * ROWS;
/// The place of the date among the fields beside the text.
const DATE: usize = 2;

/// The ways to the wanted fields.
pub(super) struct FieldWays {
    text: Vec<usize>,
    others: [Option<Vec<usize>>; FIELDS],
}

impl FieldWays {
    /// The ways in a schema.
    ///
    /// # Errors
    /// The refusal of a file without the column of the text.
    pub(super) fn find(schema: &ArrowSchema, fields: &Fields) -> Result<FieldWays, Refusal> {
        let at = |path: &FieldPath| schema.find(path);
        let text = at(&fields.text).ok_or_else(|| {
            let names = schema.fields.iter().take(SHOWN_KEYS).map(|field| field.name.as_str());
            let more = schema.fields.len().saturating_sub(SHOWN_KEYS);
            Refusal::no_column(fields.text.as_str(), &names.collect::<Vec<_>>(), more)
        })?;
        let of = |path: &Option<FieldPath>| path.as_ref().and_then(at);
        let Fields { value, within, date, op, .. } = fields;
        let mut others = [const { None }; FIELDS];
        let named = [at(&fields.id), of(value), of(date), of(op), of(within)];
        let observed = fields.observed().map(|path| path.and_then(at));
        others.iter_mut().zip(named.into_iter().chain(observed)).for_each(|(way, found)| *way = found);
        Ok(FieldWays { text, others })
    }

    /// The ways to text and date alone.
    pub(super) fn date_only(mut self) -> FieldWays {
        let date = self.others[DATE].take();
        self.others = [const { None }; FIELDS];
        self.others[DATE] = date;
        self
    }
}

/// The wanted columns of a batch.
pub(super) struct BatchColumns {
    text: ArrowColumn,
    others: [Option<ArrowColumn>; FIELDS],
}

/// What a step read.
#[derive(Default)]
pub(super) struct BatchCells {
    pub(super) texts: Vec<Cell>,
    /// Ids, values, dates, operations, values to compare within, and observed ones; those that there are.
    pub(super) others: [Vec<Cell>; FIELDS],
}

/// What was found of a field by its place; nothing where a column cannot be read that is only observed, so that no row is
/// refused for it.
fn if_observed<T>(at: usize, found: io::Result<Option<T>>) -> io::Result<Option<T>> {
    if at < FIELDS - OBSERVED_FIELDS { found } else { Ok(found.unwrap_or_default()) }
}

/// What the head of a batch says.
pub(super) fn batch_head(file: &ArrowFile, batch: usize) -> io::Result<BatchHead> {
    let block = file.layout.batches[batch].block;
    let head = MessageHead::read(&file.file, block.at, block.end())?;
    match head.map(|head| head.brings()).transpose()? {
        Some((Brings::Rows(head), _)) if head.rows == file.layout.batches[batch].rows => Ok(head),
        _ => Err(damaged("no batch in its place")),
    }
}

impl BatchColumns {
    /// The columns of a batch from its row `first` on. What has to be in memory as a whole may have `most` bytes.
    pub(super) fn open(
        file: &ArrowFile,
        batch: usize,
        first: u64,
        ways: &FieldWays,
        held: &mut HeldDictionaries,
        most: u64,
    ) -> io::Result<BatchColumns> {
        let (place, head) = (file.layout.batches[batch], batch_head(file, batch)?);
        if place.block.end() > file.layout.end {
            return Err(damaged("a batch that is cut off"));
        }
        // Of an object, a batch is fetched from its beginning to its end.
        let bytes = file.file.again(place.block.at..place.block.end());
        let bytes = bytes.map_or_else(|| Arc::clone(&file.file), Arc::new);
        let mut dictionaries = Dictionaries { file, batch: place, held, most, of_all: u64::MAX };
        let mut open = |way: &[usize]| -> io::Result<ArrowColumn> {
            let mut walk = BatchWalk::new(&bytes, place.block, &head, most);
            let (column, rest) = way.split_first().ok_or_else(|| damaged("a field without a column"))?;
            for (at, field) in file.layout.schema.fields.iter().enumerate() {
                let wanted = if at == *column { WantedField::Way(rest) } else { WantedField::Nothing };
                if let Some(mut column) = walk.column(field, wanted, Some(place.rows), &mut dictionaries)? {
                    column.go_to(first)?;
                    return Ok(column);
                }
            }
            Err(damaged("a field without a column"))
        };
        let mut others = [const { None }; FIELDS];
        for (at, (column, way)) in others.iter_mut().zip(&ways.others).enumerate() {
            *column = if_observed(at, way.as_ref().map(|way| open(way)).transpose())?;
        }
        Ok(BatchColumns { text: open(&ways.text)?, others })
    }

    /// Most bytes of them that are in memory as a whole at a time.
    pub(super) fn most_held(&self) -> u64 {
        let others = self.others.iter().flatten().map(ArrowColumn::most_held);
        others.fold(self.text.most_held(), u64::saturating_add)
    }

    /// Lets what has to be in memory as a whole take so many bytes, where it is read back and forth.
    pub(super) fn hold_within(&mut self, bytes: u64) {
        let columns = 1 + self.others.iter().flatten().count() as u64;
        self.text.hold_within(bytes / columns);
        self.others.iter_mut().flatten().for_each(|column| column.hold_within(bytes / columns));
    }

    /// Whether rows are better read many at once.
    pub(super) fn has_long_steps(&self) -> bool {
        self.text.has_long_steps() || self.others.iter().flatten().any(ArrowColumn::has_long_steps)
    }

    /// How many rows, of at most so many, are read at once: no more than about a mebibyte of any column, but one, unless steps are long.
    pub(super) fn fits(&mut self, most: u64) -> io::Result<Fit> {
        let rows = if self.has_long_steps() { LONG_ROWS } else { ROWS };
        let mut fit = self.text.fits(most.min(rows) as usize)?;
        for (at, column) in self.others.iter_mut().enumerate() {
            let Some(open) = column else { continue };
            match if_observed(at, open.fits(fit.rows).map(Some))? {
                Some(of) if of.rows > 0 => {
                    fit = Fit { rows: fit.rows.min(of.rows), bytes: fit.bytes.saturating_add(of.bytes) };
                }
                Some(_) => return Err(damaged("a column with fewer rows than it should have")),
                None => *column = None,
            }
        }
        Ok(fit)
    }

    /// Reads so many rows, which [`BatchColumns::fits`] allowed. A text of more than `longest` bytes is not read.
    pub(super) fn read(&mut self, rows: usize, longest: u64) -> io::Result<BatchCells> {
        let mut cells = BatchCells::default();
        read(&mut self.text, rows, longest, &mut cells.texts)?;
        for (at, (column, cells_of)) in self.others.iter_mut().zip(&mut cells.others).enumerate() {
            let Some(open) = column else { continue };
            let read = read(open, rows, longest, cells_of).map(Some);
            if if_observed(at, read)?.is_none() {
                (*column, *cells_of) = (None, Vec::new());
            }
        }
        Ok(cells)
    }

    /// Goes on at a row of the batch.
    pub(super) fn go_to(&mut self, row: u64) -> io::Result<()> {
        self.text.go_to(row)?;
        self.others.iter_mut().flatten().try_for_each(|column| column.go_to(row))
    }
}

/// Appends the cells of so many rows. A list without a text is one without a word.
fn read(column: &mut ArrowColumn, rows: usize, longest: u64, cells: &mut Vec<Cell>) -> io::Result<()> {
    column.cells(rows, longest, cells)?;
    for cell in cells.iter_mut().filter(|cell| matches!(cell, Cell::NoTexts)) {
        *cell = Cell::Text("".into());
    }
    Ok(())
}
