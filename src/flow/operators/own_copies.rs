//! The operator of a load that tells the reader of each document whether it is the first of its text.

use std::sync::{Arc, Mutex};

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use crate::flow::distributed::topology::Topology;
use crate::flow::records::ExactDuplicate;
use crate::flow::status::lock;

/// By worker of this process, the documents it has read that are not the first of their text.
#[derive(Debug)]
pub struct OwnCopies {
    topology: Topology,
    by_worker: Vec<Mutex<Vec<ExactDuplicate>>>,
}

impl OwnCopies {
    /// None yet.
    pub fn new(topology: Topology) -> OwnCopies {
        OwnCopies { topology, by_worker: topology.local_workers().map(|_| Mutex::default()).collect() }
    }

    /// Those of a worker of this process, ascending; once all are known, and only once.
    pub fn take(&self, worker: usize) -> Vec<ExactDuplicate> {
        let mut copies = std::mem::take(&mut *lock(&self.by_worker[self.local(worker)]));
        copies.sort_unstable_by_key(|copy| copy.doc);
        copies
    }

    fn local(&self, worker: usize) -> usize {
        worker - self.topology.local_workers().start
    }
}

/// Brings copies to the workers that have read them. The output carries nothing; its frontier tells when all are there.
pub fn bring_to_readers<'scope>(
    copies: Stream<'scope, u64, Vec<ExactDuplicate>>,
    own: Arc<OwnCopies>,
    worker: usize,
) -> Stream<'scope, u64, Vec<()>> {
    let topology = own.topology;
    let to_reader = Exchange::new(move |copy: &ExactDuplicate| topology.owner_of(copy.doc) as u64);
    copies.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to_reader, "BringToReaders", |_, _| {
        move |input, _output| {
            input.for_each_time(|_, data| {
                data.for_each(|batch| lock(&own.by_worker[own.local(worker)]).append(batch));
            });
        }
    })
}
