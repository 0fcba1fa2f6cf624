//! Links between members of hot groups, which connected components ask for one by one.
//!
//! Of near-copies in mass nearly all are linked to the one that is kept before all others. So each member is measured against that
//! one first, on all cores, where components are found by one thread.

use crate::error::Result;
use crate::flow::catalogue::outlines::Outline;
use crate::flow::clustering::at_hand::{SetsAtHand, shared_if_linked};
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::one_to_many::OneToMany;
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;

/// Members measured between two looks at whether to stop.
const STEP: usize = sized(1 << 10, 3);

/// The links of a graph that its hot groups have.
pub struct HotLinks<'a> {
    graph: &'a Graph,
    sets: &'a DocumentSets,
    at_hand: Option<&'a SetsAtHand<'a>>,
    /// For each content the one that it was measured against ahead, and whether they are linked; itself where it was measured
    /// against none.
    ahead: Vec<(Node, bool)>,
}

impl HotLinks<'_> {
    /// Measures each member of a hot group against the one of its first group that comes first in keep order.
    ///
    /// # Errors
    /// Those of [`shared_if_linked`]; those of [`DocumentSets::on_all_cores`]; [`crate::error::Error::Interrupted`].
    pub fn measured_ahead<'a>(
        graph: &'a Graph,
        sets: &'a DocumentSets,
        at_hand: Option<&'a SetsAtHand<'a>>,
    ) -> Result<HotLinks<'a>> {
        let ahead = (0..graph.contents() as Node).map(|node| (node, false)).collect();
        let mut links = HotLinks { graph, sets, at_hand, ahead };
        let first = |members: &Vec<Node>| members.iter().copied().min_by_key(|node| graph.rank(*node));
        let firsts: Vec<Option<Node>> = graph.members().iter().map(first).collect();
        let of_first_group = |node: Node| {
            let (group, _) = *graph.hot_groups(node).first()?;
            firsts[group as usize].filter(|first| *first != node).map(|first| (node, first))
        };
        let pairs: Vec<(Node, Node)> = (0..graph.contents() as Node).filter_map(of_first_group).collect();
        for ((node, first), linked) in pairs.iter().zip(links.measure_all(&pairs)?) {
            links.ahead[*node as usize] = (*first, linked);
        }
        Ok(links)
    }

    /// Whether a member of a hot group is linked to another one.
    ///
    /// # Errors
    /// Those of [`OneToMany::shared_with`].
    pub fn are_linked(&self, one: &mut OneToMany<'_>, other: Node) -> Result<bool> {
        self.are_linked_with(one, other, self.sets.outline(self.graph.doc(other)))
    }

    /// The same, where the outline of the other one is known.
    ///
    /// # Errors
    /// Those of [`OneToMany::shared_with`].
    pub fn are_linked_with(
        &self,
        one: &mut OneToMany<'_>,
        other: Node,
        outline: Outline<'_>,
    ) -> Result<bool> {
        let known = |one: Node, other: Node| {
            let (first, linked) = self.ahead[one as usize];
            (first == other).then_some(linked)
        };
        match known(one.node(), other).or_else(|| known(other, one.node())) {
            Some(linked) => Ok(linked),
            None => Ok(one.shared_with(other, outline)?.is_some()),
        }
    }

    /// A member that is held against others.
    pub fn one(&self, node: Node) -> OneToMany<'_> {
        OneToMany::new(self.graph, self.sets, self.at_hand, node)
    }

    /// Whether the two of each pair are linked.
    fn measure_all(&self, pairs: &[(Node, Node)]) -> Result<Vec<bool>> {
        let measure = |pairs: &[(Node, Node)]| {
            let mut linked = Vec::with_capacity(pairs.len());
            for some in pairs.chunks(STEP) {
                self.sets.context.status.progress.check()?;
                for (a, b) in some {
                    linked.push(shared_if_linked(self.graph, self.sets, self.at_hand, *a, *b)?.is_some());
                }
            }
            Ok(linked)
        };
        self.sets.on_all_cores(pairs, &measure)
    }
}
