//! An output of `dedup` that is served, against its lists and the commands that say the same of it.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::client::{Server, encoded};
use super::markup::{BROWSER, Markup};
use super::openapi::{check, description};
use super::pages::{HOSTILE, all};
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// An output `out`: families of several sizes, some of them only through others, copies, ids that repeat, hostile ids, a record
/// without an id, a protected set.
fn made(flags: &str) -> Dir {
    let dir = Dir::new();
    let mut lines = String::new();
    for family in 0..9 {
        for member in 0..family + 1 {
            // Each differs from the one before by a word more.
            let text = format!("{} {}", words(family * 1000, 60), words(family * 1000 + 500, member));
            lines += &line(&format!("f{family}-{}", if member < 7 { member } else { 0 }), &text);
        }
    }
    dir.write("one.jsonl", &lines);
    let hostile: String =
        HOSTILE.iter().enumerate().map(|(at, id)| line(id, &words(50_000 + at / 2 * 100, 50))).collect();
    let nameless = json!({"text": words(3000, 60)}).to_string() + "\n";
    dir.write("two.jsonl", hostile + &nameless + &line("none", "..."));
    dir.write("old.jsonl", line("old", &words(8000, 60)));
    let inputs = "one.jsonl two.jsonl --against old=old.jsonl --clustering transitive";
    dir.alike(&format!("dedup {inputs} --out out -q {flags}"), None).ok();
    dir
}

fn list(dir: &Dir, name: &str) -> Vec<Value> {
    jsonl(&fs::read(dir.join(&format!("out/{name}"))).unwrap())
}

/// What a command prints of ids that no shell could be given in a line, without the rule.
fn told(dir: &Dir, arguments: &[&str]) -> Value {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(arguments)
        .arg("--json")
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let object = told.as_object_mut().unwrap();
    object.remove("rule");
    if object.get("answer") == Some(&json!("document")) {
        object.remove("answer");
    }
    told
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[test]
fn clusters_are_those_of_the_lists_in_any_order_and_pages() {
    let dir = made("");
    let server = Server::of(&dir, "out", "");
    let (clusters, duplicates) = (list(&dir, "clusters.jsonl"), list(&dir, "duplicates.jsonl"));
    let mut expected: Vec<(Value, Option<f64>)> = Vec::new();
    for cluster in &clusters {
        let removed: Vec<&Value> =
            duplicates.iter().filter(|row| row["cluster"] == cluster["cluster"]).collect();
        let inexact = removed.iter().filter(|row| row["reason"] != "exact");
        let least = inexact.map(|row| row["resemblance"].as_f64().unwrap()).reduce(f64::min);
        let brief = json!({
            "cluster": cluster["cluster"], "size": cluster["size"], "representative": cluster["representative"],
            "removed": removed.len(), "copies": removed.iter().filter(|row| row["reason"] == "exact").count(),
            "file": removed[0]["representative_file"],
            "line": removed[0]["representative_line"],
            "least": least.map(|least| json!({"resemblance": least})),
        });
        expected.push((brief, least));
    }
    assert!(expected.iter().any(|(_, least)| least.is_none()) && expected.len() > 10);
    let number = |brief: &Value| brief["cluster"].as_u64().unwrap();
    for least in [0, 3, 7, 1000] {
        let mut large: Vec<(Value, Option<f64>)> =
            expected.iter().filter(|(brief, _)| brief["size"].as_u64().unwrap() >= least).cloned().collect();
        for (sort, path) in [
            ("size", "/clusters"),
            ("size", "/clusters?sort=size"),
            ("looseness", "/clusters?sort=looseness"),
        ] {
            if sort == "size" {
                large.sort_by_key(|(brief, _)| (std::cmp::Reverse(brief["size"].as_u64()), number(brief)));
            } else {
                large.sort_by(|(a, x), (b, y)| {
                    let figure = |least: &Option<f64>| least.unwrap_or(f64::INFINITY);
                    figure(x).total_cmp(&figure(y)).then(number(a).cmp(&number(b)))
                });
            }
            let whole: Vec<Value> = large.iter().map(|(brief, _)| brief.clone()).collect();
            let path = format!("{path}{}min-size={least}", if path.contains('?') { '&' } else { '?' });
            for limit in [1, 4, 1000] {
                assert_eq!(all(&server, &path, "clusters", limit), whole, "{path}, {limit}");
            }
            assert_eq!(server.json(&path)["total"], whole.len());
        }
    }
    for (path, status) in [("/clusters?sort=newest", 400), ("/clusters/x", 400), ("/clusters/999999", 404)] {
        server.get(path).status(status);
    }
}

#[test]
fn a_cluster_is_what_show_says() {
    for flags in ["", "--lists parquet", "--keep-per-cluster 2"] {
        let dir = made(flags);
        let server = Server::of(&dir, "out", "");
        let mut compared = 0;
        for brief in all(&server, "/clusters", "clusters", 1000) {
            let number = brief["cluster"].to_string();
            let page = server.json(&format!("/clusters/{number}"));
            for (field, value) in brief.as_object().unwrap() {
                assert_eq!(&page[field], value, "{field}");
            }
            let shown = told(&dir, &["show", "out", &number, "--limit", "1000"]);
            let members = all(&server, &format!("/clusters/{number}"), "members", 2);
            assert_eq!(page["members"], json!(members));
            let (first, others) = members.split_first().unwrap();
            assert!(
                first["representative"] == true
                    && others.iter().all(|member| member["representative"] == false)
            );
            assert_eq!(first["id"], shown["representative"]["id"]);
            for field in ["file", "line"] {
                // Lists say where it stands if anything of the cluster was removed.
                let known = brief["removed"] != 0;
                assert!(
                    !known || first[field] == shown["representative"][field],
                    "{flags}: {field} of {first}"
                );
            }
            assert_eq!(others.len(), shown["members"].as_array().unwrap().len());
            for (member, shown) in others.iter().zip(shown["members"].as_array().unwrap()) {
                assert_eq!(member["id"], shown["id"]);
                assert_eq!(member.get("reason"), shown.get("reason"));
                let key = match member["file"].as_str() {
                    Some(file) => format!("{file}:{}", member["line"]),
                    None => text(member, "id").to_owned(),
                };
                let page = server.json(&format!("/clusters/{number}?member={}", encoded(&key)));
                assert_eq!(&page["compared"], shown, "{key}");
                compared += 1;
            }
            if let Some(file) = brief["file"].as_str() {
                let leader = format!("{file}:{}", brief["line"]);
                let alone = server.json(&format!("/clusters/{number}?member={}", encoded(&leader)));
                assert!(alone.get("compared").is_none());
            }
            server.get(&format!("/clusters/{number}?member=nobody")).status(404);
        }
        assert!(compared > 30, "{flags}: {compared}");
    }
}

/// Families whose members have less and less in common with the first, and copies.
fn families(dir: &Dir) {
    let mut lines = String::new();
    for family in 0..9 {
        for member in 0..=family {
            let own = words(family * 1000 + 500, member);
            lines += &line(&format!("f{family}-{member}"), &format!("{} {own}", words(family * 1000, 60)));
        }
        lines += &line(&format!("f{family}-copy"), &words(family * 1000, 60));
    }
    dir.write("in.jsonl", lines);
}

/// Parts as they are told: what stands for each, and its members.
fn told_parts(rows: &[Value]) -> Vec<(String, Vec<String>)> {
    let name = |id: &Value| id.as_str().unwrap().to_owned();
    let part = |row: &Value| {
        let mut members: Vec<String> = row["members"].as_array().unwrap().iter().map(name).collect();
        members.sort_unstable();
        (name(&row["representative"]), members)
    };
    let mut parts: Vec<(String, Vec<String>)> = rows.iter().map(part).collect();
    parts.sort_unstable();
    parts
}

/// A cluster falls into what a run with that threshold makes of its documents alone.
#[test]
fn clusters_fall_apart_as_a_run_over_their_documents_does() {
    for clustering in ["transitive", "guarantee"] {
        let (dir, collection) = (Dir::new(), Dir::new());
        [&dir, &collection].into_iter().for_each(families);
        dir.alike(&format!("dedup in.jsonl --out out -q --clustering {clustering}"), None).ok();
        collection.alike(&format!("load c in.jsonl -q --clustering {clustering}"), None).ok();
        let records: Vec<String> = fs::read_to_string(dir.join("in.jsonl"))
            .unwrap()
            .lines()
            .map(|line| format!("{line}\n"))
            .collect();
        let (mut fell, mut runs) = (0, 0);
        for (server, dir) in
            [(Server::of(&dir, "out", ""), &dir), (Server::start(&collection, ""), &collection)]
        {
            for brief in server.json("/clusters?limit=1000")["clusters"].as_array().unwrap() {
                let number =
                    brief["cluster"].as_str().map_or_else(|| brief["cluster"].to_string(), str::to_owned);
                for threshold in ["0.85", "0.92", "1"] {
                    let path = format!("/clusters/{number}?limit=1000&threshold={threshold}");
                    let data = server.json(&path);
                    let members = data["members"].as_array().unwrap();
                    let mut own: Vec<u64> =
                        members.iter().map(|member| member["line"].as_u64().unwrap()).collect();
                    own.sort_unstable();
                    dir.write(
                        "part.jsonl",
                        own.iter().map(|line| &*records[*line as usize - 1]).collect::<String>(),
                    );
                    let flags = format!("-q --threshold {threshold} --clustering {clustering}");
                    // Of a load the lesser id is kept, as it comes first here.
                    dir.alike(&format!("dedup part.jsonl --out part{runs} {flags} --assignments"), None).ok();
                    let folder = dir.join(&format!("part{runs}"));
                    let mut rows = jsonl(&fs::read(folder.join("clusters.jsonl")).unwrap());
                    let all = jsonl(&fs::read(folder.join("assignments.jsonl")).unwrap());
                    let alone = all.iter().filter(|row| row["cluster"].is_null());
                    rows.extend(
                        alone.map(|row| json!({ "representative": row["id"], "members": [row["id"]] })),
                    );
                    let parts = data["divided"]["parts"].as_array().unwrap();
                    assert_eq!(told_parts(parts), told_parts(&rows), "{clustering} {path}");
                    let page = server.page(&path);
                    page.says("At higher thresholds");
                    assert_eq!(page.text.contains("by themselves"), clustering == "guarantee");
                    (fell, runs) = (fell + usize::from(parts.len() > 1), runs + 1);
                }
                server.get(&format!("/clusters/{number}?threshold=0.1")).status(400);
            }
        }
        assert!(fell > 6 && fell < runs, "{fell} of {runs} fall apart");
    }
}

/// What is protected is measured in another way, or is not at hand.
#[test]
fn what_is_protected_is_not_taken_apart() {
    let dir = made("");
    let server = Server::of(&dir, "out", "");
    let clusters = server.json("/clusters?limit=1000");
    let of = |id: &str| {
        let found = clusters["clusters"].as_array().unwrap().iter().find(|row| row["representative"] == id);
        found.unwrap()["cluster"].to_string()
    };
    assert!(server.json(&format!("/clusters/{}", of("old")))["threshold"].is_null());
    let refused = server.get(&format!("/clusters/{}?threshold=0.9", of("old"))).status(400).message();
    assert!(refused.contains("not taken apart"), "{refused}");
    assert!(server.json(&format!("/clusters/{}", of("f5-0")))["threshold"].is_number());
}

#[test]
fn documents_are_explained_as_explain_does() {
    let dir = made("");
    let server = Server::of(&dir, "out", "");
    let mut names: Vec<(String, u64, bool)> = Vec::new();
    for cluster in list(&dir, "clusters.jsonl") {
        names.push((text(&cluster, "representative").to_owned(), cluster["cluster"].as_u64().unwrap(), true));
    }
    for row in list(&dir, "duplicates.jsonl") {
        names.push((text(&row, "id").to_owned(), row["cluster"].as_u64().unwrap(), false));
    }
    let order = |name: &(String, u64, bool)| (name.0.clone(), name.1, !name.2);
    names.sort_by_key(order);
    let mut found: Vec<(String, u64, bool)> = all(&server, "/documents", "documents", 3)
        .iter()
        .map(|row| (text(row, "id").to_owned(), row["cluster"].as_u64().unwrap(), row["kept"] == true))
        .collect();
    found.sort_by_key(order);
    assert_eq!(found, names);
    for prefix in ["f1", "f7-", "..", "\u{4e2d}", "nothing"] {
        let begin: Vec<&str> =
            names.iter().map(|name| &*name.0).filter(|name| name.starts_with(prefix)).collect();
        let rows = all(&server, &format!("/documents?q={}", encoded(prefix)), "documents", 2);
        assert_eq!(rows.iter().map(|row| text(row, "id")).collect::<Vec<_>>(), begin, "{prefix}");
    }
    let counts = names.iter().fold(BTreeMap::new(), |mut counts: BTreeMap<&str, u32>, (name, ..)| {
        *counts.entry(name).or_default() += 1;
        counts
    });
    let mut asked = vec!["none", "one.jsonl:3", "two.jsonl:13", "old"];
    asked.extend(
        counts.iter().filter(|(name, count)| **count == 1 && !name.contains('\u{0}')).map(|(name, _)| *name),
    );
    for id in &asked {
        let mut page = server.json(&format!("/documents/{}?text=yes", encoded(id)));
        let page = page.as_object_mut().unwrap();
        assert!(page.remove("text").is_some(), "{id}: {page:?}");
        assert_eq!(json!(page), told(&dir, &["explain", "out", id]), "{id}");
    }
    for pair in asked.windows(2) {
        let page = server.json(&format!("/compare?a={}&b={}", encoded(pair[0]), encoded(pair[1])));
        assert_eq!(page, told(&dir, &["explain", "out", pair[0], pair[1]]), "{pair:?}");
    }
    assert!(server.get("/documents/f8-0").status(400).message().contains("have the id"));
    for path in ["/documents/nobody", "/compare?a=nobody&b=f1-0"] {
        assert!(server.get(path).status(404).message().contains("no document"), "{path}");
    }
}

/// Places that lists do not name, ids that repeat, and ids that look like places.
#[test]
fn a_document_is_found_by_its_place_whatever_its_id_is() {
    let dir = Dir::new();
    let rows =
        [("a", 0), ("in.jsonl:3", 0), ("b", 0), ("b", 90)].map(|(id, from)| line(id, &words(from, 40)));
    dir.write("in.jsonl", rows.concat());
    dir.alike("dedup in.jsonl --out out -q", None).ok();
    let server = Server::of(&dir, "out", "");
    let page = server.json("/clusters/1?member=in.jsonl%3A3");
    assert_eq!((&page["compared"]["id"], &page["compared"]["line"]), (&json!("b"), &json!(3)), "{page}");
    assert_eq!(server.json("/clusters/1?member=in.jsonl%3A2")["compared"]["line"], 2);
    // Of an id that repeats the link leads to the place.
    let shown = server.ask("GET", "/clusters/1", &[("Accept", BROWSER)], b"").status(200);
    let markup = Markup::read(&shown.body);
    let links = markup.tags.iter().filter_map(|tag| tag.attributes.get("href"));
    let documents: Vec<&String> = links.filter(|to| to.starts_with("/documents/")).collect();
    assert!(documents.len() > 3 && documents.iter().all(|to| to.contains("in.jsonl%3A")), "{documents:?}");
    let rows = (0..3).map(|at| line(&format!("k{at}"), &words(7000, 60)));
    dir.write("kept.jsonl", rows.collect::<String>());
    dir.alike("dedup kept.jsonl --out kept -q --keep-per-cluster 2", None).ok();
    let server = Server::of(&dir, "kept", "");
    for place in ["kept.jsonl:1", "kept.jsonl:2", "kept.jsonl:3"] {
        let page = server.json(&format!("/document?id={}", encoded(place)));
        assert_eq!(page["document"]["cluster"], 1, "{place}: {page}");
    }
}

#[test]
fn an_output_takes_nothing_and_says_so() {
    let dir = made("");
    let server = Server::with_token_of(&dir, "out");
    let summary: Value = serde_json::from_slice(&fs::read(dir.join("out/summary.json")).unwrap()).unwrap();
    let page = server.json("/");
    assert_eq!(page["summary"], summary);
    assert!(text(&page, "command").contains("old=old.jsonl"));
    let counted: u64 = page["sizes"].as_array().unwrap().iter().map(|size| size[2].as_u64().unwrap()).sum();
    assert_eq!(json!(counted), summary["clusters"]);
    for path in ["/changes", "/check"] {
        server.get(path).status(404);
    }
    server.post("/check", &json!({"text": "a"})).status(404);
    let load = server.change("/load", "application/x-ndjson", line("new", "a b c").as_bytes());
    assert!(load.status(404).message().contains("an output is served"));
    server.change("/delete", "application/json", br#"{"ids":["new"]}"#).status(404);
    assert_eq!(server.get("/readyz").status(200).body, b"output\n");
    let metrics = String::from_utf8(server.get("/metrics").status(200).body).unwrap();
    assert!(metrics.contains(&format!("alike_collection_documents {}\n", summary["documents"])), "{metrics}");
    let described = description();
    let members = server.json("/clusters/1")["members"].as_array().unwrap().clone();
    let last = members.last().unwrap();
    let compared =
        format!("/clusters/1?member={}", encoded(&format!("{}:{}", text(last, "file"), last["line"])));
    for (route, path) in [
        ("/", "/"),
        ("/clusters", "/clusters?limit=2"),
        ("/clusters/{number}", &*compared),
        ("/documents", "/documents?limit=3"),
        ("/documents/{id}", "/documents/f3-1?text=yes"),
        ("/document", "/document?id=f3-1"),
        ("/compare", "/compare?a=f3-1&b=f3-2"),
    ] {
        let schema =
            &described["paths"][route]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        check(&described, schema, &server.json(path), route);
    }
}

#[test]
fn pages_say_what_the_data_say_and_act_on_nobody() {
    let dir = made("");
    let server = Server::of(&dir, "out", "");
    let page = |path: &str| {
        let reply = server.ask("GET", path, &[("Accept", BROWSER)], b"").status(200);
        Markup::read(&reply.body)
    };
    let clusters = server.json("/clusters?sort=looseness");
    let shown = page("/clusters?sort=looseness");
    for (row, cluster) in shown.rows.iter().zip(clusters["clusters"].as_array().unwrap()) {
        assert_eq!(
            row[..3],
            [&cluster["cluster"], &cluster["size"], &cluster["removed"]].map(Value::to_string)
        );
    }
    assert!(page("/").text.contains("Why documents were removed"));
    let hostile = server.json("/documents?q=%3Cscript");
    let cluster = &hostile["documents"][0]["cluster"];
    let paths = [
        "/documents?limit=1000".to_owned(),
        format!("/clusters/{cluster}"),
        format!("/clusters/{cluster}?member=two.jsonl:6"),
        format!("/documents/{}", encoded(HOSTILE[5])),
        format!("/compare?a={}&b={}", encoded(HOSTILE[5]), encoded(HOSTILE[6])),
    ];
    for path in paths {
        let markup = page(&path);
        let scripts = markup.tags.iter().filter(|tag| tag.name == "script");
        assert!(scripts.clone().count() == 1, "{path}");
        assert!(!markup.text.contains('\u{202e}') && !markup.text.contains('\u{1b}'), "{path}");
        for link in markup.tags.iter().filter(|tag| tag.name == "a") {
            let to = &link.attributes["href"];
            assert!(
                !["/changes", "/check"].contains(&&**to),
                "{path} leads to {to}, which an output has not"
            );
        }
    }
    // What a list leads to is there.
    for tag in page("/documents?q=f1").tags.iter().filter(|tag| tag.name == "a") {
        let to = &tag.attributes["href"];
        if to.starts_with("/documents/") || to.starts_with("/clusters/") {
            server.get(to).status(200);
        }
    }
}

#[test]
fn what_changes_beneath_is_told_and_the_rest_is_served_on() {
    let dir = made("");
    let server = Server::of(&dir, "out", "");
    fs::rename(dir.join("two.jsonl"), dir.join("away")).unwrap();
    assert_eq!(server.get("/documents/f3-1").status, 500);
    server.until("/readyz", |reply| reply.status == 503 && reply.message().contains("inputs"));
    let clusters = server.json("/clusters?limit=1000");
    fs::rename(dir.join("away"), dir.join("two.jsonl")).unwrap();
    server.get("/documents/f3-1").status(200);
    server.until("/readyz", |reply| reply.status == 200);
    fs::rename(dir.join("out"), dir.join("elsewhere")).unwrap();
    server.until("/readyz", |reply| reply.status == 503);
    assert_eq!(server.json("/clusters?limit=1000"), clusters);
    fs::rename(dir.join("elsewhere"), dir.join("out")).unwrap();
    server.until("/readyz", |reply| reply.status == 200);
    fs::remove_dir_all(dir.join("out")).unwrap();
    dir.alike("dedup one.jsonl --out out -q", None).ok();
    server.until("/readyz", |reply| reply.status == 503 && reply.message().contains("another output"));
    // Nothing is said of the one by the lists of the other.
    for path in ["/clusters/1", "/documents/f3-1"] {
        server.get(path).status(503);
    }
    // Before it is served, too.
    fs::remove_file(dir.join("out/duplicates.jsonl")).unwrap();
    dir.alike("serve out --listen 0", None).code(4);
    dir.alike("serve nowhere --listen 0", None).code(3);
}
