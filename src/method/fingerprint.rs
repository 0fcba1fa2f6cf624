//! The fingerprint of identical duplicates: a few rare terms and where they stand (Conrad, Guo and Schriber 2003,
//! section 6.1). 8 bytes a document, beside its length.

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::decimal;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::error::Result;
use crate::lexicon::{Band, Lexicon};
use crate::limits::MAX_VECTOR;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::sketch::{Term, TermFinder, length_of};
use crate::threshold::Threshold;
use xxhash_rust::xxh3::xxh3_64;

/// The fingerprint of identical duplicates: a few rare terms and where they stand (Conrad et al. 2003, section 6.1).
/// 8 bytes a document, and its length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fingerprint {
    /// Terms of highest idf, 1 to [`MAX_VECTOR`]: six (section 6.1). A document of fewer has no fingerprint.
    pub terms: usize,
    /// Terms of a greater normalised idf are passed over: 0.8 (section 6.1).
    pub max_idf: Threshold,
    /// Tokens that a bin of offsets spans, at least 1: an offset is rounded up to the limit of its bin. 1 keeps
    /// offsets as they are; 10 and 25 are published.
    pub bin: u64,
    /// Percent by which lengths may differ, 0 to 100. "Small" in the paper; ours: 5.
    pub length_percent: u32,
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint { terms: 6, max_idf: decimal("0.8"), bin: 1, length_percent: 5 }
    }
}

impl Technique for Fingerprint {
    fn check(&self) -> Result<()> {
        within("fingerprint.terms", self.terms as u64, 1..=MAX_VECTOR as u64, "6 are published")?;
        within(
            "fingerprint.bin",
            self.bin,
            1..=u64::MAX,
            "1 keeps offsets as they are, 10 and 25 are published",
        )?;
        let percent = u64::from(self.length_percent);
        within("fingerprint.length_percent", percent, 0..=100, "it is a percentage, like 5")
    }

    fn needs(&self) -> Needs {
        Needs { terms: true, ..Needs::NOTHING }
    }

    fn rule(&self, _: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(AcceptanceRule::new(PairTest::Lengths(self.length_percent), Evidence::Decisive))
    }

    fn description(&self, _: &Settings<'_>) -> Description {
        let Fingerprint { terms, length_percent, .. } = self;
        Description {
            unit: format!("{terms} terms"),
            rule: "equal".to_owned(),
            sentence: format!("{terms} terms and their places, lengths within {length_percent} %"),
            decides: "an equal fingerprint decides".to_owned(),
        }
    }

    fn require(&self, lexicon: &Lexicon) -> Result<()> {
        lexicon.require(self.terms, &format!("a fingerprint of {} terms", self.terms))
    }

    fn sketcher(&self, _: &Settings<'_>, tables: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        let band = |lexicon: &Lexicon| Band::new(lexicon, None, Some(self.max_idf));
        let finder = TermFinder::new(tables.lexicon.as_ref(), band);
        Box::new(Fingerprints { fingerprint: self.clone(), finder, buffer: Vec::new() })
    }
}

/// The sketcher of [`Fingerprint`]: the length of the text, and its fingerprint.
struct Fingerprints {
    fingerprint: Fingerprint,
    finder: TermFinder,
    buffer: Vec<u64>,
}

impl MethodSketcher for Fingerprints {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        let Some((terms, _)) = self.finder.find(tokens) else { return };
        let key = fingerprint(terms, &self.fingerprint, &mut self.buffer);
        words.extend(key.into_iter().flat_map(|key| [u64::from(length_of(tokens)), key]));
    }

    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        // Before the key stands the length.
        words.get(1..).unwrap_or_default()
    }
}

/// The key of a text with these terms: its distinct terms of an idf of at most `config.max_idf`
/// ([`crate::sketch::terms_of`]). The rarest `config.terms` of them, by ascending rank, each with how many tokens it first
/// stands after the first of them, rounded up to the limit of its bin.
///
/// `None` where the text has fewer terms: the paper found six to be enough to tell documents apart, and says nothing
/// of fewer. `buffer` is working memory.
fn fingerprint(terms: &[Term], config: &Fingerprint, buffer: &mut Vec<u64>) -> Option<u64> {
    let rarest = terms.get(..config.terms)?;
    let first = rarest.iter().map(|term| term.position).min()?;
    let offset = |term: &Term| (term.position - first).div_ceil(config.bin).saturating_mul(config.bin);
    buffer.clear();
    buffer.extend(rarest.iter().flat_map(|term| [term.hash, offset(term)]));
    Some(xxh3_64(bytemuck::cast_slice(buffer)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::made::lexicon;
    use crate::lexicon::made::{graded, hashes, word};
    use crate::sketch::terms_of;
    use proptest::prelude::*;

    fn key(lexicon: &Lexicon, config: &Fingerprint, text: &str) -> Option<u64> {
        let band = Band::new(lexicon, None, Some(config.max_idf));
        let (mut terms, mut buffer) = (vec![], vec![]);
        terms_of(&hashes(text), lexicon, &band, &mut terms);
        fingerprint(&terms, config, &mut buffer)
    }

    /// The example of the paper: six words of falling idf, at 79, 0, 21, 123, 163 and 13 tokens after "hostage".
    #[test]
    fn the_example_of_the_paper_hashes_terms_with_their_offsets() {
        let published = [
            ("prevarication", 79),
            ("hostage", 0),
            ("conspicuous", 21),
            ("intransigence", 123),
            ("brutality", 163),
            ("theater", 13),
        ];
        let mut counts: Vec<(&str, u64)> =
            published.iter().zip(10..).map(|((term, _), documents)| (*term, documents)).collect();
        counts.extend([("filler", 900), ("typpo", 1)]);
        let lexicon = lexicon(1000, &counts);
        let text = |shift: usize, moved: usize| {
            let mut words = vec!["filler"; shift + 200];
            published.iter().for_each(|(term, at)| words[shift + at] = term);
            words.swap(shift + 123, shift + 123 + moved);
            words[shift + 180] = "typpo";
            words.join(" ")
        };
        let config = Fingerprint::default();
        let expected: Vec<u64> = published
            .iter()
            .flat_map(|(term, at)| [crate::text::token_hash(term.as_bytes()), *at as u64])
            .collect();
        let expected = Some(xxh3_64(bytemuck::cast_slice(&expected)));
        // "typpo", of an idf over 0.8, is passed over; what stands before the first term does not matter.
        assert_eq!(key(&lexicon, &config, &text(0, 0)), expected);
        assert_eq!(key(&lexicon, &config, &text(17, 0)), expected);
        assert_ne!(key(&lexicon, &config, &text(0, 1)), expected);
        // In bins of 10 the offsets are 80, 0, 30, 130, 170 and 20: 123 and 130 share a bin, 131 has the next.
        let binned = Fingerprint { bin: 10, ..config };
        let rounded: Vec<u64> = published
            .iter()
            .zip([80, 0, 30, 130, 170, 20])
            .flat_map(|((term, _), at)| [crate::text::token_hash(term.as_bytes()), at])
            .collect();
        let rounded = Some(xxh3_64(bytemuck::cast_slice(&rounded)));
        assert_eq!(key(&lexicon, &binned, &text(0, 0)), rounded);
        assert_eq!(key(&lexicon, &binned, &text(0, 7)), rounded);
        assert_ne!(key(&lexicon, &binned, &text(0, 8)), rounded);
    }

    #[test]
    fn a_text_of_too_few_terms_has_none() {
        let lexicon = graded(40);
        let text = |numbers: std::ops::Range<usize>| numbers.map(word).collect::<Vec<_>>().join(" ");
        let config = Fingerprint::default();
        assert_eq!(key(&lexicon, &config, &text(10..15)), None);
        assert!(key(&lexicon, &config, &text(10..16)).is_some());
        assert_eq!(key(&lexicon, &config, ""), None);
    }

    proptest! {
        #[test]
        fn the_slow_way_makes_the_same_key(numbers in prop::collection::vec(0usize..30, 0..60), bin in 1u64..12) {
            let lexicon = graded(25);
            let config = Fingerprint { terms: 4, bin, ..Fingerprint::default() };
            let text = numbers.iter().map(|n| word(*n)).collect::<Vec<_>>().join(" ");
            // Of 1,000 documents, an idf of 0.8 or less is that of 4 or more; the word of a number is in one more.
            let rarest: Vec<usize> = (3..25).filter(|n| numbers.contains(n)).take(4).collect();
            let places: Vec<u64> = rarest
                .iter()
                .map(|n| numbers.iter().position(|other| other == n).expect("it is there") as u64)
                .collect();
            let slow = (rarest.len() == 4).then(|| {
                let first = places.iter().min().expect("four places");
                let parts: Vec<u64> = rarest
                    .iter()
                    .zip(&places)
                    .flat_map(|(n, place)| {
                        let offset = place - first;
                        let up = (0..).map(|bins| bins * bin).find(|limit| *limit >= offset).expect("a limit");
                        [hashes(&word(*n))[0], up]
                    })
                    .collect();
                xxh3_64(bytemuck::cast_slice(&parts))
            });
            prop_assert_eq!(key(&lexicon, &config, &text), slow);
        }
    }
}
