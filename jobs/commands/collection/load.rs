//! `alike load`: records into a collection, as one commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Batch, Report, Writer};
use alike::error::{Error, Result};
use alike::lexicon::Lexicon;
use alike::output::{RejectedRow, Rows, Scratch};
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::{Discovery, Rejected};

use crate::cli::collections::LoadArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::collection::folder;
use crate::session::commit::{
    ABOVE, assist, commit, foreseen, refuse_dry_run, refuse_mass_deletion, unfinished,
};
use crate::session::inputs::{find_inputs, refuse};
use crate::session::load_report::report_load;
use crate::session::options::{Machine, components, epoch};
use crate::session::target::{CreateOptions, Target};
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;

pub(crate) fn run(args: &LoadArgs, job: &DistributedJob) -> Result<ExitCode> {
    if args.abandon {
        if !job.is_alone() {
            return Err(Error::config("--abandon works with one process; leave out --hosts, -n and -p"));
        }
        return abandon(args);
    }
    let machine = Machine::new(&args.change.machine)?;
    let epoch_bytes = epoch(args.change.epoch.as_deref())?;
    let reporter = Reporter::new(&args.change.report);
    refuse_dry_run(args.change.dry_run, job)?;
    let work = |progress: &Arc<Progress>| {
        let lead = |peers| load(args, (machine, epoch_bytes, peers), &reporter, progress);
        let assist = |peers: &Arc<Peers>| assist(&args.at.collection, machine, peers, progress);
        job.work(machine.workers, progress, lead, assist)
    };
    let report = job.print_profile(watched(&args.change.report.talk, work))?;
    let Some(report) = report else { return Ok(PART_DONE) };
    if report.records == 0 {
        reporter.line("warning: the inputs hold no records; check the files");
    }
    report_load(&reporter, &args.at.collection, &report, args.change.dry_run)
}

fn load(
    args: &LoadArgs,
    (machine, epoch_bytes, peers): (Machine, Option<u64>, Option<Arc<Peers>>),
    reporter: &Reporter<'_>,
    progress: &Arc<Progress>,
) -> Result<Report> {
    let dry_run = args.change.dry_run;
    let scratch = Scratch::beside(&args.at.collection, &std::env::temp_dir())?;
    let above = dry_run.then(|| scratch.path().join(ABOVE));
    let lexicon = args.choices.lexicon.as_deref().map(Lexicon::open).transpose()?.map(Arc::new);
    let asked =
        CreateOptions { choices: &args.choices, lexicon: lexicon.as_deref(), store_text: args.store_text };
    let target = Target::find(&args.at, &asked, above, peers.as_deref())?;
    // An interrupted load that is gone on with may have written it.
    let goes_on = target.goes_on();
    let list = args.rejected.as_deref().map(|path| new_file(path, goes_on)).transpose()?;
    let hint = args.choices.form.hint(&target.config().input);
    let discovery = find_inputs(&args.inputs, hint, scratch.path(), progress)?;
    refuse_own_files(&args.at.collection, &discovery)?;
    let (mut writer, new) = target.writer(peers.as_deref())?;
    let held = writer.snapshot().manifest().counts.documents;
    let batch = Batch {
        sources: discovery.sources,
        epoch_bytes,
        delete_missing: args.delete_missing,
        lexicon,
        components: components(args.change.components),
        resources: machine.resources(scratch.path(), peers),
    };
    let accept = |rejected: &[Rejected], documents: u64| {
        if let Some((folder, name)) = &list {
            let path = folder.join(name);
            if goes_on && path.exists() {
                fs::remove_file(&path).map_err(|e| Error::io(&path, "replace", e))?;
            }
            let mut rows = Rows::create(folder, name)?;
            rejected.iter().try_for_each(|rejected| rows.write(&RejectedRow::of(rejected)))?;
            rows.finish()?;
        }
        reporter.refused(rejected);
        refuse(args.refusals, rejected, documents)?;
        refuse_gaps(args.delete_missing, rejected, documents)?;
        refuse_emptiness(args, held, documents)
    };
    let agree = |report: &Report| match report.records {
        // That was asked for.
        0 if args.allow_empty => Ok(()),
        _ => refuse_mass_deletion(args.change.max_delete, &args.at.collection, held, report.removed),
    };
    let done = commit(&mut writer, batch, &discovery.unreadable, accept, agree, dry_run, progress);
    match done {
        Err(error) if dry_run => Err(foreseen(&args.at.collection, error)),
        // What is done of it can be gone on with.
        Err(error) if writer.pending().is_some() => {
            Err(unfinished(reporter, &args.at.collection, &writer, error))
        }
        Err(error) if new => {
            writer.take_back();
            Err(error)
        }
        done => done,
    }
}

/// A record that could not be read may be that of a document that is there.
fn refuse_gaps(delete_missing: bool, rejected: &[Rejected], documents: u64) -> Result<()> {
    match rejected.first().filter(|_| delete_missing) {
        Some(first) => Err(Error::Refused {
            rejected: rejected.len() as u64,
            records: documents + rejected.len() as u64,
            reason: "--delete-missing might delete their documents; nothing was written".to_owned(),
            first: first.to_string(),
        }),
        None => Ok(()),
    }
}

/// Inputs without a record are rather those of a producer that has died than what is left of a collection.
fn refuse_emptiness(args: &LoadArgs, held: u64, documents: u64) -> Result<()> {
    if documents > 0 || held == 0 || !args.delete_missing || args.allow_empty {
        return Ok(());
    }
    let all = counted(held, "document");
    Err(Error::input(
        &args.at.collection,
        format!(
            "the inputs hold no records, and --delete-missing would delete all of its {all}; check the inputs, or allow \
             it with --allow-empty; nothing was written"
        ),
    ))
}

/// The folder and name of a file that is to be made, or made again if `again`.
fn new_file(path: &Path, again: bool) -> Result<(PathBuf, String)> {
    let shown = path.display();
    let there = path.symlink_metadata();
    if there.is_ok_and(|there| !again || !there.is_file()) {
        return Err(Error::config(format!(
            "--rejected {shown}: exists already; name another file, or remove it"
        )));
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Error::config(format!("--rejected {shown}: name a file")))?;
    Ok((path.parent().unwrap_or(Path::new("")).to_path_buf(), name.to_owned()))
}

/// The change logs of a collection look like input, and are none.
fn refuse_own_files(collection: &Path, discovery: &Discovery) -> Result<()> {
    let Ok(collection) = collection.canonicalize() else { return Ok(()) };
    let own = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(&collection));
    match discovery.sources.iter().find(|source| own(&source.path)) {
        Some(source) => Err(Error::input(
            &source.path,
            "a file of the collection itself is no input; name only what lies beside it",
        )),
        None => Ok(()),
    }
}

/// Removes what an interrupted load has left.
fn abandon(args: &LoadArgs) -> Result<ExitCode> {
    let storage = folder(&args.at.collection)?;
    // Whoever makes one removes those of processes that are gone.
    drop(Scratch::beside(&args.at.collection, &std::env::temp_dir())?);
    let names = || storage.names().map_err(|e| Error::io(&args.at.collection, "list", e));
    let before = names()?;
    let writer = Writer::open_and_abandon(&storage)?;
    if writer.snapshot().manifest().load == 0 {
        writer.take_back();
    }
    let after = names()?;
    let removed: Vec<&String> = before.iter().filter(|name| !after.contains(name)).collect();
    let reporter = Reporter::new(&args.change.report);
    for name in &removed {
        reporter.line(&format!("removed {name}"));
    }
    if removed.is_empty() {
        reporter.line("nothing was left behind");
    }
    reporter.object(&serde_json::json!({ "removed": removed }))
}
