//! `alike export`: what `dedup` would write of the documents of a collection.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use alike::collection::Export;
use alike::collection::{RecomputeRequest, Snapshot};
use alike::error::Result;
use alike::output::{InputFigures, Lists, Summary, summarise};
use alike::progress::Progress;
use alike::read::Discovery;
use alike::system_memory::peak_memory;

use crate::cli::recompute::ExportArgs;
use crate::session::collection::open;
use crate::session::options::Machine;
use crate::session::recompute::{choice, warn_of_cap};
use crate::session::run_folder::RunFolder;
use crate::session::watched::watched;
use crate::terminal::summary::print_summary;

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let begun = Instant::now();
    let machine = Machine::new(&args.machine)?;
    let snapshot = open(&args.at)?;
    let out = args.out.as_deref().filter(|_| !args.dry_run);
    let work = |progress: &Arc<Progress>| export(args, &snapshot, (machine, out, begun), progress);
    let summary = watched(&args.talk, work)?;
    warn_of_cap(snapshot.manifest(), summary.common_shingles.keys, &args.talk);
    print_summary(&summary, out, args.talk.quiet, args.talk.json_progress);
    Ok(ExitCode::SUCCESS)
}

/// The pipeline.
fn export(
    args: &ExportArgs,
    snapshot: &Snapshot,
    (machine, out, begun): (Machine, Option<&Path>, Instant),
    progress: &Arc<Progress>,
) -> Result<Summary> {
    let place = RunFolder::new(out)?;
    let again = RecomputeRequest {
        overrides: choice(&args.choices)?,
        pairs: args.pairs,
        resources: machine.resources(place.path(), None),
    };
    let (mut outcome, documents) = snapshot.recompute_with_origins(again, Arc::clone(progress))?;
    let most = args.keep_per_cluster.map_or(1, NonZeroUsize::get);
    outcome.findings.keep_per_cluster(most, &outcome.run.documents.catalogue);
    let export = Export::new(snapshot, &outcome, &documents);
    let finish = |kept_bytes: Option<u64>| -> Result<Summary> {
        let (files, bytes) = export.inputs();
        let mut summary = summarise(&Discovery::default(), &outcome, &[])?;
        summary.inputs = InputFigures { files, bytes, text_bytes: outcome.tally.text_bytes };
        (summary.kept_bytes, summary.memory_limit_bytes) = (kept_bytes, machine.memory);
        summary.keep_per_cluster = Some(most).filter(|most| *most > 1);
        summary.peak_memory_bytes = peak_memory();
        summary.set_seconds(begun.elapsed().as_secs_f64());
        Ok(summary)
    };
    let RunFolder::Output(staging) = place else {
        export.check()?;
        return finish(None);
    };
    // The files first: they may not be there any more.
    let kept = export.write(staging.path())?;
    Lists::new(&outcome).written_as(args.lists.choice()).write(staging.path(), &[])?;
    let summary = finish(Some(kept.bytes_out))?;
    summary.write(staging.path())?;
    progress.check()?;
    staging.commit(progress)?;
    Ok(summary)
}
