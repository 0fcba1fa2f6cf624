//! The operators that measure candidates on full sets: `recall` derives the sets at the home of each document,
//! `verify` compares them. What is accepted is a *link*.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;

use super::Shared;
use super::catalogue::Doc;
use super::count::Candidate;
use super::recall::{Sets, recall};

/// Derives the sets of the documents wanted, each once, at its home, and publishes them to the process.
/// The output carries nothing; its frontier tells when all sets are there.
pub fn recall_wanted<'scope>(
    wanted: Stream<'scope, u64, Vec<Doc>>,
    shared: Arc<Shared>,
    worker: usize,
) -> Stream<'scope, u64, Vec<()>> {
    let home = Exchange::new(|doc: &Doc| u64::from(*doc));
    wanted.unary_frontier::<CapacityContainerBuilder<Vec<()>>, _, _, _>(home, "Recall", |cap, _| {
        let mut docs: Vec<Doc> = Vec::new();
        let mut cap = Some(cap);
        move |(input, frontier), _output| {
            input.for_each_time(|_, data| data.for_each(|batch| docs.append(batch)));
            if frontier.is_empty() && cap.take().is_some() {
                docs.sort_unstable();
                docs.dedup();
                let mut sets = Sets::new(shared.sets_bytes());
                if !shared.failed()
                    && let Err(error) = recall(&shared, &docs, &mut shared.sketcher(), &mut sets)
                {
                    shared.fail(error);
                }
                shared.publish_sets(worker, sets);
            }
        }
    })
}

/// Measures this worker's candidates once all sets are there, and emits those that the rule accepts.
pub fn verify<'scope>(
    ready: Stream<'scope, u64, Vec<()>>,
    candidates: Rc<RefCell<Vec<Candidate>>>,
    shared: Arc<Shared>,
) -> Stream<'scope, u64, Vec<Candidate>> {
    let scope = ready.scope();
    ready.unary_frontier::<CapacityContainerBuilder<Vec<Candidate>>, _, _, _>(
        Pipeline,
        "Verify",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(Vec::clear));
                if !frontier.is_empty() {
                    return;
                }
                let mut candidates = candidates.borrow_mut();
                let Some(held) = &cap else { return };
                if candidates.is_empty() || shared.failed() {
                    cap = None;
                    return;
                }
                let rest = candidates.len().saturating_sub(SLICE);
                let mut session = output.session(held);
                for candidate in candidates.drain(rest..) {
                    let (a, b) = candidate.pair.docs();
                    if !shared.measured_on_sets() {
                        // Its shared keys were all there is to count, and they were enough.
                        session.give(candidate);
                        continue;
                    }
                    match shared.measure(a, b) {
                        Ok(Some(measure)) => session.give(Candidate { shared: measure.shared, ..candidate }),
                        Ok(None) => {}
                        Err(error) => shared.fail(error),
                    }
                }
                drop(session);
                activator.activate();
            }
        },
    )
}

/// Candidates measured in one activation.
const SLICE: usize = 16 << 10;
