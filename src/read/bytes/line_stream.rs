//! A compressed file of lines that several workers read together: it can only be decompressed from its start, by one thread, but
//! its lines can be parsed by all.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::{memchr, memchr_iter, memrchr};

use super::decoder::ReadFault;
use super::room::{RecordRoom, Turn};
use super::window::Window;
use crate::error::Result;
use crate::read::source::Source;
use crate::read::{BLOCK, BOM};

/// The lines of a compressed file, each handed out once, in order.
pub(in crate::read) struct LineStream {
    source: Source,
    room: RecordRoom,
    /// Longest line that is handed out, beside a byte order mark.
    bound: usize,
    state: Mutex<StreamState>,
}

#[derive(Default)]
struct StreamState {
    /// Whether one of this process's workers has begun to read the file.
    is_begun: bool,
    has_ended: bool,
    /// How many workers read it.
    readers: usize,
    window: Option<Window>,
    /// Lines handed out so far.
    lines: u32,
    /// Bytes of the compressed file that were counted as progress.
    told: u64,
    /// Where a line began that is too long.
    skipping: Option<u64>,
    /// While a long line is pending.
    turn: Option<Turn>,
}

/// Some lines of the file, one behind the other.
#[derive(Default)]
pub(in crate::read) struct TakenLines {
    /// A line that was passed over: where it began, and how many bytes it has without its end. It comes first.
    pub(in crate::read) passed: Option<(u64, u64)>,
    /// Where the others begin.
    pub(in crate::read) offset: u64,
    /// Their bytes; the last one may lack its end.
    pub(in crate::read) bytes: Vec<u8>,
    /// Lines that stand before all of them.
    pub(in crate::read) before: u32,
    /// Bytes of the compressed file that this is the share of.
    pub(in crate::read) compressed: u64,
    /// What ends the file too early behind them: where the record begins that it cuts off, how many bytes could be
    /// decompressed, and why.
    pub(in crate::read) fault: Option<(u64, u64, ReadFault)>,
    /// Whether nothing comes behind them.
    pub(in crate::read) is_last: bool,
    /// The right to hold them, if they are long.
    pub(in crate::read) turn: Option<Turn>,
}

impl LineStream {
    /// The lines of `source`, of at most `longest` bytes each, of which nothing has been read.
    pub(in crate::read) fn new(source: &Source, room: &RecordRoom, longest: usize) -> LineStream {
        let bound = longest.saturating_add(BOM.len());
        LineStream { source: source.clone(), room: room.clone(), bound, state: Mutex::default() }
    }

    /// The file.
    pub(in crate::read) fn source(&self) -> &Source {
        &self.source
    }

    /// Notes that a worker of this process has been given the file to read, from its start.
    pub(in crate::read) fn begin(&self) {
        let mut state = self.lock();
        *state = StreamState { is_begun: true, readers: state.readers, ..StreamState::default() };
    }

    /// Whether a worker of this process was ever given the file.
    pub(in crate::read) fn is_begun(&self) -> bool {
        self.lock().is_begun
    }

    /// Whether a worker of this process reads it, and has not come to its end.
    pub(in crate::read) fn is_open(&self) -> bool {
        let state = self.lock();
        state.is_begun && !state.has_ended
    }

    /// Lines handed out so far; at the end, all.
    pub(in crate::read) fn lines(&self) -> u32 {
        self.lock().lines
    }

    /// Notes that one more worker reads it, until it [leaves](LineStream::leave).
    pub(in crate::read) fn join(&self) {
        self.lock().readers += 1;
    }

    /// Notes that a worker reads it no longer. With the last one ends what is held for them, also where a run has failed before the
    /// end of the file: others may wait for their turn.
    pub(in crate::read) fn leave(&self) {
        let mut state = self.lock();
        state.readers = state.readers.saturating_sub(1);
        if state.readers == 0 {
            (state.has_ended, state.window, state.turn) = (true, None, None);
        }
    }

    fn lock(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next lines, about a mebibyte; none while a long one is decompressed. `spent` is what the last ones stood in.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`] once the run was asked to stop.
    pub(in crate::read) fn take(&self, spent: Vec<u8>) -> Result<TakenLines> {
        let mut state = self.lock();
        let taken = self.take_from(&mut state, spent);
        if taken.as_ref().map_or(true, |taken| taken.is_last) {
            (state.has_ended, state.window, state.turn) = (true, None, None);
        }
        taken
    }

    fn take_from(&self, state: &mut StreamState, spent: Vec<u8>) -> Result<TakenLines> {
        let mut taken = TakenLines { before: state.lines, ..TakenLines::default() };
        if state.has_ended {
            taken.is_last = true;
            return Ok(taken);
        }
        let mut window = match state.window.take().map_or_else(|| Window::open(&self.source, 0), Ok) {
            Ok(window) => window,
            Err(error) => {
                taken.fault = Some((0, 0, error.into()));
                return Ok(self.last(state, taken));
            }
        };
        let pending = window.pending().len();
        self.make_room(state, pending)?;
        let read = window.more(BLOCK);
        let is_last = !matches!(read, Ok(read) if read > 0);
        self.pass_over(state, &mut window, read.is_ok() && is_last, &mut taken);
        if state.skipping.is_none() {
            // What was pending before has no line end; of a line that is passed over nothing was.
            let new = window.pending().get(pending..).unwrap_or_default();
            let complete = memrchr(b'\n', new).map_or(0, |end| pending + end + 1);
            let length = if read.is_ok() && is_last { window.pending().len() } else { complete };
            taken.offset = window.offset();
            if length > 0 {
                taken.bytes = window.take(length, spent);
                taken.turn = state.turn.take();
                state.lines = state.lines.saturating_add(lines_of(&taken.bytes));
            }
        }
        if let Err(fault) = read {
            let start = state.skipping.unwrap_or(window.offset());
            taken.fault = Some((start, window.read_to(), fault));
        } else if !is_last && window.pending().len() > self.bound {
            state.skipping.get_or_insert(window.offset());
            window.consume(usize::MAX);
        }
        if is_last {
            return Ok(self.last(state, taken));
        }
        let consumed = window.compressed().unwrap_or_default();
        taken.compressed = consumed.saturating_sub(state.told);
        state.told = state.told.max(consumed);
        if !self.room.is_long(window.pending().len()) && state.turn.is_some() {
            window.shrink();
            state.turn = None;
        }
        state.window = Some(window);
        Ok(taken)
    }

    /// Passes over a line that is too long, as far as it was decompressed.
    fn pass_over(&self, state: &mut StreamState, window: &mut Window, last: bool, taken: &mut TakenLines) {
        let Some(start) = state.skipping else { return };
        let end = memchr(b'\n', window.pending());
        window.consume(end.map_or(usize::MAX, |end| end + 1));
        if end.is_none() && !last {
            return;
        }
        taken.passed = Some((start, window.offset() - start - u64::from(end.is_some())));
        state.skipping = None;
        state.lines = state.lines.saturating_add(1);
    }

    /// Waits until what weighs so many bytes may be held. Whoever holds a turn gives it back without this lock.
    fn make_room(&self, state: &mut StreamState, bytes: usize) -> Result<()> {
        if state.turn.is_none() && self.room.is_long(bytes) {
            state.turn = self.room.turn()?;
        }
        Ok(())
    }

    /// The last lines there are.
    fn last(&self, state: &mut StreamState, mut taken: TakenLines) -> TakenLines {
        state.lines = state.lines.saturating_add(u32::from(taken.fault.is_some()));
        taken.compressed = self.source.bytes.saturating_sub(state.told);
        (taken.is_last, state.told) = (true, self.source.bytes);
        if taken.turn.is_none() {
            taken.turn = state.turn.take();
        }
        taken
    }
}

/// How many lines there are, the last of which may lack its end.
fn lines_of(bytes: &[u8]) -> u32 {
    let ends = memchr_iter(b'\n', bytes).count();
    u32::try_from(ends + usize::from(!bytes.ends_with(b"\n"))).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::progress::Progress;
    use crate::read::{RecordCost, discover};

    #[test]
    fn whoever_leaves_a_long_line_behind_gives_its_turn_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl.zst");
        let line = format!("{{\"text\": \"{}\"}}\n", "x".repeat(20 << 20));
        fs::write(&path, zstd::encode_all(line.as_bytes(), 1).expect("compressed")).expect("written");
        let name = path.to_str().expect("UTF-8").to_owned();
        let source = discover(&[name], folder.path()).expect("found").sources.remove(0);
        let progress = Arc::new(Progress::default());
        let cost = RecordCost { token: 22, bytes_of_token: 6 };
        let least = crate::limits::BASE_MEMORY + 2 * crate::limits::WORKER_MEMORY;
        let room = RecordRoom::new(Some(least + (16 << 20)), 0, 2, cost, &progress);
        let stream = LineStream::new(&source, &room, 1 << 30);
        stream.begin();
        stream.join();
        while stream.lock().turn.is_none() {
            assert!(!stream.take(Vec::new()).expect("no bug").is_last, "the line is long");
        }
        progress.stop_flag().store(true, Ordering::Relaxed);
        assert!(room.turn().is_err(), "the turn is taken, and whoever waits is stopped");
        stream.leave();
        assert!(room.turn().expect("free").is_some());
        assert!(!stream.is_open());
    }
}
