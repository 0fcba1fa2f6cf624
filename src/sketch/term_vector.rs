//! Vectors of rare terms, for duplicates that are not identical (Conrad, Guo and Schriber 2003, section 7): which
//! entries a document's vector has.

use super::Term;
use super::shingles::finish;
use crate::config::Vector;
use crate::error::{Error, Result};
use crate::lexicon::Lexicon;
use crate::limits::MAX_VECTOR_LEXICON;
use crate::similarity::MAX_ENTRY;

/// Refuses a lexicon whose ranks leave no room for padding in 23 bits: more than [`MAX_VECTOR_LEXICON`] terms.
///
/// # Errors
/// [`Error::LexiconUnfit`].
pub fn require_room(lexicon: &Lexicon) -> Result<()> {
    if lexicon.len() > MAX_VECTOR_LEXICON {
        return Err(Error::lexicon_unfit(
            lexicon.path(),
            format!(
                "has {} terms, and vectors of terms have room for {MAX_VECTOR_LEXICON}; build one with a higher \
                 --min-df",
                lexicon.len()
            ),
        ));
    }
    Ok(())
}

/// Writes to `entries` (cleared first) the vector of a text: exactly `config.terms` entries, strictly ascending, so the
/// rarest first. False if the text has fewer than `config.min_terms` distinct terms: it takes no part, and `entries` is
/// empty. `terms` are its terms ([`super::terms_of`], of all ranks), `tokens` all its tokens; `buffer` is working
/// memory.
///
/// An entry is the rank of a term. A text of fewer terms than the vector has entries is padded "with entries not found
/// in the table (in a manner that facilitates comparisons with similar docs)" (section 7.2), which is all the paper
/// says. Ours: first its words that are not in the lexicon, those of the least hashes, so that texts of nearly the
/// same words take the same; then its terms a second time, a third time and so on, from the rarest, each
/// repetition an entry of its own. Two short texts thus share entries in proportion to the terms that they share; with
/// padding that is the same for all, texts of 20 terms would be duplicates for any 10 shared ones. Padding is above
/// all ranks: the least rare of all.
pub fn term_vector(
    terms: &[Term],
    tokens: &[u64],
    lexicon: &Lexicon,
    config: &Vector,
    buffer: &mut Vec<u64>,
    entries: &mut Vec<u64>,
) -> bool {
    entries.clear();
    if terms.len() < config.min_terms {
        return false;
    }
    entries.extend(terms.iter().take(config.terms).map(|term| u64::from(term.rank)));
    if entries.len() < config.terms {
        let ranks = lexicon.len() as u64;
        unknown_words(tokens, lexicon, buffer);
        let wanted = config.terms - entries.len();
        entries.extend(buffer.iter().take(wanted).copied());
        repeat_terms(terms, ranks, config.terms, entries);
        entries.sort_unstable();
    }
    true
}

/// An entry for what has no rank: above all ranks, and below 2^23.
fn padding(hash: u64, ranks: u64) -> u64 {
    ranks + finish(hash) % (MAX_ENTRY - ranks)
}

/// Writes to `words` (cleared first) an entry for each word that is no term, ascending.
fn unknown_words(tokens: &[u64], lexicon: &Lexicon, words: &mut Vec<u64>) {
    let ranks = lexicon.len() as u64;
    words.clear();
    let unknown = tokens.iter().filter(|hash| lexicon.number(**hash).is_none());
    words.extend(unknown.map(|hash| padding(*hash, ranks)));
    words.sort_unstable();
    words.dedup();
}

/// Adds entries for the second, third ... occurrence of the terms until there are `count`.
fn repeat_terms(terms: &[Term], ranks: u64, count: usize, entries: &mut Vec<u64>) {
    let again = (1u64..).flat_map(|time| terms.iter().map(move |term| u64::from(term.rank) | time << 32));
    for id in again {
        if entries.len() >= count {
            return;
        }
        let entry = padding(id, ranks);
        // Two words may have one entry: the later one then has none.
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::salient::tests::{graded, hashes, word};
    use super::super::terms_of;
    use super::*;
    use crate::lexicon::Band;
    use crate::similarity::{pack, vectors_alike};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The vector of the words of these numbers; those from 100 on are not in the lexicon.
    pub(in crate::sketch) fn vector(
        lexicon: &Lexicon,
        config: &Vector,
        numbers: &[usize],
    ) -> Option<Vec<u64>> {
        let tokens = hashes(&numbers.iter().map(|n| word(*n)).collect::<Vec<_>>().join(" "));
        let band = Band::new(lexicon, None, None);
        let (mut terms, mut buffer, mut entries) = (vec![], vec![3], vec![9]);
        terms_of(&tokens, lexicon, &band, &mut terms);
        let fits = term_vector(&terms, &tokens, lexicon, config, &mut buffer, &mut entries);
        assert!(fits || entries.is_empty());
        fits.then_some(entries)
    }

    fn shared(a: &[u64], b: &[u64]) -> usize {
        a.iter().filter(|entry| b.contains(entry)).count()
    }

    #[test]
    fn a_long_text_has_its_rarest_terms() {
        let lexicon = graded(100);
        let numbers: Vec<usize> = (20..100).rev().chain(100..120).collect();
        assert_eq!(vector(&lexicon, &Vector::default(), &numbers), Some((20..80).collect()));
        assert_eq!(vector(&lexicon, &Vector::default(), &numbers[..19]), None);
    }

    #[test]
    fn a_short_text_is_padded_as_texts_like_it() {
        let lexicon = graded(100);
        let of = |numbers: &[usize]| vector(&lexicon, &Vector::default(), numbers).expect("enough terms");
        let text: Vec<usize> = (10..50).chain(100..110).collect();
        let padded = of(&text);
        assert_eq!(padded[..40], (10..50).collect::<Vec<u64>>());
        let unknown: BTreeSet<u64> = (100..110).map(|n| padding(hashes(&word(n))[0], 100)).collect();
        let again: BTreeSet<u64> = (10..20).map(|rank| padding(rank | 1 << 32, 100)).collect();
        assert_eq!(padded[40..], unknown.union(&again).copied().collect::<Vec<u64>>());
        // One term more, one unknown word less.
        assert!(shared(&padded, &of(&(10..51).chain(100..109).collect::<Vec<_>>())) >= 57);
        // Twenty terms, each three times: half of them shared is half of the entries, and no duplicate.
        let (a, b) = (of(&(10..30).collect::<Vec<_>>()), of(&(20..40).collect::<Vec<_>>()));
        assert_eq!(shared(&a, &b), 30);
        // Seventeen of twenty, 85 %, is one.
        assert_eq!(shared(&a, &of(&(13..33).collect::<Vec<_>>())), 51);
    }

    proptest! {
        #[test]
        fn the_slow_way_has_the_same_entries(numbers in prop::collection::vec(0usize..150, 0..90)) {
            let lexicon = graded(100);
            let config = Vector { terms: 30, shared: 25, min_terms: 10, ..Vector::default() };
            let ranks: BTreeSet<u64> = numbers.iter().filter(|n| **n < 100).map(|n| *n as u64).collect();
            let unknown: BTreeSet<u64> =
                numbers.iter().filter(|n| **n >= 100).map(|n| padding(hashes(&word(*n))[0], 100)).collect();
            let again = (1..9).flat_map(|time| ranks.iter().map(move |rank| padding(*rank | time << 32, 100)));
            let mut slow: Vec<u64> = vec![];
            for entry in ranks.iter().copied().chain(unknown).chain(again) {
                if slow.len() < 30 && !slow.contains(&entry) {
                    slow.push(entry);
                }
            }
            slow.sort_unstable();
            prop_assert_eq!(vector(&lexicon, &config, &numbers), (ranks.len() >= 10).then_some(slow));
        }

        /// The rarest entries of two documents that are alike share one: no pair is lost if they alone are keys.
        #[test]
        fn the_prefix_loses_no_pair(documents in prop::collection::vec(
            (0usize..12, prop::collection::vec(0usize..140, 0..12)), 2..12)) {
            let lexicon = graded(100);
            let config = Vector { terms: 30, shared: 24, min_terms: 15, ..Vector::default() };
            config.check().expect("sense");
            // Stretches of the same words with others among them are often alike.
            let vectors: Vec<Vec<u64>> = documents
                .iter()
                .filter_map(|(from, others)| {
                    let numbers: Vec<usize> = (*from..from + 26).chain(others.iter().copied()).collect();
                    vector(&lexicon, &config, &numbers)
                })
                .collect();
            for a in &vectors {
                for b in &vectors {
                    let prefix = |vector: &[u64]| vector[..config.prefix()].to_vec();
                    if vectors_alike(&pack(a, 9, None), &pack(b, 9, None), config.agreement()).is_some() {
                        let met = prefix(a).iter().filter(|entry| prefix(b).contains(entry)).count();
                        prop_assert!(met >= config.meeting());
                    }
                }
            }
        }
    }
}
