//! Candidates of new documents and stored contents, brought to one worker for each content and into the order of these. The sets of
//! new documents are at hand for all workers of a process, but that of a stored content has to be unpacked and derived: mostly once,
//! for all its pairs.

use std::cell::RefCell;
use std::rc::Rc;

use timely::worker::Worker;

use crate::document::Doc;
use crate::flow::measuring::portions::send;
use crate::flow::memory::budget::Share;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::run::RunParts;
use crate::limits::sized;

/// Contents that one worker takes in a row: their tokens lie in a few blocks, which few others unpack.
const STRETCH: u32 = sized(1 << 10, 2);

/// Leaves each worker with the candidates that it measures first, in an order in which a slice of them has few stored contents. Every
/// worker calls it at the same place.
pub fn bring_to_stored(worker: &mut Worker, run: &RunParts, candidates: &Rc<RefCell<Pile<Candidate>>>) {
    let (context, base) = (&run.context, run.documents.catalogue.base());
    let (topology, has_stored) = (context.topology, run.sets.stored().is_some() && base > 0);
    // What other processes have derived is brought to where it is wanted.
    if !has_stored || !context.measured_on_sets() || topology.processes() > 1 {
        return;
    }
    let workers = topology.workers();
    if workers > 1 {
        let own = std::mem::replace(&mut *candidates.borrow_mut(), context.memory.pile(Share::Candidates));
        send(worker, run, &own, move |candidate| taker(candidate.pair.docs().0, base, workers), candidates);
    }
    candidates.borrow_mut().sort_held(|candidate| candidate.pair.docs());
}

/// The worker that first looks at the pairs of which this document is the first.
fn taker(doc: Doc, base: Doc, workers: usize) -> u64 {
    // Where few are stored, each worker has some all the same.
    let stretch = (base / (8 * workers as Doc)).clamp(1, STRETCH);
    let place = if doc < base { doc / stretch } else { doc };
    (place as usize % workers) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_stored_contents_stay_together() {
        let (base, workers) = (30 * STRETCH, 3);
        for doc in 0..base {
            assert_eq!(taker(doc, base, workers), u64::from(doc / STRETCH) % 3);
        }
        let few: Vec<u64> = (0..100).map(|doc| taker(doc, 100, workers)).collect();
        assert!((0..3).all(|worker| few.iter().filter(|taker| **taker == worker).count() > 20), "{few:?}");
        assert!((base..base + 9).all(|doc| taker(doc, base, workers) == u64::from(doc) % 3));
    }
}
