//! The operator that finds equal canonical texts: one key, accepted on one shared (methods section 1).

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::catalogue::Doc;

/// A document with at least one token, on its way to the worker that sees all texts of its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Arrival {
    /// High and low half of the digest of the canonical text.
    pub digest: (u64, u64),
    /// The document's position, as bits.
    pub position: u64,
    /// The document.
    pub doc: Doc,
}

/// A document whose canonical text an earlier document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Copy {
    /// The document.
    pub doc: Doc,
    /// The first document of that text: its *content* goes by this number.
    pub first: Doc,
}

/// Names every document that is not the first of its text.
pub fn dedup_exact<'scope>(arrivals: Stream<'scope, u64, Vec<Arrival>>) -> Stream<'scope, u64, Vec<Copy>> {
    let by_digest = Exchange::new(|arrival: &Arrival| arrival.digest.0);
    arrivals.unary_frontier::<CapacityContainerBuilder<Vec<Copy>>, _, _, _>(
        by_digest,
        "DedupExact",
        |cap, _| {
            let mut held: Vec<Arrival> = Vec::new();
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(|batch| held.append(batch)));
                if !frontier.is_empty() {
                    return;
                }
                if let Some(cap) = cap.take() {
                    let mut all = std::mem::take(&mut held);
                    output.session(&cap).give_iterator(copies(&mut all));
                }
            }
        },
    )
}

/// All but the first of each run of equal digests.
fn copies(arrivals: &mut [Arrival]) -> impl Iterator<Item = Copy> + '_ {
    arrivals.sort_unstable();
    arrivals
        .chunk_by(|a, b| a.digest == b.digest)
        .flat_map(|same| same[1..].iter().map(|later| Copy { doc: later.doc, first: same[0].doc }))
}
