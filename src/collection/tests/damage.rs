//! Damage of every sort: the answer is right, or an error that says where.

use super::*;
use crate::collection::run::page::{PAGE_BYTES, PAGE_WORDS, PAYLOAD_WORDS, Seal};

const FEW: SectionKind = SectionKind(1);
const MANY: SectionKind = SectionKind(2);
const HEAP: SectionKind = SectionKind(3);

/// Words of a row of which a page holds one, and those of its key.
const WIDE: (usize, usize) = (PAYLOAD_WORDS / 3 * 2, PAYLOAD_WORDS / 17 * 10);

/// Narrow rows, of several pages.
const ROWS: usize = PAYLOAD_WORDS / 8 * 3 + 5;

/// Word `at` of wide row `i`: too different from those of other rows to be packed beside them.
fn wide(seed: u64, i: u64, at: usize) -> u64 {
    if at == 0 { seed + i } else { mix(seed + (i << 32) + at as u64) }
}

fn wide_row(seed: u64, i: u64) -> Vec<u64> {
    (0..WIDE.0).map(|at| wide(seed, i, at)).collect()
}

/// Narrow row `i`.
fn narrow_row(seed: u64, i: u64) -> [u64; 8] {
    std::array::from_fn(|at| if at == 0 { seed + i } else { mix(i << 32 | at as u64) })
}

/// A run with a few pages of each kind: rows, a heap, fences, directory and trailer.
fn small(seed: u64, collection: u64, run: u64) -> Vec<u8> {
    let storage = Memory::default();
    let mut writer = RunWriter::create(&storage, "a", collection, run).expect("created");
    writer.rows(FEW, Shape { width: WIDE.0, key: WIDE.1 }).expect("begun");
    (0..3).try_for_each(|i| writer.push(&wide_row(seed, i))).expect("pushed");
    writer.rows(MANY, Shape { width: 8, key: 1 }).expect("begun");
    (0..ROWS as u64).try_for_each(|i| writer.push(&narrow_row(seed, i))).expect("pushed");
    writer.heap(HEAP).expect("begun");
    (0..2).try_for_each(|i| writer.push(&[seed + i; PAYLOAD_WORDS + 10])).expect("pushed");
    writer.finish().expect("finished");
    storage.bytes("a")
}

/// What all normal reads give, one after another: each can fail for itself.
#[derive(Debug, PartialEq)]
struct Answers {
    scans: [Vec<u64>; 2],
    probes: [Vec<u64>; 3],
    heap: [Vec<u64>; 3],
}

fn scan(run: &RunReader, kind: SectionKind) -> Result<Vec<u64>> {
    let (mut scan, mut words) = (run.rows(kind).expect("rows").scan(&[], None), Vec::new());
    while let Some(row) = scan.next_row()? {
        words.extend_from_slice(row);
    }
    Ok(words)
}

fn probe(run: &RunReader, kind: SectionKind, prefix: usize, keys: &[u64]) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    run.rows(kind).expect("rows").probe(prefix, keys, &mut |index, row| {
        words.push(index as u64);
        words.extend_from_slice(row);
        Ok(())
    })?;
    Ok(words)
}

fn heap(run: &RunReader, start: u64, count: usize) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    run.heap(HEAP).expect("a heap").read(start, count, &mut words).map(|()| words)
}

fn keys(seed: u64) -> Vec<u64> {
    (0..400).step_by(2).map(|i| seed + i).collect()
}

/// All answers of an undamaged run.
fn answers(run: &RunReader, seed: u64) -> Result<Answers> {
    let everyone: Vec<u64> = (0..4).flat_map(|i| wide_row(seed, i)[..WIDE.1].to_vec()).collect();
    Ok(Answers {
        scans: [scan(run, FEW)?, scan(run, MANY)?],
        probes: [
            probe(run, FEW, WIDE.1, &everyone)?,
            probe(run, MANY, 1, &keys(seed))?,
            probe(run, MANY, 1, &[seed + 20])?,
        ],
        heap: [
            heap(run, 0, 2 * PAYLOAD_WORDS + 20)?,
            heap(run, 7, 5)?,
            heap(run, PAYLOAD_WORDS as u64 - 10, 100.min(PAYLOAD_WORDS))?,
        ],
    })
}

/// Makes every normal read of a damaged run and compares what succeeds. How many reads failed.
fn compare(bytes: &[u8], whole: &Answers, seed: u64, what: &str) -> usize {
    let run = match open(&Memory::with("a", bytes), "a") {
        Ok(run) => run,
        Err(error) => {
            assert!(is_damage(&error), "{what}: {error}");
            return 8;
        }
    };
    let everyone: Vec<u64> = (0..4).flat_map(|i| wide_row(seed, i)[..WIDE.1].to_vec()).collect();
    let reads = [
        (scan(&run, FEW), &whole.scans[0]),
        (scan(&run, MANY), &whole.scans[1]),
        (probe(&run, FEW, WIDE.1, &everyone), &whole.probes[0]),
        (probe(&run, MANY, 1, &keys(seed)), &whole.probes[1]),
        (probe(&run, MANY, 1, &[seed + 20]), &whole.probes[2]),
        (heap(&run, 0, 2 * PAYLOAD_WORDS + 20), &whole.heap[0]),
        (heap(&run, 7, 5), &whole.heap[1]),
        (heap(&run, PAYLOAD_WORDS as u64 - 10, 100.min(PAYLOAD_WORDS)), &whole.heap[2]),
    ];
    let mut failed = 0;
    for (read, expected) in reads {
        match read {
            Ok(found) => assert!(found == *expected, "{what}: a wrong answer"),
            Err(error) => {
                assert!(is_damage(&error), "{what}: {error}");
                failed += 1;
            }
        }
    }
    failed
}

/// A run, and its answers.
fn whole() -> (Vec<u8>, Answers) {
    let bytes = small(1000, COLLECTION, RUN);
    let run = open(&Memory::with("a", &bytes), "a").expect("opened");
    let answers = answers(&run, 1000).expect("whole");
    assert_eq!(answers.scans.each_ref().map(Vec::len), [3 * WIDE.0, ROWS * 8]);
    assert_eq!(answers.probes.each_ref().map(Vec::len), [3 * (WIDE.0 + 1), ROWS.div_ceil(2) * 9, 9]);
    assert_eq!(compare(&bytes, &answers, 1000, "no damage"), 0);
    (bytes, answers)
}

#[test]
fn every_byte_changed_is_an_error_or_harmless() {
    let (bytes, answers) = whole();
    let mut noticed = vec![0; bytes.len() / PAGE_BYTES];
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let failed = compare(&damaged, &answers, 1000, &format!("byte {at}"));
        noticed[at / PAGE_BYTES] += usize::from(failed > 0);
    }
    assert_eq!(noticed.len(), 15, "rows, a heap, fences, directory and trailer");
    // Every page is read by something, so no damage goes unnoticed.
    assert!(noticed.iter().all(|&count| count == PAGE_BYTES), "{noticed:?}");
}

#[test]
fn every_truncation_is_an_error() {
    let (bytes, answers) = whole();
    for length in 0..bytes.len() {
        assert_eq!(compare(&bytes[..length], &answers, 1000, &format!("{length} bytes")), 8);
    }
    for more in [1, PAGE_BYTES] {
        let longer = [&bytes[..], &vec![0; more]].concat();
        assert_eq!(compare(&longer, &answers, 1000, "longer"), 8);
    }
}

#[test]
fn a_file_cut_off_while_it_is_open_is_damaged() {
    let (bytes, _) = whole();
    let storage = Memory::with("a", &bytes);
    let run = open(&storage, "a").expect("opened");
    storage.put("a", &bytes[..PAGE_BYTES]);
    assert!(answers(&run, 1000).is_err_and(|error| is_damage(&error)));
}

#[test]
fn pages_in_each_others_places_are_errors() {
    let (bytes, answers) = whole();
    let pages = bytes.len() / PAGE_BYTES;
    for a in 0..pages {
        for b in 0..a {
            let mut damaged = bytes.clone();
            let (low, high) = damaged.split_at_mut(a * PAGE_BYTES);
            low[b * PAGE_BYTES..][..PAGE_BYTES].swap_with_slice(&mut high[..PAGE_BYTES]);
            assert!(compare(&damaged, &answers, 1000, &format!("{a} and {b}")) > 0);
            let mut damaged = bytes.clone();
            damaged.copy_within(a * PAGE_BYTES..(a + 1) * PAGE_BYTES, b * PAGE_BYTES);
            assert!(compare(&damaged, &answers, 1000, &format!("{a} instead of {b}")) > 0);
        }
    }
}

#[test]
fn files_and_pages_of_others_are_errors() {
    let (bytes, answers) = whole();
    for (collection, run) in [(COLLECTION, RUN + 1), (COLLECTION + 1, RUN), (RUN, COLLECTION)] {
        let other = small(2000, collection, run);
        assert_eq!(other.len(), bytes.len());
        let error = open(&Memory::with("a", &other), "a").expect_err("a run of others");
        assert!(is_damage(&error) && error.to_string().contains("of collection"), "{error}");
        for page in (0..bytes.len()).step_by(PAGE_BYTES) {
            let mut damaged = bytes.clone();
            damaged[page..page + PAGE_BYTES].copy_from_slice(&other[page..page + PAGE_BYTES]);
            assert!(compare(&damaged, &answers, 1000, &format!("a page at {page}")) > 0);
        }
    }
    // A run of the same ids with other rows, one page of it: the seal fits, what all pages say together does not.
    let other = small(2000, COLLECTION, RUN);
    for page in 0..bytes.len() / PAGE_BYTES {
        let mut damaged = bytes.clone();
        damaged[page * PAGE_BYTES..][..PAGE_BYTES].copy_from_slice(&other[page * PAGE_BYTES..][..PAGE_BYTES]);
        let same = damaged == bytes;
        let verified = open(&Memory::with("a", &damaged), "a").and_then(|run| run.verify());
        assert!(same || verified.is_err_and(|error| is_damage(&error)), "page {page}");
    }
    // Where it has a fence, nobody has to ask.
    for page in [0, 1, 2, 3, 4, 5] {
        let mut damaged = bytes.clone();
        damaged[page * PAGE_BYTES..][..PAGE_BYTES].copy_from_slice(&other[page * PAGE_BYTES..][..PAGE_BYTES]);
        let run = open(&Memory::with("a", &damaged), "a").expect("opened");
        let all: Vec<u64> = (0..ROWS as u64).map(|i| 1000 + i).collect();
        let few: Vec<u64> = (0..3).flat_map(|i| wide_row(1000, i)[..WIDE.1].to_vec()).collect();
        let probed = [probe(&run, FEW, WIDE.1, &few), probe(&run, MANY, 1, &all)];
        assert!(probed.into_iter().any(|probed| probed.is_err_and(|error| is_damage(&error))), "page {page}");
    }
}

#[test]
fn nonsense_with_a_good_checksum_is_an_error_and_no_panic() {
    let (bytes, answers) = whole();
    let seal = Seal::new(COLLECTION, RUN);
    let meta = bytes.len() / PAGE_BYTES - 6;
    for page in meta..bytes.len() / PAGE_BYTES {
        // The first words of fences, directory and trailer, and the header.
        for at in 1..40 {
            for word in [0, 1, 3, 511, 1 << 32, 1 << 52, u64::MAX - 4096, u64::MAX] {
                let mut damaged = bytes.clone();
                let raw = &mut damaged[page * PAGE_BYTES..][..PAGE_BYTES];
                let mut words = [0u64; PAGE_WORDS];
                bytemuck::bytes_of_mut(&mut words).copy_from_slice(raw);
                if words[at] == word {
                    continue;
                }
                words[at] = word;
                reseal(&seal, &mut words, page as u64);
                raw.copy_from_slice(bytemuck::bytes_of(&words));
                probe_nonsense(&damaged, &answers);
            }
        }
    }
}

/// Seals a page again with the header that it has.
fn reseal(seal: &Seal, words: &mut [u64; PAGE_WORDS], number: u64) {
    let header = u64::from_le(words[1]);
    seal.close(words, number, (header >> 32) as u32, (header as u32 as usize).min(PAYLOAD_WORDS));
}

/// Whoever can write good checksums can write other answers, but no panic, and nothing but damage.
fn probe_nonsense(bytes: &[u8], whole: &Answers) {
    let run = match open(&Memory::with("a", bytes), "a") {
        Ok(run) => run,
        Err(error) => return assert!(is_damage(&error), "{error}"),
    };
    for kind in run.kinds() {
        if let Some(rows) = run.rows(kind) {
            let mut keys: Vec<u64> = whole.scans.concat().into_iter().step_by(8).collect();
            keys.sort_unstable();
            keys.dedup();
            let found = rows.probe(1, &keys, &mut |_, _| Ok(()));
            assert!(found.map_or_else(|error| is_damage(&error), |()| true));
            let found = all(rows.scan(&[1001], Some(&[1100])));
            assert!(found.map_or_else(|error| is_damage(&error), |_| true));
        } else if let Some(heap) = run.heap(kind) {
            let outcome = heap.read(0, heap.len() as usize, &mut Vec::new());
            assert!(outcome.map_or_else(|error| is_damage(&error), |()| true));
        }
    }
}
