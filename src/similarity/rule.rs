//! When a pair is accepted: the second half of every method (the first is the sketcher).

use std::cmp::Ordering;

use super::{Measure, Test};

/// The acceptance rule of a method over the sketches of a pair: what the method itself looks at, and perhaps what its
/// pairs are verified by (Wang and Gemmell 2005, section 3.1).
///
/// The words of a sketch are what [`Test`] says. If pairs are verified there are two in one: the number of words that the
/// method's own take, these, and those that pairs are verified on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept {
    own: Test,
    by: Option<Test>,
}

impl From<Test> for Accept {
    fn from(own: Test) -> Accept {
        Accept { own, by: None }
    }
}

impl Accept {
    /// The same, of pairs that must pass another test, too.
    pub fn verified(self, by: Test) -> Accept {
        Accept { by: Some(by), ..self }
    }

    /// The test of the method itself.
    pub fn own(self) -> Test {
        self.own
    }

    /// Whether pairs are verified.
    pub fn is_verified(self) -> bool {
        self.by.is_some()
    }

    /// The test that measures pairs: in its units are all that is measured.
    pub fn last(self) -> Test {
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
        let ((own_a, by_a), (own_b, by_b)) = (self.parts(a), self.parts(b));
        let measure = self.own.measure(own_a, own_b)?;
        match self.by {
            Some(by) => by.measure(by_a, by_b),
            None => Some(measure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verified_pair_passes_both_tests() {
        let t = |text: &str| text.parse().expect("a threshold");
        let rule = Accept::from(Test::Shared(1)).verified(Test::Resemblance(t("0.5")));
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
        assert!(!rule.is_sized() && Accept::from(Test::Shared(1)).is_sized());
    }

    #[test]
    fn no_sketch_shares_nothing() {
        let rule = Accept::from(Test::Shared(1)).verified(Test::Edits("0.5".parse().expect("a threshold")));
        assert_eq!((rule.posted(&[]), rule.size(&[]), rule.measure(&[], &[])), (0, 0, None));
    }
}
