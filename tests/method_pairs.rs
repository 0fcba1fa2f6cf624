//! Every method against all pairs: the pairs that a run writes are those that its rule accepts of all there are, no
//! other and none missed, and its clusters are what these make.
//!
//! Sketches, rules and lexicons are those of the slow program in `support/slow_sketches.rs`.

use std::collections::{BTreeMap, BTreeSet};

use alike::config::{Clustering, Config, Method, Verify};
use serde_json::{Value, json};

use crate::support::corpora::corpus;
use crate::support::dated::{Dated, TEXTS, dated};
use crate::support::output::{Output, label};
use crate::support::program::Dir;
use crate::support::slow_sketches::{Sketch, Sketches, links};
use crate::support::slow_terms::SlowLexicon;
use crate::support::texts::families;

/// Pairs of documents by number, the earlier one first.
type Pairs = BTreeSet<(usize, usize)>;

/// What a configuration accepts of all pairs.
struct Expected {
    /// The documents of each content, in order.
    holders: Vec<Vec<usize>>,
    sketches: Vec<Sketch>,
    /// Pairs of contents.
    links: Pairs,
    too_few_terms: u64,
}

impl Expected {
    fn of(config: &Config, texts: &[Dated]) -> Expected {
        let words: Vec<&[String]> = texts.iter().map(Dated::words).collect();
        let lexicon = SlowLexicon::of(&words);
        let mut sketches = Sketches::new(config, &lexicon);
        let dated = config.method == Method::TermVector && !config.input.date_field.is_empty();
        let (mut known, mut too_few_terms) = (BTreeMap::new(), 0);
        let (mut holders, mut distinct): (Vec<Vec<usize>>, Vec<Sketch>) = (Vec::new(), Vec::new());
        for (at, (text, words)) in
            texts.iter().zip(&words).enumerate().filter(|(_, (_, words))| !words.is_empty())
        {
            let sketch = sketches.sketch(&text.text, words, text.day().filter(|_| dated));
            let lacks_terms = sketch.members.is_empty();
            too_few_terms += u64::from(lacks_terms);
            // Equal texts of different days are two contents, but for those that only an equal text is compared with; and so are those
            // that are cut otherwise.
            let cut =
                matches!(config.method, Method::Sentences | Method::Lines).then(|| sketch.members.clone());
            let key = (words, sketch.day.filter(|_| !lacks_terms), cut);
            let content = *known.entry(key).or_insert(holders.len());
            if content == holders.len() {
                holders.push(Vec::new());
                distinct.push(sketch);
            }
            holders[content].push(at);
        }
        Expected { holders, links: links(config, &distinct), sketches: distinct, too_few_terms }
    }

    /// Holds the cosines that are listed against those of the sketches.
    #[track_caller]
    fn check_cosines(&self, config: &Config, output: &Output) {
        let of = |document: usize| self.holders.iter().position(|all| all.contains(&document)).unwrap();
        let sketch = |id: &Value| &self.sketches[of(number(id))];
        let threshold: f64 = config.threshold.to_string().parse().unwrap();
        let near = output.duplicates.iter().filter(|row| row["reason"] == "near");
        let rows = output.pairs.iter().map(|row| (row, "a", "b")).take(2000);
        let mut below = 0;
        for (row, a, b) in rows.chain(near.map(|row| (row, "id", "representative"))) {
            let (a, b) = (sketch(&row[a]), sketch(&row[b]));
            // Texts without a term have copies and nothing else.
            if a.members.is_empty() || b.members.is_empty() {
                continue;
            }
            let norm = |sketch: &Sketch| (sketch.members.values().sum::<u64>() as f64).sqrt();
            let shared = a.members.iter().filter(|(term, _)| b.members.contains_key(term));
            let cosine = shared.map(|(_, weight)| weight).sum::<u64>() as f64 / norm(a) / norm(b);
            let told = row["cosine"].as_f64().unwrap();
            assert!((told - cosine).abs() < 1e-8 && told >= threshold, "{told} for {cosine}: {row}");
            below += usize::from(told < 1.0);
        }
        assert!(below > 50, "{below}");
    }

    fn pairs(&self) -> Pairs {
        let copies = self.holders.iter().flat_map(|all| all[1..].iter().map(|copy| (all[0], *copy)));
        let near = self.links.iter().map(|(a, b)| (self.holders[*a][0], self.holders[*b][0]));
        copies.chain(near).collect()
    }

    /// The documents of each cluster of more than one.
    fn clusters(&self, clustering: Clustering) -> BTreeSet<Vec<usize>> {
        let mut leader: Vec<usize> = (0..self.holders.len()).collect();
        match clustering {
            // Labels go along links until none changes.
            Clustering::Transitive => loop {
                let before = leader.clone();
                for (a, b) in &self.links {
                    let least = leader[*a].min(leader[*b]);
                    (leader[*a], leader[*b]) = (least, least);
                }
                if before == leader {
                    break;
                }
            },
            Clustering::Guarantee => {
                for b in 0..leader.len() {
                    let leads = |a: &usize| leader[*a] == *a && self.links.contains(&(*a, b));
                    leader[b] = (0..b).find(leads).unwrap_or(b);
                }
            }
        }
        let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (content, leader) in leader.iter().enumerate() {
            clusters.entry(*leader).or_default().extend(&self.holders[content]);
        }
        let clusters = clusters.into_values().filter(|members| members.len() > 1);
        clusters
            .map(|mut members| {
                members.sort_unstable();
                members
            })
            .collect()
    }
}

fn number(id: &Value) -> usize {
    label(id)[1..].parse().unwrap()
}

fn found(output: &Output) -> Pairs {
    output.pairs.iter().map(|row| (number(&row["a"]), number(&row["b"]))).collect()
}

fn members(output: &Output) -> BTreeSet<Vec<usize>> {
    let sorted = |row: &Value| {
        let mut members: Vec<usize> = row["members"].as_array().unwrap().iter().map(number).collect();
        members.sort_unstable();
        members
    };
    output.clusters.iter().map(sorted).collect()
}

/// Holds runs with a configuration against all pairs of the first `count` texts; pairs of different texts there are.
#[track_caller]
fn holds(toml: &str, count: usize) -> usize {
    holds_of(toml, &TEXTS[..count.min(TEXTS.len())])
}

#[track_caller]
fn holds_of(toml: &str, texts: &[Dated]) -> usize {
    let dir = Dir::new();
    dir.write("in.jsonl", texts.iter().enumerate().map(|(id, text)| text.line(id)).collect::<String>());
    dir.write("c.toml", toml);
    let config = Config::parse("c.toml", toml).expect("a configuration");
    let named = if config.needs_terms() { "--lexicon lexicon" } else { "" };
    if config.needs_terms() {
        dir.alike("lexicon build in.jsonl --out lexicon", None).ok();
    }
    let expected = Expected::of(&config, texts);
    let want = expected.pairs();
    for (clustering, name, flags) in [
        (Clustering::Transitive, "transitive", "-w 2"),
        (Clustering::Guarantee, "guarantee", &*format!("-w 1 {named}")),
    ] {
        let line = format!("in.jsonl --config c.toml --pairs --clustering {name} {flags}");
        let output = dir.output(&line, name);
        let got = found(&output);
        let (missed, wrong) = (want.difference(&got).next(), got.difference(&want).next());
        assert!(want == got, "{toml}: missed {missed:?}, wrong {wrong:?}; {} of {}", got.len(), want.len());
        assert!(members(&output) == expected.clusters(clustering), "{toml}: other clusters, {name}");
        if config.method == Method::Cosine && config.verify == Verify::None {
            expected.check_cosines(&config, &output);
        }
        assert_eq!(
            output.summary["too_few_terms"],
            json!(if config.needs_terms() { expected.too_few_terms } else { 0 })
        );
        // Without all pairs clustering measures only what it has to.
        let line = format!("in.jsonl --config c.toml --clustering {name} {flags}");
        assert!(output.clusters == dir.output(&line, &format!("{name}2")).clusters, "{toml}: {name}");
    }
    expected.links.len()
}

#[test]
fn vectors_of_terms() {
    let dated = "[input]\ndate_field = 'date'";
    // All texts have a crowd among them; some are enough for what else there is.
    for (options, least, count) in [
        ("", 1000, usize::MAX),
        (dated, 1000, 1000),
        (&*format!("{dated}\n[term-vector]\ndays = 5\nterms = 30\nshared = 20\nmin_terms = 15"), 500, 1000),
        (&*format!("{dated}\n[term-vector]\ndays = 0\nlength_percent = 60"), 50, 1000),
    ] {
        let links = holds(&format!("method = 'term-vector'\n{options}"), count);
        assert!(links > least, "{options}: {links}");
    }
}

#[test]
fn cosines() {
    for (options, least, count) in [
        ("", 300, usize::MAX),
        ("threshold = 0.55\n[cosine]\ncommon_percent = 40", 1000, 1000),
        ("threshold = 0.95", 100, 1000),
    ] {
        let links = holds(&format!("method = 'cosine'\n{options}"), count);
        assert!(links > least, "{options}: {links}");
    }
}

#[test]
fn containment() {
    let rule = "[count]\nrule = 'containment'\ncommon_cap = 0";
    for method in ["shingles", "winnow", "anchors", "sentences", "salient"] {
        let links = holds(&format!("method = '{method}'\nthreshold = 0.6\n{rule}"), 1500);
        assert!(links > 1000, "{method}: {links}");
    }
}

#[test]
fn counted_members() {
    for (options, least) in [
        ("method = 'shingles'\n[shingles]\nsampling = 'adaptive'\n[count]\ncommon_cap = 0", 100),
        (
            "method = 'shingles'\n[shingles]\nsampling = 'mod'\n[count]\nrule = 'shared'\nshared = 3\ncommon_cap = 0",
            100,
        ),
        (
            "method = 'supershingles'\n[supershingles]\ngroup = 6\n[count]\nrule = 'shared'\nshared = 1\ncommon_cap = 0",
            100,
        ),
        ("method = 'winnow'\n[count]\ncommon_cap = 0", 100),
        (
            "method = 'anchors'\n[anchors]\none_in = 16\n[count]\nrule = 'shared'\nshared = 2\ncommon_cap = 0",
            100,
        ),
        // Whole sentences: few pairs of the sample agree in most of theirs.
        ("method = 'sentences'\n[count]\ncommon_cap = 0", 20),
        (
            "method = 'lines'\n[lines]\nper_chunk = 2\nevery = 1\n[count]\nrule = 'shared'\nshared = 2\ncommon_cap = 0",
            100,
        ),
        ("method = 'salient'\n[count]\ncommon_cap = 0", 100),
    ] {
        let links = holds(options, 1200);
        assert!(links > least, "{options}: {links}");
    }
}

#[test]
fn signatures() {
    for options in [
        "method = 'imatch'",
        "method = 'imatch'\n[imatch]\nlexicons = 10",
        "method = 'fingerprint'\n[fingerprint]\nbin = 25\nlength_percent = 20",
        "method = 'minhash'\n[minhash]\nk = 8\ns = 4\nr = 2",
    ] {
        let links = holds(options, 2500);
        assert!(links > 50, "{options}: {links}");
    }
}

#[test]
fn simhashes() {
    for (options, least) in [
        ("", 50),
        ("[simhash]\ndistance = 0", 10),
        ("[simhash]\ndistance = 7\n[text]\nngram = 2", 100),
        ("verify = 'resemblance'\nthreshold = 0.6\n[simhash]\ndistance = 5", 50),
    ] {
        let links = holds(&format!("method = 'simhash'\n{options}"), 2500);
        assert!(links > least, "{options}: {links}");
    }
}

#[test]
fn verified_pairs() {
    for (method, least) in [
        ("method = 'join'\nverify = 'edits'\nthreshold = 0.7", 1000),
        ("method = 'imatch'\nverify = 'resemblance'\nthreshold = 0.7\n[imatch]\nlexicons = 4", 50),
        ("method = 'shingles'\nverify = 'containment'\nthreshold = 0.5\n[count]\ncommon_cap = 0", 1000),
        ("method = 'minhash'\nverify = 'edits'\nthreshold = 0.9", 100),
        ("method = 'term-vector'\nverify = 'edits'\nthreshold = 0.9\n[input]\ndate_field = 'date'", 100),
        ("method = 'cosine'\nverify = 'containment'\nthreshold = 0.7", 100),
        ("method = 'fingerprint'\nverify = 'resemblance'\nthreshold = 0.5", 10),
    ] {
        let links = holds(method, 1500);
        assert!(links > least, "{method}: {links}");
    }
}

#[test]
#[ignore = "needs ALIKE_CORPORA"]
fn licence_texts() {
    let texts = dated(families(corpus("licence_texts"), 60));
    for (method, least) in [
        ("method = 'join'", 1000),
        ("method = 'term-vector'\n[input]\ndate_field = 'date'", 1000),
        ("method = 'cosine'", 300),
        ("method = 'imatch'\n[imatch]\nlexicons = 10", 50),
        ("method = 'fingerprint'", 50),
        ("method = 'minhash'", 50),
        ("method = 'simhash'", 50),
        ("method = 'winnow'\n[count]\ncommon_cap = 0", 100),
    ] {
        let links = holds_of(method, &texts);
        assert!(links > least, "{method}: {links}");
    }
}
