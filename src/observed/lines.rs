//! Which lines of a text count as passages that documents may share, and what each is.

use std::borrow::Cow;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::{each_line, each_sentence};

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
        if line.len() >= LEAST && of_words(line) >= LEAST_OF_WORDS {
            each(line);
        }
    };
    each_line(text, |line| match line.len() {
        0..LEAST => {}
        LEAST..=LONG => one(line),
        _ => each_sentence(line, &mut one),
    });
}

/// Bytes of a line that belong to words.
fn of_words(line: &str) -> usize {
    line.bytes().map(|byte| usize::from(byte.is_ascii_alphanumeric() || !byte.is_ascii())).sum()
}

/// What a line is: the same for lines that differ in blanks only.
pub fn line_identity(line: &str) -> u64 {
    xxh3_64(folded(line).as_bytes())
}

/// A line with single blanks.
pub(super) fn folded(line: &str) -> Cow<'_, str> {
    let bytes = line.as_bytes();
    let is_folded = memmem::find(bytes, b"  ").is_none()
        && !bytes.iter().any(|byte| matches!(byte, b'\t' | 0x0b | 0x0c | 0xc2 | 0xe2 | 0xe3));
    match is_folded {
        true => Cow::Borrowed(line),
        // Blanks beyond ASCII begin with one of these bytes, as many other characters do.
        false => Cow::Owned(line.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
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
        let long =
            format!("Share this page with friends. {} Sign up for the letter now.", "word ".repeat(400));
        assert_eq!(lines(&long).len(), 2);
        assert_eq!(lines(&long)[0], "Share this page with friends.");
    }

    #[test]
    fn blanks_do_not_count() {
        let one = line_identity("All rights reserved");
        for same in ["All  rights\treserved", "All \u{a0}rights reserved", "All rights\u{3000}reserved"] {
            assert_eq!(line_identity(same), one, "{same:?}");
        }
        assert_ne!(line_identity("All rights Reserved"), one);
        assert_eq!(folded("a\u{e9} b"), "a\u{e9} b");
    }
}
