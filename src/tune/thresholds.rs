//! What would go at several thresholds, and pairs near each to look at.

use serde::Serialize;

use super::Run;
use super::examples::{Example, near};
use crate::config::{Config, Method};
use crate::error::{Error, Result};
use crate::flow::{Outcome, RaisedCounts};
use crate::progress::Progress;
use crate::threshold::Threshold;

/// What was found of documents at several thresholds.
pub struct Measured {
    /// By threshold, ascending.
    pub thresholds: Vec<AtThreshold>,
    /// The run with the lowest threshold, somewhat below all that were asked for.
    pub lowest: Outcome,
}

/// What a threshold comes to.
#[derive(Clone, Debug, Serialize)]
pub struct AtThreshold {
    /// The threshold.
    pub threshold: Threshold,
    /// Documents that go, and pairs.
    #[serde(flatten)]
    pub counts: RaisedCounts,
    /// Pairs just at or over it, the nearest first.
    pub over: Vec<Example>,
    /// Pairs just under it, the nearest first.
    pub under: Vec<Example>,
}

impl AtThreshold {
    /// Documents that go.
    pub fn removed(&self) -> u64 {
        self.counts.copies + self.counts.near
    }
}

/// How far below the lowest threshold pairs are looked for, in millionths.
const BELOW: u32 = 100_000;

/// Runs the exact join below all thresholds with the shingles, fields and clustering of `config`. From the pairs that it finds
/// follows what goes at each of them.
///
/// # Errors
/// [`Error::Config`] without a threshold; those of runs; [`Error::Changed`] if a file is another one by now.
pub fn thresholds(
    asked: &[Threshold],
    config: &Config,
    run: &Run<'_>,
    progress: &Progress,
) -> Result<Measured> {
    let mut asked = asked.to_vec();
    asked.sort_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
    asked.dedup();
    let least = *asked.first().ok_or_else(|| Error::config("no threshold was given"))?;
    let lowest = run(Config { method: Method::Join, threshold: below(least), ..config.clone() }, true)?;
    let mut measured = Vec::new();
    for threshold in asked {
        progress.check()?;
        let clustering = config.cluster.clustering;
        let counts = RaisedCounts::of(&lowest.run.sets, &lowest.findings, threshold, clustering)?;
        progress.check()?;
        let (over, under) = near(&lowest, threshold, progress)?;
        measured.push(AtThreshold { threshold, counts, over, under });
    }
    Ok(Measured { thresholds: measured, lowest })
}

/// A threshold that pairs just under another one reach: a tenth less, or half of it where that is more.
fn below(threshold: Threshold) -> Threshold {
    let millionths = threshold.millionths();
    let less = millionths.saturating_sub(BELOW).max(millionths / 2).max(1);
    Threshold::from_millionths(less).expect("less than a threshold, and more than nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_below_every_threshold() {
        for (threshold, less) in
            [("1", "0.9"), ("0.8", "0.7"), ("0.15", "0.075"), ("0.000001", "0.000001"), ("0.55", "0.45")]
        {
            let threshold: Threshold = threshold.parse().expect("a threshold");
            assert_eq!(below(threshold).to_string().parse(), less.parse::<Threshold>());
        }
    }
}
