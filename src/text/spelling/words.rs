//! The words of a text as they stand in it, for showing: with their punctuation, which tokens do not have.

use crate::text::classify::{Class, class};

/// The words of a text, in order: what stands between blanks, and of scripts without spaces each letter with what follows
/// it up to the next letter.
pub fn shown_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(letters)
}

/// A stretch without blanks, cut before each letter that is a token of its own.
fn letters(stretch: &str) -> impl Iterator<Item = &str> {
    let mut rest = stretch;
    std::iter::from_fn(move || {
        let mut after = rest.char_indices().skip(1);
        let end = after.find(|(_, c)| class(*c) == Class::Lone).map_or(rest.len(), |(at, _)| at);
        let (word, left) = rest.split_at(end);
        rest = left;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_as_they_are() {
        let words = |text| shown_words(text).collect::<Vec<_>>();
        assert_eq!(words(" One,  (two)\n\tdon't\r\n"), ["One,", "(two)", "don't"]);
        assert_eq!(words("x\u{4e2d}\u{6587}\u{3002} y"), ["x", "\u{4e2d}", "\u{6587}\u{3002}", "y"]);
        assert!(words(" \n").is_empty());
    }
}
