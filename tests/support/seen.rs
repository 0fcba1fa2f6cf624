//! A job over a storage that fails, and what of it can be read afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;

use alike::collection::Snapshot;
use alike::error::Error;
use alike::storage::Storage;

use crate::support::history::{Bench, Clusters};

/// Clusters and documents, by id.
pub(crate) type Seen = (Clusters, BTreeSet<String>);

/// What a reader sees of a collection: nothing twice, and as much as the manifest counts.
pub(crate) fn try_seen(storage: &Arc<dyn Storage>) -> Result<Seen, Error> {
    let snapshot = Snapshot::open(storage)?;
    let (mut clusters, mut documents) = (Clusters::new(), BTreeSet::new());
    snapshot.clusters(&mut |cluster| {
        let size = cluster.members.len() as u64;
        let members: BTreeSet<String> = cluster.members.into_iter().collect();
        assert_eq!((cluster.size, members.len() as u64), (size, size), "no member is there twice");
        assert!(clusters.insert(members));
        Ok(())
    })?;
    snapshot.documents(&mut |document| {
        assert!(documents.insert(document.id), "no document is there twice");
        Ok(())
    })?;
    let counts = snapshot.manifest().counts;
    assert_eq!((counts.clusters, counts.documents), (clusters.len() as u64, documents.len() as u64));
    Ok((clusters, documents))
}

/// What a reader should see, by a one-shot run.
pub(crate) fn expected(bench: &Bench) -> Seen {
    (bench.rerun(), bench.live.keys().map(|id| format!("d{id}")).collect())
}
