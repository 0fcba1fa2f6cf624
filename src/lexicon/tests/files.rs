//! Files that are not what was written, and what is not written.

use std::fs;

use super::{Bench, open};
use crate::error::Error;
use crate::lexicon::{Lexicon, TermKind, Terms, merge};
use crate::progress::Progress;
use crate::text::Fold;

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
    fs::write(&path, text.replacen("format 2", "format 3", 1)).expect("written");
    assert!(matches!(Lexicon::open(&path), Err(Error::NewerFormat { found: 3, known: 2, .. })));
    for (other, part) in [("nothing", "no such file"), ("in.jsonl", "is no lexicon"), (".", "is no file")] {
        let message = Lexicon::open(&bench.path(other)).expect_err("refused").to_string();
        assert!(message.contains(part), "{message}");
    }
}

/// Content with a digest of its own that no build writes.
#[test]
fn sealed_nonsense_is_refused() {
    let bench = Bench::new(&[]);
    let head = r#"{"terms":{"kind":"alphabetic","min_length":3,"fold":["forms"]},"min_df":1,"short":0,"documents":9}"#;
    let refused = |content: &str| {
        let digest = xxhash_rust::xxh3::xxh3_128(content.as_bytes());
        let path = bench.path("bad");
        fs::write(&path, format!("alike lexicon, format 2, xxh3-128 {digest:032x}\n{content}"))
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
    for (key, other) in
        [("\"min_df\":1", "\"min_df\":0"), ("\"documents\":9", "\"documents\":18446744073709551615")]
    {
        assert!(refused(&format!("{}\nalpha\t1\n", head.replace(key, other))), "{other}");
    }
}

/// What made it knew of no folding, so its terms are words of no folding.
#[test]
fn a_lexicon_of_format_1_folds_nothing() {
    let bench = Bench::new(&[]);
    let content = "{\"terms\":{\"kind\":\"alphabetic\",\"min_length\":3},\"min_df\":1,\"short\":0,\"documents\":9}\nalpha\t1\n";
    let digest = xxhash_rust::xxh3::xxh3_128(content.as_bytes());
    let path = bench.path("old");
    fs::write(&path, format!("alike lexicon, format 1, xxh3-128 {digest:032x}\n{content}")).expect("written");
    let lexicon = Lexicon::open(&path).expect("a lexicon");
    assert_eq!(lexicon.header().terms.fold, Fold::NONE);
    lexicon.require_fold(Fold::NONE).expect("its own");
    match lexicon.require_fold(Fold::FORMS) {
        Err(Error::LexiconUnfit { why, .. }) => {
            assert!(why.contains("compare with --fold none") && why.contains("with --fold forms;"), "{why}");
        }
        other => panic!("{other:?}"),
    }
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
    bench.build("numbers", Terms { kind: TermKind::Alphanumeric, ..terms }, 1).expect("written");
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

#[test]
fn two_terms_of_one_hash_are_refused_by_name() {
    let bench = Bench::new(&["alpha beta gamma".to_owned()]);
    bench.build("out", Terms::default(), 1).expect("written");
    let hash = |term: &[u8]| if term == b"alpha" { 1 } else { 2 };
    match Lexicon::open_by(&bench.path("out"), hash) {
        Err(Error::LexiconUnfit { why, .. }) => assert!(why.contains("\"beta\" and \"gamma\""), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// The file that `docs/src/reference/format.md` shows.
#[test]
fn the_form_is_as_described() {
    let bench = Bench::new(&["alpha beta", "Alpha, of 42"].map(String::from));
    bench.build("out", Terms::default(), 1).expect("written");
    let text = fs::read_to_string(bench.path("out")).expect("a file");
    let indented: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    assert!(
        include_str!("../../../docs/src/reference/format.md").contains(&indented.join("\n")),
        "docs/src/reference/format.md has not:\n{text}"
    );
}
