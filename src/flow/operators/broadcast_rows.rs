//! Rows of documents, sent to the processes that need them: all of them to process 0, which names documents, and the sizes
//! of their sets to all others. In a load each process names what it has read, and process 0 gets sizes, too.

use std::sync::Arc;

use hashbrown::HashMap;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Broadcast;

use crate::error::Result;
use crate::flow::catalogue::Catalogue;
use crate::flow::catalogue::rows::SegmentRows;
use crate::flow::catalogue::segment::Segment;
use crate::flow::context::RunContext;
use crate::flow::documents::RunDocuments;
use crate::flow::memory::budget::Share;
use crate::flow::records::ExactDuplicate;
use crate::limits::sized;

/// Rows of one worker, on their way to another one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SentRows {
    to: u32,
    from: u32,
    rows: SegmentRows,
}

/// Rows that are sent at a time.
const SLICE: usize = sized(4 << 10, 5);

/// The rows of a worker of this process for the other processes, slice by slice.
pub fn rows_for_others(
    context: &RunContext,
    catalogue: &Catalogue,
    worker: usize,
) -> impl Iterator<Item = Result<SentRows>> {
    let topology = context.topology;
    // Equal texts are recognised by digests alone.
    let sizes = context.has_keys();
    let names_all = !catalogue.is_load();
    let others = topology.others().filter(move |process| *process == 0 || sizes);
    let slices = others.flat_map(move |process| {
        let rows = catalogue.rows(worker);
        (0..rows).step_by(SLICE).map(move |from| (process, from..rows.min(from + SLICE)))
    });
    slices.map(move |(process, range)| {
        let rows = catalogue.some_rows(worker, range, process == 0 && names_all)?;
        Ok(SentRows { to: topology.first_of(process) as u32, from: worker as u32, rows })
    })
}

/// The rows that a worker has received, by the worker that sent them.
#[derive(Default)]
struct Received(HashMap<u32, Segment>);

impl Received {
    fn take(&mut self, context: &RunContext, catalogue: &Catalogue, sent: SentRows) -> Result<()> {
        let empty = || catalogue.empty_segment(&context.memory);
        self.0.entry(sent.from).or_insert_with(empty).take_in(sent.rows)?;
        let bytes: u64 = self.0.values().map(Segment::bytes).sum::<u64>() + catalogue.bytes();
        context.memory.budget.allow_whole(Share::Rows, bytes, "the documents of all processes")
    }
}

/// Makes the rows that other processes send known to this one. The output carries nothing; its frontier tells when the
/// rows of all workers are known.
pub fn broadcast_rows<'scope>(
    sent: Stream<'scope, u64, Vec<SentRows>>,
    context: Arc<RunContext>,
    documents: Arc<RunDocuments>,
    worker: usize,
) -> Stream<'scope, u64, Vec<()>> {
    let to = Exchange::new(|sent: &SentRows| u64::from(sent.to));
    sent.unary_frontier::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "BroadcastRows", |cap, _| {
        let mut received = Received::default();
        let mut cap = Some(cap);
        move |(input, frontier), _output| {
            let catalogue = &documents.catalogue;
            input.for_each_time(|_, data| {
                for sent in data.flat_map(|batch| batch.drain(..)).filter(|_| !context.status.failed()) {
                    let taken = received.take(&context, catalogue, sent);
                    taken.unwrap_or_else(|error| context.status.fail(error));
                }
            });
            let local = context.topology.local_workers();
            if frontier.is_empty() && cap.take().is_some() && worker == local.start {
                for remote in (0..context.topology.all()).filter(|worker| !local.contains(worker)) {
                    let rows = received.0.remove(&(remote as u32));
                    catalogue
                        .publish(remote, rows.unwrap_or_else(|| catalogue.empty_segment(&context.memory)));
                }
            }
        }
    })
}

/// A worker, and how many of its rows are those of protected documents.
pub type ProtectedRows = (u32, u32);

/// Makes known in every process how many rows of each worker are those of protected documents. The output carries nothing; its
/// frontier tells when all are known.
pub fn broadcast_protected<'scope>(
    rows: Stream<'scope, u64, Vec<ProtectedRows>>,
    documents: Arc<RunDocuments>,
) -> Stream<'scope, u64, Vec<ExactDuplicate>> {
    rows.broadcast().unary::<CapacityContainerBuilder<Vec<ExactDuplicate>>, _, _, _>(
        Pipeline,
        "BroadcastProtected",
        |_, _| {
            move |input, _output| {
                input.for_each_time(|_, data| {
                    for (worker, rows) in data.flat_map(|batch| batch.drain(..)) {
                        documents.catalogue.add_protected(worker as usize, rows);
                    }
                });
            }
        },
    )
}
