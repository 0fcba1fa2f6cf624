//! A small frozen table of how common shingles are, so that the keys of a document are its rarest shingles.
//! The order it gives must only be the same for all documents; a wrong count costs candidates, never answers.

use crate::limits::sized;
use crate::system_memory::reserve_apart;

/// Slots of the table, one byte each.
const SLOTS: usize = 1 << 22;

/// Shingles of a sample that are met again and sorted at once, about.
const AT_ONCE: usize = sized(1 << 18, 1 << 6);

/// What a byte says of a gap at most, in slots, before the next one goes on.
const GAP: usize = 255;

/// Members of a set beyond which its rarest are found without scratch.
const MANY: usize = 1 << 18;

/// Shingle counts of a sample, one saturating byte a slot. A shingle not seen twice counts as rarest.
///
/// Most shingles count as rarest, so only the counts of others are held. The bits, half a mebibyte, stay in the second-level cache; only
/// where the rarest are too few is a count looked up. The default is a table that knows nothing: the order is that of the hashes.
#[derive(Clone, Debug, Default)]
pub struct Rarity {
    /// A bit a slot, set where the count is not 0. What is missing at the end is 0: most methods need no table, and then there is
    /// none.
    common: Vec<u64>,
    /// Of each word of `common`, how many bits are set before it.
    before: Vec<u32>,
    /// The counts of the slots whose bits are set, in their order.
    counts: Vec<u8>,
}

impl Rarity {
    /// The table of a sample: of each document its distinct shingles, in any order. Of several shingles in one slot the commonest counts.
    pub fn of_sample(sets: &[&[u64]]) -> Rarity {
        // Most shingles are met once, and are alone in their slots: they need not be sorted.
        let (mut once, mut again) = (vec![0u64; SLOTS / 64], vec![0u64; SLOTS / 64]);
        let place = |shingle: u64| (shingle as usize % SLOTS / 64, 1 << (shingle % 64));
        let all = || sets.iter().copied().flatten().copied();
        for (word, bit) in all().map(place) {
            again[word] |= once[word] & bit;
            once[word] |= bit;
        }
        let is_met_again = |shingle: u64| {
            let (word, bit) = place(shingle);
            again[word] & bit != 0
        };
        let (mut table, mut some) = (Rarity::default(), Vec::new());
        let slot = |rotated: u64| rotated.rotate_left(SLOTS.trailing_zeros()) as usize % SLOTS;
        // Mostly all at once. Where many are met again they would take as much memory as all sets.
        let met_again = all().filter(|shingle| is_met_again(*shingle)).count();
        let parts = met_again.div_ceil(AT_ONCE);
        reserve_apart(&mut some, met_again.min(AT_ONCE));
        for part in 0..parts {
            let slots = part * SLOTS / parts..(part + 1) * SLOTS / parts;
            let of_part = all()
                .filter(|shingle| slots.contains(&(*shingle as usize % SLOTS)) && is_met_again(*shingle));
            // By slot, then by the other bits.
            some.clear();
            some.extend(of_part.map(|shingle| shingle.rotate_right(SLOTS.trailing_zeros())));
            some.sort_unstable();
            for of_slot in some.chunk_by(|a, b| slot(*a) == slot(*b)) {
                let most = of_slot.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0);
                if most > 1 {
                    table.push(slot(of_slot[0]), most.min(255) as u8);
                }
            }
        }
        table
    }

    /// Most counts of [`Rarity::of_counts`].
    pub const MOST_COUNTS: usize = SLOTS;
    /// Most bytes of [`Rarity::to_bytes`]: a gap and a count for each slot, and how many there are.
    pub const MOST_BYTES: usize = size_of::<u32>() + 2 * SLOTS;

    /// The table with these counts, one a slot; what is missing at the end counts as rarest.
    pub fn of_counts(counts: &[u8]) -> Rarity {
        let mut table = Rarity::default();
        for (word, counts) in (0..).zip(counts.chunks(64)) {
            // Mostly there are none, and eight compare as one.
            let (eights, rest) = counts.as_chunks::<8>();
            if eights.iter().any(|eight| *eight != [0; 8]) || rest.iter().any(|count| *count > 0) {
                let slots = (word * 64..).zip(counts).filter(|(_, count)| **count > 0);
                slots.for_each(|(slot, count)| table.push(slot, *count));
            }
        }
        table
    }

    /// Whether it knows nothing.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Notes the count, not 0, of a slot behind all that have one.
    fn push(&mut self, slot: usize, count: u8) {
        while self.common.len() <= slot / 64 {
            self.common.push(0);
            self.before.push(self.counts.len() as u32);
        }
        self.common[slot / 64] |= 1 << (slot % 64);
        self.counts.push(count);
    }

    /// The table as bytes: how many slots have a count (4 bytes, the lowest first); for each the slots between it and the one before, a byte, where 255
    /// stands for 255 slots, and more come; the counts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.counts.len() as u32).to_le_bytes().to_vec();
        let mut next = 0;
        for (base, word) in (0..).step_by(64).zip(&self.common) {
            let mut rest = *word;
            while rest != 0 {
                let slot: usize = base + rest.trailing_zeros() as usize;
                let gap = slot - std::mem::replace(&mut next, slot + 1);
                bytes.resize(bytes.len() + gap / GAP, GAP as u8);
                bytes.push((gap % GAP) as u8);
                rest &= rest - 1;
            }
        }
        bytes.extend_from_slice(&self.counts);
        bytes
    }

    /// The table that [`Rarity::to_bytes`] gave the bytes of; none if they are not those of one.
    pub fn of_bytes(bytes: &[u8]) -> Option<Rarity> {
        let (count, rest) = bytes.split_first_chunk()?;
        let (gaps, counts) =
            rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*count) as usize)?)?;
        if gaps.last().is_some_and(|gap| usize::from(*gap) == GAP) {
            return None;
        }
        let mut counts = counts.iter();
        let mut table = Rarity {
            common: Vec::with_capacity(SLOTS / 64),
            before: Vec::with_capacity(SLOTS / 64),
            counts: Vec::with_capacity(counts.len()),
        };
        let mut slot = 0;
        for gap in gaps {
            slot += usize::from(*gap);
            if usize::from(*gap) < GAP {
                let count = counts.next().filter(|count| **count > 0 && slot < SLOTS)?;
                table.push(slot, *count);
                slot += 1;
            }
        }
        counts.as_slice().is_empty().then_some(table)
    }

    /// 1 if a shingle is not one of the rarest, else 0.
    fn is_common(&self, shingle: u64) -> usize {
        let slot = shingle as usize & (SLOTS - 1);
        let word = self.common.get(slot / 64).copied().unwrap_or(0);
        (word >> (slot % 64) & 1) as usize
    }

    /// How common a shingle is, 0 for the rarest.
    pub fn rank(&self, shingle: u64) -> u8 {
        let slot = shingle as usize & (SLOTS - 1);
        let Some(word) = self.common.get(slot / 64).filter(|word| *word >> (slot % 64) & 1 == 1) else {
            return 0;
        };
        let within = (word & ((1 << (slot % 64)) - 1)).count_ones();
        self.counts[(self.before[slot / 64] + within) as usize]
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
            let table = Rarity::of_sample(&[&seen]);
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

    proptest! {
        #[test]
        fn counts_come_back_from_bytes_and_by_rank(
            counts in prop::collection::vec(prop_oneof![9 => Just(0u8), 1 => any::<u8>()], 0..400), apart in 1usize..1000,
            cut in any::<prop::sample::Index>(),
        ) {
            let dense: Vec<u8> = counts.iter().flat_map(|count| (1..apart).map(|_| 0).chain([*count])).collect();
            let table = Rarity::of_counts(&dense);
            prop_assert!((0..).zip(&dense).all(|(slot, count)| table.rank(slot) == *count));
            prop_assert_eq!(table.rank(dense.len() as u64), 0);
            let bytes = table.to_bytes();
            let back = Rarity::of_bytes(&bytes).expect("a table");
            prop_assert_eq!((back.common, back.before, back.counts), (table.common, table.before, table.counts));
            prop_assert!(Rarity::of_bytes(&bytes[..cut.index(bytes.len())]).is_none(), "a part is none");
        }

        #[test]
        fn any_bytes_are_a_table_or_refused(count in 0u32..20, bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let bytes = [&count.to_le_bytes()[..], &bytes].concat();
            if let Some(table) = Rarity::of_bytes(&bytes) {
                prop_assert_eq!(table.counts.len(), count as usize);
                prop_assert_eq!(table.to_bytes(), bytes, "a table has one form");
            }
        }
    }

    proptest! {
        #[test]
        fn a_slot_counts_its_commonest_shingle(seen in prop::collection::vec((0u64..6, 0u64..3), 0..60)) {
            let shingle = |(slot, high): (u64, u64)| (slot * 700_001 % SLOTS as u64) | (high << 40);
            let shingles: Vec<u64> = seen.iter().copied().map(shingle).collect();
            let table = Rarity::of_sample(&[&shingles]);
            for slot in (0..6).map(|slot| shingle((slot, 0))) {
                let times = |high: u64| shingles.iter().filter(|seen| **seen == slot | (high << 40)).count();
                let most = (0..3).map(times).max().unwrap_or(0);
                prop_assert_eq!(table.rank(slot), if most > 1 { most as u8 } else { 0 });
            }
        }
    }

    #[test]
    fn slots_beyond_the_last_are_refused() {
        let mut all = Rarity::default();
        all.push(SLOTS - 1, 7);
        let bytes = all.to_bytes();
        assert_eq!(Rarity::of_bytes(&bytes).expect("a table").rank(SLOTS as u64 - 1), 7);
        let mut beyond = bytes.clone();
        let last_gap = bytes.len() - 2;
        beyond[last_gap] += 1;
        assert!(Rarity::of_bytes(&beyond).is_none());
        assert!(Rarity::of_counts(&vec![1; SLOTS]).to_bytes().len() <= Rarity::MOST_BYTES);
    }

    #[test]
    fn counts_saturate_and_single_shingles_are_rarest() {
        let mut seen = vec![1u64; 1000];
        seen.extend([2, 3, 3]);
        let table = Rarity::of_sample(&[&seen]);
        let ranks = |table: &Rarity| [1, 2, 3, 4].map(|shingle| table.rank(shingle));
        assert_eq!(ranks(&table), [255, 0, 2, 0]);
        assert_eq!(ranks(&Rarity::of_counts(&[0, 255, 0, 2])), [255, 0, 2, 0]);
        assert_eq!(ranks(&Rarity::of_counts(&[0, 255, 0])), [255, 0, 0, 0]);
        assert_eq!(ranks(&Rarity::default()), [0; 4]);
    }

    /// More are met again than are sorted at once.
    #[test]
    fn large_samples_are_counted_in_parts() {
        let many = 2 * AT_ONCE as u64 + 1;
        let sets: [Vec<u64>; 3] =
            [1, 1, 3].map(|step| (0..many).step_by(step).map(crate::sketch::spread).collect());
        let table = Rarity::of_sample(&sets.each_ref().map(Vec::as_slice));
        for at in 0..many {
            let least = if at % 3 == 0 { 3 } else { 2 };
            assert!((least..=3).contains(&table.rank(crate::sketch::spread(at))), "{at}");
        }
    }
}
