//! All that is said of how much two sets share.

use serde::Serialize;

use crate::similarity::{AcceptanceRule, Measure};

/// How much two texts share, in members of the sets that the collection's method measures: shingles, sampled shingles,
/// or features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// Members of both sets.
    pub shared: u32,
    /// Members of the first set only.
    pub only_first: u32,
    /// Members of the second set only.
    pub only_second: u32,
    /// Members of either set.
    pub union: u64,
    /// Shared members over those of either set, from 0 to 1; `None` for features, which say nothing about it.
    pub resemblance: Option<f64>,
    /// Shared members over those of the first set and over those of the second, from 0 to 1; `None` for features.
    pub containment: Option<(f64, f64)>,
    /// The share of the longer text that is left where it stands, from 0 to 1, where that is the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_similarity: Option<f64>,
    /// Shared terms of two vectors, where these are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_terms: Option<u64>,
    /// The cosine of two vectors of weighted terms, from 0 to 1, where these are compared: the figures above are then weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
    /// Bits in which two fingerprints differ, where these are compared: the figures above are then bits that agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hamming_distance: Option<u64>,
    /// Which of the two is the protected one, where only the share of that one decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected: Option<ProtectedSide>,
    /// Shared members that sets of these sizes need to be linked; `None` if no number would do, or for equal texts.
    pub needed: Option<u64>,
    /// Whether that makes a link.
    pub linked: bool,
}

/// One of two documents that were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProtectedSide {
    /// The first.
    First,
    /// The second.
    Second,
}

impl Measures {
    /// What is to be said of a measure under the rule of a collection, which links the two or not.
    pub fn new(measure: Measure, rule: AcceptanceRule, linked: bool) -> Measures {
        let test = rule.last();
        let sets = test.compares_sets();
        let needed = test.needed(measure.left, measure.right);
        let (all, shown) = (Measures::of(measure), test.reported(measure));
        Measures {
            resemblance: all.resemblance.filter(|_| sets),
            containment: all.containment.filter(|_| sets),
            edit_similarity: shown.edit_similarity,
            shared_terms: shown.shared_terms,
            cosine: shown.cosine,
            hamming_distance: shown.hamming_distance,
            needed,
            linked,
            ..all
        }
    }

    /// The same of two sketches.
    pub fn of_sketches(a: &[u64], b: &[u64], rule: AcceptanceRule) -> Measures {
        Measures::new(rule.full(a, b), rule, rule.measure(a, b).is_some())
    }

    /// The same of the sketches of a protected document and of a new one, the protected one on a side, under a rule by which so
    /// much of the protected one must be in the other.
    pub fn of_protected(a: &[u64], b: &[u64], side: ProtectedSide, rule: AcceptanceRule) -> Measures {
        let (protected, new) = match side {
            ProtectedSide::First => (a, b),
            ProtectedSide::Second => (b, a),
        };
        let linked = rule.measure_protected(protected, new).is_some();
        let needed = rule.needed_of_protected(rule.size(protected), rule.size(new));
        Measures { protected: Some(side), needed, ..Measures::new(rule.full(a, b), rule, linked) }
    }

    /// What is to be said of two equal texts, whose set has `size` members: equal texts resemble each other whatever
    /// the method.
    pub fn same(size: u32) -> Measures {
        let whole = Measures::of(Measure { shared: size, left: size, right: size });
        Measures { resemblance: Some(1.0), containment: Some((1.0, 1.0)), ..whole }
    }

    fn of(measure: Measure) -> Measures {
        let Measure { shared, left, right } = measure;
        let part = |size: u32| f64::from(shared) / f64::from(size.max(1));
        Measures {
            shared,
            only_first: left - shared,
            only_second: right - shared,
            union: u64::from(left) + u64::from(right) - u64::from(shared),
            resemblance: Some(measure.resemblance()),
            containment: Some((part(left), part(right))),
            edit_similarity: None,
            shared_terms: None,
            cosine: None,
            hamming_distance: None,
            protected: None,
            needed: None,
            linked: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::{Evidence, PairTest};

    #[test]
    fn all_measures_of_a_pair() {
        let rule = AcceptanceRule::new(
            PairTest::Resemblance("0.5".parse().expect("a threshold")),
            Evidence::Decisive,
        );
        let measures = Measures::of_sketches(&[1, 2, 3, 4], &[2, 3, 4, 5, 6, 7], rule);
        assert_eq!((measures.only_first, measures.only_second, measures.union), (1, 3, 7));
        assert_eq!((measures.resemblance, measures.containment), (Some(3.0 / 7.0), Some((0.75, 0.5))));
        assert_eq!((measures.needed, measures.linked), (Some(4), false));
        let features = Measures::new(
            Measure { shared: 2, left: 6, right: 6 },
            AcceptanceRule::new(PairTest::Shared(2), Evidence::Decisive),
            true,
        );
        assert_eq!((features.resemblance, features.containment, features.linked), (None, None, true));
        let same = [0, 7].map(Measures::same);
        assert!(same.iter().all(|same| same.resemblance == Some(1.0) && same.linked));
        assert_eq!(same.map(|same| (same.shared, same.union)), [(0, 0), (7, 7)]);
    }
}
