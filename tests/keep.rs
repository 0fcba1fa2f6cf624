//! `--keep-per-cluster`: the first documents of each cluster, against members sorted by hand.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::output::{Output, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::words;

const POLICIES: [&str; 6] = ["first", "last", "longest", "shortest", "field:score:max", "field:score:min"];

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

/// The members of a cluster in keep order.
fn in_order(documents: &[Value], policy: &str, members: &[usize]) -> Vec<usize> {
    let mut members = members.to_vec();
    let length = |at: &usize| documents[*at]["text"].as_str().unwrap().len();
    let score = |at: &usize| documents[*at]["score"].as_i64();
    match policy {
        "first" => members.sort_unstable(),
        "last" => members.sort_unstable_by_key(|at| Reverse(*at)),
        "longest" => members.sort_by_key(|at| (Reverse(length(at)), *at)),
        "shortest" => members.sort_by_key(|at| (length(at), *at)),
        "field:score:max" => members.sort_by_key(|at| (score(at).is_none(), Reverse(score(at)), *at)),
        _ => members.sort_by_key(|at| (score(at).is_none(), score(at), *at)),
    }
    members
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
