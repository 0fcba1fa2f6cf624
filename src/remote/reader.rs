//! Reading an object: in few and large requests, ahead of whoever reads on.

use crate::limits::sized;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::requests::fetch;
use super::state::{ListedObject, ObjectState};
use super::stores::{Store, store};
use super::trouble::{Trouble, as_io};
use super::url::ObjectUrl;
use super::waiting::Awaited;

/// Least bytes of a request, unless there are no more: what a request costs by itself is the time of about as many.
const LEAST: u64 = sized(256 << 10, 256);
/// Bytes fetched first of a larger object, to see what it is.
const HEAD: u64 = sized(64 << 10, 64);
/// Most bytes of a request, and least of one of several that are under way.
const BLOCK: (u64, u64) = sized((8 << 20, 1 << 20), (4 << 10, 512));
/// Requests under way at once, where there is room for all.
const UNDER_WAY: u64 = 4;
/// How long to wait for others before looking again.
const WAIT: Duration = Duration::from_millis(2);
/// Objects that are looked at at once.
const LOOKED_AT: usize = 16;

/// Reads an object of a known version.
pub struct ObjectReader {
    url: ObjectUrl,
    store: Arc<Store>,
    state: ObjectState,
    /// What is said to be read, from its first byte to its last.
    expected: Range<u64>,
    /// Bytes of the next request.
    step: u64,
    /// Pieces one behind the other, of which the first has the byte that was read last.
    pieces: VecDeque<AwaitedPiece>,
    /// Where the last of them ends.
    end: u64,
    /// How many were read to their ends, one behind the other.
    passed: u64,
    /// Whether the next one is not behind what was read.
    jumped: bool,
}

struct AwaitedPiece {
    start: u64,
    end: u64,
    bytes: PieceBytes,
}

enum PieceBytes {
    /// On the disk of this machine.
    Spooled,
    /// Fetched by somebody else.
    Shared,
    Fetched(Bytes),
    Coming(Awaited<Bytes>),
}

impl fmt::Debug for ObjectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectReader({})", self.url)
    }
}

impl ObjectReader {
    /// A reader of an object; nothing is fetched yet.
    ///
    /// # Errors
    /// [`Error::Input`](crate::error::Error::Input) within it, if its store cannot be spoken to.
    pub fn open(url: &ObjectUrl, state: &ObjectState) -> io::Result<ObjectReader> {
        let store = store(url).map_err(as_io)?;
        Ok(ObjectReader::of(store, url.clone(), state.clone()))
    }

    fn of(store: Arc<Store>, url: ObjectUrl, state: ObjectState) -> ObjectReader {
        let pieces = VecDeque::new();
        ObjectReader {
            url,
            store,
            state,
            expected: 0..0,
            step: LEAST,
            pieces,
            end: 0,
            passed: 0,
            jumped: true,
        }
    }

    /// Another reader of a range of it, with a part of the room.
    pub fn again(&self, range: Range<u64>) -> ObjectReader {
        let mut state = self.state.clone();
        state.ahead = if state.ahead == 0 { 0 } else { (state.ahead / 4).max(2 * BLOCK.1) };
        let mut reader = ObjectReader::of(Arc::clone(&self.store), self.url.clone(), state);
        reader.expect(range);
        reader
    }

    /// What is known of it.
    pub fn state(&self) -> &ObjectState {
        &self.state
    }

    /// Says that all of a range will be read, in order, and little else.
    pub fn expect(&mut self, range: Range<u64>) {
        self.expected = range.start..range.end.min(self.state.bytes);
    }

    /// Reads at an offset; 0 is the end.
    ///
    /// # Errors
    /// [`Error::Changed`](crate::error::Error::Changed) within it if the object is another one now, and others that say what
    /// to do.
    pub fn read_at(&mut self, into: &mut [u8], at: u64) -> io::Result<usize> {
        if at >= self.state.bytes || into.is_empty() {
            return Ok(0);
        }
        self.go_to(at);
        self.fetch_ahead();
        self.wait_for_others(at)?;
        let Some(piece) = self.pieces.front_mut() else { return Ok(0) };
        if let PieceBytes::Coming(coming) = &piece.bytes {
            match coming.wait(&self.state.stop) {
                Ok(bytes) => piece.bytes = PieceBytes::Fetched(bytes),
                Err(trouble) => {
                    self.pieces.clear();
                    return Err(as_io(trouble.told(&self.url, true)));
                }
            }
        }
        let bytes = match &piece.bytes {
            PieceBytes::Spooled => {
                let left = usize::try_from(piece.end - at).unwrap_or(usize::MAX).min(into.len());
                return self.state.blocks.read(&mut into[..left], at);
            }
            PieceBytes::Fetched(bytes) => bytes,
            PieceBytes::Coming(_) | PieceBytes::Shared => return Ok(0),
        };
        let from = &bytes[usize::try_from(at - piece.start).unwrap_or(usize::MAX).min(bytes.len())..];
        let count = from.len().min(into.len());
        into[..count].copy_from_slice(&from[..count]);
        Ok(count)
    }

    /// Waits as long as somebody else fetches the first piece; what does not come of that is fetched.
    fn wait_for_others(&mut self, at: u64) -> io::Result<()> {
        let Some(piece) = self.pieces.front_mut().filter(|piece| matches!(piece.bytes, PieceBytes::Shared))
        else {
            return Ok(());
        };
        while self.state.blocks.coming(at).is_some() {
            if self.state.stop.is_set() {
                return Err(as_io(Trouble::Stopped.told(&self.url, true)));
            }
            thread::sleep(WAIT);
        }
        piece.bytes = match self.state.blocks.at(at) {
            Some(end) => {
                piece.end = piece.end.min(end);
                PieceBytes::Spooled
            }
            None => PieceBytes::Coming(fetch(&self.store, &self.url, &self.state, piece.start..piece.end)),
        };
        Ok(())
    }

    /// Whether what is read from a place on was announced.
    fn is_expected(&self, at: u64) -> bool {
        self.expected.contains(&at)
    }

    /// Passes over pieces before a place; forgets all if none of them leads to it.
    fn go_to(&mut self, at: u64) {
        while self.pieces.front().is_some_and(|piece| piece.end <= at) {
            self.pieces.pop_front();
            self.passed += 1;
            self.step = (2 * self.step).min(self.most());
        }
        let leads = self.pieces.front().map_or(self.end == at && at > 0, |piece| piece.start <= at);
        if !leads {
            self.pieces.clear();
            self.end = at;
            self.begin_slowly();
            self.jumped = true;
        }
    }

    /// Whether what was announced is fetched to its end, or as far behind it as makes a request worth its time.
    fn is_behind_expected(&self) -> bool {
        let within = if self.expected.is_empty() { 0..1 } else { 0..LEAST };
        self.end.checked_sub(self.expected.end).is_some_and(|behind| within.contains(&behind))
    }

    /// As if nothing were known of who reads but what was announced: even that may be given up after a part.
    fn begin_slowly(&mut self) {
        let announced = self.is_expected(self.end) && self.state.ahead > 0;
        (self.passed, self.step) = (0, if announced { BLOCK.1 } else { LEAST });
    }

    /// Most bytes of a request.
    fn most(&self) -> u64 {
        (self.state.ahead / UNDER_WAY).clamp(BLOCK.1, BLOCK.0)
    }

    /// Begins requests as long as there is room, and at least that for the byte where the pieces end, if there are none.
    fn fetch_ahead(&mut self) {
        loop {
            let (needed, expected) = (self.pieces.is_empty(), self.is_expected(self.end));
            if needed && !expected && self.is_behind_expected() {
                // The rest of a record that begins before.
                self.begin_slowly();
            }
            let last = if expected { self.expected.end } else { self.state.bytes };
            // Whoever has read on for a while will do so: more and more is fetched before it is asked for.
            let guessed = !expected && (self.passed == 0 || self.is_behind_expected());
            let allowed = if guessed { 0 } else { self.state.ahead.min(UNDER_WAY * self.step / 2) };
            if self.end >= last {
                return;
            }
            let range = self.next_range(last);
            let held: u64 = self.pieces.iter().map(AwaitedPiece::fetched).sum();
            if !needed && held + (range.end - range.start) > allowed {
                return;
            }
            let bytes = match self.state.blocks.at(range.start) {
                Some(_) => PieceBytes::Spooled,
                None if self.state.blocks.coming(range.start).is_some() => PieceBytes::Shared,
                None => PieceBytes::Coming(fetch(&self.store, &self.url, &self.state, range.clone())),
            };
            (self.end, self.jumped) = (range.end, false);
            self.pieces.push_back(AwaitedPiece { start: range.start, end: range.end, bytes });
        }
    }

    /// The bytes to fetch next, where `last` is the end of what is read on.
    fn next_range(&self, last: u64) -> Range<u64> {
        let at = self.end;
        if let Some(end) = self.state.blocks.at(at).or_else(|| self.state.blocks.coming(at)) {
            return at..end;
        }
        if at == 0 && self.state.ahead == 0 && last > LEAST {
            return 0..HEAD;
        }
        // A rest that is smaller than the least goes with what is before it.
        let last = self.state.blocks.before(at + 1..last);
        let rest = last.saturating_sub(at + self.step);
        let mut end = if rest < LEAST { last } else { at + self.step };
        // Where what is fetched is kept, others find there what is behind a short range: columns lie one behind the other.
        if self.state.blocks.is_some() {
            end = end.max((at + LEAST).min(self.state.bytes));
        }
        // What is looked for at the end is told from the end.
        let mut start = at;
        if self.jumped && end == self.state.bytes && end - at < LEAST {
            start = end.saturating_sub(LEAST);
            start = self.state.blocks.at(start).unwrap_or(start);
        } else if let Some(announced) = self.shortly_before(at) {
            start = announced;
        }
        start..self.state.blocks.before(at + 1..end)
    }

    /// Where that begins which was announced, if the first that is read of it is shortly behind, and nobody has what is between: others
    /// will find it in the spool.
    fn shortly_before(&self, at: u64) -> Option<u64> {
        let (start, blocks) = (self.expected.start, &self.state.blocks);
        let is_short = self.jumped && start < at && at - start < LEAST;
        let is_missing = || blocks.at(start).or_else(|| blocks.coming(start)).is_none();
        (is_short && blocks.is_some() && is_missing() && blocks.before(start + 1..at) == at).then_some(start)
    }
}

impl AwaitedPiece {
    /// Bytes that were, or are to be, fetched for it alone.
    fn fetched(&self) -> u64 {
        if matches!(self.bytes, PieceBytes::Spooled | PieceBytes::Shared) { 0 } else { self.end - self.start }
    }
}

/// Fetches the beginnings of objects, many at a time, before they are given out one after the other.
pub fn heads(listed: Vec<ListedObject>) -> impl Iterator<Item = ListedObject> {
    let mut listed = listed.into_iter();
    let mut under_way = VecDeque::new();
    std::iter::from_fn(move || {
        while under_way.len() < LOOKED_AT {
            let Some(object) = listed.next() else { break };
            let range = 0..if object.state.bytes > LEAST { HEAD } else { object.state.bytes };
            let head = match store(&object.url) {
                Ok(store) if !range.is_empty() => Some(fetch(&store, &object.url, &object.state, range)),
                _ => None,
            };
            under_way.push_back((object, head));
        }
        let (object, head): (ListedObject, Option<Awaited<Bytes>>) = under_way.pop_front()?;
        // It is kept with the object. What fails is asked for again by whoever reads that, and told there.
        head.map(|head| head.wait(&object.state.stop).is_ok());
        Some(object)
    })
}
