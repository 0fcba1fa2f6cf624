//! Members of an archive to documents.

use super::super::member::{ArchiveMember, MemberDescriber, MemberFormats, MemberParser};
use super::ends::{fault, shown_path};
use super::scan::{MemberScan, TarFound};
use crate::document::Position;
use crate::read::codec::{Describer, Parser};
use crate::read::field::Fields;
use crate::read::record::{Record, Refusal};

/// Makes documents of members.
pub(super) struct TarParser {
    members: MemberParser,
    scan: MemberScan,
}

impl TarParser {
    pub(super) fn new(formats: MemberFormats, fields: &Fields) -> TarParser {
        TarParser { members: MemberParser::new(formats, fields), scan: MemberScan::new(false) }
    }

    /// The same for the archive of that name.
    pub(super) fn of_archive(self, name: &str) -> TarParser {
        TarParser { members: self.members.of_archive(name), ..self }
    }
}

/// The file that a record is, which is scanned anew.
fn member<'a>(scan: &'a mut MemberScan, raw: &'a [u8]) -> Result<ArchiveMember<'a>, Refusal> {
    *scan = MemberScan::new(false);
    scan.end(raw);
    if raw.iter().all(|byte| *byte == 0) {
        return Err(Refusal::no_text_in("the end of an archive"));
    }
    if let Some(refusal) = fault(scan) {
        return Err(refusal);
    }
    if scan.found != Some(TarFound::File) {
        return Err(Refusal::no_text_in("a member without content"));
    }
    let place = |at: u64| usize::try_from(at).ok();
    let content =
        place(scan.place.start).zip(place(scan.place.end)).and_then(|(start, end)| raw.get(start..end));
    let content = content.ok_or_else(|| Refusal::Malformed("a member that is cut off".to_owned()))?;
    Ok(ArchiveMember { path: shown_path(&scan.path), content, raw })
}

impl Parser for TarParser {
    fn rest(&mut self) {
        self.members.rest();
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        self.members.record(position, line, member(&mut self.scan, raw)?)
    }
}

/// Names what members say of themselves.
pub(super) struct TarDescriber {
    members: MemberDescriber,
    scan: MemberScan,
}

impl TarDescriber {
    pub(super) fn new(formats: MemberFormats, fields: &Fields) -> TarDescriber {
        TarDescriber { members: MemberDescriber::new(formats, fields), scan: MemberScan::new(false) }
    }
}

impl Describer for TarDescriber {
    fn describe(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&str, &str)) {
        if let Ok(member) = member(&mut self.scan, record.raw) {
            self.members.describe(record, &member, each);
        }
    }
}
