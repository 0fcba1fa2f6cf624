//! What is counted of a method and the truth, in blocks of documents that have no pair in common.

use super::grouping::Grouping;
use super::outcome::Found;
use super::sizes::{SIZES, Sizes};
use super::truth::Truth;
use crate::components::Forest;

/// Places of counts: one for each group of lengths, and one for all.
pub(super) const PLACES: usize = SIZES + 1;
/// The place for all.
pub(super) const ALL: usize = SIZES;
/// Most bags that blocks are put into, evenly: drawing bags is drawing blocks by the handful.
const BAGS: usize = 2000;

/// What is counted. Sums of blocks are those of their documents; all that is measured follows from the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat {
    /// Documents.
    pub documents: f64,
    /// Documents that the method removes.
    pub removed: f64,
    /// Pairs, or marked documents, that both have: the method and the truth.
    pub both: f64,
    /// Those that the method has.
    pub found: f64,
    /// Those that the truth has.
    pub truth: f64,
    /// Pairs within clusters of both, of the method, and of the truth.
    pub within: [f64; 3],
    /// Clusters of the truth of two documents or more, and those of them that are clusters of the method.
    pub sets: [f64; 2],
    /// Sums of the B-cubed precision and recall of each document.
    pub bcubed: [f64; 2],
}

impl Stat {
    pub(super) fn add(&mut self, other: &Stat) {
        self.documents += other.documents;
        self.removed += other.removed;
        self.both += other.both;
        self.found += other.found;
        self.truth += other.truth;
        self.within.iter_mut().zip(other.within).for_each(|(sum, more)| *sum += more);
        self.sets.iter_mut().zip(other.sets).for_each(|(sum, more)| *sum += more);
        self.bcubed.iter_mut().zip(other.bcubed).for_each(|(sum, more)| *sum += more);
    }
}

/// The counts of each place.
pub(super) type Stats = [Stat; PLACES];

/// Counts in bags of blocks, and those of documents that nothing pairs with any other.
pub(super) struct PairTally {
    /// Bag of each document; the greatest number for those alone.
    of: Vec<u32>,
    pub(super) bags: Vec<Stats>,
    pub(super) alone: Stats,
}

/// What is held against the truth, of the documents that count.
pub(super) struct Subject {
    clusters: Grouping,
    pairs: Grouping,
    removed: Vec<bool>,
    /// The size group of each.
    sizes: Vec<u8>,
}

impl Subject {
    /// What a method says of `documents`, by its clusters or by the pairs it has accepted.
    pub(super) fn new(found: &Found, pairs: &Grouping, documents: &[u32], sizes: &[u8]) -> Subject {
        let removed = documents.iter().map(|document| found.removed.binary_search(document).is_ok());
        Subject {
            clusters: found.clusters.of_some(documents),
            pairs: pairs.of_some(documents),
            removed: removed.collect(),
            sizes: documents.iter().map(|document| sizes[*document as usize]).collect(),
        }
    }

    fn documents(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.sizes.len() as u32
    }
}

impl PairTally {
    /// Counts all that is counted.
    pub(super) fn of(subject: &Subject, truth: &Truth) -> PairTally {
        let mut forest = Forest::new(subject.sizes.len());
        subject.clusters.join(&mut forest);
        subject.pairs.join(&mut forest);
        let mut tally = match truth {
            Truth::Whole { clusters, pairs } => {
                clusters.join(&mut forest);
                pairs.join(&mut forest);
                let mut tally = PairTally::empty(&mut forest, |_| false);
                tally.count_pairs(subject, pairs);
                tally.count_clusters(subject, clusters);
                tally
            }
            Truth::Judged(pairs) => {
                for (a, b, _) in pairs {
                    forest.union(*a, *b);
                }
                let mut tally = PairTally::empty(&mut forest, |_| false);
                tally.count_judged(subject, pairs);
                tally
            }
            Truth::Marks(marks) => {
                let removed = |document: u32| subject.removed[document as usize] || marks[document as usize];
                let mut tally = PairTally::empty(&mut forest, removed);
                for document in subject.documents() {
                    let both = [subject.removed[document as usize], marks[document as usize]];
                    tally.verdict(document, subject.sizes[document as usize], both);
                }
                tally
            }
        };
        for document in subject.documents() {
            let removed = f64::from(u8::from(subject.removed[document as usize]));
            tally.each_place(document, subject.sizes[document as usize], |stat| {
                stat.documents += 1.0;
                stat.removed += removed;
            });
        }
        tally
    }

    /// Bags of what `forest` joins, in document order, and of single documents that matter by themselves.
    fn empty(forest: &mut Forest, matters: impl Fn(u32) -> bool) -> PairTally {
        let count = forest.len() as u32;
        let mut joined = vec![0u32; count as usize];
        (0..count).for_each(|document| joined[forest.find(document) as usize] += 1);
        let mut bag = vec![u32::MAX; count as usize];
        let (mut of, mut blocks) = (vec![u32::MAX; count as usize], 0);
        for document in 0..count {
            let root = forest.find(document) as usize;
            if joined[root] > 1 || matters(document) {
                if bag[root] == u32::MAX {
                    bag[root] = blocks % BAGS as u32;
                    blocks += 1;
                }
                of[document as usize] = bag[root];
            }
        }
        let bags = vec![Stats::default(); BAGS.min(blocks as usize)];
        PairTally { of, bags, alone: Stats::default() }
    }

    fn at(&mut self, document: u32) -> &mut Stats {
        match self.of[document as usize] {
            u32::MAX => &mut self.alone,
            bag => &mut self.bags[bag as usize],
        }
    }

    /// Counts for a document: in the place of its length, and in that for all.
    fn each_place(&mut self, document: u32, size: u8, mut count: impl FnMut(&mut Stat)) {
        let stats = self.at(document);
        count(&mut stats[size as usize]);
        count(&mut stats[ALL]);
    }

    fn count_pairs(&mut self, subject: &Subject, truth: &Grouping) {
        let Subject { pairs, sizes, .. } = subject;
        pairs.shared(truth, sizes, |document, counts| self.pairs(document, counts, |stat| &mut stat.both));
        pairs.shared(pairs, sizes, |document, counts| self.pairs(document, counts, |stat| &mut stat.found));
        truth.shared(truth, sizes, |document, counts| self.pairs(document, counts, |stat| &mut stat.truth));
    }

    fn pairs(&mut self, document: u32, counts: &Sizes, sum: impl Fn(&mut Stat) -> &mut f64) {
        let stats = self.at(document);
        for (stat, count) in stats.iter_mut().zip(counts) {
            *sum(stat) += *count as f64;
        }
        *sum(&mut stats[ALL]) += counts.iter().sum::<u64>() as f64;
    }

    fn count_judged(&mut self, subject: &Subject, judged: &[(u32, u32, bool)]) {
        for (a, b, duplicates) in judged {
            let shorter = subject.sizes[*a as usize].min(subject.sizes[*b as usize]);
            self.verdict(*a, shorter, [subject.pairs.has(*a, *b), *duplicates]);
        }
    }

    /// Counts what the method and the truth say of one pair or one document.
    fn verdict(&mut self, document: u32, size: u8, [found, truth]: [bool; 2]) {
        let one = |is: bool| f64::from(u8::from(is));
        self.each_place(document, size, |stat| {
            stat.found += one(found);
            stat.truth += one(truth);
            stat.both += one(found && truth);
        });
    }

    /// Counts what follows from the sizes of clusters and of what they have in common.
    fn count_clusters(&mut self, subject: &Subject, truth: &Grouping) {
        let (method, truth) = (subject.clusters.groups(), truth.groups());
        let sizes = &subject.sizes;
        let of_method = self.count_groups(method, method, sizes, 1);
        let of_truth = self.count_groups(truth, truth, sizes, 2);
        let mut exact = vec![false; sizes.len()];
        let common = self.count_groups(method, truth, sizes, 0);
        for document in subject.documents() {
            let at = document as usize;
            let (n, a, b) = (common[at], of_method[at], of_truth[at]);
            exact[at] = n == a && n == b;
            self.each_place(document, sizes[at], |stat| {
                stat.bcubed[0] += f64::from(n) / f64::from(a);
                stat.bcubed[1] += f64::from(n) / f64::from(b);
            });
        }
        each_group(truth, truth, |members| {
            let shortest = members.iter().map(|document| sizes[*document as usize]).min().unwrap_or(0);
            let found = f64::from(u8::from(exact[members[0] as usize]));
            self.each_place(members[0], shortest, |stat| {
                stat.sets[0] += 1.0;
                stat.sets[1] += found;
            });
        });
    }

    /// Counts the pairs within groups that are groups of both, in place `which` of [`Stat::within`]; returns for each document how
    /// many its group has.
    fn count_groups(&mut self, left: &[u32], right: &[u32], sizes: &[u8], which: usize) -> Vec<u32> {
        let pairs = |count: u64| (count * count.saturating_sub(1) / 2) as f64;
        let mut counts = vec![1; left.len()];
        each_group(left, right, |members| {
            let mut histogram: Sizes = [0; SIZES];
            for document in members {
                counts[*document as usize] = members.len() as u32;
                histogram[sizes[*document as usize] as usize] += 1;
            }
            let stats = self.at(members[0]);
            stats.iter_mut().zip(histogram).for_each(|(stat, count)| stat.within[which] += pairs(count));
            stats[ALL].within[which] += pairs(members.len() as u64);
        });
        counts
    }
}

/// Hands on the documents that are in one group of both partitions, in order, where they are two or more.
fn each_group(left: &[u32], right: &[u32], see: impl FnMut(&[u32])) {
    let key = |document: &u32| (left[*document as usize], right[*document as usize]);
    let mut order: Vec<u32> = (0..left.len() as u32).collect();
    order.sort_unstable_by_key(|document| (key(document), *document));
    order.chunk_by(|a, b| key(a) == key(b)).filter(|members| members.len() > 1).for_each(see);
}
