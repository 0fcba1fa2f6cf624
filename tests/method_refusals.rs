//! What the methods of terms refuse: lexicons that are missing, others, too small or damaged; flags that would change
//! nothing; and what is counted of texts and dates that they cannot use.

use std::fs;

use serde_json::{Value, json};

use crate::support::job::done;
use crate::support::output::{Output, jsonl};
use crate::support::program::Dir;
use crate::support::texts::line;

/// A word of letters.
fn spelt(number: usize) -> String {
    (0..3).map(|place| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8)).collect()
}

fn words(from: usize, count: usize) -> String {
    (from..from + count).map(spelt).collect::<Vec<_>>().join(" ")
}

/// `in.jsonl` with texts of eighty terms, the lexicon `of-it`, and `other` of fewer documents.
fn made() -> Dir {
    let dir = Dir::new();
    let rows: Vec<String> =
        (0..30).map(|at| line(&format!("d{at:02}"), &words(at / 3 * 100 + at % 3, 80))).collect();
    dir.write("in.jsonl", rows.concat());
    dir.write("part.jsonl", rows[..20].concat());
    for (name, input) in [("of-it", "in"), ("other", "part")] {
        dir.alike(&format!("lexicon build {input}.jsonl --min-df 1 --out {name}"), None).ok();
    }
    dir.write("few.jsonl", line("a", &words(0, 10)));
    dir.alike("lexicon build few.jsonl --min-df 1 --out small", None).ok();
    let whole = fs::read_to_string(dir.join("of-it")).unwrap();
    dir.write("damaged", whole.replacen("\t3\n", "\t4\n", 1));
    dir
}

/// The name by which a configuration knows a lexicon.
fn name(dir: &Dir, lexicon: &str) -> String {
    let shown = dir.alike(&format!("lexicon show {lexicon} --json"), None).ok().stdout;
    jsonl(shown.as_bytes())[0]["digest"].as_str().unwrap().to_owned()
}

#[test]
fn lexicons_that_cannot_be_used() {
    let dir = made();
    let before = dir.names();
    dir.write("named.toml", format!("method = 'imatch'\nlexicon = '{}'", name(&dir, "other")));
    for (flags, code, part) in [
        ("--method term-vector --lexicon small", 4, "has 10 terms, and a vector of 60 terms needs 60"),
        ("--method term-vector --lexicon damaged", 4, "damaged"),
        ("--method imatch --lexicon in.jsonl", 4, "no lexicon"),
        ("--method salient --lexicon missing", 4, "missing"),
        ("--method salient --lexicon small", 4, "has 10 terms, and a choice of 40 salient terms needs 40"),
        ("--method cosine --lexicon small", 4, "has no term in 5 % of its 1 documents or in fewer"),
        ("--config named.toml --lexicon of-it", 4, &*name(&dir, "other")),
    ] {
        for command in ["dedup in.jsonl --out refused", "load refused in.jsonl"] {
            dir.alike(&format!("{command} {flags}"), None).code(code).says(part);
            // A lock stays, since others may be waiting for it.
            let left = fs::read_dir(dir.join("refused")).map_or(0, Iterator::count);
            assert!(left == 0 || left == 1 && dir.join("refused/lock").is_file(), "{command} {flags}");
            drop(fs::remove_dir_all(dir.join("refused")));
        }
    }
    dir.alike("load refused in.jsonl --method cosine", None)
        .code(2)
        .says("needs a lexicon")
        .says("--lexicon");
    assert!(!dir.join("refused").exists());
    // Of so few documents none can be made by the way.
    dir.alike("dedup few.jsonl --out refused --method imatch", None)
        .code(2)
        .says("no term is in 5 documents");
    fs::remove_file(dir.join("named.toml")).unwrap();
    assert_eq!(dir.names(), before);
}

#[test]
fn flags_that_would_change_nothing() {
    let dir = made();
    for (flags, part) in [
        ("--method join --common-cap 10", "--common-cap has no effect with method join"),
        ("--method imatch --common-cap 10", "--common-cap has no effect with method imatch"),
        ("--method join --lexicon of-it", "--lexicon has no effect with method join"),
        ("--preset broder1997 --lexicon of-it", "--lexicon has no effect with method shingles"),
        ("--method imatch --threshold 0.9", "an equal signature decides"),
        ("--method fingerprint --threshold 0.9", "an equal fingerprint decides"),
        ("--method term-vector --threshold 0.9", "sharing 50 of 60 terms decides"),
        ("--method cosine --stem english", "a lexicon has words as they are"),
        ("--method exact --verify=edits", "nothing is left to verify"),
        ("--method imatch --ngram 7", "--ngram has no effect with method imatch"),
        ("--method lines --ngram 7 --verify=edits", "--ngram has no effect with method lines"),
        ("--method join --verify=resemblance", "--verify has no effect with method join"),
    ] {
        dir.dedup(&format!("in.jsonl --out refused {flags}")).code(2).says(part);
    }
    let flags = "--method imatch --lexicon of-it --verify=resemblance --threshold 0.9";
    let verified = dir.output(&format!("in.jsonl {flags}"), "out");
    assert_eq!(verified.summary["configuration"]["verify"], json!("resemblance"));
    assert!(!dir.join("refused").exists());
}

/// In a collection no document is protected from another.
#[test]
fn a_collection_does_not_join_by_containment_of_protected() {
    let dir = made();
    let refused = dir.alike("load excerpts in.jsonl --measure containment-of-protected", None).code(2);
    refused.says("join.measure").says("--against").says("take --measure containment here");
    assert!(!dir.join("excerpts").exists());
    dir.alike("load excerpts in.jsonl --measure containment", None).ok();
    let clustering = |collection: &str| {
        let info = dir.alike(&format!("info {collection} --json"), None).ok().stdout;
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        info["configuration"]["cluster"]["clustering"].as_str().unwrap_or_else(|| panic!("{info}")).to_owned()
    };
    assert_eq!(clustering("excerpts"), "guarantee");
    dir.alike("load excerpts in.jsonl", None).ok();
    dir.write("contained.toml", "[join]\nmeasure = 'containment'\n[count]\nrule = 'containment'");
    dir.alike("load excerpts in.jsonl --config contained.toml", None).ok();
    dir.alike("load linked in.jsonl --measure containment --clustering transitive", None).ok();
    dir.alike("load whole in.jsonl", None).ok();
    assert_eq!((&*clustering("linked"), &*clustering("whole")), ("transitive", "transitive"));
}

#[test]
fn an_evaluation_has_one_lexicon_for_all_methods() {
    let dir = made();
    dir.write("named.toml", format!("method = 'imatch'\nlexicon = '{}'", name(&dir, "other")));
    let ran = dir.alike("evaluate in.jsonl --config named.toml --lexicon other --format json", None).ok();
    let told = &jsonl(ran.stdout.as_bytes())[0]["rows"];
    assert!(told[0]["ran"].is_object() && told[1]["ran"].is_object(), "{told}");
    let line = "evaluate in.jsonl --config named.toml --lexicon of-it";
    dir.alike(line, None).code(4).says(&name(&dir, "other"));
    let ran = dir.alike(&format!("{line} --preset web --format json"), None).ok();
    let told = &jsonl(ran.stdout.as_bytes())[0]["rows"];
    assert!(told[1]["failed"].as_str().is_some_and(|why| why.contains(&name(&dir, "other"))), "{told}");
    assert!(told[0]["ran"].is_object(), "{told}");
    dir.alike("evaluate in.jsonl --config named.toml --lexicon missing", None).code(4).says("missing");
    dir.alike("evaluate in.jsonl --preset web --lexicon other", None)
        .code(2)
        .says("none of the methods looks terms up");
}

#[test]
fn a_collection_has_its_lexicon_for_ever() {
    let dir = made();
    let (of_it, other) = (name(&dir, "of-it"), name(&dir, "other"));
    dir.alike("load c in.jsonl --method term-vector --lexicon of-it", None).ok();
    let clusters = |dir: &Dir| dir.alike("clusters c --json", None).ok().stdout;
    let before = clusters(&dir);
    assert_eq!(before.lines().count(), 10);
    dir.alike("load c in.jsonl --lexicon other", None).code(2).says(&of_it).says(&other);
    // The same one may be named again, or none, and its file may be gone.
    dir.alike("load c part.jsonl --lexicon of-it", None).ok();
    fs::remove_file(dir.join("of-it")).unwrap();
    dir.write("more.jsonl", line("e", &words(1, 80)) + &line("f", &words(2000, 80)));
    dir.alike("load c more.jsonl", None).ok();
    let rows = jsonl(clusters(&dir).as_bytes());
    let size = |row: &Value| row["members"].as_array().unwrap().len();
    assert_eq!((rows.len(), rows.iter().map(size).max()), (10, Some(4)));
    dir.alike("fsck c", None).ok();
    let configuration = dir.alike("info c", None).ok().stdout;
    assert!(configuration.contains(&of_it), "{configuration}");
}

/// One text on several days, with a date that is none, without one, and one of too few terms.
#[test]
fn texts_and_dates_that_cannot_be_used_are_counted() {
    let dir = made();
    let row =
        |id: &str, text: &str, date: Value| json!({"id": id, "text": text, "date": date}).to_string() + "\n";
    let (long, few) = (words(3, 80), words(3, 10));
    let rows = [
        row("day", &long, json!("2024-03-10")),
        row("weeks", &(long.clone() + " more"), json!("2024-04-20")),
        row("years", &long, json!("2029-03-10")),
        row("unclear", &long, json!("03/04/2024")),
        row("none", &long, Value::Null),
        row("few", &few, json!("2024-03-10")),
        row("copy", &few.to_uppercase(), json!("2031-03-10")),
    ];
    dir.write("dated.jsonl", rows.concat());
    let flags = "dated.jsonl --method term-vector --lexicon of-it --clustering transitive";
    let plain = dir.output(flags, "plain");
    assert_eq!((&plain.summary["too_few_terms"], &plain.summary["missing_date"]), (&json!(2), &json!(0)));
    assert_eq!(plain.partition().len(), 2);
    dir.dedup(&format!("{flags} --date-field date --out dated")).ok().says("2 texts").says("2 documents");
    let dated = Output::read(&dir.join("dated"));
    assert_eq!((&dated.summary["too_few_terms"], &dated.summary["missing_date"]), (&json!(2), &json!(2)));
    let (too_few_terms, missing_date) = (json!(["few", "copy"]), json!(["unclear", "none"]));
    assert_eq!(
        (&dated.summary["first_too_few_terms"], &dated.summary["first_missing_date"]),
        (&too_few_terms, &missing_date)
    );
    done(&dir, (2, 2), &format!("dedup {flags} --date-field date --out both"));
    let both = Output::read(&dir.join("both"));
    assert_eq!(
        (&both.summary["first_too_few_terms"], &both.summary["first_missing_date"]),
        (&too_few_terms, &missing_date)
    );
    // Equal texts of other years are no duplicates, but where there are too few terms; without a date is one day.
    assert_eq!(dated.partition(), [vec!["copy", "few"], vec!["day", "weeks"], vec!["none", "unclear"]]);
    let line = "load c dated.jsonl --method term-vector --lexicon of-it --date-field date --json";
    let report: Value = serde_json::from_str(&dir.alike(line, None).ok().stdout).unwrap();
    assert_eq!((&report["too_few_terms"], &report["missing_date"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(
        (&report["first_too_few_terms"], &report["first_missing_date"]),
        (&too_few_terms, &missing_date),
        "{report}"
    );
    let line = line.replace("load c", "load parts") + " --epoch 1K";
    let report: Value = serde_json::from_str(&dir.alike(&line, None).ok().stdout).unwrap();
    assert!(report["epochs"].as_u64() > Some(1), "{report}");
    assert_eq!(
        (&report["first_too_few_terms"], &report["first_missing_date"]),
        (&too_few_terms, &missing_date),
        "{report}"
    );
    let partition = |dir: &Dir| {
        let rows = jsonl(dir.alike("clusters c --json", None).ok().stdout.as_bytes());
        let mut all: Vec<Value> = rows.iter().map(|row| row["members"].clone()).collect();
        all.sort_by_key(Value::to_string);
        all
    };
    assert_eq!(
        partition(&dir),
        [json!(["copy", "few"]), json!(["day", "weeks"]), json!(["none", "unclear"])]
    );
    // The same text on another day.
    dir.write(
        "again.jsonl",
        row("years", &long, json!("2024-03-30")) + &row("few", &few, json!("1999-01-01")),
    );
    dir.alike("load c again.jsonl", None).ok();
    assert_eq!(
        partition(&dir),
        [json!(["copy", "few"]), json!(["day", "weeks", "years"]), json!(["none", "unclear"])]
    );
    dir.alike("fsck c", None).ok();
}
