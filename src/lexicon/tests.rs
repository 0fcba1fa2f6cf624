//! Lexicons against obvious ones, and files that are not what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{
    Frozen, Header, Kind, Lexicon, Question, Request, Survey, Terms, agreement, count, merge, stability,
};
use crate::config::{Input, Tokens};
use crate::error::{Error, Result};
use crate::limits::{BASE_MEMORY, WORKER_MEMORY};
use crate::progress::Progress;
use crate::read::{Source, discover};
use crate::simd::Simd;
use crate::text::{canonical_tokens, token_hash};

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

    fn request(&self, terms: Terms, workers: usize, memory: Option<u64>) -> Request {
        Request {
            sources: self.sources("in.jsonl"),
            input: Input::default(),
            terms,
            workers,
            memory,
            scratch: self.0.path().to_path_buf(),
            mesh: None,
        }
    }

    fn build(&self, out: &str, terms: Terms, min_df: u64) -> Result<Frozen> {
        let progress = Progress::default();
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
        if long && (letters || terms.kind == Kind::Alphanumeric) {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_lexicon_is_what_was_counted(texts in texts(), numbers: bool, min_length in 1usize..5, min_df in 1u64..4) {
        let kind = if numbers { Kind::Alphanumeric } else { Kind::Alphabetic };
        let terms = Terms { kind, min_length };
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
        let progress = Progress::default();
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
        let survey = Survey { sources: &sources, input: &input, workers, mesh: None };
        let question = Question { sample, seed, longest: 5, max_idf: 1.0 };
        let got = stability((&a, &b), &survey, question, Simd::detect(), &Progress::default()).expect("an answer");
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

/// Methods section 0: texts that differ in case, punctuation, line breaks and composition only have one lexicon.
#[test]
fn the_lexicon_is_that_of_canonical_text() {
    let bench = Bench::new(&[]);
    let build = |name: &str, text: &str| {
        bench.write("in.jsonl", &[text.to_owned()]);
        bench.build(name, Terms { min_length: 1, ..Terms::default() }, 1).expect("written")
    };
    let one = build("one", "The ones we don't know we don't know: caf\u{e9}.");
    let other = build("other", "THE ONES\r\n\twe don\u{2019}t know --\n we don't know? (Cafe\u{301})");
    assert_eq!(one, other);
    assert_eq!(
        counts(&open(&bench.path("one"))),
        ["caf\u{e9}", "don't", "know", "ones", "the", "we"].map(|term| (term.to_owned(), 1)).into()
    );
}

#[test]
fn terms_are_found_by_hash_rank_and_letters() {
    let texts = ["alpha beta", "alpha gamma", "alpha beta", "delta"].map(String::from);
    let bench = Bench::new(&texts);
    bench.build("out", Terms::default(), 1).expect("written");
    let lexicon = open(&bench.path("out"));
    let terms: Vec<&str> = lexicon.by_rank().iter().map(|number| lexicon.entry(*number).term).collect();
    assert_eq!(terms, ["delta", "gamma", "beta", "alpha"]);
    let beta = lexicon.get(token_hash(b"beta")).expect("a term");
    assert_eq!((beta.term, beta.documents, beta.rank, beta.number), ("beta", 2, 2, 1));
    assert_eq!(beta.idf, (4.5f64 / 2.0).ln() / 5f64.ln());
    let hash = token_hash(b"beta");
    assert_eq!(
        (lexicon.number(hash), lexicon.rank(hash), lexicon.idf(hash)),
        (Some(1), Some(2), Some(beta.idf))
    );
    assert_eq!(lexicon.find("beta"), Some(beta));
    assert!(lexicon.find("epsilon").is_none() && lexicon.get(1).is_none());
    assert!(lexicon.require(4, "who asks").is_ok() && lexicon.require_digest(lexicon.digest()).is_ok());
    let message = lexicon.require(60, "a vector of 60 terms").expect_err("too small").to_string();
    assert!(message.contains("has 4 terms, and a vector of 60 terms needs 60"), "{message}");
    let message = lexicon.require_digest(7).expect_err("another").to_string();
    assert!(
        message.contains(&lexicon.name()) && message.contains("00000000000000000000000000000007"),
        "{message}"
    );
}

#[test]
fn lexicons_are_held_against_each_other() {
    let bench = Bench::new(&["alpha beta gamma", "alpha beta", "alpha"].map(String::from));
    bench.build("a", Terms::default(), 1).expect("written");
    bench.write("in.jsonl", &["alpha gamma delta", "alpha beta gamma", "gamma"].map(String::from));
    bench.build("b", Terms::default(), 1).expect("written");
    let (a, b) = (open(&bench.path("a")), open(&bench.path("b")));
    let own = agreement(&a, &a);
    assert_eq!((own.shared, own.only_a, own.only_b, own.spearman), (3, 0, 0, Some(1.0)));
    let both = agreement(&a, &b);
    // alpha, beta, gamma: 3, 2, 1 against 2, 1, 3.
    assert_eq!((both.shared, both.only_a, both.only_b), (3, 0, 1));
    assert!((both.spearman.expect("a value") + 0.5).abs() < 1e-12);
}

/// Every byte changed and every length cut to is noticed, and nothing of it is taken for another lexicon.
#[test]
fn what_is_not_what_was_written_is_refused() {
    let bench = Bench::new(&["alpha beta gamma", "alpha beta"].map(String::from));
    bench.build("out", Terms::default(), 1).expect("written");
    let (whole, path) = (fs::read(bench.path("out")).expect("a file"), bench.path("bad"));
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        for bytes in [bytes.as_slice(), &whole[..at]] {
            fs::write(&path, bytes).expect("written");
            match Lexicon::open(&path) {
                Err(
                    Error::LexiconDamaged { .. } | Error::LexiconUnfit { .. } | Error::NewerFormat { .. },
                ) => {}
                other => panic!("byte {at}: {other:?}"),
            }
        }
    }
    let text = String::from_utf8(whole).expect("text");
    fs::write(&path, text.replacen("format 1", "format 2", 1)).expect("written");
    assert!(matches!(Lexicon::open(&path), Err(Error::NewerFormat { found: 2, known: 1, .. })));
    for (other, part) in [("nothing", "no such file"), ("in.jsonl", "is no lexicon"), (".", "is no file")] {
        let message = Lexicon::open(&bench.path(other)).expect_err("refused").to_string();
        assert!(message.contains(part), "{message}");
    }
}

/// Content with a digest of its own that no build writes.
#[test]
fn sealed_nonsense_is_refused() {
    let bench = Bench::new(&[]);
    let head = r#"{"terms":{"kind":"alphabetic","min_length":3},"min_df":1,"short":0,"documents":9}"#;
    let refused = |content: &str| {
        let digest = xxhash_rust::xxh3::xxh3_128(content.as_bytes());
        let path = bench.path("bad");
        fs::write(&path, format!("alike lexicon, format 1, xxh3-128 {digest:032x}\n{content}"))
            .expect("written");
        Lexicon::open(&path).is_err()
    };
    assert!(!refused(&format!("{head}\nalpha\t1\nbeta\t9\n")));
    for rows in [
        "beta\t1\nalpha\t1\n",
        "alpha\t1\nalpha\t1\n",
        "alpha\t0\n",
        "alpha\t10\n",
        "alpha\t01\n",
        "alpha\t+1\n",
        "alpha\t1",
        "alpha 1\n",
        "of\t1\n",
        "x86\t1\n",
        "\n",
        "alpha\t1\n\n",
    ] {
        assert!(refused(&format!("{head}\n{rows}")), "{rows:?}");
    }
    assert!(
        refused("") && refused("{}\n") && refused(&head.replace("\"short\":0", "\"short\":0,\"more\":1"))
    );
    assert!(refused(&format!("{head}\n")), "no term at all");
}

#[test]
fn what_cannot_be_written_or_merged_is_refused() {
    let bench = Bench::new(&["alpha beta", "alpha x86"].map(String::from));
    let (terms, progress) = (Terms::default(), Progress::default());
    bench.build("out", terms, 1).expect("written");
    assert!(matches!(bench.build("out", terms, 1), Err(Error::OutputExists(_))));
    assert!(matches!(bench.build("none", terms, 0), Err(Error::Config(_))));
    assert!(matches!(bench.build("none", terms, 3), Err(Error::Limit(_))));
    bench.build("high", terms, 2).expect("written");
    bench.build("numbers", Terms { kind: Kind::Alphanumeric, ..terms }, 1).expect("written");
    let [out, high, numbers] = ["out", "high", "numbers"].map(|name| open(&bench.path(name)));
    let none = bench.path("none");
    assert!(matches!(merge(&[], &none, None, &progress), Err(Error::Config(_))));
    let pair = [out, high];
    assert!(matches!(merge(&pair, &none, Some(1), &progress), Err(Error::Config(_))));
    let [out, _] = pair;
    assert!(matches!(merge(&[out, numbers], &none, None, &progress), Err(Error::Config(_))));
    assert!(!none.exists());
    let left: Vec<_> =
        fs::read_dir(bench.0.path()).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("partial")), "{left:?}");
}

/// More runs than are read at one time.
#[test]
fn runs_are_merged_when_there_are_many() {
    let texts: Vec<String> = (0..300).map(|n| format!("alpha {} beta", ["gamma", "delta"][n % 2])).collect();
    let (bench, progress) = (Bench::new(&texts), Progress::default());
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
            count(&bench.request(Terms::default(), workers, None), &Progress::default()).expect("counted");
        let lines: Vec<u64> = counted.refused.iter().map(|refused| refused.line).collect();
        assert_eq!(lines, [2, 10_001, 20_000, 29_999]);
        assert_eq!(counted.tally.documents, 29_996);
        assert!(
            counted.refused[1].file.ends_with("in.jsonl") && counted.refused[1].reason.contains("not JSON")
        );
    }
}
