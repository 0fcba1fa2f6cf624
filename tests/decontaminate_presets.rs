//! `alike decontaminate` with the rules of Llama and of decon: shares of items anywhere in a corpus, and scores of questions with
//! their answers. Shares are held against sets of the words in a row of all documents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::support::job::{Shape, done};
use crate::support::output::jsonl;
use crate::support::outputs::{assert_same, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, line, words};

fn rows(dir: &Dir, name: &str) -> Vec<Value> {
    jsonl(&fs::read(dir.join("o").join(name)).unwrap())
}

fn report(dir: &Dir) -> Value {
    serde_json::from_slice(&fs::read(dir.join("o/benchmarks.json")).unwrap()).unwrap()
}

/// Words of an item, those that 8 words in a row of a document cover, its n-grams, and those that are there.
fn obvious(item: &str, corpus: &BTreeSet<Vec<&str>>) -> [usize; 4] {
    let words: Vec<&str> = item.split_whitespace().collect();
    let mut covered = vec![false; words.len()];
    for at in 0..words.len() - 7 {
        if corpus.contains(&words[at..at + 8]) {
            covered[at..at + 8].fill(true);
        }
    }
    let grams: BTreeSet<&[&str]> = words.windows(8).collect();
    let found = grams.iter().filter(|gram| corpus.contains(**gram)).count();
    [words.len(), covered.iter().filter(|covered| **covered).count(), grams.len(), found]
}

/// Items of random words, some of which repeat themselves, and documents with pieces of them.
fn texts(random: &mut Random) -> [Vec<String>; 2] {
    let some = |random: &mut Random, count: usize, of: usize| -> Vec<String> {
        (0..count).map(|_| format!("w{}", random.below(of))).collect()
    };
    let items: Vec<Vec<String>> = (0..40)
        .map(|at| {
            let (count, of) = (8 + random.below(40), if at % 4 == 0 { 2 } else { 500 });
            some(random, count, of)
        })
        .collect();
    let documents = (0..60).map(|_| {
        let mut all = some(random, 20, 500);
        for _ in 0..random.below(3) {
            let item = &items[random.below(items.len())];
            let is_whole = random.below(4) == 0;
            let from = if is_whole { 0 } else { random.below(item.len()) };
            let to = if is_whole { item.len() } else { from + 1 + random.below(item.len() - from) };
            all.extend_from_slice(&item[from..to]);
            all.push("other".into());
        }
        all.join(" ")
    });
    let documents = documents.collect();
    [items.iter().map(|item| item.join(" ")).collect(), documents]
}

#[test]
fn shares_are_those_of_sets_of_words_in_a_row() {
    let mut seen = BTreeMap::new();
    for seed in 0..6 {
        let [items, documents] = texts(&mut Random(seed));
        let dir = Dir::new();
        let file = |texts: &[String]| -> String {
            texts.iter().enumerate().map(|(at, text)| line(&format!("{at:02}"), text)).collect()
        };
        dir.write("in.jsonl", file(&documents));
        dir.write("a.jsonl", file(&items[..25]));
        dir.write("b.jsonl", file(&items[25..]));
        dir.alike(
            "decontaminate in.jsonl --benchmarks a.jsonl --benchmarks b.jsonl --preset llama-3 --out o",
            None,
        )
        .ok()
        .says("lists in o");
        let of_documents: Vec<Vec<&str>> =
            documents.iter().map(|text| text.split_whitespace().collect()).collect();
        let corpus = of_documents.iter().flat_map(|words| words.windows(8)).map(<[&str]>::to_vec).collect();
        let got = rows(&dir, "items.jsonl");
        assert_eq!(got.len(), items.len());
        let mut classes = [[0, 0]; 2];
        for (at, (row, item)) in got.iter().zip(&items).enumerate() {
            let (of_b, line) = (at / 25, at % 25 + 1);
            let file = ["a.jsonl", "b.jsonl"][of_b];
            let [words, covered, ngrams, found] = obvious(item, &corpus);
            let share = covered as f64 / words as f64;
            assert!((row["share"].as_f64().unwrap() - share).abs() < 1e-9, "seed {seed}");
            let want = json!({
                "benchmark": file, "item": format!("{:02}", line - 1), "item_file": file, "item_line": line,
                "field": "text", "words": words, "covered": covered, "share": row["share"], "ngrams": ngrams,
                "found": found,
            });
            assert_eq!(*row, want, "seed {seed}");
            classes[of_b][0] += usize::from(covered as f64 >= 0.2 * words as f64);
            classes[of_b][1] += usize::from(covered as f64 >= 0.8 * words as f64);
            *seen.entry((covered > 0) as usize + (covered == words) as usize).or_insert(0) += 1;
        }
        let report = report(&dir);
        for (row, [not_clean, dirty]) in report["benchmarks"].as_array().unwrap().iter().zip(classes) {
            assert_eq!((&row["not_clean"], &row["dirty"]), (&json!(not_clean), &json!(dirty)), "seed {seed}");
        }
        assert!(!dir.join("o/kept").exists() && dir.join("o/contaminated.jsonl").exists());
    }
    assert!((0..3).all(|kind| seen[&kind] > 10), "none, some and all of an item: {seen:?}");
}

#[test]
fn the_same_in_every_shape() {
    let dir = Dir::new();
    let [items, documents] = texts(&mut Random(9));
    let other = |at: usize| words(at * 400 + 50_000, 400);
    let many: String = (0..3000).map(|at| line(&format!("m{at}"), &other(at))).collect();
    let whole = items.iter().take(9).map(|item| format!("{} {item} {}", words(0, 20), words(50, 20)));
    let corpus: String = documents.iter().cloned().chain(whole).map(|text| line("d", &text)).collect();
    dir.write("in/a.jsonl", format!("{corpus}{many}"));
    let items = items.iter().enumerate();
    let item = |(at, text): (usize, &String)| {
        let end = text[..text.len() * 2 / 3].rfind(' ').unwrap();
        let (question, answer) = text.split_at(end);
        json!({"id": at, "question": question, "answer": answer}).to_string() + "\n"
    };
    dir.write("items.jsonl", items.map(item).collect::<String>());
    for preset in ["llama-3", "decon", "decon --action mark"] {
        let mut first = None;
        for shape in [(1, 1), (1, 3), (2, 1), (3, 2)] as [Shape; 4] {
            let line = format!(
                "decontaminate in --benchmarks items.jsonl --benchmark-fields question,answer --preset {preset} --out o -q"
            );
            done(&dir, shape, &line);
            let got = written(&dir.join("o"));
            assert!(report(&dir)["contaminated"].as_u64() > Some(2), "{preset}");
            fs::remove_dir_all(dir.join("o")).unwrap();
            let want = first.get_or_insert_with(|| got.clone());
            assert_same(want, &got, &format!("{preset} {shape:?}"));
        }
    }
}

/// A question with its answer goes; with another answer, or with none near it, it stays.
#[test]
fn decon_asks_for_the_answer() {
    let dir = Dir::new();
    let (question, answer, wrong) = (words(0, 30), words(100, 6), words(200, 6));
    let item = json!({"id": "q", "question": question, "answer": answer});
    let lone = json!({"id": "lone", "question": words(300, 30)});
    dir.write("items.jsonl", format!("{item}\n{lone}\n"));
    let corpus = [
        ("right", format!("{} {question} A: {answer}.", words(1000, 40))),
        ("wrong", format!("{question} A: {wrong}")),
        ("far", format!("{question} {} {answer}", words(2000, 110))),
        ("lone", words(300, 30)),
        ("none", words(400, 90)),
    ];
    dir.write("in.jsonl", corpus.iter().map(|(id, text)| line(id, text)).collect::<String>());
    let run = |flags: &str| {
        dir.alike(
            &format!("decontaminate in.jsonl --benchmarks items.jsonl {flags} --preset decon --out o"),
            None,
        )
    };
    run("--benchmark-fields question,answer").ok();
    let kept: Vec<Value> = rows(&dir, "kept/in.jsonl").iter().map(|row| row["id"].clone()).collect();
    assert_eq!(kept, ["wrong", "far", "none"]);
    let found = rows(&dir, "contaminated.jsonl");
    let shown = |row: &Value| ["id", "item", "field", "share", "score", "ngram"].map(|key| row[key].clone());
    assert_eq!(
        shown(&found[0]),
        [json!("right"), json!("q"), json!("question"), json!(1.0), json!(1.0), json!(5)]
    );
    assert_eq!(found[0]["passage"], question.as_str());
    let rule = &report(&dir)["rule"];
    assert_eq!(
        (&rule["scored"], &rule["threshold"], &rule["min_words"]),
        (&json!(true), &json!(0.8), &json!(20))
    );
    fs::remove_dir_all(dir.join("o")).unwrap();
    // Without the answers, each question is enough.
    run("--benchmark-fields question").ok();
    assert_eq!(rows(&dir, "kept/in.jsonl").len(), 1);
    fs::remove_dir_all(dir.join("o")).unwrap();
    run("--benchmark-fields question,answer --join-fields").code(2).says("question, answer and passage");
    run("--benchmark-fields a,b,c,d").code(2).says("up to three");
    run("--benchmark-fields question,answer --min-words 40")
        .code(2)
        .says("40 words or more, 4 of them different, and a question of 5");
    // Two words are no question, however long the answer is.
    dir.write("items.jsonl", json!({"question": "Who won?", "answer": words(0, 40)}).to_string());
    run("--benchmark-fields question,answer").code(2).says("a question of 5");
    assert!(!dir.join("o").exists());
}

#[test]
fn lists_without_records_and_wrong_use() {
    let dir = Dir::new();
    let item = words(1000, 16);
    dir.write("in.jsonl", line("a", &format!("{} {item}", words(0, 90))) + &line("b", &words(5, 90)));
    dir.write("items.jsonl", line("x", &item) + &line("short", "too few words"));
    let run = |flags: &str| {
        dir.alike(&format!("decontaminate in.jsonl --benchmarks items.jsonl --out o {flags}"), None)
    };
    run("--any-ngram --ngram 10 --items --action drop").ok().says("80 %");
    assert_eq!(rows(&dir, "kept/in.jsonl")[0]["id"], "b");
    let shares = rows(&dir, "items.jsonl");
    assert_eq!((shares.len(), &shares[0]["covered"]), (1, &json!(16)));
    fs::remove_dir_all(dir.join("o")).unwrap();
    run("--action list").ok();
    assert_eq!(rows(&dir, "contaminated.jsonl").len(), 1);
    assert!(!dir.join("o/kept").exists() && !dir.join("o/items.jsonl").exists());
    assert_eq!((&report(&dir)["action"], &report(&dir)["kept"]), (&json!("list"), &json!(2)));
    fs::remove_dir_all(dir.join("o")).unwrap();
    run("--items").code(2).says("--any-ngram");
    run("--preset decon --items").code(2).says("--any-ngram");
    run("--action list --to jsonl").code(2).says("--to");
    let dry =
        dir.alike("decontaminate in.jsonl --benchmarks items.jsonl --dry-run --preset llama-3", None).ok();
    dry.says("1 passage; dry run, nothing written");
    run("--preset llama-3 --write-removed").code(2).says("--write-removed");
    assert!(!dir.join("o").exists());
}
