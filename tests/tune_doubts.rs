//! `alike tune` where there is reason for doubt: a gap with texts in it, labels that say nothing, inputs without texts. And
//! `--fold`, with which a suggestion is another one.

use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{line, pairs_at};

/// Writes pairs of texts that resemble each other at about the given percentages, with the ids `d0`, `d1` and so on.
fn write(dir: &Dir, percentages: impl IntoIterator<Item = usize>) {
    let texts = pairs_at(percentages);
    let lines: String =
        texts.iter().enumerate().map(|(number, text)| line(&format!("d{number}"), text)).collect();
    dir.write("in.jsonl", lines);
}

fn tune(dir: &Dir, line: &str) -> Ran {
    dir.alike(&format!("tune threshold in.jsonl --words 1 --chars 0 -q {line}"), None)
}

fn told(dir: &Dir, line: &str) -> Value {
    jsonl(tune(dir, line).ok().stdout.as_bytes()).remove(0)
}

/// Two heaps of 200 pairs, one below 0.5 and one above 0.8, and others.
fn heaps(between: impl Iterator<Item = usize>) -> Vec<usize> {
    (0..200).flat_map(|number| [35 + number % 12, 84 + number % 11]).chain(between).collect()
}

#[test]
fn a_gap_holds_few_texts_and_they_are_told() {
    let dir = Dir::new();
    // Each hundredth between has four texts, where those of the heaps have more than 30: 144 of 944 in all.
    write(&dir, heaps((0..72).map(|number| 48 + number / 2)));
    let crowded = told(&dir, "");
    assert_eq!((&crowded["shingles"][0]["gap"], &crowded["suggestion"]), (&Value::Null, &Value::Null));
    assert_eq!(crowded["no_suggestion"]["reason"], "no-gap");
    let said = tune(&dir, "--format table").ok().stdout;
    assert!(said.contains("There is no gap") && !said.contains("Suggested"), "{said}");

    write(&dir, heaps([58, 60, 62].into_iter()));
    let clear = told(&dir, "");
    assert_eq!((&clear["suggestion"]["threshold"], &clear["no_suggestion"]), (&json!(0.75), &Value::Null));
    let caution = "6 texts of 806 lie in the gap (0.74 %): which of them are duplicates only labels can say.";
    assert_eq!(clear["suggestion"]["cautions"], json!([caution]));
    let said = tune(&dir, "--format table").ok().stdout;
    assert!(said.contains("Suggested: --tokens words --ngram 1 --threshold 0.75\n"), "{said}");
    assert!(said.contains(&format!("\n{caution}\n")), "{said}");
    assert!(tune(&dir, "--toml").ok().stdout.contains(&format!("# {caution}\n")));
}

/// Labels of pairs 0, 1 and so on, by whether they are duplicates.
fn judged(dir: &Dir, grades: impl IntoIterator<Item = bool>) {
    let rows = (0..).zip(grades);
    let row =
        |(pair, grade): (usize, bool)| format!("d{}\td{}\t{}\n", 2 * pair, 2 * pair + 1, u8::from(grade));
    dir.write("l.tsv", "id_a\tid_b\tgrade\n".to_owned() + &rows.map(row).collect::<String>());
}

/// Nothing is suggested for the labels, in any form, and all forms say why.
#[track_caller]
fn nothing(dir: &Dir, reason: &str, f1: Option<f64>, parts: &[&str]) {
    let report = told(dir, "--labels l.tsv");
    assert_eq!(report["suggestion"], Value::Null, "{report}");
    assert_eq!(report["no_suggestion"]["reason"], reason, "{report}");
    assert_eq!(report["shingles"][0]["inseparable"], reason);
    let found = report["no_suggestion"]["best_f1"].as_f64();
    assert!(
        found.is_some() == f1.is_some() && (found.unwrap_or(0.0) - f1.unwrap_or(0.0)).abs() < 0.005,
        "{report}"
    );
    let said = tune(dir, "--labels l.tsv --format table").ok().stdout;
    assert!(
        said.contains("\nNothing is suggested. ")
            && !said.contains("Suggested")
            && parts.iter().all(|part| said.contains(part)),
        "{said}"
    );
    let refused = tune(dir, "--labels l.tsv --toml").code(3);
    assert_eq!(refused.stdout, "");
    parts.iter().fold(refused.says("l.tsv: no configuration"), |ran, part| ran.says(part));
}

#[test]
fn labels_that_say_nothing_suggest_nothing() {
    let dir = Dir::new();
    let levels = || (0..90).map(|number| 5 + number);
    write(&dir, levels());
    judged(&dir, levels().map(|level| level > 50));
    let good = told(&dir, "--labels l.tsv");
    assert_eq!((&good["suggestion"]["f1"], &good["no_suggestion"]), (&json!(1.0), &Value::Null), "{good}");
    assert_eq!(
        (&good["suggestion"]["cautions"], &good["shingles"][0]["inseparable"]),
        (&json!([]), &Value::Null)
    );

    let separate = "The labels do not separate with these shingles";
    // Every tenth pair, whatever its level: 2 * 9 / (81 + 9).
    judged(&dir, levels().map(|level| level % 10 == 4));
    nothing(&dir, "low-f1", Some(0.2), &[separate, "F1 is 0.2", "(1 word at ", "below 0.5", "--words"]);
    // By lot: with all of them F1 is 2 * 45 / (90 + 45).
    judged(&dir, levels().map(|level| level % 2 == 0));
    nothing(
        &dir,
        "no-better-than-all",
        Some(0.67),
        &[
            separate,
            "F1 is 0.6",
            "mistakes; to take every labelled pair for a duplicate makes 45",
            "check the labels",
        ],
    );
    judged(&dir, levels().map(|_| false));
    nothing(&dir, "no-duplicates", None, &["of no measured pair that it is a duplicate", "Label some"]);
    judged(&dir, levels().map(|_| true));
    nothing(&dir, "no-others", Some(1.0), &["that it is no duplicate", "--unlisted distinct"]);
}

#[test]
fn duplicates_below_the_floor_are_told() {
    let dir = Dir::new();
    write(&dir, (0..20).map(|number| 5 + number).chain((0..40).map(|number| 35 + number)));
    let clusters = |pairs: std::ops::Range<usize>| {
        let row = |document: usize| format!("d{document}\tc{}\n", document / 2);
        let rows: String = (2 * pairs.start..2 * pairs.end).map(row).collect();
        dir.write("l.tsv", format!("id\tcluster\n{rows}"));
    };
    clusters(0..20);
    nothing(&dir, "none-found", None, &["No threshold from --floor 0.3 on", "a lower --floor"]);
    clusters(10..60);
    let report = told(&dir, "--labels l.tsv");
    let best = &report["shingles"][0]["best"];
    assert_eq!((&best["from"], &best["at_floor"], &best["recall"]), (&json!(0.3), &json!(true), &json!(0.8)));
    let caution = "The range begins at --floor 0.3, and 10 of 50 labelled duplicates are below that: a lower --floor may give a better one.";
    assert_eq!(report["suggestion"]["cautions"], json!([caution]));
    assert!(tune(&dir, "--labels l.tsv --toml").ok().stdout.contains(caution));
    // With a lower floor all are found.
    let lower = told(&dir, "--labels l.tsv --floor 0.1");
    assert_eq!((&lower["suggestion"]["f1"], &lower["suggestion"]["cautions"]), (&json!(1.0), &json!([])));
}

#[test]
fn inputs_without_texts_are_refused() {
    let dir = Dir::new();
    dir.write("empty.jsonl", "");
    dir.write("bare.jsonl", line("a", "") + &line("b", "..."));
    dir.write("one.jsonl", line("a", "one two three") + &line("b", "-"));
    dir.write("l.tsv", "id_a\tid_b\tgrade\na\tb\t1\n");
    for command in
        ["threshold", "threshold --toml", "threshold --labels l.tsv", "sample", "sampling", "sampling --toml"]
    {
        let tune = |files: &str| {
            let ran = dir.alike(&format!("tune {command} {files}"), None).code(3);
            assert_eq!(ran.stdout, "", "{command} {files}");
            ran
        };
        tune("empty.jsonl").says("empty.jsonl: no documents to measure; check the files");
        tune("bare.jsonl")
            .says("bare.jsonl: 2 documents without any word; is the text field right (--text-field)?");
        tune("empty.jsonl bare.jsonl").says("empty.jsonl, bare.jsonl: 2 documents without any word");
    }
    // A threshold is about two texts; what goes of one can be told.
    let few = "one.jsonl: only 1 document has a word";
    dir.alike("tune threshold one.jsonl", None).code(3).says(few).says("name more documents");
    dir.alike("tune sample one.jsonl", None).ok();
    // A part of the inputs may have no text where the rest has.
    dir.write("late.jsonl", line("a", "") + &line("b", "one two three") + &line("c", "one two four"));
    dir.alike("tune sample late.jsonl --sample 10", None)
        .code(3)
        .says("late.jsonl")
        .says("a larger --sample");
    dir.alike("tune sample late.jsonl", None).ok();
    let bare: String = (0..300).map(|number| line(&format!("e{number}"), "")).collect();
    dir.write("rare.jsonl", bare + &line("b", "one two three") + &line("c", "one two four"));
    let some = dir.alike("tune threshold rare.jsonl --documents 2", None).code(3);
    some.says("rare.jsonl: 2 documents without any word").says("more --documents");
}

/// Letters with marks and without.
const MARKED: [(char, char); 3] = [('\u{e9}', 'e'), ('\u{f6}', 'o'), ('\u{e0}', 'a')];

#[test]
fn a_suggestion_carries_its_fold() {
    let dir = Dir::new();
    // Pairs that differ in marks alone, and pairs that differ in words.
    let text =
        |number: usize| (0..12).map(|at| format!("\u{e9}{number}x\u{f6}{at}\u{e0}")).collect::<Vec<_>>();
    let plain = |text: &str| {
        MARKED.iter().fold(text.to_owned(), |text, (marked, bare)| text.replace(*marked, &bare.to_string()))
    };
    let (mut lines, mut labels) = (String::new(), "id_a\tid_b\tgrade\n".to_owned());
    for number in 0..6 {
        let words = text(number);
        lines += &line(&format!("d{number}"), &words.join(" "));
        lines += &line(&format!("p{number}"), &plain(&words.join(" ")));
        lines += &line(&format!("h{number}"), &format!("{} y{number}", words[..6].join(" ")));
        labels += &format!("d{number}\tp{number}\t1\nd{number}\th{number}\t0\n");
    }
    dir.write("in.jsonl", lines);
    dir.write("l.tsv", labels);
    let without = told(&dir, "--labels l.tsv");
    assert_eq!((&without["fold"], &without["suggestion"]), (&json!(["forms"]), &Value::Null));
    assert_eq!(without["no_suggestion"]["reason"], "none-found");
    let with = told(&dir, "--labels l.tsv --fold marks");
    let fold = json!(["forms", "marks"]);
    assert_eq!((&with["fold"], &with["suggestion"]["fold"]), (&fold, &fold));
    assert_eq!(with["suggestion"]["f1"], 1.0);
    let said = tune(&dir, "--labels l.tsv --fold marks --format table").ok().stdout;
    let flags = said.lines().find_map(|line| line.strip_prefix("Suggested: ")).expect("a suggestion");
    assert!(flags.ends_with(" --fold forms,marks"), "{flags}");

    // The flags and the configuration are the same run.
    dir.write("my.toml", tune(&dir, "--labels l.tsv --fold marks --toml").ok().stdout);
    let summary = |flags: &str, out: &str| -> Value {
        dir.dedup(&format!("in.jsonl {flags} --out {out} -q")).ok();
        let bytes = std::fs::read(dir.join(&format!("{out}/summary.json"))).expect("a summary");
        serde_json::from_slice(&bytes).expect("JSON")
    };
    let (by_file, by_flags) = (summary("--config my.toml", "a"), summary(flags, "b"));
    assert_eq!(by_file["configuration"], by_flags["configuration"]);
    assert_eq!(
        (&by_file["configuration"]["text"]["fold"], &by_file["removed"]),
        (&fold, &by_flags["removed"])
    );

    // The others fold, too.
    let copies = |flags: &str| {
        let ran = dir.alike(&format!("tune sample in.jsonl -q --threshold 0.9 {flags}"), None).ok();
        jsonl(ran.stdout.as_bytes()).remove(0)["thresholds"][0]["copies"].clone()
    };
    assert_eq!((copies(""), copies("--fold marks")), (json!(0), json!(6)));
    let plan =
        |flags: &str| dir.alike(&format!("tune sampling in.jsonl -q --toml {flags}"), None).ok().stdout;
    assert!(plan("--fold none").contains("\nfold = []\n") && !plan("").contains("fold"));
    for command in ["threshold", "sample", "sampling"] {
        dir.alike(&format!("tune {command} in.jsonl --fold accents"), None).code(2).says("marks");
        dir.alike(&format!("tune {command} in.jsonl --fold none,marks"), None)
            .code(2)
            .says("none stands alone");
    }
}
