//! tar: the forms of POSIX (ustar and pax), of GNU, and what was before them.

mod apart;
mod block;
mod ends;
mod links;
mod parser;
mod rewritten;
mod said;
mod scan;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use super::apart::without_apart;
use super::member::MemberFormats;
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records, TakeCopies};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};
use crate::read::stretches::{StretchSplitter, cuts, next_cut};
use crate::read::windowed::{Numbers, Windowed};
use block::{BLOCK_BYTES, TarBlock};
use ends::MemberEnds;
use links::with_links;
use parser::{TarDescriber, TarParser};
pub use rewritten::rewrite_tar;

/// The number of the format on disk.
pub(in crate::read::formats) const CODE: u8 = 18;

/// How names of archives end, those that are compressed as a whole among them.
const ENDS: [&str; 7] = ["tar", "tgz", "tbz", "tbz2", "txz", "tzst", "tzstd"];

/// Whether a file is an archive.
pub(in crate::read::formats) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    let first = head.bytes().first_chunk().map(TarBlock::of);
    let certainty = match first {
        Some(TarBlock::Header(_)) => Certainty::Certain,
        _ if head.extension().is_some_and(|end| ENDS.contains(&end)) => Certainty::Named,
        // One without members is nothing but its end. Other files of zeros are what a crash left of them.
        Some(TarBlock::Zeros) if is_end(head) => Certainty::Possible,
        _ => return None,
    };
    Some((certainty, Format::Tar))
}

/// How long the end of an archive is, as programs write it.
const END_BYTES: [usize; 2] = [2 * BLOCK_BYTES, 20 * BLOCK_BYTES];

/// Whether a file whose name says nothing is the end of an archive, and no more.
fn is_end(head: &FileHead) -> bool {
    let is_nameless = head.is_named() && head.extension().is_none();
    let bytes = head.bytes();
    is_nameless && head.is_whole() && END_BYTES.contains(&bytes.len()) && bytes.iter().all(|byte| *byte == 0)
}

/// An archive.
pub(in crate::read::formats) struct Tar {
    /// How its members are read.
    pub(in crate::read::formats) members: MemberFormats,
}

impl Tar {
    fn ends(&self) -> Box<dyn Boundaries> {
        Box::new(MemberEnds::new(self.members))
    }
}

impl Codec for Tar {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "tar"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Members
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        next_cut(source, at)
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        cuts(source, self.ends())
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        let parser = Box::new(TarParser::new(self.members, &fields).of_archive(&source.name));
        let splitter = StretchSplitter::new(Numbers::new(file, &fields), self.ends(), parser);
        without_apart(source, Box::new(Windowed::new(source, unit, splitter)))
    }

    fn copy_apart(&self, source: &Source, into: &mut dyn TakeCopies) -> io::Result<()> {
        apart::copy(self.members, source, into)
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        Some(self.ends())
    }

    fn with_companions(&self, source: &Source, removed: &[u64], end: Option<u64>) -> io::Result<Vec<u64>> {
        with_links(source, removed, end)
    }

    fn has_companions(&self) -> bool {
        true
    }

    fn lookahead(&self) -> usize {
        BLOCK_BYTES
    }

    fn describer(&self, fields: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(TarDescriber::new(self.members, fields)))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(TarParser::new(self.members, fields)))
    }
}
