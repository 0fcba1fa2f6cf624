//! The records that a load leaves out because they resemble protected documents.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3Default;

use crate::document::Position;

/// What a run makes of records that resemble protected documents, where it is a load or comes before one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeaveOut {
    /// There are none.
    #[default]
    Nothing,
    /// They are looked for: records are read as a load reads them, but for protected ones without an id, and compared with
    /// protected documents only.
    Find,
    /// They are known, and passed over as if they were not there.
    Known(LeftOutPositions),
}

/// Records of the inputs of a load that are passed over: eight bytes each, shared by whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOutPositions {
    /// Ascending, none twice; files are numbered among the inputs of the load.
    positions: Arc<Vec<u64>>,
}

impl LeftOutPositions {
    /// Records at some positions, in any order.
    pub fn new(mut positions: Vec<u64>) -> LeftOutPositions {
        positions.sort_unstable();
        positions.dedup();
        LeftOutPositions { positions: Arc::new(positions) }
    }

    /// Adds records that stand behind all of them, ascending.
    pub fn extend(&mut self, more: &[u64]) {
        Arc::make_mut(&mut self.positions).extend_from_slice(more);
    }

    /// Whether a record is one of them.
    pub fn contains(&self, position: Position) -> bool {
        self.positions.binary_search(&position.to_bits()).is_ok()
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.positions.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.len() * size_of::<u64>() as u64
    }

    /// Their positions as integers, ascending.
    pub fn positions(&self) -> &[u64] {
        &self.positions
    }

    /// The 128-bit XXH3 of their positions as little-endian words; 0 if there are none.
    pub fn digest(&self) -> u128 {
        if self.is_empty() {
            return 0;
        }
        let mut state = Xxh3Default::new();
        self.positions.iter().for_each(|position| state.update(&position.to_le_bytes()));
        state.digest128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn holds_what_a_plain_set_holds(places in prop::collection::vec((0u32..3, 0u64..40), 0..60)) {
            let at = |(file, offset): (u32, u64)| Position::new(file, offset);
            let plain: BTreeSet<u64> = places.iter().map(|place| at(*place).to_bits()).collect();
            let left_out = LeftOutPositions::new(places.iter().map(|place| at(*place).to_bits()).collect());
            prop_assert_eq!(left_out.len(), plain.len() as u64);
            for place in (0..3).flat_map(|file| (0..40).map(move |offset| (file, offset))) {
                prop_assert_eq!(left_out.contains(at(place)), plain.contains(&at(place).to_bits()));
            }
            let mut parts = LeftOutPositions::default();
            left_out.positions().chunks(7).for_each(|some| parts.extend(some));
            prop_assert_eq!(&parts, &left_out);
            let again = LeftOutPositions::new(left_out.positions().iter().rev().copied().collect());
            prop_assert_eq!(again.digest(), left_out.digest());
            if let Some((_, rest)) = left_out.positions().split_first() {
                prop_assert_ne!(LeftOutPositions::new(rest.to_vec()).digest(), left_out.digest());
            }
        }
    }
}
