//! Collections into which sites come one after the other: pages of a site that the frozen table of rare shingles has never
//! seen meet in hot groups, with each other and with stored ones. Clusters are those of a one-shot run, whatever the loads.

use std::collections::{BTreeMap, BTreeSet};

use alike::collection::{Compaction, Snapshot};
use alike::config::{Clustering, Config, JoinMeasure, Method};
use serde_json::Value;

use crate::support::all_pairs::{alike_pairs, chained};
use crate::support::corpora::stride;
use crate::support::guaranteed;
use crate::support::history::{Bench, Load, Op, config, within};
use crate::support::output::{jsonl, label};
use crate::support::program::Dir;
use crate::support::texts::{Random, line, pages, words};
use crate::support::upkeep::{findings, squeeze};

/// Texts that have little to do with each other.
fn ordinary() -> Vec<String> {
    let mut random = Random(5);
    (0..300)
        .map(|_| (0..60).map(|_| format!("o{}", random.below(4000))).collect::<Vec<_>>().join(" "))
        .collect()
}

/// Loads ordinary texts first, then the pages in parts; replaces and deletes some of them. Once more with full compactions between these,
/// which may make keys anew.
fn follow(config: &Config, check: impl Fn(&Bench, &str)) {
    follow_loads(config, false, &check);
    follow_loads(config, true, &check);
}

fn follow_loads(config: &Config, compacts: bool, check: &impl Fn(&Bench, &str)) {
    let texts = [ordinary(), pages(3)].concat();
    let mut bench = Bench::new(config.clone());
    let mut load = |ops: Vec<Op>, workers: usize, what: &str| {
        bench.load(&Load { ops, workers, files: 2, epoch_bytes: None });
        check(&bench, what);
        if compacts {
            squeeze(&bench.storage, Compaction::Full).expect("compacted");
            check(&bench, &format!("{what}, and compacted"));
            assert_eq!(findings(&bench.storage).expect("read"), [], "{what}");
        }
    };
    let upserts = |ids: std::ops::Range<usize>| ids.map(|id| Op::Upsert(id, texts[id].clone())).collect();
    load(upserts(0..300), 1, "ordinary texts");
    load(upserts(300..1000), 2, "a site and some of the next");
    load(upserts(1000..1008), 1, "a few pages of a stored site");
    load(upserts(1008..texts.len()), 3, "the rest");
    let gone = (300..texts.len()).step_by(13).map(Op::Delete);
    let moved = (301..texts.len()).step_by(29).map(|id| Op::Upsert(id, texts[id + 7 - id % 2 * 14].clone()));
    load(gone.chain(moved).collect(), 2, "pages deleted and replaced");
    load(upserts(300..texts.len()), 1, "all pages again");
}

/// The rarity table of a collection.
fn rarity(bench: &Bench) -> Vec<u8> {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    snapshot.frozen_tables().expect("read").expect("a table").rarity.to_bytes()
}

fn join() -> Config {
    Config { threshold: "0.8".parse().expect("a threshold"), ..config(Method::Join) }
}

/// A full compaction makes keys by another table, for a template that the first load did not have, and by no other one once it has.
#[test]
fn keys_are_made_anew_for_a_site_that_came_later() {
    let mut random = Random(11);
    let mut page = |at: usize| {
        let own = (0..30).map(|_| random.below(1 << 30)).map(|word| format!("own{word}"));
        let template = (0..60).map(|word| format!("site{word}"));
        let text = template.chain(own).collect::<Vec<_>>().join(" ");
        if at.is_multiple_of(10) { words(0, 80) } else { text }
    };
    let texts: Vec<String> = ordinary().into_iter().chain((0..1200).map(&mut page)).collect();
    for config in [guaranteed::guaranteed(join()), guaranteed::guaranteed(within(join()))] {
        let mut bench = Bench::new(config);
        let load = |bench: &mut Bench, ids: std::ops::Range<usize>| {
            let ops = ids.map(|id| Op::Upsert(id, texts[id].clone())).collect();
            bench.load(&Load { ops, workers: 2, files: 1, epoch_bytes: None });
            rarity(bench)
        };
        let first = load(&mut bench, 0..300);
        assert_eq!(load(&mut bench, 300..1400), first, "a load makes no table");
        squeeze(&bench.storage, Compaction::Full).expect("compacted");
        let second = rarity(&bench);
        assert_ne!(second, first, "another table is better");
        guaranteed::whole(&bench, "compacted");
        assert_eq!(load(&mut bench, 1400..texts.len()), second);
        guaranteed::whole(&bench, "more pages of it");
        squeeze(&bench.storage, Compaction::Full).expect("compacted");
        assert_eq!(rarity(&bench), second, "no other is better");
        guaranteed::whole(&bench, "compacted again");
    }
}

#[test]
fn transitive() {
    let mut config = join();
    config.cluster.clustering = Clustering::Transitive;
    follow(&config, Bench::check);
}

#[test]
fn with_a_guarantee() {
    follow(&guaranteed::guaranteed(join()), guaranteed::check);
}

#[test]
fn contained() {
    let mut config = join();
    config.join.measure = JoinMeasure::Containment;
    follow(&guaranteed::guaranteed(config.clone()), guaranteed::check);
    config.threshold = "0.95".parse().expect("a threshold");
    config.cluster.clustering = Clustering::Transitive;
    follow(&config, Bench::check);
}

#[test]
fn within_sites() {
    let mut config = within(join());
    follow(&guaranteed::guaranteed(config.clone()), guaranteed::check);
    config.join.measure = JoinMeasure::Containment;
    follow(&guaranteed::guaranteed(config.clone()), guaranteed::check);
    config.cluster.clustering = Clustering::Transitive;
    follow(&config, Bench::check);
}

/// Pages of which none resembles another are told apart by their own parts: nothing is left to be measured against
/// representatives. Near-copies in mass are left, and one measurement each settles them.
#[test]
fn only_near_copies_stay_hot() {
    let dir = Dir::new();
    let mut random = Random(9);
    let mut page = |own: usize| {
        let own: Vec<String> = (0..own).map(|_| format!("p{}", random.below(1 << 30))).collect();
        format!("{} {}", words(0, 100 - own.len()), own.join(" "))
    };
    for (own, hot, linked) in [(13, false, 0), (2, true, 1999)] {
        let lines: String = (0..2000).map(|id| line(&id.to_string(), &page(own))).collect();
        dir.write("in.jsonl", lines);
        let output = dir.output("in.jsonl -w 2", &format!("out{own}"));
        assert_eq!(output.summary["hot_groups"].as_u64() > Some(0), hot, "{}", output.summary);
        assert_eq!(output.duplicates.len(), linked, "{}", output.summary);
        let verified = output.summary["verified"].as_u64().unwrap();
        assert!(verified < 2000, "{verified} pairs measured of pages with {own} words of their own");
    }
}

/// Pages with enough of their own need not collide again: whoever they are alike, they have met under a key of their own.
#[test]
fn pages_with_enough_of_their_own_meet_once() {
    let dir = Dir::new();
    let texts = nearly_alike("0.8", (4, 9), 33);
    dir.write("in.jsonl", texts.iter().map(|(id, text)| line(&id.to_string(), text)).collect::<String>());
    let run = dir.alike("dedup in.jsonl --dry-run --profile -w 2", None).ok();
    assert!(run.stderr.contains("Count"), "{}", run.stderr);
    assert!(!run.stderr.contains("CollideIndexed"), "{}", run.stderr);
}

/// Some of a family have just enough of their own, some just too little, and among them are copies with words changed, left out and
/// added. At any threshold all pairs are found that comparing all finds, and clusters follow from these over several loads.
#[test]
fn pages_around_what_is_enough_meet_whoever_they_are_alike() {
    for (seed, threshold) in (40..).zip(["0.5", "0.7", "0.8", "0.9", "0.95"]) {
        let dir = Dir::new();
        let mut live = nearly_alike(threshold, (-4, 9), seed);
        let file = |name: &str, some: &mut dyn Iterator<Item = (&usize, &String)>| {
            dir.write(name, some.map(|(id, text)| line(&id.to_string(), text)).collect::<String>());
        };
        file("in.jsonl", &mut live.iter());
        let truth = alike_pairs(&live, threshold);
        assert!(truth.len() > 150, "{threshold}: {}", truth.len());
        for workers in [1, 2, 3] {
            let flags = format!("in.jsonl --threshold {threshold} --pairs -w {workers}");
            let all = dir.output(&flags, &format!("out{workers}"));
            let number = |id: &Value| label(id).parse::<usize>().unwrap();
            let mut found: Vec<(usize, usize)> =
                all.pairs.iter().map(|pair| (number(&pair["a"]), number(&pair["b"]))).collect();
            found.sort_unstable();
            assert_eq!(found, truth, "{threshold}");
        }
        let flags = format!("--threshold {threshold} --clustering transitive");
        let load = |what: &str, live: &BTreeMap<usize, String>| {
            let loaded = dir.alike("clusters c", None).ok().stdout;
            let found: BTreeSet<BTreeSet<usize>> = jsonl(loaded.as_bytes())
                .iter()
                .map(|row| {
                    row["members"].as_array().unwrap().iter().map(|id| label(id).parse().unwrap()).collect()
                })
                .collect();
            assert_eq!(found, chained(alike_pairs(live, threshold)), "{threshold}: {what}");
        };
        let (first, second): (BTreeMap<usize, String>, BTreeMap<usize, String>) =
            live.clone().into_iter().partition(|(id, _)| id % 5 < 3);
        file("first.jsonl", &mut first.iter());
        file("second.jsonl", &mut second.iter());
        dir.alike(&format!("load c first.jsonl {flags} -w 2"), None).ok();
        load("most of them", &first);
        dir.alike("load c second.jsonl -w 3", None).ok();
        load("all of them", &live);
        let gone: Vec<usize> = live.keys().copied().step_by(7).collect();
        dir.write("gone", gone.iter().map(|id| format!("{id}\n")).collect::<String>());
        dir.alike("delete c --ids gone -w 2", None).ok();
        gone.iter().for_each(|id| drop(live.remove(id)));
        load("some deleted", &live);
        // All that are left take the texts of the next ones.
        let mut texts: Vec<String> = live.values().cloned().collect();
        texts.rotate_left(1);
        live.values_mut().zip(texts).for_each(|(old, new)| *old = new);
        file("moved.jsonl", &mut live.iter());
        dir.alike("load c moved.jsonl -w 1", None).ok();
        load("all replaced", &live);
    }
}

/// Pages of 190 to 200 words with one template: what is a page's own are so many words more or less, from one number to another,
/// than two of 196 shingles have that resemble each other by a threshold. Among them copies with words changed, left out or added.
fn nearly_alike(threshold: &str, more: (isize, isize), seed: u64) -> BTreeMap<usize, String> {
    let threshold: f64 = threshold.parse().unwrap();
    let mut random = Random(seed);
    let enough = (196.0 * (1.0 - threshold) / (1.0 + threshold)).ceil() as isize;
    let mut texts: Vec<String> = Vec::new();
    for at in 0..900isize {
        let own = enough + more.0 + at % (more.1 - more.0);
        let own: Vec<String> = (0..own).map(|_| format!("p{}", random.below(1 << 30))).collect();
        texts.push(format!("{} {}", words(0, 200 - own.len() - at as usize % 3), own.join(" ")));
        for copy in 0..if at % 20 == 0 { 4 } else { 0 } {
            let mut words: Vec<String> = texts[texts.len() - 1].split(' ').map(str::to_owned).collect();
            // A word is in five shingles.
            for change in 0..=random.below(enough as usize / 5 + 1) {
                let word = random.below(words.len());
                match (change + copy) % 4 {
                    0 => drop(words.remove(word)),
                    1 => words.push(format!("a{at}x{change}")),
                    _ => words[word] = format!("c{at}x{change}"),
                }
            }
            texts.push(words.join(" "));
        }
    }
    texts.into_iter().enumerate().collect()
}

/// Pages of a family of which just too little is in each other: the template comes directly behind the keys by which a page must
/// be indexed, in more pages than make a hot group. Copies, excerpts and longer pages among them are found as by comparing all.
#[test]
fn excerpts_in_a_family_of_near_misses() {
    let dir = Dir::new();
    let mut random = Random(21);
    let mut own = |count: usize| {
        (0..count).map(|_| format!("p{}", random.below(1 << 30))).collect::<Vec<_>>().join(" ")
    };
    // 196 shingles, of which 40 must be missing of a page that no other has enough of; 6 more are asked for if rare.
    let mut texts: Vec<String> =
        (0..900).map(|at| format!("{} {}", words(0, 158 - at % 3), own(42 + at % 3))).collect();
    for at in (0..900).step_by(30) {
        let page = texts[at].clone();
        // Without a piece of the template, so that too little of it is in other pages.
        texts.push(page.split(' ').skip(40).collect::<Vec<_>>().join(" "));
        texts.push(format!("{page} {}", own(300)));
    }
    let lines: String = texts.iter().enumerate().map(|(id, text)| line(&id.to_string(), text)).collect();
    dir.write("in.jsonl", &lines);
    let flags = "in.jsonl --measure containment --pairs";
    let all = dir.output(&format!("{flags} -w 2"), "out");
    let mut found: Vec<(String, String)> =
        all.pairs.iter().map(|pair| (label(&pair["a"]), label(&pair["b"]))).collect();
    found.sort_unstable();
    let sets: Vec<BTreeSet<Vec<&str>>> = texts
        .iter()
        .map(|text| text.split(' ').collect::<Vec<_>>().windows(5).map(<[&str]>::to_vec).collect())
        .collect();
    let mut truth = Vec::new();
    for (a, of_a) in sets.iter().enumerate() {
        for (b, of_b) in sets.iter().enumerate().skip(a + 1) {
            let shared = of_a.iter().filter(|shingle| of_b.contains(*shingle)).count();
            if shared * 10 >= of_a.len().min(of_b.len()) * 8 {
                truth.push((a.to_string(), b.to_string()));
            }
        }
    }
    truth.sort_unstable();
    assert_eq!(found, truth);
    assert!(found.len() > 60 && found.len() < 10_000, "{}", found.len());
    // Without every pair written, what goes is the same, and nothing is handed on as a group to be told apart.
    let some = dir.output("in.jsonl --measure containment -w 1", "some");
    assert_eq!(some.duplicates.len(), all.duplicates.len());
    assert_eq!(some.summary["hot_groups"], 0, "{}", some.summary);
}

/// Near-copies in mass beside a site with half of whose template they begin: they are taken for what they are, the pages
/// collide again, and neither changes what is found of the other. In any shape, and with every pair written.
#[test]
fn near_copies_beside_a_site() {
    let dir = Dir::new();
    let site = pages(4);
    let shared: Vec<&str> = site[0].split(' ').take(45).collect();
    let copy = |at: usize| format!("{} {} x{at} y{at}", shared.join(" "), words(0, 55));
    let lines = |texts: &[String], name: &str| -> Vec<String> {
        texts.iter().enumerate().map(|(at, text)| line(&format!("{name}{at}"), text)).collect()
    };
    let (pages, copies) = (lines(&site, "page"), lines(&(0..4600).map(copy).collect::<Vec<_>>(), "copy"));
    let mixed: Vec<&String> = copies
        .chunks(3)
        .zip(pages.iter().map(Some).chain(std::iter::repeat(None)))
        .flat_map(|(some, page)| some.iter().chain(page))
        .collect();
    dir.write("pages.jsonl", pages.concat());
    dir.write(
        "mixed.jsonl",
        mixed
            .into_iter()
            .cloned()
            .chain(pages[copies.len().div_ceil(3)..].iter().cloned())
            .collect::<String>(),
    );
    let ends = |row: &Value| [&row["id"], &row["representative"]].map(|id| id.as_str().unwrap().to_owned());
    let removed = |line: &str, name: &str| -> BTreeSet<[String; 2]> {
        dir.output(line, name).duplicates.iter().map(ends).collect()
    };
    for clustering in ["guarantee", "transitive"] {
        let mut want =
            removed(&format!("pages.jsonl --clustering {clustering}"), &format!("pages-{clustering}"));
        assert!(want.len() > 200, "{}", want.len());
        want.extend((1..4600).map(|at| [format!("copy{at}"), "copy0".to_owned()]));
        let shapes = ["-w 1", "-w 3 --pairs", "-w 2 --memory 100M", "-w 1 --memory 44M"];
        let (half, is_chained) = (stride(2), usize::from(clustering == "transitive"));
        for (at, shape) in shapes.into_iter().enumerate().skip(is_chained % half).step_by(half) {
            let found = removed(
                &format!("mixed.jsonl --clustering {clustering} {shape}"),
                &format!("{clustering}-{at}"),
            );
            assert_eq!(found.difference(&want).next(), None, "{clustering} {shape}");
            assert_eq!(want.difference(&found).next(), None, "{clustering} {shape}");
        }
        dir.alike(&format!("load {clustering} pages.jsonl --clustering {clustering}"), None).ok();
        dir.alike(&format!("load {clustering} mixed.jsonl -w 2"), None).ok();
        let loaded = dir.alike(&format!("clusters {clustering}"), None).ok().stdout;
        // Representatives are others, since documents are in another order; sizes are what they were where chains count.
        let mut sizes: Vec<u64> =
            jsonl(loaded.as_bytes()).iter().map(|row| row["size"].as_u64().unwrap()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes.last(), Some(&4600), "{clustering}");
        if clustering == "transitive" {
            let mut of_run: BTreeMap<&str, u64> = BTreeMap::new();
            want.iter().for_each(|[_, to]| *of_run.entry(to).or_insert(1) += 1);
            let mut of_run: Vec<u64> = of_run.into_values().collect();
            of_run.sort_unstable();
            assert_eq!(sizes, of_run);
        }
    }
}
