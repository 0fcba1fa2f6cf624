//! `--fold`: which spellings are one, in runs, collections and lexicons, and what older ones of these keep to.

use std::fs;

use serde_json::Value;

use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// Two spellings of a text, and the fold that takes them for one.
const SPELLINGS: [(&str, &str, &str); 8] = [
    ("forms", "\u{FF26}\u{FF55}\u{FF4C}\u{FF4C} \u{FF76}\u{FF9E}", "full \u{30AC}"),
    (
        "forms",
        "\u{645}\u{640}\u{640}\u{631}\u{62D}\u{628}\u{627}",
        "\u{FEE3}\u{FEAE}\u{FEA3}\u{FE92}\u{FE8E}",
    ),
    ("forms", "\u{E19}\u{E49}\u{E4D}\u{E32}", "\u{E19}\u{E49}\u{E33}"),
    ("marks", "\u{645}\u{64F}\u{62D}\u{64E}\u{645}\u{64E}\u{651}\u{62F}", "\u{645}\u{62D}\u{645}\u{62F}"),
    ("marks", "\u{5E9}\u{5C1}\u{5B8}\u{5DC}\u{5D5}\u{5B9}\u{5DD}", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}"),
    ("digits", "\u{661}\u{662}\u{663}", "123"),
    ("letters", "\u{6CC}\u{6A9}\u{200C}\u{623}", "\u{64A}\u{643} \u{627}"),
    ("letters", "\u{130}STANBUL DI\u{15E}", "istanbul d\u{131}\u{15F}"),
];

/// Files of both spellings, in order.
fn spellings() -> Dir {
    let dir = Dir::new();
    for (at, (_, a, b)) in SPELLINGS.iter().enumerate() {
        dir.write(&format!("{at}.jsonl"), line("a", a) + &line("b", b));
    }
    dir
}

/// How many documents a dry run with these arguments would remove.
fn removed(dir: &Dir, arguments: &str) -> u64 {
    let ran = dir.alike(&format!("dedup {arguments} --dry-run --json-progress"), None).ok();
    let summary: Value = jsonl(ran.stderr.as_bytes()).pop().expect("a summary");
    summary["summary"]["removed"].as_u64().unwrap_or_else(|| panic!("{summary}"))
}

/// Each pair of spellings with flags, and whether these take the two for one: its number, the flags, and that.
fn flags_on_spellings() -> impl Iterator<Item = (usize, String, bool)> {
    SPELLINGS.iter().enumerate().flat_map(|(at, (word, ..))| {
        [
            (at, String::new(), *word == "forms"),
            (at, "--fold forms".to_owned(), *word == "forms"),
            (at, "--fold none".to_owned(), false),
            (at, "--fold marks,digits,letters".to_owned(), true),
            (at, format!("--fold {word}"), true),
        ]
    })
}

#[test]
fn spellings_are_one_by_default_or_with_the_fold_that_is_for_them() {
    let dir = spellings();
    for (at, flags, folds) in flags_on_spellings() {
        let found = removed(&dir, &format!("{at}.jsonl {flags}"));
        assert_eq!(found, u64::from(folds), "{:?} {flags}", SPELLINGS[at]);
    }
}

#[test]
fn an_item_stands_in_a_document_that_spells_it_otherwise() {
    let dir = Dir::new();
    for (at, (_, a, b)) in SPELLINGS.iter().enumerate() {
        dir.write(&format!("items-{at}.jsonl"), line("item", &format!("who asked {a} for a name")));
        dir.write(&format!("{at}.jsonl"), line("copy", &format!("Once: who asked {b} for a name, and why?")));
    }
    for (at, flags, folds) in flags_on_spellings() {
        let rule = "--threshold 1 --min-words 2 --action mark";
        let out = format!("{at}.jsonl --benchmarks items-{at}.jsonl {rule} --out out {flags}");
        dir.alike(&format!("decontaminate {out}"), None).ok();
        let rows = jsonl(&fs::read(dir.join("out/contaminated.jsonl")).expect("a list"));
        assert_eq!(rows.len(), usize::from(folds), "{:?} {flags}", SPELLINGS[at]);
        // The passage is that of the document, in its spelling.
        let (_, _, b) = SPELLINGS[at];
        rows.iter()
            .for_each(|row| assert_eq!(row["passage"], format!("who asked {b} for a name"), "{flags}"));
        fs::remove_dir_all(dir.join("out")).expect("a folder");
    }
}

#[test]
fn a_passage_is_repeated_by_one_that_is_spelt_otherwise() {
    let dir = spellings();
    for (at, flags, folds) in flags_on_spellings() {
        // By lines, whose words are hashed together, and by words, each with its place.
        for unit in ["line", "token:1"] {
            let out = format!("{at}.jsonl --unit {unit} --action cut --out out {flags}");
            dir.alike(&format!("passages {out}"), None).ok();
            let kept = jsonl(&fs::read(dir.join(&format!("out/kept/{at}.jsonl"))).expect("records"));
            assert_eq!(kept.len(), if folds { 1 } else { 2 }, "{unit} {:?} {flags}", SPELLINGS[at]);
            fs::remove_dir_all(dir.join("out")).expect("a folder");
        }
    }
}

#[test]
fn every_method_folds() {
    let dir = Dir::new();
    let spelt = |end: &str| words(0, 60).split(' ').map(|word| format!("{word}{end} ")).collect::<String>();
    dir.write("in.jsonl", line("a", &spelt("\u{E9}")) + &line("b", &spelt("e")));
    for method in [
        "exact",
        "join",
        "minhash",
        "simhash",
        "shingles",
        "supershingles",
        "winnow",
        "anchors",
        "sentences",
        "lines",
    ] {
        assert_eq!(removed(&dir, &format!("in.jsonl --method {method} --fold marks")), 1, "{method}");
        assert_eq!(removed(&dir, &format!("in.jsonl --method {method}")), 0, "{method}");
    }
}

#[test]
fn a_configuration_says_what_is_folded() {
    let dir = spellings();
    for (written, folds) in [
        ("", [true, false, false, false]),
        ("[text]\nfold = []\n", [false; 4]),
        ("[text]\nfold = [\"none\"]\n", [false; 4]),
        ("[text]\nfold = [\"marks\"]\n", [true, true, false, false]),
        ("[text]\nfold = [\"letters\", \"digits\"]\n", [true, false, true, true]),
    ] {
        dir.write("own.toml", written);
        let found = [0, 3, 5, 6].map(|at| removed(&dir, &format!("{at}.jsonl --config own.toml")) == 1);
        assert_eq!(found, folds, "{written}");
        // Flags say more than files.
        assert_eq!(removed(&dir, "3.jsonl --config own.toml --fold marks"), 1);
        assert_eq!(removed(&dir, "0.jsonl --config own.toml --fold none"), 0);
    }
}

#[test]
fn what_is_unknown_is_refused_with_what_is_known() {
    let dir = spellings();
    let known = ["none", "forms", "marks", "digits", "letters"];
    for flag in ["accents", "Marks", "marks,accents"] {
        let ran = dir.alike(&format!("dedup 0.jsonl --dry-run --fold {flag}"), None).code(2);
        known.iter().fold(ran, |ran, word| ran.says(word));
    }
    dir.alike("dedup 0.jsonl --dry-run --fold none,marks", None).code(2).says("none stands alone");
    for written in ["[\"accents\"]", "[\"marks\", \"\"]"] {
        dir.write("own.toml", format!("[text]\nfold = {written}\n"));
        let ran = dir.alike("dedup 0.jsonl --dry-run --config own.toml", None).code(2).says("own.toml");
        known.iter().fold(ran.says("line 2"), |ran, word| ran.says(word));
    }
    dir.write("own.toml", "[text]\nfold = \"marks\"\n");
    dir.alike("dedup 0.jsonl --dry-run --config own.toml", None).code(2).says("own.toml");
    dir.alike("lexicon build 0.jsonl --out l --fold accents", None).code(2).says("letters");
}

/// The ids of the documents that a text resembles.
fn resembled(stdout: &str) -> Vec<String> {
    let rows = jsonl(stdout.as_bytes());
    let documents = rows[0]["resembles"].as_array().unwrap();
    let mut ids: Vec<String> = documents.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn a_collection_keeps_its_fold() {
    let dir = spellings();
    let clusters =
        |name: &str| jsonl(dir.alike(&format!("clusters {name}"), None).ok().stdout.as_bytes()).len();
    dir.write("c.jsonl", line("c", SPELLINGS[3].2));
    dir.alike("load folded 3.jsonl --fold marks", None).ok();
    assert_eq!(clusters("folded"), 1);
    // What is left out is as it was, and another one is refused.
    dir.alike("load folded c.jsonl", None).ok();
    dir.alike("load folded c.jsonl --fold forms", None).code(2).says("text.fold is forms,marks, not forms");
    let found = dir.alike("check folded", Some(SPELLINGS[3].1.as_bytes())).ok();
    assert_eq!(resembled(&found.stdout), ["a", "b", "c"]);
}

#[test]
fn a_lexicon_is_for_texts_of_its_fold() {
    let dir = Dir::new();
    // Words of letters: others are no terms.
    let letters = |c: char| c.to_digit(10).map_or(c, |digit| char::from(b'a' + digit as u8));
    let text = |n: usize| words(n * 100, 30).chars().map(letters).collect::<String>() + " caf\u{E9}";
    dir.write("in.jsonl", (0..60).map(|n| line(&n.to_string(), &text(n))).collect::<String>());
    dir.alike("lexicon build in.jsonl --out plain --min-df 1 --fold none", None).ok();
    dir.alike("lexicon build in.jsonl --out marks --min-df 1 --fold marks", None).ok();
    for (name, term) in [("marks", "cafe"), ("plain", "caf\u{E9}")] {
        let shown = dir.alike(&format!("lexicon show {name} --term Caf\u{E9} --json"), None).ok().stdout;
        assert!(shown.contains(&format!("\"term\":\"{term}\"")), "{shown}");
    }
    dir.alike("lexicon merge plain marks --out both", None).code(2).says("folded by none");
    dir.alike("lexicon compare plain marks --documents in.jsonl", None).code(2).says("build them alike");
    let run = "dedup in.jsonl --dry-run --method cosine --lexicon";
    dir.alike(&format!("{run} plain"), None).code(4).says("--fold none").says("--fold forms");
    dir.alike(&format!("{run} plain --fold none"), None).ok();
    dir.alike(&format!("{run} marks --fold marks"), None).ok();
}
