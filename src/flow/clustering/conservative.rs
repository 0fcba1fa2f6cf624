//! Clustering with a guarantee: nothing is removed unless a kept document resembles it (Wang and Gemmell 2005, section 3.2).

use hashbrown::HashMap;

use crate::error::Result;
use crate::flow::clustering::at_hand::{SetsAtHand, is_measured, shared_if_linked};
use crate::flow::clustering::by_size::BySize;
use crate::flow::clustering::earlier_candidates::CandidateStretch;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::one_to_many::OneToMany;
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;

/// Contents of which all cores look at once for the first representative among those that were found before.
const BLOCK: usize = sized(1 << 10, 3);
/// Candidates within a block, unless it has one content: they are measured before it is known who represents nobody.
const WITHIN: usize = sized(1 << 12, 3);
/// Fewer pairs are not worth another thread.
const FEW: usize = sized(64, 2);

/// A representative that a content is linked to, and what the two share, if they were measured for that.
type Linked = (Node, Option<u32>);

/// For each content its representative: in keep order, a content joins the first earlier representative it is
/// linked to, or becomes one. Nothing links through a content that represents nobody. And what contents share with their
/// representatives, where candidates are measured only here.
///
/// Protected documents come first in keep order and are never linked, so each is a representative.
///
/// Candidates, and links within hot groups, are measured only against representatives, the earliest first, so a template with a
/// hundred thousand near-copies costs about one measurement a copy. Where many contents of a hot group are linked to nobody in it,
/// each is measured against all of these that sizes do not tell apart from it.
pub fn conservative(graph: &Graph, sets: &DocumentSets) -> Result<(Vec<Node>, HashMap<Node, u32>)> {
    let mut forming = Forming {
        representative: (0..graph.contents() as Node).collect(),
        shared: HashMap::new(),
        found: Representatives::none(graph),
        new: Representatives::none(graph),
        candidates: CandidateStretch::default(),
        at_hand: graph.has_unmeasured().then(|| SetsAtHand::none(graph, sets)),
        graph,
        sets,
    };
    let mut from = 0;
    while from < graph.contents() {
        let end = forming.at_hand_to(from)?;
        let to = forming.block_end(from, end);
        forming.block(&graph.by_rank()[from..to])?;
        from = to;
    }
    Ok((forming.representative, forming.shared))
}

/// Two contents of a block that are linked, the later one first, and what they share.
type LinkWithin = (Node, Node, u32);

/// Clusters under way.
struct Forming<'a> {
    graph: &'a Graph,
    sets: &'a DocumentSets,
    /// For each content its representative; itself, as long as none is known.
    representative: Vec<Node>,
    shared: HashMap<Node, u32>,
    /// Representatives before the block.
    found: Representatives<'a>,
    /// Those of the block.
    new: Representatives<'a>,
    /// The candidates of some contents, where these are measured only here, and the sets to measure them on.
    candidates: CandidateStretch,
    at_hand: Option<SetsAtHand<'a>>,
}

impl Forming<'_> {
    /// Sees to it that the candidates and sets of contents from a rank on are at hand, and says to which.
    fn at_hand_to(&mut self, from: usize) -> Result<usize> {
        let mut end = self.graph.contents();
        if let Some(candidates) = self.graph.earlier_candidates() {
            if self.candidates.end() <= from {
                // Not both are held at once.
                self.candidates = CandidateStretch::default();
                self.candidates = candidates.stretch(from)?;
            }
            end = end.min(self.candidates.end());
        }
        if let Some(at_hand) = &mut self.at_hand {
            if at_hand.end() <= from {
                at_hand.bring_next()?;
            }
            end = end.min(at_hand.end());
        }
        Ok(end)
    }

    /// Where a block ends that begins at a rank, at `end` at the latest.
    fn block_end(&self, from: usize, end: usize) -> usize {
        let mut within = 0;
        let ranks = (from as u32..end as u32).take(BLOCK);
        let fits = |rank: &u32| {
            within += self.candidates_from(*rank, from as u32).len();
            *rank as usize == from || within <= WITHIN
        };
        from + ranks.take_while(fits).count()
    }

    /// The ranks of the candidates of a content, told by its own, that come before it.
    fn candidates_before(&self, rank: u32) -> &[u32] {
        if self.at_hand.is_some() { self.candidates.of(rank) } else { &[] }
    }

    /// Those of them that do not come before `start`.
    fn candidates_from(&self, rank: u32, start: u32) -> &[u32] {
        let candidates = self.candidates_before(rank);
        &candidates[candidates.partition_point(|other| *other < start)..]
    }

    /// Finds the representatives of contents that stand one behind the other in keep order.
    fn block(&mut self, block: &[Node]) -> Result<()> {
        let (graph, start) = (self.graph, self.graph.rank(block[0]));
        let measured: Vec<Node> = block.iter().copied().filter(|node| is_measured(graph, *node)).collect();
        let first_before = |some: &[Node]| some.iter().map(|node| self.first_before(*node, start)).collect();
        let before = self.sets.on_all_cores(&measured, &first_before)?;
        let undecided = measured.iter().zip(&before).filter(|(_, found)| found.is_none());
        let undecided: Vec<Node> = undecided.map(|(node, _)| *node).collect();
        let within = self.links_within(&undecided, start)?;
        let mut before = measured.iter().zip(before).peekable();
        for node in block {
            // Whoever was found before this block comes before all that are found in it.
            let found = before.next_if(|(measured, _)| *measured == node).and_then(|(_, found)| found);
            let first = match found {
                Some(found) => Some(found),
                None => self.first_within(*node, &within)?,
            };
            match first {
                Some((leader, shared)) => {
                    self.representative[*node as usize] = leader;
                    if let Some(shared) = shared.filter(|_| self.at_hand.is_some()) {
                        self.shared.insert(*node, shared);
                    }
                }
                None => self.new.add(*node),
            }
        }
        self.found.take_in(&mut self.new);
        if let Some(at_hand) = &mut self.at_hand {
            let leads = |node: &&Node| self.representative[**node as usize] == **node;
            measured.iter().filter(leads).try_for_each(|node| at_hand.hold(*node))?;
        }
        self.sets.context.status.progress.check()
    }

    /// The first representative of those before a block, which starts at this rank, that a content is linked to.
    fn first_before(&self, node: Node, start: u32) -> Result<Option<Linked>> {
        self.sets.context.status.progress.check()?;
        let (mut known, mut one) = (self.linked(node, start), self.one(node));
        let candidates = self.candidates_before(self.graph.rank(node)).iter();
        let earlier = candidates.take_while(|rank| **rank < start);
        for other in earlier.map(|rank| self.graph.by_rank()[*rank as usize]) {
            if self.representative[other as usize] == other {
                let shared = one.shared(other)?;
                known = shared.map(|shared| (other, Some(shared)));
            }
            if known.is_some() {
                break;
            }
        }
        self.found.first_linked(&mut one, known)
    }

    /// The candidates within a block, which starts at this rank, that are linked, among contents that join nobody before it.
    fn links_within(&self, undecided: &[Node], start: u32) -> Result<Vec<LinkWithin>> {
        let with_rank = |rank: &u32| undecided.binary_search_by_key(rank, |node| self.graph.rank(*node)).ok();
        let pairs = undecided.iter().flat_map(|node| {
            let earlier = self.candidates_from(self.graph.rank(*node), start).iter();
            earlier.filter_map(with_rank).map(|at| (*node, undecided[at]))
        });
        let pairs: Vec<(Node, Node)> = pairs.collect();
        let measure = |some: &[(Node, Node)]| {
            let measure = |(node, other): &(Node, Node)| {
                self.sets.context.status.progress.check()?;
                let shared = shared_if_linked(self.graph, self.sets, self.at_hand.as_ref(), *node, *other)?;
                Ok(shared.map(|shared| (*node, *other, shared)))
            };
            some.iter().map(measure).collect::<Result<Vec<_>>>()
        };
        let measured =
            if pairs.len() < FEW { measure(&pairs) } else { self.sets.on_all_cores(&pairs, &measure) };
        Ok(measured?.into_iter().flatten().collect())
    }

    /// The first representative of the block that a content is linked to, or one with a stored link.
    fn first_within(&self, node: Node, within: &[LinkWithin]) -> Result<Option<Linked>> {
        let from = within.partition_point(|(later, ..)| self.graph.rank(*later) < self.graph.rank(node));
        let links = within[from..].iter().take_while(|(later, ..)| *later == node);
        let mut leaders = links.filter(|(_, other, _)| self.representative[*other as usize] == *other);
        let measured = leaders.next().map(|(_, other, shared)| (*other, Some(*shared)));
        let known = measured.or_else(|| self.linked(node, self.graph.rank(node)));
        self.new.first_linked(&mut self.one(node), known)
    }

    /// The first representative of those before `end` in keep order to which a content has a stored link.
    fn linked(&self, node: Node, end: u32) -> Option<Linked> {
        let leads =
            |other: &Node| self.graph.rank(*other) < end && self.representative[*other as usize] == *other;
        let links = self.graph.links(node).iter().map(|(other, _)| *other);
        links.filter(leads).min_by_key(|other| self.graph.rank(*other)).map(|leader| (leader, None))
    }

    /// A content that is held against others.
    fn one(&self, node: Node) -> OneToMany<'_> {
        OneToMany::new(self.graph, self.sets, self.at_hand.as_ref(), node)
    }
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

    /// The first one linked to a content: `known`, or one of its hot groups that comes before that.
    fn first_linked(&self, one: &mut OneToMany<'_>, known: Option<Linked>) -> Result<Option<Linked>> {
        let (graph, node) = (self.graph, one.node());
        let mut first = known;
        if graph.is_protected(node) {
            return Ok(first);
        }
        for (hot_group, limit) in graph.hot_groups(node) {
            let end = first.map_or(u32::MAX, |(first, _)| graph.rank(first));
            let mut shared = None;
            let is_linked = |other: Node| {
                if graph.meet_first_in(*hot_group, node, other) {
                    shared = one.shared(other)?;
                }
                Ok(shared.is_some())
            };
            let member = graph.member(node, *limit);
            let found = self.in_hot_group[*hot_group as usize].first_linked(&member, end, is_linked)?;
            first = found.map(|(_, leader)| (leader, shared)).or(first);
        }
        Ok(first)
    }
}
