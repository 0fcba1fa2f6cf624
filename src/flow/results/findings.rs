//! Clusters, and which documents are removed, and why.

use hashbrown::HashSet;

use crate::document::Doc;
use crate::flow::catalogue::Catalogue;
use crate::similarity::Measure;

/// Why a document is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Its canonical text is the representative's.
    Exact,
    /// It resembles the representative at the threshold.
    Near,
    /// Only a chain of links holds it to the representative (transitive clustering).
    Linked,
}

impl Reason {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Exact => "exact",
            Reason::Near => "near",
            Reason::Linked => "linked",
        }
    }
}

/// A document that is not kept.
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    /// The document.
    pub doc: Doc,
    /// Index of its cluster in [`Findings::clusters`].
    pub cluster: usize,
    /// The document kept in its place.
    pub representative: Doc,
    /// Why.
    pub reason: Reason,
    /// The next document on the chain towards the representative, for [`Reason::Linked`].
    pub parent: Option<Doc>,
    /// The first documents of its text and of the representative's.
    pub texts: (Doc, Doc),
    /// Measured against the representative itself.
    pub measure: Measure,
}

/// Documents that belong together.
#[derive(Clone, Debug)]
pub struct DocumentCluster {
    /// The member that is kept.
    pub representative: Doc,
    /// All members in document order, at least two.
    pub members: Vec<Doc>,
    /// Members that are kept beside the representative, in keep order; none unless they were asked for.
    pub kept_beside: Vec<Doc>,
}

/// What a run found out.
#[derive(Debug, Default)]
pub struct Findings {
    /// Removed documents in document order.
    pub removed: Vec<Removed>,
    /// Documents that would be removed if one of each cluster were kept, and are not; in document order.
    pub spared: Vec<Removed>,
    /// Clusters in the order of their first members.
    pub clusters: Vec<DocumentCluster>,
    /// Accepted pairs in document order, if asked for.
    pub pairs: Option<Vec<(Doc, Doc, Measure, Reason)>>,
}

impl Findings {
    /// Keeps the first documents of each cluster in keep order, so many: the representative and others, texts that are equal
    /// among them. Where a protected document represents a cluster nothing is kept beside it.
    pub fn keep_per_cluster(&mut self, count: usize, catalogue: &Catalogue) {
        let beside = count.saturating_sub(1);
        if beside == 0 {
            return;
        }
        for cluster in &mut self.clusters {
            if catalogue.is_protected(cluster.representative) {
                continue;
            }
            let others = cluster.members.iter().filter(|doc| **doc != cluster.representative);
            let mut others: Vec<Doc> = others.copied().collect();
            if beside < others.len() {
                others.select_nth_unstable_by(beside, |a, b| catalogue.keep_order(*a, *b));
                others.truncate(beside);
            }
            others.sort_unstable_by(|a, b| catalogue.keep_order(*a, *b));
            cluster.kept_beside = others;
        }
        let kept: HashSet<Doc> =
            self.clusters.iter().flat_map(|cluster| &cluster.kept_beside).copied().collect();
        (self.spared, self.removed) =
            std::mem::take(&mut self.removed).into_iter().partition(|row| kept.contains(&row.doc));
    }
}
