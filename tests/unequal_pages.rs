//! Pages of one site of which some have several times as much of their own as others: the short ones resemble each other and those of
//! the next length, the long ones nobody. They meet in groups that are too large to be expanded, and whom each may be linked with is
//! told by sizes and by how much of a set is left there. Whatever is found is found by comparing all, too.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::all_pairs::{alike_pairs, chained};
use crate::support::job::done;
use crate::support::loads::{Seen, whole};
use crate::support::output::{jsonl, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{Random, line, words};

/// Pages with one to four times `own` words of their own behind a template, of which some leave out the end. Among them copies with a word
/// or two changed.
fn unequal(pages: usize, own: usize, seed: u64) -> BTreeMap<usize, String> {
    let mut random = Random(seed);
    let mut texts: Vec<String> = Vec::new();
    for at in 0..pages {
        let count = own * (1 + random.below(4));
        let own: Vec<String> = (0..count).map(|_| format!("p{}", random.below(1 << 30))).collect();
        let template = words(0, if at % 7 == 0 { 60 } else { 90 });
        texts.push(format!("{template} {}", own.join(" ")));
        if at % 30 == 0 {
            let mut words: Vec<String> = texts[texts.len() - 1].split(' ').map(str::to_owned).collect();
            (0..=at % 60 / 30).for_each(|change| words[40 * change + 7] = format!("c{at}x{change}"));
            texts.push(words.join(" "));
        }
    }
    texts.into_iter().enumerate().collect()
}

fn write(dir: &Dir, name: &str, texts: &BTreeMap<usize, String>) {
    dir.write(name, texts.iter().map(|(id, text)| line(&id.to_string(), text)).collect::<String>());
}

/// For each page the first earlier kept one that it resembles, if there is any.
fn first_kept(pairs: &[(usize, usize)], pages: usize) -> BTreeSet<(usize, usize)> {
    let mut earlier: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    pairs.iter().for_each(|(a, b)| earlier.entry(*b).or_default().push(*a));
    let mut removed: BTreeMap<usize, usize> = BTreeMap::new();
    for page in 0..pages {
        let linked = earlier.get(&page).into_iter().flatten();
        if let Some(kept) = linked.copied().filter(|other| !removed.contains_key(other)).min() {
            removed.insert(page, kept);
        }
    }
    removed.into_iter().collect()
}

/// For each page that goes the first page of its component, and the one that it hangs from: of those one link nearer to the first page, the
/// first that it is linked to.
fn hanging(pairs: &[(usize, usize)], pages: usize) -> BTreeSet<(usize, usize, usize)> {
    let mut linked: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (a, b) in pairs {
        linked.entry(*a).or_default().insert(*b);
        linked.entry(*b).or_default().insert(*a);
    }
    let mut found: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for first in 0..pages {
        let mut level = if found.contains_key(&first) { BTreeSet::new() } else { BTreeSet::from([first]) };
        found.extend(level.iter().map(|page| (*page, (first, first))));
        while !level.is_empty() {
            let mut next = BTreeSet::new();
            for page in &level {
                for other in linked.get(page).into_iter().flatten() {
                    if !found.contains_key(other) {
                        found.insert(*other, (first, *page));
                        next.insert(*other);
                    }
                }
            }
            level = next;
        }
    }
    let removed = found.into_iter().filter(|(page, (first, _))| page != first);
    removed.map(|(page, (first, from))| (page, first, from)).collect()
}

#[test]
fn are_found_as_by_comparing_all() {
    let dir = Dir::new();
    for (seed, threshold) in [(3, "0.7"), (4, "0.6")] {
        let texts = unequal(2000, 12, seed);
        write(&dir, "in.jsonl", &texts);
        let truth = alike_pairs(&texts, threshold);
        let number = |id: &serde_json::Value| label(id).parse::<usize>().unwrap();
        for workers in [1, 3] {
            let flags = format!("in.jsonl --threshold {threshold} -w {workers}");
            let kept = dir.output(&flags, &format!("guarantee{seed}-{workers}"));
            assert!(kept.summary["hot_groups"].as_u64() > Some(0), "{}", kept.summary);
            let removed =
                kept.duplicates.iter().map(|row| (number(&row["id"]), number(&row["representative"])));
            assert_eq!(removed.collect::<BTreeSet<_>>(), first_kept(&truth, texts.len()), "{threshold}");
            let linked = dir
                .output(&format!("{flags} --clustering transitive"), &format!("transitive{seed}-{workers}"));
            let members =
                |row: &serde_json::Value| row["members"].as_array().unwrap().iter().map(number).collect();
            let found: BTreeSet<BTreeSet<usize>> = linked.clusters.iter().map(members).collect();
            assert_eq!(found, chained(truth.clone()), "{threshold}");
        }
    }
}

/// Pages of which nearly all are candidates of each other, and most are linked to some kept one; in hot groups or not.
#[test]
fn are_found_where_nearly_all_are_candidates() {
    let dir = Dir::new();
    for (pages, seed) in [(400, 11), (1500, 12)] {
        let mut random = Random(seed);
        let mut page = |at: usize| {
            // The first page of each template resembles only pages with little of their own, and these resemble the others.
            let count = if at < 3 { 29 } else { 2 + random.below(28) };
            let own: Vec<String> = (0..count).map(|_| format!("o{}", random.below(1 << 30))).collect();
            format!("{} {}", words(at % 3, 90), own.join(" "))
        };
        let texts: BTreeMap<usize, String> = (0..pages).map(|at| (at, page(at))).collect();
        write(&dir, "in.jsonl", &texts);
        let truth = alike_pairs(&texts, "0.7");
        assert!(truth.len() > 20 * pages, "{} pairs", truth.len());
        let number = |id: &serde_json::Value| label(id).parse::<usize>().unwrap();
        for workers in [1, 2, 3] {
            let out = format!("dense{pages}-{workers}");
            let kept = dir.output(&format!("in.jsonl --threshold 0.7 -w {workers}"), &out);
            let removed =
                kept.duplicates.iter().map(|row| (number(&row["id"]), number(&row["representative"])));
            assert_eq!(removed.collect::<BTreeSet<_>>(), first_kept(&truth, texts.len()), "{out}");
            let chained = dir.output(
                &format!("in.jsonl --threshold 0.7 --clustering transitive -w {workers}"),
                &format!("{out}t"),
            );
            let removed = chained.duplicates.iter().map(|row| {
                let (page, first) = (number(&row["id"]), number(&row["representative"]));
                (page, first, if row["reason"] == "linked" { number(&row["parent"]) } else { first })
            });
            assert_eq!(removed.collect::<BTreeSet<_>>(), hanging(&truth, texts.len()), "{out}");
            assert!(chained.duplicates.iter().any(|row| row["reason"] == "linked"));
        }
        // Of two processes each measures all candidates.
        let shapes = [(1, 1), (1, 3), (2, 1)];
        for flags in
            ["", "--keep longest", "--clustering transitive", "--clustering transitive --keep longest"]
        {
            alike_in_all(&dir, &format!("in.jsonl --threshold 0.7 {flags}"), &shapes);
        }
    }
}

#[test]
fn are_the_same_in_any_shape() {
    let dir = Dir::new();
    write(&dir, "in.jsonl", &unequal(2000, 12, 6));
    for flags in [
        "--threshold 0.6",
        "--threshold 0.6 --clustering transitive",
        "--threshold 0.7",
        "--threshold 0.7 --clustering transitive",
        "--threshold 0.7 --keep longest",
    ] {
        let output = alike_in_all(&dir, &format!("in.jsonl {flags}"), &[(1, 1), (1, 3), (2, 1), (3, 2)]);
        assert!(output["duplicates.jsonl"].split(|byte| *byte == b'\n').count() > 200, "{flags}");
    }
}

/// Loads of pages beside stored ones, deletions, and loads of other texts under the same ids.
#[test]
fn are_found_over_several_loads() {
    let dir = Dir::new();
    let mut live = unequal(2400, 12, 7);
    let flags = "--threshold 0.7 --clustering transitive";
    let check = |what: &str, live: &BTreeMap<usize, String>| {
        let stored = dir.alike("clusters c", None).ok().stdout;
        let members = |row: &serde_json::Value| {
            row["members"].as_array().unwrap().iter().map(|id| label(id).parse().unwrap()).collect()
        };
        let found: BTreeSet<BTreeSet<usize>> = jsonl(stored.as_bytes()).iter().map(members).collect();
        assert_eq!(found, chained(alike_pairs(live, "0.7")), "{what}");
    };
    let (first, second): (BTreeMap<usize, String>, BTreeMap<usize, String>) =
        live.clone().into_iter().partition(|(id, _)| id % 4 > 0);
    write(&dir, "first.jsonl", &first);
    write(&dir, "second.jsonl", &second);
    dir.alike(&format!("load c first.jsonl {flags} -w 2"), None).ok();
    check("most of them", &first);
    dir.alike("load c second.jsonl -w 3", None).ok();
    check("all of them", &live);
    let gone: Vec<usize> = live.keys().copied().step_by(7).collect();
    dir.write("gone", gone.iter().map(|id| format!("{id}\n")).collect::<String>());
    dir.alike("delete c --ids gone -w 2", None).ok();
    gone.iter().for_each(|id| drop(live.remove(id)));
    check("some deleted", &live);
    let mut texts: Vec<String> = live.values().cloned().collect();
    texts.rotate_left(1);
    live.values_mut().zip(texts).for_each(|(old, new)| *old = new);
    write(&dir, "moved.jsonl", &live);
    dir.alike("load c moved.jsonl -w 1", None).ok();
    check("all replaced", &live);
}

/// Old pages, all of which stay, and new ones that are held against them in groups with limits.
#[test]
fn are_held_against_protected_ones() {
    let dir = Dir::new();
    let texts = unequal(2000, 12, 8);
    let (old, new): (BTreeMap<usize, String>, BTreeMap<usize, String>) =
        texts.clone().into_iter().partition(|(id, _)| *id < 700);
    write(&dir, "old.jsonl", &old);
    write(&dir, "new.jsonl", &new);
    let pairs: Vec<(usize, usize)> =
        alike_pairs(&texts, "0.6").into_iter().filter(|(_, b)| *b >= 700).collect();
    let truth: BTreeSet<usize> =
        first_kept(&pairs, texts.len()).into_iter().map(|(removed, _)| removed).collect();
    let flags = "new.jsonl --against old.jsonl --threshold 0.6";
    let once = dir.output(&format!("{flags} -w 2"), "once");
    assert!(once.summary["hot_groups"].as_u64() > Some(0), "{}", once.summary);
    let removed = once.duplicates.iter().map(|row| label(&row["id"]).parse::<usize>().unwrap());
    assert_eq!(removed.collect::<BTreeSet<_>>(), truth);
    for flags in [flags.to_owned(), format!("{flags} --clustering transitive")] {
        let output = alike_in_all(&dir, &flags, &[(1, 1), (1, 3), (2, 1), (3, 2)]);
        assert!(output["duplicates.jsonl"].split(|byte| *byte == b'\n').count() > 200, "{flags}");
    }
}

/// The same loads by one process and by several.
#[test]
fn are_loaded_by_several_processes_as_by_one() {
    let dir = Dir::new();
    let texts = unequal(2400, 12, 9);
    let parts: Vec<BTreeMap<usize, String>> =
        (0..3).map(|part| texts.clone().into_iter().filter(|(id, _)| id % 3 == part).collect()).collect();
    parts.iter().enumerate().for_each(|(at, part)| write(&dir, &format!("{at}.jsonl"), part));
    for clustering in ["transitive", "guarantee"] {
        for (at, shape) in [(2, 2), (3, 1), (2, 1)].into_iter().enumerate() {
            let fixed = format!("--threshold 0.6 --clustering {clustering}");
            let fixed = if at == 0 { &fixed } else { "" };
            done(&dir, (1, 1), &format!("load one-{clustering} {at}.jsonl {fixed} --quiet"));
            done(&dir, shape, &format!("load many-{clustering} {at}.jsonl {fixed} --quiet"));
            let want = Seen::of(&dir, &format!("one-{clustering}"));
            want.assert_eq(
                &Seen::of(&dir, &format!("many-{clustering}")),
                &format!("{clustering}, load {at}"),
            );
        }
        whole(&dir, &format!("many-{clustering}"));
    }
}
