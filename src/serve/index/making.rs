//! What is made in the background, once, for whoever asks for it later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::serve::http::answer::HttpError;

/// Where the operator is told what goes wrong.
pub(in crate::serve) type OperatorLog = Arc<dyn Fn(&str) + Send + Sync>;

/// What came of it, once it is made.
type MadeOutcome<T> = std::result::Result<Arc<T>, ()>;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum MakingState {
    /// It is being made.
    Making {
        /// How much is done, of 1.
        share: f64,
    },
    /// It is there.
    Ready,
    /// It could not be made; the operator is told why.
    Failed,
}

/// Something that a thread makes. Who drops it ends the thread.
pub(in crate::serve) struct Making<T> {
    progress: Arc<Progress>,
    made: Arc<Mutex<Option<MadeOutcome<T>>>>,
    thread: Option<JoinHandle<()>>,
}

fn lock<T>(made: &Mutex<T>) -> MutexGuard<'_, T> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Send + Sync + 'static> Making<T> {
    /// Has something made. `what` is what the operator is told that could not be made.
    pub(in crate::serve) fn start(
        what: &'static str,
        log: OperatorLog,
        make: impl FnOnce(&Arc<Progress>) -> Result<T> + Send + 'static,
    ) -> Making<T> {
        let (progress, made) = (Arc::new(Progress::default()), Arc::new(Mutex::new(None)));
        let (watched, place) = (Arc::clone(&progress), Arc::clone(&made));
        let thread = std::thread::Builder::new().name("index".to_owned()).spawn(move || {
            let outcome = make(&watched);
            if let Err(error) = &outcome
                && !matches!(error, Error::Interrupted)
            {
                log(&format!("{what}: {error}"));
            }
            *lock(&place) = Some(outcome.map(Arc::new).map_err(drop));
        });
        if thread.is_err() {
            *lock(&made) = Some(Err(()));
        }
        Making { progress, made, thread: thread.ok() }
    }

    /// What was made, if it is there.
    pub(in crate::serve) fn ready(&self) -> Option<Arc<T>> {
        lock(&self.made).as_ref().and_then(|made| made.as_ref().ok()).cloned()
    }

    /// How far it is.
    pub(in crate::serve) fn state(&self) -> MakingState {
        let ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        match &*lock(&self.made) {
            Some(Ok(_)) => MakingState::Ready,
            Some(Err(())) => MakingState::Failed,
            // It has panicked.
            None if ended => MakingState::Failed,
            None => {
                let (_, done, total) = self.progress.now();
                MakingState::Making { share: (done as f64 / total.max(1) as f64).min(1.0) }
            }
        }
    }

    /// What was made.
    ///
    /// # Errors
    /// 503 while it is being made, and if it could not be.
    pub(in crate::serve) fn needed(&self, what: &str) -> std::result::Result<Arc<T>, HttpError> {
        if let Some(made) = self.ready() {
            return Ok(made);
        }
        Err(match self.state() {
            MakingState::Failed => {
                HttpError::busy(60, format!("{what} could not be read; the operator is told why"))
            }
            MakingState::Making { share } => {
                let share = (share * 100.0).floor();
                HttpError::busy(1, format!("{what} are being read, {share} % so far; ask again"))
            }
            MakingState::Ready => HttpError::busy(1, format!("{what} are there; ask again")),
        })
    }
}

impl<T> Drop for Making<T> {
    fn drop(&mut self) {
        self.progress.stop();
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::progress::Stage;

    fn log() -> (OperatorLog, Arc<Mutex<Vec<String>>>) {
        let told = Arc::<Mutex<Vec<String>>>::default();
        let lines = Arc::clone(&told);
        (Arc::new(move |line: &str| lock(&lines).push(line.to_owned())), told)
    }

    /// Waits until something is so.
    fn until(is: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it takes too long");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn who_asks_is_told_how_far_it_is() {
        let (go, wait) = mpsc::channel::<()>();
        let making = Making::start("a number", log().0, move |progress| {
            progress.enter(Stage::Read, 8);
            progress.advance(2);
            wait.recv().expect("told to go on");
            Ok(7)
        });
        until(|| making.state() == MakingState::Making { share: 0.25 });
        let busy = making.needed("the numbers").expect_err("not there yet");
        assert_eq!(
            (busy.status.as_u16(), &*busy.message),
            (503, "the numbers are being read, 25 % so far; ask again")
        );
        go.send(()).expect("sent");
        until(|| making.state() == MakingState::Ready);
        assert_eq!(making.needed("the numbers").ok().as_deref(), Some(&7));
    }

    #[test]
    fn what_fails_is_told_to_the_operator_alone() {
        let (log, told) = log();
        let failing: Making<()> = Making::start("notes", log, |_| Err(Error::config("no room in /secret")));
        until(|| failing.state() == MakingState::Failed);
        assert_eq!(*lock(&told), ["notes: no room in /secret"]);
        let error = failing.needed("the titles").expect_err("not there");
        assert_eq!((error.status.as_u16(), error.message.contains("secret")), (503, false));
    }

    #[test]
    fn dropping_it_ends_the_thread() {
        let making: Making<()> = Making::start("nothing", log().0, |progress| {
            loop {
                progress.check()?;
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        drop(making);
    }
}
