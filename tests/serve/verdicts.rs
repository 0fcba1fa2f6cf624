//! Verdicts on pairs: who may give them, that each is a line of a file that `evaluate` reads, and what pages say of them.

use std::fs;

use serde_json::{Value, json};

use super::client::{Reply, Server, TOKEN, encoded};
use super::markup::{BROWSER, Markup};
use super::openapi::{check, description};
use super::pages::{HOSTILE, made};
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

fn address(a: &str, b: &str) -> String {
    format!("/verdicts?a={}&b={}", encoded(a), encoded(b))
}

fn lines(dir: &Dir) -> Vec<Value> {
    let bytes = fs::read(dir.join("v.jsonl")).unwrap();
    assert!(bytes.is_empty() || bytes.ends_with(b"\n"));
    jsonl(&bytes)
}

fn judge(server: &Server, a: &str, b: &str, verdict: &str) -> Reply {
    server.post(&address(a, b), &json!({"verdict": verdict}))
}

/// The fields of a line that do not depend on the time.
fn said(line: &Value) -> (&str, &str, &Value) {
    assert!(line["judged_at"].as_str().unwrap().ends_with('Z'));
    (line["id_a"].as_str().unwrap(), line["id_b"].as_str().unwrap(), &line["grade"])
}

/// Sends a form from a page of the server, and says where it leads.
fn press(server: &Server, action: &str, verdict: &str) -> String {
    let own = format!("http://{}", server.address);
    let reply = server.send_form(action, "verdict", verdict, &[("Origin", &own)]).status(303);
    assert!(reply.body.is_empty());
    reply.header("location").unwrap().to_owned()
}

/// Whatever ids are, the form of a page writes them as they are, leads back, and says the verdict; the last one counts.
#[test]
fn a_form_writes_what_evaluate_reads() {
    let dir = made("");
    let server = Server::start(&dir, "--verdicts v.jsonl");
    assert_eq!(lines(&dir), [] as [Value; 0]);
    let mut expected = Vec::new();
    for (at, id) in HOSTILE.iter().enumerate() {
        let compare = format!("/compare?a={}&b=f3-1", encoded(id));
        let page = server.page(&compare);
        page.says("No verdict yet.");
        assert_eq!(page.values("button", "value"), ["same", "different", "unsure"]);
        let action =
            page.values("form", "action").into_iter().find(|to| to.starts_with("/verdicts?")).unwrap();
        let (verdict, grade, told) = [
            ("same", json!(1), "the same"),
            ("different", json!(0), "not the same"),
            ("unsure", json!("unsure"), "unsure"),
        ][at % 3]
            .clone();
        let back = press(&server, action, verdict);
        server.page(&back).says(&format!("The last verdict: {told}."));
        assert_eq!(server.json(&compare)["verdict"], verdict);
        assert_eq!(server.json(&format!("/compare?a=f3-1&b={}", encoded(id)))["verdict"], verdict);
        assert_eq!(said(lines(&dir).last().unwrap()), (*id, "f3-1", &grade));
        expected.push((*id, grade));
    }
    judge(&server, "f3-1", HOSTILE[0], "different").status(200);
    assert_eq!(lines(&dir).len(), HOSTILE.len() + 1);
    drop(server);
    // The next server knows them.
    let server = Server::start(&dir, "--verdicts v.jsonl");
    assert_eq!(server.json(&format!("/compare?a={}&b=f3-1", encoded(HOSTILE[0])))["verdict"], "different");
    drop(server);
    let told =
        dir.alike("evaluate one.jsonl two.jsonl three.jsonl --labels v.jsonl --id-field id --json -q", None);
    // f4-0 is in two of the files; nothing is said of it.
    let told: Value = serde_json::from_str(&told.ok().stdout).unwrap();
    let unsure = expected.iter().filter(|(_, grade)| grade == "unsure").count();
    assert_eq!(told["labels"]["form"], "pairs");
    assert_eq!(told["labels"]["used"], HOSTILE.len() - unsure, "{}", told["labels"]);
    assert_eq!((&told["labels"]["unsure"], &told["labels"]["replaced"]), (&json!(unsure), &json!(1)));
    assert_eq!(told["labels"]["unknown"]["count"], 0);
}

/// The page of a cluster has the buttons beside the member that is compared, and the verdicts of all in a column.
#[test]
fn a_cluster_says_what_was_said_of_its_members() {
    let dir = made("");
    let server = Server::start(&dir, "--verdicts v.jsonl");
    let cluster = server.json("/documents/f5-1")["cluster"].as_str().unwrap().to_owned();
    let representative =
        server.json(&format!("/clusters/{cluster}"))["representative"].as_str().unwrap().to_owned();
    let path = format!("/clusters/{cluster}?member=f5-1");
    assert_ne!(representative, "f5-1");
    let page = server.page(&path);
    let action = page.values("form", "action").into_iter().find(|to| to.starts_with("/verdicts?")).unwrap();
    assert_eq!(press(&server, action, "different"), format!("{path}#member"));
    let page = server.page(&path);
    page.says("The last verdict: not the same.");
    let row = page.rows.iter().find(|row| row[0] == "f5-1").unwrap();
    assert_eq!(row[2], "not the same");
    let data = server.json(&path);
    assert_eq!(data["verdicts"], json!({"f5-1": "different"}));
    let schema = json!({"$ref": "#/components/schemas/Cluster"});
    check(&description(), &schema, &data, "cluster");
    let others = page.rows.iter().filter(|row| row[0] != "f5-1");
    assert!(others.clone().count() > 1 && others.into_iter().all(|row| row[2] == "-"));
    assert_eq!(said(&lines(&dir)[0]), (&*representative, "f5-1", &json!(0)));
    // Without a member there is nothing to press.
    assert!(!server.page(&format!("/clusters/{cluster}")).values("button", "name").contains(&"verdict"));
}

#[test]
fn without_a_file_there_are_no_verdicts() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let page = server.page("/compare?a=f3-1&b=f3-2");
    assert!(!page.values("button", "name").contains(&"verdict") && !page.text.contains("verdict"));
    assert!(judge(&server, "f3-1", "f3-2", "same").status(403).message().contains("--verdicts"));
    assert!(server.json("/compare?a=f3-1&b=f3-2").get("verdict").is_none());
    assert_eq!(server.get("/verdicts").status(405).header("allow"), Some("POST"));
}

/// What is refused writes nothing.
#[test]
fn what_makes_no_sense_is_refused() {
    let dir = made("");
    let server = Server::start(&dir, "--verdicts v.jsonl");
    let own = format!("http://{}", server.address);
    let (json, form) = ("application/json", "application/x-www-form-urlencoded");
    let pair = address("f3-1", "f3-2");
    let good = "{\"verdict\":\"same\"}";
    for (path, content, body, status) in [
        (&*pair, "text/plain", good, 415),
        (&pair, "", good, 415),
        (&pair, json, "", 400),
        (&pair, json, "{\"verdict\":\"maybe\"}", 400),
        (&pair, json, "{\"verdict\":1}", 400),
        (&pair, json, "{\"verdict\":\"same\",\"a\":\"x\"}", 400),
        (&pair, form, "verdict=maybe", 400),
        (&pair, form, "", 400),
        (&pair, form, "verdict=same&verdict=same", 400),
        (&pair, form, "verdict=same&other=1", 400),
        ("/verdicts", json, good, 400),
        ("/verdicts?a=f3-1", json, good, 400),
        ("/verdicts?a=f3-1&b=f3-2&c=1", json, good, 400),
        ("/verdicts?a=f3-1&b=f3-1", json, good, 422),
        ("/verdicts?a=f3-1&b=", json, good, 422),
        ("/verdicts?a=f3-1&b=nobody", json, good, 404),
        ("/verdicts?a=nobody&b=f3-1", json, good, 404),
        ("/verdicts?a=f3-1&b=f3-2&back=https://evil.example/", json, good, 400),
        ("/verdicts?a=f3-1&b=f3-2&back=//evil.example/", form, "verdict=same", 400),
    ] {
        let headers = [("Content-Type", content), ("Origin", &own)];
        let reply = server.ask("POST", path, &headers, body.as_bytes()).status(status);
        assert!(!reply.message().is_empty());
    }
    let long = format!("verdict=same&token={}", "x".repeat(20_000));
    server.ask("POST", &pair, &[("Content-Type", form), ("Origin", &own)], long.as_bytes()).status(413);
    assert_eq!(lines(&dir), [] as [Value; 0]);
}

/// A page of another site can write nothing, whatever it sends and its browser says.
#[test]
fn pages_of_other_sites_give_no_verdicts() {
    let dir = made("");
    let server = Server::start(&dir, "--verdicts v.jsonl");
    let (pair, own) = (address("f3-1", "f3-2"), format!("http://{}", server.address));
    let evil = "https://evil.example";
    for headers in [
        &[][..],
        &[("Origin", evil)],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Origin", &own), ("Sec-Fetch-Site", "cross-site")],
        &[("Origin", &own), ("Sec-Fetch-Site", "same-site")],
        &[("Origin", &own), ("Host", "evil.example")],
    ] {
        let reply = server.send_form(&pair, "verdict", "same", headers);
        assert!([403, 421].contains(&reply.status), "{headers:?}: {}", reply.status);
    }
    let json = ("Content-Type", "application/json");
    for origin in [evil, "null", "http://localhost:1"] {
        server.ask("POST", &pair, &[json, ("Origin", origin)], b"{\"verdict\":\"same\"}").status(403);
    }
    assert_eq!(lines(&dir), [] as [Value; 0]);
    let headers = [("Origin", &*own), ("Sec-Fetch-Site", "same-origin")];
    server.send_form(&pair, "verdict", "same", &headers).status(303);
    assert_eq!(lines(&dir).len(), 1);
}

/// Where there is a token, verdicts take it: in the head, or typed into the form.
#[test]
fn verdicts_take_the_token_if_there_is_one() {
    let dir = made("");
    let server = Server::with_token(&dir, "--verdicts v.jsonl");
    let pair = address("f3-1", "f3-2");
    judge(&server, "f3-1", "f3-2", "same").status(401);
    let page = server.page("/compare?a=f3-1&b=f3-2");
    assert!(page.values("input", "type").contains(&"password"));
    let own = format!("http://{}", server.address);
    let send = |fields: &str| {
        let headers =
            [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", &own), ("Accept", BROWSER)];
        server.ask("POST", &pair, &headers, fields.as_bytes())
    };
    for wrong in ["verdict=same", "verdict=same&token=", "verdict=same&token=a+token+of+the+test"] {
        let refused = send(wrong).status(401);
        Markup::read(&refused.body).says("token");
    }
    assert_eq!(lines(&dir), [] as [Value; 0]);
    let typed = TOKEN.replace(' ', "+");
    let led = send(&format!("verdict=unsure&token={typed}")).status(303);
    let to = led.header("location").unwrap().to_owned();
    assert!(!to.contains("token"), "{to}");
    // Nothing that is sent back has it.
    let shown = server.browse(&to).status(200);
    assert!(!String::from_utf8(shown.body).unwrap().contains(TOKEN));
    let reply = server.change(&pair, "application/json", b"{\"verdict\":\"same\"}").status(200).json();
    assert_eq!(said(&reply), ("f3-1", "f3-2", &json!(1)));
    assert_eq!(lines(&dir).len(), 2);
    assert_eq!(lines(&dir)[1], reply);
    // Who could write without one is told before anybody can.
    let refused = dir.alike("serve c --listen 0.0.0.0:0 --public-read --verdicts w.jsonl", None).code(2);
    assert!(refused.stderr.contains("--token-file"), "{}", refused.stderr);
    assert!(!dir.join("w.jsonl").exists());
}

/// Many at once: each verdict is a line, and none is lost.
#[test]
fn verdicts_of_many_at_once_are_all_there() {
    let dir = made("");
    let server = Server::start(&dir, "--verdicts v.jsonl");
    let ids: Vec<String> = (0..12).map(|at| format!("f11-{at}")).collect();
    std::thread::scope(|scope| {
        for id in &ids {
            let (server, ids) = (&server, &ids);
            scope.spawn(move || {
                for other in ids.iter().filter(|other| *other != id) {
                    judge(server, id, other, "same").status(200);
                }
            });
        }
    });
    let mut found: Vec<(String, String)> =
        lines(&dir).iter().map(|line| (said(line).0.to_owned(), said(line).1.to_owned())).collect();
    found.sort();
    let pairs =
        ids.iter().flat_map(|id| ids.iter().filter(move |other| *other != id).map(move |other| (id, other)));
    let mut expected: Vec<(String, String)> = pairs.map(|(a, b)| (a.clone(), b.clone())).collect();
    expected.sort();
    assert_eq!(found, expected);
    // Another server may not write between them.
    let refused = dir.alike("serve c --listen 0 --verdicts v.jsonl", None).code(2);
    assert!(refused.stderr.contains("another process"), "{}", refused.stderr);
}

/// What cannot be written is not answered as if it were.
#[test]
fn what_cannot_be_written_is_refused() {
    let dir = made("");
    dir.write("w.tsv", "id_a\tid_b\tgrade\n");
    assert!(
        dir.alike("serve c --listen 0 --verdicts w.tsv", None)
            .code(3)
            .stderr
            .contains("line 1 is no verdict")
    );
    dir.alike("serve c --listen 0 --verdicts c", None).code(3);
    dir.alike("serve c --listen 0 --verdicts nowhere/v.jsonl", None).code(1);
    let server = Server::start(&dir, "--verdicts v.jsonl");
    judge(&server, "f3-1", "f3-2", "same").status(200);
    fs::rename(dir.join("v.jsonl"), dir.join("old.jsonl")).unwrap();
    let told = judge(&server, "f3-1", "f3-2", "different").status(500).message();
    assert!(!told.contains("v.jsonl"), "{told}");
    assert_eq!(server.json("/compare?a=f3-1&b=f3-2")["verdict"], "same");
    fs::rename(dir.join("old.jsonl"), dir.join("v.jsonl")).unwrap();
    judge(&server, "f3-1", "f3-2", "different").status(200);
    assert_eq!(lines(&dir).len(), 2);
}

/// Documents of an output are named by their ids, if these are their own.
#[test]
fn an_output_takes_verdicts_on_documents_with_ids_of_their_own() {
    let dir = Dir::new();
    let texts = [("a\t1", 0), ("b\n\"2", 0), ("twice", 0), ("twice", 9000)];
    let nameless = json!({"text": words(0, 60)}).to_string() + "\n";
    dir.write("in.jsonl", texts.map(|(id, from)| line(id, &words(from, 60))).concat() + &nameless);
    dir.alike("dedup in.jsonl --out out -q", None).ok();
    let server = Server::of(&dir, "out", "--verdicts v.jsonl");
    let page = server.page("/clusters/1?member=in.jsonl:2");
    let action = page.values("form", "action").into_iter().find(|to| to.starts_with("/verdicts?")).unwrap();
    let back = press(&server, action, "same");
    assert!(back.starts_with("/clusters/1?member=") && back.ends_with("#member"), "{back}");
    server.page(&back).says("The last verdict: the same.");
    assert_eq!(said(&lines(&dir)[0]), ("a\t1", "b\n\"2", &json!(1)));
    assert_eq!(server.json("/compare?a=in.jsonl:1&b=in.jsonl:2")["verdict"], "same");
    // Two of one id, and one without.
    let repeated = judge(&server, "a\t1", "twice", "same").status(422).message();
    assert!(repeated.contains("2 documents have the id"), "{repeated}");
    judge(&server, "a\t1", "in.jsonl:5", "same").status(404);
    let page = server.page("/clusters/1?member=in.jsonl:5");
    page.says("one of these has none");
    assert!(!page.values("button", "name").contains(&"verdict"));
    let schema = json!({"$ref": "#/components/schemas/Compare"});
    check(&description(), &schema, &server.json("/compare?a=in.jsonl:1&b=in.jsonl:2"), "compare");
    assert_eq!(lines(&dir).len(), 1);
}
