//! Reading Parquet: the same rows from units of any size, by every way in, and typed errors for what is damaged.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use alike::error::{Error, Result};
use alike::read::{
    CARRIED_SCHEMA, FormatHint, ParquetSource, RecordRoom, Source, carried_fields, column_names, row_objects,
};
use parquet::basic::{BrotliLevel, Compression, Encoding, Type};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

use crate::reading::{Seen, check, fields, put, with_places};
use crate::{good, take};

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Columns of all types, some optional, one a list, and some within others.
const SCHEMA: &str = "message rows {
    required binary id (STRING);
    optional binary text (STRING);
    optional int64 v;
    optional int32 date (DATE);
    optional binary op (STRING);
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    optional group meta { optional binary text (STRING); required double score; }
    required boolean w;
    optional float f;
    optional fixed_len_byte_array(5) d (DECIMAL(10, 2));
}";
/// What pyarrow says of these columns, with dictionaries in `op`, `tags` and `meta.text`.
const ARROW: &str = "\
    /////ygDAAAUAAAAAAAAAAAACgAMAAYABQAIAAoAAAAAAQQABAAAAOz9//8EAAAACgAAANQCAACYAgAAUAIAABwCAADUAQAARAEAAJAAAABoAA\
    AAPAAAAAQAAACc/f//AAABBxAAAAAcAAAABAAAAAAAAAABAAAAZAAAAAgADAAEAAgACAAAAAoAAAACAAAA0P3//wAAAQMQAAAAFAAAAAQAAAAA\
    AAAAAQAAAGYAAAAy/v//AAABAMD9//8AAAAGEAAAABQAAAAEAAAAAAAAAAEAAAB3AAAAsP3//xz+//8AAAENGAAAACAAAAAEAAAAAgAAAEQAAA\
    AUAAAABAAAAG1ldGEAAAAA4P3//xT+//8AAAADEAAAABgAAAAEAAAAAAAAAAUAAABzY29yZQAAALL+//8AAAIAMP///wAAAQUUAAAARAAAACAA\
    AAAEAAAAAAAAAAQAAAB0ZXh0AAAAAAgAFAAIAAQACAAAABAAAAACAAAAAAAAAAAAAADQ/v//AAAAASAAAABg/v//zP7//wAAAQwUAAAAHAAAAA\
    QAAAABAAAAFAAAAAQAAAB0YWdzAAAAAIz+//+w////AAABBRQAAABAAAAAIAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAACAAQAAgABAAIAAAADAAA\
    AAEAAAAAAAAATP///wAAAAEgAAAA3P7//xAAGAAIAAYABwAMABAAFAAQAAAAAAABBRQAAAA0AAAAHAAAAAQAAAAAAAAAAgAAAG9wAAAIAAgAAA\
    AEAAgAAAAEAAAAoP///wAAAAEgAAAAMP///5z///8AAAEIEAAAABwAAAAEAAAAAAAAAAQAAABkYXRlAAAGAAgABgAGAAAAAAAAAMz///8AAAEC\
    EAAAABwAAAAEAAAAAAAAAAEAAAB2AAAACAAMAAgABwAIAAAAAAAAAUAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQUQAAAAGAAAAAQAAAAAAA\
    AABAAAAHRleHQAAAAAzP///xAAFAAIAAAABwAMAAAAEAAQAAAAAAAABRAAAAAYAAAABAAAAAAAAAACAAAAaWQAAAQABAAEAAAA";
/// Rows of a good file.
const ROWS: usize = 23;

/// Whether something of alike itself panicked, though nobody may have noticed.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Lets the crate for Parquet panic: alike makes an error of that. Of all else the hook before is told, which ends a fuzzer.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = info.location().map_or("", |place| place.file());
            if !(place.contains("/registry/") || place.contains("/vendor/") || place.starts_with("/rustc/")) {
                PANICKED.store(true, Ordering::Relaxed);
                before(info);
            }
        }));
    });
}

/// The first bytes say what fields are wanted and how long a record may be, how large units and stretches are, how a good file is
/// written and changed; the rest is a file, a footer and what is before it, or changes of a good file.
pub fn parquet(mut data: &[u8]) {
    watch();
    let [wanted, max, unit, apart, how, written] = take(&mut data);
    let content = match how % 4 {
        0 => [b"PAR1", data].concat(),
        1 => {
            let [length] = take(&mut data);
            let (footer, pages) = data.split_at(usize::from(length).min(data.len()));
            with_footer([b"PAR1", pages].concat(), footer)
        }
        how => {
            let file = good_file(written);
            let footer = footer_start(&file);
            let (mut pages, old) = (file[..footer].to_vec(), &file[footer..file.len() - 8]);
            match how {
                _ if data.is_empty() => file,
                2 => {
                    good::overwritten(&mut pages[4..], data);
                    with_footer(pages, old)
                }
                _ => with_footer(pages, &good::changed(old.to_vec(), data)),
            }
        }
    };
    let is_good = how & 2 != 0 && data.is_empty();
    let fields = fields(wanted, max);
    FOLDER.with(|folder| {
        let Some(source) = put(folder.path(), "a.parquet", &content, FormatHint::default()) else {
            assert!(!is_good, "a good file");
            return;
        };
        let whole = check(&source, u64::MAX, &fields);
        for target in [1, u64::from(unit) << 4] {
            assert_eq!(check(&source, target, &fields), whole, "units of {target}");
        }
        let file = settled(&source, ParquetSource::open(&source));
        // Where row groups begin, units may begin in any case.
        let groups = file.iter().flat_map(ParquetSource::groups).filter(|rows| !rows.is_empty());
        let apart = usize::from(apart) + 1;
        let mut places: Vec<u64> =
            (0..ROWS as u64).step_by(apart).chain(groups.map(|rows| rows.start)).collect();
        places.sort_unstable();
        places.dedup();
        let cut = with_places(&source, &places);
        let stretches = check(&cut, u64::MAX, &fields);
        assert_eq!(check(&cut, 1, &fields), stretches, "units of {apart} rows");
        if is_good {
            assert_eq!(stretches, whole, "stretches of {apart} rows");
            assert_eq!(whole.as_ref().map(Vec::len), Some(ROWS), "all rows");
        }
        objects(&source, whole.as_deref().filter(|_| is_good));
        file.iter().for_each(leaves);
    });
    assert!(!PANICKED.load(Ordering::Relaxed), "alike panicked");
}

/// What succeeded; what did not has to name the file.
fn settled<T>(source: &Source, result: Result<T>) -> Option<T> {
    let typed = |error: Error| {
        let is_typed = matches!(error, Error::Input { .. } | Error::Undecodable { .. } | Error::Changed(_));
        assert!(is_typed && error.to_string().contains(&source.shown), "{error}");
    };
    result.map_err(typed).ok()
}

/// All rows as JSON, as far as they can be read.
fn objects(source: &Source, good: Option<&[Seen]>) {
    settled(source, column_names(source));
    let mut count = 0;
    let outcome = row_objects(source, &RecordRoom::default(), &mut |row, object| {
        assert_eq!(row, count);
        let object: serde_json::Value = serde_json::from_slice(object).expect("JSON");
        assert!(object.is_object());
        count += 1;
        Ok(())
    });
    assert!(settled(source, outcome).is_none() || good.is_none_or(|seen| seen.len() as u64 == count));
    assert!(good.is_none() || count == ROWS as u64);
}

/// All columns, as they are read where a file is written again.
fn leaves(file: &ParquetSource) {
    let said = file.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    for said in said.filter(|pair| pair.key == CARRIED_SCHEMA).filter_map(|pair| pair.value.as_deref()) {
        // Whatever it says of the fields of Arrow, it is read or refused.
        let _ = carried_fields(said);
    }
    for (group, rows) in file.groups().enumerate().take(4) {
        for leaf in 0..file.metadata().row_group(group).num_columns().min(16) {
            let rows = rows.end - rows.start;
            // Errors of the crate become those of alike where a file is written.
            let _ = file.encoded(group, leaf);
            let _ = file.has_newer_pages(group, leaf);
            if let Ok(Some(dictionary)) = file.dictionary(group, leaf) {
                // Of numbers it may be that it looks like texts.
                assert_eq!(dictionary.values().count(), dictionary.count() as usize);
            }
            let _ = match file.physical(leaf) {
                Type::BOOLEAN => leaf_rows::<BoolType>(file, group, leaf, rows),
                Type::INT32 => leaf_rows::<Int32Type>(file, group, leaf, rows),
                Type::INT64 => leaf_rows::<Int64Type>(file, group, leaf, rows),
                Type::INT96 => leaf_rows::<Int96Type>(file, group, leaf, rows),
                Type::FLOAT => leaf_rows::<FloatType>(file, group, leaf, rows),
                Type::DOUBLE => leaf_rows::<DoubleType>(file, group, leaf, rows),
                Type::BYTE_ARRAY => leaf_rows::<ByteArrayType>(file, group, leaf, rows),
                Type::FIXED_LEN_BYTE_ARRAY => leaf_rows::<FixedLenByteArrayType>(file, group, leaf, rows),
            };
        }
    }
}

/// Reads a column, some rows of it passed over, in batches as they are written.
fn leaf_rows<T: DataType>(
    file: &ParquetSource,
    group: usize,
    leaf: usize,
    rows: u64,
) -> parquet::errors::Result<()> {
    let mut column = file.rows::<T>(group, leaf)?;
    let (mut left, mut batch) = (rows, column.batch());
    while left > 0 {
        let before = batch.rows;
        let read = column.read(left.min(5), &mut batch)?;
        assert!(read > 0 && read <= left, "{read} of {left} rows");
        assert_eq!(batch.rows, before + read);
        left -= read;
        let passed = left.min(2);
        if column.completes(&batch) || !column.has_at_hand(passed) {
            batch = column.batch();
        }
        column.skip(passed)?;
        left -= passed;
    }
    Ok(())
}

/// A file of pages and a footer, of the length that it has.
fn with_footer(pages: Vec<u8>, footer: &[u8]) -> Vec<u8> {
    let length = u32::try_from(footer.len()).expect("a short footer").to_le_bytes();
    [&pages[..], footer, &length, b"PAR1"].concat()
}

/// Where the footer of a good file begins.
fn footer_start(file: &[u8]) -> usize {
    let at = file.len() - 8;
    let length = file[at..at + 4].try_into().expect("four bytes");
    at - u32::from_le_bytes(length) as usize
}

/// A good file: compression, encodings and the kind of pages as the bits say.
fn good_file(how: u8) -> Vec<u8> {
    let codec = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::BROTLI(BrotliLevel::default()),
    ][usize::from(how & 3)];
    let encoding = [Encoding::PLAIN, Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY]
        [usize::from(how >> 2 & 3) % 3];
    let version = if how & 16 == 0 { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 };
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_writer_version(version)
        .set_dictionary_enabled(how & 32 != 0)
        .set_key_value_metadata(Some(vec![KeyValue::new("ARROW:schema".to_owned(), ARROW.to_owned())]))
        .set_data_page_row_count_limit(if how & 64 == 0 { 5 } else { 100 })
        .set_write_batch_size(3);
    let properties = match how & 32 {
        0 => properties.set_column_encoding("text".into(), encoding),
        _ => properties,
    };
    let schema = Arc::new(parse_message_type(SCHEMA).expect("a schema"));
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).expect("a writer");
    let first = if how & 128 == 0 { ROWS } else { 9 };
    for rows in [0..first, first..ROWS] {
        let mut group = writer.next_row_group().expect("a group");
        write_group(&mut group, &rows.collect::<Vec<_>>());
        group.close().expect("closed");
    }
    writer.into_inner().expect("written")
}

/// Writes some rows: every fifth value is null, where it may be.
fn write_group(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, rows: &[usize]) {
    let text = |row: usize| ByteArray::from(format!("text {row} of some words").into_bytes());
    let there: Vec<usize> = rows.iter().copied().filter(|row| row % 5 != 0).collect();
    let defined =
        |level: i16| rows.iter().map(|row| if row % 5 == 0 { 0 } else { level }).collect::<Vec<_>>();
    let texts: Vec<ByteArray> = there.iter().map(|row| text(*row)).collect();
    let all: Vec<ByteArray> = rows.iter().map(|row| text(*row)).collect();
    column::<ByteArrayType>(group, &all, None, None);
    column::<ByteArrayType>(group, &texts, Some(&defined(1)), None);
    column::<Int64Type>(
        group,
        &there.iter().map(|row| *row as i64).collect::<Vec<_>>(),
        Some(&defined(1)),
        None,
    );
    column::<Int32Type>(
        group,
        &there.iter().map(|row| *row as i32 * 999).collect::<Vec<_>>(),
        Some(&defined(1)),
        None,
    );
    let ops: Vec<ByteArray> = there.iter().map(|_| ByteArray::from("upsert")).collect();
    column::<ByteArrayType>(group, &ops, Some(&defined(1)), None);
    // A list of two where there is one, and an empty one.
    let (mut tags, mut levels, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        match row % 3 {
            0 => (levels.push(1), again.push(0)),
            _ => (levels.extend([3, 2]), again.extend([0, 1])),
        };
        tags.extend((row % 3 != 0).then(|| text(*row)));
    }
    column::<ByteArrayType>(group, &tags, Some(&levels), Some(&again));
    column::<ByteArrayType>(group, &texts, Some(&defined(2)), None);
    column::<DoubleType>(
        group,
        &there.iter().map(|row| *row as f64).collect::<Vec<_>>(),
        Some(&defined(1)),
        None,
    );
    column::<BoolType>(group, &rows.iter().map(|row| row % 2 == 0).collect::<Vec<_>>(), None, None);
    column::<FloatType>(
        group,
        &there.iter().map(|row| *row as f32).collect::<Vec<_>>(),
        Some(&defined(1)),
        None,
    );
    let decimal = |row: &usize| ByteArray::from(vec![0, 0, 0, 1, *row as u8]).into();
    column::<FixedLenByteArrayType>(
        group,
        &there.iter().map(decimal).collect::<Vec<_>>(),
        Some(&defined(1)),
        None,
    );
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) {
    let mut column = group.next_column().expect("columns").expect("a column");
    column.typed::<T>().write_batch(values, definition, repetition).expect("written");
    column.close().expect("closed");
}
