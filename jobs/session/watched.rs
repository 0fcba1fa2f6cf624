//! Work with its progress on the terminal, which Ctrl-C stops.

use std::sync::Arc;

use alike::error::Result;
use alike::peers::Peers;
use alike::progress::Progress;

use crate::cli::common::TalkArgs;
use crate::cluster::job::DistributedJob;
use crate::terminal::display::{Display, Mode};
use crate::terminal::interrupt::stop_on_interrupt;
use crate::terminal::stderr::warn_as_json;

/// Does a load while its progress is shown and Ctrl-C stops it.
pub(crate) fn watched<T>(talk: &TalkArgs, work: impl FnOnce(&Arc<Progress>) -> Result<T>) -> Result<T> {
    let progress = Arc::new(Progress::default());
    stop_on_interrupt(Arc::clone(&progress))?;
    warn_as_json(talk.json_progress);
    let display = Display::start(Arc::clone(&progress), Mode::choose(talk.quiet, talk.json_progress));
    let done = work(&progress);
    display.finish();
    done
}

/// Does a job of one process or many, watched: where this process is alone, or process 0, what `lead` does, elsewhere what
/// `assist` does; at the end tells where the time went. `None` elsewhere than in process 0.
pub(crate) fn watched_job<T>(
    job: &DistributedJob,
    talk: &TalkArgs,
    workers: usize,
    lead: impl FnOnce(Option<&Arc<Peers>>, &Arc<Progress>) -> Result<T>,
    assist: impl FnOnce(&Arc<Peers>, &Arc<Progress>) -> Result<()>,
) -> Result<Option<T>> {
    let done = watched(talk, |progress| {
        let lead = |peers: Option<Arc<Peers>>| lead(peers.as_ref(), progress);
        job.work(workers, progress, lead, |peers| assist(peers, progress))
    });
    job.print_profile(done)
}
