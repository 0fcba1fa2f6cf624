//! What the workers of a process find out together of members that are too common.

use std::sync::{Mutex, OnceLock};

use crate::flow::common_members::slots::{SlotCounts, Suspects};
use crate::flow::common_members::tally::MemberTally;
use crate::flow::memory::document_bits::DocumentBits;
use crate::flow::status::lock;

/// What the workers of a process find out together.
#[derive(Default)]
pub struct CommonSearch {
    /// The counts of each worker.
    pub slots: Mutex<Vec<SlotCounts>>,
    /// The slots that may have a member that is too common.
    pub suspects: OnceLock<Suspects>,
    /// How often members of these are there.
    pub tally: Mutex<MemberTally>,
    /// The contents that have one of them.
    pub having: OnceLock<DocumentBits>,
}

impl CommonSearch {
    /// Takes what a worker has counted.
    pub fn add(&self, counts: SlotCounts) {
        lock(&self.slots).push(counts);
    }
}
