//! Pages for browsers: each says what the JSON of its address says, whatever ids and texts are, and does nothing else.

use serde_json::{Value, json};

use super::client::Server;
use super::markup::{BROWSER, Markup};
use super::pages::made;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

/// A number with commas.
fn figure(value: &Value) -> String {
    let mut digits = value.as_u64().unwrap().to_string();
    for at in (1..digits.len()).rev().filter(|at| (digits.len() - at).is_multiple_of(3)).collect::<Vec<_>>() {
        digits.insert(at, ',');
    }
    digits
}

#[test]
fn browsers_are_answered_with_pages_and_others_with_json() {
    let dir = made("");
    let server = Server::with_token(&dir, "");
    let kind = |path: &str, accept: &[(&str, &str)], status: u16| {
        let reply = server.ask("GET", path, accept, b"").status(status);
        assert_eq!(reply.header("vary"), Some("Accept"), "{path}");
        let kind = reply.header("content-type").unwrap().to_owned();
        // Whichever it is, it is what it is said to be.
        match kind.as_str() {
            "application/json" => drop(reply.json()),
            "text/html; charset=utf-8" => drop(Markup::read(&reply.body)),
            other => panic!("{path}: {other}"),
        }
        kind
    };
    let (data, page) = ("application/json", "text/html; charset=utf-8");
    for (path, status) in [
        ("/", 200),
        ("/clusters", 200),
        ("/clusters/1.1", 200),
        ("/documents", 200),
        ("/documents/f3-1", 200),
        ("/document?id=..", 200),
        ("/compare?a=f3-1&b=f3-2", 200),
        ("/changes", 200),
        ("/nothing", 404),
        ("/clusters/99.1", 404),
        ("/documents/nobody", 404),
        ("/clusters?sort=x", 400),
        ("/load", 405),
    ] {
        assert_eq!(kind(path, &[("Accept", BROWSER)], status), page, "{path}");
        for accept in
            [&[][..], &[("Accept", "*/*")], &[("Accept", "application/json")], &[("Accept", "image/png")]]
        {
            assert_eq!(kind(path, accept, status), data, "{path}");
        }
        let (before, query) = path.split_once('?').map_or((path, ""), |(path, query)| (path, query));
        assert_eq!(kind(&format!("{before}.json?{query}"), &[("Accept", BROWSER)], status), data);
    }
    // What only browsers are given.
    for path in ["/check", "/compare"] {
        assert_eq!(kind(path, &[("Accept", BROWSER)], 200), page);
    }
    assert_eq!(server.get("/check").status(405).header("allow"), Some("POST"));
    server.get("/compare").status(400);
    for (method, path, status) in [("POST", "/load", 401), ("PUT", "/", 405), ("POST", "/check", 415)] {
        let reply = server.ask(method, path, &[("Accept", BROWSER)], b"").status(status);
        assert_eq!(reply.header("content-type"), Some(page));
        Markup::read(&reply.body).says(&format!("Status {status}."));
        assert_eq!(reply.header("www-authenticate").is_some(), status == 401);
        assert_eq!(reply.header("allow").is_some(), status == 405);
    }
    let reply = server.ask("GET", "/", &[("Accept", BROWSER), ("Host", "evil.example")], b"").status(421);
    Markup::read(&reply.body).says("evil.example");
    let missing = server.browse("/documents/%3Cscript%3E").status(404);
    assert_eq!(Markup::read(&missing.body).values("script", "src").len(), 1);
}

#[test]
fn the_summary_has_the_figures_of_its_json() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let (page, summary) = (server.page("/"), server.json("/"));
    for (name, field) in
        [("Documents", "documents"), ("Clusters", "clusters"), ("Documents in clusters", "clustered")]
    {
        page.says(&format!("{name}{}", figure(&summary[field])));
    }
    let rows: Vec<(String, String)> = page.rows.iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let expected = summary["sizes"].as_array().unwrap().iter().map(|sizes| {
        let (from, to) = (figure(&sizes["from"]), figure(&sizes["to"]));
        (if from == to { from } else { format!("{from} to {to}") }, figure(&sizes["clusters"]))
    });
    assert_eq!(rows, expected.collect::<Vec<_>>());
    page.says("method = \"join\"");
    page.says(summary["collection"].as_str().unwrap());
}

/// Lists have the rows of their JSON, page by page, in every order and with every filter.
#[test]
fn lists_have_the_rows_of_their_json() {
    let dir = made("");
    let server = Server::start(&dir, "");
    for (path, list, columns) in [
        ("/clusters?limit=3", "clusters", &["cluster", "size", "representative"][..]),
        ("/clusters?sort=newest&min-size=3&limit=2", "clusters", &["cluster", "size", "representative"]),
        ("/clusters?sort=looseness&min-size=3&limit=2", "clusters", &["cluster", "size", "representative"]),
        ("/clusters?min-size=1000", "clusters", &["cluster", "size", "representative"]),
        ("/documents?limit=7", "documents", &["id", "cluster"]),
        ("/documents?q=f1&limit=4", "documents", &["id", "cluster"]),
        ("/documents?q=nothing", "documents", &["id", "cluster"]),
    ] {
        let (mut path, mut pages) = (path.to_owned(), 0);
        loop {
            let (page, data) = (server.page(&path), server.json(&path));
            let rows = data[list].as_array().unwrap();
            assert_eq!(page.rows.len(), rows.len(), "{path}");
            for (row, expected) in page.rows.iter().zip(rows) {
                let cells = columns.iter().map(|column| match &expected[column] {
                    Value::String(text) => alike::printable::printable(text).into_owned(),
                    Value::Null => "-".to_owned(),
                    number => figure(number),
                });
                assert_eq!(row[..columns.len()], cells.collect::<Vec<_>>());
            }
            assert_eq!(page.link("rel", "next").is_some(), data["next"].is_string(), "{path}");
            pages += 1;
            match page.link("rel", "next") {
                Some(next) => path = next,
                None => break,
            }
        }
        assert!(pages > 1 || !path.contains("limit"), "{path}");
    }
    let page = server.page("/clusters?sort=newest&min-size=3&limit=2");
    page.says(&format!("{} clusters of such a size.", server.json("/clusters?min-size=3")["total"]));
    // The forms say again what was asked for.
    assert!(page.values("input", "value").contains(&"3") && page.values("input", "value").contains(&"2"));
    let chosen: Vec<_> = page.tags.iter().filter(|tag| tag.attributes.contains_key("selected")).collect();
    assert!(chosen.len() == 1 && chosen[0].attributes["value"] == "newest", "{chosen:?}");
}

/// Links lead from the representative through all members and back, each held against it word by word.
#[test]
fn a_cluster_is_stepped_through() {
    for flags in ["--store-text", "--store-text --clustering guarantee"] {
        let dir = made(flags);
        let server = Server::start(&dir, "");
        let brief = server.json("/clusters?limit=1")["clusters"][0].clone();
        let (number, leader) =
            (brief["cluster"].as_str().unwrap(), brief["representative"].as_str().unwrap());
        let cluster = server.json(&format!("/clusters/{number}"));
        let page = server.page(&format!("/clusters/{number}"));
        let members = cluster["members"].as_array().unwrap();
        assert_eq!(page.rows.len(), members.len());
        for (row, member) in page.rows.iter().zip(members) {
            let shared = match (&member["representative"], &member["same_text"]) {
                (Value::Bool(true), _) => "the representative".to_owned(),
                (_, Value::Bool(true)) => "same text".to_owned(),
                _ => format!("resemblance {:.4}", member["measures"]["resemblance"].as_f64().unwrap()),
            };
            assert_eq!(
                row[..3],
                [member["id"].as_str().unwrap().to_owned(), shared, figure(&member["text_bytes"])]
            );
        }
        let others: Vec<&str> =
            members.iter().map(|member| member["id"].as_str().unwrap()).filter(|id| *id != leader).collect();
        assert!(others.len() > 5);
        let (mut at, mut marked, mut links) = (page, 0, Vec::new());
        for id in &others {
            let link = at.link("data-keys", "j n").expect("there is another one");
            assert!(link.contains(&format!("member={id}#member")), "{link}");
            at = server.page(&link);
            at.says(&format!("{id} against the representative"));
            let data = server.json(link.split('#').next().unwrap());
            let told = server.json(&format!("/compare?a={leader}&b={id}"));
            for (field, value) in data["compared"].as_object().unwrap() {
                assert_eq!(value, &told[field], "{id}");
            }
            marked += at.tags.iter().filter(|tag| ["ins", "del"].contains(&&*tag.name)).count();
            links.push(link);
        }
        assert!(marked > 5, "{marked} stretches of words are marked");
        assert_eq!(at.link("data-keys", "j n"), None);
        for link in links.iter().rev().skip(1) {
            assert_eq!(at.link("data-keys", "k p").as_ref(), Some(link));
            at = server.page(link);
        }
        assert_eq!(at.link("data-keys", "k p"), None);
        // Behind the last member of a page the next page is meant.
        let first = server.page(&format!("/clusters/{number}?limit=3&member={}", others[1]));
        let next = first.link("data-keys", "j n").expect("another page or member");
        assert!(server.browse(&next).status == 200, "{next}");
        server.page(&format!("/clusters/{number}?member={leader}"));
        server.browse(&format!("/clusters/{number}?member=nobody")).status(404);
        server.get(&format!("/clusters/{number}?member=f1-0")).status(404);
    }
}

/// What a cluster falls into at a threshold is what `recluster` prints of its documents there.
#[test]
fn a_cluster_falls_apart_as_recluster_says() {
    for flags in [
        "",
        "--measure containment --threshold 0.7 --clustering transitive",
        "--method minhash --verify=resemblance --threshold 0.6",
    ] {
        let dir = made(flags);
        let server = Server::start(&dir, "");
        let (mut fell, mut clusters) = (0, 0);
        for threshold in ["0.85", "0.93", "0.96", "1"] {
            let recluster =
                dir.alike(&format!("recluster c --threshold {threshold} --json"), None).ok().stdout;
            let recluster = crate::support::output::jsonl(recluster.as_bytes());
            for brief in server.json("/clusters?limit=1000")["clusters"].as_array().unwrap() {
                let path = format!(
                    "/clusters/{}?limit=1000&threshold={threshold}",
                    brief["cluster"].as_str().unwrap()
                );
                let data = server.json(&path);
                let own: Vec<&str> = data["members"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|member| member["id"].as_str().unwrap())
                    .collect();
                let parts = data["divided"]["parts"].as_array().unwrap();
                let mut found: Vec<(Value, Value)> = parts
                    .iter()
                    .map(|part| (part["representative"].clone(), part["members"].clone()))
                    .collect();
                let together =
                    recluster.iter().filter(|row| own.contains(&row["members"][0].as_str().unwrap()));
                let mut expected: Vec<(Value, Value)> =
                    together.map(|row| (row["representative"].clone(), row["members"].clone())).collect();
                let is_alone = |id: &&&str| {
                    !expected.iter().any(|(_, members)| members.as_array().unwrap().contains(&json!(id)))
                };
                let alone: Vec<(Value, Value)> =
                    own.iter().filter(is_alone).map(|id| (json!(id), json!([id]))).collect();
                expected.extend(alone);
                let sort = |rows: &mut Vec<(Value, Value)>| {
                    rows.sort_by_key(|row| row.0.as_str().unwrap().to_owned());
                };
                sort(&mut found);
                sort(&mut expected);
                assert_eq!(found, expected, "{flags} {path}");
                assert!(parts.is_sorted_by_key(|part| std::cmp::Reverse(part["size"].as_u64().unwrap())));
                (fell, clusters) = (fell + usize::from(parts.len() > 1), clusters + 1);
                let page = server.page(&path);
                assert_eq!(page.rows.len(), parts.len() + own.len(), "{path}");
                assert!(page.values("input", "value").contains(&threshold));
                if parts.len() > 1 {
                    page.says(&format!(
                        "At {threshold} all of it hangs together no longer: it falls into {} parts",
                        parts.len()
                    ));
                }
            }
        }
        assert!(fell > 3 && fell < clusters, "{fell} of {clusters} fall apart");
        server.get("/clusters/1.1?threshold=0.1").status(400);
        server.get("/clusters/1.1?threshold=x").status(400);
        assert!(server.json("/clusters/1.1")["threshold"].is_number());
    }
    for flags in ["--method exact", "--method minhash"] {
        let dir = made(flags);
        let server = Server::start(&dir, "");
        let cluster = server.json("/clusters?limit=1")["clusters"][0]["cluster"].as_str().unwrap().to_owned();
        assert!(server.json(&format!("/clusters/{cluster}"))["threshold"].is_null());
        assert!(!server.page(&format!("/clusters/{cluster}")).text.contains("At higher thresholds"));
        server.get(&format!("/clusters/{cluster}?threshold=0.95")).status(400);
    }
    let dir = Dir::new();
    let many: String =
        (0..301).map(|at| line(&format!("m{at}"), &format!("{} x{at}", words(0, 60)))).collect();
    dir.write("in.jsonl", many);
    dir.alike("load c in.jsonl", None).ok();
    let server = Server::start(&dir, "");
    assert!(server.json("/clusters/1.1")["threshold"].is_null());
    let refused = server.get("/clusters/1.1?threshold=0.95").status(400).message();
    assert!(refused.contains("301 documents is too large") && refused.contains("recluster"), "{refused}");
}

#[test]
fn a_document_says_why_it_is_here_and_two_what_links_them() {
    let dir = made("--store-text");
    let server = Server::start(&dir, "");
    let page = server.page("/documents/f11-5");
    let data = server.json("/documents/f11-5?text=yes");
    page.says(data["text"].as_str().unwrap());
    page.says("stands for the cluster.");
    page.says(&format!("{} is kept before", data["explanation"]["stays"]["kept"].as_str().unwrap()));
    let link = &data["explanation"]["chain"][0];
    page.says(&format!("resemblance {:.4}", link["measures"]["resemblance"].as_f64().unwrap()));
    assert!(!server.page("/documents/f11-5?text=no").text.contains(data["text"].as_str().unwrap()));
    server.page("/documents/f11-0").says("It stands for the cluster.");
    server.page("/documents/none").says("none: its text has no token");
    server.page("/documents/f0-0").says("none: it is like no other");
    let same = server.page("/documents/f11-3");
    same.says("Documents of the same text");
    assert!(same.values("a", "href").contains(&"/documents/f11-6"));

    let together = server.page("/compare?a=f11-1&b=f11-5");
    together.says("They are together in cluster");
    assert!(
        together.tags.iter().any(|tag| tag.name == "del")
            && together.tags.iter().any(|tag| tag.name == "ins")
    );
    let apart = server.page("/compare?a=f11-1&b=f2-0");
    apart.says("They are not together.");
    apart.says("The closest pair of their clusters");
    server.page("/compare?a=f11-1&b=none").says("A text without a token is like no other.");
    assert_eq!(apart.values("input", "value"), ["f11-1", "f2-0"]);
    server.browse("/compare?a=f11-1&b=nobody").status(404);
}

#[test]
fn changes_are_told_commit_by_commit() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let (page, data) = (server.page("/changes?limit=1000"), server.json("/changes?limit=1000"));
    let log: Vec<Value> =
        crate::support::output::jsonl(dir.alike("log c --json", None).ok().stdout.as_bytes());
    for row in data["commits"].as_array().unwrap() {
        // Which commits can be looked at again is for the command line.
        let same = |told: &Value| row.as_object().unwrap().iter().all(|(key, value)| told[key] == *value);
        assert!(log.iter().any(same), "{row} is not in {log:?}");
        page.says(&format!("Commit {}", row["commit"]));
        page.says(&format!(
            ": {} added, {} replaced, {} removed",
            row["added"], row["replaced"], row["removed"]
        ));
        assert!(page.values("time", "datetime").contains(&row["time"].as_str().unwrap()));
    }
    let changes = data["changes"].as_array().unwrap();
    assert!(changes.iter().any(|line| line["change"] == "joined"));
    let shown =
        page.tags.iter().filter(|tag| tag.attributes.get("class").is_some_and(|class| class == "tag"));
    assert_eq!(shown.count(), changes.len());
    for line in changes {
        page.says(line["change"].as_str().unwrap());
        for field in ["id", "representative", "to"] {
            if let Some(id) = line[field].as_str() {
                page.says(&alike::printable::printable(id));
            }
        }
    }
    let last = data["commit"].as_u64().unwrap();
    server.page(&format!("/changes?since={last}")).says("Nothing has changed since.");
}

#[test]
fn a_text_is_checked_by_a_form() {
    for flags in ["", "--method minhash", "--method exact"] {
        let dir = made(flags);
        let server = Server::start(&dir, "--max-body 64KiB");
        let form = server.page("/check");
        assert_eq!(
            (form.values("form", "method"), form.values("textarea", "name")),
            (vec!["post"], vec!["text"])
        );
        for text in [
            words(1000, 60) + " m0",
            format!("\n {}\n</textarea><script>alert(1)</script> & \u{202e}", words(11_000, 60) + " m0"),
            "nothing like it".to_owned(),
        ] {
            let page = Markup::read(&server.send_form("/check", "text", &text, &[]).status(200).body);
            let found = server.post("/check", &json!({ "text": text })).status(200).json();
            let ids: Vec<&str> = found["resembles"]
                .as_array()
                .unwrap()
                .iter()
                .map(|found| found["id"].as_str().unwrap())
                .collect();
            let shown: Vec<&str> = page.rows.iter().map(|row| row[0].as_str()).collect();
            assert_eq!(shown, ids, "{flags}");
            // A line break at the beginning is not part of the field.
            assert!(page.text.contains(&format!("\n{text}")), "{}", page.text);
            assert_eq!(page.values("script", "src").len(), 1);
        }
        let own = format!("http://{}", server.address);
        server.send_form("/check", "text", "a", &[("Origin", &own)]).status(200);
        for origin in ["null", "https://evil.example"] {
            server.send_form("/check", "text", "a", &[("Origin", origin)]).status(403);
        }
        server.send_form("/check", "texts", "a", &[]).status(400);
        server.send_form("/check", "text", &"long ".repeat(40_000), &[]).status(413);
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        for body in ["", "text", "text=%ff", "text=%zz", "text=a&text=b"] {
            let expected = if body == "text" { 200 } else { 400 };
            server.ask("POST", "/check", &form, body.as_bytes()).status(expected).json();
        }
    }
}

/// Where documents are compared within a field, a text has its value: in JSON, and in the form.
#[test]
fn texts_are_held_against_documents_of_their_value() {
    let dir = Dir::new();
    let record = |id: &str, year: Option<u32>| match year {
        Some(year) => format!("{}\n", json!({"id": id, "text": words(0, 60), "year": year})),
        None => format!("{}\n", json!({"id": id, "text": words(0, 60)})),
    };
    dir.write("in.jsonl", record("a", Some(2024)) + &record("b", Some(2025)) + &record("c", None));
    dir.alike("load c in.jsonl --within year", None).ok();
    let server = Server::start(&dir, "");
    let ids = |found: &Value| -> Vec<String> {
        let found = found["resembles"].as_array().unwrap().iter();
        found.map(|found| found["id"].as_str().unwrap().to_owned()).collect()
    };
    for (within, expected) in [
        (json!("2024"), vec!["a"]),
        (json!(2025), vec!["b"]),
        (json!("1999"), vec![]),
        (json!(null), vec!["c"]),
    ] {
        let asked = json!({"text": words(0, 60), "within": within});
        assert_eq!(ids(&server.post("/check", &asked).status(200).json()), expected, "{within}");
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", BROWSER)];
    let text = words(0, 60).replace(' ', "+");
    for (body, expected) in [
        (format!("text={text}&within=2024"), "a"),
        (format!("text={text}&within="), "c"),
        (format!("text={text}"), "c"),
    ] {
        let page = Markup::read(&server.ask("POST", "/check", &form, body.as_bytes()).status(200).body);
        assert_eq!(page.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), [expected], "{body}");
        assert!(page.values("input", "name").contains(&"within"), "{}", page.text);
    }
    let form_page = |server: &Server| {
        Markup::read(&server.ask("GET", "/check", &[("Accept", BROWSER)], b"").status(200).body)
    };
    assert!(form_page(&server).text.contains("Its year"));
    server.ask("POST", "/check", &form, b"text=a&within=1&within=2").status(400);
    let plain = made("");
    let server = Server::start(&plain, "");
    server.post("/check", &json!({"text": "a", "within": "x"})).status(400);
    assert!(form_page(&server).values("input", "name").is_empty());
}
