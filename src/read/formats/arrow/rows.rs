//! The rows of a unit.

use std::io;
use std::sync::Arc;

use super::columns::dictionary::HeldDictionaries;
use super::fields::{BatchCells, BatchColumns, FieldWays};
use super::metadata::flat::damaged;
use super::metadata::layout::ArrowFile;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::read::bytes::Turn;
use crate::read::codec::Records;
use crate::read::field::{Fields, OBSERVED_FIELDS};
use crate::read::formats::parquet::{Cell, FIELDS, row_record};
use crate::read::record::{Refusal, Sink};
use crate::read::source::{Source, Unit};
use crate::read::windowed::carries;

/// How much less it costs to hold bytes than to read a record of as many.
pub(super) const PART: u64 = 2;
/// Most characters of what is wrong with a file.
const SAID: usize = 200;

/// The rows of a unit, read step by step.
pub(super) struct BatchRows {
    file: u32,
    source: Source,
    unit: Unit,
    fields: Arc<Fields>,
    /// Opened by the first `advance`.
    opened: Option<(ArrowFile, FieldWays)>,
    /// The columns of the present batch, from `row` on.
    columns: Option<BatchColumns>,
    dictionaries: HeldDictionaries,
    /// While a long record is read, or the columns hold as much.
    turn: Option<Turn>,
    holds: bool,
    /// The next row.
    row: u64,
    end: u64,
    count: u32,
    text_bytes: u64,
}

impl BatchRows {
    pub(super) fn new(file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> BatchRows {
        BatchRows {
            file,
            source: source.clone(),
            unit: *unit,
            fields,
            opened: None,
            columns: None,
            dictionaries: HeldDictionaries::default(),
            turn: None,
            holds: false,
            row: unit.start,
            end: unit.end.min(source.length()),
            count: 0,
            text_bytes: 0,
        }
    }

    fn position(&self, row: u64) -> Position {
        Position::new(self.file, row)
    }

    /// Opens the file; whether it can be read. What is wrong with it is refused once, with its first row.
    fn open(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.opened.is_some() {
            return Ok(true);
        }
        let file = match ArrowFile::open_and_keep(&self.source) {
            Ok(file) => Ok(file),
            Err(error) => Err(Refusal::Unreadable(said(&no_damage(&self.source, error)?))),
        };
        let ways = file.and_then(|file| {
            let rows = file.layout.rows();
            let none = |refusal: Refusal| Refusal::Rows { rows, why: refusal.to_string() };
            FieldWays::find(&file.layout.schema, &self.fields).map_err(none).map(|ways| (file, ways))
        });
        match ways {
            Ok(opened) => {
                self.opened = Some(opened);
                Ok(true)
            }
            Err(refusal) => {
                if self.unit.start == 0 {
                    sink.refuse(self.position(0), 1, refusal);
                }
                self.pass(self.end);
                Ok(false)
            }
        }
    }

    /// Goes on at a row.
    fn pass(&mut self, row: u64) {
        self.count = self.count.saturating_add(u32::try_from(row - self.row).unwrap_or(u32::MAX));
        self.row = row;
    }

    /// Refuses the rows up to `end`.
    fn refuse(&mut self, end: u64, why: String, sink: &mut dyn Sink) {
        self.columns = None;
        let refusal = Refusal::Rows { rows: end - self.row, why };
        sink.refuse(self.position(self.row), self.count.saturating_add(1), refusal);
        self.pass(end);
    }

    /// Reads some rows of the stretch that ends before `end`.
    fn step(&mut self, end: u64) -> io::Result<BatchCells> {
        let Some((file, ways)) = &self.opened else { return Ok(BatchCells::default()) };
        let batch = file.layout.batch_of(self.row).ok_or_else(|| damaged("a row that is not there"))?;
        let place = file.layout.batches[batch];
        let room = self.fields.room.most();
        let columns = match &mut self.columns {
            Some(columns) => columns,
            none => {
                let first = self.row - place.first;
                let (held, most) = (&mut self.dictionaries, room as u64);
                none.insert(BatchColumns::open(file, batch, first, ways, held, most)?)
            }
        };
        // What is in memory as it is costs less than a record, of which tokens are made.
        columns.hold_within(room as u64);
        let held = columns.most_held().saturating_add(self.dictionaries.bytes()) / PART;
        self.holds = self.fields.room.is_long(usize::try_from(held).unwrap_or(usize::MAX));
        let fit = columns.fits(end.min(place.rows().end) - self.row)?;
        let is_long = self.fields.room.is_long(usize::try_from(fit.bytes).unwrap_or(usize::MAX));
        if (is_long || self.holds) && self.turn.is_none() {
            // A run that is stopped ends at its next step, with or without a turn.
            self.turn = self.fields.room.turn().ok().flatten();
        }
        let longest = self.fields.max_record_bytes.min(room) as u64;
        let cells = columns.read(fit.rows, longest)?;
        if self.row + fit.rows as u64 == place.rows().end {
            self.columns = None;
        }
        Ok(cells)
    }

    /// Hands on what a step read.
    fn hand_on(&mut self, cells: &BatchCells, sink: &mut dyn Sink) -> Result<()> {
        for (at, text) in cells.texts.iter().enumerate() {
            let number = self.count.saturating_add(1);
            let others = std::array::from_fn(|kind| kind).map(|kind| cells.others[kind].get(at));
            let (row, bytes) = (self.row, longest(text, &others));
            self.pass(row + 1);
            let position = self.position(row);
            let outcome = match bytes {
                bytes if bytes > self.fields.max_record_bytes as u64 => {
                    Err(Refusal::TooLong { limit: self.fields.max_record_bytes })
                }
                bytes if bytes > self.fields.room.most() as u64 => {
                    Err(Refusal::NoRoom(self.fields.room.refusal(bytes)))
                }
                _ => row_record(&self.fields, position, number, text, others),
            };
            match outcome {
                Ok(record) => {
                    self.text_bytes += record.text.len() as u64;
                    sink.document(&record);
                }
                Err(refusal) => sink.refuse(position, number, refusal),
            }
        }
        Ok(())
    }

    /// Ends the unit. Behind the last row of a stream there may be what is no batch.
    fn finish(&mut self, sink: &mut dyn Sink) {
        let is_last = self.end == self.source.length();
        if let Some(fault) = self.opened.as_ref().and_then(|(file, _)| file.layout.fault.as_ref())
            && is_last
        {
            let refusal = Refusal::Malformed(format!("what is behind the last batch: {fault}"));
            sink.refuse(self.position(self.end), self.count.saturating_add(1), refusal);
        }
        (self.columns, self.opened) = (None, None);
        (self.dictionaries, self.turn) = (HeldDictionaries::default(), None);
        if is_last {
            self.source.cuts.kept.forget();
        }
    }
}

/// The longest of a row's values that decide what becomes of it.
fn longest(text: &Cell, others: &[Option<&Cell>; FIELDS]) -> u64 {
    let deciding = others.iter().take(FIELDS - OBSERVED_FIELDS).flatten();
    deciding.map(|cell| cell.bytes()).fold(text.bytes(), u64::max)
}

impl Records for BatchRows {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.row < self.end && self.open(sink)? {
            let end = self.source.stretch_end(self.row, self.end);
            let step = match self.source.refusal_of(self.row) {
                Some(why) => Err(why),
                None => match self.step(end) {
                    Ok(cells) => Ok(cells),
                    Err(error) => Err(said(&no_damage(&self.source, error)?)),
                },
            };
            match step {
                Ok(cells) => self.hand_on(&cells, sink)?,
                Err(why) => self.refuse(end, why, sink),
            }
        }
        if self.row < self.end {
            if !self.holds || self.columns.is_none() {
                self.turn = None;
            }
            return Ok(true);
        }
        self.finish(sink);
        Ok(false)
    }

    fn lines(&self) -> u64 {
        u64::from(self.count)
    }

    fn bytes(&self) -> u64 {
        let of = |row: u64| self.source.bytes_before(row);
        of(self.row) - of(self.unit.start)
    }

    fn text_bytes(&self) -> u64 {
        self.text_bytes
    }
}

/// An error that is a fault of a file, or of the memory, which does not do. One of what is between ends the run.
///
/// # Errors
/// The others.
pub(super) fn no_damage(source: &Source, error: io::Error) -> Result<io::Error> {
    if carries(&error) { Err(Error::io(&source.path, "read", error)) } else { Ok(error) }
}

/// What is wrong, for people: bounded, and without characters that steer a terminal.
pub(super) fn said(error: &io::Error) -> String {
    printable(&error.to_string().chars().take(SAID).collect::<String>()).into_owned()
}
