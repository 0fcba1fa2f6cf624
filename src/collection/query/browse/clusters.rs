//! The clusters of a commit in two orders: a page of them is found without reading the others.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::query::stats::Sizes;
use crate::collection::run::schema::CLUSTERS;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::lookup::stored_documents;
use crate::collection::tables::rows::{ClusterKey, StoredCluster};
use crate::collection::tables::sources::sources;
use crate::document::Position;
use crate::error::Result;
use crate::progress::Progress;
use crate::similarity::ReportedScores;

/// Rows read between two looks at whether to stop.
const CHECKED: usize = 4096;

/// A cluster as an index has it.
#[derive(Clone, Copy, Debug)]
pub struct IndexedCluster {
    /// Its number.
    pub cluster: ClusterId,
    /// Its documents.
    pub size: u64,
    /// Where it is in the tables.
    pub(super) at: ClusterKey,
    /// Digest of its representative's id.
    pub(super) representative: u128,
}

/// What clusters are listed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterOrder {
    /// The largest first, of equals the one with the lesser number.
    Size,
    /// The one made last first.
    Newest,
}

/// The last cluster of a page. It tells where the next page begins, also in a later commit that has not that cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageMark {
    size: u64,
    cluster: ClusterId,
}

impl fmt::Display for PageMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.size, self.cluster)
    }
}

impl FromStr for PageMark {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<PageMark, String> {
        let parts = text.split_once(':').and_then(|(size, cluster)| {
            Some(PageMark { size: size.parse().ok()?, cluster: cluster.parse().ok()? })
        });
        parts.ok_or_else(|| format!("{text:?} is no mark of a page"))
    }
}

/// A cluster without its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterBrief {
    /// Its number.
    pub cluster: ClusterId,
    /// Its documents.
    pub size: u64,
    /// The document that stands for it.
    pub representative: String,
    /// The file that one was read from, as it was named.
    pub file: String,
    /// The line in the file, from 1.
    pub line: u32,
    /// The least that a document of it has in common with that one, where clusters are put in order of it; none of one text
    /// alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<ReportedScores>,
}

/// All clusters of a commit: 44 bytes each.
#[derive(Debug, Default)]
pub struct ClusterIndex {
    /// Ascending by number.
    numbered: Vec<IndexedCluster>,
    /// Places in the list above, in the order of [`ClusterOrder::Size`].
    by_size: Vec<u32>,
    sizes: Vec<Sizes>,
}

impl ClusterIndex {
    /// Reads the clusters of a commit, without their members.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`], [`crate::error::Error::Damaged`] and [`crate::error::Error::Interrupted`].
    pub fn new(snapshot: &Snapshot, progress: &Progress) -> Result<ClusterIndex> {
        let tables = snapshot.tables();
        let mut rows = tables.scan(CLUSTERS);
        let mut numbered = Vec::new();
        while let Some(row) = rows.next_row()? {
            let (at, StoredCluster { number, documents, representative }) = StoredCluster::of_row(row);
            if documents > 0 {
                let cluster = ClusterId(number);
                numbered.push(IndexedCluster { cluster, size: documents, at, representative });
            }
            if numbered.len().is_multiple_of(CHECKED) {
                progress.check()?;
            }
        }
        Ok(ClusterIndex::of(numbered))
    }

    /// Puts clusters in order.
    fn of(mut numbered: Vec<IndexedCluster>) -> ClusterIndex {
        numbered.sort_unstable_by_key(|cluster| cluster.cluster);
        let mut by_size: Vec<u32> = (0..).take(numbered.len()).collect();
        by_size.sort_by_key(|at| Reverse(numbered[*at as usize].size));
        let sizes = Sizes::of(numbered.iter().map(|cluster| cluster.size));
        ClusterIndex { numbered, by_size, sizes }
    }

    /// All of them, ascending by number.
    pub(super) fn all(&self) -> &[IndexedCluster] {
        &self.numbered
    }

    /// How large clusters are, the smaller ones first; sizes without a cluster are left out.
    pub fn sizes(&self) -> &[Sizes] {
        &self.sizes
    }

    /// The cluster of a number.
    pub fn get(&self, cluster: ClusterId) -> Option<&IndexedCluster> {
        let at = self.numbered.binary_search_by_key(&cluster, |cluster| cluster.cluster);
        at.ok().map(|at| &self.numbered[at])
    }

    /// How many clusters have so many documents or more.
    pub fn count(&self, least: u64) -> usize {
        self.by_size.partition_point(|at| self.numbered[*at as usize].size >= least)
    }

    /// The next clusters behind `after`, at most `limit`, of those with `least` documents or more, and the mark of the last one
    /// if there are others behind it.
    pub fn page(
        &self,
        order: ClusterOrder,
        least: u64,
        after: Option<PageMark>,
        limit: usize,
    ) -> (Vec<IndexedCluster>, Option<PageMark>) {
        let large = |cluster: &&IndexedCluster| cluster.size >= least;
        let mut page: Vec<IndexedCluster> = match order {
            ClusterOrder::Size => {
                let behind = |after: PageMark| {
                    self.by_size.partition_point(|at| {
                        let IndexedCluster { cluster, size, .. } = self.numbered[*at as usize];
                        (Reverse(size), cluster) <= (Reverse(after.size), after.cluster)
                    })
                };
                let rest = &self.by_size[after.map_or(0, behind)..];
                let rest = rest.iter().map(|at| &self.numbered[*at as usize]);
                rest.take_while(large).take(limit.saturating_add(1)).copied().collect()
            }
            ClusterOrder::Newest => {
                let before =
                    |after: PageMark| self.numbered.partition_point(|known| known.cluster < after.cluster);
                let rest = &self.numbered[..after.map_or(self.numbered.len(), before)];
                rest.iter().rev().filter(large).take(limit.saturating_add(1)).copied().collect()
            }
        };
        let more = page.len() > limit;
        page.truncate(limit);
        let last = page.last().map(|last| PageMark { size: last.size, cluster: last.cluster });
        (page, last.filter(|_| more))
    }
}

impl Snapshot {
    /// Clusters with the names and places of their representatives, in their order.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`].
    pub fn cluster_briefs(&self, clusters: &[IndexedCluster]) -> Result<Vec<ClusterBrief>> {
        let tables = self.tables();
        let mut ids: Vec<u128> = clusters.iter().map(|cluster| cluster.representative).collect();
        ids.sort_unstable();
        ids.dedup();
        let documents = stored_documents(&tables, &ids)?;
        let file = |position: u64| Position::from_bits(position).file();
        let mut files: Vec<u64> =
            documents.values().map(|member| u64::from(file(member.document.position))).collect();
        files.sort_unstable();
        files.dedup();
        let sources = sources(&tables, &files)?;
        let brief = |IndexedCluster { cluster, size, representative, .. }: &IndexedCluster| {
            let member = documents.get(representative);
            let source = member.and_then(|member| sources.get(&file(member.document.position)));
            ClusterBrief {
                cluster: *cluster,
                size: *size,
                representative: member.map(|member| member.name.clone()).unwrap_or_default(),
                file: source.map(|source| source.shown.clone()).unwrap_or_default(),
                line: member.map_or(0, |member| member.document.line),
                least: None,
            }
        };
        Ok(clusters.iter().map(brief).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(sizes: &[(u32, u32, u64)]) -> ClusterIndex {
        let cluster = |(load, rank, size): &(u32, u32, u64)| IndexedCluster {
            cluster: ClusterId::new(*load, *rank),
            size: *size,
            at: ClusterKey::default(),
            representative: 0,
        };
        ClusterIndex::of(sizes.iter().map(cluster).collect())
    }

    /// All pages one after another are the whole list, whatever the limit, and as an obvious sort has it.
    #[test]
    fn pages_are_the_list() {
        let sizes: Vec<(u32, u32, u64)> =
            (0..100).map(|n| (n / 10 + 1, n % 10 + 1, u64::from(n * 37 % 11) + 2)).collect();
        let index = index(&sizes);
        for least in [0, 2, 5, 12, 13] {
            let mut plain: Vec<(u64, ClusterId)> = sizes
                .iter()
                .filter(|(.., size)| *size >= least)
                .map(|(load, rank, size)| (*size, ClusterId::new(*load, *rank)))
                .collect();
            assert_eq!(index.count(least), plain.len());
            for order in [ClusterOrder::Size, ClusterOrder::Newest] {
                match order {
                    ClusterOrder::Size => plain.sort_by_key(|(size, cluster)| (Reverse(*size), *cluster)),
                    ClusterOrder::Newest => plain.sort_by_key(|(_, cluster)| Reverse(*cluster)),
                }
                for limit in [1, 3, 50, 1000] {
                    let (mut found, mut after) = (Vec::new(), None);
                    loop {
                        let (page, next) = index.page(order, least, after, limit);
                        assert!(page.len() <= limit);
                        found.extend(page.iter().map(|cluster| (cluster.size, cluster.cluster)));
                        // As a client has it.
                        after = next.map(|mark| mark.to_string().parse().expect("a mark"));
                        if after.is_none() {
                            break;
                        }
                    }
                    assert_eq!(found, plain, "{order:?}, {least}, {limit}");
                }
            }
        }
        assert!("3.1".parse::<PageMark>().is_err() && "x:3.1".parse::<PageMark>().is_err());
        // One that is gone: the page begins where it would have been.
        let mark = "7:4.11".parse().expect("a mark");
        let (page, _) = index.page(ClusterOrder::Size, 0, Some(mark), 1);
        assert!((page[0].size, Reverse(page[0].cluster)) < (7, Reverse(ClusterId::new(4, 11))), "{page:?}");
    }
}
