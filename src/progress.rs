//! What a run tells the outside while it works, and how the outside tells it to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The steps of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Stage {
    /// Finding and opening the inputs.
    Open,
    /// Reading, tokenising and sketching.
    Read,
    /// Grouping postings by key and counting shared keys.
    Collide,
    /// Measuring candidate pairs.
    Verify,
    /// Forming clusters.
    Cluster,
    /// Writing the output.
    Write,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Stage; 6] =
        [Stage::Open, Stage::Read, Stage::Collide, Stage::Verify, Stage::Cluster, Stage::Write];

    /// The stage's name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Open => "open",
            Stage::Read => "read",
            Stage::Collide => "collide",
            Stage::Verify => "verify",
            Stage::Cluster => "cluster",
            Stage::Write => "write",
        }
    }
}

/// Counters of a run, shared between its workers and whoever displays them.
#[derive(Debug, Default)]
pub struct Progress {
    stage: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
    documents: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// Counters of work within a stage, which nobody is shown. Who stops one stops both.
    pub fn aside(&self) -> Progress {
        Progress { stop: Arc::clone(&self.stop), ..Progress::default() }
    }

    /// Enters a stage that has `total` units of work (bytes where it reads or writes, else items); 0 is unknown.
    pub fn enter(&self, stage: Stage, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Counts work done in the present stage.
    pub fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Counts documents read.
    pub fn add_documents(&self, count: u64) {
        self.documents.fetch_add(count, Ordering::Relaxed);
    }

    /// Documents read so far.
    pub fn documents(&self) -> u64 {
        self.documents.load(Ordering::Relaxed)
    }

    /// The present stage, the work done in it, and its total (0: unknown).
    pub fn now(&self) -> (Stage, u64, u64) {
        let stage = Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed)).min(Stage::ALL.len() - 1)];
        (stage, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Asks the run to stop at the next opportunity; safe to call from a signal handler.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

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
