//! A cap on common keys in collections: what each load ignores is what an obvious program ignores, and is reported;
//! where nothing is ignored, the order of loads does not matter.

use std::collections::{BTreeMap, BTreeSet};

use alike::collection::Report;
use alike::config::{Config, Method, Rule, Sampling};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::corpora::stride;
use crate::support::guaranteed::guaranteed;
use crate::support::history::{Bench, Clusters, Load, Op, config};
use crate::support::job::done;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{gzip, line, words};
use crate::support::upkeep::findings;

/// Members that two texts must share.
const SHARED: usize = 2;

fn capped(cap: usize) -> Config {
    let mut config = config(Method::Shingles);
    config.shingles.sampling = Sampling::None;
    (config.count.rule, config.count.shared, config.count.common_cap) = (Rule::Shared, SHARED, cap);
    config
}

/// Pairs of words, which is what the configuration looks at.
type Keys = BTreeSet<(String, String)>;

fn keys(text: &str) -> Keys {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    words.windows(2).map(|two| (two[0].clone(), two[1].clone())).collect()
}

/// What a collection should be, with nothing clever about it.
#[derive(Default)]
struct Plain {
    texts: Vec<(String, Keys)>,
    holders: Vec<BTreeSet<String>>,
    links: Vec<(usize, usize)>,
}

impl Plain {
    /// Loads new documents; in how many contents the keys are that this ignores, the greatest numbers first.
    fn load(&mut self, ops: &[Op], cap: usize) -> Vec<u64> {
        let before = self.texts.len();
        for op in ops {
            let Op::Upsert(id, text) = op else { continue };
            let at = self.texts.iter().position(|(known, _)| known == text).unwrap_or(self.texts.len());
            if at == self.texts.len() {
                self.texts.push((text.clone(), keys(text)));
                self.holders.push(BTreeSet::new());
            }
            self.holders[at].insert(format!("d{id}"));
        }
        let mut in_contents: BTreeMap<&(String, String), usize> = BTreeMap::new();
        self.texts
            .iter()
            .flat_map(|(_, keys)| keys)
            .for_each(|key| *in_contents.entry(key).or_default() += 1);
        let common = |key: &&(String, String)| cap > 0 && in_contents[*key] > cap;
        for new in before..self.texts.len() {
            for other in 0..new {
                let shared = self.texts[new].1.intersection(&self.texts[other].1);
                if shared.filter(|key| !common(key)).count() >= SHARED {
                    self.links.push((other, new));
                }
            }
        }
        let new: BTreeSet<&(String, String)> =
            self.texts[before..].iter().flat_map(|(_, keys)| keys).collect();
        let mut ignored: Vec<u64> =
            new.iter().filter(|key| common(key)).map(|key| in_contents[*key] as u64).collect();
        ignored.sort_unstable_by_key(|contents| std::cmp::Reverse(*contents));
        ignored
    }

    fn clusters(&self) -> Clusters {
        let mut label: Vec<usize> = (0..self.texts.len()).collect();
        for (a, b) in self.links.iter().copied() {
            let (from, to) = (label[b].max(label[a]), label[b].min(label[a]));
            label.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
        }
        let mut clusters: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for (label, holders) in label.iter().zip(&self.holders) {
            clusters.entry(*label).or_default().extend(holders.iter().cloned());
        }
        clusters.into_values().filter(|members| members.len() > 1).collect()
    }
}

/// Texts of five words out of two sequences.
fn text() -> impl Strategy<Value = String> {
    (0usize..2, 0usize..9).prop_map(|(family, from)| words(family * 100 + from, 5))
}

/// Loads that bring new documents.
fn loads() -> impl Strategy<Value = Vec<(Vec<String>, usize)>> {
    prop::collection::vec((prop::collection::vec(text(), 1..12), 1usize..4), 1..5)
}

fn load_all(bench: &mut Bench, loads: &[(Vec<String>, usize)], mut each: impl FnMut(&[Op], Report)) {
    let mut ids = 0..;
    for (texts, workers) in loads {
        let ops: Vec<Op> =
            texts.iter().zip(&mut ids).map(|(text, id)| Op::Upsert(id, text.clone())).collect();
        let load = Load { ops, workers: *workers, files: 1, epoch_bytes: None };
        let report = bench.load(&load);
        each(&load.ops, report);
    }
}

/// The guarantee holds within what a load has joined: some member of a cluster is like all others.
fn holds_within_what_is_joined(loads: &[(Vec<String>, usize)]) {
    let (mut joined, mut divided) = (Bench::new(capped(3)), Bench::new(guaranteed(capped(3))));
    load_all(&mut joined, loads, |_, _| {});
    load_all(&mut divided, loads, |_, _| {});
    let (joined, clusters) = (joined.clusters(), divided.clusters());
    let text = |id: &String| keys(&divided.live[&id[1..].parse::<usize>().expect("a number")]);
    for cluster in &clusters {
        assert!(joined.iter().any(|all| cluster.is_subset(all)), "{cluster:?} is in none of {joined:?}");
        let like = |a: &Keys, b: &Keys| a == b || a.intersection(b).count() >= SHARED;
        let leads = |lead: &String| cluster.iter().all(|other| like(&text(lead), &text(other)));
        assert!(cluster.iter().any(leads), "{cluster:?}");
    }
}

/// The cap keeps two components apart that would be linked without it; both are divided in one load.
#[test]
fn components_that_a_cap_keeps_apart_are_divided_apart() {
    let loads: [(&[usize], usize); 4] = [
        (&[107, 2, 7, 100, 4, 6, 101, 7, 102, 0], 2),
        (&[3, 4, 3], 1),
        (&[4, 100, 8, 8, 104, 0, 5, 107, 0], 3),
        (&[8, 1, 107, 1, 106, 105, 0, 1, 105, 108], 3),
    ];
    let texts = |from: &[usize]| from.iter().map(|from| words(*from, 5)).collect();
    let loads: Vec<(Vec<String>, usize)> =
        loads.iter().map(|(from, workers)| (texts(from), *workers)).collect();
    holds_within_what_is_joined(&loads);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn loads_ignore_what_a_plain_program_ignores(loads in loads(), cap in 2usize..6) {
        let (mut bench, mut plain) = (Bench::new(capped(cap)), Plain::default());
        load_all(&mut bench, &loads, |ops, report| {
            let ignored = plain.load(ops, cap);
            let told: Vec<u64> = report.common_keys.most.iter().map(|key| key.contents).collect();
            assert_eq!((report.common_keys.times, told), (ignored.len() as u64, ignored));
        });
        prop_assert_eq!(bench.clusters(), plain.clusters());
    }

    #[test]
    fn a_cap_that_is_not_reached_changes_nothing(loads in loads()) {
        let mut bench = Bench::new(capped(1000));
        load_all(&mut bench, &loads, |_, report| assert_eq!(report.common_keys.times, 0));
        bench.check("as run again");
    }

    #[test]
    fn a_guarantee_divides_what_a_load_has_joined(loads in loads()) {
        holds_within_what_is_joined(&loads);
    }

    /// What is left after deletions is whole, and never coarser than without a cap.
    #[test]
    fn deletions_leave_a_whole_collection(loads in loads(), gone in prop::collection::btree_set(0usize..40, 1..12)) {
        let (mut bench, mut free) = (Bench::new(capped(3)), Bench::new(capped(0)));
        load_all(&mut bench, &loads, |_, _| {});
        load_all(&mut free, &loads, |_, _| {});
        let ops: Vec<Op> = gone.into_iter().map(Op::Delete).collect();
        let load = Load { ops, workers: 2, files: 1, epoch_bytes: None };
        for bench in [&mut bench, &mut free] {
            bench.load(&load);
        }
        let (capped, free) = (bench.clusters(), free.clusters());
        for cluster in &capped {
            prop_assert!(free.iter().any(|all| cluster.is_subset(all)), "{cluster:?} is in none of {free:?}");
        }
        prop_assert_eq!(findings(&bench.storage).expect("read").len(), 0);
    }
}

/// What the report of a load says of common keys.
fn told(load: &Ran) -> Value {
    let report: Value = serde_json::from_str(&load.stdout).unwrap();
    report["common_keys"].clone()
}

/// A preset with a cap makes a collection; the load that brings a key above the cap says so, and names it.
#[test]
fn a_load_says_what_it_ignored() {
    let dir = Dir::new();
    let notice = words(0, 300);
    let documents = |from: usize, to: usize| -> String {
        (from..to).map(|i| line(&i.to_string(), &format!("{notice} {}", words(1000 * (i + 1), 20)))).collect()
    };
    dir.write("first.jsonl", documents(0, 15));
    dir.write("second.jsonl", documents(15, 30));
    dir.alike("load c first.jsonl --preset broder1997 --common-cap 20 --json", None).ok();
    let ran = dir.alike("load c second.jsonl --json", None).ok().says("may depend on the order of loads");
    let ignored = &told(&ran);
    let keys = ignored["times"].as_u64().unwrap();
    assert!(keys > 0 && ignored["postings"] == keys * 15, "{ignored}");
    assert!(ignored["of_postings"].as_u64().unwrap() > keys * 15, "{ignored}");
    let most = ignored["most"].as_array().unwrap();
    assert!(most.len() as u64 == keys && most.iter().all(|key| key["contents"] == 30), "{ignored}");
    assert!(most.iter().all(|key| key["key"].as_str().is_some_and(|key| key.len() == 16)), "{ignored}");
    dir.alike("fsck c", None).ok();
    assert!(dir.alike("info c", None).ok().stdout.contains(&format!("\"ignored_keys\":{keys}")));
    dir.alike("pairs c", None).ok().says("need not be");
    let apart = dir.alike("explain c 0 20", None).ok().stdout;
    assert!(apart.contains("\"capped\":true"), "{apart}");
    // What loads ignore adds up.
    dir.write("third.jsonl", documents(30, 32));
    let more = told(&dir.alike("load c third.jsonl --json", None).ok())["times"].as_u64().unwrap();
    assert!(more > 0);
    assert!(dir.alike("info c", None).ok().stdout.contains(&format!("\"ignored_keys\":{}", keys + more)));
    // Several processes tell the same, and a guarantee leaves texts apart that never met.
    let flags = "--preset broder1997 --common-cap 20 --json";
    done(&dir, (2, 2), &format!("load p first.jsonl {flags} --clustering guarantee"));
    assert_eq!(&told(&done(&dir, (2, 1), "load p second.jsonl --json")), ignored);
    let apart = dir.alike("explain p 0 20", None).ok().stdout;
    assert!(apart.contains("\"capped\":true"), "{apart}");
}

/// Texts of sites with templates: more pages than keys may have, or than are expanded; near-copies in mass, parts of them, and copies.
fn sites() -> String {
    let page = |site: usize, page: usize, own: usize| {
        let template = words(100_000 * (site + 1), 60);
        format!("{template} {}", words(1_000_000 * (site + 1) + 50 * page, own))
    };
    let mut texts: Vec<String> = Vec::new();
    // Of 300 to 600 contents, alike and not.
    for (site, (pages, own)) in [(280, 2), (330, 5), (600, 3), (600, 40), (40, 4)].into_iter().enumerate() {
        texts.extend((0..pages).map(|number| page(site, number, own + number % 3)));
    }
    // One page with a word changed.
    for number in 0..550 {
        let (before, behind) = (number % 83, 82 - number % 83);
        texts.push(format!("{} n{number} {}", words(7_000_000, before), words(7_000_100, behind)));
    }
    texts.extend((0..120).map(|number| words(9_000_000 + 7 * number, 40)));
    let copies: Vec<String> = texts.iter().step_by(9).cloned().collect();
    texts.extend(copies);
    // Neighbours are not of one site.
    let places = (0..texts.len()).map(|at| at * 1009 % texts.len());
    places.enumerate().map(|(at, place)| line(&at.to_string(), &texts[place])).collect()
}

/// Lines are joined and what is compressed is counted, with the same lists, and the same figures of what is common.
#[test]
fn a_join_counts_what_counting_all_shingles_does() {
    let dir = Dir::new();
    let all = sites();
    dir.write("in.jsonl", &all);
    dir.write("in.jsonl.gz", gzip(all.as_bytes(), all.len()));
    let clusterings = [("", 1000), ("", 256), ("", 320), ("", 0), ("--clustering transitive", 300)];
    let settings = clusterings.iter().flat_map(|(flags, cap)| {
        ["--threshold 0.5", "--threshold 0.8 --pairs"]
            .map(|more| format!("{flags} {more} --common-cap {cap}"))
    });
    let lists = ["duplicates.jsonl", "clusters.jsonl", "pairs.jsonl"];
    let figures =
        ["common_shingles", "removed", "near_duplicates", "linked", "clusters", "contents", "pairs"];
    let mut ignored = BTreeSet::new();
    for (at, flags) in settings.enumerate() {
        let run = |input: &str, workers: usize| {
            let name = format!("o{at}-{workers}-{}", input.len());
            let output = dir.output(&format!("{input} --method shingles {flags} -w {workers}"), &name);
            let read = |list: &str| std::fs::read_to_string(dir.join(&name).join(list)).unwrap_or_default();
            (lists.map(|list| read(list).replace(input, "IN")), output.summary)
        };
        let (counted, summary) = run("in.jsonl.gz", 1);
        assert!(counted[0].lines().count() > 100, "{flags}");
        ignored.insert(summary["common_shingles"]["keys"].as_u64().unwrap());
        let third = stride(3);
        for workers in (1..4).skip(at % third).step_by(third) {
            let (joined, of_join) = run("in.jsonl", workers);
            assert_eq!(joined, counted, "{flags}, {workers} workers");
            for figure in figures {
                assert_eq!(of_join[figure], summary[figure], "{figure} of {flags}, {workers} workers");
            }
        }
    }
    assert!(ignored.len() > 3, "{ignored:?}");
}
