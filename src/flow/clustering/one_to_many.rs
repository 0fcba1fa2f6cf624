//! One content that is measured against many others, most of which are not linked to it.

use crate::error::Result;
use crate::flow::clustering::at_hand::{SetsAtHand, may_be_linked, set_of, shared_if_linked};
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;
use crate::similarity::MemberFilter;

/// So many are measured without a filter: making one costs about as much as that.
const FEW: usize = sized(4, 1);

/// A content and, once it was measured against some others, its set with a filter of it.
pub struct OneToMany<'a> {
    graph: &'a Graph,
    sets: &'a DocumentSets,
    at_hand: Option<&'a SetsAtHand<'a>>,
    node: Node,
    measured: usize,
    filtered: Option<(Vec<u64>, MemberFilter)>,
}

impl<'a> OneToMany<'a> {
    /// A content that was not measured yet.
    pub fn new(
        graph: &'a Graph,
        sets: &'a DocumentSets,
        at_hand: Option<&'a SetsAtHand<'a>>,
        node: Node,
    ) -> OneToMany<'a> {
        OneToMany { graph, sets, at_hand, node, measured: 0, filtered: None }
    }

    /// The content.
    pub fn node(&self) -> Node {
        self.node
    }

    /// What it shares with another one, if they are linked.
    ///
    /// # Errors
    /// Those of [`shared_if_linked`].
    pub fn shared(&mut self, other: Node) -> Result<Option<u32>> {
        let Self { graph, sets, at_hand, node, .. } = *self;
        // As with signatures, what is needed is a number of members only where sets are all that is compared.
        if self.measured < FEW || !sets.context.has_signatures() {
            self.measured += 1;
            return shared_if_linked(graph, sets, at_hand, node, other);
        }
        let (a, b) = (graph.doc(node), graph.doc(other));
        let (true, Some(needed)) = (may_be_linked(graph, sets, node, other), sets.needed(a, b)) else {
            return Ok(None);
        };
        if self.filtered.is_none() {
            let mut scratch = Vec::new();
            let set = set_of(graph, sets, at_hand, node, &mut scratch)?;
            self.filtered = Some((set.to_vec(), MemberFilter::of(set)));
        }
        let Some((set, filter)) = &self.filtered else { return Ok(None) };
        let mut scratch = Vec::new();
        let of_other = set_of(graph, sets, at_hand, other, &mut scratch)?;
        if !filter.may_share(of_other, needed) {
            return Ok(None);
        }
        Ok(sets.measure_sets((a, set), (b, of_other)).map(|measure| measure.shared))
    }
}
