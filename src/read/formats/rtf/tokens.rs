//! The tokens of RTF: braces, control words and symbols, bytes of text, and bytes that are none.

use memchr::memchr3;

/// Longest control word.
const LONGEST_WORD: usize = 32;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RtfToken<'a> {
    /// A group begins.
    Open,
    /// A group ends.
    Close,
    /// A control word, with its number if it has one.
    Word(&'a [u8], Option<i32>),
    /// A control symbol.
    Symbol(u8),
    /// A byte of text that is spelt in hexadecimal digits.
    Hex(u8),
    /// Bytes of text as they stand.
    Text(&'a [u8]),
}

/// Divides RTF into tokens.
pub(super) struct RtfTokens<'a> {
    rest: &'a [u8],
}

impl<'a> RtfTokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> RtfTokens<'a> {
        RtfTokens { rest: bytes }
    }

    fn text(&mut self) -> RtfToken<'a> {
        let braces = memchr3(b'\\', b'{', b'}', self.rest).unwrap_or(self.rest.len());
        let end = self.rest[..braces].iter().position(|byte| is_break(*byte)).unwrap_or(braces);
        RtfToken::Text(self.advance(end))
    }

    fn advance(&mut self, bytes: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// What stands behind a backslash.
    fn control(&mut self) -> Option<RtfToken<'a>> {
        let first = *self.rest.first()?;
        if !first.is_ascii_alphabetic() {
            self.advance(1);
            return match first {
                b'\'' => Some(RtfToken::Hex(self.hex()?)),
                symbol => Some(RtfToken::Symbol(symbol)),
            };
        }
        let length =
            self.rest.iter().take(LONGEST_WORD).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = self.advance(length);
        let number = self.number();
        if self.rest.first() == Some(&b' ') {
            self.advance(1);
        }
        if name == b"bin" {
            self.advance(usize::try_from(number.unwrap_or_default()).unwrap_or_default());
        }
        Some(RtfToken::Word(name, number))
    }

    /// Two hexadecimal digits. What is none of them counts as zero.
    fn hex(&mut self) -> Option<u8> {
        let digits = self.advance(2);
        let digit = |at: usize| digits.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let byte = digit(0).unwrap_or_default() * 16 + digit(1).unwrap_or_default();
        u8::try_from(byte).ok().filter(|_| digits.len() == 2)
    }

    /// The number behind a control word; one that is too large counts as none.
    fn number(&mut self) -> Option<i32> {
        let sign = usize::from(self.rest.first() == Some(&b'-'));
        let digits = self.rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        std::str::from_utf8(self.advance(sign + digits)).ok()?.parse().ok()
    }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

impl<'a> Iterator for RtfTokens<'a> {
    type Item = RtfToken<'a>;

    fn next(&mut self) -> Option<RtfToken<'a>> {
        // Breaks of lines are for those who look at the file, and say nothing.
        let breaks = self.rest.iter().take_while(|byte| is_break(**byte)).count();
        self.advance(breaks);
        match self.rest.first()? {
            b'{' => {
                self.advance(1);
                Some(RtfToken::Open)
            }
            b'}' => {
                self.advance(1);
                Some(RtfToken::Close)
            }
            b'\\' => {
                self.advance(1);
                self.control()
            }
            _ => Some(self.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<RtfToken<'_>> {
        RtfTokens::new(bytes).collect()
    }

    #[test]
    fn words_have_numbers_and_one_space() {
        use RtfToken::{Close, Hex, Open, Symbol, Text, Word};
        assert_eq!(
            all(b"{\\rtf1\\ansi a  b\\u-10?\\'e9\\~\r\nc\\par\n}"),
            [
                Open,
                Word(b"rtf", Some(1)),
                Word(b"ansi", None),
                Text(b"a  b"),
                Word(b"u", Some(-10)),
                Text(b"?"),
                Hex(0xe9),
                Symbol(b'~'),
                Text(b"c"),
                Word(b"par", None),
                Close
            ]
        );
        assert_eq!(
            all(b"\\b-x\\i99999999999999y"),
            [Word(b"b", None), Text(b"-x"), Word(b"i", None), Text(b"y")]
        );
    }

    #[test]
    fn binary_bytes_are_passed_over() {
        use RtfToken::{Text, Word};
        assert_eq!(all(b"\\bin3 }{\\a"), [Word(b"bin", Some(3)), Text(b"a")]);
        assert_eq!(all(b"\\bin2000000000 }{"), [Word(b"bin", Some(2_000_000_000))]);
        assert_eq!(all(b"\\bin-5 a"), [Word(b"bin", Some(-5)), Text(b"a")]);
    }

    #[test]
    fn what_is_cut_off_is_no_token() {
        for cut in [&b"a\\"[..], b"a\\'", b"a\\'e"] {
            assert_eq!(all(cut), [RtfToken::Text(b"a")], "{cut:?}");
        }
    }
}
