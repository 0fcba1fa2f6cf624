//! Candidates measured part by part, where memory is too short for what is known of all of them, or for their sets. A part is whole
//! components of candidates. Workers take one part after the other, and measure it in document order.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use timely::worker::Worker;

use crate::error::Result;
use crate::flow::distributed::exchange_all::wait_for_all;
use crate::flow::measuring::in_order::measure_in_order;
use crate::flow::measuring_rounds::{connect, each_round, may_each_be_read_alone};
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::DocumentBits;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::run::RunParts;
use crate::flow::shared::shared;
use crate::flow::status::lock;
use crate::limits::sized;

/// Most parts: a byte numbers them, and each reads its texts anew.
const MOST: u64 = sized(200, 5);

/// The candidates of a process by the part that they are measured in.
pub struct CandidateParts {
    piles: Vec<Mutex<Pile<Candidate>>>,
    /// The part that is measured next.
    next: AtomicUsize,
}

impl CandidateParts {
    fn new(run: &RunParts, many: usize) -> CandidateParts {
        let memory = &run.context.memory;
        let most = memory.budget.whole(Share::Candidates) / many as u64;
        let empty = || Mutex::new(Pile::new(most, &memory.scratch));
        CandidateParts {
            piles: std::iter::repeat_with(empty).take(many).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The next part, for whoever asks first.
    fn take(&self) -> Option<&Mutex<Pile<Candidate>>> {
        self.piles.get(self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// Measures the candidates of a process that works alone, and hands in the links; false if that cannot be done, or if all sets may be
/// held at once. Documents `in_hot_groups` may be linked beside these. Every worker calls it at the same place.
///
/// # Errors
/// Those of reading texts again and of spill files.
pub fn measure_in_parts(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    in_hot_groups: &DocumentBits,
) -> Result<bool> {
    if !may_each_be_read_alone(run) {
        return Ok(false);
    }
    let connected = connect(worker, run, &candidates.borrow())?;
    let Some((connected, _)) = connected else { return Ok(false) };
    let (context, workers) = (&run.context, run.context.topology.workers() as u64);
    let division = connected.parts(&run.documents.catalogue, context.sets_at_once() / workers, MOST);
    if !division.are_even(workers) {
        return Ok(false);
    }
    let parts = shared(&run.parts, || CandidateParts::new(run, division.many));
    let own = candidates.replace(context.memory.pile(Share::Candidates));
    let part = |candidate: &Candidate| connected.round(division, candidate);
    each_round(&own, division.many, part, |at, some| lock(&parts.piles[at]).extend(some))?;
    drop(own);
    wait_for_all(worker, context);
    drop(connected);
    while let Some(part) = parts.take().filter(|_| !context.status.failed()) {
        let candidates = std::mem::replace(&mut *lock(part), context.memory.pile(Share::Candidates));
        measure_in_order(run, &candidates, in_hot_groups)?;
    }
    Ok(true)
}
