//! Sizes and sets of documents, and measuring them.

use std::sync::atomic::Ordering;

use super::Shared;
use super::budget::Share;
use super::catalogue::Doc;
use super::count::Candidate;
use super::recall::{Sets, not_recalled, recall};
use crate::config::Method;
use crate::error::{Error, Result};
use crate::similarity::Measure;
use crate::sketch::least_difference;

impl Shared {
    /// Remembers the sizes of stored contents that were met.
    pub(super) fn met_stored(&self, met: impl Iterator<Item = (Doc, u32)>) {
        for (doc, size) in met {
            self.stored_sizes[doc as usize].store(size, Ordering::Relaxed);
        }
    }

    /// The size of the set of a document, or of a stored content that was met.
    pub fn size(&self, doc: Doc) -> u32 {
        if !self.is_stored(doc) {
            return self.catalogue.size(doc);
        }
        self.stored_sizes[doc as usize].load(Ordering::Relaxed)
    }

    /// The signature of a document's set; those of stored ones are looked up when all candidates are known.
    fn signature(&self, doc: Doc) -> &[u64] {
        if self.is_stored(doc) { &[] } else { self.catalogue.signature(doc) }
    }

    /// No sets yet, for one worker, which may hold that share of them.
    pub(super) fn no_sets(&self, share: Share) -> Sets {
        Sets::new(self.budget.part(share), &self.scratch)
    }

    /// Whether pairs are measured on sets, rather than by their shared keys alone.
    pub(super) fn measured_on_sets(&self) -> bool {
        self.config.is_measured()
    }

    /// Whether shingles that are too common are left out of counts.
    pub(super) fn capped(&self) -> bool {
        self.config.cap() > 0
    }

    /// Whether a pair shares enough keys to be measured, or to be accepted where keys are all there is.
    pub(super) fn enough(&self, candidate: Candidate) -> bool {
        let (a, b) = candidate.pair.docs();
        let (left, right) = (self.size(a), self.size(b));
        self.rule.is_some_and(|rule| self.config.is_enough(rule, candidate.shared, left, right))
            && (self.config.method != Method::Join
                || self.may_be_alike((a, self.signature(a)), (b, self.signature(b))))
    }

    /// Whether the signatures of two documents, as far as there are any, leave room for as many shared members as the rule
    /// wants.
    pub(super) fn may_be_alike(&self, (a, of_a): (Doc, &[u64]), (b, of_b): (Doc, &[u64])) -> bool {
        let (left, right) = (self.size(a), self.size(b));
        let needed = self.rule.and_then(|rule| rule.own().needed(left, right));
        needed.is_some_and(|needed| {
            least_difference(of_a, of_b) <= u64::from(left) + u64::from(right) - 2 * needed
        })
    }

    /// Measures two documents whose sets were recalled or are stored: `Some` if the rule accepts them.
    pub(super) fn measure(&self, a: Doc, b: Doc) -> Result<Option<Measure>> {
        let Some(rule) = self.rule else { return Ok(None) };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        Ok(rule.measure(self.set(a, &mut x)?, self.set(b, &mut y)?))
    }

    /// The set of a document that was recalled or of a stored content, in `scratch` unless it is in memory.
    pub fn set<'a>(&'a self, doc: Doc, scratch: &'a mut Vec<u64>) -> Result<&'a [u64]> {
        match self.stored().filter(|_| self.is_stored(doc)) {
            Some(stored) => stored.set(doc, scratch).map(|()| scratch.as_slice()),
            None => self.home(doc).ok_or_else(|| not_recalled(doc))?.get(doc, scratch),
        }
    }

    /// Where the set of a document is, if it is in this process: with the worker that read it, or, if another process has
    /// sent it, with the one that took it in.
    fn home(&self, doc: Doc) -> Option<&Sets> {
        let crew = self.crew;
        if crew.is_own(doc) { self.sets[crew.home(doc)].get() } else { self.fetched[crew.taker(doc)].get() }
    }

    fn on_sets<T>(
        &self,
        (a, left): (Doc, Option<&Sets>),
        (b, right): (Doc, Option<&Sets>),
        measure: impl FnOnce(&[u64], &[u64]) -> T,
    ) -> Result<T> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let x = left.ok_or_else(|| not_recalled(a))?.get(a, &mut x)?;
        let y = right.ok_or_else(|| not_recalled(b))?.get(b, &mut y)?;
        Ok(measure(x, y))
    }

    /// Measures pairs of any documents, reading again those whose sets are not at hand.
    pub(super) fn measure_all(&self, pairs: &[(Doc, Doc)]) -> Result<Vec<Measure>> {
        let at_hand = |doc: Doc| self.home(doc).filter(|sets| sets.contains(doc));
        let mut missing: Vec<Doc> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        missing.retain(|doc| at_hand(*doc).is_none());
        missing.sort_unstable();
        missing.dedup();
        let extra =
            self.side_by_side(&missing, &|docs, sets| recall(self, docs, &mut self.sketcher(), sets))?;
        let read = |doc: Doc| extra.iter().find(|sets| sets.contains(doc));
        let store = |doc: Doc| (doc, at_hand(doc).or_else(|| read(doc)));
        let full = |a: &[u64], b: &[u64]| self.rule.map_or(Measure::of(a, b), |rule| rule.full(a, b));
        pairs.iter().map(|(a, b)| self.on_sets(store(*a), store(*b), full)).collect()
    }

    /// Derives what is stored of documents on all cores, what each has read in a store of its own.
    pub(super) fn side_by_side(
        &self,
        docs: &[Doc],
        derive: &(dyn Fn(&[Doc], &mut Sets) -> Result<()> + Sync),
    ) -> Result<Vec<Sets>> {
        // Texts are read in the order they stand in: each thread has a stretch of it.
        let mut docs = docs.to_vec();
        docs.sort_unstable_by_key(|doc| self.catalogue.position(*doc));
        let stretch = docs.len().div_ceil(self.crew.workers()).max(1);
        std::thread::scope(|scope| {
            let threads: Vec<_> = docs
                .chunks(stretch)
                .map(|docs| {
                    scope.spawn(move || {
                        // By now there are no candidates any more.
                        let mut sets = self.no_sets(Share::Candidates);
                        derive(docs, &mut sets).map(|()| sets)
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(Error::Worker("a thread that reads texts again panicked".into())))
            });
            joined.collect()
        })
    }

    /// Makes a worker's sets visible to all.
    pub(super) fn publish_sets(&self, worker: usize, sets: Sets) {
        let first = self.sets[worker].set(sets).is_ok();
        debug_assert!(first, "a worker recalls once");
    }

    /// Makes the sets visible that a worker of this process has taken in from other processes.
    pub(super) fn publish_fetched(&self, worker: usize, sets: Sets) {
        let first = self.fetched[worker - self.crew.own().start].set(sets).is_ok();
        debug_assert!(first, "a worker takes in once");
    }
}
