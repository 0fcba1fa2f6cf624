//! `alike recluster`: what the clusters of a collection were at another threshold, under another policy or clustering.

use std::process::ExitCode;

use alike::error::Result;
use alike::output::{ClusterRow, Lists};

use crate::cli::recompute::ReclusterArgs;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::collection::open;
use crate::session::recompute::{again, choice, warn_of_cap};
use crate::terminal::stdout::OutputLines;

/// Members named in a line of the table.
const NAMED: usize = 4;

pub(crate) fn run(args: &ReclusterArgs, job: &DistributedJob) -> Result<ExitCode> {
    let choice = choice(&args.choices)?;
    let outcome = again(&args.at, &choice, false, &args.talk, &args.machine, Some(job))?;
    let Some(outcome) = outcome else { return Ok(PART_DONE) };
    warn_of_cap(open(&args.at)?.manifest(), outcome.common.keys(), &args.talk);
    let mut lines = OutputLines::new();
    let people = lines.for_people(args.json);
    let heading = format!("{:<12}{:>8}  {:<24}  {}", "CLUSTER", "SIZE", "REPRESENTATIVE", "MEMBERS");
    let written = if people { lines.text(&heading) } else { Ok(()) };
    let written = written.and_then(|()| {
        Lists::new(&outcome).each_cluster(&mut |cluster| {
            outcome.run.context.status.progress.check()?;
            if people { lines.text(&row(cluster)) } else { lines.json(cluster) }
        })
    });
    lines.finish(written)
}

fn row(cluster: &ClusterRow<'_>) -> String {
    let ClusterRow { cluster: number, size, representative, members, .. } = cluster;
    let more = if members.len() > NAMED { ", ..." } else { "" };
    let named = members.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    format!("{number:<12}{size:>8}  {representative:<24}  {named}{more}")
}
