//! The sets that candidates are measured on as clusters are formed. Where documents are kept in document order, and clusters have a
//! guarantee, texts are read again a stretch at a time, on all cores, and the sets of representatives are held as long as a later content
//! may be linked to them. Otherwise all texts are read at once.

use crate::config::Clustering;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::live_sets::LiveSets;
use crate::flow::memory::sets::{Sets, not_recalled};
use crate::read::{Compression, Source};

/// The sets of the contents of a stretch, and those of representatives before it.
pub struct SetsAtHand<'a> {
    graph: &'a Graph,
    sets: &'a DocumentSets,
    stretch: Vec<Sets>,
    /// The rank that the stretch ends before.
    end: usize,
    /// Most words that a stretch has, unless one set alone has more; `None` if there is one stretch.
    most: Option<u64>,
    /// Most bytes of it that each thread holds in memory.
    of_each: u64,
    held: LiveSets,
    holding: Vec<Node>,
}

impl SetsAtHand<'_> {
    /// None yet.
    pub fn none<'a>(graph: &'a Graph, sets: &'a DocumentSets) -> SetsAtHand<'a> {
        let bytes = sets.context.sets_at_once();
        let sources = &sets.documents.inputs.sources;
        // A compressed file is read from its beginning, and a page of rows whole. In another order each stretch has texts from all over the
        // inputs.
        let anywhere =
            |source: &Source| source.compression == Compression::None && source.cuts.rows.is_none();
        let in_stretches = sets.context.config.cluster.clustering == Clustering::Guarantee
            && sets.documents.catalogue.keeps_first()
            && sources.iter().all(anywhere);
        let (of_each, of_held) = match in_stretches {
            true => (bytes / 4, bytes / 4 * 3),
            // Each set is asked for again and again, so that it costs more than memory to have it on disk.
            false => (sets.context.memory.budget.part(Share::Sets), 0),
        };
        SetsAtHand {
            graph,
            sets,
            stretch: Vec::new(),
            end: 0,
            most: in_stretches.then_some(of_each / 8),
            of_each,
            held: LiveSets::new(of_held, &sets.context.memory.scratch),
            holding: Vec::new(),
        }
    }

    /// Those of all contents that are measured as connected components are found.
    ///
    /// # Errors
    /// Those of [`SetsAtHand::bring_next`].
    pub fn of_all<'a>(graph: &'a Graph, sets: &'a DocumentSets) -> Result<SetsAtHand<'a>> {
        let mut at_hand = SetsAtHand::none(graph, sets);
        at_hand.bring_next()?;
        Ok(at_hand)
    }

    /// The rank that the stretch at hand ends before.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Reads the texts of the next stretch, and forgets what nobody asks for any more.
    ///
    /// # Errors
    /// Those of [`DocumentSets::side_by_side`] and [`DocumentSets::recall`].
    pub fn bring_next(&mut self) -> Result<()> {
        let Self { graph, sets, end: start, .. } = *self;
        self.stretch.clear();
        let (mut words, mut docs) = (0, Vec::new());
        for node in &graph.by_rank()[start..] {
            if is_measured(graph, *node) {
                words += u64::from(graph.size(*node));
                if self.most.is_some_and(|most| words > most) && !docs.is_empty() {
                    break;
                }
                docs.push(graph.doc(*node));
            }
            self.end += 1;
        }
        let held = &mut self.held;
        self.holding.retain(|node| {
            let is_needed = is_needed_from(graph, *node, start);
            if !is_needed {
                held.forget(graph.doc(*node));
            }
            is_needed
        });
        self.stretch = sets.side_by_side(&docs, self.of_each, &|docs, read| sets.recall(docs, read))?;
        Ok(())
    }

    /// Holds the set of a content of the stretch, if one behind the stretch may be linked to it.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn hold(&mut self, node: Node) -> Result<()> {
        if self.end == self.graph.contents() || !is_needed_from(self.graph, node, self.end) {
            return Ok(());
        }
        let (doc, mut scratch) = (self.graph.doc(node), Vec::new());
        let read = self.stretch.iter().find(|sets| sets.contains(doc)).ok_or_else(|| not_recalled(doc))?;
        self.held.hold(doc, read.get(doc, &mut scratch)?)?;
        self.holding.push(node);
        Ok(())
    }

    /// What two contents share of which each is in the stretch or held, linked or not.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] of a spill file.
    pub fn share(&self, a: Node, b: Node) -> Result<u32> {
        let (a, b) = (self.graph.doc(a), self.graph.doc(b));
        let (mut x, mut y) = (Vec::new(), Vec::new());
        Ok(self.sets.full(self.get(a, &mut x)?, self.get(b, &mut y)?).shared)
    }

    fn get<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        match self.stretch.iter().find(|sets| sets.contains(doc)) {
            Some(read) => read.get(doc, scratch),
            None => self.held.get(doc, scratch)?.ok_or_else(|| not_recalled(doc)),
        }
    }
}

/// What two contents share, if they are linked: measured on the sets at hand, or on those of the run where there are none.
///
/// # Errors
/// Those of [`set_of`].
pub fn shared_if_linked(
    graph: &Graph,
    sets: &DocumentSets,
    at_hand: Option<&SetsAtHand<'_>>,
    a: Node,
    b: Node,
) -> Result<Option<u32>> {
    if !may_be_linked(graph, sets, a, b) {
        return Ok(None);
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let of_a = set_of(graph, sets, at_hand, a, &mut x)?;
    let of_b = set_of(graph, sets, at_hand, b, &mut y)?;
    let measure = sets.measure_sets((graph.doc(a), of_a), (graph.doc(b), of_b));
    Ok(measure.map(|measure| measure.shared))
}

/// The set of a content: one at hand, or that of the run where there are none; in `scratch` if it was spilled.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file, and those of [`DocumentSets::set`].
pub fn set_of<'a>(
    graph: &Graph,
    sets: &'a DocumentSets,
    at_hand: Option<&'a SetsAtHand<'_>>,
    node: Node,
    scratch: &'a mut Vec<u64>,
) -> Result<&'a [u64]> {
    match at_hand {
        Some(at_hand) => at_hand.get(graph.doc(node), scratch),
        None => sets.set(graph.doc(node), scratch),
    }
}

/// Whether two contents are not known to be apart before their sets are looked at.
fn may_be_linked(graph: &Graph, sets: &DocumentSets, a: Node, b: Node) -> bool {
    !(graph.is_protected(a) && graph.is_protected(b) || sets.are_unlike(graph.doc(a), graph.doc(b)))
}

/// Whether a content is measured as clusters are formed.
pub fn is_measured(graph: &Graph, node: Node) -> bool {
    graph.is_candidate(node) || !graph.hot_groups(node).is_empty()
}

/// Whether contents from a rank on may be linked to an earlier one.
fn is_needed_from(graph: &Graph, node: Node, rank: usize) -> bool {
    graph.has_later_candidate(node, rank) || !graph.hot_groups(node).is_empty()
}
