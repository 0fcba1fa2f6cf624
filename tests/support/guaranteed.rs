//! Collections that cluster with a guarantee, held against one-shot runs.

use std::collections::BTreeSet;

use alike::collection::{Compaction, QueryOverrides};
use alike::config::{Clustering, Config};

use crate::support::history::{Bench, Load};
use crate::support::recompute::{Asked, replayed, rerun};
use crate::support::upkeep::{findings, squeeze};

pub(crate) fn guaranteed(mut config: Config) -> Config {
    config.cluster.clustering = Clustering::Guarantee;
    config
}

/// Representatives and members, in order.
fn sorted(
    clusters: impl Iterator<Item = (String, BTreeSet<String>)>,
) -> BTreeSet<(String, BTreeSet<String>)> {
    clusters.collect()
}

/// Holds a collection, its change log and what is found on looking again against a one-shot run.
pub(crate) fn check(bench: &Bench, what: &str) {
    let members = bench.clusters();
    assert_eq!(members.len(), bench.replayed.len(), "{what}");
    let asked = Asked { choice: QueryOverrides::default(), workers: 1, pairs: false, memory: None };
    let expected = rerun(bench, &asked);
    assert_eq!(replayed(bench, &asked), expected, "{what}");
    let expected = expected.clusters.into_iter().map(|(leader, all)| (leader, all.into_iter().collect()));
    let found = bench.replayed.values().cloned().map(|(members, leader)| (leader, members));
    assert_eq!(sorted(found), sorted(expected), "{what}");
}

pub(crate) fn whole(bench: &Bench, what: &str) {
    check(bench, what);
    assert_eq!(findings(&bench.storage).expect("read"), [], "{what}");
}

pub(crate) fn follow_on(mut bench: Bench, history: &[(Load, u8)]) {
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
    }
}
