//! `alike decontaminate` where each n-gram counts by itself: those that many documents have are left out, and what stands around
//! the others goes, as for GPT-3. Held against marks of every character.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::support::job::{Shape, done};
use crate::support::output::jsonl;
use crate::support::outputs::{assert_same, written};
use crate::support::program::Dir;
use crate::support::texts::{Random, line, words};

/// The rule, as plainly as can be, for texts of short ASCII words with one blank between two.
struct Plain {
    ngram: usize,
    max_documents: usize,
    margin: usize,
    min_piece: usize,
    max_pieces: usize,
}

const GPT_3: Plain = Plain { ngram: 13, max_documents: 10, margin: 200, min_piece: 200, max_pieces: 10 };

/// What is left of each document, and how many n-grams are common.
type Left = (Vec<String>, usize);

impl Plain {
    fn left(&self, items: &[String], documents: &[String]) -> Left {
        let grams = |text: &str| -> Vec<String> {
            let words: Vec<String> = text.split(' ').map(str::to_lowercase).collect();
            words.windows(self.ngram).map(|gram| gram.join(" ")).collect()
        };
        let of_items: BTreeSet<String> = items.iter().flat_map(|item| grams(item)).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for document in documents {
            let here: BTreeSet<String> = grams(document).into_iter().collect();
            here.into_iter().for_each(|gram| *counts.entry(gram).or_default() += 1);
        }
        let is_common = |gram: &String| counts.get(gram).is_some_and(|count| *count > self.max_documents);
        let wanted: BTreeSet<&String> = of_items.iter().filter(|gram| !is_common(gram)).collect();
        let left = documents.iter().map(|document| {
            let here: Vec<bool> = grams(document).iter().map(|gram| wanted.contains(gram)).collect();
            self.cut(document, &here)
        });
        (left.collect(), of_items.len() - wanted.len())
    }

    /// What is left of a text where n-grams begin at these words.
    fn cut(&self, text: &str, here: &[bool]) -> String {
        if !here.contains(&true) {
            return text.to_owned();
        }
        let starts: Vec<usize> =
            (0..text.len()).filter(|at| *at == 0 || text.as_bytes()[at - 1] == b' ').collect();
        let end = |word: usize| starts.get(word + 1).map_or(text.len(), |next| next - 1);
        let is_word = |at: usize| text.as_bytes()[at] != b' ';
        let mut goes = vec![false; text.len()];
        for first in (0..here.len()).filter(|at| here[*at]) {
            goes[starts[first]..end(first + self.ngram - 1)].fill(true);
        }
        let runs = goes.clone();
        for at in (0..text.len()).filter(|at| runs[*at]) {
            // Margins begin where runs end.
            let (first, last) = (at == 0 || !runs[at - 1], at + 1 == text.len() || !runs[at + 1]);
            if first {
                let mut from = at.saturating_sub(self.margin);
                while from > 0 && is_word(from) && is_word(from - 1) {
                    from -= 1;
                }
                goes[from..at].fill(true);
            }
            if last {
                let mut to = (at + 1 + self.margin).min(text.len());
                while to < text.len() && is_word(to) && is_word(to - 1) {
                    to += 1;
                }
                goes[at..to].fill(true);
            }
        }
        let mut pieces = vec![String::new()];
        for (at, char) in text.char_indices() {
            match goes[at] {
                true => pieces.push(String::new()),
                false => pieces.iter_mut().last().unwrap().push(char),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        if pieces.len() > self.max_pieces {
            return String::new();
        }
        pieces.retain(|piece| piece.len() >= self.min_piece);
        // Two words stay two.
        let joined = |left: String, piece: String| match left.is_empty()
            || left.ends_with(' ')
            || piece.starts_with(' ')
        {
            true => left + &piece,
            false => left + " " + &piece,
        };
        pieces.into_iter().fold(String::new(), joined)
    }
}

/// Items, and documents in which some stand, each as often as it happens.
fn texts(
    random: &mut Random,
    items: usize,
    (least, more): (usize, usize),
    vocabulary: usize,
) -> [Vec<String>; 2] {
    let some = |random: &mut Random, count: usize| -> Vec<String> {
        (0..count).map(|_| format!("w{}", random.below(vocabulary))).collect()
    };
    let items: Vec<String> = (0..items)
        .map(|_| {
            let count = least + random.below(more);
            some(random, count).join(" ")
        })
        .collect();
    let mut documents = Vec::new();
    for _ in 0..30 {
        let mut all = Vec::new();
        for _ in 0..random.below(14) {
            let count = random.below(12 * least);
            all.extend(some(random, count));
            // The first ones stand in most documents.
            let bound = random.below(items.len()) + 1;
            let item = &items[random.below(bound)];
            let item = if random.below(2) == 0 { item.to_uppercase() } else { item.clone() };
            let kept = random.below(2 * item.len());
            all.extend(item.split(' ').take(kept.max(1)).map(str::to_owned));
        }
        let count = 1 + random.below(12 * least);
        all.extend(some(random, count));
        documents.push(all.join(" "));
    }
    [items, documents]
}

fn write(dir: &Dir, [items, documents]: &[Vec<String>; 2]) {
    let file = |texts: &[String]| -> String {
        texts.iter().enumerate().map(|(at, text)| line(&format!("{at:03}"), text)).collect()
    };
    dir.write("in/a.jsonl", file(documents));
    dir.write("items.jsonl", file(items));
}

/// Texts that are kept, by the numbers of their documents.
fn kept(dir: &Dir) -> BTreeMap<usize, String> {
    let rows = jsonl(&fs::read(dir.join("o/kept/a.jsonl")).unwrap());
    let number = |row: &Value| row["id"].as_str().unwrap().parse().unwrap();
    rows.iter().map(|row| (number(row), row["text"].as_str().unwrap().to_owned())).collect()
}

fn report(dir: &Dir) -> Value {
    serde_json::from_slice(&fs::read(dir.join("o/benchmarks.json")).unwrap()).unwrap()
}

#[test]
fn what_stands_around_goes_as_marks_of_characters_say() {
    let short = Plain { ngram: 3, max_documents: 8, margin: 7, min_piece: 12, max_pieces: 2 };
    let of_short =
        "--any-ngram --ngram 3 --max-documents 8 --margin 7 --min-piece 12 --max-pieces 2 --action cut";
    let rules = [(&GPT_3, "--preset gpt-3", 12, (13, 20), 3000), (&short, of_short, 12, (8, 8), 100)];
    let mut seen = [[0; 4]; 2];
    for seed in 0..10 {
        for (at, (rule, flags, items, lengths, vocabulary)) in rules.iter().enumerate() {
            let (dir, texts) = (Dir::new(), texts(&mut Random(seed), *items, *lengths, *vocabulary));
            write(&dir, &texts);
            let (left, common) = rule.left(&texts[0], &texts[1]);
            dir.alike(&format!("decontaminate in --benchmarks items.jsonl --out o {flags}"), None).ok();
            let is_left = |(_, text): &(usize, &String)| !text.trim().is_empty();
            let want: BTreeMap<usize, String> =
                left.iter().enumerate().filter(is_left).map(|(at, text)| (at, text.clone())).collect();
            let got = kept(&dir);
            for number in 0..left.len() {
                assert_eq!(got.get(&number), want.get(&number), "seed {seed} {flags}, document {number}");
            }
            assert_eq!(report(&dir)["common_ngrams"], common, "seed {seed} {flags}");
            let cut = want.iter().filter(|(at, text)| texts[1][**at] != **text).count();
            let figures = [common, cut, want.len() - cut, left.len() - want.len()];
            seen[at].iter_mut().zip(figures).for_each(|(sum, more)| *sum += more);
        }
    }
    // Common n-grams; texts that were cut, left as they are, and gone, for which random ones hardly ever fall into enough pieces for
    // GPT-3.
    assert!(seen[0][..3].iter().chain(&seen[1]).all(|count| *count > 10), "{seen:?}");
}

#[test]
fn the_same_in_every_shape() {
    let dir = Dir::new();
    let [items, documents] = texts(&mut Random(77), 12, (13, 20), 3000);
    write(&dir, &[items, documents.clone()]);
    // Many units, so that no process and no worker alone sees that an n-gram is common.
    let other = |at: usize| words(at * 400 + 50_000, 400);
    let many: String = (0..3000).map(|at| line(&format!("m{at}"), &other(at))).collect();
    dir.write("in/b.jsonl", many);
    let shapes: [Shape; 4] = [(1, 1), (1, 3), (2, 1), (3, 2)];
    let mut first = None;
    for shape in shapes {
        done(&dir, shape, "decontaminate in --benchmarks items.jsonl --preset gpt-3 --out o -q");
        let got = written(&dir.join("o"));
        fs::remove_dir_all(dir.join("o")).unwrap();
        let want = first.get_or_insert_with(|| got.clone());
        assert_same(want, &got, &format!("{shape:?}"));
    }
}

/// Ten documents may have the words of an item, and eleven may not; short pieces go; a text in more than ten pieces goes.
#[test]
fn the_bounds_are_those_of_the_paper() {
    let (ten, eleven, often) = (words(1000, 13), words(2000, 13), words(3000, 13));
    let around =
        |at: usize, item: &str| format!("{} {item} {}", words(at * 500, 100), words(at * 500 + 200, 100));
    let mut corpus = String::new();
    for at in 0..10 {
        corpus += &line(&format!("ten{at}"), &around(at + 10, &ten));
    }
    for at in 0..11 {
        corpus += &line(&format!("eleven{at}"), &around(at + 30, &eleven));
    }
    // Behind the margin are fewer than 200 characters.
    corpus += &line("short", &format!("{} {often} {}", words(60_000, 100), words(70_000, 50)));
    let pieces = |count: usize| -> String {
        let each = (0..count).map(|at| words(80_000 + at * 300, 100));
        each.collect::<Vec<_>>().join(&format!(" {often} "))
    };
    corpus += &line("pieces10", &pieces(10));
    corpus += &line("pieces11", &pieces(11));
    let dir = Dir::new();
    dir.write("in.jsonl", corpus);
    dir.write("items.jsonl", line("a", &ten) + &line("b", &eleven) + &line("c", &often));
    let ran = dir.alike("decontaminate in.jsonl --benchmarks items.jsonl --preset gpt-3 --out o", None).ok();
    ran.says("left alone: 1 n-gram in more than 10 documents each");
    let rows = jsonl(&fs::read(dir.join("o/kept/in.jsonl")).unwrap());
    let text = |id: &str| rows.iter().find(|row| row["id"] == id).map(|row| row["text"].as_str().unwrap());
    let is_whole = |id: &str, at: usize, item: &str| text(id).unwrap() == around(at, item);
    assert!((0..11).all(|at| is_whole(&format!("eleven{at}"), at + 30, &eleven)));
    for at in 0..10 {
        let (left, whole) = (text(&format!("ten{at}")).unwrap(), around(at + 10, &ten));
        let lost = whole.len() - left.len();
        assert!((ten.len() + 400..ten.len() + 400 + 20).contains(&lost), "{lost} characters went");
        let begins = left.split(' ').next().unwrap();
        assert!(whole.starts_with(begins) && whole.ends_with(&left[left.len() - 100..]));
    }
    let before = words(60_000, 100);
    let short = text("short").unwrap();
    assert!(before.starts_with(short) && before.len() - short.len() < 220);
    assert!(text("pieces10").unwrap().len() > 10 * 200 && text("pieces11").is_none());
    let report = report(&dir);
    let figures = ["contaminated", "emptied", "kept", "common_ngrams"].map(|key| report[key].clone());
    assert_eq!(figures, [json!(13), json!(1), json!(23), json!(1)]);
    assert_eq!(report["action"], "cut");
    // The rule stands in the report, as it decides what is found.
    let cut = json!({"margin": 200, "min_piece": 200, "max_pieces": 10});
    assert_eq!((&report["rule"]["max_documents"], &report["rule"]["cut"]), (&json!(10), &cut));
}

#[test]
fn other_actions_and_wrong_use() {
    let dir = Dir::new();
    let item = words(1000, 13);
    dir.write(
        "in.jsonl",
        line("a", &format!("{} {item} {}", words(0, 90), words(100, 90))) + &line("b", &words(5, 90)),
    );
    dir.write("items.jsonl", line("x", &item));
    let run = |flags: &str| {
        dir.alike(&format!("decontaminate in.jsonl --benchmarks items.jsonl --out o {flags}"), None)
    };
    run("--preset gpt-3 --action drop --write-removed").ok();
    assert_eq!(jsonl(&fs::read(dir.join("o/removed/in.jsonl")).unwrap())[0]["id"], "a");
    fs::remove_dir_all(dir.join("o")).unwrap();
    run("--any-ngram --margin 5 --action mark").ok();
    let marked = jsonl(&fs::read(dir.join("o/annotated/in.jsonl")).unwrap());
    let stretch = |at: usize| marked[0]["alike"]["stretches"][0][at].as_u64().unwrap() as usize;
    let text = marked[0]["text"].as_str().unwrap();
    let begin = text.find(&item).unwrap();
    assert!(stretch(0) + 5 <= begin && stretch(1) >= begin + item.len() + 5 && stretch(1) < text.len());
    fs::remove_dir_all(dir.join("o")).unwrap();
    for flags in ["--margin 5", "--max-documents 3", "--min-piece 9", "--max-pieces 4 --threshold 0.5"] {
        run(flags).code(2).says("--any-ngram");
    }
    for action in ["drop", "list"] {
        run(&format!("--any-ngram --min-piece 5 --action {action}")).code(2).says("--min-piece");
    }
    run("--preset gpt-3 --margin 5").code(2).says("--preset");
    run("--preset gpt-3 --write-removed").code(2).says("--write-removed");
    assert!(!dir.join("o").exists());
}
