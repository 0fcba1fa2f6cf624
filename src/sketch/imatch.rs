//! I-Match: one digest of a document's terms of middling idf (Chowdhury et al. 2002), and one for each random part of
//! the lexicon (Kolcz, Chowdhury and Alspector 2004). 8 bytes a document and lexicon.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Term;
use super::shingles::finish;
use crate::config::Imatch;

/// Parts in a hundred of a word of 64 bits.
const PERCENT: u64 = u64::MAX / 100;

/// Writes to `keys` (cleared first) the signatures of a text with these terms: its distinct terms within the idf band
/// ([`super::terms_of`]). False if they are fewer than `config.min_terms`: then there is no signature, and only equal
/// texts are duplicates.
///
/// The first key is of all terms. The others are of those that are in a random lexicon each; a random lexicon is a
/// fixed function of a term's hash and the lexicon's number, so it needs no table and is the same in every process.
/// A random lexicon in which the text has fewer than `config.min_terms` terms gives no key, since texts of hardly any
/// term in it would all be one; the paper is silent here. Keys of different lexicons are never equal but by chance.
///
/// Terms are digested in the order of their hashes where the paper takes Unicode's: any one order tells the same sets
/// apart. `buffer` is working memory.
pub fn imatch(terms: &[Term], config: &Imatch, buffer: &mut Vec<u64>, keys: &mut Vec<u64>) -> bool {
    keys.clear();
    if terms.len() < config.min_terms {
        return false;
    }
    for lexicon in 0..=config.lexicons as u64 {
        buffer.clear();
        let known = |hash: &u64| lexicon == 0 || is_in(*hash, lexicon, config.share);
        buffer.extend(terms.iter().map(|term| term.hash).filter(known));
        if buffer.len() >= config.min_terms {
            buffer.sort_unstable();
            keys.push(xxh3_64_with_seed(bytemuck::cast_slice(buffer), lexicon));
        }
    }
    true
}

/// Whether a term is in the random lexicon of a number from 1, which keeps `share` percent of all.
fn is_in(hash: u64, lexicon: u64, share: u64) -> bool {
    finish(hash ^ lexicon.wrapping_mul(0x9e37_79b9_7f4a_7c15)) < share * PERCENT
}

#[cfg(test)]
mod tests {
    use super::super::salient::tests::{graded, hashes, word};
    use super::super::terms_of;
    use super::*;
    use crate::lexicon::{Band, Lexicon};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn keys(lexicon: &Lexicon, config: &Imatch, text: &str) -> Option<Vec<u64>> {
        let band = Band::new(lexicon, Some(config.low), Some(config.high));
        let (mut terms, mut buffer, mut keys) = (vec![], vec![], vec![9]);
        terms_of(&hashes(text), lexicon, &band, &mut terms);
        imatch(&terms, config, &mut buffer, &mut keys).then_some(keys)
    }

    fn text(numbers: impl IntoIterator<Item = usize>) -> String {
        numbers.into_iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// The band from 0.4 to 0.8 of 1,000 documents is of 4 to 63 of them.
    fn plain() -> Imatch {
        Imatch { low: "0.4".parse().expect("a decimal"), ..Imatch::default() }
    }

    #[test]
    fn only_the_set_of_terms_within_the_band_counts() {
        let lexicon = graded(100);
        let of = |numbers: Vec<usize>| keys(&lexicon, &plain(), &text(numbers));
        let base = of(vec![3, 4, 5, 10, 62]).expect("five terms");
        assert_eq!(base.len(), 1);
        assert_eq!(Some(base.clone()), of(vec![62, 10, 10, 5, 3, 4, 4]));
        // Too rare, too common, and unknown.
        assert_eq!(Some(base.clone()), of(vec![0, 3, 2, 4, 63, 5, 99, 10, 62, 500]));
        assert_ne!(Some(base), of(vec![3, 4, 5, 10, 61]));
        assert_eq!(of(vec![3, 4, 5, 10, 63, 2]), None);
    }

    #[test]
    fn random_lexicons_survive_a_change() {
        let lexicon = graded(100);
        let config = Imatch { lexicons: 10, ..plain() };
        let (mut plain_agrees, mut any_agrees) = (0, 0);
        for changed in 4..54 {
            let a = keys(&lexicon, &config, &text(4..60)).expect("enough");
            let b = keys(&lexicon, &config, &text((4..60).filter(|n| *n != changed))).expect("enough");
            assert_eq!(a.iter().collect::<BTreeSet<_>>().len(), 11);
            plain_agrees += usize::from(a[0] == b[0]);
            any_agrees += usize::from(a.iter().any(|key| b.contains(key)));
        }
        // A term is missing from each of ten lexicons with probability 0.3: from none with 0.7^10 = 0.028.
        assert!(plain_agrees == 0 && any_agrees >= 45, "{plain_agrees} {any_agrees}");
    }

    #[test]
    fn a_random_lexicon_keeps_its_share() {
        for share in [1, 30, 70, 99] {
            let kept = (0..100_000).filter(|n| is_in(finish(*n), 3, share)).count() as i64;
            assert!((kept - 1000 * share as i64).abs() < 800, "{share}: {kept}");
        }
    }

    proptest! {
        #[test]
        fn the_slow_way_makes_the_same_keys(numbers in prop::collection::vec(0usize..80, 0..60),
                                            lexicons in 0usize..5) {
            let lexicon = graded(70);
            let config = Imatch { lexicons, ..plain() };
            let found = keys(&lexicon, &config, &text(numbers.iter().copied()));
            // Words by number are in number + 1 documents, so the band is of numbers 3 to 62.
            let terms: BTreeSet<u64> =
                numbers.iter().filter(|n| (3..63).contains(*n)).map(|n| hashes(&word(*n))[0]).collect();
            let slow = (terms.len() >= 5).then(|| {
                (0..=lexicons as u64)
                    .map(|l| terms.iter().copied().filter(|h| l == 0 || is_in(*h, l, 70)).collect::<Vec<_>>())
                    .zip(0u64..)
                    .filter(|(kept, _)| kept.len() >= 5)
                    .map(|(kept, l)| xxh3_64_with_seed(bytemuck::cast_slice(&kept), l))
                    .collect::<Vec<_>>()
            });
            prop_assert_eq!(found, slow);
        }
    }
}
