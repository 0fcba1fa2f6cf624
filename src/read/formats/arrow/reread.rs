//! Reading single rows a second time.

use std::io;

use super::columns::column::Fit;
use super::columns::dictionary::HeldDictionaries;
use super::fields::{BatchCells, BatchColumns, FieldWays};
use super::metadata::layout::ArrowFile;
use super::rows::{PART, no_damage};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::read::bytes::{RecordRoom, Turn};
use crate::read::codec::TakeAgain;
use crate::read::field::Fields;
use crate::read::formats::parquet::row_record;
use crate::read::source::Source;

/// Hands on the rows at `offsets`, as [`reread`](crate::read::reread()) does. Rows that follow each other are read together.
pub(super) fn reread(
    source: &Source,
    file_number: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut TakeAgain<'_>,
) -> Result<()> {
    // Whether it was a change, and of what, was settled the first time.
    let fields = &Fields { op: None, ..fields.clone() };
    let mut rows = BatchesAgain::open(source, fields)?;
    let mut at = 0;
    while let Some(&first) = offsets.get(at) {
        let cells = rows.read(&offsets[at..])?;
        let next = first + cells.texts.len() as u64;
        while let Some(&offset) = offsets.get(at).filter(|offset| **offset < next && **offset >= first) {
            let row = (offset - first) as usize;
            let others = cells.others.each_ref().map(|cells| cells.get(row));
            let record = row_record(fields, Position::new(file_number, offset), 1, &cells.texts[row], others);
            each(at, &record.map_err(|_| rows.changed())?)?;
            at += 1;
        }
        rows.give_back();
    }
    Ok(())
}

/// A file, and how far it was read.
struct BatchesAgain<'a> {
    source: &'a Source,
    fields: &'a Fields,
    file: ArrowFile,
    ways: FieldWays,
    held: HeldDictionaries,
    /// A batch, and its columns.
    present: Option<(usize, BatchColumns)>,
    turn: Option<Turn>,
}

impl<'a> BatchesAgain<'a> {
    fn open(source: &'a Source, fields: &'a Fields) -> Result<BatchesAgain<'a>> {
        let file = ArrowFile::open(source).map_err(|error| otherwise(source, error))?;
        if file.layout.has_many_batches() {
            file.keep(source);
        }
        let ways = FieldWays::find(&file.layout.schema, fields);
        let ways = ways.map_err(|_| Error::Changed(source.path.clone()))?.date_only();
        Ok(BatchesAgain {
            source,
            fields,
            file,
            ways,
            held: HeldDictionaries::default(),
            present: None,
            turn: None,
        })
    }

    fn changed(&self) -> Error {
        Error::Changed(self.source.path.clone())
    }

    /// Reads the first row of `offsets`, and some of its batch behind it.
    fn read(&mut self, offsets: &[u64]) -> Result<BatchCells> {
        let batch = self.file.layout.batch_of(offsets[0]).ok_or_else(|| self.changed())?;
        if self.present.as_ref().is_some_and(|(present, _)| *present == batch) {
            // Behind a damaged row, values may stand before those of the rows before it: they were read anew the first time.
            if let Ok(cells) = self.go_on(batch, offsets)? {
                return Ok(cells);
            }
        }
        // A dictionary that grows would be copied for what names it.
        self.present = None;
        self.go_on(batch, offsets)?.map_err(|error| otherwise(self.source, error))
    }

    /// [`BatchesAgain::read`], from wherever the batch was read to. The outer error ends the run; the inner one is the file's.
    fn go_on(&mut self, batch: usize, offsets: &[u64]) -> Result<io::Result<BatchCells>> {
        let (place, room) = (self.file.layout.batches[batch], &self.fields.room);
        let (row, most) = (offsets[0] - place.first, room.most() as u64);
        let columns = match &mut self.present {
            Some((_, columns)) => columns,
            none => match BatchColumns::open(&self.file, batch, row, &self.ways, &mut self.held, most) {
                Ok(columns) => &mut none.insert((batch, columns)).1,
                Err(error) => return Ok(Err(error)),
            },
        };
        columns.hold_within(most);
        let behind = behind(self.source, columns.has_long_steps(), offsets, place.rows().end);
        let fit = columns.go_to(row).and_then(|()| columns.fits(1 + behind));
        let is_long = |fit: &Fit| room.is_long(usize::try_from(fit.bytes).unwrap_or(usize::MAX));
        if self.turn.is_none() && (holds_long(room, columns) || fit.as_ref().is_ok_and(is_long)) {
            self.turn = room.turn()?;
        }
        let longest = self.fields.max_record_bytes.min(room.most()) as u64;
        Ok(fit.and_then(|fit| columns.read(fit.rows, longest)))
    }

    /// Lets others have long records, unless what is held of the columns is long.
    fn give_back(&mut self) {
        let room = &self.fields.room;
        if !self.present.as_ref().is_some_and(|(_, columns)| holds_long(room, columns)) {
            self.turn = None;
        }
    }
}

/// Whether what is in memory of columns as a whole is as much as a long record.
fn holds_long(room: &RecordRoom, columns: &BatchColumns) -> bool {
    room.is_long(usize::try_from(columns.most_held() / PART).unwrap_or(usize::MAX))
}

/// How many rows behind the first of `offsets` are read with it: of its batch, which ends at `end`, and of its stretch, so that what
/// is damaged in the next one is no matter. With long steps, what lies between is read rather than all brought into memory again.
fn behind(source: &Source, has_long_steps: bool, offsets: &[u64], end: u64) -> u64 {
    let stretch = |row: u64| source.cuts.places.partition_point(|place| *place <= row);
    let first = offsets[0];
    let is_near = |row: u64| row < end && stretch(row) == stretch(first);
    if has_long_steps {
        offsets.iter().take_while(|row| is_near(**row)).last().map_or(0, |last| last - first)
    } else {
        offsets.windows(2).take_while(|two| two[1] == two[0] + 1 && is_near(two[1])).count() as u64
    }
}

/// What an error of the file comes to: what had room when it was read first has it again, and what was whole then was changed.
fn otherwise(source: &Source, error: io::Error) -> Error {
    match no_damage(source, error) {
        Ok(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            Error::input(&source.path, error.to_string())
        }
        Ok(_) => Error::Changed(source.path.clone()),
        Err(error) => error,
    }
}
