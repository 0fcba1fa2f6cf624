//! One column of a row group, written anew without some rows.

use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;

use parquet::basic::Type;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::file::writer::SerializedRowGroupWriter;

use super::failure::Failure;
use crate::progress::Progress;
use crate::read::ParquetSource;

/// Writes the rows of a column that stand in some stretches. Whatever the column holds is moved as it is stored: values, and
/// the levels that say which row and which list each is in.
pub(super) fn write_column(
    file: &ParquetSource,
    group: usize,
    leaf: usize,
    stretches: &[Range<u64>],
    to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    progress: &Progress,
) -> Result<(), Failure> {
    match file.physical(leaf) {
        Type::BOOLEAN => write::<BoolType>(file, (group, leaf), stretches, to, progress),
        Type::INT32 => write::<Int32Type>(file, (group, leaf), stretches, to, progress),
        Type::INT64 => write::<Int64Type>(file, (group, leaf), stretches, to, progress),
        Type::INT96 => write::<Int96Type>(file, (group, leaf), stretches, to, progress),
        Type::FLOAT => write::<FloatType>(file, (group, leaf), stretches, to, progress),
        Type::DOUBLE => write::<DoubleType>(file, (group, leaf), stretches, to, progress),
        Type::BYTE_ARRAY => write::<ByteArrayType>(file, (group, leaf), stretches, to, progress),
        Type::FIXED_LEN_BYTE_ARRAY => {
            write::<FixedLenByteArrayType>(file, (group, leaf), stretches, to, progress)
        }
    }
}

fn write<T: DataType>(
    file: &ParquetSource,
    (group, leaf): (usize, usize),
    stretches: &[Range<u64>],
    to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    progress: &Progress,
) -> Result<(), Failure> {
    let Some(mut column) = to.next_column()? else { return Ok(()) };
    let mut rows = file.rows::<T>(group, leaf)?;
    let mut at = 0;
    for stretch in stretches {
        rows.skip(stretch.start - at)?;
        at = stretch.start;
        while at < stretch.end {
            progress.check()?;
            at += rows.read(stretch.end - at)?;
            let (definition, repetition) = (rows.definition.as_deref(), rows.repetition.as_deref());
            column.typed::<T>().write_batch(&rows.values, definition, repetition)?;
        }
    }
    column.close()?;
    Ok(())
}
