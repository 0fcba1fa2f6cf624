//! Clusters, and which documents are removed, and why.

use crate::document::Doc;
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
}

/// What a run found out.
#[derive(Debug, Default)]
pub struct Findings {
    /// Removed documents in document order.
    pub removed: Vec<Removed>,
    /// Clusters in the order of their first members.
    pub clusters: Vec<DocumentCluster>,
    /// Accepted pairs in document order, if asked for.
    pub pairs: Option<Vec<(Doc, Doc, Measure, Reason)>>,
}
