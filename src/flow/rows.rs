//! Rows of documents, sent to the processes that need them: all of them to process 0, which names documents, and the sizes
//! of their sets to all others.

use std::sync::Arc;

use hashbrown::HashMap;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::Shared;
use super::budget::Share;
use super::catalogue::{Rows, Segment};
use crate::config::Method;
use crate::error::Result;

/// Rows of one worker, on their way to another one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct RowsSent {
    to: u32,
    from: u32,
    rows: Rows,
}

/// Rows that are sent at a time.
const SLICE: usize = 4 << 10;

impl Shared {
    /// Segments that this process holds: its own workers', and in process 0 all.
    pub(super) fn segments_held(&self) -> usize {
        if self.crew.process() == 0 { self.crew.all() } else { self.crew.workers() }
    }

    /// The rows of a worker of this process for the other processes, slice by slice.
    pub(super) fn rows_for_others(&self, worker: usize) -> impl Iterator<Item = Result<RowsSent>> {
        // Equal texts are told by digests alone.
        let sizes = self.config.method != Method::Exact;
        let others = self.crew.others().filter(move |process| *process == 0 || sizes);
        let slices = others.flat_map(move |process| {
            let rows = self.catalogue.rows(worker);
            (0..rows).step_by(SLICE).map(move |from| (process, from..rows.min(from + SLICE)))
        });
        slices.map(move |(process, range)| {
            let rows = self.catalogue.some_rows(worker, range, process == 0)?;
            Ok(RowsSent { to: self.crew.first_of(process) as u32, from: worker as u32, rows })
        })
    }

    fn take_rows(&self, segments: &mut HashMap<u32, Segment>, sent: RowsSent) -> Result<()> {
        let segment = segments.entry(sent.from).or_insert_with(|| self.no_rows());
        segment.take_in(sent.rows)?;
        let sent: u64 = segments.values().map(Segment::bytes).sum();
        self.budget.allow_whole(Share::Rows, sent + self.catalogue.bytes(), "the documents of all processes")
    }

    /// A segment without rows.
    pub(super) fn no_rows(&self) -> Segment {
        let load = self.stored().is_some();
        Segment::new(&self.config.cluster.keep, load, self.segments_held(), &self.budget, &self.scratch)
    }
}

/// Makes the rows that other processes send known to this one. The output carries nothing; its frontier tells when the
/// rows of all workers are known.
pub fn know<'scope>(
    sent: Stream<'scope, u64, Vec<RowsSent>>,
    shared: Arc<Shared>,
    worker: usize,
) -> Stream<'scope, u64, Vec<()>> {
    let to = Exchange::new(|sent: &RowsSent| u64::from(sent.to));
    sent.unary_frontier::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "Rows", |cap, _| {
        let mut segments = HashMap::new();
        let mut cap = Some(cap);
        move |(input, frontier), _output| {
            input.for_each_time(|_, data| {
                for sent in data.flat_map(|batch| batch.drain(..)).filter(|_| !shared.failed()) {
                    shared.take_rows(&mut segments, sent).unwrap_or_else(|error| shared.fail(error));
                }
            });
            if frontier.is_empty() && cap.take().is_some() && worker == shared.crew.own().start {
                for worker in (0..shared.crew.all()).filter(|worker| !shared.crew.own().contains(worker)) {
                    let rows = segments.remove(&(worker as u32)).unwrap_or_else(|| shared.no_rows());
                    shared.catalogue.publish(worker, rows);
                }
            }
        }
    })
}
