//! Lists of the program as Python shows them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};
use arrow_select::nullif::nullif;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::statistics::Statistics;

/// Which columns of a list are shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Whether the documents are rows of a table of Python: then rows are counted from 0, and no file is named.
    pub of_rows: bool,
}

/// The columns of files, which mean nothing where rows came from Python.
const FILES: [&str; 3] = ["file", "representative_file", "offset"];
/// Columns that most methods leave empty: they are shown where they hold something.
const SOMETIMES: [&str; 15] = [
    "shared_features",
    "containment",
    "edit_similarity",
    "shared_terms",
    "cosine",
    "hamming_distance",
    "against_set",
    "against_file",
    "against_line",
    "parent",
    "kind",
    "edits",
    "edits_above",
    "kept",
    "records",
];

impl Shown {
    /// The columns that are shown, by their places in the file.
    pub fn columns(&self, footer: &ArrowReaderMetadata) -> Vec<usize> {
        let fields = footer.schema().fields().iter().enumerate();
        let shown = fields.filter(|(_, field)| {
            let name = field.name().as_str();
            let of_a_file = self.of_rows && FILES.contains(&name);
            // "kept" of assignments is a truth value, and always there.
            let sometimes = SOMETIMES.contains(&name) && field.is_nullable();
            !(of_a_file || sometimes && is_empty(footer, name))
        });
        shown.map(|(at, _)| at).collect()
    }

    /// Their schema.
    ///
    /// # Errors
    /// None: the columns are those of the file.
    pub fn schema(&self, footer: &ArrowReaderMetadata) -> Result<SchemaRef, ArrowError> {
        let fields = footer.schema().fields();
        let shown: Vec<FieldRef> =
            self.columns(footer).into_iter().map(|at| self.field(&fields[at])).collect();
        Ok(Arc::new(Schema::new(shown)))
    }

    /// Rows with the columns that are shown, as they are shown.
    ///
    /// # Errors
    /// [`ArrowError`] if the rows are not those of the schema.
    pub fn apply(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let read = batch.schema();
        // A representative that is protected is a row of another table.
        let protected = batch
            .column_by_name("against_line")
            .map(|line| (0..line.len()).map(|row| Some(line.is_valid(row))).collect::<BooleanArray>());
        let columns = read.fields().iter().zip(batch.columns()).map(|(field, column)| {
            if !self.of_rows || row_name(field.name()).is_none() {
                return Ok(Arc::clone(column));
            }
            let rows = column.as_primitive::<Int64Type>().unary::<_, Int64Type>(|line| line - 1);
            match &protected {
                Some(protected) if field.name() == "representative_line" => nullif(&rows, protected),
                _ => Ok(Arc::new(rows) as ArrayRef),
            }
        });
        RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_, _>>()?)
    }

    fn field(&self, field: &FieldRef) -> FieldRef {
        match row_name(field.name()) {
            Some(name) if self.of_rows => Arc::new(field.as_ref().clone().with_name(name)),
            _ => Arc::clone(field),
        }
    }
}

/// What a column of lines, counted from 1, is called as one of rows, counted from 0.
fn row_name(name: &str) -> Option<&'static str> {
    match name {
        "line" => Some("row"),
        "representative_line" => Some("representative_row"),
        _ => None,
    }
}

/// Whether a column has no value, by what the file says of itself.
fn is_empty(footer: &ArrowReaderMetadata, name: &str) -> bool {
    footer.metadata().row_groups().iter().all(|group| {
        let column = group.columns().iter().find(|column| column.column_path().parts()[0] == name);
        let nulls = column.and_then(|column| column.statistics()).and_then(Statistics::null_count_opt);
        nulls == Some(group.num_rows() as u64)
    })
}
