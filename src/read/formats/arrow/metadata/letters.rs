//! Bytes as the letters of RFC 4648.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The letters of some bytes.
pub(in crate::read::formats::arrow) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for some in bytes.chunks(3) {
        let number =
            some.iter().chain([0; 2].iter()).take(3).fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        for at in 0..4 {
            let letter = char::from(LETTERS[number >> (18 - 6 * at) & 63]);
            text.push(if at <= some.len() { letter } else { '=' });
        }
    }
    text
}

/// The bytes of some letters; `None` if anything else is among them.
pub(in crate::read::formats::arrow) fn of_base64(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    for some in letters.chunks(4) {
        let mut number = 0u32;
        for letter in some {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            number = number << 6 | u32::from(value);
        }
        // The last letters may be fewer, and stand for a byte less than they are.
        let missing = 4 - some.len() as u32;
        let [_, whole @ ..] = (number << (6 * missing)).to_be_bytes();
        bytes.extend_from_slice(whole.get(..some.len().checked_sub(1).filter(|bytes| *bytes > 0)?)?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_bytes() {
        let known = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in known {
            assert_eq!((base64(bytes.as_bytes()).as_str(), of_base64(text)), (text, Some(bytes.into())));
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
        assert!(["Z", "Zm9vY", "Zm 9v", "Zm9\u{fc}", "Z===v"].iter().all(|text| of_base64(text).is_none()));
    }

    proptest::proptest! {
        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            proptest::prop_assert_eq!(of_base64(&base64(&bytes)), Some(bytes));
        }
    }
}
