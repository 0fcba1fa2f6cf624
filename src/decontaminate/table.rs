//! N-grams and the texts that are looked for when one of them is seen: a table that most words of a corpus pass by with a
//! look at one number.

/// Bits of the filter for each n-gram, at least.
const BITS: usize = 16;
/// The least bits of a filter.
const LEAST_BITS: usize = 1 << 10;

/// N-grams of one length.
pub(super) struct GramTable {
    /// Words of bits, of which each n-gram has two in one: a word with both may be of others, one without is of none.
    filter: Vec<u64>,
    /// How far an n-gram is shifted to be the number of its word.
    shift: u32,
    /// A power of two, at least a third more than n-grams.
    slots: Vec<GramSlot>,
    /// The texts of all n-grams, those of one behind each other.
    texts: Vec<u32>,
}

/// An n-gram, and where its texts are; an empty one has none.
#[derive(Clone, Copy, Default)]
struct GramSlot {
    gram: u64,
    first: u32,
    count: u32,
}

impl GramTable {
    /// Words of the filter, and slots, for so many different n-grams.
    fn sizes(distinct: usize) -> (usize, usize) {
        let bits = (distinct * BITS).next_power_of_two().max(LEAST_BITS);
        (bits / 64, (distinct * 4 / 3 + 1).next_power_of_two())
    }

    /// Bytes that a table of so many pairs takes at most, and those that making it takes beside them.
    pub(super) fn most_bytes(pairs: usize) -> (u64, u64) {
        let (words, slots) = GramTable::sizes(pairs);
        let table = words * 8 + slots * size_of::<GramSlot>() + pairs * 4;
        (table as u64, (pairs * size_of::<(u64, u32)>()) as u64)
    }

    /// A table of n-grams, each with a text.
    pub(super) fn new(mut grams: Vec<(u64, u32)>) -> GramTable {
        grams.sort_unstable();
        grams.dedup();
        let distinct = grams.chunk_by(|a, b| a.0 == b.0).count();
        let (words, slots) = GramTable::sizes(distinct);
        let mut table = GramTable {
            filter: vec![0; words],
            shift: 64 - words.trailing_zeros(),
            slots: vec![GramSlot::default(); slots],
            texts: grams.iter().map(|(_, text)| *text).collect(),
        };
        let mut first = 0;
        for same in grams.chunk_by(|a, b| a.0 == b.0) {
            let (gram, count) = (same[0].0, same.len() as u32);
            table.filter[(gram >> table.shift) as usize] |= two_bits(gram);
            let mask = table.slots.len() - 1;
            let mut at = gram as usize & mask;
            while table.slots[at].count > 0 {
                at = (at + 1) & mask;
            }
            table.slots[at] = GramSlot { gram, first, count };
            first += count;
        }
        table
    }

    /// The texts to be looked for where an n-gram is seen; mostly none.
    #[inline(always)]
    pub(super) fn texts(&self, gram: u64) -> &[u32] {
        let bits = two_bits(gram);
        if self.filter[(gram >> self.shift) as usize] & bits == bits { self.find(gram) } else { &[] }
    }

    fn find(&self, gram: u64) -> &[u32] {
        let mask = self.slots.len() - 1;
        let mut at = gram as usize & mask;
        loop {
            let GramSlot { gram: here, first, count } = self.slots[at];
            if count == 0 {
                return &[];
            }
            if here == gram {
                return &self.texts[first as usize..][..count as usize];
            }
            at = (at + 1) & mask;
        }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.filter.len() * 8 + self.slots.len() * size_of::<GramSlot>() + self.texts.len() * 4
    }
}

/// The bits of an n-gram in its word. They come of other parts of it than the number of its word and its slot.
#[inline(always)]
fn two_bits(gram: u64) -> u64 {
    1 << (gram >> 32 & 63) | 1 << (gram >> 26 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn finds_what_a_map_finds(pairs in prop::collection::vec((0u64..60, 0u32..9), 0..200), mixed in any::<bool>()) {
            let spread = |gram: u64| if mixed { gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { gram };
            let pairs: Vec<(u64, u32)> = pairs.into_iter().map(|(gram, text)| (spread(gram), text)).collect();
            let mut map: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
            for (gram, text) in &pairs {
                map.entry(*gram).or_default().insert(*text);
            }
            let count = pairs.len();
            let table = GramTable::new(pairs);
            for gram in (0..80).map(spread) {
                let want: Vec<u32> = map.get(&gram).into_iter().flatten().copied().collect();
                prop_assert_eq!(table.texts(gram), want);
            }
            prop_assert!(table.bytes() as u64 <= GramTable::most_bytes(count).0);
        }
    }
}
