//! `alike compact`: all runs of a collection become one, or one for each process.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{
    CompactReport, Compaction, Writer, compact_with, follow_compaction, gather, release_followers,
};
use alike::error::{Error, Result};
use alike::peers::Peers;
use alike::printable::counted;
use alike::progress::Progress;
use alike::simd::Simd;

use crate::cli::collections::CompactArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::commands::collection::waiting::patiently;
use crate::session::collection::{folder, reach};
use crate::session::commit::{assist, warn_untidied};
use crate::session::options::Machine;
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;
use crate::terminal::stdout::stdout_error;

pub(crate) fn run(args: &CompactArgs, job: &DistributedJob) -> Result<ExitCode> {
    if args.gather && args.at.local_state.is_none() {
        return Err(Error::config("--gather brings runs from where --local-state says; say that, too"));
    }
    let report = watched(&args.report.talk, |progress| {
        let lead = |peers: Option<Arc<Peers>>| lead(args, peers.as_deref(), progress);
        let assist = |peers: &Arc<Peers>| match peers.state() {
            Some(_) => assist(
                &args.at.collection,
                Machine { workers: 1, memory: None, simd: Simd::Scalar },
                peers,
                progress,
            ),
            None => follow_compaction(&folder(&args.at.collection)?, peers, progress),
        };
        job.work(1, progress, lead, assist)
    });
    let Some(report) = job.print_profile(report)? else { return Ok(PART_DONE) };
    let ((runs, to), (bytes, left)) = (report.runs, report.bytes);
    let reporter = Reporter::new(&args.report);
    let before = match args.gather {
        true => "nothing is left elsewhere",
        false => "the files before go with the next commit, readers may need them until then",
    };
    reporter.line(&format!(
        "{} of {bytes} bytes became {to} of {left} bytes; {before}",
        counted(runs as u64, "run")
    ));
    report.untidied.iter().for_each(|why| reporter.line(&format!("not all of that: {why}")));
    reporter.object(&serde_json::to_value(report).map_err(|e| stdout_error(e.into()))?)
}

fn lead(args: &CompactArgs, peers: Option<&Peers>, progress: &Progress) -> Result<CompactReport> {
    let open = || Writer::open(&reach(&args.at, peers)?);
    let mut writer = patiently(args.wait, &args.report.talk, progress, open)?;
    warn_untidied(&writer);
    args.retain.retain.iter().for_each(|retain| writer.set_retain(*retain));
    let mut report = match args.gather {
        true => gather(&mut writer, peers, progress)?,
        false => compact_with(&mut writer, Compaction::Full, peers, progress)?,
    };
    report.commit = report.commit.or(writer.commit_retain()?);
    warn_untidied(&writer);
    if let Some(peers) = peers.filter(|peers| peers.state().is_some()) {
        release_followers(peers)?;
    }
    Ok(report)
}
