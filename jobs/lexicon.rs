//! `alike lexicon`: in how many documents terms occur, counted, merged, compared and shown.

mod compare;
mod show;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::config::{Config, Input};
use alike::error::{Error, Result};
use alike::flow::Peers;
use alike::lexicon::{
    Counted, Frozen, Header, Kind, Lexicon, Request, Tally, Terms, assist, count, merge, refuse_existing,
};
use alike::output::Scratch;
use alike::progress::Progress;
use alike::read::{Discovery, Rejected, Source};
use serde_json::{Value, json};

use crate::cli_lexicon::{BuildArgs, LexiconCommand, MergeArgs, TermsArg};
use crate::dedup::{find_inputs, refuse};
use crate::load::{Teller, watched};
use crate::options::Machine;
use crate::team::{PART_DONE, Team};

pub(crate) fn run(command: &LexiconCommand, team: &Team) -> Result<ExitCode> {
    match command {
        LexiconCommand::Build(args) => build(args, team),
        LexiconCommand::Merge(args) => merge_all(args),
        LexiconCommand::Compare(args) => compare::run(args),
        LexiconCommand::Show(args) => show::run(args),
    }
}

/// What process 0 has found out, for the others.
#[derive(serde::Serialize, serde::Deserialize)]
struct Task {
    sources: Vec<Source>,
    input: Input,
    terms: Terms,
}

fn build(args: &BuildArgs, team: &Team) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    let teller = Teller::new(&args.report);
    let built = watched(&args.report.talk, |progress| {
        let lead = |peers: Option<Arc<Peers>>| lead(args, machine, peers.as_ref(), &teller, progress);
        let assist = |peers: &Arc<Peers>| take_part(machine, peers, progress);
        team.work(machine.workers, progress, lead, assist)
    });
    let Some((frozen, tally, rejected)) = team.tell_profile(built)? else { return Ok(PART_DONE) };
    let Tally { documents, empty } = tally;
    teller.say(&format!("{documents} documents with a word, {empty} without; {rejected} records refused"));
    let mut report = told(&args.out, &frozen, &teller);
    report["empty"] = empty.into();
    report["rejected"] = rejected.into();
    teller.object(&report)
}

/// Counts and writes: where this process is alone, or process 0.
fn lead(
    args: &BuildArgs,
    machine: Machine,
    peers: Option<&Arc<Peers>>,
    teller: &Teller<'_>,
    progress: &Arc<Progress>,
) -> Result<(Frozen, Tally, usize)> {
    refuse_existing(&args.out)?;
    Header { terms: terms(args), min_df: args.min_df, short: 0, documents: 0 }.check()?;
    let scratch = Scratch::beside(&args.out, &std::env::temp_dir())?;
    let found = find_inputs(&args.inputs, scratch.path(), progress)?;
    let task = Task {
        sources: found.sources.clone(),
        input: input(args.text_field.as_deref())?,
        terms: terms(args),
    };
    if let Some(peers) = peers {
        let sources = task.sources.iter().map(Source::from_anywhere).collect::<Result<_>>()?;
        peers.say(&Task { sources, input: task.input.clone(), terms: task.terms })?;
    }
    let counted = count(&request(task, machine, scratch.path(), peers), progress)?;
    let rejected = rejected(&found, &counted.refused);
    let Counted { tally, .. } = counted;
    teller.refused(&rejected);
    refuse(args.strict, &rejected, tally.documents + tally.empty)?;
    let frozen = counted.freeze(&args.out, args.min_df, progress)?;
    Ok((frozen, tally, rejected.len()))
}

/// Takes part in what process 0 counts.
fn take_part(machine: Machine, peers: &Arc<Peers>, progress: &Arc<Progress>) -> Result<()> {
    let scratch = Scratch::apart(&std::env::temp_dir())?;
    let task: Task = peers.hear()?;
    assist(&request(task, machine, scratch.path(), Some(peers)), progress)
}

fn request(task: Task, machine: Machine, scratch: &Path, peers: Option<&Arc<Peers>>) -> Request {
    Request {
        sources: task.sources,
        input: task.input,
        terms: task.terms,
        workers: machine.workers,
        memory: machine.memory,
        scratch: scratch.to_path_buf(),
        mesh: peers.map(|peers| peers.share()),
    }
}

/// What was typed as a sort of terms.
fn terms(args: &BuildArgs) -> Terms {
    let kind = match args.terms {
        TermsArg::Alphabetic => Kind::Alphabetic,
        TermsArg::Alphanumeric => Kind::Alphanumeric,
    };
    Terms { kind, min_length: args.min_length }
}

/// Where texts stand in records.
fn input(text_field: Option<&str>) -> Result<Input> {
    let mut config = Config::default();
    text_field.into_iter().for_each(|path| path.clone_into(&mut config.input.text_field));
    config.validate()?;
    Ok(config.input)
}

/// All that could not be read.
pub(crate) fn rejected(found: &Discovery, refused: &[Rejected]) -> Vec<Rejected> {
    found.rejected(refused.to_vec())
}

fn merge_all(args: &MergeArgs) -> Result<ExitCode> {
    let teller = Teller::new(&args.report);
    refuse_existing(&args.out)?;
    let frozen = watched(&args.report.talk, |progress| {
        let lexicons = open_all(&args.lexicons, progress)?;
        merge(&lexicons, &args.out, args.min_df, progress)
    })?;
    let report = told(&args.out, &frozen, &teller);
    teller.object(&report)
}

/// Opens lexicons, and refuses one that is named twice: its documents would count twice.
fn open_all(paths: &[std::path::PathBuf], progress: &Progress) -> Result<Vec<Lexicon>> {
    let mut lexicons: Vec<Lexicon> = Vec::new();
    for path in paths {
        progress.check()?;
        let lexicon = Lexicon::open(path)?;
        if let Some(same) = lexicons.iter().find(|other| other.digest() == lexicon.digest()) {
            return Err(Error::config(format!(
                "{} and {} are the same lexicon, whose documents would count twice; leave one out",
                same.path().display(),
                path.display()
            )));
        }
        lexicons.push(lexicon);
    }
    Ok(lexicons)
}

/// Tells people what was written; what programs are told.
fn told(out: &Path, frozen: &Frozen, teller: &Teller<'_>) -> Value {
    let Frozen { header, count, left_out, bytes, .. } = frozen;
    let Header { min_df, short, .. } = header;
    teller.say(&format!(
        "{}: {count} terms in {min_df} documents or more of {}; {left_out} rarer ones left out; {bytes} bytes",
        out.display(),
        header.documents
    ));
    if *short > 0 {
        teller.say(&format!(
            "counts may be too low by up to {short}: lexicons that were merged had left out terms; build them with \
             --min-df 1 to have exact ones"
        ));
    }
    teller.say(&format!("its name is {}", frozen.name()));
    let mut report = described(&out.display().to_string(), &frozen.name(), header, *count);
    report["left_out"] = (*left_out).into();
    report["bytes"] = (*bytes).into();
    report
}

/// A lexicon for programs.
fn described(path: &str, name: &str, header: &Header, count: u64) -> Value {
    json!({
        "lexicon": path,
        "digest": name,
        "documents": header.documents,
        "count": count,
        "kind": header.terms.kind,
        "min_length": header.terms.min_length,
        "min_df": header.min_df,
        "short": header.short,
    })
}
