//! What other thresholds come to: all of it exact, from a run at the lowest of them with all its pairs.

use serde::Serialize;

use super::excerpts::{Excerpts, PairShown};
use super::scores::Histogram;
use crate::config::Clustering;
use crate::document::Doc;
use crate::error::Result;
use crate::flow::{EachText, Outcome, RaisedCounts, Reason};
use crate::similarity::Measure;
use crate::threshold::Threshold;
use crate::tune::nearest_pairs;

/// Thresholds that a table has, beside that of the run: every twentieth.
const STEPS: u64 = 20;

/// What other thresholds come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OtherThresholds {
    /// The lowest of them.
    pub from: Threshold,
    /// What goes at each, ascending; that of the run is among them.
    pub rows: Vec<(Threshold, RaisedCounts)>,
    /// All pairs of distinct texts from the lowest threshold on, by resemblance.
    pub pairs: Histogram,
    /// Pairs at or over the threshold of the run, the nearest to it first.
    pub over: Vec<PairShown>,
    /// Pairs under it, the nearest first.
    pub under: Vec<PairShown>,
    /// What transitive clustering would come to at the threshold of the run.
    pub transitive: RaisedCounts,
}

/// Pairs shown on either side of the threshold.
const PAIRS: usize = 10;

impl OtherThresholds {
    /// From a run by resemblance at `from`, with all pairs: what it says about it and all higher thresholds, above all about
    /// `threshold`.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] of a run without pairs; those of reading texts again.
    pub fn new(
        lowest: &Outcome,
        (from, threshold): (Threshold, Threshold),
        texts: Option<&EachText<'_>>,
    ) -> Result<OtherThresholds> {
        let (sets, findings) = (&lowest.run.sets, &lowest.findings);
        let clustering = sets.context.config.cluster.clustering;
        let mut rows = Vec::new();
        for at in steps(from, threshold) {
            sets.context.status.progress.check()?;
            rows.push((at, RaisedCounts::of(sets, findings, at, clustering)?));
        }
        let mut pairs = Histogram::new("resemblance");
        for (_, _, measure, reason) in findings.pairs.iter().flatten() {
            match reason {
                Reason::Exact => pairs.equal += 1,
                _ => pairs.count(measure.resemblance()),
            }
        }
        let (over, under) = nearest_pairs(lowest, threshold, PAIRS);
        let docs = over.iter().chain(&under).flat_map(|(a, b, _)| [*a, *b]);
        let excerpts = Excerpts::read(lowest, docs, texts)?;
        let shown = |pairs: &[(Doc, Doc, Measure)]| {
            let shown = |(a, b, measure): &(Doc, Doc, Measure)| {
                excerpts.pair(lowest, (*a, *b), format!("{:.4}", measure.resemblance()))
            };
            pairs.iter().map(shown).collect::<Result<Vec<_>>>()
        };
        let (over, under) = (shown(&over)?, shown(&under)?);
        let transitive = RaisedCounts::of(sets, findings, threshold, Clustering::Transitive)?;
        Ok(OtherThresholds { from, rows, pairs, over, under, transitive })
    }
}

/// The lowest threshold, that of the run, and every twentieth from the lowest on, ascending.
fn steps(from: Threshold, threshold: Threshold) -> Vec<Threshold> {
    let twentieth =
        |n: u64| format!("0.{:02}", n * 100 / STEPS).parse().expect("a decimal above 0 and below 1");
    let mut steps: Vec<Threshold> = (1..STEPS).map(twentieth).collect();
    steps.extend([from, threshold]);
    steps.retain(|step| !step.is_below(from));
    steps.sort_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
    steps.dedup_by(|a, b| !a.is_below(*b) && !b.is_below(*a));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_twentieths_from_the_lowest_on() {
        let parsed = |text: &str| text.parse::<Threshold>().expect("a threshold");
        let told = |from, threshold| {
            let steps = steps(parsed(from), parsed(threshold));
            steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told("0.7", "0.8"), "0.7 0.75 0.8 0.85 0.9 0.95");
        assert_eq!(told("0.83", "0.875"), "0.83 0.85 0.875 0.9 0.95");
        assert_eq!(told("1", "1"), "1");
    }
}
