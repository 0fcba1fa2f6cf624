//! Which lines of a text count as passages that documents may share, and what each is.

use std::borrow::Cow;

use memchr::memchr3;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::each_line;

/// Least bytes of a line that counts, without blanks around it.
const LEAST: usize = 20;
/// Least bytes of it that belong to words.
const LEAST_OF_WORDS: usize = 10;
/// Longest line that counts as one, in bytes: of a longer one its sentences do.
const LONG: usize = 1000;

/// Hands the lines of a text to `each` that count, without blanks around them; of long lines the sentences.
pub fn each_shared_line<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    let mut one = |line: &'a str| {
        let line = line.trim();
        if line.len() >= LEAST && has_words(line) {
            each(line);
        }
    };
    each_line(text, |line| match line.len() {
        0..LEAST => {}
        LEAST..=LONG => one(line),
        _ => each_of_long(line, &mut one),
    });
}

/// Whether enough of a line belongs to words.
fn has_words(line: &str) -> bool {
    let of_words = line.bytes().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    of_words.take(LEAST_OF_WORDS).count() == LEAST_OF_WORDS
}

/// Hands on the sentences of a long line: what ends with a full stop or a mark before a blank. That is less exact than sentences of
/// passages are, and takes a fraction of the time.
fn each_of_long<'a>(line: &'a str, each: &mut impl FnMut(&'a str)) {
    for mut rest in line.split_inclusive('\u{3002}') {
        let mut from = 0;
        while let Some(at) = memchr3(b'.', b'!', b'?', &rest.as_bytes()[from..]) {
            from += at + 1;
            if rest.as_bytes().get(from).is_some_and(u8::is_ascii_whitespace) {
                each(&rest[..from]);
                (rest, from) = (&rest[from..], 0);
            }
        }
        each(rest);
    }
}

/// What a line is: the same for lines that differ in blanks only.
pub fn line_identity(line: &str) -> u64 {
    xxh3_64(folded(line).as_bytes())
}

/// A line with single blanks.
fn folded(line: &str) -> Cow<'_, str> {
    if !has_other_blanks(line.as_bytes()) {
        return Cow::Borrowed(line);
    }
    let mut folded = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    Cow::Owned(folded)
}

/// Whether a line has two blanks side by side, or blanks other than the usual one. All bytes are looked at, as many at once.
fn has_other_blanks(line: &[u8]) -> bool {
    let odd = |a: u8, b: u8, c: u8| {
        (a < b' ')
            | ((a == b' ') & (b == b' '))
            | ((a == 0xc2) & (b == 0xa0))
            | ((a == 0xe2) & (b == 0x80) & ((c <= 0x8a) | (c == 0xaf)))
            | ((a == 0xe3) & (b == 0x80) & (c == 0x80))
    };
    let (second, third) = (line.get(1..).unwrap_or_default(), line.get(2..).unwrap_or_default());
    let within = line.iter().zip(second).zip(third).fold(false, |any, ((a, b), c)| any | odd(*a, *b, *c));
    // The last two bytes may be a blank beyond ASCII, or a tab before a letter.
    let end = &line[line.len().saturating_sub(2)..];
    within | end.iter().any(|byte| *byte < b' ') | (end == *b"  ") | (end == [0xc2, 0xa0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        each_shared_line(text, |line| all.push(line));
        all
    }

    #[test]
    fn lines_of_some_words_count() {
        let text = "short\n  All rights reserved by us.  \r\n----------------------------\n\nAccept all the cookies\n";
        assert_eq!(lines(text), ["All rights reserved by us.", "Accept all the cookies"]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn of_long_lines_sentences_count() {
        let words = "version 1.2 of it ".repeat(80);
        let long = format!("Share this page with friends. {words}! Sign up for the letter now");
        assert_eq!(lines(&long)[0], "Share this page with friends.");
        assert_eq!(lines(&long)[2], "Sign up for the letter now");
        assert_eq!(lines(&long).len(), 3);
        let sentence = "\u{4e2d}".repeat(20) + "\u{3002}";
        assert_eq!(lines(&sentence.repeat(30)), vec![&*sentence; 30]);
    }

    #[test]
    fn blanks_do_not_count() {
        let one = line_identity("All rights reserved");
        for same in [
            "All  rights\treserved",
            "All \u{a0}rights reserved",
            "All rights\u{3000}reserved",
            "All\u{2009}rights \u{202f}reserved",
            "\tAll rights reserved  ",
        ] {
            assert_eq!(line_identity(same), one, "{same:?}");
        }
        assert_ne!(line_identity("All rights Reserved"), one);
        assert_eq!(folded("a\u{e9} b"), "a\u{e9} b");
    }
}
