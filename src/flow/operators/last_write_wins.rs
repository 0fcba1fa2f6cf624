//! The operator of a load by which the last write wins: of several changes of one id the last one counts.
//!
//! Of a text under an id that nobody else has, also in the collection, all is known where it was read, so the change does not come
//! here ([`super::first_halves`]).

use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::operators::generic::operator::Operator;

use crate::error::Result;
use crate::flow::context::RunContext;
use crate::flow::packed::by_worker::by_worker;
use crate::flow::packed::container::PackedRecords;
use crate::flow::records::{Arrival, Change, ChangeKind};
use crate::flow::results::gathered::Collector;
use crate::flow::stored::Stored;

/// Passes on the texts that do not count, as superseded ones. The changes that count are gathered, but for new texts under new
/// ids.
pub fn last_write_wins<'scope>(
    changes: Stream<'scope, u64, PackedRecords<Change>>,
    context: Arc<RunContext>,
    stored: Arc<dyn Stored>,
    collector: Arc<Collector>,
) -> Stream<'scope, u64, PackedRecords<Arrival>> {
    let topology = context.topology;
    // What is stored is sorted by the high half.
    let by_id = by_worker(move |change: &Change| topology.of_key((change.id >> 64) as u64));
    changes.unary_frontier::<CapacityContainerBuilder<PackedRecords<Arrival>>, _, _, _>(
        by_id,
        "LastWriteWins",
        |cap, _| {
            let mut held: Vec<Change> = Vec::new();
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| {
                    data.for_each(|batch| held.append(batch.records(&context.status)));
                });
                let Some(cap) = cap.take_if(|_| frontier.is_empty()) else { return };
                let mut all = std::mem::take(&mut held);
                let mut session = output.session(&cap);
                let mut superseded = Vec::new();
                let counting = each_last(&mut all, |change, counts| match (change.kind, change.doc) {
                    (ChangeKind::Text(digest), Some(doc)) if !counts => {
                        superseded.push(doc);
                        session.give(Arrival::superseded(digest, doc, change.position));
                    }
                    (_, doc) if !counts => superseded.extend(doc),
                    _ => {}
                });
                drop(session);
                let superseded = (all.len() - counting.len(), superseded);
                let gathered = of_known_ids(counting, &*stored);
                gathered
                    .map(|changes| collector.add_changes(&changes, superseded))
                    .unwrap_or_else(|error| context.status.fail(error));
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

/// Those of the changes, one of each id and ascending by it, that somebody has to look at beside the process that has read
/// the record: all but texts under ids that no row tells of, and records that change nothing.
fn of_known_ids(mut changes: Vec<Change>, stored: &dyn Stored) -> Result<Vec<Change>> {
    let is_text = |at: &usize| matches!(changes[*at].kind, ChangeKind::Text(_));
    let texts: Vec<usize> = (0..changes.len()).filter(is_text).collect();
    let ids = texts.iter().map(|at| changes[*at].id);
    let ids: Vec<u64> = ids.flat_map(|id| [(id >> 64) as u64, id as u64]).collect();
    let mut known = vec![false; changes.len()];
    stored.known_ids(&ids, &mut |at| known[texts[at]] = true)?;
    let mentions = stored.notes_mentioned();
    let mut known = known.into_iter();
    changes.retain(|change| {
        let known = known.next().unwrap_or_default();
        match change.kind {
            ChangeKind::Text(_) => known,
            ChangeKind::Unchanged => mentions,
            ChangeKind::Empty | ChangeKind::Delete => true,
        }
    });
    Ok(changes)
}
