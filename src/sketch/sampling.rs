//! Which shingles of a document `method = "shingles"` keeps.

use crate::config::{Sampling, Shingles};

/// Thins out a strictly ascending set: all, those of one residue, or the smallest, with the bound per document.
/// The hashes are random, so the smallest are a fair sample (Heintze 1996; Broder 2000 section 2).
pub fn sample(config: &Shingles, set: &mut Vec<u64>) {
    if config.sampling == Sampling::Mod {
        set.retain(|hash| hash % config.modulus == config.residue);
    }
    if config.per_document > 0 {
        set.truncate(config.per_document);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(sampling: Sampling, modulus: u64, per_document: usize) -> Vec<u64> {
        let config = Shingles { sampling, modulus, residue: 1, per_document };
        let mut set: Vec<u64> = (0..20).collect();
        sample(&config, &mut set);
        set
    }

    #[test]
    fn keeps_what_it_says() {
        assert_eq!(sampled(Sampling::None, 5, 0).len(), 20);
        assert_eq!(sampled(Sampling::Mod, 5, 0), [1, 6, 11, 16]);
        assert_eq!(sampled(Sampling::Mod, 5, 2), [1, 6]);
        assert_eq!(sampled(Sampling::Smallest, 5, 3), [0, 1, 2]);
    }
}
