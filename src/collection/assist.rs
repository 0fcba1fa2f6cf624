//! A load that several processes share, as those see it that are not process 0: they take part in the dataflow of each
//! epoch, each of their workers writes its runs, and process 0 settles and commits.

use std::path::PathBuf;
use std::sync::Arc;

use super::RunWriter;
use super::known::Known;
use super::load::frozen;
use super::manifest::Manifest;
use super::names::Name;
use super::snapshot::Snapshot;
use super::writer::RunSummary;
use crate::config::Method;
use crate::error::{Error, Result};
use crate::flow::{self, Crew, Part, Peers, Request, Stored};
use crate::progress::Progress;
use crate::read::Source;
use crate::simd::Simd;
use crate::storage::Storage;

/// What a process that takes part may use of its machine.
#[derive(Clone, Debug)]
pub struct Means {
    /// Worker threads, as many as every other process has.
    pub workers: usize,
    /// Bytes the process may use.
    pub memory: Option<u64>,
    /// Vector instructions to use.
    pub simd: Simd,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
}

/// What process 0 tells the others.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Order {
    /// What is read in all epochs to come.
    Inputs(Vec<Source>),
    /// Take part in an epoch.
    Epoch(Box<Epoch>),
    /// There are no more.
    End,
}

/// An epoch.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Epoch {
    pub(super) part: Part,
    /// What the load has come to.
    pub(super) ahead: Manifest,
    /// One more than the greatest content.
    pub(super) next_content: u32,
    /// Documents there are.
    pub(super) documents: u64,
    /// The id of the first run that is written.
    pub(super) first_run: u64,
    /// Whether there is a rarity table already.
    pub(super) frozen: bool,
}

impl Order {
    /// Tells all other processes. They must be waiting for it.
    pub(super) fn tell(&self, peers: &Peers) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(|e| Error::Worker(format!("no order: {e}")))?;
        peers.mesh().broadcast(bytes).map(drop)
    }

    fn await_next(peers: &Peers) -> Result<Order> {
        let bytes = peers.mesh().broadcast(Vec::new())?;
        serde_json::from_slice(&bytes).map_err(|e| Error::Worker(format!("process 0 gives no order: {e}")))
    }
}

/// The ids of the runs of this process's workers in an epoch whose first id is given: for what they read, then, if
/// records are kept, for those.
pub(super) fn own_runs(crew: Crew, first: u64, with_records: bool) -> (Vec<u64>, Vec<u64>) {
    let ids = |from: u64| crew.own().map(|worker| from + worker as u64).collect();
    let records = if with_records { ids(first + crew.all() as u64) } else { Vec::new() };
    (ids(first), records)
}

/// Begins runs.
pub(super) fn begin(storage: &dyn Storage, collection: u64, ids: &[u64]) -> Result<Vec<RunWriter>> {
    let begin = |id: &u64| RunWriter::create(storage, &Name::Run(*id).to_string(), collection, *id);
    ids.iter().map(begin).collect()
}

/// Collects what the runs of all processes hold, by ascending id; elsewhere than in process 0 nothing.
pub(super) fn collect(peers: &Peers, own: &[(u64, RunSummary)]) -> Result<Vec<(u64, RunSummary)>> {
    let bytes = serde_json::to_vec(own).map_err(|e| Error::Worker(format!("no list of runs: {e}")))?;
    let mut all: Vec<(u64, RunSummary)> = Vec::new();
    for bytes in peers.mesh().gather(bytes)? {
        let some: serde_json::Result<Vec<_>> = serde_json::from_slice(&bytes);
        all.append(&mut some.map_err(|e| Error::Worker(format!("a process sends no list of runs: {e}")))?);
    }
    all.sort_unstable_by_key(|(id, _)| *id);
    Ok(all)
}

/// Tells the processes that [`assist`] that there is nothing to take part in.
///
/// # Errors
/// [`Error::Lost`] and [`Error::GaveUp`].
pub fn dismiss(peers: &Peers) -> Result<()> {
    Order::End.tell(peers)
}

/// Takes part in a load that process 0 makes of the collection in `storage`, until that is over. Nothing here is
/// committed, and nothing is left to be done after an error.
///
/// # Errors
/// Those of the dataflow, of reading and of writing; [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
pub fn assist(
    storage: &dyn Fn() -> Result<Arc<dyn Storage>>,
    means: &Means,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let (mut sources, mut at): (Vec<Source>, Option<Snapshot>) = Default::default();
    loop {
        match Order::await_next(peers)? {
            Order::Inputs(inputs) => sources = inputs,
            Order::Epoch(epoch) => {
                // Process 0 may only just have made the folder.
                let ahead = match at.take() {
                    Some(before) => before.advance(epoch.ahead.clone())?,
                    None => Snapshot::ahead_of(&storage()?, epoch.ahead.clone())?,
                };
                match take_part(&ahead, &epoch, &sources, means, peers, progress) {
                    // Process 0 tries it again with less.
                    Ok(()) | Err(Error::Limit(_)) => at = Some(ahead),
                    Err(error) => return Err(error),
                }
            }
            Order::End => return Ok(()),
        }
    }
}

/// Takes part in an epoch.
fn take_part(
    ahead: &Snapshot,
    epoch: &Epoch,
    sources: &[Source],
    means: &Means,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let Manifest { collection, store_text, config, .. } = ahead.manifest();
    let crew = peers.crew(means.workers);
    let (ids, of_records) = own_runs(crew, epoch.first_run, *store_text);
    let storage = ahead.storage();
    let runs = (begin(storage, *collection, &ids)?, begin(storage, *collection, &of_records)?);
    let (tables, signed) = (ahead.tables(), config.method == Method::Join);
    let most = means.memory.unwrap_or(u64::MAX) / 10;
    let rarity = if epoch.frozen { frozen(&tables)? } else { None };
    let known = Arc::new(Known::new(tables, epoch.next_content, signed, epoch.documents, most, runs));
    let request = Request {
        sources: sources.to_vec(),
        part: epoch.part,
        config: config.clone(),
        workers: means.workers,
        memory: means.memory,
        pairs: false,
        simd: means.simd,
        scratch: means.scratch.clone(),
        stored: Some(Arc::clone(&known) as Arc<dyn Stored>),
        replay: None,
        rarity,
        peers: Some(Arc::clone(peers)),
    };
    flow::assist(request, Arc::clone(progress))?;
    storage.sync_names().map_err(|e| Error::io(&storage.path(""), "sync", e))?;
    let ids = ids.into_iter().chain(of_records);
    let own: Vec<(u64, RunSummary)> = ids.zip(known.finished()).collect();
    collect(peers, &own).map(drop)
}
