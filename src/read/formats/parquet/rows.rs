//! The rows of a unit.

use std::sync::Arc;

use parquet::errors::ParquetError;

use super::cell::Cell;
use super::fields::{FIELDS, FieldColumns, Leaves, StepCells};
use super::footer::ParquetFile;
use super::guard::between;
use super::pages::UnitMemory;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::read::codec::Records;
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::input::MissingText;
use crate::read::record::{Record, Refusal, Sink, observe};
use crate::read::source::{Source, Unit};

/// Most characters of what the crate for Parquet says.
const SAID: usize = 200;

/// The rows of a unit, read step by step.
pub(super) struct RowRecords {
    file: u32,
    source: Source,
    unit: Unit,
    fields: Arc<Fields>,
    memory: Arc<UnitMemory>,
    /// Opened by the first `advance`.
    opened: Option<(ParquetFile, Leaves)>,
    /// The columns of the present row group, from `row` on.
    columns: Option<FieldColumns>,
    /// The next row.
    row: u64,
    end: u64,
    count: u32,
    text_bytes: u64,
}

impl RowRecords {
    pub(super) fn new(file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> RowRecords {
        let memory = Arc::new(UnitMemory::new(&fields.room, fields.max_record_bytes));
        RowRecords {
            file,
            source: source.clone(),
            unit: *unit,
            fields,
            memory,
            opened: None,
            columns: None,
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
        let file = match ParquetFile::open_and_keep(&self.source) {
            Ok(file) => Ok(file),
            Err(error) => match between(&self.source.path, error) {
                Ok(error) => return Err(error),
                Err(error) => Err(Refusal::Unreadable(said(&error))),
            },
        };
        let leaves = file.and_then(|file| {
            let rows = file.layout.rows();
            let none = |refusal: Refusal| Refusal::Rows { rows, why: refusal.to_string() };
            Leaves::find(&file, &self.fields).map_err(none).map(|leaves| (file, leaves))
        });
        match leaves {
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

    /// Where the stretch ends that the next row is in: a fault costs what is left of it.
    fn stretch_end(&self) -> u64 {
        let places = &self.source.cuts.places;
        let after = places.partition_point(|place| *place <= self.row);
        places.get(after).copied().unwrap_or(self.end).min(self.end)
    }

    /// Reads some rows of the stretch that ends before `end`.
    fn step(&mut self, end: u64) -> parquet::errors::Result<StepCells> {
        let mut cells = StepCells::default();
        let Some((file, leaves)) = &self.opened else { return Ok(cells) };
        let layout = &file.layout;
        let group =
            layout.group_of(self.row).ok_or_else(|| ParquetError::EOF("a row that is not there".into()))?;
        let columns = match &mut self.columns {
            Some(columns) => columns,
            none => {
                let first = self.row - layout.groups[group].first;
                none.insert(FieldColumns::open(file, group, first, *leaves, &self.memory)?)
            }
        };
        columns.step(end - self.row, &mut cells)?;
        if self.row + cells.texts.len() as u64 == layout.groups[group].first + layout.groups[group].rows {
            self.columns = None;
        }
        Ok(cells)
    }

    /// Hands on what a step read.
    fn hand_on(&mut self, cells: &StepCells, sink: &mut dyn Sink) -> Result<()> {
        for (at, text) in cells.texts.iter().enumerate() {
            let number = self.count.saturating_add(1);
            let others = std::array::from_fn(|kind| kind).map(|kind| cells.others[kind].get(at));
            let (row, bytes) = (self.row, text.bytes());
            self.pass(row + 1);
            let position = self.position(row);
            let longest = self.fields.max_record_bytes as u64;
            let outcome = match bytes {
                bytes if bytes > longest => Err(Refusal::TooLong { limit: self.fields.max_record_bytes }),
                bytes if bytes > self.fields.room.most() as u64 => {
                    return Err(Error::input(&self.source.path, self.fields.room.refusal(row, bytes)));
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
}

impl Records for RowRecords {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.row < self.end && self.open(sink)? {
            let end = self.stretch_end();
            match self.step(end) {
                Ok(cells) => self.hand_on(&cells, sink)?,
                Err(error) => {
                    self.columns = None;
                    let error = match between(&self.source.path, error) {
                        Ok(error) => return Err(error),
                        Err(error) => error,
                    };
                    if let Some(bytes) = self.memory.unfit() {
                        return Err(Error::input(&self.source.path, no_room(self.row, bytes)));
                    }
                    let refusal = Refusal::Rows { rows: end - self.row, why: said(&error) };
                    sink.refuse(self.position(self.row), self.count.saturating_add(1), refusal);
                    self.pass(end);
                }
            }
        }
        if !self.columns.as_ref().is_some_and(FieldColumns::is_long) {
            self.memory.give_back();
        }
        if self.row < self.end {
            return Ok(true);
        }
        (self.columns, self.opened) = (None, None);
        self.memory.give_back();
        if self.end == self.source.length() {
            self.source.cuts.kept.forget();
        }
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

/// The record of a row.
pub(in crate::read::formats) fn row_record<'a>(
    fields: &Fields,
    position: Position,
    line: u32,
    text: &'a Cell,
    [id, value, date, op, within, observed @ ..]: [Option<&'a Cell>; FIELDS],
) -> std::result::Result<Record<'a>, Refusal> {
    let deleted = op.map_or(Ok(false), deletes)?;
    let text = match text {
        _ if deleted => "",
        Cell::Text(text) => std::str::from_utf8(text.data()).map_err(|_| Refusal::NotUtf8)?,
        Cell::Null if fields.missing_text == MissingText::Keep => "",
        other => {
            let field = fields.text.as_str().to_owned();
            return Err(Refusal::TextNotString { field, found: other.kind().into() });
        }
    };
    let id = id.and_then(Cell::id);
    if fields.needs_id() && id.is_none() {
        return Err(Refusal::no_id::<&str>(fields.id.as_str(), &[], 0));
    }
    let (value, within) = (value.and_then(Cell::value), within.and_then(Cell::spelt));
    let day = date.map_or(Day::None, Cell::day);
    let (header, raw) = ("", text.as_bytes());
    let observed = observe(!fields.observed.is_empty(), |at| observed[at].and_then(Cell::observed));
    Ok(Record { position, line, id, text, header, raw, value, within, day, observed, deleted })
}

/// Whether a change is a deletion.
fn deletes(op: &Cell) -> std::result::Result<bool, Refusal> {
    let text = match op {
        Cell::Null => return Ok(false),
        Cell::Text(text) => std::str::from_utf8(text.data()).map_err(|_| Refusal::NotUtf8)?,
        other => other.kind(),
    };
    match text {
        "upsert" => Ok(false),
        "delete" => Ok(true),
        other => Err(Refusal::unknown_op(other)),
    }
}

/// Why a page does not fit in the memory, and what to do.
pub(super) fn no_room(row: u64, bytes: u64) -> String {
    format!(
        "the page with row {} has {bytes} bytes, which do not fit in the memory allowed: allow more with --memory, or write \
         the file with smaller pages",
        row + 1,
    )
}

/// What is wrong, for people: bounded, and without characters that steer a terminal.
pub(super) fn said(error: &ParquetError) -> String {
    let said = match error {
        ParquetError::General(said) | ParquetError::EOF(said) | ParquetError::NYI(said) => said.clone(),
        ParquetError::External(error) => error.to_string(),
        other => other.to_string(),
    };
    printable(&said.chars().take(SAID).collect::<String>()).into_owned()
}
