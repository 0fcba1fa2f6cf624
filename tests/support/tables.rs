//! Tables of a collection, read raw, changed and sealed again.

use std::collections::BTreeMap;
use std::sync::Arc;

use alike::collection::{Manifest, RunEntry, SectionKind, Shape, Snapshot, Writer};
use alike::storage::Storage;

use crate::support::history::Bench;
use crate::support::upkeep::findings;

/// The tables, as fsck names them, and their kinds.
const TABLES: [(&str, u32); 12] = [
    ("documents", 1),
    ("texts", 2),
    ("contents", 3),
    ("digests", 4),
    ("postings", 5),
    ("members", 6),
    ("links", 7),
    ("components", 8),
    ("clusters", 9),
    ("sources", 10),
    ("dead", 12),
    ("signatures", 14),
];

/// Heaps that rows of a table point into.
pub(crate) const HEAPS: [(&str, u32, &str); 3] =
    [("documents", 32, "labels"), ("texts", 33, "sets"), ("signatures", 36, "parities")];

pub(crate) fn kind(table: &str) -> SectionKind {
    SectionKind(TABLES.iter().find(|(name, _)| *name == table).expect("a table").1)
}

/// The rows of a table and its heap, if it has one, in the oldest run that has the table.
pub(crate) fn oldest(bench: &Bench, table: &str) -> (Shape, Vec<Vec<u64>>, Vec<u64>) {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    let mut runs = snapshot.runs().iter();
    let run = runs.find(|run| run.rows(kind(table)).is_some_and(|rows| !rows.is_empty())).expect("a run");
    let rows = run.rows(kind(table)).expect("rows");
    let (mut scan, mut all, mut words) = (rows.scan(&[], None), Vec::new(), Vec::new());
    while let Some(row) = scan.next_row().expect("read") {
        all.push(row.to_vec());
    }
    // Sets that are derived from tokens have none.
    let heap = HEAPS.iter().find(|heap| heap.0 == table).and_then(|heap| run.heap(SectionKind(heap.1)));
    if let Some(heap) = heap {
        heap.read(0, heap.len() as usize, &mut words).expect("read");
    }
    (rows.shape(), all, words)
}

/// The rows that all runs have of a table, those too that later ones replace.
pub(crate) fn of_all_runs(bench: &Bench, table: &str) -> Vec<Vec<u64>> {
    rows_in(&bench.storage, table)
}

/// The same of a collection in a folder.
pub(crate) fn rows_in(folder: &Arc<dyn Storage>, table: &str) -> Vec<Vec<u64>> {
    let snapshot = Snapshot::open(folder).expect("opened");
    let mut all = Vec::new();
    for rows in snapshot.runs().iter().filter_map(|run| run.rows(kind(table))) {
        let mut scan = rows.scan(&[], None);
        while let Some(row) = scan.next_row().expect("read") {
            all.push(row.to_vec());
        }
    }
    all
}

/// Commits a run of one table with its heap, as `change` leaves the manifest.
pub(crate) fn commit(
    bench: &Bench,
    table: &str,
    shape: Shape,
    rows: &[Vec<u64>],
    heap: &[u64],
    change: impl FnOnce(&mut Manifest),
) {
    let mut writer = Writer::open(&bench.storage).expect("opened");
    let mut next = writer.next();
    let (id, mut run) = writer.begin_run(&mut next).expect("begun");
    let mut counts = BTreeMap::from([(table.to_owned(), rows.len() as u64)]);
    if let Some((_, kind, name)) = HEAPS.iter().find(|heap| heap.0 == table) {
        run.heap(SectionKind(*kind)).and_then(|()| run.push(heap)).expect("written");
        counts.insert((*name).to_owned(), heap.len() as u64);
    }
    run.rows(kind(table), shape).expect("begun");
    rows.iter().try_for_each(|row| run.push(row)).expect("written");
    run.finish().expect("written");
    next.runs.push(RunEntry::of(&**writer.storage(), id, None, counts).expect("an entry"));
    change(&mut next);
    writer.commit(next).expect("committed");
}

/// Whether fsck says this of this place; all it says, for a message.
pub(crate) fn says(bench: &Bench, place: &str, what: &str) -> Result<(), String> {
    let found = findings(&bench.storage).expect("read");
    match found.iter().any(|finding| finding.what.contains(what) && finding.place.contains(place)) {
        true => Ok(()),
        false => Err(format!("{place}: {what}: {found:?}")),
    }
}
