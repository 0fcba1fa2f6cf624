//! SGML as TREC hands it out: `<DOC>` and what belongs to it, record after record, in the news and the web collections.

mod ends;
mod markup;
mod parser;

use std::io;
use std::sync::Arc;

use memchr::memchr;

use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::{FileHead, behind_prolog};
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};
use crate::read::stretches::{StretchSplitter, cuts, next_cut};
use crate::read::windowed::{Numbers, Windowed};
use ends::{DocEnds, begins_doc};
use parser::{DocDescriber, DocParser};

/// The number of the format on disk.
pub(super) const CODE: u8 = 16;

/// Most bytes of the tag of a root.
const ROOT_TAG: usize = 1 << 10;

/// Whether a file is SGML of TREC: a `<DOC>`, behind declarations, comments and the tag of a root if there are any.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let content = head.behind_prolog();
    let is_trec = begins_doc(content) || behind_root(content).is_some_and(begins_doc);
    is_trec.then_some((Certainty::Certain, Format::Trec))
}

/// What stands behind the tag of a root, if content begins with one. The first record begins a line, or it would not be found.
fn behind_root(content: &[u8]) -> Option<&[u8]> {
    if !content.strip_prefix(b"<")?.first()?.is_ascii_alphabetic() {
        return None;
    }
    let end = memchr(b'>', &content[..content.len().min(ROOT_TAG)]).filter(|end| content[end - 1] != b'/')?;
    let rest = behind_prolog(&content[end + 1..]);
    let between = &content[..content.len() - rest.len()];
    let line = between.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    (line == Some(&b'\n')).then_some(rest)
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
        Box::new(Windowed::new(source, unit, splitter))
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
