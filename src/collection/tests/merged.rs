//! Merging beside a map that newer runs were written into last.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::collection::run::page::PAGE_BYTES;
use crate::collection::run::rows::packed::MOST_ROWS;
use crate::collection::{Merge, merge};

const ROWS: SectionKind = SectionKind(1);

type Rows = BTreeMap<Vec<u64>, Vec<Vec<u64>>>;

fn all(mut merge: Merge) -> Vec<Vec<u64>> {
    let mut rows = Vec::new();
    while let Some(row) = merge.next_row().expect("read") {
        rows.push(row.to_vec());
    }
    assert!(merge.next_row().expect("read").is_none(), "a merge stays at its end");
    rows
}

fn run(storage: &Memory, name: &str, shape: Shape, rows: &[Vec<u64>]) -> RunReader {
    write(storage, name, |writer| {
        writer.rows(ROWS, shape)?;
        rows.iter().try_for_each(|row| writer.push(row))
    });
    open(storage, name).expect("opened")
}

proptest! {
    #[test]
    fn newer_rows_shadow_older_ones(
        width in 1..5usize, key in any::<prop::sample::Index>(), seed in any::<u32>(), most in 1..60u64,
        counts in prop::collection::vec(prop_oneof![0..3u64, 0..900u64], 0..6), from in 0..30u64, to in 10..70u64,
    ) {
        let (storage, key) = (Memory::default(), key.index(width + 1));
        let shape = Shape { width, key: key.max(1) };
        let mut expected = Rows::new();
        let mut runs = Vec::new();
        for (number, &count) in counts.iter().enumerate().rev() {
            let word = |i: u64| mix(u64::from(seed) + ((number as u64) << 40) + i) % most;
            let mut rows: Vec<Vec<u64>> =
                (0..count).map(|i| (0..width as u64).map(|at| word(i * 8 + at)).collect()).collect();
            rows.sort_unstable();
            rows.dedup();
            runs.push(run(&storage, &number.to_string(), shape, &rows));
            // From the oldest to the newest.
            let within = |row: &&Vec<u64>| row[0] >= from && row[0] < to;
            let keys: Vec<&[u64]> = rows.iter().filter(within).map(|row| &row[..key]).collect();
            keys.into_iter().for_each(|key| drop(expected.insert(key.to_vec(), Vec::new())));
            for row in rows.iter().filter(within) {
                expected.entry(row[..key].to_vec()).or_default().push(row.clone());
            }
        }
        let scans = runs.iter().rev().map(|run| run.rows(ROWS).expect("rows").scan(&[from], Some(&[to]))).collect();
        let expected: Vec<Vec<u64>> = expected.into_values().flatten().collect();
        prop_assert_eq!(all(merge(scans, key)), expected);
    }
}

#[test]
fn nothing_and_one_run_are_merged_like_many() {
    assert!(all(merge(Vec::new(), 1)).is_empty());
    let storage = Memory::default();
    let shape = Shape { width: 2, key: 1 };
    let rows: Vec<Vec<u64>> = (0..2000).map(|i| vec![i / 3, i]).collect();
    let run = run(&storage, "a", shape, &rows);
    let scan = || run.rows(ROWS).expect("rows").scan(&[], None);
    assert_eq!(all(merge(vec![scan()], 1)), rows);
    assert_eq!(all(merge(vec![scan(), scan(), scan()], 2)), rows);
}

/// The greatest word there is, which also stands for a run that has ended.
#[test]
fn the_greatest_keys_come_last_whoever_has_ended() {
    let (storage, shape) = (Memory::default(), Shape { width: 2, key: 2 });
    let most = |last: u64| vec![vec![u64::MAX, last], vec![u64::MAX, u64::MAX]];
    for (name, ended) in [("none", 0), ("one", 1), ("two", 2), ("three", 3)] {
        let open = (0..3).map(|at| {
            let rows = if at < ended { vec![vec![at, at]] } else { most(at) };
            run(&storage, &format!("{name}{at}"), shape, &rows)
        });
        let runs: Vec<RunReader> = open.collect();
        let scans = runs.iter().map(|run| run.rows(ROWS).expect("rows").scan(&[], None)).collect();
        let mut expected: Vec<Vec<u64>> = (0..ended).map(|at| vec![at, at]).collect();
        expected.extend((ended..3).map(|at| vec![u64::MAX, at]));
        expected.extend((ended < 3).then(|| vec![u64::MAX; 2]));
        assert_eq!(all(merge(scans, 2)), expected);
    }
}

#[test]
fn an_error_ends_a_merge() {
    let storage = Memory::default();
    let shape = Shape { width: 1, key: 1 };
    // A bit a row: as many rows are in a page as may be.
    let rows: Vec<Vec<u64>> = (0..5 * MOST_ROWS as u64).map(|i| vec![i]).collect();
    let (good, bad) = (run(&storage, "a", shape, &rows), run(&storage, "b", shape, &rows));
    let mut bytes = storage.bytes("b");
    bytes[PAGE_BYTES * 2 + 100] ^= 1;
    storage.put("b", &bytes);
    let scan = |run: &RunReader| run.rows(ROWS).expect("rows").scan(&[], None);
    let mut merge = merge(vec![scan(&good), scan(&bad)], 1);
    let mut count = 0;
    let error = loop {
        match merge.next_row() {
            Ok(row) => assert_eq!(row, Some(&[count][..])),
            Err(error) => break error,
        }
        count += 1;
    };
    assert!(matches!(error, Error::Damaged { offset, .. } if offset == 2 * PAGE_BYTES as u64), "{error}");
    assert_eq!(count, 2 * MOST_ROWS as u64);
    assert!(merge.next_row().expect("at its end").is_none());
}
