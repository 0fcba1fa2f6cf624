//! `dedup` as several processes: what it writes is, byte for byte once lists are sorted, what one worker writes.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::corpora::corpus;
use crate::support::job::{Shape, clashed, done};
use crate::support::methods::{METHODS, collection};
use crate::support::oracle::Doc;
use crate::support::outputs::{alike_in_all, assert_same, figures, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, line, near_copies_among, pages, words, zst};

/// Processes and workers of each; the plainest is what the others are held against.
const SHAPES: [Shape; 4] = [(1, 2), (2, 1), (3, 1), (4, 2)];

fn rows(output: &BTreeMap<String, Vec<u8>>, name: &str) -> usize {
    output.get(name).map_or(0, |bytes| bytes.split(|byte| *byte == b'\n').count() - 1)
}

/// A folder `in` with one large file and many small ones, in every format, with records that no one can read; and where
/// these are: file and line.
fn mixed(dir: &Dir) -> Vec<(String, u64)> {
    let mut docs = collection();
    for (at, doc) in docs.iter_mut().enumerate() {
        doc.score = (at % 5 > 0).then_some((at * 37 % 101) as i64);
    }
    let mut bad = Vec::new();
    let mut file = |name: &str, docs: &[Doc], refused: &[usize]| {
        let mut lines: Vec<String> = docs.iter().map(|doc| Doc::jsonl(std::slice::from_ref(doc))).collect();
        for at in refused {
            lines.insert(*at, "{\"id\": \"bad\", \"text\": 7}\n".to_owned());
            bad.push((format!("in/{name}"), *at as u64 + 1));
        }
        lines.concat().into_bytes()
    };
    let (large, rest) = docs.split_at(docs.len() * 3 / 5);
    dir.write(
        "in/large.jsonl",
        file("large.jsonl", large, &[0, large.len() / 3, large.len() / 2, large.len() + 3]),
    );
    let (packed, small) = rest.split_at(rest.len() / 2);
    let (gz, zstd) = packed.split_at(packed.len() / 2);
    dir.write("in/b.jsonl.gz", gzip(&file("b.jsonl.gz", gz, &[gz.len()]), 50_000));
    dir.write("in/sub/c.jsonl.zst", zst(&file("sub/c.jsonl.zst", zstd, &[7, 8]), 50_000));
    let (texts, small) = small.split_at(20);
    for (at, text) in texts.iter().enumerate() {
        dir.write(&format!("in/notes/{at}.txt"), &text.text);
    }
    dir.write("in/notes/packed.txt.gz", gzip(texts[0].text.as_bytes(), 100));
    for (at, docs) in small.chunks(small.len().div_ceil(12)).enumerate() {
        let name = format!("small/{at}.jsonl");
        dir.write(&format!("in/{name}"), file(&name, docs, if at % 4 == 1 { &[2] } else { &[] }));
    }
    for (name, config) in METHODS {
        dir.write(&format!("{name}.toml"), config);
    }
    bad.sort();
    bad
}

fn method(name: &str) {
    let dir = Dir::new();
    let bad = mixed(&dir);
    for clustering in ["guarantee", "transitive"] {
        let flags =
            format!("in --config {name}.toml --clustering {clustering} --pairs --keep field:score:max");
        let output = alike_in_all(&dir, &flags, &SHAPES);
        assert!(rows(&output, "duplicates.jsonl") > 500 && rows(&output, "pairs.jsonl") > 200, "{flags}");
        let refused = crate::support::output::jsonl(&output["rejected.jsonl"]);
        let place = |row: &Value| (row["file"].as_str().unwrap().to_owned(), row["line"].as_u64().unwrap());
        let mut places: Vec<_> = refused.iter().map(place).collect();
        places.sort();
        assert_eq!(places, bad, "{flags}");
    }
    // Without pairs some methods need not measure them all.
    alike_in_all(&dir, &format!("in --config {name}.toml --keep longest"), &[(2, 1), (4, 2)]);
}

#[test]
fn join() {
    method("join");
}

#[test]
fn containment() {
    method("containment");
}

#[test]
fn exact() {
    method("exact");
}

#[test]
fn features() {
    method("minhash");
    method("bands");
}

#[test]
fn verified_features() {
    method("verified");
}

#[test]
fn shingles() {
    method("mod");
    method("smallest");
}

#[test]
fn all_shingles() {
    method("none");
}

/// Members of hot groups collide again, wherever they were read and their keys belong.
#[test]
fn families_of_pages() {
    let dir = Dir::new();
    let docs = Doc::all(&pages(2));
    for (at, part) in docs.chunks(docs.len().div_ceil(5)).enumerate() {
        dir.write(&format!("in/{at}.jsonl"), Doc::jsonl(part));
    }
    for flags in [
        "--clustering guarantee",
        "--clustering transitive",
        "--threshold 0.6 --pairs",
        "--measure containment",
    ] {
        let output = alike_in_all(&dir, &format!("in {flags}"), &SHAPES);
        assert!(rows(&output, "duplicates.jsonl") > 200, "{flags}");
    }
}

/// Signatures only save work: where a process has no memory for those of all its documents, the others do without.
#[test]
fn a_process_without_room_for_signatures_finds_the_same() {
    let dir = Dir::new();
    let (mut random, mut texts): (Random, Vec<Vec<usize>>) = (Random(5), Vec::new());
    for at in 0..90_000_usize {
        let mut text: Vec<usize> = (0..20).map(|_| random.below(30_000)).collect();
        if at > 0 && random.below(2) == 0 {
            text.clone_from(&texts[at - 1 - random.below(at.min(500))]);
            text[random.below(20)] = random.below(30_000);
        }
        texts.push(text);
    }
    let text = |text: &Vec<usize>| text.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let lines = (0..).zip(&texts).map(|(at, words): (u32, _)| line(&at.to_string(), &text(words)));
    dir.write("in.jsonl", lines.collect::<String>());
    let run = "dedup in.jsonl -w 1 --memory 36M -q --out";
    dir.alike(&format!("{run} alone"), None).ok();
    for at in 0..2 {
        dir.alike(&format!("launch -n 2 -- {run} out{at}"), None).ok();
        let lists =
            ["alone", &format!("out{at}")].map(|out| fs::read(dir.join(&format!("{out}/duplicates.jsonl"))));
        let [alone, together] = lists.map(Result::unwrap);
        assert!(alone == together && alone.len() > 100_000);
    }
}

/// Where there are very many candidates a document for each process, process 0 measures them as it forms clusters; where there are fewer,
/// or all pairs are asked for, all workers do. Beside them near-copies in mass, a hot group. Clusters and counts are the same.
#[test]
fn pages_alike_by_the_million_pairs_are_left_to_process_0() {
    let dir = Dir::new();
    let mut random = Random(77);
    let mut texts = Vec::new();
    for site in 0..3 {
        for page in 0..300 {
            let own: Vec<String> =
                (0..30 + page % 31).map(|_| format!("p{}", random.below(1 << 30))).collect();
            texts.push(format!("{} {}", words(1000 * (site + 1), 92), own.join(" ")));
        }
    }
    let docs = Doc::all(&near_copies_among(texts, &mut random));
    for (at, part) in docs.chunks(docs.len().div_ceil(5)).enumerate() {
        dir.write(&format!("in/{at}.jsonl"), Doc::jsonl(part));
    }
    for clustering in ["guarantee", "transitive"] {
        for (more, left) in [("", true), ("--pairs", false), ("--keep longest", true), ("--memory 64M", true)]
        {
            let flags = format!("in --threshold 0.5 --clustering {clustering} {more}");
            let output = alike_in_all(&dir, &flags, &[(2, 1), (4, 2)]);
            assert!(rows(&output, "duplicates.jsonl") > 1000, "{flags}");
            let ran = done(&dir, (2, 1), &format!("dedup {flags} --dry-run --profile"));
            assert!(ran.stderr.contains("CollideIndexed"), "{flags}: {}", ran.stderr);
            assert_eq!(!ran.stderr.contains("Verify"), left, "{flags}: {}", ran.stderr);
        }
    }
}

/// So many short texts that each process sends more of every kind than are packed at once.
#[test]
fn more_records_than_are_packed_at_once() {
    let dir = Dir::new();
    let text = |at: usize| line(&format!("t{at}"), &words(7 * (at % 80_000), 7));
    for file in 0..4 {
        dir.write(
            &format!("in/{file}.jsonl"),
            (0..40_000).map(|at| text(40_000 * file + at)).collect::<String>(),
        );
    }
    let output = alike_in_all(&dir, "in", &[(2, 1), (3, 1)]);
    assert!(rows(&output, "duplicates.jsonl") >= 80_000);
    for (name, shape) in [("one", (1, 1)), ("two", (2, 1))] {
        done(&dir, shape, &format!("load {name} in"));
    }
    let clusters = |name| dir.alike(&format!("clusters {name} --json"), None).ok().stdout;
    assert_eq!(clusters("two"), clusters("one"));
}

#[test]
fn inputs_for_fewer_than_there_are() {
    let dir = Dir::new();
    dir.write("empty.jsonl", "");
    dir.write("one.jsonl", line("a", &words(0, 40)));
    dir.write("blank.jsonl", "\n\n");
    dir.write("few.jsonl", line("a", &words(0, 40)) + &line("b", &words(0, 40)) + &line("c", &words(1, 40)));
    dir.write("half/1.jsonl", line("a", &words(0, 40)));
    dir.write("half/2.txt", words(0, 40));
    for method in ["join", "join --measure containment", "exact", "minhash", "shingles"] {
        for input in [
            "empty.jsonl",
            "one.jsonl",
            "blank.jsonl",
            "few.jsonl",
            "half",
            "one.jsonl few.jsonl empty.jsonl",
        ] {
            alike_in_all(&dir, &format!("{input} --method {method} --pairs"), &[(2, 1), (4, 2)]);
        }
    }
}

/// What spills in one process spills in each of several.
#[test]
fn little_memory_changes_nothing() {
    let dir = Dir::new();
    mixed(&dir);
    for flags in ["--threshold 0.3", "--measure containment", "--config none.toml --clustering transitive"] {
        let want = alike_in_all(&dir, &format!("in {flags}"), &[]);
        let line = format!("dedup in {flags} --memory 40M --out out");
        done(&dir, (3, 1), &line);
        assert_same(&want, &written(&dir.join("out")), &line);
        fs::remove_dir_all(dir.join("out")).unwrap();
    }
}

/// A dry run writes nothing, and tells the same figures.
#[test]
fn dry_runs_tell_the_same() {
    let dir = Dir::new();
    mixed(&dir);
    let told = |shape| {
        let ran = done(&dir, shape, "dedup in --dry-run --json-progress");
        let last: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
        figures(&serde_json::to_vec(&last["summary"]).unwrap())
    };
    assert_eq!(told((1, 1)), told((3, 2)));
    assert_eq!(dir.names().iter().filter(|name| !name.ends_with(".toml")).collect::<Vec<_>>(), ["in"]);
}

/// The same command through `alike launch`.
#[test]
fn launched() {
    let dir = Dir::new();
    mixed(&dir);
    let want = alike_in_all(&dir, "in --pairs", &[]);
    for attempt in 0..4 {
        dir.write("hosts", crate::support::meeting::free(3).join("\n"));
        let ran = dir.alike("launch --hosts hosts -- dedup in --pairs --out out -w 1", None);
        if clashed(std::slice::from_ref(&ran)) && attempt < 3 {
            continue;
        }
        ran.ok();
        break;
    }
    assert_same(&want, &written(&dir.join("out")), "launched");
}

/// An output, of `join` without what depends on the shape where key groups are hot: how many were, and the numbers of its candidates.
fn found(dir: &Dir, shape: Shape, flags: &str) -> BTreeMap<String, Vec<u8>> {
    done(dir, shape, &format!("dedup in.jsonl {flags} --out out"));
    let mut output = written(&dir.join("out"));
    fs::remove_dir_all(dir.join("out")).unwrap();
    let mut summary: Value = serde_json::from_slice(&output["summary.json"]).unwrap();
    for key in ["candidates", "verified", "hot_groups"].iter().filter(|_| !flags.contains("--method minhash"))
    {
        summary.as_object_mut().unwrap().remove(*key);
    }
    output.insert("summary.json".into(), serde_json::to_vec_pretty(&summary).unwrap());
    output
}

#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn whole_corpora_in_full() {
    for name in ["licence_texts", "civil_codes", "mccormick_articles", "multilingual_small", "html_kafka"] {
        let dir = Dir::new();
        dir.write("in.jsonl", Doc::jsonl(&Doc::all(&corpus(name))));
        for flags in
            ["--pairs", "--method minhash", "--method shingles --clustering transitive", "--threshold 0.5"]
        {
            let want = found(&dir, (1, 1), flags);
            for shape in SHAPES {
                let what = format!("{name} {flags}, {} x {}", shape.0, shape.1);
                assert_same(&want, &found(&dir, shape, flags), &what);
            }
        }
    }
}
