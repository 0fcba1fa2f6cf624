//! Lexicons against obvious ones, and files that are not what was written.

mod answers;
mod files;
mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Frozen, Lexicon, LexiconRequest, TermKind, Terms, count};
use crate::config::{Input, Tokens};
use crate::error::Result;
use crate::read::{Source, discover};
use crate::resources::Resources;
use crate::simd::Simd;
use crate::text::tests::canonical_tokens;

/// Words from which texts are made, some of them not terms, some the same in canonical form.
const WORDS: [&str; 16] = [
    "alpha",
    "Alpha",
    "BETA",
    "beta",
    "don't",
    "don\u{2019}t",
    "of",
    "a",
    "x86",
    "2026",
    "\u{4e2d}",
    "\u{e9}t\u{e9}",
    "E\u{301}TE\u{301}",
    "gamma",
    "delta",
    "-",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8).prop_map(|words| words.join(" "))
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..40)
}

/// A folder with texts as lines of a file.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new(texts: &[String]) -> Bench {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Bench(folder);
        bench.write("in.jsonl", texts);
        bench
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, texts: &[String]) {
        let line = |text: &String| format!("{}\n", serde_json::json!({ "text": text }));
        fs::write(self.path(name), texts.iter().map(line).collect::<String>()).expect("written");
    }

    fn sources(&self, name: &str) -> Vec<Source> {
        let input = self.path(name).to_str().expect("UTF-8").to_owned();
        discover(&[input], self.0.path()).expect("found").sources
    }

    fn request(&self, terms: Terms, workers: usize, memory: Option<u64>) -> LexiconRequest {
        LexiconRequest {
            sources: self.sources("in.jsonl"),
            input: Input::default(),
            terms,
            resources: Resources {
                workers,
                memory,
                simd: Simd::Scalar,
                scratch: self.0.path().to_path_buf(),
                peers: None,
            },
        }
    }

    fn build(&self, out: &str, terms: Terms, min_df: u64) -> Result<Frozen> {
        let progress = Arc::default();
        count(&self.request(terms, 1, None), &progress)?.freeze(&self.path(out), min_df, &progress)
    }
}

/// Documents with a word, and in how many of them each term is, as plainly as can be.
fn twin(texts: &[String], terms: Terms) -> (u64, BTreeMap<String, u64>) {
    let words = |text: &String| canonical_tokens(text, Tokens::Words).into_iter().collect::<BTreeSet<_>>();
    let documents: Vec<BTreeSet<String>> =
        texts.iter().map(words).filter(|words| !words.is_empty()).collect();
    let mut counts = BTreeMap::new();
    for word in documents.iter().flatten() {
        let letters = !word.chars().any(char::is_numeric);
        let long = word.chars().count() >= terms.min_length || word == "\u{4e2d}";
        if long && (letters || terms.kind == TermKind::Alphanumeric) {
            *counts.entry(word.clone()).or_default() += 1;
        }
    }
    (documents.len() as u64, counts)
}

fn counts(lexicon: &Lexicon) -> BTreeMap<String, u64> {
    lexicon.entries().map(|entry| (entry.term.to_owned(), entry.documents)).collect()
}

fn open(path: &Path) -> Lexicon {
    Lexicon::open(path).expect("a lexicon")
}

/// More runs than are read at one time.
#[test]
fn runs_are_merged_when_there_are_many() {
    let texts: Vec<String> = (0..300).map(|n| format!("alpha {} beta", ["gamma", "delta"][n % 2])).collect();
    let (bench, progress) = (Bench::new(&texts), Arc::default());
    let counted = count(&bench.request(Terms::default(), 1, Some(0)), &progress).expect("counted");
    counted.freeze(&bench.path("out"), 1, &progress).expect("written");
    let want = [("alpha", 300), ("beta", 300), ("delta", 150), ("gamma", 150)];
    assert_eq!(counts(&open(&bench.path("out"))), want.map(|(term, count)| (term.to_owned(), count)).into());
}

#[test]
fn refused_records_have_their_places() {
    let bench = Bench::new(&[]);
    let records: String =
        (0..30_000)
            .map(|n| {
                if n % 9_999 == 1 {
                    "no record\n".to_owned()
                } else {
                    format!("{{\"text\":\"alpha w{n}\"}}\n")
                }
            })
            .collect();
    fs::write(bench.path("in.jsonl"), &records).expect("written");
    for workers in [1, 3] {
        let counted =
            count(&bench.request(Terms::default(), workers, None), &Arc::default()).expect("counted");
        let lines: Vec<u64> = counted.refused.iter().map(|refused| refused.line).collect();
        assert_eq!(lines, [2, 10_001, 20_000, 29_999]);
        assert_eq!(counted.tally.documents, 29_996);
        assert!(
            counted.refused[1].file.ends_with("in.jsonl") && counted.refused[1].reason.contains("not JSON")
        );
    }
}
