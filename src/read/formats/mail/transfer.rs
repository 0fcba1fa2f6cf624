//! What parts of mails are packed in to cross lines of seven bits. Whatever is no code of a packing is passed over or stays as it
//! stands: lists put footers behind what is packed, and old programs packed in their own way.

use std::borrow::Cow;

use memchr::memchr;

/// What a part is packed in, as its header `Content-Transfer-Encoding` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    Plain,
    Base64,
    QuotedPrintable,
    Uuencode,
}

impl Transfer {
    /// The packing that a header names; none, if it names no known one.
    pub(super) fn named(name: &str) -> Transfer {
        let name = name.split([';', ' ', '\t']).next().unwrap_or_default();
        match &*name.to_ascii_lowercase() {
            "base64" => Transfer::Base64,
            "quoted-printable" => Transfer::QuotedPrintable,
            "x-uuencode" | "uuencode" | "uue" | "x-uue" => Transfer::Uuencode,
            _ => Transfer::Plain,
        }
    }

    /// What is packed in bytes.
    pub(super) fn unpacked(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Transfer::Plain => Cow::Borrowed(bytes),
            Transfer::Base64 => Cow::Owned(base64(bytes)),
            Transfer::QuotedPrintable => Cow::Owned(quoted_printable(bytes)),
            Transfer::Uuencode => uuencode(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned),
        }
    }
}

/// The six bits of each character of base64, and [`NO_CODE`] of all others.
const CODES: [u8; 256] = codes();
const NO_CODE: u8 = u8::MAX;

const fn codes() -> [u8; 256] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut codes = [NO_CODE; 256];
    let mut at = 0;
    while at < alphabet.len() {
        codes[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    codes
}

/// The six bits that a character of base64 stands for.
pub(super) fn six_bits(character: u8) -> Option<u8> {
    Some(CODES[usize::from(character)]).filter(|bits| *bits != NO_CODE)
}

/// Characters of base64 as they come by, as bytes.
#[derive(Default)]
struct CodeGroup {
    bits: u32,
    held: u8,
}

impl CodeGroup {
    fn take(&mut self, bits: u8, bytes: &mut Vec<u8>) {
        self.bits = self.bits << 6 | u32::from(bits);
        self.held += 1;
        if self.held == 4 {
            bytes.extend_from_slice(&self.bits.to_be_bytes()[1..]);
            *self = CodeGroup::default();
        }
    }

    /// Takes the whole bytes of what is there of a last group.
    fn end(&mut self, bytes: &mut Vec<u8>) {
        let left = (self.bits << (6 * (4 - u32::from(self.held)) % 24)).to_be_bytes();
        bytes.extend_from_slice(&left[1..usize::from(self.held).max(1)]);
        *self = CodeGroup::default();
    }
}

/// What base64 stands for. What is no character of it is passed over (RFC 2045, section 6.8). It ends with its padding, unless whole
/// groups follow, as where somebody packed pieces; and before a line without one character of it, as footers begin.
fn base64(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(packed.len() / 4 * 3);
    let (mut group, mut is_padded) = (CodeGroup::default(), false);
    'lines: for line in packed.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        let says = |byte: &u8| six_bits(*byte).is_some() || *byte == b'=';
        if !line.is_empty() && !line.iter().any(says) {
            break;
        }
        let mut rest = line;
        while !rest.is_empty() {
            if is_padded && !(rest.len().is_multiple_of(4) && rest.iter().all(says)) {
                break 'lines;
            }
            is_padded = false;
            let pad = rest.iter().position(|byte| match six_bits(*byte) {
                Some(bits) => {
                    group.take(bits, &mut bytes);
                    false
                }
                None => *byte == b'=' && group.held > 1,
            });
            let Some(pad) = pad else { break };
            group.end(&mut bytes);
            is_padded = true;
            let padding = rest[pad..].iter().take_while(|byte| matches!(byte, b'=' | b' ' | b'\t')).count();
            rest = &rest[pad + padding..];
        }
    }
    group.end(&mut bytes);
    bytes
}

/// What quoted-printable stands for. What is no code stays as it stands (RFC 2045, section 6.7, note 2).
fn quoted_printable(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(packed.len());
    for line in packed.split_inclusive(|byte| *byte == b'\n') {
        let shown = line.trim_ascii_end();
        let line_end: &[u8] = match line {
            [.., b'\r', b'\n'] => b"\r\n",
            [.., b'\n'] => b"\n",
            _ => b"",
        };
        let (mut rest, line_end) = shown.strip_suffix(b"=").map_or((shown, line_end), |line| (line, b""));
        while let Some(sign) = memchr(b'=', rest) {
            bytes.extend_from_slice(&rest[..sign]);
            let code =
                rest.get(sign + 1..sign + 3).and_then(|digits| Some((hex(digits[0])?, hex(digits[1])?)));
            let (byte, length) = code.map_or((b'=', 1), |(high, low)| (high << 4 | low, 3));
            bytes.push(byte);
            rest = &rest[sign + length..];
        }
        bytes.extend_from_slice(rest);
        bytes.extend_from_slice(line_end);
    }
    bytes
}

/// What a hexadecimal digit stands for.
fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// What uuencode stands for, between its lines `begin` and `end`; `None` if nothing begins.
fn uuencode(packed: &[u8]) -> Option<Vec<u8>> {
    let mut lines = packed.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.find(|line| line.starts_with(b"begin "))?;
    let mut bytes = Vec::with_capacity(packed.len() / 4 * 3);
    for line in lines.take_while(|line| *line != b"end") {
        let Some((length, codes)) = line.split_first() else { continue };
        let value = |code: &u8| code.wrapping_sub(b' ') & 0x3f;
        let (from, mut group) = (bytes.len(), CodeGroup::default());
        codes.iter().for_each(|code| group.take(value(code), &mut bytes));
        group.end(&mut bytes);
        bytes.truncate(from + usize::from(value(length)));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail_parser::decoders::base64::base64_decode;
    use mail_parser::decoders::quoted_printable::quoted_printable_decode;
    use proptest::prelude::*;

    fn unpacked(transfer: &str, bytes: &[u8]) -> String {
        String::from_utf8(Transfer::named(transfer).unpacked(bytes).into_owned()).expect("text")
    }

    #[test]
    fn what_is_no_base64_is_passed_over() {
        // What Python's `email` makes of these, but for the last four, of which it leaves all packed, or takes the footer for codes.
        for (packed, says) in [
            ("SGVsbG8gQm9i", "Hello Bob"),
            ("SGVs\r\nbG8g\r\nQm9iLg==\r\n", "Hello Bob."),
            (" SGVs \tbG8gQm9i\r\n\r\n", "Hello Bob"),
            ("SGVsbG8gQm9iLg", "Hello Bob."),
            ("SGVsbG8gQm9i!\nLiBCeWU=", "Hello Bob. Bye"),
            ("SGVsbG8gQm9iLg==\n_______________\nlist mailing list\n", "Hello Bob."),
            ("SGVsbG8gQm9iLg==\nThis list is read by all\n", "Hello Bob."),
            ("SGVsbG8gQm9i\n_______________\nlist mailing list\n", "Hello Bob"),
            ("SGVsbG8gQm9iL", "Hello Bob"),
            ("SGVsbG8=\nIEJvYg==\n", "Hello Bob"),
            ("SGVsbG8=IEJvYg==", "Hello Bob"),
        ] {
            assert_eq!(unpacked("Base64 ", packed.as_bytes()), says, "{packed}");
        }
        assert_eq!(unpacked("base64", b"=\n==\n"), "");
    }

    #[test]
    fn what_is_no_code_stays() {
        // What Python's `email` makes of these, but for the last five, where RFC 2045 says so.
        for (packed, says) in [
            ("one =C3=A9 x=b yy zz\nnext", "one \u{e9} x=b yy zz\nnext"),
            ("caf=c3=a9", "caf\u{e9}"),
            ("one a = b c\nnext", "one a = b c\nnext"),
            ("a=\n\nnext", "a\nnext"),
            ("a=\r\nb\r\n", "ab\r\n"),
            ("p=xy q=3 r=Z\nq", "p=xy q=3 r=Z\nq"),
            ("-=-=-=-\nfoo =C3=A9", "-=-=-=-\nfoo \u{e9}"),
            ("=", ""),
            ("=3D=3D=\n=3D", "==="),
            ("===\nfoo", "==foo"),
            ("if x == y: =C3=A9", "if x == y: \u{e9}"),
            ("a==b=\n", "a==b"),
            ("plain mess= \t\r\nage", "plain message"),
            ("blanks \t\r\nat ends=20 \nof lines ", "blanks\r\nat ends \nof lines"),
        ] {
            assert_eq!(unpacked("QUOTED-Printable", packed.as_bytes()), says, "{packed}");
        }
    }

    #[test]
    fn uuencode_is_between_its_lines() {
        // As Python writes it.
        let packed = "begin 644 a.txt\r\n92&5L;&\\@0F]B('1H:7,@:7,@82!P;&%I;@  \r\n`\r\nend\r\nfooter\r\n";
        assert_eq!(unpacked("x-uuencode", packed.as_bytes()), "Hello Bob this is a plain");
        assert_eq!(unpacked("x-uue", b"no beginning"), "no beginning");
        assert_eq!(unpacked("8bits", b"SGVs"), "SGVs");
    }

    proptest! {
        #[test]
        fn valid_packings_are_those_of_another_decoder(bytes: Vec<u8>, width in 1usize..30) {
            let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let mut packed = Vec::new();
            for three in bytes.chunks(3) {
                let bits = three.iter().chain([&0, &0]).take(3).fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
                let codes = (0..4).map(|at| alphabet[bits >> (18 - 6 * at) & 0x3f]);
                packed.extend(codes.take(three.len() + 1));
                packed.resize(packed.len().next_multiple_of(4), b'=');
            }
            let packed = packed.chunks(width).collect::<Vec<_>>().join(&b"\r\n"[..]);
            prop_assert_eq!(&base64(&packed), &bytes);
            prop_assert_eq!(base64_decode(&packed), Some(bytes.clone()));
            let packed = bytes.iter().map(|byte| format!("={byte:02X}")).collect::<Vec<_>>();
            let packed = packed.chunks(width).map(<[String]>::concat).collect::<Vec<_>>().join("=\r\n");
            prop_assert_eq!(&quoted_printable(packed.as_bytes()), &bytes);
            prop_assert_eq!(quoted_printable_decode(packed.as_bytes()), Some(bytes));
        }

        #[test]
        fn whatever_is_packed_has_an_end(packed in "[A-Ba=_ \n\r\t;-]{0,40}") {
            for transfer in ["base64", "quoted-printable", "uuencode"] {
                let bytes = [b"begin 1 a\n", packed.as_bytes()].concat();
                prop_assert!(Transfer::named(transfer).unpacked(&bytes).len() <= bytes.len());
            }
        }
    }
}
