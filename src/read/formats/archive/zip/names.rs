//! What members are called, as people read it: in UTF-8, or in the code page of DOS.

use std::borrow::Cow;

/// The upper half of code page 437.
#[rustfmt::skip]
const DOS: [u16; 128] = [
    0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0, 0x00e5, 0x00e7,
    0x00ea, 0x00eb, 0x00e8, 0x00ef, 0x00ee, 0x00ec, 0x00c4, 0x00c5,
    0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9,
    0x00ff, 0x00d6, 0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192,
    0x00e1, 0x00ed, 0x00f3, 0x00fa, 0x00f1, 0x00d1, 0x00aa, 0x00ba,
    0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1, 0x00ab, 0x00bb,
    0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x2561, 0x2562, 0x2556,
    0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510,
    0x2514, 0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f,
    0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550, 0x256c, 0x2567,
    0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256b,
    0x256a, 0x2518, 0x250c, 0x2588, 0x2584, 0x258c, 0x2590, 0x2580,
    0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4,
    0x03a6, 0x0398, 0x03a9, 0x03b4, 0x221e, 0x03c6, 0x03b5, 0x2229,
    0x2261, 0x00b1, 0x2265, 0x2264, 0x2320, 0x2321, 0x00f7, 0x2248,
    0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2, 0x25a0, 0x00a0,
];

/// The name that some bytes are. Programs that write UTF-8 do not all say so: bytes that are UTF-8 are taken for it, and others
/// for the code page of DOS unless they are said to be UTF-8.
pub(super) fn shown_name(name: &[u8], is_said_utf8: bool) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(name) => Cow::Borrowed(name),
        Err(_) if is_said_utf8 => String::from_utf8_lossy(name),
        Err(_) => Cow::Owned(name.iter().map(|byte| of_dos(*byte)).collect()),
    }
}

/// The character that a byte is on code page 437.
fn of_dos(byte: u8) -> char {
    let upper = byte.checked_sub(128).map(|at| u32::from(DOS[usize::from(at)]));
    upper.map_or(char::from(byte), |code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_were_written() {
        assert_eq!(shown_name(b"a/b.txt", false), "a/b.txt");
        assert_eq!(shown_name("\u{e9}\u{4e2d}".as_bytes(), false), "\u{e9}\u{4e2d}");
        assert_eq!(shown_name(b"caf\x82 \xe1\xff.txt", false), "caf\u{e9} \u{df}\u{a0}.txt");
        assert_eq!(shown_name(b"\x82", true), "\u{fffd}");
        assert_eq!(DOS.iter().filter(|code| char::from_u32(u32::from(**code)).is_none()).count(), 0);
    }
}
