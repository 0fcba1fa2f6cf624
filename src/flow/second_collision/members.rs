//! The members of hot groups that one worker reads, and the keys under which they collide again.
//!
//! Their sets are derived from their texts twice, to count shingles and to choose keys, and never held: the sets of a family take
//! more memory than all else, and filling it takes longer than deriving them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::operators::generic::operator::empty;
use timely::dataflow::operators::{Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::distributed::exchange_all::wait;
use crate::flow::document_sets::Prefixes;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{DocumentBits, set};
use crate::flow::memory::sets::Sets;
use crate::flow::memory::spill::{Pile, SLICE};
use crate::flow::operators::collide::{IndexedPosting, IndexedSet, collide_indexed};
use crate::flow::operators::count::count;
use crate::flow::records::{Candidate, spread};
use crate::flow::results::gathered::Collided;
use crate::flow::run::RunParts;
use crate::flow::second_collision::{gather_bits, shared};
use crate::sketch::Frequencies;
use crate::threshold::Threshold;

/// Members read between two looks at whether to stop.
const CHECKED: usize = 1 << 10;

/// The members that one worker reads: new contents that it has read before, and its share of the stored ones.
pub struct Members<'a> {
    run: &'a RunParts,
    worker: usize,
    new: Vec<Doc>,
    stored: Vec<Doc>,
}

impl Members<'_> {
    /// Those of `hot` that a worker reads.
    pub fn new<'a>(run: &'a RunParts, worker: usize, hot: &DocumentBits) -> Members<'a> {
        let own = hot.docs().filter(|doc| run.context.topology.owner_of(*doc) == worker);
        let (stored, new) = own.partition(|doc| run.sets.is_stored(*doc));
        Members { run, worker, new, stored }
    }

    /// Hands on each member with its shingles.
    ///
    /// # Errors
    /// Those of reading texts and stored sets again, and of `each`.
    pub fn each(&self, each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()> {
        let (context, documents) = (&self.run.context, &self.run.documents);
        let (rule, mut many) = (context.rule, 0);
        let mut each = |doc, words: &[u64]| {
            many += 1;
            if many % CHECKED == 0 {
                context.status.progress.check()?;
            }
            each(doc, rule.map_or(words, |rule| rule.own_words(words)))
        };
        documents.each_set(&self.new, &mut context.sketcher(), &context.status.progress, &mut each)?;
        match self.run.sets.stored() {
            Some(stored) => stored.sets(&self.stored, &mut each),
            None => Ok(()),
        }
    }

    /// Collides the members by their rarest shingles; the hot groups that are left.
    ///
    /// # Errors
    /// Those of [`Members::each`], and of spill files.
    pub fn collide(
        &self,
        worker: &mut Worker,
        threshold: Threshold,
        frequencies: &Frequencies,
        candidates: &Rc<RefCell<Pile<Candidate>>>,
    ) -> Result<Vec<Vec<Doc>>> {
        let collided = Rc::new(RefCell::new(Collided::default()));
        let (input, probe) = self.dataflow(worker, candidates, &collided);
        let mut sending = Sending { run: self.run, worker, input, postings: Vec::new() };
        let (late, own) = self.send_at_once(&mut sending, threshold, frequencies)?;
        let all = shared(&self.run.indexed_often, || DocumentBits::new(OFTEN_SLOTS as usize));
        gather_bits(sending.worker, self.run, &all, &own);
        self.send_late(&mut sending, &late, &all)?;
        drop(late);
        sending.finish();
        wait(worker, &self.run.context.status, &probe);
        let hot_groups = std::mem::take(&mut collided.borrow_mut().hot_groups);
        Ok(hot_groups)
    }

    /// Sends the postings of all keys but those that many members have and that do not index the member: these can meet
    /// somebody only if they index another one, which is known when all are through. Returns them by member, and the slots of
    /// those that index one.
    fn send_at_once(
        &self,
        sending: &mut Sending,
        threshold: Threshold,
        frequencies: &Frequencies,
    ) -> Result<(Sets, Vec<u64>)> {
        let (mut late, mut indexed) = (self.run.context.memory.sets(Share::Sets), Vec::new());
        let (mut first, mut of_set) = (Vec::new(), Vec::new());
        let many = frequencies.many();
        self.each(&mut |doc, members| {
            let indexing = threshold.indexing_prefix(members.len());
            let member = IndexedSet::of(doc, members);
            frequencies.rarest(members, threshold.prefix(members.len()), &mut first);
            of_set.clear();
            of_set.push(member.place());
            for (at, (count, key)) in first.iter().enumerate() {
                if *count > many && at < indexing {
                    set(&mut indexed, often_slot(*key));
                }
                if *count > many && at >= indexing {
                    of_set.push(*key);
                } else {
                    sending.postings.push(member.posting(*key, at < indexing));
                }
            }
            if of_set.len() > 1 {
                late.insert(doc, &of_set)?;
            }
            sending.some()
        })?;
        Ok((late, indexed))
    }

    /// Sends what was kept back, as far as it indexes anybody.
    fn send_late(&self, sending: &mut Sending, late: &Sets, indexed: &DocumentBits) -> Result<()> {
        let mut scratch = Vec::new();
        for doc in self.new.iter().chain(&self.stored).filter(|doc| late.contains(**doc)) {
            let [place, keys @ ..] = late.get(*doc, &mut scratch)? else { continue };
            let keys = keys.iter().filter(|key| indexed.contains(often_slot(**key)));
            sending.postings.extend(keys.map(|key| IndexedSet::at(*doc, *place).posting(*key, false)));
            sending.some()?;
        }
        Ok(())
    }

    /// Builds the dataflow that takes postings and adds to the candidates of this worker.
    fn dataflow(
        &self,
        worker: &mut Worker,
        candidates: &Rc<RefCell<Pile<Candidate>>>,
        collided: &Rc<RefCell<Collided>>,
    ) -> (Input, ProbeHandle<u64>) {
        let mut input = InputHandle::new_with_builder();
        let probe = ProbeHandle::new();
        let (kept, failing) = (Rc::clone(candidates), Arc::clone(&self.run.context));
        let (sets, index) = (&self.run.sets, self.worker);
        worker.dataflow(|scope| {
            let postings = input.to_stream(scope);
            let groups = collide_indexed(postings, Arc::clone(sets), index, Rc::clone(collided));
            // The rows of all documents are known by now.
            count(groups, empty(scope), Arc::clone(sets), index, Prefixes::Indexed)
                .inspect_batch(move |_, batch| {
                    kept.borrow_mut().extend(batch).unwrap_or_else(|error| failing.status.fail(error));
                })
                .probe_with(&probe);
        });
        (input, probe)
    }
}

/// Slots of the shingles that many members have: a bit each. There are few of them, or they would be rare.
const OFTEN_SLOTS: u32 = 1 << 22;

fn often_slot(shingle: u64) -> u32 {
    (spread(shingle) >> 32) as u32 % OFTEN_SLOTS
}

type Input = InputHandle<u64, CapacityContainerBuilder<Vec<IndexedPosting>>>;

/// Postings on their way into the dataflow.
struct Sending<'a> {
    run: &'a RunParts,
    worker: &'a mut Worker,
    input: Input,
    postings: Vec<IndexedPosting>,
}

impl Sending<'_> {
    /// Sends what there is, if it is a slice.
    fn some(&mut self) -> Result<()> {
        if self.postings.len() > SLICE {
            self.run.context.status.progress.check()?;
            self.input.send_batch(&mut self.postings);
            self.worker.step();
        }
        Ok(())
    }

    /// Sends the rest; nothing comes after it.
    fn finish(mut self) {
        self.input.send_batch(&mut self.postings);
        self.input.close();
    }
}
