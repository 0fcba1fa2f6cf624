//! Rows of which some column cannot be decoded, be it one that nobody reads.

use std::ops::Range;
use std::path::Path;

use parquet::basic::Type;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::errors::Result as ColumnsResult;

use super::footer::ParquetFile;
use super::guard::between;
use super::rewritten::{ColumnRows, ParquetSource};
use super::rows::said;
use crate::error::{Error, Result};
use crate::printable::printable;
use crate::progress::Progress;
use crate::read::bytes::RecordRoom;
use crate::read::source::{Source, UndecodableRows};

/// Most characters of the name of a column.
const SHOWN: usize = 80;

/// The stretches of rows that cannot be decoded within some room, as reading refuses them, or whole row groups.
///
/// # Errors
/// Those of [`ParquetSource::open`], and what is no fault of the file.
pub fn undecodable_rows(
    source: &Source,
    whole_groups: bool,
    (room, progress): (&RecordRoom, &Progress),
) -> Result<Vec<UndecodableRows>> {
    let file = match (ParquetSource::open_within(source, room), ParquetFile::open(source)) {
        // There is more in a footer than reading asks for.
        (Err(Error::Undecodable { reason, .. }), Ok(read)) => {
            return Ok(vec![UndecodableRows { rows: 0..read.layout.rows(), why: reason }]);
        }
        (opened, _) => opened?,
    };
    let mut found = Vec::new();
    for (group, rows) in file.groups().enumerate() {
        let stretches = if whole_groups { vec![rows.clone()] } else { source.stretches(&rows) };
        let mut checked = CheckedGroup {
            file: &file,
            shown: &source.shown,
            group,
            first: rows.start,
            faults: vec![None; stretches.len()],
            stretches,
            progress,
        };
        let columns = file.metadata().file_metadata().schema_descr().num_columns();
        (0..columns).try_for_each(|leaf| checked.check(leaf))?;
        let CheckedGroup { stretches, faults, .. } = checked;
        let faults = stretches.into_iter().zip(faults);
        found.extend(faults.filter_map(|(rows, why)| why.map(|why| UndecodableRows { rows, why })));
    }
    Ok(found)
}

/// What is known of the columns of a row group.
struct CheckedGroup<'a> {
    file: &'a ParquetSource,
    shown: &'a str,
    group: usize,
    /// Its first row in the file.
    first: u64,
    stretches: Vec<Range<u64>>,
    /// What is wrong with each stretch.
    faults: Vec<Option<String>>,
    progress: &'a Progress,
}

impl CheckedGroup<'_> {
    /// Decodes a column.
    fn check(&mut self, leaf: usize) -> Result<()> {
        match self.file.physical(leaf) {
            Type::BOOLEAN => self.decode::<BoolType>(leaf),
            Type::INT32 => self.decode::<Int32Type>(leaf),
            Type::INT64 => self.decode::<Int64Type>(leaf),
            Type::INT96 => self.decode::<Int96Type>(leaf),
            Type::FLOAT => self.decode::<FloatType>(leaf),
            Type::DOUBLE => self.decode::<DoubleType>(leaf),
            Type::BYTE_ARRAY => self.decode::<ByteArrayType>(leaf),
            Type::FIXED_LEN_BYTE_ARRAY => self.decode::<FixedLenByteArrayType>(leaf),
        }
    }

    fn decode<T: DataType>(&mut self, leaf: usize) -> Result<()> {
        let mut reader: Option<ColumnRows<T>> = None;
        for at in 0..self.stretches.len() {
            self.progress.check()?;
            let Range { start, end } = self.stretches[at];
            let rows = start - self.first..end - self.first;
            let Err(error) = self.decode_rows(leaf, &mut reader, rows) else { continue };
            reader = None;
            match between(Path::new(self.shown), error) {
                Ok(error) => return Err(error),
                Err(error) => {
                    let why = format!("column {}: {}", self.name(leaf), said(&error));
                    self.faults[at].get_or_insert(why);
                }
            }
        }
        Ok(())
    }

    /// Decodes some rows of a column, with what read those before them.
    fn decode_rows<T: DataType>(
        &self,
        leaf: usize,
        reader: &mut Option<ColumnRows<T>>,
        rows: Range<u64>,
    ) -> ColumnsResult<()> {
        let column = match reader {
            Some(column) => column,
            none => {
                let mut column = self.file.rows::<T>(self.group, leaf)?;
                column.skip(rows.start)?;
                none.insert(column)
            }
        };
        let mut at = rows.start;
        while at < rows.end {
            let mut batch = column.batch();
            at += column.read(rows.end - at, &mut batch)?;
        }
        Ok(())
    }

    /// The name of a column, for people.
    fn name(&self, leaf: usize) -> String {
        let schema = self.file.metadata().file_metadata().schema_descr();
        let name: String = schema.column(leaf).path().string().chars().take(SHOWN).collect();
        printable(&name).into_owned()
    }
}
