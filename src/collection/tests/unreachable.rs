//! A local run of a process, out of reach: whatever is read of it says where it is, and what it has not is
//! known without it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::collection::run::schema::{DEAD, DOCUMENTS, HEAPS, POSTINGS, TABLES, Table};
use crate::collection::tables::Tables;
use crate::collection::{HeapCursor, Keeper, RunEntry};

const PROCESS: u32 = 3;

/// A run that has so many rows or words of everything.
fn absent(count: u64) -> RunReader {
    let names = TABLES.iter().map(|table| table.name).chain(HEAPS.iter().map(|(_, name)| *name));
    let rows: BTreeMap<String, u64> = names.map(|name| (name.to_owned(), count)).collect();
    let entry =
        RunEntry { id: RUN, bytes: 40 << 20, digest: 7, rows, keeper: Keeper::of(PROCESS as usize, 5) };
    entry.open(&Memory::default(), COLLECTION).expect("an unreachable run opens")
}

#[track_caller]
fn is_unreachable<T>(read: Result<T>, what: &str) {
    match read.map(drop) {
        Err(Error::Unreachable { path, process: PROCESS, asked: false }) => {
            assert!(path.ends_with("run-00000082-of-3-0000000000000005"), "{path:?}");
        }
        read => panic!("{what}: {read:?}"),
    }
}

#[test]
fn all_that_an_unreachable_run_has_is_unreachable() {
    for count in [1, 2, 600, 5000, 3_000_000] {
        let run = absent(count);
        assert_eq!((run.out_of_reach(), run.bytes()), (Some((PROCESS, false)), 40 << 20));
        is_unreachable(run.verify(), "verified");
        for Table { kind, shape, name, .. } in TABLES {
            let rows = run.rows(kind).expect("rows");
            assert_eq!((rows.len(), rows.shape()), (count, shape));
            is_unreachable(rows.scan(&[], None).next_row(), name);
            is_unreachable(rows.scan(&[5], Some(&[9])).next_row(), name);
            for words in 1..=shape.key {
                let keys: Vec<u64> = (0..300 * words as u64).collect();
                is_unreachable(rows.probe(words, &keys, &mut |_, _| Ok(())), name);
                is_unreachable(rows.probe(words, &keys[..words], &mut |_, _| Ok(())), name);
            }
            is_unreachable(rows.verify(), name);
        }
        for (kind, name) in HEAPS {
            let heap = run.heap(kind).expect("a heap");
            assert_eq!(heap.len(), count);
            is_unreachable(heap.read(0, 1, &mut Vec::new()), name);
            is_unreachable(heap.read(0, count as usize, &mut Vec::new()), name);
            is_unreachable(HeapCursor::default().read(heap, count - 1, 1, &mut Vec::new()), name);
        }
    }
}

/// Rows of a table that only runs within reach have are read as ever, and those of any other are not.
#[test]
fn tables_that_an_unreachable_run_has_not_are_read_without_it() {
    let storage = Memory::default();
    write(&storage, "here", |writer| {
        for table in [POSTINGS, DEAD] {
            writer.rows(table.kind, table.shape)?;
            (0..50).try_for_each(|at| writer.push(&[at, at + 1][..table.shape.width]))?;
        }
        Ok(())
    });
    let here = Arc::new(open(&storage, "here").expect("opened"));
    let rows = BTreeMap::from([("postings".to_owned(), 9), ("documents".to_owned(), 0)]);
    let entry =
        RunEntry { id: RUN, bytes: 1 << 20, digest: 7, rows, keeper: Keeper::of(PROCESS as usize, 5) };
    let away = Arc::new(entry.open(&Memory::default(), COLLECTION).expect("opened"));
    assert!(away.rows(DOCUMENTS.kind).is_none() && away.heap(HEAPS[0].0).is_none());
    for runs in [vec![Arc::clone(&here), Arc::clone(&away)], vec![away, here]] {
        let tables = Tables { runs };
        let mut found = Vec::new();
        tables
            .newest(DEAD, &[3, 7, 90], &mut |at, _, row| {
                found.push((at, row.to_vec()));
                Ok(())
            })
            .expect("read");
        assert_eq!(found, [(0, vec![3]), (1, vec![7])]);
        let mut scan = tables.scan(DEAD);
        let mut count = 0;
        while scan.next_row().expect("read").is_some() {
            count += 1;
        }
        assert_eq!(count, 50);
        assert!(tables.scan(DOCUMENTS).next_row().expect("read").is_none());
        is_unreachable(tables.scan(POSTINGS).next_row(), "scanned");
        is_unreachable(tables.newest(POSTINGS, &[100, 101], &mut |_, _, _| Ok(())), "newest");
        is_unreachable(tables.beginning(POSTINGS, 1, &[3], &mut |_, _| Ok(())), "beginning");
    }
}

/// One that is in the folder of the collection, and is not there, is no such run.
#[test]
fn a_run_that_nobody_keeps_is_missing() {
    let entry = RunEntry { id: RUN, bytes: 1 << 20, digest: 7, rows: BTreeMap::new(), keeper: None };
    let error = entry.open(&Memory::default(), COLLECTION).expect_err("it is not there");
    assert!(matches!(error, Error::Io { .. }), "{error}");
}
