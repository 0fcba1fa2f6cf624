//! A column of a batch, read row by row. Nothing of a row is in memory before it is known how long it is.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::super::metadata::flat::damaged;
use super::super::metadata::schema::FixedMeaning;
use super::buffers::{AT_ONCE, BufferBytes};
use super::fixed::{fixed_cell, key, offset};
use super::views::ViewBytes;
use crate::limits::sized;
use crate::read::formats::parquet::Cell;

/// Values of a list that are read at once.
const VALUES: u64 = sized(1 << 10, 5);

/// A column, or a field within one.
pub(in crate::read::formats::arrow) struct ArrowColumn {
    /// Which rows are not null, by bits; `None` if all are there.
    pub(in crate::read::formats::arrow) validity: Option<BufferBytes>,
    /// The next row.
    pub(in crate::read::formats::arrow) at: u64,
    pub(in crate::read::formats::arrow) rows: u64,
    pub(in crate::read::formats::arrow) values: ColumnValues,
}

/// The values of a column.
pub(in crate::read::formats::arrow) enum ColumnValues {
    Nothing,
    Truths(BufferBytes),
    Fixed { bytes: BufferBytes, width: usize, meaning: FixedMeaning },
    Strings { offsets: ColumnOffsets, bytes: BufferBytes },
    Views(ViewBytes),
    List { offsets: ColumnOffsets, of: Box<ArrowColumn>, is_map: bool },
    Tuple { size: u64, of: Box<ArrowColumn> },
    Struct(Vec<(String, ArrowColumn)>),
    Keyed { keys: BufferBytes, width: usize, signed: bool, values: Arc<Vec<Cell>> },
    Runs { ends: BufferBytes, width: usize, of: Box<ArrowColumn>, run: Option<PresentRun> },
    Other(&'static str),
}

/// Offsets of texts or of lists.
pub(in crate::read::formats::arrow) struct ColumnOffsets {
    pub(in crate::read::formats::arrow) bytes: BufferBytes,
    pub(in crate::read::formats::arrow) wide: bool,
}

/// The run that the last row was in.
pub(in crate::read::formats::arrow) struct PresentRun {
    number: u64,
    /// The row behind it.
    end: u64,
    cell: Option<Cell>,
}

/// Rows that may be read at once, and about how many bytes they are.
#[derive(Clone, Copy, Debug)]
pub(in crate::read::formats::arrow) struct Fit {
    pub(in crate::read::formats::arrow) rows: usize,
    pub(in crate::read::formats::arrow) bytes: u64,
}

impl ColumnOffsets {
    /// The offsets of so many rows, and the one behind them.
    pub(in crate::read::formats::arrow) fn of(&mut self, at: u64, rows: usize) -> io::Result<Vec<u64>> {
        let width = if self.wide { 8 } else { 4 };
        if rows == 0 {
            return Ok(vec![0]);
        }
        let bytes = self.bytes.range(at * width as u64, (rows + 1) * width)?;
        let offsets: Vec<u64> = bytes.chunks_exact(width).map(offset).collect::<io::Result<_>>()?;
        match offsets.is_sorted() {
            true => Ok(offsets),
            false => Err(damaged("offsets that go back")),
        }
    }
}

impl ArrowColumn {
    /// Most bytes of it that are in memory as a whole at a time.
    pub(in crate::read::formats::arrow) fn most_held(&self) -> u64 {
        match &self.values {
            ColumnValues::Views(views) => views.most_held(),
            ColumnValues::List { of, .. }
            | ColumnValues::Tuple { of, .. }
            | ColumnValues::Runs { of, .. } => of.most_held(),
            ColumnValues::Struct(fields) => {
                fields.iter().map(|(_, field)| field.most_held()).fold(0, u64::saturating_add)
            }
            _ => 0,
        }
    }

    /// Whether what has to be in memory as a whole is read back and forth, and does not all fit: then the more rows are read at once, the
    /// less often it is brought there.
    pub(in crate::read::formats::arrow) fn has_long_steps(&self) -> bool {
        match &self.values {
            ColumnValues::Views(views) => views.step() > AT_ONCE,
            ColumnValues::List { of, .. }
            | ColumnValues::Tuple { of, .. }
            | ColumnValues::Runs { of, .. } => of.has_long_steps(),
            ColumnValues::Struct(fields) => fields.iter().any(|(_, field)| field.has_long_steps()),
            _ => false,
        }
    }

    /// Lets what has to be in memory as a whole take so many bytes, where it is read back and forth.
    pub(in crate::read::formats::arrow) fn hold_within(&mut self, bytes: u64) {
        match &mut self.values {
            ColumnValues::Views(views) => views.hold_within(bytes),
            ColumnValues::List { of, .. }
            | ColumnValues::Tuple { of, .. }
            | ColumnValues::Runs { of, .. } => of.hold_within(bytes),
            ColumnValues::Struct(fields) => {
                let each = bytes / fields.len().max(1) as u64;
                fields.iter_mut().for_each(|(_, field)| field.hold_within(each));
            }
            _ => {}
        }
    }

    /// Goes on at a row, which is none that was passed.
    pub(in crate::read::formats::arrow) fn go_to(&mut self, row: u64) -> io::Result<()> {
        if row < self.at || row > self.rows {
            return Err(damaged("a column with fewer rows than it should have"));
        }
        self.at = row;
        Ok(())
    }

    /// How many of the next rows may be read at once: one or more, and no more than `most`.
    pub(in crate::read::formats::arrow) fn fits(&mut self, most: usize) -> io::Result<Fit> {
        let (at, most) = (self.at, most.min(usize::try_from(self.rows - self.at).unwrap_or(usize::MAX)));
        if most == 0 {
            return Ok(Fit { rows: 0, bytes: 0 });
        }
        let within = |step: u64, length: &dyn Fn(usize) -> u64| {
            let more = (2..=most).take_while(|rows| length(*rows) <= step).count();
            Fit { rows: 1 + more, bytes: length(1 + more) }
        };
        let by_length = |length: &dyn Fn(usize) -> u64| within(AT_ONCE, length);
        match &mut self.values {
            ColumnValues::Strings { offsets, .. } => {
                let offsets = offsets.of(at, most)?;
                Ok(by_length(&|rows| offsets[rows] - offsets[0]))
            }
            ColumnValues::Views(views) => {
                let ends = views.ends(at, most)?;
                Ok(within(views.step(), &|rows| ends[rows - 1]))
            }
            ColumnValues::Fixed { width, .. } => Ok(by_length(&|rows| rows as u64 * *width as u64)),
            ColumnValues::List { offsets, of, .. } => {
                let offsets = offsets.of(at, most)?;
                of.fits_lists(offsets[0], &|rows| offsets[rows] - offsets[0], most)
            }
            ColumnValues::Tuple { size, of } => {
                let size = *size;
                of.fits_lists(at.saturating_mul(size), &|rows| size.saturating_mul(rows as u64), most)
            }
            ColumnValues::Struct(fields) => {
                let mut fit = Fit { rows: most, bytes: 0 };
                for (_, field) in fields {
                    field.go_to(at)?;
                    let of = field.fits(fit.rows)?;
                    if of.rows == 0 {
                        return Err(damaged("a column with fewer rows than it should have"));
                    }
                    fit = Fit { rows: fit.rows.min(of.rows), bytes: fit.bytes.saturating_add(of.bytes) };
                }
                Ok(fit)
            }
            // No row is in more than one run.
            ColumnValues::Runs { of, .. } => {
                let left = usize::try_from(of.rows - of.at).unwrap_or(usize::MAX).min(most);
                let fit = of.fits(most)?;
                Ok(Fit { rows: if fit.rows == left { most } else { fit.rows }, ..fit })
            }
            ColumnValues::Nothing
            | ColumnValues::Truths(_)
            | ColumnValues::Keyed { .. }
            | ColumnValues::Other(_) => Ok(Fit { rows: most, bytes: 0 }),
        }
    }

    /// How many lists may be read at once of which the first begins with a value of this column, and so many rows have so
    /// many values.
    fn fits_lists(&mut self, first: u64, values: &dyn Fn(usize) -> u64, most: usize) -> io::Result<Fit> {
        self.go_to(first)?;
        let fit = self.fits(values(most).min(VALUES) as usize)?;
        let more = (2..=most).take_while(|rows| values(*rows) <= fit.rows as u64).count();
        Ok(Fit { rows: 1 + more, ..fit })
    }

    /// Which of the next rows are there; `None` if all are.
    pub(in crate::read::formats::arrow) fn present(&mut self, rows: usize) -> io::Result<Option<Vec<bool>>> {
        let at = self.at;
        self.validity.as_mut().map(|bits| truths(bits, at, rows)).transpose()
    }

    /// Appends the cells of so many rows, which [`ArrowColumn::fits`] allowed. A text of more than `longest` bytes is not
    /// read.
    pub(in crate::read::formats::arrow) fn cells(
        &mut self,
        rows: usize,
        longest: u64,
        cells: &mut Vec<Cell>,
    ) -> io::Result<()> {
        if rows as u64 > self.rows - self.at {
            return Err(damaged("a column with fewer rows than it should have"));
        }
        let (at, first) = (self.at, cells.len());
        let present = self.present(rows)?;
        let is_there = |row: usize| present.as_ref().is_none_or(|present| present[row]);
        match &mut self.values {
            ColumnValues::Nothing => cells.resize(first + rows, Cell::Null),
            ColumnValues::Truths(bits) => cells.extend(truths(bits, at, rows)?.into_iter().map(Cell::Truth)),
            ColumnValues::Other(what) => cells.resize(first + rows, Cell::Other(what)),
            ColumnValues::Fixed { bytes, width, meaning } => {
                let bytes = bytes.range(at * *width as u64, rows * *width)?;
                let of = |row: usize| fixed_cell(&bytes[row * *width..(row + 1) * *width], *meaning);
                cells.extend((0..rows).map(of));
            }
            ColumnValues::Strings { offsets, bytes } => {
                strings(&offsets.of(at, rows)?, bytes, longest, cells)?;
            }
            ColumnValues::Views(views) => views.cells(at, rows, &is_there, longest, cells)?,
            ColumnValues::List { offsets, of, .. } => {
                let offsets = offsets.of(at, rows)?;
                for (row, ends) in offsets.windows(2).enumerate() {
                    cells.push(if is_there(row) {
                        of.joined(ends[0]..ends[1], longest)?
                    } else {
                        Cell::Null
                    });
                }
            }
            ColumnValues::Tuple { size, of } => {
                for row in 0..rows {
                    let start = (at + row as u64).saturating_mul(*size);
                    let values = start..start.saturating_add(*size);
                    cells.push(if is_there(row) { of.joined(values, longest)? } else { Cell::Null });
                }
            }
            ColumnValues::Struct(fields) => {
                let [(_, field)] = &mut fields[..] else {
                    return Err(damaged("a struct in the place of a value"));
                };
                field.go_to(at)?;
                field.cells(rows, longest, cells)?;
            }
            ColumnValues::Keyed { keys, width, signed, values } => {
                let bytes = keys.range(at * *width as u64, rows * *width)?;
                for (row, name) in bytes.chunks_exact(*width).enumerate() {
                    cells.push(if is_there(row) { keyed(values, key(name, *signed))? } else { Cell::Null });
                }
            }
            ColumnValues::Runs { ends, width, of, run } => {
                for row in at..at + rows as u64 {
                    cells.push(in_run(row, (&mut *ends, *width), of, run, longest)?);
                }
            }
        }
        let gone = cells[first..].iter_mut().enumerate().filter(|(row, _)| !is_there(*row));
        gone.for_each(|(_, cell)| *cell = Cell::Null);
        self.at += rows as u64;
        Ok(())
    }

    /// The texts among some values, joined by line feeds.
    fn joined(&mut self, values: std::ops::Range<u64>, longest: u64) -> io::Result<Cell> {
        if values.end > self.rows {
            return Err(damaged("a list that ends behind its values"));
        }
        let (mut text, mut any, mut other) = (Vec::new(), false, false);
        let mut cells = Vec::new();
        self.go_to(values.start)?;
        while self.at < values.end {
            let fit = self.fits((values.end - self.at).min(VALUES) as usize)?;
            cells.clear();
            self.cells(fit.rows, longest, &mut cells)?;
            for cell in &cells {
                match cell {
                    Cell::Text(value) => {
                        if any {
                            text.push(b'\n');
                        }
                        any = true;
                        text.extend_from_slice(value.data());
                    }
                    Cell::Long(bytes) => return self.too_long(values.end, *bytes),
                    Cell::Null | Cell::NoTexts => {}
                    _ => other = true,
                }
            }
            if text.len() as u64 > longest {
                return self.too_long(values.end, text.len() as u64);
            }
        }
        Ok(match (any, other) {
            (true, _) => Cell::Text(Bytes::from(text).into()),
            (false, true) => Cell::Other("a list"),
            (false, false) => Cell::NoTexts,
        })
    }

    fn too_long(&mut self, end: u64, bytes: u64) -> io::Result<Cell> {
        self.go_to(end)?;
        Ok(Cell::Long(bytes))
    }
}

/// Which of some bits are set.
pub(in crate::read::formats::arrow) fn truths(
    bits: &mut BufferBytes,
    at: u64,
    rows: usize,
) -> io::Result<Vec<bool>> {
    let before = (at % 8) as usize;
    let bytes = bits.range(at / 8, (before + rows).div_ceil(8))?;
    Ok((before..before + rows).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1).collect())
}

/// Appends the texts between some offsets.
fn strings(offsets: &[u64], bytes: &mut BufferBytes, longest: u64, cells: &mut Vec<Cell>) -> io::Result<()> {
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    if last > bytes.length() {
        return Err(damaged("a text that ends behind its buffer"));
    }
    if last - first > AT_ONCE.max(longest) {
        // It is one row, or a few of which each is short: what is too long is not read.
        for ends in offsets.windows(2) {
            match ends[1] - ends[0] {
                length if length > longest => cells.push(Cell::Long(length)),
                length => {
                    let text = bytes.take(ends[0], length as usize)?;
                    cells.push(Cell::Text(Bytes::from(text).into()));
                }
            }
        }
        return Ok(());
    }
    let texts = Bytes::from(bytes.take(first, (last - first) as usize)?);
    let text = |ends: &[u64]| texts.slice((ends[0] - first) as usize..(ends[1] - first) as usize);
    cells.extend(offsets.windows(2).map(|ends| match ends[1] - ends[0] {
        length if length > longest => Cell::Long(length),
        _ => Cell::Text(text(ends).into()),
    }));
    Ok(())
}

/// The value of a key.
pub(in crate::read::formats::arrow) fn keyed(values: &[Cell], key: Option<u64>) -> io::Result<Cell> {
    let value = key.and_then(|key| values.get(usize::try_from(key).ok()?));
    value.cloned().ok_or_else(|| damaged("a key that its dictionary does not have"))
}

/// The value of the run that a row is in.
fn in_run(
    row: u64,
    (ends, width): (&mut BufferBytes, usize),
    of: &mut ArrowColumn,
    run: &mut Option<PresentRun>,
    longest: u64,
) -> io::Result<Cell> {
    find_run(row, (ends, width), run)?;
    let Some(PresentRun { number, cell, .. }) = run else { return Err(damaged("a row in no run")) };
    if let Some(cell) = cell {
        return Ok(cell.clone());
    }
    of.go_to(*number)?;
    let mut cells = Vec::new();
    of.cells(1, longest, &mut cells)?;
    *cell = cells.pop();
    cell.clone().ok_or_else(|| damaged("a run without a value"))
}

/// Goes on to the run that a row is in; its number.
pub(in crate::read::formats::arrow) fn find_run(
    row: u64,
    (ends, width): (&mut BufferBytes, usize),
    run: &mut Option<PresentRun>,
) -> io::Result<u64> {
    loop {
        let (number, before) = match run {
            Some(run) if row < run.end => return Ok(run.number),
            Some(run) => (run.number + 1, run.end),
            None => (0, 0),
        };
        let end = key(ends.range(number * width as u64, width)?, true);
        let end = end.filter(|end| *end > before).ok_or_else(|| damaged("runs that go back"))?;
        *run = Some(PresentRun { number, end, cell: None });
    }
}
