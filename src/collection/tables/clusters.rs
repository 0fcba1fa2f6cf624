//! Clusters as they are stored: their rows, and the documents of each.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::collection::run::schema::{CLUSTERS, CONTENTS, MEMBERS};
use crate::collection::tables::Tables;
use crate::collection::tables::components::Members;
use crate::collection::tables::rows::{ClusterKey, StoredCluster, StoredContent, StoredMember};
use crate::document::{Doc, NO_DOC};
use crate::error::Result;

/// The clusters of components, of ascending labels.
pub(in crate::collection) fn cluster_rows(
    tables: &Tables,
    labels: &[u32],
) -> Result<BTreeMap<ClusterKey, StoredCluster>> {
    let keys: Vec<u64> = labels.iter().map(|label| u64::from(*label)).collect();
    let mut rows = BTreeMap::new();
    tables.beginning(CLUSTERS, 1, &keys, &mut |_, row| {
        let (at, cluster) = StoredCluster::of_row(row);
        if cluster.documents > 0 {
            rows.insert(at, cluster);
        }
        Ok(())
    })?;
    Ok(rows)
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
    // A content that two components have is damage, which fsck names.
    labelled.dedup_by_key(|(content, _)| *content);
    let keys: Vec<u64> = labelled.iter().map(|(content, _)| *content).collect();
    let mut documents: BTreeMap<ClusterKey, Vec<u128>> = BTreeMap::new();
    tables.beginning(MEMBERS, 1, &keys, &mut |at, row| {
        let member = StoredMember::of_row(row);
        if member.is {
            let place = place(member.content as Doc).unwrap_or(0);
            let at = ClusterKey { component: labelled[at].1, place };
            documents.entry(at).or_default().push(member.id);
        }
        Ok(())
    })?;
    Ok(documents)
}

/// The places of contents in their components.
pub(in crate::collection) fn places_of(tables: &Tables, contents: &[Doc]) -> Result<HashMap<Doc, u32>> {
    let mut keys: Vec<u64> =
        contents.iter().filter(|doc| **doc != NO_DOC).map(|doc| u64::from(*doc)).collect();
    keys.sort_unstable();
    let mut places = HashMap::with_capacity(keys.len());
    tables.newest(CONTENTS, &keys, &mut |_, _, row| {
        let content = StoredContent::of_row(row);
        places.insert(content.content as Doc, content.at.place);
        Ok(())
    })?;
    Ok(places)
}
