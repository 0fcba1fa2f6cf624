//! Runs that the processes of a job keep to themselves: merged where they lie, and removed there once no commit names them.
//!
//! Only process 0 writes rows that are replaced some day: what the others write is never shadowed. So it does not matter
//! how old their runs are beside those of process 0, and the runs of each process are merged among themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::collection::RunSummary;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, Name, folder};
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::commit::writer::Writer;
use crate::collection::load::follow::{Order, begin, collect};
use crate::collection::load::write::by_name;
use crate::collection::maintain::combine::{Live, Range, combine};
use crate::collection::maintain::compact::{CompactReport, Compaction, compact, tiered};
use crate::collection::tables::Tables;
use crate::error::{Error, Result};
use crate::flow::Peers;
use crate::progress::Progress;
use crate::storage::Storage;

/// Which of the runs that processes keep to themselves are named by a commit that somebody may still read, or by an
/// interrupted load.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct Keep {
    pub(in crate::collection) collection: u64,
    /// The last commit and the one before it, each with the digest of its manifest.
    commits: Vec<(u64, u64)>,
    runs: BTreeSet<(u64, Keeper)>,
    /// Nobody knows which runs below this one are named.
    unknown: u64,
}

impl Keep {
    /// What a writer keeps, before anything is begun.
    pub(in crate::collection) fn of(writer: &Writer) -> Result<Keep> {
        let (runs, unknown) = writer.named_runs();
        let runs = runs.iter().filter_map(|run| Some((run.id, run.keeper?))).collect();
        let collection = writer.snapshot().manifest().collection;
        Ok(Keep { collection, commits: writer.commits()?, runs, unknown })
    }

    /// Removes all other such runs from a folder, and leaves a note there of the commit that this was done for.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Forked`] if the note that is there is of a commit that this one knows nothing of: what is
    /// removed may be all there is of that.
    pub(in crate::collection) fn tidy(&self, storage: &dyn Storage) -> Result<()> {
        let names = storage.names().map_err(|e| Error::io(&folder(storage), "list", e))?;
        let names: Vec<Name> = names.iter().filter_map(|name| Name::parse(name)).collect();
        let Some(last) = self.commits.first().copied() else { return Ok(()) };
        let foreign = |name: &&Name| match **name {
            Name::Tidied(commit, digest) => {
                let same = self.commits.iter().find(|(known, _)| *known == commit);
                same.map_or(commit > last.0, |(_, known)| *known != digest)
            }
            _ => false,
        };
        if let Some(Name::Tidied(tidied, _)) = names.iter().find(foreign) {
            return Err(Error::Forked { path: folder(storage), tidied: *tidied, commit: last.0 });
        }
        let note = Name::Tidied(last.0, last.1);
        let mut changed = false;
        if !names.contains(&note) {
            make(storage, note)?;
            changed = true;
        }
        for name in names {
            let goes = match name {
                Name::Kept(id, keeper) => id >= self.unknown && !self.runs.contains(&(id, keeper)),
                Name::Tidied(..) => name != note,
                _ => false,
            };
            if goes {
                remove(storage, name)?;
                changed = true;
            }
        }
        if !changed {
            return Ok(());
        }
        storage.sync_names().map_err(|e| Error::io(&folder(storage), "sync", e))
    }
}

/// Makes an empty file; another process of this machine may have been faster.
fn make(storage: &dyn Storage, name: Name) -> Result<()> {
    let name = name.to_string();
    match storage.create(&name).and_then(|mut file| file.sync()) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|e| Error::io(&storage.path(&name), "create", e)),
    }
}

/// Removes a file; another process of this machine may have been faster.
fn remove(storage: &dyn Storage, name: Name) -> Result<()> {
    let name = name.to_string();
    match storage.remove(&name) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|e| Error::io(&storage.path(&name), "remove", e)),
    }
}

/// Sees to it that of the runs that processes keep to themselves those stay that are named: here, and where the others are.
/// Where all runs are in one folder there is nothing to be done.
pub(in crate::collection) fn keep(writer: &Writer, peers: Option<&Peers>) -> Result<()> {
    let (beside, peers) = (writer.storage().beside(), peers.filter(|peers| peers.state().is_some()));
    if beside.is_none() && peers.is_none() {
        return Ok(());
    }
    let keep = Keep::of(writer)?;
    let own = beside.map_or(Ok(()), |beside| keep.tidy(&*beside));
    if let Some(peers) = peers {
        peers.say(&Order::Keep(keep))?;
        // Processes of one machine may share a folder: nobody begins a run there before all have tidied it.
        peers.collect(&())?;
    }
    own
}

/// Merges all runs into one in the folder of the collection, those too that other processes keep to themselves; of these
/// nothing is left there. That takes two commits: what the first of them supersedes goes with the second.
///
/// # Errors
/// Those of [`super::compact_with`].
pub fn gather(writer: &mut Writer, peers: Option<&Peers>, progress: &Progress) -> Result<CompactReport> {
    writer.snapshot().check_within_reach()?;
    keep(writer, peers)?;
    let mut report = compact(writer, Compaction::Full, progress)?;
    if report.commit.is_some() {
        let next = writer.next();
        report.commit = Some(next.commit);
        writer.commit(next)?;
        report.untidied = keep(writer, peers).err().map(|error| error.to_string());
    }
    Ok(report)
}

/// Runs to be merged, each group by the process that has them.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::collection) struct Merging {
    pub(in crate::collection) manifest: Manifest,
    groups: Vec<Group>,
    /// What tells the runs that are written from those of any other job.
    job: u64,
    /// Whether only what is live stays. What that is is told after this.
    live: bool,
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
    pub(in crate::collection) fn plan(
        next: &mut Manifest,
        first: usize,
        how: Compaction,
        (processes, job): (usize, u64),
    ) -> Merging {
        let mut runs: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for run in &next.runs[first..] {
            let process = run.keeper.map_or(0, |keeper| keeper.process as usize % processes);
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
        Merging { manifest: next.clone(), groups, job, live: how == Compaction::Full }
    }

    /// Whether there is nothing to merge.
    pub(in crate::collection) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Bytes of the runs that process `process` merges.
    pub(in crate::collection) fn bytes(&self, process: usize) -> u64 {
        let groups = self.groups.iter().filter(|group| group.process == process);
        let of = |id: &u64| self.manifest.runs.iter().find(|run| run.id == *id).map_or(0, |run| run.bytes);
        groups.flat_map(|group| &group.runs).map(of).sum()
    }

    /// Merges what is for this process.
    fn merge(
        &self,
        snapshot: &Snapshot,
        (process, live): (usize, Option<&Live>),
        progress: &Progress,
    ) -> Result<Vec<(u64, RunSummary)>> {
        let storage = snapshot.storage();
        let mut done = Vec::new();
        for group in self.groups.iter().filter(|group| group.process == process) {
            let run = |id: &u64| {
                let at = snapshot.manifest().runs.iter().position(|run| run.id == *id);
                let missing = || Error::Worker(format!("run {id} is to be merged and is in no commit"));
                at.map(|at| Arc::clone(&snapshot.runs()[at])).ok_or_else(missing)
            };
            let tables = Tables { runs: group.runs.iter().map(run).collect::<Result<_>>()? };
            let keeper = Keeper::of(process, self.job);
            for run in begin(storage, self.manifest.collection, &[group.id], keeper)? {
                done.push((group.id, combine(run, (&tables, Range::ALL), live, progress)?));
            }
        }
        storage.sync_names().map_err(|e| Error::io(&folder(storage), "sync", e))?;
        Ok(done)
    }

    /// Merges, in process 0, where `snapshot` has the runs, what is for it; the others [`Merging::assist`]. `next` then names
    /// what they have become.
    pub(in crate::collection) fn lead(
        &self,
        writer: &Writer,
        snapshot: &Snapshot,
        next: &mut Manifest,
        peers: &Peers,
        progress: &Progress,
    ) -> Result<()> {
        let live = self.live.then(|| Live::of(&snapshot.tables(), &self.manifest)).transpose()?;
        live.as_ref().map_or(Ok(()), |live| live.tell(peers))?;
        let own = self.merge(snapshot, (0, live.as_ref()), progress);
        // What the others have merged is on its way, whatever has failed here.
        let merged = collect(peers, own.as_ref().unwrap_or(&Vec::new()))?;
        own?;
        let merged: BTreeMap<u64, RunSummary> = merged.into_iter().collect();
        next.runs = self.replaced(std::mem::take(&mut next.runs), |group| {
            let missing = || Error::Worker(format!("run {} was merged by nobody", group.id));
            let summary = merged.get(&group.id).ok_or_else(missing)?;
            if summary.sections.iter().all(|(_, rows)| *rows == 0) {
                return Ok(None);
            }
            let keeper = Keeper::of(group.process, self.job);
            RunEntry::of(&**writer.storage(), group.id, keeper, by_name(summary)).map(Some)
        })?;
        Ok(())
    }

    /// Runs with those that were merged replaced by what they have become, if that is anything.
    fn replaced(
        &self,
        runs: Vec<RunEntry>,
        merged: impl Fn(&Group) -> Result<Option<RunEntry>>,
    ) -> Result<Vec<RunEntry>> {
        let mut replaced = Vec::new();
        for run in runs {
            match self.groups.iter().find(|group| group.runs.contains(&run.id)) {
                None => replaced.push(run),
                Some(group) if group.place() == Some(&run.id) => replaced.extend(merged(group)?),
                Some(_) => {}
            }
        }
        Ok(replaced)
    }

    /// Merges what is for this process, which is not process 0.
    pub(in crate::collection) fn assist(
        mut self,
        storage: &Arc<dyn Storage>,
        peers: &Peers,
        progress: &Progress,
    ) -> Result<()> {
        let live = self.live.then(|| Live::hear(peers)).transpose()?;
        let process = peers.mesh().process();
        let own = self.groups.iter().filter(|group| group.process == process);
        let wanted: Vec<u64> = own.flat_map(|group| group.runs.clone()).collect();
        self.manifest.runs.retain(|run| wanted.contains(&run.id));
        let snapshot = Snapshot::ahead_of(storage, self.manifest.clone())?;
        let merged = self.merge(&snapshot, (process, live.as_ref()), progress)?;
        collect(peers, &merged).map(drop)
    }
}

impl Compaction {
    /// The ranges of runs of these sizes that are merged.
    pub(in crate::collection) fn plan(self, sizes: &[u64]) -> Vec<(usize, usize)> {
        match self {
            Compaction::Full => Vec::from_iter((!sizes.is_empty()).then_some((0, sizes.len()))),
            Compaction::Tiered { fuel_bytes } => tiered(sizes, fuel_bytes),
        }
    }
}

#[cfg(test)]
#[path = "local_runs_tests.rs"]
mod tests;
