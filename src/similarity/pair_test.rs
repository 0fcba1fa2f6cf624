//! Single tests of a pair: what is counted, and how much of it is enough.

use std::cmp::Ordering;

use super::{
    COSINE_PARTS, Measure, PackedVector, ReportedScores, VectorAgreement, cosine_at_least, cosine_parts,
    edit_distance, edit_distance_at_most, lengths_agree, norm, overlap_at_least, shared_weight, unpack,
    vectors_alike,
};
use crate::threshold::Threshold;

/// A test of a pair of sketches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairTest {
    /// Resemblance of strictly ascending sets at or over the threshold.
    Resemblance(Threshold),
    /// Containment of the smaller of two strictly ascending sets at or over the threshold.
    Containment(Threshold),
    /// At least so many members shared by strictly ascending sets.
    Shared(u32),
    /// One more word than a set: how long the text is. Sets that share a member, of texts whose lengths differ by at most
    /// so many hundredths of the shorter one (Conrad et al. 2003, section 6.1, note 4).
    Lengths(u32),
    /// The tokens of two texts in their order: the share of the longer text that is left after the fewest insertions,
    /// deletions and replacements of tokens, at or over the threshold.
    Edits(Threshold),
    /// Enough shared entries of packed vectors of terms, of texts of about one length and day ([`vectors_alike`]).
    Vector(VectorAgreement),
    /// Cosine of vectors of weighted terms at or over the threshold ([`cosine_at_least`]).
    Cosine(Threshold),
    /// One word each: at most so many of its 64 bits differ.
    Hamming(u32),
}

/// Bits of a word whose differences are counted.
const WORD: u32 = u64::BITS;

/// Bits by which sums of weights are too fine for sizes.
const FINE: u32 = 16;

/// A sum of weights as a size.
fn coarse(sum: u64) -> u32 {
    u32::try_from(sum >> FINE).unwrap_or(u32::MAX)
}

/// Words that are a packed vector; `None` for those of a text that takes no part.
fn packed(words: &[u64]) -> Option<&PackedVector> {
    words.try_into().ok()
}

impl PairTest {
    /// Whether the sizes that are posted with keys are those that pairs are measured on.
    pub fn is_sized(self) -> bool {
        match self {
            PairTest::Lengths(_) | PairTest::Vector(_) => false,
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Edits(_)
            | PairTest::Cosine(_)
            | PairTest::Hamming(_) => true,
        }
    }

    /// Whether the sizes that are posted with keys rule pairs out before anything is counted: two sizes that are allowed tell
    /// something of the pair.
    pub fn limits_sizes(self) -> bool {
        match self {
            PairTest::Shared(_) => false,
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Lengths(_)
            | PairTest::Edits(_)
            | PairTest::Vector(_)
            | PairTest::Cosine(_)
            | PairTest::Hamming(_) => true,
        }
    }

    /// Whether a single key says little: many share one that are not alike, so that counting what they share is cheaper than
    /// measuring them.
    pub fn has_weak_keys(self) -> bool {
        match self {
            PairTest::Vector(_) => true,
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Lengths(_)
            | PairTest::Edits(_)
            | PairTest::Cosine(_)
            | PairTest::Hamming(_) => false,
        }
    }

    /// Whether it measures by members of sets, so that resemblance and containment can be told of the pair.
    pub fn compares_sets(self) -> bool {
        match self {
            PairTest::Resemblance(_) | PairTest::Containment(_) => true,
            PairTest::Shared(_)
            | PairTest::Lengths(_)
            | PairTest::Edits(_)
            | PairTest::Vector(_)
            | PairTest::Cosine(_)
            | PairTest::Hamming(_) => false,
        }
    }

    /// Whether it compares with a threshold that may be raised.
    pub fn threshold(self) -> Option<Threshold> {
        match self {
            PairTest::Resemblance(t)
            | PairTest::Containment(t)
            | PairTest::Edits(t)
            | PairTest::Cosine(t) => Some(t),
            PairTest::Shared(_) | PairTest::Lengths(_) | PairTest::Vector(_) | PairTest::Hamming(_) => None,
        }
    }

    /// The size of a sketch that its keys are posted with.
    pub fn posted(self, words: &[u64]) -> u32 {
        match self {
            PairTest::Lengths(_) | PairTest::Vector(_) => words.first().map_or(0, |length| *length as u32),
            PairTest::Hamming(_) => self.size(words),
            PairTest::Cosine(_) => coarse(norm(words)),
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Edits(_) => words.len() as u32,
        }
    }

    /// What a sketch shares with itself.
    pub fn size(self, words: &[u64]) -> u32 {
        match self {
            PairTest::Vector(_) => packed(words).map_or(0, |vector| unpack(vector).entries.len() as u32),
            PairTest::Hamming(_) => WORD * words.len() as u32,
            PairTest::Cosine(_) => coarse(norm(words)),
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Lengths(_)
            | PairTest::Edits(_) => self.members(words).len() as u32,
        }
    }

    /// Whether words can be a sketch of this test; those of no text can.
    pub fn is_sketch(self, words: &[u64]) -> bool {
        let ascend = |words: &[u64]| words.is_sorted_by(|a, b| a < b);
        match self {
            PairTest::Edits(_) => true,
            PairTest::Hamming(_) => words.len() <= 1,
            PairTest::Vector(_) => {
                words.is_empty() || packed(words).is_some_and(|vector| ascend(&unpack(vector).entries))
            }
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Lengths(_)
            | PairTest::Cosine(_) => ascend(self.members(words)),
        }
    }

    /// The members of a sketch.
    pub fn members(self, words: &[u64]) -> &[u64] {
        match self {
            PairTest::Lengths(_) => words.split_first().map_or(&[], |(_, members)| members),
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Edits(_)
            | PairTest::Vector(_)
            | PairTest::Cosine(_)
            | PairTest::Hamming(_) => words,
        }
    }

    /// Whether sketches posted with these sizes could pass at all, whatever they share. If not, neither could one of the
    /// smaller size with any of a size beyond the larger.
    pub fn allows(self, a: u32, b: u32) -> bool {
        let (small, large) = (u64::from(a.min(b)), u64::from(a.max(b)));
        match self {
            PairTest::Resemblance(t) | PairTest::Edits(t) => t.is_met(small, large),
            PairTest::Containment(_) | PairTest::Hamming(_) => small > 0,
            PairTest::Shared(r) => small >= u64::from(r),
            PairTest::Lengths(percent) => lengths_agree(a, b, percent),
            PairTest::Vector(vector) => lengths_agree(a, b, vector.length_percent),
            // What is shared is no more than the smaller norm, which was rounded down.
            PairTest::Cosine(t) => t.is_met_squared(small + 1, large),
        }
    }

    /// What measured sketches of these sizes must share at least, or `None` when nothing would do.
    pub fn needed(self, a: u32, b: u32) -> Option<u64> {
        let (small, large) = (u64::from(a.min(b)), u64::from(a.max(b)));
        let needed = match self {
            PairTest::Resemblance(t) => t.needed(small, large),
            PairTest::Containment(t) => t.ceil(small),
            PairTest::Edits(t) => t.ceil(large),
            PairTest::Shared(r) => u64::from(r),
            PairTest::Lengths(_) => 1,
            PairTest::Hamming(most) => u64::from(WORD - most),
            PairTest::Vector(vector) => u64::from(vector.shared),
            PairTest::Cosine(t) => t.ceil_of_root(small, large),
        };
        (needed <= small && needed > 0).then_some(needed)
    }

    /// Whether so many shared keys, of sketches posted with these sizes, are enough: to be accepted where keys are members
    /// and all that is looked at, to be measured elsewhere.
    pub fn counts(self, shared: u32, a: u32, b: u32) -> bool {
        match self {
            PairTest::Lengths(_) | PairTest::Cosine(_) | PairTest::Hamming(_) => shared > 0,
            PairTest::Vector(vector) => shared >= vector.meeting,
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Edits(_) => self.reaches(Measure { shared, left: a, right: b }),
        }
    }

    /// The fewest shared keys that [`PairTest::counts`] finds enough for any sizes.
    pub fn fewest(self) -> u32 {
        match self {
            PairTest::Vector(vector) => vector.meeting,
            PairTest::Shared(least) => least,
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Lengths(_)
            | PairTest::Edits(_)
            | PairTest::Cosine(_)
            | PairTest::Hamming(_) => 1,
        }
    }

    /// What is reported of a measure.
    pub fn reported(self, measure: Measure) -> ReportedScores {
        let nothing = ReportedScores::default();
        match self {
            PairTest::Resemblance(_) => {
                ReportedScores { resemblance: Some(measure.resemblance()), ..nothing }
            }
            PairTest::Containment(_) => ReportedScores {
                resemblance: Some(measure.resemblance()),
                containment: Some(measure.containment()),
                ..nothing
            },
            PairTest::Shared(_) | PairTest::Lengths(_) => {
                ReportedScores { shared_features: Some(u64::from(measure.shared)), ..nothing }
            }
            PairTest::Edits(_) => ReportedScores { edit_similarity: Some(measure.unedited()), ..nothing },
            PairTest::Vector(_) => {
                ReportedScores { shared_terms: Some(u64::from(measure.shared)), ..nothing }
            }
            PairTest::Hamming(_) => {
                ReportedScores { hamming_distance: Some(u64::from(WORD - measure.shared)), ..nothing }
            }
            PairTest::Cosine(_) => ReportedScores { cosine: Some(measure.cosine()), ..nothing },
        }
    }

    /// Whether a measure has as much in common as its sizes need.
    pub fn reaches(self, measure: Measure) -> bool {
        self.needed(measure.left, measure.right).is_some_and(|needed| u64::from(measure.shared) >= needed)
    }

    /// Orders measures, the closest first, without rounding.
    pub fn closer(self, a: Measure, b: Measure) -> Ordering {
        let square = |n: u32| u128::from(n) * u128::from(n);
        // Of cosines the squares are compared.
        let part = |m: Measure| match self {
            PairTest::Cosine(_) => square(m.shared),
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Lengths(_)
            | PairTest::Edits(_)
            | PairTest::Vector(_)
            | PairTest::Hamming(_) => u128::from(m.shared),
        };
        let whole = |m: Measure| match self {
            PairTest::Resemblance(_) => u128::from(m.left) + u128::from(m.right) - u128::from(m.shared),
            PairTest::Containment(_) => u128::from(m.left.min(m.right)),
            PairTest::Edits(_) => u128::from(m.left.max(m.right)),
            PairTest::Cosine(_) => u128::from(m.left) * u128::from(m.right),
            PairTest::Shared(_) | PairTest::Lengths(_) | PairTest::Vector(_) | PairTest::Hamming(_) => 1,
        };
        (part(b) * whole(a).max(1)).cmp(&(part(a) * whole(b).max(1)))
    }

    /// The measure of two sketches of these sizes of which it is known what they share.
    pub fn measure_counted(self, shared: u32, (left, right): (u32, u32)) -> Measure {
        match self {
            // What is shared says what part of the whole it is.
            PairTest::Cosine(_) => Measure { shared, left: COSINE_PARTS, right: COSINE_PARTS },
            _ => Measure { shared, left, right },
        }
    }

    /// Measures two sketches, whatever comes of it.
    pub fn full(self, a: &[u64], b: &[u64]) -> Measure {
        match self {
            PairTest::Edits(_) => {
                let (left, right) = (a.len() as u32, b.len() as u32);
                Measure { shared: left.max(right) - edit_distance(a, b), left, right }
            }
            PairTest::Hamming(_) => {
                let shared = a.iter().zip(b).map(|(a, b)| WORD - (a ^ b).count_ones()).sum();
                Measure { shared, left: self.size(a), right: self.size(b) }
            }
            PairTest::Vector(_) => {
                let entries = |words| packed(words).map(|vector| unpack(vector).entries).unwrap_or_default();
                Measure::of(&entries(a), &entries(b))
            }
            PairTest::Cosine(_) => {
                let shared = cosine_parts(shared_weight(a, b), (norm(a), norm(b)));
                Measure { shared, left: COSINE_PARTS, right: COSINE_PARTS }
            }
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Lengths(_) => Measure::of(self.members(a), self.members(b)),
        }
    }

    /// Measures two sketches, giving up as soon as they cannot pass.
    pub fn measure(self, a: &[u64], b: &[u64]) -> Option<Measure> {
        if !self.allows(self.posted(a), self.posted(b)) {
            return None;
        }
        match self {
            PairTest::Vector(vector) => {
                let (left, right) = (self.size(a), self.size(b));
                vectors_alike(packed(a)?, packed(b)?, vector).map(|shared| Measure { shared, left, right })
            }
            PairTest::Hamming(_) => Some(self.full(a, b)).filter(|measure| self.reaches(*measure)),
            PairTest::Cosine(t) => cosine_at_least(a, b, t).then(|| self.full(a, b)),
            PairTest::Edits(_) => {
                let (left, right) = (a.len() as u32, b.len() as u32);
                let (longer, needed) = (left.max(right), self.needed(left, right)?);
                let edits = edit_distance_at_most(a, b, longer - needed as u32)?;
                Some(Measure { shared: longer - edits, left, right })
            }
            PairTest::Resemblance(_)
            | PairTest::Containment(_)
            | PairTest::Shared(_)
            | PairTest::Lengths(_) => {
                let (x, y) = (self.members(a), self.members(b));
                let (left, right) = (x.len() as u32, y.len() as u32);
                let shared = overlap_at_least(x, y, self.needed(left, right)?)? as u32;
                Some(Measure { shared, left, right })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tests() -> impl Strategy<Value = PairTest> {
        let t = prop::sample::select(vec!["0.3", "0.5", "0.55", "0.8", "0.95", "1"]);
        let t = t.prop_map(|t| t.parse::<Threshold>().expect("a threshold"));
        prop_oneof![
            t.clone().prop_map(PairTest::Resemblance),
            t.clone().prop_map(PairTest::Containment),
            t.prop_map(PairTest::Edits),
            (1u32..4).prop_map(PairTest::Shared),
            (0u32..100).prop_map(PairTest::Lengths),
        ]
    }

    #[test]
    fn the_closest_comes_first() {
        let measure = |shared, left, right| Measure { shared, left, right };
        let t = "0.5".parse().expect("a threshold");
        let (long, short) = (measure(6, 9, 9), measure(3, 3, 6));
        assert_eq!(PairTest::Resemblance(t).closer(long, short), Ordering::Equal);
        assert_eq!(PairTest::Resemblance(t).closer(measure(7, 9, 9), short), Ordering::Less);
        assert_eq!(PairTest::Containment(t).closer(long, short), Ordering::Greater);
        assert_eq!(PairTest::Edits(t).closer(long, short), Ordering::Less);
        assert_eq!(PairTest::Shared(1).closer(long, short), Ordering::Less);
        assert_eq!(PairTest::Resemblance(t).closer(measure(0, 0, 0), short), Ordering::Greater);
    }

    #[test]
    fn measures_of_a_pair() {
        let measure = Measure::of(&[1, 2, 3, 4], &[2, 4, 6]);
        assert_eq!(measure, Measure { shared: 2, left: 4, right: 3 });
        assert_eq!((measure.resemblance(), measure.containment(), measure.unedited()), (0.4, 2.0 / 3.0, 0.5));
        let nothing = Measure::of(&[], &[]);
        assert_eq!((nothing.resemblance(), nothing.containment(), nothing.unedited()), (0.0, 0.0, 0.0));
        for size in [0, 1, 9] {
            let equal = Measure::equal(size);
            assert_eq!(
                (equal.resemblance(), equal.containment(), equal.unedited()),
                (1.0, 1.0, 1.0),
                "{size}"
            );
        }
    }

    #[test]
    fn bits_that_differ_are_counted() {
        let test = PairTest::Hamming(3);
        let measure = test.measure(&[0b1011], &[0b1100]);
        assert_eq!(measure, Some(Measure { shared: 61, left: 64, right: 64 }));
        let reported = measure.map(|measure| test.reported(measure).hamming_distance);
        assert_eq!(reported, Some(Some(3)));
        assert_eq!(test.measure(&[0b1011], &[0b0100]), None);
        assert_eq!((test.measure(&[], &[1]), test.measure(&[], &[])), (None, None));
        assert_eq!(PairTest::Hamming(0).measure(&[7], &[7]), Some(Measure::equal(64)));
        assert!(test.is_sketch(&[9]) && test.is_sketch(&[]) && !test.is_sketch(&[1, 2]));
    }

    /// Fewest insertions, deletions and replacements, from the whole table.
    fn edits(a: &[u64], b: &[u64]) -> u32 {
        let mut row: Vec<u32> = (0..=b.len() as u32).collect();
        for (i, x) in (1..).zip(a) {
            let mut next = vec![i];
            for (j, y) in b.iter().enumerate() {
                next.push((row[j] + u32::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1));
            }
            row = next;
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn fewer_than_the_fewest_are_never_enough(test in tests(), shared in 0u32..8, a in 1u32..12, b in 1u32..12) {
            let shared = shared.min(a).min(b);
            prop_assert!(!test.counts(shared, a, b) || shared >= test.fewest());
        }

        #[test]
        fn giving_up_early_changes_no_verdict(test in tests(), a in prop::collection::btree_set(0u64..60, 0..60),
                                              b in prop::collection::btree_set(0u64..60, 0..60)) {
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            let full = test.full(&a, &b);
            let length = |words: &[u64]| words.first().copied().unwrap_or(0);
            let plain = match test {
                PairTest::Resemblance(t) => {
                    t.is_met(full.shared.into(), u64::from(full.left + full.right - full.shared))
                }
                PairTest::Containment(t) => t.is_met(full.shared.into(), full.left.min(full.right).into()),
                PairTest::Shared(r) => full.shared >= r,
                PairTest::Edits(t) => {
                    let longer = a.len().max(b.len()) as u64;
                    prop_assert_eq!(u64::from(full.shared), longer - u64::from(edits(&a, &b)));
                    t.is_met(full.shared.into(), longer)
                }
                PairTest::Vector(_) | PairTest::Cosine(_) | PairTest::Hamming(_) => {
                    unreachable!("other words")
                },
                PairTest::Lengths(percent) => {
                    let (x, y) = (length(&a), length(&b));
                    full.shared > 0 && x.abs_diff(y) * 100 <= x.min(y) * u64::from(percent)
                }
            };
            prop_assert_eq!(test.measure(&a, &b), plain.then_some(full));
            if plain {
                prop_assert!(test.allows(test.posted(&a), test.posted(&b)) && test.reaches(full));
            }
        }

        #[test]
        fn what_a_size_is_too_far_from_no_smaller_one_reaches(test in tests(), a in 0u32..50, b in 0u32..50, c in 0u32..50) {
            let mut sizes = [a, b, c];
            sizes.sort_unstable();
            let [small, middle, large] = sizes;
            prop_assert!(test.allows(small, middle) || !test.allows(small, large) );
        }
    }
}
