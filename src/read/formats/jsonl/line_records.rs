//! Records of lines of JSON, which may be those of a unit or a worker's share of a file.

use std::sync::Arc;

use memchr::memchr_iter;

use crate::read::BOM;
use crate::read::field::Fields;
use crate::read::formats::extract::Extractor;
use crate::read::record::{Refusal, Sink};
use crate::read::windowed::Numbers;

/// Makes records of lines, and counts them.
pub(super) struct LineRecords {
    pub(super) numbers: Numbers,
    fields: Arc<Fields>,
    extractor: Extractor,
}

impl LineRecords {
    /// The lines of file number `file`.
    pub(super) fn new(file: u32, fields: Arc<Fields>) -> LineRecords {
        LineRecords { numbers: Numbers::new(file, &fields), fields, extractor: Extractor::default() }
    }

    /// Gives back what a long line was copied to.
    pub(super) fn rest(&mut self) {
        self.extractor = Extractor::default();
    }

    /// Hands on lines, the last of which may lack its end.
    pub(super) fn lines(&mut self, offset: u64, lines: &[u8], sink: &mut dyn Sink) {
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
    fn line(&mut self, offset: u64, line: &[u8], text: Option<&str>, sink: &mut dyn Sink) {
        // Files that were put behind one another have one in the middle.
        let bom = if line.starts_with(BOM) { BOM.len() } else { 0 };
        let line = &line[bom..];
        if line.len() > self.numbers.longest() {
            return self.numbers.too_long(offset, line.len() as u64, sink);
        }
        if sink.skips_next(line.len()) {
            self.numbers.count = self.numbers.next();
            return;
        }
        let text = match text.and_then(|text| text.get(bom..)) {
            Some(text) => text,
            None => match std::str::from_utf8(line) {
                Ok(text) => text,
                Err(_) => return self.numbers.refuse(offset, Refusal::not_utf8(line), sink),
            },
        };
        let number = self.numbers.next();
        // A line that has a mark alone is not blank, but for the first: whoever looks for blank lines looks at parts of them.
        let may_be_blank = bom == 0 || offset == 0;
        if may_be_blank && text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            self.numbers.count = number;
            return;
        }
        let position = self.numbers.position(offset);
        match self.extractor.record(&self.fields, position, number, text) {
            Ok(record) => {
                self.numbers.count = number;
                sink.document(&record);
            }
            Err(refusal) => self.numbers.refuse(offset, refusal, sink),
        }
    }
}
