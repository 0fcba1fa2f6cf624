//! The same answer however the program is run: workers, vector instructions, splits into files, compression, memory,
//! with or without `--pairs`; and for shuffled records the same transitive partition.

use std::sync::Arc;

use alike::storage::{Local, Storage};
use serde_json::Value;

use crate::support::corpora::corpus;
use crate::support::methods::{HOT_GROUP, METHODS, collection, collection_with};
use crate::support::oracle::Doc;
use crate::support::output::{Output, sorted};
use crate::support::program::Dir;
use crate::support::tables::rows_in;
use crate::support::texts::{Random, families, gzip, zst};

/// The inputs of every shape, and a configuration file for every method.
fn prepare(dir: &Dir, docs: &[Doc]) {
    let whole = Doc::jsonl(docs);
    dir.write("in.jsonl", &whole);
    dir.write("in.jsonl.gz", gzip(whole.as_bytes(), 300_000));
    dir.write("in.jsonl.zst", zst(whole.as_bytes(), 300_000));
    for parts in [2, 5] {
        for (part, docs) in docs.chunks(docs.len().div_ceil(parts)).enumerate() {
            dir.write(&format!("split{parts}/{part}.jsonl"), Doc::jsonl(docs));
        }
    }
    for (name, config) in METHODS {
        dir.write(&format!("{name}.toml"), config);
    }
}

/// Every row and kept record without where it stood, which a split changes.
fn essence(output: &Output) -> [Vec<String>; 3] {
    let placeless = |rows: &[Value]| {
        let strip = |row: &Value| {
            let mut row = row.as_object().unwrap().clone();
            for place in ["file", "line", "representative_file", "representative_line"] {
                row.remove(place);
            }
            Value::Object(row)
        };
        sorted(rows.iter().map(strip).collect()).iter().map(Value::to_string).collect()
    };
    [placeless(&output.duplicates), placeless(&output.clusters), output.kept_lines()]
}

#[track_caller]
fn assert_same(want: &[Vec<String>], got: &[Vec<String>], what: &str) {
    for (i, (want, got)) in want.iter().zip(got).enumerate() {
        if want != got {
            let kind = ["duplicates", "clusters", "kept records", "pairs"][i];
            let only =
                |a: &[String], b: &[String]| a.iter().find(|row| b.binary_search(row).is_err()).cloned();
            panic!(
                "{what}: other {kind} ({} rows, {} expected)\nmissing: {:?}\nextra: {:?}",
                got.len(),
                want.len(),
                only(want, got),
                only(got, want)
            );
        }
    }
}

/// One method: all shapes of a run against the plainest.
fn method(name: &str) {
    method_on(name, &collection());
}

fn method_on(name: &str, docs: &[Doc]) {
    let dir = Dir::new();
    prepare(&dir, docs);
    let avx2 = avx2();
    for clustering in ["guarantee", "transitive"] {
        let common = format!("--config {name}.toml --clustering {clustering}");
        let run = |shape: &str| {
            let output = dir.output(&format!("{common} {shape}"), "out");
            std::fs::remove_dir_all(dir.join("out")).unwrap();
            output
        };
        let plain = run("in.jsonl -w 1 --simd auto");
        let want = essence(&plain);
        assert!(want[0].len() > 500, "{name}: too few duplicates to show anything");
        for shape in [
            "in.jsonl -w 2".to_owned(),
            format!("in.jsonl.zst -w 1 --simd {avx2}"),
            "split2 -w 3 --simd scalar".to_owned(),
            "split5 -w 4".to_owned(),
            "in.jsonl.gz -w 3".to_owned(),
        ] {
            assert_same(&want, &essence(&run(&shape)), &format!("{common} {shape}"));
        }
        let rows = |output: &Output| output.pairs.iter().map(Value::to_string).collect::<Vec<String>>();
        let with = run("in.jsonl -w 1 --pairs");
        assert_same(&want, &essence(&with), &format!("{common} --pairs"));
        let pairs = [vec![], vec![], vec![], rows(&with)];
        assert!(pairs[3].len() > 200, "{name}: too few pairs to show anything");
        let shape = "split5 -w 4 --simd scalar --pairs";
        let other = run(shape);
        assert_same(&want, &essence(&other), &format!("{common} {shape}"));
        assert_same(&pairs, &[vec![], vec![], vec![], rows(&other)], &format!("{common} {shape}"));
    }
}

/// The level to ask for where AVX2 is wanted: a machine without it has only the scalar one.
fn avx2() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return "avx2";
    }
    "scalar"
}

#[test]
fn join() {
    method("join");
}

#[test]
fn exact() {
    method("exact");
}

#[test]
fn features() {
    method("minhash");
}

#[test]
fn features_as_bands() {
    method("bands");
}

#[test]
fn features_verified() {
    method("verified");
}

#[test]
fn shingles_by_residue() {
    method("mod");
}

#[test]
fn shingles_smallest() {
    method("smallest");
}

#[test]
fn shingles_all_with_a_cap() {
    method("none");
}

/// The cap takes effect in the test above: without it the hot group is found by its shingles, with it they are ignored.
#[test]
fn the_cap_is_over_the_whole_input() {
    let dir = Dir::new();
    let docs = collection();
    prepare(&dir, &docs);
    dir.write("uncapped.toml", "method = 'shingles'\n[shingles]\nsampling = 'none'\n[count]\ncommon_cap = 0");
    let largest = |output: &Output| output.clusters.iter().map(|row| row["size"].as_u64().unwrap()).max();
    let flags = "--clustering transitive split5 -w 2";
    let capped = dir.output(&format!("{flags} --config none.toml"), "capped");
    let uncapped = dir.output(&format!("{flags} --config uncapped.toml"), "uncapped");
    assert!(largest(&uncapped) >= Some(HOT_GROUP as u64), "{:?}", largest(&uncapped));
    assert!(largest(&capped) < Some(HOT_GROUP as u64), "{:?}", largest(&capped));
    assert!(capped.summary["common_shingles"]["keys"].as_u64() > Some(0), "{}", capped.summary);
    // The same documents in the whole file: each of the five parts alone is far below the cap.
    let whole = dir.output("--clustering transitive in.jsonl -w 1 --config none.toml", "whole");
    assert_same(&essence(&whole), &essence(&capped), "a cap over a split");
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn licence_texts() {
    let docs = collection_with(families(corpus("licence_texts"), 60));
    for (name, _) in METHODS {
        method_on(name, &docs);
    }
    shuffled(docs);
}

#[test]
fn shuffled_records_give_the_same_partition() {
    shuffled(collection());
}

fn shuffled(mut docs: Vec<Doc>) {
    let dir = Dir::new();
    prepare(&dir, &docs);
    for (name, _) in METHODS {
        let flags = format!("--config {name}.toml --clustering transitive -w 2");
        let want = dir.output(&format!("{flags} in.jsonl"), name).partition();
        Random(1).shuffle(&mut docs);
        dir.write("shuffled.jsonl", Doc::jsonl(&docs));
        let got = dir.output(&format!("{flags} shuffled.jsonl"), &format!("{name}-shuffled")).partition();
        let differs = want.iter().zip(&got).find(|(want, got)| want != got);
        assert_eq!(differs, None, "{name}, shuffled");
        assert!(want.len() == got.len() && want.len() > 100, "{name}: {} and {}", want.len(), got.len());
    }
}

/// With the least memory, postings, groups and sets go to disk: what is left of it for a worker, some 8 MiB, holds
/// 160,000 postings or 210,000 members of groups or sets, and here are well over a million of each. The memory is held.
#[test]
fn little_memory_spills_and_changes_nothing() {
    let mut random = Random(16);
    let mut texts = Vec::new();
    for _ in 0..2200 {
        let mut text: Vec<String> = (0..200).map(|_| format!("m{}", random.below(1 << 30))).collect();
        for _ in 0..4 {
            texts.push(text.join(" "));
            text[random.below(200)] = format!("m{}", random.below(1 << 30));
        }
    }
    random.shuffle(&mut texts);
    let dir = Dir::new();
    prepare(&dir, &Doc::all(&texts));
    dir.write("all.toml", "method = 'shingles'\n[shingles]\nsampling = 'none'");
    for flags in ["in.jsonl --threshold 0.3", "in.jsonl --config all.toml --clustering transitive"] {
        let run = |shape: &str| {
            let output = dir.output(&format!("{flags} {shape}"), "out");
            std::fs::remove_dir_all(dir.join("out")).unwrap();
            let bytes = |name: &str| output.summary[name].as_u64().unwrap();
            assert!(bytes("peak_memory_bytes") <= bytes("memory_limit_bytes"), "{flags} {shape}");
            essence(&output)
        };
        let want = run("-w 2");
        assert_eq!(want[0].len(), 3 * 2200, "{flags}");
        for shape in ["-w 1 --memory 36M", "-w 3 --memory 52M"] {
            assert_same(&want, &run(shape), &format!("{flags} {shape}"));
        }
    }
}

/// The first load of a collection measures its candidates in document order and forgets each set after its last pair. A text of a
/// compressed file cannot be read again by itself, so then all sets are held: the slow twin.
#[test]
fn a_first_load_stores_the_same_links_whether_or_not_sets_are_held() {
    let dir = Dir::new();
    prepare(&dir, &collection());
    for (name, clustering) in [("join", "transitive"), ("join", "guarantee"), ("verified", "transitive")] {
        let load = |input: &str, workers: usize| {
            let flags = format!("--config {name}.toml --clustering {clustering} -w {workers}");
            dir.alike(&format!("load c {input} {flags}"), None).ok();
            let clusters = dir.alike("clusters c --json", None).ok().stdout;
            let folder: Arc<dyn Storage> = Arc::new(Local::open(&dir.join("c")).expect("a folder"));
            let links = rows_in(&folder, "links");
            dir.alike("fsck c", None).ok();
            std::fs::remove_dir_all(dir.join("c")).expect("removed");
            (clusters, links)
        };
        let (clusters, links) = load("in.jsonl.gz", 1);
        assert!(links.len() > 400 && !clusters.is_empty(), "{name}: {} links", links.len());
        assert!(load("in.jsonl", 1) == (clusters.clone(), links.clone()), "{name}, {clustering}");
        // Which contents have which numbers hangs on who reads what.
        let by_two = load("in.jsonl", 2);
        assert!((by_two.0, by_two.1.len()) == (clusters, links.len()), "{name}, {clustering}, two workers");
    }
}

/// Two runs of the very same command write the very same bytes, once sorted.
#[test]
fn repeated_runs_are_byte_equal() {
    let dir = Dir::new();
    prepare(&dir, &collection());
    for run in ["one", "two"] {
        dir.output("in.jsonl --pairs -w 3", run);
    }
    for name in ["duplicates.jsonl", "clusters.jsonl", "pairs.jsonl", "kept/in.jsonl"] {
        let lines = |run: &str| {
            let file = std::fs::read_to_string(dir.join(run).join(name)).unwrap();
            let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let (one, two) = (lines("one"), lines("two"));
        assert!(!one.is_empty() && one == two, "{name} differs between two runs of one command");
    }
}

/// The report of common shingles counts contents, whichever worker read their copies.
#[test]
fn figures_of_common_shingles_do_not_depend_on_workers() {
    let dir = Dir::new();
    let once: Vec<String> = (0..40)
        .map(|i| {
            format!("{} {}", crate::support::texts::words(0, 30), crate::support::texts::words(1000 * i, 30))
        })
        .collect();
    let all: String = (0..3)
        .flat_map(|_| &once)
        .enumerate()
        .map(|(i, body)| crate::support::texts::line(&i.to_string(), body))
        .collect();
    dir.write("in.jsonl", all);
    dir.write("capped.toml", "method = 'shingles'\n[count]\ncommon_cap = 20");
    let figures = |workers: usize| {
        let name = format!("w{workers}");
        dir.output(&format!("in.jsonl --config capped.toml -w {workers}"), &name).summary["common_shingles"]
            .clone()
    };
    let one = figures(1);
    assert!(
        one["keys"].as_u64().unwrap() > 0 && one["fraction_of_postings"].as_f64().unwrap() < 1.0,
        "{one}"
    );
    for workers in 2..5 {
        assert_eq!(figures(workers), one, "{workers} workers");
    }
}
