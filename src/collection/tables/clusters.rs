//! Clusters as they are stored: their rows, and the documents of each.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use crate::collection::run::schema::{CLUSTERS, CONTENTS, MEMBERS};
use crate::collection::tables::Tables;
use crate::collection::tables::components::Members;
use crate::collection::tables::document::{unpack, wide};
use crate::document::{Doc, NO_DOC};
use crate::error::Result;

/// Where a cluster is: the label of its component, and its place in it. A transitive cluster is all of its component,
/// at place 0; of several the one with the least content is there, each other one at the place of its own least content.
pub type ClusterKey = (u32, u32);

/// A cluster as a row of the table has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterRow {
    /// Its [`ClusterId`].
    pub number: u64,
    /// Its documents; 0 if it is no more.
    pub documents: u64,
    /// Digest of its representative's id.
    pub representative: u128,
}

/// The clusters of components.
pub(in crate::collection) fn cluster_rows(
    tables: &Tables,
    labels: &BTreeSet<u32>,
) -> Result<BTreeMap<ClusterKey, ClusterRow>> {
    let keys: Vec<u64> = labels.iter().map(|label| u64::from(*label)).collect();
    let mut rows = BTreeMap::new();
    tables.beginning(CLUSTERS, 1, &keys, &mut |_, row| {
        let (at, cluster) = cluster_row(row);
        if cluster.documents > 0 {
            rows.insert(at, cluster);
        }
        Ok(())
    })?;
    Ok(rows)
}

/// What a row of clusters says.
pub(in crate::collection) fn cluster_row(row: &[u64]) -> (ClusterKey, ClusterRow) {
    let cluster = ClusterRow { number: row[2], documents: row[3], representative: wide(row[4], row[5]) };
    ((row[0] as u32, row[1] as u32), cluster)
}

/// The documents of contents, ascending contents, by cluster. Contents of no place are at place 0.
pub(in crate::collection) fn documents_of(
    tables: &Tables,
    components: &Members,
    place: impl Fn(Doc) -> Option<u32>,
) -> Result<BTreeMap<ClusterKey, Vec<u128>>> {
    let contents =
        components.iter().flat_map(|(label, contents)| contents.iter().map(|c| (u64::from(*c), *label)));
    let mut labelled: Vec<(u64, u32)> = contents.collect();
    labelled.sort_unstable();
    let keys: Vec<u64> = labelled.iter().map(|(content, _)| *content).collect();
    let mut documents: BTreeMap<ClusterKey, Vec<u128>> = BTreeMap::new();
    tables.beginning(MEMBERS, 1, &keys, &mut |at, row| {
        if row[3] == 1 {
            let at = (labelled[at].1, place(row[0] as Doc).unwrap_or(0));
            documents.entry(at).or_default().push(wide(row[1], row[2]));
        }
        Ok(())
    })?;
    Ok(documents)
}

/// How many documents contents have.
pub(in crate::collection) fn document_counts(tables: &Tables, contents: &[u64]) -> Result<HashMap<Doc, u32>> {
    let mut counts = HashMap::with_capacity(contents.len());
    tables.newest(CONTENTS, contents, &mut |_, _, row| {
        counts.insert(row[0] as Doc, row[1] as u32);
        Ok(())
    })?;
    Ok(counts)
}

/// The places of contents in their components.
pub(in crate::collection) fn places_of(tables: &Tables, contents: &[Doc]) -> Result<HashMap<Doc, u32>> {
    let mut keys: Vec<u64> =
        contents.iter().filter(|doc| **doc != NO_DOC).map(|doc| u64::from(*doc)).collect();
    keys.sort_unstable();
    let mut places = HashMap::with_capacity(keys.len());
    tables.newest(CONTENTS, &keys, &mut |_, _, row| {
        places.insert(row[0] as Doc, unpack(row[2]).0);
        Ok(())
    })?;
    Ok(places)
}
