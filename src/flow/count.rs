//! The operator that counts how many keys each pair shares, and passes on the pairs that share enough.
//!
//! A document at a time: its groups are walked, and what stands behind it in each is counted in an array with a
//! place for every document. No pair is ever sorted or sent; where documents resemble each other, each pair would
//! be there once for every key it shares.

use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::Shared;
use super::catalogue::Doc;
use crate::error::Error;

/// An unordered pair of documents, packed: the smaller number above the larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Pair(u64);

impl Pair {
    /// The pair of two different documents, in either order.
    pub fn new(a: Doc, b: Doc) -> Pair {
        Pair(u64::from(a.min(b)) << 32 | u64::from(a.max(b)))
    }

    /// Both documents, the smaller number first.
    pub fn docs(self) -> (Doc, Doc) {
        ((self.0 >> 32) as Doc, self.0 as Doc)
    }
}

/// A pair and the number of keys it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Candidate {
    /// The pair.
    pub pair: Pair,
    /// Keys both have.
    pub shared: u32,
}

/// Key groups on their way to the home of some of their members, or all that a worker has received: to be paired
/// with each member are as many of the documents behind it as `following` says.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Groups {
    /// The worker it goes to.
    pub home: u32,
    /// Members of one group after another.
    pub docs: Vec<Doc>,
    /// For each member, the number of members behind it that it pairs with.
    pub following: Vec<u32>,
}

/// The places of a worker's documents in groups.
#[derive(Default)]
struct Index {
    docs: Vec<Doc>,
    starts: Vec<usize>,
    places: Vec<Place>,
}

/// Where a document stands in a group. Most groups are of two: then the partner itself stands here, and the group,
/// which lies anywhere in memory, need not be looked at.
#[derive(Clone, Copy, Default)]
struct Place {
    /// First partner: its place among the members, or the partner itself if there is only one.
    first: u32,
    /// Number of partners, at least one.
    partners: u32,
}

impl Index {
    /// Lists for each of this worker's documents where it stands in groups.
    fn build(groups: Groups, worker: usize, workers: usize) -> Index {
        let mut starts: Vec<usize> = vec![0];
        for (row, _) in leads(&groups, worker, workers) {
            if starts.len() < row + 2 {
                starts.resize(row + 2, 0);
            }
            starts[row + 1] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut places = vec![Place::default(); starts.last().copied().unwrap_or(0)];
        let mut next = starts.clone();
        for (row, at) in leads(&groups, worker, workers) {
            let partners = groups.following[at];
            let first = if partners == 1 { groups.docs[at + 1] } else { at as u32 + 1 };
            places[next[row]] = Place { first, partners };
            next[row] += 1;
        }
        Index { docs: groups.docs, starts, places }
    }

    fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The documents that a row is to be paired with, a slice for each group.
    fn partners(&self, row: usize) -> impl Iterator<Item = &[Doc]> {
        self.places[self.starts[row]..self.starts[row + 1]].iter().map(|place| match place.partners {
            1 => std::slice::from_ref(&place.first),
            count => &self.docs[place.first as usize..][..count as usize],
        })
    }
}

impl Groups {
    /// Adds what another worker found; false if places no longer fit in 32 bits.
    fn append(&mut self, groups: &Groups) -> bool {
        // Two large allocations: growing them moves no bytes, and all of their memory goes back when they are dropped.
        self.docs.extend_from_slice(&groups.docs);
        self.following.extend_from_slice(&groups.following);
        u32::try_from(self.docs.len()).is_ok()
    }
}

/// The members of groups that a worker is home to and that have partners: their rows and places.
fn leads(groups: &Groups, worker: usize, workers: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let all = groups.docs.iter().zip(&groups.following).enumerate();
    all.filter(move |(_, (doc, following))| **following > 0 && **doc as usize % workers == worker)
        .map(move |(at, (doc, _))| (*doc as usize / workers, at))
}

/// Counts how often each document is met.
#[derive(Default)]
struct Counter {
    counts: Vec<u32>,
    /// What was met, in the first `distinct` places; one place more than there are documents.
    met: Vec<Doc>,
    distinct: usize,
}

impl Counter {
    /// A counter for documents below a limit.
    fn new(limit: usize) -> Counter {
        Counter { counts: vec![0; limit], met: vec![0; limit + 1], distinct: 0 }
    }

    fn add(&mut self, docs: &[Doc]) {
        for doc in docs {
            // Written always, counted if new: no branch to mispredict.
            let count = &mut self.counts[*doc as usize];
            self.met[self.distinct] = *doc;
            self.distinct += usize::from(*count == 0);
            *count += 1;
        }
    }

    /// Everything met with its count; all counts are 0 again when it is through.
    fn drain(&mut self) -> impl Iterator<Item = (Doc, u32)> + '_ {
        let met = &self.met[..std::mem::take(&mut self.distinct)];
        let counts = &mut self.counts;
        met.iter().map(|doc| (*doc, std::mem::take(&mut counts[*doc as usize])))
    }
}

/// Candidates emitted, or pairs met, in one activation.
const SLICE: usize = 1 << 20;

/// Counts pairs at the home of one of the two; passes on those that share enough keys.
pub fn count<'scope>(
    groups: Stream<'scope, u64, Vec<Groups>>,
    shared: Arc<Shared>,
    worker: usize,
) -> Stream<'scope, u64, Vec<Candidate>> {
    let scope = groups.scope();
    let home = Exchange::new(|groups: &Groups| u64::from(groups.home));
    groups.unary_frontier::<CapacityContainerBuilder<Vec<Candidate>>, _, _, _>(home, "Count", |cap, info| {
        let activator = scope.activator_for(info.address);
        let (mut held, mut index, mut counter) = (Groups::default(), None, Counter::default());
        let mut row = 0;
        let mut cap = Some(cap);
        move |(input, frontier), output| {
            input.for_each_time(|_, data| {
                for groups in data.flat_map(|batch| batch.drain(..)) {
                    if !shared.failed() && !held.append(&groups) {
                        shared.fail(Error::Limit(
                            "more shared keys than a worker can hold; use more workers".into(),
                        ));
                    }
                }
            });
            if !frontier.is_empty() || cap.is_none() {
                return;
            }
            let index = index.get_or_insert_with(|| {
                counter = Counter::new(shared.catalogue.doc_limit());
                Index::build(std::mem::take(&mut held), worker, shared.workers)
            });
            let Some(held) = cap.as_ref().filter(|_| row < index.rows() && !shared.failed()) else {
                *index = Index { starts: vec![0], ..Index::default() };
                counter = Counter::default();
                cap = None;
                return;
            };
            let mut session = output.session(held);
            let mut met = 0;
            while row < index.rows() && met < SLICE {
                let doc = (row * shared.workers + worker) as Doc;
                for partners in index.partners(row) {
                    met += partners.len();
                    counter.add(partners);
                }
                let pairs = counter
                    .drain()
                    .map(|(other, count)| Candidate { pair: Pair::new(doc, other), shared: count });
                session.give_iterator(pairs.filter(|candidate| shared.enough(*candidate)));
                row += 1;
            }
            drop(session);
            activator.activate();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_like_a_map(all in prop::collection::vec(prop::collection::btree_set(0u32..24, 2..8), 0..30),
                             workers in 1usize..4) {
            let mut truth: BTreeMap<Pair, u32> = BTreeMap::new();
            let mut sent: Vec<Groups> = (0..workers as u32).map(|home| Groups { home, ..Groups::default() }).collect();
            for group in &all {
                let group: Vec<Doc> = group.iter().copied().collect();
                for groups in &mut sent {
                    groups.docs.extend(&group);
                    groups.following.extend((0..group.len() as u32).rev());
                }
                for (i, a) in group.iter().enumerate() {
                    group[i + 1..].iter().for_each(|b| *truth.entry(Pair::new(*a, *b)).or_default() += 1);
                }
            }
            let mut counted = BTreeMap::new();
            for (worker, groups) in sent.into_iter().enumerate() {
                let index = Index::build(groups, worker, workers);
                let mut counter = Counter::new(24);
                for row in 0..index.rows() {
                    index.partners(row).for_each(|partners| counter.add(partners));
                    for (other, count) in counter.drain() {
                        let old = counted.insert(Pair::new((row * workers + worker) as Doc, other), count);
                        prop_assert_eq!(old, None);
                    }
                }
            }
            prop_assert_eq!(counted, truth);
        }
    }
}
