//! Clients of `alike serve` that ask as fast as they are answered: what `POST /check` takes, and a page of clusters.
//!
//! `cargo bench --bench serve -- HOST:PORT TEXTS.jsonl CLIENTS SECONDS` sends the first 2,000 bytes of the text of each line;
//! `cargo bench --bench serve -- HOST:PORT /PATH CLIENTS SECONDS` asks for a path, with `html` behind
//! it as a browser does. Each client has a connection of its own.
//!
//! Clients ask as fast as they are answered: then all of them wait for each other, and 64 clients at 5,000 a second wait 12.8 ms each on
//! average, whatever the server does. With a number behind it all clients together ask so often a second, and times count from when a
//! request was due, so that a late answer counts for all that wait behind it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Texts that are sent, again and again.
const TEXTS: usize = 20_000;
/// Bytes of each at most.
const BYTES: usize = 2000;

/// The requests that are sent.
fn requests(host: &str, what: &str, accept: &str) -> Vec<Vec<u8>> {
    if what.starts_with('/') && !what.ends_with(".jsonl") {
        return vec![format!("GET {what} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\n\r\n").into_bytes()];
    }
    let lines = BufReader::new(File::open(what).expect("a file of texts")).lines();
    let texts = lines.map_while(Result::ok).filter_map(|line| {
        let record: serde_json::Value = serde_json::from_str(&line).ok()?;
        Some(record["text"].as_str()?.chars().take(BYTES).collect::<String>())
    });
    let request = |text: String| {
        let body = serde_json::json!({ "text": text }).to_string();
        let length = body.len();
        let head = format!("POST /check HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
        format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
    };
    // Long texts, so that all are of one size.
    texts.filter(|text| text.len() >= BYTES).step_by(7).take(TEXTS).map(request).collect()
}

/// Reads one answer, which must be good.
fn answer(stream: &mut TcpStream, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut piece = [0; 64 << 10];
    loop {
        let read = stream.read(&mut piece).expect("an answer");
        assert!(read > 0, "the server has closed the connection");
        bytes.extend_from_slice(&piece[..read]);
        let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&bytes[..end]).expect("a head");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if bytes.len() >= end + 4 + length.parse::<usize>().expect("a number") {
            return;
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [host, what, clients, seconds, how @ ..] = &arguments[..] else {
        // Whoever runs all benchmarks names no server.
        return;
    };
    let accept = if how.iter().any(|word| word == "html") { "text/html" } else { "application/json" };
    let every =
        how.iter().find_map(|word| word.parse::<f64>().ok()).map(|rate| Duration::from_secs_f64(1.0 / rate));
    let requests = requests(host, what, accept);
    let until = Duration::from_secs(seconds.parse().expect("seconds"));
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let client = || {
            let mut stream = TcpStream::connect(host.as_str()).expect("a server");
            stream.set_nodelay(true).expect("an option");
            let (mut times, mut bytes) = (Vec::new(), Vec::new());
            while begun.elapsed() < until {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let request = &requests[number % requests.len()];
                let due = every.map(|every| begun + every * number as u32);
                if let Some(early) = due.and_then(|due| due.checked_duration_since(Instant::now())) {
                    std::thread::sleep(early);
                }
                let asked = due.unwrap_or_else(Instant::now);
                stream.write_all(request).expect("sent");
                answer(&mut stream, &mut bytes);
                times.push(asked.elapsed());
            }
            times
        };
        let clients: Vec<_> =
            (0..clients.parse().expect("a number of clients")).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 1000).min(times.len() - 1)].as_secs_f64() * 1000.0;
    let line = format!(
        "{clients} clients: {rate:.0} a second, p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, {} answers\n",
        at(500),
        at(990),
        at(999),
        times.len()
    );
    std::io::stdout().write_all(line.as_bytes()).expect("written");
}
