//! Runs: writing, scanning, probing, merging, from and to the page cache.

use std::fs;
use std::hint::black_box;

use alike::collection::page::PAGE_BYTES;
use alike::collection::{RunReader, RunWriter, SectionKind, Shape, merge};
use alike::storage::{Local, Storage};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const ROWS: SectionKind = SectionKind(1);
const HEAP: SectionKind = SectionKind(2);
/// Rows of a run: 64 MB.
const COUNT: u64 = 4 << 20;
/// Low bits of a key that do not tell its row.
const LOW: u32 = COUNT.leading_zeros() + 1;

/// The key of row `i`: ascending, and as even as hashes.
fn key(i: u64) -> u64 {
    i << LOW | i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LOW)
}

/// Writes a run of rows of two words, those with a number that is `part` modulo `parts`; its bytes.
fn write(storage: &dyn Storage, name: &str, parts: u64, part: u64) -> u64 {
    let mut writer = RunWriter::create(storage, name, 1, part).expect("created");
    writer.rows(ROWS, Shape { width: 2, key: 1 }).expect("begun");
    for i in (part..COUNT).step_by(parts as usize) {
        writer.push(&[key(i), i]).expect("pushed");
    }
    writer.finish().expect("finished");
    storage.open(name).and_then(|file| file.len()).expect("written")
}

/// A folder that does not wait for the disk: that is the disk's speed and not ours.
#[derive(Debug)]
struct Unsynced(Local);

mod unsynced {
    use std::io;
    use std::path::PathBuf;

    use alike::storage::{FileWriter, Lock, Reader, Storage};

    /// A file that says it is durable.
    #[derive(Debug)]
    struct Hasty(Box<dyn FileWriter>);

    impl FileWriter for Hasty {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.append(bytes)
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Storage for super::Unsynced {
        fn names(&self) -> io::Result<Vec<String>> {
            self.0.names()
        }

        fn create(&self, name: &str) -> io::Result<Box<dyn FileWriter>> {
            Ok(Box::new(Hasty(self.0.create(name)?)))
        }

        fn open(&self, name: &str) -> io::Result<Box<dyn Reader>> {
            self.0.open(name)
        }

        fn link(&self, from: &str, to: &str) -> io::Result<()> {
            self.0.link(from, to)
        }

        fn remove(&self, name: &str) -> io::Result<()> {
            self.0.remove(name)
        }

        fn sync_names(&self) -> io::Result<()> {
            Ok(())
        }

        fn lock(&self) -> io::Result<Option<Box<dyn Lock>>> {
            self.0.lock()
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path(name)
        }
    }
}

fn run(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = Unsynced(Local::create(folder.path()).expect("a folder"));
    let mut group = c.benchmark_group("run");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(COUNT * 16));
    group.bench_function("pages of nothing appended", |b| {
        let before = || drop(fs::remove_file(folder.path().join("nothing")));
        let block = vec![1; 1 << 20];
        let append = |()| {
            let mut file = storage.create("nothing").expect("created");
            (0..(COUNT * 16) >> 20).try_for_each(|_| file.append(&block)).expect("appended");
        };
        b.iter_batched(before, append, BatchSize::PerIteration);
    });
    let bytes = write(&storage, "rows", 1, 0);
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("push", |b| {
        let before = || drop(fs::remove_file(folder.path().join("pushed")));
        b.iter_batched(before, |()| write(&storage, "pushed", 1, 0), BatchSize::PerIteration);
    });
    let reader = RunReader::open(&storage, "rows", 1, 0).expect("opened");
    let rows = reader.rows(ROWS).expect("rows");
    group.bench_function("scan", |b| {
        b.iter(|| {
            let (mut scan, mut sum) = (rows.scan(&[], None), 0u64);
            while let Some(row) = scan.next_row().expect("read") {
                sum = sum.wrapping_add(row[0] ^ row[1]);
            }
            sum
        });
    });
    for (what, miss) in [("hits", 0), ("misses", 1)] {
        // One row in a thousand; a key that is missing is one more than one that is there.
        let keys: Vec<u64> = (0..COUNT - 1000).step_by(1000).map(|i| key(i + i % 777) + miss).collect();
        group.throughput(Throughput::Elements(keys.len() as u64));
        group.bench_function(BenchmarkId::new("probe", what), |b| {
            b.iter(|| {
                let mut found = 0;
                let each = &mut |_: usize, row: &[u64]| {
                    found += 1 + u64::from(black_box(row).is_empty());
                    Ok(())
                };
                rows.probe(1, &keys, each).expect("probed");
                assert_eq!(found > 0, miss == 0);
            });
        });
    }
    group.finish();
}

fn merged(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = Unsynced(Local::create(folder.path()).expect("a folder"));
    let mut group = c.benchmark_group("merge");
    group.sample_size(10);
    for parts in [2, 8] {
        let names: Vec<String> = (0..parts).map(|part| format!("{part} of {parts}")).collect();
        let runs: Vec<RunReader> = (0..parts)
            .zip(&names)
            .map(|(part, name)| {
                write(&storage, name, parts, part);
                RunReader::open(&storage, name, 1, part).expect("opened")
            })
            .collect();
        group.throughput(Throughput::Elements(COUNT));
        group.bench_function(BenchmarkId::new("rows of runs", parts), |b| {
            b.iter(|| {
                let scans = runs.iter().map(|run| run.rows(ROWS).expect("rows").scan(&[], None)).collect();
                let (mut all, mut count) = (merge(scans, 1), 0);
                while let Some(row) = all.next_row().expect("read") {
                    count += u64::from(!black_box(row).is_empty());
                }
                assert_eq!(count, COUNT);
            });
        });
    }
    group.finish();
}

fn heap(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = Unsynced(Local::create(folder.path()).expect("a folder"));
    let mut writer = RunWriter::create(&storage, "heap", 1, 0).expect("created");
    writer.heap(HEAP).expect("begun");
    let value: Vec<u64> = (0..1000).collect();
    for _ in 0..8 << 10 {
        writer.push(&value).expect("pushed");
    }
    writer.finish().expect("finished");
    let reader = RunReader::open(&storage, "heap", 1, 0).expect("opened");
    let heap = reader.heap(HEAP).expect("a heap");
    let mut group = c.benchmark_group("heap");
    let mut words = Vec::new();
    for count in [100, 1000, 100_000] {
        group.throughput(Throughput::Bytes(count * 8));
        group.bench_function(BenchmarkId::new("read words", count), |b| {
            let mut at = 0;
            b.iter(|| {
                words.clear();
                at = (at + 3_333_333) % (heap.len() - count);
                heap.read(black_box(at), count as usize, &mut words).expect("read");
            });
        });
    }
    // What opening costs, and how large a page is, is all there is to a small heap.
    group.throughput(Throughput::Bytes(PAGE_BYTES as u64));
    group.bench_function("open", |b| b.iter(|| RunReader::open(&storage, "heap", 1, 0).expect("opened")));
    group.finish();
}

criterion_group!(benches, run, merged, heap);
criterion_main!(benches);
