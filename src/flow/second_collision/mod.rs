//! The second collision: members of hot groups meet again, among each other only, under keys that are rare among them.
//!
//! Pages of one site share a template, and its shingles may come first in the order of the rarity table, which has seen a sample
//! of the inputs or those of an earlier load. Then all pages meet under the same keys: a *hot group*. Any one order of the
//! shingles is right for the prefix filter, so the members of hot groups get an order of their own, by how many of them have a
//! shingle. What is the template's comes last in it.
//!
//! No pair is lost. If both of two documents take part in the second collision, they do so with whole prefixes. If not, no key
//! they share is of a group whose members collide again: each such key was counted, or its group goes to the clustering, or
//! one of the two was spared, as it shares a key that was counted with whoever it is accepted with ([`spared`]).
//!
//! Where a join is one of containment, this is the only collision, of all contents: by which keys a set is indexed is known
//! when the shingles of all are counted, and which of its other shingles meet anybody when all are indexed. In a load it is that
//! of all new contents, and of the stored ones that they have met in hot groups; the other stored ones were counted.

mod keys;
mod members;
pub mod spared;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::worker::Worker;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::distributed::exchange_all::{exchange_all, wait_for_all};
use crate::flow::distributed::gather_bits::gather_bits;
use crate::flow::distributed::remote_candidates::keep;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{DocumentBits, is_set, ones, set};
use crate::flow::memory::spill::{Pile, SLICE};
use crate::flow::records::Candidate;
use crate::flow::results::gathered::Collided;
use crate::flow::run::RunParts;
use crate::flow::second_collision::keys::{KeyChoice, Scale, Shown};
use crate::flow::second_collision::members::Members;
use crate::flow::shared::shared;
use crate::similarity::AcceptanceRule;
use crate::sketch::Frequencies;

/// Members of a large hot group that are held against each other.
const SAMPLE: usize = 32;
/// Fewer of them say nothing.
const LEAST: usize = 4;

/// Lets the members of hot groups collide again. Replaces the candidates and the hot groups of this worker. Every worker of
/// every process calls it at the same place.
///
/// # Errors
/// Those of reading texts and stored sets again, and of spill files.
pub fn collide_again(
    worker: &mut Worker,
    run: &RunParts,
    candidates: &Rc<RefCell<Pile<Candidate>>>,
    collided: &mut Collided,
) -> Result<()> {
    let Some((rule, shown)) = run.context.rule.and_then(|rule| Some((rule, shown(rule)?))) else {
        return Ok(());
    };
    let own = match shown {
        Shown::Resembling(_) => {
            spare(run, collided);
            sort_out(run, rule, collided)?;
            std::mem::take(&mut collided.hot_members)
        }
        Shown::Containing(_) => {
            let hot = std::mem::take(&mut collided.hot_members);
            contents(run, worker.index(), &std::mem::take(&mut collided.copied), hot)
        }
    };
    let hot = gather_members(worker, run, &own);
    // All workers have left out who is spared, or their members would not be known.
    run.sets.forget_hot_keys();
    let members = hot.len();
    // Pairs of stored ones are known.
    let is_any_new = hot.docs().any(|doc| !run.sets.is_stored(doc));
    if !is_any_new || run.context.status.failed() {
        return Ok(());
    }
    drop_hot_pairs(run, &hot, candidates)?;
    let scale = match shown {
        Shown::Resembling(_) => Scale::default(),
        Shown::Containing(_) => Scale::of(worker, run, &hot),
    };
    // Which keys are of one content alone is only known where all are counted.
    let mut own = Members::new(run, worker.index(), &hot, matches!(shown, Shown::Containing(_)));
    drop(hot);
    let frequencies = shared(&run.shared.frequencies, || match shown {
        Shown::Resembling(_) => Frequencies::new(members),
        Shown::Containing(_) => Frequencies::of_all(scale.shingles, 2 * scale.bytes),
    });
    own.count(&frequencies)?;
    add_up(worker, run, &frequencies);
    if !run.context.status.failed() {
        let choice = KeyChoice::new(shown, &frequencies, scale, run.sets.stored().is_some());
        collided.hot_groups.append(&mut own.collide(worker, &choice, candidates)?);
    }
    Ok(())
}

/// How keys are chosen where some contents collide again, or all of them here alone; `None` where none do.
fn shown(rule: AcceptanceRule) -> Option<Shown> {
    let containing = rule.all_of_larger().map(Shown::Containing);
    containing.or_else(|| rule.prefix().map(Shown::Resembling))
}

impl Scale {
    /// What all contents come to, and what every process has memory for: counts and bits are the same in all of them.
    fn of(worker: &mut Worker, run: &RunParts, contents: &DocumentBits) -> Scale {
        let (context, catalogue) = (&run.context, &run.documents.catalogue);
        let topology = context.topology;
        // A quarter of what groups may take, which come later: counts, and bits of the process and of each worker.
        let own = context.memory.budget.whole(Share::Groups) / (4 * (3 + topology.workers() as u64));
        let least = Rc::new(RefCell::new(own));
        let taken = Rc::clone(&least);
        let sent = (0..topology.all() as u64).map(|to| Ok(vec![(to, own)]));
        exchange_all(
            worker,
            context,
            sent,
            |(to, _): &(u64, u64)| *to,
            move |all| {
                let mut least = taken.borrow_mut();
                all.iter().for_each(|(_, bytes)| *least = (*least).min(*bytes));
                Ok(())
            },
        );
        let bytes = *least.borrow();
        // Sizes of stored ones are not known in all processes; few of them are counted.
        let new = contents.docs().filter(|doc| !run.sets.is_stored(*doc));
        Scale { shingles: new.map(|doc| u64::from(catalogue.size(doc))).sum(), bytes }
    }
}

/// A bit for each content of a worker that has a shingle, beside those of stored ones in `bits`.
fn contents(run: &RunParts, worker: usize, copied: &[u64], mut bits: Vec<u64>) -> Vec<u64> {
    let (catalogue, topology) = (&run.documents.catalogue, run.context.topology);
    for row in 0..catalogue.rows(worker) {
        let doc = catalogue.base() + (row * topology.all() + worker) as Doc;
        if !is_set(copied, doc) && catalogue.size(doc) > 0 {
            set(&mut bits, doc);
        }
    }
    bits
}

/// Leaves out those members of hot groups that have met whoever they may be accepted with, and groups of such members alone.
fn spare(run: &RunParts, collided: &mut Collided) {
    let hot_keys = run.sets.hot_keys();
    let Some(spared) = hot_keys.spared() else { return };
    collided.hot_groups.retain(|group| !group.docs().iter().all(|doc| spared.contains(*doc)));
    let members = ones(std::mem::take(&mut collided.hot_members).into_iter());
    members.filter(|doc| !spared.contains(*doc)).for_each(|doc| set(&mut collided.hot_members, doc));
}

/// Leaves of the large hot groups those that look like near-copies of one text in mass; members of the others collide again.
/// Near-copies have less of their own than a prefix takes in, so no order of shingles keeps them from meeting; each is linked
/// to the first one it is measured against. What is taken for near-copies may depend on who has read them, the answer does not.
fn sort_out(run: &RunParts, rule: AcceptanceRule, collided: &mut Collided) -> Result<()> {
    let (catalogue, status) = (&run.documents.catalogue, &run.context.status);
    let samples: Vec<Vec<Doc>> = collided.hot_groups.iter().map(|group| sample(run, group.docs())).collect();
    let mut docs: Vec<Doc> = samples.iter().flatten().copied().collect();
    docs.sort_unstable_by_key(|doc| catalogue.position(*doc));
    docs.dedup();
    let mut sets = run.context.memory.sets(Share::Fetched);
    run.documents.recall(&docs, &mut run.context.sketcher(), &status.progress, &mut sets)?;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut near_copies = Vec::new();
    for (group, sample) in std::mem::take(&mut collided.hot_groups).into_iter().zip(&samples) {
        let mut all_linked = sample.len() >= LEAST;
        for two in sample.windows(2) {
            all_linked =
                all_linked && rule.measure(sets.get(two[0], &mut x)?, sets.get(two[1], &mut y)?).is_some();
        }
        if all_linked {
            near_copies.push(group);
        } else {
            group.docs().iter().for_each(|doc| set(&mut collided.hot_members, *doc));
        }
    }
    collided.hot_groups = near_copies;
    Ok(())
}

/// Members of a hot group at even distances, of those that this process has read.
fn sample(run: &RunParts, group: &[Doc]) -> Vec<Doc> {
    let (topology, sets) = (run.context.topology, &run.sets);
    let local = group.iter().copied().filter(|doc| !sets.is_stored(*doc) && topology.is_local(*doc));
    let local: Vec<Doc> = local.collect();
    local.iter().copied().step_by((local.len() / SAMPLE).max(1)).collect()
}

/// The members of hot groups of all workers that collide again; `own` are those of this worker, a bit each.
fn gather_members(worker: &mut Worker, run: &RunParts, own: &[u64]) -> Arc<DocumentBits> {
    let all = shared(&run.shared.hot_members, || DocumentBits::new(run.documents.catalogue.doc_limit()));
    gather_bits(worker, &run.context, &all, own);
    all
}

/// Drops the candidates of which both documents are members: the second collision finds them.
fn drop_hot_pairs(run: &RunParts, hot: &DocumentBits, candidates: &RefCell<Pile<Candidate>>) -> Result<()> {
    let kept = keep(&run.sets, &candidates.borrow(), |candidate| {
        let (a, b) = candidate.pair.docs();
        Ok(!(hot.contains(a) && hot.contains(b)))
    })?;
    candidates.replace(kept);
    Ok(())
}

/// Adds up the counts of all processes, in each of them. Returns when all of them are known.
fn add_up(worker: &mut Worker, run: &RunParts, frequencies: &Frequencies) {
    let (context, topology) = (&run.context, run.context.topology);
    wait_for_all(worker, context);
    if topology.processes() == 1 {
        return;
    }
    let is_first = worker.index() == topology.local_workers().start;
    // Read while they are sent: nothing is added to them before all are.
    let slices = topology.others().filter(|_| is_first).flat_map(|process| {
        let to = topology.first_of(process) as u32;
        let mut counts = frequencies.counts();
        std::iter::from_fn(move || {
            let some: Vec<_> = counts.by_ref().take(SLICE).map(|(slot, count)| (to, slot, count)).collect();
            (!some.is_empty()).then_some(Ok(some))
        })
    });
    let received = Rc::new(RefCell::new(Vec::new()));
    let taken = Rc::clone(&received);
    let slots = frequencies.slots();
    exchange_all(
        worker,
        context,
        slices,
        |(to, ..): &(u32, u32, u32)| u64::from(*to),
        move |counts| {
            let mut sums = taken.borrow_mut();
            sums.resize(slots, 0);
            counts.iter().for_each(|(_, slot, count)| sums[*slot as usize] += *count);
            Ok(())
        },
    );
    let received: Vec<u32> = received.take();
    (0..).zip(received).for_each(|(slot, count)| frequencies.add(slot, count));
    wait_for_all(worker, context);
}
