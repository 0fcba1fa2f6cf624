//! Which n-grams of a text occur more than once: those of two words, then ever longer ones.
//!
//! An n-gram occurs again only if both its parts of one word less do. So longer ones are looked for only where these stand,
//! and an ordinary text has few such places. Each length is a sort of those places.

use std::ops::Range;

use crate::passages::WordSum;

/// A place whose n-gram occurs nowhere else.
const ALONE: u32 = u32::MAX;

/// The n-grams of a text that occur more than once, for one n after the other.
#[derive(Default)]
pub(super) struct RepeatedGrams {
    n: usize,
    /// For each word the first place of the n-gram that begins there, if that occurs more than once.
    first: Vec<u32>,
    /// What stands at places where an n-gram may, and these.
    keys: Vec<(u64, u32)>,
}

impl RepeatedGrams {
    /// Begins with the 2-grams of a text of fewer than 2^32 - 1 words, by what these are.
    pub(super) fn begin(&mut self, words: &[u64]) {
        let RepeatedGrams { n, first, keys } = self;
        *n = 2;
        first.clear();
        first.resize(words.len(), ALONE);
        keys.clear();
        keys.extend((0..).zip(words.windows(2)).map(|(at, gram)| (WordSum::of(gram).identity(), at)));
        self.group();
    }

    /// Goes on to those of one word more.
    pub(super) fn lengthen(&mut self) {
        let RepeatedGrams { n, first, keys } = self;
        *n += 1;
        keys.clear();
        let pairs = (0..).zip(first.windows(2)).filter(|(_, pair)| pair[0] != ALONE && pair[1] != ALONE);
        keys.extend(pairs.map(|(at, pair)| (u64::from(pair[0]) << 32 | u64::from(pair[1]), at)));
        first.fill(ALONE);
        self.group();
    }

    fn group(&mut self) {
        self.keys.sort_unstable();
        for same in self.keys.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            same.iter().for_each(|(_, at)| self.first[*at as usize] = same[0].1);
        }
    }

    /// The places of each n-gram that occurs most often, in order; none if all occur once.
    pub(super) fn most_frequent(&self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        let groups = || self.keys.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
        let most = groups().map(<[_]>::len).max();
        groups()
            .filter(move |same| Some(same.len()) == most)
            .map(|same| same.iter().map(|(_, at)| *at as usize))
    }

    /// The places of all n-grams that occur more than once, in order.
    pub(super) fn repeated(&self) -> impl Iterator<Item = usize> {
        self.first.iter().enumerate().filter(|(_, first)| **first != ALONE).map(|(at, _)| at)
    }

    /// The stretches of words that n-grams at ascending places cover, without common words.
    pub(super) fn covered(&self, places: impl Iterator<Item = usize>) -> impl Iterator<Item = Range<usize>> {
        let n = self.n;
        places.scan(0, move |covered: &mut usize, at| {
            let stretch = at.max(*covered)..at + n;
            *covered = stretch.end;
            Some(stretch)
        })
    }
}
