//! Plain text: the whole file is one document.

use std::io;
use std::sync::Arc;

use crate::document::Position;
use crate::read::BOM;
use crate::read::bytes::Window;
use crate::read::codec::{Boundaries, Certainty, Codec, Parser, Records};
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::{Record, Refusal, Sink};
use crate::read::source::{Source, Unit};
use crate::read::windowed::{Numbers, Span, Splitter, Windowed};

/// Whether a file is plain text.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let certainty = match head.extension() {
        Some("txt" | "text" | "md" | "markdown") => Certainty::Named,
        _ if head.is_named() && head.is_text() => Certainty::Possible,
        _ => return None,
    };
    Some((certainty, Format::Text))
}

/// The number of the format on disk.
pub(super) const CODE: u8 = 1;

/// Plain text.
pub(super) struct WholeText;

impl Codec for WholeText {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Lines
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        if at == 0 { 0 } else { source.bytes }
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        // A change needs an id, and a text file has nothing else than its name.
        let name = fields.op.as_ref().map(|_| source.name.clone());
        let numbers = Numbers::new(file, &fields);
        Box::new(Windowed::new(source, unit, &fields.room, Whole { numbers, name, passed: 0 }))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn parser<'a>(&self, _: &str, _: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(WholeText))
    }
}

impl Parser for WholeText {
    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a str) -> Result<Record<'a>, Refusal> {
        Ok(document(position, line, raw, raw, None))
    }
}

/// The document that a file is.
fn document<'a>(
    position: Position,
    line: u32,
    raw: &'a str,
    text: &'a str,
    name: Option<&'a str>,
) -> Record<'a> {
    let (value, day, deleted) = (None, Day::None, false);
    Record { position, line, id: name.map(Into::into), text, header: "", raw, value, day, deleted }
}

/// Reads the file as its only record.
struct Whole {
    numbers: Numbers,
    /// The id, where one is needed.
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
        let length = self.passed + (bytes.len() - bom) as u64;
        if length > self.numbers.longest() as u64 {
            return self.numbers.too_long(0, length, sink);
        }
        match std::str::from_utf8(bytes) {
            Ok(raw) => {
                self.numbers.count += 1;
                sink.document(&document(self.numbers.position(0), 1, raw, &raw[bom..], self.name.as_deref()));
            }
            Err(_) => self.numbers.refuse(0, Refusal::NotUtf8, sink),
        }
    }
}

impl Splitter for Whole {
    fn begin(&mut self, _: &Source, _: &Unit) -> io::Result<u64> {
        Ok(0)
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

    fn rest(&mut self) {}
}
