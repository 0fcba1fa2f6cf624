//! What a lexicon is asked, by hand.

use super::{Bench, counts, open};
use crate::lexicon::{Terms, agreement};
use crate::text::{TermFrequencies, token_hash};

/// Texts that differ in case, punctuation, line breaks and composition only have one lexicon.
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
    assert!(lexicon.require(4, "who asks").is_ok() && lexicon.require_name(&lexicon.name()).is_ok());
    let message = lexicon.require(60, "a vector of 60 terms").expect_err("too small").to_string();
    assert!(message.contains("has 4 terms, and a vector of 60 terms needs 60"), "{message}");
    let message = lexicon.require_name("00000000000000000000000000000007").expect_err("another").to_string();
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
