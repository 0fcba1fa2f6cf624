//! SimHash: 64 bits of which each is the sign of a sum over the hash bits of a text's shingles (Charikar 2002), and all pairs
//! within a Hamming distance (Manku, Jain and Das Sarma 2007). 8 bytes a document.
//!
//! The pairs are found exactly, by tables as in section 3 of Manku et al.: the 64 bits are cut into B blocks, and two
//! fingerprints that differ in at most d bits agree in B - d blocks or more. So each choice of B - d blocks makes a key, and
//! who shares none is further apart.

use serde::{Deserialize, Serialize};

use super::tables::FrozenTables;
use super::technique::{Description, MethodSketcher, Needs, Settings, Technique, within};
use crate::error::Result;
use crate::simd::Simd;
use crate::similarity::{AcceptanceRule, Evidence, PairTest};
use crate::sketch::{Spread, finish, shingles};

/// Blocks by distance: few keys a document, and about twenty bits or more in each.
const BLOCKS: [u32; 8] = [1, 2, 4, 5, 6, 8, 9, 10];

/// Bits of a count of shingles.
const COUNT: usize = 32;

/// Parameters of `method = "simhash"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simhash {
    /// Bits of 64 in which two fingerprints may differ, 0 to 7: 3 (Manku et al. 2007). Each more costs keys: a document has
    /// 10 for 3 bits, and 120 for 7.
    pub distance: u32,
}

impl Default for Simhash {
    fn default() -> Simhash {
        Simhash { distance: 3 }
    }
}

impl Technique for Simhash {
    fn check(&self) -> Result<()> {
        let most = BLOCKS.len() as u64 - 1;
        within("simhash.distance", u64::from(self.distance), 0..=most, "3 of 64 bits are published")
    }

    fn needs(&self) -> Needs {
        Needs { shingles: true, ..Needs::NOTHING }
    }

    fn rule(&self, _: &Settings<'_>) -> Option<AcceptanceRule> {
        Some(AcceptanceRule::new(PairTest::Hamming(self.distance), Evidence::Proposal))
    }

    fn description(&self, settings: &Settings<'_>) -> Description {
        let d = self.distance;
        Description {
            unit: settings.shingle(),
            rule: format!("{d} of 64 bits apart"),
            sentence: format!("at most {d} of 64 bits differ"),
            decides: format!("a distance of at most {d} bits decides"),
        }
    }

    fn sketcher(&self, settings: &Settings<'_>, _: &FrozenTables, _: Simd) -> Box<dyn MethodSketcher> {
        Box::new(Fingerprinter {
            ngram: settings.text.ngram,
            masks: masks(self.distance),
            shingles: Vec::new(),
            spread: Spread::default(),
            keys: Vec::new(),
        })
    }
}

/// The sketcher of [`Simhash`].
struct Fingerprinter {
    ngram: usize,
    /// The bits of each table's keys.
    masks: Vec<u64>,
    shingles: Vec<u64>,
    spread: Spread,
    keys: Vec<u64>,
}

impl MethodSketcher for Fingerprinter {
    fn sketch(&mut self, tokens: &[u64], _: Option<i32>, words: &mut Vec<u64>) {
        shingles(tokens, self.ngram, &mut self.shingles);
        self.spread.sort_distinct(&mut self.shingles);
        words.push(simhash(&self.shingles));
    }

    fn keys<'a>(&'a mut self, words: &'a [u64]) -> &'a [u64] {
        self.keys.clear();
        if let [bits] = words {
            // The number of its table goes into a key, so that only keys of one table are equal, but by chance.
            let key = |(table, mask): (u64, &u64)| finish((bits & mask) ^ finish(table));
            self.keys.extend((1..).zip(&self.masks).map(key));
        }
        &self.keys
    }
}

/// The fingerprint of shingles, each of weight 1: a bit is set where more than half of them have it set.
///
/// The 64 counts are kept as planes of bits, plane i with bit i of each count: adding a shingle to all of them carries
/// into two planes on average.
fn simhash(shingles: &[u64]) -> u64 {
    let mut planes = [0u64; COUNT];
    for shingle in shingles {
        let mut carry = *shingle;
        for plane in &mut planes {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
            if carry == 0 {
                break;
            }
        }
    }
    let count = |bit: u32| (0..COUNT).map(|at| (planes[at] >> bit & 1) << at).sum::<u64>();
    (0..64).filter(|bit| 2 * count(*bit) > shingles.len() as u64).fold(0, |bits, bit| bits | 1 << bit)
}

/// For each table the bits of its keys: all choices of as many blocks as fingerprints within the distance agree in.
fn masks(distance: u32) -> Vec<u64> {
    let count = BLOCKS[distance as usize];
    let block = |at: u32| {
        let (from, to) = (at * 64 / count, (at + 1) * 64 / count);
        (u64::MAX >> (64 - (to - from))) << from
    };
    let chosen = (0u32..1 << count).filter(|choice| choice.count_ones() == count - distance);
    chosen
        .map(|choice| (0..count).filter(|at| choice >> at & 1 == 1).fold(0, |mask, at| mask | block(at)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tables_are_few_and_their_keys_long() {
        let shape = |distance| {
            let masks = masks(distance);
            (masks.len(), masks.iter().map(|mask| mask.count_ones()).min())
        };
        assert_eq!((shape(0), shape(1), shape(2)), ((1, Some(64)), (2, Some(32)), (6, Some(32))));
        assert_eq!((shape(3), shape(4), shape(5)), ((10, Some(25)), (15, Some(20)), (56, Some(24))));
        assert_eq!((shape(6).0, shape(7).0), (84, 120));
        assert!(Simhash { distance: 7 }.check().is_ok());
        let refused = Simhash { distance: 8 }.check().expect_err("too far").to_string();
        assert!(refused.contains("simhash.distance = 8: it must be 0 to 7"), "{refused}");
    }

    fn keys(distance: u32, bits: u64) -> Vec<u64> {
        let (shingles, spread, keys) = (Vec::new(), Spread::default(), Vec::new());
        let mut sketcher = Fingerprinter { ngram: 1, masks: masks(distance), shingles, spread, keys };
        sketcher.keys(&[bits]).to_vec()
    }

    proptest! {
        #[test]
        fn the_slow_sums_have_the_same_signs(shingles in prop::collection::vec(any::<u64>(), 0..300)) {
            let sum = |bit: u32| shingles.iter().map(|hash| if hash >> bit & 1 == 1 { 1i64 } else { -1 }).sum::<i64>();
            let slow = (0..64).fold(0u64, |bits, bit| bits | u64::from(sum(bit) > 0) << bit);
            prop_assert_eq!(simhash(&shingles), slow);
        }

        #[test]
        fn who_is_near_shares_a_key(bits in any::<u64>(), distance in 0u32..8,
                                    flips in prop::collection::vec(0u32..64, 7)) {
            let other = flips.iter().take(distance as usize).fold(bits, |other, flip| other ^ (1 << flip));
            let (a, b) = (keys(distance, bits), keys(distance, other));
            prop_assert!(a.iter().zip(&b).any(|(a, b)| a == b));
        }

        #[test]
        fn who_is_far_shares_none(bits in any::<u64>(), distance in 0u32..8) {
            let (a, b) = (keys(distance, bits), keys(distance, !bits));
            prop_assert!(a.iter().all(|key| !b.contains(key)));
        }
    }
}
