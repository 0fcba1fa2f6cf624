//! Parquet: the same documents as from lines, files with the rows that are kept, and what damage costs.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use alike::output::{Chosen, Hands, Side, write_kept};
use alike::progress::Progress;
use alike::read::{Fields, MissingText, RecordRoom, discover, reread, rows as rows_of};
use bytes::Bytes;
use parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::column::page::Page;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::TrackedWrite;
use serde_json::Value;

use crate::support::columns::{Columns, Made, read_back};
use crate::support::job::{Process, at_free_ports, command};
use crate::support::loads::{Seen as LoadSeen, whole};
use crate::support::output::{Output, jsonl};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::rows::{
    Seen, fields, formless, gone, lines, object, read, read_in_turn, rows, source, written_in_another_run,
};
use crate::support::tar::{Dialect, archive, member};
use crate::support::texts::{Random, gzip, line, words};

/// Files of one content: codecs, versions, encodings and sizes of row groups.
fn every_kind(rows: &[Columns]) -> Vec<(&'static str, Vec<u8>)> {
    let plain = |groups: &[usize]| Made::plain(groups);
    vec![
        ("plain", plain(&[1000]).file(rows)),
        ("snappy", plain(&[50]).packed(Compression::SNAPPY).file(rows)),
        ("zstd", plain(&[1, 2, 300]).packed(Compression::ZSTD(ZstdLevel::default())).file(rows)),
        ("gzip", plain(&[64]).packed(Compression::GZIP(GzipLevel::default())).newer().file(rows)),
        ("brotli", plain(&[47]).packed(Compression::BROTLI(BrotliLevel::default())).file(rows)),
        ("lz4", plain(&[33]).packed(Compression::LZ4_RAW).newer().file(rows)),
        ("hadoop", plain(&[33]).packed(Compression::LZ4).file(rows)),
        ("lengths", plain(&[90]).encoded(Encoding::DELTA_LENGTH_BYTE_ARRAY).newer().file(rows)),
        ("prefixes", plain(&[90]).encoded(Encoding::DELTA_BYTE_ARRAY).file(rows)),
    ]
}

#[test]
fn every_kind_of_file_has_the_documents_of_the_lines() {
    let dir = Dir::new();
    let rows = rows(400);
    let columns = [("text", "id"), ("meta.text", "n"), ("tags", "id"), ("id", "meta.score")];
    let kept = ("text", "id", MissingText::Keep);
    for (text, id, missing_text) in
        columns.map(|(text, id)| (text, id, MissingText::Reject)).into_iter().chain([kept])
    {
        let fields = Arc::new(Fields { missing_text, ..(*fields(text, id)).clone() });
        let (want, _) = read(&source(&dir, "a.jsonl", lines(&rows).as_bytes()), u64::MAX, &fields);
        let number = |seen: &Seen| match seen.clone() {
            Seen::Document { row, id, text, .. } => {
                // Numbers that are not whole are no ids of columns.
                Seen::Document { row, offset: row - 1, id: id.filter(|id| !id.contains('.')), text }
            }
            refused => refused,
        };
        let want: Vec<Seen> = want.iter().map(number).collect();
        for (kind, file) in every_kind(&rows) {
            let source = source(&dir, "any.name", &file);
            for target in [u64::MAX, 3000, 1] {
                let (seen, units) = read(&source, target, &fields);
                let apart = seen.iter().zip(&want).find(|(seen, want)| seen != want);
                assert!(seen == want, "{kind}, {text}: {apart:?}, {} of {}", seen.len(), want.len());
                assert!(target != 1 || units > 3 || kind == "plain", "{kind}: {units}");
            }
            let offsets: Vec<u64> = want
                .iter()
                .filter_map(|seen| match seen {
                    Seen::Document { offset, .. } if offset % 7 < 3 => Some(*offset),
                    _ => None,
                })
                .collect();
            let mut again = Vec::new();
            reread(&source, 0, &offsets, &fields, &mut |at, text, _| {
                again.push((offsets[at], text.to_owned()));
                Ok(())
            })
            .unwrap();
            let expected = want.iter().filter_map(|seen| match seen {
                Seen::Document { offset, text, .. } if offsets.contains(offset) => {
                    Some((*offset, text.clone()))
                }
                _ => None,
            });
            assert!(again.into_iter().eq(expected), "{kind}, {text}: read again");
        }
    }
}

#[test]
fn clusters_are_those_of_the_lines_in_every_shape() {
    let dir = Dir::new();
    let rows = rows(500);
    dir.write("lines/a.jsonl", lines(&rows));
    dir.write("in/a.parquet", Made::plain(&[70, 1, 200]).packed(Compression::SNAPPY).file(&rows));
    let flags = "--threshold 0.7 --keep field:n:max";
    let want = dir.output(&format!("lines {flags} -w 1"), "want");
    let found = dir.output(&format!("in {flags} -w 2"), "found");
    assert_eq!(formless(&found.duplicates), formless(&want.duplicates));
    assert_eq!(formless(&found.clusters), formless(&want.clusters));
    assert!(found.duplicates.len() > 200);
    alike_in_all(&dir, &format!("in {flags} --pairs"), &[(1, 2), (2, 1), (3, 2)]);
    // As standard input, and where its name says something else.
    let file = fs::read(dir.join("in/a.parquet")).unwrap();
    dir.alike(&format!("dedup - {flags} --out stdin"), Some(&file)).ok();
    assert_eq!(fs::read(dir.join("stdin/kept/stdin.parquet")).unwrap(), found.kept["a.parquet"]);
    dir.write("b.jsonl", &file);
    assert_eq!(dir.output(&format!("b.jsonl {flags}"), "named").kept["b.jsonl"], found.kept["a.parquet"]);
}

#[test]
fn loads_and_questions_are_those_of_the_lines() {
    let dir = Dir::new();
    let rows: Vec<Columns> = rows(400).into_iter().filter(|row| row.text.is_some()).collect();
    dir.write("lines.jsonl", lines(&rows));
    dir.write("rows.parquet", Made::plain(&[64]).packed(Compression::SNAPPY).file(&rows));
    dir.alike("load want lines.jsonl", None).ok();
    for (name, flags) in [("one", "-w 1"), ("two", "-w 2"), ("epochs", "-w 1 --epoch 4k")] {
        dir.alike(&format!("load {name} rows.parquet {flags}"), None).ok();
        whole(&dir, name);
        let (want, found) = (LoadSeen::of(&dir, "want"), LoadSeen::of(&dir, name));
        assert_eq!(found.documents(), want.documents(), "{name}");
        let explained = |of: &str| dir.alike(&format!("explain {of} d00000 d00010 --json"), None).stdout;
        let places = |said: String| said.replace("lines.jsonl", "rows.parquet");
        assert_eq!(explained(name), places(explained("want")), "{name}");
    }
    dir.alike("load none rows.parquet --store-text", None).code(3).says("--store-text");
}

/// What a file is without some of its rows: all that is said of it, and each row group with the rows that are left.
#[track_caller]
fn is_without(file: &[u8], kept: &[u8], gone: &BTreeSet<u64>, what: &str) {
    let ((rows, before), (left, after)) = (read_back(file), read_back(kept));
    let expected: Vec<_> =
        (0..).zip(&rows).filter(|(at, _)| !gone.contains(at)).map(|(_, row)| row).collect();
    assert!(
        left.iter().eq(expected.iter().copied()),
        "{what}: other rows, {} of {}",
        left.len(),
        expected.len()
    );
    let (old, new) = (before.file_metadata(), after.file_metadata());
    assert_eq!(old.key_value_metadata(), new.key_value_metadata(), "{what}");
    assert_eq!((old.created_by(), old.version()), (new.created_by(), new.version()), "{what}");
    assert_eq!(old.schema(), new.schema(), "{what}");
    let (mut at, mut groups) = (0, after.row_groups().iter());
    for group in before.row_groups() {
        let rows = at..at + group.num_rows() as u64;
        at = rows.end;
        let lost = gone.range(rows.clone()).count() as u64;
        if lost == rows.end - rows.start {
            continue;
        }
        let now = groups.next().unwrap();
        assert_eq!(now.num_rows() as u64, rows.end - rows.start - lost, "{what}: another border");
        assert_eq!(now.sorting_columns(), group.sorting_columns(), "{what}");
        for (one, two) in group.columns().iter().zip(now.columns()) {
            let has = |chunk: &ColumnChunkMetaData| {
                let index = (chunk.column_index_range().is_some(), chunk.offset_index_range().is_some());
                (
                    chunk.compression(),
                    chunk.statistics().is_some(),
                    chunk.bloom_filter_offset().is_some(),
                    index,
                )
            };
            assert_eq!(has(one), has(two), "{what}: {}", one.column_path());
            if lost == 0 {
                let bytes = |file: &[u8], chunk: &ColumnChunkMetaData| {
                    let (start, length) = chunk.byte_range();
                    file[start as usize..(start + length) as usize].to_vec()
                };
                assert!(bytes(file, one) == bytes(kept, two), "{what}: {} is not copied", one.column_path());
                assert_eq!(one.statistics(), two.statistics());
                assert!(one.page_encoding_stats().is_some(), "{what}");
                assert_eq!(one.page_encoding_stats(), two.page_encoding_stats());
            }
        }
    }
    assert!(groups.next().is_none(), "{what}: more row groups");
}

#[test]
fn what_is_kept_has_all_that_its_file_has() {
    let dir = Dir::new();
    // Families only at the beginning, so that there are row groups that lose nothing, and some that lose all.
    let mut rows = rows(300);
    for (at, row) in rows.iter_mut().enumerate().skip(150) {
        row.text = Some(words(100_000 + at * 100, 50));
    }
    for row in &mut rows[40..60] {
        row.text = Some(words(0, 61));
    }
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.parquet"), &file);
        let line = format!("in{at} --threshold 0.7 --write-removed -w {}", 1 + at % 2);
        let found = dir.output(&line, &format!("out{at}"));
        let gone = gone(&found);
        assert!(gone.len() > 80 && gone.len() < 150, "{kind}: {}", gone.len());
        is_without(&file, &found.kept["a.parquet"], &gone, kind);
        let stays = (0..300).filter(|row| !gone.contains(row)).collect();
        is_without(&file, &found.removed["a.parquet"], &stays, kind);
        let reader = source(&dir, "kept.parquet", &found.kept["a.parquet"]);
        assert_eq!(read(&reader, u64::MAX, &fields("text", "id")).0.len(), 300 - gone.len());
    }
    // A file that loses nothing, and one that loses all.
    let file = Made::plain(&[20]).file(&rows[150..]);
    dir.write("all/a.parquet", &file);
    dir.write("all/b.parquet", &file);
    let found = dir.output("all -w 2", "all-out");
    assert!(found.kept["a.parquet"] == file);
    let (left, metadata) = read_back(&found.kept["b.parquet"]);
    assert_eq!((left.len(), metadata.num_row_groups()), (0, 0));
    is_without(&file, &found.kept["b.parquet"], &(0..150).collect(), "all");
    // No row at all.
    dir.write("none/a.parquet", Made::plain(&[5]).file(&[]));
    assert_eq!(dir.output("none", "none-out").summary["documents"], 0);
    dir.write("wrong/a.parquet", &file);
    dir.dedup("wrong --text-field body --out wrong-out")
        .code(3)
        .says("the columns are: id, text, n, tags, meta");
}

#[test]
fn a_row_group_is_written_alike_by_any_number_of_workers() {
    let dir = Dir::new();
    let mut rows = rows(900);
    for (at, row) in rows.iter_mut().enumerate() {
        // So much that one thread decodes while another encodes.
        row.text = Some(words(if at % 9 < 2 { 7 } else { at * 1000 }, 400));
    }
    for packed in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
        let file = Made::plain(&[900]).packed(packed).file(&rows);
        dir.write("one.parquet", &file);
        let [want, found] =
            [1, 3].map(|workers| dir.output(&format!("one.parquet -w {workers}"), &format!("out{workers}")));
        let gone = gone(&want);
        assert!(gone.len() == 199 && file.len() > 1 << 20, "{} of {}", gone.len(), file.len());
        assert!(want.kept["one.parquet"] == found.kept["one.parquet"], "{packed:?}");
        is_without(&file, &found.kept["one.parquet"], &gone, "one row group");
        ["out1", "out3"].iter().for_each(|out| fs::remove_dir_all(dir.join(out)).unwrap());
    }
}

/// Rows of each page of a column that is no list.
fn pages(file: &[u8], leaf: usize) -> Vec<u64> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).unwrap();
    let mut pages = reader.get_row_group(0).unwrap().get_column_page_reader(leaf).unwrap();
    let mut rows = Vec::new();
    while let Some(page) = pages.get_next_page().unwrap() {
        if !matches!(page, Page::DictionaryPage { .. }) {
            rows.push(u64::from(page.num_values()));
        }
    }
    rows
}

#[test]
fn pages_end_where_they_did() {
    let dir = Dir::new();
    let mut rows = rows(500);
    for (at, row) in rows.iter_mut().enumerate() {
        // One copy, a page or more of them, and most of a page.
        let same = [100, 101, 250].contains(&at) || (200..222).contains(&at) || at % 50 == 17;
        row.text = Some(words(if same { 7 } else { at * 1000 }, 60));
    }
    let file = Made::plain(&[500]).encoded(Encoding::PLAIN).file(&rows);
    dir.write("a.parquet", &file);
    let found = dir.output("a.parquet", "out");
    let (gone, kept) = (gone(&found), &found.kept["a.parquet"]);
    assert!(gone.len() > 30);
    is_without(&file, kept, &gone, "pages");
    for leaf in 0..2 {
        let (before, mut at) = (pages(&file, leaf), 0);
        let left = before.iter().map(|rows| {
            let page = at..at + rows;
            at = page.end;
            rows - gone.range(page).count() as u64
        });
        let left: Vec<u64> = left.filter(|rows| *rows > 0).collect();
        assert!(left.len() > 20 && left.len() < before.len(), "{} of {}", left.len(), before.len());
        assert_eq!(pages(kept, leaf), left, "column {leaf}");
    }
}

#[test]
fn rows_become_lines_with_all_columns() {
    let dir = Dir::new();
    let rows = rows(200);
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.parquet"), &file);
        let line = format!("in{at} --threshold 0.7 --to jsonl --write-removed -w {}", 1 + at % 2);
        let output = dir.output(&line, &format!("out{at}"));
        let gone = gone(&output);
        let refused: BTreeSet<u64> =
            output.rejected.iter().map(|row| row["line"].as_u64().unwrap() - 1).collect();
        for (half, removed) in [(&output.kept, false), (&output.removed, true)] {
            let found = jsonl(&half["a.jsonl"]);
            let chosen = (0..).zip(&rows).filter(|(at, _)| gone.contains(at) == removed);
            // Of what was refused there is no line in a file of lines, as of any other form.
            let chosen: Vec<Value> = chosen
                .filter(|(at, _)| removed || !refused.contains(at))
                .map(|(_, row)| object(row))
                .collect();
            assert_eq!(found, chosen, "{kind}");
        }
        dir.dedup(&format!("in{at} --to ids --out ids{at}")).ok();
        let same = dir.output(&format!("in{at} --threshold 0.7 --to parquet"), &format!("same{at}"));
        let own = dir.output(&format!("in{at} --threshold 0.7"), &format!("own{at}"));
        assert!(same.kept == own.kept, "{kind}");
    }
}

/// What a file says of itself is not read if that takes more than half of the memory: the file is refused, with how much would do.
#[test]
fn a_footer_that_does_not_fit_in_the_memory_costs_its_file() {
    let dir = Dir::new();
    dir.write("in/a.parquet", Made::plain(&[1]).file(&rows(8000)));
    dir.write("in/b.jsonl", "{\"text\": \"a\"}\n");
    dir.alike("dedup in/a.parquet --dry-run --memory 64M", None).code(3).says("MiB with --memory");
    let found = dir.output("in --memory 64M --max-rejected 50%", "out");
    let reason = found.rejected[0]["reason"].as_str().unwrap();
    assert!(found.rejected.len() == 1 && reason.contains("to know where its rows stand takes"), "{reason}");
    assert_eq!(found.summary["documents"], 1);
    dir.alike("dedup in/a.parquet --dry-run --memory 512M", None).ok();
}

/// One text that is none costs its row, not the run.
#[test]
fn texts_that_are_not_utf8_are_spelt_by_their_bytes_in_lines() {
    let dir = Dir::new();
    let mut rows = rows(30);
    for (at, row) in rows.iter_mut().enumerate() {
        row.text = Some(words(at * 100, 50));
    }
    rows[7].text = Some("QQQQ".to_owned());
    let mut file = Made::plain(&[10]).file(&rows);
    // Statistics may have it, too.
    let places: Vec<usize> = (0..file.len() - 4).filter(|at| &file[*at..at + 4] == b"QQQQ").collect();
    places.iter().for_each(|at| file[*at] = 0xff);
    dir.write("in/a.parquet", &file);
    let found = dir.output("in --max-rejected 100% --to jsonl --write-removed", "out");
    assert_eq!(found.rejected.len(), 1, "{:?}", found.rejected);
    let mut objects: Vec<Value> = rows.iter().map(object).collect();
    let mut refused = objects.remove(7);
    refused["text"] = "ff515151".into();
    refused["meta"]["text"] = "ff515151".into();
    assert_eq!(jsonl(&found.kept["a.jsonl"]), objects);
    assert_eq!(jsonl(&found.removed["a.jsonl"]), [refused]);
}

/// Where something else than the resemblance decides, there is a column of it, whether the columns are added to a file of
/// Parquet or the file is made of records.
#[test]
fn annotated_columns_have_the_number_that_decided() {
    let dir = Dir::new();
    let record = |id: &str, text: &str| format!("{}\n", serde_json::json!({"id": id, "text": text}));
    let (quote, book) = (words(10, 30), words(0, 60));
    dir.write("in.jsonl", record("b", &book) + &record("q", &quote) + &record("x", "nothing of the kind"));
    dir.dedup("in.jsonl --method exact --to parquet --out rows").ok();
    for (flags, column, is_share) in [
        ("--measure containment --threshold 0.9", "alike_containment", true),
        ("--threshold 0.01 --ngram 1 --verify=edits", "alike_edit_similarity", true),
        ("--method simhash --config near.toml", "alike_hamming_distance", false),
        ("--method minhash --ngram 1", "alike_shared_features", false),
    ] {
        dir.write("near.toml", "[text]\nngram = 1\n[simhash]\ndistance = 7\n");
        let list = dir.output(&format!("in.jsonl {flags} --assignments"), "list");
        let assigned = jsonl(&fs::read(dir.join("list/assignments.jsonl")).unwrap());
        for (at, input) in ["in.jsonl --to parquet", "rows/kept/in.parquet"].into_iter().enumerate() {
            dir.dedup(&format!("{input} {flags} --annotate --out annotated")).ok();
            let (rows, _) = read_back(&fs::read(dir.join("annotated/annotated/in.parquet")).unwrap());
            for (row, said) in rows.iter().zip(&assigned) {
                let (name, value) = row.get_column_iter().last().unwrap();
                assert_eq!(name, column, "{flags}, {at}");
                let said = said[&column["alike_".len()..]].as_f64();
                let value = value.to_string().parse::<f64>().ok();
                assert_eq!(value.is_some(), said.is_some(), "{flags}, {at}: {row}");
                assert!(said.zip(value).is_none_or(|(a, b)| (a - b).abs() < 1e-12), "{flags}, {at}: {row}");
                assert!(said.is_none_or(|said| is_share == (said < 1.0) || said <= 1.0), "{flags}: {said:?}");
            }
            let names: Vec<&str> = rows[0].get_column_iter().map(|(name, _)| name.as_str()).collect();
            assert!(names.contains(&"alike_resemblance") && rows.len() == 3, "{names:?}");
            fs::remove_dir_all(dir.join("annotated")).unwrap();
        }
        assert!(list.summary["documents"] == 3, "{flags}");
        fs::remove_dir_all(dir.join("list")).unwrap();
    }
}

#[test]
fn annotated_rows_name_the_protected_set() {
    let dir = Dir::new();
    dir.write("old.jsonl", line("o", &words(0, 60)));
    dir.write("in.jsonl", line("a", &words(500, 60)) + &line("b", &words(0, 60)));
    dir.dedup("in.jsonl --method exact --to parquet --out rows").ok();
    for (at, input) in ["in.jsonl --to parquet", "rows/kept/in.parquet"].into_iter().enumerate() {
        dir.dedup(&format!("{input} --against previous=old.jsonl --annotate --out o{at}")).ok();
        let (rows, _) = read_back(&fs::read(dir.join(&format!("o{at}/annotated/in.parquet"))).unwrap());
        let cells = rows.iter().map(|row| row.get_column_iter().last().unwrap());
        let cells: Vec<(String, String)> =
            cells.map(|(name, cell)| (name.clone(), cell.to_string())).collect();
        assert_eq!(cells, ["null", "\"previous\""].map(|cell| ("alike_against".to_owned(), cell.to_owned())));
    }
}

#[test]
fn annotated_files_have_all_that_they_had_and_columns_more() {
    let dir = Dir::new();
    let rows = rows(200);
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.parquet"), &file);
        let flags = format!("in{at} --threshold 0.7 --keep-per-cluster 2 -w {}", 1 + at % 2);
        let output = dir.output(&format!("{flags} --assignments"), &format!("out{at}"));
        dir.dedup(&format!("{flags} --annotate --out annotated{at}")).ok();
        let annotated = fs::read(dir.join(&format!("annotated{at}/annotated/a.parquet"))).unwrap();
        let ((before, was), (after, is)) = (read_back(&file), read_back(&annotated));
        assert_eq!(was.num_row_groups(), is.num_row_groups(), "{kind}");
        assert_eq!(was.file_metadata().key_value_metadata().unwrap().len(), 2);
        let said = is.file_metadata().key_value_metadata().unwrap();
        assert!(said.len() == 1 && said[0].key == "nothing", "what was said of other columns goes: {said:?}");
        let assigned = jsonl(&fs::read(dir.join(&format!("out{at}/assignments.jsonl"))).unwrap());
        let mut assigned = assigned.iter().peekable();
        for (number, (before, after)) in (1u64..).zip(before.iter().zip(&after)) {
            let mut columns = after.get_column_iter();
            assert!(before.get_column_iter().eq(columns.by_ref().take(before.len())), "{kind}: row {number}");
            let found: Vec<String> = columns.map(|(_, field)| field.to_string()).collect();
            let Some(row) = assigned.next_if(|row| row["line"] == number) else {
                assert_eq!(found, ["null", "null", "false", "\"rejected\"", "null", "null", "null", "null"]);
                continue;
            };
            let keys = ["cluster", "size", "kept", "reason", "representative"];
            assert_eq!(found[..5], keys.map(|key| row[key].to_string()), "{kind}: row {number}");
            // Reading JSON may change the last digit.
            let (share, said) = (row["resemblance"].as_f64(), found[7].parse::<f64>().ok());
            assert!(share.zip(said).is_none_or(|(a, b)| (a - b).abs() < 1e-12), "{kind}: row {number}");
            assert_eq!(share.is_some(), said.is_some(), "{kind}: row {number}");
        }
        assert!(assigned.next().is_none() && !output.duplicates.is_empty());
    }
    // A second time the columns are there already.
    fs::create_dir(dir.join("again")).unwrap();
    fs::copy(dir.join("annotated0/annotated/a.parquet"), dir.join("again/a.parquet")).unwrap();
    dir.dedup("again --annotate --out no").code(3).says("it has a column alike_cluster already");
    alike_in_all(&dir, "in1 in2 --threshold 0.7 --annotate", &[(1, 3), (2, 2)]);
}

#[test]
fn a_summary_of_other_files_is_no_input() {
    let dir = Dir::new();
    let rows = rows(60);
    let file = Made::plain(&[20]).file(&rows);
    let (_, metadata) = read_back(&file);
    let elsewhere = |group: &RowGroupMetaData| {
        let chunks = group
            .columns()
            .iter()
            .map(|chunk| chunk.clone().into_builder().set_file_path("a.parquet".to_owned()).build().unwrap());
        group.clone().into_builder().set_column_metadata(chunks.collect()).build().unwrap()
    };
    let groups = metadata.row_groups().iter().map(elsewhere).collect();
    let summary = ParquetMetaData::new(metadata.file_metadata().clone(), groups);
    let mut bytes = b"PAR1".to_vec();
    let place = TrackedWrite::new(&mut bytes);
    ParquetMetaDataWriter::new_with_tracked(place, &summary).finish().unwrap();
    dir.write("set/a.parquet", &file);
    let want = dir.output("set", "alone");
    dir.write("set/_metadata", &bytes);
    let found = dir.output("set", "both");
    assert!(found.kept == want.kept && found.kept.len() == 1);
    assert_eq!(found.summary["documents"], want.summary["documents"]);
    dir.dedup("set/_metadata --dry-run")
        .code(3)
        .says("a summary of other files of Parquet")
        .says("name these");
}

/// A footer names encodings of which its pages need have none: whatever it says, rows are read and written again.
#[test]
fn a_footer_may_name_any_encoding() {
    let dir = Dir::new();
    let mut rows = rows(60);
    rows.extend(rows.clone());
    let file = Made::plain(&[20]).file(&rows);
    let (_, metadata) = read_back(&file);
    dir.write("plain/a.parquet", &file);
    let want = dir.output("plain", "want");
    assert!(!want.duplicates.is_empty());
    let footer = u32::from_le_bytes(file[file.len() - 8..][..4].try_into().unwrap()) as usize;
    for encoding in [
        Encoding::DELTA_BINARY_PACKED,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::BYTE_STREAM_SPLIT,
        Encoding::RLE,
    ] {
        let named = |group: &RowGroupMetaData| {
            let chunks = group.columns().iter().map(|chunk| {
                let encodings = vec![Encoding::PLAIN, encoding];
                chunk.clone().into_builder().set_encodings(encodings).build().unwrap()
            });
            group.clone().into_builder().set_column_metadata(chunks.collect()).build().unwrap()
        };
        let groups = metadata.row_groups().iter().map(named).collect();
        let named = ParquetMetaData::new(metadata.file_metadata().clone(), groups);
        let mut bytes = file[..file.len() - 8 - footer].to_vec();
        ParquetMetaDataWriter::new_with_tracked(TrackedWrite::new(&mut bytes), &named).finish().unwrap();
        let folder = format!("{encoding}");
        dir.write(&format!("{folder}/a.parquet"), &bytes);
        let found = dir.output(&folder, &format!("out-{folder}"));
        assert_eq!(formless(&found.duplicates), formless(&want.duplicates), "{encoding}");
        let kept = |found: &Output| read_back(&found.kept["a.parquet"]).0;
        assert!(kept(&found) == kept(&want), "{encoding}");
    }
}

/// The files in a folder of an output, in order.
fn files(dir: &Dir, folder: &str) -> Vec<(String, Vec<u8>)> {
    let names = fs::read_dir(dir.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    names
        .into_iter()
        .map(|name| (name.clone(), fs::read(dir.join(&format!("{folder}/{name}"))).unwrap()))
        .collect()
}

/// Process 0 waits for the others, and they for its word: who cannot write its part must end the job.
#[cfg(unix)]
#[test]
fn a_process_that_cannot_write_its_part_ends_the_job() {
    let dir = Dir::new();
    for file in 0..40 {
        let row = |at: usize| {
            // The last row is the first one again, so that a part of each file is written.
            let text = words((file * 100 + at % 99) * 1000, 120);
            Columns { id: format!("{file}-{at}"), text: Some(text), ..Columns::default() }
        };
        let rows: Vec<Columns> = (0..100).map(row).collect();
        dir.write(&format!("in/{file}.parquet"), every_kind(&rows).remove(0).1);
    }
    let line = "dedup in --method exact --out out -w 1";
    let limited = format!("ulimit -f 64; exec {} {line}", env!("CARGO_BIN_EXE_alike"));
    let run = |_| {
        let ended = at_free_ports(2, |hosts, index| {
            let plain = command(&dir, hosts, index, line);
            if index == 0 {
                return Process::start(plain, line);
            }
            let variables = plain.get_envs().filter_map(|(name, value)| Some((name, value?)));
            let mut shell = Command::new("sh");
            shell.args(["-c", &limited]).envs(variables).current_dir(dir.path());
            Process::start(shell, &limited)
        });
        // Where process 0 is so fast that the other one has nothing to do, nothing is wrong.
        let has_failed = ended[1].code != Some(0);
        assert_eq!(ended[0].code, ended[1].code, "{ended:?}");
        assert!(
            !has_failed || ended[1].code == Some(1) && ended[0].stderr.contains("too large"),
            "{ended:?}"
        );
        assert_ne!(dir.join("out").exists(), has_failed);
        let _ = fs::remove_dir_all(dir.join("out"));
        has_failed
    };
    assert!((0..9).any(run), "process 1 never had a part to write");
}

#[test]
fn parts_have_the_rows_of_the_whole() {
    let dir = Dir::new();
    let rows = rows(300);
    let mut divided = 0;
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.parquet"), &file);
        for (flags, folders) in [
            ("--write-removed", &["kept", "removed"][..]),
            ("--annotate", &["annotated"]),
            ("--to parquet", &["kept"]),
        ] {
            let line = format!("in{at} --threshold 0.7 {flags} -w {}", 1 + at % 2);
            dir.dedup(&format!("{line} --out whole")).ok();
            dir.dedup(&format!("{line} --shard-size 1k --out parts")).ok();
            for folder in folders {
                let whole = files(&dir, &format!("whole/{folder}"));
                let parts = files(&dir, &format!("parts/{folder}"));
                let names: Vec<String> = (1..=parts.len()).map(|at| format!("a-{at:05}.parquet")).collect();
                assert!(parts.iter().map(|(name, _)| name).eq(&names), "{kind} {flags}: {names:?}");
                divided += usize::from(parts.len() > 1);
                let (want, said) = read_back(&whole[0].1);
                let parts: Vec<_> = parts.iter().map(|(_, part)| (part.len(), read_back(part))).collect();
                for (_, (_, of)) in &parts {
                    assert_eq!(of.file_metadata().schema(), said.file_metadata().schema(), "{kind} {flags}");
                    let pairs = [of, &said].map(|of| of.file_metadata().key_value_metadata());
                    assert_eq!(pairs[0], pairs[1], "{kind} {flags}");
                    let bytes: i64 =
                        of.row_groups().iter().rev().skip(1).map(RowGroupMetaData::compressed_size).sum();
                    assert!(bytes < 1024, "{kind} {flags}: it was full before its last row group");
                }
                let found = parts.into_iter().flat_map(|(_, (rows, _))| rows);
                assert!(found.eq(want), "{kind} {flags}: other rows");
            }
            ["whole", "parts"].iter().for_each(|out| fs::remove_dir_all(dir.join(out)).unwrap());
        }
    }
    // Where rows are short, most of a file is what it says of itself.
    assert!(divided > 25, "{divided} of 36 were divided");
    // A file of which nothing is left is one part without rows.
    let file = Made::plain(&[20]).file(&rows[..20]);
    dir.write("all/a.parquet", &file);
    dir.write("all/b.parquet", &file);
    let found = dir.output("all --shard-size 1M", "all-out");
    assert_eq!(read_back(&found.kept["b-00001.parquet"]).0.len(), 0);
    alike_in_all(&dir, "in1 in2 --threshold 0.7 --shard-size 1k --write-removed", &[(1, 3), (2, 2)]);
}

/// The texts of the pages of a file, decompressed.
fn pages_of_texts(file: &[u8]) -> Vec<Vec<u8>> {
    let reader = SerializedFileReader::new(Bytes::copy_from_slice(file)).unwrap();
    let mut found = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).unwrap();
        found.extend(group.get_column_page_reader(1).unwrap().map(|page| page.unwrap().buffer().to_vec()));
    }
    found
}

/// A store that keeps equal stretches once has most pages of today's file from yesterday, whatever came or went. A part is not much
/// larger than asked for.
#[test]
fn pages_of_rows_end_where_rows_say_so() {
    let (dir, mut random) = (Dir::new(), Random(11));
    let mut text = || (0..120).map(|_| format!("{:x} ", random.below(1 << 60))).collect::<String>();
    let records: Vec<String> = (0..9_000).map(|at| line(&format!("d{at}"), &text())).collect();
    dir.write("a.jsonl", records.concat());
    let fewer = [&records[1..4_000], &records[4_003..]].concat();
    dir.write("b.jsonl", format!("{}{}", line("new", &text()), fewer.concat()));
    dir.dedup("b.jsonl --method exact --to parquet --out other").ok();
    dir.dedup("a.jsonl --method exact --to parquet --out one").ok();
    let [one, other] =
        ["one/kept/a.parquet", "other/kept/b.parquet"].map(|name| fs::read(dir.join(name)).unwrap());
    let known: BTreeSet<Vec<u8>> = pages_of_texts(&one).into_iter().collect();
    let pages = pages_of_texts(&other);
    let bytes = |pages: &mut dyn Iterator<Item = &Vec<u8>>| pages.map(Vec::len).sum::<usize>();
    let (same, all) =
        (bytes(&mut pages.iter().filter(|page| known.contains(*page))), bytes(&mut pages.iter()));
    assert!(same * 2 > all && same < all, "{same} of {all}");
    assert!(pages.iter().all(|page| page.len() < 2 << 20), "a page is no longer than its rows may be");

    let parts = dir.output("a.jsonl --method exact --to parquet --shard-size 2M", "parts").kept;
    assert!(parts.len() > 4, "{}", parts.len());
    let (_, last) = parts.last_key_value().unwrap();
    for part in parts.values().filter(|part| *part != last) {
        assert!((2 << 20..4 << 20).contains(&part.len()), "{}", part.len());
    }
    let rows = |file: &Vec<u8>| read_back(file).0;
    assert!(parts.values().flat_map(rows).eq(rows(&one)));
}

#[test]
fn a_collection_is_written_as_it_was_loaded() {
    let dir = Dir::new();
    let rows: Vec<Columns> = rows(300).into_iter().filter(|row| row.text.is_some()).collect();
    let file = Made::plain(&[40]).packed(Compression::SNAPPY).file(&rows);
    dir.write("in/a.parquet", &file);
    dir.alike("load c in", None).ok();
    let expected = dir.output("in --clustering guarantee", "dedup");
    dir.alike("export c --clustering guarantee --out export", None).ok();
    let found = Output::read(&dir.join("export"));
    assert!(expected.kept == found.kept && expected.duplicates == found.duplicates);
    is_without(&file, &found.kept["a.parquet"], &gone(&found), "export");
}

/// What is wrong with a file costs what is wrong with it, whatever it is.
fn survives(dir: &Dir, file: &[u8], what: &str) -> (usize, usize) {
    dir.write("bad.parquet", file);
    let name = dir.join("bad.parquet").to_str().unwrap().to_owned();
    let Ok(mut found) = discover(&[name], dir.path()) else { return (0, 1) };
    let source = found.sources.remove(0);
    let fields = fields("text", "id");
    let (seen, _) = read(&source, 1, &fields);
    let (again, _) = read(&source, u64::MAX, &fields);
    assert_eq!(seen, again, "{what}: other rows in other units");
    assert_eq!(seen, read_in_turn(&source, 1, &fields, 2), "{what}: other rows in units of a worker");
    let gone = vec![(0..rows_of(&source).unwrap().unwrap()).step_by(3).collect()];
    let folder = tempfile::tempdir_in(dir.path()).unwrap();
    let hands = Hands { workers: 2, peers: None };
    let chosen = Chosen { side: Side::Kept, removed: &gone, ends: &[None] };
    match write_kept(
        folder.path(),
        std::slice::from_ref(&source),
        chosen,
        (hands, &RecordRoom::default()),
        &Progress::default(),
    ) {
        Ok(written) => assert_eq!(written.files, 1),
        Err(error) => written_in_another_run(&source, &fields, error, what),
    }
    let documents = seen.iter().filter(|seen| matches!(seen, Seen::Document { .. })).count();
    (documents, seen.len() - documents)
}

#[test]
fn files_that_are_cut_off_are_refused() {
    let dir = Dir::new();
    let rows = rows(60);
    for (kind, file) in every_kind(&rows) {
        for cut in (0..file.len()).step_by(97) {
            dir.write("cut.parquet", &file[..cut]);
            let name = dir.join("cut.parquet").to_str().unwrap().to_owned();
            let found = discover(&[name], dir.path());
            let known = cut >= 8;
            assert!(found.is_err() || !known, "{kind}, {cut} of {}", file.len());
        }
    }
    let file = Made::plain(&[20]).file(&rows);
    dir.write("in/cut.parquet", &file[..file.len() / 2]);
    dir.write("in/good.parquet", &file);
    let found = dir.output("in", "out");
    assert!(found.rejected[0]["reason"].as_str().unwrap().contains("cut off"), "{:?}", found.rejected);
    assert_eq!(found.kept.len(), 1);
    dir.dedup("in/cut.parquet --out none").code(3).says("cut off");
    dir.write("packed.parquet.gz", gzip(&file, 100_000));
    dir.dedup("packed.parquet.gz --out none").code(3).says("decompress it");
}

/// It is read as a copy of its own, which is gone when the message is.
#[test]
fn a_file_in_an_archive_is_named_there() {
    let dir = Dir::new();
    let mut file = Made::plain(&[60]).packed(Compression::SNAPPY).file(&rows(60));
    let (_, metadata) = read_back(&file);
    let numbers = |chunk: &&ColumnChunkMetaData| chunk.column_path().string() == "n";
    let (start, length) = metadata.row_group(0).columns().iter().find(numbers).unwrap().byte_range();
    // Nobody needs these values before what is kept is written.
    file[start as usize + 40..(start + length) as usize].fill(0xff);
    dir.write("a.tar", archive(&[member(Dialect::Pax, "data/a.parquet", &file)]));
    dir.write("b.jsonl", lines(&rows(60)));
    let said = "a.tar/data/a.parquet: cannot be written";
    let ran = dir
        .dedup("a.tar b.jsonl --max-rejected 60% --out out")
        .ok()
        .says(said)
        .says("a.tar/data/a.parquet, row 1: 60 rows");
    assert!(!ran.stderr.contains("partial"), "{}", ran.stderr);
}

#[test]
fn flipped_bits_cost_rows_and_nothing_else() {
    let dir = Dir::new();
    let rows = rows(60);
    let mut random = Random(7);
    let (mut documents, mut refused) = (0, 0);
    for (kind, file) in every_kind(&rows) {
        for _ in 0..80 {
            let mut file = file.clone();
            // Half of them in the last part, where the file says what it is.
            let (from, length) =
                if random.below(2) == 0 { (0, file.len()) } else { (file.len() / 2, file.len() / 2) };
            let (at, bit) = (from + random.below(length), random.below(8));
            file[at] ^= 1 << bit;
            let (read, lost) = survives(&dir, &file, &format!("{kind}, bit {bit} of byte {at}"));
            documents += read;
            refused += lost;
        }
    }
    assert!(documents > 10_000 && refused > 100, "{documents} {refused}");
}

/// Levels of a list are few bytes, and what is gathered of its values before they are joined is many.
#[test]
fn rows_of_too_many_values_are_refused() {
    let dir = Dir::new();
    let tags = |count: usize| Some(vec![Some("x".to_owned()); count]);
    let row = |at: usize, count| Columns { id: format!("d{at}"), tags: tags(count), ..Columns::default() };
    let rows = [row(0, 10), row(1, 30_000), row(2, 15_000), row(3, 0), row(4, 40_000)];
    for (at, made) in
        [Made::plain(&[1]), Made::plain(&[1]).newer(), Made::plain(&[1]).packed(Compression::SNAPPY)]
            .into_iter()
            .enumerate()
    {
        dir.write("a.parquet", made.file(&rows));
        let line = "a.parquet --text-field tags --method exact --max-record-bytes 1M --max-rejected 50%";
        let found = dir.output(line, &format!("out{at}"));
        let refused: Vec<(u64, &str)> = found
            .rejected
            .iter()
            .map(|row| (row["line"].as_u64().unwrap(), row["reason"].as_str().unwrap()))
            .collect();
        assert_eq!(refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 5]);
        assert!(refused[0].1.contains("a row of 30000 values"), "{refused:?}");
        assert_eq!(read_back(&found.kept["a.parquet"]).0.len(), 3);
    }
}
