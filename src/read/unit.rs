//! Reading a unit: its lines, one after the other, to a sink.

use std::io;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::date::Day;
use super::decoder::Fault;
use super::extract::Extractor;
use super::field::Fields;
use super::record::{Record, Refusal, Sink};
use super::source::{Compression, Format, Source, Unit};
use super::window::Window;
use super::{BLOCK, BOM};
use crate::document::Position;
use crate::error::{Error, Result};
use crate::limits::MAX_FILE_BYTES;

/// Bytes read at once beyond the end of a unit, for the rest of its last line.
const BEYOND: usize = 64 << 10;

/// Reads the records of one unit.
pub struct UnitReader {
    source: Source,
    unit: Unit,
    /// Opened by the first `advance`, so that readers made in advance hold no file and no thread.
    window: Option<Window>,
    state: State,
    lines: Lines,
    /// Pending bytes known to hold no line end.
    searched: usize,
    /// Where the unit's first line starts.
    first: u64,
    /// Where reading stands.
    cursor: u64,
    /// Bytes of a compressed file consumed so far.
    compressed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a line that belongs to an earlier unit.
    Before,
    /// At the start of a line.
    Within,
    /// In a line that is too long and began at this offset.
    Skipping(u64),
    Done,
}

impl UnitReader {
    /// A reader of `unit` of `source`, which is file number `file`. What goes wrong on opening is refused by the
    /// first [`advance`](UnitReader::advance).
    pub fn open(file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> UnitReader {
        let name = fields.op.as_ref().filter(|_| source.format == Format::Text).map(|_| source.name.clone());
        UnitReader {
            source: source.clone(),
            unit: *unit,
            window: None,
            state: if unit.start == 0 { State::Within } else { State::Before },
            lines: Lines { file, name, fields, extractor: Extractor::default(), count: 0 },
            searched: 0,
            first: unit.start,
            cursor: unit.start,
            compressed: 0,
        }
    }

    /// Reads about a mebibyte more and hands on its records; `false` when the unit is exhausted.
    /// A fault in the file is refused and ends the unit; an error is a bug.
    pub fn advance(&mut self, sink: &mut impl Sink) -> Result<bool> {
        if self.state == State::Done {
            return Ok(false);
        }
        let mut window = match self.window.take() {
            Some(window) => window,
            // The byte before the unit tells whether a line starts with the unit.
            None => match Window::open(&self.source, self.unit.start.saturating_sub(1)) {
                Ok(window) => window,
                Err(error) => return Ok(self.fault(self.unit.start, 0, &error, sink)),
            },
        };
        let left = self.unit.end.saturating_sub(window.read_to());
        let want = if left == 0 { BEYOND } else { usize::try_from(left).unwrap_or(BLOCK).min(BLOCK) };
        let read = window.more(want);
        self.compressed = window.compressed().unwrap_or_default();
        let more = match read {
            Ok(read) => match self.source.format {
                Format::JsonLines => self.take_lines(&mut window, read == 0, sink),
                Format::Text => self.take_text(&mut window, read == 0, sink),
            },
            Err(Fault::Io(error)) => self.faulty(&mut window, &error, sink),
            Err(Fault::Panic(what)) => return Err(Error::Worker(what)),
        };
        if more {
            self.window = Some(window);
        } else {
            self.state = State::Done;
        }
        Ok(more)
    }

    /// Lines seen so far in this unit: blank and refused ones included. A text file is one line, and so is what a
    /// fault cuts off.
    pub fn lines(&self) -> u64 {
        u64::from(self.lines.count)
    }

    /// Bytes of the file consumed so far; those of all units sum up to the file's size.
    pub fn bytes(&self) -> u64 {
        match (self.source.compression, self.state) {
            (Compression::None, State::Done) => self.unit.end.saturating_sub(self.unit.start),
            (Compression::None, _) => self.cursor.min(self.unit.end).saturating_sub(self.unit.start),
            (_, State::Done) => self.source.bytes,
            _ => self.compressed,
        }
    }

    /// Decompressed bytes of the lines seen so far.
    pub fn text_bytes(&self) -> u64 {
        self.cursor.saturating_sub(self.first)
    }

    /// Hands on the lines that are complete; whether more may come.
    fn take_lines(&mut self, window: &mut Window, last: bool, sink: &mut impl Sink) -> bool {
        if self.state == State::Before && !self.find_first(window) {
            return !last && window.offset() < self.unit.end;
        }
        if let State::Skipping(start) = self.state {
            let end = memchr(b'\n', window.pending());
            window.consume(end.map_or(usize::MAX, |end| end + 1));
            self.cursor = window.offset();
            if end.is_none() && !last {
                return true;
            }
            self.lines.too_long(start, sink);
            self.state = State::Within;
        }
        if !self.complete_lines(window, sink) {
            return false;
        }
        let rest = window.pending();
        if last && !rest.is_empty() {
            self.lines.lines(window.offset(), rest, sink);
            window.consume(usize::MAX);
            self.cursor = window.offset();
        } else if rest.len() > self.lines.bound() {
            self.state = State::Skipping(window.offset());
            window.consume(usize::MAX);
            self.cursor = window.offset();
        }
        self.searched = window.pending().len();
        !last
    }

    /// Passes over the rest of a line of an earlier unit; whether a line starts in this one (or later).
    fn find_first(&mut self, window: &mut Window) -> bool {
        let end = memchr(b'\n', window.pending());
        window.consume(end.map_or(usize::MAX, |end| end + 1));
        (self.first, self.cursor) = (window.offset(), window.offset());
        if end.is_some() {
            self.state = State::Within;
        }
        end.is_some()
    }

    /// Hands on the pending lines that have an end; whether lines of this unit may follow.
    fn complete_lines(&mut self, window: &mut Window, sink: &mut impl Sink) -> bool {
        let (offset, pending) = (window.offset(), window.pending());
        let searched = self.searched.min(pending.len());
        let mut length = memrchr(b'\n', &pending[searched..]).map_or(0, |end| searched + end + 1);
        // The last line of the unit is the one that holds the byte before the unit's end.
        let left = usize::try_from(self.unit.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        if left <= length {
            length = match left {
                0 => 0,
                _ => memchr(b'\n', &pending[left - 1..length]).map_or(length, |end| left + end),
            };
        }
        self.lines.lines(offset, &pending[..length], sink);
        window.consume(length);
        self.searched = 0;
        self.cursor = window.offset();
        window.offset() < self.unit.end
    }

    /// Hands on the document that a text file is, once it was read to the end; whether more may come.
    fn take_text(&mut self, window: &mut Window, last: bool, sink: &mut impl Sink) -> bool {
        let text = window.pending();
        self.cursor = window.read_to();
        let too_long = text.len() > self.lines.bound();
        if last || too_long {
            self.lines.text(text, sink);
        }
        !last && !too_long
    }

    /// Hands on what came before a fault, then refuses the rest.
    fn faulty(&mut self, window: &mut Window, error: &io::Error, sink: &mut impl Sink) -> bool {
        let start = match (self.source.format, self.state) {
            (Format::Text, _) => 0,
            (Format::JsonLines, State::Skipping(start)) => start,
            (Format::JsonLines, State::Before) if !self.find_first(window) => self.unit.start,
            (Format::JsonLines, _) => {
                if !self.complete_lines(window, sink) {
                    return false;
                }
                window.offset()
            }
        };
        self.cursor = window.read_to();
        self.fault(start, window.read_to(), error, sink)
    }

    /// Refuses the rest of the file, which begins with the line at `start`; `good` bytes could be read.
    fn fault(&mut self, start: u64, good: u64, error: &io::Error, sink: &mut impl Sink) -> bool {
        let compressed = self.source.compression != Compression::None;
        // The system fails to read; a decoder fails to make sense of what was read.
        let refusal = if compressed && error.raw_os_error().is_none() {
            let why = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the compressed data ends too early".to_owned(),
                _ => error.to_string(),
            };
            Refusal::Truncated(format!("{why}, after {good} decompressed bytes"))
        } else {
            Refusal::Unreadable(error.to_string())
        };
        self.state = State::Done;
        self.window = None;
        self.lines.refuse(start, refusal, sink);
        false
    }
}

/// Makes records of lines, and counts them.
struct Lines {
    file: u32,
    /// The id of a text file, where one is needed.
    name: Option<String>,
    fields: Arc<Fields>,
    extractor: Extractor,
    count: u32,
}

impl Lines {
    /// What is longer than this is too long even without a byte order mark.
    fn bound(&self) -> usize {
        self.fields.max_record_bytes.saturating_add(BOM.len())
    }

    /// The position of what starts at an offset. Offsets are bounded where sources are opened; a refusal may stand
    /// right after the last byte allowed.
    fn position(&self, offset: u64) -> Position {
        Position::new(self.file, offset.min(MAX_FILE_BYTES - 1))
    }

    /// Counts a line and refuses it.
    fn refuse(&mut self, offset: u64, refusal: Refusal, sink: &mut impl Sink) {
        self.count = self.count.saturating_add(1);
        sink.refuse(self.position(offset), self.count, refusal);
    }

    fn too_long(&mut self, offset: u64, sink: &mut impl Sink) {
        self.refuse(offset, Refusal::TooLong { limit: self.fields.max_record_bytes }, sink);
    }

    /// Hands on lines, the last of which may lack its end.
    fn lines(&mut self, offset: u64, lines: &[u8], sink: &mut impl Sink) {
        // One check for all; only where it fails, one for each.
        let checked = std::str::from_utf8(lines).ok();
        let mut start = 0;
        for end in memchr_iter(b'\n', lines).chain((!lines.ends_with(b"\n")).then_some(lines.len())) {
            if start < lines.len() {
                let line = &lines[start..end];
                let text = checked.and_then(|text| text.get(start..end));
                self.line(offset + start as u64, line, text, sink);
            }
            start = end + 1;
        }
    }

    /// Hands on one line without its end; `text` is the same, if it was checked.
    fn line(&mut self, offset: u64, line: &[u8], text: Option<&str>, sink: &mut impl Sink) {
        let bom = if offset == 0 && line.starts_with(BOM) { BOM.len() } else { 0 };
        let line = &line[bom..];
        if line.len() > self.fields.max_record_bytes {
            return self.too_long(offset, sink);
        }
        let text = match text.and_then(|text| text.get(bom..)) {
            Some(text) => text,
            None => match std::str::from_utf8(line) {
                Ok(text) => text,
                Err(_) => return self.refuse(offset, Refusal::NotUtf8, sink),
            },
        };
        if text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            self.count = self.count.saturating_add(1);
            return;
        }
        let position = self.position(offset);
        let number = self.count.saturating_add(1);
        match self.extractor.record(&self.fields, position, number, text) {
            Ok(record) => {
                self.count = number;
                sink.document(&record);
            }
            Err(refusal) => self.refuse(offset, refusal, sink),
        }
    }

    /// Hands on a text file; an empty one is no document.
    fn text(&mut self, text: &[u8], sink: &mut impl Sink) {
        let bom = if text.starts_with(BOM) { BOM.len() } else { 0 };
        if text.len() == bom {
            return;
        }
        if text.len() - bom > self.fields.max_record_bytes {
            return self.too_long(0, sink);
        }
        match std::str::from_utf8(text) {
            Ok(raw) => {
                let text = &raw[bom..];
                self.count += 1;
                let position = self.position(0);
                // A change needs an id, and a text file has nothing else than its name.
                let id = self.name.as_deref().map(Into::into);
                let (value, day, deleted) = (None, Day::None, false);
                sink.document(&Record { position, line: 1, id, text, raw, value, day, deleted });
            }
            Err(_) => self.refuse(0, Refusal::NotUtf8, sink),
        }
    }
}
