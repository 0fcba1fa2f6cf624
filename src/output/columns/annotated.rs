//! Columns that are added to those of a Parquet file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::Result as ColumnsResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::failure::Failure;
use super::properties;
use super::table::{HeldCells, TableCell, TableColumn, field};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;
use crate::read::{CARRIED_SCHEMA, ParquetSource, carried_with};

/// Rows whose cells are held at once.
const ROWS: u64 = sized(1 << 10, 3);
/// Bytes that are written at once.
const BLOCK: usize = sized(256 << 10, 64);
/// What describes the columns of a file in another way, and would be wrong with more of them.
const DESCRIPTION: &str = "huggingface";

/// The cells of columns that are added.
pub(in crate::output) trait AddedColumns {
    /// Goes on at a row. Rows behind those asked for before are near; those before them are of the same row group.
    ///
    /// # Errors
    /// What reading them gives.
    fn go_to(&mut self, row: u64) -> Result<()>;

    /// Hands the next cell of a column to `take`.
    ///
    /// # Errors
    /// What reading them gives.
    fn next(&mut self, column: usize, take: &mut dyn FnMut(TableCell<'_>)) -> Result<()>;
}

/// A writer of files with the columns of one, and maybe more of them.
pub(super) fn writer(
    file: &ParquetSource,
    columns: &[TableColumn],
    target: &Path,
) -> std::result::Result<SerializedFileWriter<BufWriter<File>>, Failure> {
    let made = File::create_new(target).map_err(|error| Error::io(target, "create", error))?;
    let schema = file.metadata().file_metadata().schema_descr().root_schema();
    let mut fields = schema.get_fields().to_vec();
    fields.extend(columns.iter().map(field).collect::<ColumnsResult<Vec<_>>>()?);
    let schema = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
    let said = properties::of_file(file);
    let properties = Arc::new(if columns.is_empty() { said } else { with_columns(said, columns)? });
    Ok(SerializedFileWriter::new(BufWriter::with_capacity(BLOCK, made), Arc::new(schema), properties)?)
}

/// What a file says of itself with more columns, without what is only true of those that it had.
fn with_columns(properties: WriterProperties, columns: &[TableColumn]) -> ColumnsResult<WriterProperties> {
    let added = columns.iter().map(field).collect::<ColumnsResult<Vec<_>>>()?;
    let added: Vec<_> = added.iter().map(|column| (column.name(), column.get_physical_type())).collect();
    let told = |pair: &KeyValue| match pair.key.as_str() {
        // Readers want it to have all columns.
        CARRIED_SCHEMA => {
            let schema = carried_with(pair.value.as_deref()?, &added)?;
            Some(KeyValue::new(CARRIED_SCHEMA.to_owned(), schema))
        }
        DESCRIPTION => None,
        _ => Some(pair.clone()),
    };
    let said = properties.key_value_metadata().map(|said| said.iter().filter_map(told).collect());
    Ok(properties.into_builder().set_key_value_metadata(said).build())
}

/// Writes an added column of a row group.
pub(super) fn write_added(
    (column, (_, kind)): (usize, TableColumn),
    rows: u64,
    added: &mut dyn AddedColumns,
    to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    progress: &Progress,
) -> std::result::Result<(), Failure> {
    let Some(mut to) = to.next_column()? else { return Ok(()) };
    let mut cells = HeldCells::new(kind);
    let mut left = rows;
    while left > 0 {
        progress.check()?;
        let some = left.min(ROWS);
        for _ in 0..some {
            added.next(column, &mut |cell| {
                cells.push(cell);
            })?;
        }
        cells.write(&mut to)?;
        left -= some;
    }
    to.close()?;
    Ok(())
}
