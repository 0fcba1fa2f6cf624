//! Where rows of CSV end, by the grammar of csv-core.

use memchr::{memchr, memchr3};

use crate::read::codec::Boundaries;
use crate::read::format::Delimiter;

/// Where the bytes of a row stand in the grammar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowState {
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
pub(super) struct RowEnds {
    delimiter: u8,
    pub(super) state: RowState,
}

impl RowEnds {
    pub(super) fn new(delimiter: Delimiter) -> RowEnds {
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
