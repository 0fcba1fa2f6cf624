//! Clustering with a guarantee: nothing is removed unless a kept document resembles it (methods section 9).

use crate::error::Result;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::document_sets::DocumentSets;

/// For each content its representative: in keep order, a content joins the first earlier representative it is
/// linked to, or becomes one. Nothing links through a content that represents nobody.
///
/// Links within crowds are measured only against representatives, the earliest first, so a template with a hundred
/// thousand near-copies costs about one measurement a copy.
pub fn conservative(graph: &Graph, sets: &DocumentSets) -> Result<Vec<Node>> {
    let mut representative: Vec<Node> = (0..graph.contents() as Node).collect();
    let mut in_crowd: Vec<Vec<Node>> = vec![Vec::new(); graph.members().len()];
    for node in graph.by_rank() {
        let earlier = |other: &Node| graph.rank(*other) < graph.rank(*node);
        let leads = |other: &Node| representative[*other as usize] == *other;
        let linked =
            graph.links(*node).iter().map(|(other, _)| *other).filter(|other| earlier(other) && leads(other));
        let linked = linked.min_by_key(|other| graph.rank(*other));
        match first_in_crowds(graph, sets, *node, linked, &in_crowd)? {
            Some(leader) => representative[*node as usize] = leader,
            None => graph.crowds(*node).iter().for_each(|crowd| in_crowd[*crowd as usize].push(*node)),
        }
    }
    Ok(representative)
}

/// The first representative linked to `node`: `known`, or an earlier one among those of its crowds.
fn first_in_crowds(
    graph: &Graph,
    sets: &DocumentSets,
    node: Node,
    known: Option<Node>,
    in_crowd: &[Vec<Node>],
) -> Result<Option<Node>> {
    let mut first = known;
    for crowd in graph.crowds(node) {
        for leader in &in_crowd[*crowd as usize] {
            if first.is_some_and(|first| graph.rank(first) <= graph.rank(*leader)) {
                break;
            }
            if graph.meet_first_in(*crowd, node, *leader) && graph.measure(sets, node, *leader)?.is_some() {
                first = Some(*leader);
                break;
            }
        }
        sets.context.status.progress.check()?;
    }
    Ok(first)
}
