//! Texts cut into sentences or lines, by rules that need no table of a language.

/// Marks that end a sentence before a blank or the end of the text: `.`, `!`, `?`, ellipsis, and those of Devanagari,
/// Urdu and Arabic, Armenian, and Ethiopic.
const ENDS: [char; 10] =
    ['.', '!', '?', '\u{2026}', '\u{964}', '\u{965}', '\u{6d4}', '\u{61f}', '\u{589}', '\u{1362}'];
/// Marks that end a sentence whatever follows: the wide and the ideographic full stops, and the wide `!` and `?`.
const WIDE: [char; 5] = ['\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{ff0e}', '\u{ff61}'];
/// Marks that close a quotation or a bracket, and go with the sentence before them.
const CLOSING: [char; 13] = [
    '"', '\'', ')', ']', '}', '\u{2019}', '\u{201d}', '\u{bb}', '\u{300d}', '\u{300f}', '\u{ff09}',
    '\u{3011}', '\u{300b}',
];

/// Calls `each` with every sentence of a text, in order; together they are the whole text. A sentence ends
/// - after `.`, `!`, `?` or a mark like them, and what closes quotations and brackets after it, if a blank or the end of
///   the text follows, so not within `3.14` or `www.example.org`;
/// - after the wide forms of these marks, whatever follows;
/// - at an empty line, so that a heading is not part of the paragraph below it.
///
/// An abbreviation (`Dr. Who`) thus ends one: in all copies of a text alike, which is all that chunks need.
pub fn each_sentence<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    let mut start = 0;
    let mut end = End::None;
    // Whether nothing but blanks stands since the last line feed.
    let mut blank_line = false;
    for (at, c) in text.char_indices() {
        let empty_line = c == '\n' && blank_line;
        blank_line = c == '\n' || blank_line && c.is_whitespace();
        if empty_line || end.is_over(c) {
            each(&text[start..at]);
            (start, end) = (at, End::None);
        }
        end = end.after(c);
    }
    if start < text.len() {
        each(&text[start..]);
    }
}

/// What stands before a character, as far as the end of a sentence is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    /// A mark that ends a sentence before a blank.
    Mark,
    /// A mark that ends it in any case.
    Wide,
}

impl End {
    /// Whether the sentence is over when this character comes next.
    fn is_over(self, next: char) -> bool {
        match self {
            End::None => false,
            End::Mark => next.is_whitespace(),
            End::Wide => !WIDE.contains(&next) && !ENDS.contains(&next) && !CLOSING.contains(&next),
        }
    }

    fn after(self, c: char) -> End {
        match c {
            _ if WIDE.contains(&c) => End::Wide,
            _ if ENDS.contains(&c) => self.max_mark(),
            _ if CLOSING.contains(&c) => self,
            _ => End::None,
        }
    }

    fn max_mark(self) -> End {
        if self == End::Wide { End::Wide } else { End::Mark }
    }
}

/// Calls `each` with every line of a text, in order, without what ends it: a line feed, a carriage return, or both.
pub fn each_line<'a>(text: &'a str, mut each: impl FnMut(&'a str)) {
    let mut rest = text;
    while let Some(end) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
        each(&rest[..end]);
        let both = rest[end..].starts_with("\r\n");
        rest = &rest[end + 1 + usize::from(both)..];
    }
    if !rest.is_empty() {
        each(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sentences(text: &str) -> Vec<&str> {
        let mut all = vec![];
        each_sentence(text, |sentence| all.push(sentence));
        all
    }

    fn lines(text: &str) -> Vec<&str> {
        let mut all = vec![];
        each_line(text, |line| all.push(line));
        all
    }

    #[test]
    fn sentences_end_where_they_are_said_to() {
        assert_eq!(sentences("One. Two! Is it? Yes"), ["One.", " Two!", " Is it?", " Yes"]);
        assert_eq!(sentences("Pi is 3.14, see www.example.org."), ["Pi is 3.14, see www.example.org."]);
        assert_eq!(sentences("\"Go!\" he said. (So.) End..."), ["\"Go!\"", " he said.", " (So.)", " End..."]);
        assert_eq!(sentences("A title\n\nText\non"), ["A title\n", "\nText\non"]);
        assert_eq!(sentences("A title\r\n \t\r\nText"), ["A title\r\n \t\r", "\nText"]);
        assert_eq!(
            sentences("\u{4e00}\u{3002}\u{4e8c}\u{ff1f}\u{300d}\u{4e09}"),
            ["\u{4e00}\u{3002}", "\u{4e8c}\u{ff1f}\u{300d}", "\u{4e09}"]
        );
        assert!(sentences("").is_empty());
    }

    #[test]
    fn lines_end_at_any_line_end() {
        assert_eq!(lines("a\nb\r\nc\rd"), ["a", "b", "c", "d"]);
        assert_eq!(lines("a\n\nb\n"), ["a", "", "b"]);
        assert!(lines("").is_empty());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "[a.!?\" \n\r\u{3002}]{0,40}") {
            prop_assert_eq!(sentences(&text).concat(), text.clone());
            prop_assert!(sentences(&text).iter().all(|sentence| !sentence.is_empty()));
            prop_assert_eq!(lines(&text).concat(), text.replace(['\n', '\r'], ""));
        }

        #[test]
        fn a_sentence_means_the_same_wherever_it_stands(words in "[a-z ,]{1,20}", before in "[a-z .!?]{0,20}") {
            let whole = format!("{before}. {words}. And so on");
            let sentence = format!(" {words}.");
            prop_assert!(sentences(&whole).contains(&sentence.as_str()));
        }
    }
}
