//! The front door, as a user of the library meets it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Collection, Dedup};
use crate::config::{Clustering, Config, Input};
use crate::error::{Error, Result};
use crate::flow::Reason;

const FOX: &str = "the quick brown fox jumps over the lazy dog by the river on a warm day in june";
const DAY: &str = "it was a bright cold day in april and the clocks were striking thirteen times";

fn changed(text: &str) -> String {
    text.replacen("warm", "cold", 1)
}

#[test]
fn texts_are_numbered_as_they_were_given() -> Result<()> {
    let near = changed(FOX);
    let texts = [DAY, FOX, "", &near, &FOX.to_uppercase(), DAY];
    for workers in [1, 3] {
        let found = Dedup::new().threshold("0.4")?.workers(workers).texts(texts)?;
        assert_eq!(found.kept, [0, 1, 2]);
        assert_eq!(found.clusters, [vec![0, 5], vec![1, 3, 4]]);
        let rows: Vec<_> = found.duplicates.iter().map(|one| (one.text, one.kept, one.reason)).collect();
        assert_eq!(rows, [(3, 1, Reason::Near), (4, 1, Reason::Exact), (5, 0, Reason::Exact)]);
        let of = |at: usize| found.duplicates[at].resemblance.expect("a resemblance");
        assert!(of(0) >= 0.4 && of(0) < 1.0 && (of(1) - 1.0).abs() < f64::EPSILON);
    }
    assert_eq!(Dedup::new().texts(texts)?.kept, [0, 1, 2, 3], "at 0.8 the changed one stays");
    let none: [&str; 0] = [];
    assert_eq!(Dedup::new().texts(none)?.kept, [0; 0]);
    Ok(())
}

#[test]
fn files_are_written_as_the_program_writes_them() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, out) = (folder.path().join("a.jsonl"), folder.path().join("out"));
    let line = |text: &str| format!("{}\n", serde_json::json!({ "text": text }));
    std::fs::write(&input, [FOX, DAY, FOX].map(line).concat()).expect("written");
    let found = Dedup::new().files([input.to_str().expect("UTF-8")])?;
    assert_eq!((found.summary()?.documents, found.summary()?.removed), (3, 1));
    found.write(&out)?;
    let kept = std::fs::read_to_string(out.join("kept/a.jsonl")).expect("kept");
    assert_eq!(kept, [FOX, DAY].map(line).concat());
    assert!(matches!(found.write(&out), Err(Error::OutputExists(_))));
    let finished = crate::output::FinishedRun::open(&out)?;
    assert_eq!(finished.record.inputs, [input.to_str().expect("UTF-8")]);
    assert_eq!(finished.inputs.len(), 1, "what was read, so that it can be asked again");
    Ok(())
}

#[test]
fn a_text_is_as_long_as_it_is_whatever_json_makes_of_it() -> Result<()> {
    let config =
        |most| Config { input: Input { max_record_bytes: most, ..Input::default() }, ..Config::default() };
    let quotes = "\"\n".repeat(40);
    let run = |most, texts: &[&str]| Dedup::with_config(config(most)).texts(texts);
    assert_eq!(run(80, &[&quotes, FOX])?.kept, [0, 1]);
    assert!(matches!(run(79, &[FOX, &quotes]), Err(Error::Refused { rejected: 1, records: 2, .. })));
    Ok(())
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(matches!(Dedup::new().threshold("1.5"), Err(Error::Config(_))));
    assert!(matches!(Dedup::preset("nothing"), Err(Error::Config(_))));
    assert!(matches!(Dedup::new().ngram(0).texts([FOX]), Err(Error::Config(_))));
    assert!(matches!(Dedup::new().workers(0).texts([FOX]), Err(Error::Config(_))));
    assert!(matches!(Dedup::new().files(["/no such folder"]), Err(Error::Input { .. })));
}

#[test]
fn a_collection_follows_its_documents() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let collection = Collection::at(folder.path().join("archive")).workers(2);
    assert!(matches!(collection.clusters(), Err(Error::NotACollection(..))));
    let report = collection.load([("a", FOX), ("b", DAY)])?;
    assert_eq!((report.added, report.clusters), (2, 0));
    let report = collection.load([("c", FOX), ("b", DAY)])?;
    assert_eq!((report.added, report.unchanged, report.clusters), (1, 1, 1));
    assert_eq!(collection.clusters()?[0].members, ["a", "c"]);
    let found = collection.check(&FOX.to_uppercase())?;
    assert_eq!(
        found.iter().map(|one| (one.id.as_str(), one.same_text)).collect::<Vec<_>>(),
        [("a", true), ("c", true)]
    );
    assert!(collection.check("nothing of the kind")?.is_empty());
    let report = collection.delete(["a", "z"])?;
    assert_eq!((report.removed, report.unknown.as_slice()), (1, &["z".to_owned()][..]));
    assert!(collection.clusters()?.is_empty());
    Ok(())
}

#[test]
fn records_have_the_fields_that_the_collection_was_made_with() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("archive");
    let mut config = Config::default();
    config.cluster.clustering = Clustering::Transitive;
    config.count.common_cap = 0;
    (config.input.id_field, config.input.text_field) = ("meta.key".to_owned(), "meta.body".to_owned());
    let made = Collection::at(&path).with_config(config);
    assert_eq!(made.load([("a", FOX), ("b", FOX)])?.clusters, 1);
    // Whoever opens it later need not know.
    let opened = Collection::at(&path);
    assert_eq!((opened.load([("c", FOX)])?.added, opened.delete(["a"])?.removed), (1, 1));
    assert_eq!(opened.clusters()?[0].members, ["b", "c"]);
    Ok(())
}

/// Texts of which each is mostly an earlier one with some words changed, so that chains of them run through one component, and some of it
/// through all texts.
fn drifting() -> impl Strategy<Value = Vec<String>> {
    let step =
        (any::<prop::sample::Index>(), 0usize..20, prop::collection::vec((0usize..30, 0u16..400), 0..5));
    prop::collection::vec(step, 1..60).prop_map(|steps| {
        let first: Vec<String> = (0..30).map(|at| format!("w{at}")).collect();
        let mut texts = vec![first];
        for (number, (from, new, changes)) in steps.into_iter().enumerate() {
            let mut words = texts[from.index(texts.len())].clone();
            if new == 0 {
                words = (0..30).map(|at| format!("n{number}x{at}")).collect();
            }
            changes.into_iter().for_each(|(at, word)| words[at] = format!("c{word}"));
            texts.push(words);
        }
        texts.into_iter().map(|words| words.join(" ")).collect()
    })
}

/// How much texts resemble each other, by their shingles.
fn resemblances(texts: &[String]) -> impl Fn(usize, usize) -> f64 {
    let shingles = |text: &String| {
        let words: Vec<&str> = text.split(' ').collect();
        words.windows(5).map(|words| words.join(" ")).collect::<BTreeSet<String>>()
    };
    let sets: Vec<BTreeSet<String>> = texts.iter().map(shingles).collect();
    move |a, b| {
        let shared = sets[a].intersection(&sets[b]).count();
        shared as f64 / (sets[a].len() + sets[b].len() - shared) as f64
    }
}

/// For each text that goes the first earlier one that stays and resembles it by three fifths, by comparing all.
fn first_kept(texts: &[String]) -> Vec<(usize, usize, f64)> {
    let resemblance = resemblances(texts);
    let (mut kept, mut gone): (Vec<usize>, Vec<_>) = Default::default();
    for at in 0..texts.len() {
        let mut all = kept.iter().map(|other| (*other, resemblance(at, *other)));
        let first = all.find(|(_, resemblance)| *resemblance >= 0.6);
        match first {
            Some((other, resemblance)) => gone.push((at, other, resemblance)),
            None => kept.push(at),
        }
    }
    gone
}

/// For each text that goes the first one of its component, where those are linked that resemble each other by three fifths; how much the
/// two resemble each other; and whether they are linked themselves.
fn first_of_component(texts: &[String]) -> Vec<(usize, usize, f64, Reason)> {
    let resemblance = resemblances(texts);
    let mut first: Vec<usize> = (0..texts.len()).collect();
    for (a, b) in (0..texts.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
        if resemblance(a, b) >= 0.6 {
            let (low, high) = (first[a].min(first[b]), first[a].max(first[b]));
            first.iter_mut().filter(|first| **first == high).for_each(|first| *first = low);
        }
    }
    let gone = first.into_iter().enumerate().filter(|(at, first)| at != first);
    gone.map(|(at, first)| {
        let resemblance = resemblance(at, first);
        let reason = match texts[at] == texts[first] {
            true => Reason::Exact,
            false if resemblance >= 0.6 => Reason::Near,
            false => Reason::Linked,
        };
        (at, first, resemblance, reason)
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// However components fall to workers: where they cannot be divided, candidates are measured as clusters are formed.
    #[test]
    fn each_text_goes_for_the_first_that_stays(texts in drifting(), workers in 1usize..5) {
        let found = Dedup::new().threshold("0.6")?.workers(workers).texts(&texts)?;
        let rows: Vec<_> = found.duplicates.iter().map(|one| (one.text, one.kept, one.resemblance.unwrap_or(0.0))).collect();
        prop_assert_eq!(rows, first_kept(&texts));
    }

    /// The same where whatever is linked is one cluster.
    #[test]
    fn each_text_goes_for_the_first_of_its_component(texts in drifting(), workers in 1usize..5) {
        let mut config = Config { threshold: "0.6".parse().map_err(Error::config)?, ..Config::default() };
        config.cluster.clustering = Clustering::Transitive;
        let found = Dedup::with_config(config).workers(workers).texts(&texts)?;
        let rows: Vec<_> =
            found.duplicates.iter().map(|one| (one.text, one.kept, one.resemblance.unwrap_or(0.0), one.reason)).collect();
        prop_assert_eq!(rows, first_of_component(&texts));
    }
}
