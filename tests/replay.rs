//! Stored documents taken in again give what a one-shot run gives on their texts, written in document order: the same
//! pairs, clusters, representatives and removed documents, at the collection's threshold and at higher ones.

use std::collections::BTreeMap;

use alike::collection::QueryOverrides;
use alike::config::{Clustering, Config, Method, Rule};
use proptest::prelude::*;

use crate::support::corpora::{corpus, full, sample};
use crate::support::history::{Bench, Load, Op, config, contained, history, verified};
use crate::support::recompute::{Asked, keeping, replayed, rerun, sampled};
use crate::support::texts::{Random, families, near_copies_among};

/// Holds replays with every threshold, clustering and policy against reruns; the documents removed in all of them.
fn agree(bench: &Bench, thresholds: &[&str], keeps: &[&str], random: &mut Random) -> Vec<usize> {
    let mut removed = Vec::new();
    let thresholds = thresholds.iter().map(|text| Some(text.parse().expect("a threshold")));
    for threshold in thresholds.chain([None]) {
        for clustering in [Clustering::Transitive, Clustering::Guarantee] {
            let keep = keeps[random.below(keeps.len())].parse().expect("a policy");
            let choice = QueryOverrides { threshold, keep: Some(keep), clustering: Some(clustering) };
            let (workers, pairs) = (1 + random.below(3), random.below(3) > 0);
            let asked = Asked { choice, workers, pairs, memory: None };
            let found = replayed(bench, &asked);
            assert_eq!(found, rerun(bench, &asked), "{asked:?}");
            removed.push(found.removed.len());
        }
    }
    removed
}

/// Follows a history and asks after its last load.
fn follow(config: Config, history: &[Load], thresholds: &[&str], keeps: &[&str]) {
    let mut bench = Bench::new(config);
    let mut random = Random(history.len() as u64);
    for load in history {
        bench.load(load);
    }
    agree(&bench, thresholds, keeps, &mut random);
}

const HIGHER: [&str; 3] = ["0.5", "0.8", "0.95"];

const ENDS: [&str; 2] = ["first", "last"];

/// Histories of each method; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if full() { 500 } else { 20 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn join(history in history()) {
        follow(config(Method::Join), &history, &HIGHER, &ENDS);
        let lengths = ["longest", "shortest,last", "first", "last", "longest,last"];
        follow(keeping(config(Method::Join), "last"), &history, &HIGHER, &lengths);
    }

    #[test]
    fn containment(history in history()) {
        follow(contained(), &history, &["0.6", "0.8", "0.95"], &["first", "last", "longest"]);
    }

    #[test]
    fn features(history in history()) {
        follow(config(Method::Minhash), &history, &[], &ENDS);
        follow(verified(), &history, &HIGHER, &ENDS);
    }

    #[test]
    fn shingles(history in history()) {
        follow(sampled(Rule::Resemblance), &history, &HIGHER, &ENDS);
        follow(sampled(Rule::Containment), &history, &HIGHER, &ENDS);
    }

    #[test]
    fn exact(history in history()) {
        follow(config(Method::Exact), &history, &[], &ENDS);
    }
}

/// Near copies beyond what a key group may have, and real texts, in several loads with replacements and deletions;
/// once within little memory.
#[test]
fn hot_groups_and_real_documents() {
    hot_groups_and(families(sample(), 3));
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn hot_groups_and_licence_texts() {
    hot_groups_and(families(corpus("licence_texts"), 60));
}

fn hot_groups_and(real: Vec<String>) {
    let mut random = Random(11);
    let texts = near_copies_among(real, &mut random);
    for (method, thresholds) in [(Method::Join, ["0.9", "0.95"].as_slice()), (Method::Minhash, &[])] {
        let mut config = Config { method, ..Config::default() };
        config.cluster.clustering = Clustering::Transitive;
        let mut bench = Bench::new(config);
        let ops: Vec<Op> = texts.iter().cloned().enumerate().map(|(id, text)| Op::Upsert(id, text)).collect();
        for (at, part) in ops.chunks(ops.len().div_ceil(3)).enumerate() {
            bench.load(&Load { ops: part.to_vec(), workers: 1 + at % 2, files: 2, epoch_bytes: None });
        }
        let gone = (0..texts.len()).step_by(17).map(Op::Delete);
        let moved = (3..texts.len()).step_by(23).map(|id| Op::Upsert(id, texts[id - 1].clone()));
        let load = Load { ops: gone.chain(moved).collect(), workers: 2, files: 1, epoch_bytes: None };
        bench.load(&load);
        let removed = agree(&bench, thresholds, &ENDS, &mut random);
        assert!(removed.iter().all(|removed| *removed > 30), "{method:?}: {removed:?}");
        let (choice, memory) = (QueryOverrides::default(), Some(60 << 20));
        let tight = Asked { choice, workers: 2, pairs: true, memory };
        assert_eq!(replayed(&bench, &tight), rerun(&bench, &tight));
    }
}

/// A collection of nothing has nothing in it, and one of empty texts has no pairs.
#[test]
fn nothing_and_empty_texts() {
    let asked = Asked { choice: QueryOverrides::default(), workers: 2, pairs: true, memory: None };
    let mut bench = Bench::new(config(Method::Join));
    assert_eq!(replayed(&bench, &asked).tally, [0; 4]);
    let ops = (0..3).map(|id| Op::Upsert(id, "...".to_owned())).collect();
    bench.load(&Load { ops, workers: 1, files: 1, epoch_bytes: None });
    let found = replayed(&bench, &asked);
    assert_eq!((found.tally, found.pairs), ([3, 3, 0, 0], Some(Vec::new())));
}

/// Values of a field decide as they do in a run: numbers before strings, documents without the field last.
#[test]
fn a_field_decides_again() {
    let bench = Bench::new(keeping(config(Method::Join), "field:date:max"));
    let text = "the same eight words in each of them";
    let dates = ["3", "-4.5", "\"b\"", "null", "12", "\"a\"", "0", "-0.25"];
    let rows = (0..)
        .zip(dates)
        .map(|(id, date)| format!("{{\"id\":\"d{id}\",\"text\":\"{text}\",\"date\":{date}}}\n"));
    let rows: Vec<String> = rows.collect();
    bench.load_lines(&rows.concat());
    let mut kept = BTreeMap::new();
    for keep in ["field:date:max", "field:date:min", "first", "last", "longest", "shortest,field:date:max"] {
        let choice =
            QueryOverrides { keep: Some(keep.parse().expect("a policy")), ..QueryOverrides::default() };
        let found = replayed(&bench, &Asked { choice, workers: 2, pairs: false, memory: None });
        assert_eq!(found.clusters.len(), 1);
        kept.insert(keep, found.clusters[0].0.clone());
    }
    let expected = [
        ("field:date:max", "d4"),
        ("field:date:min", "d1"),
        ("first", "d0"),
        ("last", "d7"),
        ("longest", "d0"),
        ("shortest,field:date:max", "d4"),
    ];
    assert_eq!(kept, expected.map(|(keep, id)| (keep, id.to_owned())).into());
}
