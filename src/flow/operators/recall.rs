//! The operators that make sets known where they are measured: `recall_wanted` derives them at the owner of each document,
//! `receive_sets` takes in those of other processes.

use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use crate::document::Doc;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::spill::SLICE;
use crate::flow::packed::by_worker::by_worker;
use crate::flow::packed::container::PackedRecords;
use crate::flow::records::{Sent, Wanted};

/// Derives the sets of the documents wanted, each once, at its owner, and publishes them to the process; those that other
/// processes want are put out for them.
pub fn recall_wanted<'scope>(
    wanted: Stream<'scope, u64, Vec<Wanted>>,
    sets: Arc<DocumentSets>,
    worker: usize,
) -> Stream<'scope, u64, PackedRecords<Sent>> {
    let (scope, topology) = (wanted.scope(), sets.context.topology);
    let owner = Exchange::new(move |(doc, _): &Wanted| topology.owner_of(*doc) as u64);
    wanted.unary_frontier::<CapacityContainerBuilder<PackedRecords<Sent>>, _, _, _>(
        owner,
        "Recall",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut all: Vec<Wanted> = Vec::new();
            let mut remote = None;
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(|batch| all.append(batch)));
                let Some(held) = cap.as_ref().filter(|_| frontier.is_empty()) else { return };
                let remote = remote.get_or_insert_with(|| {
                    recall_all(&sets, &mut all, worker);
                    // What is left is for other processes.
                    std::mem::take(&mut all).into_iter()
                });
                let (mut session, status) = (output.session(held), &sets.context.status);
                let (mut scratch, mut words) = (Vec::new(), 0);
                while let Some((doc, process)) = remote.next().filter(|_| !status.failed()) {
                    let to = topology.first_of(process as usize) + topology.receiver_of(doc);
                    match sets.set(doc, &mut scratch) {
                        Ok(set) => {
                            words += set.len();
                            session.give((to as u32, doc, set.to_vec()));
                        }
                        Err(error) => status.fail(error),
                    }
                    if words > SLICE {
                        return activator.activate();
                    }
                }
                drop(session);
                // What others wait for does not come where the run has failed: they must hear why, and not that all is there.
                cap = cap.take().filter(|_| status.failed());
            }
        },
    )
}

/// Recalls the sets of all that is wanted of a worker, and leaves in the list what other processes want.
fn recall_all(sets: &DocumentSets, wanted: &mut Vec<Wanted>, worker: usize) {
    wanted.sort_unstable();
    wanted.dedup();
    let mut docs: Vec<Doc> = wanted.iter().map(|(doc, _)| *doc).collect();
    docs.dedup();
    let context = &sets.context;
    let mut recalled = context.memory.sets(Share::Sets);
    wanted.retain(|(_, process)| *process as usize != context.topology.process());
    if !context.status.failed()
        && let Err(error) = sets.recall(&docs, &mut recalled)
    {
        context.status.fail(error);
    }
    sets.publish_recalled(worker, recalled);
}

/// Takes in the sets that other processes have sent, and publishes them to this one. The output carries nothing; its
/// frontier tells when all sets that are wanted are there.
pub fn receive_sets<'scope>(
    sent: Stream<'scope, u64, PackedRecords<Sent>>,
    sets: Arc<DocumentSets>,
    worker: usize,
) -> Stream<'scope, u64, Vec<()>> {
    let to = by_worker(|(to, ..): &Sent| *to as usize);
    sent.unary_frontier::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "ReceiveSets", |cap, _| {
        let mut received = Some(sets.context.memory.sets(Share::Fetched));
        let mut cap = Some(cap);
        move |(input, frontier), _output| {
            let status = &sets.context.status;
            input.for_each_time(|_, data| {
                let all = data.flat_map(|batch| batch.records(status).drain(..));
                for (_, doc, set) in all.filter(|_| !status.failed()) {
                    let taken = received.as_mut().map_or(Ok(()), |received| received.insert(doc, &set));
                    taken.unwrap_or_else(|error| status.fail(error));
                }
            });
            if frontier.is_empty() && cap.take().is_some() {
                received.take().into_iter().for_each(|received| sets.publish_received(worker, received));
            }
        }
    })
}
