//! Runs of several processes merged where they lie, by a plan that the leader makes.
//!
//! Only process 0 writes rows that replace others. What another process writes is of texts and ids that no row told of before, so
//! it shadows nothing. The runs of each process are merged among themselves: those of process 0 as if they were the newest, those
//! of another process as if they were the oldest.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Keeper, sync_names};
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::commit::writer::Writer;
use crate::collection::distributed::protocol::{MergeGroup, MergePlan, begin_runs};
use crate::collection::maintain::combine::combine;
use crate::collection::maintain::live::Live;
use crate::collection::maintain::merged_rows::Range;
use crate::collection::maintain::tiers::Compaction;
use crate::collection::run::writer::RunSummary;
use crate::collection::tables::Tables;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::progress::Progress;
use crate::storage::Storage;

impl MergeGroup {
    /// The run whose place what they become takes. A row of process 0 is never older than the rows of others that it shadows: so
    /// what process 0 has stays behind the runs of the others that it was behind.
    fn place(&self) -> Option<&u64> {
        if self.process == 0 { self.runs.last() } else { self.runs.first() }
    }
}

impl MergePlan {
    /// What is merged of the runs of `next` from place `first` on; nothing where there is nothing to merge. Numbers for
    /// what they become are taken from `next`.
    pub(in crate::collection) fn plan(
        next: &mut Manifest,
        first: usize,
        how: Compaction,
        (processes, job): (usize, u64),
    ) -> MergePlan {
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
                groups.push(MergeGroup { process, id: next.next_run, runs });
                next.next_run += 1;
            }
        }
        MergePlan { manifest: next.clone(), groups, job, live: how == Compaction::Full, stands: false }
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
        let (storage, config) = (snapshot.storage(), &self.manifest.config);
        let mut done = Vec::new();
        for group in self.groups.iter().filter(|group| group.process == process) {
            let run = |id: &u64| {
                let at = snapshot.manifest().runs.iter().position(|run| run.id == *id);
                let missing = || Error::Worker(format!("run {id} is to be merged and is in no commit"));
                at.map(|at| Arc::clone(&snapshot.runs()[at])).ok_or_else(missing)
            };
            let tables = Tables { runs: group.runs.iter().map(run).collect::<Result<_>>()? };
            let keeper = Keeper::of(process, self.job);
            for run in begin_runs(storage, self.manifest.collection, &[group.id], keeper)? {
                done.push((group.id, combine(run, config, (&tables, Range::ALL), live, None, progress)?));
            }
        }
        sync_names(storage)?;
        Ok(done)
    }

    /// Merges, in process 0, where `snapshot` has the runs, what is for it; the others [`MergePlan::follow`]. `next` then names
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
        let others = self.manifest.runs.iter().any(|run| run.keeper.is_some());
        let live = live.map(|live| live.shadowing_others(others).leaving_no_trace(true));
        let own = self.merge(snapshot, (0, live.as_ref()), progress);
        // What the others have merged is on its way, whatever has failed here.
        let all: Vec<Merged> = peers.gather(&told(&own))?;
        own?;
        let mut merged: BTreeMap<u64, RunSummary> = BTreeMap::new();
        for (process, summaries) in all.into_iter().enumerate() {
            merged.extend(summaries.map_err(|why| failed(peers, process, why))?);
        }
        next.runs = self.replaced(std::mem::take(&mut next.runs), |group| {
            let missing = || Error::Worker(format!("run {} was merged by nobody", group.id));
            let summary = merged.get(&group.id).ok_or_else(missing)?;
            if summary.is_empty() {
                return Ok(None);
            }
            let keeper = Keeper::of(group.process, self.job);
            RunEntry::of(&**writer.storage(), group.id, keeper, summary.by_name()).map(Some)
        })?;
        Ok(())
    }

    /// Runs with those that were merged replaced by what they have become, if that is anything.
    fn replaced(
        &self,
        runs: Vec<RunEntry>,
        merged: impl Fn(&MergeGroup) -> Result<Option<RunEntry>>,
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
    pub(in crate::collection) fn follow(
        mut self,
        storage: &Arc<dyn Storage>,
        peers: &Peers,
        progress: &Progress,
    ) -> Result<()> {
        let live = self.live.then(|| Live::hear(peers)).transpose()?;
        let live = live.map(|live| live.leaving_no_trace(true));
        let process = peers.mesh().process();
        let own = self.groups.iter().filter(|group| group.process == process);
        let wanted: Vec<u64> = own.flat_map(|group| group.runs.clone()).collect();
        self.manifest.runs.retain(|run| wanted.contains(&run.id));
        let merged = Snapshot::ahead_of(storage, self.manifest.clone())
            .and_then(|snapshot| self.merge(&snapshot, (process, live.as_ref()), progress));
        // What ends everybody ends this process, too.
        let ends =
            |error: &Error| matches!(error, Error::Interrupted | Error::Lost { .. } | Error::GaveUp { .. });
        let merged = if self.stands && !merged.as_ref().is_err_and(ends) { merged } else { Ok(merged?) };
        peers.gather(&told(&merged)).map(|_: Vec<Merged>| ())
    }
}

/// What a process has merged, or why it could not.
type Merged = std::result::Result<Vec<(u64, RunSummary)>, String>;

fn told(merged: &Result<Vec<(u64, RunSummary)>>) -> Merged {
    match merged {
        Ok(summaries) => Ok(summaries.clone()),
        Err(error) => Err(error.to_string()),
    }
}

/// What another process could not merge, where that ends nobody.
fn failed(peers: &Peers, process: usize, why: String) -> Error {
    Error::GaveUp { process, address: peers.mesh().address(process).to_owned(), code: 0, why }
}

#[cfg(test)]
#[path = "merge_plan_tests.rs"]
mod tests;
