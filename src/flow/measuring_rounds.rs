//! Candidates are measured in rounds where their sets would take more memory than all before: each round derives the sets of
//! its own candidates and forgets those of the last one.
//!
//! Documents that candidates connect go into one round, so each text is still read again only once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::worker::Worker;

use crate::config::Clustering;
use crate::error::Result;
use crate::flow::connected::Connected;
use crate::flow::distributed::exchange_all::wait_for_all;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::spill::Pile;
use crate::flow::records::Candidate;
use crate::flow::run::RunParts;
use crate::flow::shared::shared;
use crate::flow::status::lock;
use crate::progress::Progress;
use crate::read::{Compression, Source};
use crate::similarity::AcceptanceRule;

/// Most rounds: a byte numbers them, and each costs a look at all inputs. Few more come of trees of unequal size.
const MOST: u64 = 64;

/// Takes the candidates of this worker and gives them back round by round; at least one round. Every worker calls it at the same
/// place.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn in_rounds(
    worker: &mut Worker,
    run: &RunParts,
    candidates: Rc<RefCell<Pile<Candidate>>>,
) -> Result<Vec<Rc<RefCell<Pile<Candidate>>>>> {
    if !(may_be_divided(run) && compressed_sources(run) == 0) {
        return Ok(vec![candidates]);
    }
    let connected = connect(worker, run, &candidates.borrow())?;
    let Some((connected, bytes)) = connected else { return Ok(vec![candidates]) };
    let many = bytes.div_ceil(run.context.sets_at_once()).min(MOST);
    let rounds = connected.rounds(&run.documents.catalogue, bytes / many);
    let most = run.context.memory.budget.part(Share::Candidates) / rounds.many as u64;
    let empty = || Pile::new(most, &run.context.memory.scratch);
    let mut piles: Vec<Pile<Candidate>> = std::iter::repeat_with(empty).take(rounds.many).collect();
    let round = |candidate: &Candidate| connected.round(rounds, candidate);
    let progress = &run.context.status.progress;
    each_round(&candidates.borrow(), progress, round, |at, some| piles[at].extend(some))?;
    Ok(piles.into_iter().map(|pile| Rc::new(RefCell::new(pile))).collect())
}

/// What connects the documents of all candidates, and the bytes of their sets; none if all sets may be held at once. Every worker calls
/// it at the same place.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn connect(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Pile<Candidate>,
) -> Result<Option<(Arc<Connected>, u64)>> {
    let catalogue = &run.documents.catalogue;
    let connected = shared(&run.shared.connected, || Connected::new(catalogue.doc_limit()));
    let took = connected.take_in(candidates);
    wait_for_all(worker, &run.context);
    let bytes = connected.bytes(catalogue);
    if took.is_err() || bytes <= run.context.sets_at_once() || run.context.status.failed() {
        return took.map(|()| None);
    }
    let joined = connected.join(candidates);
    wait_for_all(worker, &run.context);
    joined.map(|()| Some((connected, bytes)))
}

/// Hands on candidates by their rounds, some of a round at a time.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file, [`crate::error::Error::Interrupted`], and what `each` gives.
pub fn each_round(
    candidates: &Pile<Candidate>,
    progress: &Progress,
    round: impl Fn(&Candidate) -> usize,
    mut each: impl FnMut(usize, &[Candidate]) -> Result<()>,
) -> Result<()> {
    let mut sorted = Vec::new();
    candidates.each_slice(|some| {
        progress.check()?;
        sorted.clear();
        sorted.extend_from_slice(some);
        sorted.sort_by_cached_key(&round);
        sorted
            .chunk_by(|a, b| round(a) == round(b))
            .try_for_each(|of_round| each(round(&of_round[0]), of_round))
    })
}

/// Whether sets are needed only until their candidates are measured, and all texts can be read again here. Other
/// processes are not asked: what they hold of sets is bounded by what crosses.
pub fn may_be_divided(run: &RunParts) -> bool {
    is_alone(run)
        && run.context.config.cluster.clustering == Clustering::Guarantee
        && may_be_measured_later(run)
}

/// Whether clusters can be formed of candidates that are measured only then: process 0, which forms them, can read all texts.
pub fn may_be_measured_later(run: &RunParts) -> bool {
    run.sets.stored().is_none() && are_links_all(run)
}

/// The same of a load into a collection that holds no text yet: what its clusters need are links, unless there are hot groups.
pub fn is_first_load(run: &RunParts) -> bool {
    is_alone(run) && run.sets.stored().is_some() && run.documents.catalogue.base() == 0 && are_links_all(run)
}

/// Whether this process works alone.
pub fn is_alone(run: &RunParts) -> bool {
    run.context.topology.processes() == 1
}

/// Whether what two documents share is known of their sets, and says all of whether they are linked.
fn are_links_all(run: &RunParts) -> bool {
    let context = &run.context;
    context.measured_on_sets()
        && context.rule.is_some_and(AcceptanceRule::is_sized)
        && context.cap_of_keys() == 0
}

/// Whether each worker may read its own texts once more, wherever they are. A compressed file is then decompressed by each worker
/// that has some of it, where otherwise those do whose documents are in it: they are the same ones where files are few. Windows
/// of decoders are counted once a file, so they must be small.
pub fn may_each_read(run: &RunParts) -> bool {
    let workers = run.context.topology.workers();
    let are_usual = || run.documents.inputs.sources.iter().all(Source::has_usual_window);
    workers == 1 || compressed_sources(run) < workers && are_usual()
}

/// Whether texts may be read again a few at a time, wherever they stand: nothing else is decompressed for them, or fetched.
pub fn may_be_read_by_parts(run: &RunParts) -> bool {
    let costs_more = |source: &Source| source.is_remote() || source.is_of_rows();
    compressed_sources(run) == 0 && !run.documents.inputs.sources.iter().any(costs_more)
}

fn compressed_sources(run: &RunParts) -> usize {
    let sources = run.documents.inputs.sources.iter();
    sources.filter(|source| source.compression != Compression::None).count()
}

/// The sets of a round but the last one, which are not those of the run: all workers of the process see the same ones. None of
/// them begins another round before all have begun this one.
pub fn sets_of_round(run: &RunParts, round: usize) -> Arc<DocumentSets> {
    let mut place = lock(&run.shared.round);
    if let Some(sets) = place.1.upgrade().filter(|_| place.0 == round) {
        return sets;
    }
    let sets = Arc::new(DocumentSets::new(Arc::clone(&run.context), Arc::clone(&run.documents), None));
    *place = (round, Arc::downgrade(&sets));
    sets
}
