//! Candidates that several processes leave to process 0, the leader, which measures them as it forms clusters.
//!
//! Where pages are alike by the million pairs it measures so few of them that it is done before all processes have measured all.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use timely::worker::Worker;

use crate::error::Result;
use crate::flow::distributed::exchange_all::exchange_all;
use crate::flow::measuring::portions::{documents_of, may_be_read_in_order, may_be_together, send};
use crate::flow::memory::budget::Share;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::run::{Division, RunParts};
use crate::limits::sized;

/// More candidates a document than this for each process are left to process 0. Where there are little more, it takes up to twice as long
/// as many processes would; where there are many more, half as long as two.
const LEFT: u64 = sized(40, 2);

/// What a worker tells of its candidates.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct OwnCandidates {
    /// Whether they can be measured later, as far as it knows.
    may_be_left: bool,
    candidates: u64,
    /// Documents that it has candidates of.
    docs: u64,
}

/// Leaves all candidates to process 0, if there are very many a document for each process. Whether it did; every worker of a run of
/// several processes calls it at the same place.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn leave_to_leader(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<bool> {
    // A load keeps all links.
    if run.sets.stored().is_some() {
        return Ok(false);
    }
    let all = tell(worker, run, &candidates.borrow())?;
    let leaves = worker.index() == 0 && may_be_left(run, &all);
    if !hear(worker, run, leaves) {
        return Ok(false);
    }
    let own = candidates.replace(run.context.memory.pile(Share::Candidates));
    send(worker, run, &own, |_| 0, candidates);
    drop(own);
    if worker.index() == 0 {
        run.divided.get_or_init(|| Division::Together);
        run.collector.add_unmeasured(candidates.replace(run.context.memory.pile(Share::Candidates)).into());
    }
    Ok(true)
}

/// Tells worker 0 of the candidates of this one. Worker 0 is given what all have told.
fn tell(worker: &mut Worker, run: &RunParts, candidates: &Pile<Candidate>) -> Result<Vec<OwnCandidates>> {
    let own = OwnCandidates {
        may_be_left: may_be_read_in_order(run),
        candidates: candidates.len() as u64,
        docs: documents_of([candidates])? as u64,
    };
    let all: Rc<RefCell<Vec<OwnCandidates>>> = Rc::default();
    let taken = Rc::clone(&all);
    exchange_all(
        worker,
        &run.context,
        std::iter::once(Ok(vec![own])),
        |_| 0,
        move |some| {
            taken.borrow_mut().extend(some);
            Ok(())
        },
    );
    Ok(all.take())
}

/// Whether the candidates that all workers have told of are left to process 0. A worker has candidates of nearly all
/// documents that have very many, so each of these is counted once by each worker.
fn may_be_left(run: &RunParts, told: &[OwnCandidates]) -> bool {
    let all = told.iter().map(|told| told.candidates).sum::<u64>();
    let docs = told.iter().map(|told| told.docs).sum::<u64>();
    told.iter().all(|told| told.may_be_left)
        && all * run.context.topology.workers() as u64 > LEFT * docs
        && may_be_together(run, all as usize)
}

/// What worker 0 has decided, in every worker.
fn hear(worker: &mut Worker, run: &RunParts, leaves: bool) -> bool {
    let answers = if leaves { (0..run.context.topology.all() as u64).collect() } else { Vec::new() };
    let heard = Rc::new(Cell::new(false));
    let taken = Rc::clone(&heard);
    exchange_all(
        worker,
        &run.context,
        std::iter::once(Ok(answers)),
        |to: &u64| *to,
        move |_| {
            taken.set(true);
            Ok(())
        },
    );
    heard.get()
}
