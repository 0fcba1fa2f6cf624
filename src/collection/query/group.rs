//! A ranked list of ids, with the documents of a cluster folded under the first of them (Conrad, Guo and Schriber 2003, section 8).

use std::collections::HashMap;

use serde::Serialize;

use crate::collection::commit::snapshot::Snapshot;
use crate::collection::tables::cluster_changes::ClusterId;
use crate::collection::tables::lookup::{clusters, find};
use crate::error::Result;
use crate::limits::sized;
use crate::progress::Progress;

/// Ids that stand together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The first of them in the list.
    pub id: String,
    /// Their cluster, if they are in one.
    pub cluster: Option<ClusterId>,
    /// Whether the collection has a document of the first id; if not, it stands alone.
    pub known: bool,
    /// The others, in their order.
    pub fellows: Vec<String>,
}

/// What ids have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FoldedUnder {
    Cluster(ClusterId),
    /// A document that is in no cluster; the list may name it twice.
    Document(u128),
}

/// Ids looked up at once.
const BATCH: usize = sized(4096, 3);

impl Snapshot {
    /// Groups a ranked list: the first of each cluster leads, its fellows stand under it, both in the order of the
    /// list. Nothing is lost: what the collection does not know stands alone in its place.
    ///
    /// # Errors
    /// [`crate::error::Error::Damaged`], [`crate::error::Error::Io`] and [`crate::error::Error::Interrupted`].
    pub fn group(&self, ids: &[String], progress: &Progress) -> Result<Vec<Group>> {
        let tables = self.tables();
        let (mut groups, mut leads): (Vec<Group>, HashMap<FoldedUnder, usize>) = Default::default();
        for batch in ids.chunks(BATCH) {
            progress.check()?;
            let documents = find(&tables, batch)?;
            let contents = documents.iter().flatten().map(|document| document.content);
            let clusters = clusters(&tables, contents)?;
            for (id, document) in batch.iter().zip(documents) {
                let cluster = document.as_ref().and_then(|document| clusters.get(&document.content)).copied();
                let alone = document.as_ref().map(|document| FoldedUnder::Document(document.id));
                let lead = |groups: &mut Vec<Group>| {
                    groups.push(Group {
                        id: id.clone(),
                        cluster,
                        known: document.is_some(),
                        fellows: Vec::new(),
                    });
                };
                match cluster.map(FoldedUnder::Cluster).or(alone) {
                    None => lead(&mut groups),
                    Some(fold) => match leads.get(&fold) {
                        Some(at) => groups[*at].fellows.push(id.clone()),
                        None => {
                            leads.insert(fold, groups.len());
                            lead(&mut groups);
                        }
                    },
                }
            }
        }
        Ok(groups)
    }
}
