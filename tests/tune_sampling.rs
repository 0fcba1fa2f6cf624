//! `alike tune sampling` against the obvious program, which measures every pair; and `alike tune sample`.

use std::collections::BTreeSet;

use alike::config::{Fold, Tokens};
use alike::simd::Simd;
use alike::sketch::{shingles, size_group};
use alike::text::Tokenizer;
use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::line;

const RATIOS: [u64; 6] = [2, 4, 8, 16, 32, 64];

const GROUPS: usize = 11;

const NGRAM: usize = 4;

/// Families of texts of one length each; every next member has more of its words replaced.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    for (family, words) in [60, 90, 150, 400, 480, 510, 530, 900, 1200].into_iter().enumerate() {
        for member in 0..6 {
            let word = |at: usize| match member > 0 && at % (150 / member) == 7 {
                true => format!("x{member}y{at}"),
                false => format!("f{family}w{at}"),
            };
            texts.push((0..words + 3 * member).map(word).collect::<Vec<_>>().join(" "));
        }
    }
    // Equal texts are one.
    texts.push(texts[3].to_uppercase());
    texts
}

fn write(dir: &Dir, texts: &[String]) {
    let lines: String =
        texts.iter().enumerate().map(|(number, text)| line(&format!("d{number}"), text)).collect();
    dir.write("in.jsonl", lines);
}

/// A distinct text as the obvious program has it.
struct Doc {
    group: usize,
    set: BTreeSet<u64>,
}

fn docs(texts: &[String]) -> Vec<Doc> {
    let mut tokenizer = Tokenizer::new(Tokens::Words, Fold::default(), Simd::Scalar);
    let (mut seen, mut docs) = (BTreeSet::new(), Vec::new());
    for text in texts {
        let tokens = tokenizer.tokens(text).to_vec();
        let mut hashes = Vec::new();
        shingles(&tokens, NGRAM, &mut hashes);
        if seen.insert(tokens.clone()) {
            docs.push(Doc { group: size_group(tokens.len()), set: hashes.into_iter().collect() });
        }
    }
    docs
}

/// All pairs of which four fifths of what either keeps is kept by both, with the group of each.
fn pairs(docs: &[Doc], keep: impl Fn(u64, &Doc) -> bool) -> BTreeSet<(usize, usize, usize)> {
    let kept: Vec<BTreeSet<u64>> =
        docs.iter().map(|doc| doc.set.iter().copied().filter(|hash| keep(*hash, doc)).collect()).collect();
    let mut pairs = BTreeSet::new();
    for b in 0..docs.len() {
        for a in 0..b {
            let (both, either) = (kept[a].intersection(&kept[b]).count(), kept[a].union(&kept[b]).count());
            if either > 0 && 5 * both >= 4 * either {
                pairs.insert((docs[a].group.min(docs[b].group), a, b));
            }
        }
    }
    pairs
}

type Pairs = BTreeSet<(usize, usize, usize)>;

/// Precision and recall of trials as the program tells them, in one group or all.
fn accuracy(trials: &[Pairs], truth: &Pairs, group: Option<usize>) -> Value {
    let of = |pairs: &Pairs| pairs.iter().filter(|pair| group.is_none_or(|group| pair.0 == group)).count();
    let (mut precisions, mut recalls, mut sums) = (Vec::new(), Vec::new(), (0, 0));
    for trial in trials {
        let both: Pairs = trial.intersection(truth).copied().collect();
        let (found, both, truth) = (of(trial), of(&both), of(truth));
        sums = (sums.0 + found, sums.1 + both);
        precisions.extend((found > 0).then(|| both as f64 / found as f64));
        recalls.extend((truth > 0).then(|| both as f64 / truth as f64));
    }
    let mean = |shares: Vec<f64>| {
        let count = shares.len() as f64;
        (!shares.is_empty()).then(|| shares.into_iter().sum::<f64>() / count)
    };
    json!({"precision": mean(precisions), "recall": mean(recalls), "found": sums.0, "both": sums.1})
}

#[track_caller]
fn agree(told: &Value, expected: &Value) {
    for key in ["found", "both"] {
        assert_eq!(told[key], expected[key], "{told} {expected}");
    }
    for key in ["precision", "recall"] {
        match (told[key].as_f64(), expected[key].as_f64()) {
            (Some(told), Some(expected)) => assert!((told - expected).abs() < 1e-12, "{told} {expected}"),
            (told, expected) => assert_eq!(told, expected),
        }
    }
}

#[test]
fn every_measure_is_that_of_all_pairs() {
    let dir = Dir::new();
    let texts = corpus();
    write(&dir, &texts);
    let docs = docs(&texts);
    let ran = dir.alike("tune sampling in.jsonl --ngram 4 --precision 0.9 --recall 0.5 --svg p.svg -q", None);
    let told = jsonl(ran.ok().stdout.as_bytes()).remove(0);
    let truth = pairs(&docs, |_, _| true);
    assert_eq!((&told["texts"], &told["measured"]), (&docs.len().into(), &texts.len().into()));
    assert_eq!(told["pairs"], truth.len());
    let all: usize = docs.iter().map(|doc| doc.set.len()).sum();
    assert_eq!(told["shingles"], all);
    let mut plan = [1; GROUPS];
    for (at, ratio) in RATIOS.into_iter().enumerate() {
        let trials: Vec<Pairs> =
            (0..ratio.min(16)).map(|residue| pairs(&docs, |hash, _| hash % ratio == residue)).collect();
        let measured = &told["by_ratio"][at];
        assert_eq!((&measured["ratio"], &measured["trials"]), (&ratio.into(), &trials.len().into()));
        agree(&measured["all"], &accuracy(&trials, &truth, None));
        for (group, planned) in plan.iter_mut().enumerate() {
            let expected = accuracy(&trials, &truth, Some(group));
            agree(&measured["by_size"][group], &expected);
            let reaches = |key: &str, floor: f64| expected[key].as_f64().is_some_and(|share| share >= floor);
            if reaches("precision", 0.9) && reaches("recall", 0.5) {
                *planned = ratio;
            }
        }
    }
    assert_eq!(told["ratios"], json!(plan));
    assert!(plan.iter().any(|ratio| *ratio > 1), "nothing would be tested: {plan:?}");
    let keep = |hash: u64, doc: &Doc| hash.is_multiple_of(plan[doc.group]);
    agree(&told["adaptive"]["all"], &accuracy(&[pairs(&docs, keep)], &truth, None));
    let kept: usize = docs.iter().map(|doc| doc.set.iter().filter(|hash| keep(**hash, doc)).count()).sum();
    let share = told["adaptive"]["share"].as_f64().unwrap();
    assert!((share - kept as f64 / all as f64).abs() < 1e-12, "{share}");
    let svg = std::fs::read_to_string(dir.join("p.svg")).unwrap();
    assert!(svg.contains("0-500 words") && svg.contains("500-1000 words"), "{svg}");
}

#[test]
fn the_plan_can_be_run_and_depends_on_no_worker() {
    let dir = Dir::new();
    write(&dir, &corpus());
    let tune =
        |line: &str| dir.alike(&format!("tune sampling in.jsonl -q --ngram 4 {line}"), None).ok().stdout;
    dir.write("plan.toml", tune("--toml"));
    dir.alike("dedup in.jsonl --config plan.toml --out out -q", None).ok();
    let summary: Value =
        serde_json::from_slice(&std::fs::read(dir.join("out/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["configuration"]["shingles"]["sampling"], "adaptive");
    // Some of the documents are measured: the same ones, whoever reads them.
    let some: Value = serde_json::from_str(&tune("--documents 20 --workers 1")).unwrap();
    assert_eq!((&some["documents"], &some["measured"]), (&55.into(), &20.into()));
    assert_eq!(
        some.to_string(),
        serde_json::from_str::<Value>(&tune("--documents 20 --workers 3")).unwrap().to_string()
    );
}

#[test]
fn what_would_go_is_what_goes() {
    let dir = Dir::new();
    write(&dir, &corpus());
    let ran = dir.alike("tune sample in.jsonl -q --threshold 0.9 --threshold 0.7", None).ok();
    let told = jsonl(ran.stdout.as_bytes()).remove(0);
    assert_eq!((&told["whole"], &told["documents"]), (&true.into(), &55.into()));
    for (row, threshold) in told["thresholds"].as_array().unwrap().iter().zip(["0.7", "0.9"]) {
        let out = format!("out{threshold}");
        dir.dedup(&format!("in.jsonl --threshold {threshold} --pairs --out {out} -q")).ok();
        let list = |name: &str| jsonl(&std::fs::read(dir.join(&format!("{out}/{name}"))).unwrap());
        assert_eq!(row["removed"], list("duplicates.jsonl").len());
        assert_eq!(
            (&row["copies"], &row["removed"], &row["removed_of_all"]),
            (&1.into(), &row["removed"], &row["removed"])
        );
        // One of the pairs is the copy with its text.
        assert_eq!(row["pairs"], list("pairs.jsonl").len() - 1);
        let limit: f64 = threshold.parse().unwrap();
        let resemblances = |side: &str| -> Vec<f64> {
            row[side].as_array().unwrap().iter().map(|pair| pair["resemblance"].as_f64().unwrap()).collect()
        };
        let (over, under) = (resemblances("over"), resemblances("under"));
        assert!(over.len() == 3 && over.is_sorted() && over[0] >= limit, "{over:?}");
        assert!(under.len() == 3 && under.is_sorted_by(|a, b| a >= b) && under[0] < limit, "{under:?}");
        assert!(row["over"][0]["differ"].as_array().is_some_and(|pieces| !pieces.is_empty()), "{row}");
    }
    let part = dir.alike("tune sample in.jsonl -q --sample 20K", None).ok();
    let part = jsonl(part.stdout.as_bytes()).remove(0);
    assert_eq!((&part["whole"], &part["measured_bytes"]), (&false.into(), &20480.into()));
    assert_eq!(part["thresholds"].as_array().unwrap().len(), 5);
}

/// The places of a table are rows, and what is measured of it is told in bytes.
#[cfg(feature = "parquet")]
#[test]
fn of_a_table_all_is_measured_that_is_all_of_a_file() {
    let dir = Dir::new();
    write(&dir, &corpus());
    dir.dedup("in.jsonl --keep-per-cluster 1000 --to parquet --out table -q").ok();
    let told = |input: &str| -> Value {
        let ran = dir.alike(&format!("tune sample {input} -q --threshold 0.7"), None).ok();
        jsonl(ran.stdout.as_bytes()).remove(0)
    };
    let (table, lines) = (told("table/kept/in.parquet"), told("in.jsonl"));
    assert_eq!((&table["whole"], &table["measured_bytes"]), (&true.into(), &table["bytes"]));
    let counts =
        |told: &Value| ["removed", "removed_of_all", "pairs"].map(|of| told["thresholds"][0][of].clone());
    assert_eq!(counts(&table), counts(&lines));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "one two three"));
    for wrong in [
        "sampling",
        "sampling in.jsonl --precision 1.5",
        "sampling in.jsonl --recall nan",
        "sampling in.jsonl --documents 0",
        "sampling in.jsonl --threshold 0",
        "sampling in.jsonl --ngram 0",
        "sampling in.jsonl --toml --json",
        "sample in.jsonl --sample 0",
        "sample in.jsonl --sample many",
        "sample in.jsonl --threshold 2",
    ] {
        dir.alike(&format!("tune {wrong}"), None).code(2);
    }
    // Nothing tells how to sample a single text.
    let told = jsonl(dir.alike("tune sampling in.jsonl", None).ok().stdout.as_bytes()).remove(0);
    assert_eq!((&told["ratios"], &told["pairs"]), (&json!(vec![1; GROUPS]), &0.into()));
    let told = jsonl(dir.alike("tune sample in.jsonl", None).ok().stdout.as_bytes()).remove(0);
    assert_eq!(told["thresholds"][0]["removed"], 0);
}
