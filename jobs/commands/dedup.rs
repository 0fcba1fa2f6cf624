//! `alike dedup`: find the inputs, find their near-duplicates, write what is kept and why the rest is not.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use alike::collection::{Manifest, Snapshot, StoredDocuments};
use alike::config::Config;
use alike::error::{Error, Result};
use alike::flow::{self, Doc, EachText, Outcome, ProtectedSet, Related, Request};
use alike::output::{
    FormChoice, FormPlan, Hands, KeptTally, KindTable, Lists, NoteFile, RecordSet, RunRecord, Side, Summary,
    assist_records, left_out, refuse_undecodable, summarise, write_inputs, write_records,
};
use alike::peers::Peers;
use alike::printable::printable;
use alike::progress::{Progress, Stage};
use alike::read::{Compression, Discovery, RecordRoom, Rejected, Source, admit_read_ahead};
use alike::remote::{Fetched, traffic};
use alike::report::{Glance, OtherThresholds, ReportRequest, RunReport};
use alike::resources::Resources;
use alike::run_lexicon;
use alike::scratch::{Scratch, private_folder};
use alike::system_memory::peak_memory;

use crate::cli::dedup::DedupArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::against::{
    ProtectedCollection, check_protected, configured, find_protected, open_collections, refuse_beyond_stored,
    refuse_unprotected,
};
use crate::session::collection::folder;
use crate::session::finished::record;
use crate::session::inputs::{empty_inputs, find_inputs, preferred_inputs, refuse, set_preferences};
use crate::session::missing_fields::{refuse_missing_within, warn_of_missing_fields};
use crate::session::options::DedupOptions;
use crate::session::page::PagePlace;
use crate::session::run_folder::{RunFolder, close_spool, is_store};
use crate::terminal::display::{Display, Mode};
use crate::terminal::glance::{is_looked_at, show_glance};
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stderr::{warn, warn_as_json};
use crate::terminal::summary::print_summary;

/// Deduplicates as the arguments say and reports on standard error.
pub(crate) fn run(args: DedupArgs, job: &DistributedJob) -> Result<ExitCode> {
    let collections = open_collections(&args.against)?;
    let config = configured(&args.choices, args.choices.lexicon.as_deref(), &collections)?;
    config.require_protected(!args.against.is_empty())?;
    let options = DedupOptions::new(args, config)?;
    let Some((summary, glance)) = run_as(&options, &collections, job)? else { return Ok(PART_DONE) };
    let out = options.out.as_deref().filter(|_| !options.dry_run);
    print_summary(&summary, out, options.quiet, options.json_progress);
    glance.iter().for_each(show_glance);
    Ok(ExitCode::SUCCESS)
}

/// Does a run as it was asked: its figures, and a look at it if anybody looks; nothing where another process leads.
pub(super) fn run_as(
    options: &DedupOptions,
    collections: &[ProtectedCollection],
    job: &DistributedJob,
) -> Result<Option<(Summary, Option<Glance>)>> {
    let begun = Instant::now();
    refuse_beyond_stored(collections, &options.config, options.kinds)?;
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    warn_as_json(options.json_progress);
    let display = Display::start(Arc::clone(&progress), Mode::choose(options.quiet, options.json_progress));
    // It goes only when the other processes know that nothing is written to it any more.
    let (mut place, mut glance) = (None, None);
    let summary = job.work(
        options.machine.workers,
        &progress,
        |peers| dedup((options, collections), begun, (&mut place, &mut glance), (peers.as_ref(), &progress)),
        |peers| assist(options, peers, &progress),
    );
    display.finish();
    Ok(job.print_profile(summary)?.map(|summary| (summary, glance)))
}

/// The pipeline. What is damaged in columns that nobody reads shows where they are written: then all is done again without it.
fn dedup(
    (options, collections): (&DedupOptions, &[ProtectedCollection]),
    begun: Instant,
    (held, glance): (&mut Option<RunFolder>, &mut Option<Glance>),
    (peers, progress): (Option<&Arc<Peers>>, &Arc<Progress>),
) -> Result<Summary> {
    let place = held.insert(RunFolder::new(options.out.as_deref().filter(|_| !options.dry_run))?);
    let spool = private_folder(place.path())?;
    let out = options.out.as_deref().filter(|_| !options.dry_run);
    let page = PagePlace::new(options.report.as_deref(), out)?;
    check_protected(&options.against, &options.inputs)?;
    let preferred = preferred_inputs(&options.prefer, &options.inputs)?;
    let apart = peers.is_some() && (!place.is_seen_by_all() || writes_to_store(options));
    let hint = options.hint.shared_by(apart).within(options.machine.memory);
    let mut discovery = find_inputs(&options.inputs, hint, spool.path(), progress)?;
    if !options.quiet {
        empty_inputs(&discovery, &options.inputs).iter().for_each(|empty| warn(empty));
    }
    FormPlan::new(&discovery.sources, FormChoice { memory: options.machine.memory, ..options.form })?;
    set_preferences(&preferred, &options.inputs, &mut discovery)?;
    let found_as = (hint, spool.path(), &**progress);
    let (protected, stored) = find_protected(&options.against, collections, &mut discovery, found_as)?;
    if let Some(run) = &options.again {
        run.check_inputs(&mut discovery.sources.clone(), true)?;
    }
    let (summary, report) = loop {
        let found = FoundInputs {
            discovery: &discovery,
            protected: &protected,
            stored: &stored,
            preferred: &preferred,
            collections,
            has_page: page.is_some(),
        };
        let mut room = RecordRoom::default();
        let outcome = dedup_found(options, &found, begun, (place, glance, &mut room), (peers, progress));
        let error: Error = match outcome {
            Ok(done) => break done,
            Err(error) => error,
        };
        let own = ProtectedSet::sources_of(&protected);
        let sources = &mut discovery.sources[own..];
        if !refuse_undecodable(&error, sources, options.form, (&room, options.machine.workers), progress)? {
            return Err(error);
        }
        peers.map_or(Ok(()), |peers| peers.broadcast(&NextStep::BeginAgain))?;
        place.clear_but(spool.path())?;
        if let (Error::Undecodable { path, reason }, false) = (&error, options.quiet) {
            let file = printable(&path.to_string_lossy()).into_owned();
            warn(&format!("{file}: {reason}; the run begins again without such rows"));
        }
    };
    page.zip(report).map_or(Ok(()), |(page, report)| page.write(&report, place.path()))?;
    close_spool(spool, place.path())?;
    progress.check()?;
    if let Some(RunFolder::Output(staging)) = held.take() {
        staging.commit(progress)?;
    }
    Ok(summary)
}

/// The inputs of a run, as they were found.
struct FoundInputs<'a> {
    discovery: &'a Discovery,
    protected: &'a [ProtectedSet],
    stored: &'a [(u32, Snapshot)],
    preferred: &'a [String],
    collections: &'a [ProtectedCollection],
    has_page: bool,
}

/// Deduplicates what was found, and writes all but the page about it.
fn dedup_found(
    options: &DedupOptions,
    found: &FoundInputs<'_>,
    begun: Instant,
    (place, glance, room): (&RunFolder, &mut Option<Glance>, &mut RecordRoom),
    (peers, progress): (Option<&Arc<Peers>>, &Arc<Progress>),
) -> Result<(Summary, Option<RunReport>)> {
    let FoundInputs { discovery, preferred, collections, has_page, .. } = *found;
    let (request, other) = requested(options, found, place, (peers, progress))?;
    let mut outcome = flow::run(request, Arc::clone(progress))?;
    *room = outcome.run.documents.inputs.fields.room.clone();
    outcome.findings.keep_per_cluster(options.keep_per_cluster, &outcome.run.documents.catalogue);
    refuse_unprotected(options.refusals, &outcome)?;
    let documents = &outcome.run.documents;
    let first = documents.protected_sources();
    let own = outcome.refused.partition_point(|refused| (refused.position.file() as usize) < first);
    let rejected = discovery.rejected(documents.inputs.rejected(&outcome.refused[own..]));
    refuse(options.refusals, &rejected, outcome.tally.documents)?;
    refuse_missing_within(&outcome, &options.config.input)?;
    let related =
        options.kinds.then(|| Related::of_inputs(&outcome.run.sets, &outcome.findings)).transpose()?;
    let related = related.as_ref();
    let summarised = || -> Result<Summary> {
        let kinds = related.map(|related| KindTable::new(&outcome.findings, related));
        let prefer = preferred.iter().map(|name| RunRecord::kept_name(name)).collect();
        Ok(Summary { kinds, prefer, ..summarise(discovery, &outcome, &rejected)? })
    };
    let report = || {
        RunReport::new(ReportRequest {
            subject: subject(&options.inputs),
            command: options.command.clone(),
            outcome: &outcome,
            summary: &summarised()?,
            rejected: &rejected,
            texts: Some(&|docs, each| each_text(&outcome, progress, docs, each)),
            other,
        })
    };
    let report = has_page.then(report).transpose()?;
    if !options.quiet {
        let by = report.as_ref().map_or(&[][..], |report| &report.fields);
        warn_of_missing_fields(&outcome, &summarised()?, by);
    }
    if is_looked_at(options.quiet, options.json_progress) {
        *glance = Some(look_at(&outcome, progress)?);
    }
    let written = || peers.map_or(Ok(()), |peers| peers.broadcast(&NextStep::End));
    let RunFolder::Output(staging) = place else {
        written()?;
        let peers = peers.map(|peers| &**peers);
        let fetched = fetched(&discovery.sources, peers)?;
        return Ok((finish(options, begun, peers, Summary { fetched, ..summarised()? }), report));
    };
    let run = &outcome.run;
    let bytes: u64 = run.documents.own_sources().iter().map(|source| source.bytes).sum();
    run.context.status.enter(Stage::Write, bytes * options.sides().len() as u64);
    let lists = Lists::new(&outcome).with_kinds(related).written_as(options.lists);
    let peers = peers.map(|peers| &**peers);
    let halves = write(options, (&outcome, &lists), staging.path(), &rejected, (peers, progress))?;
    written()?;
    let mut summary = summarised()?;
    options.sides().iter().zip(&halves).for_each(|(side, half)| summary.set_bytes(*side, half.bytes_out));
    summary.fetched = fetched(&discovery.sources, peers)?;
    let run = options.out.as_ref().map(|_| record(options, preferred, collections));
    let summary = Summary { run, ..finish(options, begun, peers, summary) };
    write_inputs(staging.path(), documents)?;
    summary.write(staging.path())?;
    Ok((summary, report))
}

/// The run that is asked for, told to the other processes; and what other thresholds come to, if that was asked.
fn requested(
    options: &DedupOptions,
    found: &FoundInputs<'_>,
    place: &RunFolder,
    (peers, progress): (Option<&Arc<Peers>>, &Arc<Progress>),
) -> Result<(Request, Option<OtherThresholds>)> {
    let FoundInputs { discovery, protected, stored, .. } = *found;
    let mut config = options.config.clone();
    let counting = options.machine.resources(place.path(), None);
    let named = options.lexicon.as_deref();
    // Stored documents were sketched by the lexicon of their collection.
    let lexicon = match stored.is_empty() {
        true => run_lexicon(&mut config, named, &discovery.sources, &counting, progress)?,
        false => None,
    };
    let protected = protected.to_vec();
    let task = DedupTask { sources: discovery.sources.clone(), protected, stored: Vec::new(), config };
    if let Some(peers) = peers {
        let sources = Source::all_from_anywhere(&discovery.sources)?;
        let stored = stored.iter().map(|(file, snapshot)| (*file, snapshot.manifest().clone())).collect();
        peers.broadcast(&DedupTask { sources, stored, ..task.clone() })?;
    }
    let with = || options.machine.resources(place.path(), peers.cloned());
    let lowest = lowest(options, &task, stored, with(), progress)?;
    let other = lowest.map(|request| other_thresholds(options, request, progress)).transpose()?;
    let observation = options.observation()?;
    let request = Request { lexicon, observation, ..request(options, task, stored, with(), progress)? };
    Ok((request, other))
}

/// The run that tells what thresholds below that of `options` come to, if it was asked for.
fn lowest(
    options: &DedupOptions,
    task: &DedupTask,
    stored: &[(u32, Snapshot)],
    resources: Resources,
    progress: &Progress,
) -> Result<Option<Request>> {
    let Some(threshold) = options.report_from else { return Ok(None) };
    let task = DedupTask { config: Config { threshold, ..task.config.clone() }, ..task.clone() };
    let request = request(options, task, stored, resources, progress)?;
    Ok(Some(Request { pairs: true, ..request }))
}

/// What other thresholds come to. Nothing is left of the run that tells it.
fn other_thresholds(
    options: &DedupOptions,
    request: Request,
    progress: &Arc<Progress>,
) -> Result<OtherThresholds> {
    let thresholds = (request.config.threshold, options.config.threshold);
    let lowest = flow::run(request, Arc::clone(progress))?;
    OtherThresholds::new(&lowest, thresholds, Some(&|docs, each| each_text(&lowest, progress, docs, each)))
}

/// Hands on texts of a run as they stand in its inputs; not those of stored documents.
fn each_text(
    outcome: &Outcome,
    progress: &Progress,
    docs: &[Doc],
    each: &mut dyn FnMut(Doc, &str) -> Result<()>,
) -> Result<()> {
    let documents = &outcome.run.documents;
    let read: Vec<Doc> = docs.iter().copied().filter(|doc| !documents.is_stored(*doc)).collect();
    documents.each_text(&read, progress, &mut |doc, text, _| each(doc, text))
}

/// What the terminal shows of a run. Texts that lie behind others, or elsewhere, are not fetched for it.
fn look_at(outcome: &Outcome, progress: &Progress) -> Result<Glance> {
    let sources = outcome.run.documents.own_sources();
    let at_hand = sources.iter().all(|source| source.compression == Compression::None && !source.is_remote());
    let texts: &EachText<'_> = &|docs, each| each_text(outcome, progress, docs, each);
    Glance::new(outcome, at_hand.then_some(texts))
}

/// What a report is about.
fn subject(inputs: &[PathBuf]) -> String {
    let shown = inputs.iter().take(NAMED).map(|path| RunRecord::kept_name(&path.display().to_string()));
    let more = inputs.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// Inputs that a report names in its title.
const NAMED: usize = 3;

/// Writes the lists and the records, side by side where there is more than one worker.
fn write(
    options: &DedupOptions,
    (outcome, found): (&Outcome, &Lists<'_>),
    folder: &Path,
    rejected: &[Rejected],
    (peers, progress): (Option<&Peers>, &Progress),
) -> Result<Vec<KeptTally>> {
    let run = &outcome.run;
    let lists = || found.write(folder, rejected);
    // The others do not see the folder of what goes to a store.
    let peers = peers.filter(|_| !writes_to_store(options));
    let hands = Hands { workers: run.context.topology.workers(), peers };
    let annotate = || options.form.annotate.then(|| NoteFile::write(folder, outcome)).transpose();
    let inputs = &run.documents.inputs;
    let set =
        RecordSet { sources: run.documents.own_sources(), fields: &inputs.fields, choice: options.form };
    let half = |side: Side, notes: Option<&NoteFile>| {
        peers.map_or(Ok(()), |peers| peers.broadcast(&NextStep::Write))?;
        let left_out = left_out(outcome, side, |at| set.retypes(at));
        write_records(folder, set, left_out.chosen(side), notes, hands, progress)
    };
    let kept = || -> Result<Vec<KeptTally>> {
        let notes = annotate()?;
        let halves = options.sides().iter().map(|side| half(*side, notes.as_ref())).collect();
        notes.map_or(Ok(()), NoteFile::remove).and(halves)
    };
    if run.context.topology.all() == 1 {
        return lists().and_then(|()| kept());
    }
    let (lists, kept) = std::thread::scope(|scope| {
        let lists = scope.spawn(lists);
        let kept = kept();
        (
            lists
                .join()
                .unwrap_or_else(|_| Err(Error::Worker("the thread that writes lists panicked".into()))),
            kept,
        )
    });
    lists.and(kept)
}

/// What process 0 has found out, for the others.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct DedupTask {
    sources: Vec<Source>,
    protected: Vec<ProtectedSet>,
    /// Commits of collections, each with the number of the source that is its folder.
    stored: Vec<(u32, Manifest)>,
    config: Config,
}

/// What the others do when they have found out with process 0 what is kept.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
enum NextStep {
    /// Take part in writing records of one side.
    Write,
    /// All again, as some rows cannot be decoded: the inputs without these come next.
    BeginAgain,
    /// Nothing more.
    End,
}

/// Takes part in what process 0 deduplicates.
fn assist(options: &DedupOptions, peers: &Arc<Peers>, progress: &Arc<Progress>) -> Result<()> {
    let scratch = Scratch::apart(&std::env::temp_dir())?;
    loop {
        let (sources, again) = assist_once(options, scratch.path(), peers, progress)?;
        if !again {
            return fetched(&sources, Some(peers)).map(drop);
        }
    }
}

/// The same until writing has ended; the sources, and whether all begins again.
fn assist_once(
    options: &DedupOptions,
    scratch: &Path,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<(Vec<Source>, bool)> {
    let mut task: DedupTask = peers.receive()?;
    let place = (progress.stop_flag(), scratch);
    admit_read_ahead(&mut task.sources, options.machine.memory, options.machine.workers, place);
    let sources = task.sources.clone();
    let own = ProtectedSet::sources_of(&task.protected);
    let open = |(file, manifest): &(u32, Manifest)| {
        let snapshot = Snapshot::ahead_of(&folder(&sources[*file as usize].path)?, manifest.clone())?;
        Ok((*file, snapshot))
    };
    let stored = task.stored.iter().map(open).collect::<Result<Vec<_>>>()?;
    let with = || options.machine.resources(scratch, Some(Arc::clone(peers)));
    if let Some(lowest) = lowest(options, &task, &stored, with(), progress)? {
        flow::assist(lowest, Arc::clone(progress))?;
    }
    let request = request(options, task, &stored, with(), progress)?;
    let request = Request { observation: options.observation()?, ..request };
    let fields = flow::assist(request, Arc::clone(progress))?;
    let set = RecordSet { sources: &sources[own..], fields: &fields, choice: options.form };
    loop {
        match peers.receive()? {
            NextStep::Write => {
                progress.enter(Stage::Write, 0);
                assist_records(set, options.machine.workers, peers, progress)?;
            }
            NextStep::BeginAgain => return Ok((sources, true)),
            NextStep::End => return Ok((sources, false)),
        }
    }
}

fn writes_to_store(options: &DedupOptions) -> bool {
    options.out.as_deref().is_some_and(is_store)
}

/// What all processes have fetched, if any of the inputs is an object.
fn fetched(sources: &[Source], peers: Option<&Peers>) -> Result<Option<Fetched>> {
    if !sources.iter().any(Source::is_remote) {
        return Ok(None);
    }
    let own = traffic();
    let others = peers.map(|peers| peers.gather(&own)).transpose()?.unwrap_or_else(|| vec![own]);
    let sum = |sum: Fetched, of: Fetched| Fetched {
        requests: sum.requests + of.requests,
        bytes: sum.bytes + of.bytes,
    };
    Ok(Some(others.into_iter().fold(Fetched::default(), sum)))
}

/// What the dataflow is asked for, with the documents of protected collections.
fn request(
    options: &DedupOptions,
    task: DedupTask,
    stored: &[(u32, Snapshot)],
    mut resources: Resources,
    progress: &Progress,
) -> Result<Request> {
    let StoredDocuments { replays, tables } = StoredDocuments::read(stored, &mut resources, progress)?;
    Ok(Request {
        protected: task.protected,
        pairs: options.pairs,
        replays,
        frozen_tables: tables,
        ..Request::new(task.sources, task.config, resources)
    })
}

fn finish(options: &DedupOptions, begun: Instant, peers: Option<&Peers>, mut summary: Summary) -> Summary {
    summary.processes = peers.map(|peers| peers.mesh().processes());
    summary.wire_bytes = peers.map(Peers::wire_bytes);
    summary.memory_limit_bytes = options.machine.memory;
    summary.report = options.report.as_ref().map(|page| page.display().to_string());
    summary.form = Some(options.form).filter(|form| *form != FormChoice::default());
    summary.keep_per_cluster = Some(options.keep_per_cluster).filter(|most| *most > 1);
    summary.peak_memory_bytes = peak_memory();
    summary.set_seconds(begun.elapsed().as_secs_f64());
    summary
}
