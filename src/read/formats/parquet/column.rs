//! One column of a row group, record by record.

use crate::limits::sized;
use std::ops::Range;
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::cell::{Cell, CellOf};
use super::footer::Chunk;
use super::guard::guarded;
use super::leaf::Meaning;
use super::pages::{ColumnPages, FEW, HeldPages, UnitMemory};
use super::thrift::damaged;
use crate::read::bytes::InputFile;

/// Most records that are decoded at once.
const MOST: usize = sized(1 << 10, 3);

/// A column of a row group.
pub(super) struct ColumnCells {
    reader: ColumnReader,
    column: ColumnDescPtr,
    meaning: Meaning,
    held: Arc<HeldPages>,
    /// Values that were read or passed over.
    passed: u64,
    /// Records decoded at once at most.
    most: usize,
}

impl ColumnCells {
    /// A column from its record `first` on, of an object fetched with the others that `wanted` has.
    pub(super) fn open(
        file: &Arc<InputFile>,
        chunk: Chunk,
        wanted: Range<u64>,
        column: ColumnDescPtr,
        unit: &Arc<UnitMemory>,
        first: u64,
    ) -> Result<ColumnCells> {
        let held = Arc::new(HeldPages::new(unit));
        let pages = ColumnPages::new(file, chunk, wanted, Arc::clone(&column), &held)?;
        let reader = get_column_reader(Arc::clone(&column), Box::new(pages));
        let most = if chunk.expands { FEW as usize } else { MOST };
        let mut cells = ColumnCells { reader, meaning: Meaning::of(&column), column, held, passed: 0, most };
        cells.pass(first)?;
        Ok(cells)
    }

    /// Passes over so many records.
    pub(super) fn pass(&mut self, records: u64) -> Result<()> {
        if records == 0 {
            return Ok(());
        }
        let records = usize::try_from(records).map_err(|_| damaged("a row group of too many rows"))?;
        if guarded(|| self.skip(records))? != records {
            return Err(damaged("fewer rows than the footer says"));
        }
        // How many values the rows of a list had is not told: as if nothing were left of its page.
        self.passed = if self.is_list() { self.held.values() } else { self.passed + records as u64 };
        Ok(())
    }

    /// Values of the pages that were met, and are still to be read.
    fn left(&self) -> u64 {
        self.held.values().saturating_sub(self.passed)
    }

    /// Whether the next record is, as far as is known, in the next page.
    pub(super) fn is_at_page_end(&self) -> bool {
        self.left() == 0
    }

    /// Whether a record may have several values.
    fn is_list(&self) -> bool {
        self.column.max_rep_level() > 0
    }

    /// The pages that are held.
    pub(super) fn held(&self) -> &HeldPages {
        &self.held
    }

    fn skip(&mut self, records: usize) -> Result<usize> {
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => reader.skip_records(records),
            ColumnReader::Int32ColumnReader(reader) => reader.skip_records(records),
            ColumnReader::Int64ColumnReader(reader) => reader.skip_records(records),
            ColumnReader::Int96ColumnReader(reader) => reader.skip_records(records),
            ColumnReader::FloatColumnReader(reader) => reader.skip_records(records),
            ColumnReader::DoubleColumnReader(reader) => reader.skip_records(records),
            ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(records),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => reader.skip_records(records),
        }
    }

    /// Reads at least one record, and no more than `most`, and no more than the pages have that are held or read next.
    pub(super) fn some(&mut self, most: u64, cells: &mut Vec<Cell>) -> Result<()> {
        // With no page begun a single record fetches the next one: so never more than one page is added to what is held.
        let left = self.left();
        let known = match (left, self.is_list()) {
            (0, _) => 1,
            (left, false) => left,
            (left, true) => (left / 8).clamp(1, 16),
        };
        let wanted = most.min(known).min(self.most as u64) as usize;
        self.passed += guarded(|| self.read(wanted, cells))?;
        Ok(())
    }

    /// Reads exactly so many records.
    pub(super) fn exactly(&mut self, records: usize, cells: &mut Vec<Cell>) -> Result<()> {
        let end = cells.len() + records;
        while cells.len() < end {
            self.some((end - cells.len()) as u64, cells)?;
        }
        Ok(())
    }

    /// Appends the cells of so many records; how many levels they have.
    fn read(&mut self, records: usize, cells: &mut Vec<Cell>) -> Result<u64> {
        let (column, meaning) = (&self.column, self.meaning);
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::Int32ColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::Int64ColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::Int96ColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::FloatColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::DoubleColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::ByteArrayColumnReader(reader) => read(reader, column, meaning, records, cells),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(reader, column, meaning, records, cells)
            }
        }
    }
}

/// Appends the cells of so many records; how many levels they have.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    column: &ColumnDescPtr,
    meaning: Meaning,
    records: usize,
    cells: &mut Vec<Cell>,
) -> Result<u64>
where
    T::T: CellOf,
{
    let (mut definition, mut repetition, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let optional = (column.max_def_level() > 0).then_some(&mut definition);
    let repeated = (column.max_rep_level() > 0).then_some(&mut repetition);
    let (read, _, levels) = reader.read_records(records, optional, repeated, &mut values)?;
    if read != records {
        return Err(damaged("fewer rows than the footer says"));
    }
    let mut values = values.into_iter();
    if column.max_rep_level() > 0 {
        lists(column, meaning, &definition, &repetition, &mut values, cells);
    } else if column.max_def_level() > 0 {
        let most = column.max_def_level();
        let cell = |level: &i16| match *level == most {
            true => values.next().map_or(Cell::Null, |value| value.cell(meaning)),
            false => Cell::Null,
        };
        cells.extend(definition.iter().map(cell));
    } else {
        cells.extend(values.map(|value| value.cell(meaning)));
    }
    Ok(levels as u64)
}

/// Appends a cell for each record: the values that are texts, joined by line feeds.
fn lists<V: CellOf>(
    column: &ColumnDescPtr,
    meaning: Meaning,
    definition: &[i16],
    repetition: &[i16],
    values: &mut impl Iterator<Item = V>,
    cells: &mut Vec<Cell>,
) {
    let mut record: Option<(Vec<u8>, bool)> = None;
    let mut done = |record: Option<(Vec<u8>, bool)>| {
        cells.extend(record.map(|(text, absent)| match (meaning, absent) {
            (_, true) => Cell::Null,
            (Meaning::Text, false) => Cell::Text(ByteArray::from(text)),
            _ => Cell::Other("a list"),
        }));
    };
    let mut any = false;
    for (at, level) in repetition.iter().enumerate() {
        let defined = definition.get(at).copied().unwrap_or(column.max_def_level());
        if *level == 0 {
            done(record.take());
            // A list that is not there, rather than one with nothing in it.
            record = Some((Vec::new(), defined == 0 && column.max_def_level() > 1));
            any = false;
        }
        if defined == column.max_def_level()
            && let (Some(value), Some((text, _))) = (values.next(), &mut record)
            && let Cell::Text(value) = value.cell(meaning)
        {
            if any {
                text.push(b'\n');
            }
            text.extend_from_slice(value.data());
            any = true;
        }
    }
    done(record);
}
