//! Bodies of requests: read up to a limit, or into a file.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use xxhash_rust::xxh3::Xxh3Default;

use super::answer::HttpError;
use super::connections::Waiting;
use crate::error::Error;
use crate::serve::state::write::ReceivedFile;

/// A body that nobody wants is still read for so long: a client that is cut off while it sends does not see the answer.
const DRAINED: Duration = Duration::from_secs(2);

/// The longest bodies for which there is room at a time.
const LONGEST: u64 = 8;
/// Bytes of a body that take no room: as many as come with most requests.
const FREE: u64 = 64 << 10;
/// Bytes for which a permit stands.
const UNIT: u64 = 1 << 10;

/// Room for the bodies that are in memory, those of all clients together.
#[derive(Clone)]
pub struct BodyRoom(Arc<Semaphore>);

impl BodyRoom {
    /// Room for bodies of which the longest has so many bytes.
    pub fn new(most: u64) -> BodyRoom {
        let units = usize::try_from(most.saturating_mul(LONGEST) / UNIT).unwrap_or(usize::MAX);
        BodyRoom(Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))))
    }

    /// Has `held`, which stands for so many bytes of one body, stand for more.
    fn extend(&self, held: &mut Option<OwnedSemaphorePermit>, bytes: u64) -> Result<(), HttpError> {
        let units = bytes.saturating_sub(FREE).div_ceil(UNIT);
        let more = units.saturating_sub(held.as_ref().map_or(0, |held| held.num_permits() as u64));
        if more == 0 {
            return Ok(());
        }
        let full = || HttpError::busy(1, "other bodies take all the room");
        let more = u32::try_from(more).map_err(|_| full())?;
        let more = Arc::clone(&self.0).try_acquire_many_owned(more).map_err(|_| full())?;
        match held {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// A body, and who sends it. What it takes of the room is free again when it is dropped.
pub(super) struct Body {
    incoming: Incoming,
    length: Option<u64>,
    /// Whether the client waits to be told to send it.
    expects: bool,
    ended: bool,
    client: Arc<Waiting>,
    /// How long the client may say nothing.
    patience: Duration,
    room: BodyRoom,
    held: Option<OwnedSemaphorePermit>,
}

impl Body {
    pub(super) fn new(
        incoming: Incoming,
        headers: &HeaderMap,
        client: Arc<Waiting>,
        (patience, room): (Duration, &BodyRoom),
    ) -> Body {
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let expects = headers.contains_key(header::EXPECT);
        Body { incoming, length, expects, ended: false, client, patience, room: room.clone(), held: None }
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
    /// 400, 408 and 413; 503 where those of others take all the room.
    pub(super) async fn whole(&mut self, most: u64) -> Result<Bytes, HttpError> {
        self.check(most)?;
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await? {
            if whole.len() as u64 + piece.len() as u64 > most {
                return Err(too_large(most));
            }
            self.room.extend(&mut self.held, whole.len() as u64 + piece.len() as u64)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_bodies_share_a_room_and_short_ones_need_none() {
        let room = BodyRoom::new(1 << 20);
        let mut held: Vec<_> = (0..LONGEST).map(|_| None).collect();
        for bytes in [FREE, FREE + 1, 1 << 19, FREE + (1 << 20)] {
            held.iter_mut().for_each(|held| assert!(room.extend(held, bytes).is_ok()));
        }
        let mut more = None;
        assert!(room.extend(&mut more, FREE).is_ok());
        assert_eq!(
            room.extend(&mut more, FREE + 1).expect_err("full").status,
            StatusCode::SERVICE_UNAVAILABLE
        );
        held.pop();
        assert!(room.extend(&mut more, FREE + 1).is_ok());
    }
}
