//! Compaction: runs merged, so that there are few of them and what is gone takes no room.
//!
//! The order of runs is their age, so only neighbours are merged, and what they become takes their place. A merge that
//! begins with the oldest run leaves out everything that is gone: rows that say so, because there is no older row left
//! for them to shadow, and all rows of dead contents, because contents get new numbers and never come back. Any other
//! merge leaves out only what it finds shadowed: a row that says that something is gone may shadow one in an older run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::collection::RunSummary;
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::{Name, sync_names};
use crate::collection::commit::run_entry::RunEntry;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::commit::writer::Writer;
use crate::collection::distributed::protocol::{LeaderCommand, MergePlan, begin_runs, collect_summaries};
use crate::collection::maintain::combine::combine;
use crate::collection::maintain::live::Live;
use crate::collection::maintain::local_runs::keep;
use crate::collection::maintain::merged_rows::Range;
use crate::collection::maintain::tiers::{Compaction, FUEL, MOST, tiered};
use crate::collection::tables::Tables;
use crate::error::{Error, Result};
use crate::metrics::Metric;
use crate::peers::Peers;
use crate::progress::{Progress, Stage};
use crate::storage::Storage;

/// What a compaction did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CompactReport {
    /// The commit that has it; `None` if there was nothing to merge.
    pub commit: Option<u64>,
    /// Runs before and after it.
    pub runs: (usize, usize),
    /// Bytes of the runs before and after it.
    pub bytes: (u64, u64),
    /// Why processes that keep runs to themselves could not remove what nobody names any more; the next job does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untidied: Option<String>,
}

/// Merges runs of the last commit, and commits what they become. What the collection holds stays as it is.
///
/// # Errors
/// [`Error::Io`], [`Error::Damaged`], those of [`Writer::commit`], and [`Error::Interrupted`]; the last commit then
/// stays as it was.
pub fn compact(writer: &mut Writer, how: Compaction, progress: &Progress) -> Result<CompactReport> {
    compact_with(writer, how, None, progress)
}

/// The same with other processes, which [`follow_compaction`]. Where all runs become one, there is one for each process
/// instead, up to ten, each with a range of the keys of every table.
///
/// # Errors
/// Those of [`compact`]; [`Error::Unreachable`] if a process that is not there keeps a run to itself; [`Error::Lost`] and
/// [`Error::GaveUp`] if another process has ended.
pub fn compact_with(
    writer: &mut Writer,
    how: Compaction,
    peers: Option<&Peers>,
    progress: &Progress,
) -> Result<CompactReport> {
    writer.check_finished()?;
    writer.snapshot().check_within_reach()?;
    let mut next = writer.next();
    let first = next.next_run;
    next.retained_from = match how {
        // Nobody asked for it, so it takes nothing that could be looked at.
        Compaction::Tiered { .. } => Some(writer.snapshot().manifest().first_kept()),
        Compaction::Full => None,
    };
    let merged = match peers {
        Some(peers) if peers.state().is_some() => merge_local_runs(writer, &mut next, how, peers, progress),
        Some(peers) if how == Compaction::Full => merge_together(writer, &mut next, peers, progress),
        _ => merge_all(writer, &mut next, how, progress),
    };
    let merged = merged.inspect_err(|_| abandon(writer, first..next.next_run))?;
    let total = |manifest: &Manifest| (manifest.runs.len(), manifest.runs.iter().map(|run| run.bytes).sum());
    let (before, after): ((usize, u64), (usize, u64)) = (total(writer.snapshot().manifest()), total(&next));
    let (runs, bytes) = ((before.0, after.0), (before.1, after.1));
    let mut report = CompactReport { runs, bytes, ..CompactReport::default() };
    if merged {
        report.commit = Some(next.commit);
        writer.commit(next)?;
        progress.metrics().add(Metric::Commits, 1);
        report.untidied = keep(writer, peers).err().map(|error| error.to_string());
    }
    Ok(report)
}

/// Merges all runs into one in the folder of the collection, those too that other processes keep to themselves; of these
/// nothing is left there. That takes two commits: what the first of them supersedes goes with the second. Commits before
/// cannot be looked at again.
///
/// # Errors
/// Those of [`compact_with`].
pub fn gather(writer: &mut Writer, peers: Option<&Peers>, progress: &Progress) -> Result<CompactReport> {
    writer.snapshot().check_within_reach()?;
    keep(writer, peers)?;
    let mut report = compact(writer, Compaction::Full, progress)?;
    if report.commit.is_some() {
        let mut next = writer.next();
        // What those before name lies elsewhere.
        next.retained_from = next.retain.and(Some(next.commit - 1));
        report.commit = Some(next.commit);
        writer.commit(next)?;
        report.untidied = keep(writer, peers).err().map(|error| error.to_string());
    }
    Ok(report)
}

/// Merges what is to be merged of all runs; whether there was anything.
fn merge_all(writer: &Writer, next: &mut Manifest, how: Compaction, progress: &Progress) -> Result<bool> {
    let sizes: Vec<u64> = next.runs.iter().map(|run| run.bytes).collect();
    let plan = how.plan(&sizes);
    progress.enter(Stage::Write, plan.iter().flat_map(|(from, to)| &sizes[*from..*to]).sum());
    let all = writer.snapshot().tables();
    let oldest = plan.iter().any(|(from, _)| *from == 0);
    let live = oldest.then(|| Live::of(&all, next)).transpose()?;
    let live = live.map(|live| live.leaving_no_trace(how == Compaction::Full));
    merge_ranges(writer, &all, next, &plan, live.as_ref(), progress)?;
    Ok(!plan.is_empty())
}

/// Merges ranges of runs, the newest range first, so that the places of the older ones stay what they are; of the one that
/// begins with the oldest run only what is `live` is left, if that is given.
fn merge_ranges(
    writer: &Writer,
    all: &Tables,
    next: &mut Manifest,
    plan: &[(usize, usize)],
    live: Option<&Live>,
    progress: &Progress,
) -> Result<()> {
    for &(from, to) in plan {
        let part = Tables { runs: all.runs[from..to].to_vec() };
        let (id, run) = writer.begin_run(next)?;
        let live = live.filter(|_| from == 0);
        // No trace is left where all runs become one.
        let folder = live.filter(|live| live.leaves_no_trace).map(|_| spill_folder(&**writer.storage()));
        let summary = combine(run, &next.config, (&part, Range::ALL), live, folder.as_deref(), progress)?;
        let entry = RunEntry::of(&**writer.storage(), id, None, summary.by_name())?;
        next.runs.splice(from..to, [entry]);
    }
    Ok(())
}

/// Merges the runs of each process that keeps its own where they lie; whether there was anything to merge.
fn merge_local_runs(
    writer: &Writer,
    next: &mut Manifest,
    how: Compaction,
    peers: &Peers,
    progress: &Progress,
) -> Result<bool> {
    keep(writer, Some(peers))?;
    let mut merging = MergePlan::plan(next, 0, how, (peers.mesh().processes(), writer.job()));
    if merging.is_empty() {
        return Ok(false);
    }
    // Only what follows a load is not of all runs.
    merging.stands = how != Compaction::Full;
    lead_merging(writer, writer.snapshot(), next, merging, peers, progress).map(|()| true)
}

/// Where what has no room in memory is written: on the disk that the runs are on.
fn spill_folder(storage: &dyn Storage) -> PathBuf {
    let path = storage.path(&Name::Manifest(0).to_string());
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Has all processes merge, and names in `next` what the runs have become.
fn lead_merging(
    writer: &Writer,
    snapshot: &Snapshot,
    next: &mut Manifest,
    merging: MergePlan,
    peers: &Peers,
    progress: &Progress,
) -> Result<()> {
    progress.enter(Stage::Write, merging.bytes(0));
    let order = LeaderCommand::Merge(Box::new(merging));
    peers.broadcast(&order)?;
    let LeaderCommand::Merge(merging) = order else { return Ok(()) };
    merging.lead(writer, snapshot, next, peers, progress)
}

/// What other processes must know to merge all runs with process 0.
#[derive(serde::Serialize, serde::Deserialize)]
struct Task {
    manifest: Manifest,
    first_run: u64,
}

/// How many runs several processes leave: no more than a tier may have, or the next load would have to merge them.
fn parts(peers: &Peers) -> usize {
    peers.mesh().processes().min(MOST)
}

/// Merges all runs into one for each process that takes part; whether there was anything to merge.
fn merge_together(writer: &Writer, next: &mut Manifest, peers: &Peers, progress: &Progress) -> Result<bool> {
    let first = next.next_run;
    let task = Task { manifest: writer.snapshot().manifest().clone(), first_run: first };
    peers.broadcast(&(!next.runs.is_empty()).then_some(task))?;
    if next.runs.is_empty() {
        return Ok(false);
    }
    let bytes: u64 = next.runs.iter().map(|run| run.bytes).sum();
    progress.enter(Stage::Write, bytes / parts(peers) as u64);
    next.next_run += parts(peers) as u64;
    let written = merge_range(writer.snapshot(), first, peers, progress)?;
    let (mut entries, storage) = (Vec::new(), &**writer.storage());
    for (id, summary) in &written {
        let holds = !summary.is_empty();
        if holds || (entries.is_empty() && *id + 1 == next.next_run) {
            entries.push(RunEntry::of(storage, *id, None, summary.by_name())?);
        } else {
            abandon(writer, *id..*id + 1);
        }
    }
    next.runs = entries;
    Ok(true)
}

/// Merges this process's range of all tables into a run of its own; in process 0 what the runs of all hold.
fn merge_range(
    snapshot: &Snapshot,
    first: u64,
    peers: &Peers,
    progress: &Progress,
) -> Result<Vec<(u64, RunSummary)>> {
    let (process, parts) = (peers.mesh().process(), parts(peers));
    if process >= parts {
        return collect_summaries(peers, &Vec::new());
    }
    let (manifest, storage) = (snapshot.manifest(), snapshot.storage());
    let tables = snapshot.tables();
    let live = Live::of(&tables, manifest)?.leaving_no_trace(true);
    let id = first + process as u64;
    let mut runs = begin_runs(storage, manifest.collection, &[id], None)?;
    let range = Range::of(manifest, process, parts);
    let run = runs.pop().expect("a run that was begun");
    let folder = spill_folder(storage);
    let summary = combine(run, &manifest.config, (&tables, range), Some(&live), Some(&folder), progress)?;
    sync_names(storage)?;
    collect_summaries(peers, &vec![(id, summary)])
}

/// Takes part where process 0 merges all runs of the collection in `storage`.
///
/// # Errors
/// Those of [`compact_with`].
pub fn follow_compaction(storage: &Arc<dyn Storage>, peers: &Peers, progress: &Progress) -> Result<()> {
    let Some(Task { manifest, first_run }) = peers.receive()? else { return Ok(()) };
    let sizes = manifest.runs.iter().map(|run| run.bytes);
    progress.enter(Stage::Write, sizes.sum::<u64>() / parts(peers) as u64);
    merge_range(&Snapshot::ahead_of(storage, manifest)?, first_run, peers, progress).map(drop)
}

/// Takes away what was begun, so that it is not in the way of the next attempt. Where that fails, the next writer that
/// is opened does it.
fn abandon(writer: &Writer, runs: std::ops::Range<u64>) {
    for id in runs {
        let _ = writer.storage().remove(&Name::Run(id).to_string());
    }
}

/// Merges runs of a load between its epochs, those from number `first` on: the others are what it began with. Whether there
/// was anything to merge; `next` names what they became.
pub(in crate::collection) fn between_epochs(
    writer: &Writer,
    next: &mut Manifest,
    ahead: &Snapshot,
    first: usize,
    (peers, progress): (Option<&Peers>, &Progress),
) -> Result<bool> {
    if let Some(peers) = peers.filter(|peers| peers.state().is_some()) {
        let how = Compaction::Tiered { fuel_bytes: u64::MAX };
        let merging = MergePlan::plan(next, first, how, (peers.mesh().processes(), writer.job()));
        let any = !merging.is_empty();
        return if any {
            lead_merging(writer, ahead, next, merging, peers, progress).map(|()| true)
        } else {
            Ok(false)
        };
    }
    let sizes: Vec<u64> = next.runs[first..].iter().map(|run| run.bytes).collect();
    let plan: Vec<(usize, usize)> =
        tiered(&sizes, u64::MAX).into_iter().map(|(from, to)| (first + from, first + to)).collect();
    // All runs of a first load are its own, and yet none may lose what it says is gone: nothing is published.
    merge_ranges(writer, &ahead.tables(), next, &plan, None, progress)?;
    Ok(!plan.is_empty())
}

/// An error of a compaction after a load, in words: the load stands.
pub(in crate::collection) fn after_load(
    writer: &mut Writer,
    written: u64,
    peers: Option<&Peers>,
) -> Option<String> {
    // Whoever stops the program now has the load already: there is nothing to be interrupted.
    let fuel_bytes = written.saturating_mul(FUEL);
    let outcome = compact_with(writer, Compaction::Tiered { fuel_bytes }, peers, &Progress::default());
    outcome.err().map(|error: Error| error.to_string())
}
