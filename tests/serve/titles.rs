//! Documents that words of their titles find, against plain lists; and single documents of an output that is noted, against what
//! commands find by reading all of it.

use serde_json::{Value, json};

use super::client::{Server, encoded};
use super::markup::BROWSER;
use super::openapi::{check, description};
use super::pages::all;
use crate::support::program::Dir;
use crate::support::texts::{gzip, words};

/// Titles that documents have, some of them without any word, and one of a million letters.
const TITLES: [&str; 9] = [
    "The Origin of Species",
    "the origin of THE species",
    "Species of spiders",
    "",
    "<script>alert(1)</script> origin",
    "\u{202e}of \u{1b}[2J",
    "\u{4e2d}\u{6587} \u{c4}rger",
    "originally",
    "...",
];

/// What somebody types, and the words that must be in a title.
const ASKED: [(&str, &[&str]); 8] = [
    ("origin", &["origin"]),
    ("OF, the!", &["of", "the"]),
    ("species of", &["species", "of"]),
    ("script origin alert", &["script", "origin", "alert"]),
    ("\u{e4}rger", &["\u{e4}rger"]),
    ("A\u{308}RGER", &["\u{e4}rger"]),
    ("orig", &["orig"]),
    ("nothing origin", &["nothing", "origin"]),
];

/// Documents with titles: their ids, titles and files, in the order in which they are read.
fn made(dir: &Dir) -> Vec<(String, &'static str, &'static str)> {
    let mut documents = Vec::new();
    for (file, from) in [("a.jsonl", 0), ("b.jsonl.gz", 40)] {
        let mut lines = String::new();
        for at in from..from + 40 {
            let (id, title) = (format!("d{}", at * 37 % 101), TITLES[at % TITLES.len()]);
            let text = words(at / 2 * 100, 40);
            let mut record = json!({"id": id, "text": text, "meta": {"title": title}});
            if title.is_empty() {
                record["meta"] = json!({"title": null});
            }
            lines += &format!("{record}\n");
            documents.push((id, title, file));
        }
        dir.write(file, if file.ends_with(".gz") { gzip(lines.as_bytes(), 700) } else { lines.into_bytes() });
    }
    documents
}

fn has_words(title: &str, words: &[&str]) -> bool {
    let title = title.to_lowercase();
    let split: Vec<&str> = title.split(|letter: char| !letter.is_alphanumeric()).collect();
    words.iter().all(|word| split.contains(word))
}

/// Waits until the titles of what is served are there.
fn until_noted(server: &Server) {
    server.until("/documents?title=origin", |reply| reply.status == 200);
}

#[test]
fn documents_are_found_by_words_of_their_titles() {
    let dir = Dir::new();
    let documents = made(&dir);
    dir.alike("load kept a.jsonl b.jsonl.gz --store-text", None).ok();
    dir.alike("load files a.jsonl b.jsonl.gz", None).ok();
    dir.alike("dedup a.jsonl b.jsonl.gz --out out -q", None).ok();
    let described = description();
    for what in ["kept", "files", "out"] {
        let server = Server::of(&dir, what, "--title-field meta.title");
        until_noted(&server);
        for (typed, asked) in ASKED {
            let expected: Vec<(&str, &str, &str)> = documents
                .iter()
                .filter(|(_, title, _)| has_words(title, asked))
                .map(|(id, title, file)| (id.as_str(), *title, *file))
                .collect();
            let path = format!("/documents?title={}", encoded(typed));
            for limit in [1, 3, 1000] {
                let found = all(&server, &path, "documents", limit);
                let found: Vec<(&str, &str, &str)> = found
                    .iter()
                    .map(|row| ["id", "title", "file"].map(|name| row[name].as_str().unwrap()).into())
                    .collect();
                assert_eq!(found, expected, "{what}: {typed:?}, {limit}");
            }
            let page = server.page(&format!("{path}&limit=2"));
            assert_eq!(page.rows.len(), expected.len().min(2), "{what}: {typed:?}");
            assert_eq!(page.link("rel", "next").is_some(), expected.len() > 2);
            assert!(!page.text.contains('\u{202e}') && !page.text.contains('\u{1b}'), "{typed:?}");
        }
        let page = server.json("/documents?title=origin&limit=3");
        let schema = &described["paths"]["/documents"]["get"]["responses"]["200"]["content"]["application/json"]
            ["schema"];
        check(&described, schema, &page, "/documents");
        let titled = documents.iter().filter(|(_, title, _)| !title.is_empty()).count();
        assert_eq!(page["titles"], titled, "{what}");
        for row in page["documents"].as_array().unwrap() {
            let own = server.json(&format!("/documents/{}", encoded(row["id"].as_str().unwrap())));
            let place = own.get("document").unwrap_or(&own);
            assert_eq!((&row["cluster"], &row["line"]), (&place["cluster"], &place["line"]), "{what}: {row}");
        }
        for (wrong, why) in [
            ("/documents?title=...", "no word"),
            ("/documents?title=origin&q=d", "not by both"),
            ("/documents?title=origin&words=d", "not by both"),
            ("/documents?title=origin&after=x", "after"),
        ] {
            let message = server.get(wrong).status(400).message();
            assert!(message.contains(why), "{wrong}: {message}");
        }
        // The form says again what was asked for, and an empty one asks for all.
        assert!(server.page("/documents?title=Origin+of").values("input", "value").contains(&"Origin of"));
        assert!(server.json("/documents?title=&q=d1")["documents"][0].get("title").is_none());
    }
}

/// Where records are not kept, titles are those of the files as they were loaded.
#[test]
fn titles_of_files_that_are_gone_are_not_found_and_that_is_said() {
    let dir = Dir::new();
    let documents = made(&dir);
    dir.alike("load c a.jsonl b.jsonl.gz", None).ok();
    std::fs::remove_file(dir.join("a.jsonl")).unwrap();
    let server = Server::start(&dir, "--title-field meta.title");
    let first = server.get("/documents?title=origin");
    assert!([200, 503].contains(&first.status));
    until_noted(&server);
    let page = server.json("/documents?title=origin&limit=1000");
    assert_eq!(page["unread"], 1);
    let expected =
        documents.iter().filter(|(_, title, file)| *file != "a.jsonl" && has_words(title, &["origin"]));
    assert_eq!(page["documents"].as_array().unwrap().len(), expected.count());
    server.page("/documents?title=origin").says("Titles in 1 file are not found");
}

/// A commit that comes later has titles of its own.
#[test]
fn titles_are_those_of_the_commit_that_is_served() {
    let dir = Dir::new();
    made(&dir);
    dir.alike("load c a.jsonl", None).ok();
    let server = Server::start(&dir, "--title-field meta.title");
    until_noted(&server);
    let count = |path: &str| server.json(path)["documents"].as_array().unwrap().len();
    assert_eq!(count("/documents?title=novel"), 0);
    let record = json!({"id": "new", "text": words(90_000, 40), "meta": {"title": "A Novel"}});
    dir.write("more.jsonl", format!("{record}\n"));
    dir.alike("load c more.jsonl", None).ok();
    let found = |reply: &super::client::Reply| {
        reply.status == 200 && reply.json()["documents"][0]["title"] == "A Novel"
    };
    server.until("/documents?title=novel", found);
}

/// What is found where it stands is what is found by reading all inputs, whatever their form is.
#[test]
fn documents_are_found_where_they_stand_in_files_of_all_kinds() {
    let dir = Dir::new();
    let text = |family: usize| words(family * 100, 40);
    let record = |id: Value, at: usize| json!({"id": id, "text": text(at % 6), "rank": at as f64 / 3.0});
    let mut lines: String = (0..30).map(|at| format!("{}\n", record(json!(at), at))).collect();
    lines.insert_str(0, "no JSON\n\n");
    dir.write("in/a.jsonl", &lines);
    dir.write("in/b.jsonl.gz", gzip(lines.replace("\"id\":", "\"id\":1").as_bytes(), 900));
    let rows: String = (0..20).map(|at| format!("c{at},\"{}\n\",{at}\n", text(at % 9))).collect();
    dir.write("in/c.csv", format!("id,text,rank\n{rows}"));
    dir.write("in/d.txt", text(3));
    let mut formats = "";
    if cfg!(feature = "parquet") {
        dir.write(
            "rows/p.jsonl",
            (0..20).map(|at| format!("{}\n", record(json!(at), at + 3))).collect::<String>(),
        );
        dir.alike("dedup rows/p.jsonl --method exact --out rows/out --to parquet -q", None).ok();
        formats = " rows/out/kept";
    }
    for (flags, out) in [("--keep field:rank:max", "one"), ("--keep longest --keep-per-cluster 2", "two")] {
        dir.alike(&format!("dedup in{formats} {flags} --out {out} -q"), None).ok();
        let server = Server::of(&dir, out, "");
        server.until("/", |reply| reply.json()["inputs"]["state"] == "ready");
        let mut places: Vec<String> = (1..=32).map(|line| format!("in/a.jsonl:{line}")).collect();
        places.extend((1..=32).map(|line| format!("in/b.jsonl.gz:{line}")));
        places.extend((1..=41).map(|line| format!("in/c.csv:{line}")));
        places.extend(["in/d.txt:1", "in/d.txt:2", "7", "17", "c3", "nobody"].map(str::to_owned));
        if !formats.is_empty() {
            places.extend((1..=6).map(|row| format!("rows/out/kept/p.parquet:{row}")));
        }
        let (mut there, mut not) = (0, 0);
        for place in places {
            let reply = server.get(&format!("/document?id={}&text=no", encoded(&place)));
            let told = dir.alike(&format!("explain {out} {place} --json"), None);
            if told.code == Some(0) {
                let mut told: Value = serde_json::from_str(&told.stdout).unwrap();
                for member in ["rule", "answer"] {
                    told.as_object_mut().unwrap().remove(member);
                }
                assert_eq!(reply.status(200).json(), told, "{flags}: {place}");
                there += 1;
            } else {
                assert!([400, 404].contains(&reply.status), "{place}: {}", reply.status);
                not += 1;
            }
        }
        assert!(there > 80 && not > 10, "{there} {not}");
    }
}

/// Ids that repeat take no verdict, and pages say so before anybody presses a button.
#[test]
fn an_id_that_repeats_has_no_buttons() {
    let dir = Dir::new();
    let record = |id: &str, from| format!("{}\n", json!({"id": id, "text": words(from, 40)}));
    // "far" repeats outside of all clusters, "near" within them.
    let rows = [("a", 0), ("near", 0), ("near", 0), ("far", 0), ("b", 0), ("far", 900)];
    dir.write("in.jsonl", rows.map(|(id, from)| record(id, from)).concat());
    dir.alike("dedup in.jsonl --out out -q", None).ok();
    let server = Server::of(&dir, "out", "--verdicts v.jsonl");
    server.until("/", |reply| reply.json()["inputs"]["state"] == "ready");
    let repeats: Vec<bool> = server.json("/clusters/1")["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member.get("repeats") == Some(&json!(true)))
        .collect();
    assert_eq!(repeats, [false, true, true, true, false]);
    for (line, has_buttons) in [(2, false), (3, false), (4, false), (5, true)] {
        let place = encoded(&format!("in.jsonl:{line}"));
        for path in [format!("/clusters/1?member={place}"), format!("/compare?a=a&b={place}")] {
            let page = server.page(&path);
            assert_eq!(page.values("button", "value").contains(&"same"), has_buttons, "{path}");
            assert_eq!(page.text.contains("other documents have the id"), !has_buttons, "{path}");
        }
    }
    assert!(server.ask("GET", "/compare?a=a&b=b", &[("Accept", BROWSER)], b"").status == 200);
}

/// What a run has found by an output is what a collection of the same documents says, which looks it up.
#[test]
fn the_nearest_outside_of_an_output_is_that_of_a_collection() {
    for flags in ["", "--within language"] {
        let (dir, documents) = super::finding::chained(&format!("--clustering guarantee {flags}"));
        dir.alike(&format!("dedup in.jsonl --threshold 0.7 {flags} --out out -q"), None).ok();
        let (collection, output) = (Server::start(&dir, ""), Server::of(&dir, "out", ""));
        output.until("/", |reply| reply.json()["inputs"]["state"] == "ready");
        let mut named = 0;
        for (id, ..) in &documents {
            let before = output.page(&format!("/documents/{id}"));
            before.says("that reads all inputs once");
            let asked = format!("/document?id={id}&outside=yes");
            let is_there = |reply: &super::client::Reply| {
                reply.status == 200 && reply.json()["nearest_outside"]["state"] == "ready"
            };
            let found = output.until(&asked, is_there).json()["nearest_outside"]["nearest"].clone();
            let expected = collection.json(&format!("/documents/{id}"))["nearest_outside"].clone();
            assert_eq!(found.is_null(), expected.is_null(), "{id}: {found} {expected}");
            let shown = output.page(&format!("/documents/{id}"));
            if found.is_null() {
                shown.says("linked to no document that is not in its cluster");
                continue;
            }
            named += 1;
            for name in ["shared", "resemblance", "linked"] {
                assert_eq!(found["measures"][name], expected[name], "{id}: {name}");
            }
            // Clusters are numbered in their own ways, but none and another are told apart.
            assert_eq!(found["cluster"].is_null(), expected["cluster"].is_null(), "{id}");
            shown.says("The two side by side");
        }
        assert!(named > 5, "{named}");
    }
    let (dir, _) = super::finding::chained("--clustering transitive");
    dir.alike("dedup in.jsonl --threshold 0.7 --clustering transitive --out out -q", None).ok();
    let server = Server::of(&dir, "out", "");
    assert!(server.get("/document?id=f0-3&outside=yes").status(400).message().contains("all that is linked"));
    assert!(!server.page("/documents/f0-3").text.contains("outside"));
    let collection = Server::start(&dir, "");
    collection.get("/document?id=f0-3&outside=yes").status(400);
}
