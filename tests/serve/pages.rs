//! What is read, against the commands that print the same.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::client::{Server, encoded};
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// Ids that no address has as they are.
pub(super) const HOSTILE: [&str; 12] = [
    "a/b/c",
    "../../etc/passwd",
    "..",
    "a.json",
    "a b+c%20d",
    "<script>alert(1)</script>",
    "\u{202e}txt.exe",
    "\u{1b}[2J",
    "q?x=1&y#z",
    "\u{4e2d}\u{6587}",
    "\"\\\n",
    "a\u{0}b",
];

/// A collection `c` in three commits: families of several sizes, copies, documents alone, hostile ids, one without a token.
pub(super) fn made(flags: &str) -> Dir {
    let dir = Dir::new();
    let mut lines = String::new();
    for family in 0..12 {
        for member in 0..family + 1 {
            let text = format!("{} m{}", words(family * 1000, 60), if member % 3 == 0 { 0 } else { member });
            lines += &line(&format!("f{family}-{member}"), &text);
        }
    }
    dir.write("one.jsonl", &lines);
    let hostile: String =
        HOSTILE.iter().enumerate().map(|(at, id)| line(id, &words(50_000 + at / 2 * 100, 50))).collect();
    dir.write("two.jsonl", hostile + &line("none", "..."));
    // A family grows, another loses its first.
    let third = line("f3-9", &format!("{} more", words(3000, 60))) + &line("f4-0", &words(90_000, 50));
    dir.write("three.jsonl", third);
    for name in ["one", "two", "three"] {
        dir.alike(&format!("load c {name}.jsonl {}", if name == "one" { flags } else { "" }), None).ok();
    }
    dir
}

pub(super) fn printed(dir: &Dir, line: &str) -> Vec<Value> {
    jsonl(dir.alike(line, None).ok().stdout.as_bytes())
}

/// What `explain` prints of ids that no shell could be given in a line.
/// What `explain` says, without the rule: of the whole collection that is on the first page.
fn explained(dir: &Dir, ids: &[&str]) -> Value {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(["explain", "c"])
        .args(ids)
        .arg("--json")
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told.as_object_mut().unwrap().remove("rule").is_some(), "{told}");
    told
}

/// All of a list, page by page.
pub(super) fn all(server: &Server, path: &str, list: &str, limit: usize) -> Vec<Value> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let join = if path.contains('?') { '&' } else { '?' };
        let page = server.json(&format!("{path}{join}limit={limit}{after}"));
        let rows = page[list].as_array().unwrap();
        assert!(rows.len() <= limit);
        found.extend(rows.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", encoded(next)),
            None => return found,
        }
    }
}

#[test]
fn the_summary_is_what_info_and_stats_say() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let summary = server.json("/");
    let (info, stats) = (printed(&dir, "info c --json").remove(0), printed(&dir, "stats c --json").remove(0));
    for field in ["collection", "commit", "documents", "contents", "clusters", "store_text", "configuration"]
    {
        assert_eq!(summary[field], info[field], "{field}");
    }
    for field in ["loads", "clusters", "clustered", "removed", "sizes"] {
        assert_eq!(summary[field], stats[field], "{field}");
    }
    let commit = summary["commit"].as_u64().unwrap();
    for path in ["/.json", "/?"] {
        assert_eq!(server.json(path), summary);
    }
    assert_eq!(server.get("/healthz").status(200).body, b"ok\n");
    assert_eq!(server.get("/readyz").status(200).body, format!("commit {commit}\n").into_bytes());
}

#[test]
fn clusters_are_those_that_clusters_prints_in_any_pages() {
    for flags in ["", "--clustering guarantee", "--method exact"] {
        let dir = made(flags);
        let server = Server::start(&dir, "");
        let places: BTreeMap<String, Value> = printed(&dir, "documents c --json")
            .into_iter()
            .map(|document| (document["id"].as_str().unwrap().to_owned(), document))
            .collect();
        for least in [0, 3, 7, 1000] {
            let whole = printed(&dir, &format!("clusters c --json --min-size {least}"));
            let brief = |cluster: &Value| {
                let place = &places[cluster["representative"].as_str().unwrap()];
                json!({
                    "cluster": cluster["cluster"], "size": cluster["size"], "representative": cluster["representative"],
                    "file": place["file"], "line": place["line"],
                })
            };
            let expected: Vec<Value> = whole.iter().map(brief).collect();
            for limit in [1, 4, 1000] {
                let path = format!("/clusters?min-size={least}");
                assert_eq!(all(&server, &path, "clusters", limit), expected, "{flags}, {least}, {limit}");
            }
            assert_eq!(server.json(&format!("/clusters?min-size={least}"))["total"], expected.len());
            let number = |cluster: &Value| -> Vec<u64> {
                let number = cluster["cluster"].as_str().unwrap();
                number.split('.').map(|part| part.parse().unwrap()).collect()
            };
            let mut newest = expected.clone();
            newest.sort_by_key(|cluster| std::cmp::Reverse(number(cluster)));
            assert_eq!(
                all(&server, &format!("/clusters?sort=newest&min-size={least}"), "clusters", 3),
                newest
            );
        }
        for cluster in printed(&dir, "clusters c --json") {
            let number = cluster["cluster"].as_str().unwrap();
            let shown = server.json(&format!("/clusters/{number}"));
            for field in ["cluster", "size", "representative"] {
                assert_eq!(shown[field], cluster[field], "{shown}");
            }
            assert_eq!(server.json(&format!("/clusters/{number}.json")), shown);
            let members = all(&server, &format!("/clusters/{number}"), "members", 2);
            assert_eq!(shown["members"], json!(members));
            let ids: Vec<&Value> = members.iter().map(|member| &member["id"]).collect();
            assert_eq!(json!(ids), cluster["members"]);
            for member in &members {
                let id = member["id"].as_str().unwrap();
                for (field, value) in places[id].as_object().unwrap() {
                    assert_eq!(&member[field], value, "{field} of {id}");
                }
                let leads = member["id"] == cluster["representative"];
                assert_eq!(member["representative"], leads);
                if !leads && !id.contains('\u{0}') {
                    let told = explained(&dir, &[id, cluster["representative"].as_str().unwrap()]);
                    let ends = if told["ends"].is_null() { &told["chain"][0] } else { &told["ends"] };
                    assert_eq!(
                        (&member["measures"], &member["same_text"]),
                        (&ends["measures"], &ends["same_text"]),
                        "{id}"
                    );
                }
            }
        }
        server.get("/clusters/99.1").status(404);
        server.get("/clusters/x").status(400);
    }
}

#[test]
fn documents_are_those_that_documents_prints_in_order_of_their_ids() {
    let dir = made("--store-text");
    let server = Server::start(&dir, "");
    let expected = printed(&dir, "documents c --json");
    assert!(expected.is_sorted_by(|a, b| a["id"].as_str() < b["id"].as_str()));
    for limit in [1, 7, 1000] {
        assert_eq!(all(&server, "/documents", "documents", limit), expected, "{limit}");
    }
    for prefix in ["f1", "f11-", "..", "\u{4e2d}", "nothing"] {
        let begin: Vec<Value> =
            expected.iter().filter(|row| row["id"].as_str().unwrap().starts_with(prefix)).cloned().collect();
        assert_eq!(
            all(&server, &format!("/documents?q={}", encoded(prefix)), "documents", 2),
            begin,
            "{prefix}"
        );
    }
    for row in &expected {
        let id = row["id"].as_str().unwrap();
        let shown = server.json(&format!("/documents/{}?text=yes", encoded(id)));
        for (field, value) in row.as_object().unwrap() {
            assert_eq!(&shown[field], value, "{field} of {id:?}");
        }
        assert!(shown["text"].is_string() && shown["no_text"].is_null(), "{shown}");
        if !id.contains('\u{0}') {
            let mut told = explained(&dir, &[id]);
            told.as_object_mut().unwrap().remove("answer");
            assert_eq!(shown["explanation"], told, "{id:?}");
        }
    }
    // Slashes may stand as they are; an id that ends like the suffix goes before one without it.
    assert_eq!(server.json("/documents/a/b/c")["id"], "a/b/c");
    assert_eq!(server.json("/documents/a/b/c.json")["id"], "a/b/c");
    assert_eq!(server.json("/documents/a.json")["id"], "a.json");
    assert_eq!(server.json("/documents/../../etc/passwd")["id"], "../../etc/passwd");
    server.get("/documents/nobody").status(404);
    server.get("/documents/f1-0?text=perhaps").status(400);
}

#[test]
fn texts_are_said_to_be_gone_with_their_files() {
    let dir = made("");
    let server = Server::start(&dir, "");
    assert!(server.json("/documents/f1-0?text=yes")["text"].is_string());
    std::fs::remove_file(dir.join("one.jsonl")).unwrap();
    let shown = server.json("/documents/f1-0?text=yes");
    assert!(shown["text"].is_null() && shown["no_text"].as_str().unwrap().contains("one.jsonl"), "{shown}");
    assert!(server.json("/documents/f1-0")["no_text"].is_null());
}

#[test]
fn two_documents_are_compared_as_explain_does() {
    let dir = made("");
    let server = Server::start(&dir, "");
    for (a, b) in
        [("f11-1", "f11-5"), ("f11-0", "f11-3"), ("f3-9", "f2-0"), ("none", "f1-0"), ("..", "a/b/c")]
    {
        let mut expected = explained(&dir, &[a, b]);
        expected["commit"] = server.json("/")["commit"].clone();
        assert_eq!(server.json(&format!("/compare?a={}&b={}", encoded(a), encoded(b))), expected, "{a} {b}");
    }
    server.get("/compare?a=f1-0&b=nobody").status(404);
    server.get("/compare?a=f1-0&b=f1-0").status(400);
    assert!(server.get("/compare?a=f1-0").status(400).message().contains("\"b\" is missing"));
}

#[test]
fn changes_are_those_that_changes_prints_in_any_pages() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let last = server.json("/")["commit"].as_u64().unwrap();
    assert!(last > 3);
    for since in 0..=last {
        let expected = printed(&dir, &format!("changes c --since {since}"));
        for limit in [1, 5, 1000] {
            let path = format!("/changes?since={since}");
            assert_eq!(all(&server, &path, "changes", limit), expected, "{since}, {limit}");
        }
    }
    server.get(&format!("/changes?since={}", last + 1)).status(400);
    server.get("/changes?after=x").status(400);
}

#[test]
fn texts_are_checked_as_check_does() {
    for flags in ["", "--method minhash", "--measure containment", "--method exact"] {
        let dir = made(flags);
        let server = Server::start(&dir, "");
        let texts = [
            words(1000, 60) + " m0",
            words(1000, 60).to_uppercase() + " M0 !",
            words(11_000, 30),
            words(11_000, 57) + " x y",
            "nothing like it".to_owned(),
            String::new(),
            "<script>alert(1)</script> \u{202e} \u{1b}[2J".to_owned(),
        ];
        let lines: String = texts.iter().map(|text| line("x", text)).collect();
        dir.write("texts.jsonl", lines);
        let expected: Vec<Value> =
            printed(&dir, "check c texts.jsonl --json").iter().map(|row| row["resembles"].clone()).collect();
        // Otherwise nothing would be shown.
        assert!(expected.iter().filter(|found| !found.as_array().unwrap().is_empty()).count() > 1, "{flags}");
        let batch = server.post("/check", &json!({ "texts": texts })).status(200).json();
        let found: Vec<Value> =
            batch["texts"].as_array().unwrap().iter().map(|row| row["resembles"].clone()).collect();
        assert_eq!(found, expected, "{flags}");
        for (text, expected) in texts.iter().zip(&expected) {
            let one = server.post("/check", &json!({ "text": text })).status(200).json();
            assert_eq!(one, json!({ "commit": batch["commit"], "resembles": expected }));
        }
        // Those who ask at the same moment are answered together, and each as if it were alone.
        std::thread::scope(|scope| {
            for client in 0..12 {
                let (server, texts, expected) = (&server, &texts, &expected);
                scope.spawn(move || {
                    for round in 0..18 {
                        let at = (client * 5 + round) % (texts.len() + 2);
                        let asked = match texts.get(at) {
                            Some(text) => json!({ "text": text }),
                            None if at == texts.len() => json!({ "text": 7 }),
                            None => json!({ "text": texts[0], "within": "x" }),
                        };
                        let reply = server.post("/check", &asked);
                        match expected.get(at) {
                            Some(expected) => assert_eq!(&reply.status(200).json()["resembles"], expected),
                            None => {
                                let wrong = ["expected {", "leave it out"][at - texts.len()];
                                assert!(reply.status(400).message().contains(wrong));
                            }
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn a_new_commit_appears_without_a_restart() {
    let dir = made("");
    let server = Server::start(&dir, "");
    server.json("/documents?q=f1-");
    let first = server.json("/")["commit"].as_u64().unwrap();
    let newest = || dir.alike("info c --json", None).ok().stdout;
    let newest = || -> Value { serde_json::from_str::<Value>(&newest()).unwrap()["commit"].clone() };
    let ready = || {
        let commit = newest();
        server.until("/readyz", |reply| reply.body == format!("commit {commit}\n").into_bytes());
        commit.as_u64().unwrap()
    };
    dir.write("four.jsonl", line("f1-new", &words(1000, 60)));
    dir.alike("load c four.jsonl", None).ok();
    let second = ready();
    assert!(second > first);
    assert_eq!(server.json("/")["commit"], second);
    assert_eq!(server.json("/documents?q=f1-new")["documents"][0]["id"], "f1-new");
    let cluster = server.json("/documents/f1-new")["cluster"].as_str().unwrap().to_owned();
    assert_eq!(server.json(&format!("/clusters/{cluster}"))["size"], 3);
    dir.alike("compact c", None).ok();
    let third = ready();
    assert!(third > second);
    let metrics = server.get("/metrics").status(200);
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let metrics = String::from_utf8(metrics.body).unwrap();
    let line =
        |name: &str| metrics.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert_eq!(line("alike_collection_commit "), format!("alike_collection_commit {third}"));
    assert_eq!(
        line("alike_http_requests_total{route=\"/documents/{id}\""),
        "alike_http_requests_total{route=\"/documents/{id}\",status=\"200\"} 1"
    );
}
