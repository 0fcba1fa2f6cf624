//! The operator that finds equal canonical texts: one key, accepted on one shared (methods section 1).

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::Shared;
use super::buckets::Keyed;
use super::catalogue::Doc;
use crate::sketch::Digest;

/// A document with at least one token, on its way to the worker that sees all texts of its digest. Twenty-four bytes
/// without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct Arrival {
    /// High half of the digest of the canonical text.
    pub digest: u64,
    /// Its low half.
    pub rest: u64,
    /// The document.
    pub doc: u64,
}

impl Arrival {
    /// The arrival of a document.
    pub fn new(digest: Digest, doc: Doc) -> Arrival {
        Arrival { digest: (digest >> 64) as u64, rest: digest as u64, doc: u64::from(doc) }
    }
}

impl Keyed for Arrival {
    fn key(&self) -> u64 {
        self.digest
    }
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
pub fn dedup_exact<'scope>(
    arrivals: Stream<'scope, u64, Vec<Arrival>>,
    shared: Arc<Shared>,
) -> Stream<'scope, u64, Vec<Copy>> {
    let scope = arrivals.scope();
    let by_digest = Exchange::new(|arrival: &Arrival| arrival.digest);
    arrivals.unary_frontier::<CapacityContainerBuilder<Vec<Copy>>, _, _, _>(
        by_digest,
        "DedupExact",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut store = shared.arrivals();
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(|batch| shared.store(&mut store, batch)));
                let Some(held) = cap.as_ref().filter(|_| frontier.is_empty()) else { return };
                // By now all is read, so all positions are known.
                match shared.next_bucket(&mut store) {
                    Some(mut bucket) => {
                        let position = |doc: Doc| shared.catalogue.position(doc);
                        output.session(held).give_iterator(copies(&mut bucket, position));
                        activator.activate();
                    }
                    None => cap = None,
                }
            }
        },
    )
}

/// All but the first of each run of equal digests.
fn copies<P: Ord>(arrivals: &mut [Arrival], position: impl Fn(Doc) -> P) -> impl Iterator<Item = Copy> {
    let digest = |arrival: &Arrival| (arrival.digest, arrival.rest);
    arrivals.sort_unstable_by_key(digest);
    arrivals.chunk_by(move |a, b| digest(a) == digest(b)).filter(|same| same.len() > 1).flat_map(
        move |same| {
            let docs = same.iter().map(|arrival| arrival.doc as Doc);
            let first = docs.clone().min_by_key(|doc| position(*doc));
            docs.filter(move |doc| Some(*doc) != first)
                .map(move |doc| Copy { doc, first: first.unwrap_or(doc) })
        },
    )
}
