//! Clustering by connected components, with the path that holds each member to its representative.
//!
//! Where there are protected documents each represents a cluster of its own: a content goes to the nearest one of its
//! component, by the number of links on the way.

use hashbrown::HashMap;

use crate::components::Forest;
use crate::error::Result;
use crate::flow::catalogue::outlines::Outline;
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
    let firsts = |nodes: &[Node]| firsts_in_hot_groups(graph, asked, level, nodes, parent);
    let is_few = left.len() * level.len() < FEW;
    let firsts = if is_few { firsts(left)? } else { asked.sets.on_all_cores(left, &firsts)? };
    for (node, first) in left.iter().zip(firsts).filter(|(_, first)| *first != Node::MAX) {
        if parent[*node as usize] == Node::MAX {
            next.push(*node);
        }
        parent[*node as usize] = first;
    }
    left.retain(|node| parent[*node as usize] == Node::MAX);
    next.sort_unstable();
    Ok(next)
}

/// For each of some contents the earliest of a level that it is linked to, as far as it is known or they share a hot group.
fn firsts_in_hot_groups(
    graph: &Graph,
    asked: &AskedLinks<'_>,
    level: &[Node],
    nodes: &[Node],
    parent: &[Node],
) -> Result<Vec<Node>> {
    let mut firsts: Vec<Node> = nodes.iter().map(|node| parent[*node as usize]).collect();
    for some in level.chunks(AT_ONCE) {
        // Whoever was found in an earlier part has its first one.
        let mut open = nodes.iter().zip(&mut firsts).filter(|(_, first)| **first > some[0]).peekable();
        if open.peek().is_none() {
            break;
        }
        let part = LevelPart::of(graph, asked.sets, some);
        for (node, first) in open {
            asked.sets.context.status.progress.check()?;
            let found = part.first_linked(graph, &asked.hot_links, *node, *first)?;
            *first = found.unwrap_or(*first);
        }
    }
    Ok(firsts)
}

/// A part of a level, ascending.
struct LevelPart<'a> {
    nodes: &'a [Node],
    outlines: Vec<Outline<'a>>,
    /// Its members by hot group, ascending, with their places in the part as numbers.
    by_hot_group: HashMap<u32, Vec<SizedMember>>,
}

impl LevelPart<'_> {
    fn of<'a>(graph: &'a Graph, sets: &'a DocumentSets, nodes: &'a [Node]) -> LevelPart<'a> {
        let outlines = nodes.iter().map(|node| sets.outline(graph.doc(*node))).collect();
        let mut by_hot_group: HashMap<u32, Vec<SizedMember>> = HashMap::new();
        for (at, node) in (0..).zip(nodes) {
            for (hot_group, limit) in graph.hot_groups(*node) {
                let member = SizedMember { number: at, order: at, ..graph.member(*node, *limit) };
                by_hot_group.entry(*hot_group).or_default().push(member);
            }
        }
        LevelPart { nodes, outlines, by_hot_group }
    }

    /// The earliest one that shares a hot group with `node` and is linked to it, if it comes before `known`.
    fn first_linked(
        &self,
        graph: &Graph,
        hot_links: &HotLinks<'_>,
        node: Node,
        known: Node,
    ) -> Result<Option<Node>> {
        let mut one = hot_links.one(node);
        let mut end = self.nodes.partition_point(|other| *other < known) as u32;
        let mut found = None;
        // Two may meet in several hot groups, and are measured once.
        let mut asked = [false; AT_ONCE];
        for (hot_group, limit) in graph.hot_groups(node) {
            let Some(fellows) = self.by_hot_group.get(hot_group) else { continue };
            let own = graph.member(node, *limit);
            let before = fellows.iter().take_while(|fellow| fellow.number < end);
            for fellow in before.filter(|fellow| fellow.may_meet(&own)) {
                let at = fellow.number as usize;
                let is_new = !std::mem::replace(&mut asked[at], true);
                let (other, outline) = (self.nodes[at], self.outlines[at]);
                if is_new && hot_links.are_linked_with(&mut one, other, outline)? {
                    (end, found) = (fellow.number, Some(other));
                    break;
                }
            }
        }
        Ok(found)
    }
}
