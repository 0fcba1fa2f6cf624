//! Which unit is read next, among all workers of all processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Result;
use crate::peers::Peers;

/// Hands out numbers of units, each once.
pub enum UnitQueue {
    /// To the workers of a process that works alone.
    Local(AtomicUsize),
    /// To the workers of all processes of this run, by its number among those of the job.
    Shared(Arc<Peers>, u64),
    /// To nobody: this process cannot read the inputs.
    Closed(Arc<Peers>, u64),
}

impl UnitQueue {
    /// The units of a run before the first is read. A process that cannot read the inputs gets none; it counts the run
    /// all the same.
    pub fn new(peers: Option<Arc<Peers>>, reads: bool) -> UnitQueue {
        let Some(peers) = peers else { return UnitQueue::Local(AtomicUsize::new(0)) };
        let run = peers.next_run();
        if reads { UnitQueue::Shared(peers, run) } else { UnitQueue::Closed(peers, run) }
    }

    /// The other processes, and the number of this run among those of the job.
    pub fn peers(&self) -> Option<(&Peers, u64)> {
        match self {
            UnitQueue::Local(_) => None,
            UnitQueue::Shared(peers, run) | UnitQueue::Closed(peers, run) => Some((peers, *run)),
        }
    }

    /// The next unit; past the last one numbers go on.
    ///
    /// # Errors
    /// [`crate::error::Error::Lost`] and [`crate::error::Error::GaveUp`] if another process has ended.
    pub fn take(&self) -> Result<usize> {
        match self {
            UnitQueue::Local(next) => Ok(next.fetch_add(1, Ordering::Relaxed)),
            UnitQueue::Shared(peers, run) => Ok(peers.mesh().take(*run)? as usize),
            UnitQueue::Closed(..) => Ok(usize::MAX),
        }
    }
}
