//! Where the members of a gzip file are, or the streams of a bzip2 file. Archives of crawls have one a record, dumps of
//! Wikipedia one for a hundred pages, so that most can be copied as they stand.

use std::io::{self, BufReader, Read, Seek};

use super::members::{BZIP2, Damage, GzipMembers, PackedMember, first_byte, member_decoder};
use super::open::{CountedFile, InputFile};
use crate::limits::{MAX_FILE_BYTES, sized};
use crate::read::format::Compression;
use crate::read::source::Source;

/// Bytes read at once.
const INPUT: usize = sized(128 << 10, 100);
/// Most members that are kept in mind, each with 32 bytes.
const MOST_MEMBERS: usize = 1 << 20;
/// Bytes decoded at once.
const OUTPUT: usize = sized(64 << 10, 100);

/// The members of a file that is packed with gzip or bzip2, in order; `None` as soon as one has more than `most` decompressed bytes, or there are
/// too many: then they are no pieces to work with. Damage that was told when the file was read is passed over.
///
/// # Errors
/// What the system says of the file, or the decoder of its content.
pub fn packed_members(source: &Source, most: u64) -> io::Result<Option<Vec<PackedMember>>> {
    let file = source.open()?.expect(0..source.bytes);
    match source.compression {
        Compression::Bzip2 => streams_of_bzip2(file, most),
        _ => members_of_gzip(CountedFile::new(file), Damage::of(source, true), most),
    }
}

/// Whether a member that unpacks to no more than `most` bytes has more than any may have that is worked with as a piece.
fn is_wide(packed: u64, most: u64) -> bool {
    packed > 2 * most + OUTPUT as u64
}

fn members_of_gzip(
    file: CountedFile<InputFile>,
    damage: Damage,
    most: u64,
) -> io::Result<Option<Vec<PackedMember>>> {
    let mut members = GzipMembers::listed(file, damage);
    let mut out = vec![0; OUTPUT];
    loop {
        let count = members.read(&mut out)?;
        let (ended, open) = members.list();
        let is_long = |member: &PackedMember| member.bytes.end - member.bytes.start > most;
        let end = ended.last().map_or(0, |last| last.bytes.end) + open;
        if open > most
            || ended.last().is_some_and(is_long)
            || ended.len() > MOST_MEMBERS
            || end > MAX_FILE_BYTES
        {
            return Ok(None);
        }
        if count == 0 {
            let fits = |member: &PackedMember| !is_wide(member.packed.end - member.packed.start, most);
            return Ok(ended.iter().all(fits).then(|| ended.to_vec()));
        }
    }
}

fn streams_of_bzip2(file: InputFile, most: u64) -> io::Result<Option<Vec<PackedMember>>> {
    let mut input = BufReader::with_capacity(INPUT, CountedFile::new(file));
    let (mut members, mut out) = (Vec::new(), vec![0; OUTPUT]);
    let (mut packed, mut start) = (0, 0);
    while first_byte(&mut input)? == Some(BZIP2) {
        let mut end = start;
        let mut decoder = member_decoder(&mut input);
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
        let behind = input.stream_position()?;
        if members.len() == MOST_MEMBERS || is_wide(behind - packed, most) {
            return Ok(None);
        }
        members.push(PackedMember { packed: packed..behind, bytes: start..end });
        (packed, start) = (behind, end);
    }
    Ok(Some(members))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::read::discover;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    #[test]
    fn members_are_where_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, pack) in [("a.txt.gz", gzip as fn(&[u8]) -> Vec<u8>), ("a.txt.bz2", bzip2)] {
            let (mut file, mut expected, mut start) = (Vec::new(), Vec::new(), 0);
            for length in [10_u64, 0, 300_000, 1, 70_000] {
                let from = file.len() as u64;
                file.extend(pack(&vec![b'x'; length as usize]));
                expected.push(PackedMember { packed: from..file.len() as u64, bytes: start..start + length });
                start += length;
            }
            let whole = file.len();
            if name.ends_with(".gz") {
                file.extend([0; 100]);
            }
            let path = folder.path().join(name);
            std::fs::write(&path, &file).expect("written");
            let input = path.to_str().expect("UTF-8").to_owned();
            let source = discover(&[input], folder.path()).expect("found").sources.remove(0);
            assert_eq!(packed_members(&source, 300_000).expect("whole"), Some(expected.clone()), "{name}");
            assert_eq!(packed_members(&source, 299_999).expect("whole"), None, "{name}");
            for member in expected {
                let mut unpacked = Vec::new();
                let packed = &file[member.packed.start as usize..member.packed.end as usize];
                member.unpack(packed, &mut unpacked).expect("as it was packed");
                assert_eq!(unpacked.len() as u64, member.bytes.end - member.bytes.start);
            }
            std::fs::write(&path, &file[..whole - 20]).expect("written");
            packed_members(&source, 300_000).expect_err("cut off");
        }
    }
}
