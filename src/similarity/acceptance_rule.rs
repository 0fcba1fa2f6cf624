//! When a pair is accepted: the second half of every method (the first is the sketcher).

use std::cmp::Ordering;

use super::{Measure, PairTest, ReportedScores};
use crate::threshold::Threshold;

/// What the keys that two sketches share say about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Keys are all that a method looks at: how many are shared decides.
    Decisive,
    /// Who shares enough keys is measured.
    Proposal,
    /// The same, and keys are the first members of sets in one order, as many as this threshold of resemblance needs. So who
    /// is accepted shares a key, and how many are shared bounds what else can be.
    Prefix(Threshold),
    /// Who shares a key is measured. Keys of the smaller of two sets are its first members in one order, as many as this
    /// threshold of containment needs; those of the larger one all of its members.
    AllOfLarger(Threshold),
}

/// The acceptance rule of a method over the sketches of a pair: what the method itself looks at, and perhaps what its
/// pairs are verified by (Wang and Gemmell 2005, section 3.1).
///
/// The words of a sketch are what [`PairTest`] says. If pairs are verified there are two in one: the number of words that the
/// method's own take, these, and those that pairs are verified on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptanceRule {
    own: PairTest,
    by: Option<PairTest>,
    evidence: Evidence,
    /// So much of a protected document must be in the new one that it is compared with.
    of_protected: Option<Threshold>,
}

impl AcceptanceRule {
    /// The rule of a test on sketches whose shared keys say so much.
    pub fn new(own: PairTest, evidence: Evidence) -> AcceptanceRule {
        AcceptanceRule { own, by: None, evidence, of_protected: None }
    }

    /// Whether pairs are measured on sketches, rather than by their shared keys alone.
    pub fn is_measured(self) -> bool {
        self.by.is_some() || self.evidence != Evidence::Decisive
    }

    /// Whether keys are the first members of sets in one order, so that who is accepted shares a key.
    pub fn has_prefixes(self) -> bool {
        self.prefix().is_some()
    }

    /// The resemblance for which keys are the first members of sets in one order, if they are.
    pub fn prefix(self) -> Option<Threshold> {
        match self.evidence {
            Evidence::Prefix(threshold) => Some(threshold),
            _ => None,
        }
    }

    /// The containment for which keys of the smaller set are its first members in one order, and those of the larger one all
    /// of its members, if they are.
    pub fn all_of_larger(self) -> Option<Threshold> {
        match self.evidence {
            Evidence::AllOfLarger(threshold) => Some(threshold),
            _ => None,
        }
    }

    /// The fewest shared keys that [`AcceptanceRule::is_enough`] finds enough for any sizes.
    pub fn fewest(self) -> u32 {
        if self.has_prefixes() { 1 } else { self.own.fewest() }
    }

    /// Whether sketches that share so many keys, posted with these sizes, are worth measuring; or, where keys are all there
    /// is, are accepted.
    pub fn is_enough(self, shared: u32, left: u32, right: u32) -> bool {
        let threshold = match self.evidence {
            Evidence::Decisive | Evidence::Proposal => return self.own.counts(shared, left, right),
            // The smaller one never shows more than what indexes it.
            Evidence::AllOfLarger(_) => return self.is_enough_indexed(shared, left, right, false),
            Evidence::Prefix(threshold) => threshold,
        };
        // Of the one whose last key comes first in the order, all shared shingles that are keys of it are keys of both; the
        // rest of it can share no more than its length.
        let rest = |size: u32| u64::from(size) - threshold.prefix(size as usize) as u64;
        let most = u64::from(shared) + rest(left).max(rest(right));
        self.own.needed(left, right).is_some_and(|needed| most >= needed)
    }

    /// Whether so many shared keys of a sketch of one size are never enough with one of these sizes, the least and the greatest: so
    /// whoever is accepted shares another key, too. Not all of which that is true are found.
    pub fn are_never_enough(self, shared: u32, size: u32, (least, greatest): (u32, u32)) -> bool {
        let Some(threshold) = self.prefix() else { return false };
        let least = u64::from(least).max(threshold.ceil(size.into()));
        let greatest = u64::from(greatest).min(threshold.greatest_whole(size.into()));
        // The more two sizes differ, the fewer keys must be shared; of larger ones rounding may make it one less in between.
        let rounding = u32::from(greatest > size.into() && least < greatest);
        let too_few =
            |other: u64, more: u32| !self.is_enough(shared.saturating_add(more), size, other as u32);
        least > greatest || too_few(least, 0) && too_few(greatest, rounding)
    }

    /// The same of keys of which the smaller sketch shows only those by which it is indexed. Where larger ones contain it, it
    /// may be indexed by the fewest that must be: `by_fewest`.
    pub fn is_enough_indexed(self, shared: u32, left: u32, right: u32, by_fewest: bool) -> bool {
        let (small, large) = (left.min(right), left.max(right));
        let rest = |size: u32, shown: usize| u64::from(size) - shown as u64;
        // As above, with the keys that each of the two shows.
        let rest = match self.evidence {
            Evidence::Decisive | Evidence::Proposal => return self.own.counts(shared, left, right),
            Evidence::Prefix(threshold) => {
                let of_small = rest(small, threshold.indexing_prefix(small as usize));
                of_small.max(rest(large, threshold.prefix(large as usize)))
            }
            Evidence::AllOfLarger(threshold) => rest(small, containing_keys(threshold, small, by_fewest)),
        };
        self.own.needed(left, right).is_some_and(|needed| u64::from(shared) + rest >= needed)
    }

    /// The same, of pairs that must pass another test, too.
    pub fn verified(self, by: PairTest) -> AcceptanceRule {
        AcceptanceRule { by: Some(by), ..self }
    }

    /// The same, but of a pair with a protected document so much of that one must be in the other, whatever their sizes.
    pub fn containing_protected(self, threshold: Threshold) -> AcceptanceRule {
        AcceptanceRule { of_protected: Some(threshold), ..self }
    }

    /// How much of a protected document must be in the new one that it is compared with, if it is that one which must be
    /// contained, and not the smaller one.
    pub fn of_protected(self) -> Option<Threshold> {
        self.of_protected
    }

    /// What a protected document and a new one, posted with these sizes, must share at least, or `None` when nothing would do.
    pub fn needed_of_protected(self, protected: u32, new: u32) -> Option<u64> {
        let needed = self.own.needed(protected, new)?;
        let Some(threshold) = self.of_protected else { return Some(needed) };
        // What is shared is a part of the smaller one at least as large as it is of the protected one.
        Some(needed.max(threshold.ceil(protected.into()))).filter(|needed| *needed <= u64::from(new))
    }

    /// Whether a protected document and a new one that share so many keys, of those by which the protected one is indexed, are
    /// worth measuring; this may be `by_fewest` keys.
    pub fn is_enough_of_protected(self, shared: u32, protected: u32, new: u32, by_fewest: bool) -> bool {
        let shown = self.of_protected.map_or(0, |threshold| containing_keys(threshold, protected, by_fewest));
        let rest = u64::from(protected) - shown as u64;
        self.needed_of_protected(protected, new).is_some_and(|needed| u64::from(shared) + rest >= needed)
    }

    /// The test of the method itself.
    pub fn own(self) -> PairTest {
        self.own
    }

    /// The test that measures pairs: in its units are all that is measured.
    pub fn last(self) -> PairTest {
        self.by.unwrap_or(self.own)
    }

    /// Whether the sizes that are posted with keys are those that pairs are measured on.
    pub fn is_sized(self) -> bool {
        self.by.is_none() && self.own.is_sized()
    }

    /// The method's own words of a sketch, and those that pairs are verified on.
    ///
    /// # Panics
    /// If it is no sketch of this rule.
    fn parts(self, words: &[u64]) -> (&[u64], &[u64]) {
        if self.by.is_none() || words.is_empty() {
            return (words, words);
        }
        words[1..].split_at(words[0] as usize)
    }

    /// Whether words can be a sketch of this rule.
    pub fn is_sketch(self, words: &[u64]) -> bool {
        let Some(by) = self.by.filter(|_| !words.is_empty()) else { return self.own.is_sketch(words) };
        let own = usize::try_from(words[0]).unwrap_or(usize::MAX);
        words[1..]
            .split_at_checked(own)
            .is_some_and(|(own, last)| self.own.is_sketch(own) && by.is_sketch(last))
    }

    /// The method's own words of a sketch.
    pub fn own_words(self, words: &[u64]) -> &[u64] {
        self.parts(words).0
    }

    /// The size of a sketch that its keys are posted with.
    pub fn posted(self, words: &[u64]) -> u32 {
        self.own.posted(self.parts(words).0)
    }

    /// What a sketch shares with itself.
    pub fn size(self, words: &[u64]) -> u32 {
        self.last().size(self.parts(words).1)
    }

    /// Orders measures, the closest first, without rounding.
    pub fn closer(self, a: Measure, b: Measure) -> Ordering {
        self.last().closer(a, b)
    }

    /// Measures two sketches, whatever comes of it.
    pub fn full(self, a: &[u64], b: &[u64]) -> Measure {
        self.last().full(self.parts(a).1, self.parts(b).1)
    }

    /// Measures two sketches, giving up as soon as the rule cannot be met.
    pub fn measure(self, a: &[u64], b: &[u64]) -> Option<Measure> {
        self.measured_if(a, b, |_| true)
    }

    /// Measures the sketches of a protected document and of a new one.
    pub fn measure_protected(self, protected: &[u64], new: &[u64]) -> Option<Measure> {
        let contains = |own: Measure| {
            self.of_protected.is_none_or(|threshold| threshold.is_met(own.shared.into(), own.left.into()))
        };
        self.measured_if(protected, new, contains)
    }

    /// Measures two sketches whose own measure also satisfies `further`.
    fn measured_if(self, a: &[u64], b: &[u64], further: impl Fn(Measure) -> bool) -> Option<Measure> {
        let ((own_a, by_a), (own_b, by_b)) = (self.parts(a), self.parts(b));
        let measure = self.own.measure(own_a, own_b).filter(|own| further(*own))?;
        match self.by {
            Some(by) => by.measure(by_a, by_b),
            None => Some(measure),
        }
    }

    /// What is reported of a measure; of a pair with a protected document, of which size that one is.
    pub fn reported(self, measure: Measure, protected: Option<u32>) -> ReportedScores {
        let shown = self.last().reported(measure);
        match protected.filter(|_| self.of_protected.is_some() && shown.containment.is_some()) {
            Some(size) => ReportedScores { containment: Some(measure.part_of(size)), ..shown },
            None => shown,
        }
    }
}

/// By how many of its keys a set of some size is indexed that larger ones may contain.
fn containing_keys(threshold: Threshold, size: u32, by_fewest: bool) -> usize {
    let size = size as usize;
    if by_fewest { threshold.prefix(size) } else { threshold.containment_prefix(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verified_pair_passes_both_tests() {
        let t = |text: &str| text.parse().expect("a threshold");
        let rule = AcceptanceRule::new(PairTest::Shared(1), Evidence::Decisive)
            .verified(PairTest::Resemblance(t("0.5")));
        let sketch = |own: &[u64], by: &[u64]| [&[own.len() as u64], own, by].concat();
        let a = sketch(&[7, 9], &[1, 2, 3]);
        assert_eq!((rule.own_words(&a), rule.posted(&a), rule.size(&a)), (&[7, 9][..], 2, 3));
        let measure = |shared, right| Measure { shared, left: 3, right };
        assert_eq!(rule.measure(&a, &sketch(&[9], &[2, 3])), Some(measure(2, 2)));
        assert_eq!(rule.measure(&a, &sketch(&[8], &[2, 3])), None);
        assert_eq!(rule.measure(&a, &sketch(&[9], &[3, 4])), None);
        assert_eq!(rule.full(&a, &sketch(&[8], &[3, 4])), measure(1, 2));
        assert!(rule.is_sketch(&a) && rule.is_sketch(&[0]) && rule.is_sketch(&[]));
        for none in [[2, 9, 7, 1].as_slice(), &[2, 7, 9, 3, 1], &[3, 7, 9], &[u64::MAX, 1]] {
            assert!(!rule.is_sketch(none), "{none:?}");
        }
        assert!(!rule.is_sized() && AcceptanceRule::new(PairTest::Shared(1), Evidence::Decisive).is_sized());
    }

    #[test]
    fn the_protected_one_is_contained_or_the_smaller_one() {
        let t: Threshold = "0.8".parse().expect("a threshold");
        let smaller = AcceptanceRule::new(PairTest::Containment(t), Evidence::AllOfLarger(t));
        let rule = smaller.containing_protected(t);
        let sets: Vec<Vec<u64>> = (0..12).map(|size| (0..size).collect()).collect();
        for protected in &sets {
            for new in &sets {
                for shared in 0..=protected.len().min(new.len()) {
                    // As many members of the one as the other has beside its own.
                    let own = (0..new.len() - shared).map(|at| 100 + at as u64);
                    let new: Vec<u64> = protected[..shared].iter().copied().chain(own).collect();
                    let contained = !protected.is_empty() && shared * 10 >= protected.len() * 8;
                    let sizes = (protected.len() as u32, new.len() as u32);
                    let needed = rule.needed_of_protected(sizes.0, sizes.1);
                    assert_eq!(needed.is_some_and(|needed| shared as u64 >= needed), contained);
                    assert_eq!(rule.measure_protected(protected, &new).is_some(), contained);
                    assert_eq!(smaller.measure_protected(protected, &new), smaller.measure(protected, &new));
                    assert_eq!(rule.measure(protected, &new), smaller.measure(protected, &new));
                    assert!(!contained || smaller.measure(protected, &new).is_some());
                    // Keys by which the protected one is indexed, as far as they are shared: the fewest that may be.
                    for (indexing, by_fewest) in
                        [(t.containment_prefix(protected.len()), false), (t.prefix(protected.len()), true)]
                    {
                        let fewest = shared.saturating_sub(protected.len() - indexing) as u32;
                        let (protected, new) = sizes;
                        let is_enough =
                            |shared| rule.is_enough_of_protected(shared, protected, new, by_fewest);
                        assert!(!contained || is_enough(fewest));
                        assert!(!is_enough(0));
                    }
                }
            }
        }
        let measure = Measure { shared: 8, left: 10, right: 9 };
        assert_eq!(rule.reported(measure, Some(10)).containment, Some(0.8));
        assert_eq!(rule.reported(measure, None).containment, Some(8.0 / 9.0));
        assert_eq!(smaller.reported(measure, Some(10)).containment, Some(8.0 / 9.0));
    }

    #[test]
    fn what_is_never_enough_is_not_for_any_size() {
        for text in ["0.3", "0.5", "0.55", "0.8", "0.95", "1"] {
            let t: Threshold = text.parse().expect("a threshold");
            let rule = AcceptanceRule::new(PairTest::Resemblance(t), Evidence::Prefix(t));
            let mut found = 0;
            for size in 1..70u32 {
                for least in (1..140u32).step_by(3) {
                    for greatest in (least..140).step_by(5) {
                        for shared in 0..t.prefix(size as usize) as u32 {
                            if rule.are_never_enough(shared, size, (least, greatest)) {
                                found += 1;
                                let enough =
                                    (least..=greatest).find(|other| rule.is_enough(shared, size, *other));
                                assert_eq!(enough, None, "{text} {shared} {size} {least} {greatest}");
                            }
                        }
                    }
                }
            }
            assert!(found > 1000, "{text}: {found}");
        }
    }

    #[test]
    fn no_sketch_shares_nothing() {
        let rule = AcceptanceRule::new(PairTest::Shared(1), Evidence::Decisive)
            .verified(PairTest::Edits("0.5".parse().expect("a threshold")));
        assert_eq!((rule.posted(&[]), rule.size(&[]), rule.measure(&[], &[])), (0, 0, None));
    }
}
