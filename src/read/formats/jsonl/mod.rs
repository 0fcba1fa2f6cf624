//! JSON Lines: a record is a line, and a line belongs to the unit in which its first byte lies.

mod line_records;
mod shared_lines;

use std::io;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use self::line_records::LineRecords;
use self::shared_lines::SharedLines;
use super::extract::Extractor;
use crate::document::Position;
use crate::read::BOM;
use crate::read::bytes::Window;
use crate::read::codec::{Boundaries, Certainty, Codec, LineReader, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::{Record, Refusal, Sink, utf8};
use crate::read::source::{Source, Unit};
use crate::read::windowed::{Numbers, Span, Splitter, Windowed};

/// Whether a file is JSON Lines.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let certainty = match head.extension() {
        Some("jsonl" | "ndjson" | "json") => Certainty::Certain,
        _ if head.is_json_record() => Certainty::Proven,
        _ if head.has_json_records() => Certainty::Likely,
        // Nothing is known of it, and a line is as good as anything to be refused at.
        _ if head.is_named() && head.is_empty() || head.is_lost() => Certainty::Likely,
        _ => return None,
    };
    Some((certainty, Format::JsonLines))
}

/// The number of the format on disk.
pub(super) const CODE: u8 = 0;

/// JSON Lines.
pub(super) struct JsonLines;

impl Codec for JsonLines {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "jsonl"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Lines
    }

    fn unit_start(&self, _: &Source, at: u64) -> u64 {
        at
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let state = if unit.start == 0 { LineState::Within } else { LineState::Before };
        let lines = LineRecords::new(file, fields);
        Box::new(Windowed::new(source, unit, LineSplitter { state, lines, searched: 0 }))
    }

    fn line_reader(&self) -> Option<LineReader> {
        Some(|file, stream, fields| Box::new(SharedLines::new(file, stream, fields)))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(Box::new(LineEnds))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(LineParser { fields, extractor: Extractor::default() }))
    }
}

/// Records end with their line.
struct LineEnds;

impl Boundaries for LineEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr(b'\n', bytes).map(|end| end + 1)
    }

    fn is_blank(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
    }

    fn has_header(&self) -> bool {
        false
    }

    fn line_end(&self) -> &'static [u8] {
        b"\n"
    }
}

struct LineParser<'a> {
    fields: &'a Fields,
    extractor: Extractor,
}

impl Parser for LineParser<'_> {
    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let raw = raw.strip_prefix(BOM).unwrap_or(raw);
        self.extractor.record(self.fields, position, line, utf8(raw)?)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// In a line that belongs to an earlier unit.
    Before,
    /// At the start of a line.
    Within,
    /// In a line that is too long and began at this offset.
    Skipping(u64),
}

/// Divides the bytes of a unit into lines.
struct LineSplitter {
    state: LineState,
    lines: LineRecords,
    /// Pending bytes known to hold no line end.
    searched: usize,
}

impl Splitter for LineSplitter {
    fn begin(&mut self, _: &Source, unit: &Unit) -> io::Result<u64> {
        // The byte before the unit tells whether a line starts with the unit.
        Ok(unit.start.saturating_sub(1))
    }

    fn take(&mut self, window: &mut Window, last: bool, span: &mut Span, sink: &mut dyn Sink) -> bool {
        if self.state == LineState::Before && !self.find_first(window, span) {
            return !last && window.offset() < span.unit.end;
        }
        if let LineState::Skipping(start) = self.state {
            let end = memchr(b'\n', window.pending());
            window.consume(end.map_or(usize::MAX, |end| end + 1));
            span.cursor = window.offset();
            if end.is_none() && !last {
                return true;
            }
            let length = window.offset() - start - u64::from(end.is_some());
            self.lines.numbers.too_long(start, length, sink);
            self.state = LineState::Within;
        }
        if !self.complete_lines(window, span, sink) {
            return false;
        }
        let rest = window.pending();
        if last && !rest.is_empty() {
            self.lines.lines(window.offset(), rest, sink);
            window.consume(usize::MAX);
            span.cursor = window.offset();
        } else if rest.len() > self.lines.numbers.bound() {
            self.state = LineState::Skipping(window.offset());
            window.consume(usize::MAX);
            span.cursor = window.offset();
        }
        self.searched = window.pending().len();
        !last
    }

    fn cut_off(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> Option<u64> {
        if let LineState::Skipping(start) = self.state {
            return Some(start);
        }
        if self.state == LineState::Before && !self.find_first(window, span) {
            return Some(span.unit.start);
        }
        self.complete_lines(window, span, sink).then(|| window.offset())
    }

    fn numbers(&mut self) -> &mut Numbers {
        &mut self.lines.numbers
    }

    fn count(&self) -> u32 {
        self.lines.numbers.count
    }

    fn rest(&mut self) {
        self.lines.rest();
    }
}

impl LineSplitter {
    /// Passes over the rest of a line of an earlier unit; whether a line starts in this one (or later).
    fn find_first(&mut self, window: &mut Window, span: &mut Span) -> bool {
        let end = memchr(b'\n', window.pending());
        window.consume(end.map_or(usize::MAX, |end| end + 1));
        (span.first, span.cursor) = (window.offset(), window.offset());
        if end.is_some() {
            self.state = LineState::Within;
        }
        end.is_some()
    }

    /// Hands on the pending lines that have an end; whether lines of this unit may follow.
    fn complete_lines(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> bool {
        let (offset, pending) = (window.offset(), window.pending());
        let searched = self.searched.min(pending.len());
        let mut length = memrchr(b'\n', &pending[searched..]).map_or(0, |end| searched + end + 1);
        // The last line of the unit is the one that holds the byte before the unit's end.
        let left = usize::try_from(span.unit.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        if left <= length {
            length = match left {
                0 => 0,
                _ => memchr(b'\n', &pending[left - 1..length]).map_or(length, |end| left + end),
            };
        }
        self.lines.lines(offset, &pending[..length], sink);
        window.consume(length);
        self.searched = 0;
        span.cursor = window.offset();
        window.offset() < span.unit.end
    }
}
