//! N-grams and the texts that are looked for when one of them is seen.
//!
//! Nearly no n-gram of a corpus is in the table, and a look at it is a load from memory that takes longer than all else that is
//! done with an n-gram. So three things are small: the filter that most n-grams are held against alone, the slots, and the
//! number of looks that wait for each other. All n-grams of a stretch are held against the filter without any branch,
//! then the slots of those that passed are loaded, then these are told apart: the loads of a step run side by side.

use crate::sketch::finish;

/// Bits of the filter for each n-gram. With more of them fewer n-grams pass in vain, but the filter of a million n-grams takes
/// more of a second-level cache.
const BITS: usize = 12;
/// N-grams that are held against the filter before any slot is looked at.
const STRETCH: usize = 256;
/// Most texts of all n-grams of a table: numbers of texts, and of their lists, have the highest bit free.
pub(in crate::decontaminate) const MOST_TEXTS: usize = (LIST / 2) as usize;

/// N-grams of one length.
pub(in crate::decontaminate) struct GramTable {
    /// Words of bits, of which each n-gram has two in one: a word with both may be of others, one without is of none.
    filter: Vec<u64>,
    /// Half as many again as n-grams, or more.
    slots: Vec<GramSlot>,
    /// Of each n-gram with several texts, how many and which.
    lists: Vec<u32>,
}

/// The place of an n-gram: in the slot that its upper half names, or in the next free one.
///
/// Two n-grams that share a tag, and nearly a place, are taken for one, which has the texts of both. As a text is looked for by
/// all its n-grams once some are seen, nothing wrong is found, and nothing is missed.
#[derive(Clone, Copy)]
struct GramSlot {
    /// Its lower half.
    tag: u32,
    /// Its text; with [`LIST`], where its texts are; or [`FREE`].
    text: u32,
}

/// Says that an n-gram has several texts.
const LIST: u32 = 1 << 31;
/// No n-gram is here. It is no list, as there are not so many.
const FREE: GramSlot = GramSlot { tag: 0, text: u32::MAX };

impl GramTable {
    /// Words of the filter, and slots, for so many different n-grams.
    fn sizes(distinct: usize) -> (usize, usize) {
        (distinct * BITS / 64 + 1, distinct + distinct / 2 + 2)
    }

    /// Bytes that a table of so many pairs takes at most, and those that making it takes beside them.
    pub(in crate::decontaminate) fn most_bytes(pairs: usize) -> (u64, u64) {
        let (words, slots) = GramTable::sizes(pairs);
        // Lists of two texts take most: as many numbers as there are texts, and half as many that count them.
        let lists = (pairs + pairs / 2) * 4;
        let table = words * 8 + slots * size_of::<GramSlot>() + lists;
        (table as u64, (pairs * size_of::<(u64, u32)>()) as u64)
    }

    /// A table of n-grams, each with a text; of [`MOST_TEXTS`] of these at most.
    pub(in crate::decontaminate) fn new(mut grams: Vec<(u64, u32)>) -> GramTable {
        grams.sort_unstable();
        grams.dedup();
        let (mut distinct, mut listed) = (0, 0);
        for same in grams.chunk_by(|a, b| a.0 == b.0) {
            distinct += 1;
            listed += if same.len() > 1 { same.len() + 1 } else { 0 };
        }
        let (words, slots) = GramTable::sizes(distinct);
        let lists = Vec::with_capacity(listed);
        let mut table = GramTable { filter: vec![0; words], slots: vec![FREE; slots], lists };
        let mut texts = Vec::new();
        for same in grams.chunk_by(|a, b| a.0 == b.0) {
            let gram = same[0].0;
            let word = part(gram, words);
            table.filter[word] |= two_bits(gram);
            let at = table.place(gram, table.slots[part(gram, slots)]);
            texts.clear();
            texts.extend(same.iter().map(|(_, text)| *text));
            texts.extend(table.texts_at(at));
            let text = if let [text] = texts[..] {
                text
            } else {
                texts.sort_unstable();
                texts.dedup();
                let list = table.lists.len() as u32;
                table.lists.push(texts.len() as u32);
                table.lists.extend_from_slice(&texts);
                LIST | list
            };
            table.slots[at] = GramSlot { tag: gram as u32, text };
        }
        table
    }

    /// Hands the texts to `take` that are to be looked for where these n-grams are seen, those of each n-gram at once. It may
    /// hand on some that are not.
    pub(in crate::decontaminate) fn texts(&self, grams: &[u64], mut take: impl FnMut(&[u32])) {
        let mut passed = [0; STRETCH];
        let mut slots = [FREE; STRETCH];
        for stretch in grams.chunks(STRETCH) {
            let mut count = 0;
            for gram in stretch {
                passed[count % STRETCH] = *gram;
                count += usize::from(self.passes(*gram));
            }
            let seen = passed[..count].iter().zip(&mut slots);
            seen.for_each(|(gram, slot)| *slot = self.slots[part(*gram, self.slots.len())]);
            for (gram, slot) in passed[..count].iter().zip(&slots) {
                let texts = self.texts_at(self.place(*gram, *slot));
                if !texts.is_empty() {
                    take(texts);
                }
            }
        }
    }

    /// Whether an n-gram may be in the table.
    #[inline(always)]
    fn passes(&self, gram: u64) -> bool {
        let bits = two_bits(gram);
        self.filter[part(gram, self.filter.len())] & bits == bits
    }

    /// The slot of an n-gram whose first slot is known, or the free one that it would take.
    #[inline]
    fn place(&self, gram: u64, first: GramSlot) -> usize {
        let (mut slot, mut at) = (first, part(gram, self.slots.len()));
        while slot.text != FREE.text && slot.tag != gram as u32 {
            at = next(at, self.slots.len());
            slot = self.slots[at];
        }
        at
    }

    /// The texts of a slot.
    #[inline]
    fn texts_at(&self, at: usize) -> &[u32] {
        let text = &self.slots[at].text;
        if *text == FREE.text {
            &[]
        } else if text & LIST == 0 {
            std::slice::from_ref(text)
        } else {
            let list = (text ^ LIST) as usize;
            &self.lists[list + 1..][..self.lists[list] as usize]
        }
    }

    /// Bytes that it takes.
    pub(in crate::decontaminate) fn bytes(&self) -> usize {
        self.filter.len() * 8 + self.slots.len() * size_of::<GramSlot>() + self.lists.len() * 4
    }
}

/// Where an n-gram stands among equally rare ones of a text. If the smallest were the first to be looked for, all in a table were
/// small, and their slots in one heap, where each look passes many.
pub(in crate::decontaminate) fn any_order(gram: u64) -> u64 {
    finish(gram)
}

/// Which of so many parts the upper half of an n-gram falls in.
#[inline(always)]
fn part(gram: u64, parts: usize) -> usize {
    (((gram >> 32) * parts as u64) >> 32) as usize
}

fn next(at: usize, slots: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

/// The bits of an n-gram in its word. They come of another half of it than the number of its word.
#[inline(always)]
fn two_bits(gram: u64) -> u64 {
    1 << (gram & 63) | 1 << (gram >> 6 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn finds_what_a_map_finds(pairs in prop::collection::vec((0u64..60, 0u32..9), 0..200), mixed in any::<bool>(),
                                  document in prop::collection::vec(0u64..80, 0..600)) {
            let spread = |gram: u64| if mixed { gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { gram };
            let pairs: Vec<(u64, u32)> = pairs.into_iter().map(|(gram, text)| (spread(gram), text)).collect();
            let document: Vec<u64> = document.into_iter().map(spread).collect();
            let mut map: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
            for (gram, text) in &pairs {
                map.entry(*gram).or_default().insert(*text);
            }
            let count = pairs.len();
            let table = GramTable::new(pairs);
            let mut found = Vec::new();
            table.texts(&document, |texts| found.push(texts.to_vec()));
            let texts = document.iter().filter_map(|gram| map.get(gram));
            let want: Vec<Vec<u32>> = texts.map(|texts| texts.iter().copied().collect()).collect();
            prop_assert_eq!(found, want);
            prop_assert!(table.bytes() as u64 <= GramTable::most_bytes(count).0);
        }

        /// Tags are few, and n-grams stand close: many are taken for another, and none has lost a text.
        #[test]
        fn misses_nothing_where_tags_are_alike(pairs in prop::collection::vec((0u64..60, 0u64..3, 0u32..9), 0..200)) {
            let pairs: Vec<(u64, u32)> =
                pairs.into_iter().map(|(upper, tag, text)| (upper << 32 | tag, text)).collect();
            let table = GramTable::new(pairs.clone());
            for (gram, text) in pairs {
                let mut found = Vec::new();
                table.texts(&[gram], |texts| found.extend_from_slice(texts));
                prop_assert!(found.contains(&text));
            }
        }
    }
}
