//! `alike passages`: which passages are repeated within and between documents, and the records without them.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use alike::config::{Config, Fold, Input};
use alike::error::{Error, Result};
use alike::output::{
    CutWriter, FormChoice, FormPlan, Hands, KeptTally, LeftOut, RecordSet, Rows, Side, TextChange,
    assist_records, write_cut_records,
};
use alike::passages::{FoundPassages, PassageRequest, PassageUnit, assist_passages, find_passages};
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::{Progress, Stage};
use alike::read::{Rejected, Source};
use alike::scratch::{Scratch, private_folder};
use serde_json::{Value, json};

use crate::cli::passages::{ActionArg, PassagesArgs};
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::inputs::{find_inputs, refuse, warn_of_no_documents, warn_of_no_words, warn_of_unused};
use crate::session::options::{Machine, asked_fold, records};
use crate::session::run_folder::{RunFolder, add_effort, close_spool, write_rejected};
use crate::session::watched::watched_job;
use crate::terminal::reporter::Reporter;

/// Passages that people are shown.
const SHOWN: usize = 5;
/// Characters of them.
const SHOWN_CHARS: usize = 70;

/// What process 0 has found out, for the others.
#[derive(serde::Serialize, serde::Deserialize)]
struct PassageTask {
    sources: Vec<Source>,
    input: Input,
    unit: PassageUnit,
    min_words: u64,
    fold: Fold,
    /// Where process 0 works, which all see if anything is written.
    folder: std::path::PathBuf,
}

pub(crate) fn run(args: &PassagesArgs, job: &DistributedJob) -> Result<ExitCode> {
    let begun = Instant::now();
    let machine = Machine::new(&args.work.machine)?;
    let reporter = Reporter::new(&args.work.report);
    // It goes only when the other processes know that nothing is written to it any more.
    let (mut place, mut status) = (None, Arc::default());
    let lead = |peers: Option<&Arc<Peers>>, progress: &Arc<Progress>| {
        status = Arc::clone(progress);
        lead(args, machine, &mut place, &reporter, (peers, progress))
    };
    let assist = |peers: &Arc<Peers>, progress: &Arc<Progress>| take_part(args, machine, peers, progress);
    let done = watched_job(job, &args.work.report.talk, machine.workers, lead, assist)?;
    let Some(mut done) = done else { return Ok(PART_DONE) };
    let read = &done.found.read;
    add_effort(&mut done.report, begun, read.text_bytes);
    if args.work.writes(&args.out).is_none() {
        done.report["top"] = json!(done.found.top);
    }
    place.take().map_or(Ok(()), |place| place.finish(&done.report, &status))?;
    done.tell(args, &reporter);
    let wordless = if done.found.read.text_bytes == 0 { done.found.read.documents } else { 0 };
    warn_of_no_words(&reporter, wordless, done.found.read.documents);
    warn_of_no_documents(&reporter, done.found.read.documents);
    reporter.object(&done.report)
}

/// What came of it.
struct Done {
    found: FoundPassages,
    rejected: Vec<Rejected>,
    kept: Option<KeptTally>,
    report: Value,
}

fn choice(args: &PassagesArgs) -> FormChoice {
    let texts = match args.action {
        ActionArg::List => TextChange::None,
        ActionArg::Cut => TextChange::Cut,
        ActionArg::Mark => TextChange::Mark,
    };
    FormChoice { form: args.work.to, texts, ..FormChoice::default() }
}

/// Where texts and ids stand in records.
fn input(args: &PassagesArgs) -> Result<Input> {
    let mut config = Config::default();
    records(&mut config.input, &args.records);
    config.validate()?;
    Ok(config.input)
}

/// Finds and writes: where this process is alone, or process 0.
fn lead(
    args: &PassagesArgs,
    machine: Machine,
    held: &mut Option<RunFolder>,
    reporter: &Reporter<'_>,
    (peers, progress): (Option<&Arc<Peers>>, &Arc<Progress>),
) -> Result<Done> {
    let writes = args.action != ActionArg::List && !args.work.dry_run;
    if args.action == ActionArg::List && args.work.to.is_some() {
        return Err(Error::config("--to is of records that are written; add --action cut or --action mark"));
    }
    let place = held.insert(RunFolder::of_all(args.work.writes(&args.out), peers.map(|peers| &**peers))?);
    let spool = private_folder(place.path())?;
    let input = input(args)?;
    let fold = asked_fold(&args.fold)?.unwrap_or_default();
    let apart = peers.is_some() && !place.is_seen_by_all();
    let hint = args.records.form.hint(&input).shared_by(apart).within(machine.memory);
    let discovery = find_inputs(&args.inputs, hint, spool.path(), progress)?;
    warn_of_unused(reporter, &discovery, &args.inputs);
    if writes {
        let choice = FormChoice { memory: machine.memory, ..choice(args) };
        FormPlan::new(&discovery.sources, choice)?;
    }
    let task = |sources: Vec<Source>| PassageTask {
        sources,
        input: input.clone(),
        unit: args.unit,
        min_words: args.min_words,
        fold,
        folder: place.path().to_path_buf(),
    };
    if let Some(peers) = peers {
        let sources = Source::all_from_anywhere(&discovery.sources)?;
        peers.broadcast(&task(sources))?;
    }
    let request = request(task(discovery.sources.clone()), machine, spool.path(), peers);
    let cuts = writes.then(|| CutWriter::new(place.path())).transpose()?;
    let found = find_passages(&request, args.top, cuts, progress)?;
    let rejected = discovery.rejected(found.refused.clone());
    reporter.refused(&rejected);
    refuse(args.records.refusals, &rejected, found.read.documents)?;
    let peers = peers.map(|peers| &**peers);
    let mut done = Done { found, rejected, kept: None, report: Value::Null };
    if let RunFolder::Output(staging) = place {
        write_lists(staging.path(), &done)?;
        if let Some(cuts) = done.found.cuts.take() {
            let bytes = request.sources.iter().map(|source| source.bytes).sum();
            progress.enter(Stage::Write, bytes);
            let set =
                RecordSet { sources: &request.sources, fields: &done.found.fields, choice: choice(args) };
            let left_out = LeftOut::nothing(set.sources.len());
            let side = if args.action == ActionArg::Mark { Side::Annotated } else { Side::Kept };
            let chosen = left_out.chosen(side);
            let hands = Hands { workers: machine.workers, peers };
            done.kept = Some(write_cut_records(staging.path(), set, chosen, &cuts, hands, progress)?);
            cuts.remove()?;
        }
    }
    close_spool(spool, place.path())?;
    done.report = report(args, &request, &done, peers);
    progress.check()?;
    Ok(done)
}

/// Takes part in what process 0 does.
fn take_part(
    args: &PassagesArgs,
    machine: Machine,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let scratch = Scratch::apart(&std::env::temp_dir())?;
    let task: PassageTask = peers.receive()?;
    let request = request(task, machine, scratch.path(), Some(peers));
    let fields = assist_passages(&request, progress)?;
    if args.action != ActionArg::List && !args.work.dry_run {
        progress.enter(Stage::Write, 0);
        let set = RecordSet { sources: &request.sources, fields: &fields, choice: choice(args) };
        assist_records(set, machine.workers, peers, progress)?;
    }
    Ok(())
}

fn request(
    task: PassageTask,
    machine: Machine,
    scratch: &Path,
    peers: Option<&Arc<Peers>>,
) -> PassageRequest {
    PassageRequest {
        sources: task.sources,
        input: task.input,
        unit: task.unit,
        min_words: task.min_words,
        fold: task.fold,
        resources: machine.resources(scratch, peers.cloned()),
    }
}

/// The passages that are repeated most, and what was refused.
fn write_lists(folder: &Path, done: &Done) -> Result<()> {
    let mut rows = Rows::create(folder, "passages.jsonl")?;
    done.found.top.iter().try_for_each(|passage| rows.write(passage))?;
    rows.finish()?;
    write_rejected(folder, &done.rejected)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e6).round() / 1e6 }
}

/// The summary.
fn report(args: &PassagesArgs, request: &PassageRequest, done: &Done, peers: Option<&Peers>) -> Value {
    let FoundPassages { read, repeats, .. } = &done.found;
    let mut report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "unit": args.unit.to_string(),
        "min_words": args.min_words,
        "fold": request.fold,
        "action": format!("{:?}", args.action).to_lowercase(),
        "files": request.sources.len(),
        "bytes": request.sources.iter().map(|source| source.bytes).sum::<u64>(),
        "documents": read.documents,
        "rejected": Rejected::records(&done.rejected),
        "text_bytes": read.text_bytes,
        "pieces": read.pieces,
        "repeated": read.repeated,
        "occurrences": read.occurrences,
        "passages": repeats.passages,
        "documents_with_repeats": repeats.documents,
        "repeated_bytes": repeats.repeated_bytes,
        "repeated_share": share(repeats.repeated_bytes, read.text_bytes),
        "documents_with_cuts": repeats.later_documents,
        "cut_bytes": repeats.later_bytes,
        "cut_share": share(repeats.later_bytes, read.text_bytes),
        "workers": request.resources.workers,
    });
    if let Some(kept) = done.kept {
        report["emptied"] = kept.emptied.into();
        report["written_files"] = kept.files.into();
        report["written_bytes"] = kept.bytes_out.into();
    }
    if let Some(peers) = peers {
        report["processes"] = peers.mesh().processes().into();
    }
    report
}

impl Done {
    fn tell(&self, args: &PassagesArgs, reporter: &Reporter<'_>) {
        let FoundPassages { read, repeats, top, .. } = &self.found;
        let percent = |part: u64| format!("{:.1} %", 100.0 * share(part, read.text_bytes));
        reporter.line(&format!(
            "{} repeated in {} of {}: {} of the text, {} without the first of each",
            counted(repeats.passages, "passage"),
            repeats.documents,
            counted(read.documents, "document"),
            percent(repeats.repeated_bytes),
            percent(repeats.later_bytes),
        ));
        for passage in top.iter().take(SHOWN) {
            let text: String = passage.text.chars().take(SHOWN_CHARS).collect();
            let text = text.trim_end();
            let times = counted(passage.count, "time");
            reporter.line(&format!("{times} in {}: {text}", counted(passage.documents, "document")));
        }
        let done = match (args.work.dry_run, args.action) {
            (true, ActionArg::List) => "nothing written (dry run)".to_owned(),
            (true, _) => format!(
                "would change {} (dry run, nothing written)",
                counted(repeats.later_documents, "document")
            ),
            (false, ActionArg::List) => "all documents left as they are".to_owned(),
            (false, ActionArg::Cut) => format!(
                "cut {} out of {}; {} left without text, not written",
                counted(repeats.later_bytes, "byte"),
                counted(repeats.later_documents, "document"),
                counted(self.kept.map_or(0, |kept| kept.emptied), "document")
            ),
            (false, ActionArg::Mark) => format!("marked {}", counted(repeats.later_documents, "document")),
        };
        let out = args.work.writes(&args.out);
        reporter.line(&out.map_or(done.clone(), |out| format!("{done}: {}", out.display())));
    }
}
