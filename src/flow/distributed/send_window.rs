//! How much of what a process reads may wait for the network.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::flow::distributed::topology::Topology;
use crate::flow::packed::container::gathered_for_each;
use crate::flow::records::Arrival;
use crate::limits::MAX_UNSENT;
use crate::peers::Peers;

/// What a process has handed on to others, and how much of it is sent. Timely would take any amount.
pub struct SendWindow {
    peers: Arc<Peers>,
    /// Bytes that the workers have handed on, and what the connections had sent before.
    handed_on: AtomicU64,
    sent_before: u64,
    /// Bytes that may be gathered and not yet sent.
    allowed: u64,
}

impl SendWindow {
    /// A window before the first byte of a run.
    pub fn new(peers: Arc<Peers>, topology: Topology) -> SendWindow {
        // What is gathered for a worker before it is sent: up to a container of digests and one of postings.
        let remote = topology.all() - topology.workers();
        let container = gathered_for_each(topology.all()) * size_of::<Arrival>();
        let gathering = topology.workers() * remote * 2 * container;
        SendWindow {
            sent_before: peers.mesh().traffic().data_sent,
            handed_on: AtomicU64::new(0),
            allowed: MAX_UNSENT + gathering as u64,
            peers,
        }
    }

    /// Notes bytes that what a worker hands on to other processes takes at least.
    pub fn hand_on(&self, bytes: u64) {
        self.handed_on.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether more of it waits for the network than may be held.
    pub fn is_full(&self) -> bool {
        // On the wire all takes no less than was noted, so what was handed on is all sent in the end.
        let sent = self.peers.mesh().traffic().data_sent - self.sent_before;
        self.handed_on.load(Ordering::Relaxed) > sent + self.allowed
    }
}
