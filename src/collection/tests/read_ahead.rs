//! Who fetches ahead fetches nothing of another section: behind the section that is read may lie the texts of documents,
//! which cross between processes only to who asks for them.

use super::*;
use crate::collection::run::page::PAGE_BYTES;

const BEFORE: SectionKind = SectionKind(3);
const ROWS: SectionKind = SectionKind(7);
const BEHIND: SectionKind = SectionKind(4);
const SHAPE: Shape = Shape { width: 2, key: 2 };

/// A heap of a dozen pages, rows of many, and another heap.
fn written() -> Memory {
    let storage = Memory::default();
    write(&storage, "a", |writer| {
        writer.heap(BEFORE)?;
        writer.push(&[1; 6000])?;
        writer.rows(ROWS, SHAPE)?;
        (0..15_000).try_for_each(|i| writer.push(&[i, mix(i)]))?;
        writer.heap(BEHIND)?;
        writer.push(&[2; 6000])
    });
    storage
}

/// The section of each page.
fn sections(bytes: &[u8]) -> Vec<u32> {
    let section = |page: &[u8]| u32::from_le_bytes(page[12..16].try_into().expect("four"));
    bytes.chunks(PAGE_BYTES).map(section).collect()
}

#[test]
fn nothing_is_fetched_ahead_from_another_section() {
    let storage = written();
    let sections = sections(&storage.bytes("a"));
    let run = open(&storage, "a").expect("opened");
    let within_sections = |what: &str| {
        let reach = storage.reach();
        assert!(!reach.is_empty(), "{what}");
        for bytes in reach {
            let pages = bytes.start as usize / PAGE_BYTES..bytes.end as usize / PAGE_BYTES;
            let sections = &sections[pages.clone()];
            assert!(
                sections.iter().all(|section| section == &sections[0]),
                "{what}: {pages:?}, {sections:?}"
            );
        }
    };
    within_sections("opening");
    let rows = run.rows(ROWS).expect("rows");
    assert_eq!(all(rows.scan(&[], None)).expect("read").len(), 15_000);
    within_sections("a scan");
    assert_eq!(all(rows.scan(&[9_000], Some(&[9_500]))).expect("read").len(), 500);
    within_sections("a scan of some");
    let (keys, mut found) = ((0..15_000).step_by(7).collect::<Vec<u64>>(), 0);
    rows.probe(1, &keys, &mut |_, _| {
        found += 1;
        Ok(())
    })
    .expect("read");
    assert_eq!(found, keys.len());
    within_sections("a probe");
    for kind in [BEFORE, BEHIND] {
        let mut words = Vec::new();
        run.heap(kind).expect("a heap").read(100, 5900, &mut words).expect("read");
        within_sections("a heap");
    }
}
