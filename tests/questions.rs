//! What may be asked of a collection: check against brute force, groups, and explanations.

use std::fs;

use alike::config::{Config, Method, Rule, Verify};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::checks::checks_on;
use crate::support::history::{Bench, Load, config, contained, history, text};
use crate::support::output::jsonl;
use crate::support::program::{Dir, Ran};
use crate::support::texts::{line, words};

fn checks(config: &Config, history: &[Load], texts: &[String]) {
    checks_on(Bench::new(config.clone()), history, texts);
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn join(history in history(), texts in texts()) {
        checks(&config(Method::Join), &history, &texts);
    }

    #[test]
    fn containment(history in history(), texts in texts()) {
        checks(&contained(), &history, &texts);
    }

    #[test]
    fn features(history in history(), texts in texts(), verify in any::<bool>()) {
        let mut config = config(Method::Minhash);
        config.verify = if verify { Verify::Resemblance } else { Verify::None };
        checks(&config, &history, &texts);
    }

    #[test]
    fn shingles(history in history(), texts in texts(), containment in any::<bool>()) {
        let mut config = config(Method::Shingles);
        config.count.rule = if containment { Rule::Containment } else { Rule::Resemblance };
        checks(&config, &history, &texts);
    }

    #[test]
    fn exact(history in history(), texts in texts()) {
        checks(&config(Method::Exact), &history, &texts);
    }
}

/// A collection `c` of a chain a0 - a1 - a2, two copies b0 and b1, d that is a little like both, and `none` without a token.
fn made(flags: &str) -> Dir {
    let dir = Dir::new();
    let like = |start: usize| words(start, 40);
    let mixed = format!("{} {}", words(20, 14), words(1010, 10));
    let lines = [
        line("a0", &like(0)),
        line("a1", &like(4)),
        line("a2", &like(8)),
        line("b0", &like(1000)),
        line("b1", &like(1000).to_uppercase()),
        line("d", &mixed),
        line("none", "..."),
    ];
    dir.write("in.jsonl", lines.concat());
    dir.alike(&format!("load c in.jsonl --threshold 0.75 --ngram 1 {flags}"), None).ok();
    dir
}

fn answer(dir: &Dir, line: &str) -> Value {
    jsonl(dir.alike(line, None).ok().stdout.as_bytes()).remove(0)
}

#[test]
fn two_of_a_cluster_are_explained_by_the_chain() {
    let dir = made("");
    let told = answer(&dir, "explain c a0 a2");
    assert_eq!(told["answer"], json!("together"));
    let steps: Vec<(&Value, &Value, &Value)> = told["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (&step["first"], &step["second"], &step["measures"]["shared"]))
        .collect();
    let expected = [("a0", "a1"), ("a1", "a2")].map(|(a, b)| (json!(a), json!(b), json!(36)));
    assert_eq!(steps, expected.each_ref().map(|(a, b, shared)| (a, b, shared)));
    let ends = &told["ends"]["measures"];
    assert_eq!((&ends["shared"], &ends["union"], &ends["linked"]), (&json!(32), &json!(48), &json!(false)));
    assert_eq!(
        (&ends["needed"], &ends["only_first"], &ends["only_second"]),
        (&json!(35), &json!(8), &json!(8))
    );
    let words = &told["chain"][0]["texts"];
    assert_eq!((&words["only_first"], &words["only_second"]), (&json!(4), &json!(4)), "{words}");
    assert_eq!(words["places"][0][0]["whose"], json!("first"));
    let same = answer(&dir, "explain c b0 b1");
    assert_eq!((same["chain"].as_array().unwrap().len(), &same["chain"][0]["same_text"]), (1, &json!(true)));
    assert_eq!(same["ends"], Value::Null);
}

#[test]
fn one_is_explained_by_what_links_it() {
    let dir = made("");
    let told = answer(&dir, "explain c a2");
    assert_eq!((&told["answer"], &told["representative"]), (&json!("document"), &json!("a0")));
    assert_eq!(told["chain"].as_array().unwrap().len(), 2);
    assert_eq!((told["links"].as_array().unwrap().len(), &told["links"][0]["second"]), (1, &json!("a1")));
    assert_eq!((&told["document"]["line"], &told["document"]["file"]), (&json!(3), &json!("in.jsonl")));
    let copy = answer(&dir, "explain c b1");
    assert_eq!((&copy["same_text"], &copy["representative"]), (&json!(["b0"]), &json!("b0")));
    let alone = answer(&dir, "explain c d");
    assert_eq!((&alone["document"]["cluster"], &alone["representative"]), (&Value::Null, &Value::Null));
    assert_eq!(answer(&dir, "explain c none")["document"]["has_tokens"], json!(false));
    dir.alike("explain c nobody", None).code(2).says("nobody").says("alike documents");
    dir.alike("explain c a0 nobody", None).code(2).says("nobody");
    dir.alike("explain c a0 a0", None).code(2).says("twice");
}

#[test]
fn what_stays_is_explained_by_the_criterion_that_decided() {
    let dir = Dir::new();
    let family = |members: &[(&str, &str, Value)]| -> String {
        let record = |(id, end, score): &(&str, &str, Value)| {
            // Commas are no words: they make a copy longer, and leave it a copy.
            let mut record = json!({"id": id, "text": words(0, 40) + end});
            (!score.is_null()).then(|| record["score"] = score.clone());
            format!("{record}\n")
        };
        members.iter().map(record).collect()
    };
    dir.write("one.jsonl", family(&[("a", "", json!(9)), ("b", ",,", json!(7))]));
    dir.write(
        "two.jsonl",
        family(&[("c", "", json!("x")), ("d", ",", json!(null)), ("0", ",", json!(-2.5))]),
    );
    let length = words(0, 40).len();
    let (base, one, two) = (json!(length), json!(length + 1), json!(length + 2));
    // The first three that are kept, and for the first two and the last two of these: what decides, and what it compares.
    for (keep, order, decided) in [
        ("first", "ab0", [(Some("first"), json!([1, 1])), (Some("first"), json!([1, 2]))]),
        ("last", "dc0", [(Some("last"), json!([2, 2])), (Some("last"), json!([2, 2]))]),
        ("longest", "b0d", [(Some("longest"), json!([two, one])), (None, json!([2, 2]))]),
        ("longest,last", "bd0", [(Some("longest"), json!([two, one])), (Some("last"), json!([2, 2]))]),
        ("shortest", "ac0", [(None, json!([1, 2])), (Some("shortest"), json!([base, one]))]),
        ("field:score:max", "ab0", {
            [(Some("field:score:max"), json!([9.0, 7.0])), (Some("field:score:max"), json!([7.0, -2.5]))]
        }),
        ("field:score:min", "0ba", {
            [(Some("field:score:min"), json!([-2.5, 7.0])), (Some("field:score:min"), json!([7.0, 9.0]))]
        }),
    ] {
        for clustering in ["transitive", "guarantee"] {
            let name = format!("{}-{clustering}", keep.replace([':', ','], "-"));
            for load in ["one.jsonl", "two.jsonl"] {
                let flags = format!("--ngram 1 --keep {keep} --clustering {clustering}");
                let again = load == "two.jsonl";
                dir.alike(&format!("load {name} {load} {}", if again { "" } else { &flags }), None).ok();
            }
            let [best, next, third] = [0, 1, 2].map(|at| &order[at..=at]);
            let stays = |ids: &str| answer(&dir, &format!("explain {name} {ids}"))["stays"].clone();
            let wanted = |kept: &str, before: &str, (criterion, compared): &(Option<&str>, Value)| json!({"kept": kept, "before": before, "keep": keep, "criterion": criterion, "compared": compared});
            let first = wanted(best, next, &decided[0]);
            for ids in [best, next, &format!("{best} {next}"), &format!("{next} {best}")] {
                assert_eq!(stays(ids), first, "explain {ids}");
            }
            assert_eq!(stays(&format!("{third} {next}")), wanted(next, third, &decided[1]));
        }
    }
    // What lacks the field comes last, whichever way the others are ordered.
    let missing = answer(&dir, "explain field-score-min-transitive c d")["stays"].clone();
    assert_eq!((&missing["kept"], &missing["compared"]), (&json!("c"), &json!(["x", null])));
}

#[test]
fn two_that_are_apart_are_explained_by_what_they_lack() {
    let dir = made("");
    let told = answer(&dir, "explain c a0 d");
    assert_eq!(
        (&told["answer"], &told["compared"], &told["all_pairs"]),
        (&json!("apart"), &json!(3), &json!(true))
    );
    let ends = &told["ends"]["measures"];
    assert_eq!((&ends["shared"], &ends["linked"]), (&json!(14), &json!(false)));
    // All three share as much with it; the two that were asked for come first.
    assert_eq!((&told["best"]["first"], &told["best"]["second"]), (&json!("a0"), &json!("d")));
    let turned = answer(&dir, "explain c d b1");
    assert_eq!((&turned["best"]["first"], &turned["best"]["measures"]["shared"]), (&json!("d"), &json!(10)));
    let nothing = answer(&dir, "explain c a0 b0");
    assert_eq!((&nothing["best"], &nothing["compared"]), (&Value::Null, &json!(3)));
    let empty = answer(&dir, "explain c a0 none");
    assert_eq!((&empty["answer"], &empty["ends"]), (&json!("apart"), &Value::Null));
}

#[test]
fn the_closest_pair_is_found_between_large_clusters_too() {
    let dir = Dir::new();
    // Two hot groups of 330 texts: more than a hundred thousand pairs. The last of each shares a word with the other end.
    let text = |family: usize, at: usize| {
        let bridge = if at == 0 { "bridge" } else { "" };
        format!("{} own{family}x{at} {bridge}", words(family * 1000, 40))
    };
    let row = |family: usize| (0..330).map(move |at| line(&format!("f{family}-{at:03}"), &text(family, at)));
    dir.write("in.jsonl", row(0).chain(row(1)).collect::<String>());
    dir.alike("load c in.jsonl --ngram 1", None).ok();
    let told = answer(&dir, "explain c f0-000 f1-007");
    assert_eq!((&told["all_pairs"], &told["compared"]), (&json!(false), &json!(330 + 329)));
    assert_eq!((&told["best"]["first"], &told["best"]["second"]), (&json!("f0-000"), &json!("f1-000")));
    assert_eq!(told["best"]["measures"]["shared"], json!(1));
}

#[test]
fn texts_come_from_records_or_from_files_that_are_the_same() {
    for (flags, kept) in [("", false), ("--store-text", true)] {
        let dir = made(flags);
        let before = answer(&dir, "explain c a0 a1")["chain"][0]["texts"].clone();
        assert_eq!(before["only_first"], json!(4), "{before}");
        let whole = fs::read(dir.join("in.jsonl")).unwrap();
        dir.write("in.jsonl", [&whole[..], b"\n"].concat());
        let after = answer(&dir, "explain c a0 a1")["chain"][0]["texts"].clone();
        if kept {
            assert_eq!(after, before);
        } else {
            let why = after["why"].as_str().unwrap();
            assert!(why.contains("in.jsonl") && why.contains("changed"), "{why}");
        }
    }
    let dir = Dir::new();
    dir.alike("load c - --ngram 1", Some((line("a", "x y z") + &line("b", "x y z")).as_bytes())).ok();
    let why = answer(&dir, "explain c a b")["chain"][0]["texts"]["why"].clone();
    assert!(why.as_str().unwrap().contains("standard input"), "{why}");
}

#[test]
fn check_reads_what_load_reads_and_stores_nothing() {
    let dir = made("");
    let names = |dir: &Dir| {
        let mut names: Vec<_> =
            fs::read_dir(dir.join("c")).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names(&dir);
    dir.write(
        "new.jsonl",
        line("x", &words(2, 40)) + &line("y", "nothing like it") + &line("z", &words(1000, 40)),
    );
    let rows = jsonl(dir.alike("check c new.jsonl", None).ok().stdout.as_bytes());
    let found = |row: &Value| -> Vec<String> {
        let all = row["resembles"].as_array().unwrap().iter();
        all.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(rows.iter().map(found).collect::<Vec<_>>(), [vec!["a0", "a1"], vec![], vec!["b0", "b1"]]);
    assert_eq!((&rows[0]["id"], &rows[0]["line"], &rows[1]["line"]), (&json!("x"), &json!(1), &json!(2)));
    let (first, last) = (&rows[0]["resembles"][0], &rows[2]["resembles"][1]);
    assert_eq!(
        (&first["cluster"], &first["same_text"], &first["shared"]),
        (&json!("1.1"), &json!(false), &json!(38))
    );
    assert_eq!((&last["same_text"], &last["resemblance"]), (&json!(true), &json!(1.0)));
    let text = jsonl(dir.alike("check c", Some(words(4, 40).as_bytes())).ok().stdout.as_bytes());
    assert_eq!(
        (found(&text[0]), &text[0]["file"]),
        (vec!["a1".into(), "a0".into(), "a2".into()], &json!("stdin"))
    );
    dir.write("bad.jsonl", "bad\n".repeat(20));
    dir.alike("check c bad.jsonl", None).code(3).says("bad.jsonl, line 1").says("20 of 20");
    dir.alike("check c missing", None).code(3).says("missing");
    // Whoever loads meanwhile is not in the way, and nothing was written.
    let lock = fs::File::open(dir.join("c/lock")).unwrap();
    lock.lock().unwrap();
    dir.alike("check c new.jsonl", None).ok();
    assert_eq!(names(&dir), before);
}

#[test]
fn a_ranked_list_is_grouped_and_nothing_is_lost() {
    let dir = made("");
    let list = "a1\nnobody\r\nb1\na0\n\nd\nb0\nd\nnobody\na2\n";
    let ran: Ran = dir.alike("group c", Some(list.as_bytes())).ok();
    let ran = ran.says("2 ids do not exist in the collection: nobody, nobody");
    assert_eq!(ran.stdout, "a1\n  a0\n  a2\nnobody\nb1\n  b0\nd\n  d\nnobody\n");
    dir.write("list.txt", list);
    let rows = jsonl(dir.alike("group c list.txt --json", None).ok().stdout.as_bytes());
    assert_eq!(rows[0], json!({"id": "a1", "cluster": "1.1", "known": true, "fellows": ["a0", "a2"]}));
    assert_eq!(rows[1], json!({"id": "nobody", "cluster": null, "known": false, "fellows": []}));
    assert_eq!(rows.len(), 5);
    assert_eq!(dir.alike("group c", Some(b"")).ok().stdout, "");
    dir.alike("group c", Some(b"\xff\n")).code(3).says("line 1");
}
