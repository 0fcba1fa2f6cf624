//! Rows that other libraries take by the Arrow PyCapsule interface.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StructArray};
use arrow_json::writer::{LineDelimited, WriterBuilder};
use arrow_schema::{ArrowError, Field, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::lists::Shown;
use crate::reader::{Batches, Source, chosen};
use crate::split::sides;

/// Rows that are read from files whenever they are asked for.
#[pyclass(frozen, module = "alike._alike")]
pub struct Rows {
    source: Source,
    chosen: Option<Arc<BooleanArray>>,
    schema: SchemaRef,
    rows: u64,
    /// What keeps the files where they are.
    owner: Option<Py<PyAny>>,
}

#[pymethods]
impl Rows {
    /// The rows that `write_arrow` wrote to a file; `numbered` if it numbered them.
    #[staticmethod]
    fn sent(path: PathBuf, numbered: bool, rows: u64, owner: Option<Py<PyAny>>) -> PyResult<Rows> {
        let source = Source::Sent { path, numbered };
        let schema = source.schema().map_err(damaged)?;
        Ok(Rows { source, chosen: None, schema, rows, owner })
    }

    /// A list that the program wrote as Parquet. `of_rows` if the documents are rows of a table of Python.
    #[staticmethod]
    fn list(path: PathBuf, of_rows: bool, owner: Option<Py<PyAny>>) -> PyResult<Rows> {
        Rows::all(Source::List { path, shown: Shown { of_rows } }, owner)
    }

    /// The rows of Parquet and Arrow files, one after the other.
    #[staticmethod]
    fn files(paths: Vec<PathBuf>, owner: Option<Py<PyAny>>) -> PyResult<Rows> {
        Rows::all(Source::Files(paths), owner)
    }

    /// Those of these rows that any of the lists names, or with `inside` false those that none names.
    fn picked(&self, py: Python<'_>, lists: Vec<PyRef<'_, Rows>>, inside: bool) -> PyResult<Rows> {
        let mut mask = vec![!inside; self.rows as usize];
        for list in lists {
            let list: &Rows = &list;
            for row in py.detach(|| list.named_rows())? {
                mask[row] = inside;
            }
        }
        Ok(self.only(py, mask))
    }

    /// These rows in two parts, clusters whole, of which the second has at most a `share` of them. Rows that the list
    /// `without` names are in neither.
    fn split(
        &self,
        py: Python<'_>,
        assignments: &Rows,
        without: &Rows,
        share: f64,
        seed: u64,
    ) -> PyResult<(Rows, Rows)> {
        let (first, second) = py.detach(|| {
            let mut clusters = vec![None; self.rows as usize];
            for batch in assignments.batches().map_err(damaged)? {
                let batch = batch.map_err(damaged)?;
                let (rows, of) = (numbers(&batch, "row")?, numbers(&batch, "cluster")?);
                for (row, cluster) in rows.iter().zip(of.iter()) {
                    if let Some(row) = row {
                        clusters[row as usize] = cluster;
                    }
                }
            }
            let mut left_out = vec![false; clusters.len()];
            for row in without.named_rows()? {
                left_out[row] = true;
            }
            Ok::<_, PyErr>(sides(&clusters, &left_out, share, seed))
        })?;
        Ok((self.only(py, first), self.only(py, second)))
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The types of the columns, as Arrow calls them.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    /// The rows, or the first `limit` of them, as JSON Lines.
    #[pyo3(signature = (limit=None))]
    fn json_lines<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let lines = py.detach(|| {
            let mut lines = Vec::new();
            let mut to = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(&mut lines);
            let mut left = limit.unwrap_or(usize::MAX);
            for batch in self.batches()? {
                if left == 0 {
                    break;
                }
                let batch = batch?;
                let batch = batch.slice(0, left.min(batch.num_rows()));
                left -= batch.num_rows();
                to.write(&batch)?;
            }
            to.finish()?;
            drop(to);
            Ok(lines)
        });
        Ok(PyBytes::new(py, &lines.map_err(damaged)?))
    }

    fn __len__(&self) -> usize {
        self.rows as usize
    }

    /// The rows for another library, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new_struct("", self.schema.fields().clone(), false)
            .with_metadata(self.schema.metadata().clone());
        // The files stay as long as somebody reads.
        let owner = self.owner.as_ref().map(|owner| owner.clone_ref(py));
        let arrays = self.batches().map_err(damaged)?.map(move |batch| {
            let _owner = &owner;
            let rows: ArrayRef = Arc::new(StructArray::from(batch?));
            Ok::<_, ArrowError>(rows)
        });
        let arrays = ArrayIterator::new(arrays, Arc::new(field));
        Ok(to_stream_pycapsule(py, Box::new(arrays), requested_schema)?)
    }
}

impl Rows {
    fn all(source: Source, owner: Option<Py<PyAny>>) -> PyResult<Rows> {
        let schema = source.schema().map_err(damaged)?;
        let rows = source.count().map_err(damaged)?;
        Ok(Rows { source, chosen: None, schema, rows, owner })
    }

    fn only(&self, py: Python<'_>, mask: Vec<bool>) -> Rows {
        let mask = BooleanArray::from(mask);
        Rows {
            source: self.source.clone(),
            rows: mask.true_count() as u64,
            chosen: Some(Arc::new(mask)),
            schema: Arc::clone(&self.schema),
            owner: self.owner.as_ref().map(|owner| owner.clone_ref(py)),
        }
    }

    /// The rows of the table that this list names.
    fn named_rows(&self) -> PyResult<Vec<usize>> {
        let mut named = Vec::new();
        for batch in self.batches().map_err(damaged)? {
            let batch = batch.map_err(damaged)?;
            let rows = numbers(&batch, "row")?;
            // A row of refused ones may stand for those behind it, too.
            let records = batch.column_by_name("records").map(|_| numbers(&batch, "records")).transpose()?;
            for (at, row) in rows.iter().enumerate() {
                let Some(row) = row else { continue };
                let count =
                    records.as_ref().filter(|records| records.is_valid(at)).map_or(1, |of| of.value(at));
                named.extend(row as usize..(row + count.max(1)) as usize);
            }
        }
        Ok(named)
    }

    fn batches(&self) -> Result<Batches, ArrowError> {
        let batches = self.source.batches()?;
        Ok(match &self.chosen {
            Some(mask) => chosen(batches, Arc::clone(mask)),
            None => batches,
        })
    }
}

/// A column of whole numbers.
fn numbers(batch: &RecordBatch, name: &str) -> PyResult<Int64Array> {
    let column = batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>());
    column.cloned().ok_or_else(|| PyValueError::new_err(format!("the list has no column {name}")))
}

/// Files of ours that cannot be read.
fn damaged(error: ArrowError) -> PyErr {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => PyValueError::new_err(error.to_string()),
    }
}
