//! Documents that repeat themselves: held against a program that keeps every n-gram in a map, in every shape.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use serde_json::{Value, json};

use crate::support::job::{Shape, done};
use crate::support::output::jsonl;
use crate::support::outputs::{assert_same, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, zst};

/// Measures of Gopher with their limits, in hundredths.
const LIMITS: [(&str, u64); 13] = [
    ("duplicate-lines", 30),
    ("duplicate-paragraphs", 30),
    ("duplicate-line-characters", 20),
    ("duplicate-paragraph-characters", 20),
    ("top-2-gram", 20),
    ("top-3-gram", 18),
    ("top-4-gram", 16),
    ("duplicate-5-grams", 15),
    ("duplicate-6-grams", 14),
    ("duplicate-7-grams", 13),
    ("duplicate-8-grams", 12),
    ("duplicate-9-grams", 11),
    ("duplicate-10-grams", 10),
];

/// Words of letters of ASCII and a few others; all else stands between them.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn characters<S: AsRef<str>>(words: &[S]) -> u64 {
    words.iter().map(|word| word.as_ref().chars().count() as u64).sum()
}

/// The pieces of a text that stand before in it, and their characters; beside it how many pieces there are.
fn duplicates<'a>(pieces: impl Iterator<Item = &'a str>) -> (u64, u64, u64) {
    let (mut seen, mut count, mut duplicate, mut of_duplicates) = (BTreeSet::new(), 0, 0, 0);
    for piece in pieces.map(words).filter(|piece| !piece.is_empty()) {
        count += 1;
        let own = characters(&piece);
        if !seen.insert(piece) {
            (duplicate, of_duplicates) = (duplicate + 1, of_duplicates + own);
        }
    }
    (duplicate, of_duplicates, count)
}

/// The measures of a text: a part and a whole each.
fn measures(text: &str) -> [(u64, u64); 13] {
    let words = words(text);
    let all = characters(&words);
    let (lines, of_lines, all_lines) = duplicates(text.split('\n'));
    let (paragraphs, of_paragraphs, all_paragraphs) = duplicates(text.split("\n\n"));
    let mut measures = [(0, all); 13];
    measures[..4].copy_from_slice(&[
        (lines, all_lines),
        (paragraphs, all_paragraphs),
        (of_lines, all),
        (of_paragraphs, all),
    ]);
    for n in 2..=10 {
        let mut places: HashMap<&[String], BTreeSet<usize>> = HashMap::new();
        for (at, gram) in words.windows(n).enumerate() {
            places.entry(gram).or_default().insert(at);
        }
        places.retain(|_, places| places.len() > 1);
        let covered = |places: BTreeSet<usize>| {
            let covered: BTreeSet<usize> = places.into_iter().flat_map(|at| at..at + n).collect();
            covered.into_iter().map(|at| characters(&words[at..=at])).sum::<u64>()
        };
        let most = places.values().map(BTreeSet::len).max();
        measures[n + 2].0 = if n < 5 {
            let top = places.into_values().filter(|places| Some(places.len()) == most);
            top.map(covered).max().unwrap_or_default()
        } else {
            covered(places.into_values().flatten().collect())
        };
    }
    measures
}

/// The measures of a text that are over their limits.
fn above(text: &str) -> Vec<&'static str> {
    let over = |((part, whole), (_, limit)): &((u64, u64), (&str, u64))| part * 100 > whole * limit;
    measures(text).into_iter().zip(LIMITS).filter(over).map(|(_, (name, _))| name).collect()
}

/// Documents that repeat themselves more or less.
fn documents(count: usize) -> Vec<String> {
    let mut random = Random(11);
    let document = |at: usize| {
        let words = 3 + random.below(if at.is_multiple_of(3) { 12 } else { 400 });
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..1 + random.below(20) {
            let line = match random.below(4) {
                0 if !lines.is_empty() => lines[random.below(lines.len())].clone(),
                _ => (0..random.below(9)).map(|_| format!("w{} ", random.below(words))).collect(),
            };
            lines.push(line);
        }
        lines.join(if random.below(3) == 0 { "\n\n" } else { "\n" })
    };
    (0..count).map(document).collect()
}

fn record(at: usize, text: &str) -> String {
    format!("{{\"n\": 1.50, \"id\":\"d{at}\", \"text\":{}}}\n", json!(text))
}

fn records(texts: &[String]) -> String {
    texts.iter().enumerate().map(|(at, text)| record(at, text)).collect()
}

#[test]
fn documents_go_that_the_obvious_program_finds() {
    let (dir, texts) = (Dir::new(), documents(400));
    dir.write("in.jsonl", records(&texts));
    let ran = dir.alike("repetition in.jsonl --write-removed --out out -w 2", None).ok();
    let (mut kept, mut removed, mut rows) = (String::new(), String::new(), Vec::new());
    for (at, text) in texts.iter().enumerate() {
        let above = above(text);
        if above.is_empty() {
            kept += &record(at, text);
            continue;
        }
        removed += &record(at, text);
        let value = |(part, whole): (u64, u64)| {
            if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e6).round() / 1e6 }
        };
        let values =
            measures(text).into_iter().zip(LIMITS).map(|(share, (name, _))| (name, json!(value(share))));
        rows.push(json!({
            "id": format!("d{at}"), "file": "in.jsonl", "line": at + 1, "words": words(text).len(), "above": above,
            "measures": values.map(|(name, value)| (name.to_owned(), value)).collect::<serde_json::Map<_, _>>(),
        }));
    }
    assert!(rows.len() > 50 && rows.len() < 350, "{}", rows.len());
    let read = |name: &str| fs::read_to_string(dir.join(name)).expect("text");
    assert_eq!((read("out/kept/in.jsonl"), read("out/removed/in.jsonl")), (kept, removed));
    assert_eq!(jsonl(read("out/repetition.jsonl").as_bytes()), rows);
    let summary: Value = serde_json::from_str(&read("out/summary.json")).expect("JSON");
    assert_eq!((&summary["documents"], &summary["above"]), (&json!(400), &json!(rows.len())));
    for (measure, (name, limit)) in summary["measures"].as_array().expect("rows").iter().zip(LIMITS) {
        let documents = texts.iter().filter(|text| above(text).contains(&name)).count();
        assert_eq!(measure["documents"], json!(documents), "{name}");
        assert_eq!(
            (measure["measure"].as_str(), measure["limit"].as_f64()),
            (Some(name), Some(limit as f64 / 100.0))
        );
    }
    ran.says(&format!("{} of 400 documents repeat themselves", rows.len())).says("kept in out/kept");
}

#[test]
fn the_sample_is_measured_as_the_obvious_program_measures_it() {
    let sample =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).expect("the sample");
    // Words and lines that the two programs see alike.
    let plain =
        |text: &str| text.replace(|c: char| !c.is_ascii(), " ").replace(['\'', '\r', '\u{b}', '\u{c}'], " ");
    let texts: Vec<String> = jsonl(&sample)
        .iter()
        .map(|row| plain(row["text"].as_str().expect("a text")))
        .map(|text| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
        .collect();
    let dir = Dir::new();
    dir.write("in.jsonl", records(&texts));
    dir.alike("repetition in.jsonl --out out", None).ok();
    let rows = jsonl(&fs::read(dir.join("out/repetition.jsonl")).expect("a list"));
    let found: Vec<(Value, Value)> =
        rows.into_iter().map(|row| (row["id"].clone(), row["above"].clone())).collect();
    let expected: Vec<(Value, Value)> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| (json!(format!("d{at}")), json!(above(text))))
        .filter(|(_, above)| above != &json!([]))
        .collect();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}

#[test]
fn the_answer_is_the_same_in_every_shape() {
    let (dir, texts) = (Dir::new(), documents(4000));
    let text = records(&texts);
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    dir.write("in/a.jsonl", all[..2000].concat());
    dir.write("in/b.jsonl.gz", gzip(all[2000..3000].concat().as_bytes(), 5000));
    dir.write("in/c.jsonl", all[3000..].concat() + "no record\n");
    dir.write("in/d.jsonl.zst", zst(all[..50].concat().as_bytes(), 5000));
    let shapes: [(Shape, &str); 4] = [((1, 3), ""), ((1, 1), "--memory 36M"), ((2, 1), ""), ((3, 2), "")];
    let run = |shape: Shape, more: &str| {
        done(&dir, shape, &format!("repetition in --out out --write-removed {more}"));
        let output = written(&dir.join("out"));
        fs::remove_dir_all(dir.join("out")).expect("removed");
        output
    };
    let want = run((1, 1), "");
    assert!(want.len() == 11, "{:?}", want.keys());
    for (shape, more) in shapes {
        assert_same(&want, &run(shape, more), &format!("{shape:?} {more}"));
    }
    assert_eq!(dir.names(), ["in"]);
}

#[test]
fn limits_can_be_others() {
    let dir = Dir::new();
    dir.write("in.jsonl", records(&["a b\na b\nc d\ne f\ng h\n", "one two three"].map(str::to_owned)));
    let above = |flags: &str| {
        let ran = dir.alike(&format!("repetition in.jsonl --dry-run --json {flags}"), None).ok();
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        report["above"].as_u64().expect("a number")
    };
    // A fifth of the lines stands before, and a fifth of the characters; the first 2-gram has two fifths.
    assert_eq!(above(""), 1);
    assert_eq!(above("--limit top-2-gram=0.4"), 0);
    assert_eq!(above("--limit top-2-gram=1 --limit duplicate-lines=0.19"), 1);
    for (flags, says) in [
        ("--limit lines=0.2", "duplicate-lines, duplicate-paragraphs"),
        ("--limit top-2-gram", "top-2-gram=0.25"),
        ("--limit top-2-gram=0", "no share"),
        ("--limit top-2-gram=20%", "no share"),
    ] {
        dir.alike(&format!("repetition in.jsonl --dry-run {flags}"), None).code(2).says(says);
    }
    assert_eq!(dir.names(), ["in.jsonl"]);
}

#[test]
fn bad_and_extreme_inputs_have_an_answer() {
    let dir = Dir::new();
    let many = "word ".repeat(1_000_000);
    dir.write(
        "in.jsonl",
        records(&[many, String::new(), "\u{4e00}\u{4e00}\u{4e00}\u{4e00}".into()]) + "nothing\n",
    );
    dir.alike("repetition in.jsonl --out strict --strict", None).code(3).says("--strict");
    dir.alike("repetition in.jsonl --out out --memory 256M", None).code(3).says("in.jsonl");
    dir.write("in.jsonl", records(&["word ".repeat(1_000_000), "\u{4e00}\u{4e00}\u{4e00}\u{4e00}".into()]));
    dir.alike("repetition in.jsonl --out out --memory 256M", None).ok().says("2 of 2 documents");
    let rows = jsonl(&fs::read(dir.join("out/repetition.jsonl")).expect("a list"));
    assert_eq!(rows[0]["measures"]["duplicate-10-grams"], json!(1.0));
    assert_eq!((&rows[0]["words"], &rows[1]["words"]), (&json!(1_000_000), &json!(4)));
    assert_eq!(rows[1]["measures"]["top-2-gram"], json!(1.0));
    dir.alike("repetition no.jsonl --dry-run", None).code(3).says("no.jsonl");
    dir.alike("repetition in.jsonl", None).code(2).says("--out");
}
