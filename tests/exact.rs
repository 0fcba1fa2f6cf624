//! `join` finds all pairs at or over the threshold and no others, and makes of them the clusters, removals and kept
//! files that the oracle makes: on the sample, on corpora (ignored by default; all pairs are counted), and on random
//! collections that shrink to the smallest that fails.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::support::corpora::{corpus, sample};
use crate::support::oracle::{Answer, Contents, Doc, Pair, Rules, answer, comparable, fraction};
use crate::support::output::{Output, reread, sorted};
use crate::support::program::Dir;
use crate::support::texts::{families, pages};

const THRESHOLDS: [&str; 3] = ["0.5", "0.8", "0.95"];

const NGRAMS: [usize; 3] = [3, 5, 10];

/// Compares everything a run wrote but the pairs with the oracle's answer.
#[track_caller]
fn assert_answer(docs: &[Doc], want: &Answer, got: &Output, what: &str) {
    assert_rows(&want.clusters, &got.clusters, &format!("clusters of {what}"));
    assert_rows(&want.duplicates, &got.duplicates, &format!("duplicates of {what}"));
    let mut kept: Vec<String> = want.kept.iter().map(|position| docs[*position].id.clone()).collect();
    kept.sort();
    assert_eq!(kept, got.kept_ids(), "kept documents of {what}");
}

/// The rows of `pairs.jsonl` as numbers, in order, of ids d0, d1, ...; resemblances to the last bit, which serde_json's
/// parser would not give.
fn pairs(folder: &Path) -> Vec<(usize, usize, f64)> {
    let file = std::fs::read_to_string(folder.join("pairs.jsonl")).unwrap();
    let pair = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let number = |id: &Value| id.as_str().unwrap().strip_prefix('d').unwrap().parse().unwrap();
        let (_, rest) = line.split_once("\"resemblance\":").unwrap();
        let decimal = rest.split([',', '}']).next().unwrap().trim();
        (number(&row["a"]), number(&row["b"]), decimal.parse().unwrap())
    };
    let mut all: Vec<(usize, usize, f64)> = file.lines().map(pair).collect();
    all.sort_unstable_by_key(|(a, b, _)| (*a, *b));
    all
}

/// How many pairs were expected, how many found, and how many of them are the same to the last bit of the resemblance.
struct Figures {
    expected: usize,
    found: usize,
    same: usize,
}

impl Figures {
    /// Both lists are in order, and no pair is twice in one of them.
    fn of(want: &[(usize, usize, f64)], got: &[(usize, usize, f64)]) -> Figures {
        let ends = |(a, b, _): &(usize, usize, f64)| (*a, *b);
        assert!(got.windows(2).all(|two| ends(&two[0]) < ends(&two[1])), "a pair is written twice");
        let agrees = |pair: &&(usize, usize, f64)| {
            want.binary_search_by_key(&ends(pair), ends)
                .is_ok_and(|at| want[at].2.to_bits() == pair.2.to_bits())
        };
        Figures { expected: want.len(), found: got.len(), same: got.iter().filter(agrees).count() }
    }

    /// Says them on standard error.
    fn tell(&self, what: &str, near: usize) {
        let Figures { expected, found, same } = self;
        let (precision, recall) = (*same as f64 / *found as f64, *same as f64 / *expected as f64);
        tell(&format!(
            "{what}: {expected} pairs expected ({near} of different texts), {found} found, {same} the same: \
             precision {precision}, recall {recall}"
        ));
    }

    #[track_caller]
    fn assert_exact(&self, what: &str) {
        let Figures { expected, found, same } = self;
        assert!(
            expected == same && found == same,
            "{what}: {expected} pairs expected, {found} found, {same} the same"
        );
    }
}

/// Compares rows whatever their order, and names the first row that only one side has.
#[track_caller]
fn assert_rows(want: &[Value], got: &[Value], what: &str) {
    let mut got = comparable(got);
    // What a join of containment tells beside what the oracle does.
    got.iter_mut().filter_map(Value::as_object_mut).for_each(|row| drop(row.remove("containment")));
    let (want, got) = (sorted(reread(want)), sorted(got));
    if want != got {
        let at = want.iter().zip(&got).take_while(|(a, b)| a == b).count();
        let show = |row: Option<&Value>| row.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        panic!(
            "{what}: {} rows expected, {} found\nfirst expected: {}\nfirst found:    {}",
            want.len(),
            got.len(),
            show(want.get(at)),
            show(got.get(at))
        );
    }
}

/// Holds the pairs that a run with these flags writes against those expected.
fn pairs_of_a_run(dir: &Dir, flags: &str, contents: &Contents, links: &[Pair]) -> Figures {
    dir.dedup(&format!("{flags} --pairs --out pairs")).ok();
    let figures = Figures::of(&contents.expected_pairs(links), &pairs(&dir.join("pairs")));
    std::fs::remove_dir_all(dir.join("pairs")).unwrap();
    figures
}

/// What a join is held to: a flag, and what it means.
#[derive(Clone, Copy)]
struct Measured {
    flag: &'static str,
    reaches: fn(&Pair, (u64, u64)) -> bool,
}

const RESEMBLANCE: Measured = Measured { flag: "--measure resemblance", reaches: Pair::resembles };
const CONTAINMENT: Measured = Measured { flag: "--measure containment", reaches: Pair::contains };

/// Holds `join` against the oracle for every threshold and n-gram: pairs and both clusterings, `keeps` in turn. Says
/// the figures on standard error if `aloud`.
fn join_is_exact(name: &str, measured: Measured, texts: &[String], keeps: &[&str], aloud: bool) {
    let Measured { flag, reaches } = measured;
    let mut docs = Doc::all(texts);
    for (i, doc) in docs.iter_mut().enumerate() {
        doc.score = (i % 7 != 0).then_some((i * 31 % 11) as i64);
    }
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&docs));
    let mut turn = keeps.iter().cycle();
    for ngram in NGRAMS {
        let lowest = fraction(THRESHOLDS[0]);
        let contents = Contents::count(&docs, ngram, |pair| reaches(pair, lowest));
        for threshold in THRESHOLDS {
            let least = fraction(threshold);
            let links: Vec<Pair> =
                contents.pairs.iter().filter(|pair| reaches(pair, least)).copied().collect();
            assert!(links.len() > 10, "a corpus without near-duplicates shows nothing");
            let flags = format!("in.jsonl {flag} --threshold {threshold} --ngram {ngram} -w 2");
            let figures = pairs_of_a_run(&dir, &flags, &contents, &links);
            if aloud {
                figures.tell(&format!("{name} threshold {threshold} ngram {ngram}"), links.len());
            }
            figures.assert_exact(&flags);
            for clustering in ["guarantee", "transitive"] {
                let keep = turn.next().unwrap();
                let rules = Rules { keep, transitive: clustering == "transitive" };
                let want = answer(&docs, &contents, &links, rules);
                let flags = format!("{flags} --clustering {clustering} --keep {keep}");
                assert_answer(&docs, &want, &dir.output(&flags, "out"), &flags);
                std::fs::remove_dir_all(dir.join("out")).unwrap();
            }
        }
    }
}

const KEEPS: [&str; 6] =
    ["first", "longest,last", "last", "field:score:max", "shortest", "field:score:min,longest"];

/// The sample of the repository, which is always there.
#[test]
fn the_sample() {
    join_is_exact("sample", RESEMBLANCE, &sample(), &KEEPS, false);
    join_is_exact("sample, contained", CONTAINMENT, &sample(), &KEEPS, false);
}

/// Pages of sites in the order of a crawl, and ordinary texts behind them.
#[test]
fn families_of_pages() {
    let texts = [pages(1), families(sample(), 3)].concat();
    join_is_exact("families of pages", RESEMBLANCE, &texts, &KEEPS, false);
    join_is_exact("families of pages, contained", CONTAINMENT, &texts, &KEEPS, false);
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn licence_texts_in_part() {
    join_is_exact(
        "licence_texts in part",
        RESEMBLANCE,
        &families(corpus("licence_texts"), 12),
        &KEEPS[..5],
        false,
    );
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn civil_codes_in_part() {
    join_is_exact(
        "civil_codes in part",
        RESEMBLANCE,
        &families(corpus("civil_codes"), 25),
        &KEEPS[1..],
        false,
    );
}

#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn licence_texts_in_full() {
    join_is_exact("licence_texts", RESEMBLANCE, &corpus("licence_texts"), &KEEPS[..5], true);
}

#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn civil_codes_in_full() {
    join_is_exact("civil_codes", RESEMBLANCE, &corpus("civil_codes"), &KEEPS[1..], true);
}

/// Pages of API documentation with their navigation, in the order of their files: at each threshold all pairs, against a count of
/// every shingle that any two pages share.
#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn api_pages_in_full() {
    pairs_are_exact("api_docs", RESEMBLANCE, ["0.5", "0.7", "0.8"]);
}

#[test]
#[ignore = "needs ALIKE_CORPORA and an hour"]
fn licence_texts_contained_in_full() {
    pairs_are_exact("licence_texts", CONTAINMENT, ["0.5", "0.8", "0.95"]);
}

/// Holds the pairs of a whole corpus at ascending thresholds against the oracle, and says how many there are.
fn pairs_are_exact(name: &str, Measured { flag, reaches }: Measured, thresholds: [&str; 3]) {
    let docs = Doc::all(&corpus(name));
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&docs));
    let lowest = fraction(thresholds[0]);
    let contents = Contents::count(&docs, 5, |pair| reaches(pair, lowest));
    for threshold in thresholds {
        let least = fraction(threshold);
        let links: Vec<Pair> = contents.pairs.iter().filter(|pair| reaches(pair, least)).copied().collect();
        let flags = format!("in.jsonl {flag} --threshold {threshold} -w 2");
        let figures = pairs_of_a_run(&dir, &flags, &contents, &links);
        figures.tell(&format!("{name} {flag} {threshold}"), links.len());
        figures.assert_exact(&flags);
    }
}

/// One document of a random collection, in terms of those before it.
#[derive(Clone, Debug)]
enum Make {
    Fresh(Vec<usize>),
    /// A copy of an earlier document with words replaced, removed or put in.
    Edited(prop::sample::Index, Vec<(prop::sample::Index, u8, usize)>),
    /// A copy that differs only in what canonical text drops.
    Dressed(prop::sample::Index, u8),
    Empty(u8),
}

fn make() -> impl Strategy<Value = Make> {
    prop_oneof![
        4 => prop::collection::vec(0usize..30, 1..40).prop_map(Make::Fresh),
        1 => prop::collection::vec(0usize..30, 1..4).prop_map(Make::Fresh),
        8 => (any::<prop::sample::Index>(), prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, 0usize..30), 1..4))
            .prop_map(|(from, edits)| Make::Edited(from, edits)),
        3 => (any::<prop::sample::Index>(), 0u8..4).prop_map(|(from, dress)| Make::Dressed(from, dress)),
        1 => (0u8..3).prop_map(Make::Empty),
    ]
}

/// The texts of a plan, over a vocabulary of so many words.
fn build(plan: &[Make], vocabulary: usize) -> Vec<String> {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    let mut texts = Vec::new();
    for step in plan {
        let earlier = |index: &prop::sample::Index| {
            if lists.is_empty() { Vec::new() } else { index.get(&lists).clone() }
        };
        let mut dress = 0;
        let list = match step {
            Make::Fresh(list) => list.clone(),
            Make::Edited(from, edits) => {
                let mut list = earlier(from);
                for (place, kind, word) in edits {
                    let at = place.index(list.len() + 1);
                    match kind {
                        0 => list.insert(at, *word),
                        1 if at < list.len() => list[at] = *word,
                        2 if at < list.len() => drop(list.remove(at)),
                        _ => list.push(*word),
                    }
                }
                list
            }
            Make::Dressed(from, kind) => {
                dress = kind + 1;
                earlier(from)
            }
            Make::Empty(kind) => {
                dress = 10 + kind;
                Vec::new()
            }
        };
        let words: Vec<String> = list.iter().map(|word| format!("word{}", word % vocabulary)).collect();
        texts.push(match dress {
            1 => words.join(" ").to_uppercase(),
            2 => words.join(",\n\t"),
            3 => format!("  \"{}\"!  ", words.join(" -- ")),
            4 => words.join(". "),
            11 => " \n\t".to_owned(),
            12 => "-- ... !?".to_owned(),
            _ => words.join(" "),
        });
        lists.push(list);
    }
    texts
}

/// What a random run is asked.
#[derive(Clone, Debug)]
struct Case {
    plan: Vec<Make>,
    vocabulary: usize,
    scores: Vec<Option<i64>>,
    threshold: &'static str,
    ngram: usize,
    keep: &'static str,
    transitive: bool,
    workers: usize,
    method: &'static str,
}

fn case() -> impl Strategy<Value = Case> {
    let collection = (
        prop::collection::vec(make(), 1..60),
        6usize..30,
        prop::collection::vec(prop::option::of(-3i64..4), 60),
    );
    const DECIMALS: [&str; 11] =
        ["0.1", "0.3", "0.5", "0.55", "0.6", "0.75", "0.8", "0.875", "0.9", "0.95", "1"];
    let run = (
        prop::sample::select(DECIMALS.to_vec()),
        1usize..7,
        prop::sample::select(KEEPS.to_vec()),
        any::<bool>(),
        1usize..5,
        prop::sample::select(vec!["join", "join", "join", "containment", "containment", "shingles", "exact"]),
    );
    (collection, run).prop_map(
        |((plan, vocabulary, scores), (threshold, ngram, keep, transitive, workers, method))| Case {
            plan,
            vocabulary,
            scores,
            threshold,
            ngram,
            keep,
            transitive,
            workers,
            method,
        },
    )
}

#[test]
fn random_collections() {
    let config = ProptestConfig {
        cases: 150,
        max_shrink_iters: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let run = TestRunner::new_with_rng(config, rng).run(&case(), |case| {
        let mut docs = Doc::all(&build(&case.plan, case.vocabulary));
        for (doc, score) in docs.iter_mut().zip(&case.scores) {
            doc.score = *score;
        }
        let least = fraction(case.threshold);
        let resembles = |pair: &Pair| match case.method {
            "containment" => pair.contains(least),
            _ => pair.resembles(least),
        };
        let contents = Contents::count(&docs, case.ngram, |pair| resembles(pair));
        let is_link = |pair: &&Pair| case.method != "exact" && resembles(pair);
        let links: Vec<Pair> = contents.pairs.iter().filter(is_link).copied().collect();
        let want = answer(&docs, &contents, &links, Rules { keep: case.keep, transitive: case.transitive });
        let dir = Dir::new();
        dir.write("in.jsonl", Doc::jsonl(&docs));
        dir.write(
            "all.toml",
            "method = \"shingles\"\n[shingles]\nsampling = \"none\"\n[count]\ncommon_cap = 0\n",
        );
        let method = match case.method {
            "shingles" => "--config all.toml".into(),
            "containment" => "--measure containment".into(),
            method => format!("--method {method}"),
        };
        let clustering = if case.transitive { "transitive" } else { "guarantee" };
        // `exact` refuses flags that it would ignore.
        let measure = match case.method {
            "exact" => String::new(),
            _ => format!("--threshold {} --ngram {}", case.threshold, case.ngram),
        };
        let flags = format!(
            "in.jsonl {method} {measure} --keep {} --clustering {clustering} -w {}",
            case.keep, case.workers
        );
        assert_answer(&docs, &want, &dir.output(&format!("{flags} --pairs"), "with"), &flags);
        Figures::of(&contents.expected_pairs(&links), &pairs(&dir.join("with"))).assert_exact(&flags);
        assert_answer(&docs, &want, &dir.output(&flags, "without"), &flags);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}

/// Containment in the smaller set as the rule: the pairs are those of the oracle (their resemblance may be small).
#[test]
fn containment_as_the_rule() {
    let mut random = crate::support::texts::Random(11);
    let mut texts = Vec::new();
    for document in 0..60 {
        let whole = 20 + random.below(30);
        texts.push(crate::support::texts::words(document * 100, whole));
        for _ in 0..3 {
            let start = document * 100 + random.below(whole);
            texts.push(crate::support::texts::words(start, 5 + random.below(20)));
        }
    }
    let docs = Doc::all(&texts);
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&docs));
    for (threshold, ngram) in [("0.5", 1), ("0.8", 3), ("1", 5)] {
        let least = fraction(threshold);
        let contents = Contents::count(&docs, ngram, |pair| pair.contains(least));
        let links = contents.pairs.clone();
        let fewer = links.iter().filter(|pair| pair.resembles(least)).count();
        assert!(fewer < links.len(), "containment must find more than resemblance here");
        dir.write(
            "rule.toml",
            "method = \"shingles\"\n[shingles]\nsampling = \"none\"\n[count]\ncommon_cap = 0\nrule = \"containment\"\n",
        );
        let want = answer(&docs, &contents, &links, Rules { keep: "first", transitive: true });
        for (name, rule) in [("counted", "--config rule.toml"), ("joined", "--measure containment")] {
            let out = format!("{name}-{threshold}");
            let flags =
                format!("in.jsonl {rule} --threshold {threshold} --ngram {ngram} --clustering transitive");
            let got = dir.output(&format!("{flags} --pairs"), &out);
            Figures::of(&contents.expected_pairs(&links), &pairs(&dir.join(&out))).assert_exact(&flags);
            assert_rows(&want.clusters, &got.clusters, &flags);
        }
    }
}

/// A line for who asked for figures.
#[expect(clippy::print_stderr, reason = "the figures are what the full run is for")]
fn tell(line: &str) {
    eprintln!("{line}");
}
