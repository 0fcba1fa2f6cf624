//! `alike delete`: documents of a collection gone by their ids. It is a load of deletions.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Batch, CommitCommand, Report, Writer, release_followers};
use alike::error::{Error, Result};
use alike::limits::MAX_VALUE_BYTES;
use alike::peers::Peers;
use alike::progress::Progress;
use alike::read::{FormatHint, Rejected};
use alike::scratch::Scratch;

use crate::cli::collections::DeleteArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::commands::collection::waiting::patiently;
use crate::session::commit::{
    ABOVE, assist, commit, foreseen, refuse_dry_run, refuse_mass_deletion, unfinished, with_retain,
};
use crate::session::inputs::{each_listed_id, find_inputs, refuse_any};
use crate::session::load_report::{AgainstReport, report_load, unknown};
use crate::session::options::{Machine, components, epoch};
use crate::session::target::opened;
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;

pub(crate) fn run(args: &DeleteArgs, job: &DistributedJob) -> Result<ExitCode> {
    let machine = Machine::new(&args.change.machine)?;
    let epoch_bytes = epoch(args.change.epoch.as_deref())?;
    refuse_dry_run(args.change.dry_run, job)?;
    let reporter = Reporter::new(&args.change.report);
    // Before Ctrl-C is caught: standard input may be silent for ever, and nothing is lost yet.
    let mut prepared =
        job.is_alone().then(|| PreparedDelete::new(args, None, &Progress::default())).transpose()?;
    let work = |progress: &Arc<Progress>| {
        let lead = |peers: Option<Arc<Peers>>| {
            let prepared =
                prepared.take().map_or_else(|| PreparedDelete::new(args, peers.as_deref(), progress), Ok)?;
            lead(args, prepared, (machine, epoch_bytes, peers), &reporter, progress)
        };
        let assist = |peers: &Arc<Peers>| assist(&args.at.collection, machine, peers, progress);
        job.work(machine.workers, progress, lead, assist)
    };
    let report = job.print_profile(watched(&args.change.report.talk, work))?;
    let Some(report) = report else { return Ok(PART_DONE) };
    report_load(&reporter, &args.at.collection, &report, (&AgainstReport::default(), 0), args.change.dry_run)
}

/// A deletion that can begin: the collection, open, and what is to be deleted, if it is anything, in a file.
struct PreparedDelete {
    writer: Writer,
    scratch: Scratch,
    any: bool,
}

impl PreparedDelete {
    fn new(args: &DeleteArgs, peers: Option<&Peers>, progress: &Progress) -> Result<PreparedDelete> {
        let scratch = Scratch::beside(&args.at.collection, &std::env::temp_dir())?;
        let above = args.change.dry_run.then(|| scratch.path().join(ABOVE));
        let open = || opened(&args.at, above.as_deref(), peers);
        let writer = patiently(args.change.wait, &args.change.report.talk, progress, open)?;
        let field = &writer.snapshot().manifest().config.input.id_field;
        let any = deletions(&args.ids, field, &scratch.path().join(IDS))?;
        Ok(PreparedDelete { writer, scratch, any })
    }
}

/// The file of deletions in the scratch folder.
const IDS: &str = "ids.jsonl";

fn lead(
    args: &DeleteArgs,
    PreparedDelete { mut writer, scratch, any }: PreparedDelete,
    (machine, epoch_bytes, peers): (Machine, Option<u64>, Option<Arc<Peers>>),
    reporter: &Reporter<'_>,
    progress: &Arc<Progress>,
) -> Result<Report> {
    let file = scratch.path().join(IDS);
    let done = match any {
        true => delete(args, (machine, epoch_bytes, peers), &mut writer, &file, progress),
        false => writer.check_finished().and_then(|()| {
            peers.map_or(Ok(()), |peers| release_followers(&peers))?;
            args.change.retain.retain.iter().for_each(|retain| writer.set_retain(*retain));
            let report = nothing(&writer);
            if args.change.dry_run { Ok(report) } else { with_retain(&mut writer, report) }
        }),
    };
    done.map_err(|error| match writer.pending() {
        _ if args.change.dry_run => foreseen(&args.at.collection, error),
        Some(_) => unfinished(reporter, &args.at.collection, &writer, error),
        None => error,
    })
}

fn delete(
    args: &DeleteArgs,
    (machine, epoch_bytes, peers): (Machine, Option<u64>, Option<Arc<Peers>>),
    writer: &mut Writer,
    file: &Path,
    progress: &Arc<Progress>,
) -> Result<Report> {
    let scratch = file.parent().unwrap_or(file);
    let mut sources = find_inputs(&[file.to_path_buf()], FormatHint::default(), scratch, progress)?.sources;
    for source in &mut sources {
        // The copy lies elsewhere when the command is given again.
        (source.lasting, source.shown) = (false, format!("the ids of {}", args.ids.display()));
    }
    let batch = Batch {
        sources,
        epoch_bytes,
        left_out: Default::default(),
        delete_missing: false,
        lexicon: None,
        components: components(args.change.components),
        command: Some(CommitCommand::Delete),
        resources: machine.resources(scratch, peers),
    };
    // Every line of the file is ours: only an id over the length of a record can be refused.
    let why = "no document has an id of that length; take the line out; nothing was deleted";
    let accept = |rejected: &[Rejected], documents| refuse_any(rejected, documents, why);
    let held = writer.snapshot().manifest().counts.documents;
    let agree = |report: &Report| match unknown(&report.unknown).filter(|_| args.strict) {
        Some(first) => Err(Error::Refused {
            rejected: report.unknown.len() as u64,
            records: report.records,
            reason: "--strict allows none; nothing was deleted".to_owned(),
            first,
        }),
        None => refuse_mass_deletion(args.change.max_delete, &args.at.collection, held, report.removed),
    };
    let how = (args.change.dry_run, args.change.retain);
    commit(writer, batch, &[], accept, agree, how, progress)
}

/// The report of deleting nothing.
fn nothing(writer: &Writer) -> Report {
    let manifest = writer.snapshot().manifest();
    let (documents, clusters) = (manifest.counts.documents, manifest.counts.clusters);
    Report { load: manifest.load, documents, clusters, ..Report::default() }
}

/// Writes a deletion for each id of `ids` into `file`; whether there is any.
fn deletions(ids: &Path, field: &str, file: &Path) -> Result<bool> {
    let failed = |e: io::Error| Error::io(file, "write", e);
    let mut out = BufWriter::new(File::create_new(file).map_err(failed)?);
    let mut any = false;
    each_listed_id(ids, MAX_VALUE_BYTES, "alike delete COLLECTION --ids", &mut |id| {
        any = true;
        // A key that is spelt like the whole path of a nested field stands for it, whatever else is in the record.
        let row = serde_json::json!({ "op": "delete", field: id });
        writeln!(out, "{row}").map_err(failed)
    })?;
    out.flush().map_err(failed)?;
    Ok(any)
}
