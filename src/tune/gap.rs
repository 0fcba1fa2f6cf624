//! The gap in the distribution of resemblances, where there is one: above it near-duplicates, below it what is merely alike.
//!
//! Looked at is how much each distinct text resembles the one that is nearest to it. So a family of a thousand pages
//! counts a thousand times, and not half a million times as its pairs would.

use std::cmp::Reverse;
use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use serde::Serialize;

use super::labelled::level;
use super::sweep::{roundest, threshold};
use crate::document::Doc;
use crate::error::{Error, Result};
use crate::flow::{Outcome, Reason};
use crate::threshold::Threshold;

/// Width of a bin of the distribution, in millionths.
const BIN: u32 = 10_000;
/// Bins of a window: counts of single bins are chance.
const WINDOW: usize = 5;
/// A gap has at most this share of the texts that a window on either side of it has.
const SHARE: (u64, u64) = (1, 4);
/// Fewer texts than this in the fullest window of a side say nothing.
const FEW: u64 = 20;
/// How far the windows must differ, in standard deviations of counts.
const DEVIATIONS: f64 = 3.0;
/// A gap holds at most one text for so many on the side that has fewer: beside the fullest window of a heap a stretch may look
/// empty that has hundreds of texts in it.
const TEXTS_OF_A_SIDE: u64 = 50;

/// How much texts resemble the nearest other one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Nearest {
    /// Distinct texts.
    pub texts: u64,
    /// Those that resemble no other at the floor.
    pub alone: u64,
    /// The others, by hundredths of the resemblance from 0; that of distinct texts with equal shingles is 1.
    pub hundredths: Vec<u64>,
    /// The least resemblance that was looked for, in millionths.
    #[serde(skip)]
    floor: u32,
}

/// A stretch of resemblances that few texts have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResemblanceGap {
    /// Where it begins.
    pub from: Threshold,
    /// Where it ends.
    pub to: Threshold,
    /// The middle of its emptiest part.
    pub threshold: Threshold,
    /// Texts whose nearest is in it.
    pub within: u64,
    /// Texts whose nearest is above it.
    pub above: u64,
    /// Texts whose nearest is below it, or that have none.
    pub below: u64,
}

impl Nearest {
    /// From a run of the exact join at `floor` that was asked for its pairs.
    ///
    /// # Errors
    /// [`Error::Worker`] if it was not.
    pub fn new(outcome: &Outcome, floor: Threshold) -> Result<Nearest> {
        let accepted = outcome.findings.pairs.as_ref();
        let accepted = accepted.ok_or_else(|| Error::Worker("a run was not asked for its pairs".into()))?;
        let (mut copies, mut nearest): (HashSet<Doc>, HashMap<Doc, u32>) = Default::default();
        for (a, b, measure, reason) in accepted {
            if *reason == Reason::Exact {
                copies.insert(*b);
                continue;
            }
            for doc in [*a, *b] {
                let most = nearest.entry(doc).or_default();
                *most = (*most).max(level(*measure));
            }
        }
        let texts = outcome.tally.documents - copies.len() as u64;
        Ok(Nearest::of(nearest.values().copied(), texts, floor))
    }

    /// From the levels of those of `texts` that have a nearest, in millionths.
    fn of(levels: impl Iterator<Item = u32>, texts: u64, floor: Threshold) -> Nearest {
        let mut hundredths = vec![0; (1_000_000 / BIN) as usize + 1];
        levels.for_each(|level| hundredths[(level / BIN) as usize] += 1);
        let found: u64 = hundredths.iter().sum();
        Nearest { texts, alone: texts - found, hundredths, floor: floor.millionths() }
    }

    /// The gap that is emptiest beside its sides, and of several the widest, if there is one: each side has a window of texts
    /// that is at least four times as full, by more than chance would have it, and fifty texts for each that is in the gap.
    pub fn gap(&self) -> Option<ResemblanceGap> {
        let first = (self.floor / BIN) as usize;
        let counts = self.hundredths.get(first..)?;
        let windows: Vec<u64> = counts.windows(WINDOW).map(|window| window.iter().sum()).collect();
        // What is below the floor is spread over as many windows as there are; beside an empty window it is one heap.
        let unseen = self.alone * WINDOW as u64 / first.max(WINDOW) as u64;
        let side = |at: usize| {
            let below = windows[..(at + 1).saturating_sub(WINDOW)].iter().copied().max().unwrap_or(0);
            let above = windows.get(at + WINDOW..).and_then(|later| later.iter().copied().max());
            let unseen = if windows[at] == 0 { self.alone } else { unseen };
            below.max(unseen).min(above.unwrap_or(0))
        };
        // How full a window is beside its sides, if it is one of a gap. One more on each side: 0 of 20 is less sure than 0 of 300.
        let fill = |at: usize| -> Option<f64> {
            let (side, inside) = (side(at), windows[at]);
            let depth = (side as f64 - inside as f64) / ((side + inside) as f64).sqrt();
            let is_clear = side >= FEW && inside * SHARE.1 <= side * SHARE.0 && depth >= DEVIATIONS;
            is_clear.then(|| (inside + 1) as f64 / (side + 1) as f64)
        };
        let fills: Vec<(usize, Option<f64>)> = (0..windows.len()).map(|at| (at, fill(at))).collect();
        let runs = fills.chunk_by(|a, b| a.1.is_some() == b.1.is_some());
        let clear = runs.filter(|run| run[0].1.is_some()).filter_map(|run| {
            let bins = self.clear(run[0].0..run[0].0 + run.len() - 1 + WINDOW, counts)?;
            let windows = run.iter().filter(|(at, _)| bins.start <= *at && at + WINDOW <= bins.end);
            Some((windows.filter_map(|(_, fill)| *fill).fold(1.0, f64::min), bins))
        });
        let emptiest = clear.min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.len().cmp(&a.1.len())))?.1;
        Some(self.stretch(first, emptiest, counts))
    }

    /// The widest part of some bins that holds few of the texts on either side of it, and of several the emptiest. What is sparse
    /// at the edge of a heap belongs to that heap then, and not to the gap.
    fn clear(&self, bins: Range<usize>, counts: &[u64]) -> Option<Range<usize>> {
        let below = |at: usize| counts[..at].iter().sum::<u64>();
        let sums: Vec<u64> = (0..=counts.len()).map(below).collect();
        let within = |part: &Range<usize>| sums[part.end] - sums[part.start];
        let is_clear = |part: &Range<usize>| {
            let side = (self.alone + sums[part.start]).min(sums[counts.len()] - sums[part.end]);
            within(part) * TEXTS_OF_A_SIDE <= side
        };
        let parts = bins.clone().flat_map(|start| (start + WINDOW..=bins.end).map(move |end| start..end));
        parts.filter(is_clear).max_by_key(|part| (part.len(), Reverse(within(part))))
    }

    /// The gap of some bins.
    fn stretch(&self, first: usize, bins: Range<usize>, counts: &[u64]) -> ResemblanceGap {
        let fewest = counts[bins.clone()].iter().min().copied().unwrap_or(0);
        // The longest run of the emptiest bins.
        let (mut best, mut run) = (0..0, bins.start..bins.start);
        for at in bins.clone() {
            run = if counts[at] == fewest { run.start..at + 1 } else { at + 1..at + 1 };
            if run.len() > best.len() {
                best = run.clone();
            }
        }
        let edge = |at: usize| ((first + at) as u32 * BIN).clamp(1, 1_000_000);
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        ResemblanceGap {
            from: threshold(edge(bins.start)),
            to: threshold(edge(bins.end)),
            threshold: threshold(roundest(edge(best.start), edge(best.end))),
            within: sum(&counts[bins.clone()]),
            above: sum(&counts[bins.end..]),
            below: self.alone + sum(&counts[..bins.start]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts whose nearest are spread evenly over stretches of hundredths, and some that have none.
    fn nearest(stretches: &[(std::ops::Range<u32>, u32)], alone: u64) -> Nearest {
        let levels: Vec<u32> = stretches
            .iter()
            .flat_map(|(range, each)| {
                range.clone().flat_map(move |at| vec![at * BIN + 5_000; *each as usize])
            })
            .collect();
        let texts = levels.len() as u64 + alone;
        Nearest::of(levels.into_iter(), texts, "0.3".parse().expect("a threshold"))
    }

    #[test]
    fn between_two_heaps() {
        let gap = nearest(&[(30..50, 30), (80..95, 20)], 0).gap().expect("a gap");
        let bounds = [gap.from, gap.threshold, gap.to].map(Threshold::to_f64);
        // A bin of either heap would be too much of the upper one.
        assert_eq!((bounds, gap.within), ([0.5, 0.65, 0.8], 0));
        assert_eq!(gap.below + gap.within + gap.above, 20 * 30 + 15 * 20);
    }

    #[test]
    fn texts_that_are_like_no_other_are_the_lower_heap() {
        let gap = nearest(&[(85..100, 10)], 10_000).gap().expect("a gap");
        assert_eq!(gap.from.to_string(), "0.3");
        assert!(gap.threshold.to_f64() > 0.5 && gap.threshold.to_f64() < 0.8, "{gap:?}");
        assert_eq!(
            nearest(&[(85..100, 10)], 0).gap(),
            None,
            "without a lower heap there is nothing to tell apart"
        );
    }

    #[test]
    fn few_texts_that_are_like_no_other_are_a_heap_beside_an_empty_stretch() {
        let gap = nearest(&[(88..100, 4)], 50).gap().expect("a gap");
        assert_eq!((gap.from.to_string(), gap.within, gap.above), ("0.3".to_owned(), 0, 48));
        assert!(gap.to.to_f64() <= 0.88, "{gap:?}");
    }

    #[test]
    fn an_empty_stretch_goes_before_a_dent() {
        let gap = nearest(&[(80..86, 400), (86..92, 60), (92..100, 900)], 2000).gap().expect("a gap");
        assert_eq!((gap.from.to_string(), gap.within), ("0.3".to_owned(), 0));
    }

    #[test]
    fn a_gap_holds_few_of_the_texts_on_either_side() {
        // Each window has at most a quarter of the fullest ones, and all together a third of the upper heap.
        let crowded = nearest(&[(30..45, 100), (45..80, 12), (80..95, 80)], 0);
        assert_eq!(crowded.gap(), None);
        // The same in thousands of texts, where hundreds are far from chance.
        assert_eq!(nearest(&[(30..45, 1000), (45..80, 60), (80..95, 800)], 0).gap(), None);
        // A few do not hide a gap, and it has what there is room for.
        let gap = nearest(&[(30..45, 100), (60..65, 4), (80..95, 80)], 0).gap().expect("a gap");
        assert_eq!((gap.from.to_string(), gap.to.to_string()), ("0.45".to_owned(), "0.8".to_owned()));
        assert_eq!((gap.within, gap.below, gap.above), (20, 1500, 1200));
        // The sparse edge of the lower heap belongs to that heap.
        let gap = nearest(&[(30..45, 100), (45..60, 14), (80..95, 80)], 0).gap().expect("a gap");
        assert!((0.59..=0.6).contains(&gap.from.to_f64()) && gap.to.to_string() == "0.8", "{gap:?}");
        assert!(gap.within * TEXTS_OF_A_SIDE <= gap.above, "{gap:?}");
    }

    #[test]
    fn there_is_none_in_what_has_none() {
        for (stretches, alone) in [
            // Even, rising and falling distributions, and one with a dent.
            (vec![(30..100, 40)], 0),
            (vec![(30..50, 10), (50..70, 20), (70..100, 40)], 0),
            (vec![(30..50, 40), (50..70, 20), (70..100, 10)], 2000),
            (vec![(30..60, 40), (60..70, 20), (70..100, 40)], 0),
            // Too few texts to say.
            (vec![(30..40, 1), (90..95, 1)], 3),
            (vec![], 100_000),
            (vec![], 0),
        ] {
            assert_eq!(nearest(&stretches, alone).gap(), None, "{stretches:?}");
        }
    }

    #[test]
    fn the_deepest_of_several() {
        let gap =
            nearest(&[(30..40, 100), (50..60, 30), (62..70, 30), (85..95, 100)], 0).gap().expect("a gap");
        assert!(gap.from.to_f64() > 0.6 && gap.to.to_f64() < 0.9, "{gap:?}");
        assert_eq!(gap.threshold.to_string(), "0.75");
    }
}
