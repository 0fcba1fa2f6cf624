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
}

/// Pairs that labels say something of, with their resemblance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// By level, the greatest first, each level once.
    pairs: Vec<GradedPairs>,
    /// All duplicates, measured or not.
    duplicates: u64,
    /// The least threshold that may be chosen, in millionths: of pairs below it nothing is known.
    least: u32,
}

impl Sweep {
    /// Of measured pairs, and how many duplicates there are in all.
    pub fn new(mut pairs: Vec<GradedPairs>, duplicates: u64, least: Option<Threshold>) -> Sweep {
        pairs.sort_unstable_by_key(|pairs| std::cmp::Reverse(pairs.level));
        pairs.dedup_by(|next, kept| {
            let same = next.level == kept.level;
            if same {
                kept.duplicates += next.duplicates;
                kept.others += next.others;
            }
            same
        });
        Sweep { pairs, duplicates, least: least.map_or(1, Threshold::millionths) }
    }

    /// How many duplicates there are.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
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
        for (at, pairs) in self.pairs.iter().enumerate() {
            both += pairs.duplicates;
            found += pairs.duplicates + pairs.others;
            let lower = self.pairs.get(at + 1).map_or(self.least, |next| (next.level + 1).max(self.least));
            if both == 0 || pairs.level < lower {
                continue;
            }
            // F1 is twice `both` over `whole`; fractions are compared without rounding.
            let (whole, room) = (found + self.duplicates, pairs.level - lower);
            let better = best.as_ref().is_none_or(|(other, of, least, _)| {
                let (new, old) = (u128::from(both) * u128::from(*of), u128::from(*other) * u128::from(whole));
                new > old || (new == old && room > *least)
            });
            if better {
                let score = self.score(threshold(roundest(lower, pairs.level)), both, found);
                let range = BestThreshold { score, from: threshold(lower), to: threshold(pairs.level) };
                best = Some((both, whole, room, range));
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
        let best = Sweep::new(pairs, 4, None).best().expect("duplicates");
        assert_eq!((best.from.millionths(), best.to.millionths()), (300_001, 600_000));
        assert_eq!(best.score.threshold.to_string(), "0.45");
        assert_eq!((best.score.precision, best.score.recall), (Some(1.0), Some(0.75)));
        assert_eq!(best.score.f1, Some(6.0 / 7.0));
    }

    #[test]
    fn nothing_is_said_below_what_was_measured() {
        let best =
            Sweep::new(vec![graded(500_000, 1, 0)], 1, "0.3".parse().ok()).best().expect("a duplicate");
        assert_eq!((best.from.to_string(), best.score.threshold.to_string()), ("0.3".into(), "0.4".into()));
        assert_eq!(Sweep::new(vec![graded(500_000, 0, 3)], 1, None).best(), None);
        assert_eq!(Sweep::default().best(), None);
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
            let sweep = Sweep::new(pairs.clone(), duplicates, None);
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
