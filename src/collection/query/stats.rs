//! The figures of a commit, read from its tables one after another: what is held does not grow with the collection.

use std::collections::BTreeMap;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::run::page::PAGE_BYTES;
use crate::collection::run::schema::{CLUSTERS, DOCUMENTS, HEAPS, TABLES};
use crate::collection::tables::Tables;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::document::Document;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::tables::rows::StoredCluster;
use crate::document::NO_DOC;
use crate::error::Result;
use crate::progress::Progress;

/// Clusters that are named.
const LARGEST: usize = 10;

/// Rows read between two looks at whether to stop.
const CHECKED: usize = 1024;

/// What a commit holds, in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    /// Number of the commit.
    pub commit: u64,
    /// Loads and deletions so far.
    pub loads: u64,
    /// Input files that they read.
    pub files: u64,
    /// Live documents.
    pub documents: u64,
    /// Those of them without a token, which are like nothing else.
    pub empty: u64,
    /// Distinct canonical texts of the others.
    pub contents: u64,
    /// Documents whose canonical text another one has, but for one of each text.
    pub exact_copies: u64,
    /// Clusters of two documents or more.
    pub clusters: u64,
    /// Documents in clusters.
    pub clustered: u64,
    /// Documents that go if each cluster keeps its representative only.
    pub removed: u64,
    /// How large clusters are, the smaller ones first; sizes without a cluster are left out.
    pub sizes: Vec<Sizes>,
    /// The largest clusters, at most ten, the largest first.
    pub largest: Vec<Large>,
    /// Bytes of all runs.
    pub bytes: u64,
    /// The runs there are.
    pub runs: u64,
    /// What they hold by table or heap, in the order of their kinds; tables without rows are left out.
    pub tables: Vec<TableStats>,
}

/// Clusters of similar size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sizes {
    /// Documents of the smallest that are counted here, a power of two.
    pub from: u64,
    /// Documents of the largest that are counted here, one less than the next power of two.
    pub to: u64,
    /// Clusters.
    pub clusters: u64,
    /// Their documents.
    pub documents: u64,
}

impl Sizes {
    /// Of clusters of these sizes.
    pub(super) fn of(sizes: impl Iterator<Item = u64>) -> Vec<Sizes> {
        let mut tally = SizesTally::default();
        for size in sizes {
            tally.count(size);
        }
        tally.0.into_values().collect()
    }
}

/// Sizes by their powers of two.
#[derive(Default)]
struct SizesTally(BTreeMap<u32, Sizes>);

impl SizesTally {
    /// Counts a cluster, unless it is none.
    fn count(&mut self, size: u64) -> bool {
        let Some(power) = size.checked_ilog2() else { return false };
        let from = 1 << power;
        let of_power =
            self.0.entry(power).or_insert(Sizes { from, to: from + (from - 1), clusters: 0, documents: 0 });
        of_power.clusters += 1;
        // What fsck would find may be any number.
        of_power.documents = of_power.documents.saturating_add(size);
        true
    }
}

/// One of the largest clusters.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Large {
    /// Its number.
    pub cluster: ClusterId,
    /// Its documents.
    pub size: u64,
    /// The document that stands for it.
    pub representative: String,
}

/// What the runs hold of a table or heap, rows of earlier loads that later ones replaced included.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TableStats {
    /// Its name.
    pub table: &'static str,
    /// Runs that have any of it.
    pub runs: u64,
    /// Rows; words of a heap.
    pub rows: u64,
    /// Bytes of the pages that hold these, without fences.
    pub bytes: u64,
}

impl Snapshot {
    /// Counts what the commit holds.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`], [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn stats(&self, progress: &Progress) -> Result<Stats> {
        let (manifest, tables) = (self.manifest(), self.tables());
        let mut stats = Stats {
            commit: manifest.commit,
            loads: manifest.load,
            files: u64::from(manifest.next_file),
            contents: manifest.counts.contents,
            bytes: self.runs().iter().map(|run| run.bytes()).sum(),
            runs: self.runs().len() as u64,
            tables: held(&tables),
            ..Stats::default()
        };
        stats.count_documents(&tables, progress)?;
        stats.count_clusters(&tables, progress)?;
        Ok(stats)
    }
}

impl Stats {
    fn count_documents(&mut self, tables: &Tables, progress: &Progress) -> Result<()> {
        let (mut rows, mut read) = (tables.scan(DOCUMENTS), 0usize);
        while let Some(document) = rows.next_row()?.map(Document::of_row) {
            read += 1;
            if read.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            self.documents += u64::from(document.live);
            self.empty += u64::from(document.live && document.content == NO_DOC);
        }
        self.exact_copies = (self.documents - self.empty).saturating_sub(self.contents);
        Ok(())
    }

    fn count_clusters(&mut self, tables: &Tables, progress: &Progress) -> Result<()> {
        let mut sizes = SizesTally::default();
        // Size, number turned round so that the lower one is the greater, and the representative's id.
        let mut largest: Vec<(u64, std::cmp::Reverse<u64>, u128)> = Vec::with_capacity(LARGEST + 1);
        let (mut rows, mut read) = (tables.scan(CLUSTERS), 0usize);
        while let Some(row) = rows.next_row()? {
            read += 1;
            if read.is_multiple_of(CHECKED) {
                progress.check()?;
            }
            let (_, StoredCluster { number, documents: size, representative }) = StoredCluster::of_row(row);
            if !sizes.count(size) {
                continue;
            }
            largest.push((size, std::cmp::Reverse(number), representative));
            largest.sort_unstable_by(|a, b| b.cmp(a));
            largest.truncate(LARGEST);
        }
        self.sizes = sizes.0.into_values().collect();
        self.clusters = self.sizes.iter().map(|sizes| sizes.clusters).sum();
        self.clustered = self.sizes.iter().fold(0, |sum, sizes| sizes.documents.saturating_add(sum));
        self.removed = self.clustered - self.clusters;
        self.largest = named(tables, &largest)?;
        Ok(())
    }
}

/// Clusters with the names of their representatives.
fn named(tables: &Tables, clusters: &[(u64, std::cmp::Reverse<u64>, u128)]) -> Result<Vec<Large>> {
    let mut ids: Vec<u128> = clusters.iter().map(|(.., id)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let documents = stored_documents(tables, &ids)?;
    let large = |(size, number, id): &(u64, std::cmp::Reverse<u64>, u128)| Large {
        cluster: ClusterId(number.0),
        size: *size,
        representative: documents.get(id).map_or_else(String::new, |member| member.name.clone()),
    };
    Ok(clusters.iter().map(large).collect())
}

/// What the runs hold of each table and heap.
fn held(tables: &Tables) -> Vec<TableStats> {
    let mut held = Vec::new();
    for table in TABLES {
        let rows = tables.runs.iter().filter_map(|run| run.rows(table.kind));
        held.push(total(table.name, rows.map(|rows| (rows.len(), rows.pages()))));
    }
    for (kind, name) in HEAPS {
        let words = tables.runs.iter().filter_map(|run| run.heap(kind));
        held.push(total(name, words.map(|heap| (heap.len(), heap.pages()))));
    }
    held.retain(|table| table.rows > 0);
    held
}

/// The rows of all runs that have any, each with its pages.
fn total(table: &'static str, sections: impl Iterator<Item = (u64, u64)>) -> TableStats {
    let mut stats = TableStats { table, runs: 0, rows: 0, bytes: 0 };
    for (rows, pages) in sections.filter(|(rows, _)| *rows > 0) {
        stats.runs += 1;
        stats.rows += rows;
        stats.bytes += pages * PAGE_BYTES as u64;
    }
    stats
}
