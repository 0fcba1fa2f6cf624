//! What a run tells the outside while it works, and how the outside tells it to stop.

mod epoch;
mod mark;
pub mod profile;
mod stage;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use epoch::EpochDone;
pub use mark::Mark;
use profile::Profile;
pub use stage::Stage;

use crate::error::{Error, Result};
use crate::metrics::{Metric, Metrics};

/// Counters of a run, shared between its workers and whoever displays them.
#[derive(Debug, Default)]
pub struct Progress {
    stage: AtomicU8,
    done: Arc<AtomicU64>,
    total: AtomicU64,
    metrics: Metrics,
    clock: Mutex<Clock>,
    profile: OnceLock<Arc<Profile>>,
    epochs: Mutex<Vec<EpochDone>>,
    stop: Arc<AtomicBool>,
}

/// The time spent in each stage.
#[derive(Debug)]
struct Clock {
    /// When the present stage was entered.
    entered: Instant,
    /// What earlier visits have come to.
    spent: [Duration; Stage::ALL.len()],
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { entered: Instant::now(), spent: Default::default() }
    }
}

/// A lock that nobody can leave half written behind it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// Counters of work within a stage, which nobody is shown; where time is profiled, that of this work is. Who stops one
    /// stops both.
    pub fn aside(&self) -> Progress {
        Progress { stop: Arc::clone(&self.stop), profile: self.profile.clone(), ..Progress::default() }
    }

    /// Enters a stage that has `total` units of work (bytes where it reads or writes, else items); 0 is unknown.
    pub fn enter(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        let mut clock = lock(&self.clock);
        let (left, now) = (self.stage(), Instant::now());
        let spent = now - clock.entered;
        clock.spent[left as usize] += spent;
        clock.entered = now;
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed)).min(Stage::ALL.len() - 1)]
    }

    /// Seconds spent in each stage so far, in the order of [`Stage::ALL`].
    pub fn stage_seconds(&self) -> [f64; Stage::ALL.len()] {
        let clock = lock(&self.clock);
        let mut spent = clock.spent;
        spent[self.stage() as usize] += clock.entered.elapsed();
        spent.map(|time| time.as_secs_f64())
    }

    /// The counters of all stages together.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Has the times of operators added to a profile, from the next run of the dataflow on. Only the first call counts.
    pub fn profile_in(&self, profile: Arc<Profile>) {
        // What is there already is that of the first call.
        let _ = self.profile.set(profile);
    }

    /// What the times of operators are added to, if they are wanted.
    pub fn profile(&self) -> Option<&Arc<Profile>> {
        self.profile.get()
    }

    /// Tells what an epoch came to.
    pub fn tell_epoch(&self, done: EpochDone) {
        lock(&self.epochs).push(done);
    }

    /// What was told of epochs since this was asked last, in order.
    pub fn take_epochs(&self) -> Vec<EpochDone> {
        std::mem::take(&mut lock(&self.epochs))
    }

    /// Counts work done in the present stage.
    pub fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    /// What counts the work done in the present stage, for whoever does it.
    pub fn counter(&self) -> &Arc<AtomicU64> {
        &self.done
    }

    /// Counts documents read.
    pub fn add_documents(&self, count: u64) {
        self.metrics.add(Metric::Documents, count);
    }

    /// Documents read so far.
    pub fn documents(&self) -> u64 {
        self.metrics.get(Metric::Documents)
    }

    /// The present stage, the work done in it, and its total (0: unknown).
    pub fn now(&self) -> (Stage, u64, u64) {
        (self.stage(), self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Asks the run to stop at the next opportunity; safe to call from a signal handler.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// What is set when the run was asked to stop.
    pub fn stop_flag(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Whether the run was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Fails once the run was asked to stop.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the run was asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_begins_with_nothing_done() {
        let progress = Progress::default();
        assert_eq!(progress.now(), (Stage::Open, 0, 0));
        for stage in Stage::ALL {
            progress.enter(stage, 10);
            assert_eq!(progress.now(), (stage, 0, 10));
            progress.advance(3);
            progress.advance(4);
            assert_eq!(progress.now(), (stage, 7, 10));
        }
        progress.add_documents(5);
        progress.add_documents(6);
        assert_eq!(progress.documents(), 11);
    }

    #[test]
    fn the_time_of_all_stages_is_all_time() {
        let progress = Progress::default();
        let begun = Instant::now();
        for stage in [Stage::Read, Stage::Collide, Stage::Read] {
            progress.enter(stage, 0);
            std::thread::sleep(Duration::from_millis(10));
        }
        let spent = progress.stage_seconds();
        assert!(spent[Stage::Read as usize] >= 0.02 && spent[Stage::Collide as usize] >= 0.01, "{spent:?}");
        assert!(spent.iter().sum::<f64>() <= begun.elapsed().as_secs_f64() + 0.01);
    }

    #[test]
    fn epochs_are_told_once() {
        let progress = Progress::default();
        for epoch in 1..3 {
            progress.tell_epoch(EpochDone { epoch, ..EpochDone::default() });
        }
        let told: Vec<u32> = progress.take_epochs().iter().map(|done| done.epoch).collect();
        assert_eq!((told, progress.take_epochs()), (vec![1, 2], Vec::new()));
    }

    #[test]
    fn stages_are_named_alike_in_text_and_in_json() {
        for (number, stage) in (0u8..).zip(Stage::ALL) {
            assert_eq!(stage as u8, number);
            assert_eq!(serde_json::to_value(stage).expect("JSON"), stage.name());
        }
    }

    #[test]
    fn a_stop_is_an_error_from_then_on() {
        let progress = Progress::default();
        assert!(progress.check().is_ok() && !progress.stopped());
        let aside = progress.aside();
        progress.stop();
        assert!(progress.stopped() && aside.stopped());
        assert!(matches!(progress.check(), Err(Error::Interrupted)));
    }
}
