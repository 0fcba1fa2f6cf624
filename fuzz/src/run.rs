//! Runs: whatever a file holds, reading it ends with rows or with an error that says it is damaged.

use alike::collection::page::{PAGE_BYTES, PAGE_WORDS, PAYLOAD_WORDS, RawPage, Seal};
use alike::collection::{HeapReader, RowsReader, RunReader, RunWriter, SectionKind, Shape, merge};
use alike::error::{Error, Result};

use crate::storage::{Simulated, Storage};
use crate::take;

const COLLECTION: u64 = 1;
const RUN: u64 = 2;
/// Most pages of a file: the fuzzer does not get far with more.
const PAGES: usize = 64;

/// The first byte says how the rest becomes a file: as it is; as pages that are sealed, so that what is in them is
/// believed; or as words that replace those of a good run, which is then sealed again.
pub fn run(mut data: &[u8]) {
    let [how] = take(&mut data);
    let bytes = match how % 3 {
        0 => data.to_vec(),
        1 => sealed(data),
        _ => edited(data),
    };
    let folder = Simulated::new();
    folder.create("run").and_then(|mut file| file.append(&bytes)).expect("nothing fails in memory");
    read(&folder);
}

/// Pages of `data`, each with a good checksum and a possible number of words.
fn sealed(data: &[u8]) -> Vec<u8> {
    let pages = data.chunks(PAGE_BYTES).take(PAGES).enumerate();
    pages.flat_map(|(number, bytes)| seal(bytes, number)).collect()
}

fn seal(bytes: &[u8], number: usize) -> Vec<u8> {
    let mut raw: RawPage = [0; PAGE_WORDS];
    for (word, bytes) in raw.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    let (section, used) = ((raw[1] >> 32) as u32, (raw[1] as u32 as usize).min(PAYLOAD_WORDS));
    Seal::new(COLLECTION, RUN).close(&mut raw, number as u64, section, used);
    raw.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// A good run with a few pages of every sort, some words of which are replaced: page, word of the page, and what it
/// becomes, twelve bytes a time.
fn edited(mut data: &[u8]) -> Vec<u8> {
    let folder = Simulated::new();
    fill(&folder).expect("nothing fails in memory");
    let mut bytes = folder.contents("run").expect("a file");
    let pages = bytes.len() / PAGE_BYTES;
    while !data.is_empty() {
        let [page, small, low, high] = take(&mut data);
        let word: [u8; 8] = take(&mut data);
        // Half of all edits to the pages that say where the others are.
        let page =
            if page & 1 == 0 { usize::from(page) % pages } else { pages - 1 - usize::from(page / 2) % 4 };
        let at =
            8 * (1 + (usize::from(low) | usize::from(high) << 8) % (if small & 1 == 0 { 24 } else { 511 }));
        bytes[page * PAGE_BYTES + at..][..8].copy_from_slice(&word);
    }
    sealed(&bytes)
}

fn fill(folder: &Simulated) -> Result<()> {
    let mut writer = RunWriter::create(folder, "run", COLLECTION, RUN)?;
    writer.rows(SectionKind(1), Shape { width: 8, key: 2 })?;
    for i in 0..63 * 3 + 5u64 {
        // Words that are far apart, so that there are several pages.
        let far = |at: u64| (i << 3 | at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writer.push(&[i / 2, i, 3, far(4), far(5), far(6), far(7), 8])?;
    }
    writer.heap(SectionKind(2))?;
    writer.push(&[9; 1100])?;
    writer.rows(SectionKind(3), Shape { width: 1, key: 1 })?;
    for i in 0..600 {
        writer.push(&[i])?;
    }
    writer.finish().map(drop)
}

/// Reads all that there is, in every way.
fn read(folder: &Simulated) {
    let run = match RunReader::open(folder, "run", COLLECTION, RUN) {
        Ok(run) => run,
        Err(error) => return damaged(&error),
    };
    for kind in run.kinds() {
        if let Some(rows) = run.rows(kind) {
            read_rows(rows);
        }
        if let Some(heap) = run.heap(kind) {
            read_heap(heap);
        }
    }
}

/// The only error that there may be.
fn damaged(error: &Error) {
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

fn read_rows(rows: &RowsReader) {
    let shape = rows.shape();
    let (mut scan, mut count) = (rows.scan(&[], None), 0);
    let mut keys: Vec<u64> = (0..100).step_by(3).chain([u64::MAX]).collect();
    loop {
        match scan.next_row() {
            Ok(Some(row)) => {
                assert_eq!(row.len(), shape.width);
                keys.push(row[0]);
                count += 1;
            }
            Ok(None) => break assert_eq!(count, rows.len()),
            Err(error) => break damaged(&error),
        }
    }
    keys.sort_unstable();
    keys.dedup();
    let outcome = rows.probe(1, &keys, &mut |index, row| {
        assert_eq!((row.len(), row[0]), (shape.width, keys[index]));
        Ok(())
    });
    outcome.unwrap_or_else(|error| damaged(&error));
    let scans = vec![rows.scan(&[3], Some(&[90])), rows.scan(&[], Some(&[keys[0]])), rows.scan(&[50], None)];
    let mut merge = merge(scans, shape.key);
    loop {
        match merge.next_row() {
            Ok(Some(row)) => assert_eq!(row.len(), shape.width),
            Ok(None) => break,
            Err(error) => return damaged(&error),
        }
    }
}

fn read_heap(heap: &HeapReader) {
    let mut words = Vec::new();
    let parts = [(0, heap.len()), (heap.len() / 2, heap.len() / 3), (heap.len(), 1), (u64::MAX, 2)];
    for (start, count) in parts {
        words.clear();
        match heap.read(start, count as usize, &mut words) {
            Ok(()) => assert!(words.len() as u64 == count && start + count <= heap.len()),
            Err(error) => damaged(&error),
        }
    }
}
