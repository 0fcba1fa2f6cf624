//! Formats whose records are stretches of bytes: the frame that reads a unit through a [`Window`] and hands the bytes to a
//! [`Splitter`].

use std::io;

use super::BLOCK;
use super::BOM;
use super::bytes::{PassedOver, ReadFault, RecordRoom, Turn, Window};
use super::codec::Records;
use super::field::Fields;
use super::format::Compression;
use super::record::{Refusal, Sink};
use super::source::{Source, Unit};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::limits::{MAX_FILE_BYTES, sized};

/// Bytes read at once beyond the end of a unit, for the rest of its last record.
const BEYOND: usize = sized(64 << 10, 64);

/// Makes records of the bytes of a unit.
pub(super) trait Splitter: Send {
    /// Looks at the file before the unit is read; where reading begins.
    fn begin(&mut self, source: &Source, unit: &Unit) -> io::Result<u64>;

    /// Hands on the records that are complete, or all of them if no bytes follow; whether more may come.
    fn take(&mut self, window: &mut Window, last: bool, span: &mut Span, sink: &mut dyn Sink) -> bool;

    /// As how many bytes the pending ones count against the memory, if that is more than there are. Where `last` says so, no
    /// others follow.
    fn weight(&self, _pending: &[u8], _last: bool) -> usize {
        0
    }

    /// Whether it can go on where bytes are missing behind a record that is complete: then what follows is read as the next one.
    fn goes_on(&mut self) -> bool {
        false
    }

    /// Hands on what is complete before a fault; where the rest begins, or `None` if it is none of this unit's.
    fn cut_off(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> Option<u64>;

    /// The numbers of its records.
    fn numbers(&mut self) -> &mut Numbers;

    /// How many records were numbered.
    fn count(&self) -> u32;

    /// Gives back what a long record was copied to.
    fn rest(&mut self);
}

/// What was read of a unit.
pub(super) struct Span {
    /// The unit.
    pub(super) unit: Unit,
    /// Where the unit's first record starts.
    pub(super) first: u64,
    /// Where reading stands.
    pub(super) cursor: u64,
}

/// Numbers and places of the records of a unit.
pub(super) struct Numbers {
    file: u32,
    max_record_bytes: usize,
    /// What the options allow of a record.
    limit: usize,
    /// The longest record that is handed on: where the memory is bounded it may be shorter than one that is not refused.
    longest: usize,
    room: RecordRoom,
    /// While a long record is pending, or what one was unpacked to.
    turn: Option<Turn>,
    /// Why there was no turn for a record that needs one.
    stopped: Option<Error>,
    /// How many there were.
    pub(super) count: u32,
}

impl Numbers {
    pub(super) fn new(file: u32, fields: &Fields) -> Numbers {
        Numbers::within(fields.max_record_bytes, file, fields)
    }

    /// The same where records may have so many bytes.
    pub(super) fn within(max_record_bytes: usize, file: u32, fields: &Fields) -> Numbers {
        let room = fields.room.clone();
        let longest = max_record_bytes.min(room.most());
        Numbers {
            file,
            max_record_bytes,
            limit: fields.max_record_bytes,
            longest,
            room,
            turn: None,
            stopped: None,
            count: 0,
        }
    }

    /// The longest record that is handed on.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// What is longer than this is too long even without a byte order mark.
    pub(super) fn bound(&self) -> usize {
        self.longest.saturating_add(BOM.len())
    }

    /// Waits until what weighs so many bytes may be held.
    fn make_room(&mut self, bytes: usize) -> Result<()> {
        if self.turn.is_none() && self.room.is_long(bytes) {
            self.turn = self.room.turn()?;
        }
        Ok(())
    }

    /// Makes room for the record at `offset` as it is when it is unpacked, to so many bytes; whether it may be. If not, it is
    /// refused, or the unit ends.
    pub(super) fn may_unpack(&mut self, offset: u64, bytes: u64, sink: &mut dyn Sink) -> bool {
        if bytes > self.longest as u64 {
            self.too_long(offset, bytes, sink);
            return false;
        }
        let made = self.make_room(usize::try_from(bytes).unwrap_or(usize::MAX));
        made.map_err(|error| self.stopped = Some(error)).is_ok()
    }

    /// Whether nothing more need be known of a record of which so much was seen: it is longer than any may be, whatever the memory.
    pub(super) fn is_refused(&self, bytes: u64) -> bool {
        self.longest == self.max_record_bytes || bytes > self.max_record_bytes as u64
    }

    /// Whether reading may go on.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where a record was given no turn.
    pub(super) fn check(&mut self) -> Result<()> {
        self.stopped.take().map_or(Ok(()), Err)
    }

    /// The position of what starts at an offset. Offsets are bounded where sources are opened; a refusal may stand
    /// right after the last byte allowed.
    pub(super) fn position(&self, offset: u64) -> Position {
        Position::new(self.file, offset.min(MAX_FILE_BYTES - 1))
    }

    /// The number of the next record.
    pub(super) fn next(&self) -> u32 {
        self.count.saturating_add(1)
    }

    /// Counts a record and refuses it.
    pub(super) fn refuse(&mut self, offset: u64, refusal: Refusal, sink: &mut dyn Sink) {
        self.count = self.next();
        sink.refuse(self.position(offset), self.count, refusal);
    }

    /// Counts a record of so many bytes and refuses it: as too long, or as one that the memory has no room for.
    pub(super) fn too_long(&mut self, offset: u64, bytes: u64, sink: &mut dyn Sink) {
        let refusal = match self.is_refused(bytes) {
            true if self.max_record_bytes > self.limit => {
                Refusal::FileTooLong { limit: self.max_record_bytes }
            }
            true => Refusal::TooLong { limit: self.limit },
            false => Refusal::NoRoom(self.room.refusal(bytes)),
        };
        self.refuse(offset, refusal, sink);
    }
}

/// A unit read through a window.
pub(super) struct Windowed<S> {
    source: Source,
    /// Opened by the first `advance`, so that readers made in advance hold no file and no thread.
    window: Option<Window>,
    splitter: S,
    span: Span,
    done: bool,
    /// Bytes of a compressed file consumed so far.
    compressed: u64,
}

/// Whether an error is no fault of a file, but of what is between: it ends the run, and nothing is left out.
pub(super) fn carries(error: &io::Error) -> bool {
    error.get_ref().and_then(|within| within.downcast_ref::<Error>()).is_some()
}

/// Whether an error says that compressed data is damaged.
pub(super) fn packing_is_damaged(source: &Source, error: &io::Error) -> bool {
    source.compression != Compression::None && error.raw_os_error().is_none() && !carries(error)
}

/// Why the rest of a file is refused, of which `good` bytes could be read.
pub(super) fn refusal_of_rest(source: &Source, good: u64, error: &io::Error) -> Refusal {
    // The system fails to read; a decoder fails to make sense of what was read, or has no room for it.
    if source.compression == Compression::None || error.raw_os_error().is_some() {
        return Refusal::Unreadable(error.to_string());
    }
    let (why, then) = match error.kind() {
        io::ErrorKind::UnexpectedEof => ("the compressed data ends too early".into(), "; get the file again"),
        _ => (error.to_string(), ""),
    };
    Refusal::Truncated(format!("{why}, after {good} decompressed bytes{then}"))
}

/// What a file is refused for from some place on.
///
/// # Errors
/// What is no fault of the file, and ends the run.
pub(super) fn fault_of_file(source: &Source, fault: ReadFault) -> Result<io::Error> {
    match fault {
        ReadFault::Io(error) if carries(&error) => Err(Error::io(&source.path, "read", error)),
        ReadFault::Io(error) => Ok(error),
        ReadFault::Panic(what) => Err(Error::Worker(what)),
    }
}

impl<S: Splitter> Windowed<S> {
    pub(super) fn new(source: &Source, unit: &Unit, splitter: S) -> Windowed<S> {
        let span = Span { unit: *unit, first: unit.start, cursor: unit.start };
        Windowed { source: source.clone(), window: None, splitter, span, done: false, compressed: 0 }
    }

    fn open(&mut self) -> io::Result<Window> {
        let start = self.splitter.begin(&self.source, &self.span.unit)?;
        Window::open_until(&self.source, start, self.span.unit.end)
    }

    /// Lets others have a long record, if none is pending.
    fn give_back(&mut self, window: &mut Window) {
        let numbers = self.splitter.numbers();
        if numbers.turn.is_none() || numbers.room.is_long(window.pending().len()) {
            return;
        }
        window.shrink();
        self.splitter.rest();
        self.splitter.numbers().turn = None;
    }

    /// Refuses the rest of the file, which begins with the record at `start`; `good` bytes could be read.
    fn fault(&mut self, start: u64, good: u64, error: &io::Error, sink: &mut dyn Sink) {
        self.splitter.numbers().refuse(start, refusal_of_rest(&self.source, good, error), sink);
    }
}

impl<S: Splitter> Records for Windowed<S> {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if self.done {
            return Ok(false);
        }
        self.done = true;
        let mut window = match self.window.take().map_or_else(|| self.open(), Ok) {
            Ok(window) => window,
            Err(error) if carries(&error) => return Err(Error::io(&self.source.path, "read", error)),
            Err(error) => {
                self.fault(self.span.unit.start, 0, &error, sink);
                return Ok(false);
            }
        };
        self.splitter.numbers().make_room(window.pending().len())?;
        let left = self.span.unit.end.saturating_sub(window.read_to());
        let want = if left == 0 { BEYOND } else { usize::try_from(left).unwrap_or(BLOCK).min(BLOCK) };
        let read = window.more(want);
        self.compressed = window.compressed().unwrap_or_default();
        match read {
            Ok(read) => {
                let weight = self.splitter.weight(window.pending(), read == 0);
                self.splitter.numbers().make_room(weight)?;
                if self.splitter.take(&mut window, read == 0, &mut self.span, sink) {
                    self.done = false;
                    self.give_back(&mut window);
                    self.window = Some(window);
                }
                self.splitter.numbers().check()?;
            }
            Err(fault) => {
                let error = fault_of_file(&self.source, fault)?;
                if let Some(start) = self.splitter.cut_off(&mut window, &mut self.span, sink) {
                    self.span.cursor = window.read_to();
                    let is_between = PassedOver::is_it(&error) && start == window.read_to();
                    if is_between && self.splitter.goes_on() {
                        let refusal = Refusal::PassedOver(error.to_string());
                        self.splitter.numbers().refuse(start, refusal, sink);
                        self.done = false;
                        self.give_back(&mut window);
                        self.window = Some(window);
                    } else {
                        self.fault(start, window.read_to(), &error, sink);
                    }
                }
            }
        }
        Ok(!self.done)
    }

    fn lines(&self) -> u64 {
        u64::from(self.splitter.count())
    }

    fn bytes(&self) -> u64 {
        let Unit { start, end, .. } = self.span.unit;
        match (self.source.compression, self.done) {
            (Compression::None, true) => end.saturating_sub(start),
            (Compression::None, false) => self.span.cursor.min(end).saturating_sub(start),
            (_, true) => self.source.bytes,
            (_, false) => self.compressed,
        }
    }

    fn text_bytes(&self) -> u64 {
        self.span.cursor.saturating_sub(self.span.first)
    }
}
