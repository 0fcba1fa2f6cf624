//! `alike decontaminate`: find items of benchmarks in a corpus, and write the corpus without them.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use alike::config::Input;
use alike::decontaminate::{
    BenchmarkIndex, BenchmarkSet, ContaminationRule, CorpusAction, CorpusFindings, CorpusSearch,
    DecontaminationReport, ItemFields, RowNames, assist_search, read_benchmarks, search,
};
use alike::error::{Error, Result};
use alike::limits::{BASE_MEMORY, LISTED_ITEMS, WORKER_MEMORY};
use alike::output::{
    FindingFiles, FormChoice, FormPlan, Hands, LeftOut, RecordSet, Side, TextChange, assist_records,
    write_cut_records, write_records,
};
use alike::peers::Peers;
use alike::printable::{counted, printable};
use alike::progress::{Progress, Stage};
use alike::read::{Rejected, Source, admit_windows};
use alike::scratch::private_folder;
use alike::system_memory::peak_memory;

use crate::cli::decontaminate::DecontaminateArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::decontamination::DecontaminateOptions;
use crate::session::decontamination::benchmarks::{FoundBenchmarks, find_benchmarks};
use crate::session::inputs::{find_inputs, refuse, warn_of_no_words, warn_of_unused};
use crate::session::run_folder::{RunFolder, close_spool, write_rejected};
use crate::session::watched::watched_job;
use crate::terminal::data::table::TextTable;
use crate::terminal::reporter::Reporter;

/// What process 0 has found out, for the others.
#[derive(serde::Serialize, serde::Deserialize)]
struct DecontaminationTask {
    sets: Vec<BenchmarkSet>,
    benchmarks: Vec<Source>,
    corpus: Vec<Source>,
    fields: ItemFields,
    rule: ContaminationRule,
    input: Input,
    /// Where what is found is kept, if anything is written.
    folder: Option<std::path::PathBuf>,
}

/// Decontaminates, and reports.
pub(crate) fn run(args: &DecontaminateArgs, job: &DistributedJob) -> Result<ExitCode> {
    let begun = Instant::now();
    let options = DecontaminateOptions::new(args)?;
    let reporter = Reporter::new(&args.work.report);
    // It goes only when the other processes know that nothing is written to it any more.
    let mut place = None;
    let lead = |peers: Option<&Arc<Peers>>, progress: &Arc<Progress>| {
        lead(&options, &mut place, peers, &reporter, progress)
    };
    let assist = |peers: &Arc<Peers>, progress: &Arc<Progress>| take_part(&options, peers, progress);
    let done = watched_job(job, &args.work.report.talk, options.machine.workers, lead, assist)?;
    let Some(report) = done else { return Ok(PART_DONE) };
    let seconds = begun.elapsed().as_secs_f64();
    describe(&report, &options, seconds, &reporter);
    warn_of_no_words(&reporter, report.empty, report.documents);
    let mut object = report.to_json()?;
    object["workers"] = options.machine.workers.into();
    object["seconds"] = seconds.into();
    object["peak_memory_bytes"] = peak_memory().into();
    reporter.object(&object)
}

/// The pipeline: where this process is alone, or process 0.
fn lead(
    options: &DecontaminateOptions,
    held: &mut Option<RunFolder>,
    peers: Option<&Arc<Peers>>,
    reporter: &Reporter<'_>,
    progress: &Arc<Progress>,
) -> Result<DecontaminationReport> {
    let place = held.insert(RunFolder::of_all(options.out.as_deref(), peers.map(|peers| &**peers))?);
    let spool = private_folder(place.path())?;
    let hint =
        options.hint.shared_by(peers.is_some() && !place.is_seen_by_all()).within(options.machine.memory);
    let mut corpus = find_inputs(&options.corpus, hint, spool.path(), progress)?;
    FormPlan::new(&corpus.sources, FormChoice { memory: options.machine.memory, ..options.form })?;
    let found_as = (hint, spool.path(), &**progress);
    let FoundBenchmarks { sets, sources, mut skipped } =
        find_benchmarks(&options.benchmarks, &corpus, found_as)?;
    corpus.skipped.append(&mut skipped);
    warn_of_unused(reporter, &corpus, &options.corpus);
    let folder = options.out.is_some().then(|| std::path::absolute(place.path())).transpose();
    let task = DecontaminationTask {
        sets,
        benchmarks: Source::all_from_anywhere(&sources)?,
        corpus: Source::all_from_anywhere(&corpus.sources)?,
        fields: options.fields.clone(),
        rule: options.rule,
        input: options.input.clone(),
        folder: folder.map_err(|e| Error::io(place.path(), "find", e))?,
    };
    peers.map_or(Ok(()), |peers| peers.broadcast(&task))?;
    let peers = peers.map(|peers| &**peers);
    let corpus_search = corpus_search(options, &task, peers);
    let index = index(options, &task, &corpus_search, progress)?;
    let found = search(&index, &corpus_search, progress)?;
    found.inputs.refuse_gaps(&found.refusals)?;
    let rejected = corpus.rejected(found.refused.clone());
    reporter.refused(&rejected);
    refuse(options.refusals, &rejected, found.tally.documents)?;
    let report = DecontaminationReport::new(
        (&options.fields, options.rule, options.action),
        &index,
        &found,
        &rejected,
    );
    if let RunFolder::Output(staging) = place {
        let names = RowNames { index: &index, benchmarks: &sources, fields: &options.fields };
        write(options, (found, &names), staging.path(), &rejected, (peers, progress))?;
        report.write(staging.path())?;
    }
    close_spool(spool, place.path())?;
    progress.check()?;
    if let Some(RunFolder::Output(staging)) = held.take() {
        staging.commit(progress)?;
    }
    Ok(report)
}

/// Writes what was found, and the records.
fn write(
    options: &DecontaminateOptions,
    (found, names): (CorpusFindings, &RowNames<'_>),
    folder: &Path,
    rejected: &[Rejected],
    (peers, progress): (Option<&Peers>, &Progress),
) -> Result<()> {
    let bytes: u64 = found.inputs.sources.iter().map(|source| source.bytes).sum();
    progress.enter(Stage::Write, bytes * options.sides().len() as u64);
    names.write(&found, folder)?;
    write_rejected(folder, rejected)?;
    let inputs = &found.inputs;
    let set = RecordSet { sources: &inputs.sources, fields: &inputs.fields, choice: options.form };
    let hands = Hands { workers: options.machine.workers, peers };
    let refused =
        |left_out: LeftOut, side: Side| left_out.and_refused(&found.refusals, 0, side, |at| set.retypes(at));
    if options.form.texts != TextChange::None {
        let [side] = options.sides() else { return Ok(()) };
        let left_out = refused(LeftOut::nothing(inputs.sources.len()), *side);
        let cuts = found.cuts(folder)?;
        write_cut_records(folder, set, left_out.chosen(*side), &cuts, hands, progress)?;
        cuts.remove()?;
    } else {
        let contaminated = found.contaminated()?;
        for side in options.sides() {
            let left_out = refused(contaminated.clone(), *side);
            write_records(folder, set, left_out.chosen(*side), None, hands, progress)?;
        }
    }
    found.hits.map_or(Ok(()), FindingFiles::remove)
}

/// Takes part in what process 0 does.
fn take_part(options: &DecontaminateOptions, peers: &Arc<Peers>, progress: &Arc<Progress>) -> Result<()> {
    let task: DecontaminationTask = peers.receive()?;
    let corpus_search = corpus_search(options, &task, Some(peers));
    let index = index(options, &task, &corpus_search, progress)?;
    let inputs = assist_search(&index, &corpus_search, progress)?;
    if !options.sides().is_empty() {
        progress.enter(Stage::Write, 0);
        let set = RecordSet { sources: &inputs.sources, fields: &inputs.fields, choice: options.form };
        let assist = |_: &Side| assist_records(set, options.machine.workers, peers, progress);
        options.sides().iter().try_for_each(assist)?;
    }
    Ok(())
}

fn index(
    options: &DecontaminateOptions,
    task: &DecontaminationTask,
    corpus: &CorpusSearch<'_>,
    progress: &Arc<Progress>,
) -> Result<BenchmarkIndex> {
    let own = BASE_MEMORY + WORKER_MEMORY * options.machine.workers as u64;
    let most = options.machine.memory.map_or(u64::MAX, |memory| memory.saturating_sub(own));
    let mut benchmarks = task.benchmarks.clone();
    admit_windows(&mut benchmarks, options.machine.memory, 1)?;
    let what = (&*task.sets, &*benchmarks);
    let rule = (&task.fields, task.rule);
    let mut index = read_benchmarks(what, rule, (options.refusals.percent(), most), progress)?;
    index.leave_out_common(corpus, progress)?;
    Ok(index)
}

fn corpus_search<'a>(
    options: &DecontaminateOptions,
    task: &'a DecontaminationTask,
    peers: Option<&'a Peers>,
) -> CorpusSearch<'a> {
    CorpusSearch {
        sources: &task.corpus,
        input: &task.input,
        workers: options.machine.workers,
        simd: options.machine.simd,
        memory: options.machine.memory,
        peers,
        folder: task.folder.as_deref(),
    }
}

/// Tells people what was found.
fn describe(
    report: &DecontaminationReport,
    options: &DecontaminateOptions,
    seconds: f64,
    reporter: &Reporter<'_>,
) {
    let out = options.out.as_deref();
    let rows = report.benchmarks.iter().map(|row| {
        let name = printable(&row.benchmark).into_owned();
        let shares = row.shares.map(|shares| [shares.not_clean, shares.dirty]);
        let numbers = [row.items, row.too_short, row.found, row.documents].into_iter();
        let numbers = numbers.chain(shares.into_iter().flatten()).map(|number| number.to_string());
        [name].into_iter().chain(numbers).collect()
    });
    let mut heading = vec!["benchmark", "items", "too short", "found", "documents"];
    if report.rule.shares {
        heading.extend(["20 %", "80 %"]);
    }
    let table = TextTable { heading, rows: rows.collect() };
    table.text().lines().for_each(|line| reporter.line(line));
    let (documents, passages) = (counted(report.documents, "document"), counted(report.passages, "passage"));
    let folder = if options.action == CorpusAction::Mark { Side::Annotated } else { Side::Kept }.folder();
    let what = match out {
        Some(out) if options.action == CorpusAction::List => format!("lists in {}", out.display()),
        None if options.action == CorpusAction::List => "dry run, nothing written".to_owned(),
        Some(out) => format!("{} kept in {}/{folder}", report.kept, out.display()),
        None => format!("{} would be kept (dry run, nothing written)", report.kept),
    };
    reporter.line(&format!(
        "found items in {} of {documents}: {passages}; {what}; {seconds:.2} seconds",
        report.contaminated
    ));
    if let (Some(most), Some(common @ 1..)) = (report.rule.max_documents, report.common_ngrams) {
        let (common, documents) = (counted(common, "n-gram"), counted(u64::from(most), "document"));
        reporter.line(&format!("left alone: {common} in more than {documents} each"));
    }
    if report.unlisted > 0 && out.is_some() {
        reporter.line(&format!(
            "contaminated.jsonl has the {LISTED_ITEMS} items of a document of which most stands in it; {} are only counted",
            counted(report.unlisted, "more item")
        ));
    }
    if report.documents == 0 {
        reporter.warning("the corpus holds no documents; check its files");
    }
    for row in report.benchmarks.iter().filter(|row| row.too_short == row.items) {
        let name = printable(&row.benchmark);
        let (least, remedy) = (report.rule.least(), report.rule.remedy());
        reporter.warning(&format!(
            "{name}: no item has {least}, so nothing is looked for; name other fields, {remedy}"
        ));
    }
}
