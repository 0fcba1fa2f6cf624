//! `alike recluster`: what the clusters of a collection were at another threshold, under another policy or clustering.

use std::process::ExitCode;

use alike::document::DocumentName;
use alike::error::Result;
use alike::output::{ClusterRow, Lists};

use super::clusters::{cluster_cells, cluster_columns};
use crate::cli::recompute::ReclusterArgs;
use crate::cli::values::DataForm;
use crate::cluster::job::{DistributedJob, PART_DONE};
use crate::session::collection::open;
use crate::session::recompute::{again, choice, warn_of_cap};
use crate::terminal::data::rows::{Cells, DataRows};
use crate::terminal::stdout::OutputLines;

pub(crate) fn run(args: &ReclusterArgs, job: &DistributedJob) -> Result<ExitCode> {
    let choice = choice(&args.choices)?;
    let outcome = again(&args.at, &choice, false, &args.talk, &args.machine, Some(job))?;
    let Some(outcome) = outcome else { return Ok(PART_DONE) };
    warn_of_cap(open(&args.at)?.manifest(), outcome.common.keys(), &args.talk);
    let mut lines = OutputLines::new();
    let form = lines.form(args.print);
    let people = form == DataForm::Table;
    let mut rows = DataRows::new(&mut lines, form, cluster_columns(people, &[]));
    let written = Lists::new(&outcome).each_cluster(&mut |cluster| {
        outcome.run.context.status.progress.check()?;
        rows.rows(cluster, || cells(cluster, people))
    });
    let written = written.and_then(|()| rows.finish());
    lines.finish(written)
}

fn cells(row: &ClusterRow<'_>, people: bool) -> Vec<Cells> {
    let ClusterRow { cluster, size, representative, members, .. } = row;
    let members: Vec<&str> = members.iter().map(DocumentName::as_str).collect();
    cluster_cells((&cluster.to_string(), *size, representative), &members, people)
}
