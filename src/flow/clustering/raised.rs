//! What is left of a run at a higher threshold, from its pairs: nothing is read or measured again.

use crate::config::Clustering;
use crate::error::{Error, Result};
use crate::flow::clustering::form_clusters::{removed_docs, representatives};
use crate::flow::clustering::graph::Graph;
use crate::flow::document_sets::DocumentSets;
use crate::flow::records::{Candidate, ExactDuplicate, Pair};
use crate::flow::results::findings::{Findings, Reason};
use crate::similarity::Measure;
use crate::threshold::Threshold;

/// What a run comes to at a threshold, with one document kept of each cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RaisedCounts {
    /// Documents that the text of an earlier one makes needless.
    pub copies: u64,
    /// Documents that go beside these.
    pub near: u64,
    /// Pairs of distinct texts that are at or over the threshold.
    pub pairs: u64,
    /// Documents of the largest cluster, its representative among them; 0 if there is no cluster.
    pub largest: u64,
}

impl RaisedCounts {
    /// What a run by resemblance with `threshold` and `clustering` would come to, of the pairs that one with a lower or an equal
    /// threshold has found.
    ///
    /// # Errors
    /// [`Error::Config`] if the run was not asked for pairs; those of clustering.
    pub fn of(
        sets: &DocumentSets,
        findings: &Findings,
        threshold: Threshold,
        clustering: Clustering,
    ) -> Result<RaisedCounts> {
        let pairs = findings.pairs.as_ref();
        let pairs =
            pairs.ok_or_else(|| Error::config("a run without pairs says nothing of other thresholds"))?;
        let (mut links, mut copies) = (Vec::new(), Vec::new());
        for (a, b, measure, reason) in pairs {
            let (first, doc, shared) = (*a, *b, measure.shared);
            match reason {
                Reason::Exact => copies.push(ExactDuplicate { doc, first }),
                _ if is_met(threshold, *measure) => {
                    links.push(Candidate { pair: Pair::new(first, doc), shared });
                }
                _ => {}
            }
        }
        let graph = Graph::new(sets, (&links, None), &copies, Vec::new())?;
        let representative = representatives(sets, &graph, clustering)?.representative;
        let mut removed = vec![0; graph.contents()];
        for (node, _) in removed_docs(sets, &graph, &representative) {
            removed[representative[node as usize] as usize] += 1;
        }
        let copies = copies.len() as u64;
        let (near, most) = (removed.iter().sum::<u64>() - copies, removed.iter().max().copied());
        let largest = most.filter(|most| *most > 0).map_or(0, |most| most + 1);
        Ok(RaisedCounts { copies, near, pairs: links.len() as u64, largest })
    }
}

fn is_met(threshold: Threshold, measure: Measure) -> bool {
    threshold.is_met(u64::from(measure.shared), measure.either())
}
