//! Candidates divided among workers, whole components of them, so that no two workers need the set of one document.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::worker::Worker;

use crate::components::Forest;
use crate::config::Clustering;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::distributed::exchange_all::{exchange_all, wait_for_all};
use crate::flow::document_sets::DOCUMENT;
use crate::flow::measuring::candidate_portions::CandidatePortions;
use crate::flow::measuring::in_order::joins_firsts;
use crate::flow::measuring_rounds::{
    is_alone, is_first_load, may_be_divided, may_be_measured_later, may_each_read,
};
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::mark;
use crate::flow::memory::spill::{Pile, Piles, SLICE};
use crate::flow::records::Candidate;
use crate::flow::run::{Division, RunParts};
use crate::flow::shared::shared;
use crate::flow::status::lock;
use crate::limits::sized;

/// More candidates than this for each document of one are measured as clusters are formed. Reading and measuring take turns there.
const DENSE: usize = sized(16, 0);
/// The greatest part may be so much larger than an even one, in percent.
const UNEVEN: u64 = 20;
/// Of two sets so many shingles are compared in the time in which one is made of a text.
const MEASURED: u64 = 32;
/// Bytes that dividing and measuring take for each document of the run, and for each candidate.
const BYTES: (u64, u64) = (32, 8);
/// Most of them, whatever the memory.
const MOST_ROOM: u64 = sized(1 << 40, 2000);

/// Whether candidates of a process that works alone may be divided: all workers can read texts again in order.
pub fn may_divide(run: &RunParts) -> bool {
    is_alone(run) && may_be_read_in_order(run)
}

/// Whether each worker of a process that forms clusters can read texts again, in the order they stand in.
pub fn may_be_read_in_order(run: &RunParts) -> bool {
    let may_be = are_apart(run) || may_be_measured_later(run);
    // Stored documents have no texts to be read in order.
    may_be && may_each_read(run) && !run.documents.are_replayed()
}

/// Whether the sets of a component are needed by nobody once its candidates are measured.
fn are_apart(run: &RunParts) -> bool {
    may_be_divided(run) || is_first_load(run)
}

/// Divides candidates of a run that has hot groups or not. Every worker calls it at the same place, if [`may_divide`] says so. Those that
/// are measured as clusters are formed are handed in.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn divide(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    has_hot_groups: bool,
) -> Result<Division> {
    let portions = shared(&run.shared.portions, CandidatePortions::default);
    lock(&portions.piles).push(candidates.replace(run.context.memory.pile(Share::Candidates)));
    wait_for_all(worker, &run.context);
    if worker.index() == 0 && !run.context.status.failed() {
        let mut piles = lock(&portions.piles);
        let (division, takers) = decide(run, &piles, has_hot_groups)?;
        if division == Division::Together {
            run.collector.add_unmeasured(std::mem::take(&mut *piles));
        }
        let is_first = run.divided.set(division).is_ok() && portions.takers.set(takers).is_ok();
        debug_assert!(is_first, "candidates are divided once");
    }
    wait_for_all(worker, &run.context);
    let division = run.divided.get().copied().unwrap_or(Division::Anyhow);
    let own = lock(&portions.piles).pop();
    if run.context.topology.workers() == 1 {
        own.into_iter().for_each(|own| _ = candidates.replace(own));
    } else if let Some(own) = own {
        let taken = Arc::clone(&portions);
        let route = move |candidate: &Candidate| {
            let (low, _) = candidate.pair.docs();
            let takers = taken.takers.get().map_or(&[][..], Vec::as_slice);
            takers.get(low as usize).map_or(u64::from(low), |taker| u64::from(*taker))
        };
        send(worker, run, &own, route, candidates);
    }
    Ok(division)
}

/// How all candidates are divided, and the worker that takes each document of one; none where each has some.
fn decide(
    run: &RunParts,
    candidates: &Piles<Candidate>,
    has_hot_groups: bool,
) -> Result<(Division, Vec<u32>)> {
    let (catalogue, workers) = (&run.documents.catalogue, run.context.topology.workers());
    let together = may_be_together(run, candidates.len()) && is_dense(candidates)?;
    let Some(held) = fits(run, candidates) else {
        // Else there may be as many links as candidates.
        let one_link_each = are_apart(run) && joins_firsts(run) && !has_hot_groups;
        let many = || !one_link_each && run.context.allow_graph(candidates.len(), 0, 0).is_err();
        let division = if together || may_be_together(run, candidates.len()) && many() {
            Division::Together
        } else if are_apart(run) {
            Division::Parts
        } else {
            Division::Anyhow
        };
        return Ok((division, Vec::new()));
    };
    // What is linked within hot groups is known only where clusters are formed. Until then it is not known who represents nobody.
    let size = |doc: Doc| u64::from(catalogue.size(doc));
    // Where clusters need few links, it takes little to find these out.
    let part = if joins_firsts(run) { 0 } else { 1 };
    let cost =
        Cost { of: &|doc| DOCUMENT + size(doc), of_pair: &|a, b| part * (size(a) + size(b)) / MEASURED };
    let components = (are_apart(run) && !(together && has_hot_groups))
        .then(|| take_components(&held, catalogue.doc_limit(), workers, &cost));
    Ok(match components.flatten() {
        Some(takers) => (Division::Components, takers),
        None if together => (Division::Together, Vec::new()),
        None => (Division::Anyhow, Vec::new()),
    })
}

/// Whether so many documents are candidates of each other that most links say nothing: a document joins one that stays.
fn is_dense(candidates: &Piles<Candidate>) -> Result<bool> {
    Ok(candidates.len() > DENSE * documents_of(candidates.iter())?)
}

/// How many documents candidates have.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn documents_of<'a>(piles: impl IntoIterator<Item = &'a Pile<Candidate>>) -> Result<usize> {
    let mut docs: Vec<u64> = Vec::new();
    for pile in piles {
        pile.each_slice(|some| {
            mark(&mut docs, some);
            Ok(())
        })?;
    }
    Ok(docs.iter().map(|word| word.count_ones() as usize).sum())
}

/// Whether so many candidates may be measured as clusters are formed.
pub fn may_be_together(run: &RunParts, candidates: usize) -> bool {
    may_be_measured_later(run)
        && !run.context.pairs
        && run.documents.ignored().is_none()
        // What stands for a method that counts says of each pair whether it counts enough.
        && !run.context.joins_instead()
        && (run.context.config.cluster.clustering == Clustering::Guarantee
            || run.context.allow_graph(candidates, 0, 0).is_ok())
}

/// The candidates, if they are in memory and there is room for what is found out about them.
fn fits<'a>(run: &RunParts, candidates: &'a Piles<Candidate>) -> Option<Vec<&'a [Candidate]>> {
    let documents = run.documents.catalogue.doc_limit() as u64;
    let bytes = documents * BYTES.0 + candidates.len() as u64 * BYTES.1;
    let allowed = run.context.memory.budget.whole(Share::Counter).min(MOST_ROOM);
    candidates.held().filter(|_| bytes <= allowed)
}

/// What measuring takes.
struct Cost<'a> {
    /// To read the text of a document again.
    of: &'a dyn Fn(Doc) -> u64,
    /// To hold two sets against each other.
    of_pair: &'a dyn Fn(Doc, Doc) -> u64,
}

/// The worker that takes each document of a candidate, if components can be divided about evenly. Workers take them in the
/// order of their first documents, so that each reads its own part of the inputs again.
fn take_components(
    candidates: &[&[Candidate]],
    limit: usize,
    workers: usize,
    cost: &Cost<'_>,
) -> Option<Vec<u32>> {
    let mut forest = Forest::new(limit);
    let mut weights = vec![0; limit];
    for candidate in candidates.iter().copied().flatten() {
        let (low, high) = candidate.pair.docs();
        for doc in [low, high] {
            if weights[doc as usize] == 0 {
                weights[doc as usize] = (cost.of)(doc);
            }
        }
        weights[low as usize] += (cost.of_pair)(low, high);
        forest.union(low, high);
    }
    for doc in (0..limit).filter(|doc| weights[*doc] > 0).collect::<Vec<_>>() {
        let root = forest.find(doc as Doc) as usize;
        if root != doc {
            weights[root] += std::mem::take(&mut weights[doc]);
        }
    }
    let total: u64 = weights.iter().sum();
    let (mut before, mut loads, mut takers) = (0, vec![0; workers], vec![0; limit]);
    for (taker, weight) in takers.iter_mut().zip(&weights).filter(|(_, weight)| **weight > 0) {
        // Where the middle of the component falls.
        let at = (u128::from(2 * before + weight) * workers as u128 / u128::from(2 * total)) as usize;
        *taker = at as u32;
        loads[at] += weight;
        before += weight;
    }
    for doc in 0..limit {
        takers[doc] = takers[forest.find(doc as Doc) as usize];
    }
    let greatest = loads.into_iter().max().unwrap_or(0);
    (greatest * workers as u64 <= total + total / 100 * UNEVEN).then_some(takers)
}

/// Sends candidates to the workers that `route` says, and adds those that come to `received`.
pub fn send(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Pile<Candidate>,
    route: impl Fn(&Candidate) -> u64 + 'static,
    received: &Rc<RefCell<Pile<Candidate>>>,
) {
    let mut from = 0;
    let slices = std::iter::from_fn(|| {
        let mut buffer = Vec::new();
        let some = candidates.some(from, SLICE, &mut buffer).map(|some| {
            from += some.len();
            some.to_vec()
        });
        some.map(|some| (!some.is_empty()).then_some(some)).transpose()
    });
    let taken = Rc::clone(received);
    exchange_all(worker, &run.context, slices, route, move |some| taken.borrow_mut().extend(&some));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::records::Pair;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_candidate_has_documents_of_two_workers(pairs in prop::collection::vec((0u32..60, 0u32..60), 1..60),
                                                     workers in 1usize..5, sizes in prop::collection::vec(1u64..90, 60)) {
            let pairs = pairs.iter().filter(|(a, b)| a != b);
            let candidates: Vec<Candidate> =
                pairs.map(|(a, b)| Candidate { pair: Pair::new(*a, *b), shared: 1 }).collect();
            let (some, others) = candidates.split_at(candidates.len() / 2);
            let weight = |doc: Doc| sizes[doc as usize];
            let of_pair = |a: Doc, b: Doc| (weight(a) + weight(b)) / 4;
            if let Some(takers) = take_components(&[some, others], 60, workers, &Cost { of: &weight, of_pair: &of_pair }) {
                let mut loads = vec![0; workers];
                for doc in 0..60 {
                    if candidates.iter().any(|c| <[Doc; 2]>::from(c.pair.docs()).contains(&doc)) {
                        loads[takers[doc as usize] as usize] += weight(doc);
                    }
                }
                for candidate in &candidates {
                    let (low, high) = candidate.pair.docs();
                    loads[takers[low as usize] as usize] += of_pair(low, high);
                }
                let total: u64 = loads.iter().sum();
                prop_assert!(loads.iter().all(|load| load * workers as u64 <= total + total / 100 * UNEVEN));
                for candidate in &candidates {
                    let (low, high) = candidate.pair.docs();
                    prop_assert_eq!(takers[low as usize], takers[high as usize]);
                }
            }
        }
    }

    #[test]
    fn many_components_are_divided_and_one_is_not() {
        let chain = |step: u32| {
            let pairs = (0..1000).step_by(step as usize);
            let candidate = |doc| Candidate { pair: Pair::new(doc, doc + 1), shared: 1 };
            let cost = Cost { of: &|_| 1, of_pair: &|_, _| 0 };
            take_components(&[&pairs.map(candidate).collect::<Vec<_>>()], 1001, 4, &cost)
        };
        let takers = chain(2).expect("divided");
        assert!(takers[..1000].is_sorted() && takers[999] == 3);
        assert_eq!(chain(1), None);
    }
}
