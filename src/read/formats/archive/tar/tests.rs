//! Members in blocks of every size, and what is said of them.

use proptest::prelude::*;

use super::block::BLOCK_BYTES;
use super::scan::{MemberScan, TarFound};

/// A header with a right checksum.
fn header(name: &[u8], kind: u8, size: usize) -> Vec<u8> {
    let mut block = vec![0; BLOCK_BYTES];
    block[..name.len()].copy_from_slice(name);
    block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    block[148..156].fill(b' ');
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}

/// A member, filled up to the end of a block.
fn member(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut member = [header(name.as_bytes(), kind, content.len()), content.to_vec()].concat();
    member.resize(member.len().next_multiple_of(BLOCK_BYTES), 0);
    member
}

/// Where the records of an archive end that is looked at `step` bytes at a time, and what they are.
fn records(archive: &[u8], step: usize) -> Vec<(usize, TarFound, String)> {
    let (mut scan, mut all, mut start, mut read) = (MemberScan::new(true), Vec::new(), 0, 0);
    let mut note = |scan: &MemberScan, at| {
        let path = String::from_utf8_lossy(&scan.path).into_owned();
        all.extend(scan.found.map(|found| (at, found, path)));
    };
    while read < archive.len() {
        read = archive.len().min(read + step);
        while let Some(end) = scan.end(&archive[start..read]) {
            start += end;
            note(&scan, start);
        }
        start = read - scan.undecided;
    }
    note(&scan, archive.len());
    all
}

#[test]
fn records_are_what_they_are_said_to_be() {
    let parts = [
        (member("a", b'0', b"text"), TarFound::File, "a"),
        (member("b/", b'5', b""), TarFound::Nothing, "b/"),
        ([member("x", b'x', b"10 path=c\n"), member("d", b'0', b"e")].concat(), TarFound::File, "c"),
        (
            [member("L", b'L', b"long\0"), member("K", b'K', b"to\0"), member("d", b'1', b"")].concat(),
            TarFound::Link,
            "long",
        ),
        (member("g", b'g', b"12 comment=\n"), TarFound::Nothing, ""),
        (
            member("g", b'g', b"9 size=1\n"),
            TarFound::Refused(
                "a header for all members that says what one member is called, or how long it is",
            ),
            "",
        ),
        (
            [member("x", b'x', b"path"), member("d", b'0', b"e")].concat(),
            TarFound::Refused("an extended header that is none"),
            "d",
        ),
        (member("f", 0, b""), TarFound::Nothing, "f"),
        (member("x", b'x', b"10 path=c\n"), TarFound::Refused("an extended header without a member"), ""),
        (vec![0; 1500 / BLOCK_BYTES * BLOCK_BYTES], TarFound::Nothing, ""),
        (member("behind the end", b'0', b"e"), TarFound::File, "behind the end"),
        (
            [&member("x", b'x', b"10 path=c\n")[..], &[1; BLOCK_BYTES], &[0; BLOCK_BYTES]].concat(),
            TarFound::Lost,
            "",
        ),
        ([vec![7; BLOCK_BYTES], vec![0; 2 * BLOCK_BYTES]].concat(), TarFound::Lost, ""),
    ];
    // What is lost goes on to the next header.
    let parts = [&parts[..12], &[(member("g", b'0', b"h"), TarFound::File, "g")], &parts[12..]].concat();
    let archive: Vec<u8> = parts.iter().flat_map(|(bytes, ..)| bytes.clone()).collect();
    let mut end = 0;
    let expected: Vec<(usize, TarFound, String)> = parts
        .iter()
        .map(|(bytes, found, path)| {
            end += bytes.len();
            (end, *found, (*path).to_owned())
        })
        .collect();
    for step in [usize::MAX >> 1, 1, 3, 511, 512, 513, 1000] {
        assert_eq!(records(&archive, step), expected, "in steps of {step}");
    }
}

#[test]
fn holes_are_passed_over() {
    let mut sparse = header(b"s", b'S', 600);
    let holes = |goes_on| {
        let mut block = vec![b'0'; BLOCK_BYTES];
        block[504] = goes_on;
        block
    };
    sparse[482] = 1;
    sparse[148..156].fill(b' ');
    let sum: u32 = sparse.iter().map(|byte| u32::from(*byte)).sum();
    sparse[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let archive = [sparse, holes(1), holes(0), vec![b'x'; 1024], member("a", b'0', b"text")].concat();
    for step in [1, 700, 10_000] {
        let found = records(&archive, step);
        let kinds: Vec<_> = found.iter().map(|(end, found, _)| (*end, *found == TarFound::Sparse)).collect();
        assert_eq!(kinds, [(5 * 512, true), (7 * 512, false)]);
    }
}

proptest! {
    #[test]
    fn records_end_at_the_same_places_in_steps_of_any_size(
        parts in prop::collection::vec((0_u8..6, prop::collection::vec(any::<u8>(), 0..1200), any::<u16>()), 0..8),
        step in 1_usize..1500,
    ) {
        let mut archive = Vec::new();
        for (kind, content, at) in parts {
            match kind {
                0 => archive.extend(member("a", b'0', &content)),
                1 => archive.extend(member("x", b'x', &content)),
                2 => archive.extend(content),
                3 => archive.resize(archive.len() + usize::from(at % 2000), 0),
                4 => archive.extend(header(b"lie", b'0', usize::from(at))),
                _ => archive.extend(member("g", b'g', &content)),
            }
        }
        prop_assert_eq!(records(&archive, step), records(&archive, usize::MAX >> 1));
    }
}
