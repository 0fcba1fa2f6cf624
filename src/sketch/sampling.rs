//! Which shingles of a document `method = "shingles"` keeps.

use crate::config::{Sampling, Shingles};

/// Thins out a strictly ascending set, that of a text of so many tokens: all, those of one residue, or the smallest, with
/// the bound per document. The hashes are random, so the smallest are a fair sample (Heintze 1996; Broder 2000 section 2).
pub fn sample(config: &Shingles, tokens: usize, set: &mut Vec<u64>) {
    match config.sampling {
        Sampling::None | Sampling::Smallest => {}
        Sampling::Mod => set.retain(|hash| hash % config.modulus == config.residue),
        Sampling::Adaptive => {
            let ratio = config.ratios[size_group(tokens)];
            set.retain(|hash| hash & (ratio - 1) == 0);
        }
    }
    if config.per_document > 0 {
        set.truncate(config.per_document);
    }
}

/// The group of texts of so many words, from 0: below 500, 1,000, 2,000 and so on to 9,000, and those of more (Ye, Wen and Ma
/// 2008, section 4.1).
pub fn size_group(words: usize) -> usize {
    match words {
        0..500 => 0,
        500..1000 => 1,
        _ => (words / 1000 + 1).min(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(sampling: Sampling, modulus: u64, per_document: usize) -> Vec<u64> {
        let config = Shingles { sampling, modulus, residue: 1, per_document, ..Shingles::default() };
        let mut set: Vec<u64> = (0..20).collect();
        sample(&config, 600, &mut set);
        set
    }

    #[test]
    fn keeps_what_it_says() {
        assert_eq!(sampled(Sampling::None, 5, 0).len(), 20);
        assert_eq!(sampled(Sampling::Mod, 5, 0), [1, 6, 11, 16]);
        assert_eq!(sampled(Sampling::Mod, 5, 2), [1, 6]);
        assert_eq!(sampled(Sampling::Smallest, 5, 3), [0, 1, 2]);
        assert_eq!(sampled(Sampling::Adaptive, 5, 0).len(), 20);
    }

    #[test]
    fn longer_texts_are_sampled_more_thinly() {
        let groups = [0, 499, 500, 999, 1000, 1999, 2000, 8999, 9000, 1 << 30].map(size_group);
        assert_eq!(groups, [0, 0, 1, 1, 2, 2, 3, 9, 10, 10]);
        let config = Shingles { sampling: Sampling::Adaptive, ..Shingles::default() };
        let kept = |words| {
            let mut set: Vec<u64> = (0..64).collect();
            sample(&config, words, &mut set);
            set
        };
        assert_eq!((kept(10).len(), kept(1500).len()), (64, 32));
        assert_eq!(kept(10_000), [0, 32]);
    }
}
