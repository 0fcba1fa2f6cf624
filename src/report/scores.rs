//! How alike removed documents and their representatives are, and pairs.

use serde::Serialize;

use crate::similarity::ReportedScores;

/// Bins of a [`Histogram`]: each is 0.02 wide.
pub const SCORE_BINS: usize = 50;
/// What a score may be short of the border of a bin and still count to it: a border is no fraction of two.
const ROUNDING: f64 = 1e-9;

/// How often scores occur, by their size. Equal texts are counted apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// What is counted, like `resemblance`.
    pub score: &'static str,
    /// Counts of scores from `n / 50` to below `(n + 1) / 50`; 1 counts to the last bin.
    pub bins: Vec<u64>,
    /// Documents that have the text of their representative.
    pub equal: u64,
}

impl Histogram {
    /// A histogram of nothing yet.
    pub(super) fn new(score: &'static str) -> Histogram {
        Histogram { score, bins: vec![0; SCORE_BINS], equal: 0 }
    }

    /// Counts a score of 0 to 1.
    pub(super) fn count(&mut self, score: f64) {
        let bin = (score * SCORE_BINS as f64 + ROUNDING) as usize;
        self.bins[bin.min(SCORE_BINS - 1)] += 1;
    }
}

/// The figure of 0 to 1 that says how alike two texts are, and what it is called; none for methods that count features, terms
/// or bits.
pub(super) fn share(scores: &ReportedScores) -> Option<(&'static str, f64)> {
    let ReportedScores { containment, edit_similarity, cosine, resemblance, .. } = *scores;
    let named = [
        ("containment", containment),
        ("edit similarity", edit_similarity),
        ("cosine", cosine),
        ("resemblance", resemblance),
    ];
    named.into_iter().find_map(|(name, share)| share.map(|share| (name, share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_of_bins_belong_to_the_bin_above() {
        let mut histogram = Histogram::new("resemblance");
        // Each border as a fraction that no float has exactly.
        for n in 0..=SCORE_BINS {
            histogram.count(n as f64 * 7.0 / (SCORE_BINS as f64 * 7.0));
        }
        let mut expected = vec![1; SCORE_BINS];
        expected[SCORE_BINS - 1] = 2;
        assert_eq!(histogram.bins, expected);
        histogram.count(0.579_999);
        assert_eq!(histogram.bins[28], 2);
    }

    #[test]
    fn what_decides_is_what_is_shown() {
        let scores =
            ReportedScores { resemblance: Some(0.1), containment: Some(0.9), ..ReportedScores::default() };
        assert_eq!(share(&scores), Some(("containment", 0.9)));
        assert_eq!(share(&ReportedScores { shared_features: Some(3), ..ReportedScores::default() }), None);
    }
}
