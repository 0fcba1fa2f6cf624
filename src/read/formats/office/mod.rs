//! Documents that are packages of XML: DOCX, ODT and EPUB. The whole file is one document.

mod about;
mod docx;
mod epub;
mod kind;
mod markup;
mod odt;
mod package;
mod parser;

use std::sync::Arc;

use super::properties::PropertiesDescriber;
use super::whole::whole_within;
use crate::limits::TIMES_WITH_PICTURES;
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::payload::PackageKind;
use crate::read::record::Refusal;
use crate::read::source::{Source, Unit};
pub(super) use kind::Office;
use parser::{PackageParser, package_properties};

/// The numbers of the formats on disk.
pub(super) const CODES: [u8; 3] = [20, 21, 22];

/// Whether a file is a document of Word, or a template of one.
pub(super) fn recognise_docx(head: &FileHead) -> Option<(Certainty, Format)> {
    recognise(head, PackageKind::Docx, &["docx", "docm", "dotx", "dotm"]).map(|sure| (sure, Format::Docx))
}

/// Whether a file is a text in the OpenDocument format, or a template of one.
pub(super) fn recognise_odt(head: &FileHead) -> Option<(Certainty, Format)> {
    recognise(head, PackageKind::Odt, &["odt", "ott"]).map(|sure| (sure, Format::Odt))
}

/// Whether a file is a book.
pub(super) fn recognise_epub(head: &FileHead) -> Option<(Certainty, Format)> {
    recognise(head, PackageKind::Epub, &["epub"]).map(|sure| (sure, Format::Epub))
}

/// How sure it is that a file is a package of a kind. Nothing else begins like a package.
fn recognise(head: &FileHead, kind: PackageKind, extensions: &[&str]) -> Option<Certainty> {
    let is_said = head.package() == Some(kind);
    (is_said || head.is_called_package(extensions)).then_some(Certainty::Certain)
}

impl Codec for Office {
    fn code(&self) -> [u8; 2] {
        match self {
            Office::Docx => [CODES[0], 0],
            Office::Odt => [CODES[1], 0],
            Office::Epub => [CODES[2], 0],
        }
    }

    fn extension(&self) -> &'static str {
        match self {
            Office::Docx => "docx",
            Office::Odt => "odt",
            Office::Epub => "epub",
        }
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
        let parser = Box::new(PackageParser::new(*self, &fields));
        whole_within(self.most_bytes(fields.max_record_bytes), file, (source, unit), &fields, parser)
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn describer(&self, fields: &Fields) -> Option<Box<dyn Describer>> {
        let (kind, most) = (*self, fields.max_record_bytes);
        Some(Box::new(PropertiesDescriber(move |raw: &[u8]| package_properties(kind, raw, most))))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(PackageParser::new(*self, fields)))
    }
}
