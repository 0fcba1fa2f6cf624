//! Runs beside the sets and vectors that they ought to be.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::collection::HeapCursor;
use crate::collection::run::page::PAGE_BYTES;

const ROWS: SectionKind = SectionKind(7);
const OTHER: SectionKind = SectionKind(8);
const HEAP: SectionKind = SectionKind(3);

type Rows = BTreeSet<Vec<u64>>;

/// Rows of which many share their first words: `count` of them at most, words below `most`.
fn rows(width: usize, count: usize, most: u64, seed: u64) -> Rows {
    (0..count as u64).map(|i| (0..width as u64).map(|at| mix(seed + i * 8 + at) % most).collect()).collect()
}

/// Sizes that fill from no page to dozens, and words from few to many.
fn case() -> impl Strategy<Value = (Shape, Rows)> {
    let count = prop_oneof![0..3usize, 0..400usize, 3000..6000usize];
    let most = prop_oneof![Just(3u64), Just(20), Just(1000), Just(u64::MAX)];
    (1..=8usize, any::<prop::sample::Index>(), count, most, any::<u32>()).prop_map(
        |(width, key, count, most, seed)| {
            let shape = Shape { width, key: 1 + key.index(width) };
            (shape, rows(width, count, most, u64::from(seed) << 20))
        },
    )
}

fn written(shape: Shape, rows: &Rows) -> (Memory, RunReader) {
    let storage = Memory::default();
    let summary = write(&storage, "a", |writer| {
        writer.rows(ROWS, shape)?;
        rows.iter().try_for_each(|row| writer.push(row))
    });
    assert_eq!(summary.sections, [(ROWS, rows.len() as u64)]);
    let reader = open(&storage, "a").expect("opened");
    assert_eq!(reader.bytes(), storage.bytes("a").len() as u64);
    (storage, reader)
}

/// Some prefixes of rows, sorted and distinct: some as they are, some changed.
fn some_keys(rows: &Rows, prefix: usize, every: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut keys: BTreeSet<Vec<u64>> = BTreeSet::new();
    for (i, row) in
        rows.iter().enumerate().filter(|(i, _)| mix(seed + *i as u64).is_multiple_of(every as u64))
    {
        let mut key = row[..prefix].to_vec();
        key[prefix - 1] = key[prefix - 1].wrapping_add(mix(seed ^ i as u64) % 3);
        keys.insert(key);
    }
    keys.extend([vec![0; prefix], vec![u64::MAX; prefix]]);
    keys.into_iter().collect()
}

fn probed(reader: &RunReader, prefix: usize, keys: &[Vec<u64>]) -> Vec<(usize, Vec<u64>)> {
    let mut found = Vec::new();
    let each = &mut |index: usize, row: &[u64]| {
        found.push((index, row.to_vec()));
        Ok(())
    };
    reader.rows(ROWS).expect("rows").probe(prefix, &keys.concat(), each).expect("probed");
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_scan_is_a_range((shape, rows) in case(), bounds in any::<[prop::sample::Index; 4]>(), seed in any::<u32>()) {
        let (_, reader) = written(shape, &rows);
        let section = reader.rows(ROWS).expect("rows");
        prop_assert_eq!((section.len(), section.is_empty(), section.shape()), (rows.len() as u64, rows.is_empty(), shape));
        prop_assert!(reader.heap(ROWS).is_none() && reader.rows(OTHER).is_none());
        let everything = all(section.scan(&[], None)).expect("scanned");
        prop_assert!(everything.iter().eq(&rows));
        let bound = |at: usize| {
            let words = bounds[at].index(shape.width + 1);
            let near = rows.iter().nth(bounds[at + 1].index(rows.len().max(1))).cloned();
            let mut bound = near.unwrap_or(vec![1; shape.width])[..words].to_vec();
            if let Some(word) = bound.last_mut() {
                *word = word.wrapping_add(mix(u64::from(seed) + at as u64) % 3);
            }
            bound
        };
        let (from, to) = (bound(0), bound(2));
        let not_before = |row: &Vec<u64>| row[..from.len()] >= from[..];
        let before = |row: &Vec<u64>| row[..to.len()] < to[..];
        let found = all(section.scan(&from, None)).expect("scanned");
        prop_assert!(found.iter().eq(rows.iter().filter(|row| not_before(row))));
        let found = all(section.scan(&from, Some(&to))).expect("scanned");
        prop_assert!(found.iter().eq(rows.iter().filter(|row| not_before(row) && before(row))));
        let found = all(section.scan(&[], Some(&to))).expect("scanned");
        prop_assert!(found.iter().eq(rows.iter().filter(|row| before(row))));
    }

    #[test]
    fn a_probe_is_a_look_for_each_key(
        (shape, rows) in case(), prefix in any::<prop::sample::Index>(), every in 1..200usize, seed in any::<u32>(),
    ) {
        let (storage, reader) = written(shape, &rows);
        let prefix = 1 + prefix.index(shape.key);
        let keys = some_keys(&rows, prefix, every, u64::from(seed));
        let mut expected = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let range = rows.range(key.clone()..).take_while(|row| row.starts_with(key));
            expected.extend(range.map(|row| (index, row.clone())));
        }
        storage.reads();
        prop_assert_eq!(probed(&reader, prefix, &keys), expected);
        // With fences and all that is in between: never more than there is.
        let (_, pages) = storage.reads();
        let most = storage.bytes("a").len() / PAGE_BYTES;
        prop_assert!(pages <= most || cfg!(alike_tiny), "{} pages of {}", pages, most);
    }

    #[test]
    fn a_heap_is_a_vector(
        parts in prop::collection::vec(prop_oneof![0..5usize, 500..520usize, 0..3000usize], 1..30), seed in any::<u32>(),
        ranges in any::<[(prop::sample::Index, prop::sample::Index); 20]>(),
    ) {
        let storage = Memory::default();
        let mut expected: Vec<u64> = Vec::new();
        let summary = write(&storage, "a", |writer| {
            writer.heap(HEAP)?;
            for (i, &part) in parts.iter().enumerate() {
                assert_eq!(writer.position(), expected.len() as u64);
                let value: Vec<u64> = (0..part as u64).map(|at| mix(u64::from(seed) + ((i as u64) << 20) + at)).collect();
                writer.push(&value)?;
                expected.extend(value);
            }
            Ok(())
        });
        prop_assert_eq!(summary.sections, [(HEAP, expected.len() as u64)]);
        let reader = open(&storage, "a").expect("opened");
        let heap = reader.heap(HEAP).expect("a heap");
        prop_assert_eq!((heap.len(), reader.rows(HEAP).is_none()), (expected.len() as u64, true));
        let (mut words, mut cursor) = (vec![5], HeapCursor::default());
        for (start, end) in ranges {
            let (start, end) = (start.index(expected.len() + 1), end.index(expected.len() + 1));
            let (start, end) = (start.min(end), start.max(end));
            words.truncate(1);
            heap.read(start as u64, end - start, &mut words).expect("read");
            prop_assert_eq!((words[0], &words[1..]), (5, &expected[start..end]));
            words.truncate(1);
            cursor.read(heap, start as u64, end - start, &mut words).expect("read");
            prop_assert_eq!((words[0], &words[1..]), (5, &expected[start..end]));
        }
        for (start, count) in [(expected.len() as u64, 1), (0, expected.len() + 1), (u64::MAX, 1), (u64::MAX, 0)] {
            prop_assert!(heap.read(start, count, &mut words).is_err_and(|error| is_damage(&error)));
            prop_assert!(cursor.read(heap, start, count, &mut words).is_err_and(|error| is_damage(&error)));
        }
    }
}

#[test]
#[cfg_attr(alike_tiny, ignore = "counts what is in pages of 4,096 bytes")]
fn long_scans_and_heaps_go_block_by_block() {
    let storage = Memory::default();
    let words: Vec<u64> = (0..100_000).map(mix).collect();
    write(&storage, "a", |writer| {
        writer.rows(ROWS, Shape { width: 1, key: 1 })?;
        (0..100_000).try_for_each(|i| writer.push(&[i * 3]))?;
        writer.heap(HEAP)?;
        writer.push(&words)?;
        writer.rows(OTHER, Shape { width: 400, key: 2 })?;
        (0..600u64).try_for_each(|i| writer.push(&[mix(i) >> 10 | i << 54; 400]))
    });
    let reader = open(&storage, "a").expect("opened");
    assert_eq!(reader.kinds().collect::<Vec<_>>(), [ROWS, HEAP, OTHER]);
    storage.reads();
    let found = all(reader.rows(ROWS).expect("rows").scan(&[], None)).expect("scanned");
    assert!(found.concat().into_iter().eq((0..100_000).map(|i| i * 3)));
    // 1,024 rows are a page, although two bits a row leave room for more; no fences.
    assert_eq!(storage.reads(), (2, 98));
    let found = all(reader.rows(OTHER).expect("rows").scan(&[], None)).expect("scanned");
    assert!(found.len() == 600 && (0..).zip(&found).all(|(i, row)| *row == [mix(i) >> 10 | i << 54; 400]));
    storage.reads();
    let mut found = Vec::new();
    reader.heap(HEAP).expect("a heap").read(13, 90_000, &mut found).expect("read");
    assert_eq!(found, words[13..90_013]);
    assert_eq!(storage.reads(), (3, 177));
}

#[test]
#[cfg_attr(alike_tiny, ignore = "counts what is in pages of 4,096 bytes")]
fn probes_read_each_page_once() {
    let storage = Memory::default();
    let shape = Shape { width: 2, key: 1 };
    // A page of 1,024 rows has one bit of each row's first word to tell, and ten of the second.
    write(&storage, "a", |writer| {
        writer.rows(ROWS, shape)?;
        (0..1024 * 120).try_for_each(|i| writer.push(&[i * 10, i]))
    });
    let reader = open(&storage, "a").expect("opened");
    let section = reader.rows(ROWS).expect("rows");
    let probe = |keys: &[u64]| {
        let mut found = 0;
        section
            .probe(1, keys, &mut |index, row| {
                assert_eq!(row[0], keys[index]);
                found += 1;
                Ok(())
            })
            .expect("probed");
        (found, storage.reads())
    };
    assert_eq!(probe(&[]), (0, (2, 2)), "trailer and directory, on opening");
    assert_eq!(probe(&[70]), (1, (2, 2)), "fences, and a page");
    // Two pages that are next to each other, one further away.
    assert_eq!(probe(&[70, 10_250, 400_000]), (3, (2, 3)));
    for miss in [0, 1] {
        let keys: Vec<u64> = (0..120).map(|page| (page * 1024 + 7) * 10 + miss).collect();
        assert_eq!(probe(&keys), (if miss == 0 { 120 } else { 0 }, (2, 120)), "every page is wanted");
    }
}

#[test]
fn one_key_may_have_more_rows_than_are_planned_at_once() {
    let storage = Memory::default();
    let (rows, key) = (2000 * 255u64, 5);
    write(&storage, "a", |writer| {
        writer.rows(ROWS, Shape { width: 2, key: 2 })?;
        writer.push(&[1, 1])?;
        (0..rows).try_for_each(|i| writer.push(&[key, i]))?;
        writer.push(&[9, 9])
    });
    let reader = open(&storage, "a").expect("opened");
    let mut next = 0;
    let (mut before, mut after) = (0, 0);
    let each = &mut |index: usize, row: &[u64]| {
        match index {
            0 => before += 1,
            1 => {
                assert_eq!(*row, [key, next]);
                next += 1;
            }
            _ => after += 1,
        }
        Ok(())
    };
    reader.rows(ROWS).expect("rows").probe(1, &[1, key, 9], each).expect("probed");
    assert_eq!((before, next, after), (1, rows, 1));
}

#[test]
fn what_each_gives_ends_a_probe() {
    let rows: Rows = (0..1000).map(|i| vec![i]).collect();
    let (_, reader) = written(Shape { width: 1, key: 1 }, &rows);
    let mut calls = 0;
    let outcome = reader.rows(ROWS).expect("rows").probe(1, &[1, 2, 3], &mut |_, _| {
        calls += 1;
        if calls == 2 { Err(Error::Interrupted) } else { Ok(()) }
    });
    assert!(matches!(outcome, Err(Error::Interrupted)) && calls == 2);
}

#[test]
fn several_read_a_run_at_once() {
    let rows = rows(2, 5000, u64::MAX, 1);
    let (_, reader) = written(Shape { width: 2, key: 1 }, &rows);
    let keys = some_keys(&rows, 1, 3, 4);
    let expected = probed(&reader, 1, &keys);
    assert!(expected.len() > 100);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(probed(&reader, 1, &keys), expected));
        }
    });
}

/// Whether doing this with a writer panics.
fn panics(what: impl FnOnce(&mut RunWriter) -> Result<()> + std::panic::UnwindSafe) -> bool {
    std::panic::catch_unwind(|| write(&Memory::default(), "a", what)).is_err()
}

#[test]
fn a_writer_takes_nothing_out_of_order() {
    let shape = Shape { width: 2, key: 1 };
    assert!(!panics(|w| w.rows(ROWS, shape).and_then(|()| w.push(&[1, 2])).and_then(|()| w.push(&[1, 3]))));
    assert!(panics(|w| w.rows(ROWS, shape).and_then(|()| w.push(&[1, 2])).and_then(|()| w.push(&[1, 2]))));
    assert!(panics(|w| w.rows(ROWS, shape).and_then(|()| w.push(&[1, 2])).and_then(|()| w.push(&[0, 3]))));
    assert!(panics(|w| w.rows(ROWS, shape).and_then(|()| w.push(&[1, 2, 3]))));
    assert!(panics(|w| w.rows(ROWS, Shape { key: 3, ..shape })));
    assert!(panics(|w| w.rows(ROWS, Shape { key: 0, ..shape })));
    assert!(panics(|w| w.rows(ROWS, Shape { width: 426, ..shape })));
    assert!(panics(|w| w.rows(ROWS, shape).and_then(|()| w.heap(ROWS))));
    assert!(panics(|w| w.push(&[1])));
    assert!(panics(|w| w.rows(ROWS, shape).map(|()| assert_eq!(w.position(), 0))));
}

#[test]
fn a_file_is_written_once() {
    let storage = Memory::default();
    write(&storage, "a", |_| Ok(()));
    assert!(matches!(RunWriter::create(&storage, "a", COLLECTION, RUN), Err(Error::Io { .. })));
    assert_eq!(open(&storage, "a").expect("opened").kinds().count(), 0);
    assert!(matches!(open(&storage, "b"), Err(Error::Io { .. })));
}
