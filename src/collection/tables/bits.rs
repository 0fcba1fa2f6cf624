//! Sets of small numbers: a bit each.

/// Which of the numbers below a bound are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// None of the numbers below `bound`.
    pub fn below(bound: u64) -> Bits {
        Bits(vec![0; bound.div_ceil(64) as usize])
    }

    /// The set as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The set that [`Bits::to_bytes`] made `bytes` of.
    pub fn of_bytes(bytes: &[u8]) -> Bits {
        let words = bytes.as_chunks::<8>().0;
        Bits(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// Adds a number; whether it was not there. Beyond the bound none is.
    pub fn add(&mut self, number: u64) -> bool {
        let Some(word) = self.0.get_mut((number / 64) as usize) else { return false };
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Whether a number is there.
    pub fn has(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_there_and_nothing_else() {
        let mut bits = Bits::below(130);
        let added = [0, 1, 63, 64, 129];
        assert!(added.iter().all(|number| bits.add(*number)));
        assert!(!bits.add(64) && !bits.add(1 << 40));
        assert!((0..300).all(|number| bits.has(number) == added.contains(&number)));
        assert_eq!(Bits::of_bytes(&bits.to_bytes()), bits);
    }
}
