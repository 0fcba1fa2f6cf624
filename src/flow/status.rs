//! How a run stands in one process: its stage, whether it is over, and with which error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};

/// How a run stands in one process.
pub struct RunStatus {
    /// Counters for whoever watches, and how the run is stopped.
    pub progress: Arc<Progress>,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
    stages: Mutex<Vec<(Stage, Instant)>>,
}

/// A lock whose holder cannot leave a half-made state behind: every use is one append or one take.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunStatus {
    /// A run that begins now.
    pub fn new(progress: Arc<Progress>) -> RunStatus {
        let stages = Mutex::new(vec![(Stage::Open, Instant::now())]);
        RunStatus { progress, failure: Mutex::default(), failed: AtomicBool::new(false), stages }
    }

    /// Enters a stage and notes the time.
    pub fn enter(&self, stage: Stage, total: u64) {
        lock(&self.stages).push((stage, Instant::now()));
        self.progress.enter(stage, total);
    }

    /// Seconds spent in each stage entered so far, the present one included.
    pub fn stage_seconds(&self) -> Vec<(Stage, f64)> {
        let stages = lock(&self.stages);
        let ends = stages.iter().skip(1).map(|(_, at)| *at).chain([Instant::now()]);
        stages.iter().zip(ends).map(|((stage, start), end)| (*stage, (end - *start).as_secs_f64())).collect()
    }

    /// When each stage was entered, in order.
    pub fn stages_entered(&self) -> Vec<(Stage, Instant)> {
        lock(&self.stages).clone()
    }

    /// Ends the run with an error; the first one counts.
    pub fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Ends the run here because it has ended elsewhere.
    pub fn give_way(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether the run is over without a result.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.progress.stopped()
    }

    /// The error the workers ended with, if any.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if a user asked to stop, or else the first error that the run was ended with.
    pub fn verdict(&self) -> Result<()> {
        self.progress.check()?;
        lock(&self.failure).take().map_or(Ok(()), Err)
    }
}
