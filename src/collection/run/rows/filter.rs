//! Filters: a small Bloom filter for each page of rows, on the first word of the key.

/// How many bits a word sets: with ten bits a key, two to three absent keys in a hundred are let through.
const BITS: u32 = 5;

/// The word of a filter of `words` words that `first` falls on, and the bits that it sets there. All in one word: a
/// filter is made while rows stream by, and seven bits in seven places cost more than writing the row.
#[inline]
fn place(first: u64, words: usize) -> (usize, u64) {
    // Words may be hashes or counters. This is the last step of MurmurHash3.
    let hash = (first ^ first >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    let hash = hash ^ hash >> 33;
    let bits = (0..BITS).fold(0, |bits, i| bits | 1 << (hash >> (6 * i) & 63));
    ((((hash >> 32) * words as u64) >> 32) as usize, bits)
}

/// Adds the first words of the rows of a page, `width` words each, to its filter.
pub(in crate::collection) fn add(rows: &[u64], width: usize, filter: &mut [u64]) {
    let mut last = None;
    for first in rows.iter().step_by(width) {
        if last.replace(*first) == Some(*first) {
            continue;
        }
        let (word, bits) = place(*first, filter.len());
        filter[word] |= bits;
    }
}

/// Whether the page of this filter may hold a row that begins with `first`.
pub(in crate::collection) fn may_hold(filter: &[u64], first: u64) -> bool {
    let (word, bits) = place(first, filter.len());
    filter[word] & bits == bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_let_through_and_little_else() {
        for spread in [1, 0x9e37_79b9_7f4a_7c15, 1 << 40] {
            let row = |i: u64| [i.wrapping_mul(spread), i];
            let rows: Vec<u64> = (0..255).flat_map(row).collect();
            let mut filter = [0; 40];
            add(&rows, 2, &mut filter);
            assert!((0..255).all(|i| may_hold(&filter, row(i)[0])));
            let others = (1000..101_000).filter(|&i| may_hold(&filter, row(i)[0])).count();
            assert!((1000..4000).contains(&others), "{others} of 100000 at {spread}");
        }
        assert!(!may_hold(&[0; 40], 0));
    }

    #[test]
    fn repeats_are_added_once_and_change_nothing() {
        let (mut once, mut often) = ([0; 8], [0; 8]);
        add(&[1, 2, 3], 1, &mut once);
        add(&[1, 7, 2, 7, 2, 8, 2, 9, 3, 7], 2, &mut often);
        assert_eq!(once, often);
    }
}
