//! Outputs of `dedup` that are asked afterwards: `explain`, `show` and `report` say of them what they say of a collection of the same
//! documents, and what the run itself said.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::program::Dir;
use crate::support::texts::{Random, line, near_copies_among, pages, words};

/// Two files of near-copies among pages, and copies; ids ascend, as documents of one load are in the order of their ids.
fn corpus(dir: &Dir) -> usize {
    let mut random = Random(7);
    let mut texts = near_copies_among(pages(3).into_iter().take(300).collect(), &mut random);
    let copies: Vec<String> = texts.iter().step_by(40).cloned().collect();
    texts.extend(copies);
    let rows: Vec<String> = (0..).zip(&texts).map(|(n, text)| line(&format!("d{n:04}"), text)).collect();
    let half = rows.len() / 2;
    dir.write("in/a.jsonl", rows[..half].concat());
    dir.write("in/b.jsonl", rows[half..].concat());
    rows.len()
}

fn answer(dir: &Dir, line: &str) -> Value {
    let told = dir.alike(&format!("{line} --json"), None).ok().stdout;
    serde_json::from_str(&told).unwrap_or_else(|_| panic!("alike {line}: {told}"))
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn rows(dir: &Dir, name: &str) -> Vec<Value> {
    read(dir, name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Of an id that most of a corpus has only so many documents are gone through.
#[test]
fn an_id_that_very_many_have_is_told_without_reading_all() {
    let dir = Dir::new();
    let mut lines: String = (0..1500).map(|at| line("x", &words(at * 40, 12))).collect();
    lines += &line("y", &words(0, 12));
    dir.write("in.jsonl", lines);
    dir.alike("dedup in.jsonl --out out -q", None).ok();
    let first = "1000 documents or more have the id \"x\": in.jsonl:1, in.jsonl:2, in.jsonl:3";
    dir.alike("explain out x", None).code(2).says(first);
    // One of them is found by its place, wherever it stands.
    let told = dir.alike("explain out in.jsonl:1500", None).ok().stdout;
    assert!(told.contains("\"line\":1500"), "{told}");
    dir.alike("explain out y in.jsonl:1", None).ok();
}

/// An answer without what hangs on where documents are: numbers of clusters, links that only a collection stores, and the load or
/// the place that decided.
fn said(mut answer: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                if let Some(cluster) = members.get_mut("cluster").filter(|cluster| !cluster.is_null()) {
                    *cluster = json!("a cluster");
                }
                if members.get("criterion").is_some_and(Value::is_null) {
                    members.remove("compared");
                }
                members.remove("links");
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut answer);
    answer
}

#[test]
fn outputs_are_explained_as_collections_are() {
    let dir = Dir::new();
    let documents = corpus(&dir);
    for clustering in ["guarantee", "transitive"] {
        let flags = format!("--clustering {clustering} --keep longest");
        let (out, collection) = (format!("out-{clustering}"), format!("c-{clustering}"));
        dir.dedup(&format!("in --out {out} {flags} -q")).ok();
        dir.alike(&format!("load {collection} in {flags} -q"), None).ok();
        let duplicates = rows(&dir, &format!("{out}/duplicates.jsonl"));
        let id = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let mut asked: Vec<String> = Vec::new();
        for (one, other) in duplicates.iter().zip(duplicates.iter().skip(1)).step_by(11) {
            asked.push(id(one, "id"));
            asked.push(id(one, "representative"));
            asked.push(format!("{} {}", id(one, "id"), id(one, "representative")));
            asked.push(format!("{} {}", id(one, "id"), id(other, "id")));
            asked.push(format!("{} {}", id(other, "representative"), id(one, "representative")));
        }
        asked.extend((0..documents).step_by(60).map(|n| format!("d{n:04}")));
        asked.push(format!("{} d0000", id(&duplicates[0], "id")));
        let (mut together, mut apart) = (0, 0);
        for ids in asked {
            let mut words = ids.split(' ');
            if words.next() == words.next() {
                continue;
            }
            let [of_out, of_collection] =
                [&out, &collection].map(|place| said(answer(&dir, &format!("explain {place} {ids}"))));
            together += usize::from(of_out["answer"] == "together");
            apart += usize::from(of_out["answer"] == "apart");
            if clustering == "guarantee" {
                assert_eq!(of_out, of_collection, "{ids}");
                continue;
            }
            // Chains of links go another way there, where there is more than one.
            for key in [
                "answer",
                "document",
                "first",
                "second",
                "stays",
                "representative",
                "same_text",
                "best",
                "compared",
            ] {
                assert_eq!(of_out[key], of_collection[key], "{ids}: {key}");
            }
            for step in of_out["chain"].as_array().into_iter().flatten() {
                assert!(step["same_text"] == true || step["measures"]["linked"] == true, "{ids}: {step}");
            }
        }
        assert!(together > 3 && apart > 3, "{together} {apart}");
    }
}

#[test]
fn documents_are_named_by_file_and_line_where_ids_do_not_tell() {
    let dir = Dir::new();
    let text = |n: usize| (0..40).map(|word| format!("w{word}x{n} ")).collect::<String>();
    // Several units of reading.
    let filler: String = (0..4000).map(|n| line(&format!("f{n}"), &text(n + 10))).collect();
    let copies =
        line("twice", &text(0)) + &line("twice", &text(0)) + &json!({"text": text(0)}).to_string() + "\n";
    dir.write("in.jsonl", line("first", &text(0)) + &filler + &copies);
    assert!(fs::metadata(dir.join("in.jsonl")).unwrap().len() > 1 << 20);
    dir.dedup("in.jsonl --out out -q").ok();
    let told = answer(&dir, "explain out in.jsonl:4002 in.jsonl:4004");
    assert_eq!(told["answer"], "together");
    assert_eq!((&told["first"]["id"], &told["second"]["id"]), (&json!("twice"), &json!("in.jsonl:4004")));
    assert_eq!((&told["first"]["line"], &told["first"]["cluster"]), (&json!(4002), &json!(1)));
    let alone = answer(&dir, "explain out in.jsonl:4003");
    assert_eq!(alone["same_text"], json!(["first", "in.jsonl:4004", "twice"]));
    assert_eq!(alone["representative"], "first");
    assert_eq!(alone["stays"]["compared"][0], json!({"file": "in.jsonl", "line": 1}));
    assert_eq!(answer(&dir, "explain out f7")["document"]["line"], 9);
    let lines = dir.alike("explain out in.jsonl:4003 --format table", None).ok().stdout;
    assert!(
        lines.contains("first is kept before twice") && lines.contains("in.jsonl:1 against in.jsonl:4003"),
        "{lines}"
    );
    dir.alike("explain out twice", None).code(2).says("in.jsonl:4002, in.jsonl:4003");
    dir.alike("explain out first twice", None).code(2).says("2 documents have the id");
    dir.alike("explain out nobody", None).code(2).says("nobody").says("FILE:LINE");
    dir.alike("explain out in.jsonl:9000", None).code(2).says("in.jsonl:9000");
    dir.alike("explain out first in.jsonl:1", None).code(2).says("one document");
}

/// The inputs are divided into stretches; in some no record begins.
#[test]
fn a_record_longer_than_a_stretch_is_passed() {
    let dir = Dir::new();
    let short = "the same few words of a short text";
    dir.write("in.jsonl", line("a", short) + &line("long", &"word ".repeat(600_000)) + &line("b", short));
    dir.dedup("in.jsonl --out out -q").ok();
    assert_eq!(answer(&dir, "explain out a b")["answer"], "together");
    assert_eq!(answer(&dir, "explain out in.jsonl:3")["representative"], "a");
    dir.alike("show out 1", None).ok();
}

#[test]
fn protected_and_preferred_documents_stay_for_what_they_are() {
    let dir = Dir::new();
    let text = |n: usize| (0..40).map(|word| format!("w{word}x{n} ")).collect::<String>();
    dir.write("old.jsonl", line("old", &text(1)));
    dir.write("crawl.jsonl", line("c1", &text(1)) + &line("c2", &text(2)));
    dir.write("wiki.jsonl", line("w2", &text(2)));
    dir.dedup("crawl.jsonl wiki.jsonl --against eval=old.jsonl --prefer wiki.jsonl --out out -q").ok();
    let stays = |ids: &str| answer(&dir, &format!("explain out {ids}"))["stays"].clone();
    let protected = stays("c1");
    assert_eq!((&protected["kept"], &protected["criterion"]), (&json!("old"), &json!("--against")));
    assert_eq!(protected["compared"], json!(["eval", null]));
    let preferred = stays("c2 w2");
    assert_eq!((&preferred["kept"], &preferred["criterion"]), (&json!("w2"), &json!("--prefer")));
    assert_eq!(preferred["compared"], json!(["wiki.jsonl", null]));
    let inputs = rows(&dir, "out/inputs.jsonl");
    assert_eq!(inputs[0]["against"], "eval");
    let names: Vec<&str> = inputs.iter().map(|row| row["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["old.jsonl", "crawl.jsonl", "wiki.jsonl"]);
}

#[test]
fn what_cannot_be_asked_says_why() {
    let dir = Dir::new();
    corpus(&dir);
    dir.dedup("in --out out -q").ok();
    let duplicate = rows(&dir, "out/duplicates.jsonl")[0]["id"].as_str().unwrap().to_owned();
    let explain = || dir.alike(&format!("explain out {duplicate}"), None);
    explain().ok();
    let (a, summary) = (read(&dir, "in/a.jsonl"), read(&dir, "out/summary.json"));
    let in_b = read(&dir, "in/b.jsonl");
    // An input that is another one.
    dir.write("in/a.jsonl", format!("{a}\n"));
    for command in [format!("explain out {duplicate}"), "show out 1".into(), "report out --out x.html".into()]
    {
        let said = dir.alike(&command, None).code(3).says("in/a.jsonl: has").says("put the file back");
        assert!(said.stderr.contains(&a.len().to_string()), "{}", said.stderr);
    }
    fs::remove_file(dir.join("in/a.jsonl")).unwrap();
    explain().code(3).says("in/a.jsonl: is gone");
    dir.write("in/a.jsonl", &a);
    // A file that was not there is in nobody's way but that of the page.
    dir.write("in/c.jsonl", line("new", "a text of some words"));
    explain().ok();
    dir.alike("report out --out x.html", None).code(3).says("in/c.jsonl: was not there");
    fs::remove_file(dir.join("in/c.jsonl")).unwrap();
    // Other versions.
    let mut other: Value = serde_json::from_str(&summary).unwrap();
    other["version"] = json!("0.0.1");
    dir.write("out/summary.json", other.to_string());
    explain().ok();
    dir.alike("report out --out x.html", None).code(4).says("0.0.1");
    other["run"]["form"] = json!(99);
    dir.write("out/summary.json", other.to_string());
    explain().code(4).says("was written by alike 0.0.1");
    other.as_object_mut().unwrap().remove("run");
    dir.write("out/summary.json", other.to_string());
    explain().code(4).says("does not say what was read");
    dir.write("out/summary.json", "{}");
    explain().code(4).says("not that of a run of dedup");
    dir.write("out/summary.json", &summary);
    // Outputs of other commands.
    dir.alike("passages in --out repeated -q", None).ok();
    dir.alike("explain repeated d0001", None).code(4).says("`alike passages`").says("passages.jsonl");
    dir.alike("repetition in --out own -q", None).ok();
    dir.alike("show own 1", None).code(4).says("`alike repetition`").says("repetition.jsonl");
    dir.alike("decontaminate in --benchmarks q=in/b.jsonl --out clean -q", None).code(3);
    dir.write("q.jsonl", in_b.lines().next().unwrap());
    dir.alike("decontaminate in --benchmarks q.jsonl --out clean -q", None).ok();
    dir.alike("report clean --out x.html", None)
        .code(4)
        .says("`alike decontaminate`")
        .says("contaminated.jsonl");
    dir.alike("load c in -q", None).ok();
    dir.alike("export c --out exported -q", None).ok();
    dir.alike("explain exported d0001", None).code(4).says("`alike export`").says("the collection");
    dir.alike("explain nowhere d0001", None).code(3).says("nowhere: there is no such folder").says("--out");
    // Parts that are missing.
    for name in ["inputs.jsonl", "duplicates.jsonl", "clusters.jsonl"] {
        let list = read(&dir, &format!("out/{name}"));
        fs::remove_file(dir.join(&format!("out/{name}"))).unwrap();
        explain().code(4).says(name).says("missing");
        dir.write(&format!("out/{name}"), &list[..list.len() - 9]);
        explain().code(4).says(name).says("row");
        dir.write(&format!("out/{name}"), &list);
    }
    dir.alike("explain in d0001", None).code(4).says("is no collection");
    explain().ok();
    assert!(!dir.join("x.html").exists());
}

#[test]
fn streams_are_not_read_again() {
    let dir = Dir::new();
    corpus(&dir);
    let piped = read(&dir, "in/a.jsonl");
    dir.alike("dedup - in/b.jsonl --out out -q", Some(piped.as_bytes())).ok();
    let inputs = rows(&dir, "out/inputs.jsonl");
    assert_eq!((&inputs[0]["file"], &inputs[0]["stream"]), (&json!("stdin"), &json!(true)));
    assert_eq!(inputs[0]["bytes"], piped.len());
    dir.alike("report out --out x.html", None).code(3).says("standard input cannot be read again");
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    let from_file = rows(&dir, "out/duplicates.jsonl").into_iter();
    let from_file: Vec<Value> = from_file.filter(|row| row["file"] == "in/b.jsonl").collect();
    let of_stream = from_file.iter().find(|row| row["representative_file"] == "stdin").expect("one");
    let told = answer(&dir, &format!("explain out {}", id(of_stream)));
    assert_eq!(told["representative"], of_stream["representative"]);
    let lost = of_stream["representative"].as_str().unwrap();
    let told = answer(&dir, &format!("explain out {lost} {}", id(of_stream)));
    let place = json!([told["first"]["file"], told["first"]["line"], told["first"]["text_bytes"]]);
    assert_eq!(place, json!(["stdin", of_stream["representative_line"], null]));
    assert_eq!(told["chain"][0]["listed"]["resemblance"], of_stream["resemblance"]);
    assert_eq!((&told["chain"][0]["measures"], &told["ends"]), (&json!(null), &json!(null)));
    dir.alike("explain out nobody", None).code(2).says("standard input");
    let number = of_stream["cluster"].to_string();
    let shown = answer(&dir, &format!("show out {number}"));
    assert!(shown["members"][0]["texts"]["why"].as_str().unwrap().contains("not at hand"), "{shown}");
}

#[cfg(feature = "parquet")]
#[test]
fn lists_of_either_form_are_read() {
    let dir = Dir::new();
    corpus(&dir);
    dir.dedup("in --out lines -q").ok();
    dir.dedup("in --out tables --lists parquet --keep-per-cluster 1 -q").ok();
    for row in rows(&dir, "lines/duplicates.jsonl").iter().step_by(20) {
        let [lines, tables] = ["lines", "tables"]
            .map(|out| answer(&dir, &format!("explain {out} {}", row["id"].as_str().unwrap())));
        assert_eq!(lines, tables);
        let [lines, tables] =
            ["lines", "tables"].map(|out| answer(&dir, &format!("show {out} {}", row["cluster"])));
        assert_eq!(lines, tables);
    }
}

/// The page of an output is the one that its run wrote, wherever it is asked from.
#[test]
fn the_page_of_an_output_is_that_of_its_run() {
    let dir = Dir::new();
    corpus(&dir);
    let old: String = read(&dir, "in/a.jsonl").lines().step_by(9).map(|line| format!("{line}\n")).collect();
    dir.write("old.jsonl", old);
    dir.write("in/b.jsonl", read(&dir, "in/b.jsonl") + "no JSON\n");
    dir.write("in/picture.png", [0x89, b'P', b'N', b'G', 0, 1, 2, 3]);
    dir.alike("load archive old.jsonl --clustering guarantee -q", None).ok();
    let weighed = format!("{}/samples/licences.jsonl --method term-vector", env!("CARGO_MANIFEST_DIR"));
    for (name, flags) in [
        ("plain", "in"),
        ("from", "in --report-from 0.6 --keep longest --kinds"),
        (
            "against",
            "in/b.jsonl in/a.jsonl --against seen=old.jsonl --prefer in/a.jsonl --keep-per-cluster 2",
        ),
        ("stored", "in --against archive --pairs"),
        ("weighed", &*weighed),
        ("written", "in --annotate --to jsonl --lists jsonl -w 1"),
        ("piece", "in --input-format text"),
        ("by", "in --report-by id --report-by text --report-by no.such"),
    ] {
        dir.dedup(&format!("{flags} --out {name} --report {name}.html -q")).ok();
        dir.alike(&format!("report {name} --out again.html -w 2 -q"), None).ok();
        assert!(read(&dir, &format!("{name}.html")) == read(&dir, "again.html"), "{name}");
    }
    let elsewhere = Dir::new();
    let ran = Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(["report", "-q", "--out", "page.html"])
        .arg(dir.join("plain"))
        .current_dir(elsewhere.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(read(&dir, "plain.html") == read(&elsewhere, "page.html"));
    assert_eq!(elsewhere.names(), ["page.html"]);
    // A page says what other thresholds come to whether or not the run did.
    dir.alike("report plain --out again.html --from 0.6 -q", None).ok();
    assert!(read(&dir, "again.html").contains("0.65"));
    dir.alike("report plain --out again.html --threshold 0.9", None).code(2).says("--threshold");
    dir.alike("load archive in/a.jsonl -q", None).ok();
    dir.alike("report stored --out again.html", None).code(3).says("is a collection at commit");
}

#[test]
fn clusters_are_shown_member_by_member() {
    let dir = Dir::new();
    corpus(&dir);
    dir.dedup("in --out out -q").ok();
    dir.alike("load c in --clustering guarantee -q", None).ok();
    // Clusters of a collection by their representatives.
    let of_collection: BTreeMap<String, String> = dir
        .alike("clusters c --json", None)
        .ok()
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| (row["representative"].to_string(), row["cluster"].as_str().unwrap().to_owned()))
        .collect();
    let clusters = rows(&dir, "out/clusters.jsonl");
    let many = clusters.iter().max_by_key(|row| row["size"].as_u64()).unwrap();
    for row in clusters.iter().step_by(7).chain([many]) {
        let stored = &of_collection[&row["representative"].to_string()];
        let [mut out, mut collection] = [format!("show out {}", row["cluster"]), format!("show c {stored}")]
            .map(|line| answer(&dir, &(line + " --limit 500")));
        assert_eq!(out["members"].as_array().unwrap().len() as u64 + 1, row["size"].as_u64().unwrap());
        for shown in [&mut out, &mut collection] {
            shown["cluster"] = json!(null);
            let members = shown["members"].as_array_mut().unwrap();
            members.iter_mut().for_each(|member| drop(member.as_object_mut().unwrap().remove("reason")));
        }
        assert_eq!(out, collection, "{row}");
    }
    let (number, size) = (many["cluster"].to_string(), many["size"].as_u64().unwrap());
    let few = answer(&dir, &format!("show out {number} --limit 1"));
    assert_eq!((few["members"].as_array().unwrap().len(), few["not_shown"].as_u64().unwrap()), (1, size - 2));
    let id = few["members"][0]["id"].as_str().unwrap();
    let one = answer(&dir, &format!("show out {number} --member {id}"));
    assert_eq!(one["members"], few["members"]);
    let table = dir.alike(&format!("show out {number} --format table"), None).ok().stdout;
    assert!(
        table.contains(&format!("cluster {number}: {size} documents"))
            && table.contains(" | ")
            && table.lines().nth(2).is_some_and(|line| line.trim_end().ends_with("kept")),
        "{table}"
    );
    dir.alike("show out 100000", None).code(2).says("no cluster 100000");
    dir.alike("show out x", None).code(2).says("list of clusters");
    dir.alike("show c 9.99", None).code(2).says("no cluster 9.99");
    dir.alike("show out 1 --member nobody", None).code(2).says("nobody");
    let separated = dir.alike(&format!("show out {number} --format tsv"), None).ok().stdout;
    assert!(separated.starts_with("id\tfile\tline\ttext_bytes\t"), "{separated}");
}

/// What was recorded of a run is enough to ask it, however it was asked, and tells nothing that lets others in.
#[test]
fn runs_are_recorded_so_that_they_can_be_asked() {
    let dir = Dir::new();
    corpus(&dir);
    let shared = |at: usize| line(&format!("p{at}"), &words(90_000, 60));
    dir.write("x.jsonl", shared(1));
    dir.write("y.jsonl", shared(2));
    dir.dedup("x.jsonl y.jsonl in --prefer y.jsonl,x.jsonl --out two -q").ok();
    let answer_of = answer(&dir, "explain two p1");
    assert_eq!(
        (&answer_of["stays"]["kept"], &answer_of["stays"]["criterion"]),
        (&json!("p2"), &json!("--prefer"))
    );
    let stream = dir.alike("dedup x.jsonl - y.jsonl --prefer - --prefer y.jsonl --out three -q", Some(b""));
    stream.ok();
    let answer_of = answer(&dir, "explain three p1");
    assert_eq!(answer_of["stays"]["compared"][0], "y.jsonl", "{answer_of}");
    // A lexicon that other documents counted for, too, is not counted from fewer.
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/licences.jsonl");
    let sample = fs::read_to_string(sample).unwrap();
    let half = sample.match_indices('\n').nth(150).unwrap().0 + 1;
    dir.write("half.jsonl", &sample[half..]);
    dir.alike("dedup - half.jsonl --method cosine --out four -q", Some(&sample.as_bytes()[..half])).ok();
    dir.alike("explain four half.jsonl:3", None).code(3).says("the lexicon");
    // Nobody writes such a configuration but by hand.
    let summary = dir.join("two/summary.json");
    let wrong = fs::read_to_string(&summary).unwrap().replace("\"ngram\": 5", "\"ngram\": 0");
    fs::write(&summary, wrong).unwrap();
    dir.alike("explain two p1", None).code(4).says("configuration");
}

/// Inputs are looked for where the run was started, and the output where the question is asked.
#[test]
fn questions_are_asked_from_any_folder() {
    let dir = Dir::new();
    corpus(&dir);
    dir.dedup("in --out out -q").ok();
    dir.write("below/there", "");
    let first = &rows(&dir, "out/duplicates.jsonl")[0];
    let (id, cluster) = (first["id"].as_str().unwrap(), first["cluster"].to_string());
    for question in [["show", &cluster], ["explain", id]] {
        let [command, what] = question;
        let here = dir.alike(&format!("{command} out {what}"), None).ok().stdout;
        let ran = Command::new(env!("CARGO_BIN_EXE_alike"))
            .args([command, "../out", what])
            .current_dir(dir.join("below"))
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), here);
    }
}

#[test]
fn hostile_texts_are_shown_as_text() {
    let dir = Dir::new();
    let words: String = (0..60).map(|n| format!("word{n} ")).collect();
    let id = "evil\u{1b}]0;x\u{7}\u{202e}";
    dir.write(
        "in.jsonl",
        line("plain", &words)
            + &line(id, &format!("{words} \u{1b}[2J\u{202e}\u{9b}31m {}", "y".repeat(5000))),
    );
    dir.dedup("in.jsonl --out out --threshold 0.5 -q").ok();
    for command in [
        "show out 1 --format table",
        "show out 1 --format table --color always",
        "explain out plain --format table",
    ] {
        let told = dir.alike(command, None).ok().stdout;
        let ours = told.replace("\u{1b}[31m", "").replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        let acts = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!ours.contains(acts), "{command}: {ours:?}");
        assert!(ours.contains("evil\\u{1b}]0;x"), "{command}: {ours}");
    }
    let shown = dir.alike("show out 1 --format table", None).ok().stdout;
    let beside = shown.lines().skip_while(|line| !line.is_empty()).skip(2);
    assert!(beside.clone().count() > 10 && beside.clone().all(|line| line.chars().count() <= 100), "{shown}");
}

#[test]
fn several_that_are_kept_are_explained_too() {
    let dir = Dir::new();
    corpus(&dir);
    dir.dedup("in --out out --keep-per-cluster 3 -q").ok();
    let clusters = rows(&dir, "out/clusters.jsonl");
    let kept =
        clusters.iter().find(|row| row["kept"].as_array().is_some_and(|kept| kept.len() == 3)).unwrap();
    let told = answer(&dir, &format!("explain out {}", kept["kept"][2].as_str().unwrap()));
    assert_eq!(
        (&told["document"]["cluster"], &told["representative"]),
        (&kept["cluster"], &kept["representative"])
    );
    let shown = answer(&dir, &format!("show out {} --limit 100", kept["cluster"]));
    assert_eq!(shown["members"].as_array().unwrap().len() as u64 + 1, kept["size"].as_u64().unwrap());
    assert!(
        shown["members"].as_array().unwrap().iter().all(|member| member["texts"]["places"].is_array()),
        "{shown}"
    );
}

/// What a run links stands in each explanation: equal texts of two languages are apart because of `--within`.
#[test]
fn the_rule_of_the_run_is_told() {
    let dir = Dir::new();
    let record = |id: &str, lang: &str| {
        format!("{{\"id\":\"{id}\",\"lang\":\"{lang}\",\"text\":\"{}\"}}\n", words(0, 40))
    };
    dir.write("in.jsonl", [record("a", "en"), record("b", "de"), record("c", "en")].concat());
    dir.alike("dedup in.jsonl --within lang --clustering transitive --out out", None).ok();
    let told = dir.alike("explain out a b --format table", None).ok().stdout;
    let rule = "the run links: resemblance at least 0.8, among documents with the same lang (--within); transitive clustering\n";
    assert!(told.contains("not together:") && told.ends_with(rule), "{told}");
    assert!(dir.alike("explain out c --format table", None).ok().stdout.ends_with(rule));
}

/// Documents of a protected collection are not at hand: what the lists say of them is told, with the rule.
#[test]
fn documents_of_a_protected_collection_are_told_as_listed() {
    let dir = Dir::new();
    corpus(&dir);
    dir.alike("load arch in/a.jsonl -q", None).ok();
    let near = read(&dir, "in/a.jsonl").replace("\"id\":\"", "\"id\":\"new-").replacen(". ", "; ", 40);
    dir.write("new.jsonl", near);
    dir.dedup("new.jsonl --against old=arch --out out -q").ok();
    let duplicates = rows(&dir, "out/duplicates.jsonl");
    let of_old: Vec<&Value> = duplicates.iter().filter(|row| row["against"]["set"] == "old").collect();
    assert!(of_old.len() > 50);
    for row in of_old.iter().step_by(29) {
        let (id, kept) = (row["id"].as_str().unwrap(), row["representative"].as_str().unwrap());
        for told in
            [answer(&dir, &format!("explain out {id}")), answer(&dir, &format!("explain out {kept} {id}"))]
        {
            let chain = told["chain"].as_array().unwrap();
            assert_eq!((chain.len(), &chain[0]["listed"]["resemblance"]), (1, &row["resemblance"]), "{told}");
            assert!(chain[0]["texts"]["why"].as_str().unwrap().contains("not at hand"), "{told}");
            assert_eq!(
                (&told["stays"]["kept"], &told["stays"]["compared"][0]),
                (&row["representative"], &json!("old"))
            );
            assert_eq!(told["rule"], json!({"links": "resemblance at least 0.8", "clustering": "guarantee"}));
        }
        let place =
            format!("{}:{}", row["representative_file"].as_str().unwrap(), row["representative_line"]);
        let lines = dir.alike(&format!("explain out {place} --format table"), None).ok().stdout;
        assert!(lines.contains("protected by old") && lines.contains("stands for its cluster"), "{lines}");
        let shown = answer(&dir, &format!("show out {} --member {id}", row["cluster"]));
        assert_eq!(shown["members"][0]["listed"]["resemblance"], row["resemblance"], "{shown}");
    }
    let apart = of_old.iter().find(|row| row["cluster"] != of_old[0]["cluster"]).unwrap();
    let ids = [of_old[0], *apart].map(|row| row["representative"].as_str().unwrap());
    let lines = dir.alike(&format!("explain out {} {} --format table", ids[0], ids[1]), None).ok().stdout;
    assert!(lines.contains("not together:") && lines.contains("not measured"), "{lines}");
}

/// Of a pair with a protected document its share decides where the run says so, and the answer tells which of the two that is.
#[test]
fn the_side_that_decides_is_told() {
    let dir = Dir::new();
    dir.write("poem.jsonl", line("poem", &words(0, 40)));
    let page = format!("{} {} {}", words(200, 60), words(0, 40), words(400, 60));
    dir.write("in.jsonl", line("page", &page) + &line("part", &words(0, 20)));
    dir.dedup("in.jsonl --against poem.jsonl --measure containment-of-protected --out out -q").ok();
    let told = answer(&dir, "explain out page poem");
    let measures = &told["chain"][0]["measures"];
    assert_eq!((&measures["protected"], &measures["linked"]), (&json!("second"), &json!(true)), "{told}");
    assert_eq!((&measures["needed"], &measures["shared"]), (&json!(29), &json!(36)));
    let lines = dir.alike("explain out poem page --format table", None).ok().stdout;
    assert!(lines.contains("containment 1.0000 of the first, which is protected and decides"), "{lines}");
    // All of the part stands in the poem, and of that not enough in the part.
    let apart = dir.alike("explain out part poem --format table", None).ok().stdout;
    let why = "0.4444 of the second, which is protected and decides; 16 shared of 36, 0 and 20 of one only; too little";
    assert!(apart.contains("not together") && apart.contains(why), "{apart}");
}

/// The file that a collection was loaded from may have the name of an input, and hold other lines by now.
#[test]
fn lines_of_a_collection_are_not_taken_for_those_of_an_input() {
    let dir = Dir::new();
    let (old, near) = (words(0, 40), format!("{} x", words(0, 40)));
    dir.write("today.jsonl", line("m1", &old) + &line("m2", &words(300, 40)));
    dir.alike("load archive today.jsonl -q", None).ok();
    dir.write("today.jsonl", line("t1", &words(100, 40)) + &line("t2", &near) + &line("m2", &words(300, 41)));
    dir.dedup("today.jsonl --against archive --out out -q").ok();
    let told = answer(&dir, "explain out t2");
    let chain = &told["chain"][0];
    assert_eq!((&chain["second"], &chain["measures"]), (&json!("m1"), &json!(null)), "{told}");
    assert_eq!(chain["listed"]["resemblance"], rows(&dir, "out/duplicates.jsonl")[0]["resemblance"]);
    assert_eq!((&told["stays"]["kept"], &told["stays"]["criterion"]), (&json!("m1"), &json!("--against")));
    assert_eq!(answer(&dir, "explain out m1")["document"]["against"], "archive");
    assert_eq!(answer(&dir, "explain out t2 m1")["answer"], "together");
    assert_eq!(answer(&dir, "explain out t2 t1")["answer"], "apart");
    let first = answer(&dir, "explain out today.jsonl:1");
    assert_eq!((&first["document"]["id"], &first["document"]["cluster"]), (&json!("t1"), &json!(null)));
    let shown = answer(&dir, "show out 1");
    assert_eq!(
        (&shown["representative"]["id"], &shown["representative"]["text_bytes"]),
        (&json!("m1"), &json!(null))
    );
    // Of two documents of one id the input is meant.
    let same = answer(&dir, "explain out m2");
    assert_eq!(
        (&same["document"]["line"], &same["document"]["against"]),
        (&json!(3), &json!(null)),
        "{same}"
    );
    // Both from standard input.
    dir.alike("load piped - --store-text -q", Some(line("m1", &old).as_bytes())).ok();
    dir.alike("dedup - --against piped --out two -q", Some(line("t2", &near).as_bytes())).ok();
    let told = answer(&dir, "explain two t2");
    assert_eq!((&told["representative"], &told["chain"][0]["first"]), (&json!("m1"), &json!("t2")), "{told}");
    assert_eq!(answer(&dir, "explain two t2 m1")["answer"], "together");
    assert_eq!(answer(&dir, "explain two stdin:1")["document"]["id"], "t2");
}

#[test]
fn two_protected_documents_are_never_compared() {
    let dir = Dir::new();
    dir.write("old.jsonl", line("a", &words(0, 40)) + &line("b", &words(0, 41)));
    dir.write("new.jsonl", line("c", &words(0, 42)));
    dir.dedup("new.jsonl --against old.jsonl --out out -q").ok();
    let told = answer(&dir, "explain out a b");
    assert_eq!(
        (&told["answer"], &told["ends"]["kept_apart"]),
        (&json!("apart"), &json!("protected")),
        "{told}"
    );
    assert_eq!((&told["ends"]["measures"]["linked"], &told["best"]), (&json!(false), &json!(null)));
    let lines = dir.alike("explain out a b --format table", None).ok().stdout;
    assert!(lines.contains("; both are protected, and such are never compared"), "{lines}");
}
