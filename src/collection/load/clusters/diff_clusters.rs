//! What a load makes of clusters: worked out once, from the tables before the load, the tables after it, and the runs between
//! them, whatever epochs these came in.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::collection::load::clusters::fresh_clusters::{ChangeLines, FreshClusters};
use crate::collection::load::clusters::linked_contents::linked_contents;
use crate::collection::load::clusters::match_clusters::{After, Before, ClusterMatching, match_clusters};
use crate::collection::run::schema::{CONTENTS, DOCUMENTS};
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::{ChangeLine, ClusterId};
use crate::collection::tables::clusters::{cluster_rows, documents_of, places_of};
use crate::collection::tables::components::{Members, components, each_component};
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::newest_documents;
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::{ClusterKey, StoredCluster, StoredContent};
use crate::collection::{HeapCursor, RowsReader};
use crate::config::Keep;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Budget, Share};
use crate::limits::sized;
use crate::progress::Progress;

/// What becomes of documents and clusters in a load.
#[derive(Debug, Default)]
pub struct ClusterDiff {
    /// Contents that are at another place of their component: with their documents.
    pub contents: Vec<StoredContent>,
    /// Clusters that are other ones now.
    pub clusters: BTreeMap<ClusterKey, StoredCluster>,
    /// What is said about clusters.
    pub(in crate::collection) lines: ChangeLines,
    /// Documents that were not there before.
    pub added: u64,
    /// Documents whose record is another one now.
    pub replaced: u64,
    /// Documents that were another one for some epochs, and are what they were.
    pub unchanged: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Ids that were to be deleted and are not there, ascending.
    pub unknown: Vec<String>,
    /// Clusters that came, and that went.
    pub clusters_changed: (u64, u64),
}

/// How components are divided into clusters, where a cluster is not all of its component.
pub trait Divide {
    /// The place of each of these contents in its component, but for those at place 0; the documents are as they are after
    /// the load.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], [`crate::error::Error::Interrupted`].
    fn divide(&mut self, after: &Tables, components: &Members) -> Result<HashMap<Doc, u32>>;
}

/// The tables that a load is worked out from.
pub struct LoadTables {
    /// Those before it.
    pub before: Tables,
    /// Those after it.
    pub after: Tables,
    /// The runs between them but for `newcomers`.
    pub new: Tables,
    /// Those of them that hold newcomers and nothing else, of contents that are alone unless `new` says otherwise. Each of their
    /// documents is one more, unless `new` has a row of it too: then that row tells. Of a load that was interrupted, and of epochs
    /// that were merged, own newcomers are in `new`; what other processes keep to themselves is always here.
    pub newcomers: Tables,
    /// The first content of the load.
    pub first_content: u64,
}

/// Works out what becomes of documents and clusters.
///
/// # Errors
/// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], [`crate::error::Error::Interrupted`], and
/// [`crate::error::Error::Limit`] if that does not fit in the memory.
pub fn diff_clusters(
    tables: &LoadTables,
    load: u32,
    keep: &Keep,
    divide: Option<&mut dyn Divide>,
    (progress, budget): (&Progress, &Budget),
) -> Result<ClusterDiff> {
    let rows = tables.newcomers.having(DOCUMENTS).filter_map(|run| run.rows(DOCUMENTS.kind));
    let outcome = ClusterDiff { added: rows.map(RowsReader::len).sum(), ..ClusterDiff::default() };
    let (contents, gone) = (Vec::new(), Vec::new());
    let mut diffing = Diffing { tables, progress, budget, outcome, contents, beside: 0, gone, ids: 0 };
    diffing.documents()?;
    diffing.touched()?;
    let touched = diffing.labels()?;
    let old = diffing.clusters_before(&touched.labels, divide.is_some())?;
    let after = diffing.components_after(&touched, &old, divide)?;
    let (fresh, others) = diffing.fresh(keep, &old, after)?;
    diffing.decide((load, keep), &old, fresh, others)?;
    Ok(diffing.outcome)
}

/// Documents looked up at once.
const BATCH: usize = sized(4096, 3);
/// Bytes that a content takes whose documents or component are others: its number twice, its label, and its component.
const CONTENT: usize = 96;
/// Documents whose clusters are looked at together, and contents of their components: at least and at most.
const AT_ONCE: (usize, usize) = sized((1 << 10, 1 << 18), (1, 4));
/// Bytes that a document of an old cluster takes, or of one that shares a document with an old one, until all are decided.
const BESIDE: usize = 64;
/// Bytes that a document takes of a cluster while it is looked at: what it is, its id wherever that is written, and where it was
/// and is.
const DOCUMENT: usize = 2 * size_of::<Member>() + 320;

/// The components that a load touches.
struct TouchedComponents {
    /// Their labels before and after the load, ascending.
    labels: Vec<u32>,
    /// How many documents each content has now that anything was said of.
    documents: Vec<u32>,
}

/// A cluster before the load, with its row.
struct Old {
    at: ClusterKey,
    row: StoredCluster,
    documents: Vec<u128>,
}

struct Diffing<'a> {
    tables: &'a LoadTables,
    progress: &'a Progress,
    budget: &'a Budget,
    outcome: ClusterDiff,
    /// Contents that anything was said of, ascending; but for new ones that are alone in their components and have one document, which
    /// are in no cluster.
    contents: Vec<u64>,
    /// Documents of old clusters, and of those that share a document with an old one.
    beside: usize,
    /// Documents that are gone, with their ids.
    gone: Vec<(u128, String)>,
    /// Bytes that their ids take, and those that nobody knew.
    ids: usize,
}

impl Diffing<'_> {
    /// Counts what happened to documents, and notes their contents.
    fn documents(&mut self) -> Result<()> {
        let runs: Vec<_> = self.tables.new.having(DOCUMENTS).collect();
        let mut rows = self.tables.new.scan(DOCUMENTS);
        let (mut batch, mut cursor) = (Vec::new(), HeapCursor::default());
        loop {
            let row = rows.next_row()?.map(Document::of_row);
            let ended = row.is_none();
            if let Some(document) = row {
                let content = document.has_content().then_some(u64::from(document.content));
                // A new content also has a row of contents: `touched` looks at it.
                self.contents.extend(content.filter(|content| *content < self.tables.first_content));
                let gone = !document.live;
                let name = gone.then(|| document.names(runs[rows.source()], &mut cursor)).transpose()?;
                let now = document.live.then_some(document.fingerprint);
                batch.push((document.id, now, name.map(|(name, _)| name)));
            }
            if ended || batch.len() == BATCH {
                self.progress.check()?;
                self.count(std::mem::take(&mut batch))?;
            }
            if ended {
                self.outcome.unknown.sort_unstable();
                return Ok(());
            }
        }
    }

    /// Counts documents by what their fingerprints were and are.
    fn count(&mut self, batch: Vec<(u128, Option<u128>, Option<String>)>) -> Result<()> {
        let ids: Vec<u128> = batch.iter().map(|(id, ..)| *id).collect();
        let before = newest_documents(&self.tables.before, &ids, false)?;
        let live = |id: &u128| before.get(id).filter(|member| member.document.live);
        let came: Vec<u128> = ids.into_iter().filter(|id| live(id).is_none()).collect();
        // They were counted as newcomers; these rows decide instead.
        let counted = newest_documents(&self.tables.newcomers, &came, false)?.len() as u64;
        self.outcome.added = self.outcome.added.saturating_sub(counted);
        for (id, now, name) in batch {
            let was = live(&id);
            match (was.map(|member| member.document.fingerprint), now) {
                (None, Some(_)) => self.outcome.added += 1,
                // Another epoch has made it what it was.
                (Some(was), Some(now)) if was == now => self.outcome.unchanged += 1,
                (Some(_), Some(_)) => self.outcome.replaced += 1,
                (Some(_), None) => {
                    self.outcome.removed += 1;
                    self.ids += name.as_ref().map_or(0, |name| size_of::<(u128, String)>() + name.len());
                    self.gone.extend(name.map(|name| (id, name)));
                }
                (None, None) => {
                    self.ids += name.as_ref().map_or(0, |name| size_of::<String>() + name.len());
                    self.outcome.unknown.extend(name);
                }
            }
        }
        Ok(())
    }

    /// Notes the contents whose documents or component are others.
    fn touched(&mut self) -> Result<()> {
        let (mut rows, first_content) = (self.tables.new.scan(CONTENTS), self.tables.first_content);
        // A new content has no links but those of the load.
        let mut linked = linked_contents(&self.tables.new, first_content);
        while let Some(row) = rows.next_row()? {
            let StoredContent { content, documents, .. } = StoredContent::of_row(row);
            let is_alone = content >= first_content && documents == 1 && !linked.has(content)?;
            self.contents.extend((!is_alone).then_some(content));
        }
        self.contents.sort_unstable();
        self.contents.dedup();
        self.allow(0, &FreshClusters::default())
    }

    /// Refuses what takes more memory than there is, so many documents of clusters that are looked at included.
    fn allow(&self, documents: usize, fresh: &FreshClusters) -> Result<()> {
        let held = self.contents.len() * CONTENT + self.beside * BESIDE + fresh.bytes();
        let bytes = held + documents * DOCUMENT + self.ids;
        self.budget.allow_whole(Share::Publishing, bytes as u64, "the clusters that a load changes")
    }

    /// The labels that these contents had and have.
    fn labels(&self) -> Result<TouchedComponents> {
        let (mut labels, mut documents) = (Vec::new(), vec![0; self.contents.len()]);
        // Of contents that are not alone no newest row is among those of newcomers.
        for tables in [&self.tables.before, &self.tables.new] {
            tables.newest(CONTENTS, &self.contents, &mut |at, _, row| {
                let content = StoredContent::of_row(row);
                labels.extend(content.is_live().then_some(content.at.component));
                documents[at] = content.documents;
                Ok(())
            })?;
        }
        labels.sort_unstable();
        labels.dedup();
        Ok(TouchedComponents { labels, documents })
    }

    /// The clusters of these components before the load.
    fn clusters_before(&self, labels: &[u32], divided: bool) -> Result<Vec<Old>> {
        let rows = cluster_rows(&self.tables.before, labels)?;
        let members = components(&self.tables.before, &rows.keys().map(|at| at.component).collect())?;
        let contents: Vec<Doc> = members.values().flatten().copied().collect();
        let places = if divided { places_of(&self.tables.before, &contents)? } else { HashMap::new() };
        let mut documents = documents_of(&self.tables.before, &members, |doc| places.get(&doc).copied())?;
        let old = |(at, row)| Old { at, row, documents: documents.remove(&at).unwrap_or_default() };
        Ok(rows.into_iter().map(old).collect())
    }

    /// These components after the load, but for contents that are alone and always were; and the places of contents in them.
    fn components_after(
        &mut self,
        touched: &TouchedComponents,
        old: &[Old],
        divide: Option<&mut dyn Divide>,
    ) -> Result<(Members, HashMap<Doc, u32>)> {
        let had: HashSet<u32> = old.iter().map(|old| old.at.component).collect();
        let documents = |content: Doc| {
            let at = self.contents.binary_search(&content.into()).ok();
            at.map(|at| touched.documents[at])
        };
        let mut members = Members::new();
        each_component(&self.tables.after, &touched.labels, &mut |label, contents| {
            // Of these nothing becomes a cluster.
            let alone = matches!(contents, [content] if documents(*content) == Some(1));
            if !alone || had.contains(&label) {
                members.insert(label, contents.to_vec());
            }
        })?;
        let mut places = HashMap::new();
        if let Some(divide) = divide {
            places = divide.divide(&self.tables.after, &members)?;
            self.move_contents(&members, &places)?;
        }
        Ok((members, places))
    }

    /// The clusters of components that share no document with an old one, some components at a time; and the documents of the others.
    fn fresh(
        &mut self,
        keep: &Keep,
        old: &[Old],
        (components, places): (Members, HashMap<Doc, u32>),
    ) -> Result<(FreshClusters, BTreeMap<ClusterKey, Vec<u128>>)> {
        let known: HashSet<u128> = old.iter().flat_map(|old| &old.documents).copied().collect();
        let room = self.budget.whole(Share::Publishing) / (4 * DOCUMENT as u64);
        let most = usize::try_from(room).unwrap_or(usize::MAX).clamp(AT_ONCE.0, AT_ONCE.1);
        let (mut fresh, mut others) = (FreshClusters::default(), BTreeMap::new());
        self.beside = known.len();
        let (mut some, mut contents) = (Members::new(), 0);
        let mut components = components.into_iter().peekable();
        while let Some((label, of_component)) = components.next() {
            contents += of_component.len();
            some.insert(label, of_component);
            if contents < most && components.peek().is_some() {
                continue;
            }
            let place = |doc| places.get(&doc).copied();
            let documents = documents_of(&self.tables.after, &std::mem::take(&mut some), place)?;
            let mut new = Vec::new();
            for (at, ids) in documents.into_iter().filter(|(_, ids)| ids.len() > 1) {
                if ids.iter().any(|id| known.contains(id)) {
                    self.beside += ids.len();
                    others.insert(at, ids);
                } else {
                    new.push((at, ids));
                }
            }
            // A text may have many documents.
            let mut new = new.as_slice();
            while !new.is_empty() {
                let mut documents = 0;
                let fits = |(_, ids): &&(ClusterKey, Vec<u128>)| {
                    documents += ids.len();
                    documents <= most
                };
                let clusters = new.iter().take_while(fits).count().max(1);
                let together;
                (together, new) = new.split_at(clusters);
                self.take_fresh(keep, together, &mut fresh)?;
            }
            contents = 0;
        }
        Ok((fresh, others))
    }

    /// Takes in clusters that share no document with an old one.
    fn take_fresh(
        &self,
        keep: &Keep,
        clusters: &[(ClusterKey, Vec<u128>)],
        fresh: &mut FreshClusters,
    ) -> Result<()> {
        self.progress.check()?;
        let mut ids: Vec<u128> = clusters.iter().flat_map(|(_, ids)| ids).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        self.allow(ids.len(), fresh)?;
        let mut documents = newest_documents(&self.tables.after, &ids, true)?;
        for (at, ids) in clusters {
            let members: Vec<Member> = ids.iter().filter_map(|id| documents.remove(id)).collect();
            fresh.take(*at, &members, keep);
        }
        self.allow(0, fresh)
    }

    /// Notes the contents that are at another place than their rows say.
    fn move_contents(&mut self, components: &Members, places: &HashMap<Doc, u32>) -> Result<()> {
        let mut contents: Vec<u64> = components.values().flatten().map(|doc| u64::from(*doc)).collect();
        contents.sort_unstable();
        let moved = &mut self.outcome.contents;
        self.tables.after.newest(CONTENTS, &contents, &mut |_, _, row| {
            let mut content = StoredContent::of_row(row);
            let now = places.get(&(content.content as Doc)).copied().unwrap_or(0);
            if now != content.at.place {
                content.at.place = now;
                moved.push(content);
            }
            Ok(())
        })?;
        moved.sort_unstable_by_key(|content| content.content);
        Ok(())
    }

    /// Decides which cluster goes on under which number, and what is said about it.
    fn decide(
        &mut self,
        (load, keep): (u32, &Keep),
        old: &[Old],
        fresh: FreshClusters,
        places: BTreeMap<ClusterKey, Vec<u128>>,
    ) -> Result<()> {
        let mut ids: Vec<u128> = places.values().flatten().copied().collect();
        ids.extend(old.iter().flat_map(|old| &old.documents));
        ids.sort_unstable();
        ids.dedup();
        self.allow(ids.len(), &fresh)?;
        let mut documents = newest_documents(&self.tables.after, &ids, true)?;
        let names: HashMap<u128, String> =
            old.iter().flat_map(|old| &old.documents).map(|id| (*id, named(&documents, *id))).collect();
        let after = places.into_iter().map(|(at, ids)| {
            let mut members: Vec<Member> = ids.iter().filter_map(|id| documents.remove(id)).collect();
            members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            After { at, members }
        });
        let after: Vec<After> = after.collect();
        let before = old.iter().map(|old| Before {
            id: ClusterId(old.row.number),
            representative: old.row.representative,
            documents: &old.documents,
        });
        let before: Vec<Before<'_>> = before.collect();
        let name = |id: u128| names.get(&id).cloned().unwrap_or_default();
        let matching = match_clusters((load, keep), &before, &after, &fresh.first_ids(), &name);
        let ClusterMatching { numbers, representatives, fresh: own, mut lines } = matching;
        let mut rows: BTreeMap<ClusterKey, StoredCluster> = BTreeMap::new();
        for old in old {
            rows.insert(old.at, StoredCluster { documents: 0, representative: 0, ..old.row });
        }
        for ((cluster, number), best) in after.iter().zip(numbers).zip(representatives) {
            let (documents, representative) =
                (cluster.members.len() as u64, cluster.members[best].document.id);
            rows.insert(cluster.at, StoredCluster { number: number.0, documents, representative });
        }
        let fresh_clusters = fresh.len() as u64;
        let own: Vec<&str> = own.iter().map(|at| after[*at].members[0].name.as_str()).collect();
        let joined = fresh.number(load, &own, &mut rows, &mut lines);
        let was: HashMap<ClusterKey, StoredCluster> = old.iter().map(|old| (old.at, old.row)).collect();
        rows.retain(|at, row| was.get(at) != Some(row));
        // Of the others it is said that they have left.
        let mut alone = std::mem::take(&mut self.gone);
        alone.retain(|(id, _)| !names.contains_key(id));
        lines.extend(alone.into_iter().map(|(_, id)| ChangeLine::Deleted { id }));
        self.outcome.clusters_changed = (after.len() as u64 + fresh_clusters, before.len() as u64);
        (self.outcome.clusters, self.outcome.lines) = (rows, ChangeLines::new(lines, joined));
        Ok(())
    }
}

/// The id of a document that was looked up.
fn named(documents: &HashMap<u128, Member>, id: u128) -> String {
    documents.get(&id).map(|member| member.name.clone()).unwrap_or_default()
}
