//! Every method in collections: after any history of loads, replacements and deletions the clusters are those of a
//! one-shot run on what is left, transitive and with a guarantee, whatever verifies pairs; and what is asked of the
//! collection is answered as if every stored text were looked at.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use alike::config::{Config, JoinMeasure, Method, Rule, Sampling, Verify};
use alike::lexicon::{Lexicon, LexiconRequest, Terms, count};
use alike::read::discover;
use alike::resources::Resources;
use alike::simd::Simd;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::support::checks::checks_on;
use crate::support::corpora::full;
use crate::support::guaranteed;
use crate::support::history::{Bench, Load, Op, follow_on, within};
use crate::support::program::Dir;
use crate::support::texts::line;

/// Words of letters, of which texts are made.
const WORDS: usize = 26;

fn word(family: usize, at: usize) -> String {
    let letter = |n: usize| char::from(b'a' + n as u8);
    format!("{}{}word", letter(family), letter(at % WORDS))
}

/// The lexicon of all histories: most words are rare, some common, and every fifth is none of its terms.
static LEXICON: LazyLock<Arc<Lexicon>> = LazyLock::new(|| {
    let dir = Dir::new();
    let has = |doc: usize, at: usize| at % 5 != 4 && doc < 1 + at * 7 % 23;
    let text = |doc: usize| {
        let words = (0..2).flat_map(|family| (0..WORDS).map(move |at| (family, at)));
        let words = words.filter(|(family, at)| has(doc, at + family));
        words.map(|(family, at)| word(family, at)).collect::<Vec<_>>().join(" ") + " filler"
    };
    let lines = (0..300).map(|doc| line(&doc.to_string(), &text(doc)));
    dir.write("in.jsonl", lines.collect::<String>());
    let request = LexiconRequest {
        sources: discover(&[dir.join("in.jsonl").to_string_lossy().into_owned()], &dir.join("."))
            .expect("inputs")
            .sources,
        input: Config::default().input,
        terms: Terms::default(),
        resources: Resources {
            workers: 1,
            memory: None,
            scratch: dir.join("."),
            simd: Simd::detect(),
            peers: None,
        },
    };
    let progress = Arc::default();
    let counted = count(&request, &progress).expect("counted");
    counted.freeze(&dir.join("lexicon"), 1, &progress).expect("written");
    Arc::new(Lexicon::open(&dir.join("lexicon")).expect("a lexicon"))
});

/// A configuration under which texts of six to eight words have duplicates, bridges between them, and neither.
fn small(method: Method) -> Config {
    let mut config = crate::support::history::config(method);
    config.imatch.low = "0.5".parse().expect("an idf");
    (config.imatch.lexicons, config.imatch.min_terms) = (3, 2);
    config.fingerprint.max_idf = "1".parse().expect("an idf");
    (config.fingerprint.terms, config.fingerprint.bin, config.fingerprint.length_percent) = (2, 20, 30);
    (config.term_vector.terms, config.term_vector.shared, config.term_vector.min_terms) = (6, 4, 3);
    config.term_vector.length_percent = 40;
    config.cosine.common_percent = 50;
    config.salient.terms = 4;
    config.winnow.window = 2;
    (config.anchors.characters, config.anchors.one_in) = (6, 3);
    (config.sentences.per_chunk, config.sentences.every) = (2, 1);
    (config.lines.per_chunk, config.lines.every) = (1, 1);
    config.supershingles.group = 3;
    config.simhash.distance = 7;
    match method {
        Method::Anchors | Method::Sentences => config.count.rule = Rule::Containment,
        Method::Lines | Method::Supershingles => (config.count.rule, config.count.shared) = (Rule::Shared, 1),
        Method::Shingles => {
            (config.shingles.sampling, config.shingles.ratios) = (Sampling::Adaptive, [2; 11]);
        }
        _ => {}
    }
    if config.needs_lexicon() {
        config.lexicon = LEXICON.name();
    }
    config.validate().expect("a valid configuration");
    config
}

/// The same with dates.
fn dated() -> Config {
    let mut config = small(Method::TermVector);
    config.input.date_field = "date".to_owned();
    config.term_vector.days = 20;
    config
}

fn verified(method: Method, verify: Verify) -> Config {
    Config { verify, threshold: "0.6".parse().expect("a threshold"), ..small(method) }
}

fn contained(verify: Verify) -> Config {
    let mut config = verified(Method::Join, verify);
    config.join.measure = JoinMeasure::Containment;
    config
}

/// Words in a row out of a few sequences, with sentences of two words and lines of four, which mostly begin at the same words.
fn text() -> impl Strategy<Value = String> {
    let length = prop_oneof![1 => 0usize..4, 6 => 6usize..12];
    let shift = prop_oneof![3 => Just(0usize), 1 => 1usize..4];
    (0usize..2, 0usize..12, length, 0usize..4, shift).prop_map(|(family, from, length, marks, shift)| {
        let mut text = String::new();
        for at in from..from + length {
            let end = ["", ".", "", ".\n"][(at + shift) % 4];
            write!(text, "{}{end} ", word(family, at)).expect("written");
        }
        text + &"!".repeat(marks)
    })
}

fn histories() -> impl Strategy<Value = Vec<(Load, u8)>> {
    let op = prop_oneof![
        2 => (0usize..20, text()).prop_map(|(id, text)| Op::Upsert(id, text)),
        1 => (0usize..20).prop_map(Op::Delete),
    ];
    let load = (prop::collection::vec(op, 0..12), 1usize..4, 1usize..4, prop::option::of(1u64..500));
    let load = load.prop_map(|(ops, workers, files, epoch_bytes)| Load { ops, workers, files, epoch_bytes });
    prop::collection::vec((load, 0u8..6), 1..6)
}

fn loads(history: &[(Load, u8)]) -> Vec<Load> {
    history.iter().map(|(load, _)| load.clone()).collect()
}

/// Histories of each method; ALIKE_FULL asks for many more.
fn cases() -> u32 {
    if full() { 300 } else { 12 }
}

/// One configuration through histories: transitive, with a guarantee, and asked for single texts.
macro_rules! method {
    ($name:ident, $config:expr) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

                #[test]
                fn is_as_run_again(history in histories()) {
                    follow_on(Bench::by(&LEXICON, $config), &loads(&history));
                }

                #[test]
                fn is_guaranteed(history in histories()) {
                    guaranteed::follow_on(Bench::by(&LEXICON, guaranteed::guaranteed($config)), &history);
                }

                #[test]
                fn knows_texts(history in histories(), texts in prop::collection::vec(text(), 1..6)) {
                    checks_on(Bench::by(&LEXICON, $config), &loads(&history), &texts);
                }
            }
        }
    };
}

method!(adaptive_sampling, small(Method::Shingles));

method!(supershingles, small(Method::Supershingles));

method!(winnow, small(Method::Winnow));

method!(anchors, small(Method::Anchors));

method!(sentences, small(Method::Sentences));

method!(lines, small(Method::Lines));

/// The sketch of a text outlives the copy that it was made of, so texts of one sketch are cut alike.
#[test]
fn texts_of_the_same_words_that_are_cut_otherwise() {
    let words = |from: usize, ends: &str| -> String {
        let words = (from..).zip(ends.chars()).map(|(at, end)| format!("{}{end} ", word(0, at)));
        words.collect::<String>().replace('|', ".\n")
    };
    let load = |ops: Vec<Op>| Load { ops, workers: 2, files: 1, epoch_bytes: None };
    let (cut, whole, other) = (words(0, " | | | |"), words(0, "        "), words(4, " | | | |"));
    for method in [Method::Sentences, Method::Lines] {
        for (first, second) in [(&cut, &whole), (&whole, &cut)] {
            let texts = [first, second, &other];
            let all = (0..).zip(texts).map(|(id, text)| Op::Upsert(id, text.clone())).collect();
            let loads = [load(all), load(vec![Op::Delete(0)]), load(vec![Op::Upsert(2, first.clone())])];
            follow_on(Bench::by(&LEXICON, small(method)), &loads);
        }
    }
}

method!(salient, small(Method::Salient));

method!(simhash, small(Method::Simhash));
method!(imatch, small(Method::Imatch));

method!(fingerprint, small(Method::Fingerprint));

method!(vector, small(Method::TermVector));

method!(vector_of_dates, dated());

method!(cosine, small(Method::Cosine));

method!(join_by_edits, verified(Method::Join, Verify::Edits));

method!(join_by_containment, verified(Method::Join, Verify::Containment));

method!(join_contained, contained(Verify::None));

method!(join_contained_by_edits, contained(Verify::Edits));

method!(imatch_by_resemblance, verified(Method::Imatch, Verify::Resemblance));

method!(shingles_by_containment, verified(Method::Shingles, Verify::Containment));

method!(features_by_edits, verified(Method::Minhash, Verify::Edits));

method!(vector_by_edits, Config { verify: Verify::Edits, ..dated() });

method!(cosine_by_edits, verified(Method::Cosine, Verify::Edits));

method!(fingerprint_by_containment, verified(Method::Fingerprint, Verify::Containment));

method!(join_within_sites, within(verified(Method::Join, Verify::None)));

method!(join_contained_within_sites, within(contained(Verify::None)));

method!(shingles_within_sites, within(small(Method::Shingles)));

method!(minhash_within_sites, within(verified(Method::Minhash, Verify::Resemblance)));

method!(simhash_within_sites, within(small(Method::Simhash)));

method!(exact_within_sites, within(small(Method::Exact)));

method!(vector_within_sites, within(dated()));

/// The configurations above make clusters of several contents, and do not make one of all.
#[test]
fn histories_have_something_to_show() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut of = |config: Config| {
        let mut bench = Bench::by(&LEXICON, config);
        let texts: Vec<String> =
            (0..60).map(|_| text().new_tree(&mut runner).expect("a text").current()).collect();
        let ops = texts.into_iter().enumerate().map(|(id, text)| Op::Upsert(id, text)).collect();
        let report = bench.load(&Load { ops, workers: 1, files: 1, epoch_bytes: None });
        let clusters = bench.clusters();
        (clusters.len(), clusters.iter().map(BTreeSet::len).sum::<usize>(), report)
    };
    let mut exact = small(Method::Join);
    exact.method = Method::Exact;
    let (_, equal, _) = of(exact);
    let methods = [
        Method::Shingles,
        Method::Supershingles,
        Method::Winnow,
        Method::Anchors,
        Method::Sentences,
        Method::Lines,
        Method::Salient,
        Method::Simhash,
        Method::Imatch,
        Method::Fingerprint,
        Method::TermVector,
        Method::Cosine,
    ];
    for method in methods {
        let (clusters, clustered, report) = of(small(method));
        assert!(clusters > 1 && clustered > equal, "{method}: {clusters} clusters of {clustered}, {equal}");
        let least = [Method::Imatch, Method::Fingerprint, Method::TermVector].contains(&method);
        assert_eq!(report.too_few_terms > 0, least, "{method}: {report:?}");
        assert_eq!(report.missing_date, 0);
    }
    let (clusters, clustered, report) = of(dated());
    assert!(
        clusters > 1 && clustered > 0 && report.missing_date > 0,
        "{clusters} of {clustered}: {report:?}"
    );
}
