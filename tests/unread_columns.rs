//! The memory that columns take which nobody reads before they are written again, held to `--memory`.

use std::fs;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use crate::support::batches::{Batches, Laid, Packed};
use crate::support::columns::Columns;
use crate::support::corpora::stride;
use crate::support::output::{Output, jsonl};
use crate::support::program::{Dir, Ran};
use crate::support::texts::{Random, words};

const MIB: u64 = 1 << 20;
/// The memory of a run, and how far it may go beyond.
const MEMORY: u64 = 64 * MIB;
const BEYOND: u64 = 32 * MIB;
/// Rows of a row group, and the one of the second row group whose cell is long.
const GROUP: usize = 10;
const LONG: usize = GROUP + 4;
/// Rows of a file.
const ROWS: usize = 3 * GROUP;

/// So many bytes of text that hardly shrink by half.
fn long(bytes: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.push_str(&format!("{:016x}", random.below(usize::MAX)));
    }
    text
}

/// Texts of which the last of each row group is like the first, so that every row group is written again.
fn text(row: usize) -> String {
    words(1_000 * if row % GROUP == GROUP - 1 { row + 1 - GROUP } else { row }, 60)
}

/// A file of ids, texts and a third column, of which values are the same bytes again and again where `has_dictionary` says so.
fn file(packed: Compression, has_dictionary: bool, big: &dyn Fn(usize) -> String) -> Vec<u8> {
    let schema = "message rows { required binary id (STRING); required binary text (STRING); optional binary big (STRING); }";
    let properties = WriterProperties::builder()
        .set_compression(packed)
        .set_dictionary_enabled(has_dictionary)
        .set_dictionary_page_size_limit(1 << 30)
        .set_column_data_page_size_limit("big".into(), 1 << 30);
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    for first in (0..ROWS).step_by(GROUP) {
        let mut group = writer.next_row_group().unwrap();
        let columns: [&dyn Fn(usize) -> String; 3] = [&|row| format!("d{row}"), &text, big];
        for (at, of) in columns.into_iter().enumerate() {
            let values: Vec<ByteArray> =
                (first..first + GROUP).map(|row| of(row).into_bytes().into()).collect();
            let defined = (at == 2).then(|| vec![1; GROUP]);
            let mut column = group.next_column().unwrap().unwrap();
            match column.untyped() {
                ColumnWriter::ByteArrayColumnWriter(to) => {
                    to.write_batch(&values, defined.as_deref(), None).unwrap()
                }
                _ => unreachable!("texts"),
            };
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

#[track_caller]
fn within(output: &Output, memory: u64, what: &str) {
    let peak = output.summary["peak_memory_bytes"].as_u64().unwrap();
    let most = (memory + BEYOND).max(memory / 20 * 21);
    assert!(peak <= most, "{what}: {} MiB of {}", peak / MIB, memory / MIB);
}

/// The rows that are refused, and the most MiB that their reasons advise.
fn refused(output: &Output) -> (u64, u64) {
    let reasons = output.rejected.iter().map(|row| row["reason"].as_str().unwrap());
    reasons.fold((0, 0), |(rows, most), reason| {
        let count: u64 = reason.split(' ').next().unwrap().parse().unwrap();
        let advised = reason.split("allow about ").nth(1).unwrap_or_else(|| panic!("no advice: {reason}"));
        let advised: u64 = advised.split(' ').next().unwrap().parse().unwrap();
        (rows + count, most.max(advised))
    })
}

fn ids(output: &Output, name: &str) -> Vec<String> {
    // A file of which all rows are refused is left out.
    let Some((name, bytes)) = output.kept.iter().find(|(kept, _)| kept.starts_with(name)) else {
        return Vec::new();
    };
    if name.ends_with(".jsonl") {
        let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
        return jsonl(bytes).iter().map(id).collect();
    }
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    let id = |row: parquet::record::Row| row.get_column_iter().next().unwrap().1.to_string();
    reader.get_row_iter(None).unwrap().map(|row| id(row.unwrap()).trim_matches('"').to_owned()).collect()
}

/// A run with so many MiB of memory.
fn run(dir: &Dir, flags: &str, memory: u64) -> Ran {
    let _ = fs::remove_dir_all(dir.join("out"));
    dir.dedup(&format!("in --threshold 0.9 --max-rejected 100% {flags} --memory {memory}M --out out")).ok()
}

fn codecs() -> [Compression; 3] {
    [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
}

/// One cell costs its row, or its row group where the page does not fit. The rest is written, and what the reason advises is enough for
/// all.
#[test]
fn a_long_cell_of_an_unread_column_keeps_to_the_memory() {
    for codec in codecs() {
        let dir = Dir::new();
        let cell = long(40 << 20, 7);
        dir.write(
            "in/a.parquet",
            file(codec, false, &|row| if row == LONG { cell.clone() } else { text(row) }),
        );
        for flags in ["-w 1", "-w 2 --write-removed", "-w 2 --to jsonl", "-w 1 --to parquet"] {
            run(&dir, flags, MEMORY / MIB).says("begins again without such rows");
            let found = Output::read(&dir.join("out"));
            within(&found, MEMORY, &format!("{codec:?} {flags}"));
            let (rows, advised) = refused(&found);
            assert!(rows == 1 || rows == GROUP as u64, "{codec:?} {flags}: {rows}");
            assert!(codec == Compression::UNCOMPRESSED || rows == GROUP as u64, "{codec:?} {flags}: {rows}");
            let is_lost = |row: usize| row == LONG || rows > 1 && row / GROUP == LONG / GROUP;
            let left = (0..ROWS).filter(|row| !is_lost(*row) && row % GROUP != GROUP - 1);
            assert_eq!(ids(&found, "a."), left.map(|row| format!("d{row}")).collect::<Vec<_>>());
            let ran = run(&dir, flags, advised);
            let found = Output::read(&dir.join("out"));
            assert!(!ran.stderr.contains("begins again"), "{codec:?} {flags}: {}", ran.stderr);
            within(&found, advised * MIB, &format!("{codec:?} {flags}, as advised"));
            assert_eq!((refused(&found).0, ids(&found, "a.").len()), (0, ROWS - 3), "{codec:?} {flags}");
        }
        // Nothing is decoded where columns are put beside others.
        run(&dir, "--annotate", MEMORY / MIB);
        let found = Output::read(&dir.join("out"));
        within(&found, MEMORY, "annotated");
        assert_eq!(found.rejected.len(), 0);
    }
}

/// Values of a dictionary cost nothing but itself, and the page that they are written to.
#[test]
fn long_dictionaries_and_pages_of_unread_columns_keep_to_the_memory() {
    let half = stride(2);
    let files = codecs().into_iter().flat_map(|codec| [(codec, true), (codec, false)]);
    for (at, (codec, has_dictionary)) in files.enumerate() {
        let dir = Dir::new();
        let values: Vec<String> = (0..GROUP as u64).map(|seed| long(3 << 20, 1 + seed)).collect();
        dir.write("in/a.parquet", file(codec, has_dictionary, &|row| values[row % GROUP].clone()));
        let runs = [("-w 1", 64), ("-w 2", 64), ("-w 2 --to jsonl", 64), ("-w 1", 128), ("-w 2", 256)];
        for (flags, memory) in runs.into_iter().skip((at + at / 2) % half).step_by(half) {
            let what = format!("{codec:?} {has_dictionary} {flags} {memory}");
            run(&dir, flags, memory);
            let found = Output::read(&dir.join("out"));
            within(&found, memory * MIB, &what);
            let (rows, _) = refused(&found);
            assert_eq!(ids(&found, "a.").len(), ROWS - 3 - rows as usize + rows as usize / GROUP, "{what}");
            assert!(memory < 256 || rows == 0, "{what}");
        }
    }
}

/// Of a batch of Arrow a row alone is lost where it becomes an object, and nothing where it stays as it is.
#[test]
fn long_cells_of_batches_keep_to_the_memory() {
    let cell = long(30 << 20, 7);
    let row = |row: usize| Columns {
        id: format!("d{row}"),
        text: Some(text(row)),
        n: Some(1),
        tags: Some(vec![Some(if row == LONG { cell.clone() } else { "tag".to_owned() })]),
        score: None,
    };
    let rows: Vec<Columns> = (0..ROWS).map(row).collect();
    for packed in [Packed::Not, Packed::Lz4, Packed::Zstd] {
        let dir = Dir::new();
        let batches = Batches { stream: false, sizes: vec![ROWS], laid: Laid::Strings, packed };
        dir.write("in/a.arrow", batches.file(&rows));
        for flags in ["-w 1", "-w 2 --write-removed"] {
            run(&dir, flags, MEMORY / MIB);
            let found = Output::read(&dir.join("out"));
            within(&found, MEMORY, &format!("{packed:?} {flags}"));
            assert_eq!(found.rejected.len(), 0);
        }
        run(&dir, "-w 2 --to jsonl", MEMORY / MIB).says("begins again without such rows");
        let found = Output::read(&dir.join("out"));
        within(&found, MEMORY, &format!("{packed:?} as lines"));
        let (lost, advised) = refused(&found);
        assert_eq!((lost, found.rejected[0]["line"].as_u64()), (1, Some(LONG as u64 + 1)));
        assert_eq!(ids(&found, "a.").len(), ROWS - 3 - 1);
        run(&dir, "-w 2 --to jsonl", advised);
        let found = Output::read(&dir.join("out"));
        within(&found, advised * MIB, &format!("{packed:?} as lines, as advised"));
        assert_eq!((found.rejected.len(), ids(&found, "a.").len()), (0, ROWS - 3));
    }
}
