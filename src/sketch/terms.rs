//! The terms of a document, the rarest first: what all methods of rare terms begin with.

use std::sync::Arc;

use crate::lexicon::{Band, Lexicon};

/// A term of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// Its rank in the lexicon: 0 is the rarest.
    pub rank: u32,
    /// The token at which it first stands, from 0.
    pub position: u64,
    /// The hash of the token.
    pub hash: u64,
}

/// Writes to `terms` (cleared first) the distinct terms of a text that the lexicon has and the band holds, by
/// ascending rank: the rarest first, among those of equally many documents in the order of terms.
pub fn terms_of(tokens: &[u64], lexicon: &Lexicon, band: &Band, terms: &mut Vec<Term>) {
    terms.clear();
    terms.extend((0..).zip(tokens).filter_map(|(position, hash)| {
        let rank = lexicon.rank(*hash).filter(|rank| band.has(*rank))?;
        Some(Term { rank, position, hash: *hash })
    }));
    terms.sort_unstable();
    terms.dedup_by_key(|term| term.rank);
}

/// The length of a text of these tokens, as sketches have it.
pub fn length_of(tokens: &[u64]) -> u32 {
    tokens.len().min(u32::MAX as usize) as u32
}

/// Finds the terms of texts by a lexicon, if there is one.
#[derive(Default)]
pub struct TermFinder {
    known: Option<(Arc<Lexicon>, Band)>,
    terms: Vec<Term>,
}

impl TermFinder {
    /// What finds the terms of a lexicon that `band` holds; without a lexicon, none.
    pub fn new(lexicon: Option<&Arc<Lexicon>>, band: impl FnOnce(&Lexicon) -> Band) -> TermFinder {
        let known = lexicon.map(|lexicon| (Arc::clone(lexicon), band(lexicon)));
        TermFinder { known, terms: Vec::new() }
    }

    /// The terms of a text with these tokens, as [`terms_of`] has them, and the lexicon that they are of.
    pub fn find(&mut self, tokens: &[u64]) -> Option<(&[Term], &Lexicon)> {
        let (lexicon, band) = self.known.as_ref()?;
        terms_of(tokens, lexicon, band, &mut self.terms);
        Some((&self.terms, lexicon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::made::{graded, hashes, lexicon, word};
    use crate::text::token_hash;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn terms_come_rarest_first_with_their_first_places() {
        let lexicon = lexicon(100, &[("common", 50), ("rare", 2), ("rarest", 1), ("even", 2)]);
        let band = Band::new(&lexicon, None, None);
        let tokens = hashes("common unknown rare even common rarest rare");
        let mut terms = vec![];
        terms_of(&tokens, &lexicon, &band, &mut terms);
        let found: Vec<(u32, u64)> = terms.iter().map(|term| (term.rank, term.position)).collect();
        // "even" comes before "rare", which is in as many documents, in the order of terms.
        assert_eq!(found, [(0, 5), (1, 3), (2, 2), (3, 0)]);
        assert_eq!(terms[1].hash, token_hash(b"even"));
        let uncommon = Band::uncommon(&lexicon, 5);
        terms_of(&tokens, &lexicon, &uncommon, &mut terms);
        assert_eq!(terms.len(), 3);
    }

    proptest! {
        #[test]
        fn the_slow_way_finds_the_same(numbers in prop::collection::vec(0usize..60, 0..80)) {
            let lexicon = graded(40);
            let band = Band::uncommon(&lexicon, 3);
            let words: Vec<String> = numbers.iter().map(|number| word(*number)).collect();
            let tokens = hashes(&words.join(" "));
            let mut slow = BTreeMap::new();
            for (at, word) in words.iter().enumerate() {
                let Some(entry) = lexicon.find(word).filter(|entry| entry.documents <= 30) else { continue };
                slow.entry(entry.rank).or_insert(at as u64);
            }
            let mut terms = vec![];
            terms_of(&tokens, &lexicon, &band, &mut terms);
            let fast: Vec<(u32, u64)> = terms.iter().map(|term| (term.rank, term.position)).collect();
            prop_assert_eq!(fast, slow.into_iter().collect::<Vec<_>>());
        }
    }
}
