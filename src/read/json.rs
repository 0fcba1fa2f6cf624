//! A strict scanner of JSON text (RFC 8259) that finds tokens and copies nothing.
//!
//! It accepts exactly what `serde_json` accepts when it skips a value. It is here because a general parser
//! allocates for every escaped string and turns numbers into floats, while an id must keep its digits.

use std::fmt;

/// Deepest nesting of arrays and objects; `serde_json` draws the same line.
const MAX_DEPTH: usize = 127;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string, and whether it has escapes.
    Text {
        /// Whether a backslash stands in it.
        escaped: bool,
    },
    Number,
    Bool,
    Null,
    Array,
    Object,
}

impl Kind {
    /// The kind as people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Text { .. } => "a string",
            Kind::Number => "a number",
            Kind::Bool => "true or false",
            Kind::Null => "null",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

/// A value: its kind and where it stands; of a string, what is between the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What was expected and not found, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Syntax {
    what: &'static str,
    at: usize,
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at + 1)
    }
}

/// A cursor in JSON text.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { bytes: text.as_bytes(), at: 0 }
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, Syntax> {
        Err(Syntax { what, at: self.at })
    }

    /// The next byte after white space, not consumed.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Nothing but white space may follow.
    pub(super) fn finish(&mut self) -> Result<(), Syntax> {
        if self.peek().is_none() { Ok(()) } else { self.fail("something follows the JSON value") }
    }

    /// Enters an object inside `depth` others; whether it has members.
    pub(super) fn enter(&mut self, depth: usize) -> Result<bool, Syntax> {
        if self.peek() != Some(b'{') {
            return self.fail("expected an object");
        }
        if depth >= MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        self.at += 1;
        let empty = self.peek() == Some(b'}');
        self.at += usize::from(empty);
        Ok(!empty)
    }

    /// A member's key and the colon after it.
    pub(super) fn key(&mut self) -> Result<Token, Syntax> {
        if self.peek() != Some(b'"') {
            return self.fail("expected a key in double quotes");
        }
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return self.fail("expected a colon");
        }
        self.at += 1;
        Ok(key)
    }

    /// After a member: whether another follows; else the object is closed.
    pub(super) fn more(&mut self) -> Result<bool, Syntax> {
        let more = match self.peek() {
            Some(b',') => true,
            Some(b'}') => false,
            _ => return self.fail("expected a comma or the end of the object"),
        };
        self.at += 1;
        Ok(more)
    }

    /// Passes over any value inside `depth` containers.
    pub(super) fn value(&mut self, depth: usize) -> Result<Token, Syntax> {
        match self.peek() {
            Some(open @ (b'{' | b'[')) => {
                let start = self.at;
                self.container(depth)?;
                let kind = if open == b'{' { Kind::Object } else { Kind::Array };
                Ok(Token { kind, start, end: self.at })
            }
            _ => self.scalar(),
        }
    }

    /// Where the cursor stands.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Passes over an array or object. Nesting is kept in bits, not on the stack: bit 0 is set while the
    /// innermost open container is an object.
    fn container(&mut self, depth: usize) -> Result<(), Syntax> {
        let (mut objects, mut open) = (0u128, 0usize);
        loop {
            match self.peek() {
                Some(opening @ (b'{' | b'[')) => {
                    if depth + open >= MAX_DEPTH {
                        return self.fail("nested too deeply");
                    }
                    let object = opening == b'{';
                    self.at += 1;
                    if self.peek() == Some(if object { b'}' } else { b']' }) {
                        self.at += 1;
                    } else {
                        objects = objects << 1 | u128::from(object);
                        open += 1;
                        if object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                _ => {
                    self.scalar()?;
                }
            }
            if !self.close(&mut objects, &mut open)? {
                return Ok(());
            }
        }
    }

    /// After a value inside a container: closes what ends here; whether another value follows.
    fn close(&mut self, objects: &mut u128, open: &mut usize) -> Result<bool, Syntax> {
        while *open > 0 {
            let object = *objects & 1 == 1;
            match (self.peek(), object) {
                (Some(b','), _) => {
                    self.at += 1;
                    if object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                (Some(b'}'), true) | (Some(b']'), false) => self.at += 1,
                (_, true) => return self.fail("expected a comma or the end of the object"),
                (_, false) => return self.fail("expected a comma or the end of the array"),
            }
            *objects >>= 1;
            *open -= 1;
        }
        Ok(false)
    }

    fn scalar(&mut self) -> Result<Token, Syntax> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => return self.string(),
            Some(b'-' | b'0'..=b'9') => return self.number(),
            Some(b't') => self.word(b"true", Kind::Bool)?,
            Some(b'f') => self.word(b"false", Kind::Bool)?,
            Some(b'n') => self.word(b"null", Kind::Null)?,
            None => return self.fail("the line ends where a value was expected"),
            Some(_) => return self.fail("expected a value"),
        };
        Ok(Token { kind, start, end: self.at })
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<Kind, Syntax> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(kind)
        } else {
            self.fail("expected a value")
        }
    }

    fn digits(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { self.fail("expected a digit") }
    }

    fn number(&mut self) -> Result<Token, Syntax> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
            if self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
                return self.fail("a number starts with a superfluous 0");
            }
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Token { kind: Kind::Number, start, end: self.at })
    }

    /// A string whose opening quote is the next byte.
    fn string(&mut self) -> Result<Token, Syntax> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at = plain_end(self.bytes, self.at);
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    let token = Token { kind: Kind::Text { escaped }, start, end: self.at };
                    self.at += 1;
                    return Ok(token);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return self.fail("a control character inside a string"),
                None => return self.fail("the line ends inside a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Syntax> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 2..self.at + 6);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return self.fail("expected four hexadecimal digits after \\u");
                }
                self.at += 6;
            }
            _ => return self.fail("an unknown escape"),
        }
        Ok(())
    }
}

/// Where, from `at` on, the first quote, backslash or control character stands; else the end.
#[inline]
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return at + (stops.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | ..0x20)).unwrap_or(rest.len())
}

/// The high bit of each byte that ends a plain run. A borrow may mark bytes above a true stop, never below one,
/// and only the lowest is asked for.
#[inline]
fn stops(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ (ONES * b'"' as u64));
    let backslash = zero(word ^ (ONES * b'\\' as u64));
    (control | quote | backslash) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn scan(text: &str) -> Result<Token, Syntax> {
        let mut scanner = Scanner::new(text);
        let token = scanner.value(0)?;
        scanner.finish().map(|()| token)
    }

    fn agrees(text: &str) {
        let theirs = serde_json::from_str::<IgnoredAny>(text);
        assert_eq!(scan(text).is_ok(), theirs.is_ok(), "{text:?}: {:?} {theirs:?}", scan(text));
    }

    const SAMPLES: [&str; 6] = [
        r#"{"id": "a", "text": "x \"y\" \\ \u00e9 \ud83d\ude00", "n": [1, -0.5e+10, {"a": {}}], "t": true}"#,
        r#" [ [], {}, [[]], null, false, 0, -1, 1E5, "" ] "#,
        r#"{"a":{"b":[{"c":null}]},"d":12345678901234567890123}"#,
        "{\"long\": \"012345678901234567890123456789\\n0123456789\"}",
        "\"\\u12g4\"",
        "{\"a\":1,}",
    ];

    #[test]
    fn agrees_with_serde_json_on_what_is_hard() {
        for text in SAMPLES {
            agrees(text);
            for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
                agrees(&text[..cut]);
            }
        }
        for text in [
            "",
            " ",
            "01",
            "-",
            "-01",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "tru",
            "truex",
            "nul",
            "nullnull",
            "[1 2]",
            "[,]",
            "[1,]",
            "{,}",
            "{1:2}",
            "{\"a\" 1}",
            "{\"a\":}",
            "[}",
            "{]",
            "]",
            "\"\\x\"",
            "\"\\u\"",
            "'a'",
            "\"a\tb\"",
            "\"\u{7f}\u{80}\"",
            "{} {}",
            "[1]x",
            "\"\\ud800\"",
            "NaN",
            "\u{feff}1",
            "\u{a0}1",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn ends_nesting_where_serde_json_does() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for depth in [1, 126, 127, 128, 129, 100_000] {
                let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                let theirs = serde_json::from_str::<serde_json::Value>(&text);
                assert_eq!(scan(&text).is_ok(), theirs.is_ok(), "{depth}");
            }
        }
    }

    #[test]
    fn finds_every_stop_at_every_place() {
        for length in 0..40 {
            for place in 0..length {
                for stop in [b'"', b'\\', 0, 9, 31] {
                    let mut bytes = vec![0x80u8; length];
                    bytes[place] = stop;
                    assert_eq!(plain_end(&bytes, 0), place);
                    assert_eq!(plain_end(&bytes, place + 1), length);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json_on_damaged_text(
            sample in 0..SAMPLES.len(), place in 0usize..200, with in "[\\[\\]{}\",:\\\\0-9eE.u \tntf\u{1}-]{0,3}",
        ) {
            let text = SAMPLES[sample];
            let place = place % text.len();
            if text.is_char_boundary(place) && text.is_char_boundary(place + 1) {
                agrees(&format!("{}{with}{}", &text[..place], &text[place + 1..]));
                agrees(&format!("{}{with}{}", &text[..place], &text[place..]));
            }
        }
    }
}
