//! Which terms have an idf between two bounds. Rank follows the number of documents, so they are neighbours in rank, and
//! a document's terms are held against two ranks instead of a logarithm each.

use std::ops::Range;

use super::frozen::{Lexicon, fraction};
use super::terms::Header;
use crate::threshold::Threshold;

/// The terms of a lexicon whose rank is within bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    ranks: Range<u32>,
}

impl Band {
    /// The terms whose normalised idf is at least `low` and at most `high`; `None` is no bound. Whether a term is
    /// among them is the same on every machine: a bound is held against logarithms good to 2^-54, by integers.
    pub fn new(lexicon: &Lexicon, low: Option<Threshold>, high: Option<Threshold>) -> Band {
        let header = lexicon.header();
        let over = |df| high.is_some_and(|high| relation(header, df, high).is_gt());
        let under = |df| low.is_some_and(|low| relation(header, df, low).is_lt());
        Band::between(lexicon, over, |df| !under(df))
    }

    /// The terms in at most `percent` of the documents of the lexicon.
    pub fn uncommon(lexicon: &Lexicon, percent: u64) -> Band {
        let documents = u128::from(lexicon.header().documents);
        let few = |df: u64| u128::from(df) * 100 <= documents * u128::from(percent);
        Band::between(lexicon, |_| false, few)
    }

    /// The terms after those of so few documents that they are `rare`, as long as they are `wanted`.
    fn between(lexicon: &Lexicon, rare: impl Fn(u64) -> bool, wanted: impl Fn(u64) -> bool) -> Band {
        let order = lexicon.by_rank();
        let documents = |number: &u32| lexicon.entry(*number).documents;
        let start = order.partition_point(|number| rare(documents(number)));
        let count = order[start..].partition_point(|number| wanted(documents(number)));
        Band { ranks: start as u32..(start + count) as u32 }
    }

    /// Whether the term of a rank is among them.
    #[inline]
    pub fn has(&self, rank: u32) -> bool {
        self.ranks.contains(&rank)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }
}

/// How the normalised idf of a term in `df` documents stands to a bound.
fn relation(header: &Header, df: u64, bound: Threshold) -> std::cmp::Ordering {
    let (num, den) = bound.fraction();
    let (idf, whole) = fraction(header, df);
    (u128::from(idf) * u128::from(den)).cmp(&(u128::from(whole) * u128::from(num)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::made::{lexicon, word};

    fn band(low: &str, high: &str, documents: u64, counts: &[u64]) -> Vec<u64> {
        let words: Vec<String> = (0..counts.len()).map(word).collect();
        let terms: Vec<(&str, u64)> = words.iter().map(String::as_str).zip(counts.iter().copied()).collect();
        let lexicon = lexicon(documents, &terms);
        let bound = |text: &str| (!text.is_empty()).then(|| text.parse().expect("a decimal"));
        let band = Band::new(&lexicon, bound(low), bound(high));
        let mut within: Vec<u64> =
            lexicon.entries().filter(|entry| band.has(entry.rank)).map(|entry| entry.documents).collect();
        within.sort_unstable();
        assert_eq!(within.len(), band.len());
        within
    }

    /// With N = 999 the idf of 1, 10, 100 and 999 documents is 0.99993, 0.66659, 0.33326 and 0.00007.
    #[test]
    fn bounds_are_of_normalised_idf() {
        let counts = [100, 1, 999, 10, 10];
        assert_eq!(band("0.3", "0.7", 999, &counts), [10, 10, 100]);
        assert_eq!(band("", "0.6665", 999, &counts), [100, 999]);
        assert_eq!(band("", "0.6666", 999, &counts), [10, 10, 100, 999]);
        assert_eq!(band("0.3333", "", 999, &counts), [1, 10, 10]);
        assert_eq!(band("", "", 999, &counts).len(), 5);
        assert!(band("0.4", "0.5", 999, &counts).is_empty());
    }

    #[test]
    fn agrees_with_floats_away_from_the_edge() {
        let counts: Vec<u64> = (1..200).map(|at| at * at).collect();
        let header = Header { terms: Default::default(), min_df: 1, short: 0, documents: 50_000 };
        for (low, high) in [("0.2", "0.8"), ("0.123", "0.456"), ("0.5", "1")] {
            let bounds: (f64, f64) = (low.parse().expect("a number"), high.parse().expect("a number"));
            let slow = counts.iter().copied().filter(|df| {
                let idf = header.normalised_idf(*df);
                bounds.0 <= idf && idf <= bounds.1
            });
            assert_eq!(band(low, high, header.documents, &counts), slow.collect::<Vec<_>>());
        }
    }

    #[test]
    fn common_terms_are_those_of_more_than_a_share() {
        let lexicon = lexicon(100, &[("rare", 1), ("edge", 5), ("over", 6), ("all", 100)]);
        let band = Band::uncommon(&lexicon, 5);
        let within: Vec<&str> =
            lexicon.entries().filter(|entry| band.has(entry.rank)).map(|entry| entry.term).collect();
        assert_eq!(within, ["edge", "rare"]);
        assert_eq!(Band::uncommon(&lexicon, 100).len(), 4);
    }
}
