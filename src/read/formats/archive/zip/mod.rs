//! zip: members are found by the directory at the end, and read where they stand. It is read here, without a crate: so memory is
//! bounded whatever a directory says, and members that stay are copied as they stand.

mod anew;
mod apart;
mod contents;
mod directory;
mod end;
mod entry;
mod names;
mod numbers;
mod reread;
mod rewritten;
mod single;
mod unit;
mod unpack;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use self::directory::{DirectoryWindow, ZipFile};
pub use self::rewritten::ZipSource;
use self::single::{ZipDescriber, ZipParser};
use self::unit::ZipUnit;
use super::apart::without_apart;
use super::member::{MemberFormats, MemberParser};
use crate::read::codec::{Boundaries, Certainty, Codec, Describer, Parser, Records, Rereader, TakeCopies};
use crate::read::field::Fields;
use crate::read::format::{Format, Numbering};
use crate::read::head::FileHead;
use crate::read::record::Refusal;
use crate::read::source::{Cuts, Source, Unit};

/// The number of the format on disk.
pub(in crate::read::formats) const CODE: u8 = 24;

/// How much larger than those of lines units are: one reads the directory from some members before it on.
const UNIT: u64 = 2;

/// Whether a file is a zip archive, and no package of something else.
pub(in crate::read::formats) fn recognise(head: &FileHead) -> Option<(Certainty, Format)> {
    if head.is_compressed() || head.is_package() {
        return None;
    }
    let certainty = match head.begins_zip() {
        true => Certainty::Certain,
        false if head.extension() == Some("zip") => Certainty::Named,
        false => return None,
    };
    Some((certainty, Format::Zip))
}

/// A zip archive.
pub(in crate::read::formats) struct Zip {
    /// How its members are read.
    pub(in crate::read::formats) members: MemberFormats,
}

impl Codec for Zip {
    fn code(&self) -> [u8; 2] {
        [CODE, 0]
    }

    fn extension(&self) -> &'static str {
        "zip"
    }

    fn numbering(&self) -> Numbering {
        Numbering::Members
    }

    fn unit_start(&self, source: &Source, at: u64) -> u64 {
        let after = source.cuts.places.partition_point(|cut| *cut < at);
        source.cuts.places.get(after).copied().unwrap_or(source.length())
    }

    fn cuts(&self, source: &Source) -> io::Result<Cuts> {
        ZipFile::cuts(source)
    }

    fn unit_factor(&self) -> u64 {
        UNIT
    }

    fn bytes_of(&self, source: &Source, places: Range<u64>) -> Range<u64> {
        // What cannot be told any more is a file that changed: all of it then.
        bytes_of(source, &places).unwrap_or(0..source.bytes)
    }

    fn records(&self, file: u32, source: &Source, unit: &Unit, fields: Arc<Fields>) -> Box<dyn Records> {
        without_apart(source, Box::new(ZipUnit::new(file, source, unit, fields, self.members)))
    }

    fn copy_apart(&self, source: &Source, into: &mut dyn TakeCopies) -> io::Result<()> {
        apart::copy(self.members, source, into)
    }

    fn boundaries(&self) -> Option<Box<dyn Boundaries>> {
        None
    }

    fn describer(&self, fields: &Fields) -> Option<Box<dyn Describer>> {
        Some(Box::new(ZipDescriber::new(self.members, fields)))
    }

    fn parser<'a>(&self, _: &str, fields: &'a Fields) -> Result<Box<dyn Parser + 'a>, Refusal> {
        Ok(Box::new(ZipParser(MemberParser::new(self.members, fields))))
    }

    fn rereader(&self) -> Option<Rereader> {
        let formats = self.members;
        Some(Box::new(move |source, file, offsets, fields, each| {
            reread::reread(formats, source, file, offsets, fields, each)
        }))
    }
}

/// The bytes from the first to the last member of some, with what stands around all members for those at either end.
fn bytes_of(source: &Source, places: &Range<u64>) -> io::Result<Range<u64>> {
    let zip = ZipFile::open(source)?;
    let mut window = DirectoryWindow::new(&zip.file, zip.index.end.directory.clone());
    let (mut bytes, mut row) = (source.bytes..0, 0);
    while let Some(entry) = window.next()?.filter(|_| row < places.end) {
        if let Some((_, slot)) =
            zip.index.slot(entry.read(zip.index.end.base).start).filter(|_| row >= places.start)
        {
            bytes = bytes.start.min(slot.start)..bytes.end.max(slot.end);
        }
        row += 1;
    }
    let start = if places.start == 0 { 0 } else { bytes.start };
    let end = if places.end >= zip.index.members { source.bytes } else { bytes.end };
    Ok(start.min(end)..end)
}
