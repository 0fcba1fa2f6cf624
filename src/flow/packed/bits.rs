//! Numbers in as many bits as the greatest of them has: where they stand in no order, such as the members of key groups.

use crate::flow::packed::columns::{push_number, take_number};

/// Most numbers that are taken of those that take no bits.
const MOST: usize = 1 << 24;

/// Appends numbers.
pub fn push_bits(numbers: &[u32], bytes: &mut Vec<u8>) {
    let width = u32::BITS - numbers.iter().max().map_or(u32::BITS, |most| most.leading_zeros());
    push_number(numbers.len() as u64, bytes);
    bytes.push(width as u8);
    let (mut word, mut filled) = (0u64, 0);
    for number in numbers {
        word |= u64::from(*number) << filled;
        filled += width;
        while filled >= u8::BITS {
            bytes.push(word as u8);
            word >>= u8::BITS;
            filled -= u8::BITS;
        }
    }
    if filled > 0 {
        bytes.push(word as u8);
    }
}

/// Takes numbers off; none if they are not whole.
pub fn take_bits(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let count = usize::try_from(take_number(bytes)?).ok()?;
    let width = u32::from(*bytes.split_off_first()?);
    if width == 0 {
        return (count <= MOST).then(|| vec![0; count]);
    }
    let bits = count.checked_mul(width as usize).filter(|_| width <= u32::BITS)?;
    let mut packed = bytes.split_off(..bits.div_ceil(8))?.iter();
    let (mut word, mut filled) = (0u64, 0);
    let next = || {
        while filled < width {
            word |= u64::from(*packed.next()?) << filled;
            filled += u8::BITS;
        }
        let number = word & (u64::MAX >> (u64::BITS - width));
        word >>= width;
        filled -= width;
        u32::try_from(number).ok()
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Lists of numbers that take as few bits wherever they are written: `#[serde(with = "as_bits")]`.
pub mod as_bits {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{push_bits, take_bits};
    use crate::flow::packed::bytes::deserialize_bytes;

    /// Writes a list.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(numbers: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        push_bits(numbers, &mut bytes);
        serializer.serialize_bytes(&bytes)
    }

    /// Reads a list.
    ///
    /// # Errors
    /// Those of the deserializer, and one of its own for what is no such list.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let bytes = deserialize_bytes(deserializer)?;
        take_bits(&mut &bytes[..]).ok_or_else(|| D::Error::custom("no list of such numbers"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_any_width_come_back(numbers in prop::collection::vec(any::<u32>(), 0..40), width in 0u32..=32, cut in any::<usize>()) {
            let numbers: Vec<u32> = numbers.into_iter().map(|number| number.checked_shr(32 - width).unwrap_or(0)).collect();
            let mut bytes = Vec::new();
            push_bits(&numbers, &mut bytes);
            prop_assert!(bytes.len() <= 2 + (numbers.len() * width as usize).div_ceil(8));
            prop_assert!(take_bits(&mut &bytes[..cut % bytes.len()]).is_none());
            let mut left = &bytes[..];
            prop_assert_eq!(take_bits(&mut left), Some(numbers));
            prop_assert!(left.is_empty());
        }

        #[test]
        fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..30)) {
            let taken = take_bits(&mut &bytes[..]);
            prop_assert!(taken.is_none_or(|numbers| numbers.len() <= MOST));
        }
    }
}
