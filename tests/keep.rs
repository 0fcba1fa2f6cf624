//! `--keep`, `--prefer` and `--keep-per-cluster`: the first documents of each cluster, against members sorted by hand.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::output::{Output, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::words;

const POLICIES: [&str; 10] = [
    "first",
    "last",
    "longest",
    "shortest",
    "field:score:max",
    "field:score:min",
    "longest,last",
    "field:score:min,shortest",
    "shortest,field:score:max,last",
    "field:score:max,last",
];

/// Documents of families, with copies of equal words and unlike lengths, and scores that some lack.
fn documents(kinds: &[(usize, usize, Option<i32>)]) -> Vec<Value> {
    let document = |(at, (family, variant, score)): (usize, &(usize, usize, Option<i32>))| {
        // Commas are no words: they make a copy longer, and leave it a copy.
        let text = format!("{} x{}{}", words(family * 100, 40), variant % 2, ",".repeat(*variant));
        match score {
            Some(score) => json!({"id": at, "text": text, "score": score}),
            None => json!({"id": at, "text": text}),
        }
    };
    kinds.iter().enumerate().map(document).collect()
}

/// The members of a cluster in keep order: sorted by one criterion after the other, the one that decides first last.
fn in_order(documents: &[Value], policy: &str, members: &[usize]) -> Vec<usize> {
    let mut members = members.to_vec();
    members.sort_unstable();
    for criterion in policy.rsplit(',') {
        let end = by(documents, criterion);
        members.sort_by(|a, b| end(*a, *b));
    }
    members
}

/// What orders documents by one criterion.
fn by<'a>(documents: &'a [Value], criterion: &str) -> Box<dyn Fn(usize, usize) -> Ordering + 'a> {
    let length = |at: usize| documents[at]["text"].as_str().unwrap().len();
    let score = |at: usize| documents[at]["score"].as_i64();
    match criterion {
        "first" => Box::new(|a, b| a.cmp(&b)),
        "last" => Box::new(|a, b| b.cmp(&a)),
        "longest" => Box::new(move |a, b| length(b).cmp(&length(a))),
        "shortest" => Box::new(move |a, b| length(a).cmp(&length(b))),
        "field:score:max" => Box::new(move |a, b| score(b).cmp(&score(a))),
        "field:score:min" => {
            Box::new(move |a, b| (score(a).is_none(), score(a)).cmp(&(score(b).is_none(), score(b))))
        }
        other => panic!("no such criterion: {other}"),
    }
}

fn members(row: &Value, key: &str) -> Vec<usize> {
    row[key].as_array().unwrap().iter().map(|id| label(id).parse().unwrap()).collect()
}

/// Holds a run against the clusters of the run that keeps one of each.
fn check(documents: &[Value], one: &Output, some: &Output, policy: &str, most: usize) {
    let mut gone = BTreeSet::new();
    for (before, after) in one.clusters.iter().zip(&some.clusters) {
        let order = in_order(documents, policy, &members(before, "members"));
        let kept = &order[..most.min(order.len())];
        gone.extend(order[kept.len()..].iter().map(ToString::to_string));
        assert_eq!(label(&after["representative"]), kept[0].to_string(), "{policy}");
        for key in ["cluster", "size", "members", "representative"] {
            assert_eq!(before[key], after[key], "{policy}: {key}");
        }
        let told = after.get("kept").map(|_| members(after, "kept"));
        assert_eq!(told, (kept.len() > 1).then(|| kept.to_vec()), "{policy}");
    }
    assert_eq!(one.clusters.len(), some.clusters.len());
    assert_eq!(some.removed_ids().into_iter().collect::<BTreeSet<_>>(), gone, "{policy}, {most}");
    let kept: BTreeSet<String> = some.kept_ids().into_iter().collect();
    let expected = (0..documents.len()).map(|at| at.to_string()).filter(|id| !gone.contains(id));
    assert_eq!(kept, expected.collect::<BTreeSet<_>>(), "{policy}, {most}");
    // What is said of those that go is what was said before.
    assert!(some.duplicates.iter().all(|row| one.duplicates.contains(row)), "{policy}");
    let figure = |name: &str| some.summary[name].as_u64().unwrap();
    assert_eq!((figure("removed"), figure("kept")), (gone.len() as u64, kept.len() as u64));
    assert_eq!(figure("exact_duplicates") + figure("near_duplicates") + figure("linked"), gone.len() as u64);
    assert_eq!(some.summary.get("keep_per_cluster").map(|most| most.as_u64().unwrap()), Some(most as u64));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    #[test]
    fn the_first_of_each_cluster_are_kept(
        kinds in prop::collection::vec((0..6usize, 0..8usize, prop::option::of(-3..3i32)), 1..50),
        most in 2..6usize,
        clustering in prop::sample::select(vec!["guarantee", "transitive"]),
    ) {
        let (dir, documents) = (Dir::new(), documents(&kinds));
        dir.write("in.jsonl", documents.iter().map(|row| format!("{row}\n")).collect::<String>());
        for (at, policy) in POLICIES.into_iter().enumerate() {
            let line = format!("in.jsonl --keep {policy} --clustering {clustering} -w {}", 1 + at % 3);
            let one = dir.output(&line, &format!("one{at}"));
            let some = dir.output(&format!("{line} --keep-per-cluster {most}"), &format!("some{at}"));
            check(&documents, &one, &some, policy, most);
        }
    }
}

#[test]
fn processes_and_collections_keep_the_same() {
    let dir = Dir::new();
    // No two scores are equal: in a collection the order of the input decides nothing.
    let kinds: Vec<_> = (0..400).map(|at| (at * 7 % 31, at % 5, Some(at as i32 * 13 % 401))).collect();
    let documents = documents(&kinds);
    dir.write("in.jsonl", documents.iter().map(|row| format!("{row}\n")).collect::<String>());
    let flags = "in.jsonl --keep field:score:max --keep-per-cluster 3 --write-removed --kinds";
    alike_in_all(&dir, flags, &[(1, 3), (2, 2)]);
    let want = dir.output(flags, "want");
    assert_eq!(want.summary["clusters"], 31);
    assert_eq!(want.summary["kept"], 93);
    dir.alike("load c in.jsonl --keep field:score:max --clustering guarantee", None).ok();
    dir.alike("export c --keep-per-cluster 3 --out export", None).ok();
    let found = Output::read(&dir.join("export"));
    assert!(found.kept == want.kept && found.partition() == want.partition());
    dir.dedup("in.jsonl --dry-run --keep-per-cluster 3")
        .ok()
        .says("31, the largest of 13, up to 3 kept of each");
    dir.dedup("in.jsonl --dry-run --keep-per-cluster 0").code(2).says("--keep-per-cluster").says("from 1 on");
}

/// Sets are of a kind because they lose documents of it.
#[test]
fn clusters_that_lose_nothing_are_sets_of_no_kind() {
    let dir = Dir::new();
    let rows: String = documents(&(0..4).map(|at| (at / 2, at, None)).collect::<Vec<_>>())
        .iter()
        .map(|row| format!("{row}\n"))
        .collect();
    dir.write("in.jsonl", rows);
    for (most, sets) in [(1, 2), (2, 0)] {
        let found = dir.output(&format!("in.jsonl --kinds --keep-per-cluster {most}"), &format!("out{most}"));
        assert_eq!(found.summary["clusters"], 2);
        let kinds = found.summary["kinds"]["kinds"].as_array().unwrap();
        assert_eq!(kinds.iter().map(|row| row["sets"].as_u64().unwrap()).sum::<u64>(), sets, "{kinds:?}");
    }
}

/// A protected document stays anyway: nothing that resembles it is kept beside it, and of other clusters as many as asked for.
#[test]
fn nothing_is_kept_beside_a_protected_document() {
    let dir = Dir::new();
    let kinds: Vec<_> = (0..60).map(|at| (at % 6, at % 5, None)).collect();
    let rows: Vec<String> = documents(&kinds).iter().map(|row| format!("{row}\n")).collect();
    // One of each of the first two families is protected.
    dir.write("old.jsonl", rows[..2].concat());
    dir.write("new.jsonl", rows[2..].concat());
    for clustering in ["guarantee", "transitive"] {
        let flags = format!("new.jsonl --against old.jsonl --clustering {clustering} --keep-per-cluster 3");
        let found = dir.output(&flags, clustering);
        assert_eq!((&found.summary["kept"], &found.summary["removed"]), (&json!(12), &json!(46)));
        let kept: Vec<usize> = found.kept_ids().iter().map(|id| id.parse::<usize>().unwrap() % 6).collect();
        assert!(kept.iter().all(|family| *family > 1), "{kept:?}");
    }
}

/// What inputs are worth is the first criterion, whatever their order, and what is left out comes last.
#[test]
fn preferred_inputs_come_first() {
    let kinds: Vec<_> = (0..600).map(|at| (at * 7 % 151, at % 5, Some(at as i32 % 3))).collect();
    let documents = documents(&kinds);
    let dir = Dir::new();
    let rows =
        |from: usize, to: usize| documents[from..to].iter().map(|row| format!("{row}\n")).collect::<String>();
    for (at, name) in
        ["wiki/a.jsonl", "wiki/b.jsonl", "news/a.jsonl", "news/b.jsonl", "crawl.jsonl"].iter().enumerate()
    {
        dir.write(name, rows(at * 120, at * 120 + 120));
    }
    let mut told = BTreeSet::new();
    for (prefer, ranks) in [
        ("news/,wiki", [1, 1, 0, 0, 2]),
        ("crawl.jsonl", [1, 1, 1, 1, 0]),
        ("./news", [1, 1, 0, 0, 1]),
        ("crawl.jsonl --prefer news/,wiki/", [2, 2, 1, 1, 0]),
    ] {
        for (policy, clustering) in [
            ("first", "guarantee"),
            ("longest,last", "transitive"),
            ("field:score:max,shortest", "guarantee"),
        ] {
            let line = format!(
                "wiki/ news/ crawl.jsonl --keep {policy} --clustering {clustering} --prefer {prefer}"
            );
            let output = dir.output(&line, "out");
            for row in &output.clusters {
                let mut order = in_order(&documents, policy, &members(row, "members"));
                order.sort_by_key(|at| ranks[at / 120]);
                assert_eq!(label(&row["representative"]), order[0].to_string(), "{line}");
            }
            assert_eq!(output.clusters.len(), 151);
            told.insert(output.removed_ids());
            std::fs::remove_dir_all(dir.join("out")).unwrap();
        }
    }
    assert!(told.len() > 8, "nothing to tell apart: {}", told.len());
    let flags =
        "wiki news crawl.jsonl --prefer news,crawl.jsonl --keep longest,last --keep-per-cluster 2 --pairs";
    alike_in_all(&dir, flags, &[(1, 3), (2, 2), (3, 1)]);
    dir.dedup("wiki news --prefer news --dry-run").ok().says("prefer").says("news");
}

/// Protected documents come before preferred ones.
#[test]
fn preferred_inputs_and_protected_ones() {
    let dir = Dir::new();
    let row = |id: &str, at: usize| format!("{}\n", json!({"id": id, "text": words(at, 40)}));
    dir.write("old.jsonl", row("old", 0));
    dir.write("a.jsonl", row("a0", 0) + &row("a1", 100));
    dir.write("b.jsonl", row("b0", 0) + &row("b1", 100));
    let output = dir.output("a.jsonl b.jsonl --prefer b.jsonl --against old.jsonl", "out");
    let told = output.duplicates.iter().map(|row| (label(&row["id"]), label(&row["representative"])));
    let want = [("a0", "old"), ("b0", "old"), ("a1", "b1")].map(|(id, of)| (id.to_owned(), of.to_owned()));
    assert_eq!(told.collect::<Vec<_>>(), want);
}

#[test]
fn preferences_that_cannot_be_meant_are_refused_before_work() {
    let dir = Dir::new();
    dir.write("wiki/a.jsonl", format!("{}\n", json!({"id": 1, "text": words(0, 40)})));
    dir.write("news.jsonl", format!("{}\n", json!({"id": 2, "text": words(0, 40)})));
    for (flags, part) in [
        ("wiki news.jsonl --prefer crawl", "--prefer crawl: no such input; the inputs are: wiki, news.jsonl"),
        ("wiki news.jsonl --prefer wiki,wiki/", "named twice"),
        ("wiki wiki/a.jsonl --prefer wiki/a.jsonl", "name it before them"),
        ("wiki --keep first,longest", "longest behind it decides nothing"),
        ("wiki --keep longest,newest", "several of them with commas between"),
    ] {
        dir.dedup(&format!("{flags} --out out")).code(2).says(part);
        assert!(!dir.join("out").exists(), "{flags}");
    }
    dir.dedup("wiki/a.jsonl wiki --prefer wiki/a.jsonl --dry-run").ok();
}

/// A list is kept in a collection, asked for again, and never taken for another one.
#[test]
fn collections_have_lists_of_criteria() {
    let dir = Dir::new();
    let kinds: Vec<_> = (0..300).map(|at| (at * 7 % 31, at % 5, Some(at as i32 % 4))).collect();
    let documents: Vec<Value> = documents(&kinds)
        .into_iter()
        .enumerate()
        .map(|(at, mut row)| {
            // Ids in the order of the input: the order of documents in a collection.
            row["id"] = format!("{at:03}").into();
            row
        })
        .collect();
    let rows = |some: &[Value]| some.iter().map(|row| format!("{row}\n")).collect::<String>();
    dir.write("in.jsonl", rows(&documents));
    dir.write("a.jsonl", rows(&documents[..100]));
    dir.write("b.jsonl", rows(&documents[100..]));
    let list = "field:score:max,longest,last";
    dir.alike(&format!("load c a.jsonl --keep {list} --clustering guarantee"), None).ok();
    dir.alike("load c b.jsonl -w 2", None).ok();
    dir.alike("load c b.jsonl --keep field:score:max", None).code(2).says("cluster.keep");
    dir.alike("fsck c", None).ok();
    dir.alike("info c --json", None).ok();
    for asked in [list, "longest,field:score:min", "shortest,last", "field:score:min", "last"] {
        let flags = if asked == list { String::new() } else { format!("--keep {asked}") };
        dir.alike(&format!("export c --out export {flags}"), None).ok();
        let want = dir.output(&format!("in.jsonl --keep {asked}"), "want");
        let found = Output::read(&dir.join("export"));
        assert!(
            found.kept_ids().into_iter().collect::<BTreeSet<_>>() == want.kept_ids().into_iter().collect(),
            "{asked}"
        );
        assert_eq!(found.partition(), want.partition(), "{asked}");
        std::fs::remove_dir_all(dir.join("export")).unwrap();
        std::fs::remove_dir_all(dir.join("want")).unwrap();
    }
    let other = "export c --out export --keep field:other:max,longest";
    dir.alike(other, None)
        .code(2)
        .says("stores only what its own policy, field:score:max,longest,last, compares");
}
