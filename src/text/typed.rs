//! Words that somebody types to find a name which has them somewhere, in letters of either case.

/// Words that a name must have, each anywhere in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedWords(Vec<String>);

impl TypedWords {
    /// The words between blanks.
    pub fn of(text: &str) -> TypedWords {
        TypedWords(text.split_whitespace().map(str::to_lowercase).collect())
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
        let name = name.to_lowercase();
        self.0.iter().all(|word| name.contains(word))
    }
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
        ] {
            assert!(has(words, name), "{words:?} in {name:?}");
        }
        for (words, name) in [("a", ""), ("a b", "a"), ("ab", "a b")] {
            assert!(!has(words, name), "{words:?} in {name:?}");
        }
    }
}
