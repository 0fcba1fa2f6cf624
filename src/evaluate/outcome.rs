//! What a run has found, by the numbers of the documents.

use super::documents::Documents;
use super::grouping::Grouping;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Outcome, Reason};

/// What a method says of the documents.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its clusters; a document that is in none is alone.
    pub clusters: Grouping,
    /// The pairs that it has accepted, if the run was asked for them: texts are groups, and accepted pairs of texts links.
    pub pairs: Option<Grouping>,
    /// Documents that are not kept, ascending.
    pub removed: Vec<u32>,
}

/// What a run over the inputs of `documents` has found.
///
/// # Errors
/// [`crate::error::Error::Changed`] if it has met a document that is not one of them; those of [`Documents::refuse_gaps`].
pub fn found(outcome: &Outcome, documents: &Documents) -> Result<Found> {
    documents.refuse_gaps(outcome)?;
    let run = &outcome.run;
    let number =
        |doc: Doc| documents.at(run.documents.catalogue.position(doc), &run.documents.inputs.sources);
    let findings = &outcome.findings;
    let mut clusters: Vec<u32> = (0..documents.len() as u32).collect();
    for cluster in &findings.clusters {
        // Members are in document order.
        let first = number(cluster.members[0])?;
        for member in &cluster.members {
            clusters[number(*member)? as usize] = first;
        }
    }
    let removed = findings.removed.iter().map(|row| number(row.doc)).collect::<Result<_>>()?;
    let mut pairs = None;
    if let Some(accepted) = &findings.pairs {
        let (mut texts, mut links) = ((0..documents.len() as u32).collect::<Vec<_>>(), Vec::new());
        for (a, b, _, reason) in accepted {
            let (a, b) = (number(*a)?, number(*b)?);
            // Copies are paired with the first document of their text, links are between such.
            match reason {
                Reason::Exact => texts[b as usize] = a,
                Reason::Near | Reason::Linked => links.push((a, b)),
            }
        }
        pairs = Some(Grouping::new(texts, links));
    }
    Ok(Found { clusters: Grouping::new(clusters, []), pairs, removed })
}
