//! The bytes of a unit divided into rows.

use std::io;
use std::sync::Arc;

use super::row_ends::{RowEnds, RowState};
use super::row_parser::{RowParser, count_fields};
use crate::limits::sized;
use crate::read::BOM;
use crate::read::bytes::Window;
use crate::read::codec::{Boundaries, Parser};
use crate::read::field::Fields;
use crate::read::format::Delimiter;
use crate::read::record::{NOT_UTF_8, Refusal, Sink};
use crate::read::source::{Source, Unit};
use crate::read::stretches::{fault, skip_bom};
use crate::read::windowed::{Numbers, Span, Splitter};

/// Divides the bytes of a unit into rows.
pub(super) struct RowSplitter {
    delimiter: Delimiter,
    numbers: Numbers,
    fields: Arc<Fields>,
    /// Known once the header was read.
    parser: Option<RowParser>,
    ends: RowEnds,
    /// Pending bytes that hold no end of a row.
    searched: usize,
    /// Where a row began that is too long.
    skipping: Option<u64>,
    /// Whether the header before the unit is none: it is refused once, where it stands.
    headless: bool,
}

impl RowSplitter {
    /// The rows of a unit of this file.
    pub(super) fn new(delimiter: Delimiter, file: u32, fields: Arc<Fields>) -> RowSplitter {
        RowSplitter {
            delimiter,
            numbers: Numbers::new(file, &fields),
            fields,
            parser: None,
            ends: RowEnds::new(delimiter),
            searched: 0,
            skipping: None,
            headless: false,
        }
    }

    /// Hands on the rows that are complete; whether rows of this unit may follow. The end of a row that is too long may
    /// stand behind the unit.
    fn complete_rows(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> bool {
        if self.headless {
            return false;
        }
        if span.unit.start == 0 && self.searched == 0 {
            skip_bom(window);
        }
        while window.offset() < span.unit.end || self.skipping.is_some() {
            let pending = window.pending();
            let Some(end) = self.ends.end(&pending[self.searched..]) else {
                self.searched = pending.len();
                return true;
            };
            let length = self.searched + end;
            let usable = self.row(window.offset(), &pending[..length], sink);
            window.consume(length);
            self.searched = 0;
            span.cursor = window.offset();
            if !usable {
                return false;
            }
        }
        false
    }

    /// Takes a row: the header, a record, or nothing. Whether the file can be read on, which it cannot without a header.
    fn row(&mut self, offset: u64, bytes: &[u8], sink: &mut dyn Sink) -> bool {
        let start = self.skipping.take();
        if start.is_none() && self.ends.is_blank(bytes) {
            self.numbers.count = self.numbers.next();
            return true;
        }
        let counted = counted(bytes);
        if start.is_some() || counted > self.numbers.longest() {
            let start = start.unwrap_or(offset);
            let length = offset - start + counted as u64;
            if self.parser.is_none() {
                return self.no_header(start, "the header is too long", sink);
            }
            self.numbers.too_long(start, length, sink);
            return true;
        }
        let Ok(raw) = std::str::from_utf8(bytes) else {
            if self.parser.is_none() {
                return self.no_header(offset, &format!("the header is {NOT_UTF_8}"), sink);
            }
            self.numbers.refuse(offset, Refusal::not_utf8(bytes), sink);
            return true;
        };
        let (position, number) = (self.numbers.position(offset), self.numbers.next());
        let Some(parser) = &mut self.parser else {
            if let Some(why) = self.has_no_room(raw) {
                return self.no_header(offset, &why, sink);
            }
            self.parser = Some(RowParser::new(self.delimiter, raw, &self.fields));
            self.numbers.count = number;
            return true;
        };
        if sink.skips_next(raw.len()) {
            self.numbers.count = number;
            return true;
        }
        match parser.record(position, number, raw.as_bytes()) {
            Ok(record) => {
                self.numbers.count = number;
                sink.document(&record);
            }
            Err(refusal) => self.numbers.refuse(offset, refusal, sink),
        }
        true
    }

    /// Why the names of a header have no room.
    fn has_no_room(&self, header: &str) -> Option<String> {
        self.fields.room.refuses_header(count_fields(self.delimiter, header), header.len())
    }

    /// Refuses the file: without its header no row of it can be read.
    fn no_header(&mut self, offset: u64, why: &str, sink: &mut dyn Sink) -> bool {
        self.numbers.refuse(offset, Refusal::Unreadable(why.to_owned()), sink);
        false
    }
}

impl Splitter for RowSplitter {
    fn begin(&mut self, source: &Source, unit: &Unit) -> io::Result<u64> {
        if unit.start > 0 {
            let header = header(source, self.delimiter, self.numbers.longest())?;
            let header = header.filter(|header| self.has_no_room(header).is_none());
            self.parser = header.map(|header| RowParser::new(self.delimiter, &header, &self.fields));
            self.headless = self.parser.is_none();
        }
        Ok(unit.start)
    }

    fn take(&mut self, window: &mut Window, last: bool, span: &mut Span, sink: &mut dyn Sink) -> bool {
        if !self.complete_rows(window, span, sink) {
            return false;
        }
        let rest = window.pending();
        if last {
            if self.ends.state == RowState::Quoted {
                let start = self.skipping.take().unwrap_or(window.offset());
                self.numbers.refuse(start, Refusal::OpenQuote, sink);
            } else if !rest.is_empty() || self.skipping.is_some() {
                self.row(window.offset(), rest, sink);
            }
            window.consume(usize::MAX);
        } else if rest.len() > self.numbers.bound() {
            self.skipping.get_or_insert(window.offset());
            window.consume(usize::MAX);
            self.searched = 0;
        }
        span.cursor = window.offset();
        !last
    }

    fn cut_off(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> Option<u64> {
        let more = self.complete_rows(window, span, sink);
        more.then(|| self.skipping.unwrap_or(window.offset()))
    }

    fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    fn count(&self) -> u32 {
        self.numbers.count
    }

    fn rest(&mut self) {
        self.parser.iter_mut().for_each(RowParser::rest);
    }
}

/// Bytes read at once for a header.
const BEGINNING: usize = sized(64 << 10, 16);

/// Bytes of a row that are held against what is allowed: all but its line end. Spaces before it count, so that how much was
/// read at once does not decide whether a row is too long.
fn counted(row: &[u8]) -> usize {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row).len()
}

/// The header of a file: its first row that is not blank. `None` if it is longer than allowed, or not UTF-8.
pub(super) fn header(source: &Source, delimiter: Delimiter, longest: usize) -> io::Result<Option<String>> {
    let (mut window, mut ends, mut searched) = (Window::open(source, 0)?, RowEnds::new(delimiter), 0);
    loop {
        let read = window.more(BEGINNING).map_err(fault)?;
        if searched == 0 {
            skip_bom(&mut window);
        }
        while let Some(end) = ends.end(&window.pending()[searched..]) {
            let row = &window.pending()[..searched + end];
            if !ends.is_blank(row) {
                let row = Some(row).filter(|row| counted(row) <= longest);
                return Ok(row.and_then(|row| String::from_utf8(row.to_vec()).ok()));
            }
            window.consume(searched + end);
            searched = 0;
        }
        searched = window.pending().len();
        if searched > longest.saturating_add(BOM.len()) {
            return Ok(None);
        }
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file has no header any more"));
        }
    }
}
