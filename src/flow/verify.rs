//! The operators that measure candidates on full sets: `recall` derives the sets at the home of each document, `take_in`
//! gets those of other processes, `verify` compares them. What is accepted is a *link*.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;

use super::Shared;
use super::abroad::{Sent, Wanted};
use super::budget::Share;
use super::catalogue::Doc;
use super::count::Candidate;
use super::recall::recall;
use super::spill::Pile;
use super::stored::Stored;
use super::work::SLICE;
use crate::error::Result;
use crate::metrics::Metric;

/// Derives the sets of the documents wanted, each once, at its home, and publishes them to the process; those that other
/// processes want are put out for them.
pub fn recall_wanted<'scope>(
    wanted: Stream<'scope, u64, Vec<Wanted>>,
    shared: Arc<Shared>,
    worker: usize,
) -> Stream<'scope, u64, Vec<Sent>> {
    let (scope, crew) = (wanted.scope(), shared.crew);
    let home = Exchange::new(move |(doc, _): &Wanted| crew.home(*doc) as u64);
    wanted.unary_frontier::<CapacityContainerBuilder<Vec<Sent>>, _, _, _>(home, "Recall", |cap, info| {
        let activator = scope.activator_for(info.address);
        let mut all: Vec<Wanted> = Vec::new();
        let mut abroad = None;
        let mut cap = Some(cap);
        move |(input, frontier), output| {
            input.for_each_time(|_, data| data.for_each(|batch| all.append(batch)));
            let Some(held) = cap.as_ref().filter(|_| frontier.is_empty()) else { return };
            let abroad = abroad.get_or_insert_with(|| {
                recall_all(&shared, &mut all, worker);
                // What is left is for other processes.
                std::mem::take(&mut all).into_iter()
            });
            let mut session = output.session(held);
            let (mut scratch, mut words) = (Vec::new(), 0);
            while let Some((doc, process)) = abroad.next().filter(|_| !shared.failed()) {
                let to = crew.first_of(process as usize) + crew.taker(doc);
                match shared.set(doc, &mut scratch) {
                    Ok(set) => {
                        words += set.len();
                        session.give((to as u32, doc, set.to_vec()));
                    }
                    Err(error) => shared.fail(error),
                }
                if words > SLICE {
                    return activator.activate();
                }
            }
            drop(session);
            cap = None;
        }
    })
}

/// Recalls the sets of all that is wanted of a worker, and leaves in the list what other processes want.
fn recall_all(shared: &Shared, wanted: &mut Vec<Wanted>, worker: usize) {
    wanted.sort_unstable();
    wanted.dedup();
    let mut docs: Vec<Doc> = wanted.iter().map(|(doc, _)| *doc).collect();
    docs.dedup();
    wanted.retain(|(_, process)| *process as usize != shared.crew.process());
    let mut sets = shared.no_sets(Share::Sets);
    if !shared.failed()
        && let Err(error) = recall(shared, &docs, &mut shared.sketcher(), &mut sets)
    {
        shared.fail(error);
    }
    shared.publish_sets(worker, sets);
}

/// Takes in the sets that other processes have sent, and publishes them to this one. The output carries nothing; its
/// frontier tells when all sets that are wanted are there.
pub fn take_in<'scope>(
    sent: Stream<'scope, u64, Vec<Sent>>,
    shared: Arc<Shared>,
    worker: usize,
) -> Stream<'scope, u64, Vec<()>> {
    let to = Exchange::new(|(to, ..): &Sent| u64::from(*to));
    sent.unary_frontier::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "TakeIn", |cap, _| {
        let mut sets = Some(shared.no_sets(Share::Fetched));
        let mut cap = Some(cap);
        move |(input, frontier), _output| {
            input.for_each_time(|_, data| {
                for (_, doc, set) in data.flat_map(|batch| batch.drain(..)).filter(|_| !shared.failed()) {
                    let taken = sets.as_mut().map_or(Ok(()), |sets| sets.insert(doc, &set));
                    taken.unwrap_or_else(|error| shared.fail(error));
                }
            });
            if frontier.is_empty() && cap.take().is_some() {
                sets.take().into_iter().for_each(|sets| shared.publish_fetched(worker, sets));
            }
        }
    })
}

/// The candidates whose signatures do not tell them apart: those of stored contents are looked up here, a slice of pairs
/// at a time.
pub fn drop_unlike(
    shared: &Shared,
    known: &dyn Stored,
    candidates: &Pile<Candidate>,
) -> Result<Pile<Candidate>> {
    let mut alike = Pile::new(shared.budget.part(Share::Candidates), &shared.scratch);
    let (mut from, mut buffer) = (0, Vec::new());
    let (mut signatures, mut places): (Vec<u64>, HashMap<Doc, Range<usize>>) = Default::default();
    while from < candidates.len() {
        shared.progress.check()?;
        let some = candidates.some(from, SLICE, &mut buffer)?;
        from += some.len();
        let stored =
            some.iter().map(|candidate| candidate.pair.docs().0).filter(|doc| shared.is_stored(*doc));
        let mut stored: Vec<Doc> = stored.collect();
        stored.sort_unstable();
        stored.dedup();
        signatures.clear();
        places.clear();
        known.signatures(&stored, &mut |doc, signature| {
            let start = signatures.len();
            signatures.extend_from_slice(signature);
            places.insert(doc, start..signatures.len());
        })?;
        let of = |doc: Doc| places.get(&doc).map_or(&[][..], |place| &signatures[place.clone()]);
        let kept = some.iter().filter(|candidate| {
            let (low, high) = candidate.pair.docs();
            !shared.is_stored(low)
                || shared.may_be_alike((low, of(low)), (high, shared.catalogue.signature(high)))
        });
        alike.extend(&kept.copied().collect::<Vec<_>>())?;
    }
    Ok(alike)
}

/// Measures this worker's candidates once all sets are there, and emits those that the rule accepts.
pub fn verify<'scope>(
    ready: Stream<'scope, u64, Vec<()>>,
    candidates: Rc<RefCell<Pile<Candidate>>>,
    shared: Arc<Shared>,
) -> Stream<'scope, u64, Vec<Candidate>> {
    let scope = ready.scope();
    ready.unary_frontier::<CapacityContainerBuilder<Vec<Candidate>>, _, _, _>(
        Pipeline,
        "Verify",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let (mut from, mut buffer) = (0, Vec::new());
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                input.for_each_time(|_, data| data.for_each(Vec::clear));
                let Some(held) = cap.as_ref().filter(|_| frontier.is_empty()) else { return };
                let candidates = candidates.borrow();
                if from == candidates.len() || shared.failed() {
                    cap = None;
                    return;
                }
                let (mut session, mut found) = (output.session(held), 0);
                let measured = candidates.some(from, SLICE, &mut buffer).and_then(|some| {
                    from += some.len();
                    links(&shared, some, &mut |link| {
                        found += 1;
                        session.give(link);
                    })
                });
                drop(session);
                shared.progress.metrics().add(Metric::Links, found);
                measured.unwrap_or_else(|error| shared.fail(error));
                activator.activate();
            }
        },
    )
}

/// Hands on the links among candidates. The sets of stored contents are measured as they are read, each once for all of its
/// pairs, and never held.
fn links(shared: &Shared, some: &[Candidate], give: &mut dyn FnMut(Candidate)) -> Result<()> {
    let measured = shared.stored().filter(|_| shared.measured_on_sets());
    let is_stored = |candidate: &&Candidate| shared.is_stored(candidate.pair.docs().0);
    let (Some(known), Some(rule)) = (measured, shared.rule) else {
        return some.iter().try_for_each(|candidate| {
            link(shared, *candidate).map(|link| link.into_iter().for_each(&mut *give))
        });
    };
    let (mut stored, new): (Vec<&Candidate>, Vec<&Candidate>) = some.iter().partition(is_stored);
    for candidate in new {
        link(shared, *candidate)?.into_iter().for_each(&mut *give);
    }
    let content = |candidate: &Candidate| candidate.pair.docs().0;
    stored.sort_unstable_by_key(|candidate| content(candidate));
    let groups: Vec<&[&Candidate]> = stored.chunk_by(|a, b| content(a) == content(b)).collect();
    let contents: Vec<Doc> = groups.iter().map(|group| content(group[0])).collect();
    let mut scratch = Vec::new();
    known.sets(&contents, &mut |doc, set| {
        let Ok(at) = contents.binary_search(&doc) else { return Ok(()) };
        for candidate in groups[at] {
            let other = shared.set(candidate.pair.docs().1, &mut scratch)?;
            let measure = rule.measure(set, other);
            measure.into_iter().for_each(|measure| give(Candidate { shared: measure.shared, ..**candidate }));
        }
        Ok(())
    })
}

/// What becomes of a candidate: a link with what its sets share, or nothing.
fn link(shared: &Shared, candidate: Candidate) -> Result<Option<Candidate>> {
    if !shared.measured_on_sets() {
        // Its shared keys were all there is to count, and they were enough.
        return Ok(Some(candidate));
    }
    let (a, b) = candidate.pair.docs();
    Ok(shared.measure(a, b)?.map(|measure| Candidate { shared: measure.shared, ..candidate }))
}
