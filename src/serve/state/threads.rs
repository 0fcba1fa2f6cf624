//! Where what waits for a disk, or computes, is done: on a bounded number of threads, so that nobody waits behind all others.

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::progress::Progress;
use crate::serve::http::answer::HttpError;

/// How long work may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Milliseconds.
    Quick,
    /// Seconds, if much is asked for.
    Slow,
}

/// Work of the second kind at a time: it may fill the threads of its own, and no others.
const SLOW: usize = 4;

/// One connection in so many may wait for a thread: those that wait for their answer cannot be let go, and others have to be let in.
const WAITING_PART: usize = 4;

/// The threads of a lane that are free, and the places where others wait for one.
struct LaneBound {
    free: Arc<Semaphore>,
    waiting: Semaphore,
}

/// The bounds.
pub struct Threads {
    quick: LaneBound,
    slow: LaneBound,
}

/// Stops work whose answer nobody waits for any more.
struct StopAtEnd(Arc<Progress>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Threads {
    /// So many threads for quick work, for so many connections.
    pub fn new(quick: usize, connections: usize) -> Threads {
        let waiting = (connections / WAITING_PART).clamp(1, Semaphore::MAX_PERMITS);
        let bound =
            |most| LaneBound { free: Arc::new(Semaphore::new(most)), waiting: Semaphore::new(waiting) };
        Threads { quick: bound(quick), slow: bound(SLOW) }
    }

    /// Threads that a runtime needs for `quick` quick ones, a change, and the watch.
    pub fn most(quick: usize) -> usize {
        quick + SLOW + 2
    }

    /// Does work on a thread of its own as soon as one is free. It is asked to stop once nobody waits for it.
    ///
    /// # Errors
    /// 503 where too many wait for the lane already, and what the work gives.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&Progress) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let LaneBound { free, waiting } = if lane == Lane::Quick { &self.quick } else { &self.slow };
        let permit = match Arc::clone(free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let _place = waiting.try_acquire().map_err(|_| HttpError::busy(1, "too many are asking"))?;
                Arc::clone(free).acquire_owned().await.map_err(|_| failed())?
            }
        };
        done(permit, work).await
    }

    /// Does quick work for callers whose number is bounded already: however many others wait.
    ///
    /// # Errors
    /// What the work gives.
    pub async fn run_next<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Progress) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let permit = Arc::clone(&self.quick.free).acquire_owned().await.map_err(|_| failed())?;
        done(permit, work).await
    }
}

fn failed() -> HttpError {
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed")
}

/// Does work on a thread of its own, which is taken as long as it takes.
async fn done<T: Send + 'static>(
    permit: OwnedSemaphorePermit,
    work: impl FnOnce(&Progress) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let progress = Arc::new(Progress::default());
    let guard = StopAtEnd(Arc::clone(&progress));
    let done = tokio::task::spawn_blocking(move || {
        let done = work(&progress);
        drop(permit);
        done
    });
    let done = done.await.unwrap_or_else(|panic| {
        Err(HttpError { within: Some(format!("a request panicked: {panic}")), ..failed() })
    });
    drop(guard);
    done
}
