//! `--against --measure containment-of-protected`: a new document goes if a protected one stands in it, and an excerpt of a
//! protected one stays. Held against the oracle, in which each pair of a protected and a new document is counted from the side of
//! the protected one, and each pair of new ones from that of the smaller.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::against::{Split, answer, check};
use crate::support::corpora::{corpus, full};
use crate::support::job::Shape;
use crate::support::methods::collection_with;
use crate::support::oracle::{Contents, Doc, Pair, fraction};
use crate::support::output::{Output, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{Random, families, line, pages, words};

const FLAG: &str = "--measure containment-of-protected";

/// The links that there must be: none of two protected documents.
fn links(split: &Split, contents: &Contents, least: (u64, u64)) -> Vec<Pair> {
    let is_protected = |content: usize| contents.holders[content][0] < split.protected;
    let is_link = |pair: &&Pair| match (is_protected(pair.a), is_protected(pair.b)) {
        (true, false) => pair.contains_first(least),
        (false, false) => pair.contains(least),
        (_, true) => false,
    };
    contents.pairs.iter().filter(is_link).copied().collect()
}

/// Pairs with their containments in billionths: a parser need not give the last bit.
type Contained = BTreeMap<(String, String), u64>;

fn billionths(containment: f64) -> u64 {
    (containment * 1e9).round() as u64
}

/// The pairs of a run; equal texts, and sets, are not among them.
fn pairs(output: &Output) -> Contained {
    let near = output.pairs.iter().filter(|row| row["resemblance"] != 1.0);
    let containment = |row: &Value| billionths(row["containment"].as_f64().unwrap());
    near.map(|row| ((label(&row["a"]), label(&row["b"])), containment(row))).collect()
}

/// The same of the oracle.
fn wanted(split: &Split, contents: &Contents, links: &[Pair]) -> Contained {
    let row = |pair: &Pair| {
        let [a, b] = [pair.a, pair.b].map(|content| contents.holders[content][0]);
        let containment = billionths(pair.containment(a < split.protected));
        ((split.docs[a].id.clone(), split.docs[b].id.clone()), containment)
    };
    let is_near = |pair: &&Pair| !pair.resembles((1, 1));
    links.iter().filter(is_near).map(row).collect()
}

/// Whole texts, stretches of them, and stretches with words put in: each holds, or is held by, many others.
fn quotations(seed: u64, many: usize) -> Vec<String> {
    let mut random = Random(seed);
    let mut texts = Vec::new();
    for at in 0..many {
        let (start, size) = (random.below(many) * 10, 8 + random.below(60));
        let mut text = words(start, size);
        if at % 3 == 0 {
            text = format!(
                "{} {text} {}",
                words(100_000 + at * 100, random.below(30)),
                words(random.below(900), 9)
            );
        }
        texts.push(text);
    }
    texts
}

#[test]
fn like_the_oracle() {
    let mut texts = [quotations(1, 500), pages(6)].concat();
    Random(1).shuffle(&mut texts);
    for (docs, threshold) in [
        (Doc::all(&quotations(4, 900)), "0.8"),
        (Doc::all(&quotations(2, 900)), "0.5"),
        (Doc::all(&texts), "0.8"),
        (Doc::all(&quotations(3, 900)), "0.95"),
    ] {
        let (split, dir) = (Split::of(docs), Dir::new());
        split.write(&dir);
        let least = fraction(threshold);
        let contents = Contents::count(&split.docs, 5, |pair| pair.contains(least));
        let links = links(&split, &contents, least);
        let is_protected = |content: usize| contents.holders[content][0] < split.protected;
        let excerpts = contents
            .pairs
            .iter()
            .filter(|pair| is_protected(pair.a) && !is_protected(pair.b) && !pair.contains_first(least));
        let held = links.iter().filter(|pair| is_protected(pair.a));
        let (held, excerpts) = (held.count(), excerpts.count());
        assert!(held > 30 && excerpts > 20, "nothing to tell apart at {threshold}: {held} and {excerpts}");
        for (clustering, keep, workers) in [
            ("guarantee", "first", 1),
            ("guarantee", "field:score:max,last", 2),
            ("transitive", "longest", 3),
        ] {
            let want = answer(&split, &contents, &links, keep, clustering == "transitive");
            let flags = format!(
                "{FLAG} --threshold {threshold} --clustering {clustering} --keep {keep} -w {workers}"
            );
            check(&dir, &split, &want, &flags);
        }
        let flags = format!("new.jsonl --against old {FLAG} --threshold {threshold} --pairs -w 2");
        let output = dir.output(&flags, "pairs");
        assert_eq!(pairs(&output), wanted(&split, &contents, &links), "{threshold}");
    }
}

/// Pages of sites, most of which meet in hot groups: half of each site is protected.
#[test]
fn hot_groups_of_both_sides() {
    let mut texts = pages(8);
    // Pages with much around them, of which each holds one page whole.
    let around = |(at, text): (usize, &String)| format!("{} {text} {}", words(at * 50, 40), words(at, 30));
    texts.extend(pages(8).iter().enumerate().step_by(9).map(around).collect::<Vec<_>>());
    Random(3).shuffle(&mut texts);
    let (split, dir) = (Split::of(Doc::all(&texts)), Dir::new());
    split.write(&dir);
    for threshold in ["0.8", "0.95"] {
        let least = fraction(threshold);
        let contents = Contents::count(&split.docs, 5, |pair| pair.contains(least));
        let links = links(&split, &contents, least);
        for (clustering, transitive) in [("guarantee", false), ("transitive", true)] {
            let want = answer(&split, &contents, &links, "first", transitive);
            let flags = format!("{FLAG} --threshold {threshold} --clustering {clustering}");
            check(&dir, &split, &want, &format!("{flags} -w 2"));
            check(&dir, &split, &want, &format!("{flags} --pairs"));
        }
    }
}

#[derive(Clone, Debug)]
struct Case {
    /// Where a text begins among the words, how many it has of them, and which of these is another word.
    texts: Vec<(usize, usize, Option<usize>)>,
    protected: prop::sample::Index,
    threshold: &'static str,
    ngram: usize,
    transitive: bool,
    workers: usize,
    two_sided: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let text = (0usize..40, 1usize..40, prop::option::of(0usize..40));
    (
        (prop::collection::vec(text, 2..40), any::<prop::sample::Index>()),
        (prop::sample::select(vec!["0.3", "0.5", "0.8", "0.95", "1"]), 1usize..5, any::<bool>(), 1usize..4),
        // What is measured from the smaller side has tests of its own.
        prop::bool::weighted(0.1),
    )
        .prop_map(|((texts, protected), (threshold, ngram, transitive, workers), two_sided)| Case {
            texts,
            protected,
            threshold,
            ngram,
            transitive,
            workers,
            two_sided,
        })
}

/// More than a thousand of them one-sided. Most of the time of a small run is spent waiting for its threads, so several go at once.
#[test]
fn random_collections() {
    std::thread::scope(|scope| {
        for seed in 9..13 {
            scope.spawn(move || some_random_collections(seed));
        }
    });
}

/// A quarter of all cases.
fn some_random_collections(seed: u8) {
    let config = ProptestConfig {
        cases: if full() { 1250 } else { 120 },
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let run = TestRunner::new_with_rng(config, rng).run(&case(), |case| {
        let text = |(start, size, edited): &(usize, usize, Option<usize>)| {
            let word = |at: usize| if edited == &Some(at - start) { format!("e{at}") } else { format!("w{at}") };
            (*start..start + size).map(word).collect::<Vec<_>>().join(" ")
        };
        let docs = Doc::all(&case.texts.iter().map(text).collect::<Vec<_>>());
        let protected = 1 + case.protected.index(docs.len() - 1);
        let (split, dir) = (Split { docs, protected }, Dir::new());
        let (old, new) = split.docs.split_at(protected);
        dir.write("old.jsonl", Doc::jsonl(old));
        dir.write("new.jsonl", Doc::jsonl(new));
        let least = fraction(case.threshold);
        let contents = Contents::count(&split.docs, case.ngram, |pair| pair.contains(least));
        let mut links = links(&split, &contents, least);
        let mut flag = FLAG;
        if case.two_sided {
            flag = "--measure containment";
            let is_protected = |content: usize| contents.holders[content][0] < protected;
            links = contents.pairs.iter().filter(|pair| !is_protected(pair.b)).copied().collect();
        }
        let want = answer(&split, &contents, &links, "first", case.transitive);
        let clustering = if case.transitive { "transitive" } else { "guarantee" };
        let flags = format!(
            "new.jsonl --against old.jsonl {flag} --threshold {} --ngram {} --clustering {clustering} -w {} --pairs",
            case.threshold, case.ngram, case.workers
        );
        let output = dir.output(&flags, "out");
        let got: BTreeMap<String, String> =
            output.duplicates.iter().map(|row| (label(&row["id"]), label(&row["representative"]))).collect();
        let want: BTreeMap<String, String> = want.into_iter().map(|(id, (leader, _))| (id, leader)).collect();
        prop_assert_eq!(got, want);
        if !case.two_sided {
            prop_assert_eq!(pairs(&output), wanted(&split, &contents, &links));
        }
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}

#[test]
fn any_workers_and_processes() {
    let (split, dir) = (Split::of(collection_with(pages(2))), Dir::new());
    split.write(&dir);
    let shapes: [Shape; 4] = [(1, 3), (2, 1), (2, 2), (3, 1)];
    for flags in ["--pairs", "--clustering transitive --threshold 0.5"] {
        alike_in_all(&dir, &format!("new.jsonl --against month=old {FLAG} {flags}"), &shapes);
    }
    let bounded = dir.output(&format!("new.jsonl --against old {FLAG} --memory 96MiB --pairs"), "bounded");
    let free = dir.output(&format!("new.jsonl --against old {FLAG} --pairs"), "free");
    assert!(*bounded.pairs == *free.pairs && bounded.clusters == free.clusters);
}

#[test]
fn a_quotation_goes_and_an_excerpt_stays() {
    let dir = Dir::new();
    dir.write("old.jsonl", line("whole", &words(0, 104)));
    let new = [
        ("excerpt", words(10, 40)),
        ("book", words(1000, 300) + " " + &words(0, 104) + " " + &words(2000, 300)),
        ("most", words(0, 88)),
        ("excerpt-of-excerpt", words(12, 30)),
    ];
    dir.write("new.jsonl", new.map(|(id, text)| line(id, &text)).concat());
    let flags = format!("new.jsonl --against old.jsonl {FLAG} --threshold 0.8");
    let ran =
        dir.dedup(&format!("{flags} --clustering transitive --pairs --out out --report page.html")).ok();
    ran.says("containment of the protected text at least 0.8");
    let output = Output::read(&dir.join("out"));
    // `most` has 84 of the 100 shingles that are protected, and all of its own are among these.
    let of_old = output.duplicates.iter().filter(|row| row["representative"] == "whole");
    let of_old: BTreeMap<String, f64> =
        of_old.map(|row| (label(&row["id"]), row["containment"].as_f64().unwrap())).collect();
    let want = [("excerpt", 0.36), ("book", 1.0), ("most", 0.84), ("excerpt-of-excerpt", 0.26)];
    assert_eq!(of_old, want.map(|(id, containment)| (id.to_owned(), containment)).into());
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    assert!(page.contains("containment-of-protected"), "the page says which rule held");
    assert_eq!(output.summary["configuration"]["join"]["measure"], "containment-of-protected");
    let guarantee = dir.output(&flags, "guarantee");
    let row = |row: &Value| {
        let [id, leader] = ["id", "representative"].map(|key| label(&row[key]));
        (id, (leader, row["containment"].as_f64().unwrap()))
    };
    let removed: BTreeMap<String, (String, f64)> = guarantee.duplicates.iter().map(row).collect();
    let row = |id: &str, leader: &str, containment: f64| (id.to_owned(), (leader.to_owned(), containment));
    let want =
        [row("book", "whole", 1.0), row("most", "whole", 0.84), row("excerpt-of-excerpt", "excerpt", 1.0)];
    assert_eq!(removed, want.into());
    let two_sided = dir.output("new.jsonl --against old.jsonl --measure containment", "smaller");
    assert_eq!(two_sided.duplicates.len(), 4);
}

#[test]
fn it_needs_protected_documents_and_the_join() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("1", "some words"));
    dir.write("old.jsonl", line("2", "other words"));
    dir.write("m.toml", "[join]\nmeasure = 'containment-of-protected'");
    for (line, part) in [
        (format!("dedup in.jsonl {FLAG} --out out"), "--against"),
        ("dedup in.jsonl --config m.toml --out out".to_owned(), "--measure containment"),
        (format!("load c in.jsonl {FLAG}"), "--against"),
        ("evaluate in.jsonl --config m.toml".to_owned(), "--against"),
        (
            format!("dedup in.jsonl --against old.jsonl {FLAG} --method shingles --out out"),
            "no effect with method",
        ),
        (
            format!("dedup in.jsonl --against old.jsonl {FLAG} --verify=containment --out out"),
            "measures that itself",
        ),
    ] {
        dir.alike(&line, None).code(2).says(part);
        assert!(!dir.join("out").exists() && !dir.join("c").exists(), "{line}");
    }
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn licence_texts() {
    let texts = if full() { corpus("licence_texts") } else { families(corpus("licence_texts"), 12) };
    let (split, dir) = (Split::of(Doc::all(&texts)), Dir::new());
    split.write(&dir);
    let contents = Contents::count(&split.docs, 5, |pair| pair.contains(fraction("0.5")));
    for threshold in ["0.5", "0.8", "0.95"] {
        let links = links(&split, &contents, fraction(threshold));
        assert!(links.len() > 100, "nothing to tell apart");
        let flags = format!("new.jsonl --against old {FLAG} --threshold {threshold} --pairs -w 2");
        let output = dir.output(&flags, &format!("out-{threshold}"));
        assert_eq!(pairs(&output), wanted(&split, &contents, &links), "{threshold}");
    }
}
