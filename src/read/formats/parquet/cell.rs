//! A value of a record, whatever its column stores it as.

use std::borrow::Cow;

use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};

use super::leaf::Meaning;
use crate::document::DocumentName;
use crate::read::date::{Day, day, written_day};
use crate::read::record::Value;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// The Julian day of 1970-01-01.
pub(super) const EPOCH: i64 = 2_440_588;

/// A value of a record.
#[derive(Clone, Debug)]
pub(in crate::read::formats) enum Cell {
    Null,
    /// Bytes that may be UTF-8.
    Text(ByteArray),
    /// A text of so many bytes, which is not read: a record may not be so long.
    Long(u64),
    /// A list without a text.
    NoTexts,
    Truth(bool),
    Integer(i128),
    Real(f64),
    /// Seconds since 1970-01-01, and the day.
    Moment(f64, i64),
    Other(&'static str),
}

impl Cell {
    /// The id that it is: a string, or a whole number.
    pub(super) fn id(&self) -> Option<DocumentName<'_>> {
        self.spelt().map(|text| DocumentName::of_kind(text, matches!(self, Cell::Integer(_))))
    }

    /// A string, or a whole number in digits.
    pub(super) fn spelt(&self) -> Option<Cow<'_, str>> {
        match self {
            Cell::Text(text) => std::str::from_utf8(text.data()).ok().map(Cow::Borrowed),
            Cell::Integer(number) => Some(number.to_string().into()),
            _ => None,
        }
    }

    /// The value that is counted: as a file of text would have it.
    pub(in crate::read::formats) fn observed(&self) -> Option<Cow<'_, str>> {
        match self {
            // As JSON spells it: 2.0, not 2.
            Cell::Real(number) if number.is_finite() => Some(format!("{number:?}").into()),
            Cell::Moment(_, day) => i32::try_from(*day).ok().map(|day| written_day(day).into()),
            other => other.spelt(),
        }
    }

    /// The value to compare by.
    pub(super) fn value(&self) -> Option<Value> {
        match self {
            Cell::Text(text) => {
                std::str::from_utf8(text.data()).ok().map(|text| Value::Text(text.to_owned()))
            }
            Cell::Integer(number) => Some(Value::integer(*number)),
            Cell::Real(number) => Value::real(*number),
            Cell::Moment(seconds, _) => Value::real(*seconds),
            Cell::Null | Cell::NoTexts | Cell::Long(_) | Cell::Truth(_) | Cell::Other(_) => None,
        }
    }

    /// The day that it dates.
    pub(in crate::read::formats) fn day(&self) -> Day {
        let known = match self {
            Cell::Null | Cell::NoTexts => return Day::None,
            Cell::Text(text) => std::str::from_utf8(text.data()).ok().and_then(day),
            Cell::Integer(number) => day(&number.to_string()),
            Cell::Real(number) => day(&number.to_string()),
            Cell::Moment(_, day) => i32::try_from(*day).ok(),
            Cell::Long(_) | Cell::Truth(_) | Cell::Other(_) => None,
        };
        known.map_or(Day::Unclear, Day::Known)
    }

    /// Bytes of its text.
    pub(in crate::read::formats) fn bytes(&self) -> u64 {
        match self {
            Cell::Text(text) => text.len() as u64,
            Cell::Long(bytes) => *bytes,
            _ => 0,
        }
    }

    /// What it is, as people call it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Cell::Null => "null",
            Cell::NoTexts => "a list",
            Cell::Text(_) | Cell::Long(_) => "a string",
            Cell::Integer(_) | Cell::Real(_) => "a number",
            Cell::Moment(..) => "a date",
            Cell::Truth(_) => "true or false",
            Cell::Other(what) => what,
        }
    }
}

/// What is stored, as a cell.
pub(super) trait CellOf {
    fn cell(self, meaning: Meaning) -> Cell;
}

fn whole(number: i64, meaning: Meaning) -> Cell {
    match meaning {
        Meaning::Signed => Cell::Integer(number.into()),
        Meaning::Unsigned => Cell::Integer((number as u64).into()),
        Meaning::Days => Cell::Moment(number as f64 * DAY as f64, number),
        Meaning::Moments(second) => {
            Cell::Moment(number as f64 / second as f64, number.div_euclid(second).div_euclid(DAY))
        }
        Meaning::Decimal(scale) => decimal(number.into(), scale),
        Meaning::Other(what) => Cell::Other(what),
        Meaning::Text | Meaning::Real | Meaning::Julian | Meaning::Uuid => Cell::Other("a number"),
    }
}

/// A number with some digits behind the point; a whole one without.
fn decimal(digits: i128, scale: u32) -> Cell {
    match scale {
        0 => Cell::Integer(digits),
        scale => Cell::Real(digits as f64 / 10f64.powi(i32::try_from(scale).unwrap_or(i32::MAX))),
    }
}

/// A number in two's complement, the highest byte first.
fn big_endian(bytes: &[u8], scale: u32) -> Cell {
    if bytes.len() > 16 {
        return Cell::Other("a number of too many digits");
    }
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut digits = [sign; 16];
    digits[16 - bytes.len()..].copy_from_slice(bytes);
    decimal(i128::from_be_bytes(digits), scale)
}

/// An identifier of 16 bytes as it is written (RFC 9562, section 4).
pub(super) fn written_uuid(bytes: &[u8]) -> Option<String> {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes.try_into().ok()?));
    Some([0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]).join("-"))
}

impl CellOf for bool {
    fn cell(self, _: Meaning) -> Cell {
        Cell::Truth(self)
    }
}

impl CellOf for i32 {
    fn cell(self, meaning: Meaning) -> Cell {
        match meaning {
            Meaning::Unsigned => Cell::Integer((self as u32).into()),
            meaning => whole(self.into(), meaning),
        }
    }
}

impl CellOf for i64 {
    fn cell(self, meaning: Meaning) -> Cell {
        whole(self, meaning)
    }
}

impl CellOf for Int96 {
    fn cell(self, _: Meaning) -> Cell {
        let [low, high, day] = [0, 1, 2].map(|at| self.data().get(at).copied().unwrap_or_default());
        let nanos = u64::from(high) << 32 | u64::from(low);
        let day = i64::from(day) - EPOCH;
        Cell::Moment((day * DAY) as f64 + nanos as f64 / 1e9, day)
    }
}

impl CellOf for f32 {
    fn cell(self, _: Meaning) -> Cell {
        Cell::Real(self.into())
    }
}

impl CellOf for f64 {
    fn cell(self, _: Meaning) -> Cell {
        Cell::Real(self)
    }
}

impl CellOf for ByteArray {
    fn cell(self, meaning: Meaning) -> Cell {
        match meaning {
            Meaning::Decimal(scale) => big_endian(self.data(), scale),
            _ => Cell::Text(self),
        }
    }
}

impl CellOf for FixedLenByteArray {
    fn cell(self, meaning: Meaning) -> Cell {
        match meaning {
            Meaning::Decimal(scale) => big_endian(self.data(), scale),
            Meaning::Uuid => match written_uuid(self.data()) {
                Some(text) => Cell::Text(ByteArray::from(text.into_bytes())),
                None => Cell::Other("bytes"),
            },
            Meaning::Other(what) => Cell::Other(what),
            _ => Cell::Other("bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_are_what_they_say() {
        assert_eq!((-1i64).cell(Meaning::Unsigned).id().as_deref(), Some("18446744073709551615"));
        assert_eq!((-1i32).cell(Meaning::Unsigned).id().as_deref(), Some("4294967295"));
        assert_eq!((-7i32).cell(Meaning::Signed).id().as_deref(), Some("-7"));
        assert_eq!((-7i32).cell(Meaning::Signed).id(), Some(DocumentName::number("-7")));
        assert_eq!(ByteArray::from("-7").cell(Meaning::Text).id(), Some("-7".into()));
        assert_eq!((-1i64).cell(Meaning::Moments(1000)).day(), Day::Known(-1));
        assert_eq!(19_723i32.cell(Meaning::Days).day(), Day::Known(19_723));
        assert_eq!(1_710_113_400i64.cell(Meaning::Signed).day(), Day::Known(19_792));
        let mut moment = Int96::new();
        moment.set_data(0, 0, 2_440_589);
        assert_eq!(
            (moment.cell(Meaning::Julian).day(), moment.cell(Meaning::Julian).value()),
            (Day::Known(1), Value::real(86_400.0))
        );
        assert_eq!(ByteArray::from(vec![0xff, 0x38]).cell(Meaning::Decimal(2)).value(), Value::real(-2.0));
        assert_eq!(ByteArray::from("a").cell(Meaning::Text).id().as_deref(), Some("a"));
        let uuid = FixedLenByteArray::from(ByteArray::from((0..16).collect::<Vec<u8>>()));
        assert_eq!(uuid.cell(Meaning::Uuid).id().as_deref(), Some("00010203-0405-0607-0809-0a0b0c0d0e0f"));
        assert_eq!(f64::NAN.cell(Meaning::Real).value(), None);
        assert_eq!(true.cell(Meaning::Other("")).value(), None);
    }
}
