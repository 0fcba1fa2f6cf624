//! SGML as TREC hands it out: `<DOC>` and what belongs to it, record after record, in the news and the web collections.

mod ends;
mod markup;
mod parser;

use std::io;
use std::sync::Arc;

use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};
use crate::read::stretches::{StretchSplitter, cuts, next_cut};
use crate::read::windowed::{Numbers, Windowed};
use ends::{DocEnds, begins_doc};
use parser::{DocDescriber, DocParser};

/// The number of the format on disk.
pub(super) const CODE: u8 = 16;

/// Whether a file is SGML of TREC: a `<DOC>`, behind a declaration or a comment if there is one.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    begins_doc(head.behind_prolog()).then_some((Certainty::Certain, Format::Trec))
}

/// SGML of TREC.
pub(super) struct Trec;

impl Codec for Trec {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "trec"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Records
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        next_cut(source, at)
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        cuts(source, Box::new(DocEnds::default()))
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let (ends, parser) = (Box::new(DocEnds::default()), Box::new(DocParser::new(&fields)));
        let splitter = StretchSplitter::new(Numbers::new(file, &fields), ends, parser);
        Box::new(Windowed::new(source, unit, &fields.room, splitter))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(Box::new(DocEnds::default()))
    }

    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(DocDescriber))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(DocParser::new(fields)))
    }
}
