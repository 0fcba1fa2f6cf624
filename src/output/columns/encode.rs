//! One column of a row group, written anew without some rows.

use std::fs::File;
use std::io::BufWriter;
use std::mem;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

use parquet::basic::Type;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::file::writer::SerializedRowGroupWriter;

use super::failure::Failure;
use crate::error::Error;
use crate::limits::sized;
use crate::progress::Progress;
use crate::read::{ColumnBatch, ColumnMemory, ColumnRows, ParquetSource};

/// Bytes on disk of a column of which it is worth while to have a thread that decodes.
const LONG: u64 = sized(256 << 10, 64);

/// A row group of a file, and which of its rows are written.
pub(super) struct GroupRows<'a> {
    pub(super) file: &'a ParquetSource,
    pub(super) group: usize,
    pub(super) stretches: &'a [Range<u64>],
    /// Whether a thread is free to decode while another encodes.
    pub(super) beside: bool,
    pub(super) progress: &'a Progress,
}

impl GroupRows<'_> {
    /// Writes the rows of a column. Whatever the column holds is moved as it is stored: values, and the levels that say which
    /// row and which list each is in.
    pub(super) fn write_column(
        &self,
        leaf: usize,
        to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    ) -> Result<(), Failure> {
        match self.file.physical(leaf) {
            Type::BOOLEAN => self.write::<BoolType>(leaf, to),
            Type::INT32 => self.write::<Int32Type>(leaf, to),
            Type::INT64 => self.write::<Int64Type>(leaf, to),
            Type::INT96 => self.write::<Int96Type>(leaf, to),
            Type::FLOAT => self.write::<FloatType>(leaf, to),
            Type::DOUBLE => self.write::<DoubleType>(leaf, to),
            Type::BYTE_ARRAY => self.write::<ByteArrayType>(leaf, to),
            Type::FIXED_LEN_BYTE_ARRAY => self.write::<FixedLenByteArrayType>(leaf, to),
        }
    }

    fn write<T: DataType>(
        &self,
        leaf: usize,
        to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    ) -> Result<(), Failure> {
        let Some(mut column) = to.next_column()? else { return Ok(()) };
        let _held = self.hand_on(leaf, |batch: ColumnBatch<T>| {
            let (definition, repetition) = (batch.definition.as_deref(), batch.repetition.as_deref());
            column.typed::<T>().write_batch(&batch.values, definition, repetition)?;
            Ok(())
        })?;
        column.close()?;
        Ok(())
    }

    /// Hands on the rows of a column that are written. What it returns is kept until they are: it has room for them.
    pub(super) fn hand_on<T: DataType>(
        &self,
        leaf: usize,
        mut each: impl FnMut(ColumnBatch<T>) -> Result<(), Failure>,
    ) -> Result<ColumnMemory, Failure> {
        let rows = self.file.rows::<T>(self.group, leaf)?;
        let held = rows.held();
        let bytes = self.file.metadata().row_group(self.group).column(leaf).compressed_size();
        if self.beside && u64::try_from(bytes).is_ok_and(|bytes| bytes >= LONG) {
            self.decode_beside(rows, each)?;
        } else {
            self.decode(rows, &mut each)?;
        }
        Ok(held)
    }

    /// The same, about a page at a time.
    fn decode<T: DataType>(
        &self,
        mut rows: ColumnRows<T>,
        each: &mut dyn FnMut(ColumnBatch<T>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (mut at, mut batch) = (0, rows.batch());
        for stretch in self.stretches {
            let gone = stretch.start - at;
            // Rows that go lie between short stretches, so a batch of each would cost more than its rows; but one of many pages
            // would hold them all.
            if batch.rows > 0 && !rows.has_at_hand(gone) {
                each(mem::replace(&mut batch, rows.batch()))?;
            }
            rows.skip(gone)?;
            at = stretch.start;
            while at < stretch.end {
                self.progress.check()?;
                at += rows.read(stretch.end - at, &mut batch)?;
                if rows.completes(&batch) {
                    each(mem::replace(&mut batch, rows.batch()))?;
                }
            }
        }
        if batch.rows > 0 { each(batch) } else { Ok(()) }
    }

    /// The same, with a thread that decodes what comes next.
    fn decode_beside<T: DataType>(
        &self,
        rows: ColumnRows<T>,
        mut each: impl FnMut(ColumnBatch<T>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // One batch is decoded while another is encoded, and no more are held.
        let (to, batches) = sync_channel(0);
        thread::scope(|scope| {
            let decoding = scope.spawn(move || {
                self.decode(rows, &mut |batch| {
                    // Nobody listens when encoding has failed, which is told then.
                    to.send(batch).map_err(|_| Error::Interrupted.into())
                })
            });
            let encoded = batches.iter().try_for_each(&mut each);
            drop(batches);
            let decoded = decoding.join().unwrap_or_else(|_| {
                Err(Error::Worker("a thread that decodes a column panicked".into()).into())
            });
            encoded.and(decoded)
        })
    }
}
