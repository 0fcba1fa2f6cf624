//! Compaction changes nothing but room, and fsck passes what is whole.

use std::sync::Arc;

use alike::collection::{Compaction, Snapshot};
use alike::config::Method;
use alike::storage::Storage;
use proptest::prelude::*;

use crate::support::history::{Bench, Load, Op, config, history};
use crate::support::upkeep::{findings, first, load, put, squeeze};

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
        follow(Method::Minhash, &history);
    }

    #[test]
    fn exact(history in cared()) {
        follow(Method::Exact, &history);
    }
}

#[test]
#[cfg_attr(alike_tiny, ignore = "counts pages of 4,096 bytes")]
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
