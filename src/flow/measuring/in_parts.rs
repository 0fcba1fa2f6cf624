//! Candidates measured part by part, where memory is too short for what is known of all of them, or for their sets. A part is whole
//! components of candidates. Workers take one part after the other, and measure it in document order.

use std::cell::RefCell;
use std::rc::Rc;

use timely::worker::Worker;

use crate::error::Result;
use crate::flow::context::LINK;
use crate::flow::distributed::exchange_all::wait_for_all;
use crate::flow::measuring::candidate_parts::CandidateParts;
use crate::flow::measuring::in_order::{joins_firsts, measure_in_order};
use crate::flow::measuring_rounds::{connect, each_round, may_be_read_by_parts};
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::DocumentBits;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::run::RunParts;
use crate::flow::shared::shared;
use crate::limits::sized;

/// Most parts: a byte numbers them, and each reads its texts anew.
const MOST: u64 = sized(200, 5);
/// Bytes that a candidate takes while its part is measured: itself, and a number among the partners of a document.
const CANDIDATE: u64 = (size_of::<Candidate>() + size_of::<u32>()) as u64;

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
    if !may_be_read_by_parts(run) {
        return Ok(false);
    }
    let connected = connect(worker, run, &candidates.borrow())?;
    let Some((connected, _)) = connected else { return Ok(false) };
    let (context, workers) = (&run.context, run.context.topology.workers() as u64);
    let (memory, progress) = (&context.memory, &context.status.progress);
    let division = connected.parts(&run.documents.catalogue, context.sets_at_once() / workers, MOST);
    if !division.are_even(workers) {
        return Ok(false);
    }
    let bytes = memory.budget.whole(Share::Candidates);
    let parts = shared(&run.shared.parts, || CandidateParts::new(division.many, bytes, &memory.scratch));
    let part = |candidate: &Candidate| connected.round(division, candidate);
    each_round(&candidates.borrow(), progress, part, |at, some| {
        parts.count(at, some);
        Ok(())
    })?;
    wait_for_all(worker, context);
    // Documents may be few and have many.
    if parts.largest(workers as usize).saturating_mul(CANDIDATE) > room(run, connected.len(), in_hot_groups) {
        return Ok(false);
    }
    let own = candidates.replace(memory.pile(Share::Candidates));
    each_round(&own, progress, part, |at, some| parts.give(at, some))?;
    drop(own);
    wait_for_all(worker, context);
    drop(connected);
    while !context.status.failed()
        && let Some(candidates) = parts.take()?
    {
        measure_in_order(run, &candidates, in_hot_groups)?;
    }
    Ok(true)
}

/// Bytes that candidates of all parts that are measured at once may take. Sets of other processes are none. Where a document joins one
/// that stays, it has one link, and so the share of links has room.
fn room(run: &RunParts, documents: usize, in_hot_groups: &DocumentBits) -> u64 {
    let budget = &run.context.memory.budget;
    let links = match joins_firsts(run) && in_hot_groups.is_empty() {
        true => budget.whole(Share::Links).saturating_sub((documents * LINK) as u64),
        false => 0,
    };
    budget.whole(Share::Fetched).saturating_add(links)
}
