//! Stored documents that are protected: commits of collections, in the place of inputs of a run.

use std::sync::Arc;

use crate::collection::commit::snapshot::Snapshot;
use crate::error::Result;
use crate::flow::ReplayedDocuments;
use crate::method::FrozenTables;
use crate::progress::Progress;
use crate::resources::Resources;

/// A commit of a collection, with the number of the source in whose place it is.
pub type StoredSource = (u32, Snapshot);

/// Protected documents of collections, as a run takes them in, and the tables that they were sketched by.
pub struct StoredDocuments {
    /// Each with the number of the source in whose place it is.
    pub replays: Vec<(u32, Arc<dyn ReplayedDocuments>)>,
    /// Those of the first collection; `None` if there is none.
    pub tables: Option<Arc<FrozenTables>>,
}

impl StoredDocuments {
    /// Reads what is needed of them; they take a part of the memory.
    ///
    /// # Errors
    /// Those of [`Snapshot::protected`].
    pub fn read(
        stored: &[StoredSource],
        resources: &mut Resources,
        progress: &Progress,
    ) -> Result<StoredDocuments> {
        let mut replays = Vec::with_capacity(stored.len());
        for (file, snapshot) in stored {
            replays.push((*file, snapshot.protected(resources, progress)?));
        }
        let tables = stored.first().map(|(_, snapshot)| snapshot.frozen_tables()).transpose()?.flatten();
        Ok(StoredDocuments { replays, tables })
    }
}
