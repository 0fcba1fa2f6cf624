//! Which clusters a report shows: the largest, and the loosest; and how large all are.

use std::cmp::Ordering;

use serde::Serialize;

use super::excerpts::{DocumentShown, Excerpts};
use super::scores::share;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Outcome, Reason, Removed};
use crate::output::measured_scores;

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

/// A cluster that is shown.
#[derive(Clone, Copy)]
pub(super) struct ChosenCluster<'a> {
    /// Its place among all.
    at: usize,
    /// Its documents.
    size: usize,
    /// The least that a removed document has in common with the representative; where none was removed, another member.
    least: Option<f64>,
    /// That document, or member.
    pub(super) farthest: &'a Removed,
}

impl ChosenCluster<'_> {
    /// The larger one first, then the earlier one.
    fn by_size(&self, other: &ChosenCluster<'_>) -> Ordering {
        other.size.cmp(&self.size).then(self.at.cmp(&other.at))
    }

    /// The one with less in common first, then as by size.
    fn by_least(&self, other: &ChosenCluster<'_>) -> Ordering {
        let least = |cluster: &ChosenCluster<'_>| cluster.least.unwrap_or(1.0);
        least(self).total_cmp(&least(other)).then_with(|| self.by_size(other))
    }
}

/// The largest clusters, and those whose removed documents have least in common with what represents them; of clusters that
/// are equal in this the larger ones, then the first ones. Four bytes are held for each cluster.
pub(super) fn chosen(outcome: &Outcome) -> (Vec<ChosenCluster<'_>>, Vec<ChosenCluster<'_>>) {
    let findings = &outcome.findings;
    let row = |at: u32| {
        let at = at as usize;
        findings.removed.get(at).unwrap_or_else(|| &findings.spared[at - findings.removed.len()])
    };
    let removed = findings.removed.len() as u32;
    // Of two members whether the first is closer to its representative; false where one was not measured.
    let closer = |one: &Removed, other: &Removed| match (share_of(outcome, one), share_of(outcome, other)) {
        (Some(one), Some(other)) => other < one,
        _ => false,
    };
    let mut farthest = vec![u32::MAX; findings.clusters.len()];
    for (at, new) in (0..).zip(findings.removed.iter().chain(&findings.spared)) {
        let known = &mut farthest[new.cluster];
        // What is kept beside a representative is looked at only where nothing was removed.
        let stays = at >= removed && *known < removed;
        if *known == u32::MAX || !stays && closer(row(*known), new) {
            *known = at;
        }
    }
    let (mut largest, mut loosest) = (Vec::new(), Vec::new());
    for (at, known) in farthest.into_iter().enumerate().filter(|(_, known)| *known != u32::MAX) {
        let (farthest, size) = (row(known), findings.clusters[at].members.len());
        let cluster = ChosenCluster { at, size, least: share_of(outcome, farthest), farthest };
        put(&mut largest, cluster, ChosenCluster::by_size);
        if known < removed && cluster.least.is_some_and(|least| least < 1.0) {
            put(&mut loosest, cluster, ChosenCluster::by_least);
        }
    }
    (largest, loosest)
}

/// Puts a cluster where it belongs among the first ones in an order, of which so many are held as are shown.
fn put<'a>(
    first: &mut Vec<ChosenCluster<'a>>,
    new: ChosenCluster<'a>,
    order: fn(&ChosenCluster<'a>, &ChosenCluster<'a>) -> Ordering,
) {
    let at = first.partition_point(|other| order(other, &new).is_lt());
    if at < SHOWN {
        first.truncate(SHOWN - 1);
        first.insert(at, new);
    }
}

/// How much a removed document has in common with its representative: 0 to 1.
pub(super) fn share_of(outcome: &Outcome, row: &Removed) -> Option<f64> {
    let (_, found) = share(&measured_scores(outcome, row))?;
    Some(if row.reason == Reason::Exact { 1.0 } else { found })
}

/// The documents whose texts chosen clusters show.
pub(super) fn docs<'a>(chosen: &'a [ChosenCluster<'a>]) -> impl Iterator<Item = Doc> + 'a {
    chosen.iter().flat_map(|cluster| [cluster.farthest.representative, cluster.farthest.doc])
}

/// Chosen clusters as they are shown.
pub(super) fn shown(
    outcome: &Outcome,
    chosen: &[ChosenCluster<'_>],
    excerpts: &Excerpts,
) -> Result<Vec<ClusterShown>> {
    let shown = |cluster: &ChosenCluster<'_>| {
        Ok(ClusterShown {
            number: cluster.at as u64 + 1,
            size: cluster.size as u64,
            least: cluster.least,
            representative: excerpts.document(outcome, cluster.farthest.representative)?,
            farthest: excerpts.document(outcome, cluster.farthest.doc)?,
        })
    };
    chosen.iter().map(shown).collect()
}
