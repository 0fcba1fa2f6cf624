//! Passages that are repeated: held against a program that keeps every run of pieces in a map, in every shape.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use alike::text::each_sentence;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::job::{Shape, done};
use crate::support::output::jsonl;
use crate::support::outputs::{assert_same, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, unpack, zst};

/// A piece of a text: its words, and where it stands.
type Piece = (Vec<String>, usize, usize);

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The pieces of a text whose words stand between ASCII characters, and whose lines end with line feeds.
fn pieces(text: &str, kind: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut at = 0;
    match kind {
        "line" => {
            for line in text.split_inclusive('\n') {
                all.push((words(line), at, at + line.len()));
                at += line.len();
            }
        }
        "paragraph" => {
            let mut within = false;
            for line in text.split_inclusive('\n') {
                let blank = line.trim().is_empty();
                if !blank && !within {
                    all.push((Vec::new(), at, text.len()));
                    if let [.., before, _] = &mut all[..] {
                        before.2 = at;
                    }
                }
                within = !blank;
                at += line.len();
            }
            all.iter_mut().for_each(|piece: &mut Piece| piece.0 = words(&text[piece.1..piece.2]));
        }
        "sentence" => each_sentence(text, |sentence| {
            all.push((words(sentence), at, at + sentence.len()));
            at += sentence.len();
        }),
        _ => {
            let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
            let begins =
                |at: &usize| is_word(text[*at..].chars().next()) && !is_word(text[..*at].chars().next_back());
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).filter(begins).collect();
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            all.extend(starts.iter().zip(ends).map(|(start, next)| {
                let word =
                    start + text[*start..].find(|c: char| !c.is_alphanumeric()).unwrap_or(next - start);
                let blank = text[word..next].rfind(char::is_whitespace).filter(|_| next < text.len());
                let end = blank.map_or(next, |at| word + at + 1);
                (words(&text[*start..end]), *start, end)
            }));
        }
    }
    all.retain(|piece| !piece.0.is_empty());
    all
}

/// A document, and where something begins and ends in it.
type Place = (usize, usize, usize);

/// How often a run occurs, in which documents, and where first.
type Times = (u64, BTreeSet<usize>, Place);

/// What the obvious program finds.
#[derive(Default)]
struct Obvious {
    /// Of each run that is repeated: how often, in how many documents, and where it stands first.
    runs: HashMap<Vec<String>, Times>,
    /// What is left of each text, if anything was cut.
    left: Vec<Option<String>>,
    pieces: u64,
    repeated_bytes: u64,
    cut_bytes: u64,
}

fn obvious(texts: &[String], (kind, length): (&str, usize), min_words: usize) -> Obvious {
    let mut found = Obvious::default();
    let mut all = Vec::new();
    for (document, text) in texts.iter().enumerate() {
        for run in pieces(text, kind).windows(length) {
            let end = || ["|".to_owned()];
            let key: Vec<String> =
                run.iter().flat_map(|piece| piece.0.iter().cloned().chain(end())).collect();
            if key.len() - length < min_words {
                continue;
            }
            let place = (document, run[0].1, run[length - 1].2);
            let (count, documents, _) = found.runs.entry(key.clone()).or_insert((0, BTreeSet::new(), place));
            *count += 1;
            documents.insert(document);
            all.push((key, place));
        }
    }
    found.pieces = all.len() as u64;
    found.runs.retain(|_, (count, ..)| *count > 1);
    let mut marks: Vec<Vec<u8>> = texts.iter().map(|text| vec![0; text.len()]).collect();
    for (key, place) in &all {
        let Some((.., first)) = found.runs.get(key) else { continue };
        let mark = if first == place { 1 } else { 2 };
        marks[place.0][place.1..place.2].iter_mut().for_each(|byte| *byte |= mark);
    }
    for (text, marks) in texts.iter().zip(&marks) {
        found.repeated_bytes += marks.iter().filter(|mark| **mark > 0).count() as u64;
        found.cut_bytes += marks.iter().filter(|mark| **mark == 2).count() as u64;
        let left = text.bytes().zip(marks).filter(|(_, mark)| **mark != 2).map(|(byte, _)| byte);
        let left = String::from_utf8(left.collect()).expect("no character is divided");
        let all: BTreeSet<String> = words(text).into_iter().collect();
        assert!(
            words(&left).iter().all(|word| all.contains(word)),
            "two words are one: {left:?} of {text:?}"
        );
        found.left.push(marks.contains(&2).then_some(left));
    }
    found
}

fn lines(texts: &[String]) -> String {
    let line = |(at, text): (usize, &String)| {
        format!("{{\"n\": 1.50, \"id\":\"d{at}\", \"text\":{}}}\n", json!(text))
    };
    texts.iter().enumerate().map(line).collect()
}

/// The records that must be left, line by line.
fn left(texts: &[String], found: &Obvious) -> String {
    let record = |(at, text): (usize, &String)| {
        let left = found.left[at].as_ref();
        let gone = left.is_some_and(|left| left.trim().is_empty());
        let text = left.unwrap_or(text);
        (!gone).then(|| format!("{{\"n\": 1.50, \"id\":\"d{at}\", \"text\":{}}}\n", json!(text)))
    };
    texts.iter().enumerate().filter_map(record).collect()
}

/// Holds a run against the obvious program.
fn check(texts: &[String], unit: (&str, usize), min_words: usize, flags: &str) {
    let (dir, found) = (Dir::new(), obvious(texts, unit, min_words));
    dir.write("in.jsonl", lines(texts));
    let (kind, length) = unit;
    let ran = format!("--unit {kind}:{length} --min-words {min_words} --top 1000000 {flags}");
    dir.alike(&format!("passages in.jsonl --action cut --out out {ran}"), None).ok();
    let kept = fs::read_to_string(dir.join("out/kept/in.jsonl")).expect("text");
    assert_eq!(kept, left(texts, &found), "{ran} on {texts:?}");
    let summary: Value =
        serde_json::from_slice(&fs::read(dir.join("out/summary.json")).expect("a summary")).expect("JSON");
    let occurrences: u64 = found.runs.values().map(|(count, ..)| count).sum();
    let figures = [
        ("documents", texts.len() as u64),
        ("pieces", found.pieces),
        ("repeated", found.runs.len() as u64),
        ("occurrences", occurrences),
        ("repeated_bytes", found.repeated_bytes),
        ("cut_bytes", found.cut_bytes),
    ];
    for (figure, expected) in figures {
        assert_eq!(summary[figure], json!(expected), "{figure}: {ran} on {texts:?}");
    }
    let listed = jsonl(&fs::read(dir.join("out/passages.jsonl")).expect("a list"));
    let passages = passages(&found);
    assert_eq!(summary["passages"], json!(passages.len()), "{ran} on {texts:?}");
    let expected: Vec<Value> = best(&passages).map(|passage| row(texts, passage)).collect();
    assert_eq!(listed, expected, "{ran} on {texts:?}");
}

/// Runs that overlap where they stand first, and occur equally often in equally many documents, are one passage.
fn passages(found: &Obvious) -> Vec<(u64, usize, Place)> {
    let mut runs: Vec<_> = found.runs.values().map(|(count, of, place)| (*place, *count, of.len())).collect();
    runs.sort_unstable();
    let mut all: Vec<(u64, usize, Place)> = Vec::new();
    for ((document, start, end), count, of) in runs {
        match all.last_mut() {
            Some((times, documents, last))
                if last.0 == document && start < last.2 && (*times, *documents) == (count, of) =>
            {
                last.2 = last.2.max(end);
            }
            _ => all.push((count, of, (document, start, end))),
        }
    }
    all
}

/// Passages from the one that is repeated most, without those of which half stands in others before them.
fn best(passages: &[(u64, usize, Place)]) -> impl Iterator<Item = &(u64, usize, Place)> {
    let mut ranked: Vec<_> = passages.iter().collect();
    ranked.sort_by_key(|(count, _, (document, start, end))| {
        (u64::MAX - count, usize::MAX - (end - start), *document, *start)
    });
    let mut listed = BTreeSet::new();
    ranked.into_iter().filter(move |(.., (document, start, end))| {
        let known = (*start..*end).filter(|at| listed.contains(&(*document, *at))).count();
        let is_new = known * 2 < end - start;
        if is_new {
            listed.extend((*start..*end).map(|at| (*document, at)));
        }
        is_new
    })
}

/// What is said of a passage.
fn row(texts: &[String], (count, documents, (document, start, end)): &(u64, usize, Place)) -> Value {
    let whole = texts[*document][*start..*end].split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words(&whole).len();
    let text = match whole.char_indices().nth(240) {
        Some((end, _)) => format!("{}...", &whole[..end]),
        None => whole,
    };
    json!({
        "count": count, "documents": documents, "words": words, "bytes": end - start,
        "file": "in.jsonl", "line": document + 1, "id": format!("d{document}"), "start": start, "text": text,
    })
}

const UNITS: [(&str, usize); 8] = [
    ("line", 1),
    ("line", 2),
    ("paragraph", 1),
    ("sentence", 1),
    ("sentence", 3),
    ("token", 1),
    ("token", 3),
    ("token", 7),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn what_is_found_is_what_the_obvious_program_finds(
        texts in prop::collection::vec(
            prop::collection::vec("(a|B|caf\u{e9}|\u{416}|x1)[ ,.!\n]{1,2}(\n )?", 0..24), 1..6),
        unit in prop::sample::select(&UNITS[..]),
        min_words in 1usize..3,
    ) {
        let texts: Vec<String> = texts.into_iter().map(|words| words.concat()).collect();
        check(&texts, unit, min_words, "-w 2");
    }
}

/// Documents of few words, with lines that many have and some copied from others.
fn documents(count: usize) -> Vec<String> {
    let mut random = Random(7);
    let mut texts: Vec<String> = Vec::new();
    for at in 0..count {
        let mut text = format!("Menu home\nSection {}\n\n", at % 9);
        for line in 0..random.below(12) {
            let words: Vec<String> = (0..random.below(9)).map(|_| format!("w{}", random.below(40))).collect();
            text += &format!("Caf\u{e9} {}. {line} \u{416}\u{416}!\n", words.join(" "));
        }
        if at > 20 && random.below(3) == 0 {
            text += &texts[random.below(at)].clone();
        }
        texts.push(text);
    }
    texts
}

#[test]
fn many_documents_are_cut_as_the_obvious_program_cuts_them() {
    let texts = documents(300);
    for unit in [("line", 1), ("paragraph", 1), ("sentence", 3), ("token", 13)] {
        check(&texts, unit, 1, "-w 3");
    }
    check(&texts, ("line", 1), 4, "-w 1");
}

#[test]
fn the_samples_are_cut_as_the_obvious_program_cuts_them() {
    let sample =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).expect("the sample");
    let texts: Vec<String> =
        jsonl(&sample).iter().map(|row| row["text"].as_str().expect("a text").to_owned()).collect();
    // Words that the two programs see alike.
    let plain = |text: &String| text.replace(|c: char| !c.is_ascii(), " ").replace(['\'', '\r'], " ");
    let texts: Vec<String> = texts.iter().take(120).map(plain).collect();
    for unit in [("line", 1), ("paragraph", 1), ("token", 50)] {
        check(&texts, unit, 1, "-w 2");
    }
}

#[test]
fn the_answer_is_the_same_in_every_shape() {
    let (dir, texts) = (Dir::new(), documents(6000));
    let text = lines(&texts);
    let records: Vec<&str> = text.split_inclusive('\n').collect();
    dir.write("in/a.jsonl", records[..2000].concat());
    dir.write("in/b.jsonl.gz", gzip(records[2000..3500].concat().as_bytes(), 5000));
    dir.write("in/c.jsonl", records[3500..].concat() + "no record\n");
    dir.write("in/d.jsonl.zst", zst(records[..50].concat().as_bytes(), 5000));
    let shapes: [(Shape, &str); 5] =
        [((1, 3), ""), ((1, 1), "--memory 36M"), ((2, 1), ""), ((3, 2), "--memory 44M"), ((2, 2), "")];
    for flags in ["--action cut", "--unit tokens:13 --action cut --top 20", "--unit sentence --action mark"] {
        let run = |shape: Shape, more: &str| {
            done(&dir, shape, &format!("passages in --out out {flags} {more}"));
            let output = written(&dir.join("out"));
            fs::remove_dir_all(dir.join("out")).expect("removed");
            output
        };
        let want = run((1, 1), "");
        assert!(want.len() == 7, "{:?}", want.keys());
        for (shape, more) in shapes {
            assert_same(&want, &run(shape, more), &format!("{flags}, {shape:?} {more}"));
        }
    }
    assert_eq!(dir.names(), ["in"]);
}

#[test]
fn marked_records_say_where_passages_stand_before() {
    let dir = Dir::new();
    let texts = ["one two\ncaf\u{e9}\n", "x\nCAF\u{c9}!\ny\none, two"].map(str::to_owned);
    dir.write("in.jsonl", lines(&texts));
    dir.alike("passages in.jsonl --action mark --out out", None).ok().says("marked 1 document");
    let rows = jsonl(&fs::read(dir.join("out/annotated/in.jsonl")).expect("records"));
    assert_eq!(rows[0], json!({"n": 1.5, "id": "d0", "text": texts[0]}));
    let marked = json!({"n": 1.5, "id": "d1", "text": texts[1], "alike": {"stretches": [[2, 9], [11, 19]]}});
    assert_eq!(rows[1], marked);
}

#[test]
fn inputs_of_other_formats_are_cut_where_that_can_be() {
    let dir = Dir::new();
    dir.write("a.txt", "one\ntwo\n");
    dir.write("b.txt", "three\nTWO\n");
    dir.write("c.txt", "one\n");
    dir.alike("passages a.txt b.txt c.txt --action cut --out texts", None)
        .ok()
        .says("1 document left without text");
    let read = |name: &str| fs::read_to_string(dir.join(name)).ok();
    let kept = ["a.txt", "b.txt", "c.txt"].map(|name| read(&format!("texts/kept/{name}")));
    assert_eq!(kept, [Some("one\ntwo\n".into()), Some("three\n".into()), None]);

    dir.write("rows.csv", "id,text\n1,\"one\ntwo\"\n2,two\n3,\"two\nfour\"\n");
    let refused = dir.alike("passages rows.csv --action cut --out rows", None).code(3);
    refused.says("rows.csv").says("--to jsonl");
    dir.alike("passages rows.csv --action cut --to jsonl.gz --out rows", None).ok();
    let rows = unpack(&fs::read(dir.join("rows/kept/rows.jsonl.gz")).expect("rows"));
    assert_eq!(jsonl(&rows), [json!({"id": "1", "text": "one\ntwo"}), json!({"id": "3", "text": "four"})]);
    dir.alike("passages rows.csv --action cut --to ids --out no", None).code(2).says("--to jsonl");
    dir.alike("passages rows.csv --to jsonl --out no", None).code(2).says("--action");
    dir.alike("passages rows.csv --unit words --out no", None).code(2).says("line, paragraph");
    dir.alike("passages rows.csv", None).code(2).says("--out");
    dir.alike("passages rows.csv --out rows", None).code(2).says("exists already");
    assert_eq!(dir.names(), ["a.txt", "b.txt", "c.txt", "rows", "rows.csv", "texts"]);
}

/// What an earlier run has said of a text goes when the text is cut: it spoke of another one. Other records stay as they are.
#[test]
fn what_an_earlier_run_said_of_a_text_goes_with_what_is_cut() {
    let dir = Dir::new();
    let records = [
        r#"{"id": "a", "alike": {"stretches":[[0,3]]}, "text": "one\ntwo"}"#,
        r#"{"id": "b", "alike": {"cluster":1,"kept":true}, "text": "one\nthree", "n": 1.50}"#,
        r#"{"id": "c", "text": "four", "alike": 7}"#,
        r#"{"id": "d", "text": "FOUR\nfive", "alike": 7 }"#,
    ];
    dir.write("in.jsonl", records.join("\n") + "\n");
    dir.alike("passages in.jsonl --action cut --out out", None).ok();
    let kept = fs::read_to_string(dir.join("out/kept/in.jsonl")).expect("records");
    let cut = [r#"{"id": "b", "text": "three", "n": 1.50}"#, r#"{"id": "d", "text": "five" }"#];
    assert_eq!(kept.lines().collect::<Vec<_>>(), [records[0], cut[0], records[2], cut[1]]);
    // But not the text itself.
    let inside = r#"{"alike": {"text": "one\ntwo"}}"#;
    dir.write("in.jsonl", format!("{inside}\n{}\n", inside.replace("two", "six")));
    dir.alike("passages in.jsonl --text-field alike.text --action cut --out inside", None).ok();
    let kept = fs::read_to_string(dir.join("inside/kept/in.jsonl")).expect("records");
    assert_eq!(kept.lines().nth(1), Some(r#"{"alike": {"text": "six"}}"#));
}

/// A row that `--to parquet` wrote has its text a second time, in the record that it is of.
#[cfg(feature = "parquet")]
#[test]
fn a_passage_stands_in_no_column_of_a_row_any_more() {
    let dir = Dir::new();
    let passage = "forty words that stand in both";
    let record = |id: &str, own: &str, field: &str| {
        let text = json!(format!("{own}\n{passage}\n"));
        match field {
            "m.body" => format!("{{\"id\":\"{id}\",\"m\":{{\"body\":{text}}},\"n\":1.50}}\n"),
            field => format!("{{\"id\":\"{id}\",\"{field}\":{text},\"n\":1.50}}\n"),
        }
    };
    for field in ["text", "body", "m.body"] {
        dir.write(&format!("{field}/a.jsonl"), record("a", "one", field) + &record("b", "two", field));
        dir.dedup(&format!("{field} --text-field {field} --to parquet --out {field}-rows")).ok();
        dir.write("items.jsonl", format!("{{\"text\":{}}}\n", json!(passage)));
        let passages = format!("passages {field}-rows/kept --action cut");
        let decontaminate =
            format!("decontaminate {field}-rows/kept --benchmarks items.jsonl --min-words 4 --action cut");
        for (command, left) in [(passages, [true, false]), (decontaminate, [false, false])] {
            dir.alike(&format!("{command} --to jsonl --out out"), None).ok();
            let text = fs::read_to_string(dir.join("out/kept/a.jsonl")).expect("rows");
            for (line, left) in text.lines().zip(left) {
                assert_eq!(line.contains(passage), left, "{command}, {field}: {line}");
            }
            let row = &jsonl(text.as_bytes())[1];
            let kept = json!(format!("{{\"id\":\"b\",\"{field}\":{},\"n\":1.50}}", row["text"]));
            let record = if field == "m.body" { Value::Null } else { kept };
            assert_eq!(row["record"], record, "{command}, {field}");
            fs::remove_dir_all(dir.join("out")).expect("removed");
        }
    }
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_would_be_cut() {
    let dir = Dir::new();
    dir.write("in.jsonl", lines(&["a b\nc\n", "A, b\nd\n", "e\na b\n"].map(str::to_owned)));
    let ran = dir.alike("passages in.jsonl --action cut --dry-run", None).ok();
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let top = json!([{
        "count": 3, "documents": 3, "words": 2, "bytes": 4, "file": "in.jsonl", "line": 1, "id": "d0", "start": 0,
        "text": "a b",
    }]);
    assert_eq!(report["top"], top);
    assert_eq!((&report["cut_bytes"], &report["documents_with_cuts"]), (&json!(9), &json!(2)));
    ran.says("would change 2 documents").says("3 times in 3 documents: a b");
    let standard = dir.alike("passages - --dry-run --top 0", Some(b"{\"text\":\"a\\na\\n\"}\n")).ok();
    let report: Value = serde_json::from_str(&standard.stdout).expect("JSON");
    assert_eq!((&report["repeated"], &report["top"]), (&json!(1), &json!([])));
    assert_eq!(dir.names(), ["in.jsonl"]);
}

#[test]
fn wrong_records_and_difficult_texts_cost_only_themselves() {
    let dir = Dir::new();
    // One word a million times, a text without an end of line, and bytes that are no text.
    let many = "Caf\u{e9} ".repeat(300_000);
    let long = "x".repeat(3 << 20);
    let texts = [many.clone(), long.clone(), format!("{long} {long}"), many];
    let good: String = lines(&texts) + &lines(&vec!["ok".to_owned(); 20]);
    dir.write("in.jsonl", [good.as_bytes(), b"{\"text\":\"\xff\"}\n{\"text\":1}\n"].concat());
    dir.alike("passages in.jsonl --unit tokens:50 --action cut --out out --memory 64M", None).ok();
    let rejected = jsonl(&fs::read(dir.join("out/rejected.jsonl")).expect("a list"));
    assert_eq!(rejected.len(), 2, "{rejected:?}");
    let kept = jsonl(&fs::read(dir.join("out/kept/in.jsonl")).expect("records"));
    // Of one word over and over the first fifty stay, with what is behind the last word of a run.
    assert_eq!(kept[0]["text"], format!("{} ", "Caf\u{e9} ".repeat(50).trim_end()));
    assert_eq!((&kept[1]["text"], &kept[2]["text"]), (&json!(texts[1]), &json!(texts[2])));
    assert_eq!(kept[3]["id"], "d0", "the second copy is left without text");
    assert_eq!(kept.len(), 23);
    dir.alike("passages in.jsonl --strict --out no", None).code(3).says("--strict");
    dir.alike("passages in.jsonl --text-field none --out no", None).code(3).says("no field none");
    dir.write("empty.jsonl", "");
    dir.alike("passages empty.jsonl --action cut --out nothing", None).ok().says("0 passages");
    assert_eq!(fs::read(dir.join("nothing/kept/empty.jsonl")).expect("a file"), b"");
    assert_eq!(dir.names(), ["empty.jsonl", "in.jsonl", "nothing", "out"]);
}

#[test]
fn line_ends_and_damaged_files() {
    let dir = Dir::new();
    let record =
        |id: &str, text: &str| format!("{{\"id\":\"{id}\", \"text\":{}}}\r\n", serde_json::json!(text));
    let lines = [record("a", "one\ntwo\n"), record("b", "three\n"), record("c", "two\nfour\n")].concat();
    dir.write("in.jsonl", &lines);
    dir.alike("passages in.jsonl --action cut --out o", None).ok();
    let cut = std::fs::read_to_string(dir.join("o/kept/in.jsonl")).unwrap();
    assert_eq!(cut, lines.replace("two\\nfour", "four"));
    // Of a damaged file the same is said as by dedup, and refused records are named before too many of them are.
    let packed = crate::support::texts::gzip(lines.repeat(2000).as_bytes(), 1 << 20);
    dir.write("cut.jsonl.gz", &packed[..packed.len() - 20]);
    let damaged = "1 file could not be read to the end";
    dir.alike("passages cut.jsonl.gz --dry-run", None).ok().says(damaged);
    dir.alike("dedup cut.jsonl.gz --dry-run", None).ok().says(damaged);
    dir.write("bad.jsonl", "[{\"text\":\"a b\"}]\n{\n");
    dir.write("items.jsonl", crate::support::texts::line("x", &crate::support::texts::words(0, 20)));
    for command in ["passages bad.jsonl", "decontaminate bad.jsonl --benchmarks items.jsonl"] {
        let ran = dir.alike(&format!("{command} --dry-run"), None).code(3);
        ran.says("refused: bad.jsonl, line 1: JSON, but not an object")
            .says("line 2: not JSON")
            .says("jq -c '.[]'");
    }
}
