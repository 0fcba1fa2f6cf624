//! Arrow: the same documents as from lines, files and streams with the rows that are kept, and what damage costs.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use alike::error::Error;
use alike::output::{
    Chosen, FormChoice, FormPlan, Hands, RecordForm, RecordSet, Side, refuse_undecodable, write_kept,
    write_records,
};
use alike::progress::Progress;
use alike::read::{
    Compression, Fields, MissingText, RecordRoom, Source, discover, reread, row_objects, rows as rows_of,
};
use serde_json::Value;

use crate::support::batches::{Batches, Laid, Packed, every_kind};
use crate::support::columns::{Columns, read_back};
use crate::support::loads::{Seen as LoadSeen, whole};
use crate::support::output::jsonl;
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::rows::{
    Seen, fields, formless, gone, lines, object, read, rows, source, written_in_another_run,
};
use crate::support::texts::{Random, gzip, words};

#[test]
fn every_kind_has_the_documents_of_the_lines() {
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
                assert!(target != 1 || units > 3 || kind.starts_with("file of Strings"), "{kind}: {units}");
            }
            again(&source, &fields, &want, &kind);
        }
    }
}

/// Documents are the same when they are read again, all of them and some.
#[track_caller]
fn again(source: &Source, fields: &Fields, seen: &[Seen], what: &str) {
    for (every, of) in [(7, 3), (1, 1), (50, 1)] {
        let is_wanted = |offset: u64| offset % every < of;
        let wanted = seen.iter().filter_map(|seen| match seen {
            Seen::Document { offset, text, .. } if is_wanted(*offset) => Some((*offset, text.clone())),
            _ => None,
        });
        let wanted: Vec<(u64, String)> = wanted.collect();
        let offsets: Vec<u64> = wanted.iter().map(|(offset, _)| *offset).collect();
        let mut again = Vec::new();
        let mut each = |at: usize, text: &str, _| {
            again.push((offsets[at], text.to_owned()));
            Ok(())
        };
        reread(source, 0, &offsets, fields, &mut each).unwrap();
        assert!(again == wanted, "{what}: read again");
    }
}

#[test]
fn clusters_are_those_of_the_lines_in_every_shape() {
    let dir = Dir::new();
    let rows = rows(500);
    dir.write("lines/a.jsonl", lines(&rows));
    dir.write("in/a.arrow", Batches::plain(true, &[70, 1, 200]).file(&rows));
    let flags = "--threshold 0.7 --keep field:n:max";
    let want = dir.output(&format!("lines {flags} -w 1"), "want");
    let found = dir.output(&format!("in {flags} -w 2"), "found");
    assert_eq!(formless(&found.duplicates), formless(&want.duplicates));
    assert_eq!(formless(&found.clusters), formless(&want.clusters));
    assert!(found.duplicates.len() > 200);
    alike_in_all(&dir, &format!("in {flags} --pairs"), &[(1, 2), (2, 1), (3, 2)]);
    // As standard input, and where its name says something else.
    let stream = fs::read(dir.join("in/a.arrow")).unwrap();
    dir.alike(&format!("dedup - {flags} --out stdin"), Some(&stream)).ok();
    assert_eq!(fs::read(dir.join("stdin/kept/stdin.arrow")).unwrap(), found.kept["a.arrow"]);
    dir.write("b.jsonl", &stream);
    let named = dir.output(&format!("b.jsonl --input-format arrow {flags}"), "named");
    assert_eq!(named.kept["b.jsonl"], found.kept["a.arrow"]);
}

#[test]
fn loads_and_questions_are_those_of_the_lines() {
    let dir = Dir::new();
    let rows: Vec<Columns> = rows(400).into_iter().filter(|row| row.text.is_some()).collect();
    dir.write("lines.jsonl", lines(&rows));
    let kind = Batches { packed: Packed::Zstd, laid: Laid::Growing, ..Batches::plain(false, &[64]) };
    dir.write("rows.arrow", kind.file(&rows));
    dir.alike("load want lines.jsonl", None).ok();
    for (name, flags) in [("one", "-w 1"), ("two", "-w 2"), ("epochs", "-w 1 --epoch 4k")] {
        dir.alike(&format!("load {name} rows.arrow {flags}"), None).ok();
        whole(&dir, name);
        let (want, found) = (LoadSeen::of(&dir, "want"), LoadSeen::of(&dir, name));
        assert_eq!(found.documents(), want.documents(), "{name}");
        let explained = |of: &str| dir.alike(&format!("explain {of} d00000 d00010 --json"), None).stdout;
        let places = |said: String| said.replace("lines.jsonl", "rows.arrow");
        assert_eq!(explained(name), places(explained("want")), "{name}");
    }
    dir.alike("load none rows.arrow --store-text", None).code(3).says("--store-text");
    let expected = dir.output("rows.arrow", "expected");
    dir.alike("export one --out export", None).ok();
    assert!(expected.kept["rows.arrow"] == fs::read(dir.join("export/kept/rows.arrow")).unwrap());
}

/// All rows of a file as objects.
fn objects(source: &Source) -> Vec<Value> {
    let mut found = Vec::new();
    let mut each = |_, object: &[u8]| {
        found.push(serde_json::from_slice(object).unwrap());
        Ok(())
    };
    row_objects(source, &RecordRoom::default(), &mut each).unwrap();
    found
}

#[test]
fn what_is_kept_has_all_that_its_file_has() {
    let dir = Dir::new();
    // Families only at the beginning, so that there are batches that lose nothing, and some that lose all.
    let mut rows = rows(300);
    for (at, row) in rows.iter_mut().enumerate().skip(150) {
        row.text = Some(words(100_000 + at * 100, 50));
    }
    for row in &mut rows[40..60] {
        row.text = Some(words(0, 61));
    }
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.arrow"), &file);
        assert_eq!(objects(&source(&dir, "all.arrow", &file)), rows.iter().map(object).collect::<Vec<_>>());
        let line = format!("in{at} --threshold 0.7 --write-removed -w {}", 1 + at % 3);
        let found = dir.output(&line, &format!("out{at}"));
        let gone = gone(&found);
        assert!(gone.len() > 80 && gone.len() < 150, "{kind}: {}", gone.len());
        for (made, removed) in [(&found.kept["a.arrow"], false), (&found.removed["a.arrow"], true)] {
            let chosen = (0..).zip(&rows).filter(|(at, _)| gone.contains(at) == removed);
            let chosen: Vec<Value> = chosen.map(|(_, row)| object(row)).collect();
            assert_eq!(objects(&source(&dir, "made.arrow", made)), chosen, "{kind}");
            // Schema and metadata are not written anew.
            let first = 8 + u32::from_le_bytes(file[4..8].try_into().unwrap_or_default()) as usize;
            let begin = if file.starts_with(b"ARROW1") { 200 } else { first };
            assert!(made[..begin] == file[..begin], "{kind}: another beginning");
        }
        // What was written can be written again.
        dir.write(&format!("again{at}/a.arrow"), &found.kept["a.arrow"]);
        let again = dir.output(&format!("again{at} --threshold 0.7"), &format!("again-out{at}"));
        assert!(again.kept["a.arrow"] == found.kept["a.arrow"], "{kind}: lost more");
    }
}

#[test]
fn files_that_lose_nothing_or_all_stay() {
    let dir = Dir::new();
    let mut rows = rows(150);
    for (at, row) in rows.iter_mut().enumerate() {
        row.text = Some(words(100_000 + at * 100, 50));
    }
    for stream in [false, true] {
        let file = Batches::plain(stream, &[20]).file(&rows);
        dir.write("all/a.arrow", &file);
        dir.write("all/b.arrow", &file);
        let found = dir.output("all -w 2", &format!("all-out-{stream}"));
        assert!(found.kept["a.arrow"] == file);
        let left = source(&dir, "left.arrow", &found.kept["b.arrow"]);
        assert_eq!((rows_of(&left).unwrap(), objects(&left)), (Some(0), Vec::new()));
        // Batches that lose nothing are in the file as they were.
        let some = &file[file.len() / 3..file.len() / 3 + 400];
        assert!(found.kept["a.arrow"].windows(400).any(|bytes| bytes == some));
        dir.write("none/a.arrow", Batches::plain(stream, &[5]).file(&[]));
        assert_eq!(dir.output("none", &format!("none-out-{stream}")).summary["documents"], 0);
        dir.write("wrong/a.arrow", &file);
        let says = "the columns are: id, text, n, tags, meta";
        dir.dedup("wrong --text-field body --out wrong-out").code(3).says(says);
    }
}

#[test]
fn rows_become_lines_with_all_columns() {
    let dir = Dir::new();
    let rows = rows(200);
    for (at, (kind, file)) in every_kind(&rows).into_iter().enumerate() {
        dir.write(&format!("in{at}/a.arrow"), &file);
        let line = format!("in{at} --threshold 0.7 --to jsonl --write-removed -w {}", 1 + at % 2);
        let output = dir.output(&line, &format!("out{at}"));
        let gone = gone(&output);
        let refused: BTreeSet<u64> =
            output.rejected.iter().map(|row| row["line"].as_u64().unwrap() - 1).collect();
        for (half, removed) in [(&output.kept, false), (&output.removed, true)] {
            let chosen = (0..).zip(&rows).filter(|(at, _)| gone.contains(at) == removed);
            // Of what was refused there is no line in a file of lines, as of any other form.
            let chosen = chosen.filter(|(at, _)| removed || !refused.contains(at));
            let chosen: Vec<Value> = chosen.map(|(_, row)| object(row)).collect();
            assert_eq!(jsonl(&half["a.jsonl"]), chosen, "{kind}");
        }
        dir.dedup(&format!("in{at} --to ids --out ids{at}")).ok();
    }
    dir.dedup("in0 --annotate --out no").code(3).says("add --to parquet or --to jsonl");
    dir.dedup("in0 --shard-size 1k --out no").code(3).says("keeps its batches");
}

/// What is wrong with a file costs what is wrong with it, whatever it is.
fn survives(dir: &Dir, file: &[u8], what: &str) -> (usize, usize) {
    dir.write("bad.arrow", file);
    let name = dir.join("bad.arrow").to_str().unwrap().to_owned();
    let Ok(mut found) = discover(&[name], dir.path()) else { return (0, 1) };
    let source = found.sources.remove(0);
    // What no longer begins like Arrow is something else.
    let Some(rows) = rows_of(&source).unwrap() else { return (0, 1) };
    let fields = fields("text", "id");
    let (seen, _) = read(&source, 1, &fields);
    let (whole, _) = read(&source, u64::MAX, &fields);
    assert_eq!(seen, whole, "{what}: other rows in other units");
    again(&source, &fields, &seen, what);
    if let Err(error) = row_objects(&source, &RecordRoom::default(), &mut |_, _| Ok(())) {
        assert!(matches!(error, Error::Undecodable { .. }), "{what}: {error}");
        // In another run, without the batches of which no objects can be made, they are made of the others.
        let mut sources = [source.clone()];
        let form = Some(RecordForm::JsonLines(Compression::None));
        let choice = FormChoice { form, ..FormChoice::default() };
        assert!(
            refuse_undecodable(
                &error,
                &mut sources,
                choice,
                (&RecordRoom::default(), 2),
                &Progress::default()
            )
            .unwrap(),
            "{what}: {error}"
        );
        row_objects(&sources[0], &RecordRoom::default(), &mut |_, _| Ok(())).unwrap();
    }
    let gone = vec![(0..rows).step_by(3).collect()];
    let folder = tempfile::tempdir_in(dir.path()).unwrap();
    let hands = Hands { workers: 2, peers: None };
    let chosen = Chosen { side: Side::Kept, removed: &gone, ends: &[None] };
    let sources = [source];
    match write_kept(folder.path(), &sources, chosen, (hands, &RecordRoom::default()), &Progress::default()) {
        Ok(written) => assert_eq!(written.files, 1),
        Err(error) => written_in_another_run(&sources[0], &fields, error, what),
    }
    let choice = FormChoice { form: Some(RecordForm::Parquet), ..FormChoice::default() };
    let set = RecordSet { sources: &sources, fields: &fields, choice };
    let folder = tempfile::tempdir_in(dir.path()).unwrap();
    match write_records(folder.path(), set, chosen, None, hands, &Progress::default()) {
        Ok(_) => {
            let made = fs::read(folder.path().join("kept/bad.parquet")).unwrap();
            assert_eq!(read_back(&made).0.len() as u64, rows - gone[0].len() as u64, "{what}");
        }
        Err(error) => {
            assert!(matches!(error, Error::Input { .. } | Error::Undecodable { .. }), "{what}: {error}");
        }
    }
    let documents = seen.iter().filter(|seen| matches!(seen, Seen::Document { .. })).count();
    (documents, seen.len() - documents)
}

/// Columns that become columns of Parquet take memory, whatever is in them.
#[test]
fn columns_that_do_not_fit_in_the_memory_become_no_parquet() {
    let (dir, rows) = (Dir::new(), rows(10));
    let (_, file) = every_kind(&rows).remove(0);
    dir.write("a.arrow", file);
    let sources = discover(&[dir.join("a.arrow").to_str().unwrap().to_owned()], dir.path()).unwrap().sources;
    let choice = |memory| FormChoice { form: Some(RecordForm::Parquet), memory, ..FormChoice::default() };
    let refused = FormPlan::new(&sources, choice(Some(9 << 10))).unwrap_err().to_string();
    assert!(refused.contains("MiB with --memory"), "{refused}");
    FormPlan::new(&sources, choice(Some(64 << 20))).unwrap();
    FormPlan::new(&sources, choice(None)).unwrap();
}

#[test]
fn files_that_are_cut_off_are_refused() {
    let dir = Dir::new();
    let rows = rows(60);
    for (kind, file) in every_kind(&rows).into_iter().filter(|(kind, _)| kind.starts_with("file")) {
        for cut in (0..file.len()).step_by(97) {
            dir.write("cut.arrow", &file[..cut]);
            let name = dir.join("cut.arrow").to_str().unwrap().to_owned();
            let found = discover(&[name], dir.path());
            assert!(found.is_err() || cut < 8, "{kind}, {cut} of {}", file.len());
        }
    }
    let file = Batches::plain(false, &[20]).file(&rows);
    dir.write("in/cut.arrow", &file[..file.len() / 2]);
    dir.write("in/good.arrow", &file);
    let found = dir.output("in", "out");
    assert!(found.rejected[0]["reason"].as_str().unwrap().contains("cut off"), "{:?}", found.rejected);
    assert_eq!(found.kept.len(), 1);
    dir.dedup("in/cut.arrow --out none").code(3).says("cut off");
    for stream in [false, true] {
        dir.write("packed.arrow.gz", gzip(&Batches::plain(stream, &[20]).file(&rows), 100_000));
        dir.dedup("packed.arrow.gz --out none").code(3).says("decompress it");
    }
}

/// A stream that is cut off is read up to there, what is cut off is counted, and what is kept is a stream.
#[test]
fn streams_that_are_cut_off_are_read_up_to_there() {
    let dir = Dir::new();
    let mut rows = rows(60);
    for (at, row) in rows.iter_mut().enumerate() {
        row.text = Some(words(at * 100, 50));
    }
    let stream = Batches::plain(true, &[20]).file(&rows);
    let whole = objects(&source(&dir, "whole.arrow", &stream));
    let mut seen = BTreeSet::new();
    for cut in (1..stream.len()).step_by(331) {
        dir.write("in/cut.arrow", &stream[..cut]);
        let found = discover(&[dir.join("in/cut.arrow").to_str().unwrap().to_owned()], dir.path());
        let Ok(found) = found else { continue };
        let rows = rows_of(&found.sources[0]).unwrap().unwrap();
        let name = format!("out{cut}");
        let found = dir.output("in --max-rejected 100%", &name);
        let kept = source(&dir, "kept.arrow", &found.kept["cut.arrow"]);
        let read = objects(&kept);
        assert!(read[..] == whole[..read.len()], "{cut}");
        assert_eq!((read.len() % 20, rows % 20), (0, 0), "{cut}");
        // Nothing is lost in silence: but at the end of a batch, something is refused.
        assert!(!found.rejected.is_empty() || read.len() as u64 == rows, "{cut}: {rows}");
        seen.insert((read.len(), found.rejected.len()));
    }
    assert!(seen.contains(&(20, 1)) && seen.contains(&(40, 1)), "{seen:?}");
    // What is behind the end of a stream is not passed over.
    dir.write("two/a.arrow", [&stream[..], &stream].concat());
    let found = dir.output("two --max-rejected 100%", "two-out");
    assert_eq!(found.rejected.len(), 1);
    assert!(found.rejected[0]["reason"].as_str().unwrap().contains("behind the end"), "{:?}", found.rejected);
    assert!(found.kept["a.arrow"] == stream);
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
            // Half of them in the first and the last part, where the file says what it is.
            let (from, length) = match random.below(4) {
                0 => (0, 2000.min(file.len())),
                1 => (file.len() - 2000.min(file.len()), 2000.min(file.len())),
                _ => (0, file.len()),
            };
            let (at, bit) = (from + random.below(length), random.below(8));
            file[at] ^= 1 << bit;
            let (read, lost) = survives(&dir, &file, &format!("{kind}, bit {bit} of byte {at}"));
            documents += read;
            refused += lost;
        }
        for cut in 0..20 {
            let end = file.len() * cut / 20;
            survives(&dir, &file[..end], &format!("{kind}, cut at {end}"));
        }
    }
    assert!(documents > 10_000 && refused > 100, "{documents} {refused}");
}
