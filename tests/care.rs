//! Compaction changes nothing but room; fsck passes what is whole and nothing else; no fault costs a commit.

use std::collections::BTreeSet;
use std::sync::Arc;

use alike::collection::{Compaction, Finding, RunEntry, SectionKind, Shape, Snapshot, Writer, compact, fsck};
use alike::config::Method;
use alike::error::Error;
use alike::progress::Progress;
use alike::storage::{Fault, Simulated, Storage};
use proptest::prelude::*;

use crate::histories::{Bench, Load, Op, config, history};

fn findings(storage: &Arc<dyn Storage>) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    let snapshot = Snapshot::open(storage)?;
    let report = fsck(&snapshot, &Progress::default(), &mut |finding| found.push(finding))?;
    assert_eq!(report.findings, found.len() as u64);
    assert!(report.complete || !found.is_empty());
    Ok(found)
}

fn squeeze(storage: &Arc<dyn Storage>, how: Compaction) -> Result<(), Error> {
    let mut writer = Writer::open(storage)?;
    compact(&mut writer, how, &Progress::default()).map(drop)
}

fn runs(storage: &Arc<dyn Storage>) -> usize {
    Snapshot::open(storage).expect("opened").runs().len()
}

fn whole(bench: &Bench, what: &str) {
    bench.check(what);
    assert_eq!(findings(&bench.storage).expect("read"), [], "{what}");
}

fn follow(method: Method, history: &[(Load, u8)]) {
    let mut bench = Bench::new(config(method));
    for (at, (load, then)) in history.iter().enumerate() {
        bench.load(load);
        whole(&bench, &format!("after load {at}"));
        let how = match then {
            0 => Compaction::Full,
            1 => Compaction::Tiered { fuel_bytes: u64::MAX },
            _ => continue,
        };
        squeeze(&bench.storage, how).expect("compacted");
        whole(&bench, &format!("after load {at} and {how:?}"));
        if how == Compaction::Full {
            assert!(runs(&bench.storage) <= 1);
        }
    }
}

fn cared() -> impl Strategy<Value = Vec<(Load, u8)>> {
    (history(), prop::collection::vec(0u8..3, 6))
        .prop_map(|(loads, then)| loads.into_iter().zip(then).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn join(history in cared()) {
        follow(Method::Join, &history);
    }

    #[test]
    fn features(history in cared()) {
        follow(Method::Features, &history);
    }

    #[test]
    fn exact(history in cared()) {
        follow(Method::Exact, &history);
    }
}

fn load(ops: Vec<Op>) -> Load {
    Load { ops, workers: 1, files: 1, epoch_bytes: None }
}

fn put(id: usize, text: &str) -> Op {
    Op::Upsert(id, text.to_owned())
}

/// Two clusters, one of them held together by its middle, and a document that is in none.
fn first() -> Load {
    load(vec![
        put(0, "a b c d e f"),
        put(1, "b c d e f g"),
        put(2, "c d e f g h"),
        put(3, "p q r s t"),
        put(4, "p q r s t"),
        put(5, "x y z"),
    ])
}

#[test]
fn an_emptied_collection_takes_no_room() {
    let mut bench = Bench::new(config(Method::Shingles));
    bench.load(&first());
    bench.load(&load((0..6).map(Op::Delete).collect()));
    squeeze(&bench.storage, Compaction::Full).expect("compacted");
    whole(&bench, "emptied");
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    let [run] = &snapshot.manifest().runs[..] else { panic!("one run") };
    assert!(run.rows.values().all(|rows| *rows == 0), "{:?}", run.rows);
    assert_eq!(run.bytes, 2 * 4096);
    bench.load(&first());
    whole(&bench, "filled again");
}

#[test]
fn runs_stay_few_by_themselves() {
    let mut bench = Bench::new(config(Method::Shingles));
    for at in 0..60 {
        let report = bench.load(&load(vec![put(at, &format!("a b c d w{at}")), put(at / 2, "e f g")]));
        assert_eq!(report.uncompacted, None);
        assert!(runs(&bench.storage) <= 12, "{} runs after load {at}", runs(&bench.storage));
    }
    whole(&bench, "after 60 loads");
}

/// Adds a run with one row to a collection.
fn add_row(bench: &Bench, (kind, name): (u32, &str), shape: Shape, row: &[u64]) {
    let mut writer = Writer::open(&bench.storage).expect("opened");
    let mut next = writer.next();
    let (id, mut run) = writer.begin_run(&mut next).expect("begun");
    run.rows(SectionKind(kind), shape).expect("begun");
    run.push(row).expect("written");
    run.finish().expect("written");
    let rows = [(name.to_owned(), 1)].into();
    next.runs.push(RunEntry::of(&**writer.storage(), id, rows).expect("an entry"));
    writer.commit(next).expect("committed");
}

/// The first row of a table that `wanted` takes.
fn row_of(bench: &Bench, kind: u32, wanted: impl Fn(&[u64]) -> bool) -> (Shape, Vec<u64>) {
    let snapshot = Snapshot::open(&bench.storage).expect("opened");
    for run in snapshot.runs() {
        let Some(rows) = run.rows(SectionKind(kind)) else { continue };
        let mut scan = rows.scan(&[], None);
        while let Some(row) = scan.next_row().expect("read") {
            if wanted(row) {
                return (rows.shape(), row.to_vec());
            }
        }
    }
    panic!("no such row in table {kind}");
}

#[test]
fn every_wrong_row_is_found() {
    type Change = fn(&mut Vec<u64>);
    let damages: [((u32, &str), Change, &str); 23] = [
        ((1, "documents"), |row| row[2] |= 1 << 40, "its content is not live"),
        ((1, "documents"), |row| row[2] &= !1, "they are not the documents that have this content"),
        ((1, "documents"), |row| row[3] += 1 << 40, "it comes from loads that cannot be"),
        ((1, "documents"), |row| row[0] ^= 1, "rows without their heap"),
        ((2, "texts"), |row| row[3] ^= 1, "its digest names another content, or none"),
        ((3, "contents"), |row| row[1] += 1, "it has another number of documents"),
        ((3, "contents"), |row| row[1] = 0, "its content is not live"),
        ((3, "contents"), |row| row[2] = 1 << 20, "a label that is yet to come"),
        ((3, "contents"), |row| row[0] = 1 << 20, "a content that is yet to come"),
        ((4, "digests"), |row| row[2] = 0xffff_ffff, "its digest names another content, or none"),
        ((4, "digests"), |row| row[0] ^= 1, "its content has another digest too"),
        ((5, "postings"), |row| row[0] ^= 1, "they are not those that its set gives"),
        ((6, "members"), |row| row[3] = 0, "they are not the documents that have this content"),
        ((6, "members"), |row| row[2] ^= 1, "they are not the documents that have this content"),
        ((7, "links"), |row| row[2] += 1, "they are not the same from the other end"),
        ((8, "components"), |row| row[2] = 0, "a live content is in no component"),
        ((9, "clusters"), |row| row[3] += 1, "its contents have another number of documents"),
        ((9, "clusters"), |row| row[5] ^= 1, "it is not represented by the best of its documents"),
        ((1, "documents"), |row| row[10] |= 1 << 60, "its version is yet to come, or another document's too"),
        ((1, "documents"), |row| row[10] &= !0xffff_ffff, "it stands in a line that cannot be"),
        ((10, "sources"), |row| row[0] = 1 << 20, "a file that is yet to come"),
        ((10, "sources"), |row| row[6] |= 0xff, "a source without its names"),
        ((11, "records"), |row| row[0] = 1 << 20, "a version that is yet to come"),
    ];
    for (table, change, what) in damages {
        let mut bench = Bench::new(config(Method::Shingles));
        bench.load(&first());
        assert_eq!(findings(&bench.storage).expect("read"), []);
        let (shape, mut row) = row_of(&bench, table.0, |_| true);
        change(&mut row);
        add_row(&bench, table, shape, &row);
        let found = findings(&bench.storage).expect("read");
        let said: BTreeSet<&str> = found.iter().map(|finding| &finding.what[..]).collect();
        let heap = ["a document without a label", "texts without their sets"];
        assert!(
            said.contains(what) || heap.iter().any(|what| said.contains(what)),
            "{table:?} {what}: {said:?}"
        );
    }
}

/// The steps of a small job, each of which can be done again.
fn step(bench: &mut Bench, at: usize) -> bool {
    match at {
        0 => bench.try_load(&first()),
        1 => bench.try_load(&load(vec![Op::Delete(1), put(5, "p q r s t")])),
        _ => squeeze(&bench.storage, Compaction::Full).is_ok(),
    }
}

/// Does the job with something going wrong at operation `at` of one step; false if the step has fewer operations.
fn interrupted(which: usize, at: u64, wrong: &dyn Fn(&Simulated, u64) -> Option<u64>) -> bool {
    let machine = Simulated::new();
    let mut bench = Bench::on(Arc::new(machine.clone()), config(Method::Shingles));
    for before in 0..which {
        assert!(step(&mut bench, before));
    }
    let before = bench.seen();
    let from = machine.operations();
    let seed = wrong(&machine, from + at);
    step(&mut bench, which);
    let reached = machine.operations() > from + at;
    let found = match seed {
        Some(seed) => machine.after_power_cut(seed),
        None => {
            machine.mend();
            machine.clone()
        }
    };
    bench.storage = Arc::new(found);
    assert_eq!(findings(&bench.storage).expect("opened"), [], "step {which}, operation {at}");
    let state = bench.seen();
    assert!(step(&mut bench, which), "step {which} again after operation {at}");
    let after = bench.seen();
    assert!(state == before || state == after, "step {which}, operation {at}");
    assert_eq!(after.0, bench.rerun(), "step {which}, operation {at}");
    assert_eq!(findings(&bench.storage).expect("opened"), []);
    reached
}

fn everywhere(wrong: &dyn Fn(&Simulated, u64) -> Option<u64>) {
    let stride = if std::env::var_os("ALIKE_FULL").is_some() { 1 } else { 3 };
    for which in 0..3 {
        let mut at = 0;
        while interrupted(which, at, wrong) {
            at += stride;
        }
        assert!(at > 10, "step {which} has {at} operations");
    }
}

#[test]
fn a_power_cut_costs_no_commit() {
    for seed in 0..3 {
        everywhere(&|machine, at| {
            machine.cut_at(at);
            Some(seed)
        });
    }
}

#[test]
fn a_fault_costs_no_commit() {
    for fault in [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync] {
        everywhere(&|machine, at| {
            machine.fail_at(at, fault);
            None
        });
    }
}

#[test]
fn a_turned_bit_never_gives_another_answer() {
    let machine = Simulated::new();
    let mut bench = Bench::on(Arc::new(machine.clone()), config(Method::Shingles));
    bench.load(&first());
    squeeze(&bench.storage, Compaction::Full).expect("compacted");
    let right = bench.seen();
    let stride = if std::env::var_os("ALIKE_FULL").is_some() { 1 } else { 7 };
    let mut noticed = 0;
    for name in machine.names().expect("names").iter().filter(|name| *name != "lock") {
        let length = machine.contents(name).expect("a file").len() as u64;
        for offset in (0..length).step_by(stride) {
            machine.flip(name, offset, (offset % 8) as u32).expect("a byte");
            match findings(&bench.storage) {
                Ok(found) if found.is_empty() => assert_eq!(bench.seen(), right, "{name} {offset}"),
                Ok(_) => noticed += 1,
                Err(Error::Damaged { .. } | Error::NewerFormat { .. }) => noticed += 1,
                Err(error) => panic!("{name} {offset}: {error}"),
            }
            if let Ok(state) = bench.try_seen() {
                assert_eq!(state, right, "{name} {offset}");
            }
            machine.flip(name, offset, (offset % 8) as u32).expect("a byte");
        }
    }
    assert!(noticed > 1000, "{noticed} noticed");
}

/// Clusters and documents, by id.
type Seen = (BTreeSet<BTreeSet<String>>, BTreeSet<String>);

impl Bench {
    fn try_seen(&self) -> Result<Seen, Error> {
        let snapshot = Snapshot::open(&self.storage)?;
        let (mut clusters, mut documents) = (BTreeSet::new(), BTreeSet::new());
        snapshot.clusters(&mut |cluster| {
            clusters.insert(cluster.members.into_iter().collect());
            Ok(())
        })?;
        snapshot.documents(&mut |document| {
            documents.insert(document.id);
            Ok(())
        })?;
        Ok((clusters, documents))
    }

    fn seen(&self) -> Seen {
        self.try_seen().expect("read")
    }
}
