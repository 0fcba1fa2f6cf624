//! HTML: the whole file is one page.

use std::sync::Arc;

use super::whole::whole;
use crate::document::Position;
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::date::Day;
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::payload::{ShownText, looks_like_html, page_text, page_title, utf_16_of_markup};
use crate::read::record::{Record, Refusal};
use crate::read::source::{Source, Unit};

/// Whether a file is HTML.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let named = matches!(head.extension(), Some("html" | "htm" | "xhtml"));
    let certainty = match looks_like_html(head.content()) {
        true => Certainty::Proven,
        false if named && (!head.is_binary() || utf_16_of_markup(head.bytes()).is_some()) => Certainty::Named,
        false => return None,
    };
    Some((certainty, Format::Html))
}

/// The number of the format on disk.
pub(super) const CODE: u8 = 6;

/// HTML.
pub(super) struct Html;

impl Codec for Html {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Lines
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        if at == 0 { 0 } else { source.bytes }
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        whole(file, source, unit, &fields, Box::new(PageParser::new(&fields)))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(PageDescriber))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(PageParser::new(fields)))
    }
}

/// Names what pages say of themselves.
struct PageDescriber;

impl Describer for PageDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        if let Some(title) = page_title(record.raw) {
            each("title", &title);
        }
    }
}

/// Makes documents of pages.
struct PageParser {
    of: ShownText,
    text: String,
}

impl PageParser {
    fn new(fields: &Fields) -> PageParser {
        PageParser { of: ShownText::wanted(fields), text: String::new() }
    }
}

impl Parser for PageParser {
    /// It decides the character set, whatever the page says.
    fn takes_mark(&self) -> bool {
        true
    }

    fn rest(&mut self) {
        self.text = String::new();
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        page_text(None, raw, self.of, &mut self.text);
        let (value, day, deleted) = (None, Day::None, false);
        Ok(Record {
            position,
            line,
            id: None,
            text: &self.text,
            header: "",
            raw,
            value,
            within: None,
            day,
            observed: None,
            deleted,
        })
    }
}
