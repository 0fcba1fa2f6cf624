//! The candidates of all workers of a process, until it is known who takes which.

use std::sync::{Mutex, OnceLock};

use crate::flow::memory::spill::Piles;
use crate::flow::records::Candidate;

/// Candidates that are to be divided, a pile of each worker.
#[derive(Default)]
pub struct CandidatePortions {
    /// Those that nobody has taken back.
    pub piles: Mutex<Piles<Candidate>>,
    /// The worker that takes each document of a candidate; none where each has some.
    pub takers: OnceLock<Vec<u32>>,
}
