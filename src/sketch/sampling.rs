//! Which shingles of a document are kept, by the methods that sample them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Parameters of `method = "shingles"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shingles {
    /// Which shingles of a document are kept.
    pub sampling: Sampling,
    /// With `sampling = "adaptive"`: of the shingles of a text one in so many, each a power of two: a number for texts of up
    /// to 500 words, then 1,000, 2,000 and so on to 9,000, and one for longer ones (Ye et al. 2008, section 5).
    pub ratios: [u64; 11],
    /// With `sampling = "mod"`: keep the hashes that leave `residue` modulo this.
    pub modulus: u64,
    /// With `sampling = "mod"`: the residue kept, below `modulus`.
    pub residue: u64,
    /// Most shingles kept a document, the smallest hashes first; 0 is no bound. With `sampling = "smallest"` it is N.
    pub per_document: usize,
}

/// Which shingles of a document are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// All of them.
    None,
    /// Those whose hash leaves a given residue (Broder 1997: modulo 25).
    Mod,
    /// The N smallest hashes (Heintze 1996).
    Smallest,
    /// One in so many, which depends on how long the text is (Ye et al. 2008, section 5).
    Adaptive,
}

impl Default for Shingles {
    fn default() -> Shingles {
        Shingles {
            sampling: Sampling::None,
            ratios: [1, 1, 2, 4, 8, 8, 16, 16, 16, 16, 32],
            modulus: 25,
            residue: 0,
            per_document: 0,
        }
    }
}

impl Shingles {
    /// Whether all shingles of every document are kept.
    pub fn keep_all(&self) -> bool {
        self.sampling == Sampling::None && self.per_document == 0
    }

    /// Refuses values that make no sense, alone or together.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check(&self) -> Result<()> {
        if self.modulus == 0 {
            return Err(Error::config(
                "shingles.modulus = 0: it must be at least 1; 1 keeps every shingle, 25 one in 25",
            ));
        }
        if let Some(ratio) = self.ratios.iter().find(|ratio| !ratio.is_power_of_two()) {
            return Err(Error::config(format!(
                "shingles.ratios: {ratio} is no power of two; of what one ratio keeps a greater one must keep a part, as of \
                 1, 2, 4, 8"
            )));
        }
        if self.residue >= self.modulus {
            return Err(Error::config(format!(
                "shingles.residue = {}: it must be below modulus = {}, else no shingle is ever kept",
                self.residue, self.modulus
            )));
        }
        if self.sampling == Sampling::Smallest && self.per_document == 0 {
            return Err(Error::config(
                "shingles.sampling = \"smallest\" keeps the per_document smallest hashes; set per_document to 1 or \
                 more, like 400",
            ));
        }
        Ok(())
    }
}

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
