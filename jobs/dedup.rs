//! `alike dedup`: the run between its options and its report.

use std::process::ExitCode;
use std::sync::Arc;

use alike::error::{Error, Result};
use alike::progress::Progress;

use crate::display::{Display, Mode};
use crate::interrupt::stop_on_interrupt;
use crate::options::DedupOptions;

/// Deduplicates as `options` say and reports on standard error.
pub(crate) fn run(options: DedupOptions) -> Result<ExitCode> {
    if let Some(out) = options.out.as_ref().filter(|out| !options.dry_run && out.symlink_metadata().is_ok()) {
        return Err(Error::OutputExists(out.clone()));
    }
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    let display = Display::start(Arc::clone(&progress), Mode::choose(options.quiet, options.json_progress));
    let outcome = find(options, &progress);
    display.finish();
    outcome
}

/// The call of the library. It lies on another branch; until both meet, this refuses to pretend.
fn find(_options: DedupOptions, progress: &Progress) -> Result<ExitCode> {
    progress.check()?;
    Err(Error::config("dedup is not part of this build"))
}
