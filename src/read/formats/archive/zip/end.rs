//! What an archive ends with: where its directory is, and how many members are in it.

use std::io;
use std::ops::Range;

use memchr::memmem;

use super::numbers::{long, senseless, short, word};
use crate::limits::MAX_ARCHIVE_MEMBERS;
use crate::read::bytes::InputFile;

/// How the end begins, without the comment that may follow it.
const END: &[u8] = b"PK\x05\x06";
/// Bytes of the end without a comment.
const END_BYTES: usize = 22;
/// How what stands before the end of a large archive begins: where its own end is.
const LOCATOR: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: usize = 20;
/// How that begins.
const LARGE_END: &[u8] = b"PK\x06\x06";
const LARGE_BYTES: usize = 56;
/// Least bytes of a member in a directory.
const LEAST: u64 = 46;

/// The end of an archive.
#[derive(Debug)]
pub(super) struct ZipEnd {
    /// Where its directory stands in the file.
    pub(super) directory: Range<u64>,
    /// What offsets in it are counted from: more than 0 where something stands before the archive.
    pub(super) base: u64,
    /// Members in the directory.
    pub(super) members: u64,
    /// Whether there may be more by a multiple of 65,536: some programs write no larger number.
    pub(super) wraps: bool,
    comment: Vec<u8>,
}

impl ZipEnd {
    /// Finds the end of a file of so many bytes.
    ///
    /// # Errors
    /// What the system says, and what is wrong with the end.
    pub(super) fn find(file: &InputFile, bytes: u64) -> io::Result<ZipEnd> {
        let most = (END_BYTES + usize::from(u16::MAX)) as u64;
        let tail_at = bytes.saturating_sub(most);
        let tail = read_range(file, tail_at..bytes)?;
        let at = end_in(&tail)?;
        let end = &tail[at..];
        let end_at = tail_at + at as u64;
        let [disk, first, here] = [short(end, 4), short(end, 6), short(end, 8)];
        let members = short(end, 10);
        let [length, offset] = [word(end, 12), word(end, 16)];
        let comment = end[END_BYTES..].to_vec();
        // Some programs write both ends where one would do.
        let large = large_end(file, end_at)?;
        let (length, offset, members, wraps, behind) = match large {
            Some(large) => (large.length, large.offset, large.members, false, large.at),
            None if disk != 0 || first != 0 || here != members => return Err(in_parts()),
            None => (u64::from(length), u64::from(offset), u64::from(members), true, end_at),
        };
        let start = behind.checked_sub(length);
        let start = start.ok_or_else(|| senseless("its directory is longer than the file"))?;
        let base = start.checked_sub(offset);
        let base = base
            .ok_or_else(|| senseless("its directory is not where its end says; bytes of it are missing"))?;
        if members > length / LEAST {
            return Err(senseless(format!("a directory of {length} bytes for {members} members")));
        }
        if members > MAX_ARCHIVE_MEMBERS as u64 {
            return Err(too_many(members));
        }
        Ok(ZipEnd { directory: start..behind, base, members, wraps, comment })
    }

    /// The end of an archive with the same comment whose directory stands at `offset`, has `length` bytes and so many members.
    pub(super) fn anew(&self, offset: u64, length: u64, members: u64) -> Vec<u8> {
        let mut end = Vec::new();
        let most = u64::from(u32::MAX);
        if offset >= most || length >= most || members >= u64::from(u16::MAX) {
            end.extend(
                [LARGE_END, &(LARGE_BYTES as u64 - 12).to_le_bytes(), &[45, 3, 45, 0], &[0; 8]].concat(),
            );
            for number in [members, members, length, offset] {
                end.extend(number.to_le_bytes());
            }
            end.extend([LOCATOR, &[0; 4], &(offset + length).to_le_bytes(), &1_u32.to_le_bytes()].concat());
        }
        let members = u16::try_from(members).unwrap_or(u16::MAX).to_le_bytes();
        let [length, offset] =
            [length, offset].map(|number| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        let comment = u16::try_from(self.comment.len()).unwrap_or(u16::MAX).to_le_bytes();
        end.extend([END, &[0; 4], &members, &members, &length, &offset, &comment, &self.comment].concat());
        end
    }
}

/// The error of more members than are allowed.
pub(super) fn too_many(members: u64) -> io::Error {
    senseless(format!("{members} members or more; {MAX_ARCHIVE_MEMBERS} are allowed: divide it"))
}

fn in_parts() -> io::Error {
    senseless("a part of an archive that was divided; join its parts (zip -s 0)")
}

/// Where in the last bytes of a file its end begins: its comment goes on to the last of them.
fn end_in(tail: &[u8]) -> io::Result<usize> {
    let mut met = None;
    for at in memmem::rfind_iter(tail, END) {
        if at + END_BYTES <= tail.len() {
            if at + END_BYTES + usize::from(short(tail, at + 20)) == tail.len() {
                return Ok(at);
            }
            met = met.or(Some(()));
        }
    }
    Err(senseless(match met {
        Some(()) => "its end is not where the file ends: something follows it, or it was cut off",
        None => "the end is not that of a zip file; it was cut off, or not written to its end",
    }))
}

/// What the end of a large archive says.
struct LargeEnd {
    at: u64,
    members: u64,
    length: u64,
    offset: u64,
}

/// The end of a large archive, which stands before the other one at `end_at`, if it is one.
fn large_end(file: &InputFile, end_at: u64) -> io::Result<Option<LargeEnd>> {
    let Some(locator_at) = end_at.checked_sub(LOCATOR_BYTES as u64) else { return Ok(None) };
    let locator = read_range(file, locator_at..end_at)?;
    if !locator.starts_with(LOCATOR) {
        return Ok(None);
    }
    if word(&locator, 4) != 0 || word(&locator, 16) > 1 {
        return Err(in_parts());
    }
    let said = long(&locator, 8).unwrap_or(u64::MAX);
    // Where something stands before the archive, it is not where it is said to be.
    for at in [said, locator_at.saturating_sub(LARGE_BYTES as u64)] {
        let Some(end) = at.checked_add(LARGE_BYTES as u64).filter(|end| *end <= locator_at) else { continue };
        let large = read_range(file, at..end)?;
        let length = long(&large, 4).unwrap_or_default();
        if !large.starts_with(LARGE_END)
            || at.checked_add(12).and_then(|at| at.checked_add(length)) != Some(locator_at)
        {
            continue;
        }
        let number = |at: usize| long(&large, at).unwrap_or(u64::MAX);
        if word(&large, 16) != 0 || word(&large, 20) != 0 || number(24) != number(32) {
            return Err(in_parts());
        }
        return Ok(Some(LargeEnd { at, members: number(32), length: number(40), offset: number(48) }));
    }
    Ok(None)
}

/// All bytes of a range that is in a file.
pub(super) fn read_range(file: &InputFile, range: Range<u64>) -> io::Result<Vec<u8>> {
    let length = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let (mut bytes, mut read) = (vec![0; length], 0);
    while read < length {
        match read_some(file, &mut bytes[read..], range.start + read as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => read += more,
        }
    }
    Ok(bytes)
}

/// Reads at an offset, whatever interrupts it; 0 is the end.
pub(super) fn read_some(file: &InputFile, into: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(into, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
