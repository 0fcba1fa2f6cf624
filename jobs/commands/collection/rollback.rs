//! `alike rollback`: a collection made what it was at an earlier commit.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{RollbackReport, release_followers, rollback};
use alike::error::Result;
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::Progress;
use alike::scratch::Scratch;

use crate::cli::collections::RollbackArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::commands::collection::waiting::patiently;
use crate::session::commit::{ABOVE, assist, foreseen, refuse_dry_run, warn_untidied};
use crate::session::options::Machine;
use crate::session::target::opened;
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;
use crate::terminal::stderr::{message, warn};
use crate::terminal::stdout::stdout_error;

pub(crate) fn run(args: &RollbackArgs, job: &DistributedJob) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    refuse_dry_run(args.dry_run, job)?;
    let report = watched(&args.report.talk, |progress| {
        let lead = |peers: Option<Arc<Peers>>| lead(args, machine, peers.as_deref(), progress);
        let assist = |peers: &Arc<Peers>| assist(&args.at.collection, machine, peers, progress);
        job.work(machine.workers, progress, lead, assist)
    });
    let Some(report) = job.print_profile(report)? else { return Ok(PART_DONE) };
    let reporter = Reporter::new(&args.report);
    reporter.line(&told(args, &report));
    report
        .untidied
        .iter()
        .for_each(|why| reporter.line(&format!("what nobody names any more is still there: {why}")));
    let mut value = serde_json::to_value(report).map_err(|e| stdout_error(e.into()))?;
    value["dry_run"] = args.dry_run.into();
    reporter.object(&value)
}

/// For people.
fn told(args: &RollbackArgs, report: &RollbackReport) -> String {
    let RollbackReport { to, added, replaced, removed, .. } = report;
    let would = if args.dry_run { "would be " } else { "" };
    let state = match report.commit {
        Some(commit) if args.dry_run => {
            format!("nothing was written; there would be commit {commit}, as commit {to} was")
        }
        Some(commit) => format!("commit {commit} is as commit {to} was"),
        None => format!("nothing was changed since commit {to}"),
    };
    format!(
        "{}: {state}; {added} {would}added, {replaced} {would}replaced, {removed} {would}removed; {}, {}, {} in the log of \
         `alike changes`",
        args.at.collection.display(),
        counted(report.documents, "document"),
        counted(report.clusters, "cluster"),
        counted(report.changes, "line")
    )
}

fn lead(
    args: &RollbackArgs,
    machine: Machine,
    peers: Option<&Peers>,
    progress: &Progress,
) -> Result<RollbackReport> {
    let scratch = Scratch::beside(&args.at.collection, &std::env::temp_dir())?;
    let above = args.dry_run.then(|| scratch.path().join(ABOVE));
    let open = || opened(&args.at, above.as_deref(), peers);
    let mut writer = patiently(args.wait, &args.report.talk, progress, open)?;
    warn_untidied(&writer);
    let done = rollback(&mut writer, &args.to, (args.dry_run, peers), (progress, machine.memory));
    let report = done.map_err(|error| match args.dry_run {
        true => foreseen(&args.at.collection, error),
        false => {
            writer.clear_up();
            error
        }
    })?;
    let released = peers.map_or(Ok(()), release_followers);
    if report.commit.is_some() && !args.dry_run {
        warn_untidied(&writer);
        // The commit stands, whatever becomes of the other processes.
        released.unwrap_or_else(|error| warn(&message(&error)));
    } else {
        released?;
    }
    Ok(report)
}
