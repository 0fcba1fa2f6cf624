//! Rolling back: a new commit that has the runs of an earlier one. Numbers of commits, loads, runs, contents, components and files go
//! on, so that nothing that was between them is ever mistaken for what comes after.

use crate::collection::commit::changes::{CommitCommand, CommitNote};
use crate::collection::commit::manifest::Manifest;
use crate::collection::commit::names::folder;
use crate::collection::commit::retained::at::CommitAt;
use crate::collection::commit::snapshot::Snapshot;
use crate::collection::commit::writer::Writer;
use crate::collection::maintain::local_runs::keep;
use crate::collection::maintain::restored_clusters::{RestoredDiff, diff_restored};
use crate::collection::tables::Tables;
use crate::config::Clustering;
use crate::error::{Error, Result};
use crate::flow::Budget;
use crate::metrics::Metric;
use crate::peers::Peers;
use crate::progress::{Progress, Stage};

/// What a rollback came to, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RollbackReport {
    /// The commit that restores; `None` if nothing was changed since.
    pub commit: Option<u64>,
    /// The commit that is restored.
    pub to: u64,
    /// Documents that come back.
    pub added: u64,
    /// Documents whose record is the earlier one again.
    pub replaced: u64,
    /// Documents that go.
    pub removed: u64,
    /// Lines in the change log.
    pub changes: u64,
    /// Documents afterwards.
    pub documents: u64,
    /// Clusters afterwards.
    pub clusters: u64,
    /// Why processes that keep runs to themselves could not remove what nobody names any more; the next job does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untidied: Option<String>,
}

/// Makes the collection what it was at an earlier commit, as a new one; if it is `dry`, only says what that would come to. `memory`
/// is what comparing both may take, in bytes.
///
/// # Errors
/// Those of [`Snapshot::open_at`] and of [`Writer::commit`]; [`Error::Unfinished`]; [`Error::Unreachable`] if a process that is
/// not there keeps a run to itself; [`Error::Limit`] if what changes does not fit in the memory; and [`Error::Interrupted`]. The
/// last commit then stays as it was.
pub fn rollback(
    writer: &mut Writer,
    to: &CommitAt,
    (dry, peers): (bool, Option<&Peers>),
    (progress, memory): (&Progress, Option<u64>),
) -> Result<RollbackReport> {
    writer.check_finished()?;
    writer.snapshot().check_within_reach()?;
    let target = match Snapshot::open_at(writer.storage(), to) {
        // The same command again, after the last one was cut off behind its commit.
        Err(Error::NotRetained { .. }) if has_restored(writer.snapshot().manifest(), to) => {
            writer.snapshot().clone()
        }
        opened => opened?,
    };
    let (last, earlier) = (writer.snapshot().manifest(), target.manifest());
    let mut report = RollbackReport {
        to: earlier.commit,
        documents: earlier.counts.documents,
        clusters: earlier.counts.clusters,
        ..RollbackReport::default()
    };
    if last.changes.iter().all(|log| log.commit <= earlier.commit) {
        return Ok(report);
    }
    if last.load >= u64::from(u32::MAX) {
        let what = "there are no more numbers for loads; load what is there into a new collection";
        return Err(Error::Limit(format!("{}: {what}", folder(writer.snapshot().storage()).display())));
    }
    progress.enter(Stage::Cluster, 0);
    let diff = differences(writer.snapshot(), &target, (progress, &Budget::new(memory, 1)))?;
    (report.added, report.replaced, report.removed) = (diff.added, diff.replaced, diff.removed);
    report.changes = diff.lines.len() as u64;
    report.commit = Some(last.commit + 1);
    if dry {
        return Ok(report);
    }
    progress.enter(Stage::Write, 0);
    let next = prepare(writer, earlier, &diff)?;
    writer.restore(next, earlier)?;
    progress.metrics().add(Metric::Commits, 1);
    report.untidied = keep(writer, peers).err().map(|error| error.to_string());
    Ok(report)
}

/// Whether the last change was to restore the commit that is asked for.
fn has_restored(last: &Manifest, to: &CommitAt) -> bool {
    let restored = last.changes.last().and_then(|log| log.note.as_ref()?.restored);
    matches!(to, CommitAt::Number(asked) if restored == Some(*asked))
}

/// How what the earlier commit holds differs from what the last one does.
fn differences(last: &Snapshot, earlier: &Snapshot, with: (&Progress, &Budget)) -> Result<RestoredDiff> {
    let only = |of: &Snapshot, other: &Snapshot| {
        let runs = of.manifest().runs.iter().zip(of.runs());
        let runs = runs.filter(|(entry, _)| !other.manifest().runs.contains(entry));
        runs.map(|(_, run)| run.clone()).collect::<Vec<_>>()
    };
    let differing = Tables { runs: [only(last, earlier), only(earlier, last)].concat() };
    let divided = last.manifest().config.cluster.clustering == Clustering::Guarantee;
    diff_restored((&last.tables(), &earlier.tables(), &differing), divided, with)
}

/// The commit that restores the earlier one, and its change log.
fn prepare(writer: &Writer, earlier: &Manifest, diff: &RestoredDiff) -> Result<Manifest> {
    let mut next = writer.next();
    next.load += 1;
    next.runs.clone_from(&earlier.runs);
    next.counts = earlier.counts;
    let mut log = writer.begin_changes(&next)?;
    diff.lines.each(|line| log.line(line))?;
    let counts = [diff.added, diff.replaced, diff.removed, next.counts.documents];
    let note = CommitNote::now(CommitCommand::Rollback, &[], counts);
    next.changes.push(log.finish(Some(CommitNote { restored: Some(earlier.commit), ..note }))?);
    Ok(next)
}
