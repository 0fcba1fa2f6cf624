//! `alike compact`: all runs of a collection become one.

use std::process::ExitCode;

use alike::collection::{CompactReport, Compaction, Writer, compact};
use alike::error::Result;
use alike::progress::Progress;

use crate::cli_collections::CompactArgs;
use crate::load::{Teller, warn, watched};
use crate::shown::folder;
use crate::team::{PART_DONE, Team};

pub(crate) fn run(args: &CompactArgs, team: &Team) -> Result<ExitCode> {
    let report = watched(&args.report.talk, |progress| {
        let lead = |_| lead(args, progress);
        team.work(1, progress, lead, |_| Ok(()))
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

/// Merging is work of one disk: process 0 does it.
fn lead(args: &CompactArgs, progress: &Progress) -> Result<CompactReport> {
    let mut writer = Writer::open(&folder(&args.collection)?)?;
    warn(&writer);
    let report = compact(&mut writer, Compaction::Full, progress)?;
    warn(&writer);
    Ok(report)
}
