//! A load as followers see it, the processes but process 0: they take part in the dataflow of each epoch, each of their
//! workers writes its runs, and process 0 settles and commits.

use std::sync::Arc;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, sync_names};
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::distributed::protocol::{
    EpochCommand, LeaderCommand, begin_runs, collect_summaries, own_runs,
};
use crate::collection::distributed::scattered::follower_storage;
use crate::collection::load::epoch_done::{came_to, mark, tell};
use crate::collection::load::load_base::LoadBase;
use crate::collection::load::load_base::earlier::EarlierEpochs;
use crate::collection::load::load_base::kept_sketches::KeptSketches;
use crate::collection::load::prepare::beside;
use crate::collection::load::settle::LoadNumbers;
use crate::collection::load::settle::newcomers::{NewcomerCounts, Newcomers};
use crate::collection::recompute::leave_out::follow_left_out;
use crate::collection::tables::frozen::frozen;
use crate::error::{Error, Result};
use crate::flow::{self, LeaveOut, LeftOutPositions, Request, Stored, Topology, assist_contraction};
use crate::method::FrozenTables;
use crate::peers::Peers;
use crate::progress::{EpochDone, Progress, Stage};
use crate::read::Source;
use crate::resources::Resources;
use crate::storage::Storage;

/// Takes part in what process 0 does to a collection, until that is over. Nothing here is committed, and nothing is left
/// to be done after an error. `storage` opens its folder, where all processes have the same one.
///
/// # Errors
/// Those of the dataflow, of reading and of writing; [`Error::Lost`] and [`Error::GaveUp`] if another process has ended.
pub fn follow(
    storage: &dyn Fn() -> Result<Arc<dyn Storage>>,
    resources: &Resources,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let follower = Follower {
        storage,
        resources,
        peers,
        progress,
        sources: Vec::new(),
        left_out: LeftOutPositions::default(),
        at: None,
        done: None,
        frozen_tables: None,
        earlier: None,
    };
    follower.follow()
}

/// A process that takes part.
struct Follower<'a> {
    storage: &'a dyn Fn() -> Result<Arc<dyn Storage>>,
    resources: &'a Resources,
    peers: &'a Arc<Peers>,
    progress: &'a Arc<Progress>,
    /// What is loaded, and which records of it are left out.
    sources: Vec<Source>,
    left_out: LeftOutPositions,
    /// The state after the last epoch.
    at: Option<Snapshot>,
    /// What the last epoch came to. Whether it is done, or did not fit in process 0, shows in what that wants next.
    done: Option<EpochDone>,
    /// They stay what they are, and may have to be asked for.
    frozen_tables: Option<Arc<FrozenTables>>,
    earlier: Option<EarlierEpochs>,
}

impl Follower<'_> {
    fn follow(mut self) -> Result<()> {
        let (peers, progress) = (self.peers, self.progress);
        loop {
            let command = peers.receive()?;
            self.tell_done(&command);
            match command {
                LeaderCommand::LeaveOut(command) => {
                    follow_left_out(*command, self.storage, self.resources, peers, progress)?;
                }
                LeaderCommand::Inputs(inputs) => {
                    (self.sources, self.left_out) = (inputs, LeftOutPositions::default());
                }
                LeaderCommand::LeftOut(some) => self.left_out.extend(&some),
                LeaderCommand::Epoch(epoch) => self.epoch(&epoch)?,
                LeaderCommand::Contract => assist_contraction(peers, self.resources.workers, progress)?,
                LeaderCommand::RemoveUnnamed(keep) => {
                    let own = follower_storage(keep.collection, peers, self.storage)?;
                    let unnamed = keep.unnamed(&*own)?;
                    peers.gather(&())?;
                    let () = peers.receive()?;
                    keep.remove(&*own, unnamed)?;
                    peers.gather(&())?;
                }
                LeaderCommand::Merge(merging) => {
                    progress.enter(Stage::Write, merging.bytes(peers.mesh().process()));
                    let own = follower_storage(merging.manifest.collection, peers, self.storage)?;
                    merging.follow(&own, peers, progress)?;
                }
                LeaderCommand::End => return Ok(()),
            }
        }
    }

    /// Tells what the last epoch came to, if process 0 goes on behind it.
    fn tell_done(&mut self, command: &LeaderCommand) {
        let over = match command {
            LeaderCommand::Epoch(epoch) => self.done.take_if(|done| (done.load, done.epoch) != epoch.at),
            LeaderCommand::End => self.done.take(),
            LeaderCommand::LeaveOut(_)
            | LeaderCommand::Inputs(_)
            | LeaderCommand::LeftOut(_)
            | LeaderCommand::Contract
            | LeaderCommand::RemoveUnnamed(_)
            | LeaderCommand::Merge(_) => None,
        };
        over.into_iter().for_each(|done| tell(self.progress, done));
    }

    fn epoch(&mut self, epoch: &EpochCommand) -> Result<()> {
        let Follower { resources, peers, progress, .. } = *self;
        // Process 0 may only just have made the folder.
        let ahead = match self.at.take() {
            Some(before) => before.advance(epoch.ahead.clone())?,
            None => {
                let storage = follower_storage(epoch.ahead.collection, peers, self.storage)?;
                Snapshot::ahead_of(&storage, epoch.ahead.clone())?
            }
        };
        let before = mark(progress, Some(peers));
        if epoch.frozen && self.frozen_tables.is_none() {
            self.frozen_tables = frozen(&ahead.tables())?;
        }
        let known = (&*self.sources, &self.left_out, self.frozen_tables.clone());
        let earlier = self.earlier.get_or_insert_with(|| match epoch.at.1 {
            1 => EarlierEpochs::none(epoch.runs_before, resources.memory.unwrap_or(u64::MAX) / 10),
            _ => EarlierEpochs::unknown(epoch.runs_before),
        });
        let means = beside(resources.clone(), &self.left_out)?;
        match take_part(&ahead, (epoch, earlier), known, &means, peers, progress) {
            Ok(()) => {
                let last = epoch.part.extent.to.0 as usize >= self.sources.len();
                self.done = Some(came_to(progress, Some(peers), &before, epoch.at, last));
            }
            // Process 0 tries it again with less.
            Err(Error::Limit(_)) => self.done = None,
            Err(error) => return Err(error),
        }
        self.at = Some(ahead);
        Ok(())
    }
}

/// Takes part in an epoch.
fn take_part(
    ahead: &Snapshot,
    (epoch, earlier): (&EpochCommand, &EarlierEpochs),
    (sources, left_out, frozen_tables): (&[Source], &LeftOutPositions, Option<Arc<FrozenTables>>),
    resources: &Resources,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let Manifest { collection, store_text, config, .. } = ahead.manifest();
    let topology = Topology::of(Some(peers), resources.workers);
    let (ids, of_records) = own_runs(topology, epoch.first_run, *store_text);
    let storage = ahead.storage();
    let keeper = peers.state().and_then(|_| Keeper::of(peers.mesh().process(), epoch.job));
    let begin = |ids: &[u64]| begin_runs(storage, *collection, ids, keeper);
    let runs = (begin(&ids)?, begin(&of_records)?);
    let (tables, sketches) = (ahead.tables(), KeptSketches::of(config));
    let most = resources.memory.unwrap_or(u64::MAX) / 10;
    let known = Arc::new(
        LoadBase::new(tables, epoch.next_content, sketches, (epoch.at.0 as u32, epoch.documents), most, runs)
            .noting_mentioned(epoch.notes_mentioned)
            .after_epochs(earlier.clone()),
    );
    let with = Resources { peers: Some(Arc::clone(peers)), ..resources.clone() };
    let request = Request {
        part: epoch.part,
        stored: Some(Arc::clone(&known) as Arc<dyn Stored>),
        leave_out: LeaveOut::Known(left_out.clone()),
        frozen_tables,
        ..Request::new(sources.to_vec(), config.clone(), with)
    };
    let run = flow::assist_load(request, Arc::clone(progress))?;
    let newcomers = known.newcomers(&run)?;
    let counts: Vec<NewcomerCounts> = newcomers.iter().map(Newcomers::counts).collect();
    peers.gather(&counts)?;
    let (numbers, labels): (LoadNumbers, Vec<u32>) = peers.receive()?;
    let finished = known.finish(newcomers, numbers, &labels[topology.local_workers()])?;
    sync_names(storage)?;
    let ids = ids.into_iter().chain(of_records);
    collect_summaries(peers, &ids.zip(finished).collect()).map(drop)
}
