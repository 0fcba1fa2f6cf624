//! Candidates whose two documents were read in different processes: told apart by their signatures, then brought to where
//! the larger of the two sets is. What crosses between processes is signatures, pairs, and the smaller sets.

use std::cell::RefCell;
use std::rc::Rc;

use timely::worker::Worker;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::distributed::exchange_all::exchange_all;
use crate::flow::document_sets::DocumentSets;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{ones, set};
use crate::flow::memory::sets::Sets;
use crate::flow::memory::spill::{Pile, SLICE};
use crate::flow::records::{Candidate, Sent, Wanted};

/// Drops the candidates that signatures tell apart, also where another process has one of the two.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn drop_unlike_remote(
    worker: &mut Worker,
    sets: &DocumentSets,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<()> {
    if sets.context.has_signatures() {
        let signatures = fetch_signatures(worker, sets, candidates)?;
        let signatures = signatures.borrow();
        let kept = keep(sets, &candidates.borrow(), |candidate| may_be_alike(sets, &signatures, candidate))?;
        candidates.replace(kept);
    }
    Ok(())
}

/// The signatures of those documents of candidates that other processes have read.
fn fetch_signatures(
    worker: &mut Worker,
    sets: &DocumentSets,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<Rc<RefCell<Sets>>> {
    let (index, topology) = (worker.index() as u32, sets.context.topology);
    let remote = remote_documents(sets, &candidates.borrow())?;
    let asked: Rc<RefCell<Vec<Wanted>>> = Rc::default();
    let wanted = remote.chunks(SLICE).map(|docs| Ok(docs.iter().map(|doc| (*doc, index)).collect()));
    let taken = Rc::clone(&asked);
    exchange_all(
        worker,
        &sets.context,
        wanted,
        move |(doc, _): &Wanted| topology.owner_of(*doc) as u64,
        move |mut wanted| {
            taken.borrow_mut().append(&mut wanted);
            Ok(())
        },
    );
    let asked = asked.take();
    let answers = asked.chunks(SLICE).map(|some| {
        let signature = |(doc, by): &Wanted| (*by, *doc, sets.documents.catalogue.signature(*doc).to_vec());
        Ok(some.iter().map(signature).filter(|(_, _, words)| !words.is_empty()).collect())
    });
    let signatures = Rc::new(RefCell::new(sets.context.memory.sets(Share::Sets)));
    let taken = Rc::clone(&signatures);
    exchange_all(
        worker,
        &sets.context,
        answers,
        |(to, ..): &Sent| u64::from(*to),
        move |answers| answers.iter().try_for_each(|(_, doc, words)| taken.borrow_mut().insert(*doc, words)),
    );
    Ok(signatures)
}

/// The documents of candidates that other processes have read, each once, ascending.
fn remote_documents(sets: &DocumentSets, candidates: &Pile<Candidate>) -> Result<Vec<Doc>> {
    let base = sets.documents.catalogue.base();
    let mut remote = Vec::new();
    candidates.each_slice(|some| {
        let docs = some.iter().flat_map(|candidate| <[Doc; 2]>::from(candidate.pair.docs()));
        for doc in docs.filter(|doc| *doc >= base && !sets.context.topology.is_local(*doc)) {
            set(&mut remote, doc - base);
        }
        Ok(())
    })?;
    Ok(ones(remote.into_iter()).map(|row| base + row).collect())
}

/// Whether the signatures of a candidate leave room for enough shared members. Pairs within a process, and with stored
/// contents, were told apart already.
fn may_be_alike(sets: &DocumentSets, signatures: &Sets, candidate: &Candidate) -> Result<bool> {
    let (low, high) = candidate.pair.docs();
    if sets.is_stored(low) || (sets.context.topology.is_local(low) && sets.context.topology.is_local(high)) {
        return Ok(true);
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let of = |doc: Doc, scratch| match sets.context.topology.is_local(doc) {
        true => Ok(sets.documents.catalogue.signature(doc)),
        false if signatures.contains(doc) => signatures.get(doc, scratch),
        // Where there was no memory for it, there is none.
        false => Ok(&[][..]),
    };
    let (low, high) = (sets.outline_with(low, of(low, &mut x)?), sets.outline_with(high, of(high, &mut y)?));
    Ok(sets.may_be_alike(low, high))
}

/// Leaves each worker with the candidates that its process is to measure: they move between processes to the owner of the larger
/// set, so that it is the smaller one that is sent there.
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file.
pub fn move_to_larger(
    worker: &mut Worker,
    sets: &DocumentSets,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
) -> Result<()> {
    let topology = sets.context.topology;
    let larger = |candidate: &Candidate| {
        let (low, high) = candidate.pair.docs();
        // What is stored can be read by all.
        let high_has_more = || sets.documents.catalogue.size(low) <= sets.documents.catalogue.size(high);
        if sets.is_stored(low) || high_has_more() { high } else { low }
    };
    let stays = |candidate: &Candidate| topology.is_local(larger(candidate));
    let staying = keep(sets, &candidates.borrow(), |candidate| Ok(stays(candidate)))?;
    let leaving = keep(sets, &candidates.borrow(), |candidate| Ok(!stays(candidate)))?;
    candidates.replace(staying);
    let mut from = 0;
    let slices = std::iter::from_fn(|| {
        let mut buffer = Vec::new();
        let addressed = leaving.some(from, SLICE, &mut buffer).map(|some| {
            from += some.len();
            some.iter()
                .map(|candidate| (topology.owner_of(larger(candidate)) as u32, *candidate))
                .collect::<Vec<_>>()
        });
        addressed.map(|some| (!some.is_empty()).then_some(some)).transpose()
    });
    let taken = Rc::clone(candidates);
    exchange_all(
        worker,
        &sets.context,
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
///
/// # Errors
/// [`crate::error::Error::Io`] of a spill file, and those of `passes`.
pub fn keep(
    sets: &DocumentSets,
    candidates: &Pile<Candidate>,
    mut passes: impl FnMut(&Candidate) -> Result<bool>,
) -> Result<Pile<Candidate>> {
    let mut kept = sets.context.memory.pile(Share::Candidates);
    let mut passed = Vec::with_capacity(SLICE);
    candidates.each_slice(|some| {
        for candidate in some {
            if passes(candidate)? {
                passed.push(*candidate);
            }
        }
        kept.extend(&passed)?;
        passed.clear();
        Ok(())
    })?;
    Ok(kept)
}
