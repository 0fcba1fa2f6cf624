//! Rows with the columns of their own format, written as Parquet, and columns of ours behind them.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::Type as Physical;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type,
};
use parquet::errors::Result as ColumnsResult;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{BLOCK, HeldCells, TableColumn, failed, field, written_properties};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::read::{ArrowTable, LeafCells, LeafValues};

/// Bytes of values that are encoded at a time, if those of a row are not more. The encoder looks only behind a thousand values
/// whether its page is full.
const PORTION: usize = sized(1 << 20, 64);

/// A file of such rows on its way.
pub(in crate::output) struct LeafFile {
    path: PathBuf,
    writer: SerializedFileWriter<BufWriter<File>>,
}

impl LeafFile {
    /// Creates a file for the rows of a table, which must not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::output) fn create(
        path: PathBuf,
        table: &ArrowTable,
        added: &[TableColumn],
    ) -> Result<LeafFile> {
        let made = File::create_new(&path).map_err(|e| Error::io(&path, "create", e))?;
        let out = BufWriter::with_capacity(BLOCK, made);
        let made = || -> ColumnsResult<_> {
            let own: Vec<TypePtr> = added.iter().map(field).collect::<ColumnsResult<_>>()?;
            let names: Vec<(&str, Physical)> =
                own.iter().map(|column| (column.name(), column.get_physical_type())).collect();
            let fields = [table.types(), &own].concat();
            let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
            let properties = written_properties()?.set_key_value_metadata(Some(table.said(&names))).build();
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
        };
        let writer = made().map_err(|error| failed(&path, error))?;
        Ok(LeafFile { path, writer })
    }

    /// Writes cells as a row group.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::output) fn write(&mut self, leaves: &[LeafCells], added: &mut [HeldCells]) -> Result<()> {
        let mut group = || -> ColumnsResult<()> {
            let mut group = self.writer.next_row_group()?;
            for leaf in leaves {
                if let Some(mut to) = group.next_column()? {
                    write_leaf(leaf, &mut to)?;
                    to.close()?;
                }
            }
            for column in &mut *added {
                if let Some(mut to) = group.next_column()? {
                    column.write(&mut to)?;
                    to.close()?;
                }
            }
            group.close().map(drop)
        };
        group().map_err(|error| failed(&self.path, error))
    }

    /// Bytes written so far.
    pub(in crate::output) fn written(&self) -> u64 {
        self.writer.bytes_written() as u64
    }

    /// Ends the file; its length.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(in crate::output) fn finish(self) -> Result<u64> {
        let LeafFile { mut writer, path } = self;
        writer.finish().map_err(|error| failed(&path, error))?;
        std::fs::metadata(&path).map(|made| made.len()).map_err(|e| Error::io(&path, "read", e))
    }
}

fn write_leaf(leaf: &LeafCells, to: &mut SerializedColumnWriter<'_>) -> ColumnsResult<()> {
    match &leaf.values {
        LeafValues::Truths(values) => portions::<BoolType>(values, leaf, |_| 1, to),
        LeafValues::Ints(values) => portions::<Int32Type>(values, leaf, |_| 4, to),
        LeafValues::Longs(values) => portions::<Int64Type>(values, leaf, |_| 8, to),
        LeafValues::Floats(values) => portions::<FloatType>(values, leaf, |_| 4, to),
        LeafValues::Doubles(values) => portions::<DoubleType>(values, leaf, |_| 8, to),
        LeafValues::Bytes(values) => portions::<ByteArrayType>(values, leaf, ByteArray::len, to),
        LeafValues::Fixed(values) => portions::<FixedLenByteArrayType>(values, leaf, |value| value.len(), to),
    }
}

/// Writes the cells of a leaf, some rows at a time.
fn portions<T: DataType>(
    values: &[T::T],
    leaf: &LeafCells,
    length: impl Fn(&T::T) -> usize,
    to: &mut SerializedColumnWriter<'_>,
) -> ColumnsResult<()> {
    let (definition, defined) = (&leaf.definition.0, leaf.definition.1);
    let (mut begin, mut first, mut value, mut bytes) = (0, 0, 0, 0);
    let mut write = |levels: std::ops::Range<usize>, values: &[T::T]| {
        let definition = (defined > 0).then(|| &definition[levels.clone()]);
        let repetition = leaf.repetition.as_ref().map(|repetition| &repetition[levels]);
        to.typed::<T>().write_batch(values, definition, repetition).map(drop)
    };
    for (at, level) in definition.iter().enumerate() {
        let starts_row = leaf.repetition.as_ref().is_none_or(|repetition| repetition[at] == 0);
        if bytes >= PORTION && starts_row {
            write(begin..at, &values[first..value])?;
            (begin, first, bytes) = (at, value, 0);
        }
        if *level == defined {
            bytes += length(&values[value]);
            value += 1;
        }
    }
    write(begin..definition.len(), &values[first..value])
}
