//! `alike lexicon build`: in how many documents terms occur.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use alike::config::Input;
use alike::error::Result;
use alike::lexicon::{
    Counted, Frozen, Header, LexiconRequest, TermKind, Terms, TextTally, assist, count, refuse_existing,
};
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::Progress;
use alike::read::{Rejected, Source};
use alike::scratch::Scratch;

use super::description::{describe_new, input};
use crate::cli::lexicon::{BuildArgs, TermsArg};
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::inputs::{find_inputs, refuse, warn_of_no_words, warn_of_unused};
use crate::session::options::{Machine, content, fold, longest_record};
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;

/// What process 0 has found out, for the others.
#[derive(serde::Serialize, serde::Deserialize)]
struct LexiconTask {
    sources: Vec<Source>,
    input: Input,
    terms: Terms,
}

pub(super) fn build(args: &BuildArgs, job: &DistributedJob) -> Result<ExitCode> {
    let machine = Machine::new(&args.machine)?;
    let reporter = Reporter::new(&args.report);
    let built = watched(&args.report.talk, |progress| {
        let lead = |peers: Option<Arc<Peers>>| lead(args, machine, peers.as_ref(), &reporter, progress);
        let assist = |peers: &Arc<Peers>| take_part(machine, peers, progress);
        job.work(machine.workers, progress, lead, assist)
    });
    let Some((frozen, tally, rejected)) = job.print_profile(built)? else { return Ok(PART_DONE) };
    let TextTally { documents, empty } = tally;
    reporter.line(&format!(
        "{} with a word, {empty} without; {} refused",
        counted(documents, "document"),
        counted(rejected, "record")
    ));
    let mut report = describe_new(&args.out, &frozen, &reporter);
    report["empty"] = empty.into();
    report["rejected"] = rejected.into();
    reporter.object(&report)
}

/// Counts and writes: where this process is alone, or process 0.
fn lead(
    args: &BuildArgs,
    machine: Machine,
    peers: Option<&Arc<Peers>>,
    reporter: &Reporter<'_>,
    progress: &Arc<Progress>,
) -> Result<(Frozen, TextTally, u64)> {
    refuse_existing(&args.out)?;
    let terms = terms(args)?;
    Header { terms, min_df: args.min_df, short: 0, documents: 0 }.check()?;
    let scratch = Scratch::beside(&args.out, &std::env::temp_dir())?;
    let mut input = input(args.text_field.as_deref())?;
    content(&mut input, args.content);
    longest_record(&mut input, args.max_record_bytes);
    let hint = args.form.hint(&input).shared_by(peers.is_some()).within(machine.memory);
    let found = find_inputs(&args.inputs, hint, scratch.path(), progress)?;
    warn_of_unused(reporter, &found, &args.inputs);
    let task = LexiconTask { sources: found.sources.clone(), input, terms };
    if let Some(peers) = peers {
        let sources = Source::all_from_anywhere(&task.sources)?;
        peers.broadcast(&LexiconTask { sources, input: task.input.clone(), terms: task.terms })?;
    }
    let counted = count(&request(task, machine, scratch.path(), peers), progress)?;
    let rejected = found.rejected(counted.refused.clone());
    let Counted { tally, .. } = counted;
    reporter.refused(&rejected);
    refuse(args.refusals, &rejected, tally.documents + tally.empty)?;
    warn_of_no_words(reporter, tally.empty, tally.documents + tally.empty);
    let frozen = counted.freeze(&args.out, args.min_df, progress)?;
    Ok((frozen, tally, Rejected::records(&rejected)))
}

/// Takes part in what process 0 counts.
fn take_part(machine: Machine, peers: &Arc<Peers>, progress: &Arc<Progress>) -> Result<()> {
    let scratch = Scratch::apart(&std::env::temp_dir())?;
    let task: LexiconTask = peers.receive()?;
    assist(&request(task, machine, scratch.path(), Some(peers)), progress)
}

fn request(
    task: LexiconTask,
    machine: Machine,
    scratch: &Path,
    peers: Option<&Arc<Peers>>,
) -> LexiconRequest {
    LexiconRequest {
        sources: task.sources,
        input: task.input,
        terms: task.terms,
        resources: machine.resources(scratch, peers.cloned()),
    }
}

/// What was typed as a sort of terms.
fn terms(args: &BuildArgs) -> Result<Terms> {
    let kind = match args.terms {
        TermsArg::Alphabetic => TermKind::Alphabetic,
        TermsArg::Alphanumeric => TermKind::Alphanumeric,
    };
    Ok(Terms { kind, min_length: args.min_length, fold: fold(&args.fold)? })
}
