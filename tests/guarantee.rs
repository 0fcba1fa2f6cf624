//! A collection that clusters with a guarantee has, after any history of loads, the clusters and representatives of a
//! one-shot run that reads what is left in document order: by the load that first brought an id, then by id.

use alike::config::{Config, JoinMeasure, Method, Rule};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::corpora::{corpus, full, sample};
use crate::support::guaranteed::{follow_on, guaranteed, whole};
use crate::support::history::{Bench, Load, Op, config, contained, history, text, verified};
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::recompute::{keeping, sampled};
use crate::support::tables::{commit, oldest, says};
use crate::support::texts::{Random, families, line, near_copies_among, words};

/// Follows a history; what is done after each load says the number with it.
fn follow(config: Config, history: &[(Load, u8)]) {
    follow_on(Bench::new(config), history);
}

/// Histories in which texts also change in what is no token, so that documents change their length and keep their content.
fn histories() -> impl Strategy<Value = Vec<(Load, u8)>> {
    let marks = prop::collection::vec(0usize..4, 60);
    (history(), prop::collection::vec(0u8..6, 6), marks).prop_map(|(mut loads, then, marks)| {
        let mut marks = marks.into_iter();
        for op in loads.iter_mut().flat_map(|load| &mut load.ops) {
            if let Op::Upsert(_, text) = op {
                text.push_str(&"!".repeat(marks.next().unwrap_or(0)));
            }
        }
        loads.into_iter().zip(then).collect()
    })
}

fn keep() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["first", "last", "longest", "shortest", "longest,last", "shortest,first"])
}

/// Histories of each method; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if full() { 700 } else { 30 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn join(history in histories(), keep in keep()) {
        follow(keeping(guaranteed(config(Method::Join)), keep), &history);
    }

    #[test]
    fn containment(history in histories(), keep in keep()) {
        follow(keeping(guaranteed(contained()), keep), &history);
    }

    #[test]
    fn features(history in histories(), keep in keep(), verify in any::<bool>()) {
        let config = if verify { verified() } else { config(Method::Minhash) };
        follow(keeping(guaranteed(config), keep), &history);
    }

    #[test]
    fn shingles(history in histories(), keep in keep(), containment in any::<bool>()) {
        let rule = if containment { Rule::Containment } else { Rule::Resemblance };
        follow(keeping(guaranteed(sampled(rule)), keep), &history);
    }

    #[test]
    fn exact(history in histories(), keep in keep()) {
        follow(keeping(guaranteed(config(Method::Exact)), keep), &history);
    }

    /// Nothing but the loads decides what becomes of clusters: neither workers, nor files, nor epochs, nor compaction.
    #[test]
    fn numbers_and_lines_do_not_depend_on_how_it_is_done(history in histories(), keep in keep()) {
        let config = keeping(guaranteed(config(Method::Join)), keep);
        let (mut one, mut other) = (Bench::new(config.clone()), Bench::new(config));
        for (load, _) in &history {
            one.load(load);
            other.load(&Load { workers: 1, files: 1, epoch_bytes: None, ..load.clone() });
            prop_assert_eq!(&one.replayed, &other.replayed);
        }
    }

    #[test]
    fn long_chains(texts in prop::collection::vec(text(), 20..60), keep in keep(), workers in 1usize..4) {
        let mut bench = Bench::new(keeping(guaranteed(config(Method::Join)), keep));
        for some in texts.iter().cloned().enumerate().collect::<Vec<_>>().chunks(20) {
            let ops = some.iter().map(|(id, text)| Op::Upsert(*id, text.clone())).collect();
            bench.load(&Load { ops, workers, files: 2, epoch_bytes: Some(300) });
            whole(&bench, "a chain");
        }
    }
}

/// Near copies beyond what a key group may have, and real texts, in several loads with replacements and deletions.
#[test]
fn hot_groups_and_real_documents() {
    hot_groups_and(families(sample(), 3), Config::default());
}

#[test]
fn hot_groups_and_real_documents_contained() {
    let mut config = Config::default();
    config.join.measure = JoinMeasure::Containment;
    hot_groups_and(families(sample(), 3), config);
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn hot_groups_and_licence_texts() {
    hot_groups_and(families(corpus("licence_texts"), 60), Config::default());
}

fn hot_groups_and(real: Vec<String>, config: Config) {
    let texts = near_copies_among(real, &mut Random(5));
    let mut bench = Bench::new(guaranteed(config));
    let ops: Vec<Op> = texts.iter().cloned().enumerate().map(|(id, text)| Op::Upsert(id, text)).collect();
    for (at, part) in ops.chunks(ops.len().div_ceil(3)).enumerate() {
        bench.load(&Load { ops: part.to_vec(), workers: 1 + at % 2, files: 2, epoch_bytes: None });
        whole(&bench, "it grows");
    }
    let gone = (0..texts.len()).step_by(17).map(Op::Delete);
    let moved = (3..texts.len()).step_by(23).map(|id| Op::Upsert(id, texts[id - 1].clone()));
    let load = Load { ops: gone.chain(moved).collect(), workers: 2, files: 1, epoch_bytes: None };
    bench.load(&load);
    whole(&bench, "some go, some move");
    assert!(bench.clusters().len() > 10, "{} clusters", bench.clusters().len());
}

/// A chain a - b - c of which the ends are too far apart, with a keep policy that compares lengths.
fn chain() -> Bench {
    let mut config = keeping(guaranteed(config(Method::Join)), "longest");
    config.text.ngram = 1;
    let mut bench = Bench::new(config);
    let ops = [(0, 100, "!!"), (1, 102, ""), (2, 104, "!")];
    let ops = ops.map(|(id, from, end)| Op::Upsert(id, words(from, 9) + end)).into();
    bench.load(&Load { ops, workers: 1, files: 1, epoch_bytes: None });
    bench
}

/// Which document is the longest decides who is together. It may change while all texts stay the same: then the component
/// is looked at again.
#[test]
fn another_length_of_the_same_text_is_another_order() {
    let mut bench = chain();
    let clusters = |bench: &Bench| {
        whole(bench, "a chain");
        bench.replayed.values().map(|(members, leader)| (leader.clone(), members.len())).collect::<Vec<_>>()
    };
    assert_eq!(clusters(&bench), [("d0".to_owned(), 2)]);
    let put = |bench: &mut Bench, id: usize, text: String| {
        bench.load(&Load { ops: vec![Op::Upsert(id, text)], workers: 2, files: 1, epoch_bytes: None });
    };
    put(&mut bench, 2, words(104, 9) + "!!!!");
    assert_eq!(clusters(&bench), [("d2".to_owned(), 2)]);
    put(&mut bench, 1, words(102, 9) + "!!!!!!");
    assert_eq!(clusters(&bench), [("d1".to_owned(), 3)]);
    // Another document of the text of an end is the longest of all.
    put(&mut bench, 3, words(100, 9) + "!!!!!!!!");
    assert_eq!(clusters(&bench), [("d3".to_owned(), 3)]);
}

/// A field that changes and no text with it, in a load that says nothing of the other documents.
#[test]
fn another_value_of_a_field_is_another_order() {
    let dir = Dir::new();
    let row = |id: &str, from: usize, date: &str| {
        json!({"id": id, "text": words(from, 40), "date": date}).to_string() + "\n"
    };
    let rows = |b: &str| [row("a", 0, "2001"), row("b", 4, b), row("c", 8, "2003")].concat();
    let flags = "--threshold 0.75 --ngram 1 --clustering guarantee --keep field:date:max";
    dir.write("in.jsonl", rows("2002"));
    dir.alike(&format!("load c in.jsonl {flags}"), None).ok();
    let told = |line: &str| -> Vec<(Value, Value)> {
        let rows = jsonl(dir.alike(line, None).ok().stdout.as_bytes());
        rows.into_iter().map(|row| (row["representative"].clone(), row["members"].clone())).collect()
    };
    assert_eq!(told("clusters c"), [(json!("c"), json!(["b", "c"]))]);
    dir.write("b.jsonl", row("b", 4, "2004"));
    dir.alike("load c b.jsonl", None).ok();
    assert_eq!(told("clusters c"), [(json!("b"), json!(["a", "b", "c"]))]);
    assert_eq!(told("clusters c"), told("recluster c"));
    let changes: Vec<Value> = jsonl(dir.alike("changes c --since 1", None).ok().stdout.as_bytes());
    let said = |what: &str| changes.iter().filter(|line| line["change"] == json!(what)).count();
    assert_eq!((said("joined"), said("representative"), said("created")), (1, 1, 0), "{changes:?}");
    dir.alike("fsck c", None).ok();
}

/// The least memory that a load may have is enough to divide what it touches, too, and gives the same clusters.
#[test]
fn little_memory_is_enough() {
    let dir = Dir::new();
    let rows = (0..3000).map(|at| line(&format!("d{at:04}"), &words(at * 3, 40)));
    dir.write("in.jsonl", rows.collect::<String>());
    for (name, flags) in [("little", "--memory 36M -w 1"), ("much", "-w 2")] {
        let line = format!("load {name} in.jsonl --threshold 0.75 --ngram 1 --clustering guarantee {flags}");
        dir.alike(&line, None).ok();
    }
    let clusters = |name: &str| dir.alike(&format!("clusters {name} --json"), None).ok().stdout;
    assert_eq!(clusters("little"), clusters("much"));
    assert_eq!(clusters("much").lines().count(), 1500);
}

/// Where memory is short, candidates are measured in rounds: the sets of these documents are four times as large as what may be
/// held of them.
#[test]
fn rounds_of_measuring_give_the_same() {
    let dir = Dir::new();
    let rows = (0..3000).map(|at| line(&format!("d{at:04}"), &words(at / 3 * 1000 + at % 3 * 9, 300)));
    dir.write("in.jsonl", rows.collect::<String>());
    for (name, flags) in [("much", "-w 2"), ("little", "--memory 36M -w 1"), ("two", "--memory 46M -w 2")] {
        dir.alike(&format!("dedup in.jsonl --out {name} --pairs {flags}"), None).ok();
    }
    for file in ["duplicates.jsonl", "clusters.jsonl", "pairs.jsonl", "kept/in.jsonl"] {
        let read = |name: &str| std::fs::read(dir.join(&format!("{name}/{file}"))).unwrap();
        assert!(!read("much").is_empty());
        assert!(["little", "two"].iter().all(|name| read(name) == read("much")), "{file}");
    }
}

#[test]
fn what_is_not_guaranteed_is_named() {
    for (what, place) in
        [("it does not resemble the representative", 0), ("at a place where it cannot be", 7u64 << 32)]
    {
        let bench = chain();
        let (shape, mut rows, _) = oldest(&bench, "contents");
        let mut row = rows.remove(2);
        row[2] |= place;
        commit(&bench, "contents", shape, &[row], &[], |_| ());
        says(&bench, "contents", what).expect("named");
    }
    let mut bench = Bench::new(config(Method::Join));
    let ops = vec![Op::Upsert(0, words(0, 9)), Op::Upsert(1, words(1, 9))];
    bench.load(&Load { ops, workers: 1, files: 1, epoch_bytes: None });
    let (shape, mut rows, _) = oldest(&bench, "contents");
    rows.iter_mut().for_each(|row| row[2] |= 1 << 32);
    commit(&bench, "contents", shape, &rows, &[], |_| ());
    says(&bench, "contents", "at a place where it cannot be").expect("a transitive one has one place");
}

/// A collection `c` of a chain a0 - a1 - a2 - a3, each linked to the next only, and a copy b of a2.
fn made() -> Dir {
    let dir = Dir::new();
    let all = (0..4).map(|at| line(&format!("a{at}"), &words(at * 4, 40)));
    dir.write("in.jsonl", all.chain([line("b", &words(8, 40).to_uppercase())]).collect::<String>());
    dir.alike("load c in.jsonl --threshold 0.75 --ngram 1 --clustering guarantee", None).ok();
    dir
}

fn answer(dir: &Dir, line: &str) -> Value {
    jsonl(dir.alike(line, None).ok().stdout.as_bytes()).remove(0)
}

#[test]
fn every_command_knows_the_clusters() {
    let dir = made();
    let rows = |line: &str| jsonl(dir.alike(line, None).ok().stdout.as_bytes());
    let cluster = |row: &Value| (row["representative"].clone(), row["members"].clone());
    let expected = [(json!("a2"), json!(["a2", "a3", "b"])), (json!("a0"), json!(["a0", "a1"]))];
    for line in ["clusters c --json", "recluster c --json"] {
        let mut found: Vec<_> = rows(line).iter().map(cluster).collect();
        found.sort_by_key(|(_, members)| members.as_array().map(|all| std::cmp::Reverse(all.len())));
        assert_eq!(found, expected, "{line}");
    }
    assert_eq!(cluster(&rows("recluster c --clustering transitive --json")[0]).0, json!("a0"));
    let at: Vec<Value> = rows("documents c --json").into_iter().map(|row| row["cluster"].clone()).collect();
    assert_eq!(at.iter().filter(|at| **at == json!("1.1")).count(), 2);
    assert_eq!(at.iter().filter(|at| **at == json!("1.2")).count(), 3);
    let stats = answer(&dir, "stats c --json");
    assert_eq!(
        (&stats["clusters"], &stats["clustered"], &stats["removed"]),
        (&json!(2), &json!(5), &json!(3))
    );
    assert_eq!(answer(&dir, "info c")["configuration"]["cluster"]["clustering"], json!("guarantee"));
    assert_eq!(dir.alike("group c", Some(b"a3\na1\nb\na0\n")).ok().stdout, "a3\n  b\na1\n  a0\n");
    let known = answer(&dir, "check c in.jsonl --json");
    let of: Vec<_> =
        known["resembles"].as_array().unwrap().iter().map(|of| (&of["id"], &of["cluster"])).collect();
    assert_eq!(of, [(&json!("a0"), &json!("1.1")), (&json!("a1"), &json!("1.1"))]);
    dir.alike("fsck c", None).ok();
    dir.alike("export c --out exported", None).ok();
    dir.alike("dedup in.jsonl --out once --threshold 0.75 --ngram 1", None).ok();
    for name in ["kept/in.jsonl", "clusters.jsonl"] {
        let read = |folder: &str| std::fs::read_to_string(dir.join(folder).join(name)).unwrap();
        assert_eq!(read("exported"), read("once"), "{name}");
    }
}

#[test]
fn explanations_go_by_representatives() {
    let dir = made();
    let steps = |told: &Value| -> Vec<(String, String, bool)> {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let steps = told.as_array().unwrap().iter();
        steps
            .map(|step| {
                (word(&step["first"]), word(&step["second"]), step["measures"]["linked"] == json!(true))
            })
            .collect()
    };
    let step = |a: &str, b: &str, linked: bool| (a.to_owned(), b.to_owned(), linked);
    let one = answer(&dir, "explain c a3");
    assert_eq!((&one["representative"], steps(&one["chain"])), (&json!("a2"), vec![step("a3", "a2", true)]));
    let first = answer(&dir, "explain c a0");
    assert_eq!((&first["representative"], steps(&first["chain"])), (&json!("a0"), vec![]));
    let together = answer(&dir, "explain c b a3");
    assert_eq!(steps(&together["chain"]), [step("b", "a3", true)], "a copy of the representative");
    // Linked, and yet a1 went to a representative that is kept earlier.
    let apart = answer(&dir, "explain c a1 a3");
    assert_eq!(
        (&apart["answer"], &apart["best"], &apart["compared"]),
        (&json!("apart"), &Value::Null, &json!(0))
    );
    assert_eq!(
        steps(&apart["representatives"]),
        [step("a1", "a2", true), step("a0", "a3", false), step("a0", "a2", false)]
    );
    let leaders = answer(&dir, "explain c a0 a2");
    assert_eq!((&leaders["answer"], &leaders["representatives"]), (&json!("apart"), &Value::Null));
    dir.write("more.jsonl", line("c", &words(7, 40)) + &line("d", &words(9, 40)));
    dir.alike("load c more.jsonl", None).ok();
    let two = answer(&dir, "explain c d a3");
    assert_eq!(steps(&two["chain"]), [step("d", "a2", true), step("a2", "a3", true)]);
    assert_eq!(two["ends"]["measures"]["linked"], json!(true));
}

#[test]
fn the_clustering_is_chosen_once() {
    let dir = made();
    for flags in ["", "--clustering guarantee", "--threshold 0.75"] {
        dir.alike(&format!("load c in.jsonl {flags}"), None).ok();
    }
    let other = "cluster.clustering is guarantee, not transitive";
    dir.alike("load c in.jsonl --clustering transitive", None).code(2).says(other);
    dir.write("left-out.toml", "threshold = 0.75\n[text]\nngram = 1\n");
    dir.alike("load c in.jsonl --config left-out.toml", None).code(2).says(other);
    dir.write("said.toml", "threshold = 0.75\n[text]\nngram = 1\n[cluster]\nclustering = \"guarantee\"\n");
    dir.alike("load c in.jsonl --config said.toml", None).ok();
    let clustering = |name: &str| answer(&dir, &format!("info {name}"))["configuration"]["cluster"].clone();
    for (name, flags, wanted) in [
        ("plain", "", "transitive"),
        ("left-out", "--config left-out.toml", "transitive"),
        ("said", "--config said.toml", "guarantee"),
        ("news", "--preset news", "guarantee"),
        ("nemo", "--preset nemo", "transitive"),
        ("flag", "--preset news --clustering transitive", "transitive"),
    ] {
        dir.alike(&format!("load {name} in.jsonl {flags}"), None).ok();
        assert_eq!(clustering(name)["clustering"], json!(wanted), "{name}");
    }
}
