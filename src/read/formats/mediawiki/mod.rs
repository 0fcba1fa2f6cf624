//! Exports of MediaWiki, as the dumps of Wikipedia are: XML with one `<page>` behind the other.
//!
//! A document is a page: the text of its last revision as it was written, in the markup of wikis. A page that only leads to
//! another one is no document, and neither is what stands around pages.

mod ends;
mod page;
mod parser;
mod tags;

use std::io;
use std::sync::Arc;

use memchr::memmem;

use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};
use crate::read::stretches::{StretchSplitter, cuts, next_cut};
use crate::read::windowed::{Numbers, Windowed};
use ends::PageEnds;
use page::PAGE;
use parser::{WikiDescriber, WikiParser};

/// The number of the format on disk.
pub(super) const CODE: u8 = 17;

/// Whether a file is an export of MediaWiki, or pages of one.
pub(super) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let content = head.behind_prolog();
    // Others may call an element so, too.
    let pages = content.starts_with(PAGE) && memmem::find(content, b"<revision>").is_some();
    (pages || begins_dump(content)).then_some((Certainty::Certain, Format::MediaWiki))
}

/// Whether it begins with the root of an export, and goes on with an element. A text about such an element goes on with words.
fn begins_dump(content: &[u8]) -> bool {
    let Some(behind) = content.strip_prefix(b"<mediawiki") else { return false };
    let goes_on = || memchr::memchr(b'>', behind).map(|end| behind[end + 1..].trim_ascii_start());
    matches!(behind.first(), None | Some(b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'))
        && goes_on().is_none_or(|next| next.is_empty() || next[0] == b'<')
}

/// Exports of MediaWiki.
pub(super) struct MediaWiki;

impl Codec for MediaWiki {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "xml"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Records
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        next_cut(source, at)
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        cuts(source, Box::new(PageEnds::default()))
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let (ends, parser) = (Box::new(PageEnds::default()), Box::new(WikiParser::new(&fields)));
        let splitter = StretchSplitter::new(Numbers::new(file, &fields), ends, parser);
        Box::new(Windowed::new(source, unit, splitter))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(Box::new(PageEnds::default()))
    }

    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(WikiDescriber))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(WikiParser::new(fields)))
    }
}
