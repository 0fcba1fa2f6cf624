//! Vectors of rare terms, for duplicates that are not identical (Conrad, Guo and Schriber 2003, section 7).

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::error::{Error, Result};
use crate::lexicon::{Band, Lexicon};
use crate::limits::{MAX_DAYS, MAX_VECTOR, MAX_VECTOR_LEXICON};
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::similarity::{MAX_ENTRY, PackedVector, VectorAgreement, pack, unpack};
use crate::sketch::{Term, TermFinder, finish, length_of};

/// See [`TermVector::meeting`].
const MEETING: usize = 6;

/// Vectors of rare terms, for duplicates that are not identical (Conrad et al. 2003, section 7). 184 bytes a
/// document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TermVector {
    /// Entries of a vector, 1 to [`MAX_VECTOR`]: 60; published are 30 to 60.
    pub terms: usize,
    /// Entries that two vectors must share, 1 to `terms`: 50 of 60.
    pub shared: usize,
    /// Days between two documents at most, of which either both have a date or neither: 42 (six weeks; training had twelve).
    pub days: u32,
    /// Percent by which either length may differ from the other, 0 to 100: 20.
    pub length_percent: u32,
    /// Least distinct terms of a document that takes part, over `terms - shared`: 20 (section 7.2).
    pub min_terms: usize,
}

impl Default for TermVector {
    fn default() -> TermVector {
        TermVector { terms: 60, shared: 50, days: 42, length_percent: 20, min_terms: 20 }
    }
}

impl TermVector {
    /// Entries, the rarest first, of which two vectors that are alike share [`TermVector::meeting`]: `terms - shared`, and so
    /// many more. They alone are keys.
    pub fn prefix(&self) -> usize {
        self.terms - self.shared + self.meeting()
    }

    /// Keys that two vectors must share to be worth comparing. One would do; each more costs a key a document, and
    /// spares most of the comparisons: what has one rare term in common is seldom a duplicate.
    pub fn meeting(&self) -> usize {
        MEETING.min(self.shared)
    }

    /// What two vectors must have in common.
    pub fn agreement(&self) -> VectorAgreement {
        VectorAgreement {
            shared: self.shared as u32,
            meeting: self.meeting() as u32,
            days: self.days,
            length_percent: self.length_percent,
        }
    }
}

impl Technique for TermVector {
    fn check(&self) -> Result<()> {
        within("term-vector.terms", self.terms as u64, 1..=MAX_VECTOR as u64, "60 are published")?;
        let most = self.terms as u64;
        within("term-vector.shared", self.shared as u64, 1..=most, "50 of 60 terms are published")?;
        let percent = u64::from(self.length_percent);
        within("term-vector.length_percent", percent, 0..=100, "it is a percentage; 20 is published")?;
        if self.days > MAX_DAYS {
            return Err(Error::config(format!(
                "term-vector.days = {}: it must be at most {MAX_DAYS}; 42 days are published; to compare whatever the date, \
                 set input.date_field to \"\"",
                self.days
            )));
        }
        let advice =
            "documents of fewer terms than are keys would be found by their padding; 20 is published";
        within(
            "term-vector.min_terms",
            self.min_terms as u64,
            (self.terms - self.shared + 1) as u64..=most,
            advice,
        )
    }

    fn needs(&self) -> Needs {
        Needs { terms: true, dates: true, ..Needs::NOTHING }
    }

    fn rule(&self, _: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(AcceptanceRule::new(PairTest::Vector(self.agreement()), Evidence::Proposal))
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        let TermVector { terms, shared, days, length_percent, .. } = self;
        let days = if settings.dated { format!(", within {days} days") } else { String::new() };
        Description {
            unit: format!("{terms} terms"),
            rule: format!("{shared} shared"),
            sentence: format!("{shared} of {terms} terms, lengths within {length_percent} %{days}"),
            decides: format!("sharing {shared} of {terms} terms decides"),
        }
    }

    fn require(&self, lexicon: &Lexicon) -> Result<()> {
        require_room(lexicon)?;
        lexicon.require(self.terms, &format!("a vector of {} terms", self.terms))
    }

    fn sketcher(&self, _: &Settings<'_>, tables: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        let band = |lexicon: &Lexicon| Band::new(lexicon, None, None);
        let finder = TermFinder::new(tables.lexicon.as_ref(), band);
        let (entries, buffer, keys) = (Vec::with_capacity(self.terms), Vec::new(), Vec::new());
        Box::new(TermVectors { vector: *self, finder, entries, buffer, keys })
    }
}

/// The sketcher of [`TermVector`].
struct TermVectors {
    vector: TermVector,
    finder: TermFinder,
    entries: Vec<u64>,
    buffer: Vec<u64>,
    keys: Vec<u64>,
}

impl MethodSketcher for TermVectors {
    fn sketch(&mut self, tokens: &[u64], day: Option<i32>, words: &mut Vec<u64>) {
        let TermVectors { vector, finder, entries, buffer, .. } = self;
        let Some((terms, lexicon)) = finder.find(tokens) else { return };
        if term_vector(terms, tokens, lexicon, vector, buffer, entries) {
            words.extend(pack(entries, length_of(tokens), day));
        }
    }

    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        vector_keys(&self.vector, words, &mut self.keys);
        &self.keys
    }
}

/// The keys of a packed vector: its rarest entries, as many as are enough for no pair to be lost. Of a text with a date
/// each of them twice, for the stretch of days that it is in and for the next: two days no further apart than a stretch is
/// long have one of these in common, and days further apart than two have none, so that their texts never meet. What two
/// vectors share is so counted once or twice, and never too low.
fn vector_keys(config: &TermVector, own: &[u64], keys: &mut Vec<u64>) {
    keys.clear();
    let Ok(vector) = <&PackedVector>::try_from(own) else { return };
    let vector = unpack(vector);
    let stretch = vector.day.map(|day| day.div_euclid(config.days.max(1) as i32));
    for entry in &vector.entries[..config.prefix().min(vector.entries.len())] {
        match stretch {
            None => keys.push(finish(*entry)),
            Some(at) => keys
                .extend([at, at + 1].map(|at| finish(entry | u64::from(at.cast_unsigned()) << 32 | 1 << 31))),
        }
    }
}

/// Refuses a lexicon whose ranks leave no room for padding in 23 bits: more than [`MAX_VECTOR_LEXICON`] terms.
///
/// # Errors
/// [`Error::LexiconUnfit`].
fn require_room(lexicon: &Lexicon) -> Result<()> {
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
/// empty. `terms` are its terms ([`crate::sketch::terms_of`], of all ranks), `tokens` all its tokens; `buffer` is working
/// memory.
///
/// An entry is the rank of a term. A text of fewer terms than the vector has entries is padded "with entries not found
/// in the table (in a manner that facilitates comparisons with similar docs)" (section 7.2), which is all the paper
/// says. Ours: first its words that are not in the lexicon, those of the least hashes, so that texts of nearly the
/// same words take the same; then its terms a second time, a third time and so on, from the rarest, each
/// repetition an entry of its own. Two short texts thus share entries in proportion to the terms that they share; with
/// padding that is the same for all, texts of 20 terms would be duplicates for any 10 shared ones. Padding is above
/// all ranks: the least rare of all.
fn term_vector(
    terms: &[Term],
    tokens: &[u64],
    lexicon: &Lexicon,
    config: &TermVector,
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
mod tests {
    use super::*;
    use crate::lexicon::made::{graded, hashes, word};
    use crate::similarity::vectors_alike;
    use crate::sketch::terms_of;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The vector of the words of these numbers; those from 100 on are not in the lexicon.
    fn vector(lexicon: &Lexicon, config: &TermVector, numbers: &[usize]) -> Option<Vec<u64>> {
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
        assert_eq!(vector(&lexicon, &TermVector::default(), &numbers), Some((20..80).collect()));
        assert_eq!(vector(&lexicon, &TermVector::default(), &numbers[..19]), None);
    }

    #[test]
    fn a_short_text_is_padded_as_texts_like_it() {
        let lexicon = graded(100);
        let of = |numbers: &[usize]| vector(&lexicon, &TermVector::default(), numbers).expect("enough terms");
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
            let config = TermVector { terms: 30, shared: 25, min_terms: 10, ..TermVector::default() };
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
            let config = TermVector { terms: 30, shared: 24, min_terms: 15, ..TermVector::default() };
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
