//! Bytes of any character set to text, by the Encoding Standard.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr_iter, memmem};

/// Bytes in which HTML may say its character set.
const PRESCAN: usize = 1024;
/// Bytes that the character set is guessed by.
const GUESSED_BY: usize = 64 << 10;
/// With what ISO-2022-JP turns to other characters than ASCII, behind an escape. Programs for terminals write no such.
const TURNS: [&[u8]; 3] = [b"$B", b"$@", b"(J"];
const ESCAPE: u8 = 0x1b;

/// Bytes that markup without a byte order mark is recognised as UTF-16 by, at least and at most.
const BEGIN_UTF_16: (usize, usize) = (8, 32);

/// Which of the two forms of UTF-16 markup is in, if it is: by its byte order mark, or because it begins with characters of ASCII, of
/// which every other byte is zero.
pub(in crate::read) fn utf_16_of_markup(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        // Zeros behind the mark are those of UTF-32.
        return Some(encoding).filter(|known| *known != UTF_8 && !bytes[mark..].starts_with(b"\0\0"));
    }
    let (least, most) = BEGIN_UTF_16;
    let begin = &bytes[..bytes.len().min(most)];
    let all = |is: fn(&[u8]) -> bool| begin.len() >= least && begin.chunks_exact(2).all(is);
    if all(|unit| unit[0] != 0 && unit[1] == 0) {
        Some(UTF_16LE)
    } else if all(|unit| unit[0] == 0 && unit[1] != 0) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// The text that bytes are. What counts is, in this order: a byte order mark, the declared name, the one that HTML declares
/// in itself, and what the bytes look like. Bytes that are none in the set become replacement characters.
pub(super) fn decode<'a>(bytes: &'a [u8], declared: Option<&str>, html: bool) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    // Of the sets that browsers refuse, a text would be one character, whatever it says.
    let said = || declared.and_then(|name| Encoding::for_label_no_replacement(name.as_bytes()));
    let says = || if html { by_meta(&bytes[..bytes.len().min(PRESCAN)]) } else { None };
    let begins = || if html { utf_16_of_markup(bytes) } else { None };
    let encoding = said().or_else(says).or_else(begins).unwrap_or_else(|| guess(bytes));
    encoding.decode_without_bom_handling(bytes).0
}

/// What the bytes look like: UTF-8 where they are UTF-8, but for ISO-2022-JP, which is ASCII to whoever passes over its escapes.
fn guess(bytes: &[u8]) -> &'static Encoding {
    if is_iso_2022_jp(bytes) {
        return ISO_2022_JP;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESSED_BY)], bytes.len() <= GUESSED_BY);
    detector.guess(None, Utf8Detection::Allow)
}

/// Whether bytes turn to Japanese. They may be cut within a character, which a detector that decodes them would not allow.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    let turns = |at: usize| TURNS.iter().any(|turn| bytes[at + 1..].starts_with(turn));
    memchr_iter(ESCAPE, bytes).any(turns) && bytes.is_ascii()
}

/// The character set that the beginning of HTML declares: `<meta charset=...>`, or in the content of a `<meta http-equiv>`.
/// (HTML Standard, "prescan a byte stream to determine its encoding", without its way around attributes.)
fn by_meta(head: &[u8]) -> Option<&'static Encoding> {
    let lower = head.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = memmem::find(&lower[from..], b"<meta") {
        let start = from + found + b"<meta".len();
        let length = lower[start..].iter().position(|byte| *byte == b'>').unwrap_or(lower.len() - start);
        if let Some(encoding) = charset_in(&lower[start..start + length]) {
            return Some(encoding);
        }
        from = start + length;
    }
    None
}

/// The character set that stands behind `charset=`.
fn charset_in(tag: &[u8]) -> Option<&'static Encoding> {
    let behind = &tag[memmem::find(tag, b"charset")? + b"charset".len()..];
    let value = behind.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
    let length = value
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\'' | b';' | b' ' | b'/'))
        .unwrap_or(value.len());
    let encoding = Encoding::for_label_no_replacement(&value[..length])?;
    // Whoever could read the declaration did not read UTF-16 (HTML Standard).
    Some(match encoding {
        utf_16 if utf_16 == UTF_16LE || utf_16 == UTF_16BE => UTF_8,
        user if user == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
}

/// The character set that an XML declaration names. Without one it is UTF-8.
#[cfg(feature = "office")]
pub(super) fn declared_in_xml(bytes: &[u8]) -> Option<&str> {
    let named = || {
        let inside = bytes.strip_prefix(b"<?xml")?;
        let inside = &inside[..memmem::find(&inside[..inside.len().min(PRESCAN)], b"?>")?];
        let behind = &inside[memmem::find(inside, b"encoding")? + b"encoding".len()..];
        let value = behind.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let (quote, value) = value.split_first()?;
        std::str::from_utf8(&value[..value.iter().position(|byte| byte == quote)?]).ok()
    };
    named().or(Some("utf-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "office")]
    #[test]
    fn xml_names_its_set_or_is_utf_8() {
        for (bytes, named) in [
            (&b"<?xml version=\"1.0\" encoding='koi8-r'?><a/>"[..], "koi8-r"),
            (b"<?xml version='1.0'?><a encoding='x'/>", "utf-8"),
            (b"<?xml encoding='x", "utf-8"),
            (b"", "utf-8"),
        ] {
            assert_eq!(declared_in_xml(bytes), Some(named));
        }
    }

    #[test]
    fn a_mark_goes_before_a_name_and_a_name_before_a_meta() {
        assert_eq!(decode(b"\xff\xfea\0", Some("latin1"), false), "a");
        assert_eq!(decode(b"\xef\xbb\xbf\xc3\xa9", Some("latin1"), false), "\u{e9}");
        let page = b"<META charset='koi8-r'>\xc1";
        assert!(decode(page, None, true).ends_with('\u{430}'));
        assert!(decode(page, Some("latin1"), true).ends_with('\u{c1}'));
        assert!(decode(page, Some("no such name"), true).ends_with('\u{430}'));
        let old = b"<meta name=x><meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">\xe0";
        assert!(decode(old, None, true).ends_with('\u{430}'));
        assert!(decode(b"<meta charset=utf-16>\xc3\xa9", None, true).ends_with('\u{e9}'));
    }

    #[test]
    fn bytes_without_a_name_are_guessed() {
        assert_eq!(decode("\u{e9}t\u{e9}".as_bytes(), None, false), "\u{e9}t\u{e9}");
        let russian =
            "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43a}\u{430}\u{43a} \u{434}\u{435}\u{43b}\u{430}";
        let (bytes, ..) = encoding_rs::WINDOWS_1251.encode(russian);
        assert_eq!(decode(&bytes, None, false), russian);
        assert_eq!(decode(b"na\xefve caf\xe9", None, false), "na\u{ef}ve caf\u{e9}");
    }

    #[test]
    fn japanese_in_seven_bits_is_seen_by_its_escapes() {
        let says = "\u{3053}\u{308c}\u{306f}\u{65e5}\u{672c}\u{8a9e} (ABC) \u{3067}\u{3059}";
        let bytes = ISO_2022_JP.encode(says).0.into_owned();
        assert!(bytes.is_ascii());
        for html in [false, true] {
            assert_eq!(decode(&bytes, None, html), says);
            assert_eq!(decode(&bytes, Some("iso-2022-jp"), html), says);
            // Cut within a character.
            assert!(decode(&bytes[..10], None, html).starts_with('\u{3053}'));
        }
        assert_eq!(decode(b"\x1b$@F|K\\\x1b(J 1", None, false), "\u{65e5}\u{672c} 1");
        for other in ["\x1b[31mred\x1b(B\x1b[m", "a \x1b", "\u{e9} \x1b$B", "$B", "\x1b$)Cabc"] {
            assert_eq!(decode(other.as_bytes(), None, false), other);
        }
        // Sets that a browser refuses are no single character.
        assert_eq!(decode(b"~{<:Ky~}", Some("hz-gb-2312"), false), "~{<:Ky~}");
        assert_eq!(decode(b"<meta charset=iso-2022-kr>a", None, true), "<meta charset=iso-2022-kr>a");
    }

    #[test]
    fn markup_in_utf_16_needs_no_mark() {
        let page = "<p>\u{43f}\u{440}\u{438}";
        let units = |bytes: fn(u16) -> [u8; 2]| page.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        for bytes in [units(u16::to_le_bytes), units(u16::to_be_bytes)] {
            assert_eq!(utf_16_of_markup(&bytes), None, "other letters are too near");
        }
        let page = format!("<html><body> <p>{}", page.repeat(20));
        for (mark, bytes, set) in [
            (&b"\xff\xfe"[..], page.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(), UTF_16LE),
            (b"\xfe\xff", page.encode_utf16().flat_map(u16::to_be_bytes).collect(), UTF_16BE),
        ] {
            for bytes in [bytes.clone(), [mark, &bytes].concat()] {
                assert_eq!(utf_16_of_markup(&bytes), Some(set));
                assert_eq!(decode(&bytes, None, true), page);
            }
        }
        for other in
            [&b""[..], b"<html></html>", b"\xef\xbb\xbf<html>", b"\xff\xfe\0\0<\0\0\0", &[0; 40], b"<\0p\0"]
        {
            assert_eq!(utf_16_of_markup(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_declaration_behind_the_first_kibibyte_is_none() {
        let late = [&[b' '; PRESCAN][..], b"<meta charset=koi8-r>\xc3\xa9"].concat();
        assert!(decode(&late, None, true).ends_with('\u{e9}'));
    }
}
