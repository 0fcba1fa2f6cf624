//! The terms of a document, the rarest first: what all methods of rare terms begin with; and the most salient of them
//! as a set (Cooper, Coden and Brown 2002).

use crate::config::Salient;
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

/// Writes to `set` (cleared first) the hashes of the most salient of a text's terms ([`terms_of`]), strictly
/// ascending, at most `config.terms` of them: 8 bytes each. Fewer where the text has fewer.
///
/// Cooper, Coden and Brown rank terms that a recogniser of phrases finds, and call two documents very similar if few
/// terms, for their number, are not in both. Ours are single words ranked by rarity, so that the sketch depends on
/// the text and the lexicon only; their rule is resemblance of these sets.
pub fn salient(terms: &[Term], config: &Salient, set: &mut Vec<u64>) {
    set.clear();
    set.extend(terms.iter().take(config.terms).map(|term| term.hash));
    set.sort_unstable();
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lexicon::made::lexicon;
    pub(in crate::sketch) use crate::lexicon::made::word;
    use crate::text::token_hash;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The hashes of the words of a text.
    pub(in crate::sketch) fn hashes(text: &str) -> Vec<u64> {
        text.split_whitespace().map(|word| token_hash(word.as_bytes())).collect()
    }

    /// A lexicon of 1,000 documents whose words, by number, are in 1, 2, 3 ... documents.
    pub(in crate::sketch) fn graded(words: usize) -> Lexicon {
        let words: Vec<String> = (0..words).map(word).collect();
        let terms: Vec<(&str, u64)> = words.iter().map(String::as_str).zip(1..).collect();
        lexicon(1000, &terms)
    }

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
        let mut set = vec![7];
        salient(&terms, &Salient { terms: 2 }, &mut set);
        let mut expected = hashes("rarest even");
        expected.sort_unstable();
        assert_eq!(set, expected);
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
