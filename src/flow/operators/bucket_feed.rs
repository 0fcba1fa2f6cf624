//! The part of an operator that waits for the end of its input: all that comes is stored in buckets of keys, and then
//! given out bucket after bucket.

use std::sync::Arc;

use timely::dataflow::operators::Capability;
use timely::scheduling::Activator;

use crate::flow::context::RunContext;
use crate::flow::memory::buckets::Buckets;
use crate::flow::memory::budget::Share;
use crate::flow::records::Keyed;

/// What one operator of one worker has stored, and how far it has given it out.
pub struct BucketFeed<T: Keyed> {
    context: Arc<RunContext>,
    store: Buckets<T>,
    activator: Activator,
    /// Held until the last bucket has been given out.
    cap: Option<Capability<u64>>,
}

impl<T: Keyed> BucketFeed<T> {
    /// An empty feed of an operator with this capability and activator. A bucket has what comes of `bytes` of input; what
    /// is more than `share` allows goes to disk.
    pub fn new(
        context: &Arc<RunContext>,
        worker: usize,
        (share, bytes): (Share, u64),
        cap: Capability<u64>,
        activator: Activator,
    ) -> BucketFeed<T> {
        let store = context.buckets(worker, share, bytes);
        BucketFeed { context: Arc::clone(context), store, activator, cap: Some(cap) }
    }

    /// Takes a batch in; the run fails if it cannot.
    pub fn take_in(&mut self, batch: &mut Vec<T>) {
        if !self.context.status.failed() {
            self.store.extend(batch).unwrap_or_else(|error| self.context.status.fail(error));
        }
        batch.clear();
    }

    /// Whether the last bucket was given out.
    pub fn is_last(&self) -> bool {
        self.store.is_empty()
    }

    /// One more bucket, and what to send by, once the input is complete; then the operator is activated again. `None`
    /// before, after the last bucket, and when the run has failed.
    pub fn give_out(&mut self, complete: bool) -> Option<(Vec<T>, &Capability<u64>)> {
        if !complete || self.cap.is_none() {
            return None;
        }
        let status = &self.context.status;
        let bucket = self.store.take_last(&|| status.failed()).unwrap_or_else(|error| {
            status.fail(error);
            None
        });
        let Some(bucket) = bucket.filter(|_| !self.context.status.failed()) else {
            self.cap = None;
            return None;
        };
        self.activator.activate();
        Some(bucket).zip(self.cap.as_ref())
    }
}
