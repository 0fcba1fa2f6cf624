//! `features` accepts pairs as often as the formula says (Broder 2000, section 3), on pairs of known resemblance.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::oracle::Doc;
use crate::support::output::{Output, label};
use crate::support::program::Dir;
use crate::support::texts::Random;

/// Pairs at each resemblance.
const PAIRS: usize = 400;

/// Words of both documents of a pair together; shingles are single words, so this is the union of their sets.
const UNION: usize = 400;

/// Resemblances in hundredths.
const LEVELS: [usize; 4] = [50, 80, 90, 95];

/// P(k, s, r): the chance that at least r of k features agree at resemblance `rho`.
fn acceptance(k: u32, s: i32, r: u32, rho: f64) -> f64 {
    let agree = rho.powi(s);
    let choose = |i: u32| (0..i).map(|j| f64::from(k - j) / f64::from(j + 1)).product::<f64>();
    (r..=k).map(|i| choose(i) * agree.powi(i as i32) * (1.0 - agree).powi((k - i) as i32)).sum()
}

/// Pairs of documents of random words that no other pair has, ids `LEVEL-PAIR-SIDE`, in random order.
fn documents() -> Vec<Doc> {
    let mut random = Random(4);
    let mut docs = Vec::new();
    for level in LEVELS {
        for pair in 0..PAIRS {
            let mut words: Vec<String> =
                (0..UNION).map(|i| format!("l{level}p{pair}w{i}r{}", random.below(1_000_000))).collect();
            random.shuffle(&mut words);
            // Shared words first, then what is left half to each side: shared / union is the resemblance exactly.
            let shared = UNION * level / 100;
            let half = shared + (UNION - shared) / 2;
            let a = words[..half].to_vec();
            let b = [&words[..shared], &words[half..]].concat();
            for (side, mut text) in [("a", a), ("b", b)] {
                random.shuffle(&mut text);
                let id = format!("{level}-{pair}-{side}");
                docs.push(Doc { id, text: text.join(" "), score: None });
            }
        }
    }
    random.shuffle(&mut docs);
    docs
}

/// The levels and numbers of the accepted pairs; a pair across two planned ones is a failure.
fn accepted(output: &Output) -> Vec<(usize, usize)> {
    let parts = |id: &Value| {
        let id = label(id);
        let (rest, _) = id.rsplit_once('-').unwrap();
        let (level, pair) = rest.split_once('-').unwrap();
        (level.parse::<usize>().unwrap(), pair.parse::<usize>().unwrap())
    };
    let mut found: Vec<(usize, usize)> = output
        .pairs
        .iter()
        .map(|row| {
            let (a, b) = (parts(&row["a"]), parts(&row["b"]));
            assert_eq!(a, b, "these share no word: {row}");
            a
        })
        .collect();
    found.sort_unstable();
    found
}

fn config(k: u32, s: i32, r: u32, verify: bool) -> String {
    format!(
        "method = 'minhash'\nverify = '{}'\n[text]\nngram = 1\n[minhash]\nk = {k}\ns = {s}\nr = {r}\n",
        if verify { "resemblance" } else { "none" }
    )
}

/// The formula as written above gives the published values.
#[test]
fn the_formula_gives_the_published_values() {
    for (rho, want, error) in [(0.90937, 0.5, 1e-4), (0.77, 0.009_286_3, 1e-7), (0.5, 5.587e-8, 1e-11)] {
        let got = acceptance(6, 14, 2, rho);
        assert!((got - want).abs() < error, "P(6,14,2)({rho}) = {got}");
    }
    assert!((1.0 - acceptance(6, 14, 2, 0.975) - 0.010_672).abs() < 1e-6);
    assert!((1.0 - acceptance(6, 14, 2, 0.99) - 0.000_208_17).abs() < 1e-8);
}

#[test]
fn acceptance_follows_the_formula() {
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&documents()));
    for (k, s, r) in [(6, 14, 2), (14, 8, 1), (6, 14, 1), (20, 5, 3)] {
        let name = format!("{k}-{s}-{r}");
        dir.write(&format!("{name}.toml"), config(k, s, r, false));
        let output = dir.output(&format!("in.jsonl --config {name}.toml --pairs -w 2"), &name);
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (level, _) in accepted(&output) {
            *counts.entry(level).or_default() += 1;
        }
        for level in LEVELS {
            let p = acceptance(k, s, r, level as f64 / 100.0);
            let (count, n) = (counts.get(&level).copied().unwrap_or(0) as f64, PAIRS as f64);
            let bound = 4.0 * (n * p * (1.0 - p)).sqrt();
            // Half a pair of slack, since counts are whole.
            let off = (count - n * p).abs();
            assert!(
                off <= bound + 0.5,
                "({k},{s},{r}) at 0.{level}: {count} of {n} accepted, expected {}",
                n * p
            );
        }
    }
}

/// Without verification a resemblance is not known and not invented; the report has the number of shared features instead.
#[test]
fn unverified_rows_tell_the_features_shared() {
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&documents()));
    dir.write("f.toml", config(6, 14, 2, false));
    let output = dir.output("in.jsonl --config f.toml", "out");
    assert!(output.duplicates.len() > PAIRS, "{}", output.duplicates.len());
    for row in &output.duplicates {
        assert_eq!((&row["reason"], &row["resemblance"]), (&Value::from("near"), &Value::Null), "{row}");
        let shared = row["shared_features"].as_u64().unwrap();
        assert!((2..=6).contains(&shared), "{row}");
    }
}

/// Verification removes the accepted pairs below the threshold and no other, and tells the true resemblance.
#[test]
fn verification_keeps_what_reaches_the_threshold() {
    let dir = Dir::new();
    dir.write("in.jsonl", Doc::jsonl(&documents()));
    dir.write("plain.toml", config(14, 8, 1, false));
    dir.write("verify.toml", config(14, 8, 1, true));
    let plain = accepted(&dir.output("in.jsonl --config plain.toml --pairs", "plain"));
    let output = dir.output("in.jsonl --config verify.toml --threshold 0.9 --pairs", "verify");
    let want: Vec<(usize, usize)> = plain.iter().filter(|(level, _)| *level >= 90).copied().collect();
    assert!(want.len() < plain.len(), "nothing to remove shows nothing");
    assert_eq!(accepted(&output), want);
    for row in output.pairs.iter() {
        let level = if label(&row["a"]).starts_with("90-") { 0.9 } else { 0.95 };
        assert_eq!(row["resemblance"].as_f64(), Some(level), "{row}");
    }
}
