//! Clients that mean harm, and a collection that is changed, damaged or taken away under the server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Reply, Server, encoded};
use super::pages::made;
use crate::support::program::Dir;
use crate::support::texts::{line, words};

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let dir = made("");
    let server = Server::start(&dir, "--max-body 4KiB");
    for (method, path, status) in [
        ("GET", "/nothing", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("GET", "/documents/", 404),
        ("GET", "/documents/%", 400),
        ("GET", "/documents/%c3%28", 400),
        ("GET", "/documents?limit=0", 400),
        ("GET", "/documents?limit=1001", 400),
        ("GET", "/documents?limit=1&limit=1", 400),
        ("GET", "/clusters?sort=x", 400),
        ("GET", "/clusters?after=x", 400),
        ("GET", "/clusters?min-size=-1", 400),
        ("GET", "/clusters/1", 400),
        ("GET", "/clusters/1.99999999999", 400),
        ("GET", "/check", 405),
        ("POST", "/", 405),
        ("PUT", "/documents/x", 405),
        ("DELETE", "/clusters", 405),
        ("OPTIONS", "/check", 405),
        ("NONSENSE", "/", 405),
    ] {
        let reply = server.ask(method, path, &[], b"").status(status);
        assert!(!reply.message().is_empty());
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        assert!(reply.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
        assert!(reply.header("access-control-allow-origin").is_none());
        assert_eq!(reply.header("allow").is_some(), status == 405, "{path}");
    }
    let json = ("Content-Type", "application/json");
    for (body, status) in [
        ("", 400),
        ("{", 400),
        ("[]", 400),
        ("{}", 400),
        ("{\"text\":1}", 400),
        ("{\"text\":\"a\",\"texts\":[]}", 400),
        ("{\"text\":\"a\",\"x\":1}", 400),
        ("{\"text\":\"\\ud800\"}", 400),
        ("{\"texts\":[\"a\",null]}", 400),
        ("\u{0}", 400),
    ] {
        server.ask("POST", "/check", &[json], body.as_bytes()).status(status).message();
    }
    server.ask("POST", "/check", &[json], b"{\"text\":\"\xff\"}").status(400);
    server.ask("POST", "/check", &[json], &[b'['; 4000]).status(400);
    server.ask("POST", "/check", &[("Content-Type", "text/plain")], b"{\"text\":\"a\"}").status(415);
    server.ask("POST", "/check", &[], b"{\"text\":\"a\"}").status(415);
    let large = vec![b'x'; 1 << 20];
    server.ask("POST", "/check", &[json], &large).status(413);
    // The same without a length before it.
    let chunked =
        b"POST /check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    let chunk = [format!("{:x}\r\n", large.len()).as_bytes(), &large, b"\r\n0\r\n\r\n"].concat();
    server.raw(&[&chunked[..], &chunk].concat()).status(413);
    // Only one who reads needs no token, and pages of others may not even do that.
    server
        .ask("POST", "/check", &[json, ("Origin", "https://evil.example")], b"{\"text\":\"a\"}")
        .status(403);
    let own = format!("http://{}", server.address);
    server.ask("POST", "/check", &[json, ("Origin", &own)], b"{\"text\":\"a\"}").status(200);
    for host in ["evil.example", "localhost.evil.example:80", "127.0.0.1.nip.io"] {
        server.ask("GET", "/", &[("Host", host)], b"").status(421);
    }
    for host in ["localhost", "LOCALHOST:1", "[::1]:80", "127.0.0.1"] {
        server.ask("GET", "/", &[("Host", host)], b"").status(200);
    }
    let named = Server::start(&dir, "--host proxy.example");
    named.ask("GET", "/", &[("Host", "Proxy.Example:443")], b"").status(200);
    // What is no HTTP at all.
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let reply = Reply::read(stream);
        assert!([0, 400].contains(&reply.status), "{reply:?}");
    }
    let long = format!("GET /?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(1 << 20));
    assert!([0, 400, 414, 431].contains(&server.raw(long.as_bytes()).status));
    let head = server.ask("HEAD", "/", &[], b"").status(200);
    assert!(head.body.is_empty() && head.header("content-length") != Some("0"));
    server.get("/").status(200);
}

#[test]
fn a_long_text_and_many_texts_are_answered_or_refused() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let long = "word ".repeat(200_000);
    server.post("/check", &json!({ "text": long })).status(200);
    server.post("/check", &json!({ "texts": vec!["x"; 1000] })).status(200);
    server.post("/check", &json!({ "texts": vec!["x"; 1001] })).status(422);
    server.get(&format!("/documents/{}", encoded(&"x".repeat(10_000)))).status(404);
}

/// Connections that say nothing, or something slowly, or do not read: others are answered all the same.
#[test]
fn slow_clients_keep_nobody_out() {
    let dir = made("");
    let server = Server::start(&dir, "--connections 64");
    let mut held: Vec<TcpStream> = Vec::new();
    for at in 0..600 {
        let Ok(mut stream) = TcpStream::connect(server.address) else { continue };
        let begun: &[u8] = match at % 4 {
            0 => b"",
            1 => b"GET / HTT",
            2 => b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{",
            _ => b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        };
        let _ = stream.write_all(begun);
        held.push(stream);
        if at % 50 == 0 {
            let begun = Instant::now();
            server.get("/").status(200);
            assert!(begun.elapsed() < Duration::from_secs(2), "{:?} behind {at}", begun.elapsed());
        }
    }
    let begun = Instant::now();
    for _ in 0..20 {
        server.post("/check", &json!({"text": words(1000, 60)})).status(200);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let metrics = String::from_utf8(server.get("/metrics").body).unwrap();
    let open = metrics.lines().find_map(|line| line.strip_prefix("alike_serve_connections ")).unwrap();
    assert!(open.parse::<usize>().unwrap() <= 64, "{open}");
    drop(held);
}

/// A body that never comes is waited for so long, and no longer.
#[test]
fn a_body_that_does_not_come_is_given_up() {
    let dir = made("");
    let server = Server::start(&dir, "--timeout 1");
    let mut stream = server.connect();
    stream
        .write_all(b"POST /check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
        .unwrap();
    let begun = Instant::now();
    let reply = Reply::read(stream);
    assert!([408, 503].contains(&reply.status), "{reply:?}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

/// One answer is of one commit, whatever is committed and compacted meanwhile.
#[test]
fn readers_see_whole_commits_while_others_are_made() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (server, done) = (&server, &done);
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(move || {
                    let (mut asked, mut last) = (0, 0);
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        let summary = server.json("/");
                        let commit = summary["commit"].as_u64().unwrap();
                        assert!(commit >= last, "{commit} after {last}");
                        last = commit;
                        let clusters = server.json("/clusters?limit=1000");
                        assert_eq!(clusters["clusters"].as_array().unwrap().len() as u64, clusters["total"]);
                        server.post("/check", &json!({"text": words(1000, 60)})).status(200);
                        server.get("/documents/f11-3").status(200);
                        asked += 1;
                    }
                    asked
                })
            })
            .collect();
        for at in 0..8 {
            dir.write("more.jsonl", line(&format!("more{at}"), &words(1000 * at, 60)));
            dir.alike("load c more.jsonl", None).ok();
            if at % 2 == 1 {
                dir.alike("compact c", None).ok();
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 3);
        }
    });
}

/// The folder is taken away, another one is put there, and the first comes back.
#[test]
fn a_collection_that_is_gone_is_served_on() {
    let dir = made("");
    let server = Server::start(&dir, "");
    let before = server.json("/clusters");
    std::fs::rename(dir.join("c"), dir.join("away")).unwrap();
    let told = server.until("/readyz", |reply| reply.status == 503);
    assert!(!told.message().contains('/'), "{}", told.message());
    assert_eq!(server.json("/clusters"), before);
    server.get("/healthz").status(200);
    let other = made("");
    let copy = std::process::Command::new("cp").arg("-r").arg(other.join("c")).arg(dir.join("c")).status();
    assert!(copy.unwrap().success());
    server.until("/readyz", |reply| reply.status == 503 && reply.message().contains("another collection"));
    assert_eq!(server.json("/clusters"), before);
    std::fs::remove_dir_all(dir.join("c")).unwrap();
    std::fs::rename(dir.join("away"), dir.join("c")).unwrap();
    server.until("/readyz", |reply| reply.status == 200);
    // A commit that cannot be read: the one before it is served on.
    dir.write("more.jsonl", line("more", &words(0, 60)));
    dir.alike("load c more.jsonl", None).ok();
    server.until("/documents/more", |reply| reply.status == 200);
    let manifest = std::fs::read_dir(dir.join("c"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("manifest"))
        .max()
        .unwrap();
    let good = std::fs::read(&manifest).unwrap();
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    std::fs::remove_file(&manifest).unwrap();
    std::fs::write(&manifest, &bad).unwrap();
    server.until("/readyz", |reply| reply.status == 503 && reply.message().contains("damaged"));
    server.get("/clusters").status(200);
    std::fs::write(&manifest, &good).unwrap();
    server.until("/readyz", |reply| reply.status == 200);
}

/// Bytes of runs are overwritten: what needs them fails and says no more than that, and the server goes on.
#[test]
fn damage_under_it_is_told() {
    let dir = Dir::new();
    let lines: String = (0..3000).map(|at| line(&format!("d{at}"), &words(at / 2 * 10, 40))).collect();
    dir.write("in.jsonl", lines);
    dir.alike("load c in.jsonl", None).ok();
    let server = Server::start(&dir, "");
    for entry in std::fs::read_dir(dir.join("c")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("run") {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.iter_mut().step_by(512).for_each(|byte| *byte ^= 0x55);
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all(&bytes).unwrap();
        }
    }
    let reply = server.post("/check", &json!({"text": words(100, 40)})).status(500);
    assert!(reply.message().contains("damaged") && !reply.message().contains("run"), "{}", reply.message());
    assert!(server.until("/readyz", |reply| reply.status == 503).message().contains("damaged"));
    server.get("/").status(200);
    server.get("/healthz").status(200);
}

/// Being told to end, it answers who was asking, takes nobody else, and ends with 0.
#[cfg(unix)]
#[test]
fn it_ends_in_order() {
    use rustix::process::{Pid, Signal, kill_process};
    let dir = made("");
    for signal in [Signal::INT, Signal::TERM] {
        let mut server = Server::start(&dir, "");
        let mut half = server.connect();
        half.write_all(b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"text\"").unwrap();
        server.get("/").status(200);
        kill_process(Pid::from_child(&server.child), signal).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        half.write_all(b":\"abc\"").unwrap();
        half.write_all(b"}").unwrap();
        let mut answer = Vec::new();
        half.read_to_end(&mut answer).unwrap();
        let begun = Instant::now();
        let status = server.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(begun.elapsed() < Duration::from_secs(9));
        assert!(TcpStream::connect(server.address).is_err());
        let _ = answer;
    }
}
