//! What becomes of contents, and of the components that links make of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::contents::{Content, TouchedContents};
use super::span::span;
use super::{MEMBER, Settling, TOUCHED};
use crate::collection::distributed::protocol::LeaderCommand;
use crate::collection::load::measure::Measuring;
use crate::collection::load::parts::{Recollide, parts, search};
use crate::collection::run::schema::{CONTENTS, TEXTS};
use crate::collection::tables::Tables;
use crate::collection::tables::components::{Members, components, neighbours};
use crate::collection::tables::rows::{StoredContent, StoredText};
use crate::collection::tables::sets::missing;
use crate::components::{Forest, Relabelled, Touched};
use crate::document::{Doc, NO_DOC};
use crate::error::Result;
use crate::flow::{Change, ChangeKind, Contractor, ExactDuplicate, HotGroup};
use crate::limits::sized;

/// What takes part in unions: a label that is there (0), or a content that has none yet (1).
type Node = (u8, u32);

/// What takes part in unions, ascending, and the number among them of each content of [`TouchedContents`].
struct Nodes {
    nodes: Vec<Node>,
    numbers: Vec<u32>,
}

/// Contents that go, of several components, whose links are read at once.
const TOGETHER: usize = sized(4096, 4);

/// The number of a content that no document has any more.
const NOT_LIVE: u32 = u32::MAX;

/// The labels that are there of the nodes that become one.
fn labels(group: &[(u32, Node)]) -> impl Iterator<Item = u32> + Clone {
    group.iter().filter_map(|(_, (new, label))| (*new == 0).then_some(*label))
}

/// What a content is linked to, by ascending links.
fn others(links: &[(Doc, Doc)], content: Doc) -> impl Iterator<Item = Doc> {
    let from = links.partition_point(|(of, _)| *of < content);
    links[from..].iter().take_while(move |(of, _)| *of == content).map(|(_, other)| *other)
}

/// How many of the next components are looked at with one reading of links: those of which few contents go, or one.
fn together(components: &[(u32, Vec<Doc>)], gone: &Members) -> usize {
    let goes = components.iter().scan(0, |sum, (label, _)| {
        *sum += gone[label].len();
        Some(*sum)
    });
    goes.take_while(|goes| *goes <= TOGETHER).count().max(1)
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
    fn relabel(&mut self, content: Doc, label: u32) {
        match self.contents.get_mut(content) {
            Some(content) => content.relabelled = Some(label),
            None => {
                self.relabelled.insert(content, label);
            }
        }
    }

    fn fresh_label(&mut self) -> u32 {
        self.delta.next_label += 1;
        self.delta.next_label - 1
    }

    fn link(&mut self, a: Doc, b: Doc, shared: u32) {
        self.delta.links.extend([((a, b), shared), ((b, a), shared)]);
    }

    /// Splits the components whose contents go.
    pub(super) fn split(&mut self, recollide: &mut dyn Recollide) -> Result<()> {
        let mut gone: Members = BTreeMap::new();
        let goes = |content: &Content| content.before > 0 && content.after == 0;
        for (doc, content) in self.contents.rows().iter().filter(|(_, content)| goes(content)) {
            gone.entry(content.label.unwrap_or(u32::MAX)).or_default().push(*doc);
        }
        let members = components(self.tables, &gone.keys().copied().collect())?;
        self.hold(members.values().map(Vec::len).sum(), MEMBER)?;
        let mut contracted = match self.contractor {
            Some(contractor) => Some(contracted_parts(self.tables, contractor, &members, &gone)?),
            None => None,
        };
        let components: Vec<(u32, Vec<Doc>)> = members.into_iter().collect();
        let mut rest = &components[..];
        while !rest.is_empty() {
            let (some, behind) = rest.split_at(together(rest, &gone));
            rest = behind;
            let of_some = some.iter().flat_map(|(label, _)| gone[label].iter().copied());
            let mut linked = neighbours(self.tables, &of_some.collect::<Vec<_>>())?;
            linked.sort_unstable();
            for (label, members) in some {
                let parts = contracted.as_mut().map(|parts| parts.remove(label).unwrap_or_default());
                self.split_one((*label, members), (&gone[label], &linked), parts, recollide)?;
            }
        }
        Ok(())
    }

    /// Splits a component of which contents go, by the ascending links of these; its parts may be known.
    fn split_one(
        &mut self,
        (label, members): (u32, &[Doc]),
        (gone, linked): (&[Doc], &[(Doc, Doc)]),
        known: Option<Vec<Vec<Doc>>>,
        recollide: &mut dyn Recollide,
    ) -> Result<()> {
        let survivors = members.iter().copied().filter(|doc| gone.binary_search(doc).is_err());
        let survivors: HashSet<Doc> = survivors.collect();
        self.delta.components.extend(gone.iter().map(|doc| ((label, *doc), false)));
        let mut starts: Vec<Doc> = gone.iter().flat_map(|doc| others(linked, *doc)).collect();
        starts.retain(|doc| survivors.contains(doc));
        starts.sort_unstable();
        starts.dedup();
        let ended = known.map_or_else(|| search(self.tables, &survivors, &starts), Ok)?;
        let parts = parts(&survivors, ended, recollide)?;
        parts.links.iter().for_each(|(a, b, shared)| self.link(*a, *b, *shared));
        for part in parts.split {
            let fresh = self.fresh_label();
            for doc in part {
                self.delta.components.extend([((label, doc), false), ((fresh, doc), true)]);
                self.relabel(doc, fresh);
            }
        }
        Ok(())
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
        let mut changed: BTreeMap<(u32, Doc), bool> = BTreeMap::new();
        changed.extend(self.delta.components.iter().copied());
        for ((label, content), comes) in changed {
            if let Some(members) = members.get_mut(&label) {
                if comes { members.push(content) } else { members.retain(|member| *member != content) }
            }
        }
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
        super::last_of_each(digests);
        Ok(())
    }
}

/// Has all workers contract links, those of other processes too.
fn contract(contractor: &Contractor, touched: Touched) -> Result<Vec<Relabelled>> {
    if touched.insertions.is_empty() && touched.removals.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(peers) = &contractor.peers {
        peers.broadcast(&LeaderCommand::Contract)?;
    }
    contractor.contract(touched)
}

/// What is left of components without the contents that go, in parts, by label.
fn contracted_parts(
    tables: &Tables,
    contractor: &Contractor,
    members: &Members,
    gone: &Members,
) -> Result<HashMap<u32, Vec<Vec<Doc>>>> {
    let all: Vec<Doc> = members.values().flatten().copied().collect();
    let goes: HashSet<Doc> = gone.values().flatten().copied().collect();
    let mut links = neighbours(tables, &all)?;
    // Each link is there both ways; those of contents that went before are of no component.
    links.retain(|(a, b)| a < b);
    let live: HashSet<Doc> = all.into_iter().collect();
    links.retain(|(a, b)| live.contains(a) && live.contains(b));
    let removals = links.iter().filter(|(a, b)| goes.contains(a) || goes.contains(b)).copied().collect();
    let changes = contract(contractor, Touched { links, insertions: Vec::new(), removals })?;
    let labels: HashMap<Doc, Doc> = changes.iter().map(|row| (row.content, row.after)).collect();
    let mut parts = HashMap::new();
    for (label, members) in members {
        let least = members.iter().min().copied().unwrap_or(NO_DOC);
        let mut by_label: BTreeMap<Doc, Vec<Doc>> = BTreeMap::new();
        for doc in members.iter().filter(|doc| !goes.contains(*doc)) {
            by_label.entry(labels.get(doc).copied().unwrap_or(least)).or_default().push(*doc);
        }
        parts.insert(*label, by_label.into_values().collect());
    }
    Ok(parts)
}
