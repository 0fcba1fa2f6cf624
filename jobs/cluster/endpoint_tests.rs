//! Who is answered, what, and who is let go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A door with one page, which counts who asks for it.
fn door() -> (SocketAddr, Arc<AtomicUsize>) {
    let (listener, address) = listen(&["127.0.0.1:0".parse().expect("an address")]).expect("free");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let pages = move |path: &str| match path {
        "/page" => {
            count.fetch_add(1, Ordering::Relaxed);
            Answer::text("200 OK", &"x".repeat(100_000))
        }
        _ => Answer::text("404 Not Found", "no"),
    };
    serve(listener, Box::new(pages)).expect("served");
    (address, asked)
}

fn call(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    stream
}

/// Everything that is answered to some bytes.
fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = call(address);
    // Whoever says too much may not be heard to the end.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).expect("text")
}

#[test]
fn a_request_gets_an_answer_and_nothing_after_it() {
    let (address, asked) = door();
    let answer = ask(address, b"GET /page?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(
        head.contains("\r\nContent-Length: 100001\r\n") && head.contains("\r\nConnection: close"),
        "{head}"
    );
    assert_eq!(body.len(), 100_001);
    assert_eq!(ask(address, b"HEAD /page HTTP/1.1\r\n\r\n"), format!("{head}\r\n\r\n"));
    let twice = ask(address, b"GET /page HTTP/1.0\r\n\r\nGET /page HTTP/1.0\r\n\r\n");
    assert_eq!(twice.matches("HTTP/1.1").count(), 1);
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[test]
fn what_is_no_request_for_a_page_is_refused() {
    let (address, asked) = door();
    let long = [b"GET /".as_slice(), &[b'a'; 20_000]].concat();
    let wide = [b"GET /page HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 20_000]].concat();
    for (request, status) in [
        (b"GET /other HTTP/1.1\r\n\r\n".as_slice(), "404"),
        (b"POST /page HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405"),
        (b"GET /page\r\n\r\n", "400"),
        (b"\x16\x03\x01\x02\n\r\n\r\n", "400"),
        (b"GET /page SPDY/3\r\n\r\n", "400"),
        (b"\r\n\r\n", "400"),
        (&long, "414"),
        (&wide, "431"),
    ] {
        let answer = ask(address, request);
        let shown = String::from_utf8_lossy(&request[..request.len().min(40)]);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{shown:?}: {answer:.100}");
    }
    // One who hangs up in the middle is owed nothing.
    drop(call(address).write_all(b"GET /pa"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn the_silent_the_slow_and_the_deaf_keep_nobody_waiting() {
    let (address, _) = door();
    let mut strangers: Vec<TcpStream> = (0..200).map(|_| call(address)).collect();
    for (number, stranger) in strangers.iter_mut().enumerate() {
        // Some say a little, some ask and never listen.
        let words: &[u8] = [b"".as_slice(), b"GET /pa", b"GET /page HTTP/1.1\r\n\r\n"][number % 3];
        let _ = stranger.write_all(words);
    }
    for _ in 0..20 {
        let begun = Instant::now();
        assert!(ask(address, b"GET /page HTTP/1.1\r\n\r\n").len() > 100_000);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}

#[test]
fn who_says_nothing_is_let_go() {
    let (address, _) = door();
    let mut silent = call(address);
    let begun = Instant::now();
    assert_eq!(silent.read(&mut [0]).unwrap_or(0), 0);
    assert!(begun.elapsed() >= PATIENCE - Duration::from_millis(500), "{:?}", begun.elapsed());
}

#[test]
fn a_port_alone_is_of_this_machine() {
    let shown =
        |text: &str, above| listen_addresses("--listen", text, above).map(|found| found[0].to_string());
    assert_eq!(shown("80", 0).expect("good"), "127.0.0.1:80");
    assert_eq!(shown("80", 3).expect("good"), "127.0.0.1:83");
    assert_eq!(shown("0.0.0.0:0", 3).expect("good"), "0.0.0.0:0");
    assert_eq!(shown("[::1]:8080", 0).expect("good"), "[::1]:8080");
    for wrong in ["", "65536", "x", ":80", "no such host:80", "-a:1"] {
        assert!(shown(wrong, 0).is_err(), "{wrong}");
    }
    assert!(shown("65535", 1).is_err());
}
