//! What rows of Parquet are as JSON: moments with all their digits, times, and what is in lists, structs and maps.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::program::Dir;

const SCHEMA: &str = "message rows {
    required binary text (STRING);
    optional int96 spark;
    optional int64 nanos (TIMESTAMP(NANOS, true));
    required int64 micros (TIMESTAMP(MICROS, false));
    required int32 time (TIME(MILLIS, true));
    required int64 long_time (TIME(NANOS, true));
    required int64 number;
    optional group list (LIST) { repeated group list { optional int96 element; } }
    optional group moments (LIST) { repeated group list { required int64 element (TIMESTAMP(NANOS, true)); } }
    optional group rows (LIST) { repeated group list { optional group element { required int96 at; required int64 n; } } }
    optional group map (MAP) { repeated group key_value { required int64 key (TIMESTAMP(NANOS, true)); optional int96 value; } }
    required fixed_len_byte_array(12) bytes;
    required fixed_len_byte_array(16) uuid (UUID);
}";

/// Nanoseconds since 1970 as INT96 has them.
fn julian(nanos: i64) -> Int96 {
    const DAY: i64 = 86_400_000_000_000;
    let (of_day, day) = (nanos.rem_euclid(DAY) as u64, (nanos.div_euclid(DAY) + 2_440_588) as u32);
    let mut moment = Int96::new();
    moment.set_data(of_day as u32, (of_day >> 32) as u32, day);
    moment
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<(&[i16], Option<&[i16]>)>,
) {
    let mut next = group.next_column().unwrap().unwrap();
    let (definition, repetition) = (levels.map(|levels| levels.0), levels.and_then(|levels| levels.1));
    next.typed::<T>().write_batch(values, definition, repetition).unwrap();
    next.close().unwrap();
}

/// Two rows: one with moments to the nanosecond, lists of two and a map, and one with what may be null or beyond all days.
fn file(has_dictionary: bool) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_dictionary_enabled(has_dictionary).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let at = 1_704_067_200_000_000_001;
    put::<ByteArrayType>(&mut group, &["one text".into(), "another one".into()], None);
    put::<Int96Type>(&mut group, &[julian(at)], Some((&[1, 0], None)));
    put::<Int64Type>(&mut group, &[at, -1], Some((&[1, 1], None)));
    put::<Int64Type>(&mut group, &[1_500_000, i64::MAX], None);
    put::<Int32Type>(&mut group, &[1_500, -1], None);
    put::<Int64Type>(&mut group, &[1, 86_400_000_000_000], None);
    put::<Int64Type>(&mut group, &[at, -1], None);
    put::<Int96Type>(&mut group, &[julian(-1)], Some((&[3, 2, 0], Some(&[0, 1, 0]))));
    put::<Int64Type>(&mut group, &[at, 0], Some((&[2, 2, 0], Some(&[0, 1, 0]))));
    put::<Int96Type>(&mut group, &[julian(at)], Some((&[3, 1], Some(&[0, 0]))));
    put::<Int64Type>(&mut group, &[7], Some((&[3, 1], Some(&[0, 0]))));
    put::<Int64Type>(&mut group, &[at], Some((&[2, 0], Some(&[0, 0]))));
    put::<Int96Type>(&mut group, &[julian(2)], Some((&[3, 0], Some(&[0, 0]))));
    let bytes = ["twelve bytes", "of any kind."].map(|bytes| ByteArray::from(bytes).into());
    put::<parquet::data_type::FixedLenByteArrayType>(&mut group, &bytes, None);
    let uuids = [(0..16).collect(), vec![0xff; 16]].map(|bytes: Vec<u8>| ByteArray::from(bytes).into());
    put::<parquet::data_type::FixedLenByteArrayType>(&mut group, &uuids, None);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn moments_have_the_digits_that_they_need_wherever_they_are() {
    let at = "2024-01-01T00:00:00.000000001Z";
    // Of those of INT96 nobody says in which zone they are.
    let local = at.trim_end_matches('Z');
    let expected: [Value; 2] = [
        json!({
            "text": "one text", "spark": local, "nanos": at, "micros": "1970-01-01T00:00:01.5", "time": "00:00:01.5",
            "long_time": "00:00:00.000000001", "number": 1_704_067_200_000_000_001_i64,
            "list": ["1969-12-31T23:59:59.999999999", null], "moments": [at, "1970-01-01T00:00:00Z"],
            "rows": [{"at": local, "n": 7}], "map": {at: "1970-01-01T00:00:00.000000002"}, "bytes": "twelve bytes",
            "uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f",
        }),
        json!({
            "text": "another one", "spark": null, "nanos": "1969-12-31T23:59:59.999999999Z", "micros": i64::MAX, "time": -1,
            "long_time": 86_400_000_000_000_i64, "number": -1, "list": null, "moments": null, "rows": [], "map": null,
            "bytes": "of any kind.", "uuid": "ffffffff-ffff-ffff-ffff-ffffffffffff",
        }),
    ];
    let dir = Dir::new();
    for (out, has_dictionary) in [("plain", false), ("dictionary", true)] {
        dir.write(&format!("{out}.parquet"), file(has_dictionary));
        let found = dir.output(&format!("{out}.parquet --to jsonl"), out);
        assert_eq!(jsonl(&found.kept[&format!("{out}.jsonl")]), expected, "{out}");
    }
}
