//! RTF: the whole file is one document.

mod code_pages;
mod reader;
#[cfg(test)]
mod reader_tests;
mod tokens;
mod words;

use std::sync::Arc;

use super::properties::{FileProperties, PropertiesDescriber};
use super::whole::whole;
use crate::document::Position;
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::{Record, Refusal};
use crate::read::source::{Source, Unit};
use reader::read_rtf;

/// Whether a file is RTF. No other format begins so.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let certainty = match head.extension() {
        _ if head.content().starts_with(b"{\\rtf") => Certainty::Certain,
        Some("rtf") => Certainty::Named,
        _ => return None,
    };
    Some((certainty, Format::Rtf))
}

/// The number of the format on disk.
pub(super) const CODE: u8 = 23;

/// RTF.
pub(super) struct Rtf;

impl Codec for Rtf {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "rtf"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Lines
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        if at == 0 { 0 } else { source.bytes }
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        whole(file, source, unit, &fields, Box::new(RtfParser::new(&fields)))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(PropertiesDescriber(|raw: &[u8]| read_rtf(raw, &mut String::new()))))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(RtfParser::new(fields)))
    }
}

/// Makes documents of RTF.
struct RtfParser {
    fields: Fields,
    text: String,
    properties: FileProperties,
}

impl RtfParser {
    fn new(fields: &Fields) -> RtfParser {
        RtfParser { fields: fields.clone(), text: String::new(), properties: FileProperties::default() }
    }
}

impl Parser for RtfParser {
    fn rest(&mut self) {
        self.text = String::new();
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        self.properties = read_rtf(raw, &mut self.text)?;
        Ok(self.properties.record(&self.fields, (position, line), raw, &self.text))
    }
}
