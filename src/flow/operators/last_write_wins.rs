//! The operator of a load by which the last write wins: of several changes of one id the last one counts.

use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use crate::flow::records::{Arrival, Change, ChangeKind};
use crate::flow::results::gathered::Collector;

/// Passes on the texts that count, and those that do not as superseded ones; the changes that count are gathered.
pub fn last_write_wins<'scope>(
    changes: Stream<'scope, u64, Vec<Change>>,
    collector: Arc<Collector>,
) -> Stream<'scope, u64, Vec<Arrival>> {
    let by_id = Exchange::new(|change: &Change| change.id as u64);
    changes.unary_frontier::<CapacityContainerBuilder<Vec<Arrival>>, _, _, _>(
        by_id,
        "LastWriteWins",
        |cap, _| {
            let mut held: Vec<Change> = Vec::new();
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(|batch| held.append(batch)));
                let Some(cap) = cap.take_if(|_| frontier.is_empty()) else { return };
                let mut all = std::mem::take(&mut held);
                let mut session = output.session(&cap);
                let counting = each_last(&mut all, |change, counts| match (change.kind, change.doc) {
                    (ChangeKind::Text(digest), Some(doc)) if counts => {
                        session.give(Arrival::new(digest, doc, change.position));
                    }
                    (ChangeKind::Text(digest), Some(doc)) => {
                        session.give(Arrival::superseded(digest, doc, change.position));
                    }
                    _ => {}
                });
                drop(session);
                collector.add_changes(&counting, all.len() - counting.len());
            }
        },
    )
}

/// The last change of each id; `each` gets every change, and whether it counts.
fn each_last(changes: &mut [Change], mut each: impl FnMut(&Change, bool)) -> Vec<Change> {
    changes.sort_unstable_by_key(|change| (change.id, change.position));
    let mut counting = Vec::with_capacity(changes.len());
    for of_id in changes.chunk_by(|a, b| a.id == b.id) {
        let (earlier, last) = of_id.split_at(of_id.len() - 1);
        earlier.iter().for_each(|change| each(change, false));
        last.iter().for_each(|change| each(change, true));
        counting.extend_from_slice(last);
    }
    counting
}
