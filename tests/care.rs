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

/// A text of many words of which all texts have the same few, so that a vocabulary takes little room beside it.
fn long_text(seed: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("w{}", state % 40)
    };
    (0..200).map(|_| word()).collect::<Vec<_>>().join(" ")
}

fn vocabularies(storage: &Arc<dyn Storage>) -> Vec<u64> {
    let snapshot = Snapshot::open(storage).expect("opened");
    snapshot.manifest().runs.iter().filter_map(|run| run.rows.get("vocabularies").copied()).collect()
}

/// A load of so many long texts of which one comes twice, and one is part of another; a document of the load before is deleted. So what
/// a merge copies has gaps.
fn load_with_gaps(at: usize, many: usize) -> Load {
    let id = |of: usize| 10_000 * at + of;
    let mut ops: Vec<Op> = (0..many).map(|of| put(id(of), &long_text(id(of)))).collect();
    ops.push(put(id(many), &long_text(id(3))));
    ops.push(put(id(many + 1), &format!("{} z", long_text(id(3) / 2))));
    ops.extend(at.checked_sub(1).map(|before| Op::Delete(10_000 * before + at % 12)));
    Load { workers: 1 + at % 2, ..load(ops) }
}

/// The first load is so large that later merges leave its run alone until the last one.
#[test]
#[cfg_attr(alike_tiny, ignore = "its loads outweigh no vocabulary")]
fn merges_copy_tokens_but_for_what_is_gone() {
    let mut bench = Bench::new(config(Method::Join));
    let mut of_later = 0;
    for at in 0..26 {
        bench.load(&load_with_gaps(at, if at == 0 { 1500 } else { 12 }));
        if let [_, later @ ..] = &vocabularies(&bench.storage)[..] {
            of_later = later.iter().copied().fold(of_later, u64::max);
        }
        if at % 5 == 0 {
            whole(&bench, &format!("after load {at}"));
        }
    }
    assert!(of_later > 3, "runs of {of_later} vocabularies: nothing was copied behind the oldest run");
    squeeze(&bench.storage, Compaction::Tiered { fuel_bytes: u64::MAX }).expect("compacted");
    whole(&bench, "after all");
    squeeze(&bench.storage, Compaction::Full).expect("compacted");
    whole(&bench, "after all, merged");
    assert_eq!(vocabularies(&bench.storage), [1]);
}

/// The same where every merge begins with the oldest run: what is gone is left out.
#[test]
#[cfg_attr(alike_tiny, ignore = "its loads outweigh no vocabulary")]
fn merges_of_all_copy_tokens_but_for_what_is_gone() {
    let mut bench = Bench::new(config(Method::Join));
    let mut copied = 0;
    for at in 0..16 {
        bench.load(&load_with_gaps(at, 12));
        copied = copied.max(vocabularies(&bench.storage).into_iter().max().unwrap_or_default());
        whole(&bench, &format!("after load {at}"));
    }
    assert!(copied > 3, "a run of {copied} vocabularies: nothing was copied");
    squeeze(&bench.storage, Compaction::Full).expect("compacted");
    whole(&bench, "after all");
    assert_eq!(vocabularies(&bench.storage), [1]);
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
