//! A member by itself, as documents are known without their archive: a header, the name, and the content as it is.

use super::super::member::{ArchiveMember, MemberDescriber, MemberFormats, MemberParser};
use super::entry::MemberEntry;
use super::names::shown_name;
use super::numbers::short;
use super::unpack::{HEADER, HEADER_BYTES};
use crate::document::Position;
use crate::read::codec::{Describer, Parser};
use crate::read::field::Fields;
use crate::read::record::{Record, Refusal};

/// Whether a name is UTF-8.
pub(super) const UTF8: u16 = 1 << 11;

/// Writes what stands before the content of a member; how many bytes that is.
pub(super) fn begin_single(entry: &MemberEntry, out: &mut Vec<u8>) -> usize {
    let flags = if entry.is_said_utf8() { UTF8 } else { 0 };
    let name = u16::try_from(entry.name.len()).unwrap_or(u16::MAX).to_le_bytes();
    out.clear();
    out.extend(
        [HEADER, &[20, 0], &flags.to_le_bytes(), &[0; 6], &[0; 12], &name, &[0, 0], &entry.name].concat(),
    );
    out.len()
}

/// Writes there how long the content is that stands from a place on, and its checksum.
pub(super) fn end_single(out: &mut [u8], from: usize, sum: u32) {
    let length = u32::try_from(out.len() - from).unwrap_or(u32::MAX).to_le_bytes();
    out[14..26].copy_from_slice(&[sum.to_le_bytes(), length, length].concat());
}

/// The file that a member by itself is.
pub(super) fn single(raw: &[u8]) -> Result<ArchiveMember<'_>, Refusal> {
    let none = || Refusal::Malformed("no member of an archive".to_owned());
    let header = raw.get(..HEADER_BYTES).filter(|header| header.starts_with(HEADER)).ok_or_else(none)?;
    let name_end = HEADER_BYTES + usize::from(short(header, 26));
    let name = raw.get(HEADER_BYTES..name_end).ok_or_else(none)?;
    let content = raw.get(name_end + usize::from(short(header, 28))..).ok_or_else(none)?;
    Ok(ArchiveMember { path: shown_name(name, short(header, 6) & UTF8 != 0), content, raw })
}

/// Makes documents of members by themselves.
pub(super) struct ZipParser(pub(super) MemberParser);

impl Parser for ZipParser {
    fn rest(&mut self) {
        self.0.rest();
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        self.0.record(position, line, single(raw)?)
    }
}

/// Names what members say of themselves.
pub(super) struct ZipDescriber(MemberDescriber);

impl ZipDescriber {
    pub(super) fn new(formats: MemberFormats, fields: &Fields) -> ZipDescriber {
        ZipDescriber(MemberDescriber::new(formats, fields))
    }
}

impl Describer for ZipDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        if let Ok(member) = single(record.raw) {
            self.0.describe(record, &member, each);
        }
    }
}
