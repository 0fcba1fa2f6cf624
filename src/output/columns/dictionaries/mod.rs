//! Columns that are dictionaries to readers of Arrow, written anew with the dictionary that their row group has: all its values in
//! their order, be they of rows that are gone. The dictionaries of other columns have the values of rows that are written, and no
//! others: nothing of a removed text stays in a file.

mod codec;
mod indices;
mod pages;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Type as Physical};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::ByteArrayType;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};

use self::codec::PageCodec;
use self::pages::DictionaryPages;
use super::encode::GroupRows;
use super::failure::Failure;
use crate::error::Error;
use crate::read::{CARRIED_SCHEMA, ColumnBatch, ParquetSource, StoredDictionary, carried_fields};

/// Of each column whether readers make a dictionary of Arrow of that of its row groups, with all values in their order.
fn dictionaries(file: &ParquetSource) -> Vec<bool> {
    let (of_file, schema) = (file.metadata().file_metadata(), file.metadata().file_metadata().schema_descr());
    let mut columns = vec![false; schema.num_columns()];
    let said = of_file.key_value_metadata().into_iter().flatten();
    let said = said.filter(|pair| pair.key == CARRIED_SCHEMA).find_map(|pair| pair.value.as_deref());
    // Readers make nothing of a schema that makes no sense.
    let fields = said.and_then(|said| carried_fields(said).ok()).unwrap_or_default();
    let mut at = 0;
    for (number, root) in schema.root_schema().get_fields().iter().enumerate() {
        let leaves =
            (at..columns.len()).take_while(|leaf| schema.get_column_root_idx(*leaf) == number).count();
        let field = fields.get(number);
        let field = field.filter(|field| field.name == root.name() && field.leaves.len() == leaves);
        for (leaf, is_one) in field.into_iter().flat_map(|field| &field.leaves).enumerate() {
            columns[at + leaf] = *is_one && file.physical(at + leaf) == Physical::BYTE_ARRAY;
        }
        at += leaves;
    }
    columns
}

/// The columns of a row group that are dictionaries, and how they are written.
pub(super) struct DictionaryColumns {
    is_one: Vec<bool>,
    properties: WriterPropertiesPtr,
    /// A file for a column on its way.
    scratch: PathBuf,
}

impl DictionaryColumns {
    /// Those of a file whose row groups are written to `target` like this.
    pub(super) fn of(
        file: &ParquetSource,
        properties: &WriterProperties,
        target: &Path,
    ) -> DictionaryColumns {
        let is_one = dictionaries(file);
        // Properties of many columns are large, and mostly there is none.
        let properties = is_one.contains(&true).then(|| {
            let (schema, mut made) =
                (file.metadata().file_metadata().schema_descr(), properties.clone().into_builder());
            for leaf in (0..is_one.len()).filter(|leaf| is_one[*leaf]) {
                let path = || schema.column(leaf).path().clone();
                // Pages are compressed when their values have the numbers of the other dictionary.
                made = made
                    .set_column_compression(path(), Compression::UNCOMPRESSED)
                    .set_column_dictionary_enabled(path(), true)
                    .set_column_dictionary_page_size_limit(path(), usize::MAX);
            }
            made.build()
        });
        DictionaryColumns {
            is_one,
            properties: Arc::new(properties.unwrap_or_default()),
            scratch: target.with_extension("column"),
        }
    }

    /// Writes the rows of a column; false if it has no dictionary that all its values are in, or pages that are not packed here.
    pub(super) fn write(
        &self,
        rows: &GroupRows<'_>,
        leaf: usize,
        to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    ) -> Result<bool, Failure> {
        let codec = rows.file.metadata().row_group(rows.group).column(leaf).compression();
        if !self.is_one[leaf] || !PageCodec::has(codec) {
            return Ok(false);
        }
        let Some(dictionary) = rows.file.dictionary(rows.group, leaf)? else { return Ok(false) };
        self.write_all(rows, leaf, &dictionary, to)?;
        Ok(true)
    }

    fn write_all(
        &self,
        rows: &GroupRows<'_>,
        leaf: usize,
        dictionary: &StoredDictionary,
        to: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    ) -> Result<(), Failure> {
        let chunk = rows.file.metadata().row_group(rows.group).column(leaf);
        let (column, codec) = (chunk.column_descr_ptr(), chunk.compression());
        let made =
            File::create_new(&self.scratch).map_err(|error| Error::io(&self.scratch, "create", error))?;
        let mut made = TrackedWrite::new(made);
        let pages = DictionaryPages::new(SerializedPageWriter::new(&mut made), dictionary, &column, codec);
        let properties = Arc::clone(&self.properties);
        let mut writer = ColumnWriterImpl::<ByteArrayType>::new(column, properties, Box::new(pages));
        rows.hand_on(leaf, |batch: ColumnBatch<ByteArrayType>| {
            let (definition, repetition) = (batch.definition.as_deref(), batch.repetition.as_deref());
            writer.write_batch(&batch.values, definition, repetition)?;
            Ok(())
        })?;
        let mut close = writer.close()?;
        close.metadata = close.metadata.into_builder().set_compression(codec).build()?;
        to.append_column(&File::open(&self.scratch).map_err(ParquetError::from)?, close)?;
        fs::remove_file(&self.scratch).map_err(ParquetError::from)?;
        Ok(())
    }
}
