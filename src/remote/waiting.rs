//! Threads of their own for all requests, and waiting for one.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use super::state::StopFlag;
use super::trouble::{Outcome, Trouble};
use super::url::ObjectUrl;
use crate::error::Error;

/// Threads for all requests of a process: they only move bytes, and decrypt them.
const THREADS: usize = 2;
/// How often a wait looks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

/// The threads; `None` if the system gives none.
fn runtime() -> Option<&'static Runtime> {
    let new = || {
        Builder::new_multi_thread().worker_threads(THREADS).thread_name("alike-remote").enable_all().build()
    };
    RUNTIME.get_or_init(|| new().ok()).as_ref()
}

/// The error of a URL whose store cannot be spoken to at all.
pub(super) fn no_threads(url: &ObjectUrl) -> Option<Error> {
    runtime()
        .is_none()
        .then(|| Trouble::Failed("the system has no threads for requests".to_owned()).told(url, false))
}

/// Something under way.
#[derive(Debug)]
pub(super) struct Awaited<T> {
    receiver: Receiver<Outcome<T>>,
    abort: Option<AbortHandle>,
    /// Whether it is given up when nobody waits for it any more.
    pub(super) given_up: bool,
}

impl<T: Send + 'static> Awaited<T> {
    /// Begins something.
    pub(super) fn begin(work: impl Future<Output = Outcome<T>> + Send + 'static) -> Awaited<T> {
        let (send, receiver) = sync_channel(1);
        let abort = runtime().map(|runtime| {
            // Nobody waits any more for what was given up.
            runtime.spawn(async move { drop(send.send(work.await)) }).abort_handle()
        });
        Awaited { receiver, abort, given_up: true }
    }

    /// Waits for it.
    pub(super) fn wait(&self, stop: &StopFlag) -> Outcome<T> {
        loop {
            match self.receiver.recv_timeout(LOOK) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) if stop.is_set() => return Err(Trouble::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Trouble::Failed("the thread of requests is gone".to_owned()));
                }
            }
        }
    }
}

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        if let Some(abort) = self.abort.as_ref().filter(|_| self.given_up) {
            abort.abort();
        }
    }
}
