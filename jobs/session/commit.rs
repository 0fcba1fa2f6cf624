//! A change of a collection: worked out, agreed to, and committed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use alike::collection::{Batch, Report, Writer, prepare};
use alike::error::{Error, Result};
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::{Rejected, unread};
use alike::scratch::Scratch;

use crate::cli::common::RetainArgs;
use crate::cli::values::Percent;
use crate::cluster::job::DistributedJob;
use crate::session::collection::folder;
use crate::session::options::Machine;
use crate::terminal::reporter::Reporter;
use crate::terminal::stderr;

/// Takes part in what process 0 loads into a collection, or deletes from it.
pub(crate) fn assist(
    collection: &Path,
    machine: Machine,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let scratch = Scratch::apart(&std::env::temp_dir())?;
    let means = machine.resources(scratch.path(), None);
    alike::collection::follow(&|| folder(collection), &means, peers, progress)
}

/// What a dry run writes is in a folder that no other process knows.
pub(crate) fn refuse_dry_run(dry_run: bool, job: &DistributedJob) -> Result<()> {
    if dry_run && !job.is_alone() {
        return Err(Error::config("--dry-run works with one process; leave out --hosts, -n and -p"));
    }
    Ok(())
}

/// Where in the scratch folder a dry run puts what it does not write to the collection.
pub(crate) const ABOVE: &str = "collection";

/// Tells what is left of a load that was cut off between its epochs, and why.
pub(crate) fn unfinished(reporter: &Reporter<'_>, collection: &Path, writer: &Writer, error: Error) -> Error {
    let records = writer.pending().map_or(0, |pending| pending.tally.records);
    let path = collection.to_path_buf();
    match error {
        Error::Interrupted => Error::Paused { path, records },
        // These say so themselves.
        Error::Unfinished { .. } | Error::UnfinishedDamaged { .. } => error,
        error => {
            reporter.line(&Error::Paused { path, records }.to_string());
            error
        }
    }
}

/// Why a dry run came to nothing. It takes no lock, so that what it takes for an interrupted load may be under way.
pub(crate) fn foreseen(collection: &Path, error: Error) -> Error {
    let busy = || folder(collection).is_ok_and(|storage| matches!(storage.lock(), Ok(None)));
    match error {
        Error::Unfinished { .. } if busy() => Error::Locked(collection.to_path_buf()),
        error => error,
    }
}

/// Documents that may be deleted, of a hundred, where nothing is said.
const MOST_DELETED: Percent = Percent(50);

/// Refuses to delete more than `most` of the documents that are `held`.
pub(crate) fn refuse_mass_deletion(
    most: Option<Percent>,
    collection: &Path,
    held: u64,
    removed: u64,
) -> Result<()> {
    let most = most.unwrap_or(MOST_DELETED);
    if removed * 100 <= held * u64::from(most.0) {
        return Ok(());
    }
    let needed = (removed * 100).div_ceil(held.max(1));
    Err(Error::input(
        collection,
        format!(
            "{removed} of its {} would be deleted, more than {most}; if that is meant, allow it with --max-delete \
             {needed}%; nothing was written",
            counted(held, "document")
        ),
    ))
}

/// Works a load out and commits it, if `accept` takes what was refused, and `agree` the report. In a dry run it is not
/// committed.
pub(crate) fn commit(
    writer: &mut Writer,
    batch: Batch,
    unreadable: &[(PathBuf, String)],
    accept: impl FnOnce(&[Rejected], u64) -> Result<()>,
    agree: impl FnOnce(&Report) -> Result<()>,
    (dry_run, retain): (bool, RetainArgs),
    progress: &Arc<Progress>,
) -> Result<Report> {
    warn_untidied(writer);
    retain.retain.iter().for_each(|retain| writer.set_retain(*retain));
    let report = work_out(writer, batch, unreadable, accept, agree, dry_run, progress);
    let report = report.and_then(|report| if dry_run { Ok(report) } else { with_retain(writer, report) });
    match &report {
        Err(_) => writer.clear_up(),
        // It stands, and the next writer tidies up.
        Ok(report) if report.commit.is_some() && !dry_run => warn_untidied(writer),
        Ok(_) => {}
    }
    report
}

/// Has the collection remember how long its commits are to stay, where the load itself made none that says so.
pub(crate) fn with_retain(writer: &mut Writer, report: Report) -> Result<Report> {
    let commit = writer.commit_retain()?;
    Ok(Report { commit: report.commit.or(commit), ..report })
}

fn work_out(
    writer: &mut Writer,
    batch: Batch,
    unreadable: &[(PathBuf, String)],
    accept: impl FnOnce(&[Rejected], u64) -> Result<()>,
    agree: impl FnOnce(&Report) -> Result<()>,
    dry_run: bool,
    progress: &Arc<Progress>,
) -> Result<Report> {
    let prepared = prepare(writer, batch, Arc::clone(progress))?;
    let mut rejected = unread(unreadable);
    rejected.extend(prepared.rejected().cloned());
    if let Err(error) = accept(&rejected, prepared.records()) {
        prepared.give_up(&error)?;
        return Err(error);
    }
    let rejected = Rejected::records(&rejected);
    let report = if dry_run {
        let report = prepared.foresee()?;
        agree(&report).map(|()| report)
    } else {
        prepared.commit_if(|report| agree(report).and_then(|()| progress.check()))
    };
    report.map(|report| Report { rejected, ..report })
}

/// Says why something superseded is still there, which is no failure.
pub(crate) fn warn_untidied(writer: &Writer) {
    if let Some(error) = writer.untidied() {
        stderr::warn(&error.to_string());
    }
}
