//! Candidates whose two documents were read in different processes: told apart by their signatures, then brought to where
//! the larger of the two sets is. What crosses between processes is signatures, pairs, and the smaller sets.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::worker::Worker;

use super::Shared;
use super::budget::Share;
use super::catalogue::Doc;
use super::count::Candidate;
use super::recall::Sets;
use super::spill::Pile;
use super::trade::trade;
use super::work::SLICE;
use crate::config::Method;
use crate::error::Result;

/// A document that something is wanted of, and who wants it: a worker, or a process.
pub type Wanted = (Doc, u32);

/// A document's signature or set, on its way to a worker.
pub type Sent = (u32, Doc, Vec<u64>);

/// Leaves each worker with the candidates that it is to measure.
pub fn bring_home(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<()> {
    if shared.config.method == Method::Join {
        let signatures = fetch_signatures(worker, shared, candidates)?;
        let signatures = signatures.borrow();
        let kept =
            keep(shared, &candidates.borrow(), |candidate| may_be_alike(shared, &signatures, candidate))?;
        candidates.replace(kept);
    }
    move_to_larger(worker, shared, candidates)
}

/// The signatures of those documents of candidates that other processes have read.
fn fetch_signatures(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<Rc<RefCell<Sets>>> {
    let (index, crew) = (worker.index() as u32, shared.crew);
    let abroad = abroad(shared, &candidates.borrow())?;
    let asked: Rc<RefCell<Vec<Wanted>>> = Rc::default();
    let wanted = abroad.chunks(SLICE).map(|docs| Ok(docs.iter().map(|doc| (*doc, index)).collect()));
    let taken = Rc::clone(&asked);
    trade(
        worker,
        shared,
        wanted,
        move |(doc, _): &Wanted| crew.home(*doc) as u64,
        move |mut wanted| {
            taken.borrow_mut().append(&mut wanted);
            Ok(())
        },
    );
    let asked = asked.take();
    let answers = asked.chunks(SLICE).map(|some| {
        let signature = |(doc, by): &Wanted| (*by, *doc, shared.catalogue.signature(*doc).to_vec());
        Ok(some.iter().map(signature).filter(|(_, _, words)| !words.is_empty()).collect())
    });
    let signatures = Rc::new(RefCell::new(shared.no_sets(Share::Sets)));
    let taken = Rc::clone(&signatures);
    trade(
        worker,
        shared,
        answers,
        |(to, ..): &Sent| u64::from(*to),
        move |answers| answers.iter().try_for_each(|(_, doc, words)| taken.borrow_mut().insert(*doc, words)),
    );
    Ok(signatures)
}

/// The documents of candidates that other processes have read, each once, ascending.
fn abroad(shared: &Shared, candidates: &Pile<Candidate>) -> Result<Vec<Doc>> {
    let base = shared.catalogue.base();
    let mut abroad = vec![false; shared.catalogue.doc_limit() - base as usize];
    each(candidates, |candidate| {
        let docs = <[Doc; 2]>::from(candidate.pair.docs());
        for doc in docs.into_iter().filter(|doc| *doc >= base && !shared.crew.is_own(*doc)) {
            abroad[(doc - base) as usize] = true;
        }
        Ok(())
    })?;
    Ok((base..).zip(abroad).filter(|(_, abroad)| *abroad).map(|(doc, _)| doc).collect())
}

/// Whether the signatures of a candidate leave room for enough shared members. Pairs within a process, and with stored
/// contents, were told apart already.
fn may_be_alike(shared: &Shared, signatures: &Sets, candidate: &Candidate) -> Result<bool> {
    let (low, high) = candidate.pair.docs();
    if shared.is_stored(low) || (shared.crew.is_own(low) && shared.crew.is_own(high)) {
        return Ok(true);
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let of = |doc: Doc, scratch| match shared.crew.is_own(doc) {
        true => Ok(shared.catalogue.signature(doc)),
        false => signatures.get(doc, scratch),
    };
    Ok(shared.may_be_alike((low, of(low, &mut x)?), (high, of(high, &mut y)?)))
}

/// Moves candidates between processes to the home of the larger set, so that it is the smaller one that is sent there.
fn move_to_larger(
    worker: &mut Worker,
    shared: &Arc<Shared>,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<()> {
    let crew = shared.crew;
    let larger = |candidate: &Candidate| {
        let (low, high) = candidate.pair.docs();
        // What is stored can be read by all.
        let high_has_more = || shared.catalogue.size(low) <= shared.catalogue.size(high);
        if shared.is_stored(low) || high_has_more() { high } else { low }
    };
    let stays = |candidate: &Candidate| crew.is_own(larger(candidate));
    let staying = keep(shared, &candidates.borrow(), |candidate| Ok(stays(candidate)))?;
    let leaving = keep(shared, &candidates.borrow(), |candidate| Ok(!stays(candidate)))?;
    candidates.replace(staying);
    let mut from = 0;
    let slices = std::iter::from_fn(|| {
        let mut buffer = Vec::new();
        let addressed = leaving.some(from, SLICE, &mut buffer).map(|some| {
            from += some.len();
            some.iter().map(|candidate| (crew.home(larger(candidate)) as u32, *candidate)).collect::<Vec<_>>()
        });
        addressed.map(|some| (!some.is_empty()).then_some(some)).transpose()
    });
    let taken = Rc::clone(candidates);
    trade(
        worker,
        shared,
        slices,
        |(to, _): &(u32, Candidate)| u64::from(*to),
        move |come| {
            let come: Vec<Candidate> = come.into_iter().map(|(_, candidate)| candidate).collect();
            taken.borrow_mut().extend(&come)
        },
    );
    Ok(())
}

/// Those candidates that pass.
fn keep(
    shared: &Shared,
    candidates: &Pile<Candidate>,
    mut passes: impl FnMut(&Candidate) -> Result<bool>,
) -> Result<Pile<Candidate>> {
    let mut kept = Pile::new(shared.budget.part(Share::Candidates), &shared.scratch);
    let mut buffer = Vec::with_capacity(SLICE);
    each(candidates, |candidate| {
        if passes(candidate)? {
            buffer.push(*candidate);
        }
        if buffer.len() == SLICE {
            kept.extend(&buffer)?;
            buffer.clear();
        }
        Ok(())
    })?;
    kept.extend(&buffer)?;
    Ok(kept)
}

/// Goes through candidates.
fn each(candidates: &Pile<Candidate>, mut each: impl FnMut(&Candidate) -> Result<()>) -> Result<()> {
    let (mut from, mut buffer) = (0, Vec::new());
    while from < candidates.len() {
        let some = candidates.some(from, SLICE, &mut buffer)?;
        from += some.len();
        some.iter().try_for_each(&mut each)?;
    }
    Ok(())
}
