//! Sizes and sets of documents, and measuring pairs of them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bytemuck::zeroed_vec;
use hashbrown::HashMap;

use crate::document::Doc;
use crate::error::Result;
use crate::flow::context::RunContext;
use crate::flow::documents::RunDocuments;
use crate::flow::memory::budget::Share;
use crate::flow::memory::candidate_queue::CandidateQueue;
use crate::flow::memory::sets::{Sets, not_recalled};
use crate::flow::records::Pair;
use crate::flow::second_collision::spared::HotKeys;
use crate::flow::status::lock;
use crate::flow::stored::Stored;
use crate::similarity::{AcceptanceRule, Measure};
use crate::threads::{hand_out, in_threads};

/// Stretches of items for each thread that works on them.
const STRETCHES: usize = 8;
/// What a document weighs beside its set: reading it again costs something however short it is.
pub const DOCUMENT: u64 = 50;

/// Sizes and sets of the documents of a run, as far as they are known in this process.
pub struct DocumentSets {
    /// What every part of the run needs.
    pub context: Arc<RunContext>,
    /// The documents of the run.
    pub documents: Arc<RunDocuments>,
    /// What earlier loads left, if this is a load.
    pub stored: Option<Arc<dyn Stored>>,
    /// Sizes of the stored contents that share a key with a new one, a place each; of the others no page is touched.
    stored_sizes: Vec<AtomicU32>,
    /// Sets that the workers of this process have recalled, by worker.
    recalled: Vec<OnceLock<Sets>>,
    /// Sets that each worker of this process has taken in from others.
    received: Vec<OnceLock<Sets>>,
    /// The candidates that are measured on them.
    pub candidates: CandidateQueue,
    /// Under how many hot keys documents stand, until members of hot groups collide again.
    hot_keys: Mutex<Arc<HotKeys>>,
    /// What linked documents share that is too common to be counted, as far as it is known.
    shared_ignored: Mutex<HashMap<Pair, u32>>,
}

impl DocumentSets {
    /// No sizes of stored contents, and no sets yet.
    pub fn new(
        context: Arc<RunContext>,
        documents: Arc<RunDocuments>,
        stored: Option<Arc<dyn Stored>>,
    ) -> DocumentSets {
        let topology = context.topology;
        DocumentSets {
            stored_sizes: zeroed_vec(stored.as_deref().map_or(0, Stored::next) as usize),
            recalled: (0..topology.all()).map(|_| OnceLock::new()).collect(),
            received: (0..topology.workers()).map(|_| OnceLock::new()).collect(),
            candidates: CandidateQueue::new(topology.workers()),
            hot_keys: Mutex::default(),
            shared_ignored: Mutex::default(),
            context,
            documents,
            stored,
        }
    }

    /// What earlier loads left, if this is a load.
    pub fn stored(&self) -> Option<&dyn Stored> {
        self.stored.as_deref()
    }

    /// Whether a number is that of a stored content.
    pub fn is_stored(&self, doc: Doc) -> bool {
        doc < self.documents.catalogue.base()
    }

    /// Remembers the sizes of stored contents that share a key with a new one. Those of protected documents are in the
    /// catalogue.
    pub fn record_stored_sizes(&self, sizes: impl Iterator<Item = (Doc, u32)>) {
        for (doc, size) in sizes.filter(|(doc, _)| self.is_stored(*doc)) {
            self.stored_sizes[doc as usize].store(size, Ordering::Relaxed);
        }
    }

    /// Has hot keys be noted as groups are formed, if that does not take too much, and if no other process has groups, too.
    pub fn note_hot_keys(&self) {
        let limit = self.documents.catalogue.doc_limit();
        let fits = HotKeys::bytes(limit) <= self.context.memory.budget.whole(Share::HotKeys);
        if fits && self.context.topology.processes() == 1 {
            self.hot_keys().begin(limit);
        }
    }

    /// Under how many hot keys documents stand, as far as that is noted and not forgotten.
    pub fn hot_keys(&self) -> Arc<HotKeys> {
        Arc::clone(&lock(&self.hot_keys))
    }

    /// Forgets hot keys once no worker asks for them any more.
    pub fn forget_hot_keys(&self) {
        *lock(&self.hot_keys) = Arc::default();
    }

    /// Finds the members of hot groups that need not collide again, once all groups are formed.
    pub fn find_spared(&self) {
        let Some(rule) = self.context.rule else { return };
        self.hot_keys().find_spared(|doc, keys, sizes| rule.are_never_enough(keys, self.size(doc), sizes));
    }

    /// The size of the set of a document, or of a stored content that shares a key with a new one.
    pub fn size(&self, doc: Doc) -> u32 {
        if !self.is_stored(doc) {
            return self.documents.catalogue.size(doc);
        }
        self.stored_sizes[doc as usize].load(Ordering::Relaxed)
    }

    /// What two documents share beside what a link says, because it is too common to be counted; `None` if that is not known.
    pub fn shared_beside(&self, a: Doc, b: Doc) -> Option<u32> {
        if self.context.cap_of_keys() > 0 {
            return None;
        }
        match self.documents.ignored().filter(|common| common.may_be_of(a) && common.may_be_of(b)) {
            Some(_) => lock(&self.shared_ignored).get(&Pair::new(a, b)).copied(),
            None => Some(0),
        }
    }

    /// Remembers what the two documents of a link share that is too common to be counted.
    pub fn remember_ignored(&self, pair: Pair, shared: u32) {
        lock(&self.shared_ignored).insert(pair, shared);
    }

    /// Measures two documents whose sets were recalled or are stored: `Some` if the rule accepts them.
    ///
    /// # Errors
    /// Those of [`DocumentSets::set`].
    pub fn measure(&self, a: Doc, b: Doc) -> Result<Option<Measure>> {
        if self.context.rule.is_none() {
            return Ok(None);
        }
        let (mut x, mut y) = (Vec::new(), Vec::new());
        Ok(self.measure_sets((a, self.set(a, &mut x)?), (b, self.set(b, &mut y)?)))
    }

    /// Measures two documents whose sets are given: `Some` if the rule accepts them.
    pub fn measure_sets(&self, (a, of_a): (Doc, &[u64]), (b, of_b): (Doc, &[u64])) -> Option<Measure> {
        let rule = self.context.rule?;
        match self.protected_first(a, b) {
            Some((protected, _)) if protected == b => rule.measure_protected(of_b, of_a),
            Some(_) => rule.measure_protected(of_a, of_b),
            None => rule.measure(of_a, of_b),
        }
    }

    /// A pair of which one is protected, that one first, where the rule is about what is in the new one of it.
    pub fn protected_first(&self, a: Doc, b: Doc) -> Option<(Doc, Doc)> {
        self.context.rule.and_then(AcceptanceRule::of_protected)?;
        let catalogue = &self.documents.catalogue;
        match (catalogue.is_protected(a), catalogue.is_protected(b)) {
            (true, false) => Some((a, b)),
            (false, true) => Some((b, a)),
            (true, true) | (false, false) => None,
        }
    }

    /// The set of a document that was recalled or of a stored content, in `scratch` unless it is in memory.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] and [`crate::error::Error::Damaged`]; [`crate::error::Error::Worker`] if the set was not recalled.
    pub fn set<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        match self.stored().filter(|_| self.is_stored(doc)) {
            Some(stored) => stored.set(doc, scratch).map(|()| scratch.as_slice()),
            None => self.holder(doc).ok_or_else(|| not_recalled(doc))?.get(doc, scratch),
        }
    }

    /// Where the set of a document is, if it is in this process: with the worker that read it, or, if another process has
    /// sent it, with the one that received it.
    fn holder(&self, doc: Doc) -> Option<&Sets> {
        let topology = self.context.topology;
        match topology.is_local(doc) {
            true => self.recalled[topology.owner_of(doc)].get(),
            false => self.received[topology.receiver_of(doc)].get(),
        }
    }

    /// Measures pairs of any documents on all of their members, reading again those whose sets are not at hand.
    ///
    /// # Errors
    /// Those of [`DocumentSets::side_by_side`] and [`DocumentSets::recall`]; [`crate::error::Error::Worker`] if a set was not recalled.
    pub fn measure_all(&self, pairs: &[(Doc, Doc)]) -> Result<Vec<Measure>> {
        let is_whole = |doc: Doc| !self.documents.ignored().is_some_and(|common| common.may_be_of(doc));
        let at_hand = |doc: Doc| self.holder(doc).filter(|_| is_whole(doc)).filter(|sets| sets.contains(doc));
        let mut missing: Vec<Doc> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        missing.retain(|doc| at_hand(*doc).is_none());
        missing.sort_unstable();
        missing.dedup();
        let extra =
            self.side_by_side(&missing, self.of_candidates(), &|docs, sets| self.recall_whole(docs, sets))?;
        let read = |doc: Doc| extra.iter().find(|sets| sets.contains(doc));
        let holder = |doc: Doc| at_hand(doc).or_else(|| read(doc)).ok_or_else(|| not_recalled(doc));
        let measured = |(a, b): &(Doc, Doc)| {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            Ok(self.full(holder(*a)?.get(*a, &mut x)?, holder(*b)?.get(*b, &mut y)?))
        };
        self.on_all_cores(pairs, &|pairs| pairs.iter().map(measured).collect())
    }

    /// Measures two sets, whether the rule accepts them or not.
    pub fn full(&self, a: &[u64], b: &[u64]) -> Measure {
        self.context.rule.map_or(Measure::of(a, b), |rule| rule.full(a, b))
    }

    /// Bytes of each worker for candidates: once clusters are formed there are none any more.
    pub fn of_candidates(&self) -> u64 {
        self.context.memory.budget.part(Share::Candidates)
    }

    /// What `work` makes of some items, which it is given a stretch at a time, by as many threads as this process has workers.
    ///
    /// # Errors
    /// Those of `work`; [`crate::error::Error::Worker`] if it panics.
    pub fn on_all_cores<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: &(dyn Fn(&[T]) -> Result<Vec<R>> + Sync),
    ) -> Result<Vec<R>> {
        let workers = self.context.topology.workers();
        // Some items take much longer than others: whoever is done takes the next stretch.
        let stretch = items.len().div_ceil(workers * STRETCHES).max(1);
        let stretches: Vec<&[T]> = items.chunks(stretch).collect();
        if workers == 1 || stretches.len() < 2 {
            return work(items);
        }
        let done = hand_out(stretches.len(), workers, || (), |(), at| work(stretches[at]))?;
        Ok(done.into_iter().flatten().collect())
    }

    /// Derives the sets of `docs` (in document order, none twice) again and stores them.
    ///
    /// # Errors
    /// Those of [`RunDocuments::recall`].
    pub fn recall(&self, docs: &[Doc], sets: &mut Sets) -> Result<()> {
        self.documents.recall(docs, &mut self.context.sketcher(), &self.context.status.progress, sets)
    }

    /// The same, with the members that are too common to be counted.
    fn recall_whole(&self, docs: &[Doc], sets: &mut Sets) -> Result<()> {
        let progress = &self.context.status.progress;
        self.documents.each_whole_set(docs, &mut self.context.sketcher(), progress, &mut |doc, set| {
            sets.insert(doc, set)
        })
    }

    /// Derives what is stored of documents on all cores, what each has read in a store of its own, of which so many `bytes` are held in
    /// memory.
    ///
    /// # Errors
    /// Those of `derive`, and [`crate::error::Error::Worker`] if it panics.
    pub fn side_by_side(
        &self,
        docs: &[Doc],
        bytes: u64,
        derive: &(dyn Fn(&[Doc], &mut Sets) -> Result<()> + Sync),
    ) -> Result<Vec<Sets>> {
        // Texts are read in the order they stand in: each thread has a stretch of it.
        let mut docs = docs.to_vec();
        docs.sort_unstable_by_key(|doc| self.documents.catalogue.position(*doc));
        let weight = |doc: &Doc| DOCUMENT + u64::from(self.size(*doc));
        let parts = even_parts(&docs, self.context.topology.workers(), weight);
        in_threads(parts, |docs| {
            let mut sets = Sets::new(bytes, &self.context.memory.scratch);
            derive(docs, &mut sets).map(|()| sets)
        })
    }

    /// Makes a worker's sets visible to all.
    pub fn publish_recalled(&self, worker: usize, sets: Sets) {
        let first = self.recalled[worker].set(sets).is_ok();
        debug_assert!(first, "a worker recalls once");
    }

    /// Makes the sets visible that a worker of this process has received from other processes.
    pub fn publish_received(&self, worker: usize, sets: Sets) {
        let first = self.received[worker - self.context.topology.local_workers().start].set(sets).is_ok();
        debug_assert!(first, "a worker receives once");
    }
}

/// Cuts items into at most so many parts, one behind the other, of about the same weight.
fn even_parts<T>(items: &[T], most: usize, weight: impl Fn(&T) -> u64) -> Vec<&[T]> {
    let total: u64 = items.iter().map(&weight).sum();
    let (mut parts, mut rest, mut before, mut sum) = (Vec::with_capacity(most), items, 0, 0);
    for (at, item) in items.iter().enumerate() {
        sum += weight(item);
        let ends = parts.len() as u128 + 1;
        if ends < most as u128 && u128::from(sum) * most as u128 >= u128::from(total) * ends {
            let (part, behind) = rest.split_at(at + 1 - before);
            parts.push(part);
            (rest, before) = (behind, at + 1);
        }
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_have_all_items_and_about_the_same_weight(weights in prop::collection::vec(0u64..50, 0..80), most in 1usize..6) {
            let parts = even_parts(&weights, most, |weight| *weight);
            prop_assert!(parts.len() <= most);
            prop_assert_eq!(parts.concat(), weights.clone());
            let total: u64 = weights.iter().sum();
            for part in parts {
                prop_assert!(part.iter().sum::<u64>() <= total / most as u64 + 51);
            }
        }
    }
}
