//! What a worker does: two dataflows, and a second collision between them where there are hot groups.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::{Broadcast, Map};
use timely::dataflow::operators::{Concat, Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::catalogue::outlines::Prefixes;
use crate::flow::common_members::find_common;
use crate::flow::context::RunContext;
use crate::flow::distributed::exchange_all::{PATIENCE, wait};
use crate::flow::distributed::gather_bits::gather_bits;
use crate::flow::distributed::gather_to_leader::gather_to_leader;
use crate::flow::distributed::remote_candidates::{drop_unlike_remote, move_to_larger};
use crate::flow::distributed::send_window::SendWindow;
use crate::flow::distributed::settling_rows::share_settling;
use crate::flow::document_sets::DocumentSets;
use crate::flow::intake::Intake;
use crate::flow::measuring::beside_stored::bring_to_stored;
use crate::flow::measuring::by_leader::leave_to_leader;
use crate::flow::measuring::in_order::measure_in_order;
use crate::flow::measuring::in_parts::measure_in_parts;
use crate::flow::measuring::portions::{divide, may_divide};
use crate::flow::measuring_rounds::{in_rounds, sets_of_round};
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{DocumentBits, ones, set};
use crate::flow::memory::spill::Pile;
use crate::flow::operators::broadcast_rows::{
    ProtectedRows, SentRows, broadcast_protected, broadcast_rows, rows_for_others,
};
use crate::flow::operators::collide::collide;
use crate::flow::operators::count::count;
use crate::flow::operators::exact_duplicates::exact_duplicates;
use crate::flow::operators::first_halves::{Halves, arrivals_in_question};
use crate::flow::operators::own_copies::bring_to_readers;
use crate::flow::operators::recall::{recall_wanted, receive_sets};
use crate::flow::operators::verify::{drop_unlike, verify};
use crate::flow::packed::container::{PackedRecords, gather_for_all};
use crate::flow::profiled::Timed;
use crate::flow::records::{Arrival, Candidate, Change, ExactDuplicate, FirstHalf, Posting, Wanted};
use crate::flow::results::gathered::Collided;
use crate::flow::results::hot_groups::HotGroup;
use crate::flow::run::{Division, RunParts};
use crate::flow::second_collision::collide_again;
use crate::flow::shared::shared;
use crate::progress::Stage;

/// One worker's part.
pub fn work(worker: &mut Worker, run: &Arc<RunParts>) {
    let guard = PanicGuard(Arc::clone(&run.context));
    let (status, topology) = (&run.context.status, run.context.topology);
    if topology.processes() > 1 {
        gather_for_all(topology.all());
    }
    let timed = Timed::new(worker, &run.context);
    let candidates = Rc::new(RefCell::new(run.context.memory.pile(Share::Candidates)));
    let collided = Rc::new(RefCell::new(Collided::default()));
    candidate_phase(worker, run, &candidates, &collided);
    if !status.failed() {
        measured(worker, run, candidates, collided.take()).unwrap_or_else(|error| status.fail(error));
    }
    if !status.failed() && topology.processes() > 1 {
        gather_to_leader(worker, &run.sets, &run.collector);
        if run.sets.stored.is_some() && !status.failed() {
            share_settling(worker, run);
        }
    }
    if status.failed() {
        // Peers that are gone will never close their inputs: nothing is left to wait for.
        worker.installed_dataflows().into_iter().for_each(|dataflow| worker.drop_dataflow(dataflow));
    }
    if let Some(timed) = timed {
        timed.finish(worker, &run.context);
    }
    drop(guard);
}

/// Fails the run if its worker panics, so that no other worker waits for it.
struct PanicGuard(Arc<RunContext>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.status.fail(Error::Worker("a worker thread panicked".into()));
        }
    }
}

/// An input of a dataflow.
type Input<T> = InputHandle<u64, CapacityContainerBuilder<Vec<T>>>;
/// One of records that are packed where they cross between processes.
type PackedInput<T> = InputHandle<u64, CapacityContainerBuilder<PackedRecords<T>>>;

/// The inputs of the first dataflow of one worker.
struct FirstInputs {
    arrivals: PackedInput<Arrival>,
    changes: PackedInput<Change>,
    ids: PackedInput<FirstHalf>,
    digests: PackedInput<FirstHalf>,
    postings: PackedInput<Posting>,
    rows: Input<SentRows>,
    protected: Input<ProtectedRows>,
}

/// The first dataflow: reading, exact duplicates, collisions and counts. Leaves this worker's candidates.
fn candidate_phase(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    collided: &Rc<RefCell<Collided>>,
) {
    let (index, status) = (worker.index(), &run.context.status);
    let (mut inputs, probe) = first_dataflow(worker, run, candidates, collided);
    read(worker, run, &mut inputs).unwrap_or_else(|error| status.fail(error));
    let rows = rows_for_others(&run.context, &run.documents.catalogue, index);
    for some in rows.take_while(|_| !status.failed()) {
        match some {
            Ok(some) => inputs.rows.send(some),
            Err(error) => status.fail(error),
        }
        worker.step();
    }
    if run.documents.catalogue.has_protected() {
        inputs.protected.send((index as u32, run.documents.catalogue.protected_rows(index)));
    }
    drop(inputs);
    if index == run.context.topology.local_workers().start {
        status.enter(Stage::Collide, 0);
    }
    wait(worker, status, &probe);
    if !status.failed() {
        run.keepers.finish(index).unwrap_or_else(|error| status.fail(error));
    }
}

/// Builds the first dataflow.
fn first_dataflow(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    collided: &Rc<RefCell<Collided>>,
) -> (FirstInputs, ProbeHandle<u64>) {
    let index = worker.index();
    let mut inputs = FirstInputs {
        arrivals: PackedInput::new_with_builder(),
        changes: PackedInput::new_with_builder(),
        ids: PackedInput::new_with_builder(),
        digests: PackedInput::new_with_builder(),
        postings: PackedInput::new_with_builder(),
        rows: Input::new_with_builder(),
        protected: Input::new_with_builder(),
    };
    let probe = ProbeHandle::new();
    worker.dataflow(|scope| {
        let (context, collector) = (&run.context, Arc::clone(&run.collector));
        let arrived = match run.sets.stored.clone() {
            Some(stored) => {
                let halves = Halves {
                    changes: inputs.changes.to_stream(scope),
                    ids: inputs.ids.to_stream(scope),
                    digests: inputs.digests.to_stream(scope),
                };
                arrivals_in_question(halves, run, &stored, index)
            }
            None => inputs.arrivals.to_stream(scope),
        };
        let beside = (run.sets.stored.clone(), Arc::clone(&run.collector));
        let copies = exact_duplicates(arrived, Arc::clone(context), beside, index)
            .inspect_batch(move |_, copies| collector.add_copies(copies));
        if run.sets.stored.is_some() {
            bring_to_readers(copies.clone(), Arc::clone(&run.own_copies), index).probe_with(&probe);
        }
        let rows = inputs.rows.to_stream(scope);
        let known = broadcast_rows(rows, Arc::clone(context), Arc::clone(&run.documents), index);
        if !context.has_keys() {
            copies.probe_with(&probe);
            known.probe_with(&probe);
            return;
        }
        let (kept, failing) = (Rc::clone(candidates), Arc::clone(context));
        let (sets, keepers) = (Arc::clone(&run.sets), Arc::clone(&run.keepers));
        let posted = inputs.postings.to_stream(scope);
        let protected = inputs.protected.to_stream(scope);
        let all_known = known.clone().flat_map(|()| None::<ExactDuplicate>);
        let protected = broadcast_protected(protected, Arc::clone(&run.documents));
        let copies = copies.broadcast().concat(protected).concat(all_known);
        let groups = collide(posted, copies, sets, keepers, index, Rc::clone(collided));
        count(groups, known, Arc::clone(&run.sets), index, Prefixes::Equal(run.sets.hot_keys()))
            .inspect_batch(move |_, batch| {
                kept.borrow_mut().extend(batch).unwrap_or_else(|error| failing.status.fail(error));
            })
            .probe_with(&probe);
    });
    (inputs, probe)
}

/// Reads this worker's share of the inputs, or of the stored documents, and hands in what it has read.
fn read(worker: &mut Worker, run: &RunParts, inputs: &mut FirstInputs) -> Result<()> {
    let (index, context) = (worker.index(), &run.context);
    let load = run.sets.stored.clone().map(|stored| (stored, Arc::clone(&run.keepers)));
    let mut intake = Intake::new(context, &run.documents.catalogue, load, index);
    let send = |intake: &mut Intake| {
        if let Some(window) = &run.window {
            window.hand_on(intake.bytes_for_others(context.topology));
        }
        send_packed(&mut inputs.arrivals, &mut intake.arrivals);
        send_packed(&mut inputs.changes, &mut intake.changes);
        send_packed(&mut inputs.ids, &mut intake.ids);
        send_packed(&mut inputs.digests, &mut intake.digests);
        send_packed(&mut inputs.postings, &mut intake.postings);
        worker.step();
        while run.window.as_ref().is_some_and(SendWindow::is_full) && !context.status.failed() {
            worker.step_or_park(Some(BREATH));
        }
    };
    let read = intake.run(&run.documents, &run.queue, send);
    let (segment, results, counts) = intake.finish();
    counts.into_iter().for_each(|counts| run.common_search.add(counts));
    run.collector.add_read(results);
    run.documents.catalogue.publish(index, segment);
    read
}

/// Sends records; the list keeps what room it is left with.
fn send_packed<T: Clone + 'static>(input: &mut PackedInput<T>, records: &mut Vec<T>) {
    let mut batch = PackedRecords::from(std::mem::take(records));
    input.send_batch(&mut batch);
    *records = batch.into_records();
}

/// What follows the first dataflow: the second collision, and measuring. Where a worker gives up, the run has failed, and no other
/// waits for it.
fn measured(
    worker: &mut Worker,
    run: &RunParts,
    candidates: Rc<RefCell<Pile<Candidate>>>,
    mut collided: Collided,
) -> Result<()> {
    find_common(worker, run, &mut collided)?;
    collide_again(worker, run, &candidates, &mut collided)?;
    let hot_groups = std::mem::take(&mut collided.hot_groups);
    run.collector.add_collided(&collided);
    drop(collided);
    measuring_phase(worker, run, candidates, hot_groups)
}

/// The second dataflow: sets of the documents in question, and the candidates measured on them.
fn measuring_phase(
    worker: &mut Worker,
    run: &RunParts,
    candidates: Rc<RefCell<Pile<Candidate>>>,
    hot_groups: Vec<HotGroup>,
) -> Result<()> {
    let context = &run.context;
    if worker.index() == context.topology.local_workers().start {
        context.status.enter(Stage::Verify, 0);
    }
    bring_to_stored(worker, run, &candidates);
    if let Some(stored) = run.sets.stored().filter(|_| context.has_signatures()) {
        let alike = drop_unlike(&run.sets, stored, &candidates.borrow())?;
        candidates.replace(alike);
    }
    let among_processes = context.topology.processes() > 1 && context.measured_on_sets();
    if among_processes {
        drop_unlike_remote(worker, &run.sets, &candidates)?;
    }
    let (own_hot, in_hot_groups) = members(run, &hot_groups);
    run.collector.add_candidates(hot_groups, candidates.borrow().len());
    if among_processes {
        if leave_to_leader(worker, run, &candidates)? {
            return Ok(());
        }
        move_to_larger(worker, &run.sets, &candidates)?;
    }
    if may_divide(run) {
        let hot =
            shared(&run.shared.in_hot_groups, || DocumentBits::new(run.documents.catalogue.doc_limit()));
        gather_bits(worker, context, &hot, &own_hot);
        let is_measured = match divide(worker, run, &candidates, !hot.is_empty())? {
            Division::Together => return Ok(()),
            Division::Components => {
                measure_in_order(run, &candidates.borrow().all()?, &hot)?;
                true
            }
            Division::Parts => measure_in_parts(worker, run, &candidates, &hot)?,
            Division::Anyhow => false,
        };
        if is_measured {
            measure_hot(worker, run, &hot, in_hot_groups);
            return Ok(());
        }
    }
    drop(own_hot);
    measure_rounds(worker, run, candidates, &in_hot_groups)
}

/// Measures candidates in as many rounds as their sets need, the members of hot groups in the last one.
fn measure_rounds(
    worker: &mut Worker,
    run: &RunParts,
    candidates: Rc<RefCell<Pile<Candidate>>>,
    in_hot_groups: &[Wanted],
) -> Result<()> {
    let rounds = in_rounds(worker, run, candidates)?;
    let last = rounds.len();
    for (round, candidates) in (1..).zip(rounds) {
        let candidates = candidates.replace(run.context.memory.pile(Share::Candidates));
        let mut wanted = in_question(run, &candidates)?;
        // Clusters are formed with the sets of the last round at hand.
        let sets = if round == last { Arc::clone(&run.sets) } else { sets_of_round(run, round) };
        if round == last {
            wanted.extend_from_slice(in_hot_groups);
        }
        measure(worker, run, sets, candidates, wanted);
    }
    Ok(())
}

/// Measures candidates, with the sets of all documents that are wanted at hand.
fn measure(
    worker: &mut Worker,
    run: &RunParts,
    sets: Arc<DocumentSets>,
    candidates: Pile<Candidate>,
    mut docs: Vec<Wanted>,
) {
    let (index, status) = (worker.index(), &run.context.status);
    // As in `exchange_all`.
    if status.failed() {
        return;
    }
    // Before anybody can tell that all sets are there.
    sets.candidates.hand_in(index - run.context.topology.local_workers().start, candidates);
    let mut wanted = Input::<Wanted>::new_with_builder();
    worker.dataflow(|scope| {
        let sent = recall_wanted(wanted.to_stream(scope), Arc::clone(&sets), index);
        let ready = receive_sets(sent, Arc::clone(&sets), index);
        let collector = Arc::clone(&run.collector);
        let to_leader = Exchange::new(|_: &Candidate| 0);
        verify(ready, sets, index).sink(to_leader, "Gather", move |(input, _)| {
            input.for_each_time(|_, data| data.for_each(|links| collector.add_links(links)));
        });
    });
    wanted.send_batch(&mut docs);
    wanted.close();
    while worker.has_dataflows() && !status.failed() {
        worker.step_or_park(Some(PATIENCE));
    }
}

/// Has the sets of the members of hot groups at hand, if there are any: clusters are formed with them.
fn measure_hot(worker: &mut Worker, run: &RunParts, hot: &DocumentBits, members: Vec<Wanted>) {
    if !hot.is_empty() {
        let none = run.context.memory.pile(Share::Candidates);
        measure(worker, run, Arc::clone(&run.sets), none, members);
    }
}

/// The documents of candidates that are measured here.
fn in_question(run: &RunParts, candidates: &Pile<Candidate>) -> Result<Vec<Wanted>> {
    let (base, process) = (run.documents.catalogue.base(), run.context.topology.process());
    let mut asked = Vec::new();
    if run.context.measured_on_sets() {
        candidates.each_slice(|some| {
            let docs = some.iter().flat_map(|candidate| <[Doc; 2]>::from(candidate.pair.docs()));
            // The sets of stored contents are stored.
            docs.filter_map(|doc| doc.checked_sub(base)).for_each(|row| set(&mut asked, row));
            Ok(())
        })?;
    }
    Ok(ones(asked.into_iter()).map(|row| (base + row, process as u32)).collect())
}

/// The members of hot groups, a bit each, and those of them that are measured where clusters are formed.
fn members(run: &RunParts, hot_groups: &[HotGroup]) -> (Vec<u64>, Vec<Wanted>) {
    let mut members = Vec::new();
    hot_groups.iter().flat_map(HotGroup::docs).for_each(|doc| set(&mut members, *doc));
    let new = ones(members.iter().copied()).filter(|doc| !run.sets.is_stored(*doc));
    let wanted = new.map(|doc| (doc, 0)).collect();
    (members, wanted)
}

/// How long a worker waits for the network before it looks again.
const BREATH: Duration = Duration::from_millis(1);
