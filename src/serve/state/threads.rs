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

/// The bounds.
pub struct Threads {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
}

/// Stops work whose answer nobody waits for any more.
struct StopAtEnd(Arc<Progress>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Threads {
    /// So many threads for quick work.
    pub fn new(quick: usize) -> Threads {
        Threads { quick: Arc::new(Semaphore::new(quick)), slow: Arc::new(Semaphore::new(SLOW)) }
    }

    /// Threads that a runtime needs for `quick` quick ones, a change, and the watch.
    pub fn most(quick: usize) -> usize {
        quick + SLOW + 2
    }

    /// Does work on a thread of its own as soon as one is free. It is asked to stop once nobody waits for it.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce(&Progress) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let bound = if lane == Lane::Quick { &self.quick } else { &self.slow };
        let failed = || HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed");
        let permit = Arc::clone(bound).acquire_owned().await.map_err(|_| failed())?;
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
