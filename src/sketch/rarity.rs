//! A small frozen table of how common shingles are, so that the keys of a document are its rarest shingles.
//! The order it gives must only be the same for all documents; a wrong count costs candidates, never answers.

use crate::system_memory::reserve_apart;

/// Slots of the table, one byte each.
const SLOTS: usize = 1 << 22;

/// Members of a set beyond which its rarest are found without scratch.
const MANY: usize = 1 << 18;

/// Shingle counts of a sample, one saturating byte a slot. A shingle not seen twice counts as rarest.
///
/// The default is a table that knows nothing: the order is that of the hashes.
#[derive(Clone, Debug, Default)]
pub struct Rarity {
    /// What is missing at the end is 0: most methods need no table, and then there are none of its millions of slots.
    counts: Vec<u8>,
    /// A bit a slot, set where the count is not 0. Most shingles count as rarest, and half a mebibyte stays in the second-level
    /// cache, which the counts leave: only where the rarest are too few are counts looked up.
    common: Vec<u64>,
}

impl Rarity {
    /// The table of a sample: all shingles of its documents, each document's distinct ones in any order.
    pub fn of_sample(mut shingles: Vec<u64>) -> Rarity {
        let mut counts = vec![0; SLOTS];
        shingles.sort_unstable();
        for equal in shingles.chunk_by(|a, b| a == b) {
            if equal.len() > 1 {
                let slot: &mut u8 = &mut counts[equal[0] as usize & (SLOTS - 1)];
                *slot = (*slot).max(equal.len().min(255) as u8);
            }
        }
        Rarity::of_bytes(counts)
    }

    /// Most bytes of [`Rarity::as_bytes`].
    pub const MOST_BYTES: usize = SLOTS;

    /// The table as bytes, a slot each; what is missing at the end is 0.
    pub fn as_bytes(&self) -> &[u8] {
        &self.counts
    }

    /// The table that [`Rarity::as_bytes`] gave the bytes of; what is missing counts as rarest.
    pub fn of_bytes(bytes: Vec<u8>) -> Rarity {
        let word =
            |counts: &[u8]| counts.iter().rev().fold(0, |word, count| word << 1 | u64::from(*count > 0));
        Rarity { common: bytes.chunks(64).map(word).collect(), counts: bytes }
    }

    /// 1 if a shingle is not one of the rarest, else 0.
    fn is_common(&self, shingle: u64) -> usize {
        let slot = shingle as usize & (SLOTS - 1);
        let word = self.common.get(slot / 64).copied().unwrap_or(0);
        (word >> (slot % 64) & 1) as usize
    }

    /// How common a shingle is, 0 for the rarest.
    pub fn rank(&self, shingle: u64) -> u8 {
        self.counts.get(shingle as usize & (SLOTS - 1)).copied().unwrap_or(0)
    }

    /// Writes to `keys` (cleared first) the `wanted` first members of a strictly ascending set in the order
    /// (rank, hash). `commoner` is scratch.
    pub fn rarest(&self, set: &[u64], wanted: usize, keys: &mut Vec<u64>, commoner: &mut Vec<(u8, u64)>) {
        keys.clear();
        commoner.clear();
        if wanted == 0 {
            return;
        }
        if set.len() > MANY {
            return self.rarest_of_many(set, wanted, keys);
        }
        let wanted = wanted.min(set.len());
        // One place past the last one: each is written, and counted if it is one of the rarest, so that no branch is mispredicted.
        keys.resize(wanted + 1, 0);
        let (mut found, mut rest) = (0, set);
        while found < wanted && !rest.is_empty() {
            // So few that they cannot be too many.
            let (next, others) = rest.split_at((wanted - found).min(rest.len()));
            for hash in next {
                keys[found] = *hash;
                found += 1 - self.is_common(*hash);
            }
            rest = others;
        }
        keys.truncate(found);
        let missing = wanted - found;
        if missing == 0 {
            return;
        }
        commoner.extend(
            set.iter().filter(|hash| self.is_common(**hash) == 1).map(|hash| (self.rank(*hash), *hash)),
        );
        if missing < commoner.len() {
            commoner.select_nth_unstable(missing - 1);
        }
        keys.extend(commoner[..missing].iter().map(|(_, hash)| *hash));
    }

    /// The same without scratch, in two passes.
    fn rarest_of_many(&self, set: &[u64], wanted: usize, keys: &mut Vec<u64>) {
        let mut counts = [0usize; 256];
        set.iter().for_each(|hash| counts[usize::from(self.rank(*hash))] += 1);
        let (mut last, mut left) = (0, wanted.min(set.len()));
        reserve_apart(keys, left);
        while counts[last] < left {
            left -= counts[last];
            last += 1;
        }
        // Of the last rank that counts, the first ones in the order of their hashes.
        for hash in set {
            let rank = usize::from(self.rank(*hash));
            if rank < last || rank == last && left > 0 {
                left -= usize::from(rank == last);
                keys.push(*hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rarest_equals_a_sort_by_rank(seen in prop::collection::vec(0u64..60, 0..300),
                                        set in prop::collection::btree_set(0u64..80, 0..60), share in 0usize..=100) {
            let table = Rarity::of_sample(seen);
            let set: Vec<u64> = set.into_iter().collect();
            let wanted = set.len() * share / 100;
            let mut truth: Vec<(u8, u64)> = set.iter().map(|h| (table.rank(*h), *h)).collect();
            truth.sort_unstable();
            let mut truth: Vec<u64> = truth[..wanted].iter().map(|(_, h)| *h).collect();
            truth.sort_unstable();
            let (mut keys, mut of_many) = (vec![3], Vec::new());
            table.rarest(&set, wanted, &mut keys, &mut Vec::new());
            table.rarest_of_many(&set, wanted, &mut of_many);
            keys.sort_unstable();
            of_many.sort_unstable();
            prop_assert_eq!(&keys, &truth);
            prop_assert_eq!(of_many, truth);
        }
    }

    #[test]
    fn counts_saturate_and_single_shingles_are_rarest() {
        let mut seen = vec![1u64; 1000];
        seen.extend([2, 3, 3]);
        let table = Rarity::of_sample(seen);
        let ranks = |table: &Rarity| [1, 2, 3, 4].map(|shingle| table.rank(shingle));
        assert_eq!(ranks(&table), [255, 0, 2, 0]);
        assert_eq!(ranks(&Rarity::of_bytes(table.as_bytes()[..4].to_vec())), [255, 0, 2, 0]);
        assert_eq!(ranks(&Rarity::of_bytes(table.as_bytes()[..3].to_vec())), [255, 0, 0, 0]);
        assert_eq!(ranks(&Rarity::default()), [0; 4]);
    }
}
