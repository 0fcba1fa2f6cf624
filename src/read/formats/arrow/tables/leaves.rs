//! The values of a leaf of a table that are held, with the levels that say where each stands.

use std::io;

use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::data_type::{ByteArray, FixedLenByteArray};

use super::super::columns::fixed::whole;
use super::super::metadata::flat::damaged;

/// Milliseconds of a second, and of a day.
const SECOND: i64 = 1_000;
const DAY: i64 = 86_400 * SECOND;

/// How the value of a leaf is made of what Arrow has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read::formats::arrow) enum StoredValue {
    Nothing,
    Truth,
    /// A whole number of up to four bytes, with a sign or without.
    Int(bool),
    Long,
    /// A number of seconds, as milliseconds.
    IntOfSeconds,
    LongOfSeconds,
    /// A number of milliseconds, as days.
    DaysOfMillis,
    Float,
    Double,
    /// Bytes of any length, and those that are UTF-8.
    Bytes,
    Text,
    /// Bytes as they stand.
    Fixed,
    /// A decimal in so many bytes, the highest first.
    Decimal(usize),
}

/// Cells of a leaf, as Parquet writes them.
#[derive(Debug)]
pub struct LeafCells {
    /// Those that are there.
    pub values: LeafValues,
    /// The definition levels of all, and the one of a value that is there.
    pub definition: (Vec<i16>, i16),
    /// The repetition levels of all, if one is not 0.
    pub repetition: Option<Vec<i16>>,
}

/// Values of one type.
#[derive(Debug)]
pub enum LeafValues {
    /// True or false.
    Truths(Vec<bool>),
    /// Whole numbers of four bytes.
    Ints(Vec<i32>),
    /// Whole numbers of eight bytes.
    Longs(Vec<i64>),
    /// Numbers of four bytes.
    Floats(Vec<f32>),
    /// Numbers of eight bytes.
    Doubles(Vec<f64>),
    /// Texts or bytes.
    Bytes(Vec<ByteArray>),
    /// Bytes, as many in each.
    Fixed(Vec<FixedLenByteArray>),
}

impl LeafValues {
    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        match self {
            LeafValues::Truths(values) => values.len(),
            LeafValues::Ints(values) => values.len(),
            LeafValues::Longs(values) => values.len(),
            LeafValues::Floats(values) => values.len(),
            LeafValues::Doubles(values) => values.len(),
            LeafValues::Bytes(values) => values.len(),
            LeafValues::Fixed(values) => values.len(),
        }
    }
}

impl LeafCells {
    pub(super) fn new(physical: Physical, defined: i16, repeated: i16) -> LeafCells {
        let values = match physical {
            Physical::BOOLEAN => LeafValues::Truths(Vec::new()),
            Physical::INT32 => LeafValues::Ints(Vec::new()),
            Physical::FLOAT => LeafValues::Floats(Vec::new()),
            Physical::DOUBLE => LeafValues::Doubles(Vec::new()),
            Physical::BYTE_ARRAY => LeafValues::Bytes(Vec::new()),
            Physical::FIXED_LEN_BYTE_ARRAY => LeafValues::Fixed(Vec::new()),
            Physical::INT64 | Physical::INT96 => LeafValues::Longs(Vec::new()),
        };
        LeafCells { values, definition: (Vec::new(), defined), repetition: (repeated > 0).then(Vec::new) }
    }

    /// Holds none of them any more.
    pub(super) fn clear(&mut self) {
        self.definition.0.clear();
        self.repetition.iter_mut().for_each(Vec::clear);
        match &mut self.values {
            LeafValues::Truths(values) => values.clear(),
            LeafValues::Ints(values) => values.clear(),
            LeafValues::Longs(values) => values.clear(),
            LeafValues::Floats(values) => values.clear(),
            LeafValues::Doubles(values) => values.clear(),
            LeafValues::Bytes(values) => values.clear(),
            LeafValues::Fixed(values) => values.clear(),
        }
    }

    /// Appends a value that is true or false; the bytes that it takes.
    pub(super) fn push_truth(&mut self, truth: bool) -> u64 {
        if let LeafValues::Truths(values) = &mut self.values {
            values.push(truth);
        }
        1
    }

    /// Appends a text, which readers of Parquet take to be one, or bytes; the bytes that it takes.
    pub(super) fn push_bytes(&mut self, bytes: ByteArray, stored: StoredValue) -> io::Result<u64> {
        if stored == StoredValue::Text && str::from_utf8(bytes.data()).is_err() {
            return Err(damaged("a text that is not UTF-8"));
        }
        let length = bytes.len() + size_of::<ByteArray>();
        if let LeafValues::Bytes(values) = &mut self.values {
            values.push(bytes);
        }
        Ok(length as u64)
    }

    /// Appends a value of a fixed size; the bytes that it takes.
    pub(super) fn push_fixed(&mut self, bytes: &[u8], stored: StoredValue) -> io::Result<u64> {
        match &mut self.values {
            LeafValues::Ints(values) => values.push(int(bytes, stored)?),
            LeafValues::Longs(values) => values.push(long(bytes, stored)?),
            LeafValues::Floats(values) => values.push(f32::from_bits(whole(bytes, false) as u32)),
            LeafValues::Doubles(values) => values.push(f64::from_bits(whole(bytes, false) as u64)),
            LeafValues::Fixed(values) => {
                let bytes = match stored {
                    StoredValue::Decimal(length) => decimal(bytes, length)?.into(),
                    _ => Bytes::copy_from_slice(bytes),
                };
                let taken = bytes.len() + size_of::<FixedLenByteArray>();
                values.push(ByteArray::from(bytes).into());
                return Ok(taken as u64);
            }
            LeafValues::Truths(_) | LeafValues::Bytes(_) => {
                return Err(damaged("a value of another size than its column has"));
            }
        }
        Ok(bytes.len() as u64)
    }
}

fn int(bytes: &[u8], stored: StoredValue) -> io::Result<i32> {
    match stored {
        StoredValue::IntOfSeconds => {
            let millis = whole(bytes, true).checked_mul(SECOND);
            let millis = millis.and_then(|millis| i32::try_from(millis).ok());
            millis.ok_or_else(|| damaged("a time of day that is too large for milliseconds"))
        }
        StoredValue::DaysOfMillis => {
            let millis = whole(bytes, true);
            let day = Some(millis / DAY).filter(|_| millis % DAY == 0);
            let day = day.and_then(|day| i32::try_from(day).ok());
            day.ok_or_else(|| damaged("a date that is not at the beginning of a day"))
        }
        // Without a sign it has the same bits.
        stored => Ok(whole(bytes, stored == StoredValue::Int(true)) as i32),
    }
}

fn long(bytes: &[u8], stored: StoredValue) -> io::Result<i64> {
    let number = whole(bytes, true);
    match stored {
        StoredValue::LongOfSeconds => {
            number.checked_mul(SECOND).ok_or_else(|| damaged("a moment that is too large for milliseconds"))
        }
        _ => Ok(number),
    }
}

/// A decimal in so many bytes, the highest first.
fn decimal(bytes: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let sign = if is_negative { 0xff } else { 0 };
    let mut digits: Vec<u8> = bytes.iter().copied().chain(std::iter::repeat(sign)).take(length).collect();
    let fits = bytes.iter().skip(length).all(|byte| *byte == sign)
        && digits.last().is_some_and(|byte| (byte & 0x80 != 0) == is_negative);
    if !fits {
        return Err(damaged("a decimal of more digits than its column has"));
    }
    digits.reverse();
    Ok(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stored_as_they_are_or_refused() {
        assert_eq!(int(&[0xff], StoredValue::Int(true)).expect("a number"), -1);
        assert_eq!(int(&[0xff], StoredValue::Int(false)).expect("a number"), 255);
        assert_eq!(int(&[0xff; 4], StoredValue::Int(false)).expect("a number") as u32, u32::MAX);
        assert_eq!(int(&61i32.to_le_bytes(), StoredValue::IntOfSeconds).expect("a time"), 61_000);
        assert!(int(&i32::MAX.to_le_bytes(), StoredValue::IntOfSeconds).is_err());
        assert_eq!(int(&(-2 * DAY).to_le_bytes(), StoredValue::DaysOfMillis).expect("a day"), -2);
        assert!(int(&(DAY + 1).to_le_bytes(), StoredValue::DaysOfMillis).is_err());
        assert_eq!(long(&(-3i64).to_le_bytes(), StoredValue::LongOfSeconds).expect("a moment"), -3_000);
        assert!(long(&i64::MIN.to_le_bytes(), StoredValue::LongOfSeconds).is_err());
    }

    #[test]
    fn decimals_keep_sign_and_digits() {
        assert_eq!(decimal(&(-2i128).to_le_bytes(), 2).expect("a decimal"), [0xff, 0xfe]);
        assert_eq!(decimal(&0x0102i128.to_le_bytes(), 2).expect("a decimal"), [1, 2]);
        assert_eq!(decimal(&[5, 0, 0, 0], 6).expect("a decimal"), [0, 0, 0, 0, 0, 5]);
        for too_large in [128i128, -129, 1 << 80] {
            assert!(decimal(&too_large.to_le_bytes(), 1).is_err(), "{too_large}");
        }
    }
}
