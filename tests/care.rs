//! Compaction changes nothing but room, and fsck passes what is whole.

use std::sync::Arc;

use alike::collection::{Compaction, Finding, Snapshot, Writer, compact, fsck};
use alike::config::Method;
use alike::error::Error;
use alike::progress::Progress;
use alike::storage::Storage;
use proptest::prelude::*;

use crate::histories::{Bench, Load, Op, config, history};

/// What is wrong with a collection.
pub(crate) fn findings(storage: &Arc<dyn Storage>) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    let snapshot = Snapshot::open(storage)?;
    let report = fsck(&snapshot, &Progress::default(), &mut |finding| found.push(finding))?;
    assert_eq!(report.findings, found.len() as u64);
    assert!(report.complete || !found.is_empty());
    Ok(found)
}

pub(crate) fn squeeze(storage: &Arc<dyn Storage>, how: Compaction) -> Result<(), Error> {
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

pub(crate) fn load(ops: Vec<Op>) -> Load {
    Load { ops, workers: 1, files: 1, epoch_bytes: None }
}

pub(crate) fn put(id: usize, text: &str) -> Op {
    Op::Upsert(id, text.to_owned())
}

/// Two clusters, one of them held together by its middle, and a document that is in none.
pub(crate) fn first() -> Load {
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
