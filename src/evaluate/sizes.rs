//! Groups of lengths, and pairs of documents by the length of the shorter one.

use crate::sketch::size_group;

/// Groups of lengths: those of Ye et al. 2008 (tables 3 and 4).
pub const SIZES: usize = 11;
/// The fewest words of each group; the last one has no end.
pub const BOUNDS: [u32; SIZES] = [0, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000];

/// How many of something there are in each group of lengths.
pub type Sizes = [u64; SIZES];

/// The group of a document of so many words. A document of exactly 500 words is in the second one.
pub fn group_of(words: u32) -> u8 {
    size_group(words as usize) as u8
}

/// The name of a group for people: `500-1000`; the bound belongs to the next one.
pub fn size_name(group: usize) -> String {
    match BOUNDS.get(group + 1) {
        Some(end) => format!("{}-{end}", BOUNDS[group]),
        None => format!("{}-", BOUNDS[group]),
    }
}

/// All pairs of the documents that `sizes` counts. A pair is in the group of its shorter document:
/// with n_g documents in group g, n_g (n_g - 1) / 2 + n_g * (sum of n_h for h > g).
pub fn within(sizes: &Sizes) -> Sizes {
    let (mut pairs, mut longer) = ([0; SIZES], 0);
    for group in (0..SIZES).rev() {
        let here = sizes[group];
        pairs[group] = here * here.saturating_sub(1) / 2 + here * longer;
        longer += here;
    }
    pairs
}

/// All pairs of one document of `a` and one of `b`, which have none in common, in the groups of the shorter ones.
pub fn between(a: &Sizes, b: &Sizes) -> Sizes {
    let (mut pairs, mut longer_a, mut longer_b) = ([0; SIZES], 0, 0);
    for group in (0..SIZES).rev() {
        pairs[group] = a[group] * (b[group] + longer_b) + longer_a * b[group];
        longer_a += a[group];
        longer_b += b[group];
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bound_belongs_to_the_group_that_it_begins() {
        for (words, group) in [(0, 0), (499, 0), (500, 1), (999, 1), (8999, 9), (9000, 10), (u32::MAX, 10)] {
            assert_eq!(group_of(words), group, "{words}");
        }
        assert_eq!((size_name(1), size_name(10)), ("500-1000".to_owned(), "9000-".to_owned()));
    }

    fn histogram(groups: &[u8]) -> Sizes {
        let mut sizes = [0; SIZES];
        groups.iter().for_each(|group| sizes[*group as usize] += 1);
        sizes
    }

    proptest! {
        /// The obvious twin goes through all pairs.
        #[test]
        fn pairs_are_those_that_are_counted_one_by_one(
            a in prop::collection::vec(0u8..SIZES as u8, 0..30),
            b in prop::collection::vec(0u8..SIZES as u8, 0..30),
        ) {
            let (mut inside, mut across) = ([0; SIZES], [0; SIZES]);
            for (i, x) in a.iter().enumerate() {
                a[..i].iter().for_each(|y| inside[*x.min(y) as usize] += 1);
                b.iter().for_each(|y| across[*x.min(y) as usize] += 1);
            }
            prop_assert_eq!(within(&histogram(&a)), inside);
            prop_assert_eq!(between(&histogram(&a), &histogram(&b)), across);
        }
    }
}
