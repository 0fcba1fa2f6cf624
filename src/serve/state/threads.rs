//! Where what waits for a disk, or computes, is done: on a bounded number of threads, so that nobody waits behind all others.

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::Semaphore;

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

/// The bounds.
pub struct Threads {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    /// Room to wait for either.
    waiting: Semaphore,
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
        let bound = |most| Arc::new(Semaphore::new(most));
        let waiting = Semaphore::new((connections / WAITING_PART).clamp(1, Semaphore::MAX_PERMITS));
        Threads { quick: bound(quick), slow: bound(SLOW), waiting }
    }

    /// Threads that a runtime needs for `quick` quick ones, a change, and the watch.
    pub fn most(quick: usize) -> usize {
        quick + SLOW + 2
    }

    /// Does work on a thread of its own as soon as one is free. It is asked to stop once nobody waits for it.
    ///
    /// # Errors
    /// 503 where too many wait already, and what the work gives.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&Progress) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let bound = if lane == Lane::Quick { &self.quick } else { &self.slow };
        let failed = || HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
        let place = self.waiting.try_acquire().map_err(|_| HttpError::busy(1, "too many are asking"))?;
        let permit = Arc::clone(bound).acquire_owned().await.map_err(|_| failed())?;
        drop(place);
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
}
