//! Members that hold records of their own: each is a source of its own, and the archive says nothing of it.

use crate::document::Position;
use crate::error::Result;
use crate::read::codec::Records;
use crate::read::record::{Record, Refusal, Sink};
use crate::read::source::Source;

/// The records of an archive without those that stand for files that are sources of their own.
struct OthersOnly {
    records: Box<dyn Records>,
    apart: Vec<u64>,
}

/// The records of an archive; nothing is said of the members that are sources of their own.
pub(super) fn without_apart(source: &Source, records: Box<dyn Records>) -> Box<dyn Records> {
    match source.apart.is_empty() {
        true => records,
        false => Box::new(OthersOnly { records, apart: source.apart.clone() }),
    }
}

impl Records for OthersOnly {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        self.records.advance(&mut OthersSink { sink, apart: &self.apart })
    }

    fn lines(&self) -> u64 {
        self.records.lines()
    }

    fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    fn text_bytes(&self) -> u64 {
        self.records.text_bytes()
    }
}

/// Hands on what is said of all but some members.
struct OthersSink<'a> {
    sink: &'a mut dyn Sink,
    apart: &'a [u64],
}

impl Sink for OthersSink<'_> {
    fn document(&mut self, record: &Record<'_>) {
        self.sink.document(record);
    }

    fn skips_next(&mut self, bytes: usize) -> bool {
        self.sink.skips_next(bytes)
    }

    fn refuse(&mut self, position: Position, line: u32, refusal: Refusal) {
        // A place behind which nothing can be read is that of damage, whatever stands there.
        let is_apart = self.apart.binary_search(&position.offset()).is_ok();
        if !is_apart || refusal.ends_file() {
            self.sink.refuse(position, line, refusal);
        }
    }
}
