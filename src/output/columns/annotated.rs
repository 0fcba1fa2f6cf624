//! A Parquet file with more columns: those that it has are copied as they are encoded.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::Result as ColumnsResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::failure::Failure;
use super::properties;
use super::table::{HeldCells, TableCell, TableColumn, field};
use crate::error::{Error, Result};
use crate::limits::sized;
use crate::progress::Progress;
use crate::read::{ParquetSource, Source};

/// Rows whose cells are held at once.
const ROWS: u64 = sized(1 << 10, 3);
/// Bytes that are written at once.
const BLOCK: usize = sized(256 << 10, 64);
/// What describes the columns of a file in another way, and would be wrong with more of them.
const DESCRIPTIONS: [&str; 2] = ["ARROW:schema", "huggingface"];

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

/// Writes a source with more columns; the length of the file.
///
/// # Errors
/// [`Error::Input`] if the source is not what it was; [`Error::Io`] and [`Error::Interrupted`], and what `added` gives.
pub(in crate::output) fn write_with(
    source: &Source,
    columns: &[TableColumn],
    added: &mut dyn AddedColumns,
    target: &Path,
    progress: &Progress,
) -> Result<u64> {
    let file = ParquetSource::open(source)?;
    let mut made = || -> std::result::Result<(), Failure> {
        let mut writer = writer(&file, columns, target)?;
        for (group, rows) in file.groups().enumerate() {
            progress.check()?;
            let mut to = writer.next_row_group()?;
            for leaf in 0..file.metadata().file_metadata().schema_descr().num_columns() {
                let (bytes, column) = file.encoded(group, leaf)?;
                to.append_column(bytes, column)?;
            }
            for column in columns.iter().copied().enumerate() {
                added.go_to(rows.start)?;
                write_added(column, rows.end - rows.start, added, &mut to, progress)?;
            }
            to.close()?;
        }
        writer.finish()?;
        Ok(())
    };
    made().map_err(|failure| failure.told(source, target))?;
    fs::metadata(target).map(|made| made.len()).map_err(|error| Error::io(target, "read", error))
}

/// A writer of files with the columns of one and more of them.
fn writer(
    file: &ParquetSource,
    columns: &[TableColumn],
    target: &Path,
) -> std::result::Result<SerializedFileWriter<BufWriter<File>>, Failure> {
    let made = File::create_new(target).map_err(|error| Error::io(target, "create", error))?;
    let schema = file.metadata().file_metadata().schema_descr().root_schema();
    let mut fields = schema.get_fields().to_vec();
    fields.extend(columns.iter().map(field).collect::<ColumnsResult<Vec<_>>>()?);
    let schema = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
    let properties = Arc::new(with_columns(properties::of_file(file)));
    Ok(SerializedFileWriter::new(BufWriter::with_capacity(BLOCK, made), Arc::new(schema), properties)?)
}

/// What a file says of itself, without what is only true of the columns that it had.
fn with_columns(properties: WriterProperties) -> WriterProperties {
    let said = properties
        .key_value_metadata()
        .map(|said| said.iter().filter(|pair| !DESCRIPTIONS.contains(&pair.key.as_str())).cloned().collect());
    properties.into_builder().set_key_value_metadata(said).build()
}

/// Writes an added column of a row group.
fn write_added(
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
