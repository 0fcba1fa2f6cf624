//! The operator that counts how many keys each pair shares, and passes on the pairs that share enough.
//!
//! A document at a time: its groups are walked, and what stands behind it in each is counted in an array with a
//! place for every document. No pair is ever sorted or sent; where documents resemble each other, each pair would
//! be there once for every key it shares.

use std::sync::Arc;

use hashbrown::HashMap;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::catalogue::outlines::{Outline, Prefixes};
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::rounds::{Index, Rounds};
use crate::flow::records::{Candidate, KeyGroups, Pair};
use crate::limits::sized;
use crate::similarity::AcceptanceRule;

/// Counts how often each document is met.
enum KeyCounter {
    /// In an array with a place for every document.
    Dense {
        counts: Vec<u32>,
        /// What was met, in the first `distinct` places; one place more than there are documents.
        met: Vec<Doc>,
        distinct: usize,
    },
    /// By sorting, where such an array would take too much memory.
    Sorting(Vec<Doc>),
}

impl KeyCounter {
    /// A counter for documents below a limit that takes `bytes` at most, if it can.
    fn new(limit: usize, bytes: u64) -> KeyCounter {
        if (limit as u64).saturating_mul(8) > bytes {
            return KeyCounter::Sorting(Vec::new());
        }
        KeyCounter::Dense { counts: vec![0; limit], met: vec![0; limit + 1], distinct: 0 }
    }

    fn add(&mut self, docs: &[Doc]) {
        match self {
            KeyCounter::Dense { counts, met, distinct } => {
                for doc in docs {
                    // Written always, counted if new: no branch to mispredict.
                    let count = &mut counts[*doc as usize];
                    met[*distinct] = *doc;
                    *distinct += usize::from(*count == 0);
                    *count += 1;
                }
            }
            KeyCounter::Sorting(met) => met.extend_from_slice(docs),
        }
    }

    /// Everything met so often or more, with its count, to `each`; nothing is counted any more afterwards.
    fn drain(&mut self, fewest: u32, mut each: impl FnMut(Doc, u32)) {
        match self {
            KeyCounter::Dense { counts, met, distinct } => {
                for doc in &met[..std::mem::take(distinct)] {
                    let count = std::mem::take(&mut counts[*doc as usize]);
                    if count >= fewest {
                        each(*doc, count);
                    }
                }
            }
            KeyCounter::Sorting(met) => {
                met.sort_unstable();
                let same = met.chunk_by(|a, b| a == b).filter(|same| same.len() >= fewest as usize);
                same.for_each(|same| each(same[0], same.len() as u32));
                met.clear();
            }
        }
    }
}

/// Candidates emitted, or pairs met, in one activation.
const SLICE: usize = sized(1 << 18, 7);

/// The counting of one worker: a round for each range of its rows whose groups fit in memory, which is all of them
/// unless there is a bound.
struct PairCounting {
    groups: Rounds,
    index: Index,
    counter: KeyCounter,
    /// Pairs that share fewer keys are not looked at.
    fewest: u32,
    row: usize,
    base: Doc,
    worker: usize,
    workers: usize,
}

impl PairCounting {
    fn new(groups: Rounds, sets: &DocumentSets, worker: usize) -> PairCounting {
        sets.find_spared();
        let (context, catalogue) = (&sets.context, &sets.documents.catalogue);
        let (limit, base) = (catalogue.doc_limit(), catalogue.base());
        let counter = KeyCounter::new(limit, context.memory.budget.part(Share::Counter));
        PairCounting {
            groups,
            index: Index::default(),
            counter,
            fewest: context.rule.map_or(1, AcceptanceRule::fewest),
            row: 0,
            base,
            worker,
            workers: context.topology.all(),
        }
    }

    /// Counts on until about a slice is done, and gives each pair met often enough, the one first where it is counted, and how often;
    /// false when nothing is left.
    fn advance(&mut self, mut each: impl FnMut(Doc, Doc, u32)) -> Result<bool> {
        if self.row == self.index.rows.end {
            self.index = Index::default();
            let Some(index) = self.groups.next_round()? else { return Ok(false) };
            self.row = index.rows.start;
            self.index = index;
        }
        let mut met = 0;
        while self.row < self.index.rows.end && met < SLICE {
            let doc = self.base + (self.row * self.workers + self.worker) as Doc;
            self.index.touch(self.row + 1);
            for partners in self.index.partners(self.row) {
                met += partners.len();
                self.counter.add(partners);
            }
            self.counter.drain(self.fewest, |other, shared| {
                // Two keys of a document may be the same once they are cut.
                if other != doc {
                    each(doc, other, shared);
                }
            });
            self.row += 1;
        }
        Ok(true)
    }
}

/// No key groups yet, for a worker that has read all its input.
fn no_groups(sets: &DocumentSets, worker: usize) -> Rounds {
    let (context, catalogue) = (&sets.context, &sets.documents.catalogue);
    Rounds::new(
        catalogue.rows(worker),
        catalogue.base(),
        (worker, context.topology.all()),
        context.memory.budget.part(Share::Groups),
        &context.memory.scratch,
    )
}

/// Counts pairs at the owner of one of the two; passes on those that share enough keys. The rows of all documents are
/// known once `known` has nothing more to come.
pub fn count<'scope>(
    groups: Stream<'scope, u64, Vec<KeyGroups>>,
    known: Stream<'scope, u64, Vec<()>>,
    sets: Arc<DocumentSets>,
    worker: usize,
    prefixes: Prefixes,
) -> Stream<'scope, u64, Vec<Candidate>> {
    let scope = groups.scope();
    let owner = Exchange::new(|groups: &KeyGroups| u64::from(groups.owner));
    groups.binary_frontier::<_, CapacityContainerBuilder<Vec<Candidate>>, _, _, _, _>(
        known,
        owner,
        Pipeline,
        "Count",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut received = None;
            let mut hot_keys = HashMap::new();
            let mut counting = None;
            let mut cap = Some(cap);
            move |(input, frontier), (rows, known), output| {
                let status = &sets.context.status;
                rows.for_each_time(|_, data| data.for_each(Vec::clear));
                input.for_each_time(|_, data| {
                    for groups in data.flat_map(|batch| batch.drain(..)).filter(|_| !status.failed()) {
                        sets.record_stored_sizes(groups.stored_sizes.iter().copied());
                        groups.hot.iter().for_each(|doc| *hot_keys.entry(*doc).or_insert(0) += 1);
                        // Groups are sent once all is read, so the rows of this worker are known.
                        let received = received.get_or_insert_with(|| no_groups(&sets, worker));
                        received.take_in(&groups).unwrap_or_else(|error| status.fail(error));
                    }
                });
                let all = frontier.is_empty() && known.is_empty();
                let Some(held) = cap.as_ref().filter(|_| all) else { return };
                let counting = counting.get_or_insert_with(|| {
                    let groups = received.take().unwrap_or_else(|| no_groups(&sets, worker));
                    Some(PairCounting::new(groups, &sets, worker))
                });
                let mut session = output.session(held);
                let more = counting.as_mut().filter(|_| !status.failed()).map_or(Ok(false), |counting| {
                    let mut last: Option<(Outline<'_>, u32)> = None;
                    counting.advance(|doc, other, shared| {
                        let (own, more) = match last {
                            Some(known) if known.0.doc == doc => known,
                            // Under hot keys nobody was counted. Those of one of the two are as many as both can share.
                            _ => *last.insert((sets.outline(doc), hot_keys.get(&doc).copied().unwrap_or(0))),
                        };
                        if sets.enough(own, other, shared + more, &prefixes) {
                            session.give(Candidate { pair: Pair::new(doc, other), shared });
                        }
                    })
                });
                drop(session);
                match more {
                    Ok(true) => activator.activate(),
                    ended => {
                        (*counting, cap) = (None, None);
                        ended.map(drop).unwrap_or_else(|error| status.fail(error));
                    }
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_like_a_map(all in prop::collection::vec(prop::collection::btree_set(0u32..24, 2..8), 0..30),
                             workers in 1usize..4, bytes in prop::sample::select(vec![0u64, 1 << 20]),
                             fewest in 1u32..4) {
            let folder = tempfile::tempdir().expect("a folder");
            let mut truth: BTreeMap<Pair, u32> = BTreeMap::new();
            let mut rounds: Vec<Rounds> =
                (0..workers).map(|w| Rounds::new(24, 0, (w, workers), bytes, folder.path())).collect();
            for group in &all {
                let docs: Vec<Doc> = group.iter().copied().collect();
                let following: Vec<u32> = (0..group.len() as u32).rev().collect();
                for (i, a) in docs.iter().enumerate() {
                    docs[i + 1..].iter().for_each(|b| *truth.entry(Pair::new(*a, *b)).or_default() += 1);
                }
                let groups = KeyGroups { docs, following, ..KeyGroups::default() };
                rounds.iter_mut().for_each(|rounds| rounds.take_in(&groups).expect("taken in"));
            }
            let mut counted = BTreeMap::new();
            for (worker, groups) in rounds.into_iter().enumerate() {
                let (counter, index) = (KeyCounter::new(24, bytes), Index::default());
                let mut counting = PairCounting { groups, index, counter, fewest, row: 0, base: 0, worker, workers };
                let mut twice = 0;
                while counting.advance(|a, b, shared| twice += usize::from(counted.insert(Pair::new(a, b), shared).is_some())).expect("counted") {}
                prop_assert_eq!(twice, 0);
            }
            truth.retain(|_, shared| *shared >= fewest);
            prop_assert_eq!(counted, truth);
        }
    }
}
