//! Dictionaries of Arrow in Parquet: what readers make of a dictionary page stays, and no removed text does elsewhere.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::column::page::Page;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Row;
use parquet::schema::parser::parse_message_type;

use crate::support::columns::{column, read_back};
use crate::support::program::Dir;
use crate::support::rows::gone;
use crate::support::texts::words;

/// The leaves: `c`, `l` and `s.d` are dictionaries to Arrow, `s.s` is as large and is none.
const SCHEMA: &str = "message rows {
    required binary id (STRING);
    optional binary text (STRING);
    optional binary c (STRING);
    optional group l (LIST) { repeated group list { optional binary element (STRING); } }
    optional group s { optional binary d (STRING); optional binary s (STRING); }
}";

/// What pyarrow 26 says of that: `dictionary<values=string, indices=int32>`, in a list too, and ordered in the struct.
const ARROW: &str = "\
    /////ygCAAAUAAAAAAAAAAAACgAMAAYABQAIAAoAAAAAAQQABAAAAJD+//8EAAAABQAAANQBAACYAQAAOAEAAKgAAAAEAAAAiP7//wAAAQ0YAA\
    AAHAAAAAQAAAACAAAAOAAAABAAAAABAAAAcwAAAEj+//+0/v//AAABBRAAAAAUAAAABAAAAAAAAAABAAAAcwAAAGz+//80////AAABBRQAAABA\
    AAAAHAAAAAQAAAAAAAAAAQAAAGQACgAUAAwACAAHAAoAAAAAAAABDAAAAAIAAAAAAAAAMP///wAAAAEgAAAAvP7//yj///8AAAEMFAAAABgAAA\
    AEAAAAAQAAABAAAAABAAAAbAAAAOT+//+s////AAABBRQAAABEAAAAIAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAACAAUAAgABAAIAAAAEAAAAAEA\
    AAAAAAAAAAAAAKz///8AAAABIAAAADj///8QABgACAAGAAcADAAQABQAEAAAAAAAAQUUAAAAPAAAABwAAAAEAAAAAAAAAAEAAABjAAAACAAIAA\
    AABAAIAAAADAAAAAgADAAIAAcACAAAAAAAAAEgAAAAlP///xAAFAAIAAYABwAMAAAAEAAQAAAAAAABBRAAAAAYAAAABAAAAAAAAAAEAAAAdGV4\
    dAAAAADM////EAAUAAgAAAAHAAwAAAAQABAAAAAAAAAFEAAAABgAAAAEAAAAAAAAAAIAAABpZAAABAAEAAQAAAA=";

/// A value that a row has: one of few, none, or one of this row alone.
fn value(row: usize) -> Option<String> {
    match row % 10 {
        3 => None,
        7 => Some(format!("of the row {row} alone")),
        _ => Some(format!("value {}", row * 31 % 13)),
    }
}

/// Writes a column of texts with their levels.
fn put(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[String],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) {
    let values: Vec<ByteArray> = values.iter().map(|value| value.as_bytes().to_vec().into()).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<ByteArrayType>().write_batch(&values, definition, repetition).unwrap();
    next.close().unwrap();
}

/// A file of so many rows, some to a row group: each seventh text is the same, and lists have up to two values.
fn file(rows: usize, of_group: usize, properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let all: Vec<usize> = (0..rows).collect();
    for some in all.chunks(of_group) {
        let mut group = writer.next_row_group().unwrap();
        let texts = some.iter().map(|row| words(if row % 7 == 0 { 5 } else { row * 1000 }, 40));
        let values: Vec<String> = some.iter().filter_map(|row| value(*row)).collect();
        let levels = |most: i16| -> Vec<i16> {
            some.iter().map(|row| most - i16::from(value(*row).is_none())).collect()
        };
        put(&mut group, &some.iter().map(usize::to_string).collect::<Vec<_>>(), None, None);
        put(&mut group, &texts.collect::<Vec<_>>(), Some(&vec![1; some.len()]), None);
        put(&mut group, &values, Some(&levels(1)), None);
        let (mut of_lists, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        for row in some {
            let cells: Vec<Option<String>> = (0..row % 3).map(|at| value(row + at)).collect();
            for (at, cell) in cells.iter().enumerate() {
                definition.push(2 + i16::from(cell.is_some()));
                repetition.push(i16::from(at > 0));
            }
            if cells.is_empty() {
                definition.push(1);
                repetition.push(0);
            }
            of_lists.extend(cells.into_iter().flatten());
        }
        put(&mut group, &of_lists, Some(&definition), Some(&repetition));
        put(&mut group, &values, Some(&levels(2)), None);
        put(&mut group, &values, Some(&levels(2)), None);
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// How such a file is written: pages of a few rows, and what Arrow says of it.
fn properties(
    version: WriterVersion,
    codec: Compression,
) -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(codec)
        .set_data_page_row_count_limit(11)
        .set_write_batch_size(5)
        .set_key_value_metadata(Some(vec![KeyValue::new("ARROW:schema".to_owned(), ARROW.to_owned())]))
}

/// The values of the dictionary of a column of a row group in their order.
fn dictionary(file: &[u8], group: usize, leaf: usize) -> Option<Vec<String>> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).unwrap();
    let mut pages = reader.get_row_group(group).unwrap().get_column_page_reader(leaf).unwrap();
    let Some(Page::DictionaryPage { buf, num_values, .. }) = pages.get_next_page().unwrap() else {
        return None;
    };
    let (mut rest, mut values) = (&buf[..], Vec::new());
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let (value, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
        values.push(String::from_utf8(value.to_vec()).unwrap());
        rest = behind;
    }
    assert_eq!(values.len(), num_values as usize);
    Some(values)
}

/// Rows of a file that were not removed.
fn left(rows: Vec<Row>, gone: &std::collections::BTreeSet<u64>) -> Vec<Row> {
    (0..).zip(rows).filter(|(row, _)| !gone.contains(row)).map(|(_, row)| row).collect()
}

#[test]
fn readers_make_the_same_dictionaries_of_what_is_kept() {
    let dir = Dir::new();
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    for (at, (codec, version)) in codecs.iter().flat_map(|codec| versions.map(|of| (codec, of))).enumerate() {
        let file = file(200, 60, properties(version, *codec).build());
        dir.write(&format!("in{at}/a.parquet"), &file);
        let found = dir.output(&format!("in{at} --threshold 0.7 -w {}", 1 + at % 2), &format!("out{at}"));
        let (kept, gone) = (&found.kept["a.parquet"], gone(&found));
        let what = format!("{codec} {version:?}");
        assert_eq!(gone.len(), 28, "{what}");
        let ((rows, before), (rows_left, after)) = (read_back(&file), read_back(kept));
        assert_eq!(rows_left, left(rows, &gone), "{what}");
        for group in 0..4 {
            for leaf in [2, 3, 4] {
                let [old, new] = [&before, &after].map(|of| of.row_group(group).column(leaf));
                let dictionary_before = dictionary(&file, group, leaf);
                assert!(
                    dictionary_before.is_some() && dictionary(kept, group, leaf) == dictionary_before,
                    "{what}"
                );
                assert_eq!(
                    (new.compression(), new.encodings().collect()),
                    (old.compression(), old.encodings().collect::<Vec<_>>())
                );
                // Least and greatest are of the values that are there.
                let statistics = |of: &parquet::file::metadata::ColumnChunkMetaData| {
                    let of = of.statistics().unwrap();
                    (of.min_bytes_opt().is_some(), of.null_count_opt().is_some())
                };
                assert_eq!(statistics(new), statistics(old), "{what}");
                assert_eq!(new.column_index_range().is_some(), old.column_index_range().is_some(), "{what}");
            }
            // What no row has any more is nowhere else.
            let ordinary = dictionary(kept, group, 5).unwrap();
            assert_ne!(Some(&ordinary), dictionary(&file, group, 5).as_ref(), "{what}");
            let rows: Vec<String> = (group * 60..200.min(group * 60 + 60))
                .filter(|row| !gone.contains(&(*row as u64)))
                .filter_map(value)
                .collect();
            assert!(ordinary.iter().all(|value| rows.contains(value)), "{what}");
        }
        // The one that is removed is the same again when nothing else goes.
        dir.write(&format!("again{at}/a.parquet"), kept);
        let again = dir.output(&format!("again{at} --threshold 0.7"), &format!("again-out{at}"));
        assert!(&again.kept["a.parquet"] == kept, "{what}");
    }
}

#[test]
fn what_is_no_dictionary_throughout_is_written_as_it_was() {
    let dir = Dir::new();
    let usual = || properties(WriterVersion::PARQUET_1_0, Compression::UNCOMPRESSED);
    let kinds = [
        // One that is outgrown, none at all, and columns of which nobody says that they are dictionaries.
        ("outgrown", usual().set_column_dictionary_page_size_limit(column("c"), 40).build()),
        ("none", usual().set_column_dictionary_enabled(column("c"), false).build()),
        ("unsaid", usual().set_key_value_metadata(None).build()),
        (
            "senseless",
            usual()
                .set_key_value_metadata(Some(vec![KeyValue::new(
                    "ARROW:schema".to_owned(),
                    "QUJD".to_owned(),
                )]))
                .build(),
        ),
    ];
    for (kind, properties) in kinds {
        let file = file(120, 60, properties);
        dir.write(&format!("{kind}/a.parquet"), &file);
        let found = dir.output(&format!("{kind} --threshold 0.7"), &format!("out-{kind}"));
        let (kept, gone) = (&found.kept["a.parquet"], gone(&found));
        let ((rows, _), (rows_left, after)) = (read_back(&file), read_back(kept));
        assert_eq!(rows_left, left(rows, &gone), "{kind}");
        let values = dictionary(kept, 0, 2);
        assert!(values.is_none_or(|values| !values.contains(&"of the row 7 alone".to_owned())), "{kind}");
        let is_one =
            after.row_group(0).column(2).encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY);
        // Where most pages stood behind it there is none any more.
        assert_eq!(is_one, !["none", "outgrown"].contains(&kind), "{kind}");
    }
}
