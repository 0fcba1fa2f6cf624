//! A collection as far as this job can reach it.

use std::path::Path;
use std::sync::Arc;

use alike::collection::{Scattered, Snapshot};
use alike::error::Result;
use alike::peers::Peers;
use alike::storage::{Local, Storage};

use crate::cli::common::{CommitArgs, PlaceArgs};

/// Opens the commit of a collection that was asked for.
pub(crate) fn open(at: &CommitArgs) -> Result<Snapshot> {
    open_with(at, None)
}

/// The same, as far as others have it that take part.
pub(crate) fn open_with(at: &CommitArgs, peers: Option<&Peers>) -> Result<Snapshot> {
    let storage = reach(&at.place, peers)?;
    match &at.when.at {
        Some(when) => Snapshot::open_at(&storage, when),
        None => Snapshot::open(&storage),
    }
}

/// A collection, as far as it can be reached: its folder, what lies beside that where `--local-state` says, and what the
/// others have that take part.
pub(crate) fn reach(at: &PlaceArgs, peers: Option<&Peers>) -> Result<Arc<dyn Storage>> {
    Ok(scattered(folder(&at.collection)?, at, peers))
}

/// The same, where the folder is known.
pub(crate) fn scattered(folder: Arc<dyn Storage>, at: &PlaceArgs, peers: Option<&Peers>) -> Arc<dyn Storage> {
    match &at.local_state {
        Some(state) => Arc::new(Scattered::leading(folder, state, peers.map(Peers::share))),
        None => folder,
    }
}

/// The folder that a collection lies in.
pub(crate) fn folder(collection: &Path) -> Result<Arc<dyn Storage>> {
    Ok(Arc::new(Local::open(collection)?))
}
