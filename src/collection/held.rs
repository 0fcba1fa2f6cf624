//! Runs that the processes of a job keep to themselves: merged where they lie, and removed there once no commit names them.
//!
//! Only process 0 writes rows that are replaced some day: what the others write is never shadowed. So it does not matter
//! how old their runs are beside those of process 0, and the runs of each process are merged among themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::RunSummary;
use super::assist::{Order, begin, collect};
use super::combine::{Live, Range, combine};
use super::commit::Writer;
use super::compact::{CompactReport, Compaction, compact, tiered};
use super::delta::by_name;
use super::manifest::Manifest;
use super::names::{Name, folder};
use super::run_entry::RunEntry;
use super::scattered::Scattered;
use super::snapshot::Snapshot;
use super::tables::Tables;
use crate::error::{Error, Result};
use crate::flow::Peers;
use crate::progress::Progress;
use crate::storage::Storage;

/// Which of the runs that processes keep to themselves are named by a commit that somebody may still read, or by an
/// interrupted load.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Keep {
    pub(super) collection: u64,
    /// Their numbers, and those of the processes.
    runs: BTreeSet<(u64, u32)>,
    /// Nobody knows which runs below this one are named.
    unknown: u64,
}

impl Keep {
    /// What a writer keeps, before anything is begun.
    pub(super) fn of(writer: &Writer) -> Keep {
        let (runs, unknown) = writer.named_runs();
        let runs = runs.iter().filter_map(|run| Some((run.id, run.process?))).collect();
        Keep { collection: writer.snapshot().manifest().collection, runs, unknown }
    }

    /// Removes all other such runs from a folder.
    pub(super) fn tidy(&self, storage: &dyn Storage) -> Result<()> {
        let names = storage.names().map_err(|e| Error::io(&folder(storage), "list", e))?;
        let goes = |name: &String| match Name::parse(name) {
            Some(Name::Kept(id, process)) => id >= self.unknown && !self.runs.contains(&(id, process)),
            _ => false,
        };
        let gone: Vec<String> = names.into_iter().filter(goes).collect();
        for name in &gone {
            match storage.remove(name) {
                // Another process of this machine may have been faster.
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                removed => removed.map_err(|e| Error::io(&storage.path(name), "remove", e))?,
            }
        }
        if gone.is_empty() {
            return Ok(());
        }
        storage.sync_names().map_err(|e| Error::io(&folder(storage), "sync", e))
    }
}

/// Tells the others, and sees to it here, which of the runs that each keeps to itself stay. Where all runs are in one folder
/// there is nothing to be done.
pub(super) fn keep(keep: Keep, peers: &Peers) -> Result<()> {
    let Some(state) = peers.state() else { return Ok(()) };
    let own = Scattered::folder(state, keep.collection)?;
    own.map_or(Ok(()), |own| keep.tidy(&own))?;
    peers.say(&Order::Keep(keep))?;
    // Processes of one machine may share a folder: nobody begins a run there before all have tidied it.
    peers.collect(&()).map(drop)
}

/// Merges all runs into one in the folder of the collection, those too that other processes keep to themselves; of these
/// nothing is left there.
///
/// # Errors
/// Those of [`super::compact_with`].
pub fn gather(writer: &mut Writer, peers: Option<&Peers>, progress: &Progress) -> Result<CompactReport> {
    let report = compact(writer, Compaction::Full, progress)?;
    let collection = writer.snapshot().manifest().collection;
    peers.map_or(Ok(()), |peers| keep(Keep { collection, runs: BTreeSet::new(), unknown: 0 }, peers))?;
    Ok(report)
}

/// Runs to be merged, each group by the process that has them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Merging {
    pub(super) manifest: Manifest,
    groups: Vec<Group>,
    /// What is live; if it is given, all else goes.
    live: Option<Live>,
}

/// Runs that become one.
#[derive(Debug, Serialize, Deserialize)]
struct Group {
    process: usize,
    /// The number of what they become.
    id: u64,
    /// Their numbers, the oldest first.
    runs: Vec<u64>,
}

/// The number of a process, as the names of the runs have it that it keeps to itself; what process 0 has is in the folder of
/// the collection.
pub(super) fn keeper(process: usize) -> Option<u32> {
    u32::try_from(process).ok().filter(|process| *process > 0)
}

impl Group {
    /// The run whose place what they become takes. A row that says that a content is dead is never older than what there is
    /// of that content: so what process 0 has stays behind the runs of the others that it was behind.
    fn place(&self) -> Option<&u64> {
        if self.process == 0 { self.runs.last() } else { self.runs.first() }
    }
}

impl Merging {
    /// What is merged of the runs of `next` from place `first` on; nothing where there is nothing to merge. Numbers for
    /// what they become are taken from `next`.
    pub(super) fn plan(next: &mut Manifest, first: usize, how: Compaction, processes: usize) -> Merging {
        let mut runs: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for run in &next.runs[first..] {
            let process = run.process.map_or(0, |process| process as usize % processes);
            runs.entry(process).or_default().push((run.id, run.bytes));
        }
        let mut groups = Vec::new();
        for (process, runs) in runs {
            let sizes: Vec<u64> = runs.iter().map(|(_, bytes)| *bytes).collect();
            for (from, to) in how.plan(&sizes) {
                let runs = runs[from..to].iter().map(|(id, _)| *id).collect();
                groups.push(Group { process, id: next.next_run, runs });
                next.next_run += 1;
            }
        }
        Merging { manifest: next.clone(), groups, live: None }
    }

    /// Whether there is nothing to merge.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Bytes of the runs that process `process` merges.
    pub(super) fn bytes(&self, process: usize) -> u64 {
        let groups = self.groups.iter().filter(|group| group.process == process);
        let of = |id: &u64| self.manifest.runs.iter().find(|run| run.id == *id).map_or(0, |run| run.bytes);
        groups.flat_map(|group| &group.runs).map(of).sum()
    }

    /// Leaves out what is not live in `tables`, those of the whole commit.
    pub(super) fn only_live(mut self, tables: &Tables) -> Result<Merging> {
        self.live = Some(Live::of(tables, &self.manifest)?);
        Ok(self)
    }

    /// Merges what is for this process; in process 0 what the runs of all hold.
    fn merge(
        &self,
        snapshot: &Snapshot,
        peers: &Peers,
        progress: &Progress,
    ) -> Result<Vec<(u64, RunSummary)>> {
        let (storage, process) = (snapshot.storage(), peers.mesh().process());
        let mut done = Vec::new();
        for group in self.groups.iter().filter(|group| group.process == process) {
            let of = |id: &u64| snapshot.manifest().runs.iter().position(|run| run.id == *id);
            let at: Vec<usize> = group.runs.iter().filter_map(of).collect();
            let tables = Tables { runs: at.iter().map(|at| snapshot.runs()[*at].clone()).collect() };
            for run in begin(storage, self.manifest.collection, &[group.id], keeper(process))? {
                let summary = combine(run, (&tables, Range::ALL), self.live.as_ref(), progress)?;
                done.push((group.id, summary));
            }
        }
        storage.sync_names().map_err(|e| Error::io(&folder(storage), "sync", e))?;
        collect(peers, &done)
    }

    /// Merges, in process 0, where `snapshot` has the runs, what is for it; the others [`Merging::assist`]. `next` then names
    /// what they have become.
    pub(super) fn lead(
        &self,
        writer: &Writer,
        snapshot: &Snapshot,
        next: &mut Manifest,
        peers: &Peers,
        progress: &Progress,
    ) -> Result<()> {
        let merged: BTreeMap<u64, RunSummary> = self.merge(snapshot, peers, progress)?.into_iter().collect();
        let mut runs = Vec::new();
        for run in std::mem::take(&mut next.runs) {
            match self.groups.iter().find(|group| group.runs.contains(&run.id)) {
                None => runs.push(run),
                Some(group) if group.place() == Some(&run.id) => {
                    let missing = || Error::Worker(format!("run {} was merged by nobody", group.id));
                    let summary = merged.get(&group.id).ok_or_else(missing)?;
                    if summary.sections.iter().any(|(_, rows)| *rows > 0) {
                        let keeper = keeper(group.process);
                        let entry = RunEntry::of(&**writer.storage(), group.id, keeper, by_name(summary))?;
                        runs.push(entry);
                    }
                }
                Some(_) => {}
            }
        }
        next.runs = runs;
        Ok(())
    }

    /// Merges what is for this process, which is not process 0.
    pub(super) fn assist(
        mut self,
        storage: &Arc<dyn Storage>,
        peers: &Peers,
        progress: &Progress,
    ) -> Result<()> {
        let own = self.groups.iter().filter(|group| group.process == peers.mesh().process());
        let wanted: Vec<u64> = own.flat_map(|group| group.runs.clone()).collect();
        self.manifest.runs.retain(|run| wanted.contains(&run.id));
        let snapshot = Snapshot::ahead_of(storage, self.manifest.clone())?;
        self.merge(&snapshot, peers, progress).map(drop)
    }
}

impl Compaction {
    /// The ranges of runs of these sizes that are merged.
    pub(super) fn plan(self, sizes: &[u64]) -> Vec<(usize, usize)> {
        match self {
            Compaction::Full => Vec::from_iter((!sizes.is_empty()).then_some((0, sizes.len()))),
            Compaction::Tiered { fuel_bytes } => tiered(sizes, fuel_bytes),
        }
    }
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
