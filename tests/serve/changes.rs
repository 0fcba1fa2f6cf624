//! What is changed: against the same changes by the commands, with and without the token, once for each key, one at a time.

use serde_json::{Value, json};

use super::client::{Server, TOKEN};
use crate::support::output::jsonl;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

const LINES: &str = "application/x-ndjson";
const JSON: &str = "application/json";

fn made() -> Dir {
    let dir = Dir::new();
    dir.write("in.jsonl", line("a", &words(0, 50)) + &line("b", &words(100, 50)));
    dir.alike("load c in.jsonl --store-text", None).ok();
    dir
}

fn records(count: usize) -> String {
    (0..count).map(|at| line(&format!("n{at}"), &words(at / 3 * 100, 50))).collect()
}

/// All that the commands print of a collection.
fn printed(dir: &Dir, collection: &str) -> Vec<Vec<Value>> {
    ["clusters", "documents", "changes"]
        .map(|command| {
            let mut rows = jsonl(dir.alike(&format!("{command} {collection}"), None).ok().stdout.as_bytes());
            for row in &mut rows {
                // The one thing that differs is where the records came from, and how they stood there.
                for field in ["file", "offset"] {
                    row.as_object_mut().unwrap().remove(field);
                }
            }
            rows.sort_by_key(ToString::to_string);
            rows
        })
        .into()
}

#[test]
fn loads_and_deletions_are_those_of_the_commands() {
    let dir = made();
    let copy = std::process::Command::new("cp").args(["-r", "c", "twin"]).current_dir(dir.path()).status();
    assert!(copy.unwrap().success());
    let server = Server::with_token(&dir, "");
    let first = records(30) + &line("gone", "x y z") + "{\"op\":\"delete\",\"id\":\"b\"}\n";
    let told = server.change("/load", LINES, first.as_bytes()).status(200).json();
    assert_eq!(
        (&told["commit"], &told["added"], &told["removed"]),
        (&json!(2), &json!(31), &json!(1)),
        "{told}"
    );
    // What was answered can be read at once.
    assert!(server.json("/")["commit"].as_u64() >= told["commit"].as_u64());
    assert_eq!(server.json("/documents/n1")["file"], "POST /load");
    let second =
        json!({"documents": [{"id": "n0", "text": words(7000, 40)}, {"id": "z\n", "text": "line\nbreak"}]});
    let second = serde_json::to_vec_pretty(&second).unwrap();
    server.change("/load", JSON, &second).status(200);
    let told = server.change("/delete", JSON, br#"{"ids":["gone","a","nobody"]}"#).status(200).json();
    assert_eq!((&told["removed"], &told["unknown_ids"]), (&json!(2), &json!(1)), "{told}");
    assert_eq!(told["unknown"], json!(["nobody"]));
    dir.write("1.jsonl", &first);
    dir.write("2.jsonl", line("n0", &words(7000, 40)) + &line("z\n", "line\nbreak"));
    dir.write("ids", "gone\na\nnobody\n");
    for line in [
        "load twin 1.jsonl --max-delete 100%",
        "load twin 2.jsonl",
        "delete twin --ids ids --max-delete 100%",
    ] {
        dir.alike(line, None).ok();
    }
    assert_eq!(printed(&dir, "c"), printed(&dir, "twin"));
    dir.alike("fsck c", None).ok();
    // Nothing changed: there is no commit.
    let told = server.change("/delete", JSON, br#"{"ids":["nobody"]}"#).status(200).json();
    assert_eq!(told["commit"], Value::Null);
    assert_eq!(server.json("/documents/n1?text=yes")["text"], words(0, 50));
}

#[test]
fn changes_take_the_token() {
    let dir = made();
    let server = Server::with_token(&dir, "");
    let ask = |headers: &[(&str, &str)]| {
        let headers = [&[("Content-Type", JSON)], headers].concat();
        server.ask("POST", "/delete", &headers, br#"{"ids":["a"]}"#)
    };
    let wrong = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic YTpi",
        &format!("Bearer {TOKEN}x"),
        &format!("Bearer {}", &TOKEN[1..]),
    ];
    for wrong in wrong {
        let reply = ask(&[("Authorization", wrong)]).status(401);
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"), "{reply:?}");
        assert!(!reply.message().contains(TOKEN));
    }
    ask(&[]).status(401);
    ask(&[("Authorization", &format!("Bearer {TOKEN}")), ("Origin", "http://evil.example")]).status(403);
    assert_eq!(server.json("/")["commit"], 1);
    ask(&[("Authorization", &format!("bearer {TOKEN}"))]).status(200);
    let reading = Server::start(&dir, "");
    let told = reading.change("/load", LINES, b"{}").status(403).message();
    assert!(told.contains("--token-file"), "{told}");
    dir.alike("serve c --listen 0.0.0.0:0", None).code(2).says("--public-read");
    dir.write("short", "short");
    dir.alike("serve c --token-file short", None).code(2);
    dir.alike("serve nothing", None).code(3).says("no such folder");
}

#[test]
fn at_an_address_of_others_reading_takes_the_token_too() {
    let dir = made();
    let server = Server::with_token(&dir, "--listen 0.0.0.0:0");
    server.get("/").status(401);
    server.post("/check", &json!({"text": "x"})).status(401);
    server.get("/healthz").status(200);
    let bearer = format!("Bearer {TOKEN}");
    server.ask("GET", "/", &[("Authorization", &bearer), ("Host", "any.example")], b"").status(200);
    let public = Server::start(&dir, "--listen 0.0.0.0:0 --public-read");
    public.get("/").status(200);
}

#[test]
fn a_key_is_answered_with_what_was_done() {
    let dir = made();
    let server = Server::with_token(&dir, "");
    let bearer = format!("Bearer {TOKEN}");
    let ask = |path: &str, key: &str, body: &str| {
        let headers = [("Content-Type", JSON), ("Authorization", bearer.as_str()), ("Idempotency-Key", key)];
        server.ask("POST", path, &headers, body.as_bytes())
    };
    let body = json!({"documents": [{"id": "k", "text": words(0, 50)}]}).to_string();
    let first = ask("/load", "one", &body).status(200);
    assert_eq!(first.header("idempotent-replayed"), None);
    // Others change it meanwhile: what was done is still what was done.
    server.change("/delete", JSON, br#"{"ids":["k"]}"#).status(200);
    let second = ask("/load", "one", &body).status(200);
    assert_eq!((second.header("idempotent-replayed"), &second.body), (Some("true"), &first.body));
    server.get("/documents/k").status(404);
    ask("/load", "one", &body.replace('k', "l")).status(422);
    ask("/delete", "one", r#"{"ids":["a"]}"#).status(422);
    assert_eq!(ask("/load", "two", &body).status(200).json()["added"], 1);
    // What was not done can be tried again.
    ask("/load", "three", "{").status(400);
    ask("/load", "three", &body).status(200);
    ask("/load", "", &body).status(400);
    ask("/load", &"x".repeat(256), &body).status(400);
}

/// Loads at once come one after the other, and none is lost; of one key only one is done.
#[test]
fn loads_at_once_are_all_done() {
    let dir = made();
    let server = Server::with_token(&dir, "");
    let mut commits: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|at| {
                let server = &server;
                scope.spawn(move || {
                    let lines: String =
                        (0..5).map(|n| line(&format!("t{at}-{n}"), &words(at * 50, 50))).collect();
                    server.change("/load", LINES, lines.as_bytes()).status(200).json()["commit"]
                        .as_u64()
                        .unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    commits.sort_unstable();
    commits.dedup();
    assert_eq!(commits.len(), 6, "{commits:?}");
    assert_eq!(server.json("/documents?q=t")["documents"].as_array().unwrap().len(), 30);
    dir.alike("fsck c", None).ok();
}

#[test]
fn what_cannot_be_loaded_changes_nothing() {
    let dir = made();
    let server = Server::with_token(&dir, "--max-body 4KiB --max-load 64KiB");
    for (content, body, status) in [
        (LINES, "", 400),
        (LINES, "no json\n", 422),
        (LINES, "{\"id\":\"x\"}\n", 422),
        (JSON, "[]", 400),
        (JSON, "{\"documents\":[]}", 400),
        (JSON, "{\"documents\":[1]}", 422),
        (JSON, "{\"documents\":[{}],\"more\":1}", 400),
        (JSON, "{\"documents\":[{\"id\":\"\\ud800\",\"text\":\"x\"}]}", 422),
        ("text/plain", "x", 415),
        ("", "x", 415),
    ] {
        let reply = server.change("/load", content, body.as_bytes()).status(status);
        // Where the server keeps what it is sent is nobody's business.
        assert!(!reply.message().contains("/tmp"), "{}", reply.message());
    }
    for body in ["{}", "{\"ids\":[]}", "{\"ids\":[1]}", "{\"ids\":\"a\"}", "x"] {
        server.change("/delete", JSON, body.as_bytes()).status(400);
    }
    server.change("/load", JSON, &vec![b' '; 5 << 10]).status(413);
    server.change("/load", LINES, &vec![b' '; 65 << 10]).status(413);
    assert_eq!(server.json("/")["commit"], 1);
    // One bad record among many good ones is told, and the others are loaded.
    let told = server.change("/load", LINES, (records(30) + "bad\n").as_bytes()).status(200).json();
    assert_eq!((&told["rejected"], &told["first_rejected"][0]["line"]), (&json!(1), &json!(31)), "{told}");
    dir.alike("fsck c", None).ok();
}

/// Another process that writes goes first, and an interrupted load of another is not touched.
#[test]
fn another_writer_goes_first() {
    use std::io::Write;
    let dir = made();
    let server = Server::with_token(&dir, "");
    let mut writer = std::process::Command::new(env!("CARGO_BIN_EXE_alike"))
        .args(["delete", "c", "--ids", "-"])
        .current_dir(dir.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = writer.stdin.take().unwrap();
    pipe.write_all(b"nobody\n").unwrap();
    // It would give up if it met a change of the server's.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let begun = std::time::Instant::now();
    loop {
        let reply = server.change("/delete", JSON, br#"{"ids":["nobody"]}"#);
        if reply.status == 503 {
            assert_eq!(reply.header("retry-after"), Some("5"));
            break;
        }
        assert!(begun.elapsed().as_secs() < 30 && writer.try_wait().unwrap().is_none(), "{reply:?}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    server.get("/documents/a").status(200);
    drop(pipe);
    writer.wait().unwrap();
    server.change("/delete", JSON, br#"{"ids":["a"]}"#).status(200);
}
