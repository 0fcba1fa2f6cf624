//! `alike decontaminate`: which items stand in which documents, held against sets of n-grams of every window; planted items; what
//! is written; the same in every shape; and what cannot be a benchmark.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use alike::config::Tokens;
use serde_json::{Value, json};

use crate::support::canonical::canonical_tokens;
use crate::support::job::{Shape, done};
use crate::support::output::jsonl;
use crate::support::outputs::{assert_same, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, gzip, line, unpack, words, zst};

/// A text that is looked for, as plainly as can be.
struct Plain {
    ngram: usize,
    grams: BTreeSet<Vec<String>>,
    needed: usize,
    window: usize,
}

/// Where one stands: first and last n-gram, and how many distinct ones.
type Found = (usize, usize, usize);

fn grams(tokens: &[String], ngram: usize) -> Vec<Vec<String>> {
    tokens.windows(ngram).map(<[String]>::to_vec).collect()
}

impl Plain {
    /// The rule: tenths of the n-grams that are enough, or any one; the longest n-grams; words of the shortest text.
    fn new(text: &str, tenths: Option<usize>, longest: usize, least: usize) -> Option<Plain> {
        let tokens = canonical_tokens(text, Tokens::Words);
        if tokens.len() < least {
            return None;
        }
        let cut = |ngram: usize| {
            let all = grams(&tokens, ngram);
            let window = all.len() + all.len().div_ceil(2);
            let grams: BTreeSet<Vec<String>> = all.into_iter().collect();
            let needed = tenths.map_or(1, |tenths| (grams.len() * tenths).div_ceil(10));
            Plain { ngram, needed, grams, window }
        };
        if tenths.is_none() {
            return (tokens.len() >= longest).then(|| cut(longest));
        }
        let sizes = [longest, 8, 5, 3, 2].into_iter().filter(|size| *size <= longest.min(tokens.len()));
        let last = sizes.clone().next_back()?;
        let fits = sizes.map(cut).find(|plain| plain.grams.len() >= plain.needed + plain.ngram);
        Some(fits.unwrap_or_else(|| cut(last)))
    }

    /// Every window of a document, each counted by a set.
    fn stretches(&self, document: &[Vec<String>], from: usize, to: usize, out: &mut Vec<Found>) {
        let here = |at: &usize| self.grams.contains(&document[*at]);
        let standing: Vec<usize> = (from..to).filter(here).collect();
        let distinct = |from: usize, end: usize| {
            let within = standing.iter().filter(|at| (from..end).contains(*at));
            within.map(|at| &document[*at]).collect::<BTreeSet<_>>().len()
        };
        let Some(&first) = standing.iter().find(|at| distinct(**at, **at + self.window) >= self.needed)
        else {
            return;
        };
        // From a good window to a better one near it, until there is none.
        let size = |at: usize| distinct(at, at + self.window);
        let (mut best, mut next) = (first, Some(first));
        while let Some(better) = next {
            best = better;
            let near = standing.iter().copied().filter(|at| (best..best + self.window).contains(at));
            let most = near.clone().map(size).max().unwrap();
            next = near.filter(|at| most > size(best) && size(*at) == most).min();
        }
        let most = size(best);
        // Where each stretch with as many begins at the latest, by its end.
        let latest: Vec<(usize, usize)> = standing
            .iter()
            .filter_map(|end| {
                let mut starts = standing.iter().rev().filter(|at| (best..=*end).contains(*at));
                let start = starts.find(|at| end - **at < self.window && distinct(**at, end + 1) == most)?;
                Some((*start, *end))
            })
            .collect();
        let first_end = latest[0].1;
        let stretches = latest.iter().copied().filter(|(start, _)| *start <= first_end);
        let (start, end) = stretches.min_by_key(|(start, end)| (end - start, *start)).unwrap();
        let before = (first..start).take_while(|at| at + self.ngram <= start).last();
        if let Some(before) = before {
            self.stretches(document, first, before + 1, out);
        }
        out.push((start, end, most));
        self.stretches(document, (end + self.ngram).min(to), to, out);
    }

    fn find(&self, tokens: &[String]) -> Vec<Found> {
        if tokens.len() < self.ngram {
            return Vec::new();
        }
        let (document, mut out) = (grams(tokens, self.ngram), Vec::new());
        self.stretches(&document, 0, document.len(), &mut out);
        out
    }
}

/// Texts of few words, so that pieces of items are all over the place; items stand in documents whole, in part, and changed.
fn texts(random: &mut Random) -> (Vec<String>, Vec<String>) {
    const VARIANTS: [fn(&str) -> String; 4] = [
        |word| word.to_owned(),
        |word| word.to_uppercase(),
        |word| format!("\u{201c}{word},\u{201d}"),
        |word| format!("({word})"),
    ];
    let some = |random: &mut Random, count: usize| -> Vec<String> {
        (0..count).map(|_| format!("w{}", random.below(14))).collect()
    };
    let mut items: Vec<Vec<String>> = (0..10)
        .map(|_| {
            let count = 4 + random.below(40);
            some(random, count)
        })
        .collect();
    // One n-gram, which is enough; and two, of which both are needed.
    for period in [1, 2] {
        items.push((0..9).map(|at| format!("w{}", at % period)).collect());
    }
    let mut documents = Vec::new();
    for _ in 0..25 {
        let count = random.below(30);
        let mut all = some(random, count);
        for _ in 0..random.below(4) {
            let item = &items[random.below(items.len())];
            let begin = random.below(item.len() / 2);
            let mut piece = item[begin / 2..].to_vec();
            for _ in 0..random.below(3) {
                let at = random.below(piece.len());
                piece[at] = format!("w{}", random.below(20));
            }
            all.extend(piece);
            let count = random.below(6);
            all.extend(some(random, count));
        }
        let spelt = all.iter().map(|word| VARIANTS[random.below(4)](word));
        documents.push(spelt.collect::<Vec<_>>().join(" "));
    }
    (items.into_iter().map(|item| item.join(" ")).collect(), documents)
}

/// A row: document, item, first byte, byte behind the last, n-grams found, n-grams, words of an n-gram, passages.
type Row = (String, String, u64, u64, u64, u64, u64, u64);

fn rows(dir: &Dir, out: &str) -> Vec<Value> {
    jsonl(&fs::read(dir.join(out).join("contaminated.jsonl")).unwrap())
}

fn told(row: &Value) -> Row {
    let (text, number) =
        (|key: &str| row[key].as_str().unwrap().to_owned(), |key: &str| row[key].as_u64().unwrap());
    let share = row["share"].as_f64().unwrap();
    assert!((share - number("found") as f64 / number("ngrams") as f64).abs() < 1e-12, "{row}");
    (
        text("id"),
        text("item"),
        number("start"),
        number("end"),
        number("found"),
        number("ngrams"),
        number("ngram"),
        row.get("passages").map_or(1, |passages| passages.as_u64().unwrap()),
    )
}

/// The bytes of the words of a text, which stand between blanks.
fn places(text: &str) -> Vec<(u64, u64)> {
    let is_word = |c: char| c.is_alphanumeric();
    let word = |word: &str| {
        let start = word.as_ptr().addr() - text.as_ptr().addr() + word.find(is_word).unwrap();
        let inner = word.trim_matches(|c| !is_word(c));
        (start as u64, (start + inner.len()) as u64)
    };
    text.split_whitespace().map(word).collect()
}

#[test]
fn every_window_is_held_against_every_item() {
    let mut found_some = [0; 5];
    let rules: [(&str, Option<usize>, usize, usize); 5] = [
        ("", Some(7), 3, 8),
        ("--ngram 8", Some(7), 8, 8),
        ("--threshold 0.5 --min-words 5 --ngram 9", Some(5), 9, 5),
        ("--threshold 0.9 --ngram 4", Some(9), 4, 8),
        ("--any-ngram --ngram 3", None, 3, 8),
    ];
    for seed in 0..12 {
        let (items, documents) = texts(&mut Random(seed));
        for (at, (flags, tenths, longest, least)) in rules.iter().enumerate() {
            let dir = Dir::new();
            let file = |texts: &[String]| -> String {
                texts.iter().enumerate().map(|(at, text)| line(&format!("{at:03}"), text)).collect()
            };
            dir.write("in.jsonl", file(&documents));
            dir.write("items.jsonl", file(&items));
            dir.alike(&format!("decontaminate in.jsonl --benchmarks items.jsonl --out out {flags}"), None)
                .ok();
            let mut want: BTreeSet<Row> = BTreeSet::new();
            for (item, text) in items.iter().enumerate() {
                let Some(plain) = Plain::new(text, *tenths, *longest, *least) else { continue };
                for (document, text) in documents.iter().enumerate() {
                    let places = places(text);
                    let stretches = plain.find(&canonical_tokens(text, Tokens::Words));
                    // The first of those with most of it is told.
                    let best = stretches.iter().rev().max_by_key(|(_, _, found)| *found);
                    if let Some((first, last, found)) = best.copied() {
                        want.insert((
                            format!("{document:03}"),
                            format!("{item:03}"),
                            places[first].0,
                            places[last + plain.ngram - 1].1,
                            found as u64,
                            plain.grams.len() as u64,
                            plain.ngram as u64,
                            stretches.len() as u64,
                        ));
                    }
                }
            }
            found_some[at] += want.len();
            let got: BTreeSet<Row> = rows(&dir, "out").iter().map(told).collect();
            assert_eq!(got, want, "seed {seed} {flags}");
            let dropped: BTreeSet<&str> = want.iter().map(|row| &*row.0).collect();
            let kept = jsonl(&fs::read(dir.join("out/kept/in.jsonl")).unwrap());
            let kept: BTreeSet<&str> = kept.iter().map(|row| row["id"].as_str().unwrap()).collect();
            assert!(kept.is_disjoint(&dropped) && kept.len() + dropped.len() == documents.len());
        }
    }
    assert!(found_some.iter().all(|found| *found > 20), "{found_some:?}");
}

/// Questions, each in a document of its own, changed as far as may be.
fn planted(dir: &Dir) -> usize {
    let mut random = Random(3);
    let (mut items, mut corpus) = (String::new(), String::new());
    let count = 60;
    for at in 0..count {
        let words: Vec<String> = (0..8 + at % 40).map(|_| format!("v{}", random.below(3000))).collect();
        items += &format!("{}\n", json!({"id": format!("q{at}"), "question": words.join(" ")}));
        let mut changed = words.clone();
        changed[random.below(words.len())] = "other".to_owned();
        let text = changed.join(["; ", " \u{2014} ", "\n", "? "][at % 4]).to_uppercase();
        let around: Vec<String> = (0..200).map(|_| format!("v{}", random.below(3000))).collect();
        corpus += &line(
            &format!("p{at}"),
            &format!("{} \"{text}\" {}", around[..90].join(" "), around[90..].join(" ")),
        );
        corpus += &line(&format!("c{at}"), &around.join(" "));
    }
    dir.write("items.jsonl", items);
    dir.write("in.jsonl", corpus);
    count
}

#[test]
fn planted_items_are_found_and_nothing_else() {
    let dir = Dir::new();
    let count = planted(&dir);
    let ran = dir.alike(
        "decontaminate in.jsonl --benchmarks qa=items.jsonl --benchmark-fields question --out o --json",
        None,
    );
    let report: Value = serde_json::from_str(&ran.ok().stdout).unwrap();
    let rows = rows(&dir, "o");
    let found: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row["id"].as_str().unwrap(), row["item"].as_str().unwrap())).collect();
    let names: Vec<(String, String)> = (0..count).map(|at| (format!("p{at}"), format!("q{at}"))).collect();
    assert_eq!(found, names.iter().map(|(id, item)| (&**id, &**item)).collect());
    for row in &rows {
        assert_eq!((&row["benchmark"], &row["field"]), (&json!("qa"), &json!("question")));
        assert!(row["passage"].as_str().unwrap().contains("OTHER") || row["share"] != json!(1.0), "{row}");
        assert_eq!(row["item_file"], "items.jsonl");
        let number = |key: &str, before: usize| row[key].as_str().unwrap()[before..].parse::<u64>().unwrap();
        assert_eq!(row["item_line"].as_u64().unwrap(), number("item", 1) + 1);
        assert_eq!(row["line"].as_u64().unwrap(), 2 * number("id", 1) + 1);
    }
    let of_qa =
        json!({"benchmark": "qa", "items": count, "too_short": 0, "found": count, "documents": count});
    assert_eq!(report["benchmarks"], json!([of_qa]));
    assert_eq!((&report["contaminated"], &report["kept"]), (&json!(count), &json!(count)));
}

#[test]
fn the_same_in_every_shape_and_order() {
    let dir = Dir::new();
    planted(&dir);
    let corpus = fs::read_to_string(dir.join("in.jsonl")).unwrap();
    let lines: Vec<&str> = corpus.split_inclusive('\n').collect();
    // Several units, and files that one worker reads whole.
    dir.write("many/a.jsonl", corpus.repeat(40));
    dir.write("many/b.jsonl.gz", gzip(lines[..50].concat().as_bytes(), 4000));
    dir.write("many/c.jsonl.zst", zst(lines[50..].concat().as_bytes(), 4000));
    dir.write("many/d.jsonl", "{\"id\": 1}\nnot JSON\n".repeat(2) + &lines[7..9].concat());
    let shapes: [Shape; 4] = [(1, 1), (1, 3), (2, 1), (3, 2)];
    for flags in ["--write-removed", "--to jsonl.gz", "--threshold 0.4"] {
        let mut first = None;
        for shape in shapes {
            let command =
                "decontaminate many --benchmarks items.jsonl --benchmark-fields question --out o -q";
            done(&dir, shape, &format!("{command} {flags}"));
            let got = written(&dir.join("o"));
            fs::remove_dir_all(dir.join("o")).unwrap();
            let want = first.get_or_insert_with(|| got.clone());
            assert_same(want, &got, &format!("{flags} {shape:?}"));
        }
    }
    // In another order the same is said of each document.
    let found = |out: &str| -> BTreeSet<String> {
        let bare = |mut row: Value| {
            let object = row.as_object_mut().unwrap();
            ["file", "line"].iter().for_each(|key| drop(object.remove(*key)));
            row.to_string()
        };
        rows(&dir, out).into_iter().map(bare).collect()
    };
    let reversed: String = lines.iter().rev().copied().collect();
    dir.write("reversed.jsonl", reversed);
    for (input, out) in [("in.jsonl", "x"), ("reversed.jsonl", "y")] {
        dir.alike(
            &format!(
                "decontaminate {input} --benchmarks items.jsonl --benchmark-fields question --out {out}"
            ),
            None,
        )
        .ok();
    }
    assert_eq!(found("x"), found("y"));
    assert!(!found("x").is_empty());
}

/// A text of the corpus with an item in it.
fn with(item: &str) -> String {
    format!("{} {item} {}", words(0, 30), words(50, 30))
}

#[test]
fn what_is_written() {
    let dir = Dir::new();
    let item = words(1000, 12);
    let corpus = [("a", words(0, 20)), ("b", with(&item)), ("c", words(200, 20)), ("d", item.clone())];
    let csv: String = corpus.iter().map(|(id, text)| format!("{id},\"{text}\"\n")).collect();
    dir.write("in/t.csv", format!("id,text\n{csv}"));
    dir.write(
        "in/j.jsonl.gz",
        gzip(corpus.iter().map(|(id, text)| line(id, text)).collect::<String>().as_bytes(), 99),
    );
    dir.write("in/whole.txt", with(&item));
    dir.write("in/other.txt", words(0, 9));
    dir.write("item.txt", &item);
    let command = "decontaminate in --benchmarks item.txt";
    let ran = dir.alike(&format!("{command} --dry-run --json -q"), None).ok();
    assert_eq!(dir.names(), ["in", "item.txt"]);
    let dry: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ran = dir.alike(&format!("{command} --out o --write-removed --json"), None).ok();
    let wet: Value = serde_json::from_str(&ran.stdout).unwrap();
    for report in [&dry, &wet] {
        assert_eq!((&report["contaminated"], &report["documents"]), (&json!(5), &json!(10)));
        assert_eq!(report["benchmarks"][0]["documents"], 5);
    }
    let list: Value = serde_json::from_slice(&fs::read(dir.join("o/benchmarks.json")).unwrap()).unwrap();
    assert_eq!((&list["benchmarks"], &list["rule"]["threshold"]), (&wet["benchmarks"], &json!(0.7)));
    let files: BTreeMap<String, Vec<u8>> = written(&dir.join("o"));
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let want = [
        "benchmarks.json",
        "contaminated.jsonl",
        "kept/j.jsonl.gz",
        "kept/other.txt",
        "kept/t.csv",
        "rejected.jsonl",
        "removed/j.jsonl.gz",
        "removed/t.csv",
        "removed/whole.txt",
    ];
    assert_eq!(names, want);
    let text = |name: &str| String::from_utf8(unpack(&files[name])).unwrap();
    let ids =
        |name: &str| jsonl(text(name).as_bytes()).iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
    assert_eq!(
        (ids("kept/j.jsonl.gz"), ids("removed/j.jsonl.gz")),
        (vec![json!("a"), json!("c")], vec![json!("b"), json!("d")])
    );
    let starts = |name: &str| text(name).lines().map(|row| row[..2].to_owned()).collect::<Vec<_>>();
    assert_eq!(
        (starts("kept/t.csv"), starts("removed/t.csv")),
        (["id", "a,", "c,"].map(String::from).to_vec(), ["id", "b,", "d,"].map(String::from).to_vec())
    );
    // A result is no input of the next run.
    let again = dir.alike("decontaminate . --benchmarks item.txt --dry-run --json", None);
    again.code(3).says("item.txt").says("too");
    fs::rename(dir.join("item.txt"), dir.join("o/item.txt")).unwrap();
    let again = dir.alike("decontaminate . --benchmarks o/item.txt --dry-run --json", None).ok();
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap()["documents"], 10);
}

#[test]
fn items_of_every_kind() {
    let dir = Dir::new();
    let (question, choices, answer) = (words(1000, 10), [words(2000, 6), words(3000, 6)], words(4000, 9));
    let items = [
        json!({"id": 7, "question": question, "choices": {"text": choices}, "answer": answer}),
        json!({"question": "Who?", "choices": {"text": ["a", "b"]}, "answer": answer}),
        json!({"question": "Why?", "answer": null}),
    ];
    dir.write("items.jsonl", items.map(|item| format!("{item}\n")).concat());
    dir.write("items.csv", format!("n,question,answer\n1,{question},{answer}\n2,Who?,{answer}\n"));
    let parts = [&question, &choices[0], &answer, &format!("{question} {} {}", choices[0], choices[1])];
    let corpus: String =
        parts.iter().enumerate().map(|(at, part)| line(&at.to_string(), &with(part))).collect();
    dir.write("in.jsonl", corpus);
    let run = |line: &str| -> (Vec<[String; 3]>, Value) {
        let line = format!("decontaminate in.jsonl --out o --json {line}");
        let report = serde_json::from_str(&dir.alike(&line, None).ok().stdout).unwrap();
        let row = |row: &Value| ["id", "item", "field"].map(|key| row[key].as_str().unwrap().to_owned());
        let found = rows(&dir, "o").iter().map(row).collect();
        fs::remove_dir_all(dir.join("o")).unwrap();
        (found, report)
    };
    let row = |id: &str, item: &str, field: &str| [id, item, field].map(String::from);
    let (found, report) = run("--benchmarks items.jsonl --benchmark-fields question,choices.text,answer");
    let want = [
        row("0", "7", "question"),
        row("2", "7", "answer"),
        row("3", "7", "question"),
        row("3", "7", "choices.text"),
    ];
    assert_eq!(found, want);
    // The answer is that of two items; the third has no text that is long enough.
    assert_eq!(
        report["benchmarks"],
        json!([{"benchmark": "items.jsonl", "items": 3, "too_short": 1, "found": 2, "documents": 3}])
    );
    let (found, _) = run("--benchmarks items.jsonl --benchmark-fields question,choices.text --join-fields");
    assert_eq!(found, [row("3", "7", "question+choices.text")]);
    let (found, report) =
        run("--benchmarks items.csv --benchmark-fields question,answer --benchmark-id-field n");
    assert_eq!(found, [row("0", "1", "question"), row("2", "1", "answer"), row("3", "1", "question")]);
    assert_eq!(report["benchmarks"][0]["found"], 2);
    // Two benchmarks with one text are both told.
    let (found, report) =
        run("--benchmarks a=items.csv --benchmarks b=items.jsonl --benchmark-fields question,answer");
    assert_eq!(found.len(), 6);
    let names: Vec<&Value> =
        report["benchmarks"].as_array().unwrap().iter().map(|row| &row["benchmark"]).collect();
    assert_eq!(names, ["a", "b"]);
    let (found, _) = run("--benchmarks items.jsonl --benchmark-fields question --preset open-r1");
    assert_eq!(found, [row("0", "7", "question"), row("3", "7", "question")]);
    let (found, _) =
        run("--benchmarks items.jsonl --benchmark-fields question,choices.text --preset datatrove");
    assert_eq!(found, [row("3", "7", "question+choices.text")]);
}

#[test]
fn what_cannot_be_a_benchmark_is_said() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(0, 20)));
    dir.write("empty.jsonl", "");
    dir.write("blank.jsonl", "\n\n");
    dir.write("short.jsonl", line("a", "Who was it?"));
    dir.write("other.jsonl", format!("{}\n", json!({"id": 1, "prompt": words(0, 20), "canonical": "x"})));
    dir.write("some.jsonl", line("a", &words(100, 20)) + "nonsense\n");
    dir.write("t.csv", "prompt,answer\nx,y\n");
    let packed = gzip(line("a", &words(100, 4000)).as_bytes(), 1 << 20);
    dir.write("cut.jsonl.gz", &packed[..packed.len() / 2]);
    dir.alike("load c in.jsonl", None).ok();
    let says = |line: &str, code: i32, parts: &[&str]| {
        let ran = dir.alike(&format!("decontaminate in.jsonl --out o {line}"), None).code(code);
        parts.iter().for_each(|part| assert!(ran.stderr.contains(part), "{line}: {part}\n{}", ran.stderr));
        assert!(!dir.join("o").exists(), "{line}");
    };
    says("", 2, &["--benchmarks"]);
    says("--benchmarks none.jsonl", 3, &["none.jsonl", "no such file"]);
    says("--benchmarks in.jsonl", 3, &["in.jsonl", "in itself"]);
    says("--benchmarks other.jsonl --benchmarks x=other.jsonl", 3, &["other.jsonl", "two --benchmarks"]);
    says("--benchmarks blank.jsonl", 2, &["blank.jsonl", "no items"]);
    says("--benchmarks empty.jsonl", 2, &["empty.jsonl", "no items"]);
    says("--benchmarks short.jsonl", 2, &["8 words", "--min-words"]);
    says(
        "--benchmarks other.jsonl",
        2,
        &["no item has a text in text", "canonical, id, prompt", "--benchmark-fields"],
    );
    says("--benchmarks t.csv", 2, &["no item has a text in text", "prompt, answer"]);
    says("--benchmarks other.jsonl --benchmark-fields prompt,answr", 2, &["answr", "prompt"]);
    says("--benchmarks other.jsonl --benchmark-fields prompt,prompt", 2, &["twice"]);
    says("--benchmarks other.jsonl --benchmark-fields prompt.", 2, &["--benchmark-fields", "single dots"]);
    says("--benchmarks some.jsonl", 3, &["1 of 2 records", "some.jsonl, line 2", "not JSON"]);
    says("--benchmarks cut.jsonl.gz", 3, &["cut.jsonl.gz", "cannot be read to its end"]);
    says("--benchmarks c", 3, &["is a collection"]);
    says("--benchmarks -", 2, &["read from files"]);
    says("--benchmarks other.jsonl --threshold 1.5", 2, &["--threshold"]);
    says("--benchmarks other.jsonl --ngram 1", 2, &["--ngram 1"]);
    says("--benchmarks other.jsonl --any-ngram --threshold 0.5", 2, &["--threshold"]);
    says("--benchmarks other.jsonl --preset open-r1 --any-ngram", 2, &["--any-ngram"]);
    says("--benchmarks short.jsonl --text-field body --min-words 2", 3, &["body"]);
    // The reason is the length of n-grams, and the record that is told has the fields that are told.
    dir.write("twelve.jsonl", line("a", &words(0, 12)));
    says("--benchmarks twelve.jsonl --any-ngram", 2, &["13 words or more", "lower --ngram"]);
    let nested = json!({"n": 1, "question": {"stem": "Who?", "choices": ["a"]}});
    dir.write("nested.jsonl", format!("{}\n{nested}\n", json!({"id": 1, "question": words(0, 20)})));
    says(
        "--benchmarks nested.jsonl --benchmark-fields question",
        3,
        &[
            "line 2: no text in question; question is an object; there are: n, question.choices, question.stem",
        ],
    );
    dir.write("nested.jsonl", format!("{nested}\n"));
    says(
        "--benchmarks nested.jsonl --benchmark-fields question",
        2,
        &["question is an object; there are: n, question.choices, question.stem; name them with"],
    );
    // Of several fields the one without a text is told with the paths that there are.
    let choices = json!({"id": 1, "question": words(0, 20), "choices": {"text": ["a"], "label": ["A"]}});
    dir.write("nested.jsonl", format!("{choices}\n"));
    says(
        "--benchmarks nested.jsonl --benchmark-fields question,choices",
        2,
        &["--benchmark-fields choices: no item", "choices.label, choices.text"],
    );
    // A corpus that is a copy of a benchmark.
    let copy = std::fs::read(dir.join("nested.jsonl")).unwrap();
    dir.write("copy.jsonl", String::from_utf8(copy).unwrap());
    dir.alike("decontaminate copy.jsonl --text-field question --benchmarks nested.jsonl --benchmark-fields question --dry-run", None)
        .ok()
        .says("copy.jsonl holds the same bytes as nested.jsonl, which is a benchmark: what is looked for stands in it");
}

#[test]
fn passages_are_cut_or_marked() {
    let dir = Dir::new();
    let item = words(1000, 12);
    let rest = ("Before: ", " :behind.");
    let whole = format!("{}{item}{}", rest.0, rest.1);
    let twice = format!("{item}! and {} {}", words(50, 30), item.to_uppercase());
    let corpus = [("a", words(0, 20)), ("b", whole.clone()), ("c", item.clone()), ("d", twice.clone())];
    let record =
        |id: &str, text: &str| format!("{{\"n\": 1.50, \"text\": {}, \"id\": \"{id}\"}}", json!(text));
    let lines: String = corpus.iter().map(|(id, text)| record(id, text) + "\n").collect();
    dir.write("in/a.jsonl", &lines);
    dir.write("in/b.jsonl.gz", gzip(format!("{lines}nonsense\n").as_bytes(), 300));
    dir.write("in/whole.txt", &whole);
    // A second item that has half of the first one in it.
    let other = format!("{} {}", words(1006, 6), words(2000, 4));
    dir.write("items.jsonl", line("x", &item) + &line("y", &other));
    let command = "decontaminate in --benchmarks items.jsonl --out o";
    // Nothing is left of the third one.
    let cut =
        [("a", words(0, 20)), ("b", "Before:  :behind.".into()), ("d", format!("! and {} ", words(50, 30)))];
    let cut = cut.map(|(id, text): (&str, String)| record(id, &text));
    for shape in [(1, 2), (2, 1)] {
        done(&dir, shape, &format!("{command} --action cut"));
        let files = written(&dir.join("o"));
        for name in ["kept/a.jsonl", "kept/b.jsonl.gz"] {
            let got = String::from_utf8(unpack(&files[name])).unwrap();
            assert_eq!(got.lines().collect::<Vec<_>>(), cut, "{name}");
        }
        assert_eq!(files["kept/whole.txt"], b"Before:  :behind.");
        assert_eq!(files.len(), 6, "{:?}", files.keys());
        fs::remove_dir_all(dir.join("o")).unwrap();
    }
    // What was cut is not found again.
    dir.alike(&format!("{command} --action cut"), None).ok();
    let report: Value = serde_json::from_slice(&fs::read(dir.join("o/benchmarks.json")).unwrap()).unwrap();
    let counted = ["action", "documents", "contaminated", "emptied", "kept"].map(|key| report[key].clone());
    assert_eq!(counted, [json!("cut"), json!(9), json!(7), json!(2), json!(7)]);
    fs::rename(dir.join("o/kept"), dir.join("clean")).unwrap();
    let ran = dir.alike("decontaminate clean --benchmarks items.jsonl --dry-run --json", None).ok();
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["contaminated"], 0);
    fs::remove_dir_all(dir.join("o")).unwrap();
    dir.alike(&format!("{command} --action mark --to jsonl"), None).ok();
    let marked = jsonl(&fs::read(dir.join("o/annotated/a.jsonl")).unwrap());
    let length = item.len();
    let stretches = [None, Some(json!([[8, 8 + length]])), Some(json!([[0, length]])), None];
    for ((row, stretches), (id, text)) in marked.iter().zip(&stretches).zip(&corpus) {
        assert_eq!((row["id"].as_str().unwrap(), row["text"].as_str().unwrap()), (*id, &**text));
        if let Some(stretches) = stretches {
            assert_eq!(&row["alike"]["stretches"], stretches, "{id}");
        }
    }
    assert!(marked[0].get("alike").is_none());
    assert_eq!(marked[3]["alike"]["stretches"].as_array().unwrap().len(), 2);
    let report: Value = serde_json::from_slice(&fs::read(dir.join("o/benchmarks.json")).unwrap()).unwrap();
    assert_eq!((&report["action"], &report["kept"]), (&json!("mark"), &report["documents"]));
    dir.write("in/t.csv", format!("id,text\n1,{item}\n"));
    for action in ["cut", "mark"] {
        dir.alike(&format!("decontaminate in --benchmarks items.jsonl --out p --action {action}"), None)
            .code(3)
            .says("t.csv")
            .says("--to jsonl");
        dir.alike(
            &format!("decontaminate in --benchmarks items.jsonl --out p --action {action} --write-removed"),
            None,
        )
        .code(2)
        .says("--write-removed");
    }
    assert!(!dir.join("p").exists());
}

/// Items that begin alike, and a document that is nothing but that beginning: each stands in it hundreds of times.
#[test]
fn a_document_lists_the_items_of_which_most_stands_in_it() {
    let dir = Dir::new();
    let item = |at: usize| format!("{}case {at} end", "0 ".repeat(12));
    dir.write("items.jsonl", (0..300).map(|at| line(&at.to_string(), &item(at))).collect::<String>());
    dir.write("in.jsonl", line("a", &("0 ".repeat(3004) + &item(7))) + &line("b", &words(0, 20)));
    let command = "decontaminate in.jsonl --benchmarks items.jsonl --preset open-r1 --json";
    let report = |flags: &str| -> Value {
        serde_json::from_str(&dir.alike(&format!("{command} {flags}"), None).ok().stdout).unwrap()
    };
    let dry = report("--dry-run --action cut");
    let wet = report("--out o --action cut");
    for report in [&dry, &wet] {
        let counted =
            ["contaminated", "unlisted", "emptied", "kept"].map(|key| report[key].as_u64().unwrap());
        assert_eq!(counted, [1, 200, 1, 1]);
        assert_eq!(report["benchmarks"][0]["found"], 300);
        assert!(report["passages"].as_u64().unwrap() > 300 * 3000 / 8);
    }
    assert_eq!(fs::read_to_string(dir.join("o/kept/in.jsonl")).unwrap(), line("b", &words(0, 20)));
    let rows = rows(&dir, "o");
    assert_eq!(rows.len(), 100);
    let shares: Vec<(f64, &str)> =
        rows.iter().map(|row| (row["share"].as_f64().unwrap(), row["item"].as_str().unwrap())).collect();
    assert_eq!(shares.iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, item)| *item), Some("7"));
    assert!(rows.iter().all(|row| row["unlisted"] == 200 && row["passages"].as_u64().unwrap() > 370));
    assert!(rows.iter().all(|row| row["passage"].as_str().unwrap().len() <= 400));
}

/// The last lines of a report: a benchmark of which nothing could be found, with the flag that decides it.
#[test]
fn a_benchmark_of_short_texts_is_warned_of() {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(0, 40)));
    dir.write("short.jsonl", (0..3).map(|at| line(&at.to_string(), &words(at, 12))).collect::<String>());
    dir.write("long.jsonl", line("b", &words(0, 13)) + &line("c", &words(0, 5)));
    let command = "decontaminate in.jsonl --benchmarks short.jsonl --benchmarks long.jsonl --dry-run";
    let warned = |flags: &str| -> Vec<String> {
        let ran = dir.alike(&format!("{command} {flags}"), None).ok();
        ran.stderr.lines().filter(|line| line.starts_with("warning")).map(str::to_owned).collect()
    };
    let short = |least: usize, flag: &str| {
        format!(
            "warning: short.jsonl: no item has a text of {least} words or more, so nothing is looked for; name other fields, join them \
             with --join-fields, or lower {flag}"
        )
    };
    assert_eq!(warned("--any-ngram"), [short(13, "--ngram")]);
    assert_eq!(warned("--any-ngram --ngram 8 --min-words 13"), [short(13, "--min-words")]);
    assert_eq!(warned("--min-words 13"), [short(13, "--min-words")]);
    assert_eq!(warned("--any-ngram --ngram 12"), Vec::<String>::new());
    let contaminated = |flags: &str| -> Value {
        let ran = dir.alike(&format!("{command} {flags} --json"), None).ok();
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["benchmarks"].clone()
    };
    let rows = contaminated("--any-ngram");
    assert_eq!(
        (&rows[0]["too_short"], &rows[1]["too_short"], &rows[1]["found"]),
        (&json!(3), &json!(1), &json!(1))
    );
}

#[test]
fn what_the_memory_has_no_room_for_is_said_before_the_work() {
    let dir = Dir::new();
    let mut random = Random(5);
    let mut some =
        |count: usize| -> String { (0..count).map(|_| format!("w{} ", random.below(1 << 30))).collect() };
    let items: String = (0..2000).map(|at| line(&at.to_string(), &some(300))).collect();
    dir.write("items.jsonl", &items);
    dir.write("few.jsonl", items.lines().next().unwrap());
    dir.write("in.jsonl", line("a", &words(0, 20)));
    let command = "decontaminate in.jsonl --out o -w 2";
    dir.alike(&format!("{command} --benchmarks items.jsonl --memory 46M"), None)
        .code(3)
        .says("--memory")
        .says("some of the benchmarks");
    dir.alike(&format!("{command} --benchmarks items.jsonl --memory 120M"), None).ok();
    fs::remove_dir_all(dir.join("o")).unwrap();
    dir.write("in.jsonl", line("a", &words(0, 20)) + &line("b", &some(1_400_000)));
    dir.alike(&format!("{command} --benchmarks few.jsonl --memory 60M"), None)
        .code(3)
        .says("in.jsonl")
        .says("line 2: has 15")
        .says("--memory");
    dir.alike(&format!("{command} --benchmarks few.jsonl --memory 2G"), None).ok();
}

#[test]
fn marks_of_an_earlier_run_go() {
    let dir = Dir::new();
    let item = words(1000, 12);
    let lines = [
        format!("{{ \"text\": {},  \"alike\" : {{\"stretches\":[[1,2]]}} , \"n\": 1.50 }}", json!(item)),
        format!(
            "{{ \"text\": {},  \"alike\" : {{\"stretches\":[[1,2]]}} , \"n\": 1.50 }}",
            json!(words(0, 9))
        ),
        format!("{{\"n\" : 1.50, \"text\": {} }}", json!("not alike")),
    ];
    dir.write("in.jsonl", lines.join("\r\n") + "\r\n");
    dir.write("items.jsonl", line("x", &item));
    dir.write("in.csv", format!("text,alike,n\n{},old,1\n{},old,2\n", item, words(0, 9)));
    for command in ["decontaminate in.jsonl --benchmarks items.jsonl", "passages in.jsonl --unit tokens:500"]
    {
        dir.alike(&format!("{command} --action mark --out o"), None).ok();
        let text = fs::read_to_string(dir.join("o/annotated/in.jsonl")).unwrap();
        let marked: Vec<&str> = text.split_inclusive('\n').collect();
        assert_eq!(
            marked[1],
            lines[1].replace(",  \"alike\" : {\"stretches\":[[1,2]]}", "") + "\r\n",
            "{command}"
        );
        assert_eq!(marked[2], lines[2].clone() + "\r\n", "{command}");
        let first = if command.starts_with("passages") {
            lines[0].replace(",  \"alike\" : {\"stretches\":[[1,2]]}", "")
        } else {
            let end = format!(",\"alike\":{{\"stretches\":[[0,{}]]}}}}", item.len());
            lines[0].replace(",  \"alike\" : {\"stretches\":[[1,2]]}", "").replace(" }", &end)
        };
        assert_eq!(marked[0], first + "\r\n", "{command}");
        fs::remove_dir_all(dir.join("o")).unwrap();
        let command = command.replace("in.jsonl", "in.csv");
        dir.alike(&format!("{command} --action mark --to jsonl --out o"), None).ok();
        let rows = jsonl(&fs::read(dir.join("o/annotated/in.jsonl")).unwrap());
        assert!(rows.iter().all(|row| row["alike"] != "old") && rows[1].get("alike").is_none(), "{rows:?}");
        fs::remove_dir_all(dir.join("o")).unwrap();
    }
}
