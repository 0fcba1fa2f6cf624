//! From links to findings: clusters, who represents each, what is removed and why.

use hashbrown::HashMap;

use crate::config::Clustering;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::clustering::conservative::conservative;
use crate::flow::clustering::graph::{Graph, Node};
use crate::flow::clustering::transitive::{TransitiveClusters, transitive};
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::spill::Piles;
use crate::flow::records::{Candidate, ExactDuplicate};
use crate::flow::results::findings::{DocumentCluster, Findings, Reason, Removed};
use crate::flow::results::hot_groups::HotGroup;
use crate::progress::Stage;
use crate::similarity::{AcceptanceRule, Measure};

/// Clusters what the workers gathered: links, or candidates that are measured as clusters are formed.
pub fn form_clusters(
    sets: &DocumentSets,
    (links, unmeasured): (&[Candidate], Option<Piles<Candidate>>),
    copies: &[ExactDuplicate],
    hot_groups: Vec<HotGroup>,
) -> Result<Findings> {
    let hot_members = hot_groups.iter().map(HotGroup::len).sum();
    let clustering = sets.context.config.cluster.clustering;
    // With a guarantee few are in memory at once.
    let held = unmeasured.as_ref().filter(|_| clustering == Clustering::Transitive);
    let all = links.len() + held.map_or(0, Piles::len);
    sets.context.allow_graph(all, hot_members, 0)?;
    let graph = Graph::new(sets, (links, unmeasured), copies, hot_groups)?;
    sets.context.allow_graph(all, hot_members, graph.contents())?;
    let represented = representatives(sets, &graph, clustering)?;
    if graph.has_unmeasured() {
        sets.context.status.enter(Stage::Cluster, 0);
    }
    let measures = measures(sets, &graph, &represented)?;
    let Represented { representative, parent, .. } = represented;
    let clusters = clusters(sets, &graph, &representative);
    let mut removed = Vec::new();
    for (node, doc) in removed_docs(sets, &graph, &representative) {
        let leader = representative[node as usize];
        let reason = match parent[node as usize] {
            _ if leader == node => Reason::Exact,
            parent if parent == leader => Reason::Near,
            _ => Reason::Linked,
        };
        removed.push(Removed {
            doc,
            cluster: 0,
            representative: graph.best(leader),
            reason,
            parent: (reason == Reason::Linked).then(|| graph.doc(parent[node as usize])),
            texts: (graph.doc(node), graph.doc(leader)),
            measure: measures[node as usize],
        });
    }
    removed.sort_unstable_by_key(|row| sets.documents.catalogue.position(row.doc));
    number(&mut removed, &clusters);
    let pairs = sets.context.pairs.then(|| pairs(sets, links, copies)).transpose()?;
    Ok(Findings { removed, spared: Vec::new(), clusters, pairs })
}

/// Who represents each content.
pub(super) struct Represented {
    /// The one that represents it.
    pub representative: Vec<Node>,
    /// The next one on the way there.
    parent: Vec<Node>,
    /// What contents share with their representatives, as far as the two were measured only now.
    shared: HashMap<Node, u32>,
}

/// For each content the one that represents it.
pub(super) fn representatives(
    sets: &DocumentSets,
    graph: &Graph,
    clustering: Clustering,
) -> Result<Represented> {
    match clustering {
        Clustering::Guarantee => {
            let (representative, shared) = conservative(graph, sets)?;
            Ok(Represented { parent: representative.clone(), representative, shared })
        }
        Clustering::Transitive => {
            let components = transitive(graph, sets)?;
            let TransitiveClusters { representative, parent, shared } = components;
            Ok(Represented { representative, parent, shared })
        }
    }
}

/// The documents that are not kept, content by content: all but the best of each representative, and protected ones.
pub(super) fn removed_docs<'a>(
    sets: &'a DocumentSets,
    graph: &'a Graph,
    representative: &'a [Node],
) -> impl Iterator<Item = (Node, Doc)> + 'a {
    let docs = |node: Node| std::iter::once(graph.doc(node)).chain(graph.copies(node).iter().copied());
    let all = (0..graph.contents() as Node).flat_map(move |node| docs(node).map(move |doc| (node, doc)));
    all.filter(|(node, doc)| {
        *doc != graph.best(representative[*node as usize]) && !sets.documents.catalogue.is_protected(*doc)
    })
}

/// The documents of each representative's contents, where there are two or more. Of protected ones only the representative is
/// among them.
fn clusters(sets: &DocumentSets, graph: &Graph, representative: &[Node]) -> Vec<DocumentCluster> {
    let mut by_leader: Vec<(Node, Node)> = representative.iter().copied().zip(0..).collect();
    by_leader.sort_unstable();
    let position = |doc: &Doc| sets.documents.catalogue.position(*doc);
    let mut clusters = Vec::new();
    for group in by_leader.chunk_by(|a, b| a.0 == b.0) {
        let mut members: Vec<Doc> = Vec::new();
        for (_, node) in group {
            members.push(graph.doc(*node));
            members.extend_from_slice(graph.copies(*node));
        }
        let best = graph.best(group[0].0);
        members.retain(|doc| *doc == best || !sets.documents.catalogue.is_protected(*doc));
        members.sort_unstable_by_key(position);
        if members.len() > 1 {
            clusters.push(DocumentCluster { representative: best, members, kept_beside: Vec::new() });
        }
    }
    clusters.sort_unstable_by_key(|cluster| position(&cluster.members[0]));
    clusters
}

/// Gives each removed document the index of its cluster: representatives name clusters.
fn number(removed: &mut [Removed], clusters: &[DocumentCluster]) {
    let index: HashMap<Doc, usize> =
        clusters.iter().enumerate().map(|(at, cluster)| (cluster.representative, at)).collect();
    for row in removed {
        row.cluster = index[&row.representative];
    }
}

/// What is known of two contents of these sizes that share so much. Without a rule nobody is linked.
fn measure_counted(rule: Option<AcceptanceRule>, shared: u32, (left, right): (u32, u32)) -> Measure {
    rule.map_or(Measure { shared, left, right }, |rule| rule.last().measure_counted(shared, (left, right)))
}

/// Each content measured against its representative.
fn measures(
    sets: &DocumentSets,
    graph: &Graph,
    Represented { representative, shared, .. }: &Represented,
) -> Result<Vec<Measure>> {
    let rule = sets.context.rule;
    let sized = rule.is_none_or(AcceptanceRule::is_sized);
    let size = |node: Node| sets.documents.catalogue.size(graph.doc(node));
    let whole = |node: Node| Measure::equal(size(node));
    let mut measures: Vec<Measure> = (0..graph.contents() as Node).map(whole).collect();
    let mut unmeasured = Vec::new();
    for (node, leader) in (0..).zip(representative).filter(|(node, leader)| node != *leader) {
        // Counts of pairs in a hot group are incomplete, and capped ones leave out what is common: what is shown is
        // measured on sketches. Other links were counted in full, if it is their sizes that are known.
        let in_full = sized && !graph.share_hot_group(node, *leader);
        let beside = || sets.shared_beside(graph.doc(node), graph.doc(*leader));
        let counted =
            || graph.link(node, *leader).filter(|_| in_full).and_then(|shared| Some(shared + beside()?));
        match shared.get(&node).copied().or_else(counted) {
            Some(shared) => {
                measures[node as usize] = measure_counted(rule, shared, (size(node), size(*leader)));
            }
            None => unmeasured.push(node),
        }
    }
    let pairs: Vec<(Doc, Doc)> =
        unmeasured.iter().map(|node| (graph.doc(*node), graph.doc(representative[*node as usize]))).collect();
    for (node, measure) in unmeasured.iter().zip(sets.measure_all(&pairs)?) {
        measures[*node as usize] = measure;
    }
    Ok(measures)
}

/// All accepted pairs: links between the first documents of two texts, and each first document with its copies.
fn pairs(
    sets: &DocumentSets,
    links: &[Candidate],
    copies: &[ExactDuplicate],
) -> Result<Vec<(Doc, Doc, Measure, Reason)>> {
    let catalogue = &sets.documents.catalogue;
    let in_order = |link: &Candidate| {
        let (a, b) = link.pair.docs();
        if catalogue.position(a) < catalogue.position(b) { (a, b) } else { (b, a) }
    };
    let measures = if sets.context.rule.is_none_or(AcceptanceRule::is_sized) {
        let counted = |link: &Candidate| {
            let (a, b) = in_order(link);
            measure_counted(sets.context.rule, link.shared, (catalogue.size(a), catalogue.size(b)))
        };
        links.iter().map(counted).collect()
    } else {
        sets.measure_all(&links.iter().map(in_order).collect::<Vec<_>>())?
    };
    let link = |(link, measure): (&Candidate, Measure)| {
        let (a, b) = in_order(link);
        (a, b, measure, Reason::Near)
    };
    let copy = |copy: &ExactDuplicate| {
        (copy.first, copy.doc, Measure::equal(catalogue.size(copy.first)), Reason::Exact)
    };
    // Protected documents are not compared with each other; the first of a text is one if any is.
    let copies = copies.iter().filter(|copy| !catalogue.is_protected(copy.doc));
    let mut pairs: Vec<_> = links.iter().zip(measures).map(link).chain(copies.map(copy)).collect();
    pairs.sort_unstable_by_key(|(a, b, ..)| (catalogue.position(*a), catalogue.position(*b)));
    Ok(pairs)
}
