//! What the workers of a load have written.

use crate::collection::run::writer::{RunSummary, RunWriter};

/// What workers have written, by worker.
#[derive(Debug, Default)]
pub(super) struct WorkersWritten {
    /// Runs that newcomers have yet to be added to.
    pub runs: Vec<(usize, RunWriter)>,
    /// What those for records hold.
    pub records: Vec<(usize, RunSummary)>,
}
