//! Kinds of duplicates and word edit distances, as `dedup --kinds` and collections tell them.

use serde_json::{Value, json};

use crate::support::job::done;
use crate::support::output::{Output, jsonl, sorted};
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// Two articles of 200 words and duplicates of each kind: `id kind edits` of what is removed, in place of each.
fn made() -> (String, Vec<(&'static str, &'static str, u64)>) {
    let article = words(0, 200);
    let middle = |inserted: &str| format!("{} {inserted} {}", words(0, 100), words(100, 100));
    let replaced: Vec<String> =
        (0..200).map(|i| if i % 50 == 25 { format!("new{i}") } else { format!("w{i}") }).collect();
    // Stretches of 20 words in the reverse order: most shingles stay, and no two stretches are in order.
    let moved: Vec<String> = (0..10).rev().map(|stretch| words(stretch * 20, 20)).collect();
    let texts = [
        ("a", article.clone()),
        ("same", article.to_uppercase() + "."),
        ("front", words(0, 180)),
        ("paragraph", middle(&words(1000, 40))),
        ("sentence", middle(&words(2000, 12))),
        ("rewrite", moved.join(" ")),
        ("corrected", replaced.join(" ")),
        ("other", words(5000, 100)),
    ];
    let rows = vec![
        ("same", "exact", 0),
        ("front", "excerpt", 20),
        ("paragraph", "elaboration", 40),
        ("sentence", "insertion", 12),
        ("rewrite", "focus", 0),
        ("corrected", "revision", 4),
    ];
    (texts.iter().map(|(id, text)| line(id, text)).collect(), rows)
}

/// What does not depend on how a run is made.
fn essence(output: &Output) -> [Value; 3] {
    let kinds = output.summary["kinds"].clone();
    [json!(sorted(output.duplicates.clone())), json!(sorted(output.pairs.to_vec())), kinds]
}

#[test]
fn each_kind_is_told_by_its_name() {
    let dir = Dir::new();
    let (corpus, expected) = made();
    dir.write("in.jsonl", &corpus);
    let output = dir.output("in.jsonl --kinds --pairs --threshold 0.6 -w 1", "out");
    let row = |id: &str| output.duplicates.iter().find(|row| row["id"] == id).unwrap().clone();
    for (id, kind, edits) in &expected {
        let row = row(id);
        assert_eq!(row["kind"], *kind, "{row}");
        // Words that moved: how many edits that takes is for the slow twin to say.
        assert!(*kind == "focus" || row["edits"] == *edits, "{row}");
        assert!(row.get("edits_above").is_none() && row["representative"] == "a", "{row}");
    }
    assert!(row("rewrite")["edits"].as_u64().unwrap() > 100);
    let of = |kind: &str| {
        let rows = output.summary["kinds"]["kinds"].as_array().unwrap();
        rows.iter().find(|row| row["kind"] == kind).unwrap().clone()
    };
    // One cluster: of six kinds with one document each the first counts.
    assert_eq!(
        of("exact"),
        json!({"kind": "exact", "sets": 1, "documents": 7, "removed": 1, "mean_edit_share": 0.0})
    );
    assert_eq!(
        of("excerpt"),
        json!({"kind": "excerpt", "sets": 0, "documents": 0, "removed": 1, "mean_edit_share": 0.1})
    );
    // Pairs are of first documents of two texts, or copies of the first.
    let pair = |a: &str, b: &str| output.pairs.iter().find(|pair| pair["a"] == a && pair["b"] == b).unwrap();
    assert_eq!((&pair("a", "same")["kind"], &pair("a", "same")["edits"]), (&json!("exact"), &json!(0)));
    assert_eq!(pair("a", "sentence")["kind"], "insertion");
    // Twelve words in place of others, 28 more.
    assert_eq!(pair("paragraph", "sentence")["edits"], 40);
    assert!(output.pairs.iter().all(|pair| pair["kind"].is_string() && pair["edits"].is_u64()));
    dir.dedup("in.jsonl --kinds --dry-run --threshold 0.6")
        .ok()
        .says("elaboration")
        .says("of the words on average");
    let plain = dir.output("in.jsonl --pairs --threshold 0.6", "plain");
    let silent =
        |rows: &[Value]| rows.iter().all(|row| row.get("kind").is_none() && row.get("edits").is_none());
    assert!(silent(&plain.duplicates) && silent(&plain.pairs) && plain.summary.get("kinds").is_none());
}

#[test]
fn kinds_do_not_depend_on_workers_memory_files_or_processes() {
    let dir = Dir::new();
    let licences = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    dir.write("in/licences.jsonl", &licences);
    dir.write("in/made.jsonl", made().0);
    for flags in
        ["--pairs --threshold 0.6", "--method minhash --clustering transitive --tokens chars --ngram 9"]
    {
        let one = essence(&dir.output(&format!("in --kinds {flags} -w 1"), "one"));
        assert!(one[0].as_array().unwrap().len() > 50, "{flags}");
        for (name, shape) in [("three", "-w 3"), ("little", "-w 2 --memory 44M")] {
            let other = essence(&dir.output(&format!("in --kinds {flags} {shape}"), name));
            assert!(one == other, "{flags} {shape}");
        }
        done(&dir, (2, 1), &format!("dedup in --kinds {flags} --out two"));
        assert!(one == essence(&Output::read(&dir.join("two"))), "{flags}: two processes");
        for name in ["one", "three", "little", "two"] {
            std::fs::remove_dir_all(dir.join(name)).unwrap();
        }
    }
}

/// Wang and Gemmell, figures 2 and 4: chains bring together what has little in common; with a guarantee they cannot.
#[test]
fn fewer_words_are_edited_under_a_guarantee() {
    let dir = Dir::new();
    let licences = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl")).unwrap();
    dir.write("in.jsonl", &licences);
    let share = |clustering: &str, which: &str| {
        let output =
            dir.output(&format!("in.jsonl --kinds --threshold 0.5 --clustering {clustering}"), which);
        let kinds = &output.summary["kinds"];
        assert_eq!(kinds["not_measured"], 0);
        (kinds["mean_edit_share"].as_f64().unwrap(), kinds["largest_edit_share"].as_f64().unwrap())
    };
    let (guarantee, transitive) = (share("guarantee", "one"), share("transitive", "two"));
    assert!(guarantee.0 < transitive.0 && guarantee.1 < transitive.1, "{guarantee:?} {transitive:?}");
}

/// A collection gives the same report as the files it was loaded from, whether it keeps their records or not; and if it
/// does not and they are gone, that is said.
#[test]
fn collections_tell_the_kinds_of_pairs() {
    let dir = Dir::new();
    dir.write("in.jsonl", made().0);
    let pairs = sorted(dir.output("in.jsonl --kinds --pairs --threshold 0.6", "out").pairs.to_vec());
    let named = |pairs: &[Value]| {
        // A collection has its documents in the order of ids: which end of a pair comes first is another matter.
        let ends = |pair: &Value| {
            let mut ends = [pair["a"].clone(), pair["b"].clone()].map(|id| id.as_str().unwrap().to_owned());
            ends.sort();
            json!([ends, pair["kind"], pair["edits"]])
        };
        sorted(pairs.iter().map(ends).collect())
    };
    for (name, flags) in [("files", ""), ("records", "--store-text")] {
        dir.alike(&format!("load {name} in.jsonl --threshold 0.6 {flags}"), None).ok();
        for shape in ["-w 1", "-w 3"] {
            let told =
                jsonl(dir.alike(&format!("pairs {name} --kinds {shape}"), None).ok().stdout.as_bytes());
            assert_eq!(named(&told), named(&pairs), "{name} {shape}");
        }
        let explained = dir.alike(&format!("explain {name} a sentence"), None).ok().stdout;
        let explained: Value = serde_json::from_str(&explained).unwrap();
        let step = &explained["chain"][0];
        assert_eq!((&step["kind"], &step["edits"]), (&json!("insertion"), &json!(12)), "{explained}");
    }
    std::fs::remove_file(dir.join("in.jsonl")).unwrap();
    dir.alike("pairs records --kinds", None).ok();
    dir.alike("pairs files --kinds", None).code(3).says("in.jsonl").says("--store-text");
}
