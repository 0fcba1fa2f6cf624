//! `alike load`: records into a collection, as one commit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Batch, CommitCommand, Report, Writer};
use alike::config::{Cluster, Config};
use alike::error::{Error, Result};
use alike::lexicon::Lexicon;
use alike::peers::Peers;
use alike::printable::{counted, printable};
use alike::progress::Progress;
use alike::read::{Discovery, Rejected, Source};
use alike::scratch::Scratch;

use crate::cli::collections::LoadArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::commands::collection::left_out::{LeftOutFound, Protected, holds_one_sided};
use crate::commands::collection::load_lists::LoadLists;
use crate::commands::collection::waiting::patiently;
use crate::session::against::{check_protected, open_collections, refuse_incomparable};
use crate::session::collection::folder;
use crate::session::commit::{
    ABOVE, assist, commit, foreseen, refuse_dry_run, refuse_mass_deletion, unfinished,
};
use crate::session::inputs::{empty_inputs, empty_sources, find_inputs, refuse, warn_of_skipped};
use crate::session::load_report::{AgainstReport, report_load};
use crate::session::missing_fields::no_value_to_compare_within;
use crate::session::options::{Machine, components, epoch};
use crate::session::target::{CreateOptions, Target, differences};
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
    let (report, against, skipped) = report;
    if report.records + report.left_out == 0 {
        reporter.warning("the inputs hold no records; check the files");
    }
    report_load(&reporter, &args.at.collection, &report, (&against, skipped), args.change.dry_run)
}

/// What is done with a collection that cannot be compared.
const INCOMPARABLE: &str = "load into a collection that compares documents as that one does, or name the files that were \
                            loaded into it";

fn load(
    args: &LoadArgs,
    (machine, epoch_bytes, peers): (Machine, Option<u64>, Option<Arc<Peers>>),
    reporter: &Reporter<'_>,
    progress: &Arc<Progress>,
) -> Result<(Report, AgainstReport, u64)> {
    check_protected(&args.against, &args.inputs)?;
    let collections = open_collections(&args.against)?;
    let dry_run = args.change.dry_run;
    let scratch = Scratch::beside(&args.at.collection, &std::env::temp_dir())?;
    let above = dry_run.then(|| scratch.path().join(ABOVE));
    let lexicon = args.choices.lexicon.as_deref().map(Lexicon::open).transpose()?.map(Arc::new);
    let asked = CreateOptions {
        choices: &args.choices,
        within: args.within.as_deref(),
        one_sided: holds_one_sided(args),
        lexicon: lexicon.as_deref(),
        store_text: args.store_text,
    };
    let find = || Target::find(&args.at, &asked, above.clone(), peers.as_deref());
    let target = patiently(args.change.wait, &args.change.report.talk, progress, find)?;
    let compared = Config { cluster: Cluster::default(), ..target.config().clone() };
    refuse_incomparable(&collections, &compared, INCOMPARABLE)?;
    let lists = LoadLists::new(args)?;
    let hint =
        args.choices.form.hint(&target.config().input).shared_by(peers.is_some()).within(machine.memory);
    let mut discovery = find_inputs(&args.inputs, hint, scratch.path(), progress)?;
    refuse_own_files(&args.at.collection, &discovery)?;
    let empty = match args.delete_missing {
        true => empty_sources(&discovery),
        false => empty_inputs(&discovery, &args.inputs),
    };
    empty.iter().for_each(|empty| reporter.warning(empty));
    let protected = Protected::find(args, &collections, &mut discovery, (hint, scratch.path(), &**progress))?;
    warn_of_skipped(reporter, &discovery);
    let (mut writer, new) = made(target, &find, (args, peers.as_deref(), progress))?;
    let skipped = discovery.skipped.len() as u64;
    if args.delete_missing {
        refuse_skipped(&writer, &discovery.skipped)?;
    }
    if new && !args.store_text {
        warn_of_lost_texts(reporter, &discovery.sources);
    }
    let resources = machine.resources(scratch.path(), peers);
    let held = protected.hold(args, &writer, lexicon.clone(), resources.clone(), progress);
    let done = held.and_then(|left_out| {
        let batch = Batch {
            sources: discovery.sources,
            left_out: left_out.records.clone(),
            epoch_bytes,
            delete_missing: args.delete_missing,
            lexicon,
            components: components(args.change.components),
            command: Some(CommitCommand::Load),
            resources,
        };
        let report =
            change(args, &mut writer, batch, &discovery.unreadable, (&lists, &left_out), reporter, progress)?;
        Ok((report, left_out.told, skipped))
    });
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

/// A file that was loaded and is not read now has its documents still: only its form is another one.
fn refuse_skipped(writer: &Writer, skipped: &[(PathBuf, String)]) -> Result<()> {
    if skipped.is_empty() {
        return Ok(());
    }
    let loaded: BTreeSet<String> =
        writer.snapshot().sources()?.into_iter().map(|source| source.path).collect();
    let was_loaded = |path: &Path| {
        std::path::absolute(path).is_ok_and(|path| path.to_str().is_some_and(|path| loaded.contains(path)))
    };
    match skipped.iter().find(|(path, _)| was_loaded(path)) {
        Some((path, why)) => Err(Error::input(
            path,
            format!(
                "was loaded before, and is not read now ({why}); --delete-missing would delete its documents: mend it, or \
                 move it away if they are to go; nothing was written"
            ),
        )),
        None => Ok(()),
    }
}

/// Warns where texts are read that cannot be read again: whether a collection keeps them is said by its first load.
fn warn_of_lost_texts(reporter: &Reporter<'_>, sources: &[Source]) {
    if let Some(source) = sources.iter().find(|source| !source.can_be_found_again()) {
        reporter.warning(&format!(
            "{} cannot be read again, as `alike export` does; a collection that is begun with --store-text keeps its records",
            printable(&source.shown)
        ));
    }
}

/// The collection, made if it has to be; whether it was. Another process may have made it since it was looked for.
fn made(
    target: Target,
    find: &dyn Fn() -> Result<Target>,
    (args, peers, progress): (&LoadArgs, Option<&Peers>, &Progress),
) -> Result<(Writer, bool)> {
    let (config, goes_on) = (target.config().clone(), target.goes_on());
    let mut target = Some(target);
    let make = || {
        let target = target.take().map_or_else(find, Ok)?;
        if target.goes_on() != goes_on {
            return Err(Error::config(format!(
                "{}: another process has just made it, and its load was interrupted; run again",
                args.at.collection.display()
            )));
        }
        if *target.config() != config {
            return Err(Error::config(format!(
                "{}: another process has just made it, with another configuration: {}",
                args.at.collection.display(),
                differences(target.config(), &config)?.join("; ")
            )));
        }
        target.writer(peers)
    };
    patiently(args.change.wait, &args.change.report.talk, progress, make)
}

/// Loads the records that are not left out, unless what was refused, or what they come to, speaks against it.
fn change(
    args: &LoadArgs,
    writer: &mut Writer,
    batch: Batch,
    unreadable: &[(PathBuf, String)],
    (lists, left_out): (&LoadLists, &LeftOutFound),
    reporter: &Reporter<'_>,
    progress: &Arc<Progress>,
) -> Result<Report> {
    let held = writer.snapshot().manifest().counts.documents;
    let accept = |rejected: &[Rejected], documents: u64| {
        let records = documents + left_out.records.len();
        lists.write(rejected, left_out)?;
        reporter.refused(rejected);
        refuse(args.refusals, rejected, records)?;
        refuse_gaps(args.delete_missing, rejected, records)?;
        refuse_emptiness(args, held, documents, left_out.records.len())
    };
    let field = writer.snapshot().manifest().config.input.within_field.clone();
    let is_first = writer.snapshot().manifest().load == 0;
    let agree = |report: &Report| {
        // Of one document nothing is compared, and of deletions nothing at all.
        if is_first && report.documents > 1 && report.missing_within == report.records {
            return Err(no_value_to_compare_within(&args.at.collection, &field, ""));
        }
        match (report.records, args.change.max_delete) {
            // That was asked for.
            (0, None) if args.allow_empty => Ok(()),
            (_, most) => refuse_mass_deletion(most, &args.at.collection, held, report.removed),
        }
    };
    let how = (args.change.dry_run, args.change.retain);
    commit(writer, batch, unreadable, accept, agree, how, progress)
}

/// A record that could not be read may be that of a document that is there.
fn refuse_gaps(delete_missing: bool, rejected: &[Rejected], documents: u64) -> Result<()> {
    match rejected.first().filter(|_| delete_missing) {
        Some(first) => Err(Error::Refused {
            rejected: Rejected::records(rejected),
            records: documents.saturating_add(Rejected::records(rejected)),
            reason: "--delete-missing might delete their documents; nothing was written".to_owned(),
            first: first.to_string(),
        }),
        None => Ok(()),
    }
}

/// Inputs without a record are rather those of a producer that has died than what is left of a collection.
fn refuse_emptiness(args: &LoadArgs, held: u64, documents: u64, left_out: u64) -> Result<()> {
    if documents > 0 || held == 0 || !args.delete_missing || args.allow_empty {
        return Ok(());
    }
    let all = counted(held, "document");
    let why = match left_out {
        0 => "the inputs hold no records".to_owned(),
        _ => format!("--against leaves out all records that can be read, {left_out}"),
    };
    Err(Error::input(
        &args.at.collection,
        format!(
            "{why}, and --delete-missing would delete all of its {all}; check the inputs, or allow it with --allow-empty; \
             nothing was written"
        ),
    ))
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
