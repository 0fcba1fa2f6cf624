//! `alike compact`: all runs of a collection become one, or one for each process.

use std::process::ExitCode;
use std::sync::Arc;

use alike::collection::{CompactReport, Compaction, Writer, assist_compaction, compact_with};
use alike::error::Result;
use alike::flow::Peers;
use alike::progress::Progress;

use crate::cli_collections::CompactArgs;
use crate::load::{Teller, warn, watched};
use crate::shown::folder;
use crate::team::{PART_DONE, Team};

pub(crate) fn run(args: &CompactArgs, team: &Team) -> Result<ExitCode> {
    let report = watched(&args.report.talk, |progress| {
        let lead = |peers: Option<Arc<Peers>>| lead(args, peers.as_deref(), progress);
        let assist = |peers: &Arc<Peers>| assist_compaction(&folder(&args.collection)?, peers, progress);
        team.work(1, progress, lead, assist)
    });
    let Some(report) = team.tell_profile(report)? else { return Ok(PART_DONE) };
    let ((runs, to), (bytes, left)) = (report.runs, report.bytes);
    let teller = Teller::new(&args.report);
    teller.say(&format!(
        "{runs} runs of {bytes} bytes became {to} of {left} bytes; the files before go with the next commit, readers \
         may need them until then"
    ));
    teller.object(&serde_json::to_value(report).map_err(|e| crate::stdout_error(e.into()))?)
}

fn lead(args: &CompactArgs, peers: Option<&Peers>, progress: &Progress) -> Result<CompactReport> {
    let mut writer = Writer::open(&folder(&args.collection)?)?;
    warn(&writer);
    let report = compact_with(&mut writer, Compaction::Full, peers, progress)?;
    warn(&writer);
    Ok(report)
}
