//! Rows as those of a table of Parquet, with the columns and types that they have.

mod declared;
mod leaves;
mod levels;
mod slots;
mod told;
mod unfolded;

use std::io;
use std::ops::Range;

use parquet::basic::Type as Physical;
use parquet::file::metadata::KeyValue;
use parquet::schema::types::TypePtr;

use self::declared::DeclaredSchema;
pub use self::leaves::{LeafCells, LeafValues};
use self::levels::LevelPlan;
use self::slots::LevelSlot;
use self::told::told_schema;
use self::unfolded::Unfolding;
use super::columns::batch::{BatchWalk, WantedField};
use super::columns::column::{ArrowColumn, ColumnValues, Fit};
use super::columns::dictionary::{Dictionaries, HeldDictionaries};
use super::fields::batch_head;
use super::metadata::carried::CARRIED_SCHEMA;
use super::metadata::flat::damaged;
use super::metadata::layout::{ArrowFile, BatchPlace};
use super::metadata::schema::{ArrowField, ArrowKind, FixedMeaning};
use super::rows::{no_damage, said};
use crate::error::{Error, Result};
use crate::limits::{MAX_VALUE_BYTES, sized};
use crate::read::bytes::{RecordRoom, Turn};
use crate::read::source::Source;

/// Most rows that are taken apart at once, and about how many bytes of them, if a row is not longer.
const ROWS: u64 = sized(1 << 10, 3);
const AT_ONCE: u64 = sized(8 << 20, 1 << 10);
/// Bytes that a cell takes beside its value: a name of bytes that it may share, and its levels.
const CELL: u64 = 40;
/// What describes the columns in another way, and would be wrong with more of them.
const DESCRIPTION: &str = "huggingface";

/// A source whose rows become rows of Parquet.
pub struct ArrowTable {
    source: Source,
    file: ArrowFile,
    schema: DeclaredSchema,
    /// The fields as they are laid out, values of dictionaries as they are encoded.
    fields: Vec<ArrowField>,
    plan: LevelPlan,
    dictionaries: HeldDictionaries,
    /// The columns of the present batch, and which one it is.
    columns: Option<(usize, ArrowColumn)>,
    room: RecordRoom,
    /// While long rows are held.
    turn: Option<Turn>,
    bytes: u64,
}

/// Bytes of memory that a column takes that becomes one of Parquet: 3,500 with 20,000 columns, and 3,400 with 5,000.
const OF_COLUMN: u64 = 4 << 10;

/// What a file of Parquet carries along as its schema of Arrow, where columns of some types stand behind its own; `None` if that cannot
/// be told.
pub fn carried_with(text: &str, added: &[(&str, Physical)]) -> Option<String> {
    let schema = DeclaredSchema::carried(text).ok().filter(|schema| !schema.has_formless())?;
    let said: Vec<_> = schema.said.iter().filter(|(key, _)| key != DESCRIPTION.as_bytes()).cloned().collect();
    Some(told_schema(&schema.fields, &said, added))
}

impl ArrowTable {
    /// Opens a source. Rows have to fit in some room.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not what it was when it was found, or has what Parquet has no place for.
    pub fn open(source: &Source, room: &RecordRoom) -> Result<ArrowTable> {
        let opened = ArrowFile::open(source).and_then(|file| Ok((DeclaredSchema::read(&file)?, file)));
        let (schema, file) = opened.map_err(|error| failed(source, error))?;
        let schema = if file.layout.has_one_dictionary_each() { schema } else { schema.with_usual_keys() };
        let plan = LevelPlan::of(&schema.fields).map_err(|what| refused(source, &what))?;
        if plan.leaves.is_empty() {
            return Err(refused(source, "it has no columns"));
        }
        Ok(ArrowTable {
            source: source.clone(),
            fields: file.layout.schema.fields.iter().map(encoded).collect(),
            file,
            schema,
            plan,
            dictionaries: HeldDictionaries::default(),
            columns: None,
            room: room.clone(),
            turn: None,
            bytes: 0,
        })
    }

    /// Refuses a source that cannot become one, or only with more than half of the memory for its columns, before any work.
    ///
    /// # Errors
    /// Those of [`ArrowTable::open`].
    pub fn check(source: &Source, memory: Option<u64>) -> Result<()> {
        let table = ArrowTable::open(source, &RecordRoom::default())?;
        let columns = table.plan.leaves.len() as u64;
        let needed = columns.saturating_mul(OF_COLUMN);
        let Some(memory) = memory.filter(|memory| needed > memory / 2) else { return Ok(()) };
        let what = format!(
            "{columns} columns take {} MiB to become Parquet, and half of the memory allowed is {} MiB; allow {} MiB with \
             --memory",
            needed.div_ceil(1 << 20),
            memory >> 21,
            (2 * needed).div_ceil(1 << 20)
        );
        Err(refused(source, &what))
    }

    /// The types of its columns.
    pub fn types(&self) -> &[TypePtr] {
        &self.plan.types
    }

    /// What it says of itself, where columns of some types stand behind its own.
    pub fn said(&self, added: &[(&str, Physical)]) -> Vec<KeyValue> {
        let is_true = |key: &[u8]| {
            key != CARRIED_SCHEMA.as_bytes() && (added.is_empty() || key != DESCRIPTION.as_bytes())
        };
        let said: Vec<_> = self.schema.said.iter().filter(|(key, _)| is_true(key)).cloned().collect();
        // What is no text stands in the schema alone.
        let texts = said.iter().filter_map(|(key, value)| {
            let (key, value) = (str::from_utf8(key).ok()?, str::from_utf8(value).ok()?);
            Some(KeyValue::new(key.to_owned(), value.to_owned()))
        });
        let schema = KeyValue::new(CARRIED_SCHEMA.to_owned(), told_schema(&self.schema.fields, &said, added));
        texts.chain([schema]).collect()
    }

    /// The rows of each batch.
    pub fn batches(&self) -> Vec<Range<u64>> {
        self.file.layout.batches.iter().map(BatchPlace::rows).collect()
    }

    /// Takes some of the first of some rows, which are of one batch and behind those that were taken before; how many.
    ///
    /// # Errors
    /// [`Error::Input`] of rows that cannot be decoded, or have a value that its type does not allow.
    pub fn take(&mut self, rows: &Range<u64>) -> Result<u64> {
        let taken = self.take_some(rows);
        let source = &self.source;
        let count = taken.map_err(|error| failed(source, error))?;
        let held = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        if self.turn.is_none() && self.room.is_long(held) {
            self.turn = self.room.turn()?;
        }
        Ok(count)
    }

    /// The same, with what is wrong as it is. The batch is open then, unless it is wrong as a whole.
    pub(super) fn take_some(&mut self, rows: &Range<u64>) -> io::Result<u64> {
        let batch =
            self.file.layout.batch_of(rows.start).ok_or_else(|| damaged("a row that is not there"))?;
        let first = self.file.layout.batches[batch].first;
        let most = (self.room.most() as u64).min(MAX_VALUE_BYTES as u64);
        if self.columns.as_ref().is_none_or(|(present, _)| *present != batch) {
            self.columns = None;
            let columns = self.open_batch(batch)?;
            self.columns = Some((batch, columns));
        }
        let Some((_, columns)) = &mut self.columns else { return Ok(0) };
        // Cells take memory whatever they hold: of many columns fewer rows are taken.
        let cells = (AT_ONCE / (CELL * self.plan.leaves.len() as u64)).max(1);
        let start = rows.start - first;
        let count = fitting(columns, start, (rows.end - rows.start).min(cells))?;
        let slots = (start..start + count)
            .map(|row| LevelSlot { row: Some(row), repetition: 0, definition: 0 })
            .collect::<Vec<_>>();
        let ColumnValues::Struct(fields) = &mut columns.values else {
            return Err(damaged("a batch without columns"));
        };
        // One row is what a record may be. Several may come to more: to as many values as fit, and cells for them.
        let most = if count == 1 { most } else { most.max(3 * AT_ONCE) };
        let mut unfolding = Unfolding::new(&mut self.plan.leaves, most);
        for ((_, column), node) in fields.iter_mut().zip(&self.plan.nodes) {
            unfolding.begin();
            unfolding.field(column, node, slots.clone())?;
        }
        self.bytes = self.bytes.saturating_add(unfolding.bytes);
        Ok(count)
    }

    /// Whether a batch is open.
    pub(super) fn is_open(&self) -> bool {
        self.columns.is_some()
    }

    /// All columns of a batch, as one of structs.
    fn open_batch(&mut self, batch: usize) -> io::Result<ArrowColumn> {
        let (place, head) = (self.file.layout.batches[batch], batch_head(&self.file, batch)?);
        if place.block.end() > self.file.layout.end {
            return Err(damaged("a batch that is cut off"));
        }
        let most = (self.room.most() as u64).min(MAX_VALUE_BYTES as u64 * 4);
        let held = &mut self.dictionaries;
        let mut dictionaries = Dictionaries { file: &self.file, batch: place, held, most, of_all: u64::MAX };
        let mut walk = BatchWalk::new(&self.file.file, place.block, &head, most);
        let mut fields = Vec::new();
        for field in &self.fields {
            let column = walk.column(field, WantedField::All, Some(place.rows), &mut dictionaries)?;
            fields.extend(column.map(|column| (field.name.clone(), column)));
        }
        Ok(ArrowColumn { validity: None, at: 0, rows: place.rows, values: ColumnValues::Struct(fields) })
    }

    /// The leaves, with what was taken of the rows.
    pub fn leaves(&self) -> &[LeafCells] {
        &self.plan.leaves
    }

    /// About how many bytes they hold.
    pub fn held(&self) -> u64 {
        self.bytes
    }

    /// Holds nothing any more.
    pub fn clear(&mut self) {
        self.plan.leaves.iter_mut().for_each(LeafCells::clear);
        (self.turn, self.bytes) = (None, 0);
    }
}

/// How many of some rows are taken apart at once: one or more.
fn fitting(columns: &mut ArrowColumn, at: u64, rows: u64) -> io::Result<u64> {
    columns.go_to(at)?;
    let mut rows = rows.min(ROWS);
    loop {
        let fit = columns.fits(rows as usize)?;
        match fit {
            Fit { rows: 0, .. } => return Err(damaged("a column with fewer rows than it should have")),
            Fit { rows: some, bytes } if some == 1 || bytes <= AT_ONCE => return Ok(some as u64),
            // Of many columns each is asked by itself.
            Fit { rows: some, bytes } => {
                rows = ((some as u64).saturating_mul(AT_ONCE) / bytes).clamp(1, some as u64 - 1);
            }
        }
    }
}

/// A field with the values of dictionaries as they are encoded, whatever they mean.
fn encoded(field: &ArrowField) -> ArrowField {
    let kind = match field.kind {
        ArrowKind::Fixed(width, _) if field.dictionary.is_some() => {
            ArrowKind::Fixed(width, FixedMeaning::Encoded)
        }
        kind => kind,
    };
    ArrowField { kind, children: field.children.iter().map(encoded).collect(), ..field.clone() }
}

fn refused(source: &Source, what: &str) -> Error {
    Error::input(&source.path, told(what))
}

fn told(what: &str) -> String {
    let advice = "leave --to out to have the rows as they are stored";
    format!("cannot be written as Parquet: {what}; {advice}")
}

fn failed(source: &Source, error: io::Error) -> Error {
    match no_damage(source, error) {
        Ok(error) => Error::undecodable(&source.shown, told(&said(&error))),
        Err(error) => error,
    }
}
