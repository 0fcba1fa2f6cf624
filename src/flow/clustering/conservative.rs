//! Clustering with a guarantee: nothing is removed unless a kept document resembles it (Wang and Gemmell 2005, section 3.2).

use crate::error::Result;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::hot_links::HotLinks;
use crate::flow::document_sets::DocumentSets;

/// For each content its representative: in keep order, a content joins the first earlier representative it is
/// linked to, or becomes one. Nothing links through a content that represents nobody.
///
/// Protected documents come first in keep order and are never linked, so each is a representative.
///
/// Links within hot groups are measured only against representatives, the earliest first, so a template with a hundred
/// thousand near-copies costs about one measurement a copy.
pub fn conservative(graph: &Graph, sets: &DocumentSets) -> Result<Vec<Node>> {
    let mut representative: Vec<Node> = (0..graph.contents() as Node).collect();
    let hot_links = HotLinks::new(graph, sets)?;
    let mut in_hot_group: Vec<Vec<Node>> = vec![Vec::new(); graph.members().len()];
    for node in graph.by_rank() {
        let earlier = |other: &Node| graph.rank(*other) < graph.rank(*node);
        let leads = |other: &Node| representative[*other as usize] == *other;
        let linked =
            graph.links(*node).iter().map(|(other, _)| *other).filter(|other| earlier(other) && leads(other));
        let linked = linked.min_by_key(|other| graph.rank(*other));
        let first = match graph.is_protected(*node) {
            true => None,
            false => first_in_hot_groups(graph, &hot_links, *node, linked, &in_hot_group)?,
        };
        match first {
            Some(leader) => representative[*node as usize] = leader,
            None => graph
                .hot_groups(*node)
                .iter()
                .for_each(|hot_group| in_hot_group[*hot_group as usize].push(*node)),
        }
        sets.context.status.progress.check()?;
    }
    Ok(representative)
}

/// The first representative linked to `node`: `known`, or an earlier one among those of its hot groups.
fn first_in_hot_groups(
    graph: &Graph,
    hot_links: &HotLinks<'_>,
    node: Node,
    known: Option<Node>,
    in_hot_group: &[Vec<Node>],
) -> Result<Option<Node>> {
    let mut first = known;
    for hot_group in graph.hot_groups(node) {
        for leader in &in_hot_group[*hot_group as usize] {
            if first.is_some_and(|first| graph.rank(first) <= graph.rank(*leader)) {
                break;
            }
            if graph.meet_first_in(*hot_group, node, *leader) && hot_links.are_linked(node, *leader)? {
                first = Some(*leader);
                break;
            }
        }
    }
    Ok(first)
}
