//! The measures.
//!
//! | measure | is |
//! |---|---|
//! | precision, recall, F1 | of pairs: both / found, both / truth, 2 both / (found + truth); of marks the same of documents |
//! | adjusted Rand index | Hubert and Arabie 1985, of the clusters |
//! | exact sets | share of the clusters of the truth that are clusters of the method |
//! | B-cubed | Bagga and Baldwin 1998, of the clusters: means over documents |
//!
//! The B-cubed precision of a document is the share of its cluster that belongs there, its recall the share of what belongs
//! there that is in its cluster; F1 is the harmonic mean of both means.
//!
//! By length of documents: a pair is in the group of its shorter document, a cluster of the truth in that of its shortest one,
//! a document in its own, and the index is that of the documents of the group alone.

use serde::Serialize;

use super::intervals::{Interval, bootstrap, middle, wilson};
use super::outcome::Found;
use super::rand_index::rand_index;
use super::sizes::{BOUNDS, SIZES};
use super::tally::{ALL, PLACES, PairTally, Stat, Stats, Subject};
use super::truth::Truth;

/// A measure with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The measure.
    pub value: f64,
    /// Its interval of [`super::CONFIDENCE`]; `None` where there are too few blocks to tell, and for the index and B-cubed of
    /// clusters that are all right.
    pub interval: Option<Interval>,
}

/// How much of what was found is true, and how much of what is true was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// `None` where nothing was found.
    pub precision: Option<Estimate>,
    /// `None` where there is nothing to find.
    pub recall: Option<Estimate>,
    /// `None` where neither is anything.
    pub f1: Option<Estimate>,
}

/// All measures of some documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreMeasures {
    /// Documents that count.
    pub documents: u64,
    /// Those of them that the method removes.
    pub removed: u64,
    /// Pairs (with marks: documents) that the method has; of judged pairs, among those.
    pub found: u64,
    /// Pairs (with marks: documents) that the truth has.
    pub truth: u64,
    /// Those that both have.
    pub both: u64,
    /// Of pairs, or with marks of documents.
    #[serde(flatten)]
    pub shares: Shares,
    /// The adjusted Rand index, where the truth is clusters.
    pub rand: Option<Estimate>,
    /// Clusters of two documents or more in the truth.
    pub truth_sets: Option<u64>,
    /// Those of them that are clusters of the method.
    pub exact_sets: Option<u64>,
    /// Their share.
    pub exact: Option<Estimate>,
    /// B-cubed, where the truth is clusters.
    pub bcubed: Option<Shares>,
}

/// Measures of documents of some length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeScores {
    /// Their fewest words.
    pub words_from: u32,
    /// Words that they have fewer of; `None`: no bound.
    pub words_below: Option<u32>,
    /// The measures.
    #[serde(flatten)]
    pub measures: ScoreMeasures,
}

/// What a method scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// All documents.
    #[serde(flatten)]
    pub all: ScoreMeasures,
    /// Documents that are to be removed by the truth; `None` where only pairs were judged.
    pub truth_removed: Option<u64>,
    /// By length, groups without documents left out.
    pub by_size: Vec<SizeScores>,
}

/// Holds what a method has found against the truth about `documents`, an ascending list. `sizes` has the group of lengths of
/// each document of the inputs ([`super::group_of`]). Pairs are those of the clusters, or, with `accepted`, those that the method
/// has accepted.
///
/// # Panics
/// If the accepted pairs are wanted and were not asked of the run.
pub fn score(found: &Found, accepted: bool, documents: &[u32], truth: &Truth, sizes: &[u8]) -> Scores {
    let pairs = match accepted {
        true => found.pairs.as_ref().expect("accepted pairs were asked of the run"),
        false => &found.clusters,
    };
    let tally = PairTally::of(&Subject::new(found, pairs, documents, sizes), truth);
    let whole = matches!(truth, Truth::Whole { .. });
    let sums = Sums::new(&tally);
    let by_size = (0..SIZES).filter(|size| sums.total[*size].documents > 0.0).map(|size| SizeScores {
        words_from: BOUNDS[size],
        words_below: BOUNDS.get(size + 1).copied(),
        measures: sums.measures(size, whole),
    });
    Scores { all: sums.measures(ALL, whole), truth_removed: removed(truth), by_size: by_size.collect() }
}

/// Documents that are to be removed: all but one of each cluster, or those marked.
fn removed(truth: &Truth) -> Option<u64> {
    match truth {
        Truth::Whole { clusters, .. } => {
            let mut groups = clusters.groups().to_vec();
            groups.sort_unstable();
            groups.dedup();
            Some((clusters.groups().len() - groups.len()) as u64)
        }
        Truth::Marks(marks) => Some(marks.iter().filter(|mark| **mark).count() as u64),
        Truth::Judged(_) => None,
    }
}

/// Counts of all blocks, and of draws of them.
struct Sums<'a> {
    bags: &'a [Stats],
    total: Stats,
    draws: Vec<Stats>,
}

impl<'a> Sums<'a> {
    fn new(tally: &'a PairTally) -> Sums<'a> {
        let add =
            |sum: &mut Stats, bag: &Stats| sum.iter_mut().zip(bag).for_each(|(sum, stat)| sum.add(stat));
        let mut total = tally.alone;
        tally.bags.iter().for_each(|bag| add(&mut total, bag));
        // Most blocks have documents of few lengths.
        let counts = |bag: &Stats| {
            (0..PLACES)
                .filter(|place| bag[*place] != Stat::default())
                .map(|place| (place, bag[place]))
                .collect()
        };
        let sparse: Vec<Vec<(usize, Stat)>> = tally.bags.iter().map(counts).collect();
        let draws = bootstrap(&sparse, &tally.alone, |sum, bag| {
            bag.iter().for_each(|(place, stat)| sum[*place].add(stat));
        });
        Sums { bags: &tally.bags, total, draws }
    }

    /// The measures of a place; those of clusters where the truth has them.
    fn measures(&self, place: usize, whole: bool) -> ScoreMeasures {
        let total = &self.total[place];
        let shares = Shares {
            precision: self.share(place, |stat| (stat.both, stat.found)),
            recall: self.share(place, |stat| (stat.both, stat.truth)),
            f1: self.share(place, |stat| (2.0 * stat.both, stat.found + stat.truth)),
        };
        let bcubed = |at: usize| self.drawn(place, move |stat| ratio(stat.bcubed[at], stat.documents));
        let harmonic = |stat: &Stat| {
            let [precision, recall] = stat.bcubed;
            ratio(2.0 * precision * recall, (precision + recall) * stat.documents)
        };
        let rand = |stat: &Stat| {
            let [both, left, right] = stat.within;
            rand_index(both, left, right, stat.documents)
        };
        let [truth_sets, exact_sets] = total.sets.map(|count| count as u64);
        ScoreMeasures {
            documents: total.documents as u64,
            removed: total.removed as u64,
            found: total.found as u64,
            truth: total.truth as u64,
            both: total.both as u64,
            shares,
            rand: whole.then(|| self.drawn(place, rand)).flatten(),
            truth_sets: whole.then_some(truth_sets),
            exact_sets: whole.then_some(exact_sets),
            exact: whole.then(|| self.share(place, |stat| (stat.sets[1], stat.sets[0]))).flatten(),
            bcubed: whole.then(|| Shares {
                precision: bcubed(0),
                recall: bcubed(1),
                f1: self.drawn(place, harmonic),
            }),
        }
    }

    /// A share, with the interval of draws, or, where all or nothing is right, that of Wilson over the bags that count.
    fn share(&self, place: usize, parts: impl Fn(&Stat) -> (f64, f64)) -> Option<Estimate> {
        let measure = |stat: &Stat| {
            let (part, whole) = parts(stat);
            ratio(part, whole)
        };
        let value = measure(&self.total[place])?;
        let bags = self.bags.iter().filter(|bag| parts(&bag[place]).1 > 0.0).count() as f64;
        if value == 0.0 || value == 1.0 {
            return Some(Estimate { value, interval: wilson(value * bags, bags) });
        }
        self.drawn(place, measure)
    }

    /// A measure with the interval of draws, if they differ.
    fn drawn(&self, place: usize, measure: impl Fn(&Stat) -> Option<f64>) -> Option<Estimate> {
        let value = measure(&self.total[place])?;
        let interval = middle(self.draws.iter().filter_map(|draw| measure(&draw[place])).collect());
        Some(Estimate { value, interval: interval.filter(|[low, high]| low < high) })
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
