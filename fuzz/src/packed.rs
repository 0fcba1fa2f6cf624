//! Compressed files: what is unpacked, or where it ends, does not depend on how it is read.

use std::fs;
use std::io::{self, Read, Write};

use alike::progress::Progress;
use alike::read::{Compression, FormatHint, Source, file_digest, open_decompressed, packed_members};
use lzma_rust2::{XzOptions, XzWriter};
use tempfile::TempDir;
use xxhash_rust::xxh32::xxh32;

use crate::reader::gzip;
use crate::reading::{check, fields, put};
use crate::{good, take};

thread_local! {
    /// Reused from input to input.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Bytes unpacked at most of a file: a few bytes may stand for many.
const MOST: u64 = 4 << 20;

/// A compressed form of `content`, and how names of such files end.
pub(crate) fn pack(how: u8, content: &[u8]) -> (&'static str, Vec<u8>) {
    match how % 5 {
        0 => ("gz", gzip(content)),
        1 => ("zst", zstd::encode_all(content, 1).expect("compressed")),
        2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(content).expect("compressed");
            ("bz2", encoder.finish().expect("compressed"))
        }
        3 => ("lz4", lz4(content)),
        _ => {
            let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).expect("an encoder");
            encoder.write_all(content).expect("compressed");
            ("xz", encoder.finish().expect("compressed"))
        }
    }
}

/// One LZ4 frame, with a checksum of each block and of all of them.
fn lz4(content: &[u8]) -> Vec<u8> {
    let descriptor = [0x74, 0x40];
    let mut frame = [b"\x04\x22\x4d\x18", &descriptor[..], &[(xxh32(&descriptor, 0) >> 8) as u8]].concat();
    for part in content.chunks(1000) {
        let block = lz4_flex::block::compress(part);
        frame.extend(u32::try_from(block.len()).expect("short").to_le_bytes());
        frame.extend(&block);
        frame.extend(xxh32(&block, 0).to_le_bytes());
    }
    frame.extend([0; 4]);
    frame.extend(xxh32(content, 0).to_le_bytes());
    frame
}

/// How compressed files begin.
const MAGIC: [&[u8]; 7] = [
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"BZh11AY&SY",
    b"\xfd7zXZ\0",
    b"\x50\x2a\x4d\x18",
    b"\x04\x22\x4d\x18\x64\x40\xa7",
    b"BZh9\x17rE8P\x90",
];

/// The first bytes say how lines are compressed, into how many members, and what is changed; the rest are the changes, or a file
/// behind the first bytes of one.
pub fn packed(mut data: &[u8]) {
    let [wanted, how, parts, lines] = take(&mut data);
    let line = b"{\"id\": 1, \"text\": \"a b c d\", \"meta\": {\"text\": \"e\"}}\n";
    let content = line.repeat(usize::from(lines));
    let (end, bytes) = match how >> 2 & 3 {
        0 => (["gz", "zst", "bz2", "lz4", "xz"][usize::from(how % 5)], data.to_vec()),
        1 => ("x", [MAGIC[usize::from(how >> 4) % MAGIC.len()], data].concat()),
        _ => {
            let size = content.len() / (usize::from(parts % 8) + 1) + 1;
            let (end, empty) = pack(how, b"");
            let packed = content.chunks(size).map(|part| pack(how, part).1);
            let bytes: Vec<u8> =
                packed.chain([empty].into_iter().filter(|_| parts & 8 != 0)).flatten().collect();
            (end, if parts & 16 == 0 { good::changed(bytes, data) } else { bytes })
        }
    };
    FOLDER.with(|folder| {
        let name = format!("a.jsonl.{end}");
        let Some(source) = put(folder.path(), &name, &bytes, FormatHint::default()) else { return };
        if source.compression == Compression::None {
            return;
        }
        let (unpacked, whole) = read(&source, 64 << 10);
        for step in [1 << 10, 333] {
            assert_eq!(read(&source, step), (unpacked.clone(), whole), "in steps of {step}");
        }
        if matches!(source.compression, Compression::Gzip | Compression::Bzip2) {
            members(&source, &bytes, &unpacked);
        }
        file_digest(&source, &Progress::default()).expect("readable");
        let seen = check(&source, 1, &fields(wanted & !32, 0));
        if parts & 16 != 0 && how & 8 != 0 && seen.is_some() {
            assert!(unpacked == content && whole, "it was good");
        }
        fs::remove_file(&source.path).expect("removed");
    });
}

/// What can be unpacked, read so many bytes at a time, and whether that is all.
fn read(source: &Source, step: usize) -> (Vec<u8>, bool) {
    let mut input = open_decompressed(source).expect("opened").take(MOST);
    let (mut all, mut buffer) = (Vec::new(), vec![0; step]);
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return (all, true),
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return (all, false);
            }
        }
    }
}

/// Members follow each other, and together are what is unpacked.
fn members(source: &Source, bytes: &[u8], unpacked: &[u8]) {
    let Ok(Some(members)) = packed_members(source, 1 << 20) else { return };
    let (mut all, mut packed) = (Vec::new(), 0);
    for member in members {
        assert!(member.packed.start == packed && member.bytes.start == all.len() as u64, "{member:?}");
        packed = member.packed.end;
        let piece = &bytes[member.packed.start as usize..packed as usize];
        member.unpack(piece, &mut all).expect("a member");
        assert_eq!(all.len() as u64, member.bytes.end);
        if all.len() as u64 > MOST {
            return;
        }
    }
    assert!(unpacked == all, "{} bytes of {}", unpacked.len(), all.len());
}
