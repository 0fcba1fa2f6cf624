//! Pages of a column whose dictionary gives way to another one, with the same values and more.

use std::collections::HashMap;
use std::io::Write;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedPageWriter;
use parquet::schema::types::ColumnDescriptor;

use super::codec::PageCodec;
use super::indices::{bits_of, renumber};
use crate::read::StoredDictionary;

/// Writes the pages of a column, which are not compressed yet: that of its dictionary first, and all others name values by that.
pub(super) struct DictionaryPages<'a, W: Write> {
    to: SerializedPageWriter<'a, W>,
    dictionary: &'a StoredDictionary,
    /// The place of each value of the column in the dictionary.
    places: Vec<u32>,
    /// How many kinds of levels stand before the values of a page, each behind its length.
    kinds: usize,
    codec: PageCodec,
}

impl<'a, W: Write> DictionaryPages<'a, W> {
    /// Pages that go to a writer, with another dictionary and a codec.
    pub(super) fn new(
        to: SerializedPageWriter<'a, W>,
        dictionary: &'a StoredDictionary,
        column: &ColumnDescriptor,
        codec: Compression,
    ) -> DictionaryPages<'a, W> {
        let kinds =
            [column.max_rep_level(), column.max_def_level()].into_iter().filter(|most| *most > 0).count();
        DictionaryPages { to, dictionary, places: Vec::new(), kinds, codec: PageCodec::new(codec) }
    }

    /// Finds out where the values of a column are in the dictionary.
    fn place(&mut self, own: &StoredDictionary) -> Result<()> {
        let mut left: HashMap<&[u8], usize> = own.values().zip(0..).collect();
        self.places = vec![0; own.count() as usize];
        for (value, place) in self.dictionary.values().zip(0..) {
            // One that is there twice is the first.
            if let Some(own) = left.remove(value) {
                self.places[own] = place;
            }
        }
        if left.is_empty() { Ok(()) } else { Err(wrong("a value that is not in its dictionary")) }
    }

    /// Appends the values of a page with their places in the dictionary.
    fn renumber(&self, values: &[u8], into: &mut Vec<u8>) -> Result<()> {
        renumber(values, &self.places, bits_of(self.dictionary.count()), into)
    }

    /// Bytes of levels at the beginning of a page of the older kind.
    fn levels(&self, page: &[u8]) -> Option<usize> {
        let mut at = 0;
        for _ in 0..self.kinds {
            let length = page.get(at..)?.first_chunk::<4>()?;
            at += 4 + u32::from_le_bytes(*length) as usize;
        }
        Some(at)
    }
}

impl<W: Write + Send> PageWriter for DictionaryPages<'_, W> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let mut page = page.compressed_page().clone();
        let bytes = match &mut page {
            Page::DictionaryPage { buf, num_values, .. } => {
                self.place(&StoredDictionary::new(buf.clone(), *num_values)?)?;
                *buf = self.codec.pack(self.dictionary.page())?.into();
                *num_values = self.dictionary.count();
                self.dictionary.page().len()
            }
            Page::DataPage { buf, .. } => {
                let levels = self.levels(buf).and_then(|levels| buf.split_at_checked(levels));
                let (levels, values) = levels.ok_or_else(|| wrong("a page without its levels"))?;
                let mut whole = levels.to_vec();
                self.renumber(values, &mut whole)?;
                *buf = self.codec.pack(&whole)?.into();
                whole.len()
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                let levels = buf.split_at_checked(levels);
                let (levels, values) = levels.ok_or_else(|| wrong("a page without its levels"))?;
                let mut whole = Vec::new();
                self.renumber(values, &mut whole)?;
                let bytes = levels.len() + whole.len();
                let packed = self.codec.pack(&whole)?;
                *is_compressed = !self.codec.is_none() && packed.len() < whole.len();
                let values = if *is_compressed { &packed } else { &whole };
                *buf = Bytes::from([levels, values].concat());
                bytes
            }
        };
        self.to.write_page(CompressedPage::new(page, bytes))
    }

    fn close(&mut self) -> Result<()> {
        self.to.close()
    }
}

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::basic::{GzipLevel, Type as Physical, ZstdLevel};
    use parquet::column::page::PageReader;
    use parquet::column::reader::ColumnReaderImpl;
    use parquet::column::writer::ColumnWriterImpl;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::serialized_reader::SerializedPageReader;
    use parquet::file::writer::TrackedWrite;
    use parquet::schema::types::{ColumnPath, Type};

    use super::*;

    /// A value a row, or none, and whether it begins a row of its own.
    type Cells = [(Option<usize>, bool)];

    /// Values of a dictionary that has all of them, and as it is stored.
    fn dictionary(values: &[Vec<u8>]) -> StoredDictionary {
        let stored =
            values.iter().flat_map(|value| [&(value.len() as u32).to_le_bytes()[..], value].concat());
        StoredDictionary::new(stored.collect::<Vec<_>>().into(), values.len() as u32).expect("a dictionary")
    }

    /// Writes cells with a dictionary, and reads pages and cells again with the reader of the crate.
    fn written(
        values: &[Vec<u8>],
        cells: &Cells,
        (most_definition, most_repetition): (i16, i16),
        version: WriterVersion,
        codec: Compression,
    ) {
        let stored = dictionary(values);
        let leaf = Type::primitive_type_builder("c", Physical::BYTE_ARRAY).build().expect("a type");
        let column =
            ColumnDescriptor::new(Arc::new(leaf), most_definition, most_repetition, ColumnPath::from("c"));
        let column = Arc::new(column);
        let cells: Vec<(Option<usize>, bool)> =
            cells.iter().filter(|(cell, _)| most_definition > 0 || cell.is_some()).copied().collect();
        let definition: Vec<i16> =
            cells.iter().map(|(cell, _)| if cell.is_some() { most_definition } else { 0 }).collect();
        let begins = |at: usize, begins: bool| if at == 0 || begins { 0 } else { most_repetition };
        let repetition: Vec<i16> = cells.iter().enumerate().map(|(at, cell)| begins(at, cell.1)).collect();
        let texts: Vec<ByteArray> =
            cells.iter().filter_map(|(cell, _)| Some(values[(*cell)?].clone().into())).collect();
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_data_page_row_count_limit(7)
            .set_dictionary_page_size_limit(usize::MAX);
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = DictionaryPages::new(SerializedPageWriter::new(&mut sink), &stored, &column, codec);
        let properties = Arc::new(properties.build());
        let mut writer =
            ColumnWriterImpl::<ByteArrayType>::new(Arc::clone(&column), properties, Box::new(pages));
        let levels = |most: i16, levels| if most > 0 { Some(levels) } else { None };
        let of_lists = levels(most_repetition, &repetition[..]);
        writer.write_batch(&texts, levels(most_definition, &definition[..]), of_lists).expect("written");
        let close = writer.close().expect("closed");
        let metadata = close.metadata.into_builder().set_compression(codec).build().expect("metadata");
        assert_eq!(metadata.num_values(), cells.len() as i64);

        let bytes = Arc::new(Bytes::from(sink.into_inner().expect("all of it")));
        let open =
            || SerializedPageReader::new(Arc::clone(&bytes), &metadata, cells.len(), None).expect("a reader");
        let found: Vec<Page> = open().map(|page| page.expect("a page")).collect();
        assert_eq!((found[0].num_values(), found[0].buffer()), (stored.count(), stored.page()));
        assert!(found[1..].iter().all(|page| page.encoding() == parquet::basic::Encoding::RLE_DICTIONARY));
        let pages: Box<dyn PageReader> = Box::new(open());
        let mut reader = ColumnReaderImpl::<ByteArrayType>::new(column, pages);
        let (mut read, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        reader
            .read_records(usize::MAX, Some(&mut definitions), Some(&mut repetitions), &mut read)
            .expect("read");
        assert_eq!(read, texts);
        assert!(most_definition == 0 || definitions == definition);
        assert!(most_repetition == 0 || repetitions == repetition);
    }

    #[test]
    fn every_codec_is_read_by_the_crate() {
        let values = ["z", "unused", "a", "", "b"].map(|value| value.repeat(40).into_bytes());
        let cells: Vec<_> = (0..100).map(|at| (Some(at % 4).filter(|at| *at != 1), true)).collect();
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::LZ4_RAW,
            Compression::LZ4,
        ] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                written(&values, &cells, (1, 0), version, codec);
                // Nothing but nulls.
                written(&values, &[(None, true); 9], (1, 0), version, codec);
            }
        }
        assert!(PageCodec::new(Compression::LZO).pack(b"a").is_err());
    }

    #[test]
    fn a_value_that_is_not_in_the_dictionary_is_an_error() {
        let (stored, own) = (dictionary(&[b"a".to_vec()]), dictionary(&[b"a".to_vec(), b"b".to_vec()]));
        let leaf = Type::primitive_type_builder("c", Physical::BYTE_ARRAY).build().expect("a type");
        let column = ColumnDescriptor::new(Arc::new(leaf), 0, 0, ColumnPath::from("c"));
        let mut sink = TrackedWrite::new(Vec::new());
        let to = SerializedPageWriter::new(&mut sink);
        let mut pages = DictionaryPages::new(to, &stored, &column, Compression::UNCOMPRESSED);
        assert!(pages.place(&own).is_err() && pages.place(&stored).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn cells_come_back_with_the_dictionary_that_was_given(
            count in 1_usize..300,
            cells in proptest::collection::vec((proptest::option::of(0_usize..300), proptest::bool::ANY), 1..80),
            levels in proptest::sample::select(vec![(0, 0), (1, 0), (3, 1), (5, 2)]),
            is_newer in proptest::bool::ANY,
        ) {
            // In an order that is not that of their bytes.
            let values: Vec<Vec<u8>> = (0..count).map(|at| format!("{}", at * 7919 % 1009).into_bytes()).collect();
            let cells: Vec<_> = cells.iter().map(|(cell, begins)| (cell.map(|cell| cell % count), *begins)).collect();
            let version = if is_newer { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
            written(&values, &cells, levels, version, Compression::SNAPPY);
        }
    }
}
