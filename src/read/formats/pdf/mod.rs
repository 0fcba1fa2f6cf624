//! PDF: the whole file is one document, which a process of its own reads.

mod bounds;
mod document;
mod frames;
mod page;
mod parser;
mod process;
mod process_limits;
mod serve;

use std::sync::Arc;

use super::properties::PropertiesDescriber;
use super::whole::whole_within;
use crate::limits::TIMES_WITH_PICTURES;
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Source, Unit};
use bounds::beginning;
pub use frames::{PdfFault, PdfText, read_pdf_answer};
use parser::{PdfParser, PdfPatience, pdf_properties};
pub use process::{PdfProgram, read_pdfs_with};
pub use serve::serve_pdfs;

/// Whether a file is a PDF.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let named = head.extension() == Some("pdf");
    // A text about PDFs is one.
    if head.is_called_text() && head.is_text() {
        return None;
    }
    let certainty = match beginning(head.content()) {
        Some(0) => Certainty::Certain,
        Some(_) if named => Certainty::Certain,
        _ if named && !head.is_empty() => Certainty::Named,
        _ => return None,
    };
    Some((certainty, Format::Pdf))
}

/// The number of the format on disk.
pub(super) const CODE: u8 = 25;

/// PDF.
pub(super) struct Pdf;

impl Codec for Pdf {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "pdf"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Lines
    }

    fn most_bytes(&self, of_record: usize) -> usize {
        of_record.saturating_mul(TIMES_WITH_PICTURES)
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        if at == 0 { 0 } else { source.bytes }
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let parser = PdfParser::new(&fields, PdfPatience::First);
        whole_within(
            self.most_bytes(fields.max_record_bytes),
            file,
            (source, unit),
            &fields,
            Box::new(parser),
        )
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn describer(&self, fields: &Fields) -> Option<Box<dyn Describer>> {
        let room = fields.room.clone();
        Some(Box::new(PropertiesDescriber(move |raw: &[u8]| pdf_properties(raw, &room))))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(PdfParser::new(fields, PdfPatience::Again)))
    }
}
