//! How the clusters of an earlier commit differ from those of the last one. Both are stored, so nothing is worked out anew: what the
//! runs say that only one of the two has is looked up in either.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use crate::collection::load::clusters::fresh_clusters::ChangeLines;
use crate::collection::load::clusters::match_clusters::{After, Before, tell_restored};
use crate::collection::run::schema::{CLUSTERS, CONTENTS, DOCUMENTS};
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::{ChangeLine, ClusterId};
use crate::collection::tables::clusters::{cluster_rows, documents_of, places_of};
use crate::collection::tables::components::components;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::{cluster_keys, newest_documents};
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::{StoredCluster, StoredContent};
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{Budget, Share};
use crate::limits::sized;
use crate::progress::Progress;

/// What becomes of documents and clusters where an earlier commit is restored.
#[derive(Debug, Default)]
pub struct RestoredDiff {
    /// What is said about clusters.
    pub(in crate::collection) lines: ChangeLines,
    /// Documents that come back.
    pub added: u64,
    /// Documents whose record is the earlier one again.
    pub replaced: u64,
    /// Documents that go.
    pub removed: u64,
}

/// Documents looked up at once.
const BATCH: usize = sized(4096, 3);
/// Bytes that a component takes: its label, its rows, and its contents with their places, which are few in most.
const COMPONENT: usize = 200;
/// Bytes that a document takes whose cluster is compared: its digest, once for each state.
const COMPARED: u64 = 64;
/// Bytes that a document takes whose cluster is another one: what it is, its id wherever that is written, and where it was and is.
const DOCUMENT: usize = 2 * size_of::<Member>() + 320;

/// Works out how `after`, the tables of an earlier commit, differ from `before`, those of the last one. `differing` are the runs
/// that only one of both has. Clusters are parts of components if they are `divided`.
///
/// # Errors
/// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], [`crate::error::Error::Interrupted`], and
/// [`crate::error::Error::Limit`] if that does not fit in the memory.
pub fn diff_restored(
    (before, after, differing): (&Tables, &Tables, &Tables),
    divided: bool,
    (progress, budget): (&Progress, &Budget),
) -> Result<RestoredDiff> {
    let (diff, labels) = (RestoredDiff::default(), BTreeSet::new());
    let (gone, gone_bytes) = (BTreeMap::new(), 0);
    let mut restoring =
        Restoring { before, after, differing, progress, budget, diff, labels, gone, gone_bytes };
    restoring.documents()?;
    restoring.contents()?;
    restoring.clusters(divided)?;
    Ok(restoring.diff)
}

/// A cluster of one of both states, with the digests of its documents, ascending.
#[derive(Clone, Debug, PartialEq)]
struct RestoredCluster {
    row: StoredCluster,
    documents: Vec<u128>,
}

/// Clusters by their numbers.
type ByNumber = BTreeMap<u64, RestoredCluster>;

struct Restoring<'a> {
    before: &'a Tables,
    after: &'a Tables,
    differing: &'a Tables,
    progress: &'a Progress,
    budget: &'a Budget,
    diff: RestoredDiff,
    /// Components, of either state, of which anything is said.
    labels: BTreeSet<u32>,
    /// Documents that go, with their ids, and the bytes that these take.
    gone: BTreeMap<u128, String>,
    gone_bytes: usize,
}

impl Restoring<'_> {
    /// Counts what happens to documents, and notes the components that they are in.
    fn documents(&mut self) -> Result<()> {
        let mut rows = self.differing.scan(DOCUMENTS);
        let mut batch = Vec::new();
        loop {
            let row = rows.next_row()?.map(Document::of_row);
            let ended = row.is_none();
            batch.extend(row.map(|document| document.id));
            if ended || batch.len() == BATCH {
                self.progress.check()?;
                self.count(&std::mem::take(&mut batch))?;
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Counts documents, by ascending digests of their ids.
    fn count(&mut self, ids: &[u128]) -> Result<()> {
        let [was, is] = [self.before, self.after].map(|tables| newest_documents(tables, ids, false));
        let (was, is) = (was?, is?);
        let live = |of: &HashMap<u128, Member>, id: &u128| {
            of.get(id).filter(|member| member.document.live).map(|member| member.document.fingerprint)
        };
        let mut gone = Vec::new();
        for id in ids {
            match (live(&was, id), live(&is, id)) {
                (None, Some(_)) => self.diff.added += 1,
                (Some(_), None) => gone.push(*id),
                (Some(was), Some(is)) if was != is => self.diff.replaced += 1,
                _ => {}
            }
        }
        self.diff.removed += gone.len() as u64;
        let names = newest_documents(self.before, &gone, true)?;
        for (id, Member { name, .. }) in names {
            self.gone_bytes += size_of::<(u128, String)>() + name.len();
            self.gone.insert(id, name);
        }
        for (tables, documents) in [(self.before, was), (self.after, is)] {
            let members = documents.values().filter(|member| member.document.has_content());
            let contents = members.map(|member| member.document.content);
            self.labels.extend(cluster_keys(tables, contents)?.values().map(|at| at.component));
        }
        self.allow(0)
    }

    /// Notes the components that contents are in whose rows differ, and those of clusters whose rows do.
    fn contents(&mut self) -> Result<()> {
        let mut rows = self.differing.scan(CONTENTS);
        let mut batch: Vec<Doc> = Vec::new();
        loop {
            let row = rows.next_row()?.map(StoredContent::of_row);
            let ended = row.is_none();
            batch.extend(row.map(|row| row.content as Doc));
            if ended || batch.len() == BATCH {
                self.progress.check()?;
                for tables in [self.before, self.after] {
                    let at = cluster_keys(tables, batch.iter().copied())?;
                    self.labels.extend(at.values().map(|at| at.component));
                }
                batch.clear();
                self.allow(0)?;
            }
            if ended {
                break;
            }
        }
        let mut rows = self.differing.scan(CLUSTERS);
        while let Some(row) = rows.next_row()? {
            self.labels.insert(StoredCluster::of_row(row).0.component);
        }
        self.allow(0)
    }

    /// Refuses what takes more memory than there is, so many bytes of documents included.
    fn allow(&self, bytes: u64) -> Result<()> {
        let bytes = bytes + (self.labels.len() * COMPONENT + self.gone_bytes) as u64;
        self.budget.allow_whole(Share::Publishing, bytes, "the clusters that a rollback changes")
    }

    /// The clusters of these components in one of both states.
    fn clusters_of(&self, tables: &Tables, divided: bool) -> Result<ByNumber> {
        let rows = cluster_rows(tables, &self.labels.iter().copied().collect::<Vec<_>>())?;
        self.allow(rows.values().fold(0, |sum: u64, row| sum.saturating_add(row.documents)) * COMPARED)?;
        let members = components(tables, &rows.keys().map(|at| at.component).collect())?;
        let contents: Vec<Doc> = members.values().flatten().copied().collect();
        let places = if divided { places_of(tables, &contents)? } else { HashMap::new() };
        let mut documents = documents_of(tables, &members, |doc| places.get(&doc).copied())?;
        let cluster = |(at, row): (_, StoredCluster)| {
            let mut documents = documents.remove(&at).unwrap_or_default();
            documents.sort_unstable();
            (row.number, RestoredCluster { row, documents })
        };
        Ok(rows.into_iter().map(cluster).collect())
    }

    /// Says what becomes of clusters, and of documents that were in none and go.
    fn clusters(&mut self, divided: bool) -> Result<()> {
        let mut was = self.clusters_of(self.before, divided)?;
        let mut is = self.clusters_of(self.after, divided)?;
        was.retain(|number, cluster| is.get(number) != Some(cluster) || is.remove(number).is_none());
        let mut ids: Vec<u128> =
            was.values().chain(is.values()).flat_map(|of| &of.documents).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        self.allow((ids.len() * DOCUMENT) as u64)?;
        self.progress.check()?;
        let names = newest_documents(self.before, &ids, true)?;
        let mut documents = newest_documents(self.after, &ids, true)?;
        let name = |id: u128| names.get(&id).map(|member| member.name.clone()).unwrap_or_default();
        let before: Vec<Before<'_>> = was.values().map(as_before).collect();
        let (mut after, mut numbers, mut representatives) = (Vec::new(), Vec::new(), Vec::new());
        for (number, cluster) in &is {
            let members = cluster.documents.iter().filter_map(|id| documents.remove(id));
            let mut members: Vec<Member> = members.collect();
            members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            let is_best = |member: &Member| member.document.id == cluster.row.representative;
            representatives.push(members.iter().position(is_best).unwrap_or(0));
            numbers.push(ClusterId(*number));
            after.push(members);
        }
        let after: Vec<After> = after.into_iter().map(After::of).collect();
        let mut lines = tell_restored(&before, &after, numbers, representatives, &name);
        // Of the others it is said that they have left.
        let clustered: BTreeSet<u128> = was.values().flat_map(|of| &of.documents).copied().collect();
        let alone = std::mem::take(&mut self.gone).into_iter().filter(|(id, _)| !clustered.contains(id));
        lines.extend(alone.map(|(_, id)| ChangeLine::Deleted { id }));
        lines.sort_unstable();
        self.diff.lines = lines.into();
        Ok(())
    }
}

fn as_before(cluster: &RestoredCluster) -> Before<'_> {
    let RestoredCluster { row, documents } = cluster;
    Before { id: ClusterId(row.number), representative: row.representative, documents }
}
