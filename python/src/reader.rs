//! Where rows come from: what was sent to the program, or what it wrote.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};

use crate::lists::Shown;

/// Rows, batch after batch, that own what they read from.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// What rows are read from.
#[derive(Clone, Debug)]
pub enum Source {
    /// An Arrow stream, without its last column if that was put there to number the rows.
    Sent {
        /// The file.
        path: PathBuf,
        /// Whether the last column numbers the rows.
        numbered: bool,
    },
    /// A list that the program wrote as Parquet.
    List {
        /// The file.
        path: PathBuf,
        /// Which columns are shown, and how.
        shown: Shown,
    },
    /// Parquet or Arrow files of the same columns, one after the other.
    Files(Vec<PathBuf>),
}

impl Source {
    /// The columns.
    ///
    /// # Errors
    /// [`ArrowError`] if a file cannot be read, or files differ in their columns.
    pub fn schema(&self) -> Result<SchemaRef, ArrowError> {
        match self {
            Source::Sent { path, numbered } => {
                let schema = StreamReader::try_new(open(path)?, None)?.schema();
                if *numbered { without_last(&schema) } else { Ok(schema) }
            }
            Source::List { path, shown } => shown.schema(&footer(path)?),
            Source::Files(paths) => {
                let Some((name, others)) = paths.split_first() else {
                    return Err(ArrowError::SchemaError("no file was written".into()));
                };
                let first = file_schema(name)?;
                for other in others {
                    if file_schema(other)?.fields() != first.fields() {
                        return Err(ArrowError::SchemaError(format!(
                            "{} and {} have different columns: read them one by one",
                            name.display(),
                            other.display()
                        )));
                    }
                }
                Ok(first)
            }
        }
    }

    /// How many rows there are.
    ///
    /// # Errors
    /// [`ArrowError`] if a file cannot be read.
    pub fn count(&self) -> Result<u64, ArrowError> {
        let paths = match self {
            Source::List { path, .. } => std::slice::from_ref(path),
            Source::Files(paths) => paths,
            Source::Sent { .. } => &[],
        };
        if paths.iter().all(|path| is_parquet(path)) && !paths.is_empty() {
            let counts =
                paths.iter().map(|path| Ok(footer(path)?.metadata().file_metadata().num_rows() as u64));
            return counts.sum();
        }
        self.batches()?.map(|batch| Ok(batch?.num_rows() as u64)).sum()
    }

    /// The rows.
    ///
    /// # Errors
    /// [`ArrowError`] if a file cannot be read, as each batch may be, too.
    pub fn batches(&self) -> Result<Batches, ArrowError> {
        match self {
            Source::Sent { path, numbered } => {
                let reader = StreamReader::try_new(open(path)?, None)?;
                let numbered = *numbered;
                Ok(Box::new(reader.map(move |batch| {
                    let batch = batch?;
                    if numbered { batch.project(&all_but_last(batch.num_columns())) } else { Ok(batch) }
                })))
            }
            Source::List { path, shown } => {
                let footer = footer(path)?;
                let (shown, schema) = (shown.clone(), shown.schema(&footer)?);
                let columns = shown.columns(&footer);
                let mask = ProjectionMask::roots(footer.parquet_schema(), columns);
                let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, footer)
                    .with_projection(mask)
                    .build()?;
                Ok(Box::new(reader.map(move |batch| shown.apply(&batch?, &schema))))
            }
            Source::Files(paths) => {
                let schema = self.schema()?;
                let mut paths = paths.clone().into_iter();
                let mut now: Option<Batches> = None;
                Ok(Box::new(std::iter::from_fn(move || {
                    loop {
                        if let Some(batch) = now.as_mut().and_then(Iterator::next) {
                            // The metadata of a schema may differ from file to file.
                            return Some(batch.and_then(|batch| batch.with_schema(Arc::clone(&schema))));
                        }
                        match file_batches(&paths.next()?) {
                            Ok(batches) => now = Some(batches),
                            Err(error) => return Some(Err(error)),
                        }
                    }
                })))
            }
        }
    }
}

/// Those of the rows that a mask has, which counts from the first row.
pub fn chosen(batches: Batches, mask: Arc<BooleanArray>) -> Batches {
    let mut at = 0;
    Box::new(batches.filter_map(move |batch| {
        let chosen = batch.and_then(|batch| {
            let part = mask.slice(at, batch.num_rows());
            at += batch.num_rows();
            filter_record_batch(&batch, &part)
        });
        match chosen {
            Ok(batch) if batch.num_rows() == 0 => None,
            chosen => Some(chosen),
        }
    }))
}

fn open(path: &Path) -> Result<BufReader<File>, ArrowError> {
    Ok(BufReader::with_capacity(1 << 20, File::open(path)?))
}

fn footer(path: &Path) -> Result<ArrowReaderMetadata, ArrowError> {
    Ok(ArrowReaderMetadata::load(&File::open(path)?, Default::default())?)
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

fn file_schema(path: &Path) -> Result<SchemaRef, ArrowError> {
    if is_parquet(path) {
        return Ok(Arc::clone(footer(path)?.schema()));
    }
    match FileReader::try_new_buffered(File::open(path)?, None) {
        Ok(reader) => Ok(reader.schema()),
        Err(_) => Ok(StreamReader::try_new(open(path)?, None)?.schema()),
    }
}

fn file_batches(path: &Path) -> Result<Batches, ArrowError> {
    if is_parquet(path) {
        return Ok(Box::new(ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.build()?));
    }
    // What is no file with a footer is a stream.
    match FileReader::try_new_buffered(File::open(path)?, None) {
        Ok(reader) => Ok(Box::new(reader)),
        Err(_) => Ok(Box::new(StreamReader::try_new(open(path)?, None)?)),
    }
}

fn all_but_last(columns: usize) -> Vec<usize> {
    (0..columns.saturating_sub(1)).collect()
}

fn without_last(schema: &SchemaRef) -> Result<SchemaRef, ArrowError> {
    Ok(Arc::new(schema.project(&all_but_last(schema.fields().len()))?))
}
