//! Formats in which a file is one document: the frame that reads all of it and hands it to the format's [`Parser`].

use std::io;

use crate::read::BOM;
use crate::read::bytes::Window;
use crate::read::codec::{Parser, Records};
use crate::read::field::Fields;
use crate::read::record::{Record, Sink};
use crate::read::source::{Source, Unit};
use crate::read::windowed::{Numbers, Span, Splitter, Windowed};

/// The records of a unit that is a whole file: the document that it is, unless it is empty.
pub(super) fn whole(
    file: u32,
    source: &Source,
    unit: &Unit,
    fields: &Fields,
    parser: Box<dyn Parser + Send>,
) -> Box<dyn Records> {
    whole_within(fields.max_record_bytes, file, (source, unit), fields, parser)
}

/// The same where the file may have so many bytes, whatever a record may have.
pub(super) fn whole_within(
    most: usize,
    file: u32,
    (source, unit): (&Source, &Unit),
    fields: &Fields,
    parser: Box<dyn Parser + Send>,
) -> Box<dyn Records> {
    // A change needs an id, and a file may have nothing else than its name.
    let name = fields.op.as_ref().map(|_| source.name.clone());
    let whole = Whole { numbers: Numbers::within(most, file, fields), parser, name, passed: 0 };
    Box::new(Windowed::new(source, unit, whole))
}

/// Reads the file as its only record.
struct Whole {
    numbers: Numbers,
    parser: Box<dyn Parser + Send>,
    /// The id, where one is needed and the file has none.
    name: Option<String>,
    /// Bytes passed over of a file that is too long.
    passed: u64,
}

impl Whole {
    /// Hands on the file; an empty one is no document.
    fn hand_on(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        if bytes.len() == bom && self.passed == 0 {
            return;
        }
        let length = self.passed + self.parser.weight(&bytes[bom..]);
        if length > self.numbers.longest() as u64 {
            return self.numbers.too_long(0, length, sink);
        }
        let position = self.numbers.position(0);
        let taken = if self.parser.takes_mark() { bytes } else { &bytes[bom..] };
        match self.parser.record(position, 1, taken) {
            Ok(record) => {
                self.numbers.count += 1;
                let id = record.id.clone().or(self.name.as_deref().map(Into::into));
                sink.document(&Record { id, raw: bytes, ..record });
            }
            Err(refusal) => self.numbers.refuse(0, refusal, sink),
        }
    }
}

impl Splitter for Whole {
    fn begin(&mut self, _: &Source, _: &Unit) -> io::Result<u64> {
        Ok(0)
    }

    fn weight(&self, pending: &[u8], last: bool) -> usize {
        let bytes = if last { self.parser.weight(pending) } else { 0 };
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    fn take(&mut self, window: &mut Window, last: bool, span: &mut Span, sink: &mut dyn Sink) -> bool {
        let bytes = window.pending();
        span.cursor = window.read_to();
        let length = self.passed + bytes.len() as u64;
        let too_long = length > self.numbers.bound() as u64;
        let ends = last || too_long && self.numbers.is_refused(length);
        if ends {
            self.hand_on(bytes, sink);
        } else if too_long {
            // How long it is tells how much memory it would take.
            self.passed = length;
            window.consume(usize::MAX);
        }
        !ends
    }

    fn cut_off(&mut self, _: &mut Window, _: &mut Span, _: &mut dyn Sink) -> Option<u64> {
        Some(0)
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
