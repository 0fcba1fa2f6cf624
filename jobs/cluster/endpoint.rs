//! A door for whoever asks over HTTP how a process does. One thread serves all who come: each sends one request, gets one
//! answer, and is let go; nobody can make it hold more than a few kilobytes, or keep others from being answered.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use alike::error::{Error, Result};
use alike::mesh::split_any_address;

/// Most who are served at a time. When one more comes, the one that came first goes.
const MOST: usize = 32;
/// Most bytes of a request that are looked at.
const MOST_BYTES: usize = 8 << 10;
/// How long anybody is served.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often those are looked at who are being served.
const LOOK: Duration = Duration::from_millis(5);
/// How long the door stays shut when the system lets nobody in.
const REST: Duration = Duration::from_millis(200);

/// The addresses that `flag` means by `text`, which is a port of this machine, or host:port; the port is raised by so many `above`,
/// unless it is 0, which leaves it to the system.
///
/// # Errors
/// [`Error::Config`].
pub(crate) fn listen_addresses(flag: &str, text: &str, above: usize) -> Result<Vec<SocketAddr>> {
    let wrong = |what: &str| Error::config(format!("{flag} {text}: {what}"));
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (host, port) = match text.parse() {
        Ok(port) if is_number => ("", port),
        _ if is_number => return Err(wrong("expected a port up to 65535, or host:port")),
        _ => split_any_address(text).map_err(wrong)?,
    };
    let port = match port {
        0 => 0,
        port => u16::try_from(usize::from(port).saturating_add(above))
            .map_err(|_| wrong("the port plus the index is above 65535"))?,
    };
    if host.is_empty() {
        // Whichever of the two this machine has.
        return Ok(vec![(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]);
    }
    let found = (host, port).to_socket_addrs().map(Iterator::collect::<Vec<SocketAddr>>);
    match found.map_err(|e| wrong(&format!("the host is not found ({e})")))? {
        found if found.is_empty() => Err(wrong("the host has no address")),
        found => Ok(found),
    }
}

/// What is answered.
pub(crate) struct Answer {
    /// Code and reason.
    pub(crate) status: &'static str,
    /// Type of the content.
    pub(crate) content: &'static str,
    /// The content.
    pub(crate) body: String,
}

impl Answer {
    /// A line of text.
    pub(crate) fn text(status: &'static str, line: &str) -> Answer {
        Answer { status, content: "text/plain; charset=utf-8", body: format!("{line}\n") }
    }

    /// The answer to a request; one that asks for the head alone gets that.
    fn bytes(&self, head_alone: bool) -> Vec<u8> {
        let Answer { status, content, body } = self;
        let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
        let length = body.len();
        let body = if head_alone { "" } else { body };
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content}\r\nContent-Length: {length}\r\n{allow}\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// What is there under a path.
pub(crate) type Pages = Box<dyn Fn(&str) -> Answer + Send>;

/// Answers who comes to `listener`, on a thread that ends with the process.
pub(crate) fn serve(listener: TcpListener, pages: Pages) -> io::Result<()> {
    thread::Builder::new().name("metrics".into()).spawn(move || {
        let mut clients = Vec::new();
        loop {
            let open = admit(&listener, &mut clients).is_ok();
            clients.retain_mut(|client: &mut HttpClient| client.go_on(&pages));
            if !open || !clients.is_empty() {
                thread::sleep(if open { LOOK } else { REST });
            }
        }
    })?;
    Ok(())
}

/// Lets in who waits at the door, as many as are served at a time; waits for somebody where nobody is served. Fails if the
/// system lets nobody in, as when too many files are open.
fn admit(listener: &TcpListener, clients: &mut Vec<HttpClient>) -> io::Result<()> {
    for _ in 0..MOST {
        listener.set_nonblocking(!clients.is_empty())?;
        match listener.accept() {
            Ok((stream, _)) => {
                if clients.len() == MOST {
                    clients.remove(0);
                }
                stream.set_nonblocking(true)?;
                clients.push(HttpClient::new(stream));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            // Somebody who has gone already.
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Somebody who is served.
struct HttpClient {
    stream: TcpStream,
    until: Instant,
    state: HttpState,
}

enum HttpState {
    /// What was read of the request.
    Asking(Vec<u8>),
    /// What is left of the answer.
    Answering(Vec<u8>, usize),
    /// All is said. What else is sent is read, or the system would take the answer back.
    Leaving,
}

/// Whether something can go on at once.
enum HttpStep {
    On(HttpState),
    Later,
    Over,
}

impl HttpClient {
    fn new(stream: TcpStream) -> HttpClient {
        HttpClient { stream, until: Instant::now() + PATIENCE, state: HttpState::Asking(Vec::new()) }
    }

    /// Does what can be done without waiting; whether there is more to do.
    fn go_on(&mut self, pages: &Pages) -> bool {
        while Instant::now() < self.until {
            match self.step(pages) {
                Ok(HttpStep::On(state)) => self.state = state,
                Ok(HttpStep::Later) => return true,
                Ok(HttpStep::Over) => return false,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        false
    }

    fn step(&mut self, pages: &Pages) -> io::Result<HttpStep> {
        match &mut self.state {
            HttpState::Asking(head) => {
                let mut some = [0; 1024];
                let read = self.stream.read(&mut some)?;
                head.extend_from_slice(&some[..read]);
                let whole = head.windows(4).any(|end| end == b"\r\n\r\n");
                Ok(match answer(head, whole, pages) {
                    Some(answer) => {
                        HttpStep::On(HttpState::Answering(answer.bytes(head.starts_with(b"HEAD ")), 0))
                    }
                    None if read == 0 => HttpStep::Over,
                    None => HttpStep::On(HttpState::Asking(std::mem::take(head))),
                })
            }
            HttpState::Answering(bytes, sent) => {
                *sent += self.stream.write(&bytes[*sent..])?;
                if *sent < bytes.len() {
                    return Ok(HttpStep::Later);
                }
                self.stream.shutdown(Shutdown::Write)?;
                Ok(HttpStep::On(HttpState::Leaving))
            }
            HttpState::Leaving => {
                let read = self.stream.read(&mut [0; 1024])?;
                // One who never stops talking is heard a little at a time, until the patience is over.
                Ok(if read == 0 { HttpStep::Over } else { HttpStep::Later })
            }
        }
    }
}

/// The answer to a request, of which `whole` says whether the head is all there; none while too little is.
fn answer(head: &[u8], whole: bool, pages: &Pages) -> Option<Answer> {
    let line = head.split(|byte| *byte == b'\n').next().filter(|line| line.len() < head.len());
    let Some(line) = line.filter(|_| whole || head.len() > MOST_BYTES) else {
        let endless = head.len() > MOST_BYTES;
        return endless.then(|| Answer::text("414 URI Too Long", "the request is too long"));
    };
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let [method, path, version] = words[..] else {
        return Some(Answer::text("400 Bad Request", "expected GET /metrics HTTP/1.1"));
    };
    if !version.starts_with("HTTP/1.") {
        return Some(Answer::text("400 Bad Request", "expected GET /metrics HTTP/1.1"));
    }
    if !whole {
        return Some(Answer::text("431 Request Header Fields Too Large", "the request is too long"));
    }
    if !["GET", "HEAD"].contains(&method) {
        return Some(Answer::text("405 Method Not Allowed", "expected GET or HEAD"));
    }
    Some(pages(path.split('?').next().unwrap_or(path)))
}

/// The address that somebody listens at, and what is wrong with it if nobody can.
pub(crate) fn listen(addresses: &[SocketAddr]) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(addresses)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
