//! Words in canonical form, where their letters matter and not only their identity.

use crate::text::Fold;
use crate::text::classify::{APOSTROPHE, Class, class};
use crate::text::hash::token_hash;
use crate::text::segment::{Segments, Words};

/// Spells the canonical words of texts; its buffers are reused from text to text.
pub struct Speller {
    segments: Segments,
    lower: String,
}

impl Speller {
    /// A speller that takes the spellings of `fold` for one.
    pub fn new(fold: Fold) -> Speller {
        Speller { segments: Segments::new(fold), lower: String::new() }
    }

    /// Hands each canonical word of `text`, in order, to `take`: those whose [`token_hash`](crate::text::token_hash) a
    /// [`Tokenizer`](crate::text::Tokenizer) of words gives.
    pub fn each_word(&mut self, text: &str, take: impl FnMut(&str)) {
        self.feed(text, &mut Taker(take));
    }

    /// Hands each canonical word of `text` to `out`, and says where separators stand, as a tokenizer sees them.
    pub(in crate::text) fn feed(&mut self, text: &str, out: &mut impl Words) {
        // What lies between two such stretches is a separator, whatever their characters turn out to be (`scan`).
        for stretch in text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != APOSTROPHE) {
            if stretch.is_ascii() {
                self.ascii(stretch, out);
            } else {
                self.segments.feed(stretch, out);
            }
        }
    }

    /// The words of a stretch of ASCII letters, digits and apostrophes: those at its ends, and those that stand beside
    /// each other, belong to no word.
    fn ascii(&mut self, stretch: &str, out: &mut impl Words) {
        for part in stretch.split("''") {
            let word = part.trim_matches(APOSTROPHE);
            if word.is_empty() {
                continue;
            }
            out.part();
            if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
                self.lower.clear();
                self.lower.extend(word.chars().map(|c| c.to_ascii_lowercase()));
                out.word(&self.lower);
            } else {
                out.word(word);
            }
        }
    }
}

/// Words that somebody takes.
struct Taker<F>(F);

impl<F: FnMut(&str)> Words for Taker<F> {
    fn part(&mut self) {}

    fn word(&mut self, word: &str) {
        (self.0)(word);
    }
}

/// The canonical words of a text one after the other.
#[derive(Default)]
pub(in crate::text) struct Spelt {
    letters: String,
    words: Vec<Word>,
    parted: bool,
}

/// A word of [`Spelt`].
#[derive(Clone, Copy, Debug)]
pub(in crate::text) struct Word {
    /// Where its letters end; they start where those of the word before it end.
    end: usize,
    /// Its [`token_hash`].
    pub(in crate::text) hash: u64,
    /// Whether a separator stands between it and the word before it.
    pub(in crate::text) parted: bool,
}

impl Spelt {
    /// Forgets the text before.
    pub(in crate::text) fn clear(&mut self) {
        self.letters.clear();
        self.words.clear();
        self.parted = false;
    }

    pub(in crate::text) fn words(&self) -> &[Word] {
        &self.words
    }

    /// The words with their letters.
    pub(in crate::text) fn spelt(&self) -> impl Iterator<Item = (&Word, &str)> {
        let starts = std::iter::once(0).chain(self.words.iter().map(|word| word.end));
        self.words.iter().zip(starts).map(|(word, start)| (word, &self.letters[start..word.end]))
    }
}

impl Words for Spelt {
    fn part(&mut self) {
        self.parted = true;
    }

    fn word(&mut self, word: &str) {
        self.letters.push_str(word);
        let (end, hash) = (self.letters.len(), token_hash(word.as_bytes()));
        self.words.push(Word { end, hash, parted: std::mem::take(&mut self.parted) });
    }
}

/// Whether a canonical word has no digit or other number in it: letters, their marks, and apostrophes between them.
pub fn is_letters(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || !c.is_numeric())
}

/// Whether a canonical word is a number: digits and other numeric characters, of any script, and nothing else but
/// marks on them and apostrophes between them.
pub fn is_number(word: &str) -> bool {
    word.chars().all(|c| c.is_numeric() || c == APOSTROPHE || class(c) == Class::Mark)
}

/// Whether a canonical word has `least` characters or more, or needs none because it is a letter of a script without
/// spaces.
pub fn is_long(word: &str, least: usize) -> bool {
    word.chars().take(least).count() == least || is_lone(word)
}

/// Whether a canonical word is a letter of a script without spaces, which is a word by itself.
pub fn is_lone(word: &str) -> bool {
    word.chars().next().is_some_and(|first| !first.is_ascii() && class(first) == Class::Lone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        for (word, letters, number, lone) in [
            ("don't", true, false, false),
            ("r2d2", false, false, false),
            ("3rd", false, false, false),
            ("2026", false, true, false),
            ("1'000", false, true, false),
            ("\u{661}\u{662}", false, true, false),
            ("\u{bd}", false, true, false),
            ("\u{217b}", false, true, false),
            ("7\u{20e3}", false, true, false),
            ("\u{e9}t\u{e9}", true, false, false),
            ("x\u{661}", false, false, false),
            ("\u{4e2d}", true, false, true),
            ("\u{e01}\u{e35}", true, false, true),
            ("\u{432}\u{44b}", true, false, false),
        ] {
            let found = (is_letters(word), is_number(word), is_lone(word));
            assert_eq!(found, (letters, number, lone), "{word}");
        }
        assert!(is_long("\u{4e2d}", 9) && is_long("of", 2) && !is_long("of", 3) && is_long("of", 0));
    }
}
