//! `alike tune threshold` against the obvious program, which measures every pair at every threshold.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use alike::config::{Fold, Tokens};
use alike::simd::Simd;
use alike::sketch::shingles;
use alike::text::Tokenizer;
use serde_json::{Value, json};

use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{line, pairs_at};

/// Thousandths of the least resemblance that is looked for.
const FLOOR: usize = 300;

/// Families of texts; every next member has more of its words replaced, and families share some.
fn corpus() -> Vec<String> {
    let mut texts = Vec::new();
    for family in 0..12 {
        for member in 0..5 {
            let word = |at: usize| match (at * 7 + family) % 29 {
                spot if spot < 2 * member => format!("x{member}y{at}"),
                spot if spot > 24 => format!("common{at}"),
                _ => format!("f{}w{at}", family / 2 * 2 + usize::from(at.is_multiple_of(3)) * (family % 2)),
            };
            texts.push((0..30 + family).map(word).collect::<Vec<_>>().join(" "));
        }
    }
    // Equal texts are found whatever the threshold is, also those that labels say are different.
    texts.extend([texts[3].to_uppercase(), texts[10].to_uppercase()]);
    texts
}

fn family(document: usize) -> usize {
    match document {
        60 => 0,
        61 => 40,
        member => member / 5,
    }
}

fn write(dir: &Dir, texts: &[String]) {
    let lines: String =
        texts.iter().enumerate().map(|(number, text)| line(&format!("d{number}"), text)).collect();
    dir.write("in.jsonl", lines);
}

fn set(text: &str, tokens: Tokens, ngram: usize) -> BTreeSet<u64> {
    let mut tokenizer = Tokenizer::new(tokens, Fold::default(), Simd::Scalar);
    let mut hashes = Vec::new();
    shingles(tokenizer.tokens(text), ngram, &mut hashes);
    hashes.into_iter().collect()
}

/// F1 at every thousandth from `least` on, of pairs of which labels say something.
fn sweep(sets: &[BTreeSet<u64>], labels: &[(usize, usize, bool)], least: usize) -> Vec<f64> {
    let measured: Vec<(usize, usize, bool)> = labels
        .iter()
        .map(|(a, b, is)| (sets[*a].intersection(&sets[*b]).count(), sets[*a].union(&sets[*b]).count(), *is))
        .collect();
    let duplicates = labels.iter().filter(|(.., is)| *is).count();
    let f1 = |threshold: usize| {
        let found: Vec<_> =
            measured.iter().filter(|(shared, either, _)| 1000 * shared >= threshold * either).collect();
        let both = found.iter().filter(|(.., is)| *is).count();
        2.0 * both as f64 / (found.len() + duplicates) as f64
    };
    (least..=1000).map(f1).collect()
}

/// Holds every shingle of a report against the obvious program; gives the best F1 of all.
fn check(told: &Value, texts: &[String], labels: &[(usize, usize, bool)], least: usize) -> f64 {
    let mut most: f64 = 0.0;
    for shingle in told["shingles"].as_array().expect("shingles") {
        let tokens = if shingle["tokens"] == "words" { Tokens::Words } else { Tokens::Chars };
        let ngram = shingle["ngram"].as_u64().expect("a size") as usize;
        let sets: Vec<_> = texts.iter().map(|text| set(text, tokens, ngram)).collect();
        let all = sweep(&sets, labels, least);
        let best = all.iter().copied().fold(0.0, f64::max);
        let told_best = shingle["best"]["f1"].as_f64().expect("F1");
        // Between two thousandths there may be a better one.
        assert!(told_best >= best - 1e-12 && told_best < best + 0.01, "{shingle} {best}");
        let threshold = shingle["best"]["threshold"].as_f64().expect("a threshold");
        let at = (threshold * 1000.0).round();
        if (at / 1000.0 - threshold).abs() < 1e-9 {
            assert!((all[at as usize - least] - told_best).abs() < 1e-12, "{shingle}");
        }
        for row in shingle["by_threshold"].as_array().expect("rows") {
            let at = (row["threshold"].as_f64().expect("a threshold") * 1000.0).round() as usize;
            assert!((all[at - least] - row["f1"].as_f64().expect("F1")).abs() < 1e-12, "{row}");
        }
        most = most.max(told_best);
    }
    most
}

#[test]
fn the_best_f1_of_clusters_is_that_of_all_pairs() {
    let (dir, texts) = (Dir::new(), corpus());
    write(&dir, &texts);
    let mut labels = String::from("id\tcluster\n");
    // Nothing is known of two documents, which then count for nothing.
    let known: Vec<usize> = (0..texts.len()).filter(|document| ![7, 33].contains(document)).collect();
    for document in &known {
        writeln!(labels, "d{document}\tc{}", family(*document)).expect("a string");
    }
    dir.write("labels.tsv", labels);
    let pairs: Vec<(usize, usize, bool)> = known
        .iter()
        .flat_map(|b| known.iter().take_while(move |a| *a < b).map(|a| (*a, *b, family(*a) == family(*b))))
        .collect();
    let line = "tune threshold in.jsonl --labels labels.tsv --words 1,2,3,5 --chars 4,6 -q";
    let told = jsonl(dir.alike(line, None).ok().stdout.as_bytes()).remove(0);
    assert_eq!((&told["documents"], &told["measured"]), (&62.into(), &60.into()));
    let most = check(&told, &texts, &pairs, FLOOR);
    assert!(most > 0.5 && most < 1.0, "nothing would be told apart: {most}");
    assert!((told["suggestion"]["f1"].as_f64().expect("F1") - most).abs() < 1e-12);
    let again = dir.alike(&format!("{line} --workers 3"), None).ok().stdout;
    assert_eq!(jsonl(again.as_bytes()).remove(0), told);

    // What is suggested is what `evaluate` then measures.
    dir.write("my.toml", dir.alike(&format!("{line} --toml"), None).ok().stdout);
    let ran = "evaluate in.jsonl --labels labels.tsv --config my.toml --pairs-of links --format json -q";
    let evaluated = jsonl(dir.alike(ran, None).ok().stdout.as_bytes()).remove(0);
    let f1 = evaluated["rows"][0]["ran"]["scores"]["f1"]["value"].as_f64().expect("F1");
    assert!((f1 - most).abs() < 1e-12, "{f1} {most}");
}

#[test]
fn the_best_f1_of_judged_pairs_is_that_of_these_alone() {
    let (dir, texts) = (Dir::new(), corpus());
    write(&dir, &texts);
    let judged: Vec<(usize, usize, bool)> = (0..texts.len())
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .filter(|(a, b)| (a * 31 + b * 17).is_multiple_of(5))
        // Some judgements are mistakes.
        .map(|(a, b)| (a, b, (family(a) == family(b)) != (a + b).is_multiple_of(43)))
        .collect();
    let mut labels = String::from("id_a\tid_b\tgrade\n");
    for (a, b, is) in &judged {
        writeln!(labels, "d{a}\td{b}\t{}", u8::from(*is)).expect("a string");
    }
    dir.write("pairs.tsv", labels);
    let line = "tune threshold in.jsonl --labels pairs.tsv --words 1,2,4 --chars 3,5 -q";
    let told = jsonl(dir.alike(line, None).ok().stdout.as_bytes()).remove(0);
    // Judged pairs are all measured, however little they resemble each other.
    check(&told, &texts, &judged, 1);
    // A complete list is one of all pairs, of which those below the floor are not found.
    let mut all = judged.clone();
    let listed: BTreeSet<_> = judged.iter().map(|(a, b, _)| (*a, *b)).collect();
    let others = (0..texts.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    all.extend(others.filter(|pair| !listed.contains(pair)).map(|(a, b)| (a, b, false)));
    let told =
        jsonl(dir.alike(&format!("{line} --unlisted distinct"), None).ok().stdout.as_bytes()).remove(0);
    check(&told, &texts, &all, FLOOR);
}

#[test]
fn a_known_gap_is_found_and_none_where_there_is_none() {
    let dir = Dir::new();
    let of = |texts: &[String], line: &str| {
        write(&dir, texts);
        dir.alike(&format!("tune threshold in.jsonl --words 1 --chars 0 -q {line}"), None)
    };
    let heaps: Vec<usize> = (0..60).flat_map(|number| [35 + number % 12, 80 + number % 15]).collect();
    let told = jsonl(of(&pairs_at(heaps.clone()), "").ok().stdout.as_bytes()).remove(0);
    let gap = &told["shingles"][0]["gap"];
    let [from, to, threshold] = ["from", "to", "threshold"].map(|key| gap[key].as_f64().expect("a gap"));
    assert!((0.45..0.5).contains(&from) && (0.78..0.83).contains(&to), "{gap}");
    assert!((0.55..0.75).contains(&threshold), "{gap}");
    assert_eq!(told["suggestion"]["threshold"], gap["threshold"]);
    let toml = of(&pairs_at(heaps), "--toml").ok().stdout;
    assert!(toml.contains("ngram = 1") && toml.contains(&format!("threshold = {threshold}\n")), "{toml}");

    // One of each pair of the upper heap goes.
    let would_go = json!({"removed": 60, "largest": 2});
    assert_eq!((&told["suggestion"]["would_go"], &told["shingles"][0]["would_go"]), (&would_go, &would_go));
    assert!(toml.contains("# With it 60 of 240 documents would go; the largest cluster has 2.\n"), "{toml}");

    let even = pairs_at((0..130).map(|number| 31 + number % 65));
    let told = jsonl(of(&even, "").ok().stdout.as_bytes()).remove(0);
    assert_eq!((&told["shingles"][0]["gap"], &told["suggestion"]), (&Value::Null, &Value::Null), "{told}");
    assert_eq!(told["shingles"][0]["nearest"]["texts"], 260);
    of(&even, "--toml").code(3).says("in.jsonl").says("no gap").says("--labels");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", "one two three") + &line("b", "one two four"));
    dir.write("marks.tsv", "id\tmark\na\t1\nb\t0\n");
    dir.write("pairs.tsv", "id_a\tid_b\tgrade\na\tb\t0\n");
    for wrong in [
        "--floor 0",
        "--floor 2",
        "--documents 0",
        "--documents 1",
        "--words 0 --chars 0",
        "--words 1001",
        "--words many",
        "--labels marks.tsv",
        "--unlisted distinct",
        "--toml --json",
    ] {
        dir.alike(&format!("tune threshold in.jsonl {wrong}"), None).code(2);
    }
    // None of the pairs is a duplicate, and no text has one.
    dir.alike("tune threshold in.jsonl --labels pairs.tsv --toml", None).code(3);
    dir.alike("tune threshold in.jsonl --toml", None).code(3);
    dir.alike("tune threshold", None).code(2);
    let told = jsonl(dir.alike("tune threshold in.jsonl --labels pairs.tsv", None).ok().stdout.as_bytes());
    assert_eq!((&told[0]["suggestion"], &told[0]["shingles"][0]["best"]), (&Value::Null, &Value::Null));
    // Of many documents some are measured, and the report says so.
    dir.write("in.jsonl", line("a", "one two three") + &line("b", "one two four") + &line("c", "five"));
    let told = jsonl(dir.alike("tune threshold in.jsonl --documents 2", None).ok().stdout.as_bytes());
    assert_eq!((&told[0]["documents"], &told[0]["measured"]), (&3.into(), &2.into()));
}

/// Pages of one family are all pairs of each other: fewer are measured, and what a threshold below the family would do is told.
#[test]
fn families_are_measured_in_part_and_told() {
    let dir = Dir::new();
    let own = |at: usize| (0..10).map(|word| format!(" o{at}x{word}")).collect::<String>();
    let template: String = (0..60).map(|word| format!(" t{word}")).collect();
    let family = (0..3500).map(|at| template.clone() + &own(at));
    let lone = (4000..4400).map(|at| (0..6).map(|part| own(at * 10 + part)).collect::<String>());
    write(&dir, &family.chain(lone).collect::<Vec<_>>());
    let line = "tune threshold in.jsonl --words 1 --chars 0";
    let told = jsonl(dir.alike(&format!("{line} -q --json"), None).ok().stdout.as_bytes()).remove(0);
    let measured = told["measured"].as_u64().expect("a number");
    assert!((2000..2600).contains(&measured), "{measured}");
    let removed = told["suggestion"]["would_go"]["removed"].as_u64().expect("a number");
    assert!(removed * 10 > measured * 8, "{told}");
    let said = dir.alike(&format!("{line} --format table"), None).ok().stdout;
    assert!(
        said.contains("would go; the largest cluster has") && said.contains("That is most of them"),
        "{said}"
    );
    // Who says how many has them measured.
    let told = jsonl(dir.alike(&format!("{line} -q --json --documents 2000"), None).ok().stdout.as_bytes())
        .remove(0);
    assert_eq!(told["measured"], 2000);
}
