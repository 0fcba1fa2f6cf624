//! A member that gets another content: packed as it was, behind a header of its own.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::super::rewritten::NewContent;
use super::entry::RawEntry;
use super::numbers::senseless;
use super::single::UTF8;
use super::unpack::{BEHIND, HEADER, STORED};
use crate::limits::sized;
use crate::read::bytes::CountedWrite;

/// Bytes of a content that are read at once.
const READ: usize = sized(128 << 10, 64);

/// A member with another content.
pub(super) struct Anew {
    content: NewContent,
    /// Of what the directory says: flags and method, and when the file was written to.
    flags: u16,
    method: u16,
    time: [u8; 4],
    name: Vec<u8>,
    sum: u32,
    packed: u64,
    unpacked: u64,
}

impl Anew {
    /// The member of an entry.
    pub(super) fn new(content: NewContent, raw: RawEntry<'_>) -> Anew {
        let entry = raw.read(0);
        let utf8 = if entry.is_said_utf8() { UTF8 } else { 0 };
        let is_packed = entry.method != STORED;
        let flags = utf8 | if is_packed { BEHIND } else { 0 };
        let (method, time, name) = (entry.method, raw.time(), entry.name);
        Anew { content, flags, method, time, name, sum: 0, packed: 0, unpacked: 0 }
    }

    /// Writes header and content; how many bytes that is. What is only known behind a packed content stands there.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<u64> {
        let mut file = File::open(&self.content.path)?;
        let mut sum = Crc::new();
        if self.method == STORED {
            self.unpacked = pass(&mut file, &mut sum, &mut io::sink())?;
            self.packed = self.unpacked;
            file.rewind()?;
        }
        let header = self.header(sum.sum())?;
        out.write_all(&header)?;
        if self.method == STORED {
            self.sum = sum.sum();
            let copied = io::copy(&mut file, out)?;
            return match copied == self.unpacked {
                true => Ok(header.len() as u64 + copied),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        let mut packed = DeflateEncoder::new(CountedWrite::new(out), Compression::default());
        self.unpacked = pass(&mut file, &mut sum, &mut packed)?;
        let (out, packed) = packed.finish()?.into_parts();
        (self.packed, self.sum) = (packed, sum.sum());
        let behind = [b"PK\x07\x08".to_vec(), self.numbers()?].concat();
        out.write_all(&behind)?;
        Ok((header.len() + behind.len()) as u64 + self.packed)
    }

    fn header(&self, sum: u32) -> io::Result<Vec<u8>> {
        let name = u16::try_from(self.name.len()).unwrap_or(u16::MAX).to_le_bytes();
        let said = Anew { sum, content: self.content.clone(), name: Vec::new(), ..*self };
        let numbers = said.numbers()?;
        let (flags, method) = (self.flags.to_le_bytes(), self.method.to_le_bytes());
        let head: [&[u8]; 9] =
            [HEADER, &[20, 0], &flags, &method, &self.time, &numbers, &name, &[0, 0], &self.name];
        Ok(head.concat())
    }

    /// Checksum and lengths as they stand behind each other.
    fn numbers(&self) -> io::Result<Vec<u8>> {
        let short = |length: u64| {
            let short = u32::try_from(length).ok().filter(|length| *length < u32::MAX);
            short.map(u32::to_le_bytes).ok_or_else(|| senseless("a member of it would be longer than 4 GiB"))
        };
        Ok([self.sum.to_le_bytes(), short(self.packed)?, short(self.unpacked)?].concat())
    }

    /// What the directory says of it.
    pub(super) fn entry(&self, raw: RawEntry<'_>) -> io::Result<Vec<u8>> {
        self.numbers()?;
        Ok(raw.resized(self.flags, self.sum, [self.unpacked, self.packed]))
    }
}

/// Passes all of a content on; how long it is.
fn pass(content: &mut impl Read, sum: &mut Crc, into: &mut dyn Write) -> io::Result<u64> {
    let (mut bytes, mut length) = (vec![0; READ], 0);
    loop {
        let read = content.read(&mut bytes)?;
        if read == 0 {
            return Ok(length);
        }
        sum.update(&bytes[..read]);
        into.write_all(&bytes[..read])?;
        length += read as u64;
    }
}
