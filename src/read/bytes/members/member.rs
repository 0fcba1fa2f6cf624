//! A member of a gzip file, or a stream of a bzip2 file.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

/// A member of a gzip file, or a stream of a bzip2 file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedMember {
    /// Its bytes in the file.
    pub packed: Range<u64>,
    /// Its bytes in the decompressed file.
    pub bytes: Range<u64>,
}

impl PackedMember {
    /// Appends the decompressed bytes of the member, which is `packed`, to `out`.
    ///
    /// # Errors
    /// What the decoder says; an error also if they are not as many as they were.
    pub fn unpack(&self, packed: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let bytes = self.bytes.end - self.bytes.start;
        let read = member_decoder(packed).take(bytes + 1).read_to_end(out)?;
        if read as u64 == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Decodes the member with which bytes begin, and nothing behind it.
pub(in crate::read::bytes) fn member_decoder<'a>(mut input: impl BufRead + 'a) -> Box<dyn Read + 'a> {
    match first_byte(&mut input) {
        Ok(Some(BZIP2)) => Box::new(BzDecoder::new(input)),
        // What is wrong with the file is for the decoder to find.
        _ => Box::new(GzDecoder::new(input)),
    }
}

/// How the streams of bzip2 begin.
pub(in crate::read::bytes) const BZIP2: u8 = b'B';

pub(in crate::read::bytes) fn first_byte(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    input.fill_buf().map(|ready| ready.first().copied())
}
