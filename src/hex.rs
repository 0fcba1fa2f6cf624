//! Ids and digests as text: hexadecimal digits, lower case, all of them. As numbers they would lose their last digits
//! in every reader of JSON that computes with floats.

use std::fmt::LowerHex;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// The number that `text` is, if it has exactly the digits of a `T`.
pub(crate) fn parse<T: TryFrom<u128>>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let number =
        u128::from_str_radix(text, 16).ok().filter(|_| digits && text.len() == 2 * size_of::<T>())?;
    T::try_from(number).ok()
}

/// The digits of a number.
pub(crate) fn text<T: LowerHex>(number: &T) -> String {
    format!("{number:0width$x}", width = 2 * size_of::<T>())
}

pub(crate) fn serialize<T: LowerHex, S: Serializer>(number: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(number))
}

pub(crate) fn deserialize<'de, T: TryFrom<u128>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits = 2 * size_of::<T>();
    parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is not {digits} hexadecimal digits")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_digits_of_a_number_are_one() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(parse::<u64>(&text(&number)), Some(number));
            assert_eq!(parse::<u128>(&text(&number)), None, "too few for this type");
        }
        assert_eq!(text(&0xabu64), "00000000000000ab");
        assert_eq!(parse::<u128>(&text(&u128::MAX)), Some(u128::MAX));
        for other in
            ["", "ab", "00000000000000AB", "+0000000000000ab", "00000000000000a ", "000000000000000ab"]
        {
            assert_eq!(parse::<u64>(other), None, "{other:?}");
        }
    }
}
