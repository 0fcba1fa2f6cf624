//! Words that somebody types to find a name which has them somewhere, in letters of either case.

use unicode_normalization::UnicodeNormalization;

/// Words that a name must have, each anywhere in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedWords(Vec<String>);

impl TypedWords {
    /// The words between blanks.
    pub fn of(text: &str) -> TypedWords {
        TypedWords(text.split_whitespace().map(folded).collect())
    }

    /// Whether there are none, which every name has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a name has all of them.
    pub fn are_in(&self, name: &str) -> bool {
        if self.is_empty() {
            return true;
        }
        let name = folded(name);
        self.0.iter().all(|word| name.contains(word))
    }
}

/// Small letters, composed. Each letter becomes the same wherever it stands, so that a part of a name is found in it: a sigma at
/// the end of a word is one like others.
fn folded(text: &str) -> String {
    let small = text.nfc().flat_map(char::to_lowercase).nfc();
    small.map(|letter| if letter == '\u{3c2}' { '\u{3c3}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_words_in_any_order_and_case() {
        let has = |words: &str, name: &str| TypedWords::of(words).are_in(name);
        for (words, name) in [
            ("", ""),
            (" \t", "a"),
            ("b A", "xaby"),
            ("example NEWS", "https://example.org/news/1"),
            ("\u{c4}RGER", "\u{e4}rger.txt"),
            ("a a", "a"),
            ("\u{4e2d}", "\u{4e2d}\u{6587}"),
            // A sigma at the end of the word, and in the middle of the name; letters in two forms.
            ("\u{39f}\u{3a3}", "\u{39f}\u{3a3}\u{391}"),
            ("\u{3bf}\u{3c3}", "\u{39f}\u{3a3}"),
            ("\u{3bf}\u{3c2}", "\u{39f}\u{3a3}1"),
            ("caf\u{e9}", "CAFE\u{301}.txt"),
        ] {
            assert!(has(words, name), "{words:?} in {name:?}");
        }
        for (words, name) in [("a", ""), ("a b", "a"), ("ab", "a b")] {
            assert!(!has(words, name), "{words:?} in {name:?}");
        }
    }
}
