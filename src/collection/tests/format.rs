//! What `docs/src/reference/format.md` says, compared with a run.

use super::*;
use crate::progress::{Progress, Stage};

/// The run that the document shows.
fn shown() -> Vec<u8> {
    let storage = Memory::default();
    let mut writer =
        RunWriter::create(&storage, "a", 0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff).expect("created");
    writer.rows(SectionKind(5), Shape { width: 2, key: 1 }).expect("begun");
    [[1, 16], [2, 32], [3, 48]].iter().try_for_each(|row| writer.push(row)).expect("pushed");
    writer.heap(SectionKind(6)).expect("begun");
    writer.push(&[0x1122_3344_5566_7788, 7]).expect("pushed");
    writer.finish().expect("finished");
    storage.bytes("a")
}

/// The file that the lines `    OFFSET  BYTES  what` of the document describe.
fn described(document: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for line in document.lines().filter_map(|line| line.strip_prefix("    0")) {
        let mut columns = line.split("  ");
        let offset = usize::from_str_radix(columns.next().expect("an offset"), 16).expect("hexadecimal");
        let dump = columns.next().expect("bytes").split(' ');
        let dump = dump.map(|byte| u8::from_str_radix(byte, 16).expect("a byte"));
        assert!(columns.next().is_some_and(|what| !what.is_empty()), "{line} does not say what it is");
        dump.zip(&mut bytes[offset..]).for_each(|(byte, place)| *place = byte);
    }
    bytes
}

#[test]
#[cfg_attr(alike_tiny, ignore = "counts what is in pages of 4,096 bytes")]
fn the_document_shows_every_byte_of_a_run() {
    let found = shown();
    let expected = described(include_str!("../../../docs/src/reference/format.md"), found.len());
    let other = (0..found.len()).step_by(8).find(|&at| found[at..at + 8] != expected[at..at + 8]);
    if let Some(at) = other {
        panic!("at {at:06x} are {:02x?}, not {:02x?}", &found[at..at + 8], &expected[at..at + 8]);
    }
    assert_eq!(found.len(), 5 * 4096);
}

#[test]
fn every_byte_that_is_written_is_told() {
    let (storage, progress) = (Memory::default(), Progress::default());
    progress.enter(Stage::Write, 0);
    write(&storage, "a", |writer| {
        writer.tell(&progress);
        writer.rows(SectionKind(5), Shape { width: 2, key: 1 })?;
        (0..300_000).try_for_each(|number| writer.push(&[number, mix(number)]))?;
        let (_, so_far, _) = progress.now();
        assert!(so_far > 0, "told while it is written");
        Ok(())
    });
    assert_eq!(progress.now(), (Stage::Write, storage.bytes("a").len() as u64, 0));
}

/// The places and values that the text of the document names, spelt out.
#[test]
#[cfg_attr(alike_tiny, ignore = "counts what is in pages of 4,096 bytes")]
fn the_form_is_what_the_document_says() {
    let bytes = shown();
    let word = |page: usize, at: usize| {
        let start = page * 4096 + at * 8;
        u64::from_le_bytes(bytes[start..start + 8].try_into().expect("eight"))
    };
    let marks = [0, 1, 0x8000_0000, 0xc000_0000, 0xc000_0001];
    let used = [5, 2, 1, 16, 8];
    for (page, (mark, used)) in marks.into_iter().zip(used).enumerate() {
        assert_eq!(word(page, 1), mark << 32 | used, "page {page}");
        let place: Vec<u8> = [0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff, page as u64]
            .iter()
            .flat_map(|word: &u64| word.to_le_bytes())
            .collect();
        let seed = xxhash_rust::xxh3::xxh3_64(&place);
        let content = &bytes[page * 4096 + 8..(page + 1) * 4096];
        assert_eq!(word(page, 0), xxhash_rust::xxh3::xxh3_64_with_seed(content, seed), "page {page}");
    }
    assert_eq!(bytes[4 * 4096 + 16..][..8], *b"alikerun");
    assert_eq!([3, 6, 7, 8].map(|at| word(4, at)), [2, 3, 2, 5]);
    let checksums: Vec<u8> = (0..4).flat_map(|page| word(page, 0).to_le_bytes()).collect();
    assert_eq!(word(4, 9), xxhash_rust::xxh3::xxh3_64(&checksums));
    // The packed rows, as the document describes them: of gaps of 1, and of 16 and what is above it.
    let gaps = 0b11;
    let above = [0, 16, 32].into_iter().zip([2, 8, 14]).map(|(above, at): (u64, u32)| above << at);
    let body = above.fold(gaps, |body, above| body | above);
    assert_eq!([2, 3, 4, 5, 6].map(|at| word(0, at)), [1 << 32 | 3, 1, 16, 6 << 6, body]);
}
