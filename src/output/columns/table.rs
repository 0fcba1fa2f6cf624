//! Tables: rows of a few typed columns, written as Parquet. Every column may hold nothing.

use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as ColumnsResult};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use xxhash_rust::xxh3::xxh3_64;

use super::borders::{Ends, RowBorders};
use crate::error::{Error, Result};
use crate::limits::{REWRITTEN_PAGE_BYTES, sized};

/// Bytes that are written at once.
pub(super) const BLOCK: usize = sized(256 << 10, 64);
/// The level of Zstandard.
const LEVEL: i32 = 3;

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) enum CellKind {
    Text,
    /// Text of which hardly any two cells are the same.
    LongText,
    Whole,
    Real,
    Truth,
    Texts,
}

/// A column of a table.
pub(in crate::output) type TableColumn = (&'static str, CellKind);

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::output) enum TableCell<'a> {
    Nothing,
    Text(&'a str),
    Whole(i64),
    Real(f64),
    Truth(bool),
    Texts(&'a [&'a str]),
}

impl<'a> From<Option<&'a str>> for TableCell<'a> {
    fn from(text: Option<&'a str>) -> TableCell<'a> {
        text.map_or(TableCell::Nothing, TableCell::Text)
    }
}

impl<'a> From<&'a str> for TableCell<'a> {
    fn from(text: &'a str) -> TableCell<'a> {
        TableCell::Text(text)
    }
}

impl From<Option<i64>> for TableCell<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(TableCell::Nothing, TableCell::Whole)
    }
}

impl From<u64> for TableCell<'_> {
    fn from(number: u64) -> Self {
        // No count of a run is larger.
        TableCell::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Option<u64>> for TableCell<'_> {
    fn from(number: Option<u64>) -> Self {
        number.map_or(TableCell::Nothing, TableCell::from)
    }
}

impl From<Option<f64>> for TableCell<'_> {
    fn from(number: Option<f64>) -> Self {
        number.map_or(TableCell::Nothing, TableCell::Real)
    }
}

/// A table on its way to a file.
pub(in crate::output) struct TableFile {
    path: PathBuf,
    writer: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<HeldCells>,
    borders: RowBorders,
    /// The column that tells a row.
    told_by: usize,
    /// Rows of the pages that are held, and those behind them.
    pages: Vec<usize>,
    rows: usize,
}

impl TableFile {
    /// Creates a file, which must not exist, with row groups of at most so many bytes of rows.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::output) fn create(
        path: PathBuf,
        columns: &[TableColumn],
        group_bytes: usize,
    ) -> Result<TableFile> {
        let made = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        let out = BufWriter::with_capacity(BLOCK, made);
        let made = || -> ColumnsResult<_> {
            let fields = columns.iter().map(field).collect::<ColumnsResult<_>>()?;
            let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
            let mut properties = written_properties()?.set_write_batch_size(u32::MAX as usize);
            for (name, kind) in columns {
                // Each batch is a page. Not of lists, whose values have a longer name than their column.
                properties = properties
                    .set_column_dictionary_enabled(ColumnPath::from(*name), *kind != CellKind::LongText)
                    .set_column_data_page_row_count_limit(ColumnPath::from(*name), 1)
                    .set_column_data_page_size_limit(ColumnPath::from(*name), REWRITTEN_PAGE_BYTES);
            }
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))
        };
        let writer = made().map_err(|error| failed(&path, error))?;
        let told_by = telling(columns);
        let columns = columns.iter().map(|(_, kind)| HeldCells::new(*kind)).collect();
        Ok(TableFile {
            path,
            writer,
            columns,
            borders: RowBorders::new(group_bytes),
            told_by,
            pages: Vec::new(),
            rows: 0,
        })
    }

    /// Appends a row: a cell a column.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::output) fn row(&mut self, cells: &[TableCell<'_>]) -> Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len());
        let bytes = self.columns.iter_mut().zip(cells).map(|(column, cell)| column.push(*cell)).sum();
        self.rows += 1;
        match self.borders.ends(mark(cells[self.told_by]), bytes) {
            Ends::Nothing => Ok(()),
            Ends::Page => {
                self.pages.push(std::mem::take(&mut self.rows));
                Ok(())
            }
            Ends::Group => self.flush(),
        }
    }

    /// Bytes written so far; those of rows that are held are not among them.
    pub(in crate::output) fn written(&self) -> u64 {
        self.writer.bytes_written() as u64
    }

    /// Writes the rows that are held.
    fn flush(&mut self) -> Result<()> {
        self.pages.extend(Some(std::mem::take(&mut self.rows)).filter(|rows| *rows > 0));
        if self.pages.is_empty() {
            return Ok(());
        }
        let TableFile { writer, columns, pages, path, .. } = self;
        let mut group = || -> ColumnsResult<()> {
            let mut group = writer.next_row_group()?;
            for column in columns.iter_mut() {
                if let Some(mut to) = group.next_column()? {
                    column.write_pages(&mut to, pages)?;
                    to.close()?;
                }
            }
            pages.clear();
            group.close().map(drop)
        };
        group().map_err(|error| failed(path, error))
    }

    /// Ends the file; its length.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::output) fn finish(mut self) -> Result<u64> {
        self.flush()?;
        let TableFile { mut writer, path, .. } = self;
        writer.finish().map_err(|error| failed(&path, error))?;
        std::fs::metadata(&path).map(|made| made.len()).map_err(|e| Error::io(&path, "read", e))
    }
}

/// The column that tells a row, wherever it stands: the first of long texts, or else of texts, which is that of ids. Names of files are
/// the same in all rows.
fn telling(columns: &[TableColumn]) -> usize {
    let first_of = |of: CellKind| columns.iter().position(|(_, kind)| *kind == of);
    first_of(CellKind::LongText).or_else(|| first_of(CellKind::Text)).unwrap_or_default()
}

/// What a row is told by, of the cell of that column.
fn mark(cell: TableCell<'_>) -> u64 {
    match cell {
        TableCell::Text(text) => xxh3_64(text.as_bytes()),
        _ => u64::MAX,
    }
}

/// How files of our own are written.
pub(super) fn written_properties() -> ColumnsResult<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder()
        .set_created_by(format!("alike version {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?)))
}

/// What the system says of a file, for people.
pub(super) fn failed(path: &Path, error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    };
    Error::io(path, "write", error)
}

/// A column in the schema of a file.
///
/// # Errors
/// None, as the names are ours.
pub(in crate::output) fn field((name, kind): &TableColumn) -> ColumnsResult<TypePtr> {
    let physical = match kind {
        CellKind::Text | CellKind::LongText | CellKind::Texts => Physical::BYTE_ARRAY,
        CellKind::Whole => Physical::INT64,
        CellKind::Real => Physical::DOUBLE,
        CellKind::Truth => Physical::BOOLEAN,
    };
    let logical = match kind {
        CellKind::Text | CellKind::LongText | CellKind::Texts => Some(LogicalType::String),
        _ => None,
    };
    let leaf_name = if *kind == CellKind::Texts { "element" } else { name };
    let leaf = Type::primitive_type_builder(leaf_name, physical).with_logical_type(logical);
    let leaf = Arc::new(leaf.with_repetition(Repetition::OPTIONAL).build()?);
    if *kind != CellKind::Texts {
        return Ok(leaf);
    }
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let list = Arc::new(list.with_fields(vec![leaf]).build()?);
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(ConvertedType::LIST)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![list]);
    Ok(Arc::new(list.build()?))
}

/// Cells of a column that are held.
pub(in crate::output) struct HeldCells {
    values: CellValues,
    definition: Vec<i16>,
    /// Of lists alone.
    repetition: Option<Vec<i16>>,
}

/// Values of a column.
enum CellValues {
    Bytes(Vec<ByteArray>),
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

impl HeldCells {
    pub(in crate::output) fn new(kind: CellKind) -> HeldCells {
        let values = match kind {
            CellKind::Whole => CellValues::Whole(Vec::new()),
            CellKind::Real => CellValues::Real(Vec::new()),
            CellKind::Truth => CellValues::Truth(Vec::new()),
            _ => CellValues::Bytes(Vec::new()),
        };
        let repetition = (kind == CellKind::Texts).then(Vec::new);
        HeldCells { values, definition: Vec::new(), repetition }
    }

    /// Appends a cell; the bytes that it takes. What is no value of the column is nothing.
    pub(in crate::output) fn push(&mut self, cell: TableCell<'_>) -> usize {
        let (defined, bytes) = match (&mut self.values, cell) {
            (CellValues::Bytes(values), TableCell::Text(text)) => {
                values.push(ByteArray::from(text.as_bytes().to_vec()));
                (1, text.len() + size_of::<ByteArray>())
            }
            (CellValues::Bytes(_), TableCell::Texts(texts)) => return self.push_texts(texts),
            (CellValues::Whole(values), TableCell::Whole(number)) => {
                values.push(number);
                (1, 8)
            }
            (CellValues::Real(values), TableCell::Real(number)) => {
                values.push(number);
                (1, 8)
            }
            (CellValues::Truth(values), TableCell::Truth(truth)) => {
                values.push(truth);
                (1, 1)
            }
            _ => (0, 0),
        };
        self.definition.push(defined);
        self.repetition.iter_mut().for_each(|levels| levels.push(0));
        bytes + 4
    }

    fn push_texts(&mut self, texts: &[&str]) -> usize {
        let Some(repetition) = &mut self.repetition else { return 0 };
        if texts.is_empty() {
            self.definition.push(1);
            repetition.push(0);
        }
        let mut bytes = 4;
        for (at, text) in texts.iter().enumerate() {
            if let CellValues::Bytes(values) = &mut self.values {
                values.push(ByteArray::from(text.as_bytes().to_vec()));
            }
            self.definition.push(3);
            repetition.push(i16::from(at > 0));
            bytes += text.len() + size_of::<ByteArray>() + 4;
        }
        bytes
    }

    /// Writes the cells, and holds none of them any more.
    pub(in crate::output) fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> ColumnsResult<()> {
        self.write_pages(to, &[self.definition.len()])
    }

    /// Writes the cells in batches of so many rows. Rows of lists are one batch.
    fn write_pages(&mut self, to: &mut SerializedColumnWriter<'_>, pages: &[usize]) -> ColumnsResult<()> {
        let all = [self.definition.len()];
        let pages = if self.repetition.is_some() { &all } else { pages };
        let (mut definition, mut repetition) = (&*self.definition, self.repetition.as_deref());
        let mut values = 0;
        for rows in pages {
            let levels = definition.split_off(..*rows).unwrap_or_default();
            let repeated = repetition.as_mut().and_then(|levels| levels.split_off(..*rows));
            let defined = match repeated {
                Some(_) => self.values.len(),
                None => levels.iter().filter(|level| **level > 0).count(),
            };
            self.values.write(to, values..values + defined, (levels, repeated))?;
            values += defined;
        }
        self.values.clear();
        self.definition.clear();
        self.repetition.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

impl CellValues {
    fn len(&self) -> usize {
        match self {
            CellValues::Bytes(values) => values.len(),
            CellValues::Whole(values) => values.len(),
            CellValues::Real(values) => values.len(),
            CellValues::Truth(values) => values.len(),
        }
    }

    fn clear(&mut self) {
        match self {
            CellValues::Bytes(values) => values.clear(),
            CellValues::Whole(values) => values.clear(),
            CellValues::Real(values) => values.clear(),
            CellValues::Truth(values) => values.clear(),
        }
    }

    /// Writes some of the values with their levels.
    fn write(
        &self,
        to: &mut SerializedColumnWriter<'_>,
        some: Range<usize>,
        (definition, repetition): (&[i16], Option<&[i16]>),
    ) -> ColumnsResult<usize> {
        let definition = Some(definition);
        match self {
            CellValues::Bytes(values) => {
                to.typed::<ByteArrayType>().write_batch(&values[some], definition, repetition)
            }
            CellValues::Whole(values) => {
                to.typed::<Int64Type>().write_batch(&values[some], definition, repetition)
            }
            CellValues::Real(values) => {
                to.typed::<DoubleType>().write_batch(&values[some], definition, repetition)
            }
            CellValues::Truth(values) => {
                to.typed::<BoolType>().write_batch(&values[some], definition, repetition)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_told_by_its_text_or_its_id() {
        let (id, text, file) =
            (("id", CellKind::Text), ("text", CellKind::LongText), ("file", CellKind::Text));
        assert_eq!((telling(&[id, text, file]), telling(&[("at", CellKind::Whole), id, file])), (1, 1));
        assert_eq!(telling(&[("at", CellKind::Whole)]), 0);
        assert_eq!(mark(TableCell::Text("a text")), mark(TableCell::Text("a text")));
        assert_ne!(mark(TableCell::Text("a text")), mark(TableCell::Text("another")));
    }
}
