//! Precision and recall of sampled shingles, and the ratios that keep a floor (Ye, Wen and Ma 2008, sections 4-6).
//!
//! Of shingles sampled at 1/n there are n disjoint samples, one for each residue of their hashes. Measures of a ratio are
//! means over such trials; a trial that accepts no pair has no precision.

use serde::Serialize;

use crate::evaluate::{SIZES, Sizes};

/// Of so many shingles one is kept, in the order of the report. The paper goes to 16 and says that fewer would do.
pub const RATIOS: [u64; 6] = [2, 4, 8, 16, 32, 64];
/// Residues of a ratio that are measured at most: trials differ little, and each is a run.
pub const MOST_RESIDUES: u64 = 16;

/// What one run on sampled shingles has found, by the group of lengths of a pair's shorter document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// Pairs whose sampled resemblance is at or over the threshold.
    pub found: Sizes,
    /// Those of them whose full resemblance is, too.
    pub both: Sizes,
}

impl Trial {
    /// Holds the pairs of a run against the true ones, both sorted, of documents whose groups are given.
    pub fn new(found: &[(u32, u32)], truth: &[(u32, u32)], groups: &[u8]) -> Trial {
        let mut trial = Trial { found: by_size(found, groups), both: [0; SIZES] };
        let both = found.iter().filter(|pair| truth.binary_search(pair).is_ok());
        both.for_each(|pair| trial.both[group_of_pair(*pair, groups)] += 1);
        trial
    }
}

/// How many of some pairs there are in each group.
pub(super) fn by_size(pairs: &[(u32, u32)], groups: &[u8]) -> Sizes {
    let mut sizes = [0; SIZES];
    pairs.iter().for_each(|pair| sizes[group_of_pair(*pair, groups)] += 1);
    sizes
}

fn group_of_pair((a, b): (u32, u32), groups: &[u8]) -> usize {
    groups[a as usize].min(groups[b as usize]) as usize
}

/// How much of what is found is true, and how much of what is true is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// Mean share of true pairs among those found, over the trials that found one; `None` if none did.
    pub precision: Option<f64>,
    /// Mean share of found pairs among the true ones; `None` if there is none.
    pub recall: Option<f64>,
    /// Pairs found, of all trials together.
    pub found: u64,
    /// True pairs found, of all trials together.
    pub both: u64,
}

impl Accuracy {
    /// From pairs found, and true ones among them, of each trial, and how many are true.
    fn mean(trials: &[(u64, u64)], truth: u64) -> Accuracy {
        let mean =
            |shares: Vec<f64>| (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        let with_pairs = trials.iter().filter(|(found, _)| *found > 0);
        let with_truth = trials.iter().filter(|_| truth > 0);
        Accuracy {
            precision: mean(with_pairs.map(|(found, both)| *both as f64 / *found as f64).collect()),
            recall: mean(with_truth.map(|(_, both)| *both as f64 / truth as f64).collect()),
            found: trials.iter().map(|(found, _)| found).sum(),
            both: trials.iter().map(|(_, both)| both).sum(),
        }
    }
}

/// What came of one ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtRatio {
    /// Of so many shingles one is kept.
    pub ratio: u64,
    /// Residues that were measured.
    pub trials: usize,
    /// Over all pairs.
    pub all: Accuracy,
    /// By the group of a pair's shorter document.
    pub by_size: [Accuracy; SIZES],
}

impl AtRatio {
    /// The measures of a ratio from its trials, and how many pairs are true in each group.
    pub fn new(ratio: u64, trials: &[Trial], truth: &Sizes) -> AtRatio {
        let mean = |of: &dyn Fn(&Sizes) -> u64| {
            let trials: Vec<_> = trials.iter().map(|trial| (of(&trial.found), of(&trial.both))).collect();
            Accuracy::mean(&trials, of(truth))
        };
        AtRatio {
            ratio,
            trials: trials.len(),
            all: mean(&|sizes| sizes.iter().sum()),
            by_size: std::array::from_fn(|group| mean(&|sizes| sizes[group])),
        }
    }
}

/// What sampling must not fall below, each a share in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Floors {
    /// Least precision.
    pub precision: f64,
    /// Least recall.
    pub recall: f64,
}

impl Floors {
    fn keeps(self, accuracy: &Accuracy) -> bool {
        let reaches = |share: Option<f64>, floor: f64| share.is_some_and(|share| share >= floor);
        reaches(accuracy.precision, self.precision) && reaches(accuracy.recall, self.recall)
    }
}

/// For each group the number of shingles of which one may go on alone: of the ratios that keep the floors the one that
/// keeps fewest shingles, and 1 where none does, or where there is no pair that would tell.
pub fn choose(measured: &[AtRatio], floors: Floors) -> [u64; SIZES] {
    std::array::from_fn(|group| {
        let kept = measured.iter().filter(|at| floors.keeps(&at.by_size[group]));
        kept.map(|at| at.ratio).max().unwrap_or(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of the first two groups.
    fn sizes(first: u64, second: u64) -> Sizes {
        let mut sizes = [0; SIZES];
        (sizes[0], sizes[1]) = (first, second);
        sizes
    }

    fn trial(found: (u64, u64), both: (u64, u64)) -> Trial {
        Trial { found: sizes(found.0, found.1), both: sizes(both.0, both.1) }
    }

    #[test]
    fn a_pair_counts_with_its_shorter_document() {
        let groups = [0, 1, 1, 3];
        let trial = Trial::new(&[(0, 1), (1, 2), (2, 3)], &[(0, 1), (1, 3), (2, 3)], &groups);
        assert_eq!(trial, super::tests::trial((1, 2), (1, 1)));
        assert_eq!(by_size(&[(0, 3), (3, 0)], &groups), sizes(2, 0));
    }

    #[test]
    fn measures_are_means_of_trials() {
        let at = AtRatio::new(2, &[trial((4, 0), (3, 0)), trial((2, 1), (2, 0))], &sizes(4, 0));
        assert_eq!((at.ratio, at.trials), (2, 2));
        let first = Accuracy { precision: Some(0.875), recall: Some(0.625), found: 6, both: 5 };
        assert_eq!(at.by_size[0], first);
        // Only one of the trials has found a pair of the second group, and none is true.
        let second = Accuracy { precision: Some(0.0), recall: None, found: 1, both: 0 };
        assert_eq!(at.by_size[1], second);
        assert_eq!(at.by_size[2], Accuracy::default());
        let whole = (0.75 + 2.0 / 3.0) / 2.0;
        assert!((at.all.precision.expect("pairs") - whole).abs() < 1e-12);
        assert_eq!((at.all.recall, at.all.found), (Some(0.625), 7));
    }

    /// A ratio at which the groups have these precisions and recalls.
    fn at(ratio: u64, groups: &[(f64, f64)]) -> AtRatio {
        let mut at = AtRatio::new(ratio, &[], &[0; SIZES]);
        for (accuracy, (precision, recall)) in at.by_size.iter_mut().zip(groups) {
            (accuracy.precision, accuracy.recall) = (Some(*precision), Some(*recall));
        }
        at
    }

    #[test]
    fn the_fewest_shingles_that_keep_the_floors() {
        let measured = [
            at(2, &[(0.84, 1.0), (0.9, 0.9), (0.9, 0.9), (0.85, 0.9)]),
            at(4, &[(0.7, 1.0), (0.85, 0.8), (0.8, 0.8), (0.9, 0.8)]),
            at(8, &[(0.5, 1.0), (0.84, 0.4), (0.9, 0.4), (0.95, 0.4)]),
        ];
        let precise = choose(&measured, Floors { precision: 0.85, recall: 0.0 });
        // None, the floor itself, one that keeps it although another does not, and all; then groups without a pair.
        assert_eq!(precise, [1, 4, 8, 8, 1, 1, 1, 1, 1, 1, 1]);
        let both = choose(&measured, Floors { precision: 0.85, recall: 0.5 });
        assert_eq!(both[..4], [1, 4, 2, 4]);
        assert_eq!(choose(&[], Floors { precision: 0.0, recall: 0.0 }), [1; SIZES]);
    }
}
