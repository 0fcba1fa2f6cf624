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
use crate::error::Result;
use crate::sketch::Digest;

/// A document with at least one token, on its way to the worker that sees all texts of its digest. Thirty-two bytes
/// without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct Arrival {
    /// High half of the digest of the canonical text.
    pub digest: u64,
    /// Its low half.
    pub rest: u64,
    /// Where it stands, as bits.
    pub position: u64,
    /// The document.
    pub doc: u64,
}

impl Arrival {
    /// The arrival of a document that stands at a position.
    pub fn new(digest: Digest, doc: Doc, position: u64) -> Arrival {
        Arrival { digest: (digest >> 64) as u64, rest: digest as u64, position, doc: u64::from(doc) }
    }

    /// The arrival of a document that a later record of its id replaces.
    pub fn superseded(digest: Digest, doc: Doc, position: u64) -> Arrival {
        Arrival { doc: u64::from(doc) | SUPERSEDED, ..Arrival::new(digest, doc, position) }
    }

    fn is_superseded(&self) -> bool {
        self.doc & SUPERSEDED != 0
    }
}

/// A bit above all document numbers.
const SUPERSEDED: u64 = 1 << 32;

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
    /// The first document of that text: its *content* goes by this number. [`NO_DOC`] if a later record of the same
    /// load replaced the document.
    pub first: Doc,
}

/// The number of no document.
pub const NO_DOC: Doc = Doc::MAX;

/// Names every document that is not the first of its text.
pub fn dedup_exact<'scope>(
    arrivals: Stream<'scope, u64, Vec<Arrival>>,
    shared: Arc<Shared>,
    worker: usize,
) -> Stream<'scope, u64, Vec<Copy>> {
    let scope = arrivals.scope();
    let crew = shared.crew;
    let by_digest = Exchange::new(move |arrival: &Arrival| crew.of_key(arrival.digest) as u64);
    arrivals.unary_frontier::<CapacityContainerBuilder<Vec<Copy>>, _, _, _>(
        by_digest,
        "DedupExact",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut store = shared.arrivals(worker);
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(|batch| shared.store(&mut store, batch)));
                let Some(held) = cap.as_ref().filter(|_| frontier.is_empty()) else { return };
                match shared.next_bucket(&mut store) {
                    Some(mut bucket) => {
                        let contents = stored_contents(&shared, &mut bucket).unwrap_or_else(|error| {
                            shared.fail(error);
                            Vec::new()
                        });
                        output.session(held).give_iterator(copies(&bucket, &contents));
                        activator.activate();
                    }
                    None => cap = None,
                }
            }
        },
    )
}

/// Sorts arrivals by digest; for each distinct digest the stored content that has it. Empty if there is nothing stored.
fn stored_contents(shared: &Shared, arrivals: &mut [Arrival]) -> Result<Vec<Option<Doc>>> {
    let digest = |arrival: &Arrival| (arrival.digest, arrival.rest);
    arrivals.sort_unstable_by_key(digest);
    let Some(stored) = shared.stored() else { return Ok(Vec::new()) };
    let distinct = arrivals.chunk_by(|a, b| digest(a) == digest(b));
    let digests: Vec<u64> = distinct.flat_map(|same| [same[0].digest, same[0].rest]).collect();
    let mut contents = vec![None; digests.len() / 2];
    stored.contents(&digests, &mut |at, content| contents[at] = Some(content))?;
    Ok(contents)
}

/// All but the first of each run of equal digests; all of it if the text is that of a stored content.
fn copies(arrivals: &[Arrival], contents: &[Option<Doc>]) -> impl Iterator<Item = Copy> {
    let same = |a: &Arrival, b: &Arrival| (a.digest, a.rest) == (b.digest, b.rest);
    arrivals.chunk_by(same).enumerate().flat_map(move |(at, same)| {
        let stored = contents.get(at).copied().flatten();
        let counting = same.iter().filter(|arrival| !arrival.is_superseded());
        let first = counting.min_by_key(|arrival| arrival.position).map(|arrival| arrival.doc as Doc);
        let first = stored.or(first);
        let copy = move |arrival: &Arrival| Copy {
            doc: arrival.doc as Doc,
            first: first.filter(|_| !arrival.is_superseded()).unwrap_or(NO_DOC),
        };
        same.iter().map(copy).filter(|copy| copy.first != copy.doc)
    })
}
