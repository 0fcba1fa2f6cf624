//! What a person sees when a run ends: how alike removed documents are to what stays in their place, and those that are least.

use super::clusters;
use super::excerpts::{Excerpts, PairShown};
use super::facts::scores;
use super::scores::{Histogram, SCORE_BINS};
use crate::error::Result;
use crate::flow::{EachText, Outcome};
use crate::output::shown_scores;

/// Pairs that are shown.
const EXAMPLES: usize = 3;
/// Rows of the histogram.
const ROWS: usize = 10;

/// A look at a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    /// Removed documents by what they have in common with their representative, where one figure of 0 to 1 says that.
    pub scores: Option<Histogram>,
    /// Removed documents with their representatives, one of a cluster: those that have least in common, the least first.
    pub examples: Vec<PairShown>,
}

impl Glance {
    /// Looks at a run. At most six texts are read again, if they can be had.
    ///
    /// # Errors
    /// Those of reading names and texts again; [`crate::error::Error::Interrupted`].
    pub fn new(outcome: &Outcome, texts: Option<&EachText<'_>>) -> Result<Glance> {
        let (_, mut loosest) = clusters::chosen(outcome);
        loosest.truncate(EXAMPLES);
        let excerpts = Excerpts::read(outcome, clusters::docs(&loosest), texts)?;
        let examples = loosest.iter().map(|cluster| {
            let row = cluster.farthest;
            excerpts.pair(outcome, (row.representative, row.doc), shown_scores(outcome, row).to_string())
        });
        Ok(Glance { scores: scores(outcome), examples: examples.collect::<Result<_>>()? })
    }
}

impl Histogram {
    /// A few rows from the least score on: where each begins, from 0 to 1, and its count. Equal texts are not among them.
    pub fn rows(&self) -> Vec<(f64, u64)> {
        let Some(first) = self.bins.iter().position(|count| *count > 0) else { return Vec::new() };
        let step = (SCORE_BINS - first).div_ceil(ROWS);
        let row = |from: usize| {
            let count = self.bins[from..SCORE_BINS.min(from + step)].iter().sum();
            (from as f64 / SCORE_BINS as f64, count)
        };
        (first..SCORE_BINS).step_by(step).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_have_all_counts() {
        for least in 0..SCORE_BINS {
            let mut histogram = Histogram::new("resemblance");
            (least..SCORE_BINS).for_each(|bin| histogram.bins[bin] = 1 + bin as u64);
            let rows = histogram.rows();
            assert!((1..=ROWS).contains(&rows.len()), "{rows:?}");
            assert_eq!(rows[0].0, least as f64 / SCORE_BINS as f64);
            assert!(rows.is_sorted_by(|a, b| a.0 < b.0));
            assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), histogram.bins.iter().sum::<u64>());
        }
        assert!(Histogram::new("resemblance").rows().is_empty());
    }
}
