//! The operator that counts how many keys each pair shares, and passes on the pairs that share enough.

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;

use super::catalogue::Doc;

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

    /// Where the pair is counted.
    fn route(self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
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

/// Fewest pairs held before they are folded into the counts.
const FOLD: usize = 4 << 20;

/// Counts of pairs: sorted runs of counts, and pairs not folded in yet.
#[derive(Default)]
struct Counter {
    fresh: Vec<Pair>,
    counted: Vec<Candidate>,
}

impl Counter {
    fn extend(&mut self, pairs: &mut Vec<Pair>) {
        self.fresh.append(pairs);
        if self.fresh.len() > FOLD.max(self.counted.len() / 2) {
            self.fold();
        }
    }

    /// Sorts what is fresh and merges it into the counts.
    fn fold(&mut self) {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        let runs = fresh.chunk_by(|a, b| a == b);
        let mut runs = runs.map(|run| Candidate { pair: run[0], shared: run.len() as u32 }).peekable();
        let old = std::mem::take(&mut self.counted);
        let mut merged = Vec::with_capacity(old.len());
        for mut candidate in old {
            while let Some(run) = runs.next_if(|run| run.pair < candidate.pair) {
                merged.push(run);
            }
            if let Some(run) = runs.next_if(|run| run.pair == candidate.pair) {
                candidate.shared += run.shared;
            }
            merged.push(candidate);
        }
        merged.extend(runs);
        self.counted = merged;
    }
}

/// Counts pairs; `enough` looks at the final count of each.
pub fn count<'scope>(
    pairs: Stream<'scope, u64, Vec<Pair>>,
    enough: impl Fn(Candidate) -> bool + 'static,
) -> Stream<'scope, u64, Vec<Candidate>> {
    let by_pair = Exchange::new(|pair: &Pair| pair.route());
    pairs.unary_frontier::<CapacityContainerBuilder<Vec<Candidate>>, _, _, _>(by_pair, "Count", |cap, _| {
        let mut counter = Counter::default();
        let mut cap = Some(cap);
        move |(input, frontier), output| {
            input.for_each_time(|_, data| data.for_each(|batch| counter.extend(batch)));
            if !frontier.is_empty() {
                return;
            }
            if let Some(cap) = cap.take() {
                counter.fold();
                let counted = std::mem::take(&mut counter.counted);
                output.session(&cap).give_iterator(counted.into_iter().filter(|candidate| enough(*candidate)));
            }
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
        fn counts_like_a_map(rounds in prop::collection::vec(prop::collection::vec((0u32..12, 0u32..12), 0..60), 0..6)) {
            let mut counter = Counter::default();
            let mut truth: BTreeMap<Pair, u32> = BTreeMap::new();
            for round in rounds {
                let mut pairs: Vec<Pair> = round.iter().map(|(a, b)| Pair::new(*a, *b + 12)).collect();
                for pair in &pairs {
                    *truth.entry(*pair).or_default() += 1;
                }
                counter.extend(&mut pairs);
                counter.fold();
            }
            let counted: Vec<(Pair, u32)> = counter.counted.iter().map(|c| (c.pair, c.shared)).collect();
            prop_assert_eq!(counted, truth.into_iter().collect::<Vec<_>>());
        }
    }
}
