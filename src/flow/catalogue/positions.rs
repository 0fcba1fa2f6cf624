//! Where documents stand, four bytes each: positions ascend, so their high halves hardly ever change.

use crate::document::Position;
use crate::flow::memory::budget::mapped;

/// The positions of rows.
#[derive(Debug)]
pub struct Positions {
    /// The low half of each.
    low: Vec<u32>,
    /// The rows at which the high half becomes another one, and which. Few, but for inputs of many small files.
    high: Vec<(u32, u32)>,
}

impl Positions {
    /// None yet; about so many will come.
    pub fn new(most: usize) -> Positions {
        Positions { low: mapped(most), high: Vec::new() }
    }

    /// Positions so far.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Bytes of memory that they take.
    pub fn bytes(&self) -> u64 {
        (self.low.len() * size_of::<u32>() + self.high.len() * size_of::<(u32, u32)>()) as u64
    }

    /// Adds the position of the next row.
    pub fn push(&mut self, position: Position) {
        let bits = position.to_bits();
        let high = (bits >> 32) as u32;
        if self.high.last().is_none_or(|(_, last)| *last != high) {
            self.high.push((self.low.len() as u32, high));
        }
        self.low.push(bits as u32);
    }

    /// The position of a row.
    pub fn get(&self, row: usize) -> Position {
        let low = u64::from(self.low[row]);
        let behind = self.high.partition_point(|(first, _)| *first as usize <= row);
        let high = behind.checked_sub(1).map_or(0, |at| self.high[at].1);
        Position::from_bits(u64::from(high) << 32 | low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn come_back_in_any_order(all in prop::collection::vec((0u32..3, prop::sample::select(vec![0u64, 7, 1 << 31, 1 << 32, 5 << 32, (1 << 40) - 1])), 0..60)) {
            let all: Vec<Position> = all.into_iter().map(|(file, offset)| Position::new(file, offset)).collect();
            let mut positions = Positions::new(0);
            all.iter().for_each(|position| positions.push(*position));
            prop_assert_eq!(positions.len(), all.len());
            let back: Vec<Position> = (0..all.len()).map(|row| positions.get(row)).collect();
            prop_assert_eq!(back, all);
        }
    }
}
