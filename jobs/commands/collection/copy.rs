//! `alike copy`: a commit of a collection in a folder of its own.

use std::process::ExitCode;

use alike::collection::{CopyReport, copy_commit};
use alike::error::Result;
use alike::printable::counted;

use crate::cli::collections::CopyArgs;
use crate::session::watched::watched;
use crate::terminal::reporter::Reporter;
use crate::terminal::stdout::stdout_error;

pub(crate) fn run(args: &CopyArgs) -> Result<ExitCode> {
    let report = watched(&args.report.talk, |progress| {
        copy_commit(&args.collection, args.when.at.as_ref(), &args.copy, progress)
    })?;
    let CopyReport { commit, files, bytes, linked } = report;
    let reporter = Reporter::new(&args.report);
    reporter.line(&format!(
        "{}: commit {commit} of {}; {} of {bytes} bytes, {linked} of them linked and not copied",
        args.copy.display(),
        args.collection.display(),
        counted(files, "file")
    ));
    reporter.object(&serde_json::to_value(report).map_err(|e| stdout_error(e.into()))?)
}
