//! A file that is written again without some of its rows: all columns, and all that it says of itself.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::page_index::{PageIndex, PageIndexProvider};
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
};
use parquet::file::reader::{ChunkReader, Length};

use super::footer::{Layout, metadata, read_exact};
use super::guard::{between, guarded};
use super::pages::{ColumnPages, FEW, HeldPages, PageUse, ROWS_OF_LISTS, StoredDictionary, UnitMemory};
use super::rows::said;
use super::thrift::damaged;
use crate::error::Error;
use crate::limits::{MAX_VALUE_BYTES, sized};
use crate::read::bytes::{InputFile, RecordRoom};
use crate::read::source::Source;
use crate::read::windowed::carries;

/// Bytes read at once of what is copied.
const COPIED: usize = sized(256 << 10, 100);
/// Most rows that are decoded at once. Pages of more are divided where they are written again.
const MOST: u64 = sized(64 << 10, 3);

/// A file, opened to be written again.
pub struct ParquetSource {
    file: FileRange,
    layout: Layout,
    metadata: ParquetMetaData,
    index: Option<PageIndex>,
    memory: Arc<UnitMemory>,
}

impl ParquetSource {
    /// Opens a source of which nothing is decoded that has to fit in some room.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not what it was when it was found.
    pub fn open(source: &Source) -> std::result::Result<ParquetSource, Error> {
        ParquetSource::open_within(source, &RecordRoom::default())
    }

    /// Opens a source whose columns are decoded within some room, one after the other.
    ///
    /// # Errors
    /// Those of [`ParquetSource::open`].
    pub fn open_within(source: &Source, room: &RecordRoom) -> std::result::Result<ParquetSource, Error> {
        ParquetSource::open_for(PageUse::Columns, source, room)
    }

    /// Opens a source whose pages are decoded for something, within some room.
    ///
    /// # Errors
    /// Those of [`ParquetSource::open`].
    pub(super) fn open_for(
        used_for: PageUse,
        source: &Source,
        room: &RecordRoom,
    ) -> std::result::Result<ParquetSource, Error> {
        let memory = UnitMemory::used_for(used_for, room, MAX_VALUE_BYTES);
        let opened = source.open().map_err(ParquetError::from);
        let opened = opened.and_then(|file| ParquetSource::of(Arc::new(file), source.bytes, memory));
        opened.map_err(|error| ParquetSource::failed(source, error))
    }

    fn of(file: Arc<InputFile>, bytes: u64, memory: UnitMemory) -> Result<ParquetSource> {
        // How many pages have which encoding is written again, and says how large they are.
        let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
        let metadata = metadata(&file, bytes, &options)?;
        let layout = Layout::of(&metadata, bytes)?;
        let file = FileRange { file, at: 0, end: bytes };
        // An index that makes no sense is not needed to read the rows, and not written again.
        let index = guarded(|| {
            ParquetMetaDataReader::new_with_metadata(metadata.clone())
                .with_page_index_policy(PageIndexPolicy::Optional)
                .read_page_index_and_finish(&file)
        });
        let index = index.ok().and_then(|(_, index)| index);
        Ok(ParquetSource { metadata, index, file, layout, memory: Arc::new(memory) })
    }

    /// What is wrong with a source, for people.
    pub fn failed(source: &Source, error: ParquetError) -> Error {
        // A copy of a file in an archive is gone when this is read.
        let shown = &source.shown;
        between(Path::new(shown), error).unwrap_or_else(|error| {
            Error::undecodable(shown, format!("cannot be written without some of its rows: {}", said(&error)))
        })
    }

    /// What it says of itself.
    pub fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// Whether so many bytes of a row group take more than a part of the memory.
    pub fn is_much(&self, bytes: u64) -> bool {
        self.memory.is_much(bytes)
    }

    /// What the pages may take.
    pub(super) fn memory(&self) -> &UnitMemory {
        &self.memory
    }

    /// Its row groups: the rows of each.
    pub fn groups(&self) -> impl Iterator<Item = Range<u64>> {
        self.layout.groups.iter().map(|group| group.first..group.first + group.rows)
    }

    /// Bytes on disk of a row group.
    pub fn packed(&self, group: usize) -> u64 {
        self.layout.groups[group].packed
    }

    /// A column of a row group as it stands in the file, with what belongs to it, and the file to copy it from.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn encoded(&self, group: usize, leaf: usize) -> Result<(&FileRange, ColumnCloseResult)> {
        let of_group = self.metadata.row_group(group);
        let chunk = of_group.column(leaf).clone();
        // As far as it can be read: it only saves work.
        let bloom_filter = guarded(|| Sbbf::read_from_column_chunk(&chunk, &self.file)).unwrap_or_default();
        let begins =
            chunk.dictionary_page_offset().filter(|offset| *offset > 0 && *offset < chunk.data_page_offset());
        let metadata = chunk.into_builder().set_dictionary_page_offset(begins).build()?;
        let close = ColumnCloseResult {
            bytes_written: metadata.compressed_size() as u64,
            rows_written: of_group.num_rows() as u64,
            metadata,
            bloom_filter,
            column_index: self.index.as_ref().and_then(|index| index.column_index(group, leaf)).cloned(),
            offset_index: self.index.as_ref().and_then(|index| index.offset_index(group, leaf)).cloned(),
        };
        Ok((&self.file, close))
    }

    /// The pages of a column of a row group.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn pages(&self, group: usize, leaf: usize) -> Result<(ColumnPages, Arc<HeldPages>)> {
        let held = Arc::new(HeldPages::new(&self.memory));
        let (chunk, column) = (self.layout.groups[group].chunks[leaf], self.layout.schema.column(leaf));
        Ok((ColumnPages::new(&self.file.file, chunk, chunk.range(), column, &held)?, held))
    }

    /// Whether the pages of a column of a row group are of the newer kind.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn has_newer_pages(&self, group: usize, leaf: usize) -> Result<bool> {
        let (mut pages, _) = self.pages(group, leaf)?;
        while let Some(page) = pages.peek_next_page()? {
            if !page.is_dict {
                return Ok(page.num_rows.is_some());
            }
            pages.skip_next_page()?;
        }
        Ok(false)
    }

    /// The rows of a column of a row group.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn rows<T: DataType>(&self, group: usize, leaf: usize) -> Result<ColumnRows<T>> {
        let (pages, held) = self.pages(group, leaf)?;
        let column = self.layout.schema.column(leaf);
        debug_assert_eq!(column.physical_type(), T::get_physical_type());
        let most = [column.max_def_level(), column.max_rep_level()];
        let expands = self.layout.groups[group].chunks[leaf].expands;
        let is_of_texts = is_of_texts(column.physical_type());
        let reader = ColumnReaderImpl::new(column, Box::new(pages));
        Ok(ColumnRows { reader, held, read: 0, expands, is_of_texts, most, repeated: most[1] > 0 })
    }

    /// The dictionary of a column of a row group, if all its values are in it. What is wrong with pages is told where their rows are
    /// read: nobody may want those that are damaged.
    ///
    /// # Errors
    /// What is no fault of the file.
    pub fn dictionary(&self, group: usize, leaf: usize) -> Result<Option<StoredDictionary>> {
        match self.pages(group, leaf)?.0.dictionary() {
            Err(ParquetError::External(error)) if error.downcast_ref().is_some_and(carries) => {
                Err(ParquetError::External(error))
            }
            found => Ok(found.unwrap_or_default()),
        }
    }

    /// How the values of a column are stored.
    pub fn physical(&self, leaf: usize) -> Physical {
        self.layout.schema.column(leaf).physical_type()
    }
}

/// Rows of a column, some at a time.
pub struct ColumnRows<T: DataType> {
    reader: ColumnReaderImpl<T>,
    held: Arc<HeldPages>,
    /// Values that were read or passed over.
    read: u64,
    expands: bool,
    is_of_texts: bool,
    /// The highest definition level of the column, and the highest repetition level.
    most: [i16; 2],
    /// Whether it has repetition levels.
    repeated: bool,
}

/// Some rows of a column.
pub struct ColumnBatch<T: DataType> {
    /// How many.
    pub rows: u64,
    /// Their values.
    pub values: Vec<T::T>,
    /// Their definition levels, if the column has them.
    pub definition: Option<Vec<i16>>,
    /// Their repetition levels, if the column has them.
    pub repetition: Option<Vec<i16>>,
}

impl<T: DataType> ColumnRows<T> {
    /// Passes over so many rows.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn skip(&mut self, rows: u64) -> Result<()> {
        let rows = usize::try_from(rows).map_err(|_| damaged("too many rows"))?;
        if guarded(|| self.reader.skip_records(rows))? != rows {
            return Err(damaged("fewer rows than the footer says"));
        }
        self.read = if self.repeated { self.held.values() } else { self.read + rows as u64 };
        Ok(())
    }

    /// No rows, to which others can be added.
    pub fn batch(&self) -> ColumnBatch<T> {
        let (definition, repetition) = ((self.most[0] > 0).then(Vec::new), self.repeated.then(Vec::new));
        ColumnBatch { rows: 0, values: Vec::new(), definition, repetition }
    }

    /// Adds some rows to those of a batch, at most so many; how many.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(&mut self, most: u64, batch: &mut ColumnBatch<T>) -> Result<u64> {
        // Never more than one page is added to what is held, as where texts are read.
        let known = match (self.left_of_page(), self.repeated) {
            (0, _) => 1,
            (left, false) => left,
            (left, true) => (left / 8).clamp(1, ROWS_OF_LISTS),
        };
        let rows = most.min(known).min(if self.expands { FEW } else { MOST });
        let first = (batch.values.len(), batch.definition.as_ref().map_or(0, Vec::len));
        let before = [&batch.definition, &batch.repetition].map(|levels| levels.as_ref().map_or(0, Vec::len));
        let (reader, ColumnBatch { values, definition, repetition, .. }) = (&mut self.reader, &mut *batch);
        let read =
            guarded(|| reader.read_records(rows as usize, definition.as_mut(), repetition.as_mut(), values))?;
        if read.0 as u64 != rows {
            return Err(damaged("fewer rows than the footer says"));
        }
        // Their bits hold more than there is, and whoever writes them counts each of those that there are.
        for ((levels, before), most) in
            [&batch.definition, &batch.repetition].into_iter().zip(before).zip(self.most)
        {
            if levels.as_ref().is_some_and(|levels| levels[before..].iter().any(|level| *level > most)) {
                return Err(damaged("a level that the column does not have"));
            }
        }
        self.read += read.2 as u64;
        batch.rows += rows;
        if self.is_of_texts {
            self.held.encode(self.longest(batch, first))?;
        }
        Ok(rows)
    }

    /// Bytes that are encoded at once at the least: those of the longest value, or of the longest row of lists, behind so many values
    /// and levels of a batch.
    fn longest(&self, batch: &ColumnBatch<T>, (value, level): (usize, usize)) -> u64 {
        let mut lengths = batch.values[value..].iter().map(|value| value.as_bytes().len() as u64);
        let (Some(repetition), Some(definition)) = (&batch.repetition, &batch.definition) else {
            return lengths.max().unwrap_or(0);
        };
        let (mut row, mut longest) = (0u64, 0);
        for (repetition, definition) in repetition[level..].iter().zip(&definition[level..]) {
            row = if *repetition == 0 { 0 } else { row };
            if *definition == self.most[0] {
                row = row.saturating_add(lengths.next().unwrap_or(0));
            }
            longest = longest.max(row);
        }
        longest
    }

    /// What its pages take until it is dropped: what is encoded of them may still share their bytes.
    pub fn held(&self) -> ColumnMemory {
        ColumnMemory { _held: Arc::clone(&self.held) }
    }

    /// Whether a batch should be handed on before more rows are added: what comes next is in another page, or may be much
    /// longer than what it is made of. Of a repeated column each row may be long, and only the next page shows where one ends.
    pub fn completes(&self, batch: &ColumnBatch<T>) -> bool {
        batch.rows >= MOST || self.expands || self.repeated || self.left_of_page() == 0
    }

    /// Whether the row behind so many others is known to be in the same page.
    pub fn has_at_hand(&self, rows: u64) -> bool {
        !self.repeated && rows < self.left_of_page()
    }

    /// Values of the last page that were neither read nor passed over.
    fn left_of_page(&self) -> u64 {
        self.held.values().saturating_sub(self.read)
    }
}

/// What pages of a column take.
pub struct ColumnMemory {
    _held: Arc<HeldPages>,
}

fn is_of_texts(physical: Physical) -> bool {
    matches!(physical, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY)
}

/// A part of a file, from which others can be read.
pub struct FileRange {
    file: Arc<InputFile>,
    at: u64,
    end: u64,
}

impl Length for FileRange {
    fn len(&self) -> u64 {
        self.end
    }
}

impl ChunkReader for FileRange {
    type T = io::BufReader<FileRange>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let range = FileRange { file: Arc::clone(&self.file), at: start, end: self.end };
        Ok(io::BufReader::with_capacity(COPIED, range))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.end) {
            return Err(damaged("something that ends behind its file"));
        }
        let mut bytes = vec![0; length];
        read_exact(&self.file, &mut bytes, start)?;
        Ok(bytes.into())
    }
}

impl Read for FileRange {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
