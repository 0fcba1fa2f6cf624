//! WARC 0.18 to 1.1, WET among it, and ARC: what crawlers wrote down, record after record.
//!
//! Documents are the texts of `response`, `resource` and `conversion` records. What a crawl says about itself
//! (`warcinfo`, `request`, `metadata`, `revisit`, `continuation`) is no document.

mod arc;
mod companions;
mod ends;
mod head;
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
use arc::ArcHead;
use ends::StretchEnds;
use head::{CrawlHead, RecordHead, WarcHead};
use parser::{CrawlDescriber, CrawlParser, ReadHead};

/// The numbers of the formats on disk.
pub(super) const CODES: [u8; 2] = [4, 5];

/// Whether a file is WARC.
pub(super) fn recognise_warc(head: &FileHead) -> Option<(Certainty, Format)> {
    WarcHead::begins(head.bytes()).then_some((Certainty::Certain, Format::Warc))
}

/// Whether a file is ARC: it describes itself, or looks as if it began with a page, as records do that were taken out of their file.
pub(super) fn recognise_arc(head: &FileHead) -> Option<(Certainty, Format)> {
    let bytes = head.bytes();
    let certainty = match ArcHead::describes_file(bytes) {
        true => Certainty::Certain,
        false if ArcHead::begins_page(bytes, head.is_whole()) => Certainty::Likely,
        false => return None,
    };
    Some((certainty, Format::Arc))
}

/// WARC or ARC.
pub(super) enum Crawl {
    Warc,
    Arc,
}

impl Crawl {
    fn ends(&self) -> Box<dyn Boundaries> {
        match self {
            Crawl::Warc => Box::new(StretchEnds::<WarcHead>::default()),
            Crawl::Arc => Box::new(StretchEnds::<ArcHead>::default()),
        }
    }

    fn read_head(&self) -> ReadHead {
        match self {
            Crawl::Warc => read_head::<WarcHead>,
            Crawl::Arc => read_head::<ArcHead>,
        }
    }

    fn crawl_parser(&self, fields: &Fields) -> Box<dyn Parser + Send> {
        Box::new(CrawlParser::new(self.read_head(), fields))
    }
}

/// Where the head ends that stands at the front of bytes, and what it says.
fn read_head<H: RecordHead>(bytes: &[u8]) -> Option<(usize, Result<CrawlHead<'_>, Refusal>)> {
    let end = H::end(bytes)?;
    Some((end, H::read(&bytes[..end])))
}

impl Codec for Crawl {
    fn code(&self) -> [u8; 2] {
        match self {
            Crawl::Warc => [CODES[0], 0],
            Crawl::Arc => [CODES[1], 0],
        }
    }

    fn extension(&self) -> &'static str {
        match self {
            Crawl::Warc => "warc",
            Crawl::Arc => "arc",
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::Records
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        next_cut(source, at)
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        cuts(source, self.ends())
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let numbers = Numbers::new(file, &fields);
        let splitter = StretchSplitter::new(numbers, self.ends(), self.crawl_parser(&fields));
        Box::new(Windowed::new(source, unit, splitter))
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(self.ends())
    }

    fn with_companions(&self, source: &Source, removed: &[u64], end: Option<u64>) -> io::Result<Vec<u64>> {
        match self {
            Crawl::Warc => companions::with_companions(source, removed, end),
            Crawl::Arc => Ok(removed.to_vec()),
        }
    }

    fn describer(&self, _: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(CrawlDescriber(self.read_head())))
    }

    fn packs_records(&self) -> bool {
        true
    }

    fn preamble(&self) -> Option<fn(&[u8]) -> bool> {
        match self {
            Crawl::Warc => None,
            // One whose head cannot be read is refused, as any record is.
            Crawl::Arc => Some(|record| ArcHead::describes_file(record) && ArcHead::begins(record).is_some()),
        }
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(self.crawl_parser(fields))
    }
}
