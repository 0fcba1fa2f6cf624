//! Reading single members a second time.

use super::super::member::{MemberFormats, MemberParser};
use super::contents::{MemberContents, MemberFault};
use super::directory::{EntryCursor, ZipFile};
use super::unit::no_damage;
use crate::document::Position;
use crate::error::{Error, Result};
use crate::read::field::Fields;
use crate::read::record::Record;
use crate::read::source::Source;

/// Hands on the members at `offsets`, as [`reread_records`](crate::read::reread_records) does.
pub(super) fn reread(
    formats: MemberFormats,
    source: &Source,
    file_number: u32,
    offsets: &[u64],
    fields: &Fields,
    each: &mut dyn FnMut(usize, &Record<'_>) -> Result<()>,
) -> Result<()> {
    let changed = || Error::Changed(source.path.clone());
    let otherwise = |error| no_damage(source, error).map_or_else(|error| error, |_| changed());
    let zip = ZipFile::open_and_keep(source).map_err(otherwise)?;
    let mut cursor = EntryCursor::new(&zip);
    let mut contents = MemberContents::new(&zip, None, formats);
    let mut parser = MemberParser::new(formats, fields);
    let mut at = 0;
    while let Some(&row) = offsets.get(at) {
        let entry = cursor.entry(row).map_err(otherwise)?.ok_or_else(changed)?.read(zip.index.end.base);
        let member = contents.member(&entry, fields).map_err(|fault| match fault {
            MemberFault::Stopped(error) => error,
            MemberFault::System(error) => otherwise(error),
            MemberFault::Refused(_) | MemberFault::NoRoom => changed(),
        })?;
        let member = member.ok_or_else(changed)?;
        let record = parser.record(Position::new(file_number, row), 1, member).map_err(|_| changed())?;
        while offsets.get(at) == Some(&row) {
            each(at, &record)?;
            at += 1;
        }
        if contents.rest() {
            parser.rest();
        }
    }
    Ok(())
}
