//! Plain text: the whole file is one document.

use std::sync::Arc;

use super::whole::whole;
use crate::document::Position;
use crate::read::codec::{Boundaries, Certainty, Codec, Parser, Records};
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::{FileHead, has_too_many_zeros};
use crate::read::record::{Record, Refusal, utf8};
use crate::read::source::{Source, Unit};

/// Whether a file is plain text.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    if head.is_called_text() {
        return Some((Certainty::Named, Format::Text));
    }
    (head.is_named() && head.is_text()).then_some((Certainty::Possible, Format::Text))
}

/// The number of the format on disk.
pub(super) const CODE: u8 = 1;

/// Plain text.
pub(super) struct WholeText;

/// Makes a document of it.
struct TextParser {
    /// Whether it may turn out to be binary: where a record is read again, it was a text the first time.
    is_first: bool,
}

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
        whole(file, source, unit, &fields, Box::new(TextParser { is_first: true }))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn parser<'a>(&self, _: &str, _: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(TextParser { is_first: false }))
    }
}

impl Parser for TextParser {
    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let text = utf8(raw)?;
        // The beginning of the file was looked at when it was found.
        if self.is_first && has_too_many_zeros(raw) {
            return Err(Refusal::Malformed(
                "it is binary, or UTF-16 without its mark: many bytes are zero".into(),
            ));
        }
        Ok(Record {
            position,
            line,
            id: None,
            text,
            header: "",
            raw,
            value: None,
            within: None,
            day: Day::None,
            observed: None,
            deleted: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_binary_behind_a_long_beginning_is_refused() {
        let record = |zeros: usize| {
            let raw = [vec![b'a'; 1000], vec![0; zeros]].concat();
            let record = |is_first| {
                let mut parser = TextParser { is_first };
                parser.record(Position::new(0, 0), 1, &raw).map(|record| record.text.len())
            };
            assert_eq!(record(false), Ok(1000 + zeros));
            record(true)
        };
        assert_eq!((record(0), record(300)), (Ok(1000), Ok(1300)));
        assert!(matches!(record(400), Err(Refusal::Malformed(why)) if why.contains("binary")));
    }
}
