//! Clustering by connected components, with the path that holds each member to its representative.
//!
//! Where there are protected documents each represents a cluster of its own: a content goes to the nearest one of its
//! component, by the number of links on the way.

use hashbrown::HashMap;

use crate::components::Forest;
use crate::error::Result;
use crate::flow::clustering::by_size::{BySize, SizedMember};
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::hot_links::HotLinks;
use crate::flow::document_sets::DocumentSets;

/// Components and paths.
pub struct TransitiveClusters {
    /// For each content the content that represents it: the nearest protected one of its component, or, if there is none, the best
    /// in keep order.
    pub representative: Vec<Node>,
    /// For each content its parent in a breadth-first search from the representative; itself for a representative.
    pub parent: Vec<Node>,
}

/// The components of the graph, hot groups included.
pub fn transitive(graph: &Graph, sets: &DocumentSets) -> Result<TransitiveClusters> {
    let mut forest = Forest::new(graph.contents());
    for node in 0..graph.contents() as Node {
        graph.links(node).iter().for_each(|(other, _)| {
            forest.union(node, *other);
        });
    }
    let hot_links = HotLinks::measured_ahead(graph, sets)?;
    for hot_group in 0..graph.members().len() as u32 {
        connect(graph, (sets, &hot_links), hot_group, &mut forest)?;
    }
    let mut representative = vec![Node::MAX; graph.contents()];
    for node in graph.by_rank() {
        let root = forest.find(*node) as usize;
        if representative[root] == Node::MAX {
            representative[root] = *node;
        }
    }
    let representative: Vec<Node> =
        (0..graph.contents() as Node).map(|node| representative[forest.find(node) as usize]).collect();
    paths(graph, (sets, &hot_links), representative)
}

/// Joins the components that a hot group spans wherever any two of their members in it are linked. Pairs within one
/// component are looked at no more, and a pair only in the first hot group both are in.
fn connect(
    graph: &Graph,
    (sets, hot_links): (&DocumentSets, &HotLinks<'_>),
    hot_group: u32,
    forest: &mut Forest,
) -> Result<()> {
    let (protected, others): (Vec<Node>, Vec<Node>) =
        graph.members()[hot_group as usize].iter().partition(|node| graph.is_protected(**node));
    let mut parts: Vec<(Node, Node)> = others.into_iter().map(|node| (forest.find(node), node)).collect();
    parts.sort_unstable();
    if protected.is_empty() && parts.iter().all(|(root, _)| *root == parts[0].0) {
        return Ok(());
    }
    let mut settled: Vec<BySize> = Vec::new();
    for part in parts.chunk_by(|a, b| a.0 == b.0) {
        let root = part[0].1;
        let new = by_size(graph, hot_group, part.iter().map(|(_, node)| *node));
        let mut part = new.clone();
        let mut apart = Vec::new();
        for mut other in settled {
            sets.context.status.progress.check()?;
            // Settled parts are known to be apart: what the new one is joined to is not compared again.
            match any_link(graph, hot_links, hot_group, &new, &other)? {
                Some(linked) => {
                    forest.union(root, linked);
                    // A large part takes in a small one: moving it for each member would cost the square of their number.
                    if part.len() < other.len() {
                        std::mem::swap(&mut part, &mut other);
                    }
                    part.append(other);
                }
                None => apart.push(other),
            }
        }
        // The largest part first: most of what comes joins it at once.
        let at = apart.iter().position(|other| other.len() < part.len()).unwrap_or(apart.len());
        apart.insert(at, part);
        settled = apart;
    }
    // Protected ones are not linked to each other.
    for node in protected {
        sets.context.status.progress.check()?;
        let alone = by_size(graph, hot_group, std::iter::once(node));
        for part in &settled {
            let Some(root) = part.members().next().map(|member| forest.find(member.number)) else { continue };
            if forest.find(node) != root && any_link(graph, hot_links, hot_group, &alone, part)?.is_some() {
                forest.union(node, root);
            }
        }
    }
    Ok(())
}

/// Members of a hot group by size, in the order of their numbers.
fn by_size(graph: &Graph, hot_group: u32, nodes: impl Iterator<Item = Node>) -> BySize {
    let mut by_size = BySize::default();
    for node in nodes {
        let groups = graph.hot_groups(node);
        let at = groups.binary_search_by_key(&hot_group, |(id, _)| *id).ok();
        by_size.extend(at.map(|at| SizedMember { order: node, ..graph.member(node, groups[at].1) }));
    }
    by_size
}

/// A member of `others` that is linked to one of `new`.
fn any_link(
    graph: &Graph,
    hot_links: &HotLinks<'_>,
    hot_group: u32,
    new: &BySize,
    others: &BySize,
) -> Result<Option<Node>> {
    others.any_linked(new, |one, other| {
        let linked = graph.meet_first_in(hot_group, one, other) && hot_links.are_linked(one, other)?;
        Ok(linked.then_some(other))
    })
}

/// Breadth-first parents in every component, the earliest possible one for each content, from the protected contents of the
/// component or else from the one that represents it.
fn paths(
    graph: &Graph,
    (sets, hot_links): (&DocumentSets, &HotLinks<'_>),
    mut representative: Vec<Node>,
) -> Result<TransitiveClusters> {
    let mut parent: Vec<Node> = vec![Node::MAX; graph.contents()];
    let mut members: Vec<(Node, Node)> = representative.iter().copied().zip(0..).collect();
    members.sort_unstable();
    for component in members.chunk_by(|a, b| a.0 == b.0) {
        let nodes = || component.iter().map(|(_, node)| *node);
        let mut level: Vec<Node> = nodes().filter(|node| graph.is_protected(*node)).collect();
        if level.is_empty() {
            level.push(component[0].0);
        }
        level.iter().for_each(|start| parent[*start as usize] = *start);
        let unreached = |node: &Node| parent[*node as usize] == Node::MAX;
        let mut left: Vec<Node> =
            nodes().filter(|node| !graph.hot_groups(*node).is_empty() && unreached(node)).collect();
        while !level.is_empty() {
            sets.context.status.progress.check()?;
            for node in &level {
                let from = parent[*node as usize];
                representative[*node as usize] =
                    if from == *node { from } else { representative[from as usize] };
            }
            level = next_level(graph, hot_links, &level, &mut left, &mut parent)?;
        }
    }
    Ok(TransitiveClusters { representative, parent })
}

/// One step of the search: whatever is linked to `level` and not reached yet, in document order.
fn next_level(
    graph: &Graph,
    hot_links: &HotLinks<'_>,
    level: &[Node],
    left: &mut Vec<Node>,
    parent: &mut [Node],
) -> Result<Vec<Node>> {
    let mut next = Vec::new();
    for node in level {
        for (other, _) in graph.links(*node) {
            if parent[*other as usize] == Node::MAX {
                parent[*other as usize] = *node;
                next.push(*other);
            }
        }
    }
    next.sort_unstable();
    left.retain(|node| parent[*node as usize] == Node::MAX || next.binary_search(node).is_ok());
    if !left.is_empty() {
        let by_hot_group = by_hot_group(graph, level);
        for node in left.iter() {
            let known = parent[*node as usize];
            let first = first_in_level(graph, hot_links, *node, known, &by_hot_group)?;
            if known == Node::MAX && first != Node::MAX {
                next.push(*node);
            }
            parent[*node as usize] = first;
        }
        left.retain(|node| parent[*node as usize] == Node::MAX);
        next.sort_unstable();
    }
    Ok(next)
}

/// The members of a level, by hot group.
fn by_hot_group(graph: &Graph, level: &[Node]) -> HashMap<u32, BySize> {
    let mut by_hot_group: HashMap<u32, BySize> = HashMap::new();
    for node in level {
        for (hot_group, limit) in graph.hot_groups(*node) {
            let member = SizedMember { order: *node, ..graph.member(*node, *limit) };
            by_hot_group.entry(*hot_group).or_default().push(member);
        }
    }
    by_hot_group
}

/// The earliest member of a level that `node` is linked to: `known`, or an earlier one that shares a hot group.
fn first_in_level(
    graph: &Graph,
    hot_links: &HotLinks<'_>,
    node: Node,
    known: Node,
    by_hot_group: &HashMap<u32, BySize>,
) -> Result<Node> {
    let mut first = known;
    for (hot_group, limit) in graph.hot_groups(node) {
        let Some(fellows) = by_hot_group.get(hot_group) else { continue };
        let is_linked = |other: Node| {
            Ok(graph.meet_first_in(*hot_group, node, other) && hot_links.are_linked(node, other)?)
        };
        let found = fellows.first_linked(&graph.member(node, *limit), first, is_linked)?;
        first = found.map_or(first, |(other, _)| other);
    }
    Ok(first)
}
