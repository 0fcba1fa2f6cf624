//! The fingerprint of identical duplicates: a few rare terms and where they stand (Conrad, Guo and Schriber 2003,
//! section 6.1). 8 bytes a document, beside its length.

use xxhash_rust::xxh3::xxh3_64;

use super::Term;
use crate::config::Fingerprint;

/// The key of a text with these terms: its distinct terms of an idf of at most `config.max_idf`
/// ([`super::terms_of`]). The rarest `config.terms` of them, by ascending rank, each with how many tokens it first
/// stands after the first of them, rounded up to the limit of its bin.
///
/// `None` where the text has fewer terms: the paper found six to be enough to tell documents apart, and says nothing
/// of fewer. `buffer` is working memory.
pub fn fingerprint(terms: &[Term], config: &Fingerprint, buffer: &mut Vec<u64>) -> Option<u64> {
    let rarest = terms.get(..config.terms)?;
    let first = rarest.iter().map(|term| term.position).min()?;
    let offset = |term: &Term| (term.position - first).div_ceil(config.bin).saturating_mul(config.bin);
    buffer.clear();
    buffer.extend(rarest.iter().flat_map(|term| [term.hash, offset(term)]));
    Some(xxh3_64(bytemuck::cast_slice(buffer)))
}

#[cfg(test)]
mod tests {
    use super::super::salient::tests::{graded, hashes, word};
    use super::super::terms_of;
    use super::*;
    use crate::lexicon::{Band, Lexicon, made::lexicon};
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
