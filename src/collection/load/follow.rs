//! A load that several processes share, as those see it that are not process 0: they take part in the dataflow of each
//! epoch, each of their workers writes its runs, and process 0 settles and commits.

use std::path::PathBuf;
use std::sync::Arc;

use crate::collection::RunWriter;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, Name, folder};
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::distributed::scattered::Scattered;
use crate::collection::load::frozen;
use crate::collection::load::load_base::Known;
use crate::collection::maintain::local_runs::{Keep, Merging};
use crate::collection::run::writer::RunSummary;
use crate::error::{Error, Result};
use crate::flow::contract::assist_contraction;
use crate::flow::{self, Crew, Part, Peers, Request, Stored};
use crate::metrics::Metric;
use crate::progress::{EpochDone, Mark, Progress, Stage};
use crate::read::Source;
use crate::simd::Simd;
use crate::sketch::Basis;
use crate::storage::Storage;
use crate::system_memory::peak_memory;

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
pub(in crate::collection) enum Order {
    /// What is read in all epochs to come.
    Inputs(Vec<Source>),
    /// Take part in an epoch.
    Epoch(Box<Epoch>),
    /// Take part in contracting links.
    Contract,
    /// Remove what nobody names any more of the runs that this process keeps to itself.
    Keep(Keep),
    /// Merge runs that this process keeps to itself.
    Merge(Box<Merging>),
    /// There are no more.
    End,
}

/// An epoch.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(in crate::collection) struct Epoch {
    pub(in crate::collection) part: Part,
    /// The load's number, and its own number in the load, from 1.
    pub(in crate::collection) at: (u64, u32),
    /// What the load has come to.
    pub(in crate::collection) ahead: Manifest,
    /// One more than the greatest content.
    pub(in crate::collection) next_content: u32,
    /// Documents there are.
    pub(in crate::collection) documents: u64,
    /// The id of the first run that is written.
    pub(in crate::collection) first_run: u64,
    /// Whether there is a rarity table already.
    pub(in crate::collection) frozen: bool,
    /// What tells the runs that are written from those of any other job.
    pub(in crate::collection) job: u64,
}

impl Order {
    /// That these are read, from wherever another process runs.
    pub(in crate::collection) fn inputs(sources: &[Source]) -> Result<Order> {
        sources.iter().map(Source::from_anywhere).collect::<Result<_>>().map(Order::Inputs)
    }
}

/// The ids of the runs of this process's workers in an epoch whose first id is given: for what they read, then, if
/// records are kept, for those.
pub(in crate::collection) fn own_runs(crew: Crew, first: u64, with_records: bool) -> (Vec<u64>, Vec<u64>) {
    let ids = |from: u64| crew.own().map(|worker| from + worker as u64).collect();
    let records = if with_records { ids(first + crew.all() as u64) } else { Vec::new() };
    (ids(first), records)
}

/// Begins runs, which process `keeper` keeps to itself, if one does.
pub(in crate::collection) fn begin(
    storage: &dyn Storage,
    collection: u64,
    ids: &[u64],
    keeper: Option<Keeper>,
) -> Result<Vec<RunWriter>> {
    let name = |id: u64| Name::of_run(id, keeper).to_string();
    let begin = |id: &u64| RunWriter::create(storage, &name(*id), collection, *id);
    ids.iter().map(begin).collect()
}

/// Collects what the runs of all processes hold, by ascending id; elsewhere than in process 0 nothing.
pub(in crate::collection) fn collect(
    peers: &Peers,
    own: &Vec<(u64, RunSummary)>,
) -> Result<Vec<(u64, RunSummary)>> {
    let mut all = peers.collect(own)?.concat();
    all.sort_unstable_by_key(|(id, _)| *id);
    Ok(all)
}

/// The counters of this process before an epoch.
pub(in crate::collection) fn mark(progress: &Progress, peers: Option<&Peers>) -> Mark {
    Mark::new(progress, peers.map_or((0, 0), |peers| peers.mesh().traffic().both()))
}

/// What an epoch came to in this process, since `before`; `at` are the numbers of the load and of the epoch.
pub(in crate::collection) fn came_to(
    progress: &Progress,
    peers: Option<&Peers>,
    before: &Mark,
    (load, epoch): (u64, u32),
    last: bool,
) -> EpochDone {
    let process = peers.map_or(0, |peers| peers.mesh().process());
    let counted = before.until(&mark(progress, peers));
    EpochDone { load, epoch, last, process, memory_peak_bytes: peak_memory(), ..counted }
}

/// Tells that an epoch is done.
pub(in crate::collection) fn tell(progress: &Progress, done: EpochDone) {
    progress.metrics().add(Metric::Epochs, 1);
    progress.tell_epoch(done);
}

/// Tells the processes that [`assist`] that there is nothing to take part in.
///
/// # Errors
/// [`Error::Lost`] and [`Error::GaveUp`].
pub fn dismiss(peers: &Peers) -> Result<()> {
    peers.say(&Order::End)
}

/// Takes part in what process 0 does to a collection, until that is over. Nothing here is committed, and nothing is left
/// to be done after an error. `storage` opens its folder, where all processes have the same one.
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
    // Whether it is done, or did not fit in process 0, shows in what that wants next.
    let mut done: Option<EpochDone> = None;
    // It stays what it is, and may have to be asked for.
    let mut basis: Option<Arc<Basis>> = None;
    loop {
        let order = peers.hear()?;
        let over = match &order {
            Order::Epoch(epoch) => done.take_if(|done: &mut EpochDone| (done.load, done.epoch) != epoch.at),
            Order::End => done.take(),
            Order::Inputs(_) | Order::Contract | Order::Keep(_) | Order::Merge(_) => None,
        };
        over.into_iter().for_each(|done| tell(progress, done));
        match order {
            Order::Inputs(inputs) => sources = inputs,
            Order::Epoch(epoch) => {
                // Process 0 may only just have made the folder.
                let ahead = match at.take() {
                    Some(before) => before.advance(epoch.ahead.clone())?,
                    None => {
                        let storage = part_of(epoch.ahead.collection, peers, storage)?;
                        Snapshot::ahead_of(&storage, epoch.ahead.clone())?
                    }
                };
                let before = mark(progress, Some(peers));
                if epoch.frozen && basis.is_none() {
                    basis = frozen(&ahead.tables())?;
                }
                let known = (&*sources, basis.clone());
                match take_part(&ahead, &epoch, known, means, peers, progress) {
                    Ok(()) => {
                        let last = epoch.part.extent.to.0 as usize >= sources.len();
                        done = Some(came_to(progress, Some(peers), &before, epoch.at, last));
                    }
                    // Process 0 tries it again with less.
                    Err(Error::Limit(_)) => done = None,
                    Err(error) => return Err(error),
                }
                at = Some(ahead);
            }
            Order::Contract => assist_contraction(peers, means.workers, progress)?,
            Order::Keep(keep) => {
                let own = part_of(keep.collection, peers, storage)?;
                keep.tidy(&*own)?;
                peers.collect(&())?;
            }
            Order::Merge(merging) => {
                progress.enter(Stage::Write, merging.bytes(peers.mesh().process()));
                let own = part_of(merging.manifest.collection, peers, storage)?;
                merging.assist(&own, peers, progress)?;
            }
            Order::End => return Ok(()),
        }
    }
}

/// A collection as this process sees it, which is not process 0.
pub(in crate::collection) fn part_of(
    collection: u64,
    peers: &Peers,
    folder: &dyn Fn() -> Result<Arc<dyn Storage>>,
) -> Result<Arc<dyn Storage>> {
    let Some(state) = peers.state() else { return folder() };
    Ok(Arc::new(Scattered::assisting(state, collection, peers.share())?))
}

/// Takes part in an epoch.
fn take_part(
    ahead: &Snapshot,
    epoch: &Epoch,
    (sources, basis): (&[Source], Option<Arc<Basis>>),
    means: &Means,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let Manifest { collection, store_text, config, .. } = ahead.manifest();
    let crew = peers.crew(means.workers);
    let (ids, of_records) = own_runs(crew, epoch.first_run, *store_text);
    let storage = ahead.storage();
    let keeper = peers.state().and_then(|_| Keeper::of(peers.mesh().process(), epoch.job));
    let begin = |ids: &[u64]| begin(storage, *collection, ids, keeper);
    let runs = (begin(&ids)?, begin(&of_records)?);
    let (tables, signed) = (ahead.tables(), config.signed());
    let most = means.memory.unwrap_or(u64::MAX) / 10;
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
        basis,
        lexicon: None,
        peers: Some(Arc::clone(peers)),
    };
    flow::assist(request, Arc::clone(progress))?;
    storage.sync_names().map_err(|e| Error::io(&folder(storage), "sync", e))?;
    let ids = ids.into_iter().chain(of_records);
    collect(peers, &ids.zip(known.finished()).collect()).map(drop)
}
