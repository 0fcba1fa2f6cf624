//! The content of members: found behind their headers, and unpacked step by step.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::end::read_some;
use super::entry::{MemberEntry, large_numbers};
use super::numbers::{short, word};
use crate::limits::sized;
use crate::read::bytes::InputFile;

/// How the header of a member begins.
pub(super) const HEADER: &[u8] = b"PK\x03\x04";
/// Bytes of it without the name.
pub(super) const HEADER_BYTES: usize = 30;
/// Bytes that are read at once.
const READ: usize = sized(128 << 10, 64);
/// Least bytes for which room is made at once.
const ROOM: u64 = sized(64 << 10, 64);

/// What is wrong with a member.
#[derive(Debug)]
pub(super) enum MemberDamage {
    /// What the system says.
    System(io::Error),
    /// It makes no sense.
    Senseless(&'static str),
}

impl From<io::Error> for MemberDamage {
    fn from(error: io::Error) -> MemberDamage {
        MemberDamage::System(error)
    }
}

/// Reads members of an archive. What is read stays for the next one: it stands behind the one before.
pub(super) struct MemberReader {
    file: Arc<InputFile>,
    bytes: Box<[u8]>,
    /// The place in the file of what is held.
    held: Range<u64>,
    inflate: Decompress,
}

/// How far a member was unpacked.
#[derive(Clone, Debug)]
pub(super) struct Unpacking {
    /// What is packed, and was not read yet.
    packed: Range<u64>,
    is_deflated: bool,
    /// Bytes that there are to be.
    unpacked: u64,
    sum: u32,
    /// Bytes that there are.
    made: u64,
    /// Whether there are no more.
    pub(super) is_over: bool,
}

impl MemberReader {
    pub(super) fn new(file: &Arc<InputFile>) -> MemberReader {
        let bytes = vec![0; READ].into();
        MemberReader { file: Arc::clone(file), bytes, held: 0..0, inflate: Decompress::new(false) }
    }

    /// What is there from a place on, up to the end of what is read at once; nothing at the end of the file.
    fn ready(&mut self, at: u64) -> io::Result<&[u8]> {
        if !self.held.contains(&at) {
            self.held = at..at;
            let read = read_some(&self.file, &mut self.bytes, at)?;
            self.held.end = at + read as u64;
        }
        let length = usize::try_from(self.held.end - self.held.start).unwrap_or_default();
        let from = usize::try_from(at - self.held.start).unwrap_or_default();
        Ok(&self.bytes[from..length])
    }

    /// Some bytes from a place on.
    fn exactly(&mut self, at: u64, length: usize) -> Result<Vec<u8>, MemberDamage> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let more = self.ready(at + bytes.len() as u64)?;
            if more.is_empty() {
                return Err(MemberDamage::Senseless("a member that is cut off"));
            }
            bytes.extend_from_slice(&more[..more.len().min(length - bytes.len())]);
        }
        Ok(bytes)
    }

    /// Begins to unpack a member that has the bytes of a slot. Its header has to say what the directory says.
    pub(super) fn begin(&mut self, entry: &MemberEntry, slot: Range<u64>) -> Result<Unpacking, MemberDamage> {
        let behind = "a member that goes on where the next one begins";
        let header = match slot.end - slot.start >= HEADER_BYTES as u64 {
            true => self.exactly(slot.start, HEADER_BYTES)?,
            false => return Err(MemberDamage::Senseless(behind)),
        };
        if !header.starts_with(HEADER) {
            return Err(MemberDamage::Senseless("no header of a member where the directory says that it is"));
        }
        let length = usize::from(short(&header, 26)) + usize::from(short(&header, 28));
        let packed = slot.start + (HEADER_BYTES + length) as u64;
        let packed = packed..packed.saturating_add(entry.packed);
        if packed.end > slot.end {
            return Err(MemberDamage::Senseless(behind));
        }
        let names = self.exactly(slot.start + HEADER_BYTES as u64, length)?;
        if let Some(what) = differs(&header, &names, entry) {
            return Err(MemberDamage::Senseless(what));
        }
        if entry.unpacked > entry.most_unpacked() {
            return Err(MemberDamage::Senseless("a member that cannot be as long as the directory says"));
        }
        self.inflate.reset(false);
        let (unpacked, is_deflated, sum) = (entry.unpacked, entry.method != STORED, entry.sum);
        Ok(Unpacking { packed, is_deflated, unpacked, sum, made: 0, is_over: false })
    }

    /// Unpacks about so many bytes more, behind what is in `content`; less only at the end.
    pub(super) fn more(
        &mut self,
        unpacking: &mut Unpacking,
        content: &mut Vec<u8>,
        bytes: u64,
    ) -> Result<(), MemberDamage> {
        let end = unpacking.made.saturating_add(bytes);
        while !unpacking.is_over && unpacking.made < end {
            let before = content.len();
            match unpacking.is_deflated {
                true => self.inflate(unpacking, content)?,
                false => self.copy(unpacking, content)?,
            }
            unpacking.made += (content.len() - before) as u64;
            if unpacking.made > unpacking.unpacked {
                return Err(MemberDamage::Senseless("a member that is longer than the directory says"));
            }
        }
        Ok(())
    }

    fn copy(&mut self, unpacking: &mut Unpacking, content: &mut Vec<u8>) -> Result<(), MemberDamage> {
        let left = unpacking.packed.end - unpacking.packed.start;
        let ready = self.ready(unpacking.packed.start)?;
        let taken = ready.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        content.extend_from_slice(&ready[..taken]);
        unpacking.packed.start += taken as u64;
        unpacking.is_over = taken as u64 == left;
        if taken == 0 && left > 0 {
            return Err(MemberDamage::Senseless("a member that is cut off"));
        }
        Ok(())
    }

    fn inflate(&mut self, unpacking: &mut Unpacking, content: &mut Vec<u8>) -> Result<(), MemberDamage> {
        if content.capacity() == content.len() {
            // A byte more than there may be shows that there are too many.
            let left = unpacking.unpacked - unpacking.made + 1;
            let room = left.min(ROOM.max(unpacking.made));
            content.reserve_exact(usize::try_from(room).unwrap_or(usize::MAX));
        }
        let left = unpacking.packed.end - unpacking.packed.start;
        self.ready(unpacking.packed.start)?;
        // What is held is no part of what inflates it.
        let from = usize::try_from(unpacking.packed.start - self.held.start).unwrap_or_default();
        let to = usize::try_from(self.held.end - self.held.start).unwrap_or_default();
        let ready =
            &self.bytes[from..to.min(from.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)))];
        let (read, before) = (self.inflate.total_in(), content.len());
        let status = self.inflate.decompress_vec(ready, content, FlushDecompress::None);
        let read = self.inflate.total_in() - read;
        unpacking.packed.start += read;
        match status {
            Ok(Status::StreamEnd) if unpacking.packed.is_empty() => unpacking.is_over = true,
            Ok(Status::StreamEnd) => {
                return Err(MemberDamage::Senseless("something follows what is packed in a member"));
            }
            Ok(_) if read == 0 && content.len() == before => {
                return Err(MemberDamage::Senseless("a member that ends too early"));
            }
            Ok(_) => {}
            Err(_) => return Err(MemberDamage::Senseless("a member that cannot be unpacked")),
        }
        Ok(())
    }
}

impl Unpacking {
    /// Whether there are as many bytes as the directory says.
    pub(super) fn is_all(&self) -> bool {
        self.made == self.unpacked
    }

    /// Holds a content that is whole against what the directory says of it.
    pub(super) fn check(&self, content: &[u8]) -> Result<(), MemberDamage> {
        if !self.is_all() {
            return Err(MemberDamage::Senseless("a member that is shorter than the directory says"));
        }
        let mut sum = Crc::new();
        sum.update(content);
        match sum.sum() == self.sum {
            true => Ok(()),
            false => Err(MemberDamage::Senseless("a member whose checksum is not that of its content")),
        }
    }
}

/// The methods that are read: of a content that stands as it is, and of one that is deflated.
pub(super) const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Whether what the header does not say stands behind the content.
pub(super) const BEHIND: u16 = 1 << 3;

/// What a member is that is not unpacked.
pub(super) fn not_unpacked(entry: &MemberEntry) -> Option<String> {
    let name = match entry.method {
        _ if entry.is_encrypted() => return Some("an encrypted file".to_owned()),
        STORED | DEFLATED => return None,
        1 => "Shrink",
        2..=5 => "Reduce",
        6 => "Implode",
        9 => "Deflate64",
        10 => "DCL Implode",
        12 => "bzip2",
        14 => "LZMA",
        18 => "TERSE",
        20 | 93 => "Zstandard",
        94 => "MP3",
        95 => "xz",
        96 => "JPEG",
        97 => "WavPack",
        98 => "PPMd",
        99 => return Some("an encrypted file".to_owned()),
        other => return Some(format!("a file packed by method {other}")),
    };
    Some(format!("a file packed by {name}"))
}

/// In what a header differs from the directory.
fn differs(header: &[u8], names: &[u8], entry: &MemberEntry) -> Option<&'static str> {
    let (name, more) = names.split_at(usize::from(short(header, 26)));
    if name != entry.name {
        return Some("a header with another name than the directory has");
    }
    if short(header, 8) != entry.method || (short(header, 6) ^ entry.flags) & 1 != 0 {
        return Some("a header with another method than the directory has");
    }
    let [(unpacked, _), (packed, _)] = large_numbers(more, [22, 18].map(|at| word(header, at)));
    let is_same = (word(header, 14), packed, unpacked) == (entry.sum, entry.packed, entry.unpacked);
    (short(header, 6) & BEHIND == 0 && !is_same)
        .then_some("a header with another length or checksum than the directory has")
}
