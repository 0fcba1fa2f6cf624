//! CSV and TSV: a header row, then a record a row. A quoted field may hold delimiters, doubled quotes and line breaks.
//!
//! Where rows end is found here, by the grammar of csv-core, which decodes the fields. A blank line is no row. Rows are
//! counted from the header, blank lines included.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr3};

use crate::document::Position;
use crate::read::bytes::{ReadFault, Window};
use crate::read::codec::{Boundaries, Certainty, Codec, Parser, Records};
use crate::read::date::{Day, day};
use crate::read::field::Fields;
use crate::read::format::{Delimiter, Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::{Record, Refusal, SHOWN_KEYS, Sink, Value};
use crate::read::source::{Source, Unit};
use crate::read::windowed::{Numbers, Span, Splitter, Windowed};
use crate::read::{BLOCK, BOM};

/// Delimiters that a header may have in place of commas.
const CANDIDATES: [u8; 3] = [b';', b'\t', b'|'];
/// Units of an uncompressed file begin at least this far apart, and there are at most so many.
const CUTS: (u64, u64) = (256 << 10, 1 << 16);

/// Whether a file is CSV or TSV by its name.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let delimiter = match head.extension() {
        Some("csv") => head.delimiter().unwrap_or_else(|| sniff(head.content())),
        Some("tsv" | "tab") => head.delimiter().unwrap_or(Delimiter::TAB),
        _ => return None,
    };
    Some((Certainty::Named, Format::Csv { delimiter }))
}

/// The format of a file that is said to be CSV, whatever its name.
pub(super) fn said(head: &FileHead) -> Format {
    match recognise(head) {
        Some((_, format)) => format,
        None => Format::Csv { delimiter: head.delimiter().unwrap_or_else(|| sniff(head.content())) },
    }
}

/// The format of a file that is said to be TSV, whatever its name.
pub(super) fn said_tabs(head: &FileHead) -> Format {
    Format::Csv { delimiter: head.delimiter().unwrap_or(Delimiter::TAB) }
}

/// The delimiter of a header: a comma, unless it has none and exactly one of the candidates.
fn sniff(content: &[u8]) -> Delimiter {
    let (mut quoted, mut seen) = (false, [0; 256]);
    for &byte in content {
        match byte {
            b'"' => quoted = !quoted,
            b'\r' | b'\n' if !quoted => break,
            _ if !quoted => seen[usize::from(byte)] += 1,
            _ => {}
        }
    }
    let mut there = CANDIDATES.iter().filter(|candidate| seen[usize::from(**candidate)] > 0);
    match (seen[usize::from(b',')], there.next(), there.next()) {
        (0, Some(only), None) => Delimiter::of(*only).unwrap_or(Delimiter::COMMA),
        _ => Delimiter::COMMA,
    }
}

/// The number of the format on disk; the delimiter stands beside it.
pub(super) const CODE: u8 = 2;

/// CSV with a delimiter.
pub(super) struct Csv {
    pub(super) delimiter: Delimiter,
}

impl Codec for Csv {
    fn code(&self) -> [u8; 2] {
        [CODE, self.delimiter.byte()]
    }

    fn extension(&self) -> &'static str {
        if self.delimiter == Delimiter::TAB { "tsv" } else { "csv" }
    }

    fn numbering(&self) -> Numbering {
        Numbering::Rows
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        if at == 0 {
            return 0;
        }
        let next = source.cuts.partition_point(|cut| *cut < at);
        source.cuts.get(next).copied().unwrap_or(source.bytes)
    }

    fn cuts(&self, source: &Source) -> io::Result<Vec<u64>> {
        let apart = CUTS.0.max(source.bytes / CUTS.1);
        let (mut cuts, mut ends) = (Vec::new(), RowEnds::new(self.delimiter));
        if source.bytes <= 2 * apart {
            return Ok(cuts);
        }
        let mut window = Window::open(source, 0)?;
        while window.more(BLOCK).map_err(fault)? > 0 {
            skip_bom(&mut window);
            while let Some(end) = ends.end(window.pending()) {
                window.consume(end);
                if window.offset() >= cuts.last().copied().unwrap_or_default() + apart {
                    cuts.push(window.offset());
                }
            }
            window.consume(usize::MAX);
        }
        Ok(cuts)
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let rows = RowSplitter {
            delimiter: self.delimiter,
            numbers: Numbers::new(file, fields.max_record_bytes),
            fields,
            parser: None,
            ends: RowEnds::new(self.delimiter),
            searched: 0,
            skipping: None,
        };
        Box::new(Windowed::new(source, unit, rows))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(Box::new(RowEnds::new(self.delimiter)))
    }

    fn parser<'a>(&self, header: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(RowParser::new(self.delimiter, header, fields)))
    }
}

/// What went wrong, for who knows only what the system says.
fn fault(fault: ReadFault) -> io::Error {
    match fault {
        ReadFault::Io(error) => error,
        ReadFault::Panic(what) => io::Error::other(what),
    }
}

/// Passes over a byte order mark with which a file begins.
fn skip_bom(window: &mut Window) {
    if window.offset() == 0 && window.pending().starts_with(BOM) {
        window.consume(BOM.len());
    }
}

/// Space for decoded rows that is kept from row to row.
const KEPT: usize = 8 << 20;

/// Where the bytes of a row stand in the grammar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowState {
    /// At the start of a field.
    Start,
    /// In a field that did not begin with a quote, or behind the closing quote of one that did.
    Plain,
    /// Behind an opening quote.
    Quoted,
    /// Behind a quote in a quoted field: it closes the field, unless another one follows.
    Quote,
    /// Behind a carriage return that ended the row.
    Return,
}

/// Finds where rows end.
struct RowEnds {
    delimiter: u8,
    state: RowState,
}

impl RowEnds {
    fn new(delimiter: Delimiter) -> RowEnds {
        RowEnds { delimiter: delimiter.byte(), state: RowState::Start }
    }

    /// What follows a byte outside quotes.
    fn plain(&self, byte: u8) -> RowState {
        match byte {
            b'\r' => RowState::Return,
            byte if byte == self.delimiter => RowState::Start,
            _ => RowState::Plain,
        }
    }
}

impl Boundaries for RowEnds {
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.state == RowState::Return {
                self.state = RowState::Start;
                return Some(at + usize::from(byte == b'\n'));
            }
            if self.state == RowState::Quoted {
                at += memchr(b'"', &bytes[at..])? + 1;
                self.state = RowState::Quote;
                continue;
            }
            if self.state == RowState::Plain {
                at += memchr3(self.delimiter, b'\n', b'\r', &bytes[at..])?;
            }
            let byte = bytes[at];
            at += 1;
            if byte == b'\n' {
                self.state = RowState::Start;
                return Some(at);
            }
            self.state = match self.state {
                RowState::Start | RowState::Quote if byte == b'"' => RowState::Quoted,
                _ => self.plain(byte),
            };
        }
        None
    }

    fn is_blank(&self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
    }

    fn has_header(&self) -> bool {
        true
    }

    fn line_end(&self) -> &'static [u8] {
        b""
    }
}

/// Divides the bytes of a unit into rows.
struct RowSplitter {
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
}

impl RowSplitter {
    /// Hands on the rows that are complete; whether rows of this unit may follow. The end of a row that is too long may
    /// stand behind the unit.
    fn complete_rows(&mut self, window: &mut Window, span: &mut Span, sink: &mut dyn Sink) -> bool {
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
        if start.is_some() || bytes.trim_ascii_end().len() > self.fields.max_record_bytes {
            let start = start.unwrap_or(offset);
            if self.parser.is_none() {
                return self.no_header(start, "the header is too long", sink);
            }
            self.numbers.too_long(start, sink);
            return true;
        }
        let Ok(raw) = std::str::from_utf8(bytes) else {
            if self.parser.is_none() {
                return self.no_header(offset, "the header is not UTF-8", sink);
            }
            self.numbers.refuse(offset, Refusal::NotUtf8, sink);
            return true;
        };
        let (position, number) = (self.numbers.position(offset), self.numbers.next());
        let Some(parser) = &mut self.parser else {
            self.parser = Some(RowParser::new(self.delimiter, raw, &self.fields));
            self.numbers.count = number;
            return true;
        };
        match parser.record(position, number, raw) {
            Ok(record) => {
                self.numbers.count = number;
                sink.document(&record);
            }
            Err(refusal) => self.numbers.refuse(offset, refusal, sink),
        }
        true
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
            let header = header(source, self.delimiter, self.numbers.bound())?;
            self.parser = Some(RowParser::new(self.delimiter, &header, &self.fields));
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
}

/// Bytes read at once for a header.
const BEGINNING: usize = 64 << 10;

/// The header of a file: its first row that is not blank.
fn header(source: &Source, delimiter: Delimiter, bound: usize) -> io::Result<String> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let (mut window, mut ends, mut searched) = (Window::open(source, 0)?, RowEnds::new(delimiter), 0);
    loop {
        let read = window.more(BEGINNING).map_err(fault)?;
        if searched == 0 {
            skip_bom(&mut window);
        }
        while let Some(end) = ends.end(&window.pending()[searched..]) {
            let row = &window.pending()[..searched + end];
            if !ends.is_blank(row) {
                return String::from_utf8(row.to_vec()).map_err(|_| invalid("the header is not UTF-8"));
            }
            window.consume(searched + end);
            searched = 0;
        }
        searched = window.pending().len();
        if read == 0 || searched > bound {
            return Err(invalid("the file has no header any more"));
        }
    }
}

/// Makes records of rows.
struct RowParser {
    /// The header row as it stands in the file, without a byte order mark.
    header: String,
    columns: Vec<String>,
    text: Result<usize, Refusal>,
    id: Option<usize>,
    value: Option<usize>,
    date: Option<usize>,
    op: Option<usize>,
    /// The name of the id's column, where each record is a change.
    needs_id: Option<String>,
    reader: Reader,
    /// The fields of the last row, one after the other, and where each ends.
    decoded: Vec<u8>,
    ends: Vec<usize>,
}

impl RowParser {
    fn new(delimiter: Delimiter, header: &str, fields: &Fields) -> RowParser {
        let reader = ReaderBuilder::new().delimiter(delimiter.byte()).build();
        let mut parser = RowParser {
            header: header.to_owned(),
            columns: Vec::new(),
            text: Ok(0),
            id: None,
            value: None,
            date: None,
            op: None,
            needs_id: fields.op.as_ref().map(|_| fields.id.as_str().to_owned()),
            reader,
            decoded: Vec::new(),
            ends: vec![0; 16],
        };
        let count = parser.decode(header.trim_start_matches('\u{feff}'));
        parser.columns = (0..count).map(|at| parser.field(at).to_owned()).collect();
        // Of columns of one name the last counts, as of equal keys in JSON.
        let column = |name: &str| parser.columns.iter().rposition(|column| column == name);
        let wanted =
            |path: &Option<_>| path.as_ref().and_then(|path: &crate::read::FieldPath| column(path.as_str()));
        let (id, value) = (column(fields.id.as_str()), wanted(&fields.value));
        let (date, op) = (wanted(&fields.date), wanted(&fields.op));
        let shown = &parser.columns[..count.min(SHOWN_KEYS)];
        let text = fields.text.as_str();
        let text = column(text).ok_or_else(|| Refusal::no_column(text, shown, count - shown.len()));
        RowParser { text, id, value, date, op, ..parser }
    }

    /// Decodes a row; how many fields it has.
    fn decode(&mut self, raw: &str) -> usize {
        self.reader.reset();
        if self.decoded.len() < raw.len() || self.decoded.len() > KEPT {
            self.decoded.resize(raw.len().max(64), 0);
            self.decoded.shrink_to(KEPT);
        }
        // A blank line tells the reader that this is not the start of a file, where it would drop a byte order mark.
        self.reader.read_record(b"\n", &mut self.decoded, &mut self.ends);
        let (mut bytes, mut written, mut count) = (raw.as_bytes(), 0, 0);
        loop {
            let (result, read, wrote, ended) =
                self.reader.read_record(bytes, &mut self.decoded[written..], &mut self.ends[count..]);
            (bytes, written, count) = (&bytes[read..], written + wrote, count + ended);
            match result {
                ReadRecordResult::Record | ReadRecordResult::End => return count,
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::OutputFull => self.decoded.resize(2 * self.decoded.len(), 0),
                // Without more input this ends the row.
                ReadRecordResult::InputEmpty => {}
            }
        }
    }

    /// A field of the last row.
    fn field(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        // Fields of UTF-8 are UTF-8: only quotes were taken out of it.
        std::str::from_utf8(&self.decoded[start..self.ends[at]]).unwrap_or_default()
    }

    /// A field of the last row that may be missing; an empty one is missing.
    fn filled(&self, at: Option<usize>) -> Option<&str> {
        at.map(|at| self.field(at)).filter(|field| !field.is_empty())
    }
}

impl Parser for RowParser {
    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a str) -> Result<Record<'a>, Refusal> {
        let fields = self.decode(raw);
        if fields != self.columns.len() {
            return Err(Refusal::Ragged { fields, columns: self.columns.len() });
        }
        let deleted = match self.filled(self.op) {
            None | Some("upsert") => false,
            Some("delete") => true,
            Some(other) => return Err(Refusal::unknown_op(other)),
        };
        let text = match &self.text {
            _ if deleted => "",
            Ok(text) => self.field(*text),
            Err(refusal) => return Err(refusal.clone()),
        };
        let id = self.filled(self.id).map(Cow::Borrowed);
        if let (Some(field), None) = (&self.needs_id, &id) {
            return Err(Refusal::NoId { field: field.clone() });
        }
        let value = self.filled(self.value).map(value);
        let date = self.filled(self.date);
        let day = date.map_or(Day::None, |date| day(date).map_or(Day::Unclear, Day::Known));
        Ok(Record { position, line, id, text, header: &self.header, raw, value, day, deleted })
    }
}

/// The value to compare by: a number where the field is one.
fn value(field: &str) -> Value {
    let number = field.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map_or_else(|| Value::Text(field.to_owned()), Value::Number)
}
