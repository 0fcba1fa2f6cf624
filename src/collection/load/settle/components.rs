//! What becomes of contents, and of the components that links make of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::contents::{Content, TouchedContents};
use super::span::span;
use super::{MEMBER, Settling, TOUCHED, last_of_each};
use crate::collection::distributed::protocol::LeaderCommand;
use crate::collection::load::measure::Measuring;
use crate::collection::run::schema::{CONTENTS, TEXTS};
use crate::collection::tables::components::{Members, components};
use crate::collection::tables::rows::{StoredContent, StoredText};
use crate::collection::tables::sets::missing;
use crate::components::{Forest, Relabelled, Touched};
use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::flow::{Change, ChangeKind, Contractor, ExactDuplicate, HotGroup};

/// What takes part in unions: a label that is there (0), or a content that has none yet (1).
type Node = (u8, u32);

/// What takes part in unions, ascending, and the number among them of each content of [`TouchedContents`].
struct Nodes {
    nodes: Vec<Node>,
    numbers: Vec<u32>,
}

/// The number of a content that no document has any more.
const NOT_LIVE: u32 = u32::MAX;

/// The labels that are there of the nodes that become one.
fn labels(group: &[(u32, Node)]) -> impl Iterator<Item = u32> + Clone {
    group.iter().filter_map(|(_, (new, label))| (*new == 0).then_some(*label))
}

impl Settling<'_> {
    /// Looks up the contents that the load touches or links to.
    pub(super) fn find_contents(&mut self) -> Result<()> {
        let base = self.loaded.run.documents.catalogue.base();
        let links = self.loaded.links.iter().flat_map(|link| <[Doc; 2]>::from(link.pair.docs()));
        let copied = self.loaded.copies.iter().map(|copy| copy.first).filter(|first| *first >= base);
        let hot_members: HashSet<Doc> =
            self.loaded.hot_groups.iter().flat_map(HotGroup::docs).copied().collect();
        let mut touched = std::mem::take(&mut self.touched);
        touched.extend(links.chain(copied).chain(hot_members).filter(|content| *content != NO_DOC));
        self.contents = TouchedContents::new(touched, base);
        self.hold(self.contents.rows().len(), TOUCHED)?;
        let rows = self.contents.stored_mut();
        let stored: Vec<u64> = rows.iter().map(|(content, _)| u64::from(*content)).collect();
        let mut found = 0;
        self.tables.newest(CONTENTS, &stored, &mut |at, _, row| {
            found += 1;
            let StoredContent { documents, at: place, .. } = StoredContent::of_row(row);
            let label = Some(place.component);
            rows[at].1 = Content { before: documents, after: documents, label, relabelled: None };
            Ok(())
        })?;
        if found < stored.len() {
            return Err(missing(self.tables, NO_DOC));
        }
        self.count_newcomers();
        for ((content, _), comes) in &self.delta.members {
            if let Some(content) = self.contents.get_mut(*content) {
                content.after = if *comes { content.after + 1 } else { content.after.saturating_sub(1) };
            }
        }
        Ok(())
    }

    /// Counts newcomers into the contents of the load that are settled here. A content is named after its first document.
    fn count_newcomers(&mut self) {
        let (base, settled) =
            (self.loaded.run.documents.catalogue.base(), self.loaded.run.settled_by_leader());
        let newcomer = |doc: Doc| !settled.has_document(doc);
        for (doc, content) in self.contents.of_load_mut() {
            content.after = u32::from(newcomer(*doc));
        }
        let of_load = |copy: &&ExactDuplicate| copy.first >= base && copy.first != NO_DOC;
        for copy in self.loaded.copies.iter().filter(of_load).filter(|copy| newcomer(copy.doc)) {
            if let Some(content) = self.contents.get_mut(copy.first) {
                content.after += 1;
            }
        }
    }

    /// Gives a content another label.
    pub(super) fn relabel(&mut self, content: Doc, label: u32) {
        match self.contents.get_mut(content) {
            Some(content) => content.relabelled = Some(label),
            None => {
                self.relabelled.insert(content, label);
            }
        }
    }

    pub(super) fn fresh_label(&mut self) -> u32 {
        self.delta.next_label += 1;
        self.delta.next_label - 1
    }

    pub(super) fn link(&mut self, a: Doc, b: Doc, shared: u32) {
        self.delta.links.extend([((a, b), shared), ((b, a), shared)]);
    }

    /// Joins components by new links.
    pub(super) fn join(&mut self) -> Result<()> {
        let Nodes { nodes, numbers } = self.nodes();
        let number = |content: Doc| {
            let number = self.contents.row(content).map(|row| numbers[row]);
            number.filter(|number| *number != NOT_LIVE)
        };
        let mut forest = Forest::new(nodes.len());
        let mut links = Vec::new();
        let mut edges = Vec::new();
        for link in &self.loaded.links {
            let (a, b) = link.pair.docs();
            if let (Some(x), Some(y)) = (number(a), number(b)) {
                edges.push((x, y));
                links.push((a, b, link.shared));
            }
        }
        if let Some(contractor) = self.contractor {
            let joined = Touched { insertions: std::mem::take(&mut edges), ..Touched::default() };
            edges.extend(contract(contractor, joined)?.iter().map(|node| (node.content, node.after)));
        }
        for (x, y) in edges {
            forest.union(x, y);
        }
        let run = &self.loaded.run;
        let mut measuring = Measuring::new(&run.sets);
        for hot_group in &self.loaded.hot_groups {
            run.context.status.progress.check()?;
            let members = hot_group.members();
            let members = members.filter_map(|(content, limit)| Some((number(content)?, content, limit)));
            let members = members.collect();
            links.append(&mut span(members, run.documents.catalogue.base(), &mut forest, &mut measuring)?);
        }
        self.delta.links.reserve_exact(2 * links.len());
        links.into_iter().for_each(|(a, b, shared)| self.link(a, b, shared));
        let mut by_root: Vec<(u32, Node)> =
            (0..).zip(&nodes).map(|(at, node)| (forest.find(at), *node)).collect();
        by_root.sort_unstable();
        let groups: Vec<&[(u32, Node)]> = by_root.chunk_by(|a, b| a.0 == b.0).collect();
        let mut united = self.united(&groups)?;
        self.hold(united.values().map(Vec::len).sum(), MEMBER)?;
        groups.into_iter().for_each(|group| self.unite(group, &mut united));
        Ok(())
    }

    /// What takes part in unions, and which of them each live content is.
    fn nodes(&self) -> Nodes {
        let live = |(_, content): &&(Doc, Content)| content.after > 0;
        let labelled = |(_, content): &(Doc, Content)| content.relabelled.or(content.label);
        let mut nodes: Vec<Node> =
            self.contents.rows().iter().filter(live).filter_map(labelled).map(|label| (0, label)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let labels = nodes.len();
        let mut numbers = Vec::with_capacity(self.contents.rows().len());
        for row in self.contents.rows() {
            numbers.push(match labelled(row) {
                _ if row.1.after == 0 => NOT_LIVE,
                // Contents ascend, so that all nodes do.
                None => {
                    nodes.push((1, row.0));
                    nodes.len() as u32 - 1
                }
                Some(label) => nodes[..labels].binary_search(&(0, label)).map_or(0, |at| at as u32),
            });
        }
        Nodes { nodes, numbers }
    }

    /// The contents, after splits, of the components that become one with others.
    fn united(&self, groups: &[&[(u32, Node)]]) -> Result<Members> {
        let several = groups.iter().filter(|group| labels(group).nth(1).is_some());
        let wanted: BTreeSet<u32> = several.flat_map(|group| labels(group)).collect();
        if wanted.is_empty() {
            return Ok(Members::new());
        }
        let mut members = components(self.tables, &wanted)?;
        let changes = self.delta.components.iter().filter(|((label, _), _)| wanted.contains(label));
        change_members(&mut members, changes.copied().collect());
        Ok(members)
    }

    /// Makes components and new contents one component, under the label of the largest.
    fn unite(&mut self, group: &[(u32, Node)], united: &mut Members) {
        let labels = labels(group);
        let size = |label: &u32| (united.get(label).map_or(0, Vec::len), Reverse(*label));
        let largest = labels.clone().max_by_key(size);
        let winner = largest.unwrap_or_else(|| self.fresh_label());
        let mut coming: Vec<Doc> =
            group.iter().filter_map(|(_, (new, doc))| (*new == 1).then_some(*doc)).collect();
        for label in labels.filter(|label| *label != winner) {
            let moved = united.remove(&label).unwrap_or_default();
            self.delta.components.extend(moved.iter().map(|doc| ((label, *doc), false)));
            coming.extend(moved);
        }
        for doc in coming {
            self.delta.components.push(((winner, doc), true));
            self.relabel(doc, winner);
        }
    }

    /// Notes the contents whose count or label is another one now, and the digests of those that come and go.
    pub(super) fn note_contents(&mut self) -> Result<()> {
        for (doc, content) in self.contents.rows() {
            let label = content.relabelled.or(content.label).unwrap_or(u32::MAX);
            if content.before != content.after || content.label != Some(label) {
                self.delta.contents.push((*doc, (content.after, label)));
            }
            if content.before > 0 && content.after == 0 {
                self.delta.dead.push(*doc);
            }
        }
        let mut moved: Vec<u64> = self.relabelled.keys().map(|doc| u64::from(*doc)).collect();
        moved.sort_unstable();
        let (contents, relabelled) = (&mut self.delta.contents, &self.relabelled);
        self.tables.newest(CONTENTS, &moved, &mut |_, _, row| {
            let StoredContent { content, documents, at } = StoredContent::of_row(row);
            let label = relabelled.get(&(content as Doc)).copied().filter(|label| *label != at.component);
            contents.extend(label.map(|label| (content as Doc, (documents, label))));
            Ok(())
        })?;
        contents.sort_unstable_by_key(|(content, _)| *content);
        let came = |change: &Change| match (change.kind, change.doc) {
            (ChangeKind::Text(digest), Some(doc)) => self.contents.row(doc).map(|_| (digest, doc)),
            _ => None,
        };
        let new: Vec<(u128, Doc)> = self.loaded.changes.iter().filter_map(came).collect();
        let gone: Vec<u64> = self.delta.dead.iter().map(|doc| u64::from(*doc)).collect();
        self.delta.contents_changed = (new.len() as u64, gone.len() as u64);
        let digests = &mut self.delta.digests;
        self.tables.newest(TEXTS, &gone, &mut |_, _, row| {
            digests.push((StoredText::of_row(row).digest, NO_DOC));
            Ok(())
        })?;
        digests.extend(new);
        last_of_each(digests);
        Ok(())
    }
}

/// Does to the contents of components what was noted of them, the last note of each content: one pass for each component,
/// however many have left it.
fn change_members(members: &mut Members, mut changes: Vec<((u32, Doc), bool)>) {
    last_of_each(&mut changes);
    for of_one in changes.chunk_by(|a, b| a.0.0 == b.0.0) {
        let Some(members) = members.get_mut(&of_one[0].0.0) else { continue };
        members.retain(|member| of_one.binary_search_by_key(member, |((_, content), _)| *content).is_err());
        members.extend(of_one.iter().filter(|(_, comes)| *comes).map(|((_, content), _)| *content));
    }
}

/// Has all workers contract links, those of other processes too.
pub(super) fn contract(contractor: &Contractor, touched: Touched) -> Result<Vec<Relabelled>> {
    if touched.insertions.is_empty() && touched.removals.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(peers) = &contractor.peers {
        peers.broadcast(&LeaderCommand::Contract)?;
    }
    contractor.contract(touched)
}

#[cfg(test)]
#[path = "components_tests.rs"]
mod tests;
