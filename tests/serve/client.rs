//! A server, and a client that says just what a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::program::Dir;

/// The token of the tests.
pub(super) const TOKEN: &str = "a token of the tests";

/// `alike serve`, ended when this is dropped.
pub(super) struct Server {
    pub(super) child: Child,
    pub(super) address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_token(dir: &Dir) {
    dir.write("token", format!("{TOKEN}\n"));
    #[cfg(unix)]
    std::fs::set_permissions(dir.join("token"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

impl Server {
    /// Serves the collection `c` of a folder, with more arguments.
    pub(super) fn start(dir: &Dir, arguments: &str) -> Server {
        Server::of(dir, "c", arguments)
    }

    /// Serves a collection or an output of a folder, with more arguments.
    pub(super) fn of(dir: &Dir, what: &str, arguments: &str) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_alike"))
            .args(["serve", what, "-w", "2"])
            .args(if arguments.contains("--listen") { "" } else { "--listen 127.0.0.1:0" }.split_whitespace())
            .args(arguments.split_whitespace())
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|line| line.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line:?}")).parse().unwrap();
        Server { child, address }
    }

    /// The collection with the token of the tests.
    pub(super) fn with_token(dir: &Dir, arguments: &str) -> Server {
        write_token(dir);
        Server::start(dir, &format!("--token-file token {arguments}"))
    }

    /// A collection or an output with the token of the tests.
    pub(super) fn with_token_of(dir: &Dir, what: &str) -> Server {
        write_token(dir);
        Server::of(dir, what, "--token-file token")
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes as they are, and reads the answer.
    pub(super) fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that has heard enough may close before it has heard all.
        let _ = stream.write_all(bytes);
        Reply::read(stream)
    }

    pub(super) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.raw(&[head.as_bytes(), b"\r\n", body].concat())
    }

    pub(super) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], b"")
    }

    /// JSON that must be there.
    #[track_caller]
    pub(super) fn json(&self, path: &str) -> Value {
        self.get(path).status(200).json()
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    }

    /// A change, with the token.
    pub(super) fn change(&self, path: &str, content: &str, body: &[u8]) -> Reply {
        let bearer = format!("Bearer {TOKEN}");
        self.ask("POST", path, &[("Content-Type", content), ("Authorization", &bearer)], body)
    }

    /// Waits until a path is answered as it should be.
    #[track_caller]
    pub(super) fn until(&self, path: &str, good: impl Fn(&Reply) -> bool) -> Reply {
        let begun = Instant::now();
        loop {
            let reply = self.get(path);
            if good(&reply) {
                return reply;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{path}: {reply:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Reply {
    /// Reads an answer to its end.
    pub(super) fn read(mut stream: TcpStream) -> Reply {
        let mut bytes = Vec::new();
        // A server that is gone before its answer is read to the end has said what it had to.
        let _ = stream.read_to_end(&mut bytes);
        Reply::of(&bytes)
    }

    /// The answer that bytes are; status 0 if they are none.
    pub(super) fn of(bytes: &[u8]) -> Reply {
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n");
        let Some(end) = end else { return Reply { status: 0, headers: Vec::new(), body: bytes.to_vec() } };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        });
        Reply { status, headers: headers.collect(), body: bytes[end + 4..].to_vec() }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(super) fn status(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{:?}\n{}", self.headers, String::from_utf8_lossy(&self.body));
        self
    }

    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What an error says.
    #[track_caller]
    pub(super) fn message(&self) -> String {
        let told = self.json();
        assert_eq!(told["error"]["status"], self.status, "{told}");
        told["error"]["message"].as_str().unwrap().to_owned()
    }
}

/// An id as it stands in a path.
pub(super) fn encoded(id: &str) -> String {
    id.bytes().map(|byte| format!("%{byte:02x}")).collect()
}
