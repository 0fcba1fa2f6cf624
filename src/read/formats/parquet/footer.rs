//! What a Parquet file says of itself: held against its size and the limits before anything is made of it.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy,
};
use parquet::schema::types::SchemaDescPtr;

use super::guard::guarded;
use super::thrift::{Compact, LIST, STRUCT, damaged, too_short};
use crate::limits::{FREE_ROWS, MAX_FILE_BYTES, MAX_FOOTER_BYTES, MAX_ROWS_OF_BYTE};
use crate::read::bytes::InputFile;
use crate::read::source::Source;

/// What begins and ends a file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// What begins and ends a file whose footer is encrypted.
pub(super) const ENCRYPTED: &[u8; 4] = b"PARE";
/// Length and magic at the end.
const TAIL: u64 = 8;
/// Deepest nesting of a schema. What reads it calls itself for each level.
const DEEPEST: usize = 100;

/// A file whose footer was read.
pub(super) struct ParquetFile {
    pub(super) file: Arc<InputFile>,
    pub(super) layout: Arc<Layout>,
}

/// Where the parts of a file stand.
pub(super) struct Layout {
    pub(super) schema: SchemaDescPtr,
    pub(super) groups: Vec<RowGroup>,
}

/// Rows that stand together.
pub(super) struct RowGroup {
    /// Rows of the file before it.
    pub(super) first: u64,
    pub(super) rows: u64,
    /// Bytes on disk, and bytes when it is decompressed, as it says.
    pub(super) packed: u64,
    pub(super) unpacked: u64,
    /// One for each leaf of the schema.
    pub(super) chunks: Vec<Chunk>,
}

/// A column of a row group.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) codec: Compression,
    /// Whether it is in another file.
    pub(super) elsewhere: bool,
    /// Whether values may be much longer than what they are made of.
    pub(super) expands: bool,
}

impl ParquetFile {
    /// Opens a source.
    pub(super) fn open(source: &Source) -> Result<ParquetFile> {
        let file = Arc::new(source.open()?);
        let kept = source.cuts.kept.get().and_then(|kept| kept.downcast::<Layout>().ok());
        let layout = kept.map_or_else(|| Layout::read(&file, source.bytes).map(Arc::new), Ok)?;
        Ok(ParquetFile { file, layout })
    }

    /// The same; what was read of the footer stays with the source until somebody forgets it.
    pub(super) fn open_and_keep(source: &Source) -> Result<ParquetFile> {
        let file = ParquetFile::open(source)?;
        source.cuts.kept.set(Arc::clone(&file.layout) as Arc<dyn Any + Send + Sync>);
        Ok(file)
    }
}

impl Layout {
    /// Reads the footer of a file of so many bytes, without the statistics in it.
    pub(super) fn read(file: &InputFile, bytes: u64) -> Result<Layout> {
        let options = ParquetMetaDataOptions::new()
            .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
            .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
        Layout::of(&metadata(file, bytes, &options)?, bytes)
    }

    /// The layout of a file of so many bytes with this footer.
    pub(super) fn of(metadata: &ParquetMetaData, bytes: u64) -> Result<Layout> {
        let schema = metadata.file_metadata().schema_descr_ptr();
        // What takes no bytes takes room all the same, where it is refused.
        let most = bytes.saturating_mul(MAX_ROWS_OF_BYTE).saturating_add(FREE_ROWS).min(MAX_FILE_BYTES - 1);
        let (mut first, mut groups) = (0u64, Vec::with_capacity(metadata.num_row_groups()));
        for group in metadata.row_groups() {
            let rows =
                u64::try_from(group.num_rows()).map_err(|_| damaged("a row group of less than no rows"))?;
            if group.num_columns() != schema.num_columns() {
                return Err(damaged("a row group that does not have the columns of the schema"));
            }
            let miscounts = |(at, chunk): (usize, &ColumnChunkMetaData)| {
                let values = u64::try_from(chunk.num_values()).unwrap_or(u64::MAX);
                let is_list = schema.column(at).max_rep_level() > 0;
                values < rows || values > rows && (!is_list || rows == 0)
            };
            if group.columns().iter().enumerate().any(miscounts) {
                return Err(damaged(format!("a row group of {rows} rows with a column of another number")));
            }
            let chunks: Vec<Chunk> =
                group.columns().iter().map(|chunk| Chunk::of(chunk, bytes)).collect::<Result<_>>()?;
            if rows > 0 && chunks.is_empty() {
                return Err(damaged("rows without columns"));
            }
            let packed = chunks.iter().map(|chunk| chunk.end - chunk.start).fold(0, u64::saturating_add);
            let unpacked = group.columns().iter().map(|chunk| chunk.uncompressed_size().max(0) as u64);
            let unpacked = unpacked.fold(0, u64::saturating_add);
            groups.push(RowGroup { first, rows, packed, unpacked, chunks });
            first = first.saturating_add(rows);
            if first > most {
                return Err(damaged(format!("{first} rows or more in {bytes} bytes; {most} are allowed")));
            }
        }
        if u64::try_from(metadata.file_metadata().num_rows()) != Ok(first) {
            let said = metadata.file_metadata().num_rows();
            return Err(damaged(format!("a footer of {said} rows, with row groups of {first}")));
        }
        Ok(Layout { schema, groups })
    }

    /// Rows of the file.
    pub(super) fn rows(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.first + group.rows)
    }

    /// The row group that a row is in.
    pub(super) fn group_of(&self, row: u64) -> Option<usize> {
        let after = self.groups.partition_point(|group| group.first <= row);
        // Of row groups that begin at the same row the last one has it: the others are empty.
        after.checked_sub(1).filter(|at| row < self.groups[*at].first + self.groups[*at].rows)
    }
}

impl Chunk {
    /// Where it stands.
    pub(super) fn range(&self) -> Range<u64> {
        self.start..self.end
    }

    fn of(chunk: &ColumnChunkMetaData, bytes: u64) -> Result<Chunk> {
        let elsewhere = chunk.file_path().is_some();
        let first = match chunk.dictionary_page_offset().filter(|offset| *offset > 0) {
            Some(dictionary) => dictionary.min(chunk.data_page_offset()),
            None => chunk.data_page_offset(),
        };
        let start = u64::try_from(first).map_err(|_| damaged("a column that begins before its file"))?;
        let length =
            u64::try_from(chunk.compressed_size()).map_err(|_| damaged("a column of less than no bytes"))?;
        let end = start.checked_add(length).filter(|end| elsewhere || *end <= bytes.saturating_sub(TAIL));
        let end = end.ok_or_else(|| damaged("a column that ends behind its file"))?;
        // Values that are kept as what they do not share with the one before.
        let expands = chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY);
        Ok(Chunk { start, end, codec: chunk.compression(), elsewhere, expands })
    }
}

/// What the footer of a file of so many bytes says.
pub(super) fn metadata(
    file: &InputFile,
    bytes: u64,
    options: &ParquetMetaDataOptions,
) -> Result<ParquetMetaData> {
    let footer = footer(file, bytes)?;
    check_footer(&footer)?;
    guarded(|| ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(options)))
}

/// How long the footer of a file is, by its end.
pub(super) fn footer_length(file: &InputFile, bytes: u64) -> Result<u64> {
    let mut tail = [0; TAIL as usize];
    let at = bytes.checked_sub(TAIL).filter(|at| *at >= 4).ok_or_else(too_short)?;
    read_exact(file, &mut tail, at)?;
    let [a, b, c, d, magic @ ..] = tail;
    if &magic == ENCRYPTED {
        return Err(damaged("its footer is encrypted; decrypt it first"));
    }
    if &magic != MAGIC {
        return Err(damaged(
            "the end is not that of a Parquet file; it was cut off, or not written to its end",
        ));
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length > MAX_FOOTER_BYTES {
        return Err(damaged(format!("a footer of {length} bytes; {MAX_FOOTER_BYTES} are allowed")));
    }
    match length.saturating_add(4) > at {
        true => Err(damaged("a footer that is larger than the file")),
        false => Ok(length),
    }
}

/// The bytes of the footer.
fn footer(file: &InputFile, bytes: u64) -> Result<Vec<u8>> {
    let length = footer_length(file, bytes)?;
    let mut footer = vec![0; length as usize];
    read_exact(file, &mut footer, bytes - TAIL - length)?;
    Ok(footer)
}

/// Reads all of a range.
pub(super) fn read_exact(file: &InputFile, mut into: &mut [u8], mut at: u64) -> Result<()> {
    while !into.is_empty() {
        match file.read_at(into, at) {
            Ok(0) => return Err(too_short()),
            Ok(read) => (into, at) = (&mut into[read..], at + read as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The number of the field of a footer that says how columns are encrypted.
const ENCRYPTION: i16 = 8;

/// Refuses schemas that are nested so deeply that reading them would take the stack, and columns that are encrypted under a footer that
/// is not: their pages would be copied without what their key needs.
fn check_footer(footer: &[u8]) -> Result<()> {
    let (mut compact, mut last) = (Compact::new(footer), 0);
    while let Some((number, kind)) = compact.field(&mut last)? {
        if number == ENCRYPTION {
            return Err(damaged("it has encrypted columns, or a footer that is signed; decrypt it first"));
        }
        if (number, kind) != (2, LIST) {
            compact.skip(kind)?;
            continue;
        }
        let (length, kind) = compact.list()?;
        if kind != STRUCT {
            return Err(damaged("a schema that is none"));
        }
        // How many children are still to come, of the groups that are open.
        let mut open: Vec<usize> = Vec::new();
        for _ in 0..length {
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            open.push(children(&mut compact)?);
            if open.len() > DEEPEST {
                return Err(damaged(format!("columns nested more than {DEEPEST} deep")));
            }
        }
    }
    Ok(())
}

/// How many children an element of the schema has.
fn children(compact: &mut Compact<'_>) -> Result<usize> {
    let (mut last, mut children) = (0, 0);
    while let Some((number, kind)) = compact.field(&mut last)? {
        match number {
            5 => children = compact.size()?,
            _ => compact.skip(kind)?,
        }
    }
    Ok(children)
}

#[cfg(test)]
mod tests {
    use parquet::column::writer::ColumnWriter;
    use parquet::file::metadata::{FileMetaData, RowGroupMetaData};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// The footer of a file of one row group, and its bytes.
    fn footer_of(rows: i32) -> (ParquetMetaData, u64) {
        let schema = Arc::new(parse_message_type("message rows { required int32 a; }").expect("a schema"));
        let properties = Arc::new(WriterProperties::default());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("a column").expect("one");
        let ColumnWriter::Int32ColumnWriter(to) = column.untyped() else { panic!("a column of numbers") };
        to.write_batch(&(0..rows).collect::<Vec<_>>(), None, None).expect("written");
        column.close().expect("closed");
        group.close().expect("closed");
        (writer.finish().expect("a footer"), writer.bytes_written() as u64)
    }

    /// The field that says how columns are encrypted, of a footer that is not.
    #[test]
    fn encrypted_columns_are_refused() {
        let algorithm = [(ENCRYPTION as u8) << 4 | STRUCT, 1 << 4 | STRUCT, 0, 0, 0];
        let error = check_footer(&algorithm).expect_err("encrypted").to_string();
        assert!(error.contains("decrypt it first"), "{error}");
        check_footer(&[0]).expect("nothing is said");
    }

    /// A footer that says other numbers of rows than its row groups and their columns have would lose rows without a word.
    #[test]
    fn numbers_of_rows_that_differ_are_refused() {
        let (metadata, bytes) = footer_of(3);
        let with = |rows: i64, group_rows: i64| {
            let of = metadata.file_metadata();
            let columns = of.schema_descr_ptr();
            let file = FileMetaData::new(of.version(), rows, None, None, columns, None);
            let change =
                |group: &RowGroupMetaData| group.clone().into_builder().set_num_rows(group_rows).build();
            let groups =
                metadata.row_groups().iter().map(change).collect::<Result<Vec<_>>>().expect("groups");
            Layout::of(&ParquetMetaData::new(file, groups), bytes).map(|layout| layout.rows())
        };
        assert_eq!(with(3, 3).expect("as it was"), 3);
        for (rows, group_rows) in [(3, 2), (2, 2), (2, 3), (4, 3), (4, 4), (0, 3), (0, 0), (-1, 3)] {
            assert!(with(rows, group_rows).is_err(), "{rows} rows, {group_rows} of the row group");
        }
    }
}
