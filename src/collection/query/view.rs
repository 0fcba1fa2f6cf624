//! Looking at a commit: its clusters and documents.

use std::collections::{BTreeMap, BTreeSet};

use crate::collection::HeapCursor;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::schema::{CLUSTERS, DOCUMENTS};
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::clusters::{documents_of, places_of};
use crate::collection::tables::components::components;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::{clusters, stored_documents};
use crate::collection::tables::member::Member;
use crate::collection::tables::rows::{ClusterKey, StoredCluster};
use crate::collection::tables::sources::sources;
use crate::document::{Doc, Position};
use crate::error::Result;
use crate::limits::sized;

/// A cluster of two documents or more.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ClusterView {
    /// Its number, which it keeps over loads.
    pub cluster: ClusterId,
    /// Its documents.
    pub size: u64,
    /// The document that stands for it.
    pub representative: String,
    /// All documents, ascending by id.
    pub members: Vec<String>,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DocumentView {
    /// Its id.
    pub id: String,
    /// The cluster it is in, if it is in one.
    pub cluster: Option<ClusterId>,
    /// The load that first brought its id.
    pub first_load: u32,
    /// The load that brought it as it is.
    pub load: u32,
    /// The file it was read from, as it was named.
    pub file: String,
    /// The line of its record in the file, from 1; the greatest number for more.
    pub line: u32,
    /// Offset of its record in the file, decompressed.
    pub offset: u64,
    /// The number of that record, by which [`Snapshot::record`] finds it. It depends on how the load was run, and is not
    /// shown.
    #[serde(skip)]
    pub version: u32,
}

/// Clusters looked up at once.
const BATCH: usize = sized(4096, 3);

impl Snapshot {
    /// Hands all clusters to `each`, in no particular order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], and what `each` gives.
    pub fn clusters(&self, each: &mut dyn FnMut(ClusterView) -> Result<()>) -> Result<()> {
        let tables = self.tables();
        let mut rows = tables.scan(CLUSTERS);
        let mut batch: BTreeMap<ClusterKey, StoredCluster> = BTreeMap::new();
        while let Some(row) = rows.next_row()? {
            let (at, cluster) = StoredCluster::of_row(row);
            // Clusters of one component are looked up together.
            if batch.len() >= BATCH
                && batch.last_key_value().is_some_and(|(last, _)| last.component != at.component)
            {
                look_up(&tables, &std::mem::take(&mut batch), each)?;
            }
            if cluster.documents > 0 {
                batch.insert(at, cluster);
            }
        }
        look_up(&tables, &batch, each)
    }

    /// Hands all documents to `each`, in no particular order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`], and what `each` gives.
    pub fn documents(&self, each: &mut dyn FnMut(DocumentView) -> Result<()>) -> Result<()> {
        let tables = self.tables();
        let runs: Vec<_> = tables.having(DOCUMENTS).collect();
        let mut rows = tables.scan(DOCUMENTS);
        let (mut batch, mut cursor): (Vec<(Document, String)>, _) = (Vec::new(), HeapCursor::default());
        loop {
            let row = rows.next_row()?.map(Document::of_row);
            let ended = row.is_none();
            if let Some(document) = row.filter(|document| document.live) {
                let name = document.names(runs[rows.source()], &mut cursor)?.0;
                batch.push((document, name));
            }
            if ended || batch.len() == BATCH {
                with_clusters(&tables, std::mem::take(&mut batch), each)?;
            }
            if ended {
                return Ok(());
            }
        }
    }
}

/// Adds the cluster of each document.
pub(super) fn with_clusters(
    tables: &Tables,
    documents: Vec<(Document, String)>,
    each: &mut dyn FnMut(DocumentView) -> Result<()>,
) -> Result<()> {
    let clusters = clusters(tables, documents.iter().map(|(document, _)| document.content))?;
    let file = |document: &Document| Position::from_bits(document.position).file();
    let files: BTreeSet<u64> = documents.iter().map(|(document, _)| u64::from(file(document))).collect();
    let sources = sources(tables, &files.into_iter().collect::<Vec<_>>())?;
    for (document, id) in documents {
        let position = Position::from_bits(document.position);
        let cluster = clusters.get(&document.content).copied();
        let (first_load, load) = document.loads;
        let file = sources.get(&position.file()).map(|source| source.shown.clone()).unwrap_or_default();
        let (line, offset) = (document.line, position.offset());
        each(DocumentView { id, cluster, first_load, load, file, line, offset, version: document.version })?;
    }
    Ok(())
}

/// Looks clusters up, all of each component that has any of them.
fn look_up(
    tables: &Tables,
    clusters: &BTreeMap<ClusterKey, StoredCluster>,
    each: &mut dyn FnMut(ClusterView) -> Result<()>,
) -> Result<()> {
    let components = components(tables, &clusters.keys().map(|at| at.component).collect())?;
    let mut contents: Vec<Doc> = components.values().flatten().copied().collect();
    contents.sort_unstable();
    contents.dedup();
    let places = places_of(tables, &contents)?;
    let members = documents_of(tables, &components, |doc| places.get(&doc).copied())?;
    let mut ids: Vec<u128> = clusters.keys().filter_map(|at| members.get(at)).flatten().copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let documents = stored_documents(tables, &ids)?;
    let name = |id: &u128| documents.get(id).map(|member: &Member| member.name.clone());
    for (at, row) in clusters {
        let mut names: Vec<String> = members.get(at).into_iter().flatten().filter_map(name).collect();
        names.sort_unstable();
        let representative = name(&row.representative).unwrap_or_default();
        let (cluster, size) = (ClusterId(row.number), names.len() as u64);
        each(ClusterView { cluster, size, representative, members: names })?;
    }
    Ok(())
}
