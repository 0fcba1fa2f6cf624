//! One content that is measured against many others, most of which are not linked to it.

use crate::error::Result;
use crate::flow::catalogue::outlines::Outline;
use crate::flow::clustering::at_hand::{SetsAtHand, set_of, shared_if_linked};
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;
use crate::similarity::MemberFilter;

/// So many sets are compared without a filter: making one costs about as much as that.
const FEW: usize = sized(4, 1);

/// A content and, once it was measured against some others, its set with a filter of it.
pub struct OneToMany<'a> {
    graph: &'a Graph,
    sets: &'a DocumentSets,
    at_hand: Option<&'a SetsAtHand<'a>>,
    node: Node,
    outline: Outline<'a>,
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
        let outline = sets.outline(graph.doc(node));
        OneToMany { graph, sets, at_hand, node, outline, measured: 0, filtered: None }
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
        self.shared_with(other, self.sets.outline(self.graph.doc(other)))
    }

    /// The same of one whose outline is known.
    ///
    /// # Errors
    /// Those of [`shared_if_linked`].
    pub fn shared_with(&mut self, other: Node, outline: Outline<'_>) -> Result<Option<u32>> {
        let Self { graph, sets, at_hand, node, .. } = *self;
        // As with signatures, what is needed is a number of members only where sets are all that is compared.
        if !sets.context.has_signatures() {
            return shared_if_linked(graph, sets, at_hand, node, other);
        }
        let are_protected = graph.is_protected(node) && graph.is_protected(other);
        let needed = (!are_protected).then(|| sets.needed_if_alike(self.outline, outline)).flatten();
        let Some(needed) = needed else { return Ok(None) };
        let (mut scratch, mut scratch_of_other) = (Vec::new(), Vec::new());
        let of_other = set_of(graph, sets, at_hand, other, &mut scratch_of_other)?;
        if self.measured >= FEW && self.filtered.is_none() {
            let set = set_of(graph, sets, at_hand, node, &mut scratch)?;
            self.filtered = Some((set.to_vec(), MemberFilter::of(set)));
        }
        self.measured += 1;
        let set = match &self.filtered {
            Some((_, filter)) if !filter.may_share(of_other, needed) => return Ok(None),
            Some((set, _)) => set,
            None => set_of(graph, sets, at_hand, node, &mut scratch)?,
        };
        Ok(sets.measure_sets((self.outline.doc, set), (outline.doc, of_other)).map(|measure| measure.shared))
    }
}
