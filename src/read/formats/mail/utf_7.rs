//! UTF-7, which the Encoding Standard leaves out and old mails are written in.

use std::char::{REPLACEMENT_CHARACTER, decode_utf16};

use super::transfer::six_bits;

/// Names of UTF-7.
const NAMES: [&str; 5] = ["utf-7", "utf7", "unicode-1-1-utf-7", "x-unicode-2-0-utf-7", "csutf7"];

/// Whether a name is one of UTF-7.
pub(super) fn is_utf_7(name: &str) -> bool {
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The text of UTF-7 (RFC 2152). A sign that begins no characters stays as it stands.
pub(super) fn utf_7_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'+' {
            text.push(if byte.is_ascii() { char::from(byte) } else { REPLACEMENT_CHARACTER });
            continue;
        }
        let length = behind.iter().position(|byte| six_bits(*byte).is_none()).unwrap_or(behind.len());
        let (codes, end) = behind.split_at(length);
        let units = units(codes);
        if units.is_empty() && !end.starts_with(b"-") || units.is_empty() && length > 0 {
            text.push('+');
            continue;
        }
        if units.is_empty() {
            text.push('+');
        }
        text.extend(decode_utf16(units).map(|letter| letter.unwrap_or(REPLACEMENT_CHARACTER)));
        rest = end.strip_prefix(b"-").unwrap_or(end);
    }
    text
}

/// The units of UTF-16 that codes stand for.
fn units(codes: &[u8]) -> Vec<u16> {
    let (mut bits, mut held) = (0u32, 0);
    let mut units = Vec::with_capacity(codes.len() / 2);
    for six in codes.iter().filter_map(|code| six_bits(*code)) {
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 16 {
            held -= 16;
            units.push((bits >> held) as u16);
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beside_codes_stay() {
        for (bytes, text) in [
            // As Python writes them.
            (
                &b"+BB8EQAQ4BDIENQRC, +BDwEOARA. a+-b"[..],
                "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43c}\u{438}\u{440}. a+b",
            ),
            (
                b"+BB8EQAQ4BDIENQRC +BDwEOARA",
                "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{43c}\u{438}\u{440}",
            ),
            (b"caf+AOk- +2D3eAA-!", "caf\u{e9} \u{1f600}!"),
            (b"Hi Mom -+Jjo--!", "Hi Mom -\u{263a}-!"),
            (b"+ZeVnLIqe-", "\u{65e5}\u{672c}\u{8a9e}"),
            // Which is none.
            (b"1 + 2 = 3+", "1 + 2 = 3+"),
            (b"C+a b", "C+a b"),
            (b"+2D0- \xe9", "\u{fffd} \u{fffd}"),
            (b"", ""),
        ] {
            assert_eq!(utf_7_text(bytes), text);
        }
    }
}
