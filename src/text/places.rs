//! The tokens of a text with their places in it: the same tokens that a [`Tokenizer`](super::Tokenizer) gives.

use std::ops::Range;

use super::Fold;
use super::classify::{APOSTROPHE, Class};
use super::hash::{SHORT, hash_long, token_hash};
use super::out::{LOWER, hash_short};
use super::segment::{Segments, Words};

/// Finds tokens and where they stand; its buffers are reused from text to text.
pub struct PlacedWords {
    segments: Segments,
    lower: Vec<u8>,
}

impl PlacedWords {
    /// One that takes the spellings of `fold` for one.
    pub fn new(fold: Fold) -> PlacedWords {
        PlacedWords { segments: Segments::new(fold), lower: Vec::new() }
    }

    /// Hands the [`token_hash`] of each word of `text`, in order, to `take`, and the bytes that it stands in. These begin and
    /// end between characters. Where one character becomes several words, all of them have its place.
    pub fn each(&mut self, text: &str, mut take: impl FnMut(u64, Range<usize>)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !is_solid(bytes[at]) {
                at += 1;
                continue;
            }
            let (start, mut high, mut apostrophe) = (at, 0, false);
            while let Some(byte) = bytes.get(at).filter(|byte| is_solid(**byte)) {
                high |= byte;
                apostrophe |= *byte == b'\'';
                at += 1;
            }
            if !high.is_ascii() {
                self.careful(text, start..at, &mut take);
            } else if apostrophe {
                self.parted(text, start..at, &mut take);
            } else {
                take(self.hash(bytes, start..at), start..at);
            }
        }
    }

    /// The words of a stretch of ASCII letters, digits and apostrophes: those at its ends, and those that stand beside each
    /// other, belong to no word.
    fn parted(&self, text: &str, stretch: Range<usize>, take: &mut impl FnMut(u64, Range<usize>)) {
        let mut from = stretch.start;
        for part in text[stretch].split("''") {
            let word = part.trim_start_matches(APOSTROPHE);
            let start = from + part.len() - word.len();
            let word = word.trim_end_matches(APOSTROPHE);
            if !word.is_empty() {
                let place = start..start + word.len();
                let lower = word.to_ascii_lowercase();
                take(token_hash(lower.as_bytes()), place);
            }
            from += part.len() + 2;
        }
    }

    fn hash(&mut self, bytes: &[u8], word: Range<usize>) -> u64 {
        if word.len() <= SHORT {
            return hash_short(bytes, word.start, word.end);
        }
        self.lower.clear();
        self.lower.extend(bytes[word].iter().map(|byte| byte | LOWER));
        hash_long(&self.lower)
    }

    /// The words of a stretch that holds characters beyond ASCII. It is divided before characters that nothing before can
    /// touch and that begin a word or a separator, so that mostly a part has one word.
    fn careful(&mut self, text: &str, stretch: Range<usize>, take: &mut impl FnMut(u64, Range<usize>)) {
        let (mut start, mut lone) = (stretch.start, false);
        // Where the first character of the part stands that is no separator.
        let mut solid = None;
        for (at, c) in text[stretch.clone()].char_indices() {
            let at = stretch.start + at;
            let class = if c.is_ascii() { None } else { self.segments.class_of_starter(c) };
            let begins = match class {
                Some(Class::Lone | Class::Separator) => true,
                Some(Class::Word) => lone,
                _ => c.is_ascii() && c != APOSTROPHE && lone,
            };
            if begins && at > start {
                self.part(text, start..at, solid.unwrap_or(start), take);
                (start, solid, lone) = (at, None, false);
            }
            if class != Some(Class::Separator) {
                solid.get_or_insert(at);
            }
            // What becomes several characters, or is told with its neighbours only, may begin a word that goes on.
            lone = match class {
                None => lone && c.is_ascii(),
                Some(class) => lone || class == Class::Lone,
            };
        }
        self.part(text, start..stretch.end, solid.unwrap_or(start), take);
    }

    fn part(
        &mut self,
        text: &str,
        part: Range<usize>,
        solid: usize,
        take: &mut impl FnMut(u64, Range<usize>),
    ) {
        let place = solid..part.end;
        self.segments.feed(&text[part], &mut Placing { take, place });
    }
}

/// Whether a byte may belong to a word.
#[inline]
fn is_solid(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'\'' || !byte.is_ascii()
}

/// Words of one place.
struct Placing<'a, F> {
    take: &'a mut F,
    place: Range<usize>,
}

impl<F: FnMut(u64, Range<usize>)> Words for Placing<'_, F> {
    fn part(&mut self) {}

    fn word(&mut self, word: &str) {
        (self.take)(token_hash(word.as_bytes()), self.place.clone());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::Simd;
    use crate::text::{Tokenizer, Tokens};

    fn placed(text: &str, fold: Fold) -> Vec<(u64, Range<usize>)> {
        let mut all = Vec::new();
        PlacedWords::new(fold).each(text, |hash, place| all.push((hash, place)));
        all
    }

    fn check(text: &str) {
        [Fold::NONE, Fold::FORMS, Fold::ALL].into_iter().for_each(|fold| check_fold(text, fold));
    }

    fn check_fold(text: &str, fold: Fold) {
        let placed = placed(text, fold);
        let hashes: Vec<u64> = placed.iter().map(|(hash, _)| *hash).collect();
        assert_eq!(hashes, Tokenizer::new(Tokens::Words, fold, Simd::Scalar).tokens(text), "{text:?}");
        assert!(placed.is_sorted_by(|(_, a), (_, b)| a == b || a.end <= b.start), "{text:?}: {placed:?}");
        for (_, place) in placed {
            assert!(text.get(place.clone()).is_some_and(|word| !word.is_empty()), "{text:?}: {place:?}");
        }
    }

    #[test]
    fn words_are_where_they_stand() {
        let words = |text: &str| {
            placed(text, Fold::default())
                .into_iter()
                .map(|(_, place)| text[place].to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(words("One, 'two' don't--x''y"), ["One", "two", "don't", "x", "y"]);
        assert_eq!(
            words("caf\u{e9}\u{2014}noir, \u{201c}na\u{ef}ve\u{201d}"),
            ["caf\u{e9}", "noir", "na\u{ef}ve"]
        );
        assert_eq!(words("\u{4e00}\u{4e8c}\u{3002}x\u{4e09}"), ["\u{4e00}", "\u{4e8c}", "x", "\u{4e09}"]);
        assert_eq!(words("\u{4e00}abc"), ["\u{4e00}", "abc"]);
        assert!(words(" - '' \u{2014}").is_empty());
        // What follows a ligature goes on with its word.
        check("\u{4e00}\u{fb01}\u{e9} \u{4e00}\u{130}a \u{4e00}\u{fdfa}\u{130}");
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_tokenizer(text: String) {
            check(&text);
        }

        #[test]
        fn tokens_of_difficult_texts_are_too(
            text in "[aB1'\u{2019} .\u{301}\u{338}\u{e9}\u{df}\u{130}\u{3099}\u{304b}\u{4e00}\u{3002}\u{ad}\u{200b}\u{1100}\u{1161}\u{fb01}\u{f900}\u{e01}\u{e35}\u{345}\u{a0}\u{1f1e6}\u{2203}\u{640}\u{6cc}\u{200c}\u{64e}\u{654}\u{e4d}\u{e49}\u{bd}\u{2026}\u{fdfa}\u{ff71}\u{ff9f}\u{661}]{0,24}"
        ) {
            check(&text);
        }
    }
}
