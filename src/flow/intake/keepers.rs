//! What a load keeps of each worker: records, texts and postings, until all is kept.

use std::sync::Mutex;

use crate::error::Result;
use crate::flow::distributed::topology::Topology;
use crate::flow::status::lock;
use crate::flow::stored::{LoadKeeper, Stored};

/// The keepers of this process's workers; none unless this is a load.
pub struct Keepers {
    first_worker: usize,
    keepers: Vec<WorkersKeeper>,
}

/// The keeper of a worker, which locks it for every document: on one cache line with that of another worker, each lock would wait for
/// the line.
#[repr(align(128))]
struct WorkersKeeper(Mutex<Option<Box<dyn LoadKeeper>>>);

impl Keepers {
    /// A keeper for each worker of this process, if anything is stored.
    ///
    /// # Errors
    /// Those of [`Stored::keeper`].
    pub fn new(stored: Option<&dyn Stored>, topology: Topology) -> Result<Keepers> {
        let keepers =
            stored.into_iter().flat_map(|stored| (0..topology.workers()).map(|worker| stored.keeper(worker)));
        let keepers = keepers.map(|keeper| keeper.map(|keeper| WorkersKeeper(Mutex::new(Some(keeper)))));
        Ok(Keepers { first_worker: topology.local_workers().start, keepers: keepers.collect::<Result<_>>()? })
    }

    /// Has a worker's keeper do something, if this is a load.
    ///
    /// # Errors
    /// That of `keep`.
    pub fn keep(&self, worker: usize, keep: impl FnOnce(&mut dyn LoadKeeper) -> Result<()>) -> Result<()> {
        let Some(WorkersKeeper(keeper)) = self.keepers.get(worker - self.first_worker) else { return Ok(()) };
        lock(keeper).as_mut().map_or(Ok(()), |keeper| keep(&mut **keeper))
    }

    /// Ends a worker's keeping.
    ///
    /// # Errors
    /// Those of [`LoadKeeper::finish`].
    pub fn finish(&self, worker: usize) -> Result<()> {
        let keeper = self.keepers.get(worker - self.first_worker);
        let keeper = keeper.and_then(|keeper| lock(&keeper.0).take());
        keeper.map_or(Ok(()), LoadKeeper::finish)
    }
}
