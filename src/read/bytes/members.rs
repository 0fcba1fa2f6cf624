//! Where the members of a gzip file are. Archives of crawls have one a record, so that records can be copied as they stand.
#![expect(clippy::disallowed_types, reason = "what comes out of the decoder is counted and thrown away")]

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use flate2::bufread::GzDecoder;

use super::open::InputFile;
use crate::limits::{MAX_FILE_BYTES, sized};
use crate::read::source::Source;

/// A member of a gzip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GzipMember {
    /// Its bytes in the file.
    pub packed: Range<u64>,
    /// Its bytes in the decompressed file.
    pub bytes: Range<u64>,
}

impl GzipMember {
    /// Appends the decompressed bytes of the member, which is `packed`, to `out`.
    ///
    /// # Errors
    /// What the decoder says; an error also if they are not as many as they were.
    pub fn unpack(&self, packed: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let bytes = self.bytes.end - self.bytes.start;
        let read = GzDecoder::new(packed).take(bytes + 1).read_to_end(out)?;
        if read as u64 == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Bytes read at once.
const INPUT: usize = sized(128 << 10, 100);
/// Most members that are kept in mind, each with 32 bytes.
const MOST_MEMBERS: usize = 1 << 20;
/// Bytes decoded at once.
const OUTPUT: usize = sized(64 << 10, 100);

/// The members of a gzip file, in order; `None` as soon as one has more than `most` decompressed bytes, or there are
/// too many: then they are no pieces to work with.
///
/// # Errors
/// What the system says of the file, or the decoder of its content.
pub fn gzip_members(source: &Source, most: u64) -> io::Result<Option<Vec<GzipMember>>> {
    let mut input = BufReader::with_capacity(
        INPUT,
        TellingFile { file: source.open()?.expect(0..source.bytes), read: 0 },
    );
    let (mut members, mut out) = (Vec::new(), vec![0; OUTPUT]);
    let (mut packed, mut start) = (0, 0);
    while input.fill_buf()?.first() == Some(&0x1f) {
        let mut end = start;
        let mut decoder = GzDecoder::new(&mut input);
        loop {
            match decoder.read(&mut out)? {
                0 => break,
                count => end += count as u64,
            }
            if end - start > most || end > MAX_FILE_BYTES {
                return Ok(None);
            }
        }
        drop(decoder);
        let behind = input.get_ref().read - input.buffer().len() as u64;
        if members.len() == MOST_MEMBERS || behind - packed > 2 * most + OUTPUT as u64 {
            return Ok(None);
        }
        members.push(GzipMember { packed: packed..behind, bytes: start..end });
        (packed, start) = (behind, end);
    }
    Ok(Some(members))
}

struct TellingFile {
    file: InputFile,
    read: u64,
}

impl Read for TellingFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.read += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::read::discover;

    #[test]
    fn members_are_where_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut file, mut expected, mut start) = (Vec::new(), Vec::new(), 0);
        for length in [10_u64, 0, 300_000, 1, 70_000] {
            let from = file.len() as u64;
            let mut encoder = flate2::write::GzEncoder::new(&mut file, flate2::Compression::fast());
            encoder.write_all(&vec![b'x'; length as usize]).expect("compressed");
            encoder.finish().expect("compressed");
            expected.push(GzipMember { packed: from..file.len() as u64, bytes: start..start + length });
            start += length;
        }
        file.extend([0; 100]);
        let path = folder.path().join("a.txt.gz");
        std::fs::write(&path, &file).expect("written");
        let input = path.to_str().expect("UTF-8").to_owned();
        let source = discover(&[input], folder.path()).expect("found").sources.remove(0);
        assert_eq!(gzip_members(&source, 300_000).expect("whole"), Some(expected));
        assert_eq!(gzip_members(&source, 299_999).expect("whole"), None);
        std::fs::write(&path, &file[..file.len() - 120]).expect("written");
        gzip_members(&source, 300_000).expect_err("cut off");
    }
}
