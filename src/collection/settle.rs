//! From what a load found to what it changes: documents, contents, components, clusters.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::clusters::{After, Before, ClusterId, Fate, Line, Member, fate};
use super::known::{digest_of, missing};
use super::measure::Measuring;
use super::parts::{Recollide, neighbours, parts};
use super::row::{Document, wide};
use super::tables::{CLUSTERS, COMPONENTS, CONTENTS, DOCUMENTS, MEMBERS, TEXTS, Tables};
use crate::config::Keep;
use crate::document::Position;
use crate::error::Result;
use crate::flow::{Doc, Forest, Kind, Loaded, NO_DOC};

/// How a load is settled.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The load's number.
    pub load: u32,
    /// The keep policy of the collection.
    pub keep: &'a Keep,
    /// The number of the load's first file.
    pub first_file: u32,
    /// The first label that was never used.
    pub next_label: u32,
    /// Whether documents that the load does not mention go.
    pub delete_missing: bool,
}

/// What a load changes: rows to write, each list ascending, and what to say.
#[derive(Debug, Default)]
pub struct Delta {
    /// Documents, with id and value; by digest of the id.
    pub documents: Vec<(Document, String, String)>,
    /// Contents with their number of documents and label.
    pub contents: BTreeMap<Doc, (u32, u32)>,
    /// Contents by digest; [`NO_DOC`] for what is gone.
    pub digests: BTreeMap<u128, Doc>,
    /// Documents of contents.
    pub members: BTreeMap<(Doc, u128), bool>,
    /// Links, both ways.
    pub links: BTreeMap<(Doc, Doc), u32>,
    /// Contents of components.
    pub components: BTreeMap<(u32, Doc), bool>,
    /// Clusters by label: number, documents, representative.
    pub clusters: BTreeMap<u32, (u64, u64, u128)>,
    /// What is said about clusters.
    pub lines: Vec<Line>,
    /// Ids that were to be deleted and are not there.
    pub unknown: Vec<String>,
    /// Documents added, replaced and removed; their sum with those unchanged is all that the load spoke of.
    pub added: u64,
    /// Documents whose record is another one now.
    pub replaced: u64,
    /// Documents removed.
    pub removed: u64,
    /// Contents that came, and that went.
    pub contents_changed: (u64, u64),
    /// Clusters that came, and that went.
    pub clusters_changed: (u64, u64),
    /// The first label that is not used.
    pub next_label: u32,
}

/// A content while a load is settled.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    before: u32,
    after: u32,
    /// The label before, if it was there.
    label: Option<u32>,
}

/// A load being settled.
struct Settling<'a> {
    tables: &'a Tables,
    loaded: &'a Loaded,
    terms: Terms<'a>,
    delta: Delta,
    contents: BTreeMap<Doc, Content>,
    /// Documents that the load touches, as they are after it, by digest of the id.
    documents: HashMap<u128, Member>,
    /// Labels that stored contents have after a split.
    relabelled: HashMap<Doc, u32>,
}

/// Settles a load. `recollide` looks again at what seems to fall apart.
pub fn settle(
    tables: &Tables,
    loaded: &Loaded,
    terms: Terms<'_>,
    recollide: &mut dyn Recollide,
) -> Result<Delta> {
    let delta = Delta { next_label: terms.next_label, ..Delta::default() };
    let (contents, documents, relabelled) = (BTreeMap::new(), HashMap::new(), HashMap::new());
    let mut settling = Settling { tables, loaded, terms, delta, contents, documents, relabelled };
    settling.change_documents()?;
    settling.find_contents()?;
    settling.split(recollide)?;
    let labels = settling.join()?;
    settling.cluster(&labels)?;
    settling.note_contents()?;
    Ok(settling.delta)
}

impl Settling<'_> {
    /// Works out what becomes of each document.
    fn change_documents(&mut self) -> Result<()> {
        let firsts = self.loaded.copies.iter().filter(|copy| copy.first != NO_DOC);
        let first: HashMap<Doc, Doc> = firsts.map(|copy| (copy.doc, copy.first)).collect();
        let mut changes = self.loaded.changes.clone();
        changes.sort_unstable_by_key(|change| change.id);
        let ids: Vec<u128> = changes.iter().map(|change| change.id).collect();
        let stored = stored_documents(self.tables, &ids, false)?;
        for change in &changes {
            let old = stored.get(&change.id).map(|member| &member.document);
            let (Some(doc), false) = (change.doc, change.kind == Kind::Unchanged) else { continue };
            let name = self.loaded.shared.catalogue.label(doc)?.unwrap_or_default().into_owned();
            if change.kind == Kind::Delete {
                match old {
                    Some(old) => self.remove(old, name),
                    None => self.delta.unknown.push(name),
                }
                continue;
            }
            let content = match change.kind {
                Kind::Text(_) => first.get(&doc).copied().unwrap_or(doc),
                _ => NO_DOC,
            };
            self.put(old, content, name, doc, change.fingerprint);
        }
        self.delta.unknown.sort_unstable();
        if self.terms.delete_missing {
            self.remove_missing(&ids)?;
        }
        self.delta.documents.sort_unstable_by_key(|(document, ..)| document.id);
        Ok(())
    }

    /// A document has this content now.
    fn put(&mut self, old: Option<&Document>, content: Doc, name: String, doc: Doc, fingerprint: u128) {
        let catalogue = &self.loaded.shared.catalogue;
        let (worth, value) = catalogue.worth(doc);
        let position = catalogue.position(doc);
        let position = Position::new(position.file() + self.terms.first_file, position.offset()).to_bits();
        let id = crate::flow::id_digest(&name);
        let loads = (old.map_or(self.terms.load, |old| old.loads.0), self.terms.load);
        let lengths = (name.len() as u32, value.len() as u32);
        let line = u32::try_from(self.loaded.shared.line(doc)).unwrap_or(u32::MAX);
        let document = Document {
            id,
            content,
            live: true,
            loads,
            position,
            fingerprint,
            label: 0,
            lengths,
            worth,
            version: doc,
            line,
            text_bytes: u64::from(catalogue.text_bytes(doc)),
        };
        let value = value.to_owned();
        match old {
            Some(_) => self.delta.replaced += 1,
            None => self.delta.added += 1,
        }
        if old.is_none_or(|old| old.content != content) {
            old.into_iter().for_each(|old| self.count(old.content, id, false));
            self.count(content, id, true);
        } else {
            // Its fields may decide who represents it.
            self.contents.entry(content).or_default();
        }
        self.documents
            .insert(id, Member { document: document.clone(), name: name.clone(), value: value.clone() });
        self.delta.documents.push((document, name, value));
    }

    fn remove(&mut self, old: &Document, name: String) {
        self.count(old.content, old.id, false);
        self.delta.removed += 1;
        let lengths = (name.len() as u32, 0);
        let gone = Document { live: false, content: NO_DOC, lengths, worth: 0, ..old.clone() };
        self.documents
            .insert(gone.id, Member { document: gone.clone(), name: name.clone(), value: String::new() });
        self.delta.documents.push((gone, name, String::new()));
    }

    /// Counts a document into or out of a content.
    fn count(&mut self, content: Doc, id: u128, comes: bool) {
        if content == NO_DOC {
            return;
        }
        self.delta.members.insert((content, id), comes);
        self.contents.entry(content).or_default();
    }

    fn remove_missing(&mut self, ids: &[u128]) -> Result<()> {
        let mut gone = Vec::new();
        let mut rows = self.tables.scan(DOCUMENTS);
        while let Some(row) = rows.next_row()? {
            let document = Document::of_row(row);
            if document.live && ids.binary_search(&document.id).is_err() {
                gone.push(document.id);
            }
        }
        let mut gone: Vec<(u128, Member)> = stored_documents(self.tables, &gone, true)?.into_iter().collect();
        gone.sort_unstable_by_key(|(id, _)| *id);
        gone.into_iter().for_each(|(_, member)| self.remove(&member.document, member.name));
        Ok(())
    }

    /// Looks up the contents that the load touches or links to.
    fn find_contents(&mut self) -> Result<()> {
        let base = self.loaded.shared.catalogue.base();
        let links = self.loaded.links.iter().flat_map(|link| <[Doc; 2]>::from(link.pair.docs()));
        let crowded = self.loaded.crowds.iter().flatten().copied();
        for content in links.chain(crowded) {
            self.contents.entry(content).or_default();
        }
        self.contents.remove(&NO_DOC);
        let stored: Vec<u64> = self.contents.range(..base).map(|(content, _)| u64::from(*content)).collect();
        let (contents, mut found) = (&mut self.contents, 0);
        self.tables.newest(CONTENTS, &stored, &mut |at, _, row| {
            found += 1;
            if let Some(content) = contents.get_mut(&(stored[at] as Doc)) {
                *content =
                    Content { before: row[1] as u32, after: row[1] as u32, label: Some(row[2] as u32) };
            }
            Ok(())
        })?;
        if found < stored.len() {
            return Err(missing(self.tables, NO_DOC));
        }
        for ((content, _), comes) in &self.delta.members {
            if let Some(content) = self.contents.get_mut(content) {
                content.after = if *comes { content.after + 1 } else { content.after.saturating_sub(1) };
            }
        }
        Ok(())
    }

    fn is_live(&self, content: Doc) -> bool {
        self.contents.get(&content).is_some_and(|content| content.after > 0)
    }

    /// The label of a content after splits; `None` for a new one.
    fn label(&self, content: Doc) -> Option<u32> {
        let after_split = self.relabelled.get(&content).copied();
        after_split.or_else(|| self.contents.get(&content).and_then(|content| content.label))
    }

    fn fresh_label(&mut self) -> u32 {
        self.delta.next_label += 1;
        self.delta.next_label - 1
    }

    /// Splits the components whose contents go.
    fn split(&mut self, recollide: &mut dyn Recollide) -> Result<()> {
        let mut gone: BTreeMap<u32, Vec<Doc>> = BTreeMap::new();
        for (doc, content) in
            self.contents.iter().filter(|(_, content)| content.before > 0 && content.after == 0)
        {
            gone.entry(content.label.unwrap_or(u32::MAX)).or_default().push(*doc);
        }
        for (label, members) in components(self.tables, &gone.keys().copied().collect())? {
            let gone = &gone[&label];
            let survivors = members.into_iter().filter(|doc| gone.binary_search(doc).is_err());
            let survivors: HashSet<Doc> = survivors.collect();
            self.delta.components.extend(gone.iter().map(|doc| ((label, *doc), false)));
            let mut starts: Vec<Doc> = neighbours(self.tables, gone)?.into_iter().map(|(_, b)| b).collect();
            starts.retain(|doc| survivors.contains(doc));
            starts.sort_unstable();
            starts.dedup();
            let parts = parts(self.tables, &survivors, &starts, recollide)?;
            for (a, b, shared) in parts.links {
                self.delta.links.extend([((a, b), shared), ((b, a), shared)]);
            }
            for part in parts.split {
                let fresh = self.fresh_label();
                for doc in part {
                    self.delta.components.extend([((label, doc), false), ((fresh, doc), true)]);
                    self.relabelled.insert(doc, fresh);
                }
            }
        }
        Ok(())
    }

    /// Joins components by new links. The contents of every component that the load touches, before and after it.
    fn join(&mut self) -> Result<(Members, Members)> {
        let live: Vec<Doc> =
            self.contents.iter().filter(|(_, content)| content.after > 0).map(|(doc, _)| *doc).collect();
        let node = |content: Doc| self.label(content).map_or((1, content), |label| (0, label));
        let mut nodes: Vec<(u8, u32)> = live.iter().map(|content| node(*content)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |content: Doc| nodes.binary_search(&node(content)).map_or(0, |at| at as u32);
        let mut forest = Forest::new(nodes.len());
        let links = self.loaded.links.iter().map(|link| (link.pair.docs(), link.shared));
        let mut linked = BTreeMap::new();
        for ((a, b), shared) in links.filter(|((a, b), _)| self.is_live(*a) && self.is_live(*b)) {
            forest.union(number(a), number(b));
            linked.extend([((a, b), shared), ((b, a), shared)]);
        }
        let mut measuring = Measuring::new(&self.loaded.shared);
        for crowd in &self.loaded.crowds {
            self.loaded.shared.progress.check()?;
            let members = crowd.iter().copied().filter(|content| self.is_live(*content));
            for (a, b, shared) in
                span(members.map(|c| (number(c), c)).collect(), &mut forest, &mut measuring)?
            {
                linked.extend([((a, b), shared), ((b, a), shared)]);
            }
        }
        self.delta.links.extend(linked);
        let mut groups: BTreeMap<u32, Vec<(u8, u32)>> = BTreeMap::new();
        for (at, node) in (0..).zip(&nodes) {
            groups.entry(forest.find(at)).or_default().push(*node);
        }
        let split: BTreeSet<u32> = self.delta.components.keys().map(|(label, _)| *label).collect();
        let touched = nodes.iter().filter(|(new, _)| *new == 0).map(|(_, label)| *label);
        let before = components(self.tables, &touched.chain(split).collect())?;
        let mut after = before.clone();
        for ((label, content), comes) in &self.delta.components {
            let members = after.entry(*label).or_default();
            members.retain(|member| member != content);
            members.extend(comes.then_some(*content));
        }
        groups.into_values().for_each(|group| self.unite(&group, &mut after));
        after.values_mut().for_each(|members| members.sort_unstable());
        Ok((before, after))
    }

    /// Makes components and new contents one component, under the label of the largest.
    fn unite(&mut self, group: &[(u8, u32)], after: &mut Members) {
        let labels = group.iter().filter(|(new, _)| *new == 0).map(|(_, label)| *label);
        let size = |label: &u32| (after[label].len(), std::cmp::Reverse(*label));
        let largest = labels.clone().max_by_key(size);
        let winner = largest.unwrap_or_else(|| self.fresh_label());
        let mut coming: Vec<Doc> = group.iter().filter(|(new, _)| *new == 1).map(|(_, doc)| *doc).collect();
        for label in labels.filter(|label| *label != winner) {
            let moved = after.insert(label, Vec::new()).unwrap_or_default();
            self.delta.components.extend(moved.iter().map(|doc| ((label, *doc), false)));
            coming.extend(moved);
        }
        for doc in &coming {
            self.delta.components.insert((winner, *doc), true);
            self.relabelled.insert(*doc, winner);
        }
        after.entry(winner).or_default().extend(coming);
    }

    /// Works out what becomes of the clusters that are touched.
    fn cluster(&mut self, (before, after): &(Members, Members)) -> Result<()> {
        let contents: BTreeSet<Doc> = before.values().chain(after.values()).flatten().copied().collect();
        let keys: Vec<u64> = contents.iter().map(|content| u64::from(*content)).collect();
        let mut old: BTreeMap<Doc, BTreeSet<u128>> = BTreeMap::new();
        self.tables.beginning(MEMBERS, 1, &keys, &mut |_, row| {
            if row[3] == 1 {
                old.entry(row[0] as Doc).or_default().insert(wide(row[1], row[2]));
            }
            Ok(())
        })?;
        let mut new = old.clone();
        for ((content, id), comes) in &self.delta.members {
            let documents = new.entry(*content).or_default();
            if *comes {
                documents.insert(*id)
            } else {
                documents.remove(id)
            };
        }
        let documents = |of: &BTreeMap<Doc, BTreeSet<u128>>, contents: &[Doc]| -> Vec<u128> {
            contents.iter().filter_map(|content| of.get(content)).flatten().copied().collect()
        };
        let rows = cluster_rows(self.tables, before.keys())?;
        let was = |(label, (number, representative)): (&u32, &(u64, u128))| Before {
            id: ClusterId(*number),
            representative: *representative,
            documents: documents(&old, &before[label]),
        };
        let clusters_before: Vec<Before> = rows.iter().map(was).collect();
        let grown = after.iter().map(|(label, contents)| (*label, documents(&new, contents)));
        let grown: Vec<(u32, Vec<u128>)> = grown.filter(|(_, documents)| documents.len() > 1).collect();
        let clusters_after = self.named(grown)?;
        let Fate { numbers, representatives, lines } = {
            let (tables, touched) = (self.tables, &self.documents);
            let mut name = |id: u128| match touched.get(&id) {
                Some(member) => Ok(member.name.clone()),
                None => stored_documents(tables, &[id], true)
                    .map(|mut found| found.remove(&id).map(|member| member.name).unwrap_or_default()),
            };
            fate(self.terms.load, self.terms.keep, &clusters_before, &clusters_after, &mut name)?
        };
        for (label, (number, _)) in rows {
            self.delta.clusters.insert(label, (number, 0, 0));
        }
        for ((cluster, number), best) in clusters_after.iter().zip(numbers).zip(representatives) {
            let row = (number.0, cluster.members.len() as u64, cluster.members[best].document.id);
            self.delta.clusters.insert(cluster.label, row);
        }
        self.delta.clusters_changed = (clusters_after.len() as u64, clusters_before.len() as u64);
        self.delta.lines = lines;
        Ok(())
    }

    /// The clusters of these documents, with all that is needed to order them.
    fn named(&self, clusters: Vec<(u32, Vec<u128>)>) -> Result<Vec<After>> {
        let untouched =
            clusters.iter().flat_map(|(_, ids)| ids).filter(|id| !self.documents.contains_key(*id));
        let untouched: BTreeSet<u128> = untouched.copied().collect();
        let stored = stored_documents(self.tables, &untouched.into_iter().collect::<Vec<_>>(), true)?;
        let member = |id: u128| self.documents.get(&id).or_else(|| stored.get(&id)).cloned();
        let after = |(label, ids): (u32, Vec<u128>)| {
            let mut members: Vec<Member> = ids.into_iter().filter_map(member).collect();
            members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            After { label, members }
        };
        Ok(clusters.into_iter().map(after).collect())
    }

    /// Notes the contents whose count or label is another one now, and the digests of those that come and go.
    fn note_contents(&mut self) -> Result<()> {
        let moved: Vec<u64> = self
            .relabelled
            .keys()
            .filter(|doc| !self.contents.contains_key(*doc))
            .map(|doc| u64::from(*doc))
            .collect::<BTreeSet<u64>>()
            .into_iter()
            .collect();
        let contents = &mut self.contents;
        self.tables.newest(CONTENTS, &moved, &mut |_, _, row| {
            let (count, label) = (row[1] as u32, Some(row[2] as u32));
            contents.insert(row[0] as Doc, Content { before: count, after: count, label });
            Ok(())
        })?;
        for (doc, content) in &self.contents {
            let label = self.label(*doc).unwrap_or(u32::MAX);
            if content.before != content.after || content.label != Some(label) {
                self.delta.contents.insert(*doc, (content.after, label));
            }
        }
        let came = |change: &crate::flow::Change| match (change.kind, change.doc) {
            (Kind::Text(digest), Some(doc)) => self.contents.contains_key(&doc).then_some((digest, doc)),
            _ => None,
        };
        let new: Vec<(u128, Doc)> = self.loaded.changes.iter().filter_map(came).collect();
        let dead = |content: &&Content| content.before > 0 && content.after == 0;
        let gone = self.contents.iter().filter(|(_, content)| dead(content));
        let gone: Vec<u64> = gone.map(|(doc, _)| u64::from(*doc)).collect();
        self.delta.contents_changed = (new.len() as u64, gone.len() as u64);
        let digests = &mut self.delta.digests;
        self.tables.newest(TEXTS, &gone, &mut |_, _, row| {
            digests.insert(digest_of(row), NO_DOC);
            Ok(())
        })?;
        digests.extend(new);
        Ok(())
    }
}

/// Contents of components, by label.
type Members = BTreeMap<u32, Vec<Doc>>;

/// Joins the trees that some contents span wherever any two of them are linked: `members` are a tree and a content each.
/// Contents of one tree are never compared. The links that joined two trees.
fn span(
    members: Vec<(u32, Doc)>,
    forest: &mut Forest,
    measuring: &mut Measuring<'_>,
) -> Result<Vec<(Doc, Doc, u32)>> {
    let mut parts: Vec<(u32, Doc)> =
        members.into_iter().map(|(node, doc)| (forest.find(node), doc)).collect();
    parts.sort_unstable();
    let (mut settled, mut links): (Vec<(u32, Vec<Doc>)>, Vec<_>) = (Vec::new(), Vec::new());
    for part in parts.chunk_by(|a, b| a.0 == b.0) {
        let root = part[0].0;
        let new: Vec<Doc> = part.iter().map(|(_, doc)| *doc).collect();
        let mut joined = new.clone();
        let mut apart = Vec::new();
        for (other_root, mut other) in settled {
            // Settled parts are known to be apart: what the new one is joined to is not compared again.
            match any_link(&new, &other, measuring)? {
                Some(link) => {
                    forest.union(root, other_root);
                    links.push(link);
                    joined.append(&mut other);
                }
                None => apart.push((other_root, other)),
            }
        }
        let at = apart.iter().position(|(_, other)| other.len() < joined.len()).unwrap_or(apart.len());
        apart.insert(at, (root, joined));
        settled = apart;
    }
    Ok(links)
}

fn any_link(a: &[Doc], b: &[Doc], measuring: &mut Measuring<'_>) -> Result<Option<(Doc, Doc, u32)>> {
    for x in a {
        for y in b {
            if let Some(shared) = measuring.linked(*x, *y)? {
                return Ok(Some((*x, *y, shared)));
            }
        }
    }
    Ok(None)
}

/// The clusters of labels that have one: number and representative.
fn cluster_rows<'a>(
    tables: &Tables,
    labels: impl Iterator<Item = &'a u32>,
) -> Result<BTreeMap<u32, (u64, u128)>> {
    let keys: Vec<u64> = labels.map(|label| u64::from(*label)).collect();
    let mut rows = BTreeMap::new();
    tables.newest(CLUSTERS, &keys, &mut |_, _, row| {
        if row[2] > 0 {
            rows.insert(row[0] as u32, (row[1], wide(row[3], row[4])));
        }
        Ok(())
    })?;
    Ok(rows)
}

/// The live contents of components.
pub fn components(tables: &Tables, labels: &BTreeSet<u32>) -> Result<BTreeMap<u32, Vec<Doc>>> {
    let keys: Vec<u64> = labels.iter().map(|label| u64::from(*label)).collect();
    let mut members: BTreeMap<u32, Vec<Doc>> = labels.iter().map(|label| (*label, Vec::new())).collect();
    tables.beginning(COMPONENTS, 1, &keys, &mut |_, row| {
        if row[2] == 1
            && let Some(members) = members.get_mut(&(row[0] as u32))
        {
            members.push(row[1] as Doc);
        }
        Ok(())
    })?;
    Ok(members)
}

/// The live documents of ascending digests of ids; their names too, if asked for.
pub fn stored_documents(tables: &Tables, ids: &[u128], named: bool) -> Result<HashMap<u128, Member>> {
    let keys: Vec<u64> = ids.iter().flat_map(|id| [(id >> 64) as u64, *id as u64]).collect();
    let mut documents = HashMap::new();
    tables.newest(DOCUMENTS, &keys, &mut |_, run, row| {
        let document = Document::of_row(row);
        if document.live {
            let (name, value) = if named { document.names(run)? } else { Default::default() };
            documents.insert(document.id, Member { document, name, value });
        }
        Ok(())
    })?;
    Ok(documents)
}
