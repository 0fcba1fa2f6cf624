//! Clustering with a guarantee: nothing is removed unless a kept document resembles it (Wang and Gemmell 2005, section 3.2).

use crate::error::Result;
use crate::flow::clustering::by_size::BySize;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::hot_links::HotLinks;
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;

/// Contents of which all cores look at once for the first representative among those that were found before.
const BLOCK: usize = sized(1 << 10, 3);

/// For each content its representative: in keep order, a content joins the first earlier representative it is
/// linked to, or becomes one. Nothing links through a content that represents nobody.
///
/// Protected documents come first in keep order and are never linked, so each is a representative.
///
/// Links within hot groups are measured only against representatives, the earliest first, so a template with a hundred
/// thousand near-copies costs about one measurement a copy. Where many contents of a hot group are linked to nobody in it, each is
/// measured against all of these that sizes do not tell apart from it.
pub fn conservative(graph: &Graph, sets: &DocumentSets) -> Result<Vec<Node>> {
    let mut representative: Vec<Node> = (0..graph.contents() as Node).collect();
    let hot_links = HotLinks::new(graph, sets);
    let (mut found, mut new) = (Representatives::none(graph), Representatives::none(graph));
    for block in graph.by_rank().chunks(BLOCK) {
        let start = graph.rank(block[0]);
        let hot: Vec<Node> =
            block.iter().copied().filter(|node| !graph.hot_groups(*node).is_empty()).collect();
        let before = sets.on_all_cores(&hot, &|some| {
            let first = |node: &Node| {
                sets.context.status.progress.check()?;
                found.first_linked(*node, linked(graph, &representative, *node, start), &hot_links)
            };
            some.iter().map(first).collect()
        })?;
        let mut before = before.into_iter();
        for node in block {
            let known = linked(graph, &representative, *node, graph.rank(*node));
            let first = match graph.hot_groups(*node) {
                [] => known,
                _ => match before.next().flatten() {
                    // Whoever was found before this block comes before all that are found in it.
                    Some(leader) => Some(leader),
                    None => new.first_linked(*node, known, &hot_links)?,
                },
            };
            match first {
                Some(leader) => representative[*node as usize] = leader,
                None => new.add(*node),
            }
        }
        found.take_in(&mut new);
        sets.context.status.progress.check()?;
    }
    Ok(representative)
}

/// The first representative of those before `end` in keep order to which a content has a stored link.
fn linked(graph: &Graph, representative: &[Node], node: Node, end: u32) -> Option<Node> {
    let leads = |other: &Node| graph.rank(*other) < end && representative[*other as usize] == *other;
    let links = graph.links(node).iter().map(|(other, _)| *other);
    links.filter(leads).min_by_key(|other| graph.rank(*other))
}

/// Some representatives, by the hot groups that they are in.
struct Representatives<'a> {
    graph: &'a Graph,
    in_hot_group: Vec<BySize>,
    /// Hot groups in which there are any.
    filled: Vec<u32>,
}

impl Representatives<'_> {
    fn none(graph: &Graph) -> Representatives<'_> {
        let in_hot_group = vec![BySize::default(); graph.members().len()];
        Representatives { graph, in_hot_group, filled: Vec::new() }
    }

    /// Adds one that comes behind all others in keep order.
    fn add(&mut self, node: Node) {
        for (hot_group, limit) in self.graph.hot_groups(node) {
            let fellows = &mut self.in_hot_group[*hot_group as usize];
            if fellows.is_empty() {
                self.filled.push(*hot_group);
            }
            fellows.push(self.graph.member(node, *limit));
        }
    }

    /// Takes all of some that come behind these in keep order.
    fn take_in(&mut self, new: &mut Representatives<'_>) {
        for hot_group in new.filled.drain(..) {
            let of_group = std::mem::take(&mut new.in_hot_group[hot_group as usize]);
            self.in_hot_group[hot_group as usize].append(of_group);
        }
    }

    /// The first one linked to `node`: `known`, or one of its hot groups that comes before that.
    fn first_linked(
        &self,
        node: Node,
        known: Option<Node>,
        hot_links: &HotLinks<'_>,
    ) -> Result<Option<Node>> {
        let graph = self.graph;
        let mut first = known;
        if graph.is_protected(node) {
            return Ok(first);
        }
        for (hot_group, limit) in graph.hot_groups(node) {
            let end = first.map_or(u32::MAX, |first| graph.rank(first));
            let is_linked = |other: Node| {
                Ok(graph.meet_first_in(*hot_group, node, other) && hot_links.are_linked(node, other)?)
            };
            let member = graph.member(node, *limit);
            let found = self.in_hot_group[*hot_group as usize].first_linked(&member, end, is_linked)?;
            first = found.map(|(_, leader)| leader).or(first);
        }
        Ok(first)
    }
}
