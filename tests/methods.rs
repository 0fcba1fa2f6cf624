//! Every preset on the sample: the same answer from any number of workers, in any order of the records and with little
//! memory; and the methods of terms as several processes.

use std::fs;

use alike::config::{Clustering, PRESETS};

use crate::support::dated::TEXTS;
use crate::support::job::done;
use crate::support::loads::{Seen, whole};
use crate::support::output::Output;
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::Random;

/// The lists of a run as they stand, in order.
fn lists(output: &Output) -> [Vec<String>; 3] {
    [&output.duplicates, &output.clusters, &*output.pairs]
        .map(|rows| rows.iter().map(ToString::to_string).collect())
}

/// Runs presets from one on, every `step`-th, in all ways.
fn presets(from: usize, step: usize) {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl");
    let sample = fs::read_to_string(sample).unwrap();
    let dir = Dir::new();
    dir.write("in.jsonl", &sample);
    let mut lines: Vec<&str> = sample.lines().collect();
    Random(3).shuffle(&mut lines);
    dir.write("shuffled/one.jsonl", lines[..100].join("\n"));
    dir.write("shuffled/two.jsonl", lines[100..].join("\n"));
    for preset in PRESETS.iter().skip(from).step_by(step) {
        let run = |input: &str, flags: &str| {
            let output = dir.output(&format!("{input} --preset {} {flags}", preset.name), "out");
            fs::remove_dir_all(dir.join("out")).unwrap();
            output
        };
        let one = run("in.jsonl", "--pairs -w 1");
        let want = lists(&one);
        assert!(want.iter().all(|rows| rows.len() > 5), "{}: nothing found", preset.name);
        for flags in ["--pairs -w 3", "--pairs -w 1 --memory 40M"] {
            assert!(lists(&run("in.jsonl", flags)) == want, "{} {flags}", preset.name);
        }
        let without = lists(&run("in.jsonl", "-w 2"));
        assert!(without[..2] == want[..2], "{}: without --pairs", preset.name);
        let transitive = run("shuffled", "-w 2 --clustering transitive").partition();
        let expected = match preset.config().expect("a preset").cluster.clustering {
            Clustering::Transitive => one.partition(),
            Clustering::Guarantee => run("in.jsonl", "-w 1 --clustering transitive").partition(),
        };
        assert!(transitive == expected, "{}: in another order", preset.name);
    }
}

#[test]
fn a_third_of_all_presets() {
    presets(0, 3);
}

#[test]
fn another_third_of_all_presets() {
    presets(1, 3);
}

#[test]
fn the_last_third_of_all_presets() {
    presets(2, 3);
}

/// A folder `in` with some texts in a few files, and their lexicon; configurations of methods.
fn made() -> Dir {
    let dir = Dir::new();
    let lines: Vec<String> = TEXTS.iter().take(1500).enumerate().map(|(id, text)| text.line(id)).collect();
    for (at, part) in lines.chunks(lines.len().div_ceil(5)).enumerate() {
        dir.write(&format!("in/{at}.jsonl"), part.concat());
    }
    for (name, config) in [
        ("imatch", "method = 'imatch'\n[imatch]\nlexicons = 4"),
        ("term-vector", "method = 'term-vector'\n[input]\ndate_field = 'date'"),
        ("cosine", "method = 'cosine'\n[cosine]\ncommon_percent = 50"),
        ("verified", "method = 'imatch'\nthreshold = 0.7\nverify = 'edits'\n[imatch]\nlexicons = 4"),
        ("contained", "method = 'winnow'\nthreshold = 0.6\nverify = 'containment'\n[count]\ncommon_cap = 0"),
    ] {
        dir.write(&format!("{name}.toml"), config);
    }
    dir.alike("lexicon build in/0.jsonl in/1.jsonl in/2.jsonl --out lexicon", None).ok();
    dir
}

#[test]
fn several_processes_find_what_one_finds() {
    let dir = made();
    for (name, lexicon) in [
        ("imatch", ""),
        ("imatch", "--lexicon lexicon"),
        ("term-vector", ""),
        ("term-vector", "--lexicon lexicon"),
        ("cosine", ""),
        ("cosine", "--lexicon lexicon"),
        ("verified", ""),
        ("verified", "--lexicon lexicon"),
        ("contained", ""),
    ] {
        let flags = format!("in --config {name}.toml {lexicon} --pairs");
        let output = alike_in_all(&dir, &flags, &[(2, 1), (3, 2)]);
        assert!(output["pairs.jsonl"].len() > 2000, "{flags}");
        alike_in_all(&dir, &format!("in --config {name}.toml {lexicon} --clustering transitive"), &[(2, 2)]);
    }
}

#[test]
fn several_processes_load_what_one_loads() {
    let dir = made();
    for name in ["imatch", "term-vector", "cosine", "verified", "contained"] {
        let lexicon = if name == "contained" { "" } else { "--lexicon lexicon" };
        let flags = format!("--config {name}.toml {lexicon} --clustering transitive --quiet");
        let mut seen = Vec::new();
        for (collection, shape) in [("one", (1, 1)), ("two", (2, 2))] {
            let load =
                |input: &str, flags: &str| done(&dir, shape, &format!("load {collection} {input} {flags}"));
            load("in/0.jsonl in/1.jsonl", &flags);
            load("in/2.jsonl in/3.jsonl", "--epoch 200K");
            load("in/4.jsonl in/1.jsonl in/3.jsonl", "--delete-missing");
            whole(&dir, collection);
            seen.push(Seen::of(&dir, collection));
            fs::remove_dir_all(dir.join(collection)).unwrap();
        }
        seen[0].assert_eq(&seen[1], name);
        assert!(seen[0].documents() > 800, "{name}");
    }
}
