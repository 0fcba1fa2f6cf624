//! [`super::write_kept`] against an obvious filter in memory.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "unpacks a few kilobytes that the test itself packed"
)]

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::plan::CopySizes;
use super::{KeptTally, Packer, write_kept, write_kept_sized};
use crate::error::Error;
use crate::output::{Chosen, Hands, Side};
use crate::progress::Progress;
use crate::read::{Compression, Format, RecordRoom, Source};

const COMPRESSIONS: [Compression; 6] = [
    Compression::None,
    Compression::Gzip,
    Compression::Zstd,
    Compression::Bzip2,
    Compression::Xz,
    Compression::Lz4,
];

fn compress(bytes: &[u8], compression: Compression) -> Vec<u8> {
    match compression {
        Compression::None => bytes.to_vec(),
        Compression::Gzip => {
            let mut out = Vec::new();
            let mut encoder = flate2::read::GzEncoder::new(bytes, flate2::Compression::fast());
            encoder.read_to_end(&mut out).expect("compressed");
            out
        }
        Compression::Zstd => zstd::encode_all(bytes, 1).expect("compressed"),
        other => {
            let mut packer = Packer::new(Format::JsonLines, other, Vec::new()).expect("an encoder");
            packer.write_all(bytes).expect("compressed");
            packer.finish().expect("compressed")
        }
    }
}

fn decompress(bytes: &[u8], compression: Compression) -> Vec<u8> {
    let mut out = Vec::new();
    match compression {
        Compression::None => out.extend_from_slice(bytes),
        Compression::Gzip => {
            flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).expect("gzip");
        }
        Compression::Zstd => out = zstd::decode_all(bytes).expect("zstd"),
        Compression::Bzip2 => {
            bzip2::read::MultiBzDecoder::new(bytes).read_to_end(&mut out).expect("bzip2");
        }
        Compression::Xz => {
            lzma_rust2::XzReader::new(bytes, true).read_to_end(&mut out).expect("xz");
        }
        Compression::Lz4 => {
            let number = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a number"));
            // Behind the magic number and the descriptor.
            let mut at = 7;
            while number(at) != 0 {
                let (length, stored) = ((number(at) & 0x7fff_ffff) as usize, number(at) >> 31 == 1);
                let block = &bytes[at + 4..][..length];
                let unpacked = || lz4_flex::block::decompress(block, 256 << 10).expect("a block");
                out.extend(if stored { block.to_vec() } else { unpacked() });
                at += 4 + length;
            }
            assert_eq!((number(at + 4), at + 8), (xxhash_rust::xxh32::xxh32(&out, 0), bytes.len()));
        }
    }
    out
}

fn source(folder: &Path, name: &str, bytes: &[u8], format: Format, compression: Compression) -> Source {
    packed_source(folder, name, &compress(bytes, compression), format, compression)
}

fn packed_source(
    folder: &Path,
    name: &str,
    packed: &[u8],
    format: Format,
    compression: Compression,
) -> Source {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(&path, packed).expect("written");
    let data = path.metadata().expect("there");
    let modified = data.modified().ok();
    Source { name: name.to_string(), modified, ..Source::new(path, format, compression, data.len()) }
}

/// Offsets of the chosen lines, the bytes of the others, and theirs.
fn split(text: &[u8], chosen: impl Fn(usize) -> bool) -> (Vec<u64>, Vec<u8>, Vec<u8>) {
    let (mut removed, mut kept, mut gone, mut offset) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (i, line) in text.split_inclusive(|&b| b == b'\n').enumerate() {
        if chosen(i) {
            removed.push(offset);
            gone.extend_from_slice(line);
        } else {
            kept.extend_from_slice(line);
        }
        offset += line.len() as u64;
    }
    (removed, kept, gone)
}

/// Writes both halves of one file of lines in every compression and compares; small pieces and blocks.
fn check(text: &[u8], chosen: impl Fn(usize) -> bool, workers: usize, sizes: CopySizes) {
    let (removed, kept, gone) = split(text, chosen);
    let folder = tempfile::tempdir().expect("a folder");
    let sources: Vec<Source> = COMPRESSIONS
        .iter()
        .enumerate()
        .map(|(i, &c)| source(folder.path(), &format!("in/{i}.jsonl"), text, Format::JsonLines, c))
        .collect();
    let staging = folder.path().join("out");
    let all = vec![removed.clone(); COMPRESSIONS.len()];
    let ends = [None; COMPRESSIONS.len()];
    for (side, expected) in [(Side::Kept, kept), (Side::Removed, gone)] {
        let progress = Progress::default();
        let chosen = Chosen { side, removed: &all, ends: &ends };
        let tally =
            write_kept_sized(&staging, &sources, chosen, alone(workers), &progress, sizes).expect("written");
        let (mut files, mut bytes_out) = (0, 0);
        for source in &sources {
            let path = staging.join(side.folder()).join(&source.name);
            if side == Side::Removed && removed.is_empty() {
                assert!(!path.exists(), "{}", source.name);
                continue;
            }
            let bytes = fs::read(path).expect("the file");
            (files, bytes_out) = (files + 1, bytes_out + bytes.len() as u64);
            let written = decompress(&bytes, source.compression);
            assert_eq!(written, expected, "{side:?} {} with {workers} workers, {sizes:?}", source.name);
        }
        let bytes_in: u64 = sources.iter().map(|s| s.bytes).sum();
        assert_eq!(tally, KeptTally { files, bytes_in, bytes_out, emptied: 0 });
        assert_eq!(progress.now().1, bytes_in, "progress adds up");
    }
}

fn sizes() -> impl Strategy<Value = CopySizes> {
    (1..40u64, 1..30usize, 1..20usize).prop_map(|(piece, block, probe)| CopySizes { piece, block, probe })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn kept_bytes_are_those_of_the_other_lines(
        lines in prop::collection::vec(("[a-z]{0,12}|[a-z]{60}", any::<bool>()), 0..30),
        newline in any::<bool>(),
        workers in 1..5usize,
        sizes in sizes(),
    ) {
        let mut text = lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n");
        if newline && !text.is_empty() {
            text.push('\n');
        }
        check(text.as_bytes(), |i| lines.get(i).is_some_and(|l| l.1), workers, sizes);
    }
}

#[test]
fn first_last_all_none() {
    let small = CopySizes { piece: 5, block: 4, probe: 2 };
    for text in ["one\ntwo\nthree", "one\ntwo\nthree\n", "\u{feff}one\n\ntwo\n", "\n", ""] {
        for workers in 1..4 {
            for sizes in [small, CopySizes::USUAL] {
                check(text.as_bytes(), |i| i == 0, workers, sizes);
                check(text.as_bytes(), |i| i == 2, workers, sizes);
                check(text.as_bytes(), |_| true, workers, sizes);
                check(text.as_bytes(), |_| false, workers, sizes);
            }
        }
    }
}

/// A member of an archive: its header with its sum, and a content that fills blocks.
fn member(name: &str, blocks: usize) -> Vec<u8> {
    let mut member = vec![0; 512 + 512 * blocks];
    member[..name.len()].copy_from_slice(name.as_bytes());
    member[124..135].copy_from_slice(format!("{:011o}", 512 * blocks).as_bytes());
    member[148..156].fill(b' ');
    let sum: u32 = member[..512].iter().map(|byte| u32::from(*byte)).sum();
    member[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    member[512..].fill(b'x');
    member
}

/// Where an archive goes on behind blocks that are no member only shows with the whole of the next header.
#[test]
fn archives_are_written_in_pieces_and_blocks_of_any_size() {
    let lost = vec![7; 5 * 512];
    let parts =
        [member("a", 1), lost, member("b", 3), vec![0; 1024], member("c", 0), member("d", 9), vec![0; 700]];
    let starts: Vec<u64> = (0..parts.len()).map(|at| parts[..at].concat().len() as u64).collect();
    let folder = tempfile::tempdir().expect("a folder");
    for (at, compression) in COMPRESSIONS.into_iter().enumerate() {
        let source = source(folder.path(), &format!("{at}.tar"), &parts.concat(), Format::Tar, compression);
        for (gone, sizes) in [
            (vec![1], CopySizes { piece: 5, block: 4, probe: 2 }),
            (vec![0, 1, 5], CopySizes { piece: 300, block: 64, probe: 16 }),
            (vec![1, 2, 4], CopySizes { piece: 512, block: 1, probe: 1 }),
            (vec![1, 5], CopySizes::USUAL),
        ] {
            for workers in [1, 2] {
                let staging = tempfile::tempdir().expect("a folder");
                let removed = [gone.iter().map(|at| starts[*at]).collect::<Vec<u64>>()];
                for side in [Side::Kept, Side::Removed] {
                    let chosen = Chosen { side, removed: &removed, ends: &[None] };
                    let sources = std::slice::from_ref(&source);
                    let progress = Progress::default();
                    write_kept_sized(staging.path(), sources, chosen, alone(workers), &progress, sizes)
                        .expect("written");
                    let written =
                        fs::read(staging.path().join(side.folder()).join(&source.name)).expect("there");
                    let stays = |at: &usize| gone.contains(at) == (side == Side::Removed);
                    let expected: Vec<u8> =
                        (0..parts.len()).filter(stays).flat_map(|at| parts[at].clone()).collect();
                    assert!(
                        decompress(&written, compression) == expected,
                        "{compression:?} {side:?} {sizes:?}"
                    );
                }
            }
        }
    }
}

/// The end of a file may be the beginning of a record that never comes: then it belongs to the last one.
#[test]
fn an_end_that_may_begin_a_record_is_the_last_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = "From a\n\nfirst\n\n";
    for end in ["F", "Fro", "From", "Frog", ""] {
        let last = format!("From b\n\nlast\n\n{end}");
        for (at, compression) in COMPRESSIONS.into_iter().enumerate() {
            let name = format!("{end}{at}.mbox");
            let text = format!("{first}{last}");
            let source = source(folder.path(), &name, text.as_bytes(), Format::Mbox, compression);
            for sizes in [CopySizes { piece: 8, block: 16, probe: 1 }, CopySizes::USUAL] {
                for workers in [1, 2] {
                    let staging = tempfile::tempdir().expect("a folder");
                    let removed = [vec![first.len() as u64]];
                    for (side, expected) in [(Side::Kept, first), (Side::Removed, &*last)] {
                        let chosen = Chosen { side, removed: &removed, ends: &[None] };
                        let sources = std::slice::from_ref(&source);
                        let progress = Progress::default();
                        write_kept_sized(staging.path(), sources, chosen, alone(workers), &progress, sizes)
                            .expect("written");
                        let written =
                            fs::read(staging.path().join(side.folder()).join(&name)).expect("there");
                        let written = decompress(&written, compression);
                        assert_eq!(
                            String::from_utf8_lossy(&written),
                            expected,
                            "{compression:?} {side:?} {sizes:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn untouched_files_are_copied_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    for compression in COMPRESSIONS {
        let name = format!("{compression:?}/a.jsonl");
        let source = source(folder.path(), &name, &b"{}\n".repeat(1000), Format::JsonLines, compression);
        let progress = Progress::default();
        let staging = folder.path().join("out");
        let sources = std::slice::from_ref(&source);
        write_kept(&staging, sources, keeping(&[vec![]], &[None]), alone(2), &progress).expect("written");
        let kept = fs::read(staging.join("kept").join(name)).expect("kept");
        assert_eq!(kept, fs::read(&source.path).expect("the source"));
    }
}

/// Files of one member, of several, and of a member for each record.
#[test]
fn packed_files_that_lose_all_are_packed_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    for compression in COMPRESSIONS {
        for (format, members) in [(Format::JsonLines, 1), (Format::JsonLines, 3), (Format::Warc, 2)] {
            let name = format!("{compression:?}/{format:?}/{members}");
            let record = match format {
                Format::Warc => &b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"[..],
                _ => b"{}\n",
            };
            let packed = compress(record, compression).repeat(members);
            let source = packed_source(folder.path(), &name, &packed, format, compression);
            let removed = (0..members).map(|at| (at * record.len()) as u64).collect();
            let staging = folder.path().join("out").join(&name);
            let (sources, progress) = (std::slice::from_ref(&source), Progress::default());
            write_kept(&staging, sources, keeping(&[removed], &[None]), alone(2), &progress)
                .expect("written");
            let kept = fs::read(staging.join("kept").join(&name)).expect("kept");
            assert_eq!(kept.is_empty(), compression == Compression::None, "{name}");
            assert_eq!(decompress(&kept, compression), b"", "{name}");
        }
    }
}

#[test]
fn a_plain_text_file_is_one_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = [
        source(folder.path(), "a/1.txt", b"one\ntwo", Format::Text, Compression::None),
        source(folder.path(), "a/2.txt.gz", b"one\ntwo", Format::Text, Compression::Gzip),
        source(folder.path(), "3.txt", b"", Format::Text, Compression::None),
    ];
    let staging = folder.path().join("out");
    let removed = [vec![0], vec![], vec![]];
    let tally = write_kept(&staging, &sources, keeping(&removed, &[None; 3]), alone(2), &Progress::default())
        .expect("written");
    assert_eq!(tally.files, 2);
    assert!(!staging.join("kept/a/1.txt").exists());
    let kept = fs::read(staging.join("kept/a/2.txt.gz")).expect("kept");
    assert_eq!(decompress(&kept, Compression::Gzip), b"one\ntwo");
    assert_eq!(fs::read(staging.join("kept/3.txt")).expect("kept"), b"");
}

#[test]
fn a_truncated_stream_is_kept_up_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    // Text that hardly compresses, and is of several blocks, so that half of the bytes decompress to something.
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    let text: String = (0..300_000).map(|_| format!("{}\n", next())).collect();
    for compression in COMPRESSIONS {
        let name = format!("{compression:?}.jsonl");
        let mut source = source(folder.path(), &name, text.as_bytes(), Format::JsonLines, compression);
        let half = fs::read(&source.path).expect("there");
        fs::write(&source.path, &half[..half.len() / 2]).expect("cut");
        let data = source.path.metadata().expect("there");
        (source.bytes, source.modified) = (data.len(), data.modified().ok());
        let second = text.find('\n').expect("a line") + 1;
        let end = second + text[second..50_000].rfind('\n').expect("a line") + 1;
        let (removed, ends) = ([vec![0]], [Some(end as u64)]);
        let staging = folder.path().join("out");
        let sources = [source];
        write_kept(&staging, &sources, keeping(&removed, &ends), alone(2), &Progress::default())
            .expect("written");
        let kept = fs::read(staging.join("kept").join(&name)).expect("kept");
        assert!(decompress(&kept, compression) == text.as_bytes()[second..end], "{compression:?}");
        if !matches!(compression, Compression::None) {
            let staging = folder.path().join("other");
            let failed =
                write_kept(&staging, &sources, keeping(&removed, &[None]), alone(1), &Progress::default());
            assert!(matches!(failed, Err(Error::Io { .. })), "{compression:?}: {failed:?}");
        }
    }
}

#[test]
fn a_changed_source_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for format in [Format::JsonLines, Format::Text] {
        let name = format!("{format:?}");
        let source = source(folder.path(), &name, b"one\ntwo\nthree\n", format, Compression::None);
        fs::write(&source.path, b"one\ntwo\nthree\nfour\n").expect("written");
        for workers in [1, 2] {
            let sizes = CopySizes { piece: 4, block: 4, probe: 4 };
            let staging = folder.path().join(format!("out-{name}-{workers}"));
            let sources = std::slice::from_ref(&source);
            let progress = Progress::default();
            let failed = write_kept_sized(
                &staging,
                sources,
                keeping(&[vec![4]], &[None]),
                alone(workers),
                &progress,
                sizes,
            );
            assert!(matches!(failed, Err(Error::Changed(path)) if path == source.path));
        }
    }
}

#[test]
fn stops_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    for compression in COMPRESSIONS {
        let name = format!("{compression:?}");
        let source = source(folder.path(), &name, b"one\ntwo\n", Format::JsonLines, compression);
        let progress = Progress::default();
        progress.stop();
        let failed = write_kept(
            &folder.path().join("out"),
            &[source],
            keeping(&[vec![0]], &[None]),
            alone(1),
            &progress,
        );
        assert!(matches!(failed, Err(Error::Interrupted)));
    }
}

#[test]
fn names_stay_under_the_output() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["../x", "/x", "", "a/../../x"] {
        let mut source = source(folder.path(), "in", b"one\n", Format::JsonLines, Compression::None);
        source.name = name.to_string();
        let staging = folder.path().join("out");
        let failed =
            write_kept(&staging, &[source], keeping(&[vec![]], &[None]), alone(1), &Progress::default());
        assert!(matches!(failed, Err(Error::Input { .. })), "{name:?}");
    }
}

fn keeping<'a>(removed: &'a [Vec<u64>], ends: &'a [Option<u64>]) -> Chosen<'a> {
    Chosen { side: Side::Kept, removed, ends }
}

fn alone(workers: usize) -> (Hands<'static>, &'static RecordRoom) {
    static ROOM: LazyLock<RecordRoom> = LazyLock::new(RecordRoom::default);
    (Hands { workers, peers: None }, &ROOM)
}
