//! The near-duplicate graph: contents that anything links, in document order, with their links, copies and hot groups.

use crate::config::Clustering;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::clustering::by_size::SizedMember;
use crate::flow::clustering::earlier_candidates::EarlierCandidates;
pub use crate::flow::clustering::node_lists::Node;
use crate::flow::clustering::node_lists::NodeLists;
use crate::flow::clustering::unmeasured::Unmeasured;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::document_bits::{Ranks, mark, set};
use crate::flow::memory::spill::Piles;
use crate::flow::records::{Candidate, ExactDuplicate};
use crate::flow::results::hot_groups::HotGroup;

/// The graph. Links within a hot group are not stored but measured when asked for.
pub struct Graph {
    docs: Vec<Doc>,
    links: NodeLists<(Node, u32)>,
    candidates: Option<Unmeasured>,
    copies: NodeLists<Doc>,
    members: Vec<Vec<Node>>,
    hot_groups: NodeLists<(u32, u32)>,
    /// The sizes of the contents' sets.
    sizes: Vec<u32>,
    best: Vec<Doc>,
    rank: Vec<u32>,
    by_rank: Vec<Node>,
    /// Contents with protected documents.
    protected: Vec<bool>,
}

impl Graph {
    /// Builds the graph of what a run gathered: its links, and the candidates that were not measured, if that is done as clusters are
    /// formed.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn new(
        sets: &DocumentSets,
        (links, unmeasured): (&[Candidate], Option<Piles<Candidate>>),
        copies: &[ExactDuplicate],
        hot_groups: Vec<HotGroup>,
    ) -> Result<Graph> {
        let mut linked = Vec::new();
        mark(&mut linked, links);
        if let Some(candidates) = &unmeasured {
            candidates.each_slice(|some| {
                mark(&mut linked, some);
                Ok(())
            })?;
        }
        let firsts = copies.iter().map(|copy| copy.first);
        for doc in firsts.chain(hot_groups.iter().flat_map(HotGroup::docs).copied()) {
            set(&mut linked, doc);
        }
        let ranks = Ranks::new(linked);
        let mut docs: Vec<Doc> = ranks.docs().collect();
        docs.sort_unstable_by_key(|doc| sets.documents.catalogue.position(*doc));
        let mut nodes: Vec<Node> = vec![0; docs.len()];
        for (node, doc) in (0..).zip(&docs) {
            nodes[ranks.of(*doc)] = node;
        }
        let node = |doc: Doc| nodes[ranks.of(doc)];
        let both = |link: &Candidate| {
            let (a, b) = link.pair.docs();
            let (a, b) = (node(a), node(b));
            [(a, (b, link.shared)), (b, (a, link.shared))]
        };
        let in_hot_groups = (0..).zip(&hot_groups).flat_map(|(id, hot_group)| {
            hot_group.members().map(move |(doc, limit)| (node(doc), (id, limit)))
        });
        let in_hot_groups = NodeLists::new(docs.len(), in_hot_groups);
        let members = hot_groups.into_iter().map(|hot_group| in_order(hot_group.into_docs(), node)).collect();
        // Copies are listed by position: their numbers are turned into documents after sorting.
        let mut of_content: Vec<(Node, u64, Doc)> = copies
            .iter()
            .map(|copy| (node(copy.first), sets.documents.catalogue.position(copy.doc).to_bits(), copy.doc))
            .collect();
        of_content.sort_unstable();
        let mut graph = Graph {
            candidates: None,
            links: NodeLists::new(docs.len(), links.iter().flat_map(both)),
            copies: NodeLists::in_given_order(
                docs.len(),
                of_content.into_iter().map(|(node, _, doc)| (node, doc)),
            ),
            hot_groups: in_hot_groups,
            sizes: docs.iter().map(|doc| sets.size(*doc)).collect(),
            members,
            best: Vec::new(),
            rank: vec![0; docs.len()],
            by_rank: (0..docs.len() as Node).collect(),
            // Protected documents are the first in document order, and so of their contents.
            protected: docs.iter().map(|doc| sets.documents.catalogue.is_protected(*doc)).collect(),
            docs,
        };
        graph.order_to_keep(sets);
        let rank = |doc: Doc| graph.rank(node(doc));
        let candidates = unmeasured.map(|candidates| match sets.context.config.cluster.clustering {
            Clustering::Guarantee => {
                EarlierCandidates::new(&candidates, graph.contents(), rank, &sets.context.memory)
                    .map(Unmeasured::InOrder)
            }
            Clustering::Transitive => {
                Unmeasured::all(&candidates, node, &graph.rank, sets.context.topology.workers())
            }
        });
        graph.candidates = candidates.transpose()?;
        Ok(graph)
    }

    /// Finds each content's best document under the keep policy, and ranks the contents by it.
    fn order_to_keep(&mut self, sets: &DocumentSets) {
        let catalogue = &sets.documents.catalogue;
        let best = |node: Node| {
            let all = self.copies.of(node).iter().copied().chain([self.docs[node as usize]]);
            all.min_by(|a, b| catalogue.keep_order(*a, *b)).unwrap_or(self.docs[node as usize])
        };
        self.best = self.by_rank.iter().map(|node| best(*node)).collect();
        self.by_rank
            .sort_unstable_by(|a, b| catalogue.keep_order(self.best[*a as usize], self.best[*b as usize]));
        for (rank, node) in (0..).zip(&self.by_rank) {
            self.rank[*node as usize] = rank;
        }
    }

    /// Whether a content has a protected document. Two such contents are never linked.
    pub fn is_protected(&self, node: Node) -> bool {
        self.protected[node as usize]
    }

    /// Number of contents.
    pub fn contents(&self) -> usize {
        self.docs.len()
    }

    /// The first document of a content.
    pub fn doc(&self, node: Node) -> Doc {
        self.docs[node as usize]
    }

    /// The other documents of a content, in document order.
    pub fn copies(&self, node: Node) -> &[Doc] {
        self.copies.of(node)
    }

    /// The document of a content that the keep policy prefers.
    pub fn best(&self, node: Node) -> Doc {
        self.best[node as usize]
    }

    /// A content's place in keep order; 0 is kept first.
    pub fn rank(&self, node: Node) -> u32 {
        self.rank[node as usize]
    }

    /// All contents in keep order.
    pub fn by_rank(&self) -> &[Node] {
        &self.by_rank
    }

    /// The stored links of a content: the other end and the shared members, in document order.
    pub fn links(&self, node: Node) -> &[(Node, u32)] {
        self.links.of(node)
    }

    /// The shared members of a stored link.
    pub fn link(&self, a: Node, b: Node) -> Option<u32> {
        let links = self.links(a);
        links.binary_search_by_key(&b, |(node, _)| *node).ok().map(|at| links[at].1)
    }

    /// Whether candidates are measured as clusters are formed.
    pub fn has_unmeasured(&self) -> bool {
        self.candidates.is_some()
    }

    /// The candidates that clusters with a guarantee ask for in keep order.
    pub fn earlier_candidates(&self) -> Option<&EarlierCandidates> {
        match &self.candidates {
            Some(Unmeasured::InOrder(candidates)) => Some(candidates),
            _ => None,
        }
    }

    /// Whether a content has candidates.
    pub fn is_candidate(&self, node: Node) -> bool {
        match &self.candidates {
            Some(Unmeasured::InOrder(candidates)) => candidates.has_any(self.rank(node)),
            _ => !self.candidates(node).is_empty() || !self.later_candidates(node).is_empty(),
        }
    }

    /// Whether a content has a candidate that does not come before `from` in keep order.
    pub fn has_later_candidate(&self, node: Node, from: usize) -> bool {
        match &self.candidates {
            Some(Unmeasured::InOrder(candidates)) => candidates.has_later(self.rank(node), from),
            _ => self.later_candidates(node).last().is_some_and(|last| *last as usize >= from),
        }
    }

    /// The ranks, ascending, of the contents before this one in keep order of which it is not known whether they are linked to it; none
    /// where [`Graph::earlier_candidates`] has them.
    pub fn candidates(&self, node: Node) -> &[u32] {
        match &self.candidates {
            Some(Unmeasured::All { earlier, .. }) => earlier.of(node),
            _ => &[],
        }
    }

    /// The same of the contents behind this one.
    fn later_candidates(&self, node: Node) -> &[u32] {
        match &self.candidates {
            Some(Unmeasured::All { later, .. }) => later.of(node),
            _ => &[],
        }
    }

    /// All contents of which it is not known whether they are linked to this one, in keep order.
    pub fn all_candidates(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let ranks = self.candidates(node).iter().chain(self.later_candidates(node));
        ranks.map(|rank| self.by_rank[*rank as usize])
    }

    /// The hot groups a content belongs to, ascending, each with the size of the largest set that it can be linked with there.
    pub fn hot_groups(&self, node: Node) -> &[(u32, u32)] {
        self.hot_groups.of(node)
    }

    /// The members of every hot group, each in document order.
    pub fn members(&self) -> &[Vec<Node>] {
        &self.members
    }

    /// The size of a content's set.
    pub fn size(&self, node: Node) -> u32 {
        self.sizes[node as usize]
    }

    /// A content as a member of a hot group, in keep order.
    pub fn member(&self, node: Node, limit: u32) -> SizedMember {
        SizedMember { number: node, order: self.rank(node), size: self.size(node), limit }
    }

    /// Whether `hot_group` is the first in which two contents may be linked: there, and only there, is the pair looked at.
    pub fn meet_first_in(&self, hot_group: u32, a: Node, b: Node) -> bool {
        let may_meet = |of_a: u32, of_b: u32| self.member(a, of_a).may_meet(&self.member(b, of_b));
        self.first_hot_group(a, b, may_meet) == Some(hot_group)
    }

    /// Whether two contents have a hot group in common.
    pub fn share_hot_group(&self, a: Node, b: Node) -> bool {
        self.first_hot_group(a, b, |_, _| true).is_some()
    }

    /// The first hot group that two contents have in common in which their limits are as wanted.
    fn first_hot_group(&self, a: Node, b: Node, wanted: impl Fn(u32, u32) -> bool) -> Option<u32> {
        let (mut x, mut y) = (self.hot_groups(a).iter().peekable(), self.hot_groups(b).iter().peekable());
        while let (Some((i, of_a)), Some((j, of_b))) = (x.peek(), y.peek()) {
            match i.cmp(j) {
                std::cmp::Ordering::Less => x.next(),
                std::cmp::Ordering::Equal if wanted(*of_a, *of_b) => return Some(*i),
                std::cmp::Ordering::Equal => x.next().and(y.next()),
                std::cmp::Ordering::Greater => y.next(),
            };
        }
        None
    }
}

/// A hot group's contents in document order, in the memory of the list of its documents.
fn in_order(mut hot_group: Vec<Doc>, node: impl Fn(Doc) -> Node) -> Vec<Node> {
    hot_group.iter_mut().for_each(|member| *member = node(*member));
    hot_group.sort_unstable();
    hot_group
}
