//! Stored documents taken in again give what a one-shot run gives on their texts, written in document order: the same
//! pairs, clusters, representatives and removed documents, at the collection's threshold and at higher ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use alike::collection::{Again, Choice, Snapshot, again};
use alike::config::{Clustering, Config, Method, Rule, Sampling};
use alike::flow::{Outcome, Part, Reason, Request, run};
use alike::progress::Progress;
use alike::read::discover;
use alike::simd::Simd;
use alike::similarity::Measure;
use proptest::prelude::*;

use crate::histories::{Bench, Load, Op, config, history, verified};
use crate::util::{Random, corpus, families};

/// Everything that a run found out, in names.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    removed: Vec<(String, usize, String, Reason, Option<String>, Measure)>,
    pub(crate) clusters: Vec<(String, Vec<String>)>,
    pairs: Option<Vec<(String, String, Measure, Reason)>>,
    /// Documents, those without a token, copies, links.
    tally: [u64; 4],
}

impl Found {
    fn of(outcome: &Outcome, pairs: bool) -> Found {
        let name = |doc: u32| outcome.shared.name(doc).expect("a name");
        let removed = outcome.findings.removed.iter().map(|row| {
            let parent = row.parent.map(name);
            (name(row.doc), row.cluster, name(row.representative), row.reason, parent, row.measure)
        });
        let clusters = outcome.findings.clusters.iter();
        let clusters = clusters.map(|cluster| {
            (name(cluster.representative), cluster.members.iter().map(|doc| name(*doc)).collect())
        });
        let of_pair =
            |(a, b, measure, reason): &(u32, u32, Measure, Reason)| (name(*a), name(*b), *measure, *reason);
        let tally = outcome.tally;
        // Where not all pairs are asked for, how many links there are depends on what is a crowd.
        let links = if pairs { tally.links } else { 0 };
        Found {
            removed: removed.collect(),
            clusters: clusters.collect(),
            pairs: outcome.findings.pairs.as_ref().map(|pairs| pairs.iter().map(of_pair).collect()),
            tally: [tally.documents, tally.empty, tally.copies, links],
        }
    }
}

/// What is asked, and how.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) choice: Choice,
    pub(crate) workers: usize,
    pub(crate) pairs: bool,
    pub(crate) memory: Option<u64>,
}

pub(crate) fn replayed(bench: &Bench, asked: &Asked) -> Found {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    let Asked { choice, workers, pairs, memory } = asked.clone();
    let scratch = bench.dir.join(".");
    let again = Again { choice, pairs, workers, memory, simd: Simd::detect(), scratch, peers: None };
    Found::of(&snapshot.again(again, Arc::new(Progress::default())).expect("a run"), asked.pairs)
}

/// The one-shot run on the live documents.
pub(crate) fn rerun(bench: &Bench, asked: &Asked) -> Found {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    let mut order = Vec::new();
    let read = snapshot.documents(&mut |document| {
        order.push((document.first_load, document.id));
        Ok(())
    });
    read.expect("documents");
    order.sort();
    let lines = order.iter().map(|(_, id)| {
        let number: usize = id[1..].parse().expect("a number");
        Op::Upsert(number, bench.live[&number].clone()).line()
    });
    bench.dir.write("ordered.jsonl", lines.collect::<String>());
    let name = bench.dir.join("ordered.jsonl").to_string_lossy().into_owned();
    let sources = match order.is_empty() {
        true => Vec::new(),
        false => discover(&[name], &bench.dir.join(".")).expect("inputs").sources,
    };
    let request = Request {
        part: Part::ALL,
        sources,
        config: again(&bench.config, &asked.choice).expect("a choice"),
        workers: 1,
        memory: None,
        pairs: asked.pairs,
        simd: Simd::detect(),
        scratch: bench.dir.join("."),
        stored: None,
        replay: None,
        basis: None,
        lexicon: bench.lexicon.clone(),
        peers: None,
    };
    Found::of(&run(request, Arc::new(Progress::default())).expect("a run"), asked.pairs)
}

/// Holds replays with every threshold, clustering and policy against reruns; the documents removed in all of them.
fn agree(bench: &Bench, thresholds: &[&str], keeps: &[&str], random: &mut Random) -> Vec<usize> {
    let mut removed = Vec::new();
    let thresholds = thresholds.iter().map(|text| Some(text.parse().expect("a threshold")));
    for threshold in thresholds.chain([None]) {
        for clustering in [Clustering::Transitive, Clustering::Guarantee] {
            let keep = keeps[random.below(keeps.len())].parse().expect("a policy");
            let choice = Choice { threshold, keep: Some(keep), clustering: Some(clustering) };
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

pub(crate) fn keeping(config: Config, keep: &str) -> Config {
    let mut config = config;
    config.cluster.keep = keep.parse().expect("a policy");
    config
}

pub(crate) fn sampled(rule: Rule) -> Config {
    let mut config = config(Method::Shingles);
    config.count.rule = rule;
    (config.shingles.sampling, config.shingles.modulus) = (Sampling::Mod, 2);
    config
}

const HIGHER: [&str; 3] = ["0.5", "0.8", "0.95"];
const ENDS: [&str; 2] = ["first", "last"];

/// Histories of each method; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if std::env::var_os("ALIKE_FULL").is_some() { 500 } else { 20 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn join(history in history()) {
        follow(config(Method::Join), &history, &HIGHER, &ENDS);
        let lengths = ["longest", "shortest", "first", "last"];
        follow(keeping(config(Method::Join), "last"), &history, &HIGHER, &lengths);
    }

    #[test]
    fn features(history in history()) {
        follow(config(Method::Features), &history, &[], &ENDS);
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
fn crowds_and_real_documents() {
    let mut random = Random(11);
    let template: Vec<String> = (0..60).map(|i| format!("w{i}")).collect();
    let copy = |at: usize| {
        let mut text = template.clone();
        text[at % 60] = format!("x{at}");
        text[at * 7 % 60] = format!("y{}", at / 9);
        text.join(" ")
    };
    let mut texts: Vec<String> = (0..800).map(copy).collect();
    if let Some(licences) = corpus("licence_texts") {
        texts.extend(families(licences, 60));
    }
    random.shuffle(&mut texts);
    for (method, thresholds) in [(Method::Join, ["0.9", "0.95"].as_slice()), (Method::Features, &[])] {
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
        let (choice, memory) = (Choice::default(), Some(60 << 20));
        let tight = Asked { choice, workers: 2, pairs: true, memory };
        assert_eq!(replayed(&bench, &tight), rerun(&bench, &tight));
    }
}

/// A collection of nothing has nothing in it, and one of empty texts has no pairs.
#[test]
fn nothing_and_empty_texts() {
    let asked = Asked { choice: Choice::default(), workers: 2, pairs: true, memory: None };
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
    for keep in ["field:date:max", "field:date:min", "first", "last", "longest"] {
        let choice = Choice { keep: Some(keep.parse().expect("a policy")), ..Choice::default() };
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
    ];
    assert_eq!(kept, expected.map(|(keep, id)| (keep, id.to_owned())).into());
}
