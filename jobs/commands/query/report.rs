//! `alike report`: a page about the duplicates of a collection, or about a run that has ended.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Export, QueryOverrides, RecomputeRequest, Replay, Snapshot};
use alike::config::Config;
use alike::error::{Error, Result};
use alike::flow::{Doc, EachText, Outcome};
use alike::observed::Observation;
use alike::output::{FinishedRun, InputFigures, summarise};
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::Discovery;
use alike::report::{OtherThresholds, ReportFile, ReportRequest, RunReport};
use alike::scratch::Scratch;

use crate::cli::common::ChoiceArgs;
use crate::cli::recompute::ReportPageArgs;
use crate::cluster::job::DistributedJob;
use crate::commands::dedup;
use crate::environment::typed_command;
use crate::session::against::open_collections;
use crate::session::collection::open;
use crate::session::finished::{again, check_commits, finished_run, go_to_inputs, gone};
use crate::session::options::{Machine, report_from};
use crate::session::recompute::{choice, warn_of_cap};
use crate::session::watched::watched;
use crate::terminal::stderr::{tell, warn};

pub(crate) fn run(args: &ReportPageArgs, job: &DistributedJob) -> Result<ExitCode> {
    if let Some(run) = finished_run(&args.at)? {
        return of_output(args, &run, job);
    }
    if !args.by.is_empty() {
        return Err(Error::config(format!(
            "--by is for the page of an output of dedup: the collection {} keeps no values of fields; give --report-by to a \
             dedup of its inputs",
            args.at.folder.display()
        )));
    }
    let machine = Machine::new(&args.machine)?;
    let snapshot = open(&args.at.collection())?;
    let page = ReportFile::create(&args.out)?;
    let talk = &args.talk;
    let (report, common) = watched(talk, |progress| report(args, &snapshot, machine, progress))?;
    page.finish(&report)?;
    warn_of_cap(snapshot.manifest(), common, talk);
    tell_of_page(args, report.documents, report.removed);
    Ok(ExitCode::SUCCESS)
}

/// Says what the page is about.
fn tell_of_page(args: &ReportPageArgs, documents: u64, removed: u64) {
    if !args.talk.quiet && !args.talk.json_progress {
        let documents = counted(documents, "document");
        tell(&format!("{}: a page about {documents}, of which {removed} would go", args.out.display()));
    }
}

/// Writes the page about an output of `dedup`: its run is done again, without an output.
fn of_output(args: &ReportPageArgs, run: &FinishedRun, job: &DistributedJob) -> Result<ExitCode> {
    let ChoiceArgs { threshold, keep, clustering } = &args.choices;
    if threshold.is_some() || keep.is_some() || clustering.is_some() {
        return Err(Error::config(format!(
            "{} is an output of dedup, and its page is about the run as it was: leave out --threshold, --keep and \
             --clustering, or ask dedup --dry-run --report FILE with them",
            run.path.display()
        )));
    }
    let machine = Machine::new(&args.machine)?;
    let page = std::path::absolute(&args.out).map_err(|e| Error::io(&args.out, "find", e))?;
    go_to_inputs(run);
    let mut options = again(run.clone(), &page, machine, &args.talk)?;
    if let Some(from) = &args.from {
        options.report_from = Some(report_from("--from", from, &options.config)?);
    }
    if !args.by.is_empty() {
        Observation::new("--by", &args.by, &options.config.input)?;
        options.report_by.clone_from(&args.by);
    }
    let collections = open_collections(&options.against)?;
    check_commits(run, &collections)?;
    let done = dedup::run_as(&options, &collections, job).map_err(|error| gone(run, error))?;
    if let Some((summary, _)) = done {
        tell_of_page(args, summary.documents, summary.removed);
    }
    Ok(ExitCode::SUCCESS)
}

/// Gathers what the page says; and how many keys were ignored as common.
fn report(
    args: &ReportPageArgs,
    snapshot: &Snapshot,
    machine: Machine,
    progress: &Arc<Progress>,
) -> Result<(RunReport, u64)> {
    let scratch = Scratch::beside(&args.at.folder, &std::env::temp_dir())?;
    let again = |overrides: QueryOverrides, pairs| {
        let asked = RecomputeRequest { overrides, pairs, resources: machine.resources(scratch.path(), None) };
        snapshot.recompute_with_origins(asked, Arc::clone(progress))
    };
    let choice = choice(&args.choices)?;
    let threshold = choice.threshold.unwrap_or(snapshot.manifest().config.threshold);
    let other = |text: &String| -> Result<OtherThresholds> {
        let from = report_from("--from", text, &Config { threshold, ..snapshot.manifest().config.clone() })?;
        let (lowest, documents) = again(QueryOverrides { threshold: Some(from), ..choice.clone() }, true)?;
        with_texts(snapshot, (&lowest, &documents), args, |texts| {
            OtherThresholds::new(&lowest, (from, threshold), texts)
        })
    };
    let other = args.from.as_ref().map(other).transpose()?;
    let (outcome, documents) = again(choice.clone(), false)?;
    let (files, bytes) = Export::new(snapshot, &outcome, &documents).inputs();
    let mut summary = summarise(&Discovery::default(), &outcome, &[])?;
    summary.inputs = InputFigures { files, bytes, text_bytes: outcome.tally.text_bytes };
    let report = with_texts(snapshot, (&outcome, &documents), args, |texts| {
        RunReport::new(ReportRequest {
            subject: args.at.folder.display().to_string(),
            command: typed_command(),
            outcome: &outcome,
            summary: &summary,
            rejected: &[],
            texts,
            other: other.clone(),
        })
    })?;
    Ok((report, outcome.common.keys()))
}

/// Tells something with the texts of documents, or without them where they cannot be had any more.
fn with_texts<T>(
    snapshot: &Snapshot,
    found: (&Outcome, &Replay),
    args: &ReportPageArgs,
    tell: impl Fn(Option<&EachText<'_>>) -> Result<T>,
) -> Result<T> {
    let texts =
        |docs: &[Doc], each: &mut dyn FnMut(Doc, &str) -> Result<()>| snapshot.each_text(found, docs, each);
    match tell(Some(&texts)) {
        Err(why @ Error::Input { .. }) => {
            if !args.talk.quiet && !args.talk.json_progress {
                warn(&format!("the report shows no texts: {why}"));
            }
            tell(None)
        }
        told => told,
    }
}
