//! Parquet files made by another writer than the program, and read back by another reader.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::{KeyValue, ParquetMetaData, SortingColumn};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Row;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

/// The columns: a required one, optional ones, a list, and one inside a struct.
const SCHEMA: &str = "message rows {
    required binary id (STRING);
    optional binary text (STRING);
    optional int64 n;
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    optional group meta { optional double score; optional binary text (STRING); }
}";

/// A row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) id: String,
    pub(crate) text: Option<String>,
    pub(crate) n: Option<i64>,
    pub(crate) tags: Option<Vec<Option<String>>>,
    pub(crate) score: Option<f64>,
}

impl Columns {
    /// The same as a line of JSON, lists joined.
    pub(crate) fn line(&self) -> String {
        let tags =
            self.tags.as_ref().map(|tags| tags.iter().flatten().cloned().collect::<Vec<_>>().join("\n"));
        let meta = serde_json::json!({"score": self.score, "text": self.text});
        let row =
            serde_json::json!({"id": self.id, "text": self.text, "n": self.n, "tags": tags, "meta": meta});
        format!("{row}\n")
    }
}

/// How a file is written.
pub(crate) struct Made {
    /// Rows of each row group; the last of them again and again.
    pub(crate) groups: Vec<usize>,
    pub(crate) properties: WriterPropertiesBuilder,
}

impl Made {
    /// Row groups of so many rows, pages of a few, uncompressed, and what a file can have beside its rows.
    pub(crate) fn plain(groups: &[usize]) -> Made {
        let metadata = vec![
            KeyValue::new("huggingface".to_owned(), "{\"info\": {\"features\": {}}}".to_owned()),
            KeyValue::new("nothing".to_owned(), None),
        ];
        let sorted = vec![SortingColumn { column_idx: 0, descending: false, nulls_first: true }];
        let properties = WriterProperties::builder()
            .set_data_page_row_count_limit(7)
            .set_write_batch_size(3)
            .set_created_by("a writer version 1.2".to_owned())
            .set_key_value_metadata(Some(metadata))
            .set_sorting_columns(Some(sorted))
            .set_column_bloom_filter_enabled(column("id"), true);
        Made { groups: groups.to_vec(), properties }
    }

    pub(crate) fn packed(self, codec: Compression) -> Made {
        Made { properties: self.properties.set_compression(codec), ..self }
    }

    pub(crate) fn newer(self) -> Made {
        Made { properties: self.properties.set_writer_version(WriterVersion::PARQUET_2_0), ..self }
    }

    pub(crate) fn encoded(self, encoding: Encoding) -> Made {
        let properties = self.properties.set_dictionary_enabled(false);
        Made { properties: properties.set_column_encoding(column("text"), encoding), ..self }
    }

    /// The file.
    pub(crate) fn file(self, rows: &[Columns]) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(self.properties.build())).unwrap();
        let (mut rest, mut groups) = (rows, self.groups.iter());
        let mut size = 0;
        while !rest.is_empty() {
            size = groups.next().copied().unwrap_or(size);
            let (some, behind) = rest.split_at(size.min(rest.len()));
            write_group(&mut writer, some);
            rest = behind;
        }
        writer.into_inner().unwrap()
    }
}

pub(crate) fn column(path: &str) -> ColumnPath {
    ColumnPath::new(path.split('.').map(str::to_owned).collect())
}

fn write_group(writer: &mut SerializedFileWriter<Vec<u8>>, rows: &[Columns]) {
    let mut group = writer.next_row_group().unwrap();
    let bytes = |text: &String| ByteArray::from(text.as_bytes().to_vec());
    let ids: Vec<ByteArray> = rows.iter().map(|row| bytes(&row.id)).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
    next.close().unwrap();
    let texts: Vec<ByteArray> = rows.iter().filter_map(|row| row.text.as_ref().map(bytes)).collect();
    let defined: Vec<i16> = rows.iter().map(|row| i16::from(row.text.is_some())).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<ByteArrayType>().write_batch(&texts, Some(&defined), None).unwrap();
    next.close().unwrap();
    let numbers: Vec<i64> = rows.iter().filter_map(|row| row.n).collect();
    let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.n.is_some())).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<Int64Type>().write_batch(&numbers, Some(&levels), None).unwrap();
    next.close().unwrap();
    let (mut tags, mut defs, mut reps) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        match row.tags.as_deref() {
            None => (defs.push(0), reps.push(0)),
            Some([]) => (defs.push(1), reps.push(0)),
            Some(some) => {
                for (at, tag) in some.iter().enumerate() {
                    reps.push(i16::from(at > 0));
                    defs.push(if tag.is_some() { 3 } else { 2 });
                    tags.extend(tag.as_ref().map(bytes));
                }
                ((), ())
            }
        };
    }
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<ByteArrayType>().write_batch(&tags, Some(&defs), Some(&reps)).unwrap();
    next.close().unwrap();
    let scores: Vec<f64> = rows.iter().filter_map(|row| row.score).collect();
    let levels: Vec<i16> = rows.iter().map(|row| if row.score.is_some() { 2 } else { 1 }).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<DoubleType>().write_batch(&scores, Some(&levels), None).unwrap();
    next.close().unwrap();
    let levels: Vec<i16> = defined.iter().map(|level| level + 1).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None).unwrap();
    next.close().unwrap();
    group.close().unwrap();
}

/// The rows of a file, and what it says of itself.
pub(crate) fn read_back(file: &[u8]) -> (Vec<Row>, ParquetMetaData) {
    let options = ReadOptionsBuilder::new().with_encoding_stats_as_mask(false).build();
    let reader = SerializedFileReader::new_with_options(Bytes::copy_from_slice(file), options).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    (rows, reader.metadata().clone())
}
