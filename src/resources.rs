//! What a process may use of its machine, and the processes that work with it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::peers::Peers;
use crate::simd::Simd;

/// What a process may use of its machine, and the processes that work with it.
#[derive(Clone)]
pub struct Resources {
    /// Worker threads of this process, at least 1. All processes of a job have as many.
    pub workers: usize,
    /// Bytes the process may use; what grows beyond its share goes to disk, or is refused. `None`: no bound.
    pub memory: Option<u64>,
    /// Vector instructions to use, all of which this machine has.
    pub simd: Simd,
    /// An existing folder for spill files.
    pub scratch: PathBuf,
    /// The other processes of the job, if there are any.
    pub peers: Option<Arc<Peers>>,
}
