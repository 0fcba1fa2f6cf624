//! The operator that nets the changes of a load: of several for one id the last one counts.

use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::Shared;
use super::catalogue::Doc;
use super::dedup_exact::Arrival;
use crate::sketch::Digest;

/// What a record does to the document of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// It has this canonical text now.
    Text(Digest),
    /// It has a text without a token now.
    Empty,
    /// It stays as it is.
    Unchanged,
    /// It goes.
    Delete,
}

/// One record of a load, on its way to the worker that sees all records of its id.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// Digest of the id.
    pub id: u128,
    /// Digest of all that is stored of the record.
    pub fingerprint: u128,
    /// Where the record stands, as bits.
    pub position: u64,
    /// Its row in the catalogue; none for what stays as it is.
    pub doc: Option<Doc>,
    /// What it does.
    pub kind: Kind,
}

/// Passes on the texts that count, and those that do not as superseded ones; the changes that count are gathered.
pub fn net<'scope>(
    changes: Stream<'scope, u64, Vec<Change>>,
    shared: Arc<Shared>,
) -> Stream<'scope, u64, Vec<Arrival>> {
    let by_id = Exchange::new(|change: &Change| change.id as u64);
    changes.unary_frontier::<CapacityContainerBuilder<Vec<Arrival>>, _, _, _>(by_id, "Net", |cap, _| {
        let mut held: Vec<Change> = Vec::new();
        let mut cap = Some(cap);
        move |(input, frontier), output| {
            input.for_each_time(|_, data| data.for_each(|batch| held.append(batch)));
            let Some(cap) = cap.take_if(|_| frontier.is_empty()) else { return };
            let mut all = std::mem::take(&mut held);
            let mut session = output.session(&cap);
            let counting = netted(&mut all, |change, counts| match (change.kind, change.doc) {
                (Kind::Text(digest), Some(doc)) if counts => {
                    session.give(Arrival::new(digest, doc, change.position));
                }
                (Kind::Text(digest), Some(doc)) => {
                    session.give(Arrival::superseded(digest, doc, change.position));
                }
                _ => {}
            });
            drop(session);
            shared.gather_changes(&counting, all.len() - counting.len());
        }
    })
}

/// The last change of each id; `each` gets every change, and whether it counts.
fn netted(changes: &mut [Change], mut each: impl FnMut(&Change, bool)) -> Vec<Change> {
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
