//! The n-grams of a document, and where each of them stands.

use super::stretches::GramAt;
use crate::sketch::shingles;
use crate::system_memory::reserve_apart;

/// More n-grams than this have lists of their own in memory, as [`shingles`] has.
const MANY: usize = 1 << 18;
/// So few are sorted soonest by comparing them.
const FEW: usize = 12;
/// No place.
const NONE: u32 = u32::MAX;

/// The n-grams of a document. Those whose highest bits are alike are in a chain, ascending; there are as many chains as
/// n-grams, or more. Its buffers are reused from document to document.
#[derive(Default)]
pub(in crate::decontaminate) struct GramPlaces {
    grams: Vec<u64>,
    /// The first place of each chain.
    firsts: Vec<u32>,
    /// For each place, the next one of its chain.
    nexts: Vec<u32>,
    /// How far an n-gram is shifted to be the number of its chain.
    shift: u32,
    /// A bit for each place; zeros between two sorts.
    marks: Vec<u64>,
    /// What stands at each place that has a mark.
    marked: Vec<u32>,
}

impl GramPlaces {
    /// Cuts a document into n-grams; there are none if it has fewer tokens.
    pub(in crate::decontaminate) fn cut(&mut self, tokens: &[u64], ngram: usize) -> &[u64] {
        self.grams.clear();
        if tokens.len() >= ngram {
            shingles(tokens, ngram, &mut self.grams);
        }
        &self.grams
    }

    /// Takes n-grams as those of a document, and makes their chains.
    pub(in crate::decontaminate) fn hold(&mut self, grams: &[u64]) {
        self.grams.clear();
        self.grams.extend_from_slice(grams);
        self.chain();
    }

    /// The n-grams.
    pub(in crate::decontaminate) fn all(&self) -> &[u64] {
        &self.grams
    }

    /// Makes the chains of the n-grams that were cut.
    pub(in crate::decontaminate) fn chain(&mut self) {
        let GramPlaces { grams, firsts, nexts, shift, .. } = self;
        let chains = grams.len().next_power_of_two().max(2);
        *shift = 64 - chains.trailing_zeros();
        firsts.clear();
        if grams.len() > MANY {
            reserve_apart(firsts, chains);
            reserve_apart(nexts, grams.len().saturating_sub(nexts.len()));
        }
        firsts.resize(chains, NONE);
        // What an earlier document left there is written over.
        nexts.resize(grams.len().max(nexts.len()), NONE);
        for (place, gram) in grams.iter().enumerate().rev() {
            let first = &mut firsts[(gram >> *shift) as usize];
            nexts[place] = *first;
            *first = place as u32;
        }
    }

    /// Where an n-gram stands first, if it does.
    #[inline]
    pub(in crate::decontaminate) fn first(&self, gram: u64) -> Option<u32> {
        self.from(self.firsts[(gram >> self.shift) as usize], gram)
    }

    /// Where the n-gram of a place stands next.
    #[inline]
    pub(in crate::decontaminate) fn next(&self, place: u32) -> Option<u32> {
        self.from(self.nexts[place as usize], self.grams[place as usize])
    }

    /// Sorts n-grams by their places, which are different ones. Where there are some in every few words of marks, marks are
    /// read in less time than it takes to compare.
    pub(in crate::decontaminate) fn sort(&mut self, standing: &mut Vec<GramAt>) {
        let words = self.grams.len().div_ceil(64);
        if standing.len() < FEW || standing.len() < words {
            return standing.sort_unstable_by_key(|gram| gram.at);
        }
        self.marks.resize(words.max(self.marks.len()), 0);
        self.marked.resize(self.grams.len().max(self.marked.len()), 0);
        for GramAt { at, gram } in standing.drain(..) {
            self.marks[at as usize / 64] |= 1 << (at % 64);
            self.marked[at as usize] = gram;
        }
        for (word, marks) in (0..).zip(&mut self.marks[..words]) {
            let mut left = std::mem::take(marks);
            while left > 0 {
                let at = word * 64 + left.trailing_zeros();
                standing.push(GramAt { at, gram: self.marked[at as usize] });
                left &= left - 1;
            }
        }
    }

    /// The first place of a rest of a chain that has an n-gram.
    #[inline]
    fn from(&self, mut place: u32, gram: u64) -> Option<u32> {
        while place != NONE {
            if self.grams[place as usize] == gram {
                return Some(place);
            }
            place = self.nexts[place as usize];
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_by_place(tokens in 1usize..400, order in prop::collection::vec((0u32..400, 0u32..99), 0..200)) {
            let mut places = GramPlaces::default();
            for tokens in [400, tokens, 1] {
                places.cut(&vec![7; tokens], 1);
                let by_place: std::collections::BTreeMap<u32, u32> =
                    order.iter().copied().filter(|(at, _)| (*at as usize) < tokens).collect();
                let grams = |(at, gram): (&u32, &u32)| GramAt { at: *at, gram: *gram };
                let want: Vec<GramAt> = by_place.iter().map(grams).collect();
                let mut standing = want.clone();
                standing.sort_by_key(|gram| (gram.gram, gram.at));
                places.sort(&mut standing);
                prop_assert_eq!(standing, want);
            }
        }

        #[test]
        fn finds_each_place(documents in prop::collection::vec(prop::collection::vec(0u64..9, 0..80), 1..4),
                            ngram in 1usize..4) {
            let mut places = GramPlaces::default();
            for tokens in documents {
                let grams = places.cut(&tokens, ngram).to_vec();
                prop_assert_eq!(grams.len(), (tokens.len() + 1).saturating_sub(ngram));
                places.chain();
                for gram in grams.iter().copied().chain([0, 1, u64::MAX]) {
                    let found: Vec<u32> =
                        std::iter::successors(places.first(gram), |place| places.next(*place)).collect();
                    let all = (0u32..).zip(&grams).filter(|(_, other)| **other == gram);
                    prop_assert_eq!(found, all.map(|(place, _)| place).collect::<Vec<_>>());
                }
            }
        }
    }
}
