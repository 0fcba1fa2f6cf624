//! I-Match: one digest of a document's terms of middling idf (Chowdhury et al. 2002), and one for each random part of
//! the lexicon (Kolcz, Chowdhury and Alspector 2004). 8 bytes a document and lexicon.

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::decimal;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::error::{Error, Result};
use crate::lexicon::{Band, Lexicon};
use crate::limits::MAX_LEXICONS;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::sketch::{Term, TermFinder, finish};
use crate::threshold::Threshold;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// I-Match: one digest of the distinct terms of middling idf (Chowdhury et al. 2002), and one more for each random
/// part of the lexicon (Kolcz, Chowdhury and Alspector 2004). 8 bytes a document and lexicon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Imatch {
    /// Least normalised idf of a term that counts. Ours: 0.2.
    pub low: Threshold,
    /// Greatest normalised idf of a term that counts, at least `low`. Ours: 0.8, over which Conrad et al. 2003
    /// (section 6.1) found misspellings.
    pub high: Threshold,
    /// Random lexicons beside the whole one, at most [`MAX_LEXICONS`]: 0 is I-Match, 10 what Kolcz et al. 2004 use.
    pub lexicons: usize,
    /// Percent of the terms that each random lexicon keeps, 1 to 99. Ours: 70, since the sources at hand name none.
    pub share: u64,
    /// Least distinct terms that a signature is made of, at least 1: a document of fewer has none. Ours: 5.
    pub min_terms: usize,
}

impl Default for Imatch {
    fn default() -> Imatch {
        Imatch { low: decimal("0.2"), high: decimal("0.8"), lexicons: 0, share: 70, min_terms: 5 }
    }
}

impl Technique for Imatch {
    fn check(&self) -> Result<()> {
        if self.high.is_below(self.low) {
            return Err(Error::config(format!(
                "imatch.low = {}, imatch.high = {}: no idf is between them; low = 0.2 and high = 0.8 suit most texts",
                self.low, self.high
            )));
        }
        within(
            "imatch.lexicons",
            self.lexicons as u64,
            0..=MAX_LEXICONS as u64,
            "10 are published, 0 is I-Match",
        )?;
        within("imatch.share", self.share, 1..=99, "it is a percentage, like 70")?;
        within("imatch.min_terms", self.min_terms as u64, 1..=u64::MAX, "5 is usual")
    }

    fn needs(&self) -> Needs {
        Needs { terms: true, ..Needs::NOTHING }
    }

    fn rule(&self, _: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(AcceptanceRule::new(PairTest::Shared(1), Evidence::Decisive))
    }

    fn description(&self, _: &Settings<'_>) -> Description {
        let Imatch { low, high, lexicons, .. } = self;
        let random = if *lexicons > 0 { format!(", {lexicons} random lexicons") } else { String::new() };
        Description {
            unit: "terms".to_owned(),
            rule: format!("1 of {} digests", lexicons + 1),
            sentence: format!("all terms of idf {low} to {high} are the same{random}"),
            decides: "an equal signature decides".to_owned(),
        }
    }

    fn require(&self, lexicon: &Lexicon) -> Result<()> {
        lexicon.require(self.min_terms, &format!("a signature of {} terms", self.min_terms))
    }

    fn sketcher(&self, _: &Settings<'_>, tables: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        let band = |lexicon: &Lexicon| Band::new(lexicon, Some(self.low), Some(self.high));
        let finder = TermFinder::new(tables.lexicon.as_ref(), band);
        Box::new(Signatures { imatch: self.clone(), finder, buffer: Vec::new() })
    }
}

/// The sketcher of [`Imatch`].
struct Signatures {
    imatch: Imatch,
    finder: TermFinder,
    buffer: Vec<u64>,
}

impl MethodSketcher for Signatures {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        let Some((terms, _)) = self.finder.find(tokens) else { return };
        imatch(terms, &self.imatch, &mut self.buffer, words);
        words.sort_unstable();
        words.dedup();
    }
}

/// Parts in a hundred of a word of 64 bits.
const PERCENT: u64 = u64::MAX / 100;

/// Writes to `keys` (cleared first) the signatures of a text with these terms: its distinct terms within the idf band
/// ([`crate::sketch::terms_of`]). False if they are fewer than `config.min_terms`: then there is no signature, and only equal
/// texts are duplicates.
///
/// The first key is of all terms. The others are of those that are in a random lexicon each; a random lexicon is a
/// fixed function of a term's hash and the lexicon's number, so it needs no table and is the same in every process.
/// A random lexicon in which the text has fewer than `config.min_terms` terms gives no key, since texts of hardly any
/// term in it would all be one; the paper is silent here. Keys of different lexicons are never equal but by chance.
///
/// Terms are digested in the order of their hashes where the paper takes Unicode's: any one order tells the same sets
/// apart. `buffer` is working memory.
fn imatch(terms: &[Term], config: &Imatch, buffer: &mut Vec<u64>, keys: &mut Vec<u64>) -> bool {
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
    use super::*;
    use crate::lexicon::made::{graded, hashes, word};
    use crate::sketch::terms_of;
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
