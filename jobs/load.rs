//! `alike load`: records into a collection, as one commit.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{Batch, Ignored, Means, Report, Writer, prepare};
use alike::error::{Error, Result};
use alike::flow::Peers;
use alike::lexicon::Lexicon;
use alike::output::{RejectedRow, Rows, Scratch, examples};
use alike::progress::Progress;
use alike::read::{Discovery, Rejected, unread};

use crate::cli::TalkArgs;
use crate::cli_collections::{LoadArgs, ReportArgs};
use crate::dedup::{find_inputs, refuse};
use crate::display::{Display, Mode};
use crate::escape::sanitize;
use crate::interrupt::stop_on_interrupt;
use crate::launched::on_terminal;
use crate::options::{Machine, components, epoch};
use crate::shown::{Lines, folder};
use crate::target::{Asked, Target};
use crate::team::{PART_DONE, Team};

/// Refused records and unknown ids that are shown one by one.
const SHOWN: usize = 10;

pub(crate) fn run(args: &LoadArgs, team: &Team) -> Result<ExitCode> {
    if args.abandon {
        if !team.is_alone() {
            return Err(Error::config("--abandon works with one process; leave out --hosts, -n and -p"));
        }
        return abandon(args);
    }
    let machine = Machine::new(&args.change.machine)?;
    let epoch_bytes = epoch(args.change.epoch.as_deref())?;
    let teller = Teller::new(&args.change.report);
    refuse_dry_run(args.change.dry_run, team)?;
    let work = |progress: &Arc<Progress>| {
        let lead = |peers| load(args, (machine, epoch_bytes, peers), &teller, progress);
        let assist = |peers: &Arc<Peers>| assist(&args.at.collection, machine, peers, progress);
        team.work(machine.workers, progress, lead, assist)
    };
    let report = team.tell_profile(watched(&args.change.report.talk, work))?;
    let Some(report) = report else { return Ok(PART_DONE) };
    teller.report(&args.at.collection, &report, args.change.dry_run)
}

/// Does a load while its progress is shown and Ctrl-C stops it.
pub(crate) fn watched<T>(talk: &TalkArgs, work: impl FnOnce(&Arc<Progress>) -> Result<T>) -> Result<T> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let display = Display::start(Arc::clone(&progress), Mode::choose(talk.quiet, talk.json_progress));
    let done = work(&progress);
    display.finish();
    done
}

fn load(
    args: &LoadArgs,
    (machine, epoch_bytes, peers): (Machine, Option<u64>, Option<Arc<Peers>>),
    teller: &Teller<'_>,
    progress: &Arc<Progress>,
) -> Result<Report> {
    let dry_run = args.change.dry_run;
    let scratch = Scratch::beside(&args.at.collection, &std::env::temp_dir())?;
    let above = dry_run.then(|| scratch.path().join(ABOVE));
    let lexicon = args.choices.lexicon.as_deref().map(Lexicon::open).transpose()?.map(Arc::new);
    let asked = Asked { choices: &args.choices, lexicon: lexicon.as_deref(), store_text: args.store_text };
    let target = Target::find(&args.at, &asked, above, peers.as_deref())?;
    // An interrupted load that is gone on with may have written it.
    let goes_on = target.goes_on();
    let list = args.rejected.as_deref().map(|path| new_file(path, goes_on)).transpose()?;
    let discovery = find_inputs(&args.inputs, scratch.path(), progress)?;
    refuse_own_files(&args.at.collection, &discovery)?;
    let (mut writer, new) = target.writer(peers.as_deref())?;
    let batch = Batch {
        sources: discovery.sources,
        workers: machine.workers,
        memory: machine.memory,
        epoch_bytes,
        simd: machine.simd,
        scratch: scratch.path().to_path_buf(),
        delete_missing: args.delete_missing,
        lexicon,
        peers,
        components: components(args.change.components),
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
        teller.refused(rejected);
        refuse(args.strict, rejected, documents)?;
        refuse_gaps(args.delete_missing, rejected, documents)
    };
    let done = commit(&mut writer, batch, &discovery.unreadable, accept, |_| Ok(()), dry_run, progress);
    match done {
        Err(error) if dry_run => Err(foreseen(&args.at.collection, error)),
        // What is done of it can be gone on with.
        Err(error) if writer.pending().is_some() => {
            Err(unfinished(teller, &args.at.collection, &writer, error))
        }
        Err(error) if new => {
            writer.take_back();
            Err(error)
        }
        done => done,
    }
}

/// Takes part in what process 0 loads into a collection, or deletes from it.
pub(crate) fn assist(
    collection: &Path,
    machine: Machine,
    peers: &Arc<Peers>,
    progress: &Arc<Progress>,
) -> Result<()> {
    let scratch = Scratch::apart(&std::env::temp_dir())?;
    let Machine { workers, memory, simd } = machine;
    let means = Means { workers, memory, simd, scratch: scratch.path().to_path_buf() };
    alike::collection::assist(&|| folder(collection), &means, peers, progress)
}

/// What a dry run writes is in a folder that no other process knows.
pub(crate) fn refuse_dry_run(dry_run: bool, team: &Team) -> Result<()> {
    if dry_run && !team.is_alone() {
        return Err(Error::config("--dry-run works with one process; leave out --hosts, -n and -p"));
    }
    Ok(())
}

/// Where in the scratch folder a dry run puts what it does not write to the collection.
pub(crate) const ABOVE: &str = "collection";

/// Tells what is left of a load that was cut off between its epochs, and why.
pub(crate) fn unfinished(teller: &Teller<'_>, collection: &Path, writer: &Writer, error: Error) -> Error {
    let records = writer.pending().map_or(0, |pending| pending.tally.records);
    let path = collection.to_path_buf();
    match error {
        Error::Interrupted => Error::Paused { path, records },
        // This one says so itself.
        Error::Unfinished { .. } => error,
        error => {
            teller.say(&Error::Paused { path, records }.to_string());
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

/// Works a load out and commits it, if `accept` takes what was refused, and `agree` the report. In a dry run it is not
/// committed.
pub(crate) fn commit(
    writer: &mut Writer,
    batch: Batch,
    unreadable: &[(PathBuf, String)],
    accept: impl FnOnce(&[Rejected], u64) -> Result<()>,
    agree: impl FnOnce(&Report) -> Result<()>,
    dry_run: bool,
    progress: &Arc<Progress>,
) -> Result<Report> {
    warn(writer);
    let prepared = prepare(writer, batch, Arc::clone(progress))?;
    let mut rejected = unread(unreadable);
    rejected.extend(prepared.rejected().cloned());
    if let Err(error) = accept(&rejected, prepared.records()) {
        prepared.give_up(&error)?;
        return Err(error);
    }
    if dry_run {
        let report = prepared.foresee()?;
        return agree(&report).map(|()| report);
    }
    let report = prepared.commit_if(|report| agree(report).and_then(|()| progress.check()))?;
    if report.commit.is_some() {
        // It stands, and the next writer tidies up.
        warn(writer);
    }
    Ok(report)
}

/// Says why something superseded is still there, which is no failure.
pub(crate) fn warn(writer: &Writer) {
    if let Some(error) = writer.untidied() {
        let _ = writeln!(io::stderr().lock(), "alike: warning: {}", sanitize(&error.to_string()));
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
    let mut writer = Writer::open(&storage)?;
    writer.abandon()?;
    if writer.snapshot().manifest().load == 0 {
        writer.take_back();
    }
    let after = names()?;
    let removed: Vec<&String> = before.iter().filter(|name| !after.contains(name)).collect();
    let teller = Teller::new(&args.change.report);
    for name in &removed {
        teller.say(&format!("removed {name}"));
    }
    if removed.is_empty() {
        teller.say("nothing was left behind");
    }
    teller.object(&serde_json::json!({ "removed": removed }))
}

/// Who tells what came of it: people on standard error, programs on standard output.
pub(crate) struct Teller<'a> {
    talk: &'a TalkArgs,
    json: bool,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(args: &'a ReportArgs) -> Teller<'a> {
        Teller { talk: &args.talk, json: args.json }
    }

    /// A line for people. Nobody listening is no failure.
    pub(crate) fn say(&self, line: &str) {
        if !self.talk.quiet && !self.talk.json_progress {
            let _ = writeln!(io::stderr().lock(), "{}", sanitize(line));
        }
    }

    /// An object for programs.
    pub(crate) fn object(&self, value: &serde_json::Value) -> Result<ExitCode> {
        if !self.json && (self.talk.quiet || on_terminal()) {
            return Ok(ExitCode::SUCCESS);
        }
        let mut lines = Lines::new();
        let written = lines.json(value);
        lines.finish(written)
    }

    /// The first of the refused records.
    pub(crate) fn refused(&self, rejected: &[Rejected]) {
        for rejected in rejected.iter().take(SHOWN) {
            self.say(&format!("refused: {rejected}"));
        }
        if rejected.len() > SHOWN {
            self.say(&format!("refused: and {} more", rejected.len() - SHOWN));
        }
    }

    /// The report of a load, or of what one would do.
    pub(crate) fn report(&self, collection: &Path, report: &Report, dry_run: bool) -> Result<ExitCode> {
        let Report { records, added, replaced, unchanged, removed, superseded, .. } = report;
        let would = if dry_run { "would be " } else { "" };
        self.say(&format!(
            "{records} records: {added} {would}added, {replaced} {would}replaced, {removed} {would}removed, \
             {unchanged} unchanged, {superseded} superseded by a later record of their id"
        ));
        if report.poor > 0 {
            self.say(&format!(
                "{} records with too few terms for the method: compared with equal texts only{}",
                report.poor,
                examples(&report.first_poor, report.poor)
            ));
        }
        if report.undated > 0 {
            self.say(&format!(
                "{} records without a date that is understood: compared with each other only{}",
                report.undated,
                examples(&report.first_undated, report.undated)
            ));
        }
        let Ignored { times, postings, of_postings, .. } = report.common_keys;
        if times > 0 {
            self.say(&format!(
                "keys ignored because more texts have them than the cap allows: {times}, {:.1} % of all postings; what is \
                 found may depend on the order of loads, and on how --memory and --epoch divide them; --json names the \
                 most common keys",
                100.0 * postings as f64 / of_postings.max(1) as f64
            ));
        }
        if let Some(unknown) = unknown(&report.unknown) {
            self.say(&unknown);
        }
        let state = match report.commit {
            Some(commit) if dry_run => format!("nothing was written; there would be commit {commit}"),
            None if dry_run => "nothing was written; nothing would change".to_owned(),
            Some(commit) => format!("commit {commit}"),
            None => "nothing changed".to_owned(),
        };
        let (documents, clusters, changes) = (report.documents, report.clusters, report.changes);
        self.say(&format!(
            "{}: {state}; {documents} documents, {clusters} clusters, {changes} lines about clusters",
            collection.display()
        ));
        let mut value = serde_json::to_value(report).map_err(|e| crate::stdout_error(e.into()))?;
        value["dry_run"] = dry_run.into();
        self.object(&capped(value))
    }
}

/// Unknown ids that a report lists: a program that asked for more of them to be deleted has them itself.
const LISTED: usize = 1000;

/// A report that says how many unknown ids there are, and lists no more than [`LISTED`].
fn capped(mut report: serde_json::Value) -> serde_json::Value {
    let unknown = report.get_mut("unknown").and_then(serde_json::Value::as_array_mut);
    let count = unknown.map_or(0, |ids| {
        let count = ids.len();
        ids.truncate(LISTED);
        count
    });
    report["unknown_ids"] = count.into();
    report
}

/// What is said of ids that were to be deleted and are not there.
pub(crate) fn unknown(ids: &[String]) -> Option<String> {
    let shown: Vec<&str> = ids.iter().take(SHOWN).map(String::as_str).collect();
    let more = if ids.len() > SHOWN { ", ..." } else { "" };
    (!ids.is_empty())
        .then(|| format!("{} ids to delete are not there: {}{more}", ids.len(), shown.join(", ")))
}
