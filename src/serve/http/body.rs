//! Bodies of requests: read up to a limit, or into a file.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;
use xxhash_rust::xxh3::Xxh3Default;

use super::answer::HttpError;
use super::connections::Waiting;
use crate::error::Error;
use crate::serve::state::write::ReceivedFile;

/// A body that nobody wants is still read for so long: a client that is cut off while it sends does not see the answer.
const DRAINED: Duration = Duration::from_secs(2);

/// A body, and who sends it.
pub(super) struct Body {
    incoming: Incoming,
    length: Option<u64>,
    /// Whether the client waits to be told to send it.
    expects: bool,
    ended: bool,
    client: Arc<Waiting>,
    /// How long the client may say nothing.
    patience: Duration,
}

impl Body {
    pub(super) fn new(
        incoming: Incoming,
        headers: &HeaderMap,
        client: Arc<Waiting>,
        patience: Duration,
    ) -> Body {
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let expects = headers.contains_key(header::EXPECT);
        Body { incoming, length, expects, ended: false, client, patience }
    }

    /// The next piece.
    async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let slow = |_| HttpError::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time");
            let frame = timeout(self.patience, self.incoming.frame()).await.map_err(slow)?;
            self.client.heard();
            match frame {
                None => {
                    self.ended = true;
                    self.client.serving();
                    return Ok(None);
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(_)) => {
                    self.ended = true;
                    return Err(HttpError::bad("the body ended in the middle"));
                }
            }
        }
    }

    /// Refuses a length that is too much.
    fn check(&self, most: u64) -> Result<(), HttpError> {
        match self.length {
            Some(length) if length > most => Err(too_large(most)),
            _ => Ok(()),
        }
    }

    /// The whole body.
    ///
    /// # Errors
    /// 400, 408 and 413.
    pub(super) async fn whole(&mut self, most: u64) -> Result<Bytes, HttpError> {
        self.check(most)?;
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await? {
            if whole.len() as u64 + piece.len() as u64 > most {
                return Err(too_large(most));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// The whole body in a file, and its digest.
    ///
    /// # Errors
    /// 400, 408, 413 and 500.
    pub(super) async fn received(&mut self, most: u64) -> Result<(ReceivedFile, u128), HttpError> {
        self.check(most)?;
        let received = ReceivedFile::new()?;
        let failed = |e| HttpError::from(Error::io(&received.file, "write", e));
        let mut file = std::fs::File::create_new(&received.file).map_err(failed)?;
        let (mut digest, mut length) = (Xxh3Default::new(), 0);
        while let Some(piece) = self.next().await? {
            length += piece.len() as u64;
            if length > most {
                return Err(too_large(most));
            }
            digest.update(&piece);
            // A write to the page cache: it takes less than handing the piece to another thread.
            file.write_all(&piece).map_err(failed)?;
        }
        if length == 0 {
            return Err(HttpError::bad("the body is empty"));
        }
        Ok((received, digest.digest128()))
    }

    /// Reads on for a while what is of no use.
    pub(super) async fn drain(&mut self) {
        if self.ended || self.expects {
            return;
        }
        let all = async { while let Ok(Some(_)) = self.next().await {} };
        // Whoever has not ended by then is cut off.
        let _ = timeout(DRAINED, all).await;
    }
}

fn too_large(most: u64) -> HttpError {
    HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a body has {most} bytes at most here"))
}
