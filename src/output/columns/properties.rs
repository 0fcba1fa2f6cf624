//! How a file is written that is to be like another one.

use crate::limits::{REWRITTEN_PAGE_BYTES, sized};
use parquet::basic::{Encoding, PageType, Type};
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};

use crate::read::ParquetSource;

/// Least and most bytes of a page.
const PAGE: (u64, u64) = sized((4 << 10, 1 << 20), (64, 1 << 10));
/// What the values of a column are encoded with that have no dictionary, or outgrow it.
const ENCODINGS: [Encoding; 4] = [
    Encoding::DELTA_BYTE_ARRAY,
    Encoding::DELTA_LENGTH_BYTE_ARRAY,
    Encoding::DELTA_BINARY_PACKED,
    Encoding::BYTE_STREAM_SPLIT,
];

/// What a file says of itself as a whole, copied. Whoever wrote it stays named: readers know by it what they may believe of
/// statistics, and most of these are copied.
pub(super) fn of_file(file: &ParquetSource) -> WriterProperties {
    let (metadata, groups) = (file.metadata().file_metadata(), file.metadata().row_groups());
    let version =
        if metadata.version() > 1 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
    let sorted = groups.first().and_then(RowGroupMetaData::sorting_columns).cloned();
    let sorted = sorted.filter(|sorted| groups.iter().all(|group| group.sorting_columns() == Some(sorted)));
    let mut properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_key_value_metadata(metadata.key_value_metadata().cloned())
        .set_sorting_columns(sorted)
        .set_offset_index_disabled(!has_index(groups));
    if let Some(creator) = metadata.created_by() {
        properties = properties.set_created_by(creator.to_owned());
    }
    properties.build()
}

/// How a row group was written, as far as that can be told. Pages begin and end with the batches that are written, which are those
/// of the source wherever rows show where one ends: pages that lose no row are the same again, so what was divided by its content
/// stays so.
pub(super) fn of_group(file: &ParquetSource, group: usize) -> Result<WriterProperties> {
    let newer =
        file.metadata().file_metadata().schema_descr().num_columns() > 0 && file.has_newer_pages(group, 0)?;
    let version = if newer { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
    let of_group = file.metadata().row_group(group);
    let mut properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_write_batch_size(u32::MAX as usize)
        .set_offset_index_disabled(!has_index(file.metadata().row_groups()));
    for chunk in of_group.columns() {
        // What names a dictionary is held until all of that is known.
        let has_room = !file.is_much(chunk.compressed_size().max(0) as u64);
        properties = of_column(properties, chunk, (newer, has_room), of_group.num_rows().max(1) as u64);
    }
    Ok(properties.build())
}

/// How a column was written.
fn of_column(
    properties: WriterPropertiesBuilder,
    chunk: &ColumnChunkMetaData,
    (newer, has_room): (bool, bool),
    rows: u64,
) -> WriterPropertiesBuilder {
    let has = |encoding: Encoding| chunk.encodings().any(|found| found == encoding);
    let has_dictionary = chunk.dictionary_page_offset().is_some_and(|offset| offset > 0)
        || has(Encoding::RLE_DICTIONARY)
        || has(Encoding::PLAIN_DICTIONARY);
    let encoding = match chunk.column_type() {
        // Levels are runs, too: only of truths do runs tell how values are encoded.
        Type::BOOLEAN if newer && has(Encoding::RLE) && !has(Encoding::PLAIN) => Encoding::RLE,
        Type::BOOLEAN => Encoding::PLAIN,
        kind => {
            // A footer may name encodings that no page has, and values of the kind cannot.
            let fit = |encoding: &Encoding| has(*encoding) && suits(*encoding, kind);
            ENCODINGS.into_iter().find(fit).unwrap_or(Encoding::PLAIN)
        }
    };
    let statistics = match (chunk.column_index_range(), chunk.statistics()) {
        (Some(_), _) => EnabledStatistics::Page,
        (None, Some(_)) => EnabledStatistics::Chunk,
        (None, None) => EnabledStatistics::None,
    };
    // What outgrew its dictionary soon is written without one, which would divide the pages anew as it fills.
    let has_dictionary = has_dictionary && has_room && !outgrew_dictionary(chunk);
    let comes_in_pages =
        chunk.column_descr().max_rep_level() == 0 && !has_dictionary && !has(Encoding::DELTA_BYTE_ARRAY);
    let path = || chunk.column_path().clone();
    let properties = properties
        .set_column_compression(path(), chunk.compression())
        .set_column_dictionary_enabled(path(), has_dictionary)
        .set_column_encoding(path(), encoding)
        .set_column_statistics_enabled(path(), statistics)
        .set_column_data_page_size_limit(path(), page_bytes(chunk) as usize);
    let properties = match comes_in_pages {
        // Each batch is a page, unless it is much longer than usual.
        true => properties
            .set_column_data_page_row_count_limit(path(), 1)
            .set_column_data_page_size_limit(path(), REWRITTEN_PAGE_BYTES),
        false => properties,
    };
    match chunk.bloom_filter_offset() {
        Some(_) => properties
            .set_column_bloom_filter_enabled(path(), true)
            .set_column_bloom_filter_max_ndv(path(), rows),
        None => properties,
    }
}

/// Whether values of a kind can be encoded so: the table of the format, as far as columns are written so.
/// (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>)
fn suits(encoding: Encoding, kind: Type) -> bool {
    match encoding {
        Encoding::DELTA_BINARY_PACKED => matches!(kind, Type::INT32 | Type::INT64),
        Encoding::DELTA_LENGTH_BYTE_ARRAY => kind == Type::BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY => matches!(kind, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY),
        Encoding::BYTE_STREAM_SPLIT => matches!(
            kind,
            Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE | Type::FIXED_LEN_BYTE_ARRAY
        ),
        _ => true,
    }
}

/// Whether most pages of a column stand behind those whose values are in a dictionary, as far as its file says so.
fn outgrew_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let pages = chunk.page_encoding_stats().into_iter().flatten();
    let pages = pages.filter(|pages| pages.page_type != PageType::DICTIONARY_PAGE);
    let (mut plain, mut others) = (0, 0i64);
    for pages in pages {
        let count = if pages.encoding == Encoding::PLAIN { &mut plain } else { &mut others };
        *count += i64::from(pages.count.max(0));
    }
    plain > others
}

/// About how large the pages of a column are.
fn page_bytes(chunk: &ColumnChunkMetaData) -> u64 {
    let pages = chunk.page_encoding_stats().into_iter().flatten();
    let pages = pages.filter(|pages| pages.page_type != PageType::DICTIONARY_PAGE).map(|pages| pages.count);
    let pages: i64 = pages.map(|count| i64::from(count.max(0))).sum();
    match chunk.uncompressed_size().max(0) / pages.max(1) {
        _ if pages < 2 => PAGE.1,
        // The last page is smaller than the others.
        bytes => (bytes as u64).saturating_mul(9) / 8,
    }
    .clamp(PAGE.0, PAGE.1)
}

/// Whether a file says where its pages are.
fn has_index(groups: &[RowGroupMetaData]) -> bool {
    groups.iter().flat_map(RowGroupMetaData::columns).any(|chunk| chunk.offset_index_range().is_some())
}
