//! How far the plain characters of a JSON string go, eight bytes at a time.

/// How many bytes stand before the first that JSON lets stand in no string as it is: a quote, a backslash, or a control character
/// (RFC 8259, section 7). All of them if there is none.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (i, word) in words.iter().enumerate() {
        let marks = marks(*word);
        if marks != 0 {
            return i * size_of::<u64>() + marks.trailing_zeros() as usize / 8;
        }
    }
    let length = rest.iter().position(|byte| is_marked(*byte)).unwrap_or(rest.len());
    bytes.len() - rest.len() + length
}

/// Whether a byte ends a plain stretch.
fn is_marked(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The top bit of each of eight bytes that ends a plain stretch.
#[inline]
fn marks(bytes: [u8; 8]) -> u64 {
    let lanes = |byte: u8| u64::from_le_bytes([byte; 8]);
    let bytes = u64::from_le_bytes(bytes);
    let low = bytes & lanes(0x7f);
    // Bit 7 of a sum: its lane is not that byte, or no control character. No lane carries into the next.
    let is_not = |byte: u8| (low ^ lanes(byte)) + lanes(0x7f);
    let no_control = low + lanes(0x80 - b' ');
    !(is_not(b'"') & is_not(b'\\') & no_control) & !bytes & lanes(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_known_at_every_place() {
        for byte in 0..=255u8 {
            for place in 0..40 {
                for others in [b'a', b' ', b'~', 0x7f, 0xa2, 0xff] {
                    let mut bytes = [others; 40];
                    bytes[place] = byte;
                    let ends = matches!(byte, 0..=0x1f | b'"' | b'\\');
                    let length = if ends { place } else { bytes.len() };
                    assert_eq!(plain_length(&bytes), length, "{byte:#x} at {place} among {others:#x}");
                }
            }
        }
    }

    #[test]
    fn the_first_mark_ends_it_wherever_it_stands() {
        for length in 0..80 {
            let mut bytes = [b'x'; 80];
            assert_eq!(plain_length(&bytes[..length]), length);
            for mark in [b'"', b'\\', 0, 0x1f] {
                bytes[length..].fill(mark);
                assert_eq!(plain_length(&bytes), length);
                assert_eq!(plain_length(&bytes[..length]), length);
            }
        }
    }
}
