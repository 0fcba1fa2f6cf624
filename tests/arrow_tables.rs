//! Arrow as Parquet: the same rows with the same types, whatever their batches are, and what has no place there.

use std::fs;

use parquet::record::Row;
use serde_json::Value;

use crate::support::batches::{Batches, every_kind};
use crate::support::columns::{Columns, Made, read_back};
use crate::support::output::jsonl;
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::rows::{gone, lines, rows};
use crate::support::texts::words;

/// A file that pyarrow wrote, as `benches/arrow.py --fixtures` made it.
fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!("tests/arrows/{name}")).unwrap()
}

/// Rows as another writer writes them as Parquet.
fn expected(rows: &[Columns]) -> Vec<Row> {
    read_back(&Made::plain(&[1000]).file(rows)).0
}

#[test]
fn rows_are_those_of_the_same_table_as_parquet() {
    let dir = Dir::new();
    let rows = rows(400);
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.arrow"), &file);
        let line = format!("in{at} --threshold 0.7 --to parquet --write-removed -w {}", 1 + at % 3);
        let output = dir.output(&line, &format!("out{at}"));
        let gone = gone(&output);
        assert!(gone.len() > 200 && gone.len() < rows.len(), "{kind}: {}", gone.len());
        for (half, removed) in [(&output.kept, false), (&output.removed, true)] {
            let chosen = (0..).zip(&rows).filter(|(at, _)| gone.contains(at) == removed);
            let chosen: Vec<Columns> = chosen.map(|(_, row)| row.clone()).collect();
            let (found, metadata) = read_back(&half["a.parquet"]);
            assert!(found == expected(&chosen), "{kind}, removed: {removed}");
            let said = metadata.file_metadata().key_value_metadata().unwrap();
            let keys: Vec<&str> = said.iter().map(|pair| pair.key.as_str()).collect();
            assert_eq!(keys, ["huggingface", "ARROW:schema"]);
        }
    }
}

/// A table with a column of each type that Parquet has, and what pyarrow makes of it.
#[test]
fn every_type_is_what_another_writer_makes_of_it() {
    let dir = Dir::new();
    dir.write("types.arrow", fixture("types.arrow"));
    let found = dir.output("types.arrow --method exact --to parquet", "out");
    let ((found, made), (want, of_other)) =
        (read_back(&found.kept["types.parquet"]), read_back(&fixture("types.parquet")));
    assert_eq!((found.len(), want.len()), (16, 16));
    for (found, want) in found.iter().zip(&want) {
        for ((name, found), (_, want)) in found.get_column_iter().zip(want.get_column_iter()) {
            assert_eq!(format!("{found:?}"), format!("{want:?}"), "{name}");
        }
        assert_eq!(found.len(), want.len());
    }
    let [made, of_other] = [&made, &of_other].map(|of| of.file_metadata().schema().get_fields().to_vec());
    for (made, of_other) in made.iter().zip(&of_other) {
        assert_eq!(format!("{made:?}"), format!("{of_other:?}"));
    }
}

#[test]
fn what_parquet_has_no_place_for_is_refused_by_name() {
    let dir = Dir::new();
    for (name, says) in [
        ("sparse", "the column sparse is a union"),
        ("dense", "the column dense is a union"),
        ("list_view", "the column list_view is a list of views"),
        ("interval", "the column interval is an interval"),
        ("lists", "the column lists is a dictionary of lists"),
    ] {
        dir.write(&format!("{name}.arrow"), fixture(&format!("{name}.arrow")));
        let line = format!("{name}.arrow --to parquet --out no-{name}");
        dir.dedup(&line).code(3).says(says).says("leave --to out");
        assert!(!dir.join(&format!("no-{name}")).exists());
        dir.dedup(&format!("{name}.arrow --out {name}")).ok();
    }
    dir.write("noted.arrow", fixture("noted.arrow"));
    dir.dedup("noted.arrow --to parquet --annotate --out no").code(3).says("a column alike_kept already");
    dir.dedup("noted.arrow --to parquet --out noted").ok();
}

/// A cell of a row, as JSON has it.
fn cell(row: &Row, name: &str) -> String {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1.to_string()
}

#[test]
fn notes_are_those_of_the_lines() {
    let dir = Dir::new();
    let rows: Vec<Columns> = rows(300).into_iter().filter(|row| row.text.is_some()).collect();
    dir.write("lines.jsonl", lines(&rows));
    dir.write("rows.arrow", Batches::plain(false, &[70, 1, 90]).file(&rows));
    let flags = "--threshold 0.7 --annotate";
    dir.dedup(&format!("lines.jsonl {flags} --out want")).ok();
    dir.dedup(&format!("rows.arrow {flags} --to parquet --out found")).ok();
    let want = jsonl(&fs::read(dir.join("want/annotated/lines.jsonl")).unwrap());
    let (found, metadata) = read_back(&fs::read(dir.join("found/annotated/rows.parquet")).unwrap());
    assert_eq!(found.len(), want.len());
    for (row, want) in found.iter().zip(&want) {
        let (cell, note) = (|name: &str| cell(row, name), &want["alike"]);
        assert_eq!([cell("id"), cell("text")], [&want["id"], &want["text"]].map(Value::to_string));
        for name in ["cluster", "size", "kept", "reason"] {
            let of_line = note.get(name).map_or_else(|| "null".to_owned(), Value::to_string);
            assert_eq!(cell(&format!("alike_{name}")), of_line, "{name} of {}", cell("id"));
        }
        // Reading JSON may change the last digit.
        let resemblance = note.get("resemblance").map_or(0.0, |share| share.as_f64().unwrap());
        assert!((cell("alike_resemblance").parse::<f64>().unwrap_or(0.0) - resemblance).abs() < 1e-12);
        let id = note["representative"].get("id").map_or_else(|| "null".to_owned(), Value::to_string);
        assert_eq!(cell("alike_representative"), id);
    }
    assert!(want.iter().filter(|row| row["alike"]["kept"] == false).count() > 100);
    let said = metadata.file_metadata().key_value_metadata().unwrap();
    assert!(said.iter().all(|pair| pair.key != "huggingface"), "it would be wrong");
}

#[test]
fn files_are_the_same_in_every_shape() {
    let dir = Dir::new();
    let rows = rows(300);
    dir.write("in/a.arrow", Batches::plain(true, &[70, 1, 200]).file(&rows));
    dir.write("in/b/a.arrow", Batches::plain(false, &[40]).file(&rows[..150]));
    dir.write("in/none.arrow", Batches::plain(false, &[40]).file(&[]));
    alike_in_all(&dir, "in --threshold 0.7 --to parquet --write-removed", &[(1, 2), (2, 1), (3, 2)]);
    alike_in_all(&dir, "in --threshold 0.7 --to parquet --annotate", &[(1, 2), (3, 1)]);
    let found = dir.output("in --threshold 0.7 --to parquet", "found");
    let names: Vec<&String> = found.kept.keys().collect();
    assert_eq!(names, ["a.parquet", "b/a.parquet", "none.parquet"]);
    assert!(read_back(&found.kept["none.parquet"]).0.is_empty());
    // As standard input.
    let stream = fs::read(dir.join("in/a.arrow")).unwrap();
    dir.alike("dedup - --threshold 0.7 --to parquet --out stdin", Some(&stream)).ok();
    let alone = dir.output("in/a.arrow --threshold 0.7 --to parquet", "alone");
    assert!(fs::read(dir.join("stdin/kept/stdin.parquet")).unwrap() == alone.kept["a.parquet"]);
}

#[test]
fn parts_have_all_rows_in_their_order() {
    let dir = Dir::new();
    let mut rows = rows(40);
    for (at, row) in rows.iter_mut().enumerate() {
        row.text = Some(format!("{} {}", words(at, 1), "x".repeat(1 << 20)));
        row.tags = None;
    }
    dir.write("in/a.arrow", Batches::plain(false, &[7]).file(&rows));
    let found = dir.output("in --method exact --to parquet --shard-size 1k", "out");
    let names: Vec<&String> = found.kept.keys().collect();
    assert!(names.len() > 2 && names[0] == "a-00001.parquet", "{names:?}");
    let all: Vec<Row> = found.kept.values().flat_map(|part| read_back(part).0).collect();
    assert!(all == expected(&rows));
}

/// Six hundred rows name a value of 50 kB, which is there once: more than the memory has room for, if each counted it.
#[test]
fn values_of_runs_count_once() {
    let dir = Dir::new();
    dir.write("in/runs.arrow", fixture("runs.arrow"));
    let found = dir.output("in --method exact --to parquet --memory 64M -w 1", "out");
    let (rows, _) = read_back(&found.kept["runs.parquet"]);
    let long = "x".repeat(50_000);
    assert_eq!(rows.len(), 600);
    for row in &rows {
        let mut columns = row.get_column_iter();
        assert!(
            columns
                .any(|(name, value)| name == "runs" && *value == parquet::record::Field::Str(long.clone()))
        );
    }
}

/// Rows that cannot be read are left out, as they are of what is kept in the form of the input.
#[test]
fn what_cannot_be_read_is_left_out() {
    let dir = Dir::new();
    let mut rows = rows(60);
    for (at, row) in rows.iter_mut().enumerate() {
        row.text = Some(words(at * 100, 50));
    }
    let stream = Batches::plain(true, &[20]).file(&rows);
    dir.write("in/cut.arrow", &stream[..stream.len() - 3000]);
    let found = dir.output("in --max-rejected 100% --to parquet --write-removed", "out");
    assert_eq!(found.rejected.len(), 1, "{:?}", found.rejected);
    assert!(read_back(&found.kept["cut.parquet"]).0 == expected(&rows[..40]));
    assert!(found.removed.is_empty());
}

/// A text that is none has no place in a table of texts: it is in no file of another form, and ends nothing.
#[test]
fn a_text_that_is_not_utf8_is_in_neither_half() {
    let dir = Dir::new();
    let mut rows = rows(30);
    for (at, row) in rows.iter_mut().enumerate() {
        row.text = Some(words(at * 100, 50));
    }
    rows[7].text = Some("QQQQ".to_owned());
    let mut file = Batches::plain(false, &[10]).file(&rows);
    let at = file.windows(4).position(|bytes| bytes == b"QQQQ").unwrap();
    file[at] = 0xff;
    dir.write("in/a.arrow", &file);
    let found = dir.output("in --max-rejected 100% --to parquet --write-removed", "out");
    assert_eq!(found.rejected.len(), 1, "{:?}", found.rejected);
    let mut others = rows.clone();
    others.remove(7);
    assert!(read_back(&found.kept["a.parquet"]).0 == expected(&others));
    assert!(found.removed.is_empty());
    // As lines it is spelt by its bytes, and in its own form it stays what it is.
    let lines = dir.output("in --max-rejected 100% --to jsonl --write-removed", "lines");
    assert_eq!(jsonl(&lines.removed["a.jsonl"])[0]["text"], "ff515151");
    let own = dir.output("in --max-rejected 100% --write-removed", "own");
    assert!(own.removed["a.arrow"].windows(4).any(|bytes| bytes == b"\xffQQQ"));
}
