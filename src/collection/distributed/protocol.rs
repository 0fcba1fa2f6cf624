//! What the leader of a job (process 0) has its followers do to a collection, as data, and how they answer.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, Name};
use crate::collection::run::writer::{RunSummary, RunWriter};
use crate::config::JoinMeasure;
use crate::error::Result;
use crate::flow::{Part, ProtectedSet, Topology};
use crate::peers::Peers;
use crate::read::Source;
use crate::storage::Storage;

/// What process 0, the leader, has the others do.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) enum LeaderCommand {
    /// Take part in finding the records of a load that resemble protected documents.
    LeaveOut(Box<LeaveOutCommand>),
    /// What is read in all epochs to come.
    Inputs(Vec<Source>),
    /// Positions of more records of these that are passed over, ascending.
    LeftOut(Vec<u64>),
    /// Take part in an epoch.
    Epoch(Box<EpochCommand>),
    /// Take part in contracting links.
    Contract,
    /// List the local runs of this process that no commit names any more, and remove them at the next word of the leader: who can
    /// give it still has the lock.
    RemoveUnnamed(NamedRuns),
    /// Merge local runs of this process.
    Merge(Box<MergePlan>),
    /// There are no more commands.
    End,
}

impl LeaderCommand {
    /// That these are read, from wherever another process runs.
    pub(in crate::collection) fn inputs(sources: &[Source]) -> Result<LeaderCommand> {
        Source::all_from_anywhere(sources).map(LeaderCommand::Inputs)
    }
}

/// Records of a load held against protected documents.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct LeaveOutCommand {
    /// Protected inputs, then those of the load.
    pub(in crate::collection) sources: Vec<Source>,
    pub(in crate::collection) protected: Vec<ProtectedSet>,
    /// Commits of collections, each with the number of the source that is its folder.
    pub(in crate::collection) stored: Vec<(u32, Manifest)>,
    /// The last commit of the collection that is loaded into.
    pub(in crate::collection) target: Manifest,
    /// What is held against the threshold, if that is not what the collection measures.
    pub(in crate::collection) measure: Option<JoinMeasure>,
}

/// An epoch that all processes take part in.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct EpochCommand {
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
    /// Runs of `ahead` that were there before the load.
    pub(in crate::collection) runs_before: usize,
    /// Whether it is noted which ids the load mentions.
    pub(in crate::collection) notes_mentioned: bool,
}

/// Which local runs of processes are named by a commit that somebody may still read, or by an
/// interrupted load.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct NamedRuns {
    pub(in crate::collection) collection: u64,
    /// The last commit and the one before it, each with the digest of its manifest.
    pub(in crate::collection) commits: Vec<(u64, u64)>,
    pub(in crate::collection) runs: BTreeSet<(u64, Keeper)>,
    /// Nobody knows which runs below this one are named.
    pub(in crate::collection) unknown: u64,
    /// Runs from this one on may be of another job: they go only if this one has written them.
    pub(in crate::collection) below: u64,
    /// What tells the runs of this job from those of any other.
    pub(in crate::collection) job: u64,
}

/// Runs to be merged, each group by the process that has them.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct MergePlan {
    pub(in crate::collection) manifest: Manifest,
    pub(in crate::collection) groups: Vec<MergeGroup>,
    /// What tells the runs that are written from those of any other job.
    pub(in crate::collection) job: u64,
    /// Whether only live rows stay. The leader sends which rows are live after this.
    pub(in crate::collection) live: bool,
    /// Whether the load stands that came before: then what fails is told, and ends nobody.
    pub(in crate::collection) stands: bool,
}

/// Runs that become one.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct MergeGroup {
    pub(in crate::collection) process: usize,
    /// The number of what they become.
    pub(in crate::collection) id: u64,
    /// Their numbers, the oldest first.
    pub(in crate::collection) runs: Vec<u64>,
}

/// The ids of the runs of this process's workers in an epoch whose first id is given: for what they read, then, if
/// records are kept, for those.
pub(in crate::collection) fn own_runs(
    topology: Topology,
    first: u64,
    with_records: bool,
) -> (Vec<u64>, Vec<u64>) {
    let ids = |from: u64| topology.local_workers().map(|worker| from + worker as u64).collect();
    let records = if with_records { ids(first + topology.all() as u64) } else { Vec::new() };
    (ids(first), records)
}

/// Begins runs. They are local runs of process `keeper`, if there is one.
pub(in crate::collection) fn begin_runs(
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
pub(in crate::collection) fn collect_summaries(
    peers: &Peers,
    own: &Vec<(u64, RunSummary)>,
) -> Result<Vec<(u64, RunSummary)>> {
    let mut all = peers.gather(own)?.concat();
    all.sort_unstable_by_key(|(id, _)| *id);
    Ok(all)
}

/// Releases the processes that follow: there is nothing more to take part in.
///
/// # Errors
/// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`].
pub fn release_followers(peers: &Peers) -> Result<()> {
    peers.broadcast(&LeaderCommand::End)
}
