//! Damage in columns that nobody reads before they are written: the rows are refused, and all else is as it would be without them.

use std::fs;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use crate::support::columns::{Columns, Made, read_back};
use crate::support::output::{Output, jsonl};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::rows::{lines, rows};
use crate::support::texts::{Random, words};

/// Rows of each row group.
const GROUP: usize = 40;
/// Those of the row group that is damaged.
const LOST: Range<usize> = GROUP..2 * GROUP;

/// A file, and the place of a column of the second row group in it.
fn file(rows: &[Columns], column: &str) -> (Vec<u8>, Range<usize>) {
    let file = Made::plain(&[GROUP]).packed(Compression::SNAPPY).file(rows);
    let (_, metadata) = read_back(&file);
    let is_it = |chunk: &&ColumnChunkMetaData| chunk.column_path().string() == column;
    let (start, length) = metadata.row_group(1).columns().iter().find(is_it).unwrap().byte_range();
    (file, start as usize..(start + length) as usize)
}

/// Rows with texts, half of them like others and half like none, and under other ids the same rows again.
fn twice() -> (Vec<Columns>, Vec<Columns>) {
    let rows = rows(150).into_iter().filter(|row| row.text.is_some()).take(3 * GROUP).enumerate();
    let own = |at: usize, row: Columns| match at % 2 {
        0 => row,
        _ => Columns { text: Some(words(50_000 + 100 * at, 60)), ..row },
    };
    let rows: Vec<Columns> = rows.map(|(at, row)| own(at, row)).collect();
    let again = rows.iter().map(|row| Columns { id: row.id.replace('d', "e"), ..row.clone() }).collect();
    (rows, again)
}

/// A damaged file beside lines that repeat it, and the same without the rows that are lost.
fn beside(dir: &Dir, column: &str) {
    let (rows, again) = twice();
    let (mut damaged, place) = file(&rows, column);
    damaged[place.start + 40..place.end].fill(0xff);
    let left: Vec<Columns> = [&rows[..LOST.start], &rows[LOST.end..]].concat();
    for (folder, content) in [("in", damaged), ("want", file(&left, column).0)] {
        dir.write(&format!("{folder}/a.parquet"), content);
        dir.write(&format!("{folder}/b.jsonl"), lines(&again));
    }
}

/// What was removed, by ids, which tell nothing of places.
fn removed(output: &Output) -> Vec<String> {
    let mut ids: Vec<String> =
        output.duplicates.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

fn refused(output: &Output) -> Vec<&Value> {
    output.rejected.iter().filter(|row| row["file"].as_str().unwrap().ends_with("a.parquet")).collect()
}

#[test]
fn a_damaged_column_costs_its_rows() {
    for (column, form) in [("n", ""), ("meta.score", ""), ("tags.list.element", ""), ("n", " --to jsonl")] {
        let dir = Dir::new();
        beside(&dir, column);
        let want = dir.output(&format!("want --threshold 0.7{form}"), "without");
        let ran = dir
            .dedup(&format!("in --threshold 0.7 --max-rejected 20% --write-removed{form} --out out"))
            .ok()
            .says("in/a.parquet: cannot be written")
            .says("the run begins again without such rows");
        assert_eq!(ran.stderr.matches("begins again").count(), 1, "{}", ran.stderr);
        let found = Output::read(&dir.join("out"));
        assert_eq!(removed(&found), removed(&want), "{column}{form}");
        assert_eq!(found.clusters.len(), want.clusters.len(), "{column}{form}");
        let lost = refused(&found);
        assert_eq!(lost.len(), 1, "{column}{form}: {lost:?}");
        assert_eq!(lost[0]["line"], LOST.start + 1);
        let reason = lost[0]["reason"].as_str().unwrap();
        assert!(
            reason.starts_with(&format!("40 rows from here on cannot be read: column {column}: ")),
            "{reason}"
        );
        let lines = |output: &Output| -> Vec<Value> {
            let kept = output.kept.iter().filter(|(name, _)| name.ends_with(".jsonl"));
            kept.flat_map(|(_, file)| jsonl(file)).collect()
        };
        assert_eq!(lines(&found), lines(&want), "{column}{form}");
        if form.is_empty() {
            assert_eq!(read_back(&found.kept["a.parquet"]).0, read_back(&want.kept["a.parquet"]).0);
        }
        let left = fs::read_dir(dir.join("out")).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<String> = left.map(|name| name.into_string().unwrap()).collect();
        assert!(!left.iter().any(|name| name.contains("parts") || name.starts_with(".alike")), "{left:?}");
    }
}

/// A text whose rows are lost is kept where it stands a second time.
#[test]
fn what_repeats_lost_rows_stays() {
    let dir = Dir::new();
    beside(&dir, "n");
    let (rows, _) = twice();
    let found = dir.output("in --threshold 1 --max-rejected 20%", "out");
    let kept = jsonl(&found.kept["b.jsonl"]);
    let texts: Vec<&str> = kept.iter().filter_map(|row| row["text"].as_str()).collect();
    let (columns, _) = read_back(&found.kept["a.parquet"]);
    let of_columns = format!("{columns:?}");
    for row in &rows {
        let text = row.text.as_deref().unwrap();
        assert!(texts.contains(&text) || of_columns.contains(text), "{text} is gone");
    }
}

/// The crate that decodes takes it for granted that a dictionary comes first.
#[test]
fn values_without_their_dictionary_are_refused() {
    for column in ["id", "n"] {
        let dir = Dir::new();
        let (rows, again) = twice();
        let (mut damaged, place) = file(&rows, column);
        // The kind of the first page: what it says is passed over.
        assert_eq!(damaged[place.start..place.start + 2], [0x15, 0x04], "a dictionary");
        damaged[place.start + 1] = 0x02;
        dir.write("in/a.parquet", damaged);
        dir.write("in/b.jsonl", lines(&again));
        let ran = dir.dedup("in --threshold 0.7 --max-rejected 50% --out out").ok();
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let found = Output::read(&dir.join("out"));
        let lost = refused(&found);
        assert!(lost[0]["reason"].as_str().unwrap().contains("a dictionary that is not there"), "{lost:?}");
    }
}

/// A table of an id, a text and a third column, three rows of each.
fn three_columns(third: &str) -> Vec<u8> {
    let schema = format!(
        "message rows {{ required binary id (STRING); required binary text (STRING); required {third}; }}"
    );
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let texts: Vec<ByteArray> = ["a twelve-byt", "b twelve-byt", "c twelve-byt"]
        .iter()
        .map(|text| text.as_bytes().to_vec().into())
        .collect();
    while let Some(mut column) = group.next_column().unwrap() {
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&texts, None, None).map(drop),
            ColumnWriter::FixedLenByteArrayColumnWriter(column) => {
                let spans: Vec<FixedLenByteArray> = texts.iter().cloned().map(Into::into).collect();
                column.write_batch(&spans, None, None).map(drop)
            }
            _ => unreachable!("two kinds"),
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

/// What has no form in the output is not damaged: the run ends, and says so, and loses nothing.
#[test]
fn what_has_no_form_elsewhere_ends_the_run() {
    let (_, again) = twice();
    for (third, says) in [
        ("fixed_len_byte_array(12) span (INTERVAL)", "the column span is an interval"),
        ("binary text (STRING)", "two columns have the name text"),
    ] {
        let dir = Dir::new();
        dir.write("in/b.jsonl", lines(&again));
        dir.write("in/a.parquet", three_columns(third));
        let ran =
            dir.dedup("in --max-rejected 90% --to jsonl --out out").code(3).says(says).says("leave --to out");
        assert!(!ran.stderr.contains("begins again") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
        assert!(!dir.join("out").exists());
        dir.dedup("in --out out").ok();
    }
}

/// The process that meets the damage is any of them, and in the second run it has other work.
#[test]
fn many_processes_lose_the_same_rows() {
    let dir = Dir::new();
    beside(&dir, "n");
    let (rows, _) = twice();
    let other: Vec<Columns> =
        rows.into_iter().map(|row| Columns { id: format!("f{}", row.id), ..row }).collect();
    let (mut damaged, place) = file(&other, "meta.score");
    damaged[place.start + 40..place.end].fill(0xff);
    dir.write("in/0.parquet", &damaged);
    for flags in ["--write-removed", "--to jsonl", "--annotate", "--to parquet --write-removed"] {
        let written =
            alike_in_all(&dir, &format!("in --threshold 0.7 --max-rejected 30% {flags}"), &[(2, 1), (3, 2)]);
        let refused = jsonl(&written["rejected.jsonl"]);
        // Notes are put beside columns that are copied as they are.
        assert_eq!(refused.len(), if flags == "--annotate" { 0 } else { 2 }, "{flags}: {refused:?}");
    }
}

/// The folder tells of such rows, so that whoever asks it finds what the run had found.
#[test]
fn a_finished_output_knows_the_lost_rows() {
    let dir = Dir::new();
    beside(&dir, "n");
    dir.dedup("in --threshold 0.7 --max-rejected 20% --out out").ok();
    let inputs = jsonl(&fs::read(dir.join("out/inputs.jsonl")).unwrap());
    let row = inputs.iter().find(|row| row["file"] == "in/a.parquet").unwrap();
    assert_eq!(row["undecodable"][0]["rows"]["start"], LOST.start);
    assert_eq!(row["undecodable"][0]["rows"]["end"], LOST.end);
    let (rows, again) = twice();
    dir.alike(&format!("explain out {}", rows[LOST.start].id), None).code(2);
    dir.alike(&format!("explain out {}", again[LOST.start].id), None).ok();
    dir.alike(&format!("explain out {}", rows[LOST.end].id), None).ok();
    dir.alike("report out --out report.html", None).ok();
}

#[test]
fn strict_runs_and_too_many_lost_rows_end_the_run() {
    let dir = Dir::new();
    beside(&dir, "n");
    dir.dedup("in --threshold 0.7 --strict --out out")
        .code(3)
        .says("a.parquet, row 41: 40 rows from here on cannot be read");
    // All rows count, and not their stretch as one.
    dir.dedup("in --threshold 0.7 --out out").code(3).says("40 of 240 records refused");
    dir.dedup("in --threshold 0.7 --max-rejected 20% --out out").ok();
    let mut nothing_written = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!nothing_written.any(|name| name.to_string_lossy().contains("partial")));
}

/// Whatever bit is wrong, what is beside the file is deduplicated and written.
#[test]
fn flipped_bits_never_cost_what_is_beside_them() {
    let dir = Dir::new();
    let (rows, again) = twice();
    dir.write("in/b.jsonl", lines(&again));
    let mut random = Random(3);
    let mut begun_again = 0;
    for number in 0..40 {
        let (mut file, place) = file(&rows, ["n", "tags.list.element", "meta.text"][number % 3]);
        let (at, bit) = (place.start + random.below(place.len()), random.below(8));
        file[at] ^= 1 << bit;
        dir.write("in/a.parquet", &file);
        let ran = dir.dedup(&format!("in --threshold 0.7 --max-rejected 60% --out out{number}")).ok();
        begun_again += usize::from(ran.stderr.contains("begins again"));
        let found = Output::read(&dir.join(&format!("out{number}")));
        assert!(found.kept.contains_key("b.jsonl") && found.kept.contains_key("a.parquet"));
        read_back(&found.kept["a.parquet"]);
    }
    assert!(begun_again > 5, "{begun_again}");
}

/// Rows are refused in stretches, and each of them counts: what protects nothing is told before what it protects is lost.
#[test]
fn rows_of_a_stretch_count_one_by_one() {
    let dir = Dir::new();
    beside(&dir, "text");
    for command in
        ["dedup in/b.jsonl --dry-run --against in/a.parquet", "load c in/b.jsonl --against in/a.parquet"]
    {
        dir.alike(command, None).code(3).says("40 of 120 records");
    }
    for command in ["passages in --dry-run", "repetition in --dry-run", "load c in"] {
        let ran = dir.alike(&format!("{command} --max-rejected 50 --json"), None).ok();
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(told["rejected"], 40, "{command}: {told}");
    }
    dir.dedup("in --max-rejected 50 --out o").ok();
    let output = Output::read(&dir.join("o"));
    let told: Vec<&Value> = refused(&output).into_iter().map(|row| &row["records"]).collect();
    assert_eq!(told, [40], "{told:?}");
}
