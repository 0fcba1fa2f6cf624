//! Values of a fixed size.

use std::io;

use bytes::Bytes;

use super::super::metadata::flat::damaged;
use super::super::metadata::schema::FixedMeaning;
use crate::read::formats::parquet::Cell;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A whole number of up to eight bytes, the lowest first.
pub(in crate::read::formats::arrow) fn whole(bytes: &[u8], signed: bool) -> i64 {
    let fill = if signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut all = [fill; 8];
    let length = bytes.len().min(8);
    all[..length].copy_from_slice(&bytes[..length]);
    i64::from_le_bytes(all)
}

/// A key, or the end of a run; `None` if it is negative.
pub(in crate::read::formats::arrow) fn key(bytes: &[u8], signed: bool) -> Option<u64> {
    match whole(bytes, signed) {
        number if signed => u64::try_from(number).ok(),
        number => Some(number as u64),
    }
}

/// An offset.
pub(in crate::read::formats::arrow) fn offset(bytes: &[u8]) -> io::Result<u64> {
    key(bytes, true).ok_or_else(|| damaged("an offset of less than nothing"))
}

/// A number with a fraction, of two bytes, four or eight.
pub(in crate::read::formats::arrow) fn real(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b] => half(u16::from_le_bytes([a, b])),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        _ => f64::from_bits(whole(bytes, false) as u64),
    }
}

/// A number of half precision: a sign, five bits of an exponent, ten of a fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// The digits of a decimal, if there are not too many.
pub(in crate::read::formats::arrow) fn digits(bytes: &[u8]) -> Option<i128> {
    let fill = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut all = [fill; 16];
    let length = bytes.len().min(16);
    all[..length].copy_from_slice(&bytes[..length]);
    let digits = i128::from_le_bytes(all);
    let sign = if digits < 0 { 0xff } else { 0 };
    bytes.iter().skip(16).all(|byte| *byte == sign).then_some(digits)
}

/// Whether a number of any length is below zero, and the digits without the sign.
pub(in crate::read::formats::arrow) fn long_digits(bytes: &[u8]) -> (bool, String) {
    let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut carry = is_negative;
    let mut parts: Vec<u32> = Vec::with_capacity(bytes.len().div_ceil(4));
    for four in bytes.chunks(4) {
        let mut part = [if is_negative { 0xff } else { 0 }; 4];
        part[..four.len()].copy_from_slice(four);
        let part = u32::from_le_bytes(part);
        let (part, carries) = if is_negative { (!part).overflowing_add(carry.into()) } else { (part, false) };
        carry = carries;
        parts.push(part);
    }
    // The last nine digits at a time.
    let mut digits = Vec::new();
    while parts.iter().any(|part| *part > 0) {
        let mut rest = 0_u64;
        for part in parts.iter_mut().rev() {
            let value = rest << 32 | u64::from(*part);
            *part = (value / 1_000_000_000) as u32;
            rest = value % 1_000_000_000;
        }
        digits.push(rest);
    }
    let first = digits.pop().unwrap_or_default().to_string();
    (is_negative, digits.iter().rev().fold(first, |first, nine| format!("{first}{nine:09}")))
}

/// A value as a cell.
pub(in crate::read::formats::arrow) fn fixed_cell(bytes: &[u8], meaning: FixedMeaning) -> Cell {
    match meaning {
        FixedMeaning::Signed => Cell::Integer(whole(bytes, true).into()),
        FixedMeaning::Unsigned => Cell::Integer((whole(bytes, false) as u64).into()),
        FixedMeaning::Real => Cell::Real(real(bytes)),
        FixedMeaning::Days => {
            let days = whole(bytes, true);
            Cell::Moment(days as f64 * DAY as f64, days)
        }
        FixedMeaning::Moments { second, .. } => {
            let at = whole(bytes, true);
            Cell::Moment(at as f64 / second as f64, at.div_euclid(second).div_euclid(DAY))
        }
        FixedMeaning::Times(_) => Cell::Other("a time of day"),
        FixedMeaning::Duration => Cell::Other("a length of time"),
        FixedMeaning::Interval => Cell::Other("an interval"),
        FixedMeaning::Bytes => Cell::Other("bytes of a fixed length"),
        FixedMeaning::Encoded => Cell::Text(Bytes::copy_from_slice(bytes).into()),
        FixedMeaning::Decimal(scale) => match digits(bytes) {
            Some(digits) if scale == 0 => Cell::Integer(digits),
            Some(digits) => Cell::Real(digits as f64 / 10f64.powi(scale)),
            None => Cell::Other("a number of too many digits"),
        },
    }
}

/// A whole number for people.
pub(in crate::read::formats::arrow) fn integer(bytes: &[u8], signed: bool) -> i128 {
    if signed { whole(bytes, true).into() } else { (whole(bytes, false) as u64).into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::date::Day;

    #[test]
    fn numbers_are_what_their_bytes_say() {
        assert_eq!(key(&[0xff], true), None);
        assert_eq!((key(&[0xff], false), key(&[0xff; 8], false)), (Some(255), Some(u64::MAX)));
        assert!(offset(&[0, 0, 0, 0x80]).is_err());
        let halves = [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 2f64.powi(-24)), (0x7bff, 65504.0)];
        assert!(halves.iter().all(|(bits, number)| half(*bits) == *number));
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
        assert_eq!((digits(&[0xff; 32]), digits(&[0xfe, 0xff, 0xff, 0xff])), (Some(-1), Some(-2)));
        assert_eq!(digits(&[&[0; 16][..], &[1; 16]].concat()), None);
        let two_to_the_128 = [&[0; 16][..], &[1], &[0; 15]].concat();
        assert_eq!(long_digits(&two_to_the_128), (false, "340282366920938463463374607431768211456".into()));
        let negative = [&[0; 16][..], &[0xff; 16]].concat();
        assert_eq!(long_digits(&negative), (true, "340282366920938463463374607431768211456".into()));
    }

    proptest::proptest! {
        #[test]
        fn long_numbers_have_the_digits_of_short_ones(number in proptest::num::i128::ANY, few in -2_000_000_000_i128..2_000_000_000) {
            for number in [number, few] {
                let fill = if number < 0 { 0xff } else { 0 };
                let bytes = [&number.to_le_bytes()[..], &[fill; 16]].concat();
                proptest::prop_assert_eq!(long_digits(&bytes), (number < 0, number.unsigned_abs().to_string()));
                proptest::prop_assert_eq!(long_digits(&number.to_le_bytes()), (number < 0, number.unsigned_abs().to_string()));
            }
        }
    }

    #[test]
    fn moments_are_in_their_day() {
        let before =
            fixed_cell(&(-1i64).to_le_bytes(), FixedMeaning::Moments { second: 1_000_000_000, utc: true });
        assert_eq!(before.day(), Day::Known(-1));
        assert_eq!(fixed_cell(&19_723i32.to_le_bytes(), FixedMeaning::Days).day(), Day::Known(19_723));
        let price = fixed_cell(&(-1250i64).to_le_bytes(), FixedMeaning::Decimal(2));
        assert_eq!(price.observed().as_deref(), Some("-12.5"));
        let thousands = fixed_cell(&7i32.to_le_bytes(), FixedMeaning::Decimal(-3));
        assert_eq!(thousands.observed().as_deref(), Some("7000.0"));
    }
}
