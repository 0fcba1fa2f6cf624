//! Rows as JSON objects: all columns, whatever they hold.

mod room;
mod values;

use std::io;

use self::room::{OBJECTS, ObjectRoom, ROWS};
use self::values::has_form;
use super::columns::batch::{BatchWalk, WantedField};
use super::columns::column::{ArrowColumn, ColumnValues, Fit};
use super::columns::dictionary::{Dictionaries, HeldDictionaries};
use super::fields::batch_head;
use super::metadata::flat::damaged;
use super::metadata::layout::ArrowFile;
use super::rows::{no_damage, said};
use crate::error::{Error, Result};
use crate::limits::MAX_VALUE_BYTES;
use crate::progress::Progress;
use crate::read::bytes::{RecordRoom, Turn};
use crate::read::source::{Source, UndecodableRows};

/// Part of what may be taken that a buffer is that has to be there as a whole.
const PART: u64 = 4;

/// Hands each row of a source to `each`, with its number from 0, as a JSON object of all its columns. What is held of them has to fit in
/// some room.
///
/// What is no type of JSON is written as it is of Parquet: dates and times as ISO 8601 has them, decimals as numbers, bytes
/// as text if they are UTF-8 and else as hexadecimal digits, and numbers that JSON does not know as null.
///
/// # Errors
/// [`Error::Input`] of what cannot be decoded or has no form in JSON, and what `each` gives.
pub fn row_objects(
    source: &Source,
    room: &RecordRoom,
    each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut rows = BatchObjects::open(source, room)?;
    for batch in 0..rows.file.layout.batches.len() {
        let made = rows.batch(batch, &mut |row, object| match object {
            Ok(object) => each(row, object),
            Err(error) => Err(failed(source, error)),
        });
        made.map_err(|fault| fault.told(source))?;
    }
    Ok(())
}

/// The rows of a source that cannot be written as such objects, or have no room: single ones that are too long, or all of a batch.
///
/// # Errors
/// Those of [`row_objects`].
pub fn unfit_objects(
    source: &Source,
    room: &RecordRoom,
    progress: &Progress,
) -> Result<Vec<UndecodableRows>> {
    let mut rows = match BatchObjects::open(source, room) {
        // What has no form in JSON is not damaged.
        Err(Error::Input { .. }) => return Ok(Vec::new()),
        rows => rows?,
    };
    let mut found = Vec::new();
    for batch in 0..rows.file.layout.batches.len() {
        let (of_batch, mut unfit) = (rows.file.layout.batches[batch].rows(), Vec::new());
        let made = rows.batch(batch, &mut |row, object| {
            unfit.extend(object.err().map(|error| UndecodableRows { rows: row..row + 1, why: said(&error) }));
            progress.check()
        });
        match made {
            Ok(()) => found.append(&mut unfit),
            Err(BatchFault::Batch(error)) => {
                let why = said(&no_damage(source, error)?);
                found.push(UndecodableRows { rows: of_batch, why });
                // What was decoded of a dictionary may be wrong.
                rows.dictionaries = HeldDictionaries::default();
            }
            Err(BatchFault::Known(error)) => return Err(error),
        }
    }
    Ok(found)
}

fn is_unfit(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
}

/// What is wrong, for people.
fn failed(source: &Source, error: io::Error) -> Error {
    match no_damage(source, error) {
        Err(error) => error,
        Ok(error) => Error::undecodable(&source.shown, told(&error)),
    }
}

fn told(error: &io::Error) -> String {
    format!("cannot be written as JSON: {}; leave --to out to have the rows as they are stored", said(error))
}

/// What ends a batch before its end.
enum BatchFault {
    /// Something that is wrong with it as a whole.
    Batch(io::Error),
    /// Whatever else.
    Known(Error),
}

impl BatchFault {
    fn told(self, source: &Source) -> Error {
        match self {
            BatchFault::Batch(error) => failed(source, error),
            BatchFault::Known(error) => error,
        }
    }
}

impl From<io::Error> for BatchFault {
    fn from(error: io::Error) -> BatchFault {
        BatchFault::Batch(error)
    }
}

/// Takes the number of a row, and its object, or why there is no room for it.
type TakeBatchObject<'a> = dyn FnMut(u64, io::Result<&[u8]>) -> Result<()> + 'a;

/// The rows of a file that become objects.
struct BatchObjects<'a> {
    source: &'a Source,
    room: &'a RecordRoom,
    file: ArrowFile,
    dictionaries: HeldDictionaries,
    /// The right to have long objects.
    turn: Option<Turn>,
}

impl<'a> BatchObjects<'a> {
    fn open(source: &'a Source, room: &'a RecordRoom) -> Result<BatchObjects<'a>> {
        let file = ArrowFile::open(source).map_err(|error| failed(source, error))?;
        let formless = file.layout.schema.fields.iter().try_for_each(has_form);
        formless.map_err(|error| Error::input(&source.path, told(&error)))?;
        Ok(BatchObjects { source, room, file, dictionaries: HeldDictionaries::default(), turn: None })
    }

    /// Hands on the objects of a batch, unless it is refused. Where those of some rows have no room at a time, the rest is made one by
    /// one, by one worker at a time.
    fn batch(&mut self, batch: usize, take: &mut TakeBatchObject<'_>) -> std::result::Result<(), BatchFault> {
        let place = self.file.layout.batches[batch];
        if self.source.refuses(&place.rows()) {
            return Ok(());
        }
        let (mut columns, mut at, mut most) = (self.columns(batch)?, 0, ROWS);
        while at < place.rows {
            // Rows that had no room before are refused, and passed over.
            let refused = self.source.refused_from(place.first + at).map(|refused| refused.rows.clone());
            let refused = refused.map_or(place.rows..place.rows, |rows| {
                rows.start.saturating_sub(place.first)..rows.end - place.first
            });
            if refused.start <= at {
                at = refused.end;
                continue;
            }
            match self.objects(&mut columns, (at, refused.start.min(place.rows)), most) {
                Ok(objects) => {
                    for object in &objects {
                        take(place.first + at, Ok(object)).map_err(BatchFault::Known)?;
                        at += 1;
                    }
                }
                Err(error) if is_unfit(&error) && most > 1 => {
                    self.await_turn()?;
                    (columns, most) = (self.columns(batch)?, 1);
                }
                Err(error) if is_unfit(&error) => {
                    take(place.first + at, Err(error)).map_err(BatchFault::Known)?;
                    at += 1;
                    columns = self.columns(batch)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.turn = None;
        Ok(())
    }

    fn await_turn(&mut self) -> std::result::Result<(), BatchFault> {
        if self.turn.is_none() {
            self.turn = self.room.turn().map_err(BatchFault::Known)?;
        }
        Ok(())
    }

    /// All columns of a batch, as one of structs.
    fn columns(&mut self, batch: usize) -> std::result::Result<ArrowColumn, BatchFault> {
        let (place, head) = (self.file.layout.batches[batch], batch_head(&self.file, batch)?);
        let of_all = self.room.rewritten();
        let most = (MAX_VALUE_BYTES as u64 * 4).min(of_all);
        let held = &mut self.dictionaries;
        let mut dictionaries = Dictionaries { file: &self.file, batch: place, held, most, of_all };
        let mut walk = BatchWalk::new(&self.file.file, place.block, &head, most / PART);
        let mut fields = Vec::new();
        for field in &self.file.layout.schema.fields {
            let column = walk.column(field, WantedField::All, Some(place.rows), &mut dictionaries)?;
            fields.extend(column.map(|column| (field.name.clone(), column)));
        }
        let values = ColumnValues::Struct(fields);
        let columns = ArrowColumn { validity: None, at: 0, rows: place.rows, values };
        let whole = self.held(&columns);
        if whole > of_all {
            let why = self.room.refusal_to_rewrite("a batch has long buffers", whole);
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, why).into());
        }
        if self.room.is_long_rewritten(whole) {
            self.await_turn()?;
        }
        Ok(columns)
    }

    /// Bytes that are held while objects are made.
    fn held(&self, columns: &ArrowColumn) -> u64 {
        self.dictionaries.bytes().saturating_add(columns.most_held())
    }

    /// The objects of some of the next rows.
    fn objects(
        &self,
        columns: &mut ArrowColumn,
        (at, end): (u64, u64),
        most: usize,
    ) -> io::Result<Vec<Vec<u8>>> {
        columns.go_to(at)?;
        let Fit { rows, bytes } = columns.fits((end - at).min(most as u64) as usize)?;
        if rows == 0 {
            return Err(damaged("a column with fewer rows than it should have"));
        }
        let allowed = if self.turn.is_some() { self.room.rewritten() } else { self.room.rewritten_by_each() };
        let held = self.held(columns);
        let most = usize::try_from(allowed.saturating_sub(held) / OBJECTS).unwrap_or(usize::MAX);
        let within = ObjectRoom { room: self.room, held, most: most.min(MAX_VALUE_BYTES), rows };
        // Of each column it is known how many bytes are read at once, unless they are in a dictionary.
        within.allows(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let mut objects = vec![Vec::new(); rows];
        columns.json(&mut objects, within)?;
        Ok(objects)
    }
}
