//! What a worker does: two dataflows, one after the other.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Broadcast;
use timely::dataflow::operators::{Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use super::abroad::{Wanted, bring_home};
use super::budget::Share;
use super::catalogue::Doc;
use super::collide::{Collided, Posting, collide};
use super::count::{Candidate, count};
use super::dedup_exact::{Arrival, dedup_exact};
use super::hand_over::hand_over;
use super::intake::Intake;
use super::net::{Change, net};
use super::profiled::Timed;
use super::rows::{RowsSent, know};
use super::shared::Shared;
use super::spill::Pile;
use super::verify::{drop_unlike, recall_wanted, take_in, verify};
use crate::config::Method;
use crate::error::Result;
use crate::progress::Stage;

/// One worker's part.
pub fn work(worker: &mut Worker, shared: &Arc<Shared>) {
    let guard = shared.guard();
    let timed = Timed::new(worker, shared);
    let candidates = Pile::new(shared.budget.part(Share::Candidates), &shared.scratch);
    let candidates = Rc::new(RefCell::new(candidates));
    let collided = Rc::new(RefCell::new(Collided::default()));
    meet(worker, shared, &candidates, &collided);
    let mut collided = collided.take();
    if !shared.failed() {
        let crowds = std::mem::take(&mut collided.crowds);
        shared.gather_collided(&collided);
        measure(worker, shared, candidates, crowds);
    }
    if !shared.failed() && shared.crew.processes() > 1 {
        hand_over(worker, shared);
    }
    if shared.failed() {
        // Peers that are gone will never close their inputs: nothing is left to wait for.
        worker.installed_dataflows().into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
    }
    if let Some(timed) = timed {
        timed.finish(worker, shared);
    }
    drop(guard);
}

/// An input of a dataflow.
type Input<T> = InputHandle<u64, CapacityContainerBuilder<Vec<T>>>;

/// The first dataflow: reading, exact duplicates, collisions and counts. Leaves this worker's candidates.
fn meet(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    collided: &Rc<RefCell<Collided>>,
) {
    let index = worker.index();
    let mut arrivals = Input::<Arrival>::new_with_builder();
    let mut changes = Input::<Change>::new_with_builder();
    let mut postings = Input::<Posting>::new_with_builder();
    let mut rows = Input::<RowsSent>::new_with_builder();
    let probe = ProbeHandle::new();
    worker.dataflow(|scope| {
        let gather = Arc::clone(shared);
        let arrived = match shared.stored() {
            Some(_) => net(changes.to_stream(scope), Arc::clone(shared)),
            None => arrivals.to_stream(scope),
        };
        let copies = dedup_exact(arrived, Arc::clone(shared), index)
            .inspect_batch(move |_, copies| gather.gather_copies(copies));
        let known = know(rows.to_stream(scope), Arc::clone(shared), index);
        if shared.config.method == Method::Exact {
            copies.probe_with(&probe);
            known.probe_with(&probe);
            return;
        }
        let (kept, gather) = (Rc::clone(candidates), Arc::clone(shared));
        let posted = postings.to_stream(scope);
        let groups = collide(posted, copies.broadcast(), Arc::clone(shared), index, Rc::clone(collided));
        count(groups, known, Arc::clone(shared), index)
            .inspect_batch(move |_, batch| {
                kept.borrow_mut().extend(batch).unwrap_or_else(|error| gather.fail(error));
            })
            .probe_with(&probe);
    });
    let mut intake = Intake::new(shared, index);
    let send = |intake: &mut Intake| {
        shared.hand_on(intake);
        arrivals.send_batch(&mut intake.arrivals);
        changes.send_batch(&mut intake.changes);
        postings.send_batch(&mut intake.postings);
        worker.step();
        while shared.is_ahead() && !shared.failed() {
            worker.step_or_park(Some(BREATH));
        }
    };
    let read = match shared.replay() {
        Some(replay) => intake.replay(shared, replay, send),
        None => intake.run(shared, send),
    };
    if let Err(error) = read {
        shared.fail(error);
    }
    shared.gather_intake(index, intake);
    for some in shared.rows_for_others(index).take_while(|_| !shared.failed()) {
        match some {
            Ok(some) => rows.send(some),
            Err(error) => shared.fail(error),
        }
        worker.step();
    }
    arrivals.close();
    changes.close();
    postings.close();
    rows.close();
    if index == shared.crew.own().start {
        shared.enter(Stage::Collide, 0);
    }
    wait(worker, shared, &probe);
    if !shared.failed() {
        shared.finish_keeping(index).unwrap_or_else(|error| shared.fail(error));
    }
}

/// The second dataflow: sets of the documents in question, and the candidates measured on them.
fn measure(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: Rc<RefCell<Pile<Candidate>>>,
    crowds: Vec<Vec<Doc>>,
) {
    let index = worker.index();
    if index == shared.crew.own().start {
        shared.enter(Stage::Verify, 0);
    }
    let mut wanted = Input::<Wanted>::new_with_builder();
    if let Some(stored) = shared.stored().filter(|_| shared.config.method == Method::Join) {
        let alike = drop_unlike(shared, stored, &candidates.borrow());
        alike.map_or_else(|error| shared.fail(error), |alike| drop(candidates.replace(alike)));
    }
    if shared.crew.processes() > 1 && shared.measured_on_sets() {
        bring_home(worker, shared, &candidates).unwrap_or_else(|error| shared.fail(error));
    }
    let mut docs = in_question(shared, &candidates.borrow(), &crowds).unwrap_or_else(|error| {
        shared.fail(error);
        Vec::new()
    });
    shared.gather_candidates(crowds, candidates.borrow().len());
    worker.dataflow(|scope| {
        let recalled = recall_wanted(wanted.to_stream(scope), Arc::clone(shared), index);
        let ready = take_in(recalled, Arc::clone(shared), index);
        let gather = Arc::clone(shared);
        let to_settle = timely::dataflow::channels::pact::Exchange::new(|_: &Candidate| 0);
        verify(ready, candidates, Arc::clone(shared)).sink(to_settle, "Gather", move |(input, _)| {
            input.for_each_time(|_, data| data.for_each(|links| gather.gather_links(links)));
        });
    });
    wanted.send_batch(&mut docs);
    wanted.close();
    while worker.has_dataflows() && !shared.failed() {
        worker.step_or_park(Some(PATIENCE));
    }
}

/// The documents that are measured, and where: those of candidates here, those of crowds where clusters are formed.
fn in_question(shared: &Shared, candidates: &Pile<Candidate>, crowds: &[Vec<Doc>]) -> Result<Vec<Wanted>> {
    let base = shared.catalogue.base();
    let none = || vec![false; shared.catalogue.doc_limit() - base as usize];
    let (mut here, mut at_first) = (none(), none());
    // The sets of stored contents are stored.
    crowds
        .iter()
        .flatten()
        .filter(|doc| **doc >= base)
        .for_each(|doc| at_first[(doc - base) as usize] = true);
    let (mut from, mut buffer) = (0, Vec::new());
    while from < candidates.len() && shared.measured_on_sets() {
        let some = candidates.some(from, SLICE, &mut buffer)?;
        from += some.len();
        for doc in some.iter().flat_map(|candidate| <[Doc; 2]>::from(candidate.pair.docs())) {
            if let Some(row) = doc.checked_sub(base) {
                here[row as usize] = true;
            }
        }
    }
    let wanted = |asked: Vec<bool>, process: usize| {
        let asked = (base..).zip(asked).filter(|(_, asked)| *asked);
        asked.map(move |(doc, _)| (doc, process as u32))
    };
    Ok(wanted(here, shared.crew.process()).chain(wanted(at_first, 0)).collect())
}

/// Candidates looked at between two others of the run's affairs.
pub const SLICE: usize = 16 << 10;

/// How long a worker waits for the network before it looks again.
const BREATH: std::time::Duration = std::time::Duration::from_millis(1);

/// How long an idle worker sleeps before it looks whether another one failed.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(20);

/// Works until the dataflow of `probe` is complete, or the run has failed.
pub fn wait(worker: &mut Worker, shared: &Shared, probe: &ProbeHandle<u64>) {
    while !probe.done() && !shared.failed() {
        worker.step_or_park(Some(PATIENCE));
    }
}
