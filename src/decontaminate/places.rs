//! Where in a text its tokens stand: looked up for the few documents in which something was found.

use std::ops::Range;

use crate::text::Tokenizer;

/// Where the tokens of a text stand.
pub(super) struct TokenPlaces<'a> {
    text: &'a str,
    /// Stretches between blanks, each with the number of its first token.
    stretches: Vec<(Range<usize>, usize)>,
}

impl<'a> TokenPlaces<'a> {
    /// Reads a text. Blanks separate whatever stands beside them, so its tokens are those of the stretches between them.
    pub(super) fn new(text: &'a str, tokenizer: &mut Tokenizer) -> TokenPlaces<'a> {
        let (mut stretches, mut tokens) = (Vec::new(), 0);
        for stretch in text.split_whitespace() {
            let start = stretch.as_ptr() as usize - text.as_ptr() as usize;
            let count = tokenizer.tokens(stretch).len();
            if count > 0 {
                stretches.push((start..start + stretch.len(), tokens));
            }
            tokens += count;
        }
        TokenPlaces { text, stretches }
    }

    /// The bytes from the beginning of one token to the end of another one.
    pub(super) fn bytes(&self, first: usize, last: usize, tokenizer: &mut Tokenizer) -> Range<usize> {
        let (start, _) = self.token(first, tokenizer);
        let (_, end) = self.token(last, tokenizer);
        start..end
    }

    /// Where a token begins and ends.
    fn token(&self, number: usize, tokenizer: &mut Tokenizer) -> (usize, usize) {
        let at = self.stretches.partition_point(|(_, first)| *first <= number);
        let Some((bytes, first)) = at.checked_sub(1).map(|at| &self.stretches[at]) else { return (0, 0) };
        let (stretch, number) = (&self.text[bytes.clone()], number - first);
        let token = tokenizer.tokens(stretch).get(number).copied();
        let Some(token) = token else { return (bytes.start, bytes.end) };
        // More of a text has more tokens, and a token is itself from where it ends on.
        let begun = shortest(stretch, |head| tokenizer.tokens(head).len() > number);
        let start = stretch[..begun].char_indices().next_back().map_or(0, |(at, _)| at);
        let end = shortest(stretch, |head| tokenizer.tokens(head).get(number) == Some(&token));
        (bytes.start + start, bytes.start + end)
    }
}

/// The length of the shortest head of a text that is long enough, where every longer one is, too.
fn shortest(text: &str, mut is_enough: impl FnMut(&str) -> bool) -> usize {
    let (mut short, mut long) = (0, text.len());
    while short < long {
        let mut middle = short.midpoint(long);
        while !text.is_char_boundary(middle) {
            middle -= 1;
        }
        if is_enough(&text[..middle]) {
            long = middle;
        } else {
            short = middle + text[middle..].chars().next().map_or(1, char::len_utf8);
        }
    }
    long
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Simd;
    use crate::text::{Fold, Tokens};
    use proptest::prelude::*;

    fn tokenizer() -> Tokenizer {
        Tokenizer::new(Tokens::Words, Fold::default(), Simd::detect())
    }

    fn pieces(text: &str) -> Vec<&str> {
        let mut tokenizer = tokenizer();
        let count = tokenizer.tokens(text).len();
        let places = TokenPlaces::new(text, &mut tokenizer);
        (0..count).map(|at| &text[places.bytes(at, at, &mut tokenizer)]).collect()
    }

    #[test]
    fn tokens_are_where_they_stand() {
        let text = " \"Don't\" stop(now), caf\u{e9}-au-lait;\u{4e2d}\u{6587}\u{3002} e\u{301}t\u{e9}!";
        let want =
            ["Don't", "stop", "now", "caf\u{e9}", "au", "lait", "\u{4e2d}", "\u{6587}", "e\u{301}t\u{e9}"];
        assert_eq!(pieces(text), want);
    }

    proptest! {
        /// Each piece is one token, that of its number, and pieces do not overlap.
        #[test]
        fn pieces_are_their_tokens(text in "[a-cA-C'\u{e9}\u{301}\u{4e2d}\u{e01}\u{e35}\u{2019}\u{ad} .,\n-]{0,40}") {
            let mut tokenizer = tokenizer();
            let tokens = tokenizer.tokens(&text).to_vec();
            let places = TokenPlaces::new(&text, &mut tokenizer);
            let mut end = 0;
            for (at, token) in tokens.iter().enumerate() {
                let bytes = places.bytes(at, at, &mut tokenizer);
                prop_assert!(bytes.start >= end, "{:?} {:?}", text, bytes);
                end = bytes.end;
                prop_assert_eq!(tokenizer.tokens(&text[bytes.clone()]), &[*token][..], "{:?} {:?}", text, bytes);
            }
        }
    }
}
