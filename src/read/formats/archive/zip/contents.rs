//! Members as far as they are documents: what is none is refused before all of it is unpacked.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::super::member::{ArchiveMember, MemberFormats};
use super::directory::{ZipFile, ZipIndex};
use super::entry::MemberEntry;
use super::single::{begin_single, end_single, single};
use super::unpack::{MemberDamage, MemberReader, not_unpacked};
use crate::error::Error;
use crate::limits::sized;
use crate::read::bytes::Turn;
use crate::read::field::Fields;
use crate::read::head::wanted;
use crate::read::record::Refusal;

/// Bytes of a member that are unpacked before it is looked at.
const SHORT: u64 = sized(32 << 10, 100);

/// Why a member is no document.
#[derive(Debug)]
pub(super) enum MemberFault {
    /// It is refused.
    Refused(Refusal),
    /// The memory has no room for it.
    NoRoom,
    /// What the system says.
    System(io::Error),
    /// The run is to stop.
    Stopped(Error),
}

impl From<MemberDamage> for MemberFault {
    fn from(damage: MemberDamage) -> MemberFault {
        match damage {
            MemberDamage::System(error) => MemberFault::System(error),
            MemberDamage::Senseless(what) => MemberFault::Refused(Refusal::Malformed(what.to_owned())),
        }
    }
}

impl From<Refusal> for MemberFault {
    fn from(refusal: Refusal) -> MemberFault {
        MemberFault::Refused(refusal)
    }
}

/// Unpacks members, and owns the content of the last one.
pub(super) struct MemberContents {
    index: Arc<ZipIndex>,
    reader: MemberReader,
    formats: MemberFormats,
    /// A member by itself.
    content: Vec<u8>,
    /// While that is a long one.
    turn: Option<Turn>,
}

impl MemberContents {
    /// Of an archive of which all members of a range will be read, or any.
    pub(super) fn new(zip: &ZipFile, members: Option<Range<u64>>, formats: MemberFormats) -> MemberContents {
        let announced = members.and_then(|members| zip.file.again(zip.index.about(&members)));
        let file = announced.map_or_else(|| Arc::clone(&zip.file), Arc::new);
        let (index, reader) = (Arc::clone(&zip.index), MemberReader::new(&file));
        MemberContents { index, reader, formats, content: Vec::new(), turn: None }
    }

    /// The member of an entry, if it may be a document; `None` if it has no content.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn member(
        &mut self,
        entry: &MemberEntry,
        fields: &Fields,
    ) -> Result<Option<ArchiveMember<'_>>, MemberFault> {
        if entry.is_blank() {
            return Ok(None);
        }
        let nowhere = || {
            let what = "a member that is not where the directory says, or where another one is, too";
            Refusal::Malformed(what.to_owned())
        };
        let (_, slot) = self.index.slot(entry.start).ok_or_else(nowhere)?;
        if let Some(what) = not_unpacked(entry) {
            return Err(Refusal::NotUnpacked(what).into());
        }
        let mut unpacking = self.reader.begin(entry, slot)?;
        let from = begin_single(entry, &mut self.content);
        // What is short is not looked at twice.
        self.reader.more(&mut unpacking, &mut self.content, SHORT)?;
        while !unpacking.is_over {
            match wanted(&self.content[from..]) {
                0 => break,
                more => self.reader.more(&mut unpacking, &mut self.content, more as u64)?,
            }
        }
        // The header counts, as it does in other archives.
        let bytes = usize::try_from(entry.unpacked).unwrap_or(usize::MAX).saturating_add(from);
        if !unpacking.is_over || bytes > fields.max_record_bytes {
            self.formats.document(&entry.path(), &self.content[from..], unpacking.is_over)?;
            if bytes > fields.max_record_bytes {
                return Err(Refusal::TooLong { limit: fields.max_record_bytes }.into());
            }
            if bytes > fields.room.most() {
                return Err(MemberFault::NoRoom);
            }
            if fields.room.is_long(bytes) {
                self.turn = fields.room.turn().map_err(MemberFault::Stopped)?;
            }
            self.reader.more(&mut unpacking, &mut self.content, u64::MAX)?;
        }
        unpacking.check(&self.content[from..])?;
        end_single(&mut self.content, from, entry.sum);
        Ok(Some(single(&self.content)?))
    }

    /// Gives back the memory of a long member; whether the last one was long.
    pub(super) fn rest(&mut self) -> bool {
        let was_long = self.turn.is_some();
        if was_long {
            self.content = Vec::new();
            self.turn = None;
        }
        was_long
    }
}
