//! The memory of a run: what it may hold, and the folder of what it may not.

use std::path::PathBuf;

use bytemuck::Pod;

use crate::flow::memory::budget::{Budget, Share};
use crate::flow::memory::sets::Sets;
use crate::flow::memory::spill::Pile;

/// What a run may hold, and the folder of what it may not.
#[derive(Clone, Debug)]
pub struct RunMemory {
    /// The bound of the memory, and how it is shared out.
    pub budget: Budget,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
}

impl RunMemory {
    /// An empty pile, for one worker, which may hold that share of the memory.
    pub fn pile<T: Pod>(&self, share: Share) -> Pile<T> {
        Pile::new(self.budget.part(share), &self.scratch)
    }

    /// No sets yet, for one worker, which may hold that share of them.
    pub fn sets(&self, share: Share) -> Sets {
        Sets::new(self.budget.part(share), &self.scratch)
    }
}
