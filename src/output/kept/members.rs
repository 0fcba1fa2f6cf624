//! Files of small members, as gzip and bzip2 have them: a member that loses nothing is copied as it stands, and only the
//! others are packed anew.

use crate::limits::sized;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::KeptWriter;
use super::filter::RecordFilter;
use super::packer::Packer;
use crate::error::{Error, Result};
use crate::output::chosen::Side;
use crate::read::{Compression, Format, PackedMember, Source, packed_members};

/// Most decompressed bytes of a member that is held in memory: of gzip, and of bzip2, which takes a minute to pack again what it
/// unpacks in a few seconds. A hundred pages of Wikipedia may be as long.
const MOST: (u64, u64) = sized((8 << 20, 32 << 20), (1 << 10, 1 << 10));

impl KeptWriter<'_> {
    /// The members of a source, if it has several small ones, and is good to its end.
    pub(super) fn members(&self, source: usize) -> Result<Option<Vec<PackedMember>>> {
        let file = &self.sources[source];
        let most = match file.compression {
            Compression::Gzip => MOST.0,
            Compression::Bzip2 => MOST.1,
            _ => return Ok(None),
        };
        if self.chosen.ends[source].is_some() || self.chosen.side == Side::Removed {
            return Ok(None);
        }
        let members = packed_members(file, most).map_err(|e| self.unread(source, e))?;
        Ok(members.filter(|members| members.len() > 1))
    }

    /// Writes what is kept of the members of a source; how many bytes that are.
    pub(super) fn write_members(
        &self,
        source: usize,
        members: &[PackedMember],
        output: &mut impl Write,
    ) -> Result<u64> {
        let target = self.target(source);
        let mut input = self.open(source)?;
        let filter = self.filter(source, &self.chosen.removed[source], 0);
        let Source { format, compression, .. } = self.sources[source];
        let mut packer = MemberPacker { format, compression, filter, carried: Vec::new() };
        let (mut packed, mut written) = (Vec::new(), 0);
        for member in members {
            self.progress.check()?;
            packed.resize(usize::try_from(member.packed.end - member.packed.start).unwrap_or(usize::MAX), 0);
            // Between members there may be damage.
            input.seek(SeekFrom::Start(member.packed.start)).map_err(|e| self.unread(source, e))?;
            input.read_exact(&mut packed).map_err(|e| self.unread(source, e))?;
            if !packer.filter.keeps(&member.bytes)
                && let Some(anew) = packer.pack(member, &packed).map_err(|e| self.unread(source, e))?
            {
                packed = anew;
            }
            output.write_all(&packed).map_err(|e| Error::io(&target, "write", e))?;
            self.progress.advance(member.packed.end - member.packed.start);
            written += packed.len() as u64;
        }
        self.progress.advance(self.sources[source].bytes - members.last().map_or(0, |last| last.packed.end));
        if written == 0 {
            // A file without any member is none of its kind.
            let empty = Packer::new(format, compression, Vec::new()).and_then(Packer::finish);
            let empty = empty.map_err(|e| Error::io(&target, "write", e))?;
            output.write_all(&empty).map_err(|e| Error::io(&target, "write", e))?;
            written = empty.len() as u64;
        }
        Ok(written)
    }
}

struct MemberPacker<'a> {
    format: Format,
    compression: Compression,
    filter: RecordFilter<'a>,
    /// The end of the last member, where it may begin a record that goes on in the next.
    carried: Vec<u8>,
}

impl MemberPacker<'_> {
    /// What is kept of a member, packed; `None` if that is all of it: a removed record may have ended just before.
    fn pack(&mut self, member: &PackedMember, packed: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = std::mem::take(&mut self.carried);
        let carried = !bytes.is_empty();
        member.unpack(packed, &mut bytes)?;
        let kept = self.filter.apply(&mut bytes);
        self.carried = bytes[bytes.len() - self.filter.held()..].to_vec();
        if kept == bytes.len() && !carried {
            return Ok(None);
        }
        if kept == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut packer = Packer::new(self.format, self.compression, Vec::new())?;
        packer.write_all(&bytes[..kept])?;
        packer.finish().map(Some)
    }
}
