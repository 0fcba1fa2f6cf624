//! Which threshold tells duplicates and others apart best, of pairs that labels say one or the other of.

use serde::Serialize;

use crate::threshold::Threshold;

/// Labelled pairs that no threshold tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GradedPairs {
    /// The greatest threshold that they meet, in millionths.
    pub level: u32,
    /// How many of them are duplicates.
    pub duplicates: u64,
    /// How many are not.
    pub others: u64,
}

/// What a threshold makes of labelled pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LabelScore {
    /// The threshold.
    pub threshold: Threshold,
    /// Labelled pairs at or over it.
    pub found: u64,
    /// Duplicates among these.
    pub both: u64,
    /// Their share; `None` if none is found.
    pub precision: Option<f64>,
    /// The share of all duplicates that is found; `None` if there is none.
    pub recall: Option<f64>,
    /// Twice `both` over found pairs and duplicates.
    pub f1: Option<f64>,
}

/// The threshold with the greatest F1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BestThreshold {
    /// The roundest threshold about the middle of those that do the same.
    #[serde(flatten)]
    pub score: LabelScore,
    /// The least threshold that does the same.
    pub from: Threshold,
    /// The greatest one.
    pub to: Threshold,
    /// Whether a lower one may be better: nothing is known of pairs below `from`, and some duplicates are there.
    pub at_floor: bool,
}

/// Why labels give no threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inseparable {
    /// They say of no pair that it is a duplicate.
    NoDuplicates,
    /// They say of no pair that it is none: every threshold that is low enough agrees with them.
    NoOthers,
    /// No threshold finds a duplicate.
    NoneFound,
    /// The greatest F1 is below [`LEAST_F1`].
    LowF1,
    /// The best threshold makes nearly as many mistakes as taking every pair for a duplicate.
    NoBetterThanAll,
}

/// The least F1 of a threshold that is worth something.
pub const LEAST_F1: f64 = 0.5;
/// Most of the mistakes that taking every pair for a duplicate makes. Of labels that are half duplicates that alone has an F1 of
/// 0.67, and labels that are drawn by lot are a little better by chance.
const MISTAKES: (u64, u64) = (3, 4);

/// Pairs that labels say something of, with their resemblance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// By level, the greatest first, each level once.
    pairs: Vec<GradedPairs>,
    /// All duplicates, measured or not.
    duplicates: u64,
    /// All pairs that are none, measured or not.
    others: u64,
    /// The least threshold that may be chosen, in millionths, if of pairs below it nothing is known.
    floor: Option<u32>,
}

impl Sweep {
    /// Of measured pairs, and how many duplicates and others there are in all. Pairs below `floor` were not measured.
    pub fn new(
        mut pairs: Vec<GradedPairs>,
        (duplicates, others): (u64, u64),
        floor: Option<Threshold>,
    ) -> Sweep {
        pairs.sort_unstable_by_key(|pairs| std::cmp::Reverse(pairs.level));
        pairs.dedup_by(|next, kept| {
            let same = next.level == kept.level;
            if same {
                kept.duplicates += next.duplicates;
                kept.others += next.others;
            }
            same
        });
        Sweep { pairs, duplicates, others, floor: floor.map(Threshold::millionths) }
    }

    /// How many duplicates there are.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// How many pairs there are that are no duplicates.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Pairs of which a threshold says the wrong thing.
    pub fn mistakes(&self, score: &LabelScore) -> u64 {
        score.found + self.duplicates - 2 * score.both
    }

    /// Why the best threshold is worth nothing, if it is not.
    pub fn inseparable(&self) -> Option<Inseparable> {
        if self.duplicates == 0 {
            return Some(Inseparable::NoDuplicates);
        }
        if self.others == 0 {
            return Some(Inseparable::NoOthers);
        }
        let Some(best) = self.best() else { return Some(Inseparable::NoneFound) };
        if best.score.f1.is_none_or(|f1| f1 < LEAST_F1) {
            return Some(Inseparable::LowF1);
        }
        // Whoever takes every pair for a duplicate is wrong about the others.
        let too_many = self.mistakes(&best.score) * MISTAKES.1 > self.others * MISTAKES.0;
        too_many.then_some(Inseparable::NoBetterThanAll)
    }

    /// What a threshold makes of the pairs.
    pub fn at(&self, threshold: Threshold) -> LabelScore {
        let met = self.pairs.iter().take_while(|pairs| pairs.level >= threshold.millionths());
        let (both, others) = met.fold((0, 0), |sum, pairs| (sum.0 + pairs.duplicates, sum.1 + pairs.others));
        self.score(threshold, both, both + others)
    }

    fn score(&self, threshold: Threshold, both: u64, found: u64) -> LabelScore {
        let share = |whole: u64, part: u64| (whole > 0).then(|| part as f64 / whole as f64);
        LabelScore {
            threshold,
            found,
            both,
            precision: share(found, both),
            recall: share(self.duplicates, both),
            f1: share(found + self.duplicates, 2 * both),
        }
    }

    /// The best of all thresholds. Of equally good ones those count that leave most room, then the greatest. None if no
    /// threshold finds a duplicate.
    pub fn best(&self) -> Option<BestThreshold> {
        let mut best: Option<(u64, u64, u32, BestThreshold)> = None;
        let (mut both, mut found) = (0, 0);
        let least = self.floor.unwrap_or(1);
        for (at, pairs) in self.pairs.iter().enumerate() {
            both += pairs.duplicates;
            found += pairs.duplicates + pairs.others;
            let lower = self.pairs.get(at + 1).map_or(least, |next| (next.level + 1).max(least));
            if both == 0 || pairs.level < lower {
                continue;
            }
            // F1 is twice `both` over `whole`; fractions are compared without rounding.
            let (whole, room) = (found + self.duplicates, pairs.level - lower);
            let better = best.as_ref().is_none_or(|(other, of, space, _)| {
                let (new, old) = (u128::from(both) * u128::from(*of), u128::from(*other) * u128::from(whole));
                new > old || (new == old && room > *space)
            });
            if better {
                let score = self.score(threshold(roundest(lower, pairs.level)), both, found);
                let at_floor = self.floor == Some(lower) && both < self.duplicates;
                let (from, to) = (threshold(lower), threshold(pairs.level));
                best = Some((both, whole, room, BestThreshold { score, from, to, at_floor }));
            }
        }
        best.map(|(.., best)| best)
    }
}

/// Of millionths between two bounds the roundest, and of these the nearest to the middle.
pub(super) fn roundest(low: u32, high: u32) -> u32 {
    const STEPS: [u32; 6] = [50_000, 10_000, 1_000, 100, 10, 1];
    let middle = low + (high - low) / 2;
    let inside = |step: u32| {
        let below = middle / step * step;
        let candidates = [below, below + step].into_iter().filter(|value| (low..=high).contains(value));
        candidates.min_by_key(|value| value.abs_diff(middle))
    };
    STEPS.into_iter().find_map(inside).unwrap_or(middle)
}

/// A threshold from millionths that are one.
pub(super) fn threshold(millionths: u32) -> Threshold {
    Threshold::from_millionths(millionths).expect("1 to 1,000,000 millionths")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graded(level: u32, duplicates: u64, others: u64) -> GradedPairs {
        GradedPairs { level, duplicates, others }
    }

    fn f1(score: &LabelScore) -> f64 {
        score.f1.unwrap_or(0.0)
    }

    #[test]
    fn between_duplicates_and_others() {
        let pairs = vec![graded(900_000, 2, 0), graded(300_000, 0, 5), graded(600_000, 1, 0)];
        let best = Sweep::new(pairs, (4, 5), None).best().expect("duplicates");
        assert_eq!((best.from.millionths(), best.to.millionths()), (300_001, 600_000));
        assert_eq!(best.score.threshold.to_string(), "0.45");
        assert_eq!((best.score.precision, best.score.recall), (Some(1.0), Some(0.75)));
        assert_eq!(best.score.f1, Some(6.0 / 7.0));
    }

    #[test]
    fn nothing_is_said_below_what_was_measured() {
        let best =
            Sweep::new(vec![graded(500_000, 1, 0)], (1, 9), "0.3".parse().ok()).best().expect("a duplicate");
        assert_eq!((best.from.to_string(), best.score.threshold.to_string()), ("0.3".into(), "0.4".into()));
        assert!(!best.at_floor, "there is no other duplicate");
        let some = Sweep::new(vec![graded(500_000, 1, 0)], (2, 9), "0.3".parse().ok());
        assert!(some.best().expect("a duplicate").at_floor, "the other duplicate may be at 0.29");
        assert_eq!(Sweep::new(vec![graded(500_000, 0, 3)], (1, 3), None).best(), None);
        assert_eq!(Sweep::default().best(), None);
    }

    #[test]
    fn labels_that_say_nothing_are_told() {
        let why = |pairs: &[(u32, u64, u64)], all: (u64, u64), floor: Option<&str>| {
            let pairs = pairs.iter().map(|(level, yes, no)| graded(level * 10_000, *yes, *no)).collect();
            Sweep::new(pairs, all, floor.and_then(|floor| floor.parse().ok())).inseparable()
        };
        // Between 90 and 40 is a threshold.
        assert_eq!(why(&[(90, 5, 0), (40, 0, 5)], (5, 5), None), None);
        assert_eq!(why(&[(90, 5, 0)], (5, 40), Some("0.3")), None);
        // Nothing to tell apart.
        assert_eq!(why(&[(90, 0, 5)], (0, 5), None), Some(Inseparable::NoDuplicates));
        assert_eq!(why(&[(90, 5, 0)], (5, 0), None), Some(Inseparable::NoOthers));
        assert_eq!(why(&[(90, 0, 5)], (3, 5), None), Some(Inseparable::NoneFound));
        // 2 * 1 / (8 + 1) below a half, and 2 * 1 / (3 + 1) just a half.
        assert_eq!(why(&[(50, 1, 7)], (1, 9), None), Some(Inseparable::LowF1));
        assert_eq!(why(&[(50, 1, 2)], (1, 9), None), None);
        // F1 is 0.67, and so it is of who calls all of them duplicates.
        assert_eq!(why(&[(50, 8, 8)], (8, 8), None), Some(Inseparable::NoBetterThanAll));
        // Seven of eight mistakes are left, then six.
        assert_eq!(why(&[(50, 8, 7), (40, 0, 1)], (8, 8), None), Some(Inseparable::NoBetterThanAll));
        assert_eq!(why(&[(50, 8, 6), (40, 0, 2)], (8, 8), None), None);
    }

    #[test]
    fn round_numbers_first() {
        for (low, high, expected) in [
            (300_001, 600_000, 450_000),
            (500_001, 602_000, 550_000),
            (777_001, 777_900, 777_400),
            (777_778, 777_778, 777_778),
            (1, 1_000_000, 500_000),
            (960_000, 1_000_000, 1_000_000),
        ] {
            assert_eq!(roundest(low, high), expected, "{low} {high}");
        }
    }

    proptest! {
        #[test]
        fn no_threshold_is_better(
            pairs in prop::collection::vec((1u32..=40, 0u64..4, 0u64..4), 0..40), missed in 0u64..5
        ) {
            let pairs: Vec<_> =
                pairs.into_iter().map(|(level, yes, no)| graded(level * 25_000, yes, no)).collect();
            let duplicates = missed + pairs.iter().map(|pairs| pairs.duplicates).sum::<u64>();
            let others = pairs.iter().map(|pairs| pairs.others).sum::<u64>();
            let sweep = Sweep::new(pairs.clone(), (duplicates, others), None);
            let all: Vec<LabelScore> = (1..=1000).map(|at| sweep.at(threshold(at * 1000))).collect();
            // The obvious program, which sorts nothing.
            for score in &all {
                let met = pairs.iter().filter(|pairs| pairs.level >= score.threshold.millionths());
                let both: u64 = met.clone().map(|pairs| pairs.duplicates).sum();
                let found = both + met.map(|pairs| pairs.others).sum::<u64>();
                prop_assert_eq!((score.both, score.found), (both, found));
            }
            let most = all.iter().map(f1).fold(0.0, f64::max);
            match sweep.best() {
                None => prop_assert!(all.iter().all(|score| score.both == 0)),
                Some(best) => {
                    prop_assert!((f1(&best.score) - most).abs() < 1e-12);
                    for same in [best.from, best.score.threshold, best.to] {
                        prop_assert_eq!(sweep.at(same).both, best.score.both);
                        prop_assert_eq!(sweep.at(same).found, best.score.found);
                    }
                }
            }
        }
    }
}
