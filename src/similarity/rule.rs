//! When a pair is accepted: the second half of every method (the first is the sketcher).

use std::cmp::Ordering;

use super::{Threshold, overlap, overlap_at_least};

/// What was measured of a pair: its shared members and the sizes of both sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Members of both sets.
    pub shared: u32,
    /// Size of one set.
    pub left: u32,
    /// Size of the other.
    pub right: u32,
}

impl Measure {
    /// Measures two strictly ascending sets.
    pub fn of(a: &[u64], b: &[u64]) -> Measure {
        Measure { shared: overlap(a, b) as u32, left: a.len() as u32, right: b.len() as u32 }
    }

    /// The measure of two equal sets of `size` members; of equal texts even where no set was made of them.
    pub fn equal(size: u32) -> Measure {
        let size = size.max(1);
        Measure { shared: size, left: size, right: size }
    }

    /// Shared members over members of either, in [0, 1]; 0 for two empty sets.
    pub fn resemblance(self) -> f64 {
        let either = u64::from(self.left) + u64::from(self.right) - u64::from(self.shared);
        if either == 0 { 0.0 } else { f64::from(self.shared) / either as f64 }
    }

    /// Shared members over those of the smaller set, in [0, 1].
    pub fn containment(self) -> f64 {
        f64::from(self.shared) / f64::from(self.left.min(self.right).max(1))
    }
}

/// The acceptance rule of a method over the sets (or features) of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// Resemblance at or over the threshold.
    Resemblance(Threshold),
    /// Containment of the smaller set at or over the threshold.
    Containment(Threshold),
    /// At least so many shared members.
    Shared(u32),
}

impl Accept {
    /// Whether sets of these sizes could be accepted at all, whatever they share; needs no division.
    pub fn allows(self, a: u32, b: u32) -> bool {
        let (small, large) = (u64::from(a.min(b)), u64::from(a.max(b)));
        match self {
            Accept::Resemblance(t) => t.is_met(small, large),
            Accept::Containment(_) => small > 0,
            Accept::Shared(r) => small >= u64::from(r),
        }
    }

    /// Shared members that sets of these sizes need at least, or `None` when no number would do.
    pub fn needed(self, a: u32, b: u32) -> Option<u64> {
        let (small, large) = (u64::from(a.min(b)), u64::from(a.max(b)));
        let needed = match self {
            Accept::Resemblance(t) => t.needed(small, large),
            Accept::Containment(t) => t.ceil(small),
            Accept::Shared(r) => u64::from(r),
        };
        (needed <= small && needed > 0).then_some(needed)
    }

    /// Whether so many shared members of sets of these sizes are enough.
    pub fn accepts(self, measure: Measure) -> bool {
        self.needed(measure.left, measure.right).is_some_and(|needed| u64::from(measure.shared) >= needed)
    }

    /// Orders measured pairs by what the rule looks at, the closest first, without rounding.
    pub fn closer(self, a: Measure, b: Measure) -> Ordering {
        let either = |m: Measure| u64::from(m.left) + u64::from(m.right) - u64::from(m.shared);
        let (whole_a, whole_b) = match self {
            Accept::Resemblance(_) => (either(a), either(b)),
            Accept::Containment(_) => (u64::from(a.left.min(a.right)), u64::from(b.left.min(b.right))),
            Accept::Shared(_) => (1, 1),
        };
        let cross = |part: u32, whole: u64| u128::from(part) * u128::from(whole.max(1));
        cross(b.shared, whole_a).cmp(&cross(a.shared, whole_b))
    }

    /// Measures two strictly ascending sets, giving up as soon as the rule cannot be met.
    pub fn measure(self, a: &[u64], b: &[u64]) -> Option<Measure> {
        let (left, right) = (a.len() as u32, b.len() as u32);
        let shared = overlap_at_least(a, b, self.needed(left, right)?)?;
        let measure = Measure { shared: shared as u32, left, right };
        self.accepts(measure).then_some(measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules() -> impl Strategy<Value = Accept> {
        let t = prop::sample::select(vec!["0.3", "0.5", "0.55", "0.8", "0.95", "1"]);
        let t = t.prop_map(|t| t.parse::<Threshold>().expect("a threshold"));
        prop_oneof![
            t.clone().prop_map(Accept::Resemblance),
            t.prop_map(Accept::Containment),
            (1u32..4).prop_map(Accept::Shared)
        ]
    }

    #[test]
    fn the_closest_comes_first() {
        let measure = |shared, left, right| Measure { shared, left, right };
        let t = "0.5".parse().expect("a threshold");
        let (long, short) = (measure(6, 9, 9), measure(3, 3, 6));
        assert_eq!(Accept::Resemblance(t).closer(long, short), Ordering::Equal);
        assert_eq!(Accept::Resemblance(t).closer(measure(7, 9, 9), short), Ordering::Less);
        assert_eq!(Accept::Containment(t).closer(long, short), Ordering::Greater);
        assert_eq!(Accept::Shared(1).closer(long, short), Ordering::Less);
        assert_eq!(Accept::Resemblance(t).closer(measure(0, 0, 0), short), Ordering::Greater);
    }

    #[test]
    fn measures_of_a_pair() {
        let measure = Measure::of(&[1, 2, 3, 4], &[2, 4, 6]);
        assert_eq!(measure, Measure { shared: 2, left: 4, right: 3 });
        assert_eq!((measure.resemblance(), measure.containment()), (0.4, 2.0 / 3.0));
        let nothing = Measure::of(&[], &[]);
        assert_eq!((nothing.resemblance(), nothing.containment()), (0.0, 0.0));
        for size in [0, 1, 9] {
            let equal = Measure::equal(size);
            assert_eq!((equal.resemblance(), equal.containment()), (1.0, 1.0), "{size}");
        }
    }

    proptest! {
        #[test]
        fn giving_up_early_changes_no_verdict(rule in rules(), a in prop::collection::btree_set(0u64..60, 0..60),
                                              b in prop::collection::btree_set(0u64..60, 0..60)) {
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            let full = Measure::of(&a, &b);
            let plain = match rule {
                Accept::Resemblance(t) => {
                    t.is_met(full.shared.into(), u64::from(full.left + full.right - full.shared))
                }
                Accept::Containment(t) => t.is_met(full.shared.into(), full.left.min(full.right).into()),
                Accept::Shared(r) => full.shared >= r,
            };
            prop_assert_eq!(rule.allows(full.left, full.right), rule.needed(full.left, full.right).is_some());
            prop_assert_eq!(rule.accepts(full), plain);
            prop_assert_eq!(rule.measure(&a, &b), plain.then_some(full));
        }
    }
}
