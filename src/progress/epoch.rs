//! What an epoch of a load came to in one process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What an epoch of a load came to in one process: what that process read and found, not what all did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpochDone {
    /// The load's number.
    pub load: u64,
    /// The epoch's number in the load, from 1; those before an interruption count.
    pub epoch: u32,
    /// Whether it was the last one of the load.
    pub last: bool,
    /// The number of the process.
    pub process: usize,
    /// Records read, refused ones not included.
    pub records: u64,
    /// Records refused.
    pub refused: u64,
    /// Bytes of the inputs read, as they are on disk.
    pub bytes: u64,
    /// Postings collided.
    pub postings: u64,
    /// Pairs looked at.
    pub candidates: u64,
    /// Pairs found linked.
    pub links: u64,
    /// Seconds from its beginning until it was durable; where process 0 sees to that, until this process's part was done.
    pub seconds: f64,
    /// Of these the seconds in each stage, by its name.
    pub stages: BTreeMap<String, f64>,
    /// The most memory the process has held at once so far, in bytes, where the system tells.
    pub memory_peak_bytes: Option<u64>,
    /// Bytes sent to other processes.
    pub wire_sent_bytes: u64,
    /// Bytes received from other processes.
    pub wire_received_bytes: u64,
}
