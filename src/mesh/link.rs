//! The control connection to one process: what waits to be sent, and the thread that sends it.
//!
//! Whoever sends only puts something into a queue; one thread writes. What is urgent passes between the pieces of a
//! long message, so a message of any length holds up neither a heartbeat nor a request.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::channel::Channel;
use super::frame::{FrameKind, Head, frame};
use super::wire::ByteCounts;
use crate::error::Result;
use crate::limits::{MAX_QUEUED_BYTES, MESSAGE_PIECE_BYTES};

/// How often a sender who has to wait looks whether it still makes sense.
const LOOK: Duration = Duration::from_millis(100);

/// This process's end of the control connection to another.
pub(super) struct Link {
    pub(super) channel: Channel,
    queue: Mutex<Queue>,
    changed: Condvar,
    pub(super) counts: Arc<ByteCounts>,
    begun: Instant,
    /// When something was heard last, in milliseconds since `begun`, plus 1; 0 before that.
    heard: AtomicU64,
}

#[derive(Default)]
struct Queue {
    urgent: VecDeque<Vec<u8>>,
    beat: bool,
    messages: VecDeque<Message>,
    /// Bytes of `messages`.
    bytes: usize,
    /// A frame is being written.
    busy: bool,
    /// Nothing more will be put in: the connection ends when all is sent.
    finishing: bool,
    /// Nothing can be sent any more, and what waits never will be.
    broken: bool,
}

enum Message {
    Bytes(u32, Arc<Vec<u8>>),
    Leave,
}

/// What the writing thread does next.
enum Next {
    Frame(Vec<u8>),
    Begin(Message),
    /// The message that is being sent goes on.
    Continue,
    Go,
}

impl Link {
    /// A link over a connection whose hello is through.
    pub(super) fn new(channel: Channel, counts: Arc<ByteCounts>) -> Link {
        let (queue, changed) = (Mutex::new(Queue::default()), Condvar::new());
        Link { channel, queue, changed, counts, begun: Instant::now(), heard: AtomicU64::new(0) }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, put: impl FnOnce(&mut Queue)) {
        put(&mut self.queue());
        self.changed.notify_all();
    }

    /// Sends a whole frame before all messages.
    pub(super) fn urge(&self, frame: Vec<u8>) {
        self.put(|queue| queue.urgent.push_back(frame));
    }

    /// Sends a sign of life, unless one waits already.
    pub(super) fn beat(&self) {
        self.put(|queue| queue.beat = true);
    }

    /// Sends a message after all earlier ones, and returns whether the connection still takes any. Waits while much
    /// waits already; `check` says whether that makes sense.
    pub(super) fn send(
        &self,
        topic: u32,
        bytes: Arc<Vec<u8>>,
        check: impl Fn() -> Result<()>,
    ) -> Result<bool> {
        check()?;
        let mut queue = self.queue();
        while queue.bytes > MAX_QUEUED_BYTES && !queue.broken {
            drop(self.changed.wait_timeout(queue, LOOK).unwrap_or_else(PoisonError::into_inner));
            check()?;
            queue = self.queue();
        }
        if queue.broken || queue.finishing {
            return Ok(false);
        }
        queue.bytes += bytes.len();
        queue.messages.push_back(Message::Bytes(topic, bytes));
        self.changed.notify_all();
        Ok(true)
    }

    /// Says goodbye after all messages.
    pub(super) fn leave(&self) {
        self.put(|queue| queue.messages.push_back(Message::Leave));
    }

    /// Ends the connection once all is sent.
    pub(super) fn finish(&self) {
        self.put(|queue| queue.finishing = true);
    }

    /// Lets go of what waits to be sent.
    pub(super) fn break_off(&self) {
        self.put(|queue| {
            queue.broken = true;
            queue.messages.clear();
            queue.urgent.clear();
        });
    }

    /// Ends the connection now.
    pub(super) fn cut(&self) {
        self.break_off();
        // It may have ended by itself.
        let _ = self.channel.shutdown(Shutdown::Both);
    }

    /// Lets those who wait look again.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits until all that is urgent has been written, at most until `until`.
    pub(super) fn flushed(&self, until: Instant) {
        let mut queue = self.queue();
        while !queue.broken && (!queue.urgent.is_empty() || queue.busy) {
            let time = until.saturating_duration_since(Instant::now());
            if time.is_zero() {
                return;
            }
            queue = self.changed.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Milliseconds since something was heard; `None` if nothing was yet.
    pub(super) fn silence(&self) -> Option<u64> {
        let heard = self.heard.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.millis().saturating_sub(heard))
    }

    /// Begins to count silence anew.
    pub(super) fn forgive(&self) {
        if self.heard.load(Ordering::Relaxed) > 0 {
            self.hear();
        }
    }

    /// Something was heard: the silence ends.
    pub(super) fn hear(&self) {
        self.heard.store(self.millis() + 1, Ordering::Relaxed);
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Writes what is put into the queue, until nothing more will be or the connection breaks.
    pub(super) fn write_all(&self) {
        // A failure is not a loss yet: what the other side said last may still be to be read, and why it has gone.
        if self.write_frames().is_err() {
            self.break_off();
        }
    }

    fn write_frames(&self) -> io::Result<()> {
        let mut message: Option<(u32, Arc<Vec<u8>>, usize)> = None;
        loop {
            match self.next(message.is_some()) {
                Next::Go => break,
                Next::Continue => {}
                Next::Frame(bytes) => self.write(&bytes)?,
                Next::Begin(Message::Leave) => self.write(&frame(FrameKind::Leave, 0, &[]))?,
                Next::Begin(Message::Bytes(topic, bytes)) => message = Some((topic, bytes, 0)),
            }
            if let Some((topic, bytes, at)) = &mut message {
                let length = MESSAGE_PIECE_BYTES.min(bytes.len() - *at);
                let last = *at + length == bytes.len();
                let kind = if last { FrameKind::Last } else { FrameKind::Piece };
                self.write_piece(&Head { kind, topic: *topic, length }.encode(), &bytes[*at..*at + length])?;
                *at += length;
                self.put(|queue| queue.bytes -= length);
                if last {
                    message = None;
                }
            }
        }
        self.channel.shutdown(Shutdown::Write)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.channel).write_all(bytes)?;
        self.counts.send(bytes.len());
        Ok(())
    }

    /// Writes both at once: a head on its own would be a packet of its own, and wake the other side twice.
    fn write_piece(&self, head: &[u8], bytes: &[u8]) -> io::Result<()> {
        self.write(&[head, bytes].concat())
    }

    /// What to write next; in the middle of a message only what may stand between two pieces, or nothing.
    fn next(&self, within: bool) -> Next {
        let mut queue = self.queue();
        queue.busy = false;
        self.changed.notify_all();
        loop {
            if queue.broken {
                return Next::Go;
            }
            if let Some(bytes) = queue.urgent.pop_front() {
                queue.busy = true;
                return Next::Frame(bytes);
            }
            if std::mem::take(&mut queue.beat) && !queue.finishing {
                queue.busy = true;
                return Next::Frame(frame(FrameKind::Beat, 0, &[]));
            }
            if within {
                return Next::Continue;
            }
            if let Some(message) = queue.messages.pop_front() {
                return Next::Begin(message);
            }
            if queue.finishing {
                return Next::Go;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
