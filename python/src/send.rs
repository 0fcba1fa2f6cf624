//! Rows of a table of Python on their way to the program: a file, or a pipe.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader};
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_json::LineDelimitedWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

/// Most bytes of rows in a batch that is written: workers share batches.
const BATCH_BYTES: usize = 8 << 20;

/// Writes the rows of any object with `__arrow_c_stream__` or `__arrow_c_array__` to a file, as an Arrow stream. Returns how
/// many there are, the names of their columns, and whether they were numbered: `number` is the name of a column for the
/// number of each row, from 0, which is left out if there is a column `unless`.
///
/// # Errors
/// `ValueError` if the object gives no rows, `OSError` if the file cannot be written.
#[pyfunction]
#[pyo3(signature = (data, path, number=None, unless=None))]
pub fn write_arrow(
    py: Python<'_>,
    data: AnyRecordBatch,
    path: PathBuf,
    number: Option<String>,
    unless: Option<String>,
) -> PyResult<(u64, Vec<String>, bool)> {
    let batches = data.into_reader()?;
    let names = names(&batches.schema());
    let number = number.filter(|_| unless.is_none_or(|unless| !names.contains(&unless)));
    py.detach(move || {
        let schema = numbered_schema(&batches.schema(), number.as_deref());
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut to = StreamWriter::try_new_with_options(file, &schema, IpcWriteOptions::default())
            .map_err(not_written)?;
        let mut rows = 0;
        for batch in batches {
            let batch = batch.map_err(not_read)?;
            for part in parts(&batch) {
                let part = if number.is_some() { numbered(&part, rows, &schema)? } else { part };
                rows += part.num_rows() as u64;
                to.write(&part).map_err(not_written)?;
            }
        }
        to.finish().map_err(not_written)?;
        to.into_inner().map_err(not_written)?.flush()?;
        Ok((rows, names, number.is_some()))
    })
}

/// Writes the rows of any object with `__arrow_c_stream__` or `__arrow_c_array__` to a file, as JSON Lines. Returns how many
/// there are, and the names of their columns.
///
/// # Errors
/// `ValueError` if the object gives no rows or a column has no form in JSON, `OSError` if the file cannot be written.
#[pyfunction]
pub fn write_json_lines(py: Python<'_>, data: AnyRecordBatch, path: PathBuf) -> PyResult<(u64, Vec<String>)> {
    let batches = data.into_reader()?;
    let names = names(&batches.schema());
    py.detach(move || {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut to = LineDelimitedWriter::new(file);
        let mut rows = 0;
        for batch in batches {
            let batch = batch.map_err(not_read)?;
            rows += batch.num_rows() as u64;
            to.write(&batch).map_err(not_written)?;
        }
        to.finish().map_err(not_written)?;
        to.into_inner().flush()?;
        Ok((rows, names))
    })
}

fn names(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

fn numbered_schema(schema: &SchemaRef, number: Option<&str>) -> SchemaRef {
    let Some(number) = number else { return Arc::clone(schema) };
    let mut fields = schema.fields().to_vec();
    fields.push(Arc::new(Field::new(number, DataType::Int64, false)));
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn numbered(rows: &RecordBatch, first: u64, schema: &SchemaRef) -> PyResult<RecordBatch> {
    let first = first as i64;
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + rows.num_rows() as i64));
    let mut columns = rows.columns().to_vec();
    columns.push(numbers);
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(not_read)
}

/// The rows of a batch in parts of about [`BATCH_BYTES`]: one library hands over a million rows at once, another a thousand.
fn parts(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    // Slices share buffers that are counted whole; a batch that is one of many such slices is only divided too finely.
    let parts = batch.get_array_memory_size().div_ceil(BATCH_BYTES).clamp(1, rows.max(1));
    let step = rows.div_ceil(parts).max(1024);
    (0..rows).step_by(step).map(move |from| batch.slice(from, step.min(rows - from)))
}

fn not_read(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the rows cannot be read: {error}"))
}

fn not_written(error: ArrowError) -> PyErr {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        ArrowError::ExternalError(error) => PyOSError::new_err(error.to_string()),
        error => PyValueError::new_err(format!("the rows cannot be handed to the program: {error}")),
    }
}
