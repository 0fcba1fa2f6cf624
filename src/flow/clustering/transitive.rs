//! Clustering by connected components, with the path that holds each member to its representative.
//!
//! Where there are protected documents each represents a cluster of its own: a content goes to the nearest one of its
//! component, by the number of links on the way.

use hashbrown::HashMap;

use crate::components::Forest;
use crate::error::Result;
use crate::flow::clustering::at_hand::SetsAtHand;
use crate::flow::clustering::by_size::{BySize, SizedMember, join_part};
use crate::flow::clustering::candidate_links::CandidateLinks;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::hot_links::HotLinks;
use crate::flow::clustering::one_to_many::OneToMany;
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;

/// Contents of a level that others are held against at a time: their sets stay in the caches.
const AT_ONCE: usize = sized(1 << 8, 2);
/// Fewer pairs of a level and of what is left are not worth another thread.
const FEW: usize = sized(1 << 10, 4);

/// Components and paths.
pub struct TransitiveClusters {
    /// For each content the content that represents it: the nearest protected one of its component, or, if there is none, the best
    /// in keep order.
    pub representative: Vec<Node>,
    /// For each content its parent in a breadth-first search from the representative; itself for a representative.
    pub parent: Vec<Node>,
    /// What contents share with their representatives, as far as candidates were measured only here.
    pub shared: HashMap<Node, u32>,
}

/// The components of the graph, hot groups included.
pub fn transitive(graph: &Graph, sets: &DocumentSets) -> Result<TransitiveClusters> {
    let mut forest = Forest::new(graph.contents());
    for node in 0..graph.contents() as Node {
        graph.links(node).iter().for_each(|(other, _)| {
            forest.union(node, *other);
        });
    }
    let at_hand = graph.has_unmeasured().then(|| SetsAtHand::of_all(graph, sets)).transpose()?;
    let mut candidates = CandidateLinks::new(graph, sets, at_hand.as_ref());
    candidates.connect(&mut forest)?;
    let hot_links = HotLinks::measured_ahead(graph, sets, at_hand.as_ref())?;
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
    candidates.measure_ahead(&representative)?;
    let (representative, parent) =
        paths(graph, &AskedLinks { sets, candidates: &candidates, hot_links }, representative)?;
    let shared = candidates.shared_with(&representative)?;
    Ok(TransitiveClusters { representative, parent, shared })
}

/// Links that are measured when they are asked for.
struct AskedLinks<'a> {
    sets: &'a DocumentSets,
    candidates: &'a CandidateLinks<'a>,
    hot_links: HotLinks<'a>,
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
        settled = join_part(settled, new.clone(), |other| {
            sets.context.status.progress.check()?;
            let linked = any_link(graph, hot_links, hot_group, &new, other)?;
            linked.inspect(|linked| _ = forest.union(root, *linked));
            Ok(linked.is_some())
        })?;
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
    let mut asked: Option<OneToMany<'_>> = None;
    others.any_linked(new, |one, other| {
        if !graph.meet_first_in(hot_group, one, other) {
            return Ok(None);
        }
        let asked = match &mut asked {
            Some(asked) if asked.node() == one => asked,
            asked => asked.insert(hot_links.one(one)),
        };
        Ok(hot_links.are_linked(asked, other)?.then_some(other))
    })
}

/// Breadth-first parents in every component, the earliest possible one for each content, from the protected contents of the
/// component or else from the one that represents it.
fn paths(
    graph: &Graph,
    asked: &AskedLinks<'_>,
    mut representative: Vec<Node>,
) -> Result<(Vec<Node>, Vec<Node>)> {
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
            asked.sets.context.status.progress.check()?;
            for node in &level {
                let from = parent[*node as usize];
                representative[*node as usize] =
                    if from == *node { from } else { representative[from as usize] };
            }
            level = next_level(graph, asked, &level, &mut left, &mut parent)?;
        }
    }
    Ok((representative, parent))
}

/// One step of the search: whatever is linked to `level` and not reached yet, in document order.
fn next_level(
    graph: &Graph,
    asked: &AskedLinks<'_>,
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
    for (node, first) in asked.candidates.first_in_level(level, &next, parent)? {
        if parent[node as usize] == Node::MAX {
            next.push(node);
        }
        parent[node as usize] = first;
    }
    next.sort_unstable();
    left.retain(|node| parent[*node as usize] == Node::MAX || next.binary_search(node).is_ok());
    for some in level.chunks(AT_ONCE) {
        // Whoever was found in an earlier part has its first one.
        let open: Vec<Node> = left.iter().copied().filter(|node| parent[*node as usize] > some[0]).collect();
        let by_hot_group = if open.is_empty() { break } else { by_hot_group(graph, some) };
        let first = |node: &Node| {
            asked.sets.context.status.progress.check()?;
            let known = parent[*node as usize];
            let found = first_of(graph, &asked.hot_links, *node, known, (some, &by_hot_group))?;
            Ok(found.unwrap_or(known))
        };
        let firsts = |nodes: &[Node]| nodes.iter().map(first).collect::<Result<Vec<Node>>>();
        let is_few = open.len() * some.len() < FEW;
        let firsts = if is_few { firsts(&open)? } else { asked.sets.on_all_cores(&open, &firsts)? };
        for (node, first) in open.into_iter().zip(firsts) {
            if parent[node as usize] == Node::MAX && first != Node::MAX {
                next.push(node);
            }
            parent[node as usize] = first;
        }
    }
    left.retain(|node| parent[*node as usize] == Node::MAX);
    next.sort_unstable();
    Ok(next)
}

/// Members of a level by hot group, with their places in it as numbers.
fn by_hot_group(graph: &Graph, level: &[Node]) -> HashMap<u32, BySize> {
    let mut by_hot_group: HashMap<u32, BySize> = HashMap::new();
    for (at, node) in (0..).zip(level) {
        for (hot_group, limit) in graph.hot_groups(*node) {
            let member = SizedMember { number: at, order: at, ..graph.member(*node, *limit) };
            by_hot_group.entry(*hot_group).or_default().push(member);
        }
    }
    by_hot_group
}

/// The earliest of some members of a level that shares a hot group with `node` and is linked to it, if it comes before `known`.
fn first_of(
    graph: &Graph,
    hot_links: &HotLinks<'_>,
    node: Node,
    known: Node,
    (some, by_hot_group): (&[Node], &HashMap<u32, BySize>),
) -> Result<Option<Node>> {
    let mut one = hot_links.one(node);
    let mut end = some.partition_point(|other| *other < known) as u32;
    let mut found = None;
    // Two may meet in several hot groups, and are measured once.
    let mut asked = [false; AT_ONCE];
    for (hot_group, limit) in graph.hot_groups(node) {
        let Some(fellows) = by_hot_group.get(hot_group) else { continue };
        let is_linked = |at: u32| {
            let is_new = !std::mem::replace(&mut asked[at as usize], true);
            Ok(is_new && hot_links.are_linked(&mut one, some[at as usize])?)
        };
        if let Some((at, _)) = fellows.first_linked(&graph.member(node, *limit), end, is_linked)? {
            (end, found) = (at, Some(some[at as usize]));
        }
    }
    Ok(found)
}
