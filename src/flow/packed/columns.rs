//! Columns of numbers in few bytes: how much each differs from the one before, in units of what divides all of that.
//!
//! Documents of one worker are numbered in steps, and sizes of short texts are often the same: a step takes a byte, and a column of
//! one number takes none beside the first.

use std::borrow::Borrow;

/// Appends a number: seven bits a byte, the lowest first; all but the last have the eighth set.
pub fn push_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off; none if there is no whole one.
#[inline]
pub fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    // Most take a byte.
    match bytes.first() {
        Some(byte) if byte & 0x80 == 0 => bytes.split_off_first().map(|byte| u64::from(*byte)),
        _ => take_long_number(bytes),
    }
}

fn take_long_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Appends a column.
pub fn push_column(numbers: impl ExactSizeIterator<Item = u64> + Clone, bytes: &mut Vec<u8>) {
    push_number(numbers.len() as u64, bytes);
    let mut rest = numbers.clone();
    let Some(first) = rest.next() else { return };
    push_number(first, bytes);
    let neighbours = numbers.zip(rest);
    let steps = || neighbours.clone().map(|(before, number)| number.wrapping_sub(before) as i64);
    let unit = steps().fold(0, |unit, step| common_divisor(step.unsigned_abs(), unit));
    // Only the greatest step back that there is has no such unit.
    let unit = i64::try_from(unit).unwrap_or(1);
    push_number(unit as u64, bytes);
    match unit {
        0 => {}
        1 => steps().for_each(|step| push_number(folded(step), bytes)),
        unit => steps().for_each(|step| push_number(folded(step / unit), bytes)),
    }
}

/// Takes a column of at most `most` numbers off; none if there is no whole one.
pub fn take_column(bytes: &mut &[u8], most: usize) -> Option<Vec<u64>> {
    let count = usize::try_from(take_number(bytes)?).ok().filter(|count| *count <= most)?;
    if count == 0 {
        return Some(Vec::new());
    }
    let mut number = take_number(bytes)?;
    let unit = take_number(bytes)?;
    if unit == 0 {
        return Some(vec![number; count]);
    }
    // Each takes a byte at least.
    let mut numbers = Vec::with_capacity(count.min(bytes.len() + 1));
    numbers.push(number);
    for _ in 1..count {
        let step = unfolded(take_number(bytes)?) as u64;
        number = number.wrapping_add(step.wrapping_mul(unit));
        numbers.push(number);
    }
    Some(numbers)
}

/// Takes a column of at most `most` numbers of 32 bits off; none if there is no whole one.
pub fn take_narrow_column(bytes: &mut &[u8], most: usize) -> Option<Vec<u32>> {
    take_column(bytes, most)?.into_iter().map(|number| u32::try_from(number).ok()).collect()
}

/// Appends words, eight bytes each.
pub fn push_words<T: Borrow<u64>>(words: impl Iterator<Item = T>, bytes: &mut Vec<u8>) {
    words.for_each(|word| bytes.extend_from_slice(&word.borrow().to_le_bytes()));
}

/// Takes so many words off; none if there are fewer.
pub fn take_words<'a>(
    bytes: &mut &'a [u8],
    count: usize,
) -> Option<impl ExactSizeIterator<Item = u64> + use<'a>> {
    let words = bytes.split_off(..count.checked_mul(size_of::<u64>())?)?;
    Some(words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)))
}

/// Lists of numbers that are columns wherever they are written: `#[serde(with = "as_column")]`.
pub mod as_column {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{push_column, take_column};
    use crate::flow::packed::bytes::deserialize_bytes;

    /// Most numbers that are taken.
    const MOST: usize = 1 << 24;

    /// Writes a list.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Copy + Into<u64>, S: Serializer>(
        numbers: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(2 * numbers.len());
        push_column(numbers.iter().map(|number| (*number).into()), &mut bytes);
        serializer.serialize_bytes(&bytes)
    }

    /// Reads a list.
    ///
    /// # Errors
    /// Those of the deserializer, and one of its own for what is no column of such numbers.
    pub fn deserialize<'de, T: TryFrom<u64>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let bytes = deserialize_bytes(deserializer)?;
        let numbers = take_column(&mut &bytes[..], MOST);
        let numbers =
            numbers.and_then(|numbers| numbers.into_iter().map(|number| T::try_from(number).ok()).collect());
        numbers.ok_or_else(|| D::Error::custom("no column of such numbers"))
    }
}

/// The greatest number that divides both.
fn common_divisor(mut number: u64, mut unit: u64) -> u64 {
    while unit > 1 {
        (number, unit) = (unit, number % unit);
    }
    if unit == 1 { 1 } else { number }
}

/// A number with its sign in the lowest bit.
fn folded(number: i64) -> u64 {
    ((number << 1) ^ (number >> (i64::BITS - 1))) as u64
}

fn unfolded(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of any kind, and such as documents have: ascending, in steps.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let arbitrary = prop::collection::vec(any::<u64>(), 0..20);
        let steps = (any::<u32>(), 1u64..300, prop::collection::vec(0u64..5, 0..50));
        let steps = steps.prop_map(|(first, unit, steps)| {
            let mut last = u64::from(first);
            steps
                .into_iter()
                .map(|step| {
                    last += step * unit;
                    last
                })
                .collect()
        });
        let extremes = prop::collection::vec(prop::sample::select(vec![0, 1, 1 << 63, u64::MAX]), 0..9);
        prop_oneof![arbitrary, steps, extremes]
    }

    proptest! {
        #[test]
        fn columns_come_back(columns in prop::collection::vec(numbers(), 0..4), cut in any::<prop::sample::Index>()) {
            let mut bytes = Vec::new();
            columns.iter().for_each(|column| push_column(column.iter().copied(), &mut bytes));
            let mut left = &bytes[..];
            for column in &columns {
                prop_assert_eq!(take_column(&mut left, 50), Some(column.clone()));
            }
            prop_assert!(left.is_empty());
            // What is cut off is missed, and nothing panics.
            if !bytes.is_empty() {
                let mut left = &bytes[..cut.index(bytes.len())];
                let back: Vec<_> = columns.iter().map_while(|_| take_column(&mut left, 50)).collect();
                prop_assert!(back.len() < columns.len());
            }
        }

        #[test]
        fn numbers_come_back(numbers in prop::collection::vec(any::<u64>(), 0..20)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| push_number(*number, &mut bytes));
            let mut left = bytes.as_slice();
            prop_assert!(numbers.iter().all(|number| take_number(&mut left) == Some(*number)));
            prop_assert!(left.is_empty());
        }

        #[test]
        fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut left = &bytes[..];
            prop_assert!(take_column(&mut left, 30).is_none_or(|column| column.len() <= 30));
            prop_assert!(take_words(&mut &bytes[..], usize::MAX).is_none());
        }
    }

    #[test]
    fn documents_of_a_worker_take_a_byte_and_what_is_the_same_nothing() {
        let mut bytes = Vec::new();
        push_column((0..1000u32).map(|row| u64::from(1 << 30 | (row * 64 + 5))), &mut bytes);
        assert!(bytes.len() < 1000 + 10, "{}", bytes.len());
        bytes.clear();
        push_column((0..1000u32).map(|_| 4), &mut bytes);
        assert_eq!(bytes, [0xe8, 7, 4, 0]);
    }
}
