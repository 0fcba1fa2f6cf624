//! Records whose texts are cut or marked, of all formats, held against JSON of another parser.
#![expect(clippy::single_range_in_vec_init, reason = "lists of one stretch")]

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CutWriter, FormChoice, RecordForm, RecordSet, TextChange, write_cut_records};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::output::{Chosen, Hands, Side};
use crate::progress::Progress;
use crate::read::{Compression, Fields, Input, Source, discover};

fn sources(folder: &Path, files: &[(&str, Vec<u8>)]) -> Vec<Source> {
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("written");
    }
    let names: Vec<String> = files.iter().map(|(name, _)| folder.join(name).display().to_string()).collect();
    discover(&names, folder).expect("found").sources
}

/// Writes all records with the stretches of some documents, under `folder`.
fn write(
    folder: &Path,
    sources: &[Source],
    text_field: &str,
    choice: FormChoice,
    cuts: &[(Position, Vec<Range<usize>>)],
) -> Result<()> {
    let input = Input { text_field: text_field.into(), ..Input::default() };
    let mut writer = CutWriter::new(folder)?;
    cuts.iter().try_for_each(|(position, stretches)| writer.push(*position, stretches))?;
    let file = writer.finish(sources.len())?;
    let (removed, ends) = (vec![vec![]; sources.len()], vec![None; sources.len()]);
    let chosen = Chosen { side: Side::Kept, removed: &removed, ends: &ends };
    let set = RecordSet { sources, fields: &Arc::new(Fields::of(&input)?), choice };
    write_cut_records(folder, set, chosen, &file, Hands { workers: 2, peers: None }, &Progress::default())?;
    file.remove()
}

fn cut(form: Option<RecordForm>) -> FormChoice {
    FormChoice { form, texts: TextChange::Cut, ..FormChoice::default() }
}

#[test]
fn all_but_the_text_stays_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        r#"{"n": 1.50, "m": {"t" : "one \u00e9 \"two\"\tthree", "x":[1 , 2]}, "e": "\u0041"} "#,
        r#"{"m":{"t":"as it \u0061s"},"n":1e400}"#,
        r#"{"m":{"t":"z\u4e00z"},"t":0}"#,
    ];
    let text = format!("{}\n", lines.join("\n"));
    let sources = sources(folder.path(), &[("a.jsonl", text.clone().into_bytes())]);
    let at = |line: usize| Position::new(0, lines[..line].iter().map(|line| line.len() as u64 + 1).sum());
    let cuts = [(at(0), vec![0..4, 6..12]), (at(2), vec![0..1, 4..5])];
    write(folder.path(), &sources, "m.t", cut(None), &cuts).expect("written");
    let written = fs::read_to_string(folder.path().join("kept/a.jsonl")).expect("text");
    let expected = [
        "{\"n\": 1.50, \"m\": {\"t\" : \"\u{e9}\\tthree\", \"x\":[1 , 2]}, \"e\": \"\\u0041\"}".to_owned(),
        lines[1].to_owned(),
        "{\"m\":{\"t\":\"\u{4e00}\"},\"t\":0}".to_owned(),
    ];
    assert_eq!(written.lines().map(str::to_owned).collect::<Vec<_>>(), expected);
}

#[test]
fn marked_records_say_where_and_other_formats_become_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("a.csv", b"id,text,n\n1,\"one, two\",7\n2,three,8\n".to_vec()),
        ("b.txt", "caf\u{e9} noir".as_bytes().to_vec()),
        ("c.jsonl.gz", {
            let mut packed = Vec::new();
            let mut packer =
                crate::output::Packer::new(crate::read::Format::JsonLines, Compression::Gzip, &mut packed)
                    .expect("a packer");
            packer.write_all(b"{\"id\":\"c\",\"text\":\"one two\"}").expect("packed");
            packer.finish().expect("packed");
            packed
        }),
    ];
    let sources = sources(folder.path(), &files);
    let cuts = [
        (Position::new(0, 10), vec![3..5]),
        (Position::new(1, 0), vec![3..6]),
        (Position::new(2, 0), vec![0..4]),
    ];
    let lines = Some(RecordForm::JsonLines(Compression::None));
    let read = |folder: &Path, name: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.join("kept").join(name)).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let into = |name: &str| {
        let into = folder.path().join(name);
        fs::create_dir(&into).expect("a folder");
        into
    };
    let out = into("cut");
    write(&out, &sources, "text", cut(lines), &cuts).expect("written");
    let rows = [json!({"id":"1","text":"one two","n":"7"}), json!({"id":"2","text":"three","n":"8"})];
    assert_eq!(read(&out, "a.jsonl"), rows);
    assert_eq!(read(&out, "documents.jsonl")[0]["text"], "caf noir");
    assert_eq!(read(&out, "c.jsonl"), [json!({"id":"c","text":"two"})]);

    let out = into("marked");
    let mark = FormChoice { texts: TextChange::Mark, ..cut(lines) };
    write(&out, &sources, "text", mark, &cuts).expect("written");
    assert_eq!(read(&out, "a.jsonl")[0]["alike"], json!({"stretches": [[3, 5]]}));
    assert_eq!(read(&out, "a.jsonl")[1], rows[1]);
    assert_eq!(read(&out, "documents.jsonl")[0]["text"], "caf\u{e9} noir");

    // Texts and lines keep their form; a table has no place for a text that was cut.
    let out = into("own");
    write(&out, &sources[1..2], "text", cut(None), &[(Position::new(0, 0), vec![3..6])]).expect("written");
    assert_eq!(fs::read(out.join("kept/b.txt")).expect("text"), b"caf noir");
    for (sources, choice) in [
        (&sources[..1], cut(None)),
        (&sources[1..2], FormChoice { texts: TextChange::Mark, ..cut(None) }),
        (&sources[2..], cut(Some(RecordForm::Ids))),
    ] {
        let refused = write(&into("refused"), sources, "text", choice, &[]).expect_err("refused");
        assert!(refused.to_string().contains("--to jsonl"), "{refused}");
        fs::remove_dir_all(folder.path().join("refused")).expect("removed");
    }
}

#[test]
fn a_text_that_is_another_than_was_read_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = sources(folder.path(), &[("a.jsonl", "{\"text\":\"\u{e9}\"}".into())]);
    for stretch in [1..2, 0..9] {
        let out = tempfile::tempdir().expect("a folder");
        let cuts = [(Position::new(0, 0), vec![stretch])];
        let written = write(out.path(), &sources, "text", cut(None), &cuts);
        assert!(matches!(written, Err(Error::Changed(_))), "{written:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_cut_as_a_string_is(
        texts in prop::collection::vec("[a\"\\\\\n\u{1}\u{e9}\u{4e00}\u{1f600}]{0,12}", 1..6),
        escaped: bool,
        bounds in prop::collection::vec(0usize..13, 4),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let spell = |text: &String| match escaped {
            false => json!(text).to_string(),
            true => {
                let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
                format!("\"{}\"", units.collect::<String>())
            }
        };
        let lines: Vec<String> = texts.iter().map(|text| format!("{{\"text\":{}}}\n", spell(text))).collect();
        let sources = sources(folder.path(), &[("a.jsonl", lines.concat().into_bytes())]);
        let (mut at, mut cuts, mut expected) = (0, Vec::new(), Vec::new());
        for (text, line) in texts.iter().zip(&lines) {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut places: Vec<usize> = bounds.iter().map(|bound| ends[*bound % ends.len()]).collect();
            places.sort_unstable();
            cuts.push((Position::new(0, at), vec![places[0]..places[1], places[2]..places[3]]));
            // Two words stay two.
            let cut = |left: String, [start, end]: [usize; 2], rest: &str| {
                let is_between = left.ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric);
                let blank = [text[start..end].chars().next(), text[start..end].chars().next_back()];
                let blank = blank.into_iter().flatten().find(|char| char.is_whitespace());
                let han = '\u{4e00}';
                let are_apart = text[start..end].contains(|char: char| char == han || !char.is_alphanumeric())
                    && !left.ends_with(han)
                    && !rest.starts_with(han);
                let blank = blank.or(are_apart.then_some(' ')).filter(|_| is_between);
                left + &blank.map(String::from).unwrap_or_default()
            };
            let left = cut(text[..places[0]].to_owned(), [places[0], places[1]], &text[places[1]..]);
            let left = left + &text[places[1]..places[2]];
            expected.push(cut(left, [places[2], places[3]], &text[places[3]..]) + &text[places[3]..]);
            at += line.len() as u64;
        }
        write(folder.path(), &sources, "text", cut(None), &cuts).expect("written");
        let written = fs::read_to_string(folder.path().join("kept/a.jsonl")).expect("text");
        let left: Vec<String> = written
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["text"].as_str().expect("text").into())
            .collect();
        // A record of which nothing is left goes.
        expected.retain(|text| !text.trim().is_empty());
        prop_assert_eq!(left, expected);
    }
}
