//! Formats whose records lie one behind the other, whatever is in them: the frame that finds where each ends by the
//! [`Boundaries`] of its format and hands its bytes to the format's [`Parser`].

use crate::limits::sized;
use std::io;

use super::BLOCK;
use super::bytes::{ReadFault, Window};
use super::codec::{Boundaries, Parser};
use super::record::{Refusal, Sink};
use super::source::{Cuts, Source, Unit};
use super::windowed::{Numbers, Span, Splitter};

/// Units of an uncompressed file begin at least this far apart, and there are at most so many.
const CUTS: (u64, u64) = sized((256 << 10, 1 << 16), (256, 1 << 16));

/// Where units of an uncompressed file may begin, whose records only show where they end to whoever reads them all.
pub(super) fn cuts(source: &Source, mut ends: Box<dyn Boundaries>) -> io::Result<Cuts> {
    let apart = CUTS.0.max(source.bytes / CUTS.1);
    let mut cuts: Vec<u64> = Vec::new();
    if source.bytes <= 2 * apart {
        return Ok(Cuts::default());
    }
    let mut window = Window::open(source, 0)?;
    // A header is no record of the unit that it would begin.
    let (mut in_header, mut blank) = (ends.has_header(), true);
    while window.more(BLOCK).map_err(fault)? > 0 {
        if ends.follows_mark() {
            skip_bom(&mut window);
        }
        while let Some(end) = ends.end(window.pending()) {
            blank &= !in_header || ends.is_blank(&window.pending()[..end]);
            in_header &= blank;
            window.consume(end);
            if !in_header && window.offset() >= cuts.last().copied().unwrap_or_default() + apart {
                cuts.push(window.offset());
            }
        }
        let rest = window.pending().len() - ends.undecided();
        blank &= !in_header || ends.is_blank(&window.pending()[..rest]);
        window.consume(rest);
    }
    Ok(Cuts { places: cuts, ..Cuts::default() })
}

/// The first of the ascending `cuts` at or after `at`; the end of the source if there is none.
pub(super) fn next_cut(source: &Source, at: u64) -> u64 {
    if at == 0 {
        return 0;
    }
    let next = source.cuts.places.partition_point(|cut| *cut < at);
    source.cuts.places.get(next).copied().unwrap_or(source.bytes)
}

/// Divides the bytes of a unit into records.
pub(super) struct StretchSplitter {
    ends: Box<dyn Boundaries>,
    parser: Box<dyn Parser + Send>,
    numbers: Numbers,
    /// Pending bytes that hold no end of a record.
    searched: usize,
    /// Where a record began that is too long.
    skipping: Option<u64>,
    /// Whether what was passed over of it says nothing.
    blank: bool,
}

impl StretchSplitter {
    /// The records of a unit, which begins with one.
    pub(super) fn new(
        numbers: Numbers,
        ends: Box<dyn Boundaries>,
        parser: Box<dyn Parser + Send>,
    ) -> StretchSplitter {
        StretchSplitter { ends, parser, numbers, searched: 0, skipping: None, blank: true }
    }

    /// Hands on the records that are complete; whether records of this unit may follow.
    fn complete(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> bool {
        if self.searched == 0 && self.ends.follows_mark() {
            skip_bom(window);
        }
        while window.offset() < span.unit.end || self.searched > 0 || self.skipping.is_some() {
            let pending = window.pending();
            let Some(end) = self.ends.end(&pending[self.searched..]) else {
                self.searched = pending.len() - self.ends.undecided();
                return true;
            };
            let length = self.searched + end;
            self.record(window.offset(), &pending[..length], false, sink);
            window.consume(length);
            self.searched = 0;
            span.cursor = window.offset();
        }
        false
    }

    /// Takes the rest of a record that began at `offset`, or earlier if it was too long to be held; `last` if only the end of
    /// the file ends it.
    fn record(&mut self, offset: u64, bytes: &[u8], last: bool, sink: &mut dyn Sink) {
        let start = self.skipping.take();
        if self.ends.is_blank(bytes) && (start.is_none() || self.blank) {
            self.blank(start, offset, bytes, last, sink);
        } else if start.is_some() || bytes.len() > self.numbers.bound() {
            let start = start.unwrap_or(offset);
            match self.ends.refusal() {
                Some(refusal) => self.numbers.refuse(start, refusal, sink),
                None => self.numbers.too_long(start, offset - start + bytes.len() as u64, sink),
            }
        } else if sink.skips_next(bytes.len()) {
            self.numbers.count = self.numbers.next();
        } else {
            let weight = self.parser.weight(bytes);
            if weight > bytes.len() as u64 && !self.numbers.may_unpack(offset, weight, sink) {
                return;
            }
            let (position, number) = (self.numbers.position(offset), self.numbers.next());
            match self.parser.record(position, number, bytes) {
                Ok(record) => {
                    self.numbers.count = number;
                    sink.document(&record);
                }
                Err(refusal) => self.numbers.refuse(offset, refusal, sink),
            }
        }
    }

    /// Takes a record that is no document. At the end of a file it may be what is left of any record. Of one that was too long
    /// to be held, which began at `start`, these are the last bytes.
    fn blank(&mut self, start: Option<u64>, offset: u64, bytes: &[u8], last: bool, sink: &mut dyn Sink) {
        let number = self.numbers.next();
        let refusal = if start.is_some() {
            self.ends.refusal()
        } else if last && !bytes.trim_ascii().is_empty() {
            let read = self.parser.record(self.numbers.position(offset), number, bytes);
            read.err().filter(|refusal| matches!(refusal, Refusal::Malformed(_)))
        } else {
            None
        };
        match refusal {
            Some(refusal) => self.numbers.refuse(start.unwrap_or(offset), refusal, sink),
            None if self.ends.numbers_blank() => self.numbers.count = number,
            None => {}
        }
    }
}

impl Splitter for StretchSplitter {
    fn begin(&mut self, _: &Source, unit: &Unit) -> io::Result<u64> {
        Ok(unit.start)
    }

    fn take(&mut self, window: &mut Window, last: bool, span: &mut Span, sink: &mut dyn Sink) -> bool {
        if !self.complete(window, span, sink) {
            return false;
        }
        let pending = window.pending();
        if last {
            if !pending.is_empty() || self.skipping.is_some() {
                self.record(window.offset(), pending, true, sink);
            }
            window.consume(usize::MAX);
        } else if pending.len() > self.numbers.bound() {
            self.blank =
                (self.skipping.is_none() || self.blank) && self.ends.is_blank(&pending[..self.searched]);
            self.skipping.get_or_insert(window.offset());
            window.consume(self.searched);
            self.searched = 0;
        }
        span.cursor = window.offset();
        !last
    }

    fn goes_on(&mut self) -> bool {
        self.skipping.is_none() && self.ends.begins_anew()
    }

    fn cut_off(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> Option<u64> {
        if !self.complete(window, span, sink) {
            return None;
        }
        if self.ends.is_complete() {
            self.record(window.offset(), window.pending(), true, sink);
            window.consume(usize::MAX);
            self.searched = 0;
        }
        Some(self.skipping.unwrap_or(window.offset()))
    }

    fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    fn count(&self) -> u32 {
        self.numbers.count
    }

    fn rest(&mut self) {
        self.parser.rest();
    }
}

/// What went wrong, for who knows only what the system says.
pub(super) fn fault(fault: ReadFault) -> io::Error {
    match fault {
        ReadFault::Io(error) => error,
        ReadFault::Panic(what) => io::Error::other(what),
    }
}

/// Passes over a byte order mark with which a file begins.
pub(super) fn skip_bom(window: &mut Window) {
    if window.offset() == 0 && window.pending().starts_with(super::BOM) {
        window.consume(super::BOM.len());
    }
}
