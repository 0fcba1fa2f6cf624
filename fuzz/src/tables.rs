//! Tables: whatever words their rows are, with good checksums, a collection answers or says what is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use alike::collection::{RunEntry, SectionKind, Shape, Snapshot, Writer};
use alike::error::Result;

use crate::collection::{Bench, ask, folder, good, write};
use crate::storage::Storage;
use crate::take;

/// Tables by name: number of the section, words of a row and of its key.
const TABLES: [(&str, u32, usize, usize); 16] = [
    ("documents", 1, 12, 2),
    ("texts", 2, 5, 1),
    ("contents", 3, 3, 1),
    ("digests", 4, 3, 2),
    ("postings", 5, 2, 2),
    ("members", 6, 4, 3),
    ("links", 7, 3, 2),
    ("components", 8, 3, 2),
    ("clusters", 9, 6, 2),
    ("sources", 10, 7, 1),
    ("records", 11, 4, 1),
    ("dead", 12, 1, 1),
    ("seen", 13, 3, 2),
    ("signatures", 14, 3, 1),
    ("scopes", 15, 2, 1),
    ("vocabularies", 16, 3, 1),
];
/// Heaps by name.
const HEAPS: [(&str, u32); 7] = [
    ("labels", 32),
    ("sets", 33),
    ("rarity", 34),
    ("raw", 35),
    ("parities", 36),
    ("lexicon", 37),
    ("tokens", 38),
];

/// Most rows of a table: the fuzzer does not get far with more.
const ROWS: usize = 64;

thread_local! {
    /// Reused from input to input.
    static BENCH: Bench = Bench::new();
}

/// What is written: rows by table, and the words of heaps.
struct Written {
    rows: BTreeMap<usize, Vec<Vec<u64>>>,
    heaps: BTreeMap<usize, Vec<u64>>,
}

/// Commits a run with rows after a good collection: each a table, then which row of the table is taken and which of its words
/// become what; or words of a heap.
pub fn tables(mut data: &[u8]) {
    let [counters] = take(&mut data);
    let storage: Arc<dyn Storage> = Arc::new(folder(good()));
    let mut written = Written { rows: BTreeMap::new(), heaps: BTreeMap::new() };
    while !data.is_empty() {
        let [table] = take(&mut data);
        match usize::from(table) % (TABLES.len() + 2) {
            table if table < TABLES.len() => {
                let row = row(&storage, table, &mut data);
                let rows = written.rows.entry(table).or_default();
                if rows.len() < ROWS {
                    rows.push(row);
                }
            }
            _ => {
                let [heap, count] = take(&mut data);
                let words = written.heaps.entry(usize::from(heap) % HEAPS.len()).or_default();
                words.extend((0..count % 16).map(|_| word(&mut data, 0)));
            }
        }
    }
    commit(&storage, written, counters).expect("nothing fails in memory");
    let whole = ask(&storage);
    BENCH.with(|bench| write(&storage, bench, whole));
}

/// A row of the good collection with some words changed.
fn row(storage: &Arc<dyn Storage>, table: usize, data: &mut &[u8]) -> Vec<u64> {
    let (_, kind, width, ..) = TABLES[table];
    let [which, changes] = take(data);
    let snapshot = Snapshot::open(storage).expect("a good collection");
    let mut all = Vec::new();
    for run in snapshot.runs() {
        let Some(rows) = run.rows(SectionKind(kind)) else { continue };
        let mut scan = rows.scan(&[], None);
        while let Some(row) = scan.next_row().expect("read") {
            all.push(row.to_vec());
        }
    }
    let mut row =
        if all.is_empty() { vec![0; width] } else { all.swap_remove(usize::from(which) % all.len()) };
    for _ in 0..changes % 6 {
        let [at] = take(data);
        let at = usize::from(at) % width;
        row[at] = word(data, row[at]);
    }
    row
}

/// A word that may be one of a row.
fn word(data: &mut &[u8], before: u64) -> u64 {
    let [what, small] = take(data);
    match what % 7 {
        0 => u64::from(small),
        1 => before.wrapping_add(u64::from(small)).wrapping_sub(128),
        2 => u64::from_le_bytes(take(data)),
        3 => u64::MAX - u64::from(small),
        4 => before ^ 1 << (small % 64),
        5 => u64::from(small) << 32 | u64::from(small),
        _ => u64::from(u32::MAX) - u64::from(small),
    }
}

/// A commit of it. Its counters go on as `counters` says, so that numbers may be of what there is.
fn commit(storage: &Arc<dyn Storage>, written: Written, counters: u8) -> Result<()> {
    let mut writer = Writer::open(storage)?;
    let mut next = writer.next();
    let (id, mut run) = writer.begin_run(&mut next)?;
    let mut counts = BTreeMap::new();
    for (table, mut rows) in written.rows {
        let (name, kind, width, key) = TABLES[table];
        rows.sort();
        rows.dedup_by(|a, b| a[..key] == b[..key]);
        run.rows(SectionKind(kind), Shape { width, key })?;
        rows.iter().try_for_each(|row| run.push(row))?;
        counts.insert(name.to_owned(), rows.len() as u64);
    }
    for (heap, words) in written.heaps {
        let (name, kind) = HEAPS[heap];
        run.heap(SectionKind(kind))?;
        run.push(&words)?;
        counts.insert(name.to_owned(), words.len() as u64);
    }
    run.finish()?;
    next.runs.push(RunEntry::of(&**writer.storage(), id, None, counts)?);
    next.load += u64::from(counters & 1);
    next.next_content += u32::from(counters >> 1 & 3);
    next.next_label += u32::from(counters >> 3 & 3);
    next.next_file += u32::from(counters >> 5 & 1);
    writer.commit(next)
}
