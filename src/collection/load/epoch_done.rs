//! What an epoch came to in a process, for the metrics.

use crate::metrics::Metric;
use crate::peers::Peers;
use crate::progress::{EpochDone, Mark, Progress};
use crate::system_memory::peak_memory;

/// The counters of this process before an epoch.
pub(in crate::collection) fn mark(progress: &Progress, peers: Option<&Peers>) -> Mark {
    Mark::new(progress, peers.map_or((0, 0), |peers| peers.mesh().traffic().both()))
}

/// What an epoch came to in this process, since `before`; `at` are the numbers of the load and of the epoch.
pub(in crate::collection) fn came_to(
    progress: &Progress,
    peers: Option<&Peers>,
    before: &Mark,
    (load, epoch): (u64, u32),
    last: bool,
) -> EpochDone {
    let process = peers.map_or(0, |peers| peers.mesh().process());
    let counted = before.until(&mark(progress, peers));
    EpochDone { load, epoch, last, process, memory_peak_bytes: peak_memory(), ..counted }
}

/// Tells that an epoch is done.
pub(in crate::collection) fn tell(progress: &Progress, done: EpochDone) {
    progress.metrics().add(Metric::Epochs, 1);
    progress.tell_epoch(done);
}
