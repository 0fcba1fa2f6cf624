//! Random texts against what is counted as plainly as can be.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Bench, counts, open, texts, twin};
use crate::config::{Input, Tokens};
use crate::error::Error;
use crate::lexicon::{
    Header, Lexicon, ONLY_SURVEY, StabilityRequest, Survey, TermKind, Terms, count, merge, stability,
};
use crate::limits::{BASE_MEMORY, WORKER_MEMORY};
use crate::progress::Progress;
use crate::simd::Simd;
use crate::text::tests::canonical_tokens;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_lexicon_is_what_was_counted(texts in texts(), numbers: bool, min_length in 1usize..5, min_df in 1u64..4) {
        let kind = if numbers { TermKind::Alphanumeric } else { TermKind::Alphabetic };
        let terms = Terms { kind, min_length, ..Terms::default() };
        let bench = Bench::new(&texts);
        let (documents, mut want) = twin(&texts, terms);
        want.retain(|_, count| *count >= min_df);
        match bench.build("out", terms, min_df) {
            Err(Error::Limit(_)) => prop_assert!(want.is_empty()),
            Err(other) => panic!("{other}"),
            Ok(frozen) => {
                let lexicon = open(&bench.path("out"));
                prop_assert_eq!(lexicon.header(), &Header { terms, min_df, short: 0, documents });
                prop_assert_eq!((lexicon.digest(), lexicon.len() as u64), (frozen.digest, frozen.count));
                prop_assert_eq!(fs::metadata(bench.path("out")).expect("there").len(), frozen.bytes);
                prop_assert_eq!(counts(&lexicon), want);
            }
        }
    }

    /// Workers, memory and order leave the same bytes.
    #[test]
    fn the_bytes_are_those_of_the_texts(mut texts in texts(), workers in 1usize..4, turn in 0usize..40) {
        let (bench, terms) = (Bench::new(&texts), Terms::default());
        texts.push("alpha".into());
        bench.write("in.jsonl", &texts);
        bench.build("one", terms, 1).expect("written");
        let turn = turn % texts.len();
        texts.rotate_left(turn);
        bench.write("in.jsonl", &texts);
        // With no byte to spare every text goes to disk, so that runs are merged, too.
        let least = BASE_MEMORY + WORKER_MEMORY * workers as u64;
        let progress = Arc::<Progress>::default();
        let counted = count(&bench.request(terms, workers, Some(least)), &progress).expect("counted");
        counted.freeze(&bench.path("other"), 1, &progress).expect("written");
        prop_assert_eq!(fs::read(bench.path("one")).expect("a file"), fs::read(bench.path("other")).expect("a file"));
    }

    #[test]
    fn what_is_merged_without_a_floor_is_what_was_counted_at_once(
        parts in prop::collection::vec(texts(), 1..4),
        min_df in 1u64..4,
    ) {
        let (bench, terms, progress) = (Bench::new(&[]), Terms::default(), Progress::default());
        let mut lexicons = Vec::new();
        let parts: Vec<Vec<String>> =
            parts.into_iter().map(|part| part.into_iter().chain(["alpha".to_owned()]).collect()).collect();
        for (number, part) in parts.iter().enumerate() {
            bench.write("in.jsonl", part);
            bench.build(&number.to_string(), terms, 1).expect("written");
            lexicons.push(open(&bench.path(&number.to_string())));
        }
        bench.write("in.jsonl", &parts.concat());
        let whole = bench.build("whole", terms, min_df);
        let merged = merge(&lexicons, &bench.path("merged"), Some(min_df), &progress);
        prop_assert_eq!(whole.is_ok(), merged.is_ok());
        if whole.is_ok() {
            let read = |name| fs::read(bench.path(name)).expect("a file");
            prop_assert_eq!(read("whole"), read("merged"));
        }
    }

    /// What may be missing of a count where floors have left out terms is never more than is said.
    #[test]
    fn counts_are_short_by_no_more_than_is_said(
        parts in prop::collection::vec((texts(), 1u64..4), 1..4),
    ) {
        let (bench, terms, progress) = (Bench::new(&[]), Terms::default(), Progress::default());
        let (mut lexicons, mut all) = (Vec::new(), Vec::new());
        for (number, (part, min_df)) in parts.into_iter().enumerate() {
            let part: Vec<String> = part.into_iter().chain(["alpha", "alpha", "alpha"].map(String::from)).collect();
            bench.write("in.jsonl", &part);
            bench.build(&number.to_string(), terms, min_df).expect("written");
            lexicons.push(open(&bench.path(&number.to_string())));
            all.extend(part);
        }
        merge(&lexicons, &bench.path("merged"), None, &progress).expect("merged");
        let merged = open(&bench.path("merged"));
        let (documents, truth) = twin(&all, terms);
        let Header { short, min_df, documents: told, .. } = *merged.header();
        prop_assert_eq!(told, documents);
        for (term, count) in truth {
            match merged.find(&term) {
                Some(entry) => prop_assert!(entry.documents <= count && count <= entry.documents + short, "{term}"),
                None => prop_assert!(count < min_df + short, "{term}"),
            }
        }
    }

    #[test]
    fn signatures_are_compared_as_described(
        of_a in texts(), of_b in texts(), asked in texts(), seed: u64, sample in 1usize..50, workers in 1usize..4,
    ) {
        let (bench, terms) = (Bench::new(&[]), Terms { min_length: 1, ..Terms::default() });
        for (name, texts) in [("a", of_a), ("b", of_b)] {
            bench.write("in.jsonl", &texts.into_iter().chain(["alpha".to_owned()]).collect::<Vec<_>>());
            bench.build(name, terms, 1).expect("written");
        }
        let (a, b) = (open(&bench.path("a")), open(&bench.path("b")));
        bench.write("in.jsonl", &asked);
        let sources = bench.sources("in.jsonl");
        let input = Input::default();
        let survey = Survey { sources: &sources, input: &input, workers, memory: None, mesh: None, counter: ONLY_SURVEY };
        let question = StabilityRequest { sample, seed, longest: 5, max_idf: 1.0 };
        let got = stability((&a, &b), &survey, question, Simd::detect(), &Arc::default()).expect("an answer");
        prop_assert_eq!(got.read, asked.len() as u64);
        let curve: Vec<(u64, u64)> = got.curve.iter().map(|point| (point.documents, point.unchanged)).collect();
        prop_assert_eq!(curve, obvious_curve((&a, &b), &asked, seed, sample));
    }
}

/// The curve of signatures of up to 5 terms, from lists of words.
fn obvious_curve(
    (a, b): (&Lexicon, &Lexicon),
    texts: &[String],
    seed: u64,
    sample: usize,
) -> Vec<(u64, u64)> {
    let rarest = |lexicon: &Lexicon, text: &String| {
        let words: BTreeSet<String> = canonical_tokens(text, Tokens::Words).into_iter().collect();
        let mut terms: Vec<(u64, String)> =
            words.into_iter().filter_map(|word| Some((lexicon.find(&word)?.documents, word))).collect();
        terms.sort();
        terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>()
    };
    let mut drawn: Vec<_> = texts
        .iter()
        .map(|text| {
            (xxhash_rust::xxh3::xxh3_64_with_seed(text.as_bytes(), seed), rarest(a, text), rarest(b, text))
        })
        .filter(|(_, of_a, of_b)| !of_a.is_empty() || !of_b.is_empty())
        .collect();
    drawn.sort();
    drawn.truncate(sample);
    let set = |terms: &[String], m: usize| terms.iter().take(m).cloned().collect::<BTreeSet<String>>();
    (1..=5)
        .map(|m| {
            let long: Vec<_> = drawn.iter().filter(|(_, a, b)| a.len().max(b.len()) >= m).collect();
            let same = long.iter().filter(|(_, a, b)| set(a, m) == set(b, m)).count();
            (long.len() as u64, same as u64)
        })
        .collect()
}
