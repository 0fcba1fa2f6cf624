//! `--against`: what resembles protected documents goes, these stay as they are, and none is compared with another. Held against
//! the oracle, against all pairs of a run on everything, and in every shape.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::job::Shape;
use crate::support::methods::{METHODS, collection, collection_with};
use crate::support::oracle::{Contents, Doc, Pair, fraction};
use crate::support::output::{Output, label};
use crate::support::outputs::alike_in_all;
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, line, pages, words};

/// Protected documents, which come first, and those that are held against them.
pub(crate) struct Split {
    pub(crate) docs: Vec<Doc>,
    pub(crate) protected: usize,
}

impl Split {
    /// Two fifths of some documents are protected.
    pub(crate) fn of(mut docs: Vec<Doc>) -> Split {
        for (at, doc) in docs.iter_mut().enumerate() {
            doc.score = (at % 5 > 0).then_some((at * 37 % 101) as i64);
        }
        Split { protected: docs.len() * 2 / 5, docs }
    }

    /// Writes protected documents to two files of a folder, and the others to `new.jsonl`.
    pub(crate) fn write(&self, dir: &Dir) {
        let (old, new) = self.docs.split_at(self.protected);
        let (first, second) = old.split_at(old.len() / 3);
        dir.write("old/a.jsonl", Doc::jsonl(first));
        dir.write("old/b.jsonl", Doc::jsonl(second));
        dir.write("new.jsonl", Doc::jsonl(new));
    }

    /// Which of two documents is the better one: a protected one, or what the policy says.
    fn compare(&self, keep: &str, a: usize, b: usize) -> Ordering {
        let (x, y) = (&self.docs[a], &self.docs[b]);
        let policy = |criterion: &str| match criterion {
            "first" => Ordering::Equal,
            "last" => b.cmp(&a),
            "longest" => y.text.len().cmp(&x.text.len()),
            "field:score:max" => y.score.cmp(&x.score),
            other => panic!("no such keep policy: {other}"),
        };
        let decided = keep.split(',').map(policy).find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        (a >= self.protected).cmp(&(b >= self.protected)).then(decided).then(a.cmp(&b))
    }
}

/// What becomes of each removed document: its representative, and why.
pub(crate) type Removed = BTreeMap<String, (String, &'static str)>;

/// The slow answer: contents in order, each held against those before it, or reached from the protected ones, link by link.
pub(crate) fn answer(
    split: &Split,
    contents: &Contents,
    links: &[Pair],
    keep: &str,
    transitive: bool,
) -> Removed {
    let many = contents.holders.len();
    let better = |a: &usize, b: &usize| split.compare(keep, *a, *b);
    let best: Vec<usize> =
        contents.holders.iter().map(|holders| *holders.iter().min_by(|a, b| better(a, b)).unwrap()).collect();
    let is_protected = |content: usize| best[content] < split.protected;
    let mut linked = vec![BTreeSet::new(); many];
    for link in links.iter().filter(|link| !(is_protected(link.a) && is_protected(link.b))) {
        linked[link.a].insert(link.b);
        linked[link.b].insert(link.a);
    }
    let mut ranked: Vec<usize> = (0..many).collect();
    ranked.sort_by(|a, b| better(&best[*a], &best[*b]));
    let mut leaders: Vec<Option<(usize, &'static str)>> = vec![None; many];
    if transitive {
        let protected: Vec<usize> = (0..many).filter(|content| is_protected(*content)).collect();
        reach(&linked, protected, &mut leaders);
        for content in ranked {
            if leaders[content].is_none() {
                reach(&linked, vec![content], &mut leaders);
            }
        }
    } else {
        let mut kept: Vec<usize> = Vec::new();
        for content in ranked {
            let leader = kept.iter().find(|leader| linked[content].contains(leader));
            leaders[content] = Some(leader.map_or((content, "exact"), |leader| (*leader, "near")));
            if leader.is_none() {
                kept.push(content);
            }
        }
    }
    let mut removed = Removed::new();
    for (holders, leader) in contents.holders.iter().zip(leaders) {
        let (leader, reason) = leader.unwrap();
        for doc in holders.iter().filter(|doc| **doc >= split.protected && **doc != best[leader]) {
            removed.insert(split.docs[*doc].id.clone(), (split.docs[best[leader]].id.clone(), reason));
        }
    }
    removed
}

/// What is reached from some contents, each of which leads: level by level, by the earliest of the level before.
fn reach(linked: &[BTreeSet<usize>], starts: Vec<usize>, leaders: &mut [Option<(usize, &'static str)>]) {
    starts.iter().for_each(|start| leaders[*start] = Some((*start, "exact")));
    let (mut level, mut reason) = (starts, "near");
    while !level.is_empty() {
        let mut next = BTreeSet::new();
        for content in level {
            let (leader, _) = leaders[content].unwrap();
            for other in &linked[content] {
                if leaders[*other].is_none() {
                    leaders[*other] = Some((leader, reason));
                    next.insert(*other);
                }
            }
        }
        (level, reason) = (next.into_iter().collect(), "linked");
    }
}

fn removed(output: &Output) -> BTreeMap<String, (String, String)> {
    let row = |row: &Value| (label(&row["id"]), (label(&row["representative"]), label(&row["reason"])));
    output.duplicates.iter().map(row).collect()
}

#[track_caller]
pub(crate) fn check(dir: &Dir, split: &Split, want: &Removed, flags: &str) {
    let output = dir.output(&format!("new.jsonl --against old {flags}"), "out");
    let got = removed(&output);
    let want: BTreeMap<String, (String, String)> = want
        .iter()
        .map(|(id, (leader, reason))| (id.clone(), (leader.clone(), (*reason).to_owned())))
        .collect();
    let differs = want.iter().find(|(id, row)| got.get(*id) != Some(row));
    assert!(differs.is_none(), "{flags}: want {differs:?}, got {:?}", got.get(differs.unwrap().0));
    assert_eq!(got.len(), want.len(), "{flags}: {:?}", got.iter().find(|(id, _)| !want.contains_key(*id)));
    // What is written is the inputs without these, and nothing of what is protected.
    assert_eq!(output.kept.keys().collect::<Vec<_>>(), ["new.jsonl"]);
    let (old, new) = split.docs.split_at(split.protected);
    let kept: Vec<Doc> = new.iter().filter(|doc| !want.contains_key(&doc.id)).cloned().collect();
    assert!(output.kept["new.jsonl"] == Doc::jsonl(&kept).into_bytes(), "{flags}");
    let protected: BTreeSet<&str> = old.iter().map(|doc| &*doc.id).collect();
    for row in &output.duplicates {
        let id = row["representative"].as_str().unwrap();
        let place = old.iter().position(|doc| doc.id == id);
        let place = place.map(|at| {
            let first = old.len() / 3;
            if at < first { ("old/a.jsonl", at + 1) } else { ("old/b.jsonl", at - first + 1) }
        });
        let told = &row["against"];
        assert_eq!(place.is_some(), told.is_object(), "{row}");
        if let Some((file, line)) = place {
            assert_eq!(
                (&told["set"], &told["file"], &told["line"]),
                (&"old".into(), &file.into(), &line.into())
            );
        }
    }
    for cluster in &output.clusters {
        let members: Vec<&str> =
            cluster["members"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let kept = members.iter().filter(|id| protected.contains(*id)).count();
        let leads = protected.contains(cluster["representative"].as_str().unwrap());
        assert_eq!(kept, usize::from(leads), "{flags}: {cluster}");
    }
    let by_old = output.duplicates.iter().filter(|row| row["against"].is_object()).count();
    let summary = &output.summary;
    assert_eq!(summary["documents"], new.len());
    let with_words = old.iter().filter(|doc| doc.text.contains(char::is_alphanumeric)).count();
    assert_eq!(summary["against"][0]["documents"], with_words);
    assert_eq!(summary["kept"], kept.len());
    assert_eq!(
        (&summary["against"][0]["files"], &summary["against"][0]["removed"]),
        (&2.into(), &by_old.into())
    );
    std::fs::remove_dir_all(dir.join("out")).unwrap();
}

#[test]
fn like_the_oracle() {
    for (docs, threshold) in
        [(collection(), "0.8"), (collection_with(pages(6)), "0.8"), (collection(), "0.55")]
    {
        let (split, dir) = (Split::of(docs), Dir::new());
        split.write(&dir);
        let least = fraction(threshold);
        let contents = Contents::count(&split.docs, 5, |pair| pair.resembles(least));
        let links = &contents.pairs;
        for (clustering, keep, workers) in [
            ("guarantee", "first", 1),
            ("guarantee", "field:score:max,last", 2),
            ("transitive", "longest", 3),
            ("transitive", "last", 1),
        ] {
            let want = answer(&split, &contents, links, keep, clustering == "transitive");
            let shared = want
                .values()
                .filter(|(leader, _)| split.docs[..split.protected].iter().any(|doc| doc.id == *leader));
            assert!(shared.count() > 300 && want.len() > 1000, "nothing to tell apart");
            let flags =
                format!("--threshold {threshold} --clustering {clustering} --keep {keep} -w {workers}");
            check(&dir, &split, &want, &flags);
        }
    }
}

/// Pages of sites, most of which meet in hot groups: half of each site is protected.
#[test]
fn hot_groups_of_both_sides() {
    let mut texts = pages(8);
    Random(3).shuffle(&mut texts);
    let (split, dir) = (Split::of(Doc::all(&texts)), Dir::new());
    split.write(&dir);
    let contents = Contents::count(&split.docs, 5, |pair| pair.resembles((8, 10)));
    for (clustering, transitive) in [("guarantee", false), ("transitive", true)] {
        let want = answer(&split, &contents, &contents.pairs, "first", transitive);
        check(&dir, &split, &want, &format!("--clustering {clustering} -w 2"));
        check(&dir, &split, &want, &format!("--clustering {clustering} --pairs"));
    }
}

/// Every method: the pairs are those of a run on everything, but for those of two protected documents.
#[test]
fn pairs_of_every_method() {
    let (split, dir) = (Split::of(collection()), Dir::new());
    split.write(&dir);
    let protected: BTreeSet<&str> = split.docs[..split.protected].iter().map(|doc| &*doc.id).collect();
    let others = ["simhash", "winnow", "anchors", "supershingles"]
        .map(|method| (method, format!("method = '{method}'")));
    let methods = METHODS.iter().map(|(name, config)| (*name, (*config).to_owned())).chain(others);
    for (name, config) in methods {
        dir.write("m.toml", config);
        let all = dir.output("old new.jsonl --pairs --config m.toml -w 2", &format!("all-{name}"));
        let against = dir.output("new.jsonl --against old --pairs --config m.toml -w 2", name);
        let of_two = |row: &&Value| {
            let id = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            protected.contains(&*id("a")) && protected.contains(&*id("b"))
        };
        let want: Vec<&Value> = all.pairs.iter().filter(|row| !of_two(row)).collect();
        assert!(want.len() < all.pairs.len() && want.len() > 100, "{name}: nothing to tell apart");
        assert!(want == against.pairs.iter().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn any_workers_and_processes() {
    let (split, dir) = (Split::of(collection_with(pages(2))), Dir::new());
    split.write(&dir);
    let shapes: [Shape; 4] = [(1, 3), (2, 1), (2, 2), (3, 1)];
    for flags in [
        "--pairs",
        "--clustering transitive --write-removed",
        "--method exact",
        "--measure containment --pairs",
        "--annotate --to jsonl --assignments",
    ] {
        alike_in_all(&dir, &format!("new.jsonl --against month=old {flags}"), &shapes);
    }
}

#[test]
fn several_sets_have_names() {
    let dir = Dir::new();
    dir.write("a.jsonl", line("1", &words(0, 60)));
    dir.write("b.jsonl", line("1", &words(100, 60)) + &line("2", &words(0, 60)));
    dir.write("c=d.jsonl", line("x", &words(200, 60)));
    let new = [words(0, 60), words(100, 60), words(200, 60), words(300, 60), words(300, 60)];
    let new: String = new.iter().enumerate().map(|(at, text)| line(&format!("n{at}"), text)).collect();
    dir.write("new.jsonl", new);
    let flags = "new.jsonl --against one=a.jsonl --against b.jsonl --against one=c=d.jsonl";
    let ran = dir
        .dedup(&format!("{flags} --out out"))
        .ok()
        .says("exact and 0 near duplicates of protected or kept ones");
    assert!(
        ran.stderr.contains("one: 2 documents, 2 files") && ran.stderr.contains("removed 2\n"),
        "{}",
        ran.stderr
    );
    let output = Output::read(&dir.join("out"));
    let sets: Vec<(String, Value)> =
        output.duplicates.iter().map(|row| (label(&row["id"]), row["against"].clone())).collect();
    let of = |set: &str, file: &str, line: u64| serde_json::json!({"set": set, "file": file, "line": line});
    assert_eq!(
        sets,
        [
            ("n0".into(), of("one", "a.jsonl", 1)),
            ("n1".into(), of("b.jsonl", "b.jsonl", 1)),
            ("n2".into(), of("one", "c=d.jsonl", 1)),
            ("n4".into(), Value::Null),
        ]
    );
    let removed: Vec<&Value> =
        output.summary["against"].as_array().unwrap().iter().map(|set| &set["removed"]).collect();
    assert_eq!(removed, [2, 1]);
    dir.dedup(&format!("{flags} --dry-run")).ok().says("would remove 4 of 5 documents");
}

#[test]
fn sets_that_cannot_be_meant_are_refused_before_work() {
    let dir = Dir::new();
    dir.write("new.jsonl", line("1", "some words"));
    dir.write("empty/a.jsonl", "");
    dir.write("pages/new.jsonl", line("2", "other words"));
    for (flags, parts) in [
        ("new.jsonl --against none.jsonl", &["none.jsonl", "no such file"][..]),
        ("new.jsonl --against new.jsonl", &["new.jsonl", "is an input"]),
        ("new.jsonl pages --against all=pages", &["pages/new.jsonl", "is an input"]),
        ("new.jsonl --against old=empty", &["--against old", "nothing in it"]),
        ("new.jsonl --against a=pages --against b=pages/new.jsonl", &["pages/new.jsonl", "as a and as b"]),
        ("- --against -", &["standard input can be read once"]),
    ] {
        let mut ran = dir.dedup(&format!("{flags} --out out"));
        assert!(ran.code != Some(0), "{flags}");
        for part in parts {
            ran = ran.says(part);
        }
        assert!(!dir.join("out").exists(), "{flags}");
    }
    let text =
        dir.alike("dedup - --against new.jsonl --out out", Some(line("9", "some words").as_bytes())).ok();
    text.says("removed 1 of 1 document");
}

/// The sets protect what they are to protect, or nothing is written.
#[test]
fn sets_that_protect_nothing_are_refused() {
    let dir = Dir::new();
    let asked = |at: usize| format!("{{\"id\":\"e{at}\",\"question\":\"{}\"}}\n", words(at * 9, 8));
    dir.write("eval.jsonl", (0..16).map(asked).collect::<String>());
    dir.write("good.jsonl", (0..200).map(|at| line(&at.to_string(), &words(at * 9, 8))).collect::<String>());
    let cut = gzip(line("1", &words(0, 30_000)).as_bytes(), 1 << 20);
    dir.write("cut.jsonl.gz", &cut[..cut.len() - 9]);
    dir.write("none.jsonl.gz", gzip(b"\n", 1));
    dir.write("dots.jsonl", line("1", "..."));
    for (flags, code, part) in [
        ("good.jsonl --against eval.jsonl", 3, "of --against eval.jsonl"),
        ("eval.jsonl --against good.jsonl", 3, "16 of 16 records refused"),
        ("good.jsonl --against cut.jsonl.gz", 3, "cut.jsonl.gz"),
        ("good.jsonl --against none.jsonl.gz", 2, "there are no documents in it"),
        ("good.jsonl --against dots.jsonl", 2, "there are no documents in it"),
        ("good.jsonl --against dots.jsonl --within :file", 2, "leave one of them out"),
    ] {
        let ran = dir.dedup(&format!("{flags} --out out")).says(part);
        assert_eq!(ran.code, Some(code), "{flags}: {}", ran.stderr);
        assert!(!dir.join("out").exists(), "{flags}");
    }
    dir.alike("launch -n 2 -- dedup good.jsonl --against - --out out", None).code(2).says("standard input");
    // A folder with a file of such a name is no collection.
    dir.write("plain/manifest-2024", "");
    dir.write("plain/a.jsonl", line("1", &words(0, 8)));
    dir.dedup("good.jsonl --against plain --dry-run").ok().says("would remove 1 of 200 documents");
}
