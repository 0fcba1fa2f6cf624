//! Candidates that are measured as clusters are formed.

use crate::document::Doc;
use crate::error::Result;
use crate::flow::clustering::earlier_candidates::EarlierCandidates;
use crate::flow::clustering::node_lists::{Node, NodeLists};
use crate::flow::memory::spill::Piles;
use crate::flow::records::Candidate;
use crate::threads::{both, in_threads};

/// Candidates that are measured as clusters are formed. Contents are told by their ranks.
pub enum Unmeasured {
    /// Of each content those before it in keep order, as clusters with a guarantee ask for them.
    InOrder(EarlierCandidates),
    /// All of each content, as connected components do.
    All {
        /// Those before it in keep order, ascending.
        earlier: NodeLists<u32>,
        /// And those behind it.
        later: NodeLists<u32>,
    },
}

impl Unmeasured {
    /// All candidates of each of some contents, sorted by so many workers: the content of a document, and the rank of each.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn all(
        candidates: &Piles<Candidate>,
        node: impl Fn(Doc) -> Node + Sync,
        rank: &[u32],
        workers: usize,
    ) -> Result<Unmeasured> {
        // At most as many piles as there are workers.
        let ends = in_threads(candidates.iter(), |pile| {
            let mut ends = Vec::with_capacity(pile.len());
            pile.each_slice(|some| {
                let docs = some.iter().map(|candidate| candidate.pair.docs());
                ends.extend(docs.map(|(a, b)| (node(a), node(b))));
                Ok(())
            })?;
            Ok(ends)
        })?;
        let ranks = ends.iter().flatten().map(|(a, b)| {
            let (of_a, of_b) = (rank[*a as usize], rank[*b as usize]);
            if of_a < of_b { ((*a, of_a), (*b, of_b)) } else { ((*b, of_b), (*a, of_a)) }
        });
        let earlier = ranks.clone().map(|((_, first), (node, _))| (node, first));
        let later = ranks.map(|((node, _), (_, second))| (node, second));
        let (earlier, later) =
            both(workers, || NodeLists::new(rank.len(), earlier), || NodeLists::new(rank.len(), later))?;
        Ok(Unmeasured::All { earlier, later })
    }
}
