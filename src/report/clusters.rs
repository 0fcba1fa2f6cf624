//! Which clusters a report shows: the largest, and the loosest; and how large all are.

use std::cmp::Reverse;

use serde::Serialize;

use super::excerpts::{DocumentShown, Excerpts};
use super::scores::share;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Outcome, Reason, Removed};

/// Clusters shown of either sort.
const SHOWN: usize = 20;

/// Clusters of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeBucket {
    /// The least number of documents.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// Clusters that have so many.
    pub clusters: u64,
    /// Documents of these.
    pub documents: u64,
}

/// A cluster in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterShown {
    /// Its number in the lists, from 1.
    pub number: u64,
    /// Its documents.
    pub size: u64,
    /// The least that a removed document has in common with the representative: 0 to 1, where the method says that.
    pub least: Option<f64>,
    /// What is kept, and how it begins.
    pub representative: DocumentShown,
    /// The removed document that has least in common with it.
    pub farthest: DocumentShown,
}

/// Sizes of all clusters: 2, 3 to 4, 5 to 8 and so on, up to the largest.
pub(super) fn sizes(outcome: &Outcome) -> Vec<SizeBucket> {
    let mut buckets: Vec<SizeBucket> = Vec::new();
    for cluster in &outcome.findings.clusters {
        let size = cluster.members.len() as u64;
        let at = (size - 1).ilog2() as usize;
        while buckets.len() <= at {
            let to = 2 << buckets.len();
            buckets.push(SizeBucket { from: to / 2 + 1, to, clusters: 0, documents: 0 });
        }
        buckets[at].clusters += 1;
        buckets[at].documents += size;
    }
    buckets
}

/// A cluster that is shown: its place, its least share, and what has it.
#[derive(Clone, Copy)]
pub(super) struct ChosenCluster {
    at: usize,
    least: Option<f64>,
    representative: Doc,
    farthest: Doc,
}

/// The largest clusters, and those whose removed documents have least in common with what represents them; of clusters that
/// are equal in this the first ones.
pub(super) fn chosen(outcome: &Outcome) -> (Vec<ChosenCluster>, Vec<ChosenCluster>) {
    let findings = &outcome.findings;
    let mut farthest: Vec<Option<(Option<f64>, &Removed)>> = vec![None; findings.clusters.len()];
    for row in findings.removed.iter().chain(&findings.spared) {
        let of = share_of(outcome, row);
        let there = &mut farthest[row.cluster];
        let closer = |(least, _): (Option<f64>, _)| match (of, least) {
            (Some(of), Some(least)) => of < least,
            _ => false,
        };
        if there.is_none_or(closer) {
            *there = Some((of, row));
        }
    }
    let chosen = |(at, found): (usize, Option<(Option<f64>, &Removed)>)| {
        let (least, row) = found?;
        let representative = findings.clusters[at].representative;
        Some(ChosenCluster { at, least, representative, farthest: row.doc })
    };
    let mut largest: Vec<ChosenCluster> = farthest.into_iter().enumerate().filter_map(chosen).collect();
    let size = |cluster: &ChosenCluster| findings.clusters[cluster.at].members.len();
    let mut loosest: Vec<ChosenCluster> =
        largest.iter().copied().filter(|cluster| cluster.least.is_some_and(|least| least < 1.0)).collect();
    loosest.sort_by(|a, b| {
        let least = |cluster: &ChosenCluster| cluster.least.unwrap_or(1.0);
        least(a).total_cmp(&least(b)).then(size(b).cmp(&size(a))).then(a.at.cmp(&b.at))
    });
    largest.sort_by_key(|cluster| (Reverse(size(cluster)), cluster.at));
    largest.truncate(SHOWN);
    loosest.truncate(SHOWN);
    (largest, loosest)
}

/// How much a removed document has in common with its representative: 0 to 1.
pub(super) fn share_of(outcome: &Outcome, row: &Removed) -> Option<f64> {
    let scores = outcome.run.context.rule.map(|rule| rule.last().reported(row.measure))?;
    let (_, found) = share(&scores)?;
    Some(if row.reason == Reason::Exact { 1.0 } else { found })
}

/// The documents whose texts chosen clusters show.
pub(super) fn docs(chosen: &[ChosenCluster]) -> impl Iterator<Item = Doc> + '_ {
    chosen.iter().flat_map(|cluster| [cluster.representative, cluster.farthest])
}

/// Chosen clusters as they are shown.
pub(super) fn shown(
    outcome: &Outcome,
    chosen: &[ChosenCluster],
    excerpts: &Excerpts,
) -> Result<Vec<ClusterShown>> {
    let shown = |cluster: &ChosenCluster| {
        Ok(ClusterShown {
            number: cluster.at as u64 + 1,
            size: outcome.findings.clusters[cluster.at].members.len() as u64,
            least: cluster.least,
            representative: excerpts.document(outcome, cluster.representative)?,
            farthest: excerpts.document(outcome, cluster.farthest)?,
        })
    };
    chosen.iter().map(shown).collect()
}
