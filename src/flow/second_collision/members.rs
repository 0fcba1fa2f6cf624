//! The members of hot groups that one worker reads, and the keys under which they collide again.
//!
//! Sets of new ones are derived from their texts to choose keys. Before that shingles are counted: of many members by a sample, whose
//! sets are held until then, as far as they take no more than the postings of the first collision did.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, Weak};

use timely::container::CapacityContainerBuilder;
use timely::dataflow::operators::generic::operator::empty;
use timely::dataflow::operators::{Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::document::{Doc, Position};
use crate::error::Result;
use crate::flow::catalogue::outlines::Prefixes;
use crate::flow::distributed::exchange_all::wait;
use crate::flow::distributed::gather_bits::gather_bits;
use crate::flow::memory::budget::Share;
use crate::flow::memory::document_bits::{DocumentBits, set as set_bit};
use crate::flow::memory::sets::Sets;
use crate::flow::memory::spill::{Pile, SLICE};
use crate::flow::operators::collide::{IndexedPosting, IndexedSet, collide_indexed};
use crate::flow::operators::count::count;
use crate::flow::packed::container::PackedRecords;
use crate::flow::records::Candidate;
use crate::flow::results::gathered::Collided;
use crate::flow::results::hot_groups::HotGroup;
use crate::flow::run::RunParts;
use crate::flow::second_collision::keys::{KeyChoice, KnownShingles, OfNew, OwnShingles};
use crate::flow::shared::shared;
use crate::limits::sized;
use crate::sketch::{Frequencies, spread};

/// Members read between two looks at whether to stop.
const CHECKED: usize = 1 << 10;
/// Of so many bytes of input one may be taken by sets that are held: where postings were collided before, about what these took; where
/// this is the first collision, few.
const HELD: (u64, u64) = (5, 16);
/// Of so many stored members one is counted.
const COUNTED: Doc = 16;
/// Of more than [`ALL_COUNTED`] new members one in 2 to this power is counted. What many of them have stands out in these, too.
const SAMPLED: u32 = 2;
/// As many new members are all counted.
const ALL_COUNTED: usize = sized(1 << 12, 1 << 4);

/// The members that one worker reads: new contents that it has read before, and its share of the stored ones.
pub struct Members<'a> {
    run: &'a RunParts,
    worker: usize,
    new: Vec<Doc>,
    stored: Vec<Doc>,
    /// Whether shingles are counted in all contents, which collide for the first time.
    counts_all: bool,
    /// Whether some of the new ones stand for all of them where shingles are counted.
    sampled: bool,
    held: HeldSets,
}

/// The sets of members that were counted, as many as there is room for, so that they need not be derived again.
#[derive(Default)]
struct HeldSets {
    /// Ascending.
    docs: Vec<Doc>,
    words: Vec<u64>,
    ends: Vec<usize>,
}

impl HeldSets {
    /// Adds the set of the next member, if there is room for it and for all before it; whether there was.
    fn push(&mut self, doc: Doc, set: &[u64], most: usize) -> bool {
        let fits = self.words.len() + set.len() <= most;
        if fits {
            self.docs.push(doc);
            self.words.extend_from_slice(set);
            self.ends.push(self.words.len());
        }
        fits
    }

    /// The sets, in order.
    fn all(&self) -> impl Iterator<Item = (Doc, &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let sets = starts.zip(&self.ends).map(|(start, end)| &self.words[start..*end]);
        self.docs.iter().copied().zip(sets)
    }

    /// Those of ascending documents whose sets are not held.
    fn others(&self, docs: &[Doc]) -> Vec<Doc> {
        let mut held = self.docs.iter().peekable();
        let mut docs = docs.to_vec();
        docs.retain(|doc| held.next_if_eq(&doc).is_none());
        docs
    }
}

impl Members<'_> {
    /// Those of `hot` that a worker reads. If `counts_all`, shingles will be counted in all new ones.
    pub fn new<'a>(run: &'a RunParts, worker: usize, hot: &DocumentBits, counts_all: bool) -> Members<'a> {
        let own = hot.docs().filter(|doc| run.context.topology.owner_of(*doc) == worker);
        let (stored, new) = own.partition(|doc| run.sets.is_stored(*doc));
        let all_new = hot.docs().filter(|doc| !run.sets.is_stored(*doc)).count();
        let sampled = !counts_all && all_new > ALL_COUNTED;
        Members { run, worker, new, stored, counts_all, sampled, held: HeldSets::default() }
    }

    /// Hands on each new member with its shingles.
    fn each_new(&self, each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()> {
        for (doc, set) in self.held.all() {
            each(doc, set)?;
        }
        self.derive(&self.held.others(&self.new), each)
    }

    /// Hands on some new members with their shingles, which are derived from their texts.
    fn derive(&self, docs: &[Doc], each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()> {
        let (context, documents) = (&self.run.context, &self.run.documents);
        let mut each = self.checking(each);
        documents.each_set(docs, &mut context.sketcher(), &context.status.progress, &mut each)
    }

    /// The new members whose shingles are counted. Where they stand decides, so that it does not matter who has read them.
    fn counted(&self) -> Vec<Doc> {
        let catalogue = &self.run.documents.catalogue;
        let mut docs = self.new.clone();
        if self.sampled {
            docs.retain(|doc| is_sampled(catalogue.position(*doc)));
        }
        docs
    }

    /// Members of sets that are held.
    fn most_held(&self) -> usize {
        let context = &self.run.context;
        let of = if self.counts_all { HELD.1 } else { HELD.0 };
        let bytes = (context.input_bytes / of).min(context.memory.budget.whole(Share::Fetched));
        usize::try_from(bytes / context.topology.workers() as u64).unwrap_or(usize::MAX) / size_of::<u64>()
    }

    /// What makes the keys of a new member differ from those of documents that it is not to be compared with.
    fn salt(&self, doc: Doc) -> u64 {
        self.run.documents.catalogue.salt(doc)
    }

    /// Hands on some stored members with their shingles.
    fn each_stored(&self, docs: &[Doc], each: &mut dyn FnMut(Doc, &[u64]) -> Result<()>) -> Result<()> {
        self.run.sets.stored().map_or(Ok(()), |stored| stored.sets(docs, &mut self.checking(each)))
    }

    /// Hands on the shingles among the words of a sketch, and looks from time to time whether to stop.
    fn checking<'a>(
        &'a self,
        each: &'a mut dyn FnMut(Doc, &[u64]) -> Result<()>,
    ) -> impl FnMut(Doc, &[u64]) -> Result<()> + 'a {
        let (rule, progress, mut many) = (self.run.context.rule, &self.run.context.status.progress, 0);
        move |doc, words| {
            many += 1;
            if many % CHECKED == 0 {
                progress.check()?;
            }
            each(doc, rule.map_or(words, |rule| rule.own_words(words)))
        }
    }

    /// Counts in how many members each shingle is, or in how many of a sample of them. Of stored ones few are enough: they need not
    /// be kept apart from each other.
    ///
    /// # Errors
    /// Those of reading texts and stored sets again.
    pub fn count(&mut self, frequencies: &Frequencies) -> Result<()> {
        let mut counting = frequencies.counting();
        let (mut held, most) = (HeldSets::default(), self.most_held());
        let mut has_room = true;
        self.derive(&self.counted(), &mut |doc, set| {
            counting.count(set);
            has_room = has_room && held.push(doc, set, most);
            Ok(())
        })?;
        self.held = held;
        let mut count = |_, set: &[u64]| {
            counting.count(set);
            Ok(())
        };
        let sample: Vec<Doc> = self.stored.iter().copied().filter(|doc| doc % COUNTED == 0).collect();
        self.each_stored(&sample, &mut count)
    }

    /// Collides the members by their rarest shingles; the hot groups that are left.
    ///
    /// # Errors
    /// Those of reading texts and stored sets again, and of spill files.
    pub fn collide(
        &mut self,
        worker: &mut Worker,
        choice: &KeyChoice,
        candidates: &Rc<RefCell<Pile<Candidate>>>,
    ) -> Result<Vec<HotGroup>> {
        let collided = Rc::new(RefCell::new(Collided::default()));
        let limit = self.run.documents.catalogue.doc_limit();
        let by_fewest = shared(&self.run.shared.by_fewest, || DocumentBits::new(limit));
        let (input, probe) = self.dataflow(worker, candidates, &collided, &by_fewest);
        let mut sending = Sending { run: self.run, worker, input, postings: Vec::new() };
        let (late, mut own) = self.send_new(&mut sending, choice)?;
        self.held = HeldSets::default();
        if self.run.sets.stored().is_some() {
            let new = OfNew {
                all: sending.gather(&self.run.shared.of_new, &own.all),
                indexing: sending.gather(&self.run.shared.indexing_new, &own.indexing),
            };
            self.send_stored(&mut sending, choice, &new, &mut own)?;
        }
        let indexing = sending.gather(&self.run.shared.indexing_often, &own.indexing_often);
        self.send_late(&mut sending, &late, &indexing)?;
        drop(late);
        // Pairs are counted when all postings are sent.
        gather_bits(sending.worker, &self.run.context, &by_fewest, &own.by_fewest);
        sending.finish();
        wait(worker, &self.run.context.status, &probe);
        let hot_groups = std::mem::take(&mut collided.borrow_mut().hot_groups);
        Ok(hot_groups)
    }

    /// Sends the postings of new members under all keys but those that many members have and that do not index the member:
    /// these can meet somebody only if they index another one, which is known when all are through. Returns them by member.
    fn send_new(&self, sending: &mut Sending, choice: &KeyChoice) -> Result<(Sets, OwnOfNew)> {
        let (mut late, mut own) = (self.run.context.memory.sets(Share::Sets), OwnOfNew::of(choice));
        let (mut keys, mut of_set) = (Vec::new(), Vec::new());
        let beside_stored = self.run.sets.stored().is_some();
        let alone_indexed = self.run.context.rule.is_some_and(|rule| rule.of_protected().is_some());
        self.each_new(&mut |doc, set| {
            let indexing = choice.of(set, &mut keys);
            if alone_indexed && self.run.documents.catalogue.is_protected(doc) {
                // What contains it is found by these, and it is never sought in anything itself.
                keys.truncate(indexing.keys);
            }
            if indexing.by_fewest {
                set_bit(&mut own.by_fewest, doc);
            }
            let member = IndexedSet::of(doc, set, self.salt(doc));
            if beside_stored {
                set.iter().for_each(|shingle| own.all.insert(*shingle));
                keys.iter().take(indexing.keys).for_each(|(_, key)| own.indexing.insert(*key));
            }
            of_set.clear();
            for (at, (count, key)) in keys.iter().enumerate() {
                match (choice.is_often(*count), at < indexing.keys) {
                    // The rarest come first, so these are the last ones, from some place on.
                    (true, false) if of_set.is_empty() => of_set.extend([member.place(), at as u64, *key]),
                    (true, false) => of_set.push(*key),
                    (is_often, is_indexing) => {
                        if is_often {
                            own.indexing_often.insert(*key);
                        }
                        sending.postings.push(member.posting(*key, at, is_indexing));
                    }
                }
            }
            if !of_set.is_empty() {
                late.insert(doc, &of_set)?;
            }
            sending.some()
        })?;
        Ok((late, own))
    }

    /// Sends the postings of stored members under keys that a new one has.
    fn send_stored(
        &self,
        sending: &mut Sending,
        choice: &KeyChoice,
        new: &OfNew,
        own: &mut OwnOfNew,
    ) -> Result<()> {
        let (mut known, mut keys) = (Vec::new(), Vec::new());
        let salts = self.run.sets.stored().map_or(Ok(Vec::new()), |stored| stored.salts(&self.stored))?;
        let salt = |doc: Doc| self.stored.binary_search(&doc).map_or(0, |at| salts[at]);
        self.each_stored(&self.stored, &mut |doc, set| {
            let indexing = choice.of_stored(set, new, &mut known, &mut keys);
            if keys.is_empty() {
                return Ok(());
            }
            if indexing.by_fewest {
                set_bit(&mut own.by_fewest, doc);
            }
            let member = IndexedSet::of(doc, set, salt(doc));
            for (at, (count, key)) in keys.iter().enumerate() {
                if at < indexing.keys && choice.is_often(*count) {
                    own.indexing_often.insert(*key);
                }
                sending.postings.push(member.posting(*key, indexing.before + at, at < indexing.keys));
            }
            sending.some()
        })
    }

    /// Sends what was kept back, as far as it indexes anybody.
    fn send_late(&self, sending: &mut Sending, late: &Sets, indexing: &KnownShingles) -> Result<()> {
        let mut scratch = Vec::new();
        for doc in self.new.iter().filter(|doc| late.contains(**doc)) {
            let [place, first, keys @ ..] = late.get(*doc, &mut scratch)? else { continue };
            let member = IndexedSet::at(*doc, *place, self.salt(*doc));
            let keys = (*first as usize..).zip(keys).filter(|(_, key)| indexing.may_have(**key));
            sending.postings.extend(keys.map(|(before, key)| member.posting(*key, before, false)));
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
        by_fewest: &Arc<DocumentBits>,
    ) -> (Input, ProbeHandle<u64>) {
        let mut input = InputHandle::new_with_builder();
        let probe = ProbeHandle::new();
        let (kept, failing) = (Rc::clone(candidates), Arc::clone(&self.run.context));
        let (sets, index) = (&self.run.sets, self.worker);
        let prefixes = Prefixes::Indexed(Arc::clone(by_fewest));
        worker.dataflow(|scope| {
            let postings = input.to_stream(scope);
            let groups = collide_indexed(postings, Arc::clone(sets), index, Rc::clone(collided));
            // The rows of all documents are known by now.
            count(groups, empty(scope), Arc::clone(sets), index, prefixes)
                .inspect_batch(move |_, batch| {
                    kept.borrow_mut().extend(batch).unwrap_or_else(|error| failing.status.fail(error));
                })
                .probe_with(&probe);
        });
        (input, probe)
    }
}

/// Whether the member at this place is one of those that are counted. By the high bits of what is multiplied: low ones would follow from the
/// low ones of offsets, which records of even lengths and rows by turns have in common.
fn is_sampled(position: Position) -> bool {
    spread(position.to_bits()) >> (u64::BITS - SAMPLED) == 0
}

/// Shingles of the new members of one worker.
struct OwnOfNew {
    /// All of them, where there are stored members.
    all: OwnShingles,
    /// Those by which one is indexed, where there are stored members.
    indexing: OwnShingles,
    /// Those of the latter that many members have.
    indexing_often: OwnShingles,
    /// A bit for each member that is indexed by the fewest keys.
    by_fewest: Vec<u64>,
}

impl OwnOfNew {
    /// None yet.
    fn of(choice: &KeyChoice) -> OwnOfNew {
        OwnOfNew {
            all: choice.none(),
            indexing: choice.none(),
            indexing_often: choice.none(),
            by_fewest: Vec::new(),
        }
    }
}

type Input = InputHandle<u64, CapacityContainerBuilder<PackedRecords<IndexedPosting>>>;

/// Postings on their way into the dataflow.
struct Sending<'a> {
    run: &'a RunParts,
    worker: &'a mut Worker,
    input: Input,
    postings: Vec<IndexedPosting>,
}

impl Sending<'_> {
    /// Shingles of all workers, kept in `place` while they are needed.
    fn gather(&mut self, place: &Mutex<Weak<DocumentBits>>, own: &OwnShingles) -> KnownShingles {
        let all = shared(place, || DocumentBits::new(own.slots() as usize));
        gather_bits(self.worker, &self.run.context, &all, &own.bits);
        KnownShingles::new(all, own.slots())
    }

    /// Sends what there is, if it is a slice.
    fn some(&mut self) -> Result<()> {
        if self.postings.len() > SLICE {
            self.run.context.status.progress.check()?;
            self.send();
            self.worker.step();
        }
        Ok(())
    }

    /// Sends the rest; nothing comes after it.
    fn finish(mut self) {
        self.send();
        self.input.close();
    }

    fn send(&mut self) {
        let mut batch = PackedRecords::from(std::mem::take(&mut self.postings));
        self.input.send_batch(&mut batch);
        self.postings = batch.into_records();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quarter_is_counted_however_records_lie() {
        let ways: [fn(u32) -> Position; 6] = [
            |at| Position::new(0, 4 * u64::from(at)),
            |at| Position::new(0, 4 * u64::from(at) + 2),
            |at| Position::new(0, 1000 * u64::from(at)),
            |at| Position::new(0, u64::from(at)),
            |at| Position::new(3, 4 * u64::from(at) + 1),
            |at| Position::new(at, 0),
        ];
        for (number, way) in ways.iter().enumerate() {
            let sampled = (0..10_000).filter(|at| is_sampled(way(*at))).count();
            assert!((2000..3000).contains(&sampled), "{sampled} of 10,000, way {number}");
        }
    }

    proptest! {
        #[test]
        fn held_sets_and_the_others_are_all(
            sets in prop::collection::btree_map(0u32..90, prop::collection::vec(any::<u64>(), 0..7), 0..40),
            most in 0usize..90, step in 1u32..4,
        ) {
            let (mut held, mut has_room) = (HeldSets::default(), true);
            for (doc, set) in sets.iter().filter(|(doc, _)| *doc % step == 0) {
                has_room = has_room && held.push(*doc, set, most);
            }
            prop_assert!(held.words.len() <= most);
            let docs: Vec<Doc> = sets.keys().copied().collect();
            let others = held.others(&docs);
            prop_assert!(others.is_sorted());
            let mut all: Vec<(Doc, &[u64])> = held.all().collect();
            all.extend(others.iter().map(|doc| (*doc, &sets[doc][..])));
            all.sort_unstable();
            prop_assert_eq!(all, sets.iter().map(|(doc, set)| (*doc, &set[..])).collect::<Vec<_>>());
        }
    }
}
