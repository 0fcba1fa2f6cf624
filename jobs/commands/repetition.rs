//! `alike repetition`: documents that repeat themselves, and the records without them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use alike::config::{Config, Input};
use alike::error::{Error, Result};
use alike::output::{
    FindingFiles, FormChoice, FormPlan, Hands, RecordSet, Side, assist_records, write_records,
};
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::{Progress, Stage};
use alike::read::{Rejected, Source};
use alike::repetition::{
    FoundRepetition, LimitRow, RepetitionLimits, RepetitionReport, RepetitionRequest, assist_repetition,
    find_repetition, write_rows,
};
use alike::scratch::private_folder;

use crate::cli::passages::{RepetitionArgs, RepetitionLimit};
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::inputs::{find_inputs, refuse, warn_of_no_documents, warn_of_no_words, warn_of_unused};
use crate::session::options::{Machine, records, written};
use crate::session::run_folder::{RunFolder, add_effort, close_spool, write_rejected};
use crate::session::watched::watched_job;
use crate::terminal::data::table::TextTable;
use crate::terminal::reporter::Reporter;

/// What process 0 has found out, for the others.
#[derive(serde::Serialize, serde::Deserialize)]
struct RepetitionTask {
    sources: Vec<Source>,
    input: Input,
    /// Where what is found is kept, if anything is written.
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &RepetitionArgs, job: &DistributedJob) -> Result<ExitCode> {
    let begun = Instant::now();
    let machine = Machine::new(&args.work.machine)?;
    let reporter = Reporter::new(&args.work.report);
    // It goes only when the other processes know that nothing is written to it any more.
    let (mut place, mut status) = (None, Arc::default());
    let lead = |peers: Option<&Arc<Peers>>, progress: &Arc<Progress>| {
        status = Arc::clone(progress);
        lead(args, machine, &mut place, &reporter, (peers.map(|peers| &**peers), progress))
    };
    let assist = |peers: &Arc<Peers>, progress: &Arc<Progress>| take_part(args, machine, peers, progress);
    let done = watched_job(job, &args.work.report.talk, machine.workers, lead, assist)?;
    let Some(report) = done else { return Ok(PART_DONE) };
    let mut summary = report.to_json()?;
    summary["workers"] = machine.workers.into();
    add_effort(&mut summary, begun, report.text_bytes);
    place.take().map_or(Ok(()), |place| place.finish(&summary, &status))?;
    describe(&report, args, &reporter);
    warn_of_no_words(&reporter, report.empty, report.documents);
    reporter.object(&summary)
}

/// Finds and writes: where this process is alone, or process 0.
fn lead(
    args: &RepetitionArgs,
    machine: Machine,
    held: &mut Option<RunFolder>,
    reporter: &Reporter<'_>,
    (peers, progress): (Option<&Peers>, &Arc<Progress>),
) -> Result<RepetitionReport> {
    let place = held.insert(RunFolder::of_all(args.work.writes(&args.out), peers)?);
    let spool = private_folder(place.path())?;
    let mut config = Config::default();
    records(&mut config.input, &args.records);
    written(&mut config.input, args.work.to);
    config.validate()?;
    let apart = peers.is_some() && !place.is_seen_by_all();
    let hint = args.records.form.hint(&config.input).shared_by(apart).within(machine.memory);
    let discovery = find_inputs(&args.inputs, hint, spool.path(), progress)?;
    warn_of_unused(reporter, &discovery, &args.inputs);
    let choice_within = FormChoice { memory: machine.memory, ..choice(args) };
    FormPlan::new(&discovery.sources, choice_within)?;
    let folder = args.work.writes(&args.out).is_some().then(|| std::path::absolute(place.path())).transpose();
    let folder = folder.map_err(|e| Error::io(place.path(), "find", e))?;
    let sources = Source::all_from_anywhere(&discovery.sources)?;
    let task = RepetitionTask { sources, input: config.input, folder };
    peers.map_or(Ok(()), |peers| peers.broadcast(&task))?;
    let limits = limits(args);
    let found = find_repetition(&request(&task, &limits, machine, peers), progress)?;
    found.inputs.refuse_gaps(&found.refusals)?;
    let rejected = discovery.rejected(found.refused.clone());
    reporter.refused(&rejected);
    refuse(args.records.refusals, &rejected, found.tally.documents)?;
    let report = RepetitionReport::new(&limits, &found);
    if let RunFolder::Output(staging) = place {
        let hands = Hands { workers: machine.workers, peers };
        write(args, (found, &limits), (staging.path(), &rejected), hands, progress)?;
    }
    close_spool(spool, place.path())?;
    progress.check()?;
    Ok(report)
}

/// Writes what was found, and the records.
fn write(
    args: &RepetitionArgs,
    (found, limits): (FoundRepetition, &RepetitionLimits),
    (folder, rejected): (&Path, &[Rejected]),
    hands: Hands<'_>,
    progress: &Progress,
) -> Result<()> {
    let inputs = &found.inputs;
    let bytes: u64 = inputs.sources.iter().map(|source| source.bytes).sum();
    progress.enter(Stage::Write, bytes * sides(args).len() as u64);
    write_rows(&found, limits, folder)?;
    write_rejected(folder, rejected)?;
    let set = RecordSet { sources: &inputs.sources, fields: &inputs.fields, choice: choice(args) };
    let repeating = found.left_out()?;
    for side in sides(args) {
        let left_out = repeating.clone().and_refused(&found.refusals, 0, *side, |at| set.retypes(at));
        write_records(folder, set, left_out.chosen(*side), None, hands, progress)?;
    }
    found.documents.map_or(Ok(()), FindingFiles::remove)
}

/// Takes part in what process 0 does.
fn take_part(
    args: &RepetitionArgs,
    machine: Machine,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let task: RepetitionTask = peers.receive()?;
    let inputs = assist_repetition(&request(&task, &limits(args), machine, Some(peers)), progress)?;
    if args.work.writes(&args.out).is_some() {
        progress.enter(Stage::Write, 0);
        let set = RecordSet { sources: &inputs.sources, fields: &inputs.fields, choice: choice(args) };
        sides(args).iter().try_for_each(|_| assist_records(set, machine.workers, peers, progress))?;
    }
    Ok(())
}

/// Which halves of the records are written.
fn sides(args: &RepetitionArgs) -> &'static [Side] {
    if args.write_removed { &[Side::Kept, Side::Removed] } else { &[Side::Kept] }
}

fn choice(args: &RepetitionArgs) -> FormChoice {
    FormChoice { form: args.work.to, ..FormChoice::default() }
}

fn limits(args: &RepetitionArgs) -> RepetitionLimits {
    let with = |limits: RepetitionLimits, limit: &RepetitionLimit| limits.with(limit.measure, limit.most);
    args.limit.iter().fold(RepetitionLimits::default(), with)
}

fn request<'a>(
    task: &'a RepetitionTask,
    limits: &'a RepetitionLimits,
    machine: Machine,
    peers: Option<&'a Peers>,
) -> RepetitionRequest<'a> {
    RepetitionRequest {
        sources: &task.sources,
        input: &task.input,
        limits,
        workers: machine.workers,
        memory: machine.memory,
        peers,
        folder: task.folder.as_deref(),
    }
}

/// Tells people what was found.
fn describe(report: &RepetitionReport, args: &RepetitionArgs, reporter: &Reporter<'_>) {
    let row = |row: &LimitRow| vec![row.measure.clone(), row.limit.to_string(), row.documents.to_string()];
    let heading = vec!["measure", "limit", "documents over it"];
    let table = TextTable { heading, rows: report.measures.iter().map(row).collect() };
    table.text().lines().for_each(|line| reporter.line(line));
    let kept = report.documents - report.above;
    let what = match args.work.writes(&args.out) {
        Some(out) => format!("{kept} kept in {}/kept", out.display()),
        None => format!("{kept} would be kept (dry run, nothing written)"),
    };
    reporter.line(&format!(
        "{} of {} repeat themselves, {:.1} % of the text; {what}",
        report.above,
        counted(report.documents, "document"),
        100.0 * report.above_share
    ));
    warn_of_no_documents(reporter, report.documents);
}
