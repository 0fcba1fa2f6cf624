//! Rows of a table of Python on their way to the program: a file, or a pipe.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, GenericListArray, Int64Array, OffsetSizeTrait, RecordBatch, RecordBatchReader,
    StringArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_json::LineDelimitedWriter;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

/// The names of columns, and their types.
type Columns = Vec<(String, String)>;

/// Most bytes of rows in a batch that is written: workers share batches.
const BATCH_BYTES: usize = 8 << 20;

/// Writes the rows of any object with `__arrow_c_stream__` or `__arrow_c_array__` to a file, as an Arrow stream. Returns how
/// many there are, the names and types of their columns, and whether they were numbered: `number` is the name of a column for the
/// number of each row, from 0, which is left out if there is a column `unless`. With a `prefix` they are texts: "old:0".
///
/// # Errors
/// `ValueError` if the object gives no rows, `OSError` if the file cannot be written.
#[pyfunction]
#[pyo3(signature = (data, path, number=None, unless=None, prefix=None))]
pub fn write_arrow(
    py: Python<'_>,
    data: AnyRecordBatch,
    path: PathBuf,
    number: Option<String>,
    unless: Option<String>,
    prefix: Option<String>,
) -> PyResult<(u64, Columns, bool)> {
    let batches = data.into_reader()?;
    let names = names(&batches.schema());
    let number = number.filter(|_| unless.is_none_or(|unless| names.iter().all(|(name, _)| *name != unless)));
    py.detach(move || {
        let schema = numbered_schema(&batches.schema(), number.as_deref(), prefix.as_deref());
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut to = StreamWriter::try_new_with_options(file, &schema, IpcWriteOptions::default())
            .map_err(not_written)?;
        let mut rows = 0;
        for batch in batches {
            let batch = batch.map_err(not_read)?;
            for part in parts(&batch) {
                // Ctrl-C is heard while a large table is written.
                Python::attach(|py| py.check_signals())?;
                let part = compacted(&part)?;
                let part =
                    if number.is_some() { numbered(&part, rows, prefix.as_deref(), &schema)? } else { part };
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
/// there are, and the names and types of their columns.
///
/// # Errors
/// `ValueError` if the object gives no rows or a column has no form in JSON, `OSError` if the file cannot be written.
#[pyfunction]
pub fn write_json_lines(py: Python<'_>, data: AnyRecordBatch, path: PathBuf) -> PyResult<(u64, Columns)> {
    let batches = data.into_reader()?;
    let names = names(&batches.schema());
    py.detach(move || {
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut to = LineDelimitedWriter::new(file);
        let mut rows = 0;
        for batch in batches {
            let batch = batch.map_err(not_read)?;
            rows += batch.num_rows() as u64;
            for part in parts(&batch) {
                // Ctrl-C is heard while a large table is written.
                Python::attach(|py| py.check_signals())?;
                to.write(&part).map_err(not_written)?;
            }
        }
        to.finish().map_err(not_written)?;
        to.into_inner().flush()?;
        Ok((rows, names))
    })
}

fn names(schema: &SchemaRef) -> Columns {
    schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
}

fn numbered_schema(schema: &SchemaRef, number: Option<&str>, prefix: Option<&str>) -> SchemaRef {
    let Some(number) = number else { return Arc::clone(schema) };
    let mut fields = schema.fields().to_vec();
    let kind = if prefix.is_some() { DataType::Utf8 } else { DataType::Int64 };
    fields.push(Arc::new(Field::new(number, kind, false)));
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn numbered(
    rows: &RecordBatch,
    first: u64,
    prefix: Option<&str>,
    schema: &SchemaRef,
) -> PyResult<RecordBatch> {
    let numbers = first..first + rows.num_rows() as u64;
    let numbers: ArrayRef = match prefix {
        Some(prefix) => Arc::new(StringArray::from_iter_values(numbers.map(|row| format!("{prefix}:{row}")))),
        None => Arc::new(Int64Array::from_iter_values(numbers.map(|row| row as i64))),
    };
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

/// Rows without what their views do not show: views of a part name the buffers of the whole, which would be written with each.
fn compacted(rows: &RecordBatch) -> PyResult<RecordBatch> {
    let columns = rows.columns().iter().map(compact).collect();
    RecordBatch::try_new(rows.schema(), columns).map_err(not_read)
}

fn compact(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        DataType::Struct(fields) if !fields.is_empty() => {
            let rows = array.as_struct();
            let columns = rows.columns().iter().map(compact).collect();
            Arc::new(StructArray::new(fields.clone(), columns, rows.nulls().cloned()))
        }
        DataType::List(field) => compact_list::<i32>(array, field),
        DataType::LargeList(field) => compact_list::<i64>(array, field),
        _ => Arc::clone(array),
    }
}

fn compact_list<O: OffsetSizeTrait>(array: &ArrayRef, field: &FieldRef) -> ArrayRef {
    let lists = array.as_list::<O>();
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0].as_usize(), offsets[offsets.len() - 1].as_usize());
    let values = compact(&lists.values().slice(first, last - first));
    let lengths =
        OffsetBuffer::<O>::from_lengths(offsets.windows(2).map(|pair| (pair[1] - pair[0]).as_usize()));
    Arc::new(GenericListArray::new(Arc::clone(field), lengths, values, lists.nulls().cloned()))
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
