//! Candidates measured in document order: each text is read again once, its pairs with earlier documents are measured on the
//! set at hand, and the set is held only as long as a later document may need it.

use crate::components::Forest;
use crate::document::{Doc, Position};
use crate::error::Result;
use crate::flow::common_members::apart::CommonMembers;
use crate::flow::memory::document_bits::{DocumentBits, Ranks};
use crate::flow::memory::live_sets::LiveSets;
use crate::flow::memory::sets::not_recalled;
use crate::flow::memory::spill::SLICE;
use crate::flow::records::{Candidate, Pair};
use crate::flow::run::RunParts;
use crate::limits::sized;
use crate::metrics::Metric;
use crate::similarity::{AcceptanceRule, Measure};

/// Words for which there is room after a large set.
const KEPT: usize = sized(1 << 17, 8);

/// Measures candidates of which no other worker has any document, and hands in the links. Documents `in_hot_groups` may be linked
/// beside these.
///
/// # Errors
/// Those of reading texts again and of spill files.
pub fn measure_in_order(
    run: &RunParts,
    candidates: &[Candidate],
    in_hot_groups: &DocumentBits,
) -> Result<()> {
    let Some(rule) = run.context.rule else { return Ok(()) };
    let catalogue = &run.documents.catalogue;
    let partners = EarlierPartners::new(candidates, catalogue.doc_limit(), |doc| catalogue.position(doc));
    let docs = partners.docs.clone();
    let mut measuring = MeasuringInOrder::new(run, rule, partners, in_hot_groups);
    let (mut sketcher, progress) = (run.context.sketcher(), &run.context.status.progress);
    run.documents.each_whole_set(&docs, &mut sketcher, progress, &mut |_, set| measuring.take(set))?;
    measuring.hand_in();
    Ok(())
}

/// Whether a document that joined another is asked for no further link. With a guarantee, a document joins the first kept one that it is
/// linked to, and nothing joins it. If that is kept which comes first, who is kept is known as documents come. A collection keeps all links.
pub fn joins_firsts(run: &RunParts) -> bool {
    !run.context.pairs && run.sets.stored().is_none() && run.documents.catalogue.keeps_first()
}

/// For each document, by its number among those in question, the earlier ones that it is to be measured with.
struct EarlierPartners {
    /// The documents in question, by position.
    docs: Vec<Doc>,
    starts: Vec<usize>,
    earlier: Vec<u32>,
    /// The last document that needs the set of each.
    last: Vec<u32>,
}

impl EarlierPartners {
    fn new(candidates: &[Candidate], limit: usize, position: impl Fn(Doc) -> Position) -> EarlierPartners {
        let asked = DocumentBits::new(limit);
        for candidate in candidates {
            let (low, high) = candidate.pair.docs();
            asked.insert(low);
            asked.insert(high);
        }
        let ranks = Ranks::new(asked.words());
        let mut docs: Vec<Doc> = ranks.docs().collect();
        docs.sort_by_cached_key(|doc| position(*doc));
        let mut numbers = vec![0; docs.len()];
        (0..).zip(&docs).for_each(|(number, doc)| numbers[ranks.of(*doc)] = number);
        let ends = |candidate: &Candidate| {
            let (a, b) = candidate.pair.docs();
            let (a, b) = (numbers[ranks.of(a)], numbers[ranks.of(b)]);
            (a.min(b), a.max(b) as usize)
        };
        let (mut starts, mut last) = (vec![0; docs.len() + 1], vec![0; docs.len()]);
        for (earlier, later) in candidates.iter().map(ends) {
            starts[later + 1] += 1;
            last[earlier as usize] = last[earlier as usize].max(later as u32);
        }
        for at in 0..docs.len() {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut earlier) = (starts.clone(), vec![0; candidates.len()]);
        for (first, later) in candidates.iter().map(ends) {
            earlier[next[later]] = first;
            next[later] += 1;
        }
        starts.windows(2).for_each(|list| earlier[list[0]..list[1]].sort_unstable());
        EarlierPartners { docs, starts, earlier, last }
    }

    /// Whether candidates connect each document with one of `some`.
    fn connected_with(&self, some: &DocumentBits) -> Vec<bool> {
        if some.is_empty() {
            return vec![false; self.docs.len()];
        }
        let mut forest = Forest::new(self.docs.len());
        for (number, list) in (0..).zip(self.starts.windows(2)) {
            for earlier in &self.earlier[list[0]..list[1]] {
                forest.union(*earlier, number);
            }
        }
        let mut connected = vec![false; self.docs.len()];
        for (number, _) in (0..).zip(&self.docs).filter(|(_, doc)| some.contains(**doc)) {
            connected[forest.find(number) as usize] = true;
        }
        (0..self.docs.len() as u32).map(|number| connected[forest.find(number) as usize]).collect()
    }

    /// The numbers of the earlier documents that one is to be measured with, ascending.
    fn of(&self, number: usize) -> &[u32] {
        &self.earlier[self.starts[number]..self.starts[number + 1]]
    }
}

/// The measuring of one worker under way.
struct MeasuringInOrder<'a> {
    run: &'a RunParts,
    rule: AcceptanceRule,
    partners: EarlierPartners,
    sets: LiveSets,
    /// The number of the next document.
    next: usize,
    /// Which documents joined an earlier one, where nothing more is asked of those that did.
    joined: Option<Vec<bool>>,
    /// Of which documents all links are asked all the same, as some of their component may be linked beside the candidates.
    open: Vec<bool>,
    links: Vec<Candidate>,
    scratch: Vec<u64>,
}

impl MeasuringInOrder<'_> {
    fn new<'a>(
        run: &'a RunParts,
        rule: AcceptanceRule,
        partners: EarlierPartners,
        in_hot_groups: &DocumentBits,
    ) -> MeasuringInOrder<'a> {
        let context = &run.context;
        let firsts = joins_firsts(run);
        MeasuringInOrder {
            open: if firsts { partners.connected_with(in_hot_groups) } else { Vec::new() },
            joined: firsts.then(|| vec![false; partners.docs.len()]),
            sets: LiveSets::new(
                context.sets_at_once() / context.topology.workers() as u64,
                &context.memory.scratch,
            ),
            next: 0,
            links: Vec::new(),
            scratch: Vec::new(),
            run,
            rule,
            partners,
        }
    }

    /// Takes the set of the next document.
    fn take(&mut self, set: &[u64]) -> Result<()> {
        let (number, partners) = (self.next, &self.partners);
        let doc = partners.docs[number];
        self.next += 1;
        let mut has_joined = false;
        for earlier in partners.of(number) {
            let other = partners.docs[*earlier as usize];
            if self.joined.as_ref().is_some_and(|joined| joined[*earlier as usize]) {
                continue;
            }
            let theirs = self.sets.get(other, &mut self.scratch)?.ok_or_else(|| not_recalled(other))?;
            // Protected documents come first.
            let measure = match self.run.documents.catalogue.is_protected(other) {
                true => self.rule.measure_protected(theirs, set),
                false => self.rule.measure(theirs, set),
            };
            let counted = |measure| counted(self.run, self.rule, (other, theirs), (doc, set), measure);
            if let Some(shared) = measure.and_then(counted) {
                self.links.push(Candidate { pair: Pair::new(other, doc), shared });
                has_joined = self.joined.is_some() && !self.open[number];
            }
            if has_joined {
                break;
            }
        }
        if self.scratch.capacity() > KEPT {
            self.scratch = Vec::new();
        }
        for earlier in partners.of(number).iter().map(|earlier| *earlier as usize) {
            if partners.last[earlier] as usize == number {
                self.sets.forget(partners.docs[earlier]);
            }
        }
        if let Some(joined) = &mut self.joined {
            joined[number] = has_joined;
        }
        if partners.last[number] as usize > number && !has_joined {
            self.sets.hold(doc, set)?;
        }
        if self.links.len() >= SLICE {
            self.hand_in();
        }
        Ok(())
    }

    fn hand_in(&mut self) {
        self.run.context.status.progress.metrics().add(Metric::Links, self.links.len() as u64);
        self.run.collector.add_links(&mut self.links);
    }
}

/// What two documents share without what is too common, if that is still enough; how much is too common is remembered.
fn counted(
    run: &RunParts,
    rule: AcceptanceRule,
    a: (Doc, &[u64]),
    b: (Doc, &[u64]),
    measure: Measure,
) -> Option<u32> {
    let may_share = |common: &&CommonMembers| common.may_be_of(a.0) && common.may_be_of(b.0);
    let Some(common) = run.documents.ignored().filter(may_share) else { return Some(measure.shared) };
    let beside = common.shared(a.1, b.1);
    let counted = measure.shared - beside;
    let is_enough = rule.own().counts(counted, measure.left, measure.right);
    is_enough.then(|| {
        run.sets.remember_ignored(Pair::new(a.0, b.0), beside);
        counted
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn each_pair_is_met_once_and_no_set_is_forgotten_too_soon(
            pairs in prop::collection::btree_set((0u32..30, 0u32..30), 0..60), turn in 0u64..30,
            hot in prop::collection::btree_set(0u32..30, 0..4),
        ) {
            let pairs: BTreeSet<Pair> =
                pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| Pair::new(a, b)).collect();
            let candidates: Vec<Candidate> = pairs.iter().map(|pair| Candidate { pair: *pair, shared: 1 }).collect();
            // Numbers of documents need not ascend with their positions.
            let position = |doc: Doc| Position::new(0, (u64::from(doc) + turn) % 30);
            let partners = EarlierPartners::new(&candidates, 30, position);
            prop_assert!(partners.docs.is_sorted_by_key(|doc| position(*doc)));
            let some = DocumentBits::new(30);
            hot.iter().for_each(|doc| some.insert(*doc));
            let connected = partners.connected_with(&some);
            let mut met = BTreeSet::new();
            for (number, doc) in partners.docs.iter().enumerate() {
                prop_assert!(partners.of(number).is_sorted());
                for earlier in partners.of(number).iter().map(|earlier| *earlier as usize) {
                    prop_assert!(earlier < number && partners.last[earlier] as usize >= number);
                    prop_assert!(met.insert(Pair::new(partners.docs[earlier], *doc)));
                }
                // Whoever is reached step by step.
                let (mut reached, mut next) = (BTreeSet::from([*doc]), vec![*doc]);
                while let Some(from) = next.pop() {
                    let ends = pairs.iter().map(|pair| <[Doc; 2]>::from(pair.docs())).filter(|ends| ends.contains(&from));
                    next.extend(ends.flatten().filter(|end| reached.insert(*end)));
                }
                prop_assert_eq!(connected[number], reached.iter().any(|doc| some.contains(*doc)));
                let last = partners.last[number] as usize;
                prop_assert!(last == 0 || partners.of(last).contains(&(number as u32)));
            }
            prop_assert_eq!(met, pairs);
        }
    }
}
