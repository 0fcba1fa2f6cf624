//! What a server is told: where it listens, who may do what, and how much.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::read::FieldPath;
use crate::simd::Simd;

/// What whoever changes a collection has to know.
#[derive(Clone)]
pub struct AccessToken([u8; 32]);

/// What tokens are compared by: as long as each other, and nothing is learnt of a token by how long that takes.
fn tag(token: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token).expect("HMAC takes keys of any length");
    mac.update(b"alike serve");
    mac
}

impl AccessToken {
    /// The token of these bytes.
    pub fn new(token: &[u8]) -> AccessToken {
        AccessToken(tag(token).finalize().into_bytes().into())
    }

    /// Whether it is this one.
    pub fn is(&self, token: &[u8]) -> bool {
        tag(token).verify_slice(&self.0).is_ok()
    }
}

/// What a server is told.
#[derive(Clone)]
pub struct ServeOptions {
    /// Where it listens: the first of these that is free.
    pub listen: Vec<SocketAddr>,
    /// What changes are asked for with. Without one there are none.
    pub token: Option<AccessToken>,
    /// Whether anybody may read who reaches an address that is not of this machine alone.
    pub public_read: bool,
    /// Where verdicts on pairs of documents are written to. Without a file there are none.
    pub verdicts: Option<PathBuf>,
    /// Names of the server beside those of this machine, in lower case.
    pub hosts: Vec<String>,
    /// Most bytes of a body.
    pub body: u64,
    /// Most bytes of a body of records to load.
    pub load: u64,
    /// How long an answer may take. A load may take as long as it does.
    pub timeout: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Threads that read the collection, and workers of loads.
    pub workers: usize,
    /// Most memory of loads, in bytes.
    pub memory: Option<u64>,
    /// Vector instructions of loads.
    pub simd: Simd,
    /// Where titles are in records.
    pub title_field: FieldPath,
    /// A folder for what is needed for a while.
    pub scratch: PathBuf,
    /// Where the operator is told what goes wrong within.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl ServeOptions {
    /// Whether only this machine can reach the server.
    pub fn is_local(&self) -> bool {
        self.listen.iter().all(|address| address.ip().is_loopback())
    }

    /// Whether reading takes the token.
    pub fn is_private(&self) -> bool {
        !self.is_local() && !self.public_read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_and_no_other() {
        let token = AccessToken::new(b"sixteen bytes of");
        assert!(token.is(b"sixteen bytes of"));
        for other in [&b"sixteen bytes o"[..], b"sixteen bytes of ", b"", b"Sixteen bytes of"] {
            assert!(!token.is(other));
        }
    }
}
