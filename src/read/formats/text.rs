//! Plain text: the whole file is one document.

use std::sync::Arc;

use super::whole::whole;
use crate::document::Position;
use crate::read::codec::{Boundaries, Certainty, Codec, Parser, Records};
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
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
        whole(file, source, unit, &fields, Box::new(WholeText))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn parser<'a>(&self, _: &str, _: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(WholeText))
    }
}

impl Parser for WholeText {
    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        Ok(Record {
            position,
            line,
            id: None,
            text: utf8(raw)?,
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
