//! A worker's share of the lines of a compressed file.

use std::mem;
use std::sync::Arc;

use super::line_records::LineRecords;
use crate::error::Result;
use crate::read::bytes::{LineStream, TakenLines};
use crate::read::codec::Records;
use crate::read::field::Fields;
use crate::read::record::Sink;
use crate::read::windowed::{fault_of_file, refusal_of_rest};

/// A worker's share of the lines of a compressed file.
pub(super) struct SharedLines {
    stream: Arc<LineStream>,
    lines: LineRecords,
    /// What the lines stood in that were read last.
    spent: Vec<u8>,
    done: bool,
    compressed: u64,
    text_bytes: u64,
}

impl SharedLines {
    pub(super) fn new(file: u32, stream: Arc<LineStream>, fields: Arc<Fields>) -> SharedLines {
        let lines = LineRecords::new(file, fields);
        stream.join();
        SharedLines { stream, lines, spent: Vec::new(), done: false, compressed: 0, text_bytes: 0 }
    }

    /// Hands on the records of lines, and refuses what they are cut off by.
    fn read(&mut self, taken: TakenLines, sink: &mut dyn Sink) -> Result<()> {
        let source = self.stream.source();
        self.lines.numbers.count = taken.before;
        if let Some((start, length)) = taken.passed {
            self.lines.numbers.too_long(start, length, sink);
        }
        self.lines.lines(taken.offset, &taken.bytes, sink);
        self.lines.numbers.check()?;
        if let Some((start, good, fault)) = taken.fault {
            let error = fault_of_file(source, fault)?;
            self.lines.numbers.refuse(start, refusal_of_rest(source, good, &error), sink);
        }
        self.compressed += taken.compressed;
        self.text_bytes += taken.bytes.len() as u64;
        if taken.turn.is_some() {
            self.lines.rest();
        } else {
            self.spent = taken.bytes;
        }
        Ok(())
    }
}

impl Drop for SharedLines {
    fn drop(&mut self) {
        self.stream.leave();
    }
}

impl Records for SharedLines {
    fn advance(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if !self.done {
            let taken = self.stream.take(mem::take(&mut self.spent));
            self.done = taken.as_ref().map_or(true, |taken| taken.is_last);
            // The right to hold long lines is given back before more are taken.
            self.read(taken?, sink).inspect_err(|_| self.done = true)?;
        }
        Ok(!self.done)
    }

    fn lines(&self) -> u64 {
        u64::from(self.stream.lines())
    }

    fn bytes(&self) -> u64 {
        self.compressed
    }

    fn text_bytes(&self) -> u64 {
        self.text_bytes
    }
}
