//! The operator that measures candidates on full sets, and what it is spared by signatures. What is accepted is a *link*.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Stream;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::operator::Operator;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::stored::Stored;
use crate::metrics::Metric;

/// The candidates whose signatures do not tell them apart: those of stored contents are looked up here, a slice of pairs
/// at a time.
pub fn drop_unlike(
    sets: &DocumentSets,
    known: &dyn Stored,
    candidates: &Pile<Candidate>,
) -> Result<Pile<Candidate>> {
    let context = &sets.context;
    let mut alike = context.memory.pile(Share::Candidates);
    let (mut signatures, mut places): (Vec<u64>, HashMap<Doc, Range<usize>>) = Default::default();
    candidates.each_slice(|some| {
        context.status.progress.check()?;
        let lower = some.iter().map(|candidate| candidate.pair.docs().0);
        let mut stored: Vec<Doc> = lower.filter(|doc| sets.is_stored(*doc)).collect();
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
            !sets.is_stored(low) || sets.may_be_alike(sets.outline_with(low, of(low)), sets.outline(high))
        });
        alike.extend(&kept.copied().collect::<Vec<_>>())
    })?;
    Ok(alike)
}

/// Measures the candidates that the workers of this process have handed in once all sets are there, and emits those that the rule
/// accepts.
pub fn verify<'scope>(
    ready: Stream<'scope, u64, Vec<()>>,
    sets: Arc<DocumentSets>,
    worker: usize,
) -> Stream<'scope, u64, Vec<Candidate>> {
    let scope = ready.scope();
    ready.unary_frontier::<CapacityContainerBuilder<Vec<Candidate>>, _, _, _>(
        Pipeline,
        "Verify",
        |cap, info| {
            let activator = scope.activator_for(info.address);
            let worker = worker - sets.context.topology.local_workers().start;
            let mut some = Vec::new();
            let mut cap = Some(cap);
            move |(input, frontier), output| {
                let status = &sets.context.status;
                input.for_each_time(|_, data| data.for_each(Vec::clear));
                if status.failed() {
                    // Sets that came since were not taken in.
                    cap = None;
                }
                let Some(held) = cap.as_ref().filter(|_| frontier.is_empty()) else { return };
                let (mut session, mut found) = (output.session(held), 0);
                let measured = sets.candidates.take(worker, &mut some).and_then(|()| {
                    links(&sets, &some, &mut |link| {
                        found += 1;
                        session.give(link);
                    })
                });
                drop(session);
                status.progress.metrics().add(Metric::Links, found);
                // What is missing in a run that has failed meanwhile is no reason of its own.
                if let Err(error) = measured
                    && !status.failed()
                {
                    status.fail(error);
                }
                match some.is_empty() || status.failed() {
                    true => cap = None,
                    false => activator.activate(),
                }
            }
        },
    )
}

/// Hands on the links among candidates. The sets of stored contents are measured as they are read, each once for all of its
/// pairs, and never held.
fn links(sets: &DocumentSets, some: &[Candidate], give: &mut dyn FnMut(Candidate)) -> Result<()> {
    let measured = sets.stored().filter(|_| sets.context.measured_on_sets());
    let is_stored = |candidate: &&Candidate| sets.is_stored(candidate.pair.docs().0);
    let (Some(known), Some(rule)) = (measured, sets.context.rule) else {
        return some.iter().try_for_each(|candidate| {
            link(sets, *candidate).map(|link| link.into_iter().for_each(&mut *give))
        });
    };
    let (mut stored, new): (Vec<&Candidate>, Vec<&Candidate>) = some.iter().partition(is_stored);
    for candidate in new {
        link(sets, *candidate)?.into_iter().for_each(&mut *give);
    }
    let content = |candidate: &Candidate| candidate.pair.docs().0;
    stored.sort_unstable_by_key(|candidate| content(candidate));
    let groups: Vec<&[&Candidate]> = stored.chunk_by(|a, b| content(a) == content(b)).collect();
    let contents: Vec<Doc> = groups.iter().map(|group| content(group[0])).collect();
    let mut scratch = Vec::new();
    known.sets(&contents, &mut |doc, set| {
        let Ok(at) = contents.binary_search(&doc) else { return Ok(()) };
        for candidate in groups[at] {
            let other = sets.set(candidate.pair.docs().1, &mut scratch)?;
            let measure = rule.measure(set, other);
            measure.into_iter().for_each(|measure| give(Candidate { shared: measure.shared, ..**candidate }));
        }
        Ok(())
    })
}

/// What becomes of a candidate: a link with what its sets share, or nothing.
fn link(sets: &DocumentSets, candidate: Candidate) -> Result<Option<Candidate>> {
    if !sets.context.measured_on_sets() {
        // Its shared keys were all there is to count, and they were enough.
        return Ok(Some(candidate));
    }
    let (a, b) = candidate.pair.docs();
    Ok(sets.measure(a, b)?.map(|measure| Candidate { shared: measure.shared, ..candidate }))
}
