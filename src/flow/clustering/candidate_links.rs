//! Links between candidates that were not measured before, which connected components ask for as far as they need them.
//!
//! Pages that are alike by the million pairs are in one component as soon as each was found one link, and what is within a component is
//! not measured to find it. A search from its representative then looks for one link a content.

use hashbrown::HashMap;

use crate::components::Forest;
use crate::error::Result;
use crate::flow::clustering::at_hand::{SetsAtHand, is_measured};
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::one_to_many::OneToMany;
use crate::flow::document_sets::DocumentSets;
use crate::limits::sized;

/// Pairs that are measured at a time.
const STRETCH: usize = sized(1 << 16, 5);
/// Pairs measured between two looks at whether to stop.
const STEP: usize = sized(1 << 10, 3);
/// Fewer pairs are not worth another thread.
const FEW: usize = sized(256, 2);

/// The links of a graph that its candidates have.
pub struct CandidateLinks<'a> {
    graph: &'a Graph,
    sets: &'a DocumentSets,
    at_hand: Option<&'a SetsAtHand<'a>>,
    /// For each content the one that represents its component. No candidates in two components are linked.
    component: Vec<Node>,
    /// For each content one of its candidates that it was measured against ahead, and what they share if they are linked; itself where
    /// it was measured against none.
    ahead: Vec<(Node, Option<u32>)>,
}

impl<'a> CandidateLinks<'a> {
    /// The links of a graph, on all sets that it takes to measure them.
    pub fn new(
        graph: &'a Graph,
        sets: &'a DocumentSets,
        at_hand: Option<&'a SetsAtHand<'a>>,
    ) -> CandidateLinks<'a> {
        let ahead = (0..graph.contents() as Node).map(|node| (node, None)).collect();
        CandidateLinks { graph, sets, at_hand, component: Vec::new(), ahead }
    }

    /// Joins the components that candidates link. Each content asks for one more candidate in another component, then for two, for
    /// four and so on, so that few are measured of which another one says the same, and many at a time.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file; [`crate::error::Error::Interrupted`]; those of [`DocumentSets::on_all_cores`].
    pub fn connect(&self, forest: &mut Forest) -> Result<()> {
        let graph = self.graph;
        let has_more = |asked: &[usize], node: Node| asked[node as usize] < graph.candidates(node).len();
        let mut asked = vec![0; graph.contents()];
        let mut open: Vec<Node> =
            (0..graph.contents() as Node).filter(|node| has_more(&asked, *node)).collect();
        let mut pairs = Vec::new();
        let mut each = 1;
        while !open.is_empty() {
            for node in &open {
                let (candidates, at) = (graph.candidates(*node), &mut asked[*node as usize]);
                let mut more = 0;
                while *at < candidates.len() && more < each {
                    let other = graph.by_rank()[candidates[*at] as usize];
                    *at += 1;
                    if forest.find(*node) != forest.find(other) {
                        pairs.push((*node, other));
                        more += 1;
                    }
                }
                if pairs.len() >= STRETCH {
                    self.join(&mut pairs, forest)?;
                }
            }
            self.join(&mut pairs, forest)?;
            open.retain(|node| has_more(&asked, *node));
            each *= 2;
        }
        Ok(())
    }

    /// Joins the components of those pairs that are linked, and forgets the pairs.
    fn join(&self, pairs: &mut Vec<(Node, Node)>, forest: &mut Forest) -> Result<()> {
        let linked = self.measure_all(pairs)?;
        for ((a, b), _) in pairs.drain(..).zip(linked).filter(|(_, linked)| linked.is_some()) {
            forest.union(a, b);
        }
        Ok(())
    }

    /// Measures contents against the representatives of their components, once these are known, where they are candidates: most are linked
    /// to them, and small components have nothing else to measure.
    ///
    /// # Errors
    /// Those of [`CandidateLinks::connect`].
    pub fn measure_ahead(&mut self, representative: &[Node]) -> Result<()> {
        let graph = self.graph;
        self.component = representative.to_vec();
        let are_candidates =
            |(node, first): &(Node, Node)| graph.candidates(*node).binary_search(&graph.rank(*first)).is_ok();
        let pairs: Vec<(Node, Node)> =
            (0..).zip(representative.iter().copied()).filter(are_candidates).collect();
        for ((node, first), shared) in pairs.iter().zip(self.measure_all(&pairs)?) {
            self.ahead[*node as usize] = (*first, shared);
        }
        Ok(())
    }

    /// The contents that are linked to one of a level, each with the earliest of it. Asked for are those of its component that have no
    /// parent yet, and those of `reached` that have a later one.
    ///
    /// # Errors
    /// Those of [`CandidateLinks::connect`].
    pub fn first_in_level(
        &self,
        level: &[Node],
        reached: &[Node],
        parent: &[Node],
    ) -> Result<Vec<(Node, Node)>> {
        let mut pairs = Vec::new();
        for from in level {
            let component = self.component[*from as usize];
            pairs.extend(self.graph.all_candidates(*from).map(|node| (node, *from)).filter(
                |(node, from)| {
                    let known = parent[*node as usize];
                    let is_asked = known == Node::MAX || *from < known && reached.binary_search(node).is_ok();
                    is_asked && self.component[*node as usize] == component
                },
            ));
        }
        pairs.sort_unstable();
        let of_each: Vec<&[(Node, Node)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
        let first_linked = |some: &[&[(Node, Node)]]| {
            let mut found = Vec::new();
            for pairs in some {
                self.sets.context.status.progress.check()?;
                let mut one = OneToMany::new(self.graph, self.sets, self.at_hand, pairs[0].0);
                for (node, from) in *pairs {
                    let known = self.known_ahead(*node, *from);
                    if known.map_or_else(|| one.shared(*from), Ok)?.is_some() {
                        found.push((*node, *from));
                        break;
                    }
                }
            }
            Ok(found)
        };
        if pairs.len() < FEW {
            first_linked(&of_each)
        } else {
            self.sets.on_all_cores(&of_each, &first_linked)
        }
    }

    /// What contents share with the ones that represent them, linked or not, as far as their sets are at hand.
    ///
    /// # Errors
    /// Those of [`CandidateLinks::connect`].
    pub fn shared_with(&self, representative: &[Node]) -> Result<HashMap<Node, u32>> {
        let Some(at_hand) = self.at_hand else { return Ok(HashMap::new()) };
        let is_at_hand = |(node, leader): &(Node, Node)| {
            node != leader && is_measured(self.graph, *node) && is_measured(self.graph, *leader)
        };
        let pairs: Vec<(Node, Node)> = (0..).zip(representative.iter().copied()).filter(is_at_hand).collect();
        let shared = |some: &[(Node, Node)]| {
            let shared = |(node, leader): &(Node, Node)| {
                self.sets.context.status.progress.check()?;
                let known = self.known_ahead(*node, *leader).flatten();
                known.map_or_else(|| at_hand.share(*node, *leader), Ok)
            };
            some.iter().map(shared).collect::<Result<Vec<u32>>>()
        };
        let shared = self.sets.on_all_cores(&pairs, &shared)?;
        Ok(pairs.into_iter().map(|(node, _)| node).zip(shared).collect())
    }

    fn known_ahead(&self, node: Node, other: Node) -> Option<Option<u32>> {
        let (first, shared) = self.ahead[node as usize];
        (first == other).then_some(shared)
    }

    /// What the two of each pair share, if they are linked.
    fn measure_all(&self, pairs: &[(Node, Node)]) -> Result<Vec<Option<u32>>> {
        let measure = |pairs: &[(Node, Node)]| {
            let mut shared = Vec::with_capacity(pairs.len());
            for of_one in pairs.chunk_by(|a, b| a.0 == b.0) {
                let mut one = OneToMany::new(self.graph, self.sets, self.at_hand, of_one[0].0);
                for some in of_one.chunks(STEP) {
                    self.sets.context.status.progress.check()?;
                    for (_, other) in some {
                        shared.push(one.shared(*other)?);
                    }
                }
            }
            Ok(shared)
        };
        if pairs.len() < FEW { measure(pairs) } else { self.sets.on_all_cores(pairs, &measure) }
    }
}
